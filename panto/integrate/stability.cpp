#include "panto/integrate/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/integrate/stepper.hpp"
#include "panto/numerics/eigenproblems.hpp"

namespace panto {

namespace {

using Complex = std::complex<double>;

constexpr int kFastest = 8;           // eigenvalues asked of a large model
constexpr double kMillionfold = 1e6;  // growth of a mode over a run of explicit Euler
constexpr double kFirst = 1e-7, kLast = 10, kStride = 1.1;  // of h |λ| in the search
constexpr double kRoundOff = 1e-9;                          // of the logarithm of a factor
constexpr double kFeltDamping = 0.01;

// Factor by which one step multiplies a mode.
double euler_factor(Complex z) { return std::abs(1.0 + z); }

double rk4_factor(Complex z) {
  return std::abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))));
}

// Spectral radius of the step on z̈ = 2 Re(λ) ż - |λ|² z, exact for modal damping; a real eigenvalue is taken as one of z̈ = λ ż.
double semi_implicit_factor(Complex z) {
  const double sum = z.imag() != 0 ? 2 * z.real() : z.real(),
               product = z.imag() != 0 ? std::norm(z) : 0;
  const double determinant = 1 + sum, half_trace = 0.5 * (2 + sum - product);
  const double discriminant = half_trace * half_trace - determinant;
  return discriminant < 0 ? std::sqrt(determinant) : std::abs(half_trace) + std::sqrt(discriminant);
}

// Smallest h with failed(h λ), searched from small steps on.
template <class Failed>
double first_failure(double magnitude, const Failed& failed) {
  double low = kFirst / magnitude, high = low;
  while (!failed(high)) {
    if (high * magnitude > kLast) return std::numeric_limits<double>::infinity();
    low = high;
    high *= kStride;
  }
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    (failed(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace

Status fast_eigenvalues(Ode& ode, double t, View x, Eigen::VectorXcd& values) {
  ode.prepare_derivatives();
  const Status status = ode.linearise(t, x);
  if (!usable(status)) return status;
  // Speeds in a unit in which stiffness and inertia weigh the same: A is then close to a normal matrix.
  Eigen::MatrixXd a = ode.reduced_jacobian();
  const Eigen::Index speeds = ode.independent(), positions = a.rows() - speeds;
  if (speeds > 0 && positions > 0) {
    const double stiffness = a.bottomLeftCorner(speeds, positions).norm();
    const double unit = stiffness > 0 ? std::sqrt(stiffness) : 1;
    a.bottomLeftCorner(speeds, positions) /= unit;
    a.topRightCorner(positions, speeds) *= unit;
  }
  values = largest_values(a, kFastest);
  return status;
}

StepLimit step_limit(std::string_view integrator, const Eigen::VectorXcd& eigenvalues,
                     double until) {
  const bool euler = integrator == "euler";
  const auto factor = euler                                 ? euler_factor
                      : integrator == "rk4"                 ? rk4_factor
                      : integrator == "semi_implicit_euler" ? semi_implicit_factor
                                                            : nullptr;
  StepLimit limit;
  if (factor == nullptr) return limit;
  for (const Complex& eigenvalue : eigenvalues) {
    const Complex s(std::min(eigenvalue.real(), 0.0), eigenvalue.imag());
    const double magnitude = std::abs(s);
    if (!(magnitude > 0)) continue;
    const double step = first_failure(magnitude, [&](double h) {
      const double growth = std::log(factor(h * s));
      return euler ? growth * until / h > std::log(kMillionfold) : growth > kRoundOff;
    });
    if (step < limit.step) limit = {step, s};
  }
  return limit;
}

std::string describe_mode(Complex s) {
  const double damping = -s.real() / std::abs(s);
  if (s.imag() == 0) return fmt::format("decays with a rate of {:.4g} 1/s", -s.real());
  std::string text = fmt::format("oscillates at {:.4g} Hz", std::abs(s) / (2 * std::numbers::pi));
  if (damping > kFeltDamping) text += fmt::format(" (damping ratio {:.2g})", damping);
  return text;
}

}  // namespace panto
