// Motion of every body of the tree from coordinates, speeds and accelerations, by recursion from the ground outward (TREE-1).
// Body state is kept in world axes at the body origin; accelerations are the classical ones (second derivative of position).
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "panto/mechanics/rigid/constants.hpp"

namespace panto::rigid {

template <class S, class T>
struct BodyState {
  typename S::template Rot<T> R;   // X_WB
  typename S::template Vec<T> p;   // p_WB
  typename S::template Vec<T> d;   // from the parent's origin to this origin
  T angle;                         // planar orientation, continuous
  typename S::template Ang<T> w;   // angular velocity
  typename S::template Vec<T> v;   // velocity of the origin
  typename S::template Ang<T> al;  // angular acceleration
  typename S::template Vec<T> a;   // acceleration of the origin
};

// Motion of the child origin per unit of one speed.
template <class S, class T>
struct Column {
  typename S::template Ang<T> w;
  typename S::template Vec<T> v;
};

// Pose of a frame that channels use: r from its body's origin.
template <class S, class T>
struct FrameState {
  int body = 0;  // index into Kinematics::body, 0 is the ground
  typename S::template Vec<T> r{};
  typename S::template Rot<T> R{};  // only of frames turned on their body
  bool turned = false;
};

template <class S, class T>
struct Kinematics {
  using Vec = typename S::template Vec<T>;
  using Ang = typename S::template Ang<T>;
  using Rot = typename S::template Rot<T>;

  const Model* model = nullptr;
  std::vector<BodyState<S, T>> body;          // 0 ground, i + 1 body i
  std::vector<Column<S, T>> column;           // per speed
  std::vector<FrameState<S, T>> frame_state;  // 0 ground's own, i + 1 frame i
  std::vector<int> channel_frames;            // frames to keep up to date
  std::vector<int> dof_coordinate;            // speed -> coordinate of 1-dof joints, -1 otherwise
  std::vector<T> at;                          // coordinates that the positions belong to
  bool known = false;                         // they do: false when constants have changed
  const T* q = nullptr;                       // of the last positions() call
  const T* v = nullptr;
  const T* a = nullptr;

  explicit Kinematics(const Model& m)
      : model(&m),
        body(m.bodies.size() + 1),
        column(static_cast<size_t>(m.nv)),
        frame_state(m.frames.size() + 1),
        dof_coordinate(static_cast<size_t>(m.nv), -1),
        at(static_cast<size_t>(m.nq)) {
    BodyState<S, T>& g = body[0];
    g.R = unit();
    g.p = g.d = g.v = g.a = Vec{};
    g.w = g.al = Ang{};
    g.angle = T(0.0);
    for (const Joint& j : m.joints)
      if (j.nv == 1) dof_coordinate[static_cast<size_t>(j.v)] = j.q;
    std::vector<char> used(m.frames.size(), 0);
    const auto use = [&](const Channel& c) {
      for (int f : {c.frame_a, c.frame_b})
        if (f >= 0) used[static_cast<size_t>(f)] = 1;
    };
    for (const ConstraintRow& e : m.rows) use(e.channel);
    for (const ForceElement& e : m.forces) use(e.channel);
    for (const Actuator& e : m.actuators) use(e.channel);
    for (const Output& e : m.outputs) use(e.channel);
    for (const Condition& e : m.initial) use(e.channel);
    for (size_t f = 0; f < used.size(); ++f)
      if (used[f]) channel_frames.push_back(static_cast<int>(f));
  }

  static Rot unit() {
    if constexpr (S::kPlanar) {
      return Rot{};
    } else {
      return identity3<T>();
    }
  }

  template <class P>
  void positions(const Constants<S, P>& c, const T* coordinates) {
    q = coordinates;
    if constexpr (std::is_same_v<T, double>) {
      if (known && std::equal(at.begin(), at.end(), coordinates)) return;
      std::copy_n(coordinates, at.size(), at.begin());
      known = true;
    }
    for (size_t i = 0; i < model->joints.size(); ++i) {
      const Joint& j = model->joints[i];
      const BodyState<S, T>& parent = body[static_cast<size_t>(j.parent + 1)];
      BodyState<S, T>& b = body[i + 1];
      Vec d{};  // parent's origin to the joint
      bool at_parent = true;
      Rot R = parent.R;
      T angle = parent.angle;
      if (j.parent_frame >= 0) {
        const auto& f = c.frames[static_cast<size_t>(j.parent_frame)];
        if (f.moved) {
          d = rotate(parent.R, f.r);
          at_parent = false;
        }
        if (f.turned) {
          R = compose(parent.R, f.R);
          if constexpr (S::kPlanar) angle += f.angle;
        }
      }
      const auto child =
          j.child_frame >= 0 ? &c.frames[static_cast<size_t>(j.child_frame)] : nullptr;
      const Vec to_joint = d;
      switch (j.type) {
        case JointType::kWeld:
          break;
        case JointType::kRevolute: {
          const T& angle_q = coordinates[j.q];
          if constexpr (S::kPlanar) {
            R = compose(R, turn(angle_q));
            angle += angle_q;
            column[static_cast<size_t>(j.v)].w = T(1.0);
          } else {
            const Vec3<double> k{j.axis[0], j.axis[1], j.axis[2]};
            column[static_cast<size_t>(j.v)].w = k.z == 1.0   ? R.z
                                                 : k.x == 1.0 ? R.x
                                                 : k.y == 1.0 ? R.y
                                                              : rotate(R, k);
            R = turn_about(R, k, angle_q);
          }
          break;
        }
        case JointType::kPrismatic: {
          Vec axis;
          if constexpr (S::kPlanar) {
            axis = rotate(R, Vec2<double>{j.axis[0], j.axis[1]});
          } else {
            axis = rotate(R, Vec3<double>{j.axis[0], j.axis[1], j.axis[2]});
          }
          column[static_cast<size_t>(j.v)].w = Ang{};
          column[static_cast<size_t>(j.v)].v = axis;
          d += coordinates[j.q] * axis;
          at_parent = false;
          break;
        }
        case JointType::kSpherical: {
          if constexpr (!S::kPlanar) {
            const T* u = coordinates + j.q;
            R = compose(R, quaternion_rotation(u[0], u[1], u[2], u[3]));
            column[static_cast<size_t>(j.v)].w = R.x;
            column[static_cast<size_t>(j.v) + 1].w = R.y;
            column[static_cast<size_t>(j.v) + 2].w = R.z;
          }
          break;
        }
      }
      if (child && child->turned) {
        R = compose_reverse(R, child->R);
        if constexpr (S::kPlanar) angle -= child->angle;
      }
      b.R = R;
      b.angle = angle;
      const bool offset = child && child->moved;
      if (offset) d -= rotate(R, child->r);
      b.d = d;
      b.p = at_parent && !offset ? parent.p : parent.p + d;
      if (j.type == JointType::kRevolute || j.type == JointType::kSpherical) {
        for (int k = 0; k < j.nv; ++k) {
          Column<S, T>& s = column[static_cast<size_t>(j.v + k)];
          s.v = offset ? spin(s.w, d - to_joint) : Vec{};
        }
      }
    }
    for (int f : channel_frames) place_frame(c, f);
  }

  void velocities(const T* speeds) {
    v = speeds;
    for (size_t i = 0; i < model->joints.size(); ++i) {
      const Joint& j = model->joints[i];
      const BodyState<S, T>& parent = body[static_cast<size_t>(j.parent + 1)];
      BodyState<S, T>& b = body[i + 1];
      b.w = parent.w;
      if (j.parent == kGround) {
        b.v = Vec{};
      } else {
        b.v = parent.v + spin(parent.w, b.d);
      }
      for (int k = j.v; k < j.v + j.nv; ++k) {
        const Column<S, T>& s = column[static_cast<size_t>(k)];
        if (j.type != JointType::kPrismatic) b.w += speeds[k] * s.w;
        if (j.type == JointType::kPrismatic || j.child_frame >= 0) b.v += speeds[k] * s.v;
      }
    }
  }

  template <class P>
  void accelerations(const Constants<S, P>& c, const T* acc) {
    a = acc;
    for (size_t i = 0; i < model->joints.size(); ++i) {
      const Joint& j = model->joints[i];
      const BodyState<S, T>& parent = body[static_cast<size_t>(j.parent + 1)];
      BodyState<S, T>& b = body[i + 1];
      const bool grounded = j.parent == kGround;
      b.al = parent.al;
      if (j.type == JointType::kPrismatic) {
        const Column<S, T>& s = column[static_cast<size_t>(j.v)];
        b.a = acc[j.v] * s.v;
        if (!grounded)
          b.a += parent.a + spin(parent.al, b.d) + centripetal(parent.w, b.d) +
                 spin(parent.w, (2.0 * v[j.v]) * s.v);
        continue;
      }
      for (int k = j.v; k < j.v + j.nv; ++k) b.al += acc[k] * column[static_cast<size_t>(k)].w;
      if constexpr (!S::kPlanar)
        if (!grounded && j.nv > 0) b.al += spin(parent.w, b.w - parent.w);
      const bool offset = j.child_frame >= 0 && c.frames[static_cast<size_t>(j.child_frame)].moved;
      if (offset) {
        const Vec e = -rotate(
            b.R,
            c.frames[static_cast<size_t>(j.child_frame)].r);  // joint to origin, fixed in the child
        const Vec to_joint = b.d - e;
        b.a = spin(b.al, e) + centripetal(b.w, e);
        if (!grounded)
          b.a += parent.a + spin(parent.al, to_joint) + centripetal(parent.w, to_joint);
      } else if (grounded) {
        b.a = Vec{};
      } else {
        b.a = parent.a + spin(parent.al, b.d) + centripetal(parent.w, b.d);
      }
    }
  }

  // State of a channel's frame (-1: ground's own), after positions().
  [[nodiscard]] const FrameState<S, T>& frame(int index) const {
    return frame_state[static_cast<size_t>(index + 1)];
  }
  [[nodiscard]] const Rot& rotation(const FrameState<S, T>& f) const {
    return f.turned ? f.R : body[static_cast<size_t>(f.body)].R;
  }

  // Brings one frame up to date; positions() does it for all frames that channels use.
  template <class P>
  void place_frame(const Constants<S, P>& c, int index) {
    const auto& f = c.frames[static_cast<size_t>(index)];
    const BodyState<S, T>& b = body[static_cast<size_t>(f.body + 1)];
    FrameState<S, T>& s = frame_state[static_cast<size_t>(index + 1)];
    s.body = f.body + 1;
    s.turned = f.turned;
    if (f.moved) s.r = rotate(b.R, f.r);
    if (f.turned) s.R = compose(b.R, f.R);
  }
};

}  // namespace panto::rigid
