// A servo system by C++ code: equations written once over any scalar, differentiated exactly.
//
//   struct Crane {
//     static constexpr int kCoordinates = 4, kConstraints = 1, kInputs = 2;
//     template <class T> void dynamics(double t, const T* y, const T* v, const T* w, const T* lambda, const T* u, T* r) const;
//     template <class T> void constraints(const T& t, const T* y, T* c) const;    // only with kConstraints > 0; on positions
//     template <class T> void outputs(const T& t, const T* y, T* z) const;        // kInputs - kConditions of them, on positions
//     template <class T> void conditions(double t, const T* y, const T* v, const T* w, T* s) const;  // only with kConditions: rows s = 0
//     static constexpr int kConditions = 1;                                       // optional
//     void guess(double* y) const;                                                // of the equilibrium
//   };
//
// T is no plain number in constraints and outputs: write T(2.0) * y[0].
// The force matrix of λ is whatever `dynamics` does with λ: drives that do not feel their reaction need nothing else.
#pragma once

#include <ceres/jet.h>

#include <array>
#include <string>

#include "panto/base/taylor.hpp"
#include "panto/inversion/servo_system.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {

template <class F>
class FunctionServo : public ServoSystem {
  static constexpr int conditions_of() {
    if constexpr (requires { F::kConditions; })
      return F::kConditions;
    else
      return 0;
  }
  static constexpr int kN = F::kCoordinates, kC = F::kConstraints, kU = F::kInputs,
                       kS = conditions_of(), kH = kU - kS;

 public:
  explicit FunctionServo(F f = {}) : f_(std::move(f)) {
    nv_ = kN;
    for (int i = 0; i < kN; ++i) coordinate_names_.push_back("y" + std::to_string(i + 1));
    for (int i = 0; i < kU; ++i) input_names_.push_back("u" + std::to_string(i + 1));
    for (int i = 0; i < kC; ++i) rows_.push_back({"c" + std::to_string(i + 1)});
    for (int i = 0; i < kH; ++i) rows_.push_back({"z" + std::to_string(i + 1)});
    for (int i = 0; i < kS; ++i)
      rows_.push_back({"s" + std::to_string(i + 1), Level::kAcceleration, true, true, -1});
  }
  // Output i is coordinate k itself: it may then be substituted.
  void output_is_coordinate(int i, int k) { rows_[static_cast<size_t>(kC + i)].coordinate = k; }

  void guess(MutableView y) const override { f_.guess(y.data()); }

  void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept override {
    if (with_tangent)
      tangent(x, out);
    else
      values(x, out);
  }

 private:
  // Positions as functions of time up to the second derivative.
  template <class B>
  void geometry(double t, const B* y, const B* v, const B* w, std::array<Taylor2<B>, kC + kH>& g) {
    std::array<Taylor2<B>, kN> q;
    for (int i = 0; i < kN; ++i) q[size_t(i)] = {y[i], v[i], w[i]};
    const Taylor2<B> time(B(t), B(1.0), B(0.0));
    if constexpr (kC > 0) f_.constraints(time, q.data(), g.data());
    if constexpr (kH > 0) f_.outputs(time, q.data(), g.data() + kC);
  }

  void values(const ServoPoint& x, ServoValues& out) noexcept {
    f_.dynamics(x.t, x.y.data(), x.v.data(), x.w.data(), x.lambda.data(), x.u.data(), out.r.data());
    std::array<Taylor2<double>, kC + kH> g;
    geometry(x.t, x.y.data(), x.v.data(), x.w.data(), g);
    for (int i = 0; i < kC + kH; ++i) {
      out.g0[i] = g[size_t(i)].a;
      out.g1[i] = g[size_t(i)].d;
      out.g2[i] = g[size_t(i)].dd;
    }
    if constexpr (kS > 0)
      f_.conditions(x.t, x.y.data(), x.v.data(), x.w.data(), out.g2.data() + kC + kH);
  }

  // All directions, in the order y, v, w, λ, u, a few lanes at a time.
  void tangent(const ServoPoint& x, ServoValues& out) noexcept {
    constexpr int kAll = 3 * kN + kC + kU;
    std::array<Dual, kAll> p;
    const auto fill = [&p](int first, int n, View from) {
      for (int i = 0; i < n; ++i) p[size_t(first + i)] = Dual(from[size_t(i)]);
    };
    fill(0, kN, x.y);
    fill(kN, kN, x.v);
    fill(2 * kN, kN, x.w);
    fill(3 * kN, kC, x.lambda);
    fill(3 * kN + kC, kU, x.u);
    for (int base = 0; base < kAll; base += kDualLanes) {
      const int count = std::min(kDualLanes, kAll - base);
      for (int l = 0; l < count; ++l) p[size_t(base + l)].v[l] = 1;
      const Dual *y = p.data(), *v = y + kN, *w = v + kN, *lambda = w + kN, *u = lambda + kC;
      std::array<Dual, kN> r;
      f_.dynamics(x.t, y, v, w, lambda, u, r.data());
      for (int l = 0; l < count; ++l) {
        const int k = base + l;
        Eigen::MatrixXd& to = k < kN            ? out.r_y
                              : k < 2 * kN      ? out.r_v
                              : k < 3 * kN      ? out.r_w
                              : k < 3 * kN + kC ? out.r_lambda
                                                : out.r_u;
        const int column = k < 3 * kN ? k % kN : k < 3 * kN + kC ? k - 3 * kN : k - 3 * kN - kC;
        for (int i = 0; i < kN; ++i) to(i, column) = r[size_t(i)].v[l];
      }
      if (base == 0)
        for (int i = 0; i < kN; ++i) out.r[i] = r[size_t(i)].a;
      if (base < 2 * kN) {
        std::array<Taylor2<Dual>, kC + kH> g;
        geometry(x.t, y, v, w, g);
        for (int i = 0; i < kC + kH; ++i) {
          const Taylor2<Dual>& row = g[size_t(i)];
          for (int l = 0; l < count && base + l < 2 * kN; ++l) {
            const int k = base + l;
            if (k < kN) {
              out.G(i, k) = row.a.v[l];
              out.g1_y(i, k) = row.d.v[l];
              out.g2_y(i, k) = row.dd.v[l];
            } else {
              out.g2_v(i, k - kN) = row.dd.v[l];
            }
          }
          if (base == 0) {
            out.g0[i] = row.a.a;
            out.g1[i] = row.d.a;
            out.g2[i] = row.dd.a;
          }
        }
      }
      if constexpr (kS > 0) {
        std::array<Dual, kS> s;
        f_.conditions(x.t, y, v, w, s.data());
        for (int i = 0; i < kS; ++i) {
          for (int l = 0; l < count && base + l < 3 * kN; ++l) {
            const int k = base + l;
            (k < kN       ? out.g2_y
             : k < 2 * kN ? out.g2_v
                          : out.G)(kC + kH + i, k % kN) = s[size_t(i)].v[l];
          }
          if (base == 0) out.g2[kC + kH + i] = s[size_t(i)].a;
        }
      }
      for (int l = 0; l < count; ++l) p[size_t(base + l)].v[l] = 0;
    }
  }

  F f_;
};

}  // namespace panto
