#include "panto/numerics/sparse_pairs.hpp"

#include <Spectra/SymGEigsShiftSolver.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "panto/base/contract.hpp"
#include "panto/numerics/spectra_product.hpp"

namespace panto {
namespace {

constexpr double kFirstShift = 1e-6;  // relative to the largest entries of K and M
constexpr double kNearest = 1e-16;    // the same: nearer to zero there is round-off alone
constexpr double kStep = 100;         // from shift to shift
constexpr int kMostShifts = 12;
constexpr int kPowerSteps = 20;
constexpr double kTolerance = 1e-12;  // of the residual of (K - σM)⁻¹, relative
constexpr double kApart = 1e-6;       // relative distance of a count from the last value
constexpr double kNoise = 1e-15;      // of strain energy, relative to its scale
constexpr int kSearches = 4;          // for further copies
constexpr Eigen::Index kDense = 40;   // rows up to which all pairs cost little

// x ↦ (K - σ M)⁻¹ x, outside the M-orthonormal vectors `found`.
class Inverse {
 public:
  using Scalar = double;
  Inverse(const SparseSymmetric& factors, const Eigen::MatrixXd& found,
          const Eigen::MatrixXd& m_found)
      : factors_(factors), found_(found), m_found_(m_found) {}
  [[nodiscard]] Eigen::Index rows() const { return found_.rows(); }
  [[nodiscard]] Eigen::Index cols() const { return found_.rows(); }
  void set_shift(double /*shift*/) const {}  // the factors are those of the shift
  void perform_op(const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd> out(y, rows());
    out = factors_.solve(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x, rows())));
    if (found_.cols() > 0) out -= (found_ * (m_found_.transpose() * out)).eval();
  }

 private:
  const SparseSymmetric& factors_;
  const Eigen::MatrixXd &found_, &m_found_;
};

// Pairs nearest to the shift, M-orthogonal to `found`.
std::optional<ModalPairs> nearest_pairs(const SparseMatrix& k, const SparseMatrix& m, double shift,
                                        const SparseSymmetric& factors,
                                        const Eigen::MatrixXd& found, int count) {
  const Eigen::MatrixXd m_found = m * found;
  const Inverse inverse(factors, found, m_found);
  const SpectraProduct product(m);
  const auto room = static_cast<int>(k.rows() - found.cols());
  const int kept =
      std::min(room, std::max({20, std::min(2 * count + 10, count + count / 2 + 100)}));
  Spectra::SymGEigsShiftSolver<const Inverse, const SpectraProduct<SparseMatrix>,
                               Spectra::GEigsMode::ShiftInvert>
      solver(inverse, product, count, kept, shift);
  Eigen::VectorXd start(k.rows());
  for (Eigen::Index i = 0; i < start.size(); ++i)
    start(i) = std::cos(1.0 + 2.3 * static_cast<double>(i * i % 1009));
  if (found.cols() > 0) start -= (found * (m_found.transpose() * start)).eval();
  try {
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, 1000, kTolerance,
                   Spectra::SortRule::SmallestAlge);
  } catch (const std::runtime_error&) {  // Spectra's word for a breakdown
    return std::nullopt;
  }
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  ModalPairs out;
  out.vectors = solver.eigenvectors();
  out.values.resize(out.vectors.cols());
  for (Eigen::Index i = 0; i < out.vectors.cols(); ++i) {
    const Eigen::VectorXd x = out.vectors.col(i);
    const double norm = x.dot(m * x);
    out.vectors.col(i) /= std::sqrt(norm);
    // Rayleigh's quotient: its error is the square of the vector's, whatever the distance from the shift.
    out.values(i) = x.dot(k * x) / norm;
  }
  return out;
}

// Ascending, the lowest `count`.
void sort_pairs(ModalPairs& pairs, int count) {
  std::vector<Eigen::Index> order(static_cast<size_t>(pairs.values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index i, Eigen::Index j) { return pairs.values(i) < pairs.values(j); });
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  pairs.vectors = Eigen::MatrixXd(pairs.vectors(Eigen::indexing::all, order));
  pairs.values = Eigen::VectorXd(pairs.values(order));
}

}  // namespace

double energy_scale(const SparseMatrix& k, const Eigen::VectorXd& x) {
  double sum = 0;
  for (Eigen::Index j = 0; j < k.outerSize(); ++j)
    for (SparseMatrix::InnerIterator i(k, j); i; ++i) {
      const double term = i.value() * x(i.row()) * x(j);
      sum += term * term;
    }
  return std::sqrt(sum);
}

int values_below(const SparseMatrix& k, const SparseMatrix& m, double value) {
  for (int attempt = 0; attempt < kSearches; ++attempt) {
    const SparseSymmetric factors(k - value * m);
    if (factors.ok()) return factors.negative();
    value *= 1 + kApart * kApart;
  }
  return 0;
}

namespace {

// σ below all values, with the factors of K - σM, which is positive definite: the nearest values are the lowest.
struct Shift {
  double value;
  SparseSymmetric factors;
};
std::optional<Shift> shift_below(const SparseMatrix& k, const SparseMatrix& m, int count,
                                 double unit) {
  const auto at = [&](double value) -> std::optional<Shift> {
    SparseSymmetric factors(k - value * m);
    if (!factors.ok() || factors.negative() > 0) return std::nullopt;
    return Shift{value, std::move(factors)};
  };
  const double first = -kFirstShift * unit;
  std::optional<Shift> out = at(first);
  if (!out) {
    double further = first;
    for (int tries = 1; tries < kMostShifts && !out; ++tries) out = at(further *= kStep);
    return out;
  }
  // Where all that is wanted lies nearer to zero than σ does, 1/(λ - σ) hardly tells it from the rest: nearer, as far as K - σM stays definite.
  while (-out->value > kNearest * unit && values_below(k, m, -out->value) >= count) {
    std::optional<Shift> nearer = at(out->value / kStep);
    if (!nearer) break;
    out = std::move(nearer);
  }
  return out;
}

// Largest |ω²| by power iteration on M⁻¹ K: a lower bound, within a factor of two or so.
double largest_value(const SparseMatrix& k, const SparseMatrix& m, const SparseSymmetric& mass) {
  Eigen::VectorXd x(k.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = std::cos(1.0 + 2.3 * static_cast<double>(i));
  for (int i = 0; i < kPowerSteps; ++i) {
    x = mass.solve(Eigen::VectorXd(k * x));
    const double norm = x.norm();
    if (!(norm > 0)) return 0;
    x /= norm;
  }
  return std::abs(x.dot(k * x) / x.dot(m * x));
}

// Adds what the inertia of K - ω²M says is missing below the last of the `count` lowest, further copies of which do not matter. False: it is not found.
bool complete(const SparseMatrix& k, const SparseMatrix& m, const Shift& shift, int count,
              ModalPairs& found) {
  for (int search = 0; search < kSearches; ++search) {
    const double last = found.values(count - 1),
                 apart = std::max(kApart * (last - shift.value),
                                  kNoise * energy_scale(k, found.vectors.col(count - 1)));
    const auto here = static_cast<int>((found.values.array() < last - apart).count());
    const int missing = values_below(k, m, last - apart) - here;
    if (missing <= 0) return true;
    const auto more = nearest_pairs(k, m, shift.value, shift.factors, found.vectors, missing);
    if (!more) return false;
    if (!(more->values.minCoeff() < last - apart)) return true;  // round-off of the count
    Eigen::MatrixXd vectors(k.rows(), found.vectors.cols() + more->vectors.cols());
    vectors << found.vectors, more->vectors;
    Eigen::VectorXd values(vectors.cols());
    values << found.values, more->values;
    found.vectors = std::move(vectors);
    found.values = std::move(values);
    sort_pairs(found, count);
  }
  return false;
}

}  // namespace

std::optional<ModalPairs> lowest_pairs(const SparseMatrix& k, const SparseMatrix& m, int count) {
  PANTO_EXPECT(k.rows() == k.cols() && m.rows() == k.rows() && m.cols() == k.cols(),
               "K and M must be square and of one size");
  PANTO_EXPECT(count > 0 && count <= k.rows(), "at most the pairs that the matrices have");
  if (k.rows() <= kDense || 3 * static_cast<Eigen::Index>(count) > k.rows()) {
    auto all = symmetric_pairs(Eigen::MatrixXd(k), Eigen::MatrixXd(m));
    if (all) sort_pairs(*all, count);
    return all;
  }
  const auto largest_entry = [](const SparseMatrix& a) {
    double out = 0;
    for (Eigen::Index j = 0; j < a.outerSize(); ++j)
      for (SparseMatrix::InnerIterator i(a, j); i; ++i) out = std::max(out, std::abs(i.value()));
    return out;
  };
  const double mass = largest_entry(m), stiffness = largest_entry(k);
  if (!(mass > 0)) return std::nullopt;
  const SparseSymmetric definite(m);
  if (!definite.ok() || definite.negative() > 0) return std::nullopt;
  const auto shift = shift_below(k, m, count, stiffness > 0 ? stiffness / mass : 1);
  if (!shift) return std::nullopt;
  auto found =
      nearest_pairs(k, m, shift->value, shift->factors, Eigen::MatrixXd(k.rows(), 0), count);
  if (!found) return std::nullopt;
  sort_pairs(*found, count);
  if (!complete(k, m, *shift, count, *found)) return std::nullopt;
  // Ritz pairs of K itself: factors of a matrix of large entries mix soft shapes by their round-off.
  const Eigen::MatrixXd kv = k * found->vectors, mv = m * found->vectors;
  auto ritz = symmetric_pairs(found->vectors.transpose() * kv, found->vectors.transpose() * mv);
  if (!ritz) return std::nullopt;
  found->values = std::move(ritz->values);
  found->vectors = (found->vectors * ritz->vectors).eval();
  found->largest = largest_value(k, m, definite);
  return found;
}

std::optional<ModalPairs> lowest_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m,
                                       int count) {
  return lowest_pairs(SparseMatrix(k.sparseView()), SparseMatrix(m.sparseView()), count);
}

}  // namespace panto
