// Systems with known inverses (Drücker, doctoral thesis, 2022; equation numbers are the thesis').
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "panto/base/taylor.hpp"
#include "panto/elements/ancf_shear.hpp"
#include "panto/inversion/function_servo.hpp"
#include "panto/inversion/inverse_model.hpp"
#include "panto/inversion/linear_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"

namespace panto::inversion_test {

// ---- planar manipulator with a passive joint (2.90)–(2.96), Table 6.1 ----------------------------------------------------------------
// Two bars of 0.5 m and 0.05 kg, spring and damper in the second joint, torque on the first.
struct PassiveJoint {
  static constexpr double kLength = 0.5, kMass = 0.05, kStiffness = 0.5;
  static constexpr double kInertia = kMass * kLength * kLength / 12;
};
// y = α, β.
struct PassiveArm : PassiveJoint {
  static constexpr int kCoordinates = 2, kConstraints = 0, kInputs = 1;
  double damping = 2.5e-5;
  template <class T>
  void dynamics(double /*t*/, const T* y, const T* v, const T* w, const T* /*lambda*/, const T* u,
                T* r) const {
    using std::cos, std::sin;
    const double a = kMass * kLength * kLength / 4, l2 = kLength * kLength;
    const T a3 = l2 * kMass * cos(y[1]) / 2.0;
    const T k = 0.5 * l2 * kMass * sin(y[1]);
    const T m12 = a + a3 + kInertia;
    r[0] = (2 * a + 2.0 * a3 + l2 * kMass + 2 * kInertia) * w[0] + m12 * w[1] -
           k * v[1] * (2.0 * v[0] + v[1]) - u[0];
    r[1] =
        m12 * w[0] + (a + kInertia) * w[1] + k * v[0] * v[0] + kStiffness * y[1] + damping * v[1];
  }
  template <class T>
  void outputs(const T& /*t*/, const T* y, T* z) const {
    z[0] = y[0] + T(0.5) * y[1];
  }
  static void guess(double* y) { y[0] = y[1] = 0; }
};
// The same in redundant coordinates: angle of the first bar, centre and angle of the second; λ: forces of the joint between them.
struct PassiveArmDae : PassiveJoint {
  static constexpr int kCoordinates = 4, kConstraints = 2, kInputs = 1;
  double damping = 2.5e-5;
  template <class T>
  void dynamics(double /*t*/, const T* y, const T* v, const T* w, const T* lambda, const T* u,
                T* r) const {
    using std::cos, std::sin;
    const T spring = kStiffness * (y[3] - y[0]) + damping * (v[3] - v[0]);
    r[0] = (kInertia + kMass * kLength * kLength / 4) * w[0] - spring - u[0] -
           kLength * (sin(y[0]) * lambda[0] - cos(y[0]) * lambda[1]);
    r[1] = kMass * w[1] - lambda[0];
    r[2] = kMass * w[2] - lambda[1];
    r[3] = kInertia * w[3] + spring - kLength / 2 * (sin(y[3]) * lambda[0] - cos(y[3]) * lambda[1]);
  }
  template <class T>
  void constraints(const T& /*t*/, const T* y, T* c) const {
    using std::cos, std::sin;
    c[0] = y[1] - T(kLength) * cos(y[0]) - T(kLength / 2) * cos(y[3]);
    c[1] = y[2] - T(kLength) * sin(y[0]) - T(kLength / 2) * sin(y[3]);
  }
  template <class T>
  void outputs(const T& /*t*/, const T* y, T* z) const {
    z[0] = T(0.5) * (y[0] + y[3]);
  }
  static void guess(double* y) { y[0] = y[2] = y[3] = 0, y[1] = 1.5 * kLength; }
};
// 0° to 30° in 1 s, (4.10).
inline Path swing() { return *Path::line({0}, {std::numbers::pi / 6}, 0, 1, 4); }

// ---- torsional oscillator (2.79)–(2.81), Table 4.1 ----------------------------------------------------------------------------------
// N disks in a chain, torque on the first, output the angle of the last; the first `dampers` springs have dampers d.
inline LinearServoMatrices chain(int disks, int dampers = 0, double d = 0.1) {
  constexpr double kInertia = 0.12, kStiffness = 2;
  LinearServoMatrices m;
  m.M = kInertia * Eigen::MatrixXd::Identity(disks, disks);
  m.D = m.K = Eigen::MatrixXd::Zero(disks, disks);
  for (int i = 0; i + 1 < disks; ++i) {
    const Eigen::Matrix2d link = (Eigen::Matrix2d() << 1, -1, -1, 1).finished();
    m.K.block<2, 2>(i, i) += kStiffness * link;
    if (i < dampers) m.D.block<2, 2>(i, i) += d * link;
  }
  m.B = Eigen::MatrixXd::Zero(disks, 1);
  m.B(0, 0) = 1;
  m.H = Eigen::MatrixXd::Zero(1, disks);
  m.H(0, disks - 1) = 1;
  return m;
}

// Torque of the undamped chain: φ_N = z, φ_(i-1) = φ_i + I/k φ_i'' + [i < N] (φ_i - φ_(i+1)), u = I Σ φ_i''.
inline double chain_torque(int disks, const Path& path, double t) {
  constexpr double kInertia = 0.12, kStiffness = 2;
  std::array<double, kMostDerivatives> z{};
  path.at(t, 2 * disks + 1, z);
  // Coefficients of z, z'', z'''' …
  std::vector<double> after(static_cast<size_t>(disks) + 2, 0.0), phi = after, sum = after;
  phi[0] = 1;
  for (int i = disks; i >= 1; --i) {
    for (size_t k = 0; k < phi.size(); ++k) sum[k] += phi[k];
    std::vector<double> before = phi;
    for (size_t k = 0; k + 1 < phi.size(); ++k) before[k + 1] += kInertia / kStiffness * phi[k];
    if (i < disks)
      for (size_t k = 0; k < phi.size(); ++k) before[k] += phi[k] - after[k];
    after = phi;
    phi = before;
  }
  double u = 0;
  for (int k = 0; k < disks; ++k)
    u += kInertia * sum[static_cast<size_t>(k)] * z[static_cast<size_t>(2 * k + 2)];
  return u;
}

// (4.5) for m = 7: one turn in 6 s.
inline Path turn(int m = 7) { return *Path::line({0}, {2 * std::numbers::pi}, 0, 6, m); }

// ---- reduced cable robot, Tables 4.2, 4.3; z downwards --------------------------------------------------------------------------------
struct Robot {
  static constexpr double kTrolley = 0.03, kWinch = 0.02, kGravity = 9.81;
};
// (2.69), (2.70), (2.76): y = x_T, L, φ.
struct CableOde {
  static constexpr int kCoordinates = 3, kConstraints = 0, kInputs = 2;
  template <class T>
  void dynamics(double /*t*/, const T* y, const T* v, const T* w, const T* /*lambda*/, const T* u,
                T* r) const {
    using std::cos, std::sin;
    r[0] = Robot::kTrolley * w[0] + v[0] - u[0];
    r[1] = Robot::kWinch * w[1] + v[1] - u[1];
    r[2] = cos(y[2]) * w[0] + y[1] * w[2] + 2.0 * v[2] * v[1] + Robot::kGravity * sin(y[2]);
  }
  template <class T>
  void outputs(const T& /*t*/, const T* y, T* z) const {
    using std::cos, std::sin;
    z[0] = y[0] + y[1] * sin(y[2]);
    z[1] = y[1] * cos(y[2]);
  }
  void guess(double* y) const { y[0] = 15, y[1] = 4, y[2] = 0; }
};
// (2.73)–(2.75): y = x_T, L, x_P, z_P; trolley and winch do not feel the rope.
struct CableDae {
  static constexpr int kCoordinates = 4, kConstraints = 1, kInputs = 2;
  template <class T>
  void dynamics(double /*t*/, const T* y, const T* v, const T* w, const T* lambda, const T* u,
                T* r) const {
    r[0] = Robot::kTrolley * w[0] + v[0] - u[0];
    r[1] = Robot::kWinch * w[1] + v[1] - u[1];
    r[2] = w[2] - 2.0 * (y[2] - y[0]) * lambda[0];
    r[3] = w[3] - Robot::kGravity - 2.0 * y[3] * lambda[0];
  }
  template <class T>
  void constraints(const T& /*t*/, const T* y, T* c) const {
    c[0] = y[3] * y[3] + (y[2] - y[0]) * (y[2] - y[0]) - y[1] * y[1];
  }
  template <class T>
  void outputs(const T& /*t*/, const T* y, T* z) const {
    z[0] = y[2];
    z[1] = y[3];
  }
  void guess(double* y) const { y[0] = 15, y[1] = 4, y[2] = 15, y[3] = 4; }
};
inline FunctionServo<CableDae> cable_dae() {
  FunctionServo<CableDae> s;
  s.output_is_coordinate(0, 2);
  s.output_is_coordinate(1, 3);
  return s;
}
// From 15 m, 4 m to 11 m, 7 m in 10 s, (4.10).
inline Path cable_line(int m = 4) { return *Path::line({15, 4}, {11, 7}, 0, 10, m); }
// The exact inverse of CableDae, y, v, w, λ, u: w = tan φ = ẍ / (z̈ - g), x_T = x - z w, L = z sqrt(1 + w²), λ = (z̈ - g) / 2z.
inline Eigen::VectorXd cable_state(const Path& path, double t) {
  std::array<double, 10> z{};
  path.at(t, 5, z);
  using Time = Taylor2<double>;
  const Time w = Time(z[4], z[6], z[8]) / Time(z[5] - Robot::kGravity, z[7], z[9]);
  const Time height(z[1], z[3], z[5]);
  const Time trolley = Time(z[0], z[2], z[4]) - height * w, rope = height * sqrt(Time(1.0) + w * w);
  Eigen::VectorXd state(15);
  state << trolley.a, rope.a, z[0], z[1], trolley.d, rope.d, z[2], z[3], trolley.dd, rope.dd, z[4],
      z[5], (z[5] - Robot::kGravity) / (2 * z[1]), Robot::kTrolley * trolley.dd + trolley.d,
      Robot::kWinch * rope.dd + rope.d;
  return state;
}
inline std::array<double, 2> cable_inputs(const Path& path, double t) {
  const Eigen::VectorXd state = cable_state(path, t);
  return {state[13], state[14]};
}
// Largest error of the inputs of CableDae with outputs substituted, by backward differences that start from the exact states of the first steps.
inline double cable_error_from_exact_start(int order, double dt) {
  auto dae = cable_dae();
  const Path path = cable_line();
  const std::vector<double> alpha = bdf_coefficients(order);
  StageSolver solver(dae, Formulation::kSubstitution, {},
                     {Eigen::VectorXd::Ones(1), Eigen::MatrixXd::Constant(1, 1, alpha[0] / dt)},
                     dt);
  std::vector<Eigen::VectorXd> history;  // newest first
  for (int n = order - 1; n >= 0; --n) history.push_back(cable_state(path, n * dt));
  double largest = 0;
  const int steps = static_cast<int>(std::lround(path.end() / dt));
  for (int n = order; n <= steps; ++n) {
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(4, 1), s = p, x = history.front();
    for (size_t i = 1; i < alpha.size(); ++i) {
      p += alpha[i] / dt * history[i - 1].head(4);
      s += alpha[i] / dt * history[i - 1].segment(4, 4);
    }
    if (solver.solve((n - 1) * dt, path, p, s, x) != Status::kOk) return 1e300;
    history.insert(history.begin(), x.col(0));
    history.pop_back();
    const auto exact = cable_inputs(path, n * dt);
    for (int i = 0; i < 2; ++i)
      largest = std::max(largest, std::abs(x(13 + i, 0) - exact[static_cast<size_t>(i)]));
  }
  return largest;
}

// ---- mass on car (Section 2.4.3, Table 5.2) -------------------------------------------------------------------------------------------
struct Car {
  double m1 = 1, m2 = 1, m3 = 3, k1 = 3, k2 = 3, d1 = 0, d2 = 0, alpha = std::numbers::pi / 12;
  [[nodiscard]] LinearServoMatrices matrices() const {
    const double c = std::cos(alpha);
    LinearServoMatrices m;
    m.M.resize(3, 3);
    m.M << m1 + m2 + m3, m2 + m3, m3 * c, m2 + m3, m2 + m3, m3 * c, m3 * c, m3 * c, m3;
    m.D = Eigen::Vector3d(0, d1, d2).asDiagonal();
    m.K = Eigen::Vector3d(0, k1, k2).asDiagonal();
    m.B = Eigen::Vector3d(1, 0, 0);
    m.H = Eigen::RowVector3d(1, 1, c);
    return m;
  }
};
inline Path car_line(int m = 4) { return *Path::line({1}, {4}, 0, 8, m); }
// Case 2.2 (undamped, 0 < α < 90°), (5.10): internal dynamics s2'' = -(k2/m3 s2 + cos α z'') / sin² α by Runge-Kutta steps of dt / parts.
inline std::vector<double> car_force(const Car& car, const Path& path, double dt, int steps,
                                     int parts) {
  const double c = std::cos(car.alpha), s2a = std::pow(std::sin(car.alpha), 2),
               D = car.m2 + car.m3 * s2a, h = dt / parts;
  const auto z = [&](double t, int k) {
    std::array<double, 5> out{};
    path.at(t, 5, out);
    return out[static_cast<size_t>(k)];
  };
  const auto acceleration = [&](double t, double s) {
    return -(car.k2 / car.m3 * s + c * z(t, 2)) / s2a;
  };
  double s = 0, v = 0;
  std::vector<double> force;
  for (int n = 0; n <= steps; ++n) {
    const double t = n * dt, F2 = car.k2 * s, a = acceleration(t, s);
    const double F1 = -(car.m3 * D * z(t, 2) + car.m2 * c * F2) / (car.m3 * s2a);
    const double s1_acceleration =
        -(car.m3 * D * z(t, 4) + car.m2 * c * car.k2 * a) / (car.m3 * s2a) / car.k1;
    force.push_back(-car.m1 * s1_acceleration + (car.m1 * F2 * c - F1 * (car.m1 + D)) / D);
    for (int i = 0; i < parts; ++i) {
      const double ti = t + i * h;
      const double a1 = acceleration(ti, s), v2 = v + h / 2 * a1,
                   a2 = acceleration(ti + h / 2, s + h / 2 * v), v3 = v + h / 2 * a2,
                   a3 = acceleration(ti + h / 2, s + h / 2 * v2), v4 = v + h * a3,
                   a4 = acceleration(ti + h, s + h * v3);
      s += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
      v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
  return force;
}

// ---- flexible one-link manipulator (Section 2.4.5, Tables 2.1 and 6.3), linearised about the straight rest --------------------------------
// Nodes r, ∂r/∂x, ∂r/∂y as e_1 … e_6(N+1); section free or normal to the axis at the joint (2.108), torque (2.111) or rate (2.109) of the first section;
// output the angle of the tip (2.112).
inline LinearServoMatrices ancf_arm(int elements, bool section_normal, bool rate) {
  constexpr double kLength = 1, kSide = 0.09, kYoung = 1.2e7, kDensity = 910;
  const double length = kLength / elements;
  const AncfShearElement<double> element = make_ancf_shear(
      length, {kYoung, 0.0, kDensity}, rectangle_section(kSide, kSide), AncfLaw::kPlaneStrain);
  const AncfShearMatrix<double> mass = mass_matrix(element);
  const AncfShearMatrix<double> stiffness =
      elastic_tangent(element, straight_ancf_shear<double>({0, 0}, {1, 0}, length));
  const int n = 6 * (elements + 1), rows = 2 + (section_normal ? 1 : 0) + (rate ? 1 : 0);
  LinearServoMatrices m;
  m.M = m.K = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < elements; ++i) {
    m.M.block<12, 12>(6 * i, 6 * i) += mass;
    m.K.block<12, 12>(6 * i, 6 * i) += stiffness;
  }
  m.B = Eigen::MatrixXd::Zero(n, 1);
  m.C = Eigen::MatrixXd::Zero(rows, n);
  m.C_u = Eigen::MatrixXd::Zero(rows, 1);
  m.constraint_levels.assign(static_cast<size_t>(rows), Level::kPosition);
  m.C(0, 0) = m.C(1, 1) = 1;
  if (section_normal) m.C(2, 3) = m.C(2, 4) = -1;
  if (rate) {
    m.C(rows - 1, 4) = m.C_u(rows - 1, 0) = 1;
    m.constraint_levels.back() = Level::kVelocity;
  } else {
    m.B(4, 0) = -1;
  }
  m.H = Eigen::MatrixXd::Zero(1, n);
  m.H(0, n - 5) = 1 / kLength;
  return m;
}

// ---- runs ---------------------------------------------------------------------------------------------------------------------------------
struct Errors {
  double largest = 0, before_end = 0;  // |u - exact|; up to the end of the path
  int most_iterations = 0;
  Status worst = Status::kOk;
};
// exact(t, i): input i.
template <class Exact>
Errors errors(ServoSystem& system, const Path& path, const InverseOptions& options, double until,
              const Exact& exact) {
  Errors e;
  auto model = InverseModel::create(system, path, options);
  if (!model.ok()) {
    e.worst = Status::kBadArgument;
    return e;
  }
  if (!(*model)->start(0).ok()) {
    e.worst = Status::kInconsistent;
    return e;
  }
  const int steps = static_cast<int>(std::lround(until / options.dt));
  for (int n = 1; n <= steps; ++n) {
    const Status status = (*model)->step();
    if (status != Status::kOk) e.worst = status;
    if (fatal(status)) return e;
    e.most_iterations = std::max(e.most_iterations, (*model)->report().iterations);
    for (size_t i = 0; i < (*model)->u().size(); ++i) {
      const double difference = std::abs((*model)->u()[i] - exact(n, static_cast<int>(i)));
      e.largest = std::max(e.largest, difference);
      if ((*model)->t() < path.end() - 10 * options.dt)
        e.before_end = std::max(e.before_end, difference);
    }
  }
  return e;
}
inline InverseOptions euler(double dt, Formulation formulation) {
  InverseOptions o;
  o.dt = dt;
  o.order = 1;
  o.formulation = formulation;
  o.start_up = StartUp::kRest;
  return o;
}

// Of the first input, at the common instants of two meshes.
inline double largest_difference(const StableInversion& a, const StableInversion& b) {
  double worst = 0;
  size_t k = 0;
  for (size_t i = 0; i < a.t.size(); i += 2) {
    while (k < b.t.size() && b.t[k] < a.t[i] - 1e-9) ++k;
    if (k == b.t.size() || std::abs(b.t[k] - a.t[i]) > 1e-9) continue;
    worst = std::max(worst, std::abs(a.u[0][i] - b.u[0][k]));
  }
  return worst;
}

}  // namespace panto::inversion_test
