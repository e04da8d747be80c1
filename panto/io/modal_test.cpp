#include "panto/io/modal_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/frequency_data.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/study_reader.hpp"
#include "panto/model/write_toml.hpp"

namespace panto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool universal(const std::string& path) { return path.ends_with(".uff") || path.ends_with(".unv"); }

struct ShapeEntry {
  size_t point = 0;
  std::complex<double> value;
  double sigma = 0;
};

// A mode as files have it: entries at some points.
struct ListedMode {
  MeasuredMode mode;
  std::vector<ShapeEntry> entries;
};

bool same_point(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.frame == b.frame && (a.direction - b.direction).norm() < 1e-9;
}

size_t point_index(std::vector<MeasuredPoint>& points, const MeasuredPoint& point) {
  for (size_t i = 0; i < points.size(); ++i)
    if (same_point(points[i], point)) return i;
  points.push_back(point);
  return points.size() - 1;
}

std::string text_of(const MeasuredPoint& p) {
  return fmt::format("\"{}\" along ({:.4g}, {:.4g}, {:.4g})", p.frame, p.direction.x(),
                     p.direction.y(), p.direction.z());
}

// A direction as it is where it has length 1 to round-off, so that what was written reads back bit for bit.
bool make_unit(Eigen::Vector3d& direction) {
  const double length = direction.norm();
  if (!(length > 0) || !std::isfinite(length)) return false;
  if (std::abs(length - 1) > 1e-12) direction /= length;
  return true;
}

void check_mode(const MeasuredMode& m, const Loc& at, const std::string& label, Diagnostics& d) {
  if (!(m.frequency_hz > 0) || !std::isfinite(m.frequency_hz))
    d.error(951, at,
            fmt::format("{}: frequency {} Hz: a measured frequency is positive", label,
                        m.frequency_hz));
  if (!(m.damping >= 0 && m.damping < 1))
    d.error(951, at,
            fmt::format("{}: damping {}: a ratio of critical damping lies between 0 and 1 (a "
                        "percentage is to be divided by 100)",
                        label, m.damping));
  if (!(m.frequency_sigma >= 0) || !(m.damping_sigma >= 0))
    d.error(951, at, fmt::format("{}: a standard deviation must not be negative", label));
}

void add_entry(ListedMode& listed, const ShapeEntry& entry, const MeasuredPoint& point,
               const Loc& at, const std::string& label, Diagnostics& d) {
  if (!std::isfinite(entry.value.real()) || !std::isfinite(entry.value.imag()))
    d.error(951, at, fmt::format("{}: {}: the value is not finite", label, text_of(point)));
  if (!(entry.sigma >= 0))
    d.error(
        951, at,
        fmt::format("{}: {}: a standard deviation must not be negative", label, text_of(point)));
  const bool twice =
      std::any_of(listed.entries.begin(), listed.entries.end(),
                  [&](const ShapeEntry& other) { return other.point == entry.point; });
  if (twice) d.error(952, at, fmt::format("{}: point {} is there twice", label, text_of(point)));
  listed.entries.push_back(entry);
}

ModalTest assembled(std::vector<MeasuredPoint> points, std::vector<ListedMode> listed) {
  ModalTest test;
  test.points = std::move(points);
  std::stable_sort(listed.begin(), listed.end(), [](const ListedMode& a, const ListedMode& b) {
    return a.mode.frequency_hz < b.mode.frequency_hz;
  });
  const auto n = static_cast<Eigen::Index>(test.points.size());
  for (ListedMode& l : listed) {
    l.mode.shape = Eigen::VectorXcd::Constant(n, std::complex<double>(kNaN, kNaN));
    const bool known = std::any_of(l.entries.begin(), l.entries.end(),
                                   [](const ShapeEntry& e) { return e.sigma > 0; });
    if (known) l.mode.shape_sigma = Eigen::VectorXd::Zero(n);
    for (const ShapeEntry& e : l.entries) {
      l.mode.shape(static_cast<Eigen::Index>(e.point)) = e.value;
      if (known) l.mode.shape_sigma(static_cast<Eigen::Index>(e.point)) = e.sigma;
    }
    test.modes.push_back(std::move(l.mode));
  }
  return test;
}

bool read_direction(const StudyReader& r, Eigen::Vector3d& direction) {
  const Node* node = r.find("direction");
  if (node == nullptr) {
    r.error(111, r.loc(), R"(missing key "direction": "x", "-y" or a list of three numbers)");
    return false;
  }
  if (const std::string* name = node->text()) {
    const bool negative = name->starts_with('-');
    const std::string_view axis =
        std::string_view(*name).substr(negative || name->starts_with('+') ? 1 : 0);
    if (axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z') {
      direction = Eigen::Vector3d::Unit(axis[0] - 'x') * (negative ? -1 : 1);
      return true;
    }
    r.error(114, node->loc,
            fmt::format(R"(direction: "{}" is none of "x", "y", "z", "-x", "-y", "-z")", *name));
    return false;
  }
  const std::vector<double> numbers = r.numbers("direction", &dim::kNone);
  if (numbers.size() != 3) {
    r.error(113, node->loc,
            fmt::format("direction: {} numbers where three belong", numbers.size()));
    return false;
  }
  direction = {numbers[0], numbers[1], numbers[2]};
  if (make_unit(direction)) return true;
  r.error(951, node->loc, "direction: has no length");
  return false;
}

bool read_point(const StudyReader& r, MeasuredPoint& point) {
  const std::string* frame = r.text("frame");
  if (frame == nullptr && r.find("frame") == nullptr)
    r.error(111, r.loc(), "missing key \"frame\": the frame of the model that was measured");
  if (frame != nullptr) point.frame = *frame;
  const bool directed = read_direction(r, point.direction);
  return frame != nullptr && directed;
}

Node point_node(const MeasuredPoint& p) {
  Node node{Node::Table{}};
  node.set("frame", p.frame);
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {1.0, -1.0})
      if (p.direction == Eigen::Vector3d(sign * Eigen::Vector3d::Unit(axis))) {
        node.set("direction", std::string(sign < 0 ? "-" : "") + "xyz"[axis]);
        return node;
      }
  node.set("direction", Node::Array{p.direction.x(), p.direction.y(), p.direction.z()});
  return node;
}

bool measured(const MeasuredMode& mode, size_t point) {
  const auto i = static_cast<Eigen::Index>(point);
  return i < mode.shape.size() && !std::isnan(mode.shape(i).real());
}

double sigma_of(const MeasuredMode& mode, size_t point) {
  const auto i = static_cast<Eigen::Index>(point);
  return i < mode.shape_sigma.size() ? mode.shape_sigma(i) : 0;
}

// Whether a reader that meets points mode by mode finds all of them in their order.
bool shapes_tell_points(const ModalTest& test) {
  size_t next = 0;
  for (const MeasuredMode& mode : test.modes)
    for (size_t i = 0; i < test.points.size(); ++i)
      if (measured(mode, i) && i >= next) {
        if (i > next) return false;
        ++next;
      }
  return next == test.points.size();
}

}  // namespace

Result<ModalTest> parse_modal_toml(std::string_view text, const std::string& file) {
  const Result<ModelSpec> spec = parse_model_text(text, file);
  if (!spec) return spec.diagnostics();
  Diagnostics d;
  const StudyReader top(spec->root, "", d);
  top.keys({"point", "mode"});
  std::vector<MeasuredPoint> points;
  if (const Node::Array* list = top.list("point", "tables"))
    for (size_t k = 0; k < list->size(); ++k) {
      const StudyReader r((*list)[k], fmt::format("point {}", k + 1), d);
      MeasuredPoint point;
      if (!r.keys({"frame", "direction"}) || !read_point(r, point)) continue;
      const size_t before = points.size();
      if (point_index(points, point) < before)
        r.error(952, r.loc(), fmt::format("point {} is there twice", text_of(point)));
    }
  std::vector<ListedMode> listed;
  const Node::Array* modes = top.list("mode", "tables");
  if (modes == nullptr || modes->empty()) {
    if (top.find("mode") == nullptr || modes != nullptr)
      d.error(111, {file, 1, 1}, "missing [[mode]]: what was measured");
    return d;
  }
  for (size_t k = 0; k < modes->size(); ++k) {
    const std::string label = fmt::format("mode {}", k + 1);
    const StudyReader r((*modes)[k], label, d);
    ListedMode l;
    if (!r.keys({"frequency", "damping", "frequency_sigma", "damping_sigma", "shape"})) continue;
    if (r.find("frequency") == nullptr)
      r.error(111, r.loc(), "missing key \"frequency\", such as frequency = \"16.9 Hz\"");
    const size_t before = d.items().size();
    if (r.find("frequency") != nullptr)
      r.number("frequency", &dim::kFrequency, l.mode.frequency_hz);
    r.number("damping", &dim::kNone, l.mode.damping);
    r.number("frequency_sigma", &dim::kFrequency, l.mode.frequency_sigma);
    r.number("damping_sigma", &dim::kNone, l.mode.damping_sigma);
    if (d.items().size() == before && r.find("frequency") != nullptr)
      check_mode(l.mode, r.find("frequency")->loc, label, d);
    if (const Node::Array* shape = r.list("shape", "tables"))
      for (const Node& item : *shape) {
        const StudyReader e(item, label + ": shape", d);
        MeasuredPoint point;
        if (!e.keys({"frame", "direction", "value", "imaginary", "sigma"}) || !read_point(e, point))
          continue;
        double value = 0, imaginary = 0;
        ShapeEntry entry;
        if (e.find("value") == nullptr) e.error(111, item.loc, "missing key \"value\"");
        e.number("value", nullptr, value);
        e.number("imaginary", nullptr, imaginary);
        e.number("sigma", nullptr, entry.sigma);
        entry.value = {value, imaginary};
        entry.point = point_index(points, point);
        add_entry(l, entry, point, item.loc, label, d);
      }
    listed.push_back(std::move(l));
  }
  if (!d.ok()) return d;
  return {assembled(std::move(points), std::move(listed)), d};
}

Result<ModalTest> parse_modal_csv(std::string_view text, const std::string& file) {
  const Result<SeriesTable> read = parse_csv(text, file, "frame");
  Diagnostics d;
  // A measurement is not to lose rows silently: what the reader of tables warns of is an error here.
  for (const Diagnostic& item : read.diagnostics().items())
    d.error(item.id, item.loc, item.message);
  if (!read || !d.ok()) return d;
  const SeriesTable& table = *read;
  static constexpr std::array<const char*, 12> kColumns{
      "mode", "frequency", "damping", "frequency_sigma", "damping_sigma", "frame",
      "x",    "y",         "z",       "value",           "imaginary",     "sigma"};
  const std::vector<std::string> known(kColumns.begin(), kColumns.end());
  for (const SeriesColumn& c : table.columns) {
    if (std::find(known.begin(), known.end(), c.name) == known.end())
      d.error(
          952, {file, 1, 1},
          fmt::format("column \"{}\" is not known here{}", c.name, did_you_mean(c.name, known)));
    const bool hertz = c.name == "frequency" || c.name == "frequency_sigma";
    if (!c.unit.empty() && !(hertz && c.unit == "Hz"))
      d.error(952, {file, 1, 1},
              fmt::format("column \"{}\" is in {}, but must be {}", c.name, c.unit,
                          hertz ? "in Hz" : "without unit"));
  }
  for (const char* name : {"mode", "frequency"})
    if (table.find(name) < 0)
      d.error(952, {file, 1, 1}, fmt::format("column \"{}\" is missing", name));
  const bool shapes = table.find("frame") >= 0;
  if (shapes)
    for (const char* name : {"x", "y", "z", "value"})
      if (table.find(name) < 0)
        d.error(
            952, {file, 1, 1},
            fmt::format("column \"{}\" is missing: a shape has frame, x, y, z and value", name));
  if (!d.ok()) return d;

  const auto cell = [&](const char* name, size_t row, double missing) {
    const int column = table.find(name);
    if (column < 0) return missing;
    const double value = table.columns[static_cast<size_t>(column)].values[row];
    return std::isnan(value) ? missing : value;
  };
  std::vector<MeasuredPoint> points;
  std::vector<ListedMode> listed;
  std::vector<double> numbers;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Loc at{file, table.lines[row], 1};
    const std::string frame =
        shapes ? table.columns[static_cast<size_t>(table.find("frame"))].texts[row] : "";
    MeasuredPoint point{frame, {cell("x", row, 0), cell("y", row, 0), cell("z", row, 0)}};
    const double number = cell("mode", row, kNaN);
    if (std::isnan(number)) {
      // A point that no mode was measured at.
      if (frame.empty() || !make_unit(point.direction))
        d.error(952, at, "a row without mode must name a point");
      else
        point_index(points, point);
      continue;
    }
    const std::string label = fmt::format("mode {}", number);
    MeasuredMode mode;
    mode.frequency_hz = cell("frequency", row, 0);
    mode.damping = cell("damping", row, 0);
    mode.frequency_sigma = cell("frequency_sigma", row, 0);
    mode.damping_sigma = cell("damping_sigma", row, 0);
    const auto k =
        static_cast<size_t>(std::find(numbers.begin(), numbers.end(), number) - numbers.begin());
    if (k == numbers.size()) {
      check_mode(mode, at, label, d);
      numbers.push_back(number);
      listed.push_back({mode, {}});
    }
    ListedMode& l = listed[k];
    if (mode.frequency_hz != l.mode.frequency_hz || mode.damping != l.mode.damping ||
        mode.frequency_sigma != l.mode.frequency_sigma ||
        mode.damping_sigma != l.mode.damping_sigma)
      d.error(952, at,
              fmt::format("{}: frequency, damping or their deviations differ from those of an "
                          "earlier row of this mode",
                          label));
    if (frame.empty()) continue;
    if (!make_unit(point.direction)) {
      d.error(951, at,
              fmt::format("{}: frame \"{}\": the direction x, y, z has no length", label, frame));
      continue;
    }
    ShapeEntry entry;
    entry.value = {cell("value", row, kNaN), cell("imaginary", row, 0)};
    entry.sigma = cell("sigma", row, 0);
    entry.point = point_index(points, point);
    add_entry(l, entry, point, at, label, d);
  }
  if (d.ok() && listed.empty()) d.error(952, {file, 1, 1}, "the table has no mode");
  if (!d.ok()) return d;
  return {assembled(std::move(points), std::move(listed)), d};
}

Result<ModalTest> read_modal_test(const std::string& path) {
  if (universal(path)) {
    const Result<uff::File> file = uff::read(path);
    if (!file) return file.diagnostics();
    Result<ModalTest> test = modal_test(*file);
    Diagnostics notes = file.diagnostics();
    notes.append(test.diagnostics());
    if (!test) return notes;
    return {std::move(*test), notes};
  }
  const Result<std::string> bytes = read_bytes(path, kMaxModelBytes);
  if (!bytes) return bytes.diagnostics();
  return path.ends_with(".csv") ? parse_modal_csv(*bytes, path) : parse_modal_toml(*bytes, path);
}

std::string modal_toml(const ModalTest& test) {
  Node root{Node::Table{}};
  if (!shapes_tell_points(test)) {
    Node::Array list;
    for (const MeasuredPoint& p : test.points) list.push_back(point_node(p));
    root.set("point", std::move(list));
  }
  Node::Array modes;
  for (const MeasuredMode& m : test.modes) {
    Node mode{Node::Table{}};
    mode.set("frequency", m.frequency_hz);
    if (m.damping != 0) mode.set("damping", m.damping);
    if (m.frequency_sigma != 0) mode.set("frequency_sigma", m.frequency_sigma);
    if (m.damping_sigma != 0) mode.set("damping_sigma", m.damping_sigma);
    Node::Array shape;
    for (size_t i = 0; i < test.points.size(); ++i) {
      if (!measured(m, i)) continue;
      Node entry = point_node(test.points[i]);
      const std::complex<double> value = m.shape(static_cast<Eigen::Index>(i));
      entry.set("value", value.real());
      if (value.imag() != 0) entry.set("imaginary", value.imag());
      if (sigma_of(m, i) != 0) entry.set("sigma", sigma_of(m, i));
      shape.push_back(std::move(entry));
    }
    if (!shape.empty()) mode.set("shape", std::move(shape));
    modes.push_back(std::move(mode));
  }
  root.set("mode", std::move(modes));
  return write_toml(root);
}

std::string modal_csv(const ModalTest& test) {
  SeriesTable table;
  SeriesColumn mode{"mode", "", {}}, frequency{"frequency", "Hz", {}}, damping{"damping", "", {}},
      frequency_sigma{"frequency_sigma", "Hz", {}}, damping_sigma{"damping_sigma", "", {}},
      frame{"frame", "", {}}, x{"x", "", {}}, y{"y", "", {}}, z{"z", "", {}},
      value{"value", "", {}}, imaginary{"imaginary", "", {}}, sigma{"sigma", "", {}};
  const auto add_row = [&](double k, const MeasuredMode& m, int point) {
    const bool none = std::isnan(k);
    mode.values.push_back(k);
    frequency.values.push_back(none ? kNaN : m.frequency_hz);
    damping.values.push_back(none ? kNaN : m.damping);
    frequency_sigma.values.push_back(none ? kNaN : m.frequency_sigma);
    damping_sigma.values.push_back(none ? kNaN : m.damping_sigma);
    const MeasuredPoint p = point < 0 ? MeasuredPoint{"", Eigen::Vector3d::Constant(kNaN)}
                                      : test.points[static_cast<size_t>(point)];
    frame.texts.push_back(p.frame);
    x.values.push_back(p.direction.x());
    y.values.push_back(p.direction.y());
    z.values.push_back(p.direction.z());
    const bool shaped = point >= 0 && !none;
    value.values.push_back(shaped ? m.shape(point).real() : kNaN);
    imaginary.values.push_back(shaped ? m.shape(point).imag() : kNaN);
    sigma.values.push_back(shaped ? sigma_of(m, static_cast<size_t>(point)) : kNaN);
  };
  if (!shapes_tell_points(test))
    for (size_t i = 0; i < test.points.size(); ++i) add_row(kNaN, {}, static_cast<int>(i));
  for (size_t k = 0; k < test.modes.size(); ++k) {
    const MeasuredMode& m = test.modes[k];
    bool any = false;
    for (size_t i = 0; i < test.points.size(); ++i)
      if (measured(m, i)) {
        add_row(static_cast<double>(k + 1), m, static_cast<int>(i));
        any = true;
      }
    if (!any) add_row(static_cast<double>(k + 1), m, -1);
  }
  table.columns = {mode, frequency, damping, frequency_sigma, damping_sigma, frame,
                   x,    y,         z,       value,           imaginary,     sigma};
  return csv_text(table);
}

Diagnostics write_modal_test(const ModalTest& test, const std::string& path) {
  if (universal(path)) {
    const Result<uff::File> file = uff_of(test);
    return file ? uff::write(*file, path) : file.diagnostics();
  }
  return write_text_atomically(path, path.ends_with(".csv") ? modal_csv(test) : modal_toml(test));
}

}  // namespace panto
