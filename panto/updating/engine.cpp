#include "panto/updating/engine.hpp"

#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/linear/assurance.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/assignment.hpp"

namespace panto {

namespace {

constexpr double kOctave = 4;  // of ω²

}  // namespace

UpdateEngine::UpdateEngine(std::shared_ptr<const Model> model, Params params,
                           std::vector<int> index, Eigen::VectorXd nominal,
                           Eigen::VectorXd reference, const UpdateStudy& study)
    : model_(std::move(model)),
      params_(std::move(params)),
      index_(std::move(index)),
      nominal_(std::move(nominal)),
      reference_(std::move(reference)),
      study_(study),
      workspace_(Workspace::create(*model_, params_)) {}

UpdateEngine UpdateEngine::clone() const {
  UpdateEngine out(model_, params_, index_, nominal_, reference_, study_);
  for (const Pose& p : poses) out.poses.push_back({p.matrices.clone(), p.points});
  for (const RestBalance& b : balances)
    out.balances.push_back({b.model, b.matrices.clone(), b.rows});
  out.fixed_ = fixed_;
  return out;
}

bool UpdateEngine::affine_poses() const {
  return std::all_of(poses.begin(), poses.end(), [](const Pose& p) { return p.matrices.affine(); });
}

bool UpdateEngine::affine_balances() const {
  return std::all_of(balances.begin(), balances.end(),
                     [](const RestBalance& b) { return b.matrices.affine(); });
}

bool UpdateEngine::unbalanced(const Eigen::VectorXd& chi, Eigen::VectorXd& forces,
                              Eigen::MatrixXd& slopes) {
  const Eigen::VectorXd at = theta(chi);
  Eigen::Index count = 0, row = 0;
  for (const RestBalance& b : balances) count += static_cast<Eigen::Index>(b.rows.size());
  forces.resize(count);
  slopes.resize(count, chi.size());
  for (RestBalance& b : balances) {
    PoseMatrices here;
    std::vector<PoseMatrices> turned;
    if (!b.matrices.at(view(at), here) || !b.matrices.slopes(view(at), turned)) return false;
    for (const Eigen::Index i : b.rows) {
      forces(row) = here.f(i);
      for (Eigen::Index h = 0; h < chi.size(); ++h)
        slopes(row, h) = reference_(h) * turned[static_cast<size_t>(h)].f(i);
      ++row;
    }
  }
  return true;
}

bool UpdateEngine::evaluate(const Eigen::VectorXd& chi, bool slopes, std::vector<PoseState>& out) {
  const Eigen::VectorXd at = theta(chi);
  const bool fresh = fixed_.empty() || !affine_poses();
  if (fresh) {
    params_.values(index_) = at;
    workspace_->set_parameters(params_);
  }
  out.resize(poses.size());
  for (size_t k = 0; k < poses.size(); ++k) {
    Pose& p = poses[k];
    PoseState& s = out[k];
    if (!fresh) s = fixed_[k];
    if (!p.matrices.at(view(at), s.matrices)) return false;
    const auto pairs = symmetric_pairs(s.matrices.k, s.matrices.m);
    if (!pairs) return false;
    s.pairs = *pairs;
    if (!fresh) continue;
    s.rows = point_rows(*workspace_, view(p.matrices.pose()), s.matrices.r, p.points);
    if (study_.expansion == ExpansionMethod::kSpline)
      s.splines = spline_rows(*workspace_, view(p.matrices.pose()), s.matrices.r, p.points, s.rows);
    if (!slopes && !p.matrices.affine()) continue;
    if (!p.matrices.slopes(view(at), s.slopes)) return false;
    for (size_t h = 0; h < s.slopes.size(); ++h) {
      const double reference = reference_(static_cast<Eigen::Index>(h));
      s.slopes[h].m *= reference;
      s.slopes[h].k *= reference;
      s.slopes[h].d *= reference;
      s.slopes[h].f *= reference;
    }
  }
  if (fixed_.empty() && affine_poses()) fixed_ = out;
  return true;
}

ModePairing UpdateEngine::pair(const PoseState& state, const PoseReadings& readings) const {
  ModePairing out;
  const auto count = static_cast<Eigen::Index>(readings.omega.size()),
             n = state.pairs.values.size();
  out.table = Eigen::MatrixXd::Zero(count, n);
  const Eigen::MatrixXd model = state.rows * state.pairs.vectors;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::VectorXd& y = readings.shapes[static_cast<size_t>(i)];
    if (y.size() == 0) continue;
    std::vector<Eigen::Index> read;
    for (Eigen::Index k = 0; k < y.size(); ++k)
      if (std::isfinite(y(k))) read.push_back(k);
    const Eigen::MatrixXd measured = y(read), seen = model(read, Eigen::all);
    out.table.row(i) = modal_assurance(measured, seen);
  }
  // A number that was asked for counts as certain; one that goes by its place as well. Few points see high modes as they see low ones: those within an octave come first.
  Eigen::MatrixXd value = out.table;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double square = std::pow(readings.omega[static_cast<size_t>(i)], 2);
    for (Eigen::Index k = 0; k < n; ++k)
      if (state.pairs.values(k) > kOctave * square || state.pairs.values(k) * kOctave < square)
        value(i, k) -= 1;
    int wanted = readings.modes[static_cast<size_t>(i)];
    if (wanted < 0 && readings.shapes[static_cast<size_t>(i)].size() == 0)
      wanted = static_cast<int>(i);
    if (wanted >= 0 && wanted < n) value(i, wanted) = 1e3;
  }
  out.modes = best_assignment(value);
  for (Eigen::Index i = 0; i < count; ++i)
    out.mac.push_back(readings.shapes[static_cast<size_t>(i)].size() > 0
                          ? out.table(i, out.modes[static_cast<size_t>(i)])
                          : std::nan(""));
  return out;
}

std::vector<ExpandedShape> UpdateEngine::shapes(const PoseState& state,
                                                const PoseReadings& readings,
                                                const ModePairing& pairing) const {
  const ExpansionBasis basis{state.pairs.values, state.pairs.vectors, study_.model_error};
  std::vector<ExpandedShape> out;
  for (size_t i = 0; i < readings.omega.size(); ++i) {
    const Eigen::VectorXd& y = readings.shapes[i];
    if (y.size() == 0) {
      ExpandedShape own;
      own.z = state.pairs.vectors.col(pairing.modes[i]);
      own.slope = Eigen::MatrixXd::Zero(own.z.size(), state.rows.rows());
      out.push_back(std::move(own));
    } else if (study_.expansion == ExpansionMethod::kSpline && y.allFinite()) {
      ExpandedShape e = expand(state.splines.rows, state.splines.matrix * y,
                               readings.shape_sigma[i], readings.omega[i], basis);
      e.slope = e.slope * state.splines.matrix;
      out.push_back(std::move(e));
    } else {
      out.push_back(expand(state.rows, y, readings.shape_sigma[i], readings.omega[i], basis));
    }
  }
  return out;
}

}  // namespace panto
