#include "panto/linear/linearize.hpp"

#include <array>

#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/labels.hpp"
#include "panto/numerics/dense.hpp"

namespace panto {

namespace {

constexpr double kSingular = 1e-9;  // relative pivot below which a dependent coordinate is lost
constexpr double kRankTolerance = 1e-10;

class Linearisation {
 public:
  Linearisation(Workspace& workspace, const OperatingPoint& point, const LinearizeOptions& options)
      : workspace_(workspace), model_(workspace.model()), at_(point), options_(options) {}

  Result<LinearModel> run() {
    Eigen::VectorXd q = at_.q;
    if (!options_.keep_independent)
      workspace_.choose_partition(at_.t, view(q), true);
    else if (!workspace_.keep_partition(at_.t, view(q)))
      return failed("is singular for the coordinates that were to be kept");
    const Status closed = workspace_.close_positions(at_.t, view(q));
    if (closed != Status::kOk && closed != Status::kRepartition) return failed("cannot be closed");
    if (workspace_.position_rank() > 0 && workspace_.conditioning() < kSingular)
      return failed("is singular");
    Blocks blocks;
    blocks.u = blocks.y = true;
    Point p;
    p.t = at_.t;
    p.q = view(q);
    p.v = view(at_.v);
    p.a = view(at_.a);
    p.lambda = view(at_.lambda);
    p.u = view(at_.u);
    p.u_rate = view(at_.u_rate);
    workspace_.tangent(p, blocks, d_);
    zp_ = workspace_.independent_positions();
    zv_ = workspace_.independent_speeds();
    za_ = workspace_.independent_accelerations();
    names();
    descriptor();
    if (!state_space()) return failed("leaves a massless direction free to move");
    if (model_.n_velocity_rows + model_.n_acceleration_rows == 0) minimal();
    return std::move(out_);
  }

 private:
  // A perturbation of the state or the inputs, and what follows from it; one column each.
  struct Columns {
    Eigen::MatrixXd q, v, a, lambda, u, u_rate;
  };

  [[nodiscard]] Diagnostics failed(const std::string& why) const {
    Diagnostics d;
    d.error(508, {}, "linearisation: the pose " + why);
    return d;
  }

  void names() {
    out_.coordinates = tangent_names(model_);
    for (int z : zp_) out_.independent.push_back(out_.coordinates[static_cast<size_t>(z)]);
    out_.states = out_.independent;
    for (int z : zv_) out_.states.push_back(model_.speed_names[static_cast<size_t>(z)]);
    for (const Input& i : model_.inputs) out_.inputs.push_back(i.name);
    for (const Output& o : model_.outputs) {
      out_.outputs.push_back(o.name);
      out_.output_units.push_back(o.angle ? "rad" : to_string(o.dim));
    }
    for (int i = 0; i < model_.n_rows(); ++i)
      out_.rows.push_back(group_label(model_, model_.rows[static_cast<size_t>(i)].group) + " " +
                          row_component(model_, i));
  }

  void descriptor() {
    out_.M = d_.r_a;
    out_.D = d_.r_v;
    out_.K = d_.r_q;
    out_.B = -d_.r_u;
    out_.G = d_.phi_ddot_a;
    out_.position_rows = model_.n_position_rows;
  }

  void complete(Level level, const Eigen::MatrixXd& b, Eigen::MatrixXd& x) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      const Eigen::VectorXd column = b.cols() > 0 ? Eigen::VectorXd(b.col(j)) : Eigen::VectorXd();
      workspace_.complete(level, view(column), {x.col(j).data(), static_cast<size_t>(x.rows())});
    }
  }

  static Eigen::MatrixXd units(int rows, std::span<const int> at, int columns, int first) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows, columns);
    for (size_t i = 0; i < at.size(); ++i) out(at[i], first + static_cast<int>(i)) = 1;
    return out;
  }

  // b padded to all rows of the model, as complete() wants it.
  [[nodiscard]] Eigen::MatrixXd padded(const Eigen::MatrixXd& b) const {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(model_.n_rows(), b.cols());
    out.topRows(b.rows()) = b;
    return out;
  }

  bool state_space() {
    const int nv = model_.nv, rows = model_.n_rows(), nu = model_.nu();
    const auto np = static_cast<int>(zp_.size()), nz = static_cast<int>(zv_.size());
    const int n = np + nz, total = n + 2 * nu;  // z, w, u, u̇
    Columns c;
    c.u = c.u_rate = Eigen::MatrixXd::Zero(nu, total);
    c.u.middleCols(n, nu).setIdentity();
    c.u_rate.rightCols(nu).setIdentity();
    // G δq = 0 on position rows.
    c.q = units(nv, zp_, total, 0);
    complete(Level::kPosition, {}, c.q);
    // G δv = -(∂φ̇/∂q δq + ∂φ̇/∂u δu) on position and velocity rows.
    c.v = units(nv, zv_, total, np);
    complete(Level::kVelocity, padded(-d_.phi_dot_q * c.q - d_.phi_dot_u * c.u), c.v);
    // G δa = -(∂φ̈/∂q δq + ∂φ̈/∂v δv + ∂φ̈/∂u δu + ∂φ̇/∂u δu̇) on all rows, and the balance of forces along what is left free.
    c.a = Eigen::MatrixXd::Zero(nv, total);
    if (rows > 0) {
      Eigen::MatrixXd b = -d_.phi_ddot_q * c.q - d_.phi_ddot_v * c.v - d_.phi_ddot_u * c.u;
      b.topRows(d_.phi_dot_u.rows()) -= d_.phi_dot_u * c.u_rate;
      complete(Level::kAcceleration, b, c.a);
    }
    Eigen::MatrixXd basis = units(nv, za_, static_cast<int>(za_.size()), 0);
    complete(Level::kAcceleration, {}, basis);
    bias_ = c.a.leftCols(n);
    const Eigen::MatrixXd force = d_.r_q * c.q + d_.r_v * c.v + d_.r_a * c.a + d_.r_u * c.u;
    if (basis.cols() > 0) {
      const Eigen::MatrixXd mass = basis.transpose() * d_.r_a * basis;
      MinimumNorm solver(1e-14);
      solver.compute(mass);
      if (solver.rank() < mass.rows()) return false;
      for (int j = 0; j < total; ++j)
        c.a.col(j) -= basis * solver.solve(basis.transpose() * force.col(j));
    }
    c.lambda = Eigen::MatrixXd::Zero(rows, total);
    if (rows > 0 && d_.y_lambda.size() > 0 && !d_.y_lambda.isZero(0)) {
      MinimumNorm across(kRankTolerance);
      across.compute(d_.phi_ddot_a.transpose());
      const Eigen::MatrixXd left = d_.r_q * c.q + d_.r_v * c.v + d_.r_a * c.a + d_.r_u * c.u;
      for (int j = 0; j < total; ++j) c.lambda.col(j) = across.solve(left.col(j));
    }
    position_columns_ = c.q.leftCols(np);
    velocity_columns_ = c.v.leftCols(n);

    Eigen::MatrixXd rate = Eigen::MatrixXd::Zero(n, total);
    const Eigen::MatrixXd q_rate = c.v - turned(c.q);
    for (int i = 0; i < np; ++i) rate.row(i) = q_rate.row(zp_[static_cast<size_t>(i)]);
    for (int i = 0; i < nz; ++i) rate.row(np + i) = c.a.row(zv_[static_cast<size_t>(i)]);
    out_.A = rate.leftCols(n);
    out_.B_x = rate.middleCols(n, nu);
    out_.B_rate = rate.rightCols(nu);
    const Eigen::MatrixXd y =
        d_.y_q * c.q + d_.y_v * c.v + d_.y_a * c.a + d_.y_lambda * c.lambda + d_.y_u * c.u;
    out_.C_x = y.leftCols(n);
    out_.D_x = y.middleCols(n, nu);
    out_.D_rate = y.rightCols(nu);
    out_.R = position_columns_;
    return true;
  }

  // ω × δθ of every ball joint, in child axes: δθ̇ = δω - ω × δθ. Zero elsewhere.
  [[nodiscard]] Eigen::MatrixXd turned(const Eigen::MatrixXd& dq) const {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(dq.rows(), dq.cols());
    for (const Joint& j : model_.joints) {
      if (j.type != JointType::kSpherical) continue;
      const Eigen::Vector3d w = at_.v.segment<3>(j.v);
      for (Eigen::Index k = 0; k < dq.cols(); ++k) {
        const Eigen::Vector3d s = dq.block<3, 1>(j.v, k);
        out.block<3, 1>(j.v, k) << w.y() * s.z() - w.z() * s.y(), w.z() * s.x() - w.x() * s.z(),
            w.x() * s.y() - w.y() * s.x();
      }
    }
    return out;
  }

  // With w = ż - W z (W from ball joints that turn): M ẇ + D' w + K' z = B u gives LIN-2.
  void minimal() {
    const Eigen::Index n = out_.R.cols();
    const Eigen::MatrixXd& r = out_.R;
    out_.M_z = r.transpose() * d_.r_a * r;
    const Eigen::MatrixXd force_z = d_.r_q * r + d_.r_v * velocity_columns_.leftCols(n) +
                                    d_.r_a * bias_.leftCols(n),
                          force_w =
                              d_.r_v * velocity_columns_.rightCols(n) + d_.r_a * bias_.rightCols(n);
    const Eigen::MatrixXd k = r.transpose() * force_z, damping = r.transpose() * force_w,
                          w = out_.A.topLeftCorner(n, n);
    out_.K_z = k - damping * w;
    out_.D_z = damping - out_.M_z * w;
    out_.B_z = -r.transpose() * d_.r_u;
    out_.C_a = d_.y_a * r;
  }

  Workspace& workspace_;
  const Model& model_;
  const OperatingPoint& at_;
  const LinearizeOptions options_;
  Tangent d_;
  std::span<const int> zp_, zv_, za_;
  Eigen::MatrixXd bias_, position_columns_, velocity_columns_;
  LinearModel out_;
};

}  // namespace

std::vector<std::string> tangent_names(const Model& model) {
  std::vector<std::string> names;
  for (const Joint& j : model.joints)
    for (int k = 0; k < j.nv; ++k)
      names.push_back(j.nv == 1 ? model.coordinate_names[static_cast<size_t>(j.q)]
                                : j.name + "." + std::string{"r"} + static_cast<char>('x' + k));
  for (int k = model.joint_nq(); k < model.nq; ++k)
    names.push_back(model.coordinate_names[static_cast<size_t>(k)]);
  return names;
}

Result<LinearModel> linearize(Workspace& workspace, const OperatingPoint& point,
                              const LinearizeOptions& options) {
  return Linearisation(workspace, point, options).run();
}

}  // namespace panto
