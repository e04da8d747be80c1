// Check and equilibrium on every model of the zoo.
#include <gtest/gtest.h>

#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {
namespace {

class Zoo : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& model) { return model.param; });

TEST_P(Zoo, IsAssembledToRoundOffAndChecked) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto w = Workspace::create(*model, nominal(*model));
  const auto report = check(*w);
  ASSERT_TRUE(report.ok()) << report.diagnostics().text();
  Eigen::VectorXd u(model->nu()), rate(model->nu());
  w->inputs_at(0, view(u), view(rate));
  double position = 0, velocity = 0;
  w->violation(0, view(report->q), view(report->v), view(u), position, velocity);
  EXPECT_LE(position, 1e-14 * w->length());
  EXPECT_LE(velocity, 1e-13 * (1 + w->length()) * (1 + report->v.norm()));
  EXPECT_GE(report->mobility, report->degrees_of_freedom);
  EXPECT_EQ(static_cast<int>(report->independent.size()), report->degrees_of_freedom);
}

TEST_P(Zoo, HasAnEquilibriumOrSaysWhyNot) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const auto w = Workspace::create(*model, nominal(*model));
  const auto e = equilibrium(*w, 0);
  if (!e) {
    EXPECT_NE(e.diagnostics().text().find("E0505"), std::string::npos) << e.diagnostics().text();
    return;
  }
  double position = 0, velocity = 0;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model->nv);
  w->violation(0, view(e->q), view(zero), {}, position, velocity);
  EXPECT_LE(position, 1e-12 * w->length());
}

}  // namespace
}  // namespace panto
