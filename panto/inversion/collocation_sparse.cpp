// The equations of the collocation as one sparse system (SRV-50).
#include <limits>

#include "panto/inversion/collocation.hpp"
#include "panto/numerics/dense.hpp"
#include "panto/numerics/small.hpp"

namespace panto {
namespace {

using Entries = std::vector<HorizonCollocation::Entry>;

void put(Entries* entries, Eigen::Index row, Eigen::Index column, const Eigen::MatrixXd& block) {
  if (entries == nullptr) return;
  for (Eigen::Index i = 0; i < block.rows(); ++i)
    for (Eigen::Index k = 0; k < block.cols(); ++k)
      entries->push_back({static_cast<int>(row + i), static_cast<int>(column + k), block(i, k)});
}

}  // namespace

Eigen::VectorXd HorizonCollocation::scales() {
  const size_t half = mesh_.size() / 2;  // where forces are measured by what they move
  evaluate(x_.data() + node(static_cast<int>(half)), mesh_[half], true);
  linearise(at_instants_, instants_[half]);
  scale_unknowns();
  Eigen::VectorXd out(x_.size());
  for (int i = 0; i < static_cast<int>(mesh_.size()); ++i) {
    out.segment(node(i), state_) = scale_;
    if (i + 1 < static_cast<int>(mesh_.size()))
      out.segment(between(i), middle_) = scale_.tail(middle_);
  }
  return out;
}

bool HorizonCollocation::equations(Eigen::VectorXd& left, Entries* entries) {
  const int n = static_cast<int>(mesh_.size());
  const auto at = static_cast<Eigen::Index>(at_instants_.size());
  Eigen::Index total = n * (nv_ + at);
  for (const HorizonEnd* e : {&begin_, &end_})
    total += e->conditions.rows.rows() + e->conditions.forces.rows();
  for (int i = 0; i + 1 < n; ++i)
    total += nv_ + mu_ + static_cast<Eigen::Index>(free_y_[static_cast<size_t>(i)].size()) +
             static_cast<Eigen::Index>(free_v_[static_cast<size_t>(i)].size());
  left.resize(total);
  if (entries != nullptr) entries->clear();
  const bool tangent = entries != nullptr;
  std::vector<double> middle(static_cast<size_t>(state_));
  Eigen::VectorXd c;
  Point p;
  Eigen::Index row = 0;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    const int a = node(i);
    evaluate(x_.data() + a, mesh_[k], tangent);
    missed(at_instants_, c);
    left.segment(row, nv_) = values_.r;
    left.segment(row + nv_, at) = c;
    if (tangent) {
      differentiate(at_instants_, p);
      Eigen::MatrixXd all(nv_ + at, state_);
      all.topRows(nv_) << values_.r_y, values_.r_v, values_.r_w, values_.r_lambda, values_.r_u;
      all.bottomRows(at) << p.C.leftCols(2 * nv_), p.by_w, p.C.rightCols(mu_);
      put(entries, row, a, all);
    }
    row += nv_ + at;
    if (i + 1 == n) break;

    const int b = node(i + 1), w = between(i);
    const double h = length(i);
    const Eigen::MatrixXd &keep = kept_[k], &hold = interpolated_[k];
    middle_state(i, middle.data());
    evaluate(middle.data(), mesh_[k] + h / 2, tangent);
    missed(in_middles_, c);
    left.segment(row, nv_) = values_.r;
    left.segment(row + nv_, keep.rows()) = keep * c;
    if (tangent) {
      differentiate(in_middles_, p);
      Eigen::MatrixXd by_y(nv_ + keep.rows(), nv_), by_v = by_y, own(by_y.rows(), middle_);
      by_y << values_.r_y, keep * p.C.leftCols(nv_);
      by_v << values_.r_v, keep * p.C.middleCols(nv_, nv_);
      own.topRows(nv_) << values_.r_w, values_.r_lambda, values_.r_u;
      own.bottomRows(keep.rows()) << keep * p.by_w, keep * p.C.rightCols(mu_);
      for (const double sign : {1., -1.}) {  // (SRV-46), from both sides
        const int from = sign > 0 ? a : b;
        put(entries, row, from, by_y / 2);
        put(entries, row, from + nv_, by_v / 2 + sign * h / 8 * by_y);
        put(entries, row, from + 2 * nv_, sign * h / 8 * by_v);
      }
      put(entries, row, w, own);
    }
    row += nv_ + keep.rows();
    left.segment(row, hold.rows()) =
        hold * (x_.segment(w + nv_, mu_) -
                (x_.segment(a + 3 * nv_, mu_) + x_.segment(b + 3 * nv_, mu_)) / 2);
    put(entries, row, w + nv_, hold);
    put(entries, row, a + 3 * nv_, -hold / 2);
    put(entries, row, b + 3 * nv_, -hold / 2);
    row += hold.rows();
    // (SRV-44), divided by the length.
    const auto relation = [&](std::initializer_list<std::pair<int, double>> terms) {
      double sum = 0;
      for (const auto& [column, factor] : terms) {
        sum += factor * x_[column];
        if (tangent) entries->push_back({static_cast<int>(row), column, factor});
      }
      left[row++] = sum;
    };
    for (const int j : free_y_[k])
      relation({{b + j, 1 / h},
                {a + j, -1 / h},
                {a + nv_ + j, -0.5},
                {b + nv_ + j, -0.5},
                {a + 2 * nv_ + j, -h / 12},
                {b + 2 * nv_ + j, h / 12}});
    for (const int j : free_v_[k])
      relation({{b + nv_ + j, 1 / h},
                {a + nv_ + j, -1 / h},
                {a + 2 * nv_ + j, -1. / 6},
                {w + j, -4. / 6},
                {b + 2 * nv_ + j, -1. / 6}});
  }
  for (const HorizonEnd* e : {&begin_, &end_}) {
    const int a = node(e == &begin_ ? 0 : n - 1);
    const Eigen::MatrixXd &on_motion = e->conditions.rows, &on_forces = e->conditions.forces;
    if (on_motion.rows() > 0) {
      const Eigen::MatrixXd by_y = on_motion.leftCols(nv_),
                            by_v = on_motion.rightCols(nv_) / e->frequency;
      left.segment(row, on_motion.rows()) =
          by_y * (x_.segment(a, nv_) - e->y) + by_v * x_.segment(a + nv_, nv_);
      put(entries, row, a, by_y);
      put(entries, row, a + nv_, by_v);
      row += on_motion.rows();
    }
    if (on_forces.rows() == 0) continue;
    left.segment(row, on_forces.rows()) = on_forces * (x_.segment(a + 3 * nv_, mu_) - e->mu);
    put(entries, row, a + 3 * nv_, on_forces);
    row += on_forces.rows();
  }
  return left.allFinite();
}

Entries HorizonCollocation::positions() const {
  Entries out;
  const int n = static_cast<int>(mesh_.size());
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < nv_; ++c) {
      const int a = node(i);
      out.push_back({2 * i * nv_ + c, a + c, 1});
      if (i + 1 == n) continue;
      const int b = node(i + 1), row = (2 * i + 1) * nv_ + c;
      const double h = length(i);
      out.push_back({row, a + c, 0.5});
      out.push_back({row, b + c, 0.5});
      out.push_back({row, a + nv_ + c, h / 8});
      out.push_back({row, b + nv_ + c, -h / 8});
    }
  return out;
}

std::vector<Eigen::MatrixXd> HorizonCollocation::accelerations() {
  std::vector<Eigen::MatrixXd> out;
  const int n = static_cast<int>(mesh_.size());
  std::vector<double> middle(static_cast<size_t>(state_));
  Point p;
  const auto add = [&](const double* state, double t) {
    evaluate(state, t, true);
    linearise(in_middles_, p);
    Eigen::MatrixXd acts = p.C.rightCols(mu_), follows = p.C.leftCols(2 * nv_);
    if (mu_ > 0 && !eliminate(acts, follows))
      follows.setConstant(std::numeric_limits<double>::quiet_NaN());
    out.emplace_back(p.D.leftCols(2 * nv_) - p.D.rightCols(mu_) * follows);
  };
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    add(x_.data() + node(i), mesh_[k]);
    if (i + 1 == n) break;
    middle_state(i, middle.data());
    add(middle.data(), mesh_[k] + length(i) / 2);
  }
  return out;
}

Eigen::MatrixXd HorizonCollocation::free_at_begin() {
  evaluate(x_.data(), mesh_.front(), true);
  Point p;
  differentiate(at_instants_, p);
  std::vector<Eigen::Index> bound;
  for (size_t k = 0; k < at_instants_.size(); ++k) {
    const AlgebraicRow& row = system_.rows()[static_cast<size_t>(at_instants_[k].row)];
    if (at_instants_[k].level < 2 && row.differentiable)
      bound.push_back(static_cast<Eigen::Index>(k));
  }
  const Eigen::MatrixXd& given = begin_.conditions.rows;
  Eigen::MatrixXd all(static_cast<Eigen::Index>(bound.size()) + given.rows(), 2 * nv_);
  if (all.rows() == 0) return Eigen::MatrixXd::Identity(2 * nv_, 2 * nv_);
  all.topRows(static_cast<Eigen::Index>(bound.size())) = p.C(bound, Eigen::seq(0, 2 * nv_ - 1));
  if (given.rows() > 0)
    all.bottomRows(given.rows()) << given.leftCols(nv_), given.rightCols(nv_) / begin_.frequency;
  for (Eigen::Index i = 0; i < all.rows(); ++i) all.row(i).normalize();
  MinimumNorm rows(1e-10);
  rows.compute(all);
  return rows.null_space();
}

}  // namespace panto
