#include "panto/numerics/sparse_lu.hpp"

#include <suitesparse/klu.h>

#include <type_traits>

#include "panto/base/contract.hpp"

namespace panto {

namespace {
constexpr double kGrowth = 1e-6;  // smallest ratio of entries before and after elimination
}  // namespace

// Rows of A are columns of Aᵀ, which KLU works on. KLU reads its arguments only, but does not say so in their types.
template <class Scalar>
struct BasicSparseLU<Scalar>::Klu {
  static constexpr bool kReal = std::is_same_v<Scalar, double>;
  int size = 0;
  std::vector<int> start, column;
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;

  // Complex numbers are pairs of doubles.
  static double* numbers(const Scalar* values) {
    return const_cast<double*>(reinterpret_cast<const double*>(values));
  }
  void choose_pivots(double* a) noexcept {
    numeric = kReal ? klu_factor(start.data(), column.data(), a, symbolic, &common)
                    : klu_z_factor(start.data(), column.data(), a, symbolic, &common);
  }
  // With the old pivots; false where entries grow too much.
  bool factor_again(double* a) noexcept {
    int *s = start.data(), *c = column.data();
    const bool done = kReal ? klu_refactor(s, c, a, symbolic, numeric, &common) == 1 &&
                                  klu_rgrowth(s, c, a, symbolic, numeric, &common) == 1
                            : klu_z_refactor(s, c, a, symbolic, numeric, &common) == 1 &&
                                  klu_z_rgrowth(s, c, a, symbolic, numeric, &common) == 1;
    return done && common.rgrowth > kGrowth;
  }
  void free_numeric() noexcept {
    if (kReal)
      klu_free_numeric(&numeric, &common);
    else
      klu_z_free_numeric(&numeric, &common);
  }
};

template <class Scalar>
BasicSparseLU<Scalar>::BasicSparseLU(const RowMatrix& pattern) : klu_(std::make_unique<Klu>()) {
  PANTO_EXPECT(pattern.rows() == pattern.columns, "a square matrix");
  Klu& k = *klu_;
  k.size = pattern.columns;
  k.start = pattern.start;
  k.column = pattern.column;
  klu_defaults(&k.common);
  k.symbolic = klu_analyze(k.size, k.start.data(), k.column.data(), &k.common);
  PANTO_EXPECT(k.symbolic != nullptr, "structurally regular, each entry once");
}

template <class Scalar>
BasicSparseLU<Scalar>::~BasicSparseLU() {
  if (klu_->numeric) klu_->free_numeric();
  if (klu_->symbolic) klu_free_symbolic(&klu_->symbolic, &klu_->common);
}

template <class Scalar>
bool BasicSparseLU<Scalar>::factor(const std::vector<Scalar>& values) noexcept {
  Klu& k = *klu_;
  PANTO_EXPECT(values.size() == k.column.size(), "values of another pattern");
  double* a = Klu::numbers(values.data());
  if (k.numeric && k.factor_again(a)) return true;
  if (k.numeric) k.free_numeric();
  k.choose_pivots(a);
  return k.numeric != nullptr && k.common.status == KLU_OK;
}

template <class Scalar>
void BasicSparseLU<Scalar>::solve(Scalar* x, int count) noexcept {
  Klu& k = *klu_;
  if (Klu::kReal)
    klu_tsolve(k.symbolic, k.numeric, k.size, count, Klu::numbers(x), &k.common);
  else
    klu_z_tsolve(k.symbolic, k.numeric, k.size, count, Klu::numbers(x), 0, &k.common);
}

template <class Scalar>
int BasicSparseLU<Scalar>::entries() const {
  return klu_->numeric ? klu_->numeric->lnz + klu_->numeric->unz : 0;
}

template class BasicSparseLU<double>;
template class BasicSparseLU<std::complex<double>>;

}  // namespace panto
