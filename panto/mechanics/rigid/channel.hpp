// A channel's value, rate and acceleration, and its gradient as wrenches on bodies. Because rate = gradient · twist (CHAN-1), and a force on the
// channel is applied through the same gradient, value and apply are power-conjugate by construction.
#pragma once

#include "panto/mechanics/rigid/kinematics.hpp"

namespace panto::rigid {

// A wrench about a body's origin; a channel has two, and a bias of its acceleration (CHAN-2).
template <class S, class T>
struct Wrench {
  typename S::template Ang<T> n{};
  typename S::template Vec<T> f{};
};

// Gradient of a channel with two bodies (Kinematics indices; -1 none). kCoordinate and kSum have coordinates instead.
template <class S, class T>
struct Gradient {
  int a = -1, b = -1;
  Wrench<S, T> on_a, on_b;
};

template <class S, class T>
struct ChannelValue {
  T value{0.0}, rate{0.0}, acceleration{0.0};
  Gradient<S, T> gradient;
};

enum class Depth { kValue, kRate, kAcceleration };  // how far to evaluate

namespace detail {

// dot product of axis a of body A with axis b of body B: value, torque a x b, and its quadratic rate.
template <class T>
struct AxisProduct {
  T value{0.0}, bias{0.0};
  Vec3<T> torque;
};
template <Depth kDepth, class T>
AxisProduct<T> axis_product(const Vec3<T>& a, const Vec3<T>& wa, const Vec3<T>& b,
                            const Vec3<T>& wb) {
  AxisProduct<T> r;
  r.value = dot(a, b);
  r.torque = cross(a, b);
  if constexpr (kDepth == Depth::kAcceleration)
    r.bias = dot(wa - wb, cross(cross(wa, a), b) + cross(a, cross(wb, b)));
  return r;
}

}  // namespace detail

template <Depth kDepth, class S, class T, class P>
ChannelValue<S, T> evaluate_channel(const Kinematics<S, T>& kin, const Constants<S, P>& c,
                                    const Channel& ch) {
  using std::sqrt;
  using Vec = typename S::template Vec<T>;
  ChannelValue<S, T> r;
  Gradient<S, T>& g = r.gradient;
  T bias(0.0);
  switch (ch.kind) {
    case ChannelKind::kCoordinate: {
      const int at = kin.dof_coordinate[static_cast<size_t>(ch.dof)];
      if (at >= 0) r.value = kin.q[at];
      if constexpr (kDepth != Depth::kValue) r.rate = kin.v[ch.dof];
      if constexpr (kDepth == Depth::kAcceleration) r.acceleration = kin.a[ch.dof];
      return r;
    }
    case ChannelKind::kSum: {
      for (int k = ch.first_term; k < ch.first_term + ch.terms; ++k) {
        const Term& term = kin.model->terms[static_cast<size_t>(k)];
        const P factor = c[term.coefficient];
        const int at = kin.dof_coordinate[static_cast<size_t>(term.dof)];
        if (at >= 0) r.value += factor * kin.q[at];
        if constexpr (kDepth != Depth::kValue) r.rate += factor * kin.v[term.dof];
        if constexpr (kDepth == Depth::kAcceleration) r.acceleration += factor * kin.a[term.dof];
      }
      return r;
    }
    case ChannelKind::kPoint:
    case ChannelKind::kPointRate: {
      const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
      const BodyState<S, T>& A = kin.body[static_cast<size_t>(fa.body)];
      const BodyState<S, T>& B = kin.body[static_cast<size_t>(fb.body)];
      const Vec e = axis_of(kin.rotation(fb), ch.axis);
      g.a = fa.body;
      g.on_a = {moment(fa.r, e), e};
      const bool relative = ch.kind == ChannelKind::kPoint && fb.body > 0;
      const Vec rho = A.p + fa.r - B.p;
      if (ch.kind == ChannelKind::kPoint) r.value = dot(e, rho - fb.r);
      if (relative) {
        g.b = fb.body;
        g.on_b = {-moment(rho, e), -e};
      }
      if constexpr (kDepth == Depth::kAcceleration) {
        bias = dot(e, centripetal(A.w, fa.r));
        if (fb.body > 0) {
          const Vec va = A.v + spin(A.w, fa.r);
          if (relative) {
            bias += dot(spin(B.w, e), va - B.v - spin(B.w, rho)) - dot(e, spin(B.w, va - B.v));
          } else {
            bias += dot(spin(B.w, e), va);
          }
        }
      }
      break;
    }
    case ChannelKind::kGap: {
      const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
      const BodyState<S, T>& A = kin.body[static_cast<size_t>(fa.body)];
      const BodyState<S, T>& B = kin.body[static_cast<size_t>(fb.body)];
      const auto along = [&](const Vec& x) -> const T& {
        if constexpr (S::kPlanar) {
          return ch.axis == 0 ? x.x : x.y;
        } else {
          return ch.axis == 0 ? x.x : ch.axis == 1 ? x.y : x.z;
        }
      };
      r.value = along(A.p) + along(fa.r) - along(B.p) - along(fb.r);
      const Vec e = axis_of(Kinematics<S, T>::unit(), ch.axis);
      g.a = fa.body;
      g.b = fb.body;
      g.on_a = {moment(fa.r, e), e};
      g.on_b = {-moment(fb.r, e), -e};
      if constexpr (kDepth == Depth::kAcceleration)
        bias = along(centripetal(A.w, fa.r)) - along(centripetal(B.w, fb.r));
      break;
    }
    case ChannelKind::kDistance: {
      const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
      const BodyState<S, T>& A = kin.body[static_cast<size_t>(fa.body)];
      const BodyState<S, T>& B = kin.body[static_cast<size_t>(fb.body)];
      const Vec d = A.p + fa.r - B.p - fb.r;
      r.value = sqrt(dot(d, d));
      const Vec n = (1.0 / r.value) * d;
      g.a = fa.body;
      g.b = fb.body;
      g.on_a = {moment(fa.r, n), n};
      g.on_b = {-moment(fb.r, n), -n};
      if constexpr (kDepth == Depth::kAcceleration) {
        const Vec dd = A.v + spin(A.w, fa.r) - B.v - spin(B.w, fb.r);
        const T rate = dot(n, dd);
        bias = dot(n, centripetal(A.w, fa.r) - centripetal(B.w, fb.r)) +
               (dot(dd, dd) - rate * rate) / r.value;
      }
      break;
    }
    case ChannelKind::kAngle: {
      if constexpr (S::kPlanar) {
        const auto angle_of = [&](int frame, int& body) {
          if (frame < 0) {
            body = 0;
            return T(0.0);
          }
          const auto& f = c.frames[static_cast<size_t>(frame)];
          body = f.body + 1;
          return T(kin.body[static_cast<size_t>(body)].angle + f.angle);
        };
        r.value = angle_of(ch.frame_a, g.a) - angle_of(ch.frame_b, g.b);
        g.on_a.n = T(1.0);
        g.on_b.n = T(-1.0);
      } else {
        const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
        const Vec3<T>&wa = kin.body[static_cast<size_t>(fa.body)].w,
              &wb = kin.body[static_cast<size_t>(fb.body)].w;
        const Mat3<T>&Ra = kin.rotation(fa), &Rb = kin.rotation(fb);
        const auto cs = detail::axis_product<kDepth>(Ra.x, wa, Rb.x, wb);
        const auto sn = detail::axis_product<kDepth>(Ra.x, wa, Rb.y, wb);
        r.value = expression_detail::arc_tangent(sn.value, cs.value);
        const T rho = cs.value * cs.value + sn.value * sn.value;
        const T inverse = 1.0 / rho;
        g.a = fa.body;
        g.b = fb.body;
        g.on_a.n = inverse * (cs.value * sn.torque - sn.value * cs.torque);
        g.on_b.n = -g.on_a.n;
        if constexpr (kDepth == Depth::kAcceleration) {
          const T cd = dot(cs.torque, wa - wb), sd = dot(sn.torque, wa - wb);
          bias = inverse * (cs.value * sn.bias - sn.value * cs.bias) -
                 2.0 * (cs.value * cd + sn.value * sd) * (cs.value * sd - sn.value * cd) *
                     (inverse * inverse);
        }
      }
      break;
    }
    case ChannelKind::kAxisDot: {
      if constexpr (!S::kPlanar) {
        const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
        const auto p = detail::axis_product<kDepth>(
            axis_of(kin.rotation(fa), ch.axis), kin.body[static_cast<size_t>(fa.body)].w,
            axis_of(kin.rotation(fb), ch.axis_b), kin.body[static_cast<size_t>(fb.body)].w);
        r.value = p.value;
        g.a = fa.body;
        g.b = fb.body;
        g.on_a.n = p.torque;
        g.on_b.n = -p.torque;
        bias = p.bias;
      }
      break;
    }
    case ChannelKind::kAngularRate: {
      const FrameState<S, T>& fa = kin.frame(ch.frame_a);
      g.a = fa.body;
      if constexpr (S::kPlanar) {
        g.on_a.n = T(1.0);
      } else {
        const FrameState<S, T>& fb = kin.frame(ch.frame_b);
        g.on_a.n = axis_of(kin.rotation(fb), ch.axis);
        if constexpr (kDepth == Depth::kAcceleration)
          bias = dot(spin(kin.body[static_cast<size_t>(fb.body)].w, g.on_a.n),
                     kin.body[static_cast<size_t>(fa.body)].w);
      }
      break;
    }
  }
  if constexpr (kDepth != Depth::kValue) {
    const auto along = [&](int index, const Wrench<S, T>& w, bool acceleration) {
      const BodyState<S, T>& b = kin.body[static_cast<size_t>(index)];
      return acceleration ? T(inner(w.n, b.al) + dot(w.f, b.a))
                          : T(inner(w.n, b.w) + dot(w.f, b.v));
    };
    if (g.a > 0) r.rate += along(g.a, g.on_a, false);
    if (g.b > 0) r.rate += along(g.b, g.on_b, false);
    if constexpr (kDepth == Depth::kAcceleration) {
      r.acceleration = bias;
      if (g.a > 0) r.acceleration += along(g.a, g.on_a, true);
      if (g.b > 0) r.acceleration += along(g.b, g.on_b, true);
    }
  }
  return r;
}

}  // namespace panto::rigid
