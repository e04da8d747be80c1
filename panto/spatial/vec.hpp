// Two- and three-vectors and 3x3 matrices over any scalar. Operations mix scalars (a dual state with double parameters)
// and never conjugate, so that complex steps stay analytic.
#pragma once

namespace panto {

template <class A, class B>
using Product = decltype(A() * B());

template <class T>
struct Vec2 {
  T x{}, y{};
  template <class U>
  Vec2& operator+=(const Vec2<U>& b) {
    x += b.x;
    y += b.y;
    return *this;
  }
  template <class U>
  Vec2& operator-=(const Vec2<U>& b) {
    x -= b.x;
    y -= b.y;
    return *this;
  }
};
template <class A, class B>
Vec2<Product<A, B>> operator+(const Vec2<A>& a, const Vec2<B>& b) {
  return {a.x + b.x, a.y + b.y};
}
template <class A, class B>
Vec2<Product<A, B>> operator-(const Vec2<A>& a, const Vec2<B>& b) {
  return {a.x - b.x, a.y - b.y};
}
template <class A>
Vec2<A> operator-(const Vec2<A>& a) {
  return {-a.x, -a.y};
}
template <class A, class B>
Vec2<Product<A, B>> operator*(const A& s, const Vec2<B>& b) {
  return {s * b.x, s * b.y};
}
template <class A, class B>
Product<A, B> dot(const Vec2<A>& a, const Vec2<B>& b) {
  return a.x * b.x + a.y * b.y;
}

template <class T>
struct Vec3 {
  T x{}, y{}, z{};
  template <class U>
  Vec3& operator+=(const Vec3<U>& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  template <class U>
  Vec3& operator-=(const Vec3<U>& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }
};
template <class A, class B>
Vec3<Product<A, B>> operator+(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
Vec3<Product<A, B>> operator-(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class A>
Vec3<A> operator-(const Vec3<A>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class A, class B>
Vec3<Product<A, B>> operator*(const A& s, const Vec3<B>& b) {
  return {s * b.x, s * b.y, s * b.z};
}
template <class A, class B>
Product<A, B> dot(const Vec3<A>& a, const Vec3<B>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class A, class B>
Vec3<Product<A, B>> cross(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Columns x, y, z: as a rotation they are the frame's axes.
template <class T>
struct Mat3 {
  Vec3<T> x, y, z;
};
template <class A, class B>
Vec3<Product<A, B>> operator*(const Mat3<A>& m, const Vec3<B>& v) {
  return {m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
          m.x.z * v.x + m.y.z * v.y + m.z.z * v.z};
}
template <class A, class B>
Mat3<Product<A, B>> operator*(const Mat3<A>& m, const Mat3<B>& n) {
  return {m * n.x, m * n.y, m * n.z};
}
template <class T>
Mat3<T> transpose(const Mat3<T>& m) {
  return {{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}
// mᵀ v
template <class A, class B>
Vec3<Product<A, B>> transpose_times(const Mat3<A>& m, const Vec3<B>& v) {
  return {dot(m.x, v), dot(m.y, v), dot(m.z, v)};
}

// Symmetric 3x3.
template <class T>
struct Sym3 {
  T xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
  template <class U>
  Sym3& operator+=(const Sym3<U>& b) {
    xx += b.xx;
    yy += b.yy;
    zz += b.zz;
    xy += b.xy;
    xz += b.xz;
    yz += b.yz;
    return *this;
  }
};
template <class A, class B>
Vec3<Product<A, B>> operator*(const Sym3<A>& m, const Vec3<B>& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

}  // namespace panto
