// Cubic Hermite functions of an element 0 ≤ x ≤ L (ELM-1), ξ = x/L: value and slope at x = 0, value and slope at x = L.
#pragma once

#include <Eigen/Core>
#include <array>

namespace panto {

template <class P>
std::array<P, 4> hermite(const P& L, const P& xi) noexcept {
  const P xi2 = xi * xi, xi3 = xi2 * xi;
  return {1.0 - 3.0 * xi2 + 2.0 * xi3, L * (xi - 2.0 * xi2 + xi3), 3.0 * xi2 - 2.0 * xi3,
          L * (xi3 - xi2)};
}
// d/dx
template <class P>
std::array<P, 4> hermite_slope(const P& L, const P& xi) noexcept {
  const P a = 6.0 * xi * (1.0 - xi) / L;
  return {-a, (1.0 - xi) * (1.0 - 3.0 * xi), a, xi * (3.0 * xi - 2.0)};
}
// d²/dx²
template <class P>
std::array<P, 4> hermite_curvature(const P& L, const P& xi) noexcept {
  const P a = (6.0 - 12.0 * xi) / (L * L);
  return {-a, (6.0 * xi - 4.0) / L, a, (6.0 * xi - 2.0) / L};
}

// ∫ H Hᵀ dx
template <class P>
Eigen::Matrix<P, 4, 4> hermite_mass(const P& L) noexcept {
  const P s = L / 420.0, sL = s * L, sLL = sL * L;
  Eigen::Matrix<P, 4, 4> m;
  m << 156.0 * s, 22.0 * sL, 54.0 * s, -13.0 * sL,  //
      22.0 * sL, 4.0 * sLL, 13.0 * sL, -3.0 * sLL,  //
      54.0 * s, 13.0 * sL, 156.0 * s, -22.0 * sL,   //
      -13.0 * sL, -3.0 * sLL, -22.0 * sL, 4.0 * sLL;
  return m;
}
// ∫ H dx
template <class P>
std::array<P, 4> hermite_integral(const P& L) noexcept {
  return {0.5 * L, L * L / 12.0, 0.5 * L, -L * L / 12.0};
}

}  // namespace panto
