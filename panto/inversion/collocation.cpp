#include "panto/inversion/collocation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/numerics/dense.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/small.hpp"

namespace panto {
namespace {

// Columns of `g` (rows x n) that its rows determine, by Gauss elimination with full pivoting; the others are independent.
std::vector<int> independent(Eigen::MatrixXd g, int n) {
  std::vector<char> taken(static_cast<size_t>(n), 0);
  std::vector<char> done(static_cast<size_t>(g.rows()), 0);
  for (Eigen::Index k = 0; k < g.rows(); ++k) {
    double best = 0;
    Eigen::Index row = -1, column = -1;
    for (Eigen::Index i = 0; i < g.rows(); ++i) {
      if (done[static_cast<size_t>(i)] != 0) continue;
      for (Eigen::Index j = 0; j < n; ++j)
        if (taken[static_cast<size_t>(j)] == 0 && std::abs(g(i, j)) > best)
          best = std::abs(g(i, j)), row = i, column = j;
    }
    PANTO_EXPECT(row >= 0, "rows that depend on each other");
    taken[static_cast<size_t>(column)] = 1;
    done[static_cast<size_t>(row)] = 1;
    for (Eigen::Index i = 0; i < g.rows(); ++i)
      if (done[static_cast<size_t>(i)] == 0) g.row(i) -= g(i, column) / g(row, column) * g.row(row);
  }
  std::vector<int> free;
  for (int j = 0; j < n; ++j)
    if (taken[static_cast<size_t>(j)] == 0) free.push_back(j);
  return free;
}

// out -= a x, entry by entry of x: forces of a beam's node depend on its neighbours alone.
void subtract_product(const Eigen::MatrixXd& a, const Eigen::Ref<const Eigen::VectorXd>& x,
                      Eigen::Ref<Eigen::VectorXd> out) {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (x[i] != 0) out -= x[i] * a.col(i);
}

}  // namespace

HorizonCollocation::HorizonCollocation(ServoSystem& system, Targets targets,
                                       std::vector<double> mesh, HorizonEnd begin, HorizonEnd end,
                                       const Eigen::MatrixXd& states)
    : system_(system),
      targets_(std::move(targets)),
      mesh_(std::move(mesh)),
      begin_(std::move(begin)),
      end_(std::move(end)),
      nv_(system.nv()),
      nl_(system.n_lambda()),
      nu_(system.nu()),
      mu_(nl_ + nu_),
      state_(3 * nv_ + mu_),
      middle_(nv_ + mu_),
      block_(2 * nv_ + mu_) {
  const int n = static_cast<int>(mesh_.size());
  PANTO_EXPECT(n >= 2 && states.rows() == state_ && states.cols() == n, "a state per instant");
  // At instants on all levels, in the middle on that of accelerations.
  int outputs = 0;
  for (int i = 0; i < mu_; ++i) {
    const AlgebraicRow& row = system.rows()[static_cast<size_t>(i)];
    const int base = static_cast<int>(row.level);
    const bool lifts = row.differentiable && base < 2;
    const int component = i >= nl_ && !row.implicit ? outputs++ : -1;
    for (int level = base; level <= (lifts ? 2 : base); ++level)
      at_instants_.push_back({i, level, component});
    in_middles_.push_back({i, lifts ? 2 : base, component});
  }
  target_.assign(static_cast<size_t>(3 * outputs), 0.0);
  values_.resize(nv_, nl_, nu_);
  mass_.setConstant(nv_, nv_, std::numeric_limits<double>::quiet_NaN());
  x_.setZero(n * state_ + (n - 1) * middle_);
  for (int i = 0; i < n; ++i) x_.segment(node(i), state_) = states.col(i);
  for (int i = 0; i + 1 < n; ++i)
    x_.segment(between(i), middle_) =
        (states.col(i).tail(middle_) + states.col(i + 1).tail(middle_)) / 2;
  instants_.resize(static_cast<size_t>(n));
  middles_.resize(static_cast<size_t>(n) - 1);
  choose_independent();
}

void HorizonCollocation::evaluate(const double* s, double t, bool with_tangent) {
  const auto view = [s](int first, int count) {
    return View{s + first, static_cast<size_t>(count)};
  };
  system_.evaluate({t, view(0, nv_), view(nv_, nv_), view(2 * nv_, nv_), view(3 * nv_, nl_),
                    view(3 * nv_ + nl_, nu_)},
                   with_tangent, values_);
  targets_(t, target_);
}

// At the end of every interval: its relations hold for the coordinates that the rows there leave free.
void HorizonCollocation::choose_independent() {
  const int n = static_cast<int>(mesh_.size());
  for (int i = 1; i < n; ++i) {
    evaluate(x_.data() + node(i), mesh_[static_cast<size_t>(i)], true);
    std::vector<int> on_positions, on_speeds;
    for (int k = 0; k < mu_; ++k) {
      const AlgebraicRow& row = system_.rows()[static_cast<size_t>(k)];
      if (!row.differentiable || row.level == Level::kAcceleration) continue;
      on_speeds.push_back(k);
      if (row.level == Level::kPosition) on_positions.push_back(k);
    }
    const auto rows = [&](const std::vector<int>& numbers) {
      Eigen::MatrixXd g(static_cast<Eigen::Index>(numbers.size()), nv_);
      for (size_t k = 0; k < numbers.size(); ++k)
        g.row(static_cast<Eigen::Index>(k)) = values_.G.row(numbers[k]);
      return g;
    };
    free_y_.push_back(independent(rows(on_positions), nv_));
    free_v_.push_back(independent(rows(on_speeds), nv_));
    choose_interpolated(length(i - 1));
  }
}

// How λ and u act on the rows within an interval of length h, relative to what they could: at once, or by way of speeds. Where they do neither, demanding the rows in
// the middle too would leave λ and u without a hold, and errors would pile up.
void HorizonCollocation::choose_interpolated(double h) {
  Point p;
  linearise(in_middles_, p);
  const auto least = [](double x) { return std::max(x, 1e-300); };
  Eigen::VectorXd rows(mu_), columns(mu_);
  for (int i = 0; i < mu_; ++i)
    rows[i] = 1 / least(std::max(p.by_w.row(i).norm(),
                                 values_.g_u.row(in_middles_[static_cast<size_t>(i)].row).norm()));
  for (int k = 0; k < mu_; ++k)
    columns[k] = 1 / least(std::max(p.D.col(2 * nv_ + k).norm(),
                                    k < nl_ ? 0.0 : values_.g_u.col(k - nl_).norm()));
  const Eigen::MatrixXd acts = rows.asDiagonal() * p.C.rightCols(mu_) * columns.asDiagonal();
  // Singular vectors, the weak ones first.
  const SymmetricEigen left = symmetric_eigen(acts * acts.transpose()),
                       right = symmetric_eigen(acts.transpose() * acts);
  Eigen::Index weak = 0;
  for (; weak < mu_; ++weak) {
    const Eigen::RowVectorXd row = left.vectors.col(weak).transpose() * rows.asDiagonal() * p.C;
    const Eigen::VectorXd moved =
        p.D.rightCols(mu_) * (columns.asDiagonal() * right.vectors.col(weak));
    const double at_once = std::sqrt(std::max(left.values[weak], 0.0)),
                 by_speeds = h * std::abs(row.segment(nv_, nv_).dot(moved));
    // Measured on arms of 2 to 15 elements, whose drive acts on the tip less and less at once: above, errors of the plain method fall with the fourth power all the same.
    constexpr double kWeak = 5e-4;
    if (at_once + by_speeds > kWeak) break;
  }
  interpolated_.emplace_back(right.vectors.leftCols(weak).transpose() *
                             columns.cwiseInverse().asDiagonal());
  kept_.emplace_back(left.vectors.rightCols(mu_ - weak).transpose() * rows.asDiagonal());
}

void HorizonCollocation::middle_state(int i, double* out) const {
  const double h = mesh_[static_cast<size_t>(i) + 1] - mesh_[static_cast<size_t>(i)];
  const double *a = x_.data() + node(i), *b = x_.data() + node(i + 1);
  for (int k = 0; k < 2 * nv_; ++k) out[k] = (a[k] + b[k]) / 2 + h / 8 * (a[nv_ + k] - b[nv_ + k]);
  std::copy_n(x_.data() + between(i), middle_, out + 2 * nv_);
}

// Derivatives of rows by (y, v, μ) and by accelerations.
void HorizonCollocation::differentiate(const std::vector<Equation>& equations, Point& p) const {
  const auto n = static_cast<Eigen::Index>(equations.size());
  p.C.setZero(n, block_);
  p.by_w.setZero(n, nv_);
  for (Eigen::Index k = 0; k < n; ++k) {
    const Equation& e = equations[static_cast<size_t>(k)];
    switch (e.level) {
      case 0:
        p.C.row(k).head(nv_) = values_.G.row(e.row);
        break;
      case 1:
        p.C.row(k).head(nv_) = values_.g1_y.row(e.row);
        p.C.row(k).segment(nv_, nv_) = values_.G.row(e.row);
        break;
      default:
        p.C.row(k).head(nv_) = values_.g2_y.row(e.row);
        p.C.row(k).segment(nv_, nv_) = values_.g2_v.row(e.row);
        p.by_w.row(k) = values_.G.row(e.row);
    }
    p.C.row(k).tail(nu_) += values_.g_u.row(e.row);
  }
}

// Derivatives of values_; accelerations are eliminated by the equations of motion.
void HorizonCollocation::linearise(const std::vector<Equation>& equations, Point& p) {
  // Of beams in absolute coordinates the mass matrix is the same everywhere.
  if (values_.r_w != mass_) {
    mass_ = values_.r_w;
    auto inverse = std::make_shared<Eigen::MatrixXd>();
    if (!invert(mass_, *inverse))
      inverse->setConstant(nv_, nv_, std::numeric_limits<double>::quiet_NaN());
    inverse_mass_ = std::move(inverse);
  }
  p.inverse = inverse_mass_;
  p.D.setZero(nv_, block_);
  Eigen::Index column = 0;
  for (const Eigen::MatrixXd* forces :
       {&values_.r_y, &values_.r_v, &values_.r_lambda, &values_.r_u})
    for (Eigen::Index j = 0; j < forces->cols(); ++j, ++column)
      subtract_product(*p.inverse, forces->col(j), p.D.col(column));
  differentiate(equations, p);
  p.C.noalias() += p.by_w * p.D;
}

void HorizonCollocation::missed(const std::vector<Equation>& equations, Eigen::VectorXd& c) const {
  const size_t outputs = target_.size() / 3;
  c.resize(static_cast<Eigen::Index>(equations.size()));
  for (size_t k = 0; k < equations.size(); ++k) {
    const Equation& e = equations[k];
    double f = e.level == 0   ? values_.g0[e.row]
               : e.level == 1 ? values_.g1[e.row]
                              : values_.g2[e.row];
    if (e.component >= 0) {
      const AlgebraicRow& row = system_.rows()[static_cast<size_t>(e.row)];
      const int derivative = e.level - static_cast<int>(row.level);
      f = row.left(
          f - target_[static_cast<size_t>(e.component) + outputs * static_cast<size_t>(derivative)],
          e.level);
    }
    c[static_cast<Eigen::Index>(k)] = f;
  }
}

// What is left of the equations at values_.
void HorizonCollocation::leave(const std::vector<Equation>& equations, Point& p) const {
  p.a.noalias() = -*p.inverse * values_.r;
  missed(equations, p.c);
  p.c.noalias() += p.by_w * p.a;
}

bool HorizonCollocation::points(bool with_tangent) {
  std::vector<double> middle(static_cast<size_t>(state_));
  bool finite = true;
  for (size_t i = 0; i < mesh_.size(); ++i) {
    const int k = static_cast<int>(i);
    evaluate(x_.data() + node(k), mesh_[i], with_tangent);
    if (with_tangent) linearise(at_instants_, instants_[i]);
    leave(at_instants_, instants_[i]);
    finite = finite && instants_[i].a.allFinite() && instants_[i].c.allFinite();
    if (i + 1 == mesh_.size()) break;
    middle_state(k, middle.data());
    evaluate(middle.data(), mesh_[i] + length(k) / 2, with_tangent);
    if (with_tangent) linearise(in_middles_, middles_[i]);
    leave(in_middles_, middles_[i]);
    finite = finite && middles_[i].a.allFinite() && middles_[i].c.allFinite();
  }
  return finite;
}

// Rows of an interval of length h between p and q with the middle m, from `row` on: in the middle, then (SRV-44).
void HorizonCollocation::relations(size_t at, double h, const Point& p, const Point& m,
                                   const Point& q, Eigen::Index row, Eigen::MatrixXd& a,
                                   Eigen::MatrixXd& b) const {
  // (y, v) in the middle from both sides (SRV-46).
  const auto through_middle = [&](const Eigen::MatrixXd& by, const Eigen::MatrixXd& D,
                                  double sign) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(by.rows(), block_);
    out.leftCols(nv_) = by.leftCols(nv_) / 2;
    out.middleCols(nv_, nv_) = by.middleCols(nv_, nv_) / 2 + sign * h / 8 * by.leftCols(nv_);
    if (!by.middleCols(nv_, nv_).isZero(0))
      out.noalias() += sign * h / 8 * by.middleCols(nv_, nv_) * D;
    return out;
  };
  const Eigen::MatrixXd &keep = kept_[at], &hold = interpolated_[at];
  const Eigen::Index kept = keep.rows(), held = hold.rows();
  a.block(row, 0, kept, block_) = keep * through_middle(m.C, p.D, 1);
  a.block(row, block_, kept, mu_) = keep * m.C.rightCols(mu_);
  b.middleRows(row, kept) = keep * through_middle(m.C, q.D, -1);
  row += kept;
  a.block(row, 2 * nv_, held, mu_) = -hold / 2;
  a.block(row, block_, held, mu_) = hold;
  b.block(row, 2 * nv_, held, mu_) = -hold / 2;
  row += held;
  const std::vector<int>&of_y = free_y_[at], &of_v = free_v_[at];
  const auto ny = static_cast<Eigen::Index>(of_y.size()),
             nw = static_cast<Eigen::Index>(of_v.size());
  a.block(row, 0, ny, block_) = -h / 12 * p.D(of_y, Eigen::all);
  b.middleRows(row, ny) = h / 12 * q.D(of_y, Eigen::all);
  for (const int c : of_y) {
    a(row, c) -= 1 / h;
    a(row, nv_ + c) -= 0.5;
    b(row, c) += 1 / h;
    b(row, nv_ + c) -= 0.5;
    ++row;
  }
  const Eigen::MatrixXd before = p.D + 4 * through_middle(m.D, p.D, 1),
                        after = q.D + 4 * through_middle(m.D, q.D, -1);
  a.block(row, 0, nw, block_) = -before(of_v, Eigen::all) / 6;
  a.block(row, block_, nw, mu_) = -4.0 / 6 * m.D.rightCols(mu_)(of_v, Eigen::all);
  b.middleRows(row, nw) = -after(of_v, Eigen::all) / 6;
  for (const int c : of_v) {
    a(row, nv_ + c) -= 1 / h;
    b(row, nv_ + c) += 1 / h;
    ++row;
  }
}

bool HorizonCollocation::assemble() {
  const int n = static_cast<int>(mesh_.size());
  chain_.clear();
  row_scale_.assign(mesh_.size(), {});
  Eigen::VectorXd columns(block_ + mu_);
  columns << range_, scale_.segment(nv_, nv_), scale_.tail(mu_), scale_.tail(mu_);
  const auto instant_rows = static_cast<Eigen::Index>(at_instants_.size());
  const auto add = [&](int i, Eigen::MatrixXd& a, Eigen::MatrixXd& b, Eigen::Index own) {
    a *= columns.head(a.cols()).asDiagonal();
    b *= columns.head(b.cols()).asDiagonal();
    Eigen::VectorXd& scale = row_scale_[static_cast<size_t>(i)];
    scale = a.cwiseAbs().rowwise().maxCoeff();
    if (b.cols() > 0) scale = scale.cwiseMax(b.cwiseAbs().rowwise().maxCoeff());
    for (double& x : scale) x = x > 0 ? 1 / x : 1;
    a.array().colwise() *= scale.array();
    b.array().colwise() *= scale.array();
    chain_.stage(a, b, own);
  };
  const auto end_rows = [&](const HorizonEnd& e, Eigen::MatrixXd& a, Eigen::Index first) {
    const Eigen::Index rows = e.conditions.rows.rows();
    a.block(first, 0, rows, nv_) = e.conditions.rows.leftCols(nv_);
    a.block(first, nv_, rows, nv_) = e.conditions.rows.middleCols(nv_, nv_) / e.frequency;
    if (e.conditions.rows.cols() > 2 * nv_)
      a.block(first, 2 * nv_, rows, mu_) = e.conditions.rows.rightCols(mu_);
    a.block(first + rows, 2 * nv_, e.conditions.forces.rows(), e.conditions.forces.cols()) =
        e.conditions.forces;
  };
  Eigen::MatrixXd a, b;
  for (int i = 0; i + 1 < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const double h = length(i);
    const Point &p = instants_[at], &q = instants_[at + 1], &m = middles_[at];
    const Eigen::Index first =
        i == 0 ? begin_.conditions.rows.rows() + begin_.conditions.forces.rows() : 0;
    const auto ny = static_cast<Eigen::Index>(free_y_[at].size()),
               nw = static_cast<Eigen::Index>(free_v_[at].size());
    const Eigen::Index rows = first + instant_rows + mu_ + ny + nw;
    a.setZero(rows, block_ + mu_);
    b.setZero(rows, block_);
    if (first > 0) end_rows(begin_, a, 0);
    a.block(first, 0, instant_rows, block_) = p.C;
    relations(at, h, p, m, q, first + instant_rows, a, b);
    add(i, a, b, first + instant_rows);
    if (!chain_.regular()) return false;
  }
  const Eigen::Index last = end_.conditions.rows.rows() + end_.conditions.forces.rows();
  a.setZero(instant_rows + last, block_);
  b.resize(instant_rows + last, 0);
  a.topRows(instant_rows) = instants_.back().C;
  end_rows(end_, a, instant_rows);
  add(n - 1, a, b, a.rows());
  return chain_.regular();
}

void HorizonCollocation::right_hand_sides() {
  const int n = static_cast<int>(mesh_.size());
  right_.resize(mesh_.size());
  const auto end_left = [&](const HorizonEnd& e, int at) {
    Eigen::VectorXd d(2 * nv_ + mu_);
    d << x_.segment(at, nv_) - e.y, x_.segment(at + nv_, nv_) / e.frequency,
        x_.segment(at + 3 * nv_, mu_) - e.mu;
    Eigen::VectorXd left(e.conditions.rows.rows() + e.conditions.forces.rows());
    left.head(e.conditions.rows.rows()) = e.conditions.rows * d.head(e.conditions.rows.cols());
    if (e.conditions.forces.rows() > 0)
      left.tail(e.conditions.forces.rows()) =
          e.conditions.forces * (x_.segment(at + 3 * nv_, mu_) - e.mu);
    return left;
  };
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    Eigen::VectorXd& f = right_[at];
    f.setZero(row_scale_[at].size());
    const Point& p = instants_[at];
    Eigen::Index row = 0;
    const auto put = [&](const Eigen::VectorXd& part) {
      f.segment(row, part.size()) = part;
      row += part.size();
    };
    if (i == 0) put(end_left(begin_, node(0)));
    put(p.c);
    if (i + 1 == n) {
      put(end_left(end_, node(i)));
    } else {
      const Point &q = instants_[at + 1], &m = middles_[at];
      const double h = length(i);
      const int a = node(i), b = node(i + 1), w = between(i);
      const Eigen::VectorXd shift = h / 8 * (p.a - q.a);  // of speeds in the middle
      put(kept_[at] * (m.c + m.C.middleCols(nv_, nv_) * shift));
      put(interpolated_[at] * (x_.segment(w + nv_, mu_) -
                               (x_.segment(a + 3 * nv_, mu_) + x_.segment(b + 3 * nv_, mu_)) / 2));
      const Eigen::VectorXd wm = m.a + m.D.middleCols(nv_, nv_) * shift;
      for (const int c : free_y_[at])
        f[row++] = (x_[b + c] - x_[a + c]) / h - (x_[a + nv_ + c] + x_[b + nv_ + c]) / 2 -
                   h / 12 * (x_[a + 2 * nv_ + c] + p.a[c] - x_[b + 2 * nv_ + c] - q.a[c]);
      for (const int c : free_v_[at])
        f[row++] = (x_[b + nv_ + c] - x_[a + nv_ + c]) / h -
                   (x_[a + 2 * nv_ + c] + p.a[c] + 4 * (x_[w + c] + wm[c]) + x_[b + 2 * nv_ + c] +
                    q.a[c]) /
                       6;
    }
    f = -(row_scale_[at].asDiagonal() * f);
  }
}

// The modes that one interval multiplies by ζ, of a chain of such intervals at rest: A ξ + ζ B ξ = 0 with ξ what the rows at an instant leave free of (y, v / frequency, μ).
bool HorizonCollocation::discrete_modes(const HorizonEnd& e, double t, double h, size_t at,
                                        DiscreteModes& out) {
  Eigen::VectorXd rest = Eigen::VectorXd::Zero(state_);
  rest.head(nv_) = e.y;
  rest.tail(mu_) = e.mu;
  evaluate(rest.data(), t, true);
  Point p, m;
  linearise(at_instants_, p);
  linearise(in_middles_, m);
  const auto relation_rows =
      mu_ + static_cast<Eigen::Index>(free_y_[at].size() + free_v_[at].size());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(relation_rows, block_ + mu_),
                  b = Eigen::MatrixXd::Zero(relation_rows, block_);
  relations(at, h, p, m, p, 0, a, b);
  Eigen::VectorXd sizes = Eigen::VectorXd::Ones(block_);
  sizes.segment(nv_, nv_).setConstant(e.frequency);
  for (int k = 0; k < mu_; ++k) {
    const double acts = p.D.col(2 * nv_ + k).cwiseAbs().maxCoeff();
    if (acts > 0) sizes[2 * nv_ + k] = e.frequency * e.frequency / acts;
  }
  const auto even = [](Eigen::MatrixXd rows) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      rows.row(i) /= std::max(rows.row(i).norm(), 1e-300);
    return rows;
  };
  MinimumNorm at_instant(1e-10), in_middle(1e-10);
  at_instant.compute(even(p.C * sizes.asDiagonal()));
  const Eigen::MatrixXd free = at_instant.null_space();
  in_middle.compute(a.rightCols(mu_).transpose());
  const Eigen::MatrixXd without_middle = in_middle.null_space().transpose();
  Eigen::MatrixXd both(without_middle.rows(), 2 * free.cols());
  both << without_middle * a.leftCols(block_) * sizes.asDiagonal() * free,
      without_middle * b * sizes.asDiagonal() * free;
  both = even(both);
  // σ = (ζ - 1) / (ζ + 1): growing on the right, as s h / 2 of slow motion; neutral on the imaginary axis.
  Eigen::MatrixXd sum = both.leftCols(free.cols()) + both.rightCols(free.cols()),
                  difference = both.leftCols(free.cols()) - both.rightCols(free.cols());
  if (sum.rows() != sum.cols() || !eliminate(difference, sum) || !sum.allFinite()) return false;
  const ComplexPairs pairs = state_pairs(sum);
  constexpr double kGrows = 1e-4;  // of |σ|; less is round-off, or does not matter over a horizon
  Eigen::MatrixXd all(free.cols(), free.cols());
  std::vector<Eigen::Index> grow, others;
  for (Eigen::Index k = 0, column = 0; k < pairs.values.size(); ++k) {
    if (pairs.values[k].imag() < 0) continue;
    const bool grows = pairs.values[k].real() > kGrows * std::abs(pairs.values[k]);
    for (const bool imaginary : {false, true}) {
      if (imaginary && !(pairs.values[k].imag() > 0)) continue;
      if (column == all.cols()) return false;
      if (imaginary)
        all.col(column) = pairs.vectors.col(k).imag();
      else
        all.col(column) = pairs.vectors.col(k).real();
      all.col(column).normalize();
      (grows ? grow : others).push_back(column);
      ++column;
    }
  }
  // Of (y, v / frequency, μ): μ in its own unit.
  Eigen::VectorXd units = Eigen::VectorXd::Ones(block_);
  units.tail(mu_) = sizes.tail(mu_);
  const Eigen::MatrixXd modes = units.asDiagonal() * free * all,
                        coordinates = free.transpose() * units.cwiseInverse().asDiagonal();
  MinimumNorm not_growing(1e-12);
  not_growing.compute(all(Eigen::all, grow).transpose());
  Eigen::MatrixXd amplitudes = Eigen::MatrixXd::Identity(all.rows(), all.cols());
  if (!eliminate(all, amplitudes) || !amplitudes.allFinite()) return false;
  out.growing = modes(Eigen::all, grow);
  out.others = modes(Eigen::all, others);
  out.leave = not_growing.null_space().transpose() * coordinates;
  out.arrive = amplitudes(grow, Eigen::all) * coordinates;
  return true;
}

// The clamps of an end, and of the conditions that keep modes out what clamps leave undetermined.
bool HorizonCollocation::complete(EndConditions& c, const Eigen::MatrixXd& conditions,
                                  const Eigen::MatrixXd& kept_out) const {
  const auto n = static_cast<Eigen::Index>(c.clamped.size());
  Eigen::MatrixXd rows = conditions;
  if (n > 0) {
    Eigen::MatrixXd clamps = Eigen::MatrixXd::Zero(n, block_);
    clamps.leftCols(2 * nv_) = c.rows.topRows(n);
    Eigen::MatrixXd all = (conditions * kept_out).transpose(),
                    held = (clamps * kept_out).transpose();  // by amplitudes that conditions read
    if (all.rows() != all.cols() || !eliminate(all, held) || !held.allFinite()) return false;
    MinimumNorm left(1e-8);
    left.compute(held.transpose());
    const Eigen::MatrixXd others = left.null_space().transpose() * conditions;
    if (n + others.rows() != conditions.rows()) return false;
    rows << clamps, others;
  }
  c = {rows, {}, c.clamped};
  return true;
}

bool HorizonCollocation::end_along_discrete_modes() {
  DiscreteModes first, last;
  const size_t intervals = mesh_.size() - 1;
  if (!discrete_modes(begin_, mesh_.front(), length(0), 0, first) ||
      !discrete_modes(end_, mesh_.back(), length(static_cast<int>(intervals) - 1), intervals - 1,
                      last) ||
      first.leave.rows() + last.arrive.rows() != first.growing.cols() + first.others.cols())
    return false;
  EndConditions leave = begin_.conditions, arrive = end_.conditions;
  if (!complete(leave, first.leave, first.others) || !complete(arrive, last.arrive, last.growing))
    return false;
  begin_.conditions = std::move(leave);
  end_.conditions = std::move(arrive);
  return true;
}

// The step in all unknowns, accelerations included.
void HorizonCollocation::solve_linear(Eigen::VectorXd& step) const {
  const int n = static_cast<int>(mesh_.size());
  std::vector<Eigen::VectorXd> d = chain_.solve(right_);
  step.setZero(x_.size());
  std::vector<Eigen::VectorXd> w(mesh_.size());
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    d[at].head(nv_).array() *= range_.array();
    d[at].segment(nv_, nv_).array() *= scale_.segment(nv_, nv_).array();
    d[at].segment(2 * nv_, mu_).array() *= scale_.tail(mu_).array();
    if (i + 1 < n) d[at].tail(mu_).array() *= scale_.tail(mu_).array();
    const auto own = d[at].head(block_);
    w[at] = instants_[at].a + instants_[at].D * own;
    step.segment(node(i), 2 * nv_) = own.head(2 * nv_);
    step.segment(node(i) + 2 * nv_, nv_) = w[at];
    step.segment(node(i) + 3 * nv_, mu_) = own.tail(mu_);
  }
  for (int i = 0; i + 1 < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const double h = length(i);
    Eigen::VectorXd m(block_);
    m.head(nv_) = (d[at].head(nv_) + d[at + 1].head(nv_)) / 2 +
                  h / 8 * (d[at].segment(nv_, nv_) - d[at + 1].segment(nv_, nv_));
    m.segment(nv_, nv_) =
        (d[at].segment(nv_, nv_) + d[at + 1].segment(nv_, nv_)) / 2 + h / 8 * (w[at] - w[at + 1]);
    m.tail(mu_) = d[at].tail(mu_);
    step.segment(between(i), nv_) = middles_[at].a + middles_[at].D * m;
    step.segment(between(i) + nv_, mu_) = m.tail(mu_);
  }
}

// The largest value that every quantity takes, and by how much positions change; positions, speeds and accelerations at least a thousandth of what their kind takes.
void HorizonCollocation::scale_unknowns() {
  scale_.setZero(state_);
  range_.setZero(nv_);
  for (size_t i = 0; i < mesh_.size(); ++i) {
    const int at = node(static_cast<int>(i));
    scale_ = scale_.cwiseMax(x_.segment(at, state_).cwiseAbs());
    range_ = range_.cwiseMax((x_.segment(at, nv_) - x_.head(nv_)).cwiseAbs());
  }
  const auto raise = [&](Eigen::Ref<Eigen::VectorXd> part) {
    if (part.size() == 0) return;
    const double largest = part.maxCoeff();
    part = part.cwiseMax(largest > 0 ? 1e-3 * largest : 1.0);
  };
  for (int k = 0; k < 3; ++k) raise(scale_.segment(k * nv_, nv_));
  raise(range_);
  // Forces that are not known yet count at least as what moves the mechanism a little.
  const Point& p = instants_[mesh_.size() / 2];
  const double w = scale_.segment(2 * nv_, nv_).maxCoeff();
  for (int k = 0; k < mu_; ++k) {
    const double acts = p.D.col(2 * nv_ + k).cwiseAbs().maxCoeff();
    double& scale = scale_[3 * nv_ + k];
    scale =
        std::max(scale, acts > 0 ? 1e-3 * w / acts : 1e-3 * scale_.segment(nv_, nv_).maxCoeff());
  }
}

// Of positions, speeds and inputs: accelerations and forces of rows follow from them.
double HorizonCollocation::norm(const Eigen::VectorXd& step) const {
  double worst = 0;
  for (size_t i = 0; i < mesh_.size(); ++i) {
    const int at = node(static_cast<int>(i));
    const auto part = [&](int first, int count) {
      return (step.segment(at + first, count).array() / scale_.segment(first, count).array())
          .abs()
          .maxCoeff();
    };
    worst = std::max({worst, part(0, 2 * nv_), part(3 * nv_ + nl_, nu_)});
    if (!std::isfinite(worst)) return worst;
  }
  return worst;
}

bool HorizonCollocation::move_linearly() {
  const Eigen::VectorXd before = x_;
  for (int i = 0; i < static_cast<int>(mesh_.size()); ++i) {
    x_.segment(node(i) + nv_, 2 * nv_).setZero();
    if (between(i) < x_.size()) x_.segment(between(i), nv_).setZero();
  }
  Eigen::VectorXd step;
  bool moves = points(true);
  if (moves) {
    scale_unknowns();
    moves = assemble();
  }
  if (moves) {
    right_hand_sides();
    solve_linear(step);
    moves = step.allFinite();
  }
  x_ = moves ? Eigen::VectorXd(x_ + step) : before;
  return moves;
}

Status HorizonCollocation::solve(int iterations, double tolerance, Report& report) {
  report = {};
  Eigen::VectorXd step, next, before;
  // Far from where it began steps are small beside the positions, and mean nothing.
  constexpr double kFar = 100;
  double far = 1;
  for (int i = 0; i < static_cast<int>(mesh_.size()); ++i)
    far = std::max(far, kFar * x_.segment(node(i), nv_).cwiseAbs().maxCoeff());
  while (report.iterations < iterations) {
    report.stopped = !goes_on();
    if (report.stopped) return Status::kNotConverged;
    ++report.iterations;
    if (!points(true)) return Status::kNotConverged;
    scale_unknowns();
    if (!(scale_.head(nv_).maxCoeff() <= far)) {
      report.step = std::numeric_limits<double>::infinity();
      return Status::kNotConverged;
    }
    report.regular = assemble();
    if (!report.regular) return Status::kSingular;
    right_hand_sides();
    solve_linear(step);
    const double size = norm(step);
    report.step = size;
    if (!std::isfinite(size)) return Status::kNotConverged;
    before = x_;
    // The simplified next step tells whether this one helps: it must be smaller.
    bool helps = false;
    double factor = 1;
    for (int halving = 0; halving < 8 && !helps; ++halving, factor /= 2) {
      report.stopped = !goes_on();
      if (report.stopped) return Status::kNotConverged;
      x_ = before + factor * step;
      if (size <= tolerance) return Status::kOk;
      if (points(false)) {
        right_hand_sides();
        solve_linear(next);
        const double left = norm(next);
        helps = std::isfinite(left) && left <= (1 - factor / 2) * size;
        if (helps && left <= tolerance) {
          x_ += next;
          report.step = left;
          return Status::kOk;
        }
      }
      if (!helps) ++report.dampings;
    }
    if (!helps) {
      x_ = before;
      return Status::kNotConverged;
    }
  }
  return Status::kNotConverged;
}

void HorizonCollocation::finish() {
  chain_ = {};
  instants_.clear();
  instants_.shrink_to_fit();
  middles_.clear();
  middles_.shrink_to_fit();
}

bool HorizonCollocation::interpolates() const {
  return std::any_of(interpolated_.begin(), interpolated_.end(),
                     [](const Eigen::MatrixXd& m) { return m.rows() > 0; });
}

Eigen::MatrixXd HorizonCollocation::states() const {
  const int n = static_cast<int>(mesh_.size());
  Eigen::MatrixXd out(state_, 2 * n - 1);
  for (int i = 0; i < n; ++i) {
    out.col(2 * i) = x_.segment(node(i), state_);
    if (i + 1 < n) middle_state(i, out.data() + static_cast<ptrdiff_t>(2 * i + 1) * state_);
  }
  return out;
}

std::vector<double> HorizonCollocation::times() const {
  std::vector<double> out;
  out.reserve(2 * mesh_.size());
  for (size_t i = 0; i < mesh_.size(); ++i) {
    out.push_back(mesh_[i]);
    if (i + 1 < mesh_.size()) out.push_back((mesh_[i] + mesh_[i + 1]) / 2);
  }
  return out;
}

double HorizonCollocation::distance(const double* a, const double* b) const {
  double worst = 0;
  const auto compare = [&](int first, int count) {
    for (int c = first; c < first + count; ++c)
      worst = std::max(worst, std::abs(a[c] - b[c]) / scale_[c]);
  };
  compare(0, 2 * nv_);
  compare(3 * nv_ + nl_, nu_);
  return worst;
}

std::vector<double> HorizonCollocation::changes(const HorizonCollocation& coarser) const {
  std::vector<double> out;
  out.reserve(coarser.mesh_.size());
  size_t k = 0;
  for (size_t i = 0; i < coarser.mesh_.size(); ++i) {
    while (k + 1 < mesh_.size() && mesh_[k] < coarser.mesh_[i]) ++k;
    out.push_back(distance(x_.data() + node(static_cast<int>(k)),
                           coarser.x_.data() + node(static_cast<int>(i))));
  }
  return out;
}

}  // namespace panto
