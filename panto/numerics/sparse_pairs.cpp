#include "panto/numerics/sparse_pairs.hpp"

#include <Spectra/SymGEigsShiftSolver.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/base/contract.hpp"
#include "panto/numerics/spectra_product.hpp"

namespace panto {
namespace {

constexpr double kFirstShift = 1e-6;  // relative to the largest entries of K and M
constexpr int kMostShifts = 12;       // each 100 times further down
constexpr double kTolerance = 1e-12;  // of the residual of (K - σM)⁻¹, relative
constexpr double kApart = 1e-6;       // relative distance of a count from the last value
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
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestMagn, 1000, kTolerance, Spectra::SortRule::SmallestAlge);
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

int values_below(const SparseMatrix& k, const SparseMatrix& m, double value) {
  for (int attempt = 0; attempt < kSearches; ++attempt) {
    const SparseSymmetric factors(k - value * m);
    if (factors.ok()) return factors.negative();
    value *= 1 + kApart * kApart;
  }
  return 0;
}

std::optional<ModalPairs> lowest_pairs(const SparseMatrix& k, const SparseMatrix& m, int count) {
  PANTO_EXPECT(k.rows() == k.cols() && m.rows() == k.rows() && m.cols() == k.cols(),
               "K and M must be square and of one size");
  PANTO_EXPECT(count > 0 && count <= k.rows(), "at most the pairs that the matrices have");
  if (k.rows() <= kDense || 3 * static_cast<Eigen::Index>(count) > k.rows()) {
    auto all = symmetric_pairs(Eigen::MatrixXd(k), Eigen::MatrixXd(m));
    if (all) sort_pairs(*all, count);
    return all;
  }
  double mass = 0, stiffness = 0;
  for (Eigen::Index j = 0; j < k.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator i(m, j); i; ++i) mass = std::max(mass, std::abs(i.value()));
    for (SparseMatrix::InnerIterator i(k, j); i; ++i)
      stiffness = std::max(stiffness, std::abs(i.value()));
  }
  if (!(mass > 0)) return std::nullopt;
  {
    const SparseSymmetric definite(m);
    if (!definite.ok() || definite.negative() > 0) return std::nullopt;
  }
  // σ below all values makes K - σ M positive definite, and then the nearest values are the lowest.
  double shift = -kFirstShift * (stiffness > 0 ? stiffness / mass : 1);
  std::optional<SparseSymmetric> factors;
  for (int tries = 0; tries < kMostShifts; ++tries, shift *= 100) {
    factors.emplace(k - shift * m);
    if (factors->ok() && factors->negative() == 0) break;
    factors.reset();
  }
  if (!factors) return std::nullopt;
  auto found = nearest_pairs(k, m, shift, *factors, Eigen::MatrixXd(k.rows(), 0), count);
  if (!found) return std::nullopt;
  sort_pairs(*found, count);
  for (int search = 0; search < kSearches; ++search) {
    const double last = found->values(count - 1), gap = kApart * (last - shift);
    const int below = values_below(k, m, last + gap);
    if (below <= count) break;
    const auto more = nearest_pairs(k, m, shift, *factors, found->vectors, below - count);
    if (!more) return std::nullopt;
    if (!(more->values.minCoeff() < last - gap)) break;  // copies of the last value only
    Eigen::MatrixXd vectors(k.rows(), found->vectors.cols() + more->vectors.cols());
    vectors << found->vectors, more->vectors;
    Eigen::VectorXd values(vectors.cols());
    values << found->values, more->values;
    found->vectors = std::move(vectors);
    found->values = std::move(values);
    sort_pairs(*found, count);
  }
  found->largest = stiffness / mass;
  return found;
}

}  // namespace panto
