// Radau IIA of three stages (INT-6): its table, and the transformation T that decouples the stages (E. Hairer, G. Wanner, Solving Ordinary Differential
// Equations II, IV.8).
#pragma once

#include <cmath>
#include <complex>

namespace panto::radau {

using Complex = std::complex<double>;

constexpr double kSqrt6 = 2.449489742783178098197284;
constexpr double kNode[3] = {(4 - kSqrt6) / 10, (4 + kSqrt6) / 10, 1};
constexpr double kWeight[3] = {(16 - kSqrt6) / 36, (16 + kSqrt6) / 36, 1.0 / 9};
constexpr double kA[3][3] = {
    {(88 - 7 * kSqrt6) / 360, (296 - 169 * kSqrt6) / 1800, (3 * kSqrt6 - 2) / 225},
    {(296 + 169 * kSqrt6) / 1800, (88 + 7 * kSqrt6) / 360, (-3 * kSqrt6 - 2) / 225},
    {kWeight[0], kWeight[1], kWeight[2]}};
constexpr double kT[3][3] = {
    {9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
    {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
    {0.96604818261509293619, 1, 0}};
constexpr double kTInverse[3][3] = {
    {4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497}};

// Eigenvalues of A⁻¹: one real, one complex pair.
struct Eigenvalues {
  double real;
  Complex pair;
  Eigenvalues() {
    const double c = std::cbrt(9.0), d = c * (c - 1);
    const Complex inverse((12 - d) / 60, c * (c + 1) * std::sqrt(3.0) / 60);
    real = 30 / (6 + d);
    pair = std::conj(1.0 / inverse);
    pair = {pair.real(), std::abs(pair.imag())};
  }
};

}  // namespace panto::radau
