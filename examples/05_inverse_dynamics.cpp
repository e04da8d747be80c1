// 05 Which torques move an arm along a given motion?
#include <cmath>
#include <cstdio>

#include "panto/io/load.hpp"
#include "panto/mechanics/inverse_motion.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto model = panto::load(argc > 1 ? argv[1] : "examples/05_inverse_dynamics.toml");
  if (!model) return fail(model.diagnostics());

  // alpha = 0.6 sin 2t and beta = 0.4 (1 - cos 3t). Given rates and accelerations are taken as they are; left out, they
  // would be differentiated from the samples.
  panto::PrescribedMotion motion;
  panto::PrescribedCoordinate alpha{"alpha", {}, {}, {}}, beta{"beta", {}, {}, {}};
  for (int i = 0; i <= 4; ++i) {
    const double t = 0.25 * i;
    motion.t.push_back(t);
    alpha.value.push_back(0.6 * std::sin(2 * t));
    alpha.rate.push_back(1.2 * std::cos(2 * t));
    alpha.acceleration.push_back(-2.4 * std::sin(2 * t));
    beta.value.push_back(0.4 * (1 - std::cos(3 * t)));
    beta.rate.push_back(1.2 * std::sin(3 * t));
    beta.acceleration.push_back(3.6 * std::cos(3 * t));
  }
  motion.coordinates = {alpha, beta};

  // The equations of motion hold for any motion, so they are solved for the inputs instead of the accelerations.
  const auto workspace = panto::Workspace::create(*model, panto::nominal(*model));
  const auto found = panto::inverse_motion(*workspace, motion, std::vector<int>{0, 1});
  if (!found) return fail(found.diagnostics());
  for (size_t i = 0; i < found->t.size(); ++i) {
    std::printf("shoulder_%zu %.15g N m\n", i, found->efforts[0][i]);
    std::printf("elbow_%zu %.15g N m\n", i, found->efforts[1][i]);
  }
}
