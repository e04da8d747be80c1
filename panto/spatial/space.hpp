// The two spaces in which one algorithm text runs. Vectors (positions, forces) have 2 or 3 components; angular quantities
// (angular velocity, moment) 1 or 3; a rotation knows its axes. All quantities are in world axes unless a name says otherwise.
#pragma once

#include <cmath>

#include "panto/spatial/vec.hpp"

namespace panto {

// ---- planar -----------------------------------------------------------------------------------------------------------

template <class T>
struct Rot2 {
  T c{1.0}, s{0.0};
};

struct Planar {
  static constexpr bool kPlanar = true;
  static constexpr int kDim = 2;
  template <class T>
  using Vec = Vec2<T>;
  template <class T>
  using Ang = T;
  template <class T>
  using Rot = Rot2<T>;
  template <class T>
  using Inertia = T;
};

// R v
template <class A, class B>
Vec2<Product<A, B>> rotate(const Rot2<A>& r, const Vec2<B>& v) {
  return {r.c * v.x - r.s * v.y, r.s * v.x + r.c * v.y};
}
template <class A, class B>
Rot2<Product<A, B>> compose(const Rot2<A>& a, const Rot2<B>& b) {
  return {a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s};
}
// R a Rᵀ b style: a composed with the reverse of b.
template <class A, class B>
Rot2<Product<A, B>> compose_reverse(const Rot2<A>& a, const Rot2<B>& b) {
  return {a.c * b.c + a.s * b.s, a.s * b.c - a.c * b.s};
}
template <class T>
Rot2<T> turn(const T& angle) {
  using std::cos;
  using std::sin;
  return {cos(angle), sin(angle)};
}
// Unit vector along axis 0 (x) or 1 (y) of a frame.
template <class T>
Vec2<T> axis_of(const Rot2<T>& r, int axis) {
  return axis == 0 ? Vec2<T>{r.c, r.s} : Vec2<T>{-r.s, r.c};
}
// w x r
template <class A, class B>
Vec2<Product<A, B>> spin(const A& w, const Vec2<B>& r) {
  return {-(w * r.y), w * r.x};
}
// w x (w x r)
template <class A, class B>
Vec2<Product<A, B>> centripetal(const A& w, const Vec2<B>& r) {
  const auto w2 = w * w;
  return {-(w2 * r.x), -(w2 * r.y)};
}
// r x f
template <class A, class B>
Product<A, B> moment(const Vec2<A>& r, const Vec2<B>& f) {
  return r.x * f.y - r.y * f.x;
}
template <class A, class B>
requires(
    !requires(A a) { a.x; } && !requires(B b) { b.x; }) Product<A, B> inner(const A& a,
                                                                            const B& b) {
  return a * b;
}
// Inertia about the origin after moving the reference point: body mass m, first moment h (about the old point), d = old - new.
template <class T, class M>
T shift_inertia(const T& inertia, const M& m, const Vec2<T>& h, const Vec2<T>& d) {
  return inertia + m * dot(d, d) + 2.0 * dot(d, h);
}

// ---- spatial ----------------------------------------------------------------------------------------------------------

struct Spatial {
  static constexpr bool kPlanar = false;
  static constexpr int kDim = 3;
  template <class T>
  using Vec = Vec3<T>;
  template <class T>
  using Ang = Vec3<T>;
  template <class T>
  using Rot = Mat3<T>;
  template <class T>
  using Inertia = Sym3<T>;
};

template <class T>
Mat3<T> identity3() {
  return {{T(1.0), T(0.0), T(0.0)}, {T(0.0), T(1.0), T(0.0)}, {T(0.0), T(0.0), T(1.0)}};
}
template <class A, class B>
Vec3<Product<A, B>> rotate(const Mat3<A>& r, const Vec3<B>& v) {
  return r * v;
}
template <class A, class B>
Mat3<Product<A, B>> compose(const Mat3<A>& a, const Mat3<B>& b) {
  return a * b;
}
template <class A, class B>
Mat3<Product<A, B>> compose_reverse(const Mat3<A>& a, const Mat3<B>& b) {
  return a * transpose(b);
}
template <class T>
const Vec3<T>& axis_of(const Mat3<T>& r, int axis) {
  return axis == 0 ? r.x : axis == 1 ? r.y : r.z;
}
template <class A, class B>
Vec3<Product<A, B>> spin(const Vec3<A>& w, const Vec3<B>& r) {
  return cross(w, r);
}
template <class A, class B>
Vec3<Product<A, B>> centripetal(const Vec3<A>& w, const Vec3<B>& r) {
  return cross(w, cross(w, r));
}
template <class A, class B>
Vec3<Product<A, B>> moment(const Vec3<A>& r, const Vec3<B>& f) {
  return cross(r, f);
}
template <class A, class B>
Product<A, B> inner(const Vec3<A>& a, const Vec3<B>& b) {
  return dot(a, b);
}
template <class T, class M>
Sym3<T> shift_inertia(const Sym3<T>& i, const M& m, const Vec3<T>& h, const Vec3<T>& d) {
  // I + m (|d|^2 E - d dᵀ) + (2 d·h E - d hᵀ - h dᵀ)
  const Vec3<T> g = m * d + h;  // common factor: m d dᵀ + d hᵀ = d gᵀ, plus h dᵀ
  const T x = d.x * g.x + h.x * d.x, y = d.y * g.y + h.y * d.y, z = d.z * g.z + h.z * d.z;
  return {i.xx + y + z,
          i.yy + x + z,
          i.zz + x + y,
          i.xy - d.x * g.y - h.x * d.y,
          i.xz - d.x * g.z - h.x * d.z,
          i.yz - d.y * g.z - h.y * d.z};
}
// R I Rᵀ
template <class T, class P>
Sym3<T> rotate_inertia(const Mat3<T>& r, const Sym3<P>& i) {
  const Vec3<T> a = i.xx * r.x + i.xy * r.y + i.xz * r.z;
  const Vec3<T> b = i.xy * r.x + i.yy * r.y + i.yz * r.z;
  const Vec3<T> c = i.xz * r.x + i.yz * r.y + i.zz * r.z;
  return {a.x * r.x.x + b.x * r.y.x + c.x * r.z.x, a.y * r.x.y + b.y * r.y.y + c.y * r.z.y,
          a.z * r.x.z + b.z * r.y.z + c.z * r.z.z, a.x * r.x.y + b.x * r.y.y + c.x * r.z.y,
          a.x * r.x.z + b.x * r.y.z + c.x * r.z.z, a.y * r.x.z + b.y * r.y.z + c.y * r.z.z};
}
// m R(k, angle) for a unit vector k in m's own axes.
template <class T>
Mat3<T> turn_about(const Mat3<T>& m, const Vec3<double>& k, const T& angle) {
  using std::cos;
  using std::sin;
  const T c = cos(angle), s = sin(angle);
  if (k.z == 1.0) return {c * m.x + s * m.y, c * m.y - s * m.x, m.z};
  if (k.x == 1.0) return {m.x, c * m.y + s * m.z, c * m.z - s * m.y};
  if (k.y == 1.0) return {c * m.x - s * m.z, m.y, c * m.z + s * m.x};
  const T u = 1.0 - c;
  const Mat3<T> r{{c + u * (k.x * k.x), u * (k.x * k.y) + s * k.z, u * (k.x * k.z) - s * k.y},
                  {u * (k.x * k.y) - s * k.z, c + u * (k.y * k.y), u * (k.y * k.z) + s * k.x},
                  {u * (k.x * k.z) + s * k.y, u * (k.y * k.z) - s * k.x, c + u * (k.z * k.z)}};
  return m * r;
}
// Rotation of a unit quaternion (w, x, y, z).
template <class T>
Mat3<T> quaternion_rotation(const T& w, const T& x, const T& y, const T& z) {
  return {{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)},
          {2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)},
          {2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)}};
}

}  // namespace panto
