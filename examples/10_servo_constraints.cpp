// 10 Which speeds of trolley and winch carry a load on a rope from here to there without swinging?
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "panto/inversion/invert.hpp"
#include "panto/io/load.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main() {
  const auto model = panto::load("cable_robot_reduced");
  if (!model) return fail(model.diagnostics());
  const panto::Params params = panto::nominal(*model);
  const panto::ServoChoice servo{{"x_P", "z_P"}, {}, {"u_T", "u_L"}, {}};

  // What kind of inverse it is: flat, nothing is left to swing by itself.
  const auto system = panto::ModelServo::create(*model, params, servo);
  if (!system) return fail(system.diagnostics());
  const auto rest = panto::analyse_at_rest(**system);
  if (!rest) return fail(rest.diagnostics());
  std::printf("zeros %zu 1\n", rest->analysis.zeros.size());
  std::printf("index %d 1\n", rest->analysis.index);
  std::printf("smoothness %d 1\n", rest->analysis.smoothness);

  // 4 m to the left and 3 m down in ten seconds.
  const auto path = panto::Path::line({15, -4}, {11, -7}, 0, 10, 4);
  if (!path) return fail(path.diagnostics());
  const auto found = panto::invert(*model, params, servo, *path, {});
  if (!found) return fail(found.diagnostics());
  const auto largest = [](const std::vector<double>& x) {
    double most = 0;
    for (const double e : x) most = std::max(most, std::abs(e));
    return most;
  };
  const auto phi = std::find(found->coordinates.begin(), found->coordinates.end(), "phi");
  const auto column = static_cast<size_t>(phi - found->coordinates.begin());
  std::printf("fastest_trolley %.6f m/s\n", largest(found->u[0]));
  std::printf("fastest_winch %.6f m/s\n", largest(found->u[1]));
  std::printf("largest_sway %.6f rad\n", largest(found->y[column]));
  std::printf("sway_at_the_end %.6f rad\n", std::abs(found->y[column].back()));
  std::printf("follows_within_a_micrometre %d 1\n", largest(found->tracking_max) < 1e-6 ? 1 : 0);
}
