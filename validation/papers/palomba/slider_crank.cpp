// Palomba, doctoral thesis: the offset slider-crank of test TS-I (Section 3.2.1) and the in-line slider-crank of test KKF-I (2.3.1).
//
// | thesis          | here    | unit                |                                                    |
// |-----------------|---------|---------------------|----------------------------------------------------|
// | θ, φ            | th, phi | rad                 | crank and rod angle                                |
// | c, r, h         | c, r, h | m                   | crank, rod, offset of the slider                   |
// | I(θ), V′(θ)     | I, dV   | kg m², N m          | reduced inertia, derivative of the potential       |
// | T, F            | T, F    | N m, N              | crank torque, slider force along +x                |
// | L1, L2, K       | L1,L2,K | m, m, 1             | KKF-I: crank, rod, ∂θ2/∂θ1                          |
//
// "printed" is the closed form at the state that our simulation has reached, "computed" the acceleration of our equations of motion at the same
// state: both are exact, so the bands, set before the run, are round-off: 1e-10 of the largest value in the run (θ̈ up to some 1e3 rad/s², condition
// of the constraint solve up to 1e3).
#include <fmt/format.h>

#include <array>

#include "validation/papers/palomba/offset_slider_crank.hpp"
#include "validation/support.hpp"

namespace panto::validation::palomba {
namespace {

constexpr double kShare = 1e-10;

std::vector<double> times(double until, int count) {
  std::vector<double> t;
  for (int i = 0; i <= count; ++i) t.push_back(until * i / count);
  return t;
}

// Rows of one acceleration: at some times, and the largest deviation at all.
void add_rows(std::vector<Row>& rows, const std::string& name, const std::string& unit,
              const std::vector<double>& t, const std::vector<double>& printed,
              const std::vector<double>& computed, std::span<const size_t> shown) {
  double scale = 0, deviation = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    scale = std::max(scale, std::abs(printed[i]));
    deviation = std::max(deviation, std::abs(computed[i] - printed[i]));
  }
  for (const size_t i : shown)
    rows.push_back({fmt::format("{} at {:g} s", name, t[i]), printed[i], computed[i], unit,
                    kShare * scale, ""});
  rows.push_back({fmt::format("{}, largest deviation at {} times", name, t.size()), 0, deviation,
                  unit, kShare * scale, ""});
}

Result<std::vector<Row>> with_parameters(const char* label, OffsetSliderCrank s,
                                         std::span<const Override> overrides) {
  const Result<Loaded> loaded = load_model("slider_crank", overrides);
  if (!loaded.ok()) return loaded.diagnostics();
  const Result<Run> run = run_at(*loaded, {.at = times(5, 500), .tol = 1e-10});
  if (!run.ok()) return run.diagnostics();
  const auto& th = output(*run, "theta");
  const auto& th_dot = output(*run, "theta_dot");
  const auto& torque = output(*run, "torque");
  const auto& force = output(*run, "slider_force");
  std::vector<double> theta, slider;
  for (size_t i = 0; i < run->t.size(); ++i) {
    s.at(th[i]);
    theta.push_back(s.acceleration(th_dot[i], torque[i], force[i]));
    slider.push_back(s.slider_acceleration(th_dot[i], theta.back()));
  }
  const auto dof = static_cast<size_t>(find_dof(*loaded->model, "theta"));
  constexpr std::array<size_t, 3> kShown{0, 125, 500};
  std::vector<Row> rows;
  add_rows(rows, fmt::format("{}: crank acceleration", label), "rad/s^2", run->t, theta,
           run->a[dof], kShown);
  add_rows(rows, fmt::format("{}: slider acceleration", label), "m/s^2", run->t, slider,
           output(*run, "slider_a"), kShown);
  return rows;
}

}  // namespace

Result<std::vector<Row>> slider_crank() {
  auto rows = with_parameters("nominal", {1.872, 3.744, 1.2, 0.3, 0.6, 0.05, 9.81}, {});
  if (!rows.ok()) return rows;
  // Table 3.1: nominal plus deviation.
  const std::array actual{Override{"mc", "1.8529"}, Override{"mr", "3.594"},
                          Override{"ms", "1.212"},  Override{"c", "0.297"},
                          Override{"r", "0.612"},   Override{"h", "0.049"}};
  const auto more =
      with_parameters("actual", {1.8529, 3.594, 1.212, 0.297, 0.612, 0.049, 9.81}, actual);
  if (!more.ok()) return more.diagnostics();
  rows->insert(rows->end(), more->begin(), more->end());
  return rows;
}

// (2.23) outside the singular zone |θ1 − θ2 − kπ| ≤ 0.08 rad: θ̈1 from the slider's acceleration. Inside, the thesis switches to another
// model because the division loses digits as 1 / sin(θ2 − θ1) ≤ 1 / sin 0.08 = 12.5 grows; the band covers that factor.
Result<std::vector<Row>> kinematic_observer() {
  const Result<Loaded> loaded = load_model("slider_crank_kkf");
  if (!loaded.ok()) return loaded.diagnostics();
  const Result<Run> run = run_at(*loaded, {.at = times(5, 1000), .tol = 1e-10});
  if (!run.ok()) return run.diagnostics();
  const double L1 = 0.1, L2 = 0.25;
  const auto& theta1 = output(*run, "theta1");
  const auto& rate = output(*run, "theta1_dot");
  const auto& acceleration = output(*run, "theta1_ddot");
  const auto& theta2 = output(*run, "theta2");
  const auto& a = output(*run, "slider_a");
  std::vector<double> t, printed, computed;
  for (size_t i = 0; i < run->t.size(); ++i) {
    const double difference = theta2[i] - theta1[i];
    if (std::abs(std::sin(difference)) <= std::sin(0.08)) continue;
    const double K = -L1 * std::sin(theta1[i]) / (L2 * std::sin(theta2[i]));
    t.push_back(run->t[i]);
    printed.push_back((std::sin(theta2[i]) * a[i] +
                       (L2 * K * K + L1 * std::cos(difference)) * rate[i] * rate[i]) /
                      (L1 * std::sin(difference)));
    computed.push_back(acceleration[i]);
  }
  const std::array<size_t, 2> shown{t.size() / 3, t.size() - 1};
  std::vector<Row> rows;
  add_rows(rows, "crank acceleration from the slider's, (2.23)", "rad/s^2", t, printed, computed,
           shown);
  return rows;
}

}  // namespace panto::validation::palomba
