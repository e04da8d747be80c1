// Drücker, doctoral thesis on servo-constraints: the equations of motion of its rigid example systems, term by term.
//
// | thesis        | here              |
// |---------------|-------------------|
// | y, v          | q, v              |
// | M, k, q, B    | mass matrix; k − q and M from the residual r = M a + k − q − B u |
// | u             | u                 |
//
// "printed" is the formula of the thesis at a chosen state, "computed" the same term of our equations of motion. Both are exact; the bands, set
// before the run, are round-off: 1e-12 of the largest term of the row's kind.
#include <fmt/format.h>

#include <array>

#include "validation/support.hpp"

namespace panto::validation::drucker2022 {
namespace {

constexpr double kRoundOff = 1e-12;

// r at a = 0 and u = 0 of an open chain: k − q.
Eigen::VectorXd bias(Workspace& workspace, const std::vector<double>& q,
                     const std::vector<double>& v) {
  const std::vector<double> a(v.size(), 0.0);
  Residual out;
  workspace.residual({0, q, v, a, {}, {}, {}}, false, out);
  return out.r;
}

void add_matrix(std::vector<Row>& rows, const std::string& label, const Eigen::MatrixXd& printed,
                const Eigen::MatrixXd& computed, const std::string& unit) {
  const double band = kRoundOff * printed.cwiseAbs().maxCoeff();
  for (int i = 0; i < printed.rows(); ++i)
    for (int j = 0; j <= i; ++j)
      rows.push_back({fmt::format("{}: M({},{})", label, i + 1, j + 1), printed(i, j),
                      computed(i, j), unit, band, ""});
}

}  // namespace

// (2.90)–(2.93) with the homogeneous links of Table 6.1.
Result<std::vector<Row>> manipulator_2d() {
  Result<Loaded> loaded = load_model("manipulator_2d");
  if (!loaded.ok()) return loaded.diagnostics();
  const double L1 = 0.5, L2 = 0.5, m1 = 0.05, m2 = 0.05, stiffness = 0.5, damping = 2.5e-5;
  const double I1 = m1 * L1 * L1 / 12, I2 = m2 * L2 * L2 / 12;
  std::vector<Row> rows;
  for (const double beta : {0.0, 0.7, -2.0}) {
    const double alpha = 0.3, alpha_dot = 2, beta_dot = -3;
    const double a1 = m1 * L1 * L1 / 4, a2 = m2 * L2 * L2 / 4,
                 a3 = L1 * L2 * m2 * std::cos(beta) / 2;
    Eigen::Matrix2d M;
    M << a1 + a2 + 2 * a3 + L1 * L1 * m2 + I1 + I2, a2 + a3 + I2, a2 + a3 + I2, a2 + I2;
    const double factor = 0.5 * L1 * L2 * m2 * std::sin(beta);
    const Eigen::Vector2d k(-factor * beta_dot * (2 * alpha_dot + beta_dot),
                            factor * alpha_dot * alpha_dot);
    const Eigen::Vector2d applied(0, -stiffness * beta - damping * beta_dot);
    Eigen::MatrixXd mass;
    const std::vector<double> q{alpha, beta}, v{alpha_dot, beta_dot};
    loaded->workspace->mass_matrix(q, mass);
    const std::string label = fmt::format("beta = {} rad", beta);
    add_matrix(rows, label, M, mass, "kg m^2");
    const Eigen::VectorXd computed = bias(*loaded->workspace, q, v);
    for (int i = 0; i < 2; ++i)
      rows.push_back({fmt::format("{}: k({}) - q({})", label, i + 1, i + 1), k[i] - applied[i],
                      computed[i], "N m", kRoundOff * (k.norm() + applied.norm() + 1), ""});
  }
  return rows;
}

// Section 2.4.3 and the transformed accelerations (5.3), Table 5.2 with damping of the root-locus comparison.
Result<std::vector<Row>> mass_on_car() {
  const double m1 = 1, m2 = 1, m3 = 3, k1 = 3, k2 = 3, d1 = 1, d2 = 1;
  std::vector<Row> rows;
  for (const double degrees : {15.0, 60.0}) {
    const std::array overrides{Override{"alpha", fmt::format("{} deg", degrees)},
                               Override{"d1", "1 N s/m"}, Override{"d2", "1 N s/m"}};
    Result<Loaded> loaded = load_model("mass_on_car", overrides);
    if (!loaded.ok()) return loaded.diagnostics();
    const double alpha = degrees * M_PI / 180, c = std::cos(alpha), s = std::sin(alpha);
    Eigen::Matrix3d M;
    M << m1 + m2 + m3, m2 + m3, m3 * c, m2 + m3, m2 + m3, m3 * c, m3 * c, m3 * c, m3;
    Eigen::MatrixXd mass;
    const std::vector<double> q{0.4, 0.7, -0.3}, v{0.1, -0.5, 0.8}, u{2.5}, rate{0};
    loaded->workspace->mass_matrix(q, mass);
    const std::string label = fmt::format("alpha = {} deg", degrees);
    add_matrix(rows, label, M, mass, "kg");

    const double D = m2 + m3 * s * s;
    const double F1 = d1 * v[1] + k1 * q[1], F2 = d2 * v[2] + k2 * q[2];
    const double z = -(m3 * F1 * s * s + m2 * F2 * c) / (m3 * D);
    const double s1 = F2 * c / D - F1 * (m1 + D) / (m1 * D) - u[0] / m1;
    const double s2 = F1 * c / D - (m2 + m3) * F2 / (m3 * D);
    Eigen::VectorXd a, lambda;
    const Status status =
        loaded->workspace->forward_dynamics({0, q, v, {}, {}, u, rate}, a, lambda);
    if (!ok(status)) {
      Diagnostics d;
      d.error(510, {}, fmt::format("mass_on_car: {}", to_string(status)));
      return d;
    }
    const double band = kRoundOff * (std::abs(F1) + std::abs(F2) + std::abs(u[0]));
    rows.push_back({label + ": z''", z, a[0] + a[1] + a[2] * c, "m/s^2", band, ""});
    rows.push_back({label + ": s1''", s1, a[1], "m/s^2", band, ""});
    rows.push_back({label + ": s2''", s2, a[2], "m/s^2", band, ""});
  }
  return rows;
}

// (2.69) with the missing dot of its Coriolis term restored: τ_T ẍ + ẋ = u_T, τ_L L̈ + L̇ = u_L, cos φ ẍ + L φ̈ + 2 φ̇ L̇ = −g sin φ.
Result<std::vector<Row>> cable_robot() {
  Result<Loaded> loaded = load_model("cable_robot_reduced");
  if (!loaded.ok()) return loaded.diagnostics();
  const double tau_T = 0.03, tau_L = 0.02, g = 9.81;
  std::vector<Row> rows;
  for (const double phi : {0.0, 0.2, -0.6}) {
    const double x_dot = 0.7, phi_dot = -0.4, L = 5.5, L_dot = 0.3, u_T = 0.2, u_L = -0.1;
    const double x_ddot = (u_T - x_dot) / tau_T, L_ddot = (u_L - L_dot) / tau_L;
    const double phi_ddot = (-g * std::sin(phi) - 2 * phi_dot * L_dot - std::cos(phi) * x_ddot) / L;
    const std::vector<double> q{15, phi, L}, v{x_dot, phi_dot, L_dot}, u{u_T, u_L}, rate{0, 0};
    Eigen::VectorXd a, lambda;
    const Status status =
        loaded->workspace->forward_dynamics({0, q, v, {}, {}, u, rate}, a, lambda);
    if (!ok(status)) {
      Diagnostics d;
      d.error(510, {}, fmt::format("cable_robot: {}", to_string(status)));
      return d;
    }
    const double band = kRoundOff * (std::abs(x_ddot) + std::abs(L_ddot) + g);
    const std::string label = fmt::format("phi = {} rad", phi);
    rows.push_back({label + ": x_T''", x_ddot, a[0], "m/s^2", band, ""});
    rows.push_back({label + ": L''", L_ddot, a[2], "m/s^2", band, ""});
    rows.push_back({label + ": phi''", phi_ddot, a[1], "rad/s^2", band, ""});
  }
  return rows;
}

}  // namespace panto::validation::drucker2022
