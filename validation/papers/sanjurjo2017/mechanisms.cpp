// Sanjurjo et al., Nonlinear Dynamics (2017): the two mechanisms of the filter comparison, without filters.
// Rods, gravity 10 m/s² along −y, no damping. z: crank angles from +x.
//
// Bands, set before the run: half a unit of the last printed digit, for round-off of the print, on everything that the print gives to seven or
// more digits. Motions are printed to 1e-6 rad; after 10 s they also carry what the authors' own iteration left (fixed point stopped
// at 1e-10 per step, 2000 steps, growing with the sensitivity of the motion), so their band is one unit, 1e-6 rad.
#include <fmt/format.h>

#include "validation/support.hpp"

namespace panto::validation::sanjurjo2017 {
namespace {

constexpr double kHalfDigit7 = 5e-8, kHalfDigit6 = 5e-7, kMotion = 1e-6;

struct Point {
  const char *name, *frame;
  double x, y;
};
struct Angle {
  const char* name;
  double start_acceleration;
  double trapezoidal_1, trapezoidal_10, converged_1, converged_10;
};

Result<std::vector<Row>> mechanism(const char* label, const char* model,
                                   std::span<const Point> points, std::span<const Angle> angles,
                                   double energy) {
  const Result<Loaded> loaded = load_model(model);
  if (!loaded.ok()) return loaded.diagnostics();
  const Model& m = *loaded->model;
  const Result<Run> fine = run_at(*loaded, {.at = {0, 1, 10}, .tol = 1e-12});
  if (!fine.ok()) return fine.diagnostics();
  const Result<Run> coarse =
      run_at(*loaded, {.at = {1, 10}, .dt = 0.005, .integrator = "trapezoidal"});
  if (!coarse.ok()) return coarse.diagnostics();

  std::vector<Row> rows;
  std::vector<double> q;
  for (const auto& series : fine->q) q.push_back(series.front());
  for (const Point& p : points) {
    int frame = -1;
    for (size_t i = 0; i < m.frames.size(); ++i)
      if (m.frames[i].name == p.frame) frame = static_cast<int>(i);
    const FramePose pose = loaded->workspace->frame_pose(q, frame);
    rows.push_back({fmt::format("{}: point {}, x", label, p.name), p.x, pose.position[0], "m",
                    kHalfDigit7, ""});
    rows.push_back({fmt::format("{}: point {}, y", label, p.name), p.y, pose.position[1], "m",
                    kHalfDigit7, ""});
  }
  for (const Angle& a : angles) {
    const auto dof = static_cast<size_t>(find_dof(m, a.name));
    rows.push_back({fmt::format("{}: {}''(0)", label, a.name), a.start_acceleration,
                    fine->a[dof].front(), "rad/s^2", kHalfDigit7, ""});
  }
  rows.push_back({fmt::format("{}: energy at the start", label), energy, fine->energy_initial, "J",
                  kHalfDigit6, ""});
  for (const Angle& a : angles) {
    const auto& by_steps = output(*coarse, a.name);
    const auto& exact = output(*fine, a.name);
    const auto add = [&](const char* what, double printed, double computed) {
      rows.push_back(
          {fmt::format("{}: {}{}", label, a.name, what), printed, computed, "rad", kMotion, ""});
    };
    add("(1 s), trapezoidal 5 ms", a.trapezoidal_1, by_steps[0]);
    add("(10 s), trapezoidal 5 ms", a.trapezoidal_10, by_steps[1]);
    add("(1 s), converged", a.converged_1, exact[1]);
    add("(10 s), converged", a.converged_10, exact[2]);
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> mechanisms() {
  const Point four_points[] = {{"1", "crank.end", 1, 1.7320508},
                               {"2", "rocker.end", 8.4124593, 4.7412777}};
  const Angle four_angles[] = {{"theta", -1.0141031, -0.041992, -4.905879, -0.041973, -4.905948}};
  const Point five_points[] = {{"1", "left_crank.end", 0.5, 0},
                               {"2", "left_coupler.end", 0, 2},
                               {"3", "right_crank.end", 2.5, 0}};
  const Angle five_angles[] = {{"theta1", -23.4408602, -2.913156, -3.648901, -2.913392, -3.649272},
                               {"theta2", 25.1612903, 5.627838, 6.009067, 5.627660, 6.009068}};
  auto rows = mechanism("four-bar", "fourbar_sanjurjo", four_points, four_angles, 394.785593);
  if (!rows.ok()) return rows;
  const auto more = mechanism("five-bar", "five_bar", five_points, five_angles, 30);
  if (!more.ok()) return more.diagnostics();
  rows->insert(rows->end(), more->begin(), more->end());
  return rows;
}

}  // namespace panto::validation::sanjurjo2017
