// LU factorisation of sparse square matrices whose pattern stays (KLU): ordered once, pivots chosen at the first factorisation and kept while they serve.
#pragma once

#include <complex>
#include <memory>

#include "panto/numerics/staged_lu.hpp"

namespace panto {

// Scalar: double or std::complex<double>.
template <class Scalar>
class BasicSparseLU {
 public:
  // Values of the pattern are not read.
  explicit BasicSparseLU(const RowMatrix& pattern);
  ~BasicSparseLU();
  BasicSparseLU(const BasicSparseLU&) = delete;
  BasicSparseLU& operator=(const BasicSparseLU&) = delete;

  // Of the matrix with these values in the places of the pattern. False where it is singular. Allocates when pivots are chosen: at the first call, and
  // where the old ones let entries grow.
  [[nodiscard]] bool factor(const std::vector<Scalar>& values) noexcept;
  // x <- A⁻¹ x, of `count` vectors one after the other.
  void solve(Scalar* x, int count) noexcept;
  // Non-zeros of the factors.
  [[nodiscard]] int entries() const;

 private:
  struct Klu;
  std::unique_ptr<Klu> klu_;
};

extern template class BasicSparseLU<double>;
extern template class BasicSparseLU<std::complex<double>>;

using SparseLU = BasicSparseLU<double>;
using ComplexSparseLU = BasicSparseLU<std::complex<double>>;

}  // namespace panto
