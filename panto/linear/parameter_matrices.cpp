#include "panto/linear/parameter_matrices.hpp"

#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {

namespace {

// Affine matrices agree with one more point to the round-off of the linearisation; curved ones miss by far more over steps of half the value.
constexpr double kAffine = 1e-10;
// Steps of central differences of fourth order, relative to the value: truncation 1e-12, round-off 1e-13 of the curvature.
constexpr double kStep = 1e-3;

double step_of(double value, double share) { return share * (value != 0 ? std::abs(value) : 1); }

bool near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double scale) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).norm() <= kAffine * scale;
}

// to += factor * from, of what depends on θ.
void add(PoseMatrices& to, double factor, const PoseMatrices& from) {
  to.m += factor * from.m;
  to.d += factor * from.d;
  to.k += factor * from.k;
  to.f += factor * from.f;
}

// Forces count relative to what the stiffness would exert per unit of z.
bool near(const PoseMatrices& a, const PoseMatrices& b) {
  return near(a.m, b.m, a.m.norm()) && near(a.k, b.k, a.k.norm()) && near(a.d, b.d, a.d.norm()) &&
         near(a.f, b.f, a.f.norm() + a.k.norm());
}

}  // namespace

ParameterMatrices::ParameterMatrices(ParameterMatrices&&) noexcept = default;
ParameterMatrices& ParameterMatrices::operator=(ParameterMatrices&&) noexcept = default;
ParameterMatrices::~ParameterMatrices() = default;

ParameterMatrices ParameterMatrices::clone() const {
  ParameterMatrices out;
  out.model_ = model_;
  out.params_ = params_;
  if (!affine_) out.workspace_ = Workspace::create(*model_, params_);
  out.parameters_ = parameters_;
  out.independent_ = independent_;
  out.operation_ = operation_;
  out.q_ = q_;
  out.size_ = size_;
  out.affine_ = affine_;
  out.base_ = base_;
  out.slopes_ = slopes_;
  return out;
}

Result<ParameterMatrices> ParameterMatrices::create(const Model& model, const Params& nominal,
                                                    View q, std::vector<int> parameters,
                                                    Operation operation) {
  PANTO_EXPECT(!parameters.empty(), "at least one parameter");
  PANTO_EXPECT(static_cast<int>(q.size()) == model.nq, "one number per coordinate");
  ParameterMatrices out;
  out.model_ = &model;
  out.params_ = nominal;
  out.workspace_ = Workspace::create(model, nominal);
  out.parameters_ = std::move(parameters);
  out.operation_ = operation;
  out.q_ = Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  const Diagnostics d = out.probe();
  if (!d.ok()) return d;
  return out;
}

Diagnostics ParameterMatrices::linearise(View theta, PoseMatrices& out) {
  for (size_t i = 0; i < parameters_.size(); ++i) params_.values(parameters_[i]) = theta[i];
  workspace_->set_parameters(params_);
  const auto point = operating_point(*workspace_, operation_, 0, view(q_));
  if (!point.ok()) return point.diagnostics();
  auto linear = linearize(*workspace_, *point);
  if (!linear.ok()) return linear.diagnostics();
  Diagnostics d;
  if (!linear->second_order()) {
    d.error(509, {},
            "modes: drives act on speeds, so there is no equation M z'' + D z' + K z = 0; look at "
            "the eigenvalues of `panto linearize`");
    return d;
  }
  Residual residual;
  Point x;
  x.t = point->t;
  x.q = view(point->q);
  x.v = view(point->v);
  x.a = view(point->a);
  x.lambda = view(point->lambda);
  x.u = view(point->u);
  x.u_rate = view(point->u_rate);
  workspace_->residual(x, false, residual);
  out.m = std::move(linear->M_z);
  out.d = 0.5 * (linear->D_z + linear->D_z.transpose());
  out.k = 0.5 * (linear->K_z + linear->K_z.transpose());
  out.c = linear->C_x.leftCols(out.m.rows());
  out.f = linear->R.transpose() * residual.r;
  out.r = std::move(linear->R);
  if (independent_.empty()) independent_ = linear->independent;
  if (independent_ != linear->independent)
    d.error(508, {}, "linearisation: the pose is singular for the coordinates that were chosen");
  return d;
}

Diagnostics ParameterMatrices::probe() {
  const size_t n = parameters_.size();
  std::vector<double> at(n), steps(n), moved;
  for (size_t i = 0; i < n; ++i) {
    at[i] = params_.values(parameters_[i]);
    steps[i] = step_of(at[i], 0.5);
  }
  PoseMatrices here;
  Diagnostics d = linearise(at, here);
  if (!d.ok()) return d;
  size_ = static_cast<int>(here.k.rows());
  if (size_ == 0) {
    d.error(706, {}, "frequencies: nothing is free to move, so there are no modes");
    return d;
  }
  base_ = here;
  slopes_.assign(n, {});
  affine_ = true;
  for (size_t i = 0; i < n && affine_; ++i) {
    moved = at;
    moved[i] += steps[i];
    PoseMatrices& s = slopes_[i];
    affine_ = linearise(moved, s).ok() && s.k.rows() == size_ && near(s.c, here.c, here.c.norm()) &&
              near(s.r, here.r, here.r.norm());
    if (!affine_) break;
    add(s, -1, here);
    for (const auto part : {&PoseMatrices::m, &PoseMatrices::d, &PoseMatrices::k})
      s.*part /= steps[i];
    s.f /= steps[i];
    add(base_, -at[i], s);
  }
  if (affine_) {
    PoseMatrices last, predicted = base_;
    for (size_t i = 0; i < n; ++i) {
      moved[i] = at[i] + steps[i] * (0.3 + 0.4 / static_cast<double>(i + 1));
      add(predicted, moved[i], slopes_[i]);
    }
    affine_ = linearise(moved, last).ok() && near(last, predicted);
  }
  for (size_t i = 0; i < n; ++i) params_.values(parameters_[i]) = at[i];
  workspace_->set_parameters(params_);
  return d;
}

bool ParameterMatrices::at(View theta, PoseMatrices& out) {
  PANTO_EXPECT(theta.size() == parameters_.size(), "one value per parameter");
  if (!affine_) return linearise(theta, out).ok() && out.k.rows() == size_;
  out = base_;
  for (size_t i = 0; i < parameters_.size(); ++i) add(out, theta[i], slopes_[i]);
  return true;
}

bool ParameterMatrices::slopes(View theta, std::vector<PoseMatrices>& out) {
  if (affine_) {
    out = slopes_;
    return true;
  }
  out.assign(parameters_.size(), {});
  std::vector<double> moved(theta.begin(), theta.end());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const double h = step_of(theta[i], kStep);
    constexpr double kAt[4] = {-2, -1, 1, 2}, kWeight[4] = {1, -8, 8, -1};
    PoseMatrices& sum = out[i];
    for (int s = 0; s < 4; ++s) {
      PoseMatrices one;
      moved[i] = theta[i] + kAt[s] * h;
      if (!at(moved, one)) return false;
      if (s == 0) {
        sum.m = sum.d = sum.k = Eigen::MatrixXd::Zero(size_, size_);
        sum.f = Eigen::VectorXd::Zero(size_);
      }
      add(sum, kWeight[s] / (12 * h), one);
    }
    moved[i] = theta[i];
  }
  return true;
}

}  // namespace panto
