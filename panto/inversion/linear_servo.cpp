#include "panto/inversion/linear_servo.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace panto {

void ServoValues::resize(int nv, int n_lambda, int nu) {
  const int rows = n_lambda + nu;
  for (Eigen::VectorXd* g : {&g0, &g1, &g2}) g->setZero(rows);
  r.setZero(nv);
  for (Eigen::MatrixXd* m : {&r_y, &r_v, &r_w}) m->setZero(nv, nv);
  r_lambda.setZero(nv, n_lambda);
  r_u.setZero(nv, nu);
  for (Eigen::MatrixXd* m : {&G, &g1_y, &g2_y, &g2_v}) m->setZero(rows, nv);
  g_u.setZero(rows, nu);
}

Result<LinearServo> LinearServo::create(LinearServoMatrices m) {
  Diagnostics d;
  const Eigen::Index n = m.M.rows(), nu = m.B.cols();
  const auto fits = [&](const char* name, const Eigen::MatrixXd& a, Eigen::Index rows,
                        Eigen::Index columns) {
    if (a.rows() != rows || a.cols() != columns)
      d.error(1001, {},
              fmt::format("matrix {} is {} x {}, {} x {} is needed", name, a.rows(), a.cols(), rows,
                          columns));
    else if (!a.allFinite())
      d.error(1001, {}, fmt::format("matrix {} holds a number that is not finite", name));
  };
  if (n == 0 || nu == 0) d.error(1001, {}, "no coordinates or no inputs");
  if (m.D.size() == 0) m.D.setZero(n, n);
  if (m.Gf.size() == 0) m.Gf = m.C;
  if (m.C.size() == 0) m.C.resize(0, n), m.Gf.resize(0, n);
  if (m.C_u.size() == 0) m.C_u.setZero(m.C.rows(), nu);
  fits("M", m.M, n, n);
  fits("D", m.D, n, n);
  fits("K", m.K, n, n);
  fits("B", m.B, n, nu);
  fits("C", m.C, m.C.rows(), n);
  fits("Gf", m.Gf, m.C.rows(), n);
  fits("C_u", m.C_u, m.C.rows(), nu);
  if (m.H.rows() != nu)
    d.error(
        1002, {},
        fmt::format("{} outputs for {} inputs: an inverse needs as many of both", m.H.rows(), nu));
  fits("H", m.H, m.H.rows(), n);
  if (m.output_levels.empty())
    m.output_levels.assign(static_cast<size_t>(m.H.rows()), Level::kPosition);
  if (m.constraint_levels.empty())
    m.constraint_levels.assign(static_cast<size_t>(m.C.rows()), Level::kPosition);
  if (static_cast<Eigen::Index>(m.output_levels.size()) != m.H.rows() ||
      static_cast<Eigen::Index>(m.constraint_levels.size()) != m.C.rows())
    d.error(1001, {}, "one level per output and per constraint is needed");
  if (m.rest.size() == 0) m.rest.setZero(n);
  if (m.rest.size() != n) d.error(1001, {}, "the guess has another size than the coordinates");
  if (!d.ok()) return d;
  return LinearServo(std::move(m));
}

LinearServo::LinearServo(LinearServoMatrices matrices) : m_(std::move(matrices)) {
  nv_ = static_cast<int>(m_.M.rows());
  g_.resize(m_.C.rows() + m_.H.rows(), nv_);
  g_ << m_.C, m_.H;
  for (int i = 0; i < nv_; ++i) coordinate_names_.push_back(fmt::format("y{}", i + 1));
  for (int i = 0; i < m_.B.cols(); ++i) input_names_.push_back(fmt::format("u{}", i + 1));
  for (Eigen::Index i = 0; i < m_.C.rows(); ++i)
    rows_.push_back({fmt::format("c{}", i + 1), m_.constraint_levels[static_cast<size_t>(i)],
                     m_.C_u.row(i).isZero(0), false, -1});
  for (Eigen::Index i = 0; i < m_.H.rows(); ++i) {
    AlgebraicRow row{fmt::format("z{}", i + 1), m_.output_levels[static_cast<size_t>(i)]};
    Eigen::Index k = 0;
    m_.H.row(i).cwiseAbs().maxCoeff(&k);
    Eigen::RowVectorXd rest = m_.H.row(i);
    rest[k] -= 1;
    if (row.level == Level::kPosition && rest.isZero(0)) row.coordinate = static_cast<int>(k);
    rows_.push_back(std::move(row));
  }
}

void LinearServo::guess(MutableView y) const {
  std::copy(m_.rest.data(), m_.rest.data() + nv_, y.begin());
}

void LinearServo::evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept {
  using Map = Eigen::Map<const Eigen::VectorXd>;
  const Map y(x.y.data(), nv_), v(x.v.data(), nv_), w(x.w.data(), nv_), u(x.u.data(), nu()),
      lambda(x.lambda.data(), n_lambda());
  const Eigen::Index nc = m_.C.rows();
  out.r.noalias() = m_.M * w;
  out.r.noalias() += m_.D * v;
  out.r.noalias() += m_.K * y;
  out.r.noalias() -= m_.B * u;
  out.g0.noalias() = g_ * y;
  out.g1.noalias() = g_ * v;
  out.g2.noalias() = g_ * w;
  if (nc > 0) {
    out.r.noalias() -= m_.Gf.transpose() * lambda;
    // Inputs stand on the level of their row.
    for (Eigen::Index i = 0; i < nc; ++i) {
      const Level level = m_.constraint_levels[static_cast<size_t>(i)];
      Eigen::VectorXd& g = level == Level::kPosition   ? out.g0
                           : level == Level::kVelocity ? out.g1
                                                       : out.g2;
      for (Eigen::Index k = 0; k < u.size(); ++k) g[i] += m_.C_u(i, k) * u[k];
    }
  }
  if (!with_tangent) return;
  out.r_y = m_.K;
  out.r_v = m_.D;
  out.r_w = m_.M;
  out.r_u = -m_.B;
  out.r_lambda = -m_.Gf.transpose();
  out.G = g_;
  out.g_u.topRows(nc) = m_.C_u;
}

}  // namespace panto
