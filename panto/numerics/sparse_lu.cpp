#include "panto/numerics/sparse_lu.hpp"

#include <suitesparse/klu.h>

#include "panto/base/contract.hpp"

namespace panto {

namespace {
constexpr double kGrowth = 1e-6;  // smallest ratio of entries before and after elimination
}  // namespace

// Rows of A are columns of Aᵀ, which KLU works on.
struct SparseLU::Klu {
  int size = 0;
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
};

SparseLU::SparseLU(const RowMatrix& pattern) : klu_(std::make_unique<Klu>()) {
  PANTO_EXPECT(pattern.rows() == pattern.columns, "a square matrix");
  klu_->size = pattern.columns;
  klu_defaults(&klu_->common);
  RowMatrix p = pattern;
  klu_->symbolic = klu_analyze(klu_->size, p.start.data(), p.column.data(), &klu_->common);
  PANTO_EXPECT(klu_->symbolic != nullptr, "structurally regular, each entry once");
}

SparseLU::~SparseLU() {
  if (klu_->numeric) klu_free_numeric(&klu_->numeric, &klu_->common);
  if (klu_->symbolic) klu_free_symbolic(&klu_->symbolic, &klu_->common);
}

bool SparseLU::factor(const RowMatrix& a) noexcept {
  // KLU reads its arguments only.
  int *start = const_cast<int*>(a.start.data()), *column = const_cast<int*>(a.column.data());
  auto* value = const_cast<double*>(a.value.data());
  Klu& k = *klu_;
  if (k.numeric && klu_refactor(start, column, value, k.symbolic, k.numeric, &k.common) == 1 &&
      klu_rgrowth(start, column, value, k.symbolic, k.numeric, &k.common) == 1 &&
      k.common.rgrowth > kGrowth)
    return true;
  if (k.numeric) klu_free_numeric(&k.numeric, &k.common);
  k.numeric = klu_factor(start, column, value, k.symbolic, &k.common);
  return k.numeric != nullptr && k.common.status == KLU_OK;
}

void SparseLU::solve(double* x, int count) noexcept {
  klu_tsolve(klu_->symbolic, klu_->numeric, klu_->size, count, x, &klu_->common);
}

int SparseLU::entries() const {
  return klu_->numeric ? klu_->numeric->lnz + klu_->numeric->unz : 0;
}

}  // namespace panto
