#include "panto/inversion/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "panto/model/study_reader.hpp"

namespace panto {

bool inverse_method(const std::string& name, InverseOptions& o) {
  if (name == "radau5") {
    o.scheme = InverseScheme::kRadau5;
    return true;
  }
  o.scheme = InverseScheme::kBdf;
  if (name == "euler" || name == "linear_euler") {
    o.order = 1;
    if (name == "linear_euler") o.newton.iterations = 1;
    return true;
  }
  if (name.size() != 4 || !name.starts_with("bdf") || name[3] < '1' || name[3] > '6') return false;
  o.order = name[3] - '0';
  return true;
}

bool invert_method(const std::string& name, InvertOptions& o) {
  const bool optimal = name == "optimal";
  o.method = optimal || name == "stable" ? InvertMethod::kStable : InvertMethod::kForward;
  o.stable.method = optimal ? StableMethod::kDirect : StableMethod::kBoundaryValue;
  return o.method != InvertMethod::kForward || inverse_method(name, o.inverse);
}

std::optional<EndKind> end_kind_of(const std::string& name) {
  if (name == "eigenspaces") return EndKind::kEigenspaces;
  if (name == "clamped") return EndKind::kClamped;
  return std::nullopt;
}

std::optional<StableGuess> stable_guess_of(const std::string& name) {
  if (name == "rest") return StableGuess::kRest;
  if (name == "linear") return StableGuess::kLinear;
  return std::nullopt;
}

std::optional<StableMethod> optimal_solver_of(const std::string& name) {
  if (name == "direct") return StableMethod::kDirect;
  if (name == "indirect") return StableMethod::kIndirect;
  return std::nullopt;
}

std::optional<Formulation> formulation_of(const std::string& name) {
  if (name == "original") return Formulation::kOriginal;
  if (name == "projection") return Formulation::kProjection;
  if (name == "substitution") return Formulation::kSubstitution;
  if (name == "minimal_extension") return Formulation::kMinimalExtension;
  if (name == "baumgarte") return Formulation::kBaumgarte;
  return std::nullopt;
}

std::optional<JacobianKind> jacobian_of(const std::string& name) {
  if (name == "analytic") return JacobianKind::kAnalytic;
  if (name == "difference") return JacobianKind::kFiniteDifference;
  if (name == "broyden") return JacobianKind::kBroyden;
  return std::nullopt;
}

namespace {

PathSpec read_path(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "path", d);
  PathSpec p;
  p.loc = node.loc;
  r.keys({"type", "from", "to", "centre", "turns", "start", "duration", "speed", "smooth", "points",
          "times", "file"});
  const std::string* type = r.text("type");
  const std::string kind = type != nullptr ? *type : "line";
  const auto need = [&](const char* key) {
    if (r.find(key) == nullptr)
      r.error(111, r.loc(), fmt::format("missing key \"{}\": a {} needs it", key, kind));
  };
  // When: exactly one of these.
  const auto timed = [&](std::initializer_list<const char*> keys) {
    int given = 0;
    std::string list;
    for (const char* key : keys) {
      given += r.find(key) != nullptr ? 1 : 0;
      list += fmt::format("{}{}", list.empty() ? "" : " or ", key);
    }
    if (given == 0)
      r.error(111, r.loc(), fmt::format("missing key: a {} needs {}", kind, list));
    else if (given > 1)
      r.error(115, r.loc(), fmt::format("{}: one of them says all", list));
  };
  if (kind == "line") {
    need("to");
    timed({"duration", "speed"});
  } else if (kind == "circle") {
    p.kind = PathSpec::Kind::kCircle;
    need("centre");
    timed({"duration", "speed"});
  } else if (kind == "points") {
    p.kind = PathSpec::Kind::kPoints;
    need("points");
    timed({"times", "duration", "speed"});
  } else if (kind == "samples") {
    p.kind = PathSpec::Kind::kSamples;
    need("file");
  } else {
    r.error(114, r.find("type")->loc,
            fmt::format("type: \"{}\" is not one of line, circle, points, samples", kind));
  }
  p.from = r.numbers("from", nullptr);
  p.to = r.numbers("to", nullptr);
  p.centre = r.numbers("centre", nullptr);
  p.times = r.numbers("times", &dim::kTime);
  r.number("start", &dim::kTime, p.start);
  r.number("duration", &dim::kTime, p.duration);
  if (r.number("speed", nullptr, p.speed) && !(p.speed > 0))
    r.error(304, r.find("speed")->loc, fmt::format("speed: {} is not positive", p.speed));
  r.number("turns", &dim::kNone, p.turns);
  r.whole("smooth", 0, p.smooth);
  if (const std::string* file = r.text("file")) p.file = *file;
  if (r.find("points") != nullptr)
    if (const Node::Array* list = r.list("points", "lists of numbers"))
      for (const Node& point : *list) {
        std::vector<double> z;
        if (const Node::Array* numbers = point.array()) {
          for (const Node& n : *numbers) {
            double x = 0;
            if (r.quantity(n, "points", nullptr, x)) z.push_back(x);
          }
        } else {
          double x = 0;
          if (r.quantity(point, "points", nullptr, x)) z.push_back(x);
        }
        p.points.push_back(std::move(z));
      }
  return p;
}

void read_stable(const StudyReader& r, Diagnostics& d, StableOptions& o) {
  if (o.method == StableMethod::kBoundaryValue)
    r.keys({"name", "step", "ends", "before", "after", "clamp_begin", "clamp_end", "guess",
            "tolerance", "iterations"});
  else
    r.keys({"name", "step", "solver", "before", "after", "tolerance", "iterations"});
  if (const std::string* solver = r.text("solver")) {
    if (const auto kind = optimal_solver_of(*solver))
      o.method = *kind;
    else
      r.error(114, r.find("solver")->loc,
              fmt::format("solver: \"{}\" is not one of direct, indirect", *solver));
  }
  if (const std::string* ends = r.text("ends")) {
    const auto kind = end_kind_of(*ends);
    if (kind)
      o.ends = *kind;
    else
      r.error(114, r.find("ends")->loc,
              fmt::format("ends: \"{}\" is not one of eigenspaces, clamped", *ends));
  }
  if (const std::string* guess = r.text("guess")) {
    const auto kind = stable_guess_of(*guess);
    if (kind)
      o.guess = *kind;
    else
      r.error(114, r.find("guess")->loc,
              fmt::format("guess: \"{}\" is not one of rest, linear", *guess));
  }
  const auto span = [&](const char* key, double& value) {
    if (!r.number(key, &dim::kTime, value) || value >= 0) return;
    d.error(304, r.find(key)->loc, fmt::format("{}: {:g} s, expected at least 0", key, value));
  };
  span("before", o.before);
  span("after", o.after);
  o.clamp_begin = r.texts("clamp_begin");
  o.clamp_end = r.texts("clamp_end");
  if (!o.clamp_begin.empty() || !o.clamp_end.empty()) {
    if (r.find("ends") != nullptr && o.ends == EndKind::kEigenspaces)
      r.error(115, r.find("ends")->loc,
              "ends: \"eigenspaces\" clamps nothing: without it, or \"clamped\"");
    o.ends = EndKind::kClamped;
  }
  if (r.number("tolerance", &dim::kNone, o.tolerance) && !(o.tolerance > 0))
    d.error(304, r.find("tolerance")->loc,
            fmt::format("tolerance: {:g}, expected more than 0", o.tolerance));
  r.whole("iterations", 1, o.iterations);
}

void read_method(const Node& node, Diagnostics& d, InvertOptions& options) {
  const StudyReader r(node, "method", d);
  InverseOptions& o = options.inverse;
  r.number("step", &dim::kTime, o.dt);
  const std::string* method = r.text("name");
  if (method != nullptr && invert_method(*method, options) &&
      options.method == InvertMethod::kStable)
    return read_stable(r, d, options.stable);
  r.keys({"name", "step", "form", "jacobian", "restart", "iterations", "tolerance", "scaling",
          "start", "predict"});
  const auto word = [&](const char* key, const char* words, const auto& accept) {
    const std::string* text = r.text(key);
    if (text != nullptr && !accept(*text))
      r.error(114, r.find(key)->loc, fmt::format("{}: \"{}\" is not one of {}", key, *text, words));
  };
  r.whole("iterations", 1, o.newton.iterations);
  word("name", "euler, linear_euler, bdf1 … bdf6, radau5, stable, optimal",
       [&](const std::string& name) { return inverse_method(name, o); });
  word("form", "original, projection, substitution, minimal_extension, baumgarte",
       [&](const std::string& name) {
         const auto f = formulation_of(name);
         if (f) o.formulation = *f;
         return f.has_value();
       });
  word("jacobian", "analytic, difference, broyden", [&](const std::string& name) {
    const auto j = jacobian_of(name);
    if (j) o.newton.jacobian = *j;
    return j.has_value();
  });
  word("start", "collocation, rest", [&](const std::string& name) {
    o.start_up = name == "rest" ? StartUp::kRest : StartUp::kCollocation;
    return name == "rest" || name == "collocation";
  });
  r.whole("restart", 0, o.newton.restart);
  r.whole("scaling", 0, o.newton.scaling);
  r.number("tolerance", &dim::kNone, o.newton.tolerance);
  r.flag("predict", o.predict);
}

Redefinition read_redefinition(const Node& node, Diagnostics& d) {
  const StudyReader r(node, "redefine", d);
  Redefinition out;
  out.loc = node.loc;
  r.keys({"rigid", "along", "weight", "axial", "marginal"});
  out.rigid = r.texts("rigid");
  if (out.rigid.empty())
    r.error(111, r.loc(), "missing key \"rigid\": what each output would be were the links rigid");
  if (const std::string* along = r.text("along")) out.along = *along;
  for (const auto& [key, into] : {std::pair("weight", &out.weight), std::pair("axial", &out.axial)})
    if (double w = 0; r.number(key, &dim::kNone, w)) *into = w;
  r.number("marginal", &dim::kNone, out.marginal);
  return out;
}

}  // namespace

std::optional<double> end_of(const PathSpec& p) {
  if (p.kind == PathSpec::Kind::kSamples || p.speed > 0) return std::nullopt;
  return p.times.empty() ? p.start + p.duration : p.times.back();
}

bool is_invert_study(const ModelSpec& file) { return file.root.find("path") != nullptr; }

Result<InvertStudy> invert_study(const ModelSpec& file) {
  Diagnostics d;
  InvertStudy out;
  const StudyReader r(file.root, "", d);
  std::vector<std::string> keys = feedback_keys();
  keys.insert(keys.end(), {"model", "set", "servo", "path", "method", "redefine", "until", "verify",
                           "tol", "force", "limits", "feedforward"});
  r.keys(keys);
  if (const std::string* model = r.text("model"))
    out.model = *model;
  else if (r.find("model") == nullptr)
    d.error(111, {file.file, 1, 1}, "missing key \"model\"");
  out.set = r.settings("set");
  Result<ServoChoice> servo = servo_choice(file);
  if (servo.ok())
    out.servo = std::move(*servo);
  else
    d.append(servo.diagnostics());
  if (const std::string* feedforward = r.text("feedforward")) out.feedforward = *feedforward;
  if (const Node* path = r.find("path")) out.path = read_path(*path, d);
  if (const Node* method = r.find("method")) read_method(*method, d, out.options);
  out.feedback = feedback_study(file, d);
  if (const Node* redefine = r.find("redefine")) out.redefine = read_redefinition(*redefine, d);
  if (r.number("until", &dim::kTime, out.options.until) && !(out.options.until > 0))
    d.error(304, r.find("until")->loc,
            fmt::format("until: {:g} s, expected more than 0", out.options.until));
  if (const std::optional<double> end = end_of(out.path);
      end && out.options.until > 0 && out.options.method == InvertMethod::kStable &&
      !end_agrees(out.options, *end))
    d.error(115, r.find("until")->loc,
            fmt::format("until: {:g} s, where method.after ends at {:g} s: one of them says all",
                        out.options.until, *end + out.options.stable.after));
  r.flag("verify", out.options.verify);
  r.flag("force", out.options.force);
  if (out.options.force && out.options.method == InvertMethod::kStable)
    d.error(115, r.find("force")->loc,
            "force: for methods that go forward in time; stable inversion needs none");
  r.number("tol", &dim::kNone, out.options.tol);
  if (const Node* limits = r.find("limits")) {
    if (const auto* table = limits->table()) {
      const StudyReader l(*limits, "limits", d);
      for (const auto& [name, value] : *table) {
        const std::vector<double> range = l.numbers(name, nullptr);
        if (range.size() == 2 && range[0] <= range[1])
          out.options.limits.push_back({name, range[0], range[1]});
        else
          l.error(113, value.loc, fmt::format("{} = [lower, upper] is needed", name));
      }
    } else {
      r.error(112, limits->loc, "limits: expected a table, actuator = [lower, upper]");
    }
  }
  if (!d.ok()) return d;
  return out;
}

Result<Path> path_of(const PathSpec& spec, const AnalysedRest& rest, InvertMethod method) {
  const int needed =
      rest.analysis.smoothness + (method == InvertMethod::kStable ? kSmootherPath : 0);
  const int m = spec.smooth >= 0 ? spec.smooth : std::clamp(needed, 2, kMostSmooth);
  const std::vector<double>& from = spec.from.empty() ? rest.outputs : spec.from;
  const auto of_kind = [&]() -> Result<Path> {
    switch (spec.kind) {
      case PathSpec::Kind::kLine:
        return Path::line(from, spec.to, spec.start, spec.duration, m);
      case PathSpec::Kind::kCircle:
        return Path::circle(from, spec.centre, spec.start, spec.duration, m, spec.turns);
      case PathSpec::Kind::kPoints:
        return spec.times.empty() ? Path::along(spec.points, spec.start, spec.duration, m)
                                  : Path::way_points(spec.times, spec.points, m);
      default:
        return Path::sampled(spec.times, spec.points, m);
    }
  };
  Result<Path> path = of_kind();
  return path.ok() && spec.speed > 0 ? path->paced(spec.speed) : path;
}

}  // namespace panto
