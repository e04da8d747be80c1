// Inverse models of the zoo as the benchmarks run them: systems, paths and cycles of Drücker (2022), Sections 4.2 and 5.2.
#pragma once

#include <memory>
#include <string>

#include "panto/inversion/inverse_model.hpp"
#include "panto/inversion/model_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"
#include "panto/inversion/study.hpp"
#include "panto/io/load.hpp"
#include "tests/inversion/flexible_arms.hpp"

namespace panto::bench {

struct InverseCase {
  std::unique_ptr<Model> model;
  std::unique_ptr<ModelServo> servo;
  std::unique_ptr<InverseModel> inverse;
  long steps = 0;  // of the path
};

// "cable_robot_reduced": from (15, -4) to (11, -7) m in 10 s, cycles of 10 ms. "arm_spatial": once around a circle in 2 s, cycles of 1 ms. Method as in a
// study, Jacobian "analytic", "broyden" or "difference".
inline Result<InverseCase> inverse_case(const std::string& name, const std::string& method,
                                        const std::string& jacobian) {
  const bool cable = name == "cable_robot_reduced";
  InverseCase out;
  Result<Model> model = load(name);
  if (!model) return model.diagnostics();
  out.model = std::make_unique<Model>(std::move(*model));
  ServoChoice choice;
  choice.outputs = cable ? std::vector<std::string>{"x_P", "z_P"}
                         : std::vector<std::string>{"tip_x", "tip_y", "tip_z"};
  choice.inputs =
      cable ? std::vector<std::string>{"u_T", "u_L"} : std::vector<std::string>{"u1", "u2", "u3"};
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(*out.model, nominal(*out.model), choice);
  if (!servo) return servo.diagnostics();
  out.servo = std::move(*servo);
  Result<AnalysedRest> rest = analyse_at_rest(*out.servo);
  if (!rest) return rest.diagnostics();
  Result<Path> path = cable ? Path::line({15, -4}, {11, -7}, 0, 10, 4)
                            : Path::circle(rest->outputs, {0.65, 0.7}, 0, 2, 4);
  if (!path) return path.diagnostics();
  InverseOptions options;
  options.dt = cable ? 0.01 : 0.001;
  options.newton.iterations = 20;
  if (!inverse_method(method, options) || !jacobian_of(jacobian)) return InverseCase{};
  options.newton.jacobian = *jacobian_of(jacobian);
  out.steps = std::lround(path->end() / options.dt);
  Result<std::unique_ptr<InverseModel>> inverse =
      InverseModel::create(*out.servo, std::move(*path), options);
  if (!inverse) return inverse.diagnostics();
  out.inverse = std::move(*inverse);
  return out;
}

// Ten elements, BDF2 in cycles of 1 ms, three quarters of the tip's direction and a quarter of the driven section's: 30 degrees in 1 s, 1 s of rest.
inline Result<InverseCase> redefined_arm(Formulation formulation) {
  InverseCase out;
  Result<Model> model = inversion_test::flexible_arm(10);
  if (!model) return model.diagnostics();
  out.model = std::make_unique<Model>(std::move(*model));
  constexpr double kWeight = 0.75;
  const Redefinition how = inversion_test::driven_section(kWeight);
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(*out.model, nominal(*out.model),
                         redefined(inversion_test::tip_direction(), how, kWeight, -1));
  if (!servo) return servo.diagnostics();
  out.servo = std::move(*servo);
  InverseOptions options;
  options.dt = 0.001;
  options.order = 2;
  options.formulation = formulation;
  out.steps = 2000;
  Result<std::unique_ptr<InverseModel>> inverse =
      InverseModel::create(*out.servo, inversion_test::one_link_swing(), options);
  if (!inverse) return inverse.diagnostics();
  out.inverse = std::move(*inverse);
  return out;
}

// Stable inversion of the flexible arm (Section 6.4): the first section normal to the beam or free, driven by torque or speed, a second of horizon before and after the path.
struct StableCase {
  std::unique_ptr<Model> model;
  std::unique_ptr<ModelServo> servo;
  StableOptions options;
};
inline Result<StableCase> stable_arm(int elements, bool perpendicular, bool torque) {
  StableCase out;
  Result<Model> model = inversion_test::flexible_arm(elements, perpendicular, torque);
  if (!model) return model.diagnostics();
  out.model = std::make_unique<Model>(std::move(*model));
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(*out.model, nominal(*out.model), {{"tip_direction"}, {}, {"drive"}, {}});
  if (!servo) return servo.diagnostics();
  out.servo = std::move(*servo);
  out.options.before = out.options.after = 1;
  return out;
}

}  // namespace panto::bench
