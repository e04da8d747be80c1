// The physical numbers of a model at one θ, in the form the equations use them: masses and inertias of whole bodies,
// fixed poses of frames, all other slots as they are. Made once per θ (bake), for double or for dual numbers in θ.
#pragma once

#include <span>
#include <vector>

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
  int body = kGround;
  bool moved = false, turned = false;
  typename S::template Vec<P> r{};  // body axes
  typename S::template Rot<P> R{};  // body axes
  P angle{0.0};                     // planar
};

template <class S, class P>
struct Constants {
  std::vector<P> theta, slots;
  std::vector<BodyConstants<S, P>> bodies;
  std::vector<FrameConstants<S, P>> frames;
  typename S::template Vec<P> gravity{};

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

template <class S, class P>
Constants<S, P> bake(const Model& model, std::span<const P> theta) {
  using Vec = typename S::template Vec<P>;
  Constants<S, P> c;
  c.theta.assign(theta.begin(), theta.end());
  c.slots.resize(model.slots.size());
  evaluate_slots<P>(model, theta, c.slots);
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
  for (const Frame& frame : model.frames) {
    FrameConstants<S, P> f;
    f.body = frame.body;
    f.moved = frame.has_position();
    f.turned = frame.has_rotation();
    f.r = vector_of(c, frame.position);
    if constexpr (S::kPlanar) {
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
