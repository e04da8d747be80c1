// Motion of every body of the tree from coordinates, speeds and accelerations, by recursion from the ground outward (TREE-1).
// Body state is kept in world axes at the body origin; accelerations are the classical ones (second derivative of position).
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "panto/mechanics/ancf/nodes.hpp"
#include "panto/mechanics/erls/reduced_nodes.hpp"
#include "panto/mechanics/rigid/constants.hpp"
#include "panto/numerics/sine_cosine.hpp"

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

// A joint as the recursions read it. Bodies are Kinematics indices; frames -1 where the joint does not use their place or their turn.
struct Link {
  JointType type = JointType::kRevolute;
  int parent = 0, q = 0, v = 0, nv = 0;
  int parent_place = -1, parent_turn = -1, child_place = -1, child_turn = -1;
  std::array<double, 3> axis{};
  explicit Link(const Model& m, const Joint& j)
      : type(j.type), parent(j.parent + 1), q(j.q), v(j.v), nv(j.nv), axis(j.axis) {
    const auto use = [&](int frame, int& place, int& turn) {
      if (frame < 0) return;
      const Frame& f = m.frames[static_cast<size_t>(frame)];
      if (f.has_position()) place = frame;
      if (f.has_rotation()) turn = frame;
    };
    use(j.parent_frame, parent_place, parent_turn);
    use(j.child_frame, child_place, child_turn);
  }
  // The speeds turn the child; otherwise they only shift it.
  [[nodiscard]] bool turns() const { return type != JointType::kPrismatic; }
  // They shift its origin.
  [[nodiscard]] bool shifts() const { return type == JointType::kPrismatic || child_place >= 0; }
};

template <class S, class T>
struct Kinematics {
  using Vec = typename S::template Vec<T>;
  using Ang = typename S::template Ang<T>;
  using Rot = typename S::template Rot<T>;

  const Model* model = nullptr;
  std::vector<Link> link;  // of body i + 1
  std::vector<BodyState<S, T>>
      body;  // 0 ground, i + 1 body i, then the carriers of beams (d: on the rigid link)
  std::vector<erls::NodeState<T>> node;
  erls::ReducedState<T> reduced;
  std::vector<ancf::NodeState<T>> ancf_node;
  // Carriers whose motion is evaluated: all of them for the poses of frames, over other scalars those that equations look at.
  std::vector<char> carrier_moves;
  std::vector<Column<S, T>> column;           // per speed
  std::vector<FrameState<S, T>> frame_state;  // 0 ground's own, i + 1 frame i
  std::vector<int> channel_frames;            // frames to keep up to date
  std::vector<int> node_frames;               // those that place_reduced() does
  std::vector<int> shown_frames;              // those that show() does
  std::vector<int> dof_coordinate;            // speed -> coordinate of 1-dof joints, -1 otherwise
  std::vector<T> at;                          // coordinates that the positions belong to
  bool known = false;                         // they do: false when constants have changed
  struct Turn {
    double angle = 0;
    Rot2<double> R{};
  };
  std::vector<Turn> turns;  // planar, per speed: sine and cosine of its last angle
  const T* q = nullptr;     // of the last positions() call
  const T* v = nullptr;
  const T* a = nullptr;

  explicit Kinematics(const Model& m)
      : model(&m),
        body(m.bodies.size() + static_cast<size_t>(m.n_carriers()) + 1),
        node(m.nodes.size()),
        reduced(m),
        ancf_node(m.ancf_nodes.size()),
        carrier_moves(std::is_same_v<T, double> ? std::vector<char>(2 * m.ancf_nodes.size(), 1)
                                                : ancf::carriers_in_use(m)),
        column(static_cast<size_t>(m.nv)),
        frame_state(m.frames.size() + 1),
        dof_coordinate(static_cast<size_t>(m.nv), -1),
        at(static_cast<size_t>(m.nq)),
        turns(S::kPlanar ? static_cast<size_t>(m.nv) : 0) {
    BodyState<S, T>& g = body[0];
    g.R = unit();
    g.p = g.d = g.v = g.a = Vec{};
    g.w = g.al = Ang{};
    g.angle = T(0.0);
    for (const Joint& j : m.joints) {
      link.emplace_back(m, j);
      // What does not change with the pose.
      for (int k = j.v; k < j.v + j.nv; ++k) {
        column[static_cast<size_t>(k)] = {};
        if constexpr (S::kPlanar)
          if (j.type == JointType::kRevolute) column[static_cast<size_t>(k)].w = T(1.0);
      }
    }
    for (const ScalarCoordinate& e : scalar_coordinates(m))
      dof_coordinate[static_cast<size_t>(e.v)] = e.q;
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
    if (reduced.layout.active) find_used_nodes(m);
  }

  // Nodes whose motion channels look at: of places that follow them, of curvature and strain.
  void find_used_nodes(const Model& m) {
    // By outputs alone, by torques of actuators (neither place nor turn), by their forces (place), by forces (speed), by rows (acceleration).
    enum : char { kNot, kShown, kTurned, kPlaced, kMoved, kAccelerated };
    std::vector<char> used(m.nodes.size(), kNot);
    const auto use = [&](const Channel& c, char by) {
      const auto mark = [&](int n) {
        if (n >= 0 && n < static_cast<int>(used.size()))
          used[static_cast<size_t>(n)] = std::max(used[static_cast<size_t>(n)], by);
      };
      for (const int f : {c.frame_a, c.frame_b})
        if (f >= 0) mark(m.frames[static_cast<size_t>(f)].node);
      if (c.element < 0 || !(c.kind == ChannelKind::kCurvature || c.kind == ChannelKind::kStrain))
        return;
      mark(m.elements[static_cast<size_t>(c.element)].node);
      mark(m.elements[static_cast<size_t>(c.element)].node + 1);
    };
    for (const ConstraintRow& e : m.rows) use(e.channel, kAccelerated);
    for (const ForceElement& e : m.forces) use(e.channel, kMoved);
    for (const Actuator& e : m.actuators)
      use(e.channel, e.channel.kind == ChannelKind::kAngle ? kTurned : kPlaced);
    for (const Output& e : m.outputs) use(e.channel, kShown);
    for (const Condition& e : m.initial) use(e.channel, kShown);
    for (size_t i = 0; i < used.size(); ++i) {
      const auto node_index = static_cast<int>(i);
      if (used[i] == kTurned) reduced.turned.push_back(node_index);
      if (used[i] >= kPlaced) reduced.used.push_back(node_index);
      if (used[i] >= kMoved) reduced.moved.push_back(node_index);
      if (used[i] >= kAccelerated) reduced.accelerated.push_back(node_index);
      if (used[i] != kNot) reduced.shown.push_back(node_index);
    }
    std::erase_if(channel_frames, [&](int f) {
      const int n = m.frames[static_cast<size_t>(f)].node;
      if (n < 0 || n >= static_cast<int>(used.size())) return false;
      (used[static_cast<size_t>(n)] <= kTurned ? shown_frames : node_frames).push_back(f);
      return true;
    });
  }

  // Links of reduced models at the last positions(), which itself places them only where rows look at nodes: otherwise loops are closed, and their rows
  // differentiated, by the joints alone.
  template <class P>
  void place_reduced(const Constants<S, P>& c) {
    if constexpr (S::kPlanar) {
      if (reduced.placed || !reduced.layout.active) return;
      erls::place_links(c.reduced, q, model->joint_nq() - model->joint_nv(), body, reduced);
      reduced.placed = true;
      place_used(c);
    }
  }
  // Nodes and frames that equations look at, from the displacements of their links.
  template <class P>
  void place_used(const Constants<S, P>& c) {
    if constexpr (S::kPlanar) {
      for (const int i : reduced.used)
        erls::place_node(*model, c.beams, c.reduced, reduced, i, body,
                         node[static_cast<size_t>(i)]);
      for (const int f : node_frames) carry_frame(c, f);
    }
  }

  // Brings the nodes and frames of reduced models up to date that outputs look at.
  template <class P>
  void show(const Constants<S, P>& c) {
    if constexpr (S::kPlanar) {
      place_reduced(c);
      if (reduced.shown.empty()) return;
      for (const int i : reduced.shown) {
        auto& n = node[static_cast<size_t>(i)];
        if (!reduced.shown_place) erls::place_node(*model, c.beams, c.reduced, reduced, i, body, n);
        if (!reduced.shown_rate) erls::move_node(*model, c.reduced, reduced, i, body, n);
        if (!reduced.shown_second) erls::accelerate_node(*model, c.reduced, reduced, i, body, n);
      }
      if (!reduced.shown_place)
        for (const int f : shown_frames) place_frame(c, f);
      reduced.shown_place = reduced.shown_rate = reduced.shown_second = true;
    }
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
      q = at.data();
      if (known && std::equal(at.begin(), at.end(), coordinates)) return;
      std::copy_n(coordinates, at.size(), at.begin());
      known = true;
    }
    const auto* frames = c.frames.data();
    BodyState<S, T>*bodies = body.data(), *b = bodies;
    Column<S, T>* columns = column.data();
    for (const Link& j : link) {
      const BodyState<S, T>& parent = bodies[j.parent];
      ++b;
      Rot R = parent.R;
      T angle = parent.angle;
      Vec d{};  // parent's origin to the joint
      if (j.parent_place >= 0) d = rotate(parent.R, frames[j.parent_place].r);
      if (j.parent_turn >= 0) {
        R = compose(parent.R, frames[j.parent_turn].R);
        if constexpr (S::kPlanar) angle += frames[j.parent_turn].angle;
      }
      switch (j.type) {
        case JointType::kWeld:
          break;
        case JointType::kRevolute: {
          const T& angle_q = coordinates[j.q];
          if constexpr (S::kPlanar) {
            if constexpr (std::is_same_v<T, double>) {
              // While loops are closed, the independent angles stay.
              Turn& known_turn = turns[static_cast<size_t>(j.v)];
              if (angle_q != known_turn.angle) {
                const SineCosine e = sine_cosine(angle_q);
                known_turn = {angle_q, {e.cosine, e.sine}};
              }
              R = compose(R, known_turn.R);
            } else if constexpr (requires { angle_q.a, angle_q.v; }) {  // a dual number
              const SineCosine e = sine_cosine(angle_q.a);
              R = compose(R,
                          Rot{T(e.cosine, -e.sine * angle_q.v), T(e.sine, e.cosine * angle_q.v)});
            } else {
              R = compose(R, turn(angle_q));
            }
            angle += angle_q;
          } else {
            const Vec3<double> k{j.axis[0], j.axis[1], j.axis[2]};
            columns[j.v].w = k.z == 1.0 ? R.z : k.x == 1.0 ? R.x : k.y == 1.0 ? R.y : rotate(R, k);
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
          columns[j.v].v = axis;
          d += coordinates[j.q] * axis;
          break;
        }
        case JointType::kSpherical: {
          if constexpr (!S::kPlanar) {
            const T* u = coordinates + j.q;
            R = compose(R, quaternion_rotation(u[0], u[1], u[2], u[3]));
            columns[j.v].w = R.x;
            columns[j.v + 1].w = R.y;
            columns[j.v + 2].w = R.z;
          }
          break;
        }
      }
      if (j.child_turn >= 0) {
        R = compose_reverse(R, frames[j.child_turn].R);
        if constexpr (S::kPlanar) angle -= frames[j.child_turn].angle;
      }
      if (j.child_place >= 0) {
        const Vec e = -rotate(R, frames[j.child_place].r);
        d += e;
        if (j.turns())
          for (int k = j.v; k < j.v + j.nv; ++k) columns[k].v = spin(columns[k].w, e);
      }
      b->R = R;
      b->angle = angle;
      b->d = d;
      b->p = parent.p + d;
    }
    if constexpr (S::kPlanar) {
      if (reduced.layout.active) {
        reduced.placed = reduced.shown_place = reduced.shown_rate = reduced.shown_second = false;
        if (!reduced.accelerated.empty()) place_reduced(c);
      } else if (!node.empty()) {
        erls::place_nodes(*model, c.beams, coordinates, body, node);
      }
      if (!ancf_node.empty())
        ancf::place_nodes(*model, c.ancf, coordinates, carrier_moves, body, ancf_node);
    }
    for (int f : channel_frames) place_frame(c, f);
  }

  // `links`: with those of a reduced model.
  template <class P>
  void velocities([[maybe_unused]] const Constants<S, P>& c, const T* speeds,
                  [[maybe_unused]] bool links = true) {
    v = speeds;
    BodyState<S, T>*bodies = body.data(), *b = bodies;
    const Column<S, T>* columns = column.data();
    for (const Link& j : link) {
      const BodyState<S, T>& parent = bodies[j.parent];
      ++b;
      Ang w = parent.w;
      Vec motion{};
      if (j.parent > 0) motion = parent.v + spin(parent.w, b->d);
      for (int k = j.v; k < j.v + j.nv; ++k) {
        if (j.turns()) w += speeds[k] * columns[k].w;
        if (j.shifts()) motion += speeds[k] * columns[k].v;
      }
      b->w = w;
      b->v = motion;
    }
    if constexpr (S::kPlanar) {
      if (reduced.layout.active) {
        reduced.shown_rate = reduced.shown_second = false;
        if (links) {
          place_reduced(c);
          erls::move_links(c.reduced, speeds, body, reduced);
          for (const int i : reduced.moved)
            erls::move_node(*model, c.reduced, reduced, i, body, node[static_cast<size_t>(i)]);
        }
      } else if (!node.empty()) {
        erls::move_nodes(*model, speeds, body, node);
      }
      if (!ancf_node.empty()) ancf::move_nodes(*model, speeds, carrier_moves, body, ancf_node);
    }
  }

  template <class P>
  void accelerations(const Constants<S, P>& c, const T* acc, [[maybe_unused]] bool links = true) {
    a = acc;
    BodyState<S, T>*bodies = body.data(), *b = bodies;
    const Column<S, T>* columns = column.data();
    for (const Link& j : link) {
      const BodyState<S, T>& parent = bodies[j.parent];
      ++b;
      if (j.type == JointType::kPrismatic) {
        const Column<S, T>& s = columns[j.v];
        Vec sum = acc[j.v] * s.v;
        if (j.parent > 0)
          sum += parent.a + spin(parent.al, b->d) + centripetal(parent.w, b->d) +
                 spin(parent.w, (2.0 * v[j.v]) * s.v);
        b->al = parent.al;
        b->a = sum;
        continue;
      }
      Ang al = parent.al;
      for (int k = j.v; k < j.v + j.nv; ++k) al += acc[k] * columns[k].w;
      if constexpr (!S::kPlanar)
        if (j.parent > 0 && j.nv > 0) al += spin(parent.w, b->w - parent.w);
      b->al = al;
      Vec sum{}, to_joint = b->d;
      if (j.child_place >= 0) {
        // Joint to origin, fixed in the child.
        const Vec e = -rotate(b->R, c.frames[static_cast<size_t>(j.child_place)].r);
        to_joint -= e;
        sum = spin(al, e) + centripetal(b->w, e);
      }
      if (j.parent > 0)
        sum += parent.a + spin(parent.al, to_joint) + centripetal(parent.w, to_joint);
      b->a = sum;
    }
    if constexpr (S::kPlanar) {
      if (reduced.layout.active) {
        reduced.shown_second = false;
        if (links) {
          erls::accelerate_links(c.reduced, acc, body, reduced);
          for (const int i : reduced.accelerated)
            erls::accelerate_node(*model, c.reduced, reduced, i, body,
                                  node[static_cast<size_t>(i)]);
        }
      } else if (!node.empty()) {
        erls::accelerate_nodes(*model, acc, body);
      }
      if (!ancf_node.empty())
        ancf::accelerate_nodes(*model, v, acc, carrier_moves, body, ancf_node);
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
    if constexpr (S::kPlanar)
      if (const int n = model->frames[static_cast<size_t>(index)].node;
          reduced.layout.active && n >= 0 && n < static_cast<int>(node.size())) {
        place_reduced(c);
        erls::place_node(*model, c.beams, c.reduced, reduced, n, body,
                         node[static_cast<size_t>(n)]);
      }
    carry_frame(c, index);
  }
  // The same, on a body or node that is.
  template <class P>
  void carry_frame(const Constants<S, P>& c, int index) {
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
