#include "panto/reduction/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "panto/model/study_reader.hpp"

namespace panto {
namespace {

constexpr int kMostAcross = 10'000, kMostModes = 1'000'000;
constexpr Dim kMassPerLength{1, -1, 0}, kBendingStiffness{1, 3, -2};

ElasticMaterial material_of(const StudyReader& r) {
  ElasticMaterial m;
  r.number("youngs_modulus", &dim::kPressure, m.youngs_modulus);
  r.number("poisson", &dim::kNone, m.poisson);
  r.number("density", &dim::kDensity, m.density);
  return m;
}

// Tables of a list, one reader each.
template <class Read>
void tables(const StudyReader& r, const char* key, const std::string& label, Diagnostics& d,
            const Read& read) {
  if (r.find(key) == nullptr) return;
  const Node::Array* list = r.list(key, "tables");
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i)
    read(StudyReader((*list)[i], fmt::format("{} {}", label, i + 1), d));
}

std::string text_or(const StudyReader& r, std::string_view key, const std::string& otherwise = {}) {
  const std::string* text = r.text(key);
  return text != nullptr ? *text : otherwise;
}

// Whole numbers from 1 on; 1 stands for those that are not, once told.
std::vector<int> wholes(const StudyReader& r, const char* key, int most) {
  std::vector<int> out;
  bool right = true;
  for (const double number : r.numbers(key, &dim::kNone)) {
    const bool whole = number >= 1 && number <= most && number == static_cast<int>(number);
    if (!whole && right)
      r.error(112, r.find(key)->loc,
              fmt::format("{}: expected whole numbers from 1 to {}", key, most));
    right = right && whole;
    out.push_back(whole ? static_cast<int>(number) : 1);
  }
  return out;
}

// A number, or "1%".
void share(const StudyReader& r, const char* key, double& value) {
  const Node* node = r.find(key);
  if (node == nullptr) return;
  Node number = *node;
  auto* text = std::get_if<std::string>(&number.value);
  const bool percent = text != nullptr && text->ends_with('%');
  if (percent) text->pop_back();
  if (r.quantity(number, key, &dim::kNone, value) && percent) value /= 100;
}

Plate read_plate(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "plate", d);
  Plate p;
  r.keys({"x", "y", "slot", "thickness", "state", "youngs_modulus", "poisson", "density"});
  p.x = r.numbers("x", &dim::kLength);
  p.y = r.numbers("y", &dim::kLength);
  r.number("thickness", &dim::kLength, p.thickness);
  p.material = material_of(r);
  const std::string state = text_or(r, "state", "stress");
  if (state == "strain")
    p.state = PlaneState::kStrain;
  else if (state != "stress")
    r.error(114, r.find("state")->loc,
            fmt::format("state: \"{}\" is not one of \"stress\", \"strain\"", state));
  tables(r, "slot", "slot", d, [&](const StudyReader& s) {
    s.keys({"x", "y"});
    const auto x = s.numbers("x", &dim::kLength), y = s.numbers("y", &dim::kLength);
    if (x.size() != 2 || y.size() != 2)
      s.error(113, s.loc(), "x = [from, to] and y = [from, to] are needed");
    else
      p.slots.push_back({x[0], x[1], y[0], y[1]});
  });
  return p;
}

Prism read_prism(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "prism", d);
  Prism p;
  r.keys({"section", "across", "along", "youngs_modulus", "poisson", "density"});
  p.material = material_of(r);
  tables(r, "section", "section", d, [&](const StudyReader& s) {
    PrismSection section;
    s.keys({"z", "width", "height"});
    s.number("z", &dim::kLength, section.z);
    s.number("width", &dim::kLength, section.width);
    s.number("height", &dim::kLength, section.height);
    p.sections.push_back(section);
  });
  const std::vector<int> across = wholes(r, "across", kMostAcross);
  if (across.size() != 2)
    r.error(113, r.loc(), "across = [n, n] is needed: elements over width and height");
  else
    p.across_x = across[0], p.across_y = across[1];
  int along = 0;
  r.whole("along", 1, along);
  if (along == 0) r.error(111, r.loc(), "missing key \"along\": elements along z");
  if (!p.sections.empty() && along > 0)
    p.z = equal_steps(p.sections.front().z, p.sections.back().z, along);
  return p;
}

BeamFrame read_frame(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "frame", d);
  BeamFrame f;
  r.keys({"beam", "mass", "spring"});
  tables(r, "beam", "beam", d, [&](const StudyReader& b) {
    FrameBeam beam;
    b.keys({"name", "x", "mass_per_length", "bending_stiffness"});
    beam.name = text_or(b, "name");
    beam.x = b.numbers("x", &dim::kLength);
    b.number("mass_per_length", &kMassPerLength, beam.mass_per_length);
    b.number("bending_stiffness", &kBendingStiffness, beam.bending_stiffness);
    f.beams.push_back(std::move(beam));
  });
  tables(r, "mass", "mass", d, [&](const StudyReader& m) {
    FrameMass mass;
    m.keys({"name", "mass"});
    mass.name = text_or(m, "name");
    m.number("mass", &dim::kMass, mass.mass);
    f.masses.push_back(std::move(mass));
  });
  tables(r, "spring", "spring", d, [&](const StudyReader& s) {
    s.keys({"between", "stiffness"});
    const auto ends = s.texts("between");
    double stiffness = 0;
    s.number("stiffness", &dim::kStiffness, stiffness);
    if (ends.size() != 2)
      s.error(113, s.loc(), "between = [\"tray.1\", \"base.1\"] is needed: two places");
    else
      f.springs.push_back({ends[0], ends[1], stiffness});
  });
  return f;
}

PosedModel read_model(const StudyReader& r) {
  PosedModel m;
  m.model = *r.text("model");
  m.set = r.settings("set");
  if (const Node* at = r.find("at"))
    for (auto& [name, value] : r.named(*at, "at")) m.at.push_back({name, value});
  const std::string where = text_or(r, "where", "equilibrium");
  if (where == "here")
    m.operation = Operation::kHere;
  else if (where != "equilibrium")
    r.error(114, r.find("where")->loc,
            fmt::format("where: \"{}\" is not one of \"here\", \"equilibrium\"", where));
  return m;
}

constexpr std::array kOptions{"masters",   "rank", "modes",      "weights", "band",   "damping",
                              "tolerance", "mac",  "candidates", "keep",    "sample", "force"};

// Options that the table holds; the others stay as they are.
void read_options(const StudyReader& r, Diagnostics& d, ReduceOptions& o) {
  const auto has = [&](const char* key) { return r.find(key) != nullptr; };
  for (const char* key : kOptions)
    if (has(key)) o.places[key] = r.find(key)->loc;
  if (has("masters")) o.masters = r.texts("masters");
  if (const std::string* rank = r.text("rank")) {
    o.rank = ranking_method(*rank);
    if (!o.rank)
      r.error(114, r.find("rank")->loc,
              fmt::format("rank: \"{}\" is not one of sbe, imr, ebr", *rank));
  }
  if (has("modes")) o.modes = wholes(r, "modes", kMostModes);
  if (has("weights")) o.weights = r.numbers("weights", &dim::kNone);
  if (has("band")) {
    const auto band = r.numbers("band", &dim::kFrequency);
    const auto* list = r.find("band")->array();
    if (band.size() == 2)
      o.band_hz = {band[0], band[1]};
    else if (list == nullptr || list->size() != 2)
      r.error(113, r.find("band")->loc, "band: expected two frequencies, from and to");
  }
  r.number("damping", &dim::kNone, o.damping);
  share(r, "tolerance", o.tolerance);
  r.number("mac", &dim::kNone, o.mac);
  r.whole("candidates", 1, o.candidates);
  r.whole("keep", 0, o.keep);
  if (has("sample")) o.sample = text_or(r, "sample");
  tables(r, "force", "force", d, [&](const StudyReader& f) {
    ForceTerm term;
    term.loc = f.loc();
    f.keys({"at", "frequency", "amplitude", "phase"});
    term.at = f.texts("at");
    if (term.at.empty()) f.error(111, f.loc(), "missing key \"at\": where the force acts");
    if (!f.number("frequency", &dim::kFrequency, term.hz) && f.find("frequency") == nullptr)
      f.error(111, f.loc(), "missing key \"frequency\"");
    f.number("amplitude", nullptr, term.amplitude);
    f.number("phase", &dim::kNone, term.phase);
    o.forces.push_back(std::move(term));
  });
}

}  // namespace

// By what no mechanism has: masters may stand on the command line, or be misspelled. Of a mechanism, frames are a list.
bool is_reduce_study(const ModelSpec& file) {
  for (const char* key :
       {"masters", "model", "matrices", "calculix", "plate", "prism", "modes", "band"})
    if (file.root.find(key) != nullptr) return true;
  const Node* frame = file.root.find("frame");
  return frame != nullptr && frame->table() != nullptr;
}

Result<ReduceOptions> changed(ReduceOptions options, const ModelSpec& changes) {
  Diagnostics d;
  const StudyReader r(changes.root, "", d);
  r.keys(std::vector<std::string>(kOptions.begin(), kOptions.end()));
  if (r.find("modes") != nullptr || r.find("band") != nullptr) {
    for_modes(options, {});
    for (const char* key : {"modes", "weights", "band"}) options.places.erase(key);
  }
  if (r.find("force") != nullptr) options.forces.clear();
  read_options(r, d, options);
  if (!d.ok()) return d;
  return options;
}

Result<ReduceStudy> reduce_study(const ModelSpec& file) {
  Diagnostics d;
  ReduceStudy out;
  const StudyReader r(file.root, "", d);
  std::vector<std::string> keys{"name",  "model",    "set",      "at",    "where",
                                "plate", "matrices", "calculix", "prism", "frame"};
  keys.insert(keys.end(), kOptions.begin(), kOptions.end());
  r.keys(keys);
  std::vector<const char*> sources;
  for (const char* key : {"model", "matrices", "calculix", "plate", "prism", "frame"})
    if (r.find(key) != nullptr) sources.push_back(key);
  if (sources.size() != 1) {
    d.error(115, {file.file, 1, 1},
            "one of model, matrices, calculix, [plate], [prism] and [frame] says what is reduced");
    return d;
  }
  const std::string source = sources.front();
  const Node& node = *r.find(source);
  if (source == "plate") {
    out.source = read_plate(node, d);
  } else if (source == "prism") {
    out.source = read_prism(node, d);
  } else if (source == "frame") {
    out.source = read_frame(node, d);
  } else if (source == "matrices") {
    const StudyReader m(node, "matrices", d);
    m.keys({"M", "K", "C"});
    MatrixFiles files{text_or(m, "M"), text_or(m, "K"), text_or(m, "C")};
    if (d.ok() && (files.mass.empty() || files.stiffness.empty()))
      m.error(111, node.loc, "M and K, names of Matrix Market files, are needed");
    out.source = std::move(files);
  } else if (source == "calculix") {
    if (const std::string* job = r.text("calculix")) out.source = CalculixJob{*job};
  } else if (r.text("model") != nullptr) {
    out.source = read_model(r);
  }
  out.name = text_or(r, "name", source);
  read_options(r, d, out.options);
  if (!d.ok()) return d;
  return out;
}

}  // namespace panto
