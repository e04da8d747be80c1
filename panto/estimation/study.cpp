#include "panto/estimation/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "panto/model/study_reader.hpp"

namespace panto {

namespace {

template <class E>
void named(const StudyReader& r, const char* key, std::optional<E> (*find)(std::string_view),
           const char* known, std::optional<E>& value) {
  const std::string* text = r.text(key);
  if (text == nullptr) return;
  value = find(*text);
  if (!value)
    r.error(114, r.find(key)->loc, fmt::format("{}: \"{}\" is not one of {}", key, *text, known));
}

SensorSettings read_sensor(const Node& node, Diagnostics& d) {
  SensorSettings s;
  s.loc = node.loc;
  if (node.text() != nullptr) {
    s.name = *node.text();
    return s;
  }
  const StudyReader r(node, "sensor", d);
  if (!r.keys({"name", "sigma", "rate", "bias_sigma", "bias_walk"})) return s;
  if (const std::string* name = r.text("name"))
    s.name = *name;
  else if (r.find("name") == nullptr)
    r.error(111, node.loc, "missing key \"name\"");
  r.number("sigma", nullptr, s.sigma);
  r.number("rate", &dim::kFrequency, s.rate);
  r.number("bias_sigma", nullptr, s.bias_sigma);
  r.number("bias_walk", nullptr, s.bias_walk);
  return s;
}

std::string name_or(const Node& node, const std::string& otherwise) {
  const Node* name = node.find("name");
  return name != nullptr && name->text() != nullptr ? *name->text() : otherwise;
}

SensorSet read_sensors(const Node& node, size_t number, Diagnostics& d) {
  SensorSet out;
  out.loc = node.loc;
  out.name = name_or(node, fmt::format("sensors {}", number + 1));
  const StudyReader r(node, fmt::format("sensors \"{}\"", out.name), d);
  if (!r.keys({"name", "use", "set"})) return out;
  const Node* use = r.find("use");
  if (use == nullptr) {
    r.error(111, node.loc, "missing key \"use\": names of sensors, or tables with more");
  } else if (use->array() == nullptr) {
    out.use.push_back(read_sensor(*use, d));
  } else {
    for (const Node& item : *use->array()) out.use.push_back(read_sensor(item, d));
  }
  if (number > 0 && node.find("name") == nullptr && out.use.size() == 1)
    out.name = out.use.front().name;
  out.set = r.settings("set");
  return out;
}

// Of read_observer_settings(), and `more`.
std::vector<std::string> with_filter_keys(std::vector<std::string> more) {
  for (const char* key :
       {"filter",        "scheme",       "jacobian",   "rate_terms",         "noise_form",
        "sigma_speeds",  "sigma_forces", "force_walk", "acceleration_noise", "input_noise",
        "alpha",         "beta",         "kappa",      "sigma_coordinates",  "w0",
        "square_root",   "redraw",       "gate",       "adapt_process",      "iterations",
        "adapt_sensors", "constraint",   "particles",  "reduction_limit",    "seed"})
    more.emplace_back(key);
  return more;
}

StudyFilter read_filter(const Node& node, Diagnostics& d) {
  StudyFilter out;
  out.loc = node.loc;
  const StudyReader r(node, "filter", d);
  if (node.text() != nullptr) {
    out.settings.filter = out.name = *node.text();
    out.settings.loc = node.loc;
    return out;
  }
  if (!r.keys(with_filter_keys({"name", "model", "sensors", "errors"}))) return out;
  out.settings = read_observer_settings(r);
  out.name = name_or(node, out.settings.filter);
  if (const std::string* model = r.text("model")) out.model = *model;
  out.sensors = r.texts("sensors");
  out.errors = r.texts("errors");
  return out;
}

}  // namespace

ObserverSettings read_observer_settings(const StudyReader& r) {
  ObserverSettings s;
  s.loc = r.loc();
  if (const std::string* filter = r.text("filter")) s.filter = *filter;
  named(r, "scheme", scheme_named, "\"euler\", \"trapezoidal\", \"rk4\", \"index3\"", s.scheme);
  named(r, "jacobian", jacobian_named, "\"constant\", \"first_order\", \"second_order\", \"exact\"",
        s.jacobian);
  std::optional<NoiseForm> form;
  named(r, "noise_form", noise_form_named, "\"van_loan\", \"diagonal\"", form);
  if (form) s.noise_form = *form;
  if (const std::string* terms = r.text("rate_terms")) {
    if (*terms == "diagonal")
      s.rate_terms = RateTerms::kDiagonal;
    else if (*terms != "all")
      r.error(114, r.find("rate_terms")->loc,
              fmt::format("rate_terms: \"{}\" is not one of \"all\", \"diagonal\"", *terms));
  }
  s.sigma_coordinates = r.numbers("sigma_coordinates", nullptr);
  s.sigma_speeds = r.numbers("sigma_speeds", nullptr);
  s.sigma_forces = r.numbers("sigma_forces", nullptr);
  s.acceleration_noise = r.numbers("acceleration_noise", nullptr);
  s.force_walk = r.numbers("force_walk", nullptr);
  if (const Node* inputs = r.find("input_noise")) s.input_noise = r.named(*inputs, "input_noise");
  r.number("alpha", &dim::kNone, s.sigma.alpha);
  r.number("beta", &dim::kNone, s.sigma.beta);
  r.number("kappa", &dim::kNone, s.sigma.kappa);
  r.number("w0", &dim::kNone, s.sigma.w0);
  r.flag("square_root", s.sigma.square_root);
  r.flag("redraw", s.sigma.redraw);
  r.number("gate", &dim::kNone, s.options.gate);
  r.number("adapt_process", &dim::kNone, s.options.adapt_process);
  r.number("adapt_sensors", &dim::kNone, s.options.adapt_sensors);
  r.whole("iterations", 1, s.iterations);
  r.number("constraint", &dim::kNone, s.constraint);
  r.whole("particles", 10, s.particles);
  r.seed("seed", s.seed);
  r.number("reduction_limit", &dim::kNone, s.reduction_limit);
  for (const auto& [value, key] : {std::pair{s.options.gate, "gate"},
                                   {s.options.adapt_process, "adapt_process"},
                                   {s.options.adapt_sensors, "adapt_sensors"},
                                   {s.constraint, "constraint"},
                                   {s.reduction_limit, "reduction_limit"}})
    if (value < 0) r.error(304, r.find(key)->loc, fmt::format("{}: must not be negative", key));
  return s;
}

Result<FilterSetup> filter_setup(const ModelSpec& file) {
  Diagnostics d;
  FilterSetup out;
  const StudyReader r(file.root, "", d);
  r.keys(with_filter_keys({"sensors"}));
  out.settings = read_observer_settings(r);
  const Node* filter = r.find("filter");
  out.settings.loc = filter != nullptr ? filter->loc : Loc{file.file, 1, 1};
  if (const Node::Array* list = r.list("sensors", "names or tables"))
    for (const Node& item : *list) out.sensors.push_back(read_sensor(item, d));
  for (size_t i = 0; i < out.sensors.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (out.sensors[i].name == out.sensors[k].name)
        d.error(819, out.sensors[i].loc,
                fmt::format("sensor \"{}\" is there twice; leave one out", out.sensors[i].name));
  if (!d.ok()) return d;
  return out;
}

namespace {

// One number stands for equal ones.
Node list_of(const std::vector<double>& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [&](double e) { return e == numbers[0]; }))
    return numbers[0];
  return Node::Array(numbers.begin(), numbers.end());
}

void describe(const ObserverSettings& s, Node& out) {
  const ObserverSettings other;
  out.set("filter", s.filter);
  if (s.scheme) out.set("scheme", std::string(name_of(*s.scheme)));
  if (s.jacobian) out.set("jacobian", std::string(name_of(*s.jacobian)));
  if (s.rate_terms == RateTerms::kDiagonal) out.set("rate_terms", "diagonal");
  if (s.noise_form != other.noise_form) out.set("noise_form", std::string(name_of(s.noise_form)));
  for (const auto& [key, list] : {std::pair{"sigma_coordinates", &s.sigma_coordinates},
                                  {"sigma_speeds", &s.sigma_speeds},
                                  {"sigma_forces", &s.sigma_forces},
                                  {"acceleration_noise", &s.acceleration_noise},
                                  {"force_walk", &s.force_walk}})
    if (!list->empty()) out.set(key, list_of(*list));
  for (const auto& [key, value, usual] :
       {std::tuple{"alpha", s.sigma.alpha, other.sigma.alpha},
        {"beta", s.sigma.beta, other.sigma.beta},
        {"kappa", s.sigma.kappa, other.sigma.kappa},
        {"w0", s.sigma.w0, other.sigma.w0},
        {"gate", s.options.gate, other.options.gate},
        {"adapt_process", s.options.adapt_process, other.options.adapt_process},
        {"adapt_sensors", s.options.adapt_sensors, other.options.adapt_sensors},
        {"constraint", s.constraint, other.constraint},
        {"reduction_limit", s.reduction_limit, other.reduction_limit}})
    if (value != usual) out.set(key, value);
  if (s.sigma.square_root) out.set("square_root", true);
  if (s.sigma.redraw) out.set("redraw", true);
  if (s.iterations != other.iterations) out.set("iterations", s.iterations);
  if (s.particles != other.particles) out.set("particles", s.particles);
  if (s.seed != other.seed) out.set("seed", static_cast<int>(s.seed));
  if (!s.input_noise.empty()) {
    Node inputs{Node::Table{}};
    for (const auto& [name, density] : s.input_noise) inputs.set(name, density);
    out.set("input_noise", std::move(inputs));
  }
}

}  // namespace

Node describe(const FilterSetup& setup) {
  Node out{Node::Table{}};
  describe(setup.settings, out);
  Node::Array sensors;
  for (const SensorSettings& s : setup.sensors) {
    Node sensor{Node::Table{}};
    sensor.set("name", s.name);
    for (const auto& [key, value] : {std::pair{"sigma", s.sigma},
                                     {"rate", s.rate},
                                     {"bias_sigma", s.bias_sigma},
                                     {"bias_walk", s.bias_walk}})
      if (value != 0) sensor.set(key, value);
    sensors.push_back(std::move(sensor));
  }
  if (!sensors.empty()) out.set("sensors", std::move(sensors));
  return out;
}

Node describe(const StudyFilter& filter) {
  Node out{Node::Table{}};
  out.set("name", filter.name);
  describe(filter.settings, out);
  if (!filter.model.empty()) out.set("model", filter.model);
  if (!filter.sensors.empty())
    out.set("sensors", Node::Array(filter.sensors.begin(), filter.sensors.end()));
  if (!filter.errors.empty())
    out.set("errors", Node::Array(filter.errors.begin(), filter.errors.end()));
  return out;
}

Result<ObserveStudy> observe_study(const ModelSpec& file) {
  Diagnostics d;
  ObserveStudy out;
  const StudyReader r(file.root, "", d);
  r.keys({"title", "model", "truth", "observer", "until", "dt", "seeds", "noise", "channels",
          "rates", "sensors", "error", "filter", "diverged_above", "restart", "watch", "threads"});
  (void)r.text("title");
  out.model = r.model(file);
  if (const Node* truth = r.find("truth")) {
    const StudyReader t(*truth, "truth", d);
    if (t.keys({"set", "integrator"})) {
      out.truth_set = t.settings("set");
      if (const std::string* name = t.text("integrator")) out.integrator = *name;
    }
  }
  if (const Node* observer = r.find("observer")) {
    const StudyReader o(*observer, "observer", d);
    if (o.keys({"model", "set"})) {
      out.observer_set = o.settings("set");
      if (const std::string* name = o.text("model")) out.observer_model = *name;
    }
  }
  r.number("until", &dim::kTime, out.until);
  r.number("dt", &dim::kTime, out.dt);
  if (!(out.dt > 0) || !(out.until >= out.dt) || out.until / out.dt > 1e8)
    d.error(304, r.loc(), "dt and until: expected a positive step and at least one of them");
  if (const Node* seeds = r.find("seeds")) {
    out.seeds.clear();
    const auto add = [&](const Node& node) {
      const auto* n = std::get_if<std::int64_t>(&node.value);
      if (n == nullptr || *n < 0)
        d.error(112, node.loc, "seeds: expected whole numbers from 0 on");
      else
        out.seeds.push_back(static_cast<std::uint64_t>(*n));
    };
    if (seeds->array() != nullptr) {
      for (const Node& item : *seeds->array()) add(item);
    } else {
      int count = 0;
      r.whole("seeds", 1, count);
      for (int i = 1; i <= count; ++i) out.seeds.push_back(static_cast<std::uint64_t>(i));
    }
    if (out.seeds.empty() && d.ok())
      d.error(113, seeds->loc, "seeds: expected how many, or a list of them");
  }
  if (const std::string* noise = r.text("noise")) {
    if (*noise == "splitmix64")
      out.noise = NoiseStream::kSplitmix64;
    else if (*noise != "counter")
      d.error(114, r.find("noise")->loc,
              fmt::format("noise: \"{}\" is not one of \"counter\", \"splitmix64\"", *noise));
  }
  out.channels = r.texts("channels");
  out.rates_hz = r.numbers("rates", &dim::kFrequency);
  for (double rate : out.rates_hz) {
    const double steps = 1 / (rate * out.dt);
    if (!(rate > 0) || std::abs(steps - std::round(steps)) > 1e-6 * steps || steps < 0.5)
      d.error(807, r.find("rates")->loc,
              fmt::format("rate {} Hz is not a whole number of steps of {} s", rate, out.dt));
  }
  r.number("diverged_above", nullptr, out.diverged_above);
  std::optional<Restart> restart;
  named(r, "restart", restart_named, "\"never\", \"present\", \"initial\"", restart);
  out.restart = restart.value_or(Restart::kNever);
  r.whole("watch", 1, out.watch);
  r.whole("threads", 1, out.threads);
  if (const Node::Array* list = r.list("sensors", "tables"))
    for (size_t i = 0; i < list->size(); ++i) out.sensors.push_back(read_sensors((*list)[i], i, d));
  if (r.find("sensors") == nullptr)
    d.error(111, {file.file, 1, 1}, "missing [[sensors]]: what is measured");
  if (const Node::Array* list = r.list("error", "tables"))
    for (const Node& item : *list) {
      ModelError e;
      e.loc = item.loc;
      e.name = name_or(item, fmt::format("error {}", out.errors.size() + 1));
      const StudyReader t(item, fmt::format("error \"{}\"", e.name), d);
      if (t.keys({"name", "set"})) e.set = t.settings("set");
      out.errors.push_back(std::move(e));
    }
  if (out.errors.empty()) out.errors.push_back({"none", {}, {}});
  if (const Node::Array* list = r.list("filter", "names or tables"))
    for (const Node& item : *list) out.filters.push_back(read_filter(item, d));
  if (out.filters.empty() && d.ok()) {
    StudyFilter f;
    f.name = f.settings.filter;
    out.filters.push_back(f);
  }
  for (const StudyFilter& f : out.filters) {
    const auto check = [&](const std::vector<std::string>& names, const auto& known,
                           const char* what) {
      std::vector<std::string> all;
      all.reserve(known.size());
      for (const auto& k : known) all.push_back(k.name);
      for (const std::string& n : names)
        if (std::find(all.begin(), all.end(), n) == all.end())
          d.error(808, f.loc,
                  fmt::format("filter \"{}\": {} \"{}\" is not in this study{}", f.name, what, n,
                              did_you_mean(n, all)));
    };
    check(f.sensors, out.sensors, "sensors");
    check(f.errors, out.errors, "error");
  }
  if (!d.ok()) return d;
  return out;
}

}  // namespace panto
