// LU factorisation of sparse square matrices whose pattern stays (KLU): ordered once, pivots chosen at the first factorisation and kept while they serve.
#pragma once

#include <memory>

#include "panto/numerics/staged_lu.hpp"

namespace panto {

class SparseLU {
 public:
  explicit SparseLU(const RowMatrix& pattern);
  ~SparseLU();
  SparseLU(const SparseLU&) = delete;
  SparseLU& operator=(const SparseLU&) = delete;

  // False where the matrix is singular. Allocates when pivots are chosen: at the first call, and where the old ones let entries grow.
  [[nodiscard]] bool factor(const RowMatrix& a) noexcept;
  // x <- A⁻¹ x, of `count` vectors one after the other.
  void solve(double* x, int count) noexcept;
  // Non-zeros of the factors.
  [[nodiscard]] int entries() const;

 private:
  struct Klu;
  std::unique_ptr<Klu> klu_;
};

}  // namespace panto
