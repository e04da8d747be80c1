// 07 In which pose do the frequencies of a three-link chain tell its joint stiffnesses apart?
#include <cstdio>
#include <numbers>

#include "panto/identification/poses.hpp"
#include "panto/io/load.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main() {
  constexpr double kDegree = std::numbers::pi / 180;
  const auto model = panto::load("three_link");
  if (!model) return fail(model.diagnostics());

  // A thousand poses; in each of them a thousand sets of stiffnesses, and how the frequencies follow them.
  panto::PosesOptions options;
  options.parameters = {"kA", "kB", "kC"};
  options.ranges = {{"theta_B", -90 * kDegree, 90 * kDegree},
                    {"theta_C", -90 * kDegree, 90 * kDegree}};
  const auto study = panto::poses(*model, panto::nominal(*model), options);
  if (!study) return fail(study.diagnostics());

  const panto::ScoredPose& best = study->poses.front();
  std::printf("theta_B %.15g deg\n", best.q(1) / kDegree);
  std::printf("theta_C %.15g deg\n", best.q(2) / kDegree);
  std::printf("score %.15g 1\n", best.score);
  for (int i = 0; i < 3; ++i) {
    const char* feature = study->features[static_cast<size_t>(i)].c_str();
    for (int k = 0; k < 3; ++k) {
      const char* parameter = study->parameters[static_cast<size_t>(k)].c_str();
      std::printf("correlation_%s_%s %.15g 1\n", feature, parameter, best.correlation(i, k));
      std::printf("slope_%s_%s %.15g 1\n", feature, parameter, best.sensitivity(i, k));
    }
  }

  // The same for the straight chain alone, where two of the frequencies depend on two stiffnesses.
  options.ranges = {{"theta_B", 0, 0}, {"theta_C", 0, 0}};
  options.poses = 1;
  const auto straight = panto::poses(*model, panto::nominal(*model), options);
  if (!straight) return fail(straight.diagnostics());
  std::printf("score_straight %.15g 1\n", straight->poses.front().score);
}
