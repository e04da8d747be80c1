// The physical numbers of a model at one θ, in the form the equations use them: masses and inertias of whole bodies,
// fixed poses of frames, all other slots as they are. Made once per θ (bake), for double or for dual numbers in θ.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "panto/base/taylor.hpp"
#include "panto/mechanics/ancf/constants.hpp"
#include "panto/model/beam_links.hpp"
#include "panto/model/model.hpp"
#include "panto/spatial/space.hpp"

namespace panto::rigid {

template <class S, class P>
struct BodyConstants {
  P mass{0.0};
  typename S::template Vec<P> com{};          // centre of mass from the body origin, body axes
  typename S::template Inertia<P> inertia{};  // about the centre of mass, body axes
};

template <class S, class P>
struct FrameConstants {
  int body = kGround;  // carriers of beams count on after the bodies
  bool moved = false, turned = false;
  typename S::template Vec<P> r{};  // body axes
  typename S::template Rot<P> R{};  // body axes
  P angle{0.0};                     // planar
};

// A signal and its time derivatives, possibly with infinitesimal parts by θ.
template <class P>
struct SignalAt {
  P value{0.0}, rate{0.0}, acceleration{0.0};
};

template <class S, class P>
struct Constants {
  std::vector<P> theta, slots;
  std::vector<Signal> signals;  // P = double: the model's signals at this θ
  std::vector<BodyConstants<S, P>> bodies;
  std::vector<FrameConstants<S, P>> frames;
  erls::BeamConstants<P> beams;
  erls::ReducedConstants<P> reduced;
  ancf::BeamConstants<P> ancf;
  typename S::template Vec<P> gravity{};

  // Signal i of the model at time t. Expressions of θ carry the derivatives by θ.
  [[nodiscard]] SignalAt<P> signal(const Model& model, int i, double t) const {
    const auto at = static_cast<size_t>(i);
    if constexpr (std::is_same_v<P, double>) {
      const SignalValue s = signals[at].at(t);
      return {s.value, s.rate, s.acceleration};
    } else {
      const Expression& source = model.signal_sources[at];
      if (source.code().empty()) {
        const SignalValue s = model.signals[at].at(t);
        return {P(s.value), P(s.rate), P(s.acceleration)};
      }
      std::vector<Taylor2<P>> variables(theta.size() + 1);
      variables[0] = {P(t), P(1.0), P(0.0)};
      for (size_t k = 0; k < theta.size(); ++k) variables[k + 1] = Taylor2<P>::constant(theta[k]);
      const auto s = source.template evaluate<Taylor2<P>>(std::span<const Taylor2<P>>(variables));
      return {s.a, s.d, s.dd};
    }
  }

  // Value of a slot; an absent one is zero.
  P operator[](Slot s) const { return s >= 0 ? slots[static_cast<size_t>(s)] : P(0.0); }
};

template <class S, class P>
typename S::template Vec<P> vector_of(const Constants<S, P>& c, const std::array<Slot, 3>& s) {
  if constexpr (S::kPlanar) {
    return {c[s[0]], c[s[1]]};
  } else {
    return {c[s[0]], c[s[1]], c[s[2]]};
  }
}

// Mass, centre and inertia about the centre of one solid.
template <class S, class P>
BodyConstants<S, P> solid_constants(const Constants<S, P>& c, const Solid& s) {
  BodyConstants<S, P> b;
  b.com = vector_of(c, s.at);
  const P n0 = c[s.numbers[0]], n1 = c[s.numbers[1]], n2 = c[s.numbers[2]];
  P volume(0.0);
  switch (s.kind) {
    case SolidKind::kExplicit:
    case SolidKind::kPointMass:
      break;
    case SolidKind::kBar:
    case SolidKind::kBox:
      volume = n0 * n1 * n2;
      break;
    case SolidKind::kCylinder:
      volume = M_PI * (n1 * n1) * n0;
      break;
    case SolidKind::kSphere:
      volume = (4.0 / 3.0 * M_PI) * (n0 * n0 * n0);
      break;
  }
  b.mass = s.mass >= 0 ? c[s.mass] : c[s.density] * volume;
  if (s.kind == SolidKind::kBar) b.com.x = 0.5 * n0;
  const P m12 = b.mass * (1.0 / 12.0);
  if constexpr (S::kPlanar) {
    switch (s.kind) {
      case SolidKind::kExplicit:
        b.inertia = n0;
        break;
      case SolidKind::kPointMass:
        break;
      case SolidKind::kBar:
        b.inertia = m12 * (n0 * n0);
        break;
      case SolidKind::kBox:
        b.inertia = m12 * (n0 * n0 + n1 * n1);
        break;
      case SolidKind::kCylinder:
        b.inertia = 0.5 * b.mass * (n1 * n1);
        break;
      case SolidKind::kSphere:
        b.inertia = 0.4 * b.mass * (n0 * n0);
        break;
    }
  } else {
    switch (s.kind) {
      case SolidKind::kExplicit:
        b.inertia = {n0, n1, n2, c[s.numbers[3]], c[s.numbers[4]], c[s.numbers[5]]};
        break;
      case SolidKind::kPointMass:
        break;
      case SolidKind::kBar:
        b.inertia = {P(0.0), m12 * (n0 * n0), m12 * (n0 * n0), P(0.0), P(0.0), P(0.0)};
        break;
      case SolidKind::kBox:
        b.inertia = {m12 * (n1 * n1 + n2 * n2),
                     m12 * (n0 * n0 + n2 * n2),
                     m12 * (n0 * n0 + n1 * n1),
                     P(0.0),
                     P(0.0),
                     P(0.0)};
        break;
      case SolidKind::kCylinder: {
        const P axial = 0.5 * b.mass * (n1 * n1), transverse = m12 * (3.0 * (n1 * n1) + n0 * n0);
        b.inertia = {s.axis == 0 ? axial : transverse,
                     s.axis == 1 ? axial : transverse,
                     s.axis == 2 ? axial : transverse,
                     P(0.0),
                     P(0.0),
                     P(0.0)};
        break;
      }
      case SolidKind::kSphere: {
        const P i = 0.4 * b.mass * (n0 * n0);
        b.inertia = {i, i, i, P(0.0), P(0.0), P(0.0)};
        break;
      }
    }
  }
  return b;
}

// shapes: interior modes of a reduced model; the model's own if not given.
template <class S, class P>
Constants<S, P> bake(const Model& model, std::span<const P> theta,
                     const Eigen::MatrixXd* shapes = nullptr) {
  using Vec = typename S::template Vec<P>;
  Constants<S, P> c;
  c.theta.assign(theta.begin(), theta.end());
  c.slots.resize(model.slots.size());
  evaluate_slots<P>(model, theta, c.slots);
  if constexpr (std::is_same_v<P, double>) {
    for (size_t i = 0; i < model.signals.size(); ++i) {
      const Expression& source = model.signal_sources[i];
      c.signals.push_back(source.code().empty() ? model.signals[i]
                                                : Signal::expression(source, c.theta));
    }
  }
  c.gravity = vector_of(c, model.gravity);
  for (const Body& body : model.bodies) {
    BodyConstants<S, P> total;
    if (body.solids.size() == 1) {
      total = solid_constants(c, body.solids[0]);
    } else if (!body.solids.empty()) {
      std::vector<BodyConstants<S, P>> parts;
      Vec h{};
      for (const Solid& s : body.solids) {
        parts.push_back(solid_constants(c, s));
        total.mass += parts.back().mass;
        h += parts.back().mass * parts.back().com;
      }
      total.com = (1.0 / total.mass) * h;
      for (const BodyConstants<S, P>& part : parts)
        total.inertia += shift_inertia(part.inertia, part.mass, Vec{}, part.com - total.com);
    }
    c.bodies.push_back(total);
  }
  if constexpr (S::kPlanar) {
    const auto number = [&c](Slot s) { return c[s]; };
    c.beams = erls::bake_beams<P>(model, number);
    if (model.reduction.active())
      c.reduced = erls::bake_reduction<P>(model, erls::ReducedLayout(model), c.beams,
                                          shapes ? *shapes : model.reduction.shapes);
    c.ancf = ancf::bake_beams<P>(model, number);
  }
  for (const Frame& frame : model.frames) {
    FrameConstants<S, P> f;
    f.body = frame.node >= 0 ? model.n_bodies() + frame.node : frame.body;
    f.moved = frame.has_position();
    f.turned = frame.has_rotation();
    f.r = vector_of(c, frame.position);
    if constexpr (S::kPlanar) {
      if (frame.node >= 0) {
        const int node = model.ancf_node_of(frame.node);
        f.r.x -= node >= 0 ? c.ancf.nodes[static_cast<size_t>(node)].x
                           : c.beams.nodes[static_cast<size_t>(frame.node)].x;
      }
      f.angle = c[frame.rotation[0]];
      f.R = turn(f.angle);
    } else {
      Mat3<P> r = identity3<P>();
      r = turn_about(r, Vec3<double>{0, 0, 1}, c[frame.rotation[2]]);
      r = turn_about(r, Vec3<double>{0, 1, 0}, c[frame.rotation[1]]);
      f.R = turn_about(r, Vec3<double>{1, 0, 0}, c[frame.rotation[0]]);
    }
    c.frames.push_back(f);
  }
  return c;
}

}  // namespace panto::rigid
