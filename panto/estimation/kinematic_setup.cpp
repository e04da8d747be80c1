#include "panto/estimation/kinematic_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <utility>

#include "panto/model/study_reader.hpp"

namespace panto {

namespace {

constexpr double kLeaveFactor = 1.25;  // of `enter`, where `leave` is not given
constexpr int kPoses = 1000;           // of the motion that is looked at
constexpr int kPassage = 10;           // of the zone, in steps, where the motion has none

template <class E>
void choose(const StudyReader& r, const char* key,
            std::initializer_list<std::pair<const char*, E>> known, E& value) {
  const std::string* text = r.text(key);
  if (text == nullptr) return;
  std::vector<std::string> names;
  for (const auto& [name, e] : known) {
    if (*text == name) {
      value = e;
      return;
    }
    names.emplace_back(name);
  }
  r.error(114, r.find(key)->loc,
          fmt::format("{}: \"{}\" is not one of \"{}\"{}", key, *text, fmt::join(names, "\", \""),
                      did_you_mean(*text, names)));
}

void list(const StudyReader& r, const char* key, std::vector<double>& values) {
  if (r.find(key) != nullptr) values = r.numbers(key, nullptr);
}

// Keys of every filter, whatever it runs on.
constexpr std::initializer_list<const char*> kFilterKeys{
    "filter",      "alpha",  "beta", "kappa",         "w0",
    "square_root", "redraw", "gate", "adapt_process", "adapt_sensors"};

void read_filter(const StudyReader& r, std::string& filter, SigmaOptions& sigma,
                 FilterOptions& options) {
  if (const std::string* name = r.text("filter")) filter = *name;
  r.number("alpha", &dim::kNone, sigma.alpha);
  r.number("beta", &dim::kNone, sigma.beta);
  r.number("kappa", &dim::kNone, sigma.kappa);
  r.number("w0", &dim::kNone, sigma.w0);
  r.flag("square_root", sigma.square_root);
  r.flag("redraw", sigma.redraw);
  for (const auto& [key, value] : {std::pair{"gate", &options.gate},
                                   {"adapt_process", &options.adapt_process},
                                   {"adapt_sensors", &options.adapt_sensors}})
    if (r.number(key, &dim::kNone, *value) && *value < 0)
      r.error(304, r.find(key)->loc, fmt::format("{}: must not be negative", key));
}

std::vector<std::string> with_filter_keys(std::initializer_list<const char*> more) {
  std::vector<std::string> keys(more.begin(), more.end());
  keys.insert(keys.end(), kFilterKeys.begin(), kFilterKeys.end());
  return keys;
}

KinematicChannel read_channel(const Node& node, const char* what,
                              std::initializer_list<const char*> keys, Diagnostics& d) {
  KinematicChannel c;
  c.loc = node.loc;
  if (node.text() != nullptr) {
    c.name = *node.text();
    return c;
  }
  const StudyReader r(node, what, d);
  if (!r.keys(keys)) return c;
  if (const std::string* name = r.text("name"))
    c.name = *name;
  else if (r.find("name") == nullptr)
    r.error(111, node.loc, "missing key \"name\"");
  r.number("sigma", nullptr, c.sigma);
  r.number("period", &dim::kTime, c.period);
  r.number("bias_sigma", nullptr, c.bias_sigma);
  r.number("bias_walk", nullptr, c.bias_walk);
  r.number("lower", nullptr, c.lower);
  r.number("upper", nullptr, c.upper);
  r.whole("frozen_after", 0, c.frozen_after);
  r.number("hold", &dim::kTime, c.hold);
  return c;
}

std::vector<KinematicChannel> read_channels(const StudyReader& r, const char* key, const char* what,
                                            std::initializer_list<const char*> keys,
                                            Diagnostics& d) {
  std::vector<KinematicChannel> out;
  if (const Node::Array* items = r.list(key, "names or tables"))
    for (const Node& item : *items) out.push_back(read_channel(item, what, keys, d));
  return out;
}

void read_noise(const StudyReader& r, const char* key, KinematicNoise& noise, Diagnostics& d) {
  const Node* node = r.find(key);
  if (node == nullptr) return;
  const StudyReader n(*node, fmt::format("kinematic: {}", key), d);
  if (!n.keys({"position", "speed", "top"})) return;
  list(n, "position", noise.position);
  list(n, "speed", noise.speed);
  list(n, "top", noise.top);
}

void read_kinematic(const Node& node, KinematicSetup& out, Diagnostics& d) {
  const StudyReader r(node, "kinematic", d);
  KinematicSettings& s = out.settings;
  KinematicOptions& o = s.system;
  s.loc = node.loc;
  if (!r.keys(with_filter_keys({"order",
                                "scheme",
                                "top",
                                "newmark_gamma",
                                "newmark_beta",
                                "hold",
                                "jacobian",
                                "enter",
                                "leave",
                                "fallback",
                                "noise",
                                "fallback_noise",
                                "sigma_coordinates",
                                "sigma_speeds",
                                "sigma_top",
                                "dt",
                                "longest_pause",
                                "lost_after",
                                "inputs",
                                "sensors"})))
    return;
  read_filter(r, s.filter, s.sigma, s.options);
  r.whole("order", 1, o.order);
  choose(r, "scheme",
         {std::pair{"euler", Scheme::kEuler},
          {"trapezoidal", Scheme::kTrapezoidal},
          {"rk4", Scheme::kRungeKutta4}},
         o.scheme);
  choose(r, "top",
         {std::pair{"none", TopState::kNone},
          {"random_walk", TopState::kRandomWalk},
          {"newmark_speed", TopState::kNewmarkSpeed},
          {"newmark_position", TopState::kNewmarkPosition},
          {"combined", TopState::kCombined}},
         o.top);
  choose(r, "hold", {std::pair{"begin", InputHold::kBegin}, {"linear", InputHold::kLinear}},
         o.hold);
  choose(r, "jacobian",
         {std::pair{"exact", KinematicJacobian::kExact}, {"numeric", KinematicJacobian::kNumeric}},
         o.jacobian);
  choose(r, "fallback",
         {std::pair{"constant", Fallback::kConstant}, {"random_walk", Fallback::kRandomWalk}},
         o.fallback);
  r.number("newmark_gamma", &dim::kNone, o.gamma);
  r.number("newmark_beta", &dim::kNone, o.beta);
  if (r.number("enter", nullptr, o.enter)) {
    out.zone_open = false;
    o.leave = kLeaveFactor * o.enter;
  } else if (const Node* leave = r.find("leave"); leave != nullptr && r.find("enter") == nullptr) {
    r.error(111, leave->loc, "leave: missing key \"enter\" beside it");
  }
  r.number("leave", nullptr, o.leave);
  read_noise(r, "noise", o.noise, d);
  out.fallback_open = r.find("fallback_noise") == nullptr;
  read_noise(r, "fallback_noise", o.fallback_noise, d);
  list(r, "sigma_coordinates", s.sigma_coordinates);
  list(r, "sigma_speeds", s.sigma_speeds);
  out.top_open = r.find("sigma_top") == nullptr;
  list(r, "sigma_top", s.sigma_top);
  r.number("dt", &dim::kTime, s.dt);
  r.number("longest_pause", &dim::kTime, s.longest_pause);
  r.whole("lost_after", 1, s.lost_after);
  out.inputs = read_channels(r, "inputs", "input",
                             {"name", "sigma", "period", "bias_sigma", "bias_walk", "lower",
                              "upper", "frozen_after", "hold"},
                             d);
  out.sensors = read_channels(
      r, "sensors", "sensor",
      {"name", "sigma", "bias_sigma", "bias_walk", "lower", "upper", "frozen_after"}, d);
}

UnknownForce read_unknown(const Node& node, Diagnostics& d) {
  UnknownForce f;
  f.loc = node.loc;
  if (node.text() != nullptr) {
    f.name = *node.text();
    return f;
  }
  const StudyReader r(node, "unknown force", d);
  if (!r.keys({"name", "payload", "law", "walk", "sigma", "bandwidth", "start_sigma"})) return f;
  if (const std::string* name = r.text("name"))
    f.name = *name;
  else if (r.find("name") == nullptr)
    r.error(111, node.loc, "missing key \"name\"");
  r.flag("payload", f.payload);
  choose(r, "law",
         {std::pair{"random_walk", ForceLaw::kRandomWalk},
          {"low_pass", ForceLaw::kLowPass},
          {"coloured", ForceLaw::kColoured}},
         f.law);
  r.number("walk", nullptr, f.walk);
  r.number("sigma", nullptr, f.sigma);
  r.number("bandwidth", &dim::kFrequency, f.bandwidth);
  r.number("start_sigma", nullptr, f.start_sigma);
  return f;
}

ForceSettings read_forces(const Node& node, Diagnostics& d) {
  ForceSettings f;
  f.motion = MotionAt::kEnd;
  f.loc = node.loc;
  const StudyReader r(node, "forces", d);
  if (!r.keys(with_filter_keys({"form", "motion", "measured", "unknown", "model_sigma",
                                "measured_walk", "enter", "leave"})))
    return f;
  read_filter(r, f.filter, f.sigma, f.options);
  choose(r, "form", {std::pair{"f12", ForceForm::kF12}, {"f21", ForceForm::kF21}}, f.form);
  choose(r, "motion", {std::pair{"begin", MotionAt::kBegin}, {"end", MotionAt::kEnd}}, f.motion);
  f.measured = read_channels(r, "measured", "measured force",
                             {"name", "sigma", "lower", "upper", "frozen_after"}, d);
  if (const Node::Array* items = r.list("unknown", "names or tables"))
    for (const Node& item : *items) f.unknown.push_back(read_unknown(item, d));
  if (r.find("unknown") == nullptr)
    r.error(111, node.loc, "missing [[forces.unknown]]: which forces are to be found");
  list(r, "model_sigma", f.model_sigma);
  r.number("measured_walk", nullptr, f.measured_walk);
  if (r.number("enter", nullptr, f.enter)) f.leave = kLeaveFactor * f.enter;
  r.number("leave", nullptr, f.leave);
  return f;
}

// Whether a kinematic observer can take an output as an input, or be corrected by it.
bool drives(const Output& o, int order) {
  return o.kind == OutputKind::kChannel &&
         o.order == (order == 1 ? Order::kRate : Order::kAcceleration);
}
bool corrects(const Output& o, int order) {
  return o.kind == OutputKind::kChannel &&
         (o.order == Order::kValue || (o.order == Order::kRate && order == 2));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void complete_channels(KinematicSetup& s, const Model& model,
                       const std::vector<std::string>& present) {
  const std::vector<std::string> named = s.channels();
  const bool inputs = s.inputs.empty(), sensors = s.sensors.empty();
  const int order = s.settings.system.order;
  for (const Sensor& e : model.sensors) {
    const Output& o = model.outputs[static_cast<size_t>(e.output)];
    if (has(named, o.name) || (!present.empty() && !has(present, o.name))) continue;
    const KinematicChannel channel{.name = o.name, .loc = s.settings.loc};
    if (inputs && drives(o, order)) s.inputs.push_back(channel);
    if (sensors && corrects(o, order)) s.sensors.push_back(channel);
  }
}

void complete_forces(KinematicSetup& s, const Model& model, const Params& params,
                     const std::vector<std::string>& present) {
  ForceSettings& f = *s.forces;
  if (f.measured.empty())
    for (const Sensor& e : model.sensors) {
      const Output& o = model.outputs[static_cast<size_t>(e.output)];
      if (o.kind != OutputKind::kInput || (!present.empty() && !has(present, o.name))) continue;
      const std::string& input = model.inputs[static_cast<size_t>(o.index)].name;
      const bool unknown = std::any_of(f.unknown.begin(), f.unknown.end(), [&](const auto& u) {
        return !u.payload && u.name == input;
      });
      if (!unknown) f.measured.push_back({.name = o.name, .loc = f.loc});
    }
  const auto workspace = Workspace::create(model, params);
  s.load_cells.clear();
  for (KinematicChannel& c : f.measured) {
    s.load_cells.push_back(c.name);
    const int output = find_output(model, c.name);
    if (output < 0 || model.outputs[static_cast<size_t>(output)].kind != OutputKind::kInput)
      continue;
    for (const Sensor& e : model.sensors)
      if (e.output == output && c.sigma == 0 && e.noise >= 0) c.sigma = workspace->number(e.noise);
    c.name =
        model.inputs[static_cast<size_t>(model.outputs[static_cast<size_t>(output)].index)].name;
  }
}

double entry(const std::vector<double>& list, size_t i) { return list[list.size() == 1 ? 0 : i]; }

// Root mean square of the derivative that the inputs give, at least what is there.
void complete_top(KinematicSettings& s, std::span<const int> dofs, const Run& motion) {
  const auto& courses = s.system.order == 1 ? motion.v : motion.a;
  std::vector<double> sigma;
  for (size_t i = 0; i < dofs.size(); ++i) {
    const std::vector<double>& course = courses[static_cast<size_t>(dofs[i])];
    double sum = 0;
    for (const double e : course) sum += e * e;
    sigma.push_back(
        std::max(entry(s.sigma_top, i), std::sqrt(sum / static_cast<double>(course.size()))));
  }
  s.sigma_top = sigma;
}

// In the zone the derivative that the inputs give is unknown. Where it is no state it has its deviation σ of the start through all of a passage; where it is
// one, it changes in a passage as between two independent values, by √2 σ.
void complete_noise(KinematicSettings& s, size_t n, double passage) {
  KinematicOptions& o = s.system;
  const bool walk = o.fallback == Fallback::kRandomWalk;
  const auto fill = [&](std::vector<double>& noise, const std::vector<double>& sigma,
                        double factor) {
    noise.clear();
    for (size_t i = 0; i < n; ++i) noise.push_back(entry(sigma, i) * entry(sigma, i) * factor);
  };
  if (o.top != TopState::kNone) fill(o.fallback_noise.top, s.sigma_top, 2 / passage);
  if (o.order == 2 && (o.top == TopState::kNone || walk))
    fill(o.fallback_noise.speed, s.sigma_top, passage);
  if ((o.order == 1 && o.top == TopState::kNone) || walk)
    fill(o.fallback_noise.position, o.order == 1 ? s.sigma_top : s.sigma_speeds, passage);
}

}  // namespace

std::vector<std::string> KinematicSetup::channels() const {
  std::vector<std::string> names;
  for (const auto* list : {&inputs, &sensors})
    for (const KinematicChannel& c : *list) names.push_back(c.name);
  if (!load_cells.empty()) {
    names.insert(names.end(), load_cells.begin(), load_cells.end());
  } else if (forces) {
    for (const KinematicChannel& c : forces->measured) names.push_back(c.name);
  }
  return names;
}

bool is_kinematic(const ModelSpec& file) { return file.root.find("kinematic") != nullptr; }

Result<KinematicSetup> kinematic_setup(const ModelSpec& file) {
  Diagnostics d;
  KinematicSetup out;
  const StudyReader r(file.root, "", d);
  r.keys({"kinematic", "forces"});
  const Node* kinematic = r.find("kinematic");
  if (kinematic != nullptr)
    read_kinematic(*kinematic, out, d);
  else
    d.error(111, {file.file, 1, 1}, "missing table [kinematic]");
  if (const Node* forces = r.find("forces")) {
    out.forces = read_forces(*forces, d);
    // Inverse dynamics needs accelerations in the zone too, and only a state has them there.
    if (kinematic != nullptr && kinematic->find("top") == nullptr)
      out.settings.system.top = TopState::kRandomWalk;
  }
  std::vector<std::string> seen;
  const auto once = [&](const std::vector<KinematicChannel>& channels) {
    for (const KinematicChannel& c : channels) {
      if (has(seen, c.name))
        d.error(819, c.loc, fmt::format("sensor \"{}\" is there twice; leave one out", c.name));
      seen.push_back(c.name);
    }
  };
  once(out.inputs);
  once(out.sensors);
  if (out.forces) once(out.forces->measured);
  if (!d.ok()) return d;
  return out;
}

Result<Run> own_motion(const Model& model, const Params& params) {
  SimulationOptions o;
  o.until = model.run.until;
  o.dt = model.run.dt;
  if (model.run.tol > 0) o.tol = model.run.tol;
  o.integrator = model.run.integrator;
  o.sample = o.until / kPoses;
  return simulate(model, params, o);
}

Result<KinematicSetup> complete(KinematicSetup setup, const Model& model, const Params& params,
                                const std::vector<std::string>& present) {
  Diagnostics notes;
  complete_channels(setup, model, present);
  if (setup.forces) complete_forces(setup, model, params, present);
  KinematicSettings& s = setup.settings;
  // What is wrong with them is told before anything is simulated.
  const auto made = KinematicObserver::create(model, params, s, setup.inputs, setup.sensors);
  if (!made) return made.diagnostics();
  if (!setup.zone_open && !setup.fallback_open && !setup.top_open) return setup;
  const Result<Run> motion = own_motion(model, params);
  if (!motion) {
    notes.warning(843, s.loc,
                  fmt::format("the model's own motion, from which thresholds are chosen, stops: "
                              "{}; give `enter` and `fallback_noise`",
                              motion.diagnostics().items().front().message));
    return {std::move(setup), notes};
  }
  const auto dofs = (*made)->system().workspace().independent_speeds();
  if (setup.top_open) complete_top(s, dofs, *motion);
  KinematicCheckOptions options;
  options.samples = kPoses;
  const Result<KinematicCheck> check =
      check_kinematic(model, params, s, setup.inputs, setup.sensors, *motion, options);
  if (!check) return check.diagnostics();
  if (setup.zone_open) {
    s.system.enter = check->enter;
    s.system.leave = check->leave;
  }
  if (setup.fallback_open) {
    std::vector<double> passages;
    for (const FailingPoses& f : check->failing)
      passages.push_back(f.to - f.from + model.run.until / kPoses);
    std::sort(passages.begin(), passages.end());
    complete_noise(s, dofs.size(),
                   passages.empty() ? kPassage * s.dt : passages[passages.size() / 2]);
  }
  setup.zone_open = setup.fallback_open = setup.top_open = false;
  return {std::move(setup), notes};
}

Result<KinematicReview> review(KinematicSetup setup, const Model& model, const Params& params,
                               const std::vector<KinematicChannel>& candidates, int spare) {
  complete_channels(setup, model, {});
  const bool checked = !setup.inputs.empty() && !setup.sensors.empty();
  if (checked) {
    const auto made =
        KinematicObserver::create(model, params, setup.settings, setup.inputs, setup.sensors);
    if (!made) return made.diagnostics();
  }
  const Result<Run> motion = own_motion(model, params);
  if (!motion) return motion.diagnostics();
  KinematicReview out;
  KinematicCheckOptions options;
  options.samples = kPoses;
  if (checked) {
    for (const KinematicChannel& c : setup.inputs) out.inputs.push_back(c.name);
    for (const KinematicChannel& c : setup.sensors) out.sensors.push_back(c.name);
    Result<KinematicCheck> check = check_kinematic(model, params, setup.settings, setup.inputs,
                                                   setup.sensors, *motion, options);
    if (!check) return check.diagnostics();
    out.check = std::move(*check);
  }
  Result<KinematicAdvice> advice =
      advise_kinematic(model, params, setup.settings, candidates, *motion, spare, options);
  if (!advice) return advice.diagnostics();
  out.advice = std::move(*advice);
  return out;
}

}  // namespace panto
