// Reports as JSON, key by key as in viewer/DATA.md.
#include "panto/scene/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "panto/scene/base64.hpp"

namespace panto::scene {
namespace {

using Json = nlohmann::ordered_json;

Json f4(const std::vector<double>& numbers) {
  return {{"type", "f4"}, {"n", numbers.size()}, {"data", base64_f4(numbers)}};
}
Json f8(const std::vector<double>& numbers) {
  return {{"type", "f8"}, {"n", numbers.size()}, {"data", base64_f8(numbers)}};
}
Json of(const Place& p) {
  Json j{{"body", p.body}, {"at", p.at}};
  if (p.section >= 0) j["section"] = p.section;
  return j;
}
Json named(const std::string& name, const std::string& type, const Place& p) {
  Json j{{"name", name}};
  if (!type.empty()) j["type"] = type;
  j.update(of(p));
  return j;
}
Json of(const Axis& a) { return {{"name", a.name}, {"unit", a.unit}}; }

constexpr const char* kAxisNames[] = {"x", "y", "z"};

Json of(const Drawing& d) {
  Json j;
  const auto length = [&](const char* key, double value) {
    if (value > 0) j[key] = value;
  };
  switch (d.kind) {
    case DrawingKind::kBar:
      j["kind"] = "bar";
      j["length"] = d.numbers[0];
      length("width", d.numbers[1]);
      length("height", d.numbers[2]);
      break;
    case DrawingKind::kBox:
      j["kind"] = "box";
      j["size"] = d.numbers;
      break;
    case DrawingKind::kCylinder:
      j["kind"] = "cylinder";
      length("length", d.numbers[0]);
      j["radius"] = d.numbers[1];
      j["axis"] = kAxisNames[d.axis];
      break;
    case DrawingKind::kSphere:
      j["kind"] = "sphere";
      j["radius"] = d.numbers[0];
      break;
    case DrawingKind::kPolygon:
      j["kind"] = "polygon";
      j["points"] = Json::array();
      for (const Vec3& p : d.points) j["points"].push_back({p[0], p[1]});
      break;
    case DrawingKind::kLink:
      j["kind"] = "link";
      j["points"] = d.points;
      break;
    case DrawingKind::kBeam:
      j["kind"] = "beam";
      j["length"] = d.numbers[0];
      length("width", d.numbers[1]);
      length("height", d.numbers[2]);
      j["first"] = d.first;
      j["count"] = d.count;
      break;
  }
  if (d.at != Vec3{}) j["at"] = d.at;
  if (d.axes != Drawing{}.axes) j["axes"] = d.axes;
  if (!d.color.empty()) j["color"] = d.color;
  return j;
}

Json of(const Scene& s) {
  Json j{{"space", s.planar ? "planar" : "spatial"},
         {"gravity", s.gravity},
         {"size", s.size},
         {"up", s.up}};
  const auto list = [&](const char* key, const auto& items, const auto& one) {
    Json& out = j[key] = Json::array();
    for (const auto& item : items) out.push_back(one(item));
  };
  list("bodies", s.bodies, [](const DrawnBody& b) {
    Json out{{"name", b.name}, {"shapes", Json::array()}};
    for (const Drawing& d : b.shapes) out["shapes"].push_back(of(d));
    return out;
  });
  if (!s.nodes.empty()) {
    j["nodes"] = s.nodes;
    list("sections", s.sections, [](const Section& x) {
      return Json{{"body", x.body}, {"x", x.x}, {"node", x.node}, {"rows", x.rows}};
    });
  }
  list("joints", s.joints, [](const DrawnJoint& x) {
    return Json{{"name", x.name}, {"type", x.type}, {"a", of(x.a)},
                {"b", of(x.b)},   {"axis", x.axis}, {"loop", x.loop}};
  });
  list("springs", s.springs, [](const DrawnSpring& x) {
    return Json{{"name", x.name},
                {"type", x.torsional ? "torsional" : "linear"},
                {"parts", x.spring && x.damper ? "both"
                          : x.damper           ? "damper"
                                               : "spring"},
                {"a", of(x.a)},
                {"b", of(x.b)}};
  });
  list("forces", s.forces, [](const DrawnForce& x) {
    Json out = named(x.name, x.torque ? "torque" : "force", x.at);
    if (x.direction) out["direction"] = *x.direction;
    return out;
  });
  list("sensors", s.sensors, [](const DrawnSensor& x) { return named(x.name, x.type, x.at); });
  list("points", s.points, [](const NamedPoint& x) { return named(x.name, {}, x.at); });
  if (!s.paths.empty())
    list("paths", s.paths, [](const DrawnPath& x) {
      return Json{{"name", x.name}, {"points", x.points}};
    });
  return j;
}

Json of(const Modes& m) {
  Json j{{"pose", f4(m.pose)}, {"list", Json::array()}};
  for (const Mode& mode : m.list) {
    Json one{{"frequency_hz", mode.frequency_hz},
             {"damping", mode.damping},
             {"label", mode.label},
             {"shape", f4(mode.shape)}};
    if (!mode.shape_imag.empty()) one["shape_imag"] = f4(mode.shape_imag);
    j["list"].push_back(std::move(one));
  }
  return j;
}

Json head(const PanelHead& p, const char* kind) {
  Json j{{"kind", kind}, {"title", p.title}};
  if (!p.note.empty()) j["note"] = p.note;
  if (!p.group.empty()) j["group"] = p.group;
  return j;
}
template <class S>
void flags(Json& j, const S& s) {
  if (s.ghost) j["motion"] = 1;
  if (s.hidden) j["hidden"] = true;
  if (s.points) j["points"] = true;
}

Json of(const PlotPanel& p) {
  Json j = head(p, "plot");
  j["x"] = {{"name", p.x.name}, {"unit", p.x.unit}, {"data", f8(p.x_values)}};
  j["xscale"] = p.x_log ? "log" : "linear";
  j["yscale"] = p.y_log ? "log" : "linear";
  if (p.cursor) j["cursor"] = true;
  j["series"] = Json::array();
  for (const Series& s : p.series) {
    Json one{{"name", s.name}, {"unit", s.unit}, {"data", f4(s.values)}};
    if (!s.x.empty()) one["x"] = f8(s.x);
    if (!s.low.empty()) one["low"] = f4(s.low);
    if (!s.high.empty()) one["high"] = f4(s.high);
    flags(one, s);
    j["series"].push_back(std::move(one));
  }
  return j;
}

Json of(const FrfPanel& p) {
  Json j = head(p, "frf");
  j["x"] = {{"name", "frequency"}, {"unit", "Hz"}, {"data", f8(p.frequency_hz)}};
  j["series"] = Json::array();
  for (const FrequencyResponse& s : p.series) {
    Json one{{"name", s.name},
             {"unit", s.unit},
             {"magnitude", f4(s.magnitude)},
             {"phase_deg", f4(s.phase_deg)}};
    flags(one, s);
    j["series"].push_back(std::move(one));
  }
  return j;
}

Json of(const MatrixPanel& p) {
  Json j = head(p, "matrix");
  j["rows"] = p.rows;
  j["columns"] = p.columns;
  j["values"] = p.values;
  return j;
}

Json of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* marked = std::get_if<MarkedText>(&cell)) {
    Json j{{"text", marked->text}};
    if (marked->mark != Mark::kNone)
      j["mark"] = marked->mark == Mark::kGood  ? "good"
                  : marked->mark == Mark::kBad ? "bad"
                                               : "warn";
    return j;
  }
  return nullptr;
}

Json of(const TablePanel& p) {
  Json j = head(p, "table");
  j["columns"] = Json::array();
  for (const Axis& c : p.columns) j["columns"].push_back(of(c));
  j["rows"] = Json::array();
  for (const auto& row : p.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(of(cell));
    j["rows"].push_back(std::move(cells));
  }
  return j;
}

Json of(const ScatterPanel& p) {
  constexpr const char* kMarkers[] = {"cross", "circle", "dot"};
  Json j = head(p, "scatter");
  j["x"] = of(p.x);
  j["y"] = of(p.y);
  if (p.equal) j["equal"] = true;
  j["series"] = Json::array();
  for (const PointSet& s : p.series)
    j["series"].push_back({{"name", s.name},
                           {"x", f4(s.x)},
                           {"y", f4(s.y)},
                           {"mark", kMarkers[static_cast<size_t>(s.marker)]}});
  return j;
}

Json of(const BarsPanel& p) {
  Json j = head(p, "bars");
  j["unit"] = p.unit;
  j["categories"] = p.categories;
  j["series"] = Json::array();
  for (const BarSet& s : p.series) {
    Json one{{"name", s.name}, {"values", s.values}};
    if (!s.low.empty()) one["low"] = s.low;
    if (!s.high.empty()) one["high"] = s.high;
    j["series"].push_back(std::move(one));
  }
  return j;
}

Json of(const TextPanel& p) {
  Json j = head(p, "text");
  j["text"] = p.text;
  return j;
}

// Inside a script element "</" would end it and "<!" could begin a comment; JSON lets "<" be written otherwise.
std::string harmless(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void add_notes(const Diagnostics& diagnostics, Report& report) {
  for (const Diagnostic& d : diagnostics.items()) report.notes.push_back(to_string(d));
}

std::string to_json(const Report& report) {
  Json j{{"format", "pantograph-report"},
         {"version", 1},
         {"generator", "panto " PANTO_VERSION},
         {"title", report.title},
         {"model", report.model},
         {"notes", report.notes}};
  if (report.scene) j["scene"] = of(*report.scene);
  j["motions"] = Json::array();
  for (const Motion& m : report.motions)
    j["motions"].push_back({{"name", m.name}, {"t", f8(m.t)}, {"poses", f4(m.poses)}});
  if (report.modes) j["modes"] = of(*report.modes);
  if (report.deformation) j["deformation"] = *report.deformation;
  j["panels"] = Json::array();
  for (const Panel& panel : report.panels)
    j["panels"].push_back(std::visit([](const auto& p) { return of(p); }, panel));
  // Bytes that are no UTF-8 are replaced.
  return harmless(j.dump(-1, ' ', false, Json::error_handler_t::replace));
}

namespace {

constexpr std::string_view kDataBegin = "<script type=\"application/json\" id=\"report\">",
                           kDataEnd = "</script>";

// The page with its data where the marker is.
Result<std::string> filled(std::string_view page, const std::string& json) {
  Diagnostics errors;
  if (page.empty()) {
    errors.error(
        640, {},
        "this program was built without the report page; configure with -DPANTO_VIEWER=ON, "
        "or use --png or --svg");
    return errors;
  }
  const size_t at = page.find(kPageMarker);
  if (at == std::string_view::npos) {
    errors.error(640, {}, fmt::format("the report page has no marker {}", kPageMarker));
    return errors;
  }
  std::string html(page.substr(0, at));
  html += kDataBegin;
  html += json;
  html += kDataEnd;
  html += page.substr(at + kPageMarker.size());
  return html;
}

}  // namespace

Result<std::string> to_html(const Report& report, std::string_view page) {
  return filled(page, to_json(report));
}

Result<std::string> to_html(const Report& report) { return to_html(report, page()); }

Result<std::string> bind_pages(const std::string& title, const std::vector<BoundPage>& pages,
                               std::string_view built) {
  Diagnostics errors;
  Json book{{"format", "pantograph-report"},
            {"version", 1},
            {"generator", "panto " PANTO_VERSION},
            {"title", title},
            {"chapters", Json::array()}};
  for (const BoundPage& p : pages) {
    const size_t begin = p.html.rfind(kDataBegin);
    const size_t end = begin != std::string::npos ? p.html.find(kDataEnd, begin) : begin;
    Json report;
    if (end != std::string::npos)
      report = Json::parse(p.html.begin() + static_cast<ptrdiff_t>(begin + kDataBegin.size()),
                           p.html.begin() + static_cast<ptrdiff_t>(end), nullptr, false);
    if (!report.is_object() || report.value("format", "") != "pantograph-report") {
      errors.error(1104, {p.name, 0, 0}, "is no report page of this program");
      continue;
    }
    // The chapters of a page that was bound before are chapters of this one.
    Json chapters = report.contains("chapters") ? std::move(report["chapters"])
                                                : Json::array({std::move(report)});
    for (Json& chapter : chapters) {
      if (!p.title.empty() && chapters.size() == 1) chapter["title"] = p.title;
      book["chapters"].push_back(std::move(chapter));
    }
  }
  if (!errors.ok()) return errors;
  return filled(built, harmless(book.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace panto::scene
