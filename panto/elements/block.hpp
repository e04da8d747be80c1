// 2 × 2 blocks of element tangents as one vector of four, xx xy yx yy: sums of them take one instruction each.
#pragma once

#include <Eigen/Core>

#include "panto/spatial/vec.hpp"

namespace panto::element_detail {

using Block = Eigen::Array4d;

// u vᵀ
inline Block outer(const Vec2<double>& u, const Vec2<double>& v) {
  return Block(u.x, u.x, u.y, u.y) * Block(v.x, v.y, v.x, v.y);
}
inline Block transposed(const Block& a) { return {a[0], a[2], a[1], a[3]}; }
// Block of the nodal vectors i and j, and its mirror, in a symmetric matrix.
template <class Matrix>
void put(Matrix& k, int i, int j, const Block& m) {
  k(2 * i, 2 * j) = k(2 * j, 2 * i) = m[0];
  k(2 * i, 2 * j + 1) = k(2 * j + 1, 2 * i) = m[1];
  k(2 * i + 1, 2 * j) = k(2 * j, 2 * i + 1) = m[2];
  k(2 * i + 1, 2 * j + 1) = k(2 * j + 1, 2 * i + 1) = m[3];
}

}  // namespace panto::element_detail
