#include "panto/updating/study.hpp"

#include <fmt/format.h>

#include <cmath>

#include "panto/model/study_reader.hpp"

namespace panto {

namespace {

void read_parameters(const Node& node, Diagnostics& d, UpdateStudy& out) {
  const Node::Table* members = node.table();
  if (members == nullptr || members->empty()) {
    d.error(111, node.loc, "parameters: name at least one, E1 = { range = 0.05 }");
    return;
  }
  for (const auto& [name, member] : *members) {
    const StudyReader r(member, fmt::format("parameter \"{}\"", name), d);
    UpdateParameter p;
    p.name = name;
    p.loc = member.key_loc;
    if (r.keys({"low", "high", "range", "cost"})) {
      p.has_low = r.number("low", nullptr, p.low);
      p.has_high = r.number("high", nullptr, p.high);
      const auto written = [&](const char* key) {
        const Node* bound = r.find(key);
        return bound != nullptr && bound->text() != nullptr ? *bound->text() : std::string();
      };
      p.low_text = written("low");
      p.high_text = written("high");
      r.number("range", &dim::kNone, p.range);
      r.number("cost", &dim::kNone, p.cost);
      if (!(p.range > 0)) r.error(304, member.loc, "range: a share above 0");
      if (!(p.cost >= 0)) r.error(304, member.loc, "cost: not below 0");
    }
    out.parameters.push_back(std::move(p));
  }
}

UpdateConstraint read_constraint(const Node& node, const char* kind, size_t number, Diagnostics& d,
                                 bool limits) {
  UpdateConstraint c;
  c.loc = node.loc;
  c.name = StudyReader(node, "", d).name(kind, number);
  const StudyReader r(node, fmt::format("{} \"{}\"", kind, c.name), d);
  if (!(limits ? r.keys({"name", "terms", "low", "high"}) : r.keys({"name", "terms"}))) return c;
  if (const Node* terms = r.find("terms"))
    c.terms = r.named(*terms, "terms");
  else
    r.error(111, node.loc, "missing terms, such as terms = { m1 = 1, m2 = 1 }");
  if (!limits) return c;
  const bool low = r.number("low", nullptr, c.low), high = r.number("high", nullptr, c.high);
  if (!low && !high) r.error(115, node.loc, "give low, high, or both");
  if (c.low > c.high) r.error(971, node.loc, "the lower limit is above the upper one");
  return c;
}

bool direction(const Node& node, Eigen::Vector3d& out) {
  if (const std::string* text = node.text()) {
    const bool minus = text->starts_with('-');
    const std::string axis = text->substr(minus ? 1 : 0);
    if (axis != "x" && axis != "y" && axis != "z") return false;
    out = (minus ? -1.0 : 1.0) * Eigen::Vector3d::Unit(axis == "x" ? 0 : (axis == "y" ? 1 : 2));
    return true;
  }
  const Node::Array* list = node.array();
  if (list == nullptr || list->size() < 2 || list->size() > 3) return false;
  out.setZero();
  for (size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_number()) return false;
    out(static_cast<Eigen::Index>(i)) = (*list)[i].number();
  }
  return out.norm() > 0;
}

// points = [["CE.end", "y"], ["CE.n2", [1, 1]]]
std::vector<MeasuredPoint> read_points(const StudyReader& r) {
  std::vector<MeasuredPoint> out;
  const Node::Array* list = r.list("points", "pairs of a place and a direction");
  if (list == nullptr) return out;
  for (const Node& item : *list) {
    const Node::Array* pair = item.array();
    MeasuredPoint p;
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr ||
        !direction((*pair)[1], p.direction)) {
      r.error(112, item.loc, "points: expected a place and a direction, [\"rod.end\", \"y\"]");
      continue;
    }
    p.frame = *(*pair)[0].text();
    out.push_back(std::move(p));
  }
  return out;
}

UpdatePose read_pose(const Node& node, size_t number, bool simulated, Diagnostics& d) {
  UpdatePose pose;
  pose.name = StudyReader(node, "", d).name("pose", number);
  pose.loc = node.loc;
  const StudyReader r(node, fmt::format("pose \"{}\"", pose.name), d);
  if (!r.keys({"name", "at", "where", "test", "points", "frequencies", "frequency_sigma", "damping",
               "shapes", "shape_sigma", "weights", "modes"}))
    return pose;
  if (const Node* at = r.find("at"))
    for (auto& [coordinate, value] : r.named(*at, "at")) pose.at.push_back({coordinate, value});
  r.choice("where", {{"here", Operation::kHere}, {"equilibrium", Operation::kEquilibrium}},
           pose.operation);
  pose.weights = r.numbers("weights", &dim::kNone);
  for (const double w : pose.weights)
    if (!(w >= 0)) r.error(304, r.find("weights")->loc, "weights: not below 0");
  if (const Node::Array* modes = r.list("modes", "mode numbers"))
    for (const Node& item : *modes) {
      const auto* n = std::get_if<std::int64_t>(&item.value);
      if (n == nullptr || *n < 1 || *n > 1000000)
        r.error(112, item.loc, "modes: expected whole numbers from 1 on");
      else
        pose.modes.push_back(static_cast<int>(*n) - 1);
    }
  if (simulated) {
    for (const char* key : {"test", "points", "frequencies", "shapes", "damping"})
      if (r.find(key) != nullptr)
        r.error(115, r.find(key)->key_loc,
                fmt::format("{}: the test is simulated here; delete this, or the table [simulate]",
                            key));
    if (pose.modes.empty())
      r.error(111, node.loc, "missing modes of the model that are \"measured\", modes = [4, 5, 6]");
    return pose;
  }
  if (const std::string* file = r.text("test")) {
    pose.file = *file;
    for (const char* key : {"points", "frequencies", "shapes", "damping"})
      if (r.find(key) != nullptr)
        r.error(115, r.find(key)->key_loc, fmt::format("{}: the file of \"test\" tells this", key));
    return pose;
  }
  pose.test.points = read_points(r);
  const std::vector<double> hz = r.numbers("frequencies", &dim::kFrequency),
                            damping = r.numbers("damping", &dim::kNone),
                            sigma = r.numbers("frequency_sigma", &dim::kFrequency),
                            shape_sigma = r.numbers("shape_sigma", &dim::kNone);
  if (hz.empty()) {
    r.error(111, node.loc, "missing frequencies, or test = \"table.toml\"");
    return pose;
  }
  const auto fits = [&](const char* key, size_t count) {
    const std::string_view name(key);
    const bool per_mode = name == "damping" || name == "shapes";  // one value cannot serve all
    if (count == 0 || count == hz.size() || (count == 1 && !per_mode)) return true;
    r.error(113, r.find(key)->loc,
            fmt::format("{}: {} values for {} frequencies", key, count, hz.size()));
    return false;
  };
  if (!fits("damping", damping.size()) || !fits("frequency_sigma", sigma.size()) ||
      !fits("shape_sigma", shape_sigma.size()))
    return pose;
  const Node::Array* shapes = r.list("shapes", "lists of readings");
  if (shapes != nullptr && !fits("shapes", shapes->size())) return pose;
  const auto points = static_cast<Eigen::Index>(pose.test.points.size());
  for (size_t i = 0; i < hz.size(); ++i) {
    MeasuredMode m;
    m.frequency_hz = hz[i];
    if (!damping.empty()) m.damping = damping[i];
    if (!sigma.empty()) m.frequency_sigma = sigma[sigma.size() == 1 ? 0 : i];
    if (!shape_sigma.empty())
      m.shape_sigma =
          Eigen::VectorXd::Constant(points, shape_sigma[shape_sigma.size() == 1 ? 0 : i]);
    if (shapes != nullptr && i < shapes->size()) {
      const Node& item = (*shapes)[i];
      const Node::Array* list = item.array();
      if (list == nullptr || static_cast<Eigen::Index>(list->size()) != points) {
        r.error(113, item.loc, fmt::format("shapes: expected a list of {} readings", points));
        continue;
      }
      m.shape = Eigen::VectorXcd::Constant(points, std::nan(""));
      for (Eigen::Index k = 0; k < points; ++k) {
        const Node& reading = (*list)[static_cast<size_t>(k)];
        if (reading.is_number())
          m.shape(k) = reading.number();
        else
          r.error(112, reading.loc, "shapes: expected numbers; nan where nothing was measured");
      }
    }
    pose.test.modes.push_back(std::move(m));
  }
  return pose;
}

StaticTest read_static(const Node& node, size_t number, Diagnostics& d) {
  StaticTest out;
  out.name = StudyReader(node, "", d).name("static", number);
  out.loc = node.loc;
  const StudyReader r(node, fmt::format("static \"{}\"", out.name), d);
  if (!r.keys({"name", "at", "inputs", "friction"})) return out;
  if (const Node* at = r.find("at"))
    for (auto& [coordinate, value] : r.named(*at, "at")) out.at.push_back({coordinate, value});
  if (const Node* inputs = r.find("inputs")) out.inputs = r.named(*inputs, "inputs");
  if (const Node* friction = r.find("friction"))
    out.friction = r.named(*friction, "friction");
  else
    r.error(111, node.loc, "missing friction, such as friction = { q1 = \"0.2 N m\" }");
  for (const auto& [coordinate, bound] : out.friction)
    if (!(bound >= 0))
      r.error(971, node.loc, fmt::format("friction of \"{}\" is below 0", coordinate));
  return out;
}

void read_simulation(const Node& node, Diagnostics& d, UpdateStudy& out) {
  const StudyReader r(node, "simulate", d);
  if (!r.keys({"truth", "points", "frequency_noise", "shape_noise", "draws"})) return;
  SimulatedTest s;
  s.loc = node.loc;
  if (const Node* truth = r.find("truth")) s.truth = r.named(*truth, "truth");
  s.points = read_points(r);
  if (s.points.empty()) r.error(111, node.loc, "missing points, [[\"rod.end\", \"y\"]]");
  r.number("frequency_noise", &dim::kNone, s.frequency_noise);
  r.number("shape_noise", &dim::kNone, s.shape_noise);
  if (s.frequency_noise < 0 || s.shape_noise < 0)
    r.error(304, node.loc, "noise must not be negative");
  r.whole("draws", 1, s.draws);
  out.simulate.push_back(std::move(s));
}

void read_damping(const Node& node, Diagnostics& d, UpdateStudy& out) {
  const StudyReader r(node, "damping", d);
  out.damping = true;
  out.damping_loc = node.loc;
  if (!r.keys({"alpha", "beta", "alpha_low", "alpha_high", "beta_low", "beta_high"})) return;
  if (const std::string* name = r.text("alpha")) out.alpha = *name;
  if (const std::string* name = r.text("beta")) out.beta = *name;
  r.number("alpha_low", nullptr, out.alpha_low);
  r.number("alpha_high", nullptr, out.alpha_high);
  r.number("beta_low", nullptr, out.beta_low);
  r.number("beta_high", nullptr, out.beta_high);
  if (!(out.alpha_low <= out.alpha_high && out.beta_low <= out.beta_high))
    r.error(971, node.loc, "a lower bound is above the upper one");
}

}  // namespace

Result<UpdateStudy> update_study(const ModelSpec& file) {
  Diagnostics d;
  UpdateStudy out;
  const StudyReader r(file.root, "", d);
  r.keys({"model",          "set",        "method",    "lambda",      "scaling",
          "as_printed",     "iterations", "expansion", "model_error", "mac_weight",
          "cross_validate", "seed",       "threads",   "parameters",  "pose",
          "constraint",     "penalty",    "static",    "simulate",    "damping"});
  out.model = r.model(file);
  out.set = r.settings("set");
  r.choice("method",
           {{"quadratic", UpdateMethod::kQuadratic}, {"sensitivity", UpdateMethod::kSensitivity}},
           out.method);
  r.choice(
      "expansion",
      {{"shape_functions", ExpansionMethod::kShapeFunctions}, {"spline", ExpansionMethod::kSpline}},
      out.expansion);
  r.choice("scaling", {{"relative", true}, {"absolute", false}}, out.relative);
  if (const Node* lambda = r.find("lambda"); lambda != nullptr) {
    if (lambda->text() != nullptr && *lambda->text() == "l-curve")
      out.lambda = -1;
    else if (r.number("lambda", &dim::kNone, out.lambda) && !(out.lambda >= 0))
      d.error(304, lambda->loc, "lambda: not below 0, or \"l-curve\"");
  }
  r.flag("as_printed", out.as_printed);
  r.flag("cross_validate", out.cross_validate);
  r.whole("iterations", 1, out.iterations);
  r.whole("threads", 1, out.threads);
  if (r.number("model_error", &dim::kNone, out.model_error) && !(out.model_error > 0))
    d.error(304, r.find("model_error")->loc, "model_error: a share above 0");
  if (r.number("mac_weight", &dim::kNone, out.mac_weight) && !(out.mac_weight >= 0))
    d.error(304, r.find("mac_weight")->loc, "mac_weight: not below 0");
  r.seed("seed", out.seed);
  if (const Node* simulate = r.find("simulate")) read_simulation(*simulate, d, out);
  if (const Node* damping = r.find("damping")) read_damping(*damping, d, out);
  if (const Node* parameters = r.find("parameters"))
    read_parameters(*parameters, d, out);
  else
    d.error(111, {file.file, 1, 1}, "missing table [parameters]: what is to be updated");
  if (const Node::Array* list = r.list("constraint", "tables"))
    for (size_t i = 0; i < list->size(); ++i)
      out.constraints.push_back(read_constraint((*list)[i], "constraint", i, d, true));
  if (const Node::Array* list = r.list("penalty", "tables"))
    for (size_t i = 0; i < list->size(); ++i)
      out.penalties.push_back(read_constraint((*list)[i], "penalty", i, d, false));
  if (const Node::Array* list = r.list("static", "tables"))
    for (size_t i = 0; i < list->size(); ++i) out.statics.push_back(read_static((*list)[i], i, d));
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
