// A cycle of an inverse model allocates nothing, whatever the formulation, the method or the Jacobian.
#include <gtest/gtest.h>

#include "panto/inversion/test/cases.hpp"
#include "panto/io/invert_study.hpp"
#include "panto/io/load.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

void expect_quiet(ServoSystem& system, const Path& path, const InverseOptions& options) {
  auto model = InverseModel::create(system, path, options);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE((*model)->start(0).ok());
  for (int i = 0; i < 12; ++i) ASSERT_FALSE(fatal((*model)->step()));
  const long before = calls;
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(fatal((*model)->step()));
  EXPECT_EQ(calls - before, 0);
}

TEST(InverseAllocationLaw, StepsAllocateNothing) {
  const auto every = [](ServoSystem& system, const Path& path, bool coordinates) {
    for (const Formulation form :
         {Formulation::kOriginal, Formulation::kProjection, Formulation::kSubstitution,
          Formulation::kMinimalExtension, Formulation::kBaumgarte})
      for (const InverseScheme scheme : {InverseScheme::kBdf, InverseScheme::kRadau5})
        for (const JacobianKind kind :
             {JacobianKind::kAnalytic, JacobianKind::kFiniteDifference, JacobianKind::kBroyden}) {
          if (form == Formulation::kSubstitution && !coordinates) continue;
          SCOPED_TRACE(testing::Message() << int(form) << " " << int(scheme) << " " << int(kind));
          InverseOptions o;
          o.order = 2;
          o.formulation = form;
          o.scheme = scheme;
          o.newton.jacobian = kind;
          expect_quiet(system, path, o);
        }
  };
  auto dae = inversion_test::cable_dae();
  every(dae, inversion_test::cable_line(), true);
  for (const char* name : {"cable_robot_reduced", "mass_on_car"}) {
    SCOPED_TRACE(name);
    ModelSpec spec;
    const Result<Model> model = load(name, {}, &spec);
    ASSERT_TRUE(model.ok());
    auto servo = ModelServo::create(*model, nominal(*model), *servo_choice(spec));
    ASSERT_TRUE(servo.ok());
    const auto rest = analyse_at_rest(**servo);
    std::vector<double> to = rest->outputs;
    for (double& z : to) z -= 3;
    every(**servo, *Path::line(rest->outputs, to, 0, 8, 4), false);
  }
}

}  // namespace
}  // namespace panto
