#include "panto/inversion/feedback/feedback_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/model/study_reader.hpp"
#include "panto/numerics/random.hpp"

namespace panto {
namespace {

GainSpec read_gain(const StudyReader& r, const char* key) {
  GainSpec out;
  const Node* node = r.find(key);
  if (node == nullptr) return out;
  if (node->table() != nullptr) {
    out.named = r.named(*node, key);
    return out;
  }
  const Node::Array* list = node->array();
  if (list != nullptr && !list->empty() && list->front().array() != nullptr) {
    for (const Node& row : *list) {
      out.rows.emplace_back();
      if (row.array() == nullptr) {
        r.error(112, row.loc, fmt::format("{}: expected lists of numbers", key));
        continue;
      }
      for (const Node& item : *row.array()) {
        double x = 0;
        if (r.quantity(item, key, nullptr, x)) out.rows.back().push_back(x);
      }
    }
    return out;
  }
  out.rows.push_back(r.numbers(key, nullptr));
  return out;
}

NamedValues read_named(const StudyReader& r, const char* key) {
  const Node* node = r.find(key);
  return node != nullptr ? r.named(*node, key) : NamedValues{};
}

LawSpec read_law(const Node& node, int number, Diagnostics& d) {
  const StudyReader r(node, fmt::format("feedback {}", number), d);
  LawSpec out;
  out.loc = node.loc;
  const std::string* law = r.text("law");
  const std::string kind = law != nullptr ? *law : "";
  if (kind == "none") {
    r.keys({"law", "name"});
  } else if (kind == "lqr") {
    out.law = Law::kLqr;
    r.keys({"law", "name", "q", "r", "at", "samples"});
    out.q = read_gain(r, "q");
    out.r = read_gain(r, "r");
    for (const char* key : {"q", "r"})
      if (r.find(key) == nullptr) r.error(111, r.loc(), fmt::format("missing key \"{}\"", key));
    if (const std::string* at = r.text("at")) {
      if (*at == "start")
        out.at = LqrSettings::Where::kStart;
      else if (*at == "path")
        out.at = LqrSettings::Where::kPath;
      else if (*at != "end")
        r.error(114, r.find("at")->loc,
                fmt::format("at: \"{}\" is not one of end, start, path", *at));
    }
    r.whole("samples", 2, out.samples);
  } else if (kind == "sliding") {
    out.law = Law::kSliding;
    r.keys({"law", "name", "surface", "reach", "layer"});
    if (r.find("surface") == nullptr) r.error(111, r.loc(), "missing key \"surface\"");
    if (const Node::Array* list =
            r.find("surface") != nullptr ? r.list("surface", "tables") : nullptr)
      for (const Node& item : *list) {
        const StudyReader s(item, fmt::format("surface {}", out.rate.size() + 1), d);
        s.keys({"rate", "position"});
        out.rate.push_back(read_named(s, "rate"));
        out.position.push_back(read_named(s, "position"));
      }
    out.reach = r.numbers("reach", nullptr);
    out.layer = r.numbers("layer", nullptr);
    for (const char* key : {"reach", "layer"})
      if (r.find(key) == nullptr) r.error(111, r.loc(), fmt::format("missing key \"{}\"", key));
  } else if (kind == "pid") {
    out.law = Law::kPid;
    r.keys({"law", "name", "p", "i", "d", "filter"});
    out.p = read_gain(r, "p");
    out.i = read_gain(r, "i");
    out.d = read_gain(r, "d");
    r.number("filter", &dim::kTime, out.filter);
  } else if (law == nullptr) {
    r.error(111, r.loc(), "missing key \"law\"");
  } else {
    r.error(114, r.find("law")->loc,
            fmt::format("law: \"{}\" is not one of none, lqr, sliding, pid", kind));
  }
  const std::string* name = r.text("name");
  out.name = name != nullptr ? *name : kind;
  return out;
}

void read_loop(const Node& node, Diagnostics& d, FeedbackStudy& out) {
  const StudyReader r(node, "loop", d);
  out.loop_loc = node.loc;
  r.keys({"plant", "sample", "hold", "plant_step", "lag", "noise", "disturbance", "seed"});
  if (const std::string* plant = r.text("plant")) out.plant = *plant;
  r.number("sample", &dim::kTime, out.sample);
  r.number("plant_step", &dim::kTime, out.plant_step);
  out.lag = read_named(r, "lag");
  out.noise = read_named(r, "noise");
  out.disturbance = read_named(r, "disturbance");
  int seed = 1;
  r.whole("seed", 0, seed);
  out.seed = static_cast<std::uint64_t>(seed);
  if (const std::string* hold = r.text("hold")) {
    out.hold = *hold == "linear" ? Hold::kLinear : Hold::kZero;
    if (*hold != "linear" && *hold != "zero")
      r.error(114, r.find("hold")->loc,
              fmt::format("hold: \"{}\" is not one of zero, linear", *hold));
  }
}

// The settings of the filter are read where filters are known.
void read_observer(const Node& node, Diagnostics& d, FeedbackStudy& out) {
  const StudyReader r(node, "observer", d);
  if (const std::string* model = r.text("model")) out.observer_model = *model;
  out.observer = node;
  if (const auto* table = node.table()) {
    Node::Table settings = *table;
    std::erase_if(settings, [](const auto& member) { return member.first == "model"; });
    out.observer->value = std::move(settings);
  }
}

Perturbation read_perturbed(const Node& node, int number, Diagnostics& d) {
  const StudyReader r(node, fmt::format("perturbed {}", number), d);
  Perturbation out;
  out.loc = node.loc;
  r.keys({"name", "factor", "offset", "start", "disturbance"});
  const std::string* name = r.text("name");
  out.name = name != nullptr ? *name : fmt::format("perturbed {}", number);
  out.factor = read_named(r, "factor");
  out.offset = read_named(r, "offset");
  out.start = read_named(r, "start");
  out.disturbance = read_named(r, "disturbance");
  return out;
}

MonteCarlo read_monte_carlo(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "monte_carlo", d);
  MonteCarlo out;
  out.loc = node.loc;
  r.keys({"draws", "seed", "threads", "distribution", "factor", "offset", "start"});
  if (r.find("draws") == nullptr) r.error(111, r.loc(), "missing key \"draws\"");
  r.whole("draws", 2, out.draws);
  int seed = 1;
  r.whole("seed", 0, seed);
  out.seed = static_cast<std::uint64_t>(seed);
  r.whole("threads", 0, out.threads);
  if (const std::string* word = r.text("distribution")) {
    out.uniform = *word == "uniform";
    if (*word != "uniform" && *word != "normal")
      r.error(114, r.find("distribution")->loc,
              fmt::format("distribution: \"{}\" is not one of normal, uniform", *word));
  }
  out.factor = read_named(r, "factor");
  out.offset = read_named(r, "offset");
  out.start = read_named(r, "start");
  return out;
}

// A diagonal matrix from one number, a list, or names.
Eigen::MatrixXd diagonal(const GainSpec& spec, const std::vector<std::string>& names,
                         const char* key, const LawSpec& law, Diagnostics& d) {
  const auto n = static_cast<Eigen::Index>(names.size());
  Eigen::VectorXd values = Eigen::VectorXd::Zero(n);
  if (!spec.named.empty()) {
    const std::vector<double> list =
        listed(spec.named, names, fmt::format("{} \"{}\": {}", to_string(law.law), law.name, key),
               law.loc, d);
    values = Eigen::Map<const Eigen::VectorXd>(list.data(), n);
  } else if (spec.rows.size() == 1 && spec.rows[0].size() == 1) {
    values.setConstant(spec.rows[0][0]);
  } else if (spec.rows.size() == 1 && spec.rows[0].size() == names.size()) {
    values = Eigen::Map<const Eigen::VectorXd>(spec.rows[0].data(), n);
  } else {
    d.error(1055, law.loc,
            fmt::format("{} \"{}\": {} needs one number, {} of them or a table by name",
                        to_string(law.law), law.name, key, n));
  }
  return values.asDiagonal();
}

// Inputs x outputs: one number or a list pair them in order.
Eigen::MatrixXd pairs(const GainSpec& spec, const LoopNames& names, const char* key,
                      const LawSpec& law, Diagnostics& d) {
  const auto nu = static_cast<Eigen::Index>(names.inputs.size()),
             nz = static_cast<Eigen::Index>(names.outputs.size());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(nu, nz);
  if (spec.empty()) return m;
  if (spec.rows.size() == 1 &&
      (spec.rows[0].size() == 1 || spec.rows[0].size() == names.outputs.size()) && nu >= nz) {
    for (Eigen::Index k = 0; k < nz; ++k)
      m(k, k) = spec.rows[0][spec.rows[0].size() == 1 ? 0 : static_cast<size_t>(k)];
    return m;
  }
  const bool fits = spec.rows.size() == names.inputs.size() &&
                    std::all_of(spec.rows.begin(), spec.rows.end(), [&](const auto& row) {
                      return row.size() == names.outputs.size();
                    });
  if (!fits) {
    d.error(1055, law.loc,
            fmt::format("pid \"{}\": {} needs one number, {} of them, or {} lists of {}", law.name,
                        key, nz, nu, nz));
    return m;
  }
  for (Eigen::Index i = 0; i < nu; ++i)
    for (Eigen::Index k = 0; k < nz; ++k)
      m(i, k) = spec.rows[static_cast<size_t>(i)][static_cast<size_t>(k)];
  return m;
}

std::vector<std::string> with_speeds(const std::vector<std::string>& coordinates) {
  std::vector<std::string> out = coordinates;
  for (const std::string& name : coordinates) out.push_back(name + "_dot");
  return out;
}

}  // namespace

std::vector<std::string> feedback_keys() {
  return {"feedback", "loop", "observer", "perturbed", "monte_carlo"};
}

FeedbackStudy feedback_study(const ModelSpec& file, Diagnostics& d) {
  FeedbackStudy out;
  const StudyReader r(file.root, "", d);
  const auto each = [&](const char* key, const auto& read) {
    if (r.find(key) == nullptr) return;
    if (const Node::Array* list = r.list(key, "tables"))
      for (size_t i = 0; i < list->size(); ++i) read((*list)[i], static_cast<int>(i) + 1);
  };
  each("feedback", [&](const Node& node, int k) { out.laws.push_back(read_law(node, k, d)); });
  each("perturbed",
       [&](const Node& node, int k) { out.perturbed.push_back(read_perturbed(node, k, d)); });
  if (const Node* loop = r.find("loop")) read_loop(*loop, d, out);
  if (const Node* mc = r.find("monte_carlo")) out.monte_carlo = read_monte_carlo(*mc, d);
  if (const Node* observer = r.find("observer")) read_observer(*observer, d, out);
  if (out.laws.empty())
    for (const char* key : {"loop", "observer", "perturbed", "monte_carlo"})
      if (const Node* node = r.find(key))
        d.error(111, node->loc,
                fmt::format("{} says how feedback is tried: [[feedback]] is missing", key));
  for (size_t i = 0; i < out.laws.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (out.laws[i].name == out.laws[k].name)
        d.error(
            115, out.laws[i].loc,
            fmt::format("feedback \"{}\" is there twice; give it another name", out.laws[i].name));
  return out;
}

std::vector<double> listed(const NamedValues& values, const std::vector<std::string>& names,
                           const std::string& what, const Loc& loc, Diagnostics& d) {
  std::vector<double> out(names.size(), 0.0);
  for (const auto& [name, value] : values) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end())
      d.error(1057, loc,
              fmt::format("{}: there is no \"{}\"{}", what, name, did_you_mean(name, names)));
    else
      out[static_cast<size_t>(it - names.begin())] = value;
  }
  return out;
}

Result<FeedbackSettings> settings_of(const LawSpec& law, const LoopNames& names) {
  Diagnostics d;
  FeedbackSettings out;
  out.name = law.name;
  out.law = law.law;
  out.loc = law.loc;
  if (law.law == Law::kLqr) {
    out.lqr.Q = diagonal(law.q, with_speeds(names.coordinates), "q", law, d);
    out.lqr.R = diagonal(law.r, names.inputs, "r", law, d);
    out.lqr.at = law.at;
    out.lqr.samples = law.samples;
  } else if (law.law == Law::kSliding) {
    const auto nu = static_cast<Eigen::Index>(names.inputs.size()),
               nv = static_cast<Eigen::Index>(names.coordinates.size());
    if (law.rate.size() != names.inputs.size())
      d.error(1055, law.loc,
              fmt::format("sliding \"{}\": {} surfaces for {} actuators", law.name, law.rate.size(),
                          nu));
    out.sliding.rate.setZero(nu, nv);
    out.sliding.position.setZero(nu, nv);
    for (size_t i = 0; i < law.rate.size() && i < names.inputs.size(); ++i) {
      const std::string what = fmt::format("sliding \"{}\": surface {}", law.name, i + 1);
      const std::vector<double> rate = listed(law.rate[i], names.coordinates, what, law.loc, d),
                                position =
                                    listed(law.position[i], names.coordinates, what, law.loc, d);
      for (size_t k = 0; k < rate.size(); ++k) {
        out.sliding.rate(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rate[k];
        out.sliding.position(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
            position[k];
      }
    }
    const auto spread = [&](const std::vector<double>& list, const char* key) {
      Eigen::VectorXd v(nu);
      if (list.size() == 1)
        v.setConstant(list[0]);
      else if (list.size() == names.inputs.size())
        v = Eigen::Map<const Eigen::VectorXd>(list.data(), nu);
      else
        d.error(
            1055, law.loc,
            fmt::format("sliding \"{}\": {} needs one number or {} of them", law.name, key, nu));
      return v;
    };
    out.sliding.reach = spread(law.reach, "reach");
    out.sliding.layer = spread(law.layer, "layer");
  } else if (law.law == Law::kPid) {
    out.pid.p = pairs(law.p, names, "p", law, d);
    out.pid.i = pairs(law.i, names, "i", law, d);
    out.pid.d = pairs(law.d, names, "d", law, d);
    out.pid.filter = law.filter;
  }
  if (!d.ok()) return d;
  return out;
}

Result<LoopSettings> settings_of(const FeedbackStudy& study, const LoopNames& names, double dt) {
  Diagnostics d;
  LoopSettings out;
  out.hold = study.hold;
  out.plant_step = study.plant_step;
  out.seed = study.seed;
  if (study.sample > 0) out.every = static_cast<int>(std::lround(study.sample / dt));
  if (study.sample < 0 || out.every < 1 ||
      (study.sample > 0 && std::abs(out.every * dt - study.sample) > 1e-9 * study.sample))
    d.error(1058, study.loop_loc,
            fmt::format("loop: sample = {:g} s must be a multiple of the inverse model's step, "
                        "{:g} s",
                        study.sample, dt));
  const auto by = [&](const NamedValues& values, const std::vector<std::string>& list,
                      const char* what) {
    return values.empty() ? std::vector<double>{}
                          : listed(values, list, fmt::format("loop: {}", what), study.loop_loc, d);
  };
  out.lag = by(study.lag, names.inputs, "lag");
  out.disturbance = by(study.disturbance, names.inputs, "disturbance");
  // Outputs come first: one that has the name of a coordinate is what the controller reads of it.
  std::vector<std::string> all = names.outputs;
  const std::vector<std::string> states = with_speeds(names.coordinates);
  all.insert(all.end(), states.begin(), states.end());
  const std::vector<double> noise = by(study.noise, all, "noise");
  if (!noise.empty()) {
    const auto nz = static_cast<std::ptrdiff_t>(names.outputs.size()),
               nv = static_cast<std::ptrdiff_t>(names.coordinates.size());
    out.output_noise.assign(noise.begin(), noise.begin() + nz);
    out.position_noise.assign(noise.begin() + nz, noise.begin() + nz + nv);
    out.speed_noise.assign(noise.begin() + nz + nv, noise.end());
    // A coordinate that is an output is read once.
    for (size_t i = 0; i < names.coordinates.size(); ++i)
      for (size_t k = 0; k < names.outputs.size(); ++k)
        if (names.outputs[k] == names.coordinates[i]) out.position_noise[i] = out.output_noise[k];
  }
  if (!d.ok()) return d;
  return out;
}

Result<Params> perturbed(const Model& model, const Params& params, const Perturbation& change) {
  Diagnostics d;
  Params out = params;
  std::vector<std::string> names;
  for (const ParameterInfo& p : model.parameters) names.push_back(p.name);
  const auto each = [&](const NamedValues& values, const auto& apply) {
    for (const auto& [name, value] : values) {
      const int k = find_parameter(model, name);
      if (k < 0)
        d.error(1057, change.loc,
                fmt::format("\"{}\": there is no parameter \"{}\"{}", change.name, name,
                            did_you_mean(name, names)));
      else
        apply(out.values[k], value);
    }
  };
  each(change.factor, [](double& x, double by) { x *= by; });
  each(change.offset, [](double& x, double by) { x += by; });
  if (!d.ok()) return d;
  return out;
}

Perturbation drawn(const MonteCarlo& spec, int k) {
  Perturbation out;
  out.name = fmt::format("draw {}", k + 1);
  out.loc = spec.loc;
  // Streams of their own, beside those of noise.
  std::uint64_t stream = std::uint64_t{1} << 60U;
  const auto number = [&] {
    const auto index = static_cast<std::uint64_t>(k);
    const double x = spec.uniform ? std::sqrt(3.0) * (2 * uniform(spec.seed, stream, index) - 1)
                                  : normal(spec.seed, stream, index);
    ++stream;
    return x;
  };
  for (const auto& [name, sigma] : spec.factor) out.factor.emplace_back(name, 1 + sigma * number());
  for (const auto& [name, sigma] : spec.offset) out.offset.emplace_back(name, sigma * number());
  for (const auto& [name, sigma] : spec.start) out.start.emplace_back(name, sigma * number());
  return out;
}

Spread spread_of(std::vector<double> values) {
  Spread out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (const double x : values) out.deviation += (x - out.mean) * (x - out.mean);
  out.deviation = values.size() > 1 ? std::sqrt(out.deviation / (n - 1)) : 0;
  out.smallest = values.front();
  out.largest = values.back();
  out.most = values[static_cast<size_t>(std::ceil(0.95 * n)) - 1];
  return out;
}

}  // namespace panto
