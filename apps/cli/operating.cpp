#include "apps/cli/operating.hpp"

#include <fmt/format.h>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "panto/base/units.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto::cli {

void add_operating_arguments(CLI::App& verb, OperatingArguments& a) {
  add_model_arguments(verb, a);
  verb.add_option("--at", a.at, "Coordinates (and speeds) by name: theta=30deg,s=5mm")
      ->type_name("name=value,...");
  auto* equilibrium =
      verb.add_flag("--equilibrium", a.equilibrium, "Search the equilibrium from there (default)");
  auto* here = verb.add_flag("--here", a.here, "Stay there; forces left over are reported");
  auto* steady = verb.add_flag("--steady", a.steady,
                               "Search a motion with the initial speeds held: a spinning governor");
  equilibrium->excludes(here)->excludes(steady);
  here->excludes(steady);
  verb.add_option("--time", a.time, "Inputs and drivers are frozen at this time [s]")
      ->type_name("t");
}

CLI::Validator times() {
  return {[](std::string& text) -> std::string {
            double value = 0;
            const auto quantity = parse_quantity(text);
            if (!parse_number(text, value) && (!quantity || !(quantity->dim == dim::kTime)))
              return fmt::format("{}: expected a time like 2, 2s or 20ms", text);
            if (quantity) text = fmt::format("{}", quantity->value);
            return {};
          },
          ""};
}

bool parse_value(const std::string& text, double& value) {
  if (parse_number(text, value)) return true;
  const auto quantity = parse_quantity(text);
  if (quantity) value = quantity->value;
  return quantity.has_value();
}

bool parse_pose(const std::string& text, std::vector<PoseValue>& pose, std::string& message) {
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string pair = text.substr(start, end - start);
    start = end + 1;
    const size_t equals = pair.find('=');
    double number = 0;
    if (equals == std::string::npos || equals == 0 ||
        !parse_value(pair.substr(equals + 1), number)) {
      message = fmt::format("--at {}: expected name=value, such as theta=30deg", pair);
      return false;
    }
    pose.push_back({pair.substr(0, equals), number});
  }
  return true;
}

std::optional<Model> posed_model(const OperatingArguments& a, Diagnostics& notes, int& exit_code) {
  std::vector<Override> overrides;
  std::vector<PoseValue> pose;
  std::string message;
  if (!parse_settings(a.set, overrides, message) || !parse_pose(a.at, pose, message)) {
    exit_code = fail_usage(message, a.json);
    return std::nullopt;
  }
  Result<Model> model = load_model(a.model, overrides);
  notes = model.diagnostics();
  if (!model.ok()) {
    exit_code = fail(notes, a.json);
    return std::nullopt;
  }
  if (pose.empty()) return std::move(*model);
  Result<Model> posed = with_pose(*model, pose);
  if (!posed.ok()) {
    exit_code = fail(posed.diagnostics(), a.json);
    return std::nullopt;
  }
  return std::move(*posed);
}

std::unique_ptr<Linearised> linearised(const OperatingArguments& a, int& exit_code) {
  const auto failed = [&](const Diagnostics& d) {
    exit_code = fail(d, a.json);
    return nullptr;
  };
  auto out = std::make_unique<Linearised>();
  std::optional<Model> model = posed_model(a, out->notes, exit_code);
  if (!model) return nullptr;
  out->model = std::move(*model);
  out->workspace = Workspace::create(out->model, nominal(out->model));
  Result<OperatingPoint> point = operating_point(*out->workspace,
                                                 a.here     ? Operation::kHere
                                                 : a.steady ? Operation::kSteady
                                                            : Operation::kEquilibrium,
                                                 a.time);
  if (!point.ok()) return failed(point.diagnostics());
  out->notes.append(point.diagnostics());
  out->point = std::move(*point);
  Result<LinearModel> linear = linearize(*out->workspace, out->point);
  if (!linear.ok()) return failed(linear.diagnostics());
  out->linear = std::move(*linear);
  return out;
}

void write_point(JsonWriter& json, const Linearised& l) {
  const auto series = [&](const char* name, const std::vector<std::string>& names,
                          const Eigen::VectorXd& values) {
    json.key(name).begin_object();
    for (size_t i = 0; i < names.size(); ++i)
      json.member(names[i], values(static_cast<Eigen::Index>(i)));
    json.end_object();
  };
  Eigen::VectorXd y(static_cast<Eigen::Index>(l.model.outputs.size()));
  Point p;
  p.t = l.point.t;
  p.q = view(l.point.q);
  p.v = view(l.point.v);
  p.a = view(l.point.a);
  p.lambda = view(l.point.lambda);
  p.u = view(l.point.u);
  p.u_rate = view(l.point.u_rate);
  l.workspace->outputs(p, view(y));
  json.key("operating_point").begin_object().member("t", l.point.t);
  series("coordinates", l.model.coordinate_names, l.point.q);
  series("speeds", l.model.speed_names, l.point.v);
  series("outputs", l.linear.outputs, y);
  json.end_object().member("residual", l.point.residual);
}

}  // namespace panto::cli
