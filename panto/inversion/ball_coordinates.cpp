#include "panto/inversion/ball_coordinates.hpp"

namespace panto {
namespace {

using Quaternion = Eigen::Map<const Eigen::Vector4d>;
using Turn = Eigen::Matrix<double, 3, 4>;

Quaternion quaternion(View y, int at) { return Quaternion(y.data() + at); }

// B(p) x = 2 Im(p̄ x): turns rates of the quaternion p into the angular velocity in axes of the child. B(p) x = -B(x) p, B(p) p = 0.
Turn turn(const Quaternion& p) {
  Turn b;
  b << -p[1], p[0], p[3], -p[2],  //
      -p[2], -p[3], p[0], p[1],   //
      -p[3], p[2], -p[1], p[0];
  return 2 * b;
}

}  // namespace

BallCoordinates::BallCoordinates(const Model& model) : scalars_(scalar_coordinates(model)) {
  for (const Joint& j : model.joints)
    if (j.type == JointType::kSpherical) {
      balls_.push_back({j.q, j.v});
      names_.push_back(j.name);
    }
}

void BallCoordinates::speeds(View y, View rates, MutableView v) const noexcept {
  for (const ScalarCoordinate& c : scalars_)
    v[static_cast<size_t>(c.v)] = rates[static_cast<size_t>(c.q)];
  for (const Ball& ball : balls_) {
    Eigen::Map<Eigen::Vector3d> to(v.data() + ball.v);
    to.noalias() = turn(quaternion(y, ball.q)).lazyProduct(quaternion(rates, ball.q));
  }
}

void BallCoordinates::set_inertia(const Eigen::MatrixXd& mass) {
  for (Ball& ball : balls_) {
    const double turning = 4 * mass.diagonal().segment<3>(ball.v).sum() / 3;
    ball.inertia = turning > 0 ? turning : 1;
  }
}

void BallCoordinates::by_coordinates(const Eigen::Ref<const Eigen::MatrixXd>& from, View y,
                                     Eigen::Ref<Eigen::MatrixXd> to) const noexcept {
  for (const ScalarCoordinate& c : scalars_) to.col(c.q) = from.col(c.v);
  for (const Ball& ball : balls_)
    to.middleCols<4>(ball.q).noalias() =
        from.middleCols<3>(ball.v).lazyProduct(turn(quaternion(y, ball.q)));
}

void BallCoordinates::less_turning(const Eigen::Ref<const Eigen::MatrixXd>& from, View x,
                                   Eigen::Ref<Eigen::MatrixXd> to) const noexcept {
  for (const Ball& ball : balls_)
    to.middleCols<4>(ball.q).noalias() -=
        from.middleCols<3>(ball.v).lazyProduct(turn(quaternion(x, ball.q)));
}

void BallCoordinates::along_coordinates(const Eigen::Ref<const Eigen::MatrixXd>& from, View y,
                                        Eigen::Ref<Eigen::MatrixXd> to) const noexcept {
  for (const ScalarCoordinate& c : scalars_) to.row(c.q) = from.row(c.v);
  for (const Ball& ball : balls_)
    to.middleRows<4>(ball.q).noalias() =
        turn(quaternion(y, ball.q)).transpose().lazyProduct(from.middleRows<3>(ball.v));
}

void BallCoordinates::carry_over(const ServoPoint& x, const ServoValues& m, int constraints,
                                 bool with_tangent, ServoValues& out) noexcept {
  const Eigen::Index nl = constraints, nu = m.g0.size() - nl, n = out.r.size();
  const auto rows = [&](const Eigen::VectorXd& from, Eigen::VectorXd& to) {
    to.head(nl) = from.head(nl);
    to.tail(nu) = from.tail(nu);
  };
  rows(m.g0, out.g0);
  rows(m.g1, out.g1);
  rows(m.g2, out.g2);
  along_coordinates(m.r, x.y, out.r);
  for (size_t i = 0; i < balls_.size(); ++i) {
    const Ball& ball = balls_[i];
    const Quaternion y = quaternion(x.y, ball.q), v = quaternion(x.v, ball.q),
                     w = quaternion(x.w, ball.q);
    const Eigen::Index row = nl + static_cast<Eigen::Index>(i);
    out.g0[row] = (y.squaredNorm() - 1) / 2;
    out.g1[row] = y.dot(v);
    out.g2[row] = y.dot(w) + v.squaredNorm();
    const double stretch =
        ball.inertia * out.g2[row] - x.lambda[static_cast<size_t>(constraints) + i];
    out.r.segment<4>(ball.q) += stretch * y;
  }
  if (!with_tangent) return;

  // Of r, by the model's forces first, then along the coordinates.
  turned_.resize(m.r.size(), n);
  by_coordinates(m.r_y, x.y, turned_);
  less_turning(m.r_v, x.v, turned_);
  less_turning(m.r_w, x.w, turned_);
  along_coordinates(turned_, x.y, out.r_y);
  by_coordinates(m.r_v, x.y, turned_);
  along_coordinates(turned_, x.y, out.r_v);
  by_coordinates(m.r_w, x.y, turned_);
  along_coordinates(turned_, x.y, out.r_w);
  out.r_lambda.setZero();
  along_coordinates(m.r_lambda, x.y, out.r_lambda.leftCols(nl));
  along_coordinates(m.r_u, x.y, out.r_u);
  const auto part = [&](const Eigen::MatrixXd& from, Eigen::MatrixXd& to, const auto& change) {
    change(from.topRows(nl), to.topRows(nl));
    change(from.bottomRows(nu), to.bottomRows(nu));
  };
  const auto at_position = [&](const auto& from, auto to) { by_coordinates(from, x.y, to); };
  part(m.G, out.G, at_position);
  part(m.g1_y, out.g1_y, at_position);
  part(m.g2_y, out.g2_y, at_position);
  part(m.g2_v, out.g2_v, at_position);
  part(m.G, out.g1_y, [&](const auto& from, auto to) { less_turning(from, x.v, to); });
  part(m.G, out.g2_y, [&](const auto& from, auto to) { less_turning(from, x.w, to); });
  part(m.g2_v, out.g2_y, [&](const auto& from, auto to) { less_turning(from, x.v, to); });
  part(m.g_u, out.g_u, [&](const auto& from, auto to) { to = from; });
  for (size_t i = 0; i < balls_.size(); ++i) {
    const Ball& ball = balls_[i];
    const Quaternion y = quaternion(x.y, ball.q), v = quaternion(x.v, ball.q),
                     w = quaternion(x.w, ball.q);
    const Eigen::Index row = nl + static_cast<Eigen::Index>(i), q = ball.q;
    for (Eigen::MatrixXd* to : {&out.G, &out.g1_y, &out.g2_y, &out.g2_v, &out.g_u})
      to->row(row).setZero();
    out.G.row(row).segment<4>(q) = y;
    out.g1_y.row(row).segment<4>(q) = v;
    out.g2_y.row(row).segment<4>(q) = w;
    out.g2_v.row(row).segment<4>(q) = 2 * v;
    out.r_lambda.col(row).segment<4>(q) = -y;
    out.r_w.block<4, 4>(q, q).noalias() += ball.inertia * y * y.transpose();
    out.r_v.block<4, 4>(q, q).noalias() += 2 * ball.inertia * y * v.transpose();
    // Derivative of B(y)ᵀ τ, and of the stretching force.
    const Eigen::Vector3d torque = 2 * m.r.segment<3>(ball.v);
    const double stretch =
        ball.inertia * out.g2[row] - x.lambda[static_cast<size_t>(constraints) + i];
    Eigen::Matrix4d by;
    by << stretch, -torque[0], -torque[1], -torque[2],  //
        torque[0], stretch, torque[2], -torque[1],      //
        torque[1], -torque[2], stretch, torque[0],      //
        torque[2], torque[1], -torque[0], stretch;
    by.noalias() += ball.inertia * y * w.transpose();
    out.r_y.block<4, 4>(q, q) += by;
  }
}

}  // namespace panto
