// A channel's value, rate and acceleration, and its gradient as wrenches on bodies. Because rate = gradient · twist (CHAN-1), and a force on the
// channel is applied through the same gradient, value and apply are power-conjugate by construction.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>

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

// Curvature and strain turn with the link at fixed displacements: besides the wrenches on two nodes their gradient has this moment on the link.
template <class T>
T moment_on_link(const Kinematics<Planar, T>& kin, const Gradient<Planar, T>& g) {
  const auto first = kin.model->bodies.size() + 1;
  return -(moment(kin.node[static_cast<size_t>(g.a) - first].u, g.on_a.f) +
           moment(kin.node[static_cast<size_t>(g.b) - first].u, g.on_b.f));
}
[[nodiscard]] constexpr bool on_beam(ChannelKind k) {
  return k == ChannelKind::kCurvature || k == ChannelKind::kStrain;
}

// Difference of a channel's value and a target, for angles known up to whole turns the smallest.
template <class T>
T nearest_turn(const Channel& c, const T& difference) {
  if (!c.within_turn) return difference;
  double value = 0;
  if constexpr (requires { difference.a; }) {
    value = difference.a;
  } else {
    value = std::real(difference);
  }
  return difference - 2 * std::numbers::pi * std::round(value / (2 * std::numbers::pi));
}

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

// Curvature and strain, a row times d = T u (ELM-4), ḋ = T u̇ − ω Ĵ d; r is zero before.
template <Depth kDepth, class T, class P>
void evaluate_beam_channel(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                           const Channel& ch, ChannelValue<Planar, T>& r) {
  const erls::ElementConstants<P>& e = c.beams.elements[static_cast<size_t>(ch.element)];
  const auto at = static_cast<size_t>(e.node_a);
  const P xi = (c[ch.x] - c.beams.nodes[at].x) / e.beam.L;
  const BeamRow<P> row = ch.kind == ChannelKind::kStrain ? strain_row(e.beam, xi, c[ch.height])
                                                         : curvature_row(e.beam, xi);
  const BodyState<Planar, T>& link = kin.body[static_cast<size_t>(e.body)];
  Gradient<Planar, T>& g = r.gradient;
  g.a = e.a;
  g.b = e.b;
  g.on_a = {T(row[2]),
            {link.R.c * row[0] - link.R.s * row[1], link.R.s * row[0] + link.R.c * row[1]}};
  g.on_b = {T(row[5]),
            {link.R.c * row[3] - link.R.s * row[4], link.R.s * row[3] + link.R.c * row[4]}};
  const T turning = moment_on_link(kin, g);
  for (int k = 0; k < 2; ++k) {
    const Wrench<Planar, T>& w = k == 0 ? g.on_a : g.on_b;
    const erls::NodeState<T>& s = kin.node[at + static_cast<size_t>(k)];
    r.value += dot(w.f, s.u) + w.n * s.turn;
    if constexpr (kDepth != Depth::kValue) r.rate += dot(w.f, s.u_dot) + w.n * s.turn_dot;
    if constexpr (kDepth == Depth::kAcceleration) {
      if (kin.reduced.layout.active) {
        r.acceleration += dot(w.f, s.u_ddot) + w.n * s.turn_ddot;
      } else {
        const auto& dof = kin.model->nodes[at + static_cast<size_t>(k)].dof;
        r.acceleration += w.f.x * erls::detail::entry(kin.a, 0, dof[0]) +
                          w.f.y * erls::detail::entry(kin.a, 0, dof[1]) +
                          w.n * erls::detail::entry(kin.a, 0, dof[2]);
      }
      r.acceleration -= 2.0 * link.w * moment(s.u_dot, w.f) + link.w * link.w * dot(w.f, s.u);
    }
  }
  if constexpr (kDepth != Depth::kValue) r.rate += turning * link.w;
  if constexpr (kDepth == Depth::kAcceleration) r.acceleration += turning * link.al;
}

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
    case ChannelKind::kDirection: {
      const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
      const BodyState<S, T>& A = kin.body[static_cast<size_t>(fa.body)];
      const BodyState<S, T>& B = kin.body[static_cast<size_t>(fb.body)];
      const Vec ex = axis_of(kin.rotation(fb), 0), ey = axis_of(kin.rotation(fb), 1);
      const Vec rho = A.p + fa.r - B.p, d = rho - fb.r;
      const T x = dot(ex, d), y = dot(ey, d);
      const T inverse = 1.0 / (x * x + y * y);
      r.value = expression_detail::arc_tangent(y, x);
      const Vec n = inverse * (x * ey - y * ex);
      g.a = fa.body;
      g.b = fb.body;
      g.on_a = {moment(fa.r, n), n};
      g.on_b = {-moment(rho, n), -n};
      if constexpr (kDepth == Depth::kAcceleration) {
        const Vec v = A.v + spin(A.w, fa.r) - B.v, seen = v - spin(B.w, rho);
        bias = dot(n, centripetal(A.w, fa.r) - spin(B.w, v + seen)) -
               2.0 * inverse * dot(x * ex + y * ey, seen) * dot(n, seen);
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
    case ChannelKind::kCurvature:
    case ChannelKind::kStrain:
      if constexpr (S::kPlanar) evaluate_beam_channel<kDepth>(kin, c, ch, r);
      return r;
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
