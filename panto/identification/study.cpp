#include "panto/identification/study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "panto/model/study_reader.hpp"

namespace panto {

namespace {

void read_unknowns(const Node& node, Diagnostics& d, IdentifyStudy& out) {
  const Node::Table* members = node.table();
  if (members == nullptr || members->empty()) {
    d.error(111, node.loc, "parameters: name at least one, kA = { low = 1, high = 100 }");
    return;
  }
  for (const auto& [name, member] : *members) {
    const StudyReader r(member, fmt::format("parameter \"{}\"", name), d);
    UnknownParameter p;
    p.name = name;
    p.loc = member.key_loc;
    if (r.keys({"low", "high", "start"})) {
      p.has_low = r.number("low", nullptr, p.low);
      p.has_high = r.number("high", nullptr, p.high);
      p.has_start = r.number("start", nullptr, p.start);
      if (p.has_low && p.has_high && !(p.low < p.high))
        r.error(308, member.loc, "the lower bound is not below the upper one");
      else if (p.has_start && ((p.has_low && p.start < p.low) || (p.has_high && p.start > p.high)))
        r.error(313, member.loc, "the start is not within the bounds");
    }
    out.parameters.push_back(std::move(p));
  }
}

// One number for all modes, or one per mode.
void spread(const StudyReader& r, const char* key, const Dim& dim,
            std::vector<MeasuredFrequency>& modes, double MeasuredFrequency::*field) {
  const Node* node = r.find(key);
  if (node == nullptr) return;
  const auto positive = [&](const Node& item, double& value) {
    if (!r.quantity(item, key, &dim, value)) return;
    if (!(value > 0)) r.error(710, item.loc, fmt::format("{}: {} is not positive", key, value));
  };
  if (node->array() == nullptr) {
    double value = 0;
    positive(*node, value);
    for (MeasuredFrequency& m : modes) m.*field = value;
    return;
  }
  if (node->array()->size() != modes.size()) {
    r.error(
        113, node->loc,
        fmt::format("{}: {} values for {} frequencies", key, node->array()->size(), modes.size()));
    return;
  }
  for (size_t i = 0; i < modes.size(); ++i) positive((*node->array())[i], modes[i].*field);
}

MeasuredPose read_pose(const Node& node, size_t number, bool simulated, Diagnostics& d) {
  MeasuredPose pose;
  pose.name = StudyReader(node, "", d).name("pose", number);
  pose.loc = node.loc;
  const StudyReader r(node, fmt::format("pose \"{}\"", pose.name), d);
  if (!r.keys({"name", "at", "where", "test", "frequencies", "sigma", "modes", "damping",
               "damping_sigma", "shapes", "count"}))
    return pose;
  if (const Node* at = r.find("at"))
    for (auto& [coordinate, value] : r.named(*at, "at")) pose.at.push_back({coordinate, value});
  r.choice("where", {{"here", Operation::kHere}, {"equilibrium", Operation::kEquilibrium}},
           pose.operation);
  if (simulated) {
    int count = 0;
    r.whole("count", 1, count);
    pose.modes.resize(static_cast<size_t>(count));  // 0: as many as the model has
    for (MeasuredFrequency& m : pose.modes) m.loc = pose.loc;
    for (const char* key :
         {"test", "frequencies", "sigma", "modes", "damping", "damping_sigma", "shapes"})
      if (r.find(key) != nullptr)
        r.error(115, r.find(key)->key_loc,
                fmt::format("{}: measurements are simulated here; delete this, or the table "
                            "[simulate]",
                            key));
    return pose;
  }
  const auto mode_number = [&](const Node& item) {
    const auto* n = std::get_if<std::int64_t>(&item.value);
    if (n != nullptr && *n >= 1 && *n <= 1000000) return static_cast<int>(*n) - 1;
    r.error(112, item.loc, "modes: expected whole numbers from 1 on");
    return -1;
  };
  if (const std::string* test = r.text("test")) {
    pose.file = *test;
    for (const char* key : {"frequencies", "sigma", "damping", "damping_sigma", "shapes"})
      if (const Node* given = r.find(key))
        r.error(115, given->key_loc, fmt::format("{}: the table \"{}\" tells it", key, *test));
    if (r.find("modes") != nullptr)
      if (const Node::Array* modes = r.list("modes", "mode numbers"))
        for (const Node& item : *modes) pose.mode_numbers.push_back(mode_number(item));
    return pose;
  }
  const Node::Array* list = r.list("frequencies", "frequencies");
  if (list == nullptr || list->empty()) {
    if (r.find("frequencies") == nullptr || list != nullptr)
      r.error(111, node.loc, "missing frequencies, such as frequencies = [\"16.9 Hz\", 83.1]");
    return pose;
  }
  for (const Node& item : *list) {
    MeasuredFrequency m;
    m.loc = item.loc;
    if (r.quantity(item, "frequencies", &dim::kFrequency, m.frequency_hz) && !(m.frequency_hz > 0))
      r.error(710, item.loc,
              fmt::format("frequency {} Hz: a measured frequency is positive", m.frequency_hz));
    pose.modes.push_back(std::move(m));
  }
  spread(r, "sigma", dim::kFrequency, pose.modes, &MeasuredFrequency::sigma_hz);
  spread(r, "damping", dim::kNone, pose.modes, &MeasuredFrequency::damping);
  spread(r, "damping_sigma", dim::kNone, pose.modes, &MeasuredFrequency::damping_sigma);
  const auto per_mode = [&](const char* key, const char* of) -> const Node::Array* {
    const Node::Array* values = r.list(key, of);
    if (values == nullptr || values->size() == pose.modes.size()) return values;
    r.error(
        113, r.find(key)->loc,
        fmt::format("{}: {} values for {} frequencies", key, values->size(), pose.modes.size()));
    return nullptr;
  };
  if (const Node::Array* modes = per_mode("modes", "mode numbers"))
    for (size_t i = 0; i < modes->size(); ++i) pose.modes[i].mode = mode_number((*modes)[i]);
  if (const Node::Array* shapes = per_mode("shapes", "tables output = value"))
    for (size_t i = 0; i < shapes->size(); ++i)
      pose.modes[i].shape = r.named((*shapes)[i], "shapes");
  return pose;
}

void read_simulation(const Node& node, Diagnostics& d, IdentifyStudy& out) {
  const StudyReader r(node, "simulate", d);
  if (!r.keys({"truth", "round", "noise", "repeats"})) return;
  SimulatedMeasurement s;
  s.loc = node.loc;
  if (const Node* truth = r.find("truth")) s.truth = r.named(*truth, "truth");
  r.number("round", &dim::kFrequency, s.round_hz);
  r.number("noise", &dim::kNone, s.noise);
  if (s.round_hz < 0 || s.noise < 0)
    r.error(304, node.loc, "rounding and noise must not be negative");
  r.whole("repeats", 1, s.repeats);
  out.simulate.push_back(std::move(s));
}

}  // namespace

Result<IdentifyStudy> identify_study(const ModelSpec& file) {
  Diagnostics d;
  IdentifyStudy out;
  const StudyReader r(file.root, "", d);
  r.keys({"model", "set", "method", "starts", "seed", "threads", "parameters", "pose", "simulate"});
  out.model = r.model(file);
  out.set = r.settings("set");
  r.choice("method",
           {{"least_squares", IdentifyMethod::kLeastSquares},
            {"interior_point", IdentifyMethod::kInteriorPoint}},
           out.method);
  r.whole("starts", 1, out.starts);
  r.whole("threads", 1, out.threads);
  r.seed("seed", out.seed);
  if (const Node* simulate = r.find("simulate")) read_simulation(*simulate, d, out);
  if (const Node* parameters = r.find("parameters"))
    read_unknowns(*parameters, d, out);
  else
    d.error(111, {file.file, 1, 1}, "missing table [parameters]: what is to be identified");
  const Node::Array* poses = r.list("pose", "tables");
  if (poses != nullptr)
    for (size_t i = 0; i < poses->size(); ++i)
      out.poses.push_back(read_pose((*poses)[i], i, !out.simulate.empty(), d));
  if (r.find("pose") == nullptr || (poses != nullptr && poses->empty()))
    d.error(111, {file.file, 1, 1}, "missing [[pose]]: what was measured, and where");
  if (!d.ok()) return d;
  return out;
}

}  // namespace panto
