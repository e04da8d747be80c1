#include "panto/scene/scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "panto/model/beam_constants.hpp"
#include "panto/scene/ancf_curve.hpp"

namespace panto::scene {
namespace {

using Axes = std::array<double, 9>;  // columns

double norm(const Vec3& v) { return std::hypot(v[0], v[1], v[2]); }
double distance(const Vec3& a, const Vec3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
Vec3 turned(const Axes& r, const Vec3& v) {
  Vec3 out{};
  for (size_t i = 0; i < 3; ++i) out[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
  return out;
}

class Painter {
 public:
  Painter(const Model& model, const Params& params)
      : model_(model),
        workspace_(Workspace::create(model, params)),
        ancf_(*workspace_),
        slots_(model.slots.size()) {
    const std::span<const double> theta{params.values.data(),
                                        static_cast<size_t>(params.values.size())};
    evaluate_slots<double>(model, theta, slots_);
    theta_.assign(theta.begin(), theta.end());
    beams_ = erls::bake_beams<double>(model, [this](Slot s) { return number(s); });
  }

  Scene paint() {
    scene_.planar = model_.space == SpaceKind::kPlanar;
    scene_.size = workspace_->length();
    scene_.gravity = vector(model_.gravity);
    const double g = norm(scene_.gravity);
    if (!scene_.planar)
      for (size_t i = 0; i < 3; ++i)
        scene_.up[i] = g > 0 ? 0.0 - scene_.gravity[i] / g : (i == 2 ? 1.0 : 0.0);
    const std::vector<int> bodies = bodies_of(model_);
    scene_body_.assign(model_.bodies.size(), kGround);
    for (size_t k = 0; k < bodies.size(); ++k)
      scene_body_[static_cast<size_t>(bodies[k])] = static_cast<int>(k);
    places_.resize(bodies.size());
    joints();
    loops();
    springs();
    loads();
    legs();
    actuators();
    sensors();
    points();
    for (size_t k = 0; k < bodies.size(); ++k) {
      const Body& body = model_.bodies[static_cast<size_t>(bodies[k])];
      const auto found = std::find_if(model_.beams.begin(), model_.beams.end(),
                                      [&](const Beam& b) { return b.body == bodies[k]; });
      const Beam* beam = found == model_.beams.end() ? nullptr : &*found;
      DrawnBody out;
      out.name = body.name;
      if (beam != nullptr)
        weigh(*beam, out);
      else
        weigh(body, out);
      out.shapes = drawings(body, beam, out, places_[k]);
      scene_.bodies.push_back(std::move(out));
    }
    for (const BeamNode& n : model_.nodes) scene_.nodes.push_back(n.name);
    for (std::string& name : ancf_.names()) scene_.nodes.push_back(std::move(name));
    put_on_sections();
    return std::move(scene_);
  }

 private:
  [[nodiscard]] double number(Slot s) const { return s < 0 ? 0 : slots_[static_cast<size_t>(s)]; }
  [[nodiscard]] Vec3 vector(const std::array<Slot, 3>& s) const {
    return {number(s[0]), number(s[1]), number(s[2])};
  }
  // Planar: one angle about z. Spatial: roll, pitch, yaw, R = Rz Ry Rx.
  [[nodiscard]] Axes rotation(const std::array<Slot, 3>& s) const {
    const bool planar = model_.space == SpaceKind::kPlanar;
    const double roll = planar ? 0 : number(s[0]), pitch = planar ? 0 : number(s[1]),
                 yaw = planar ? number(s[0]) : number(s[2]);
    const double cr = std::cos(roll), sr = std::sin(roll), cp = std::cos(pitch),
                 sp = std::sin(pitch), cy = std::cos(yaw), sy = std::sin(yaw);
    return {cy * cp,
            sy * cp,
            -sp,
            cy * sp * sr - sy * cr,
            sy * sp * sr + cy * cr,
            cp * sr,
            cy * sp * cr + sy * sr,
            sy * sp * cr - cy * sr,
            cp * cr};
  }
  [[nodiscard]] int body_of_scene(int body) const {
    return body < 0 ? kGround : scene_body_[static_cast<size_t>(body)];
  }
  [[nodiscard]] Place place(int frame) const {
    if (frame < 0) return {};
    const Frame& f = model_.frames[static_cast<size_t>(frame)];
    return {body_of_scene(f.body), vector(f.position)};
  }
  [[nodiscard]] Axes axes(int frame) const {
    const std::array<Slot, 3> none{-1, -1, -1};
    return rotation(frame < 0 ? none : model_.frames[static_cast<size_t>(frame)].rotation);
  }
  // Notes where something sits on a body; links are drawn through these.
  void sits(const Place& p) {
    if (p.body >= 0) places_[static_cast<size_t>(p.body)].push_back(p.at);
  }

  void joints() {
    for (const FileJoint& f : model_.file_joints) {
      const Joint& first = model_.joints[static_cast<size_t>(f.first)];
      const size_t last_body = static_cast<size_t>(f.first + f.count - 1);
      const Joint& last = model_.joints[last_body];
      DrawnJoint j;
      j.name = f.name;
      j.type = f.type;
      j.a = {body_of_scene(first.parent),
             first.parent_frame < 0 ? Vec3{} : place(first.parent_frame).at};
      j.b = {scene_body_[last_body], last.child_frame < 0 ? Vec3{} : place(last.child_frame).at};
      // Of a universal joint the axis on a; a planar joint turns about z; others: the joint's own.
      const Vec3 own = f.type == "planar" || f.type == "free" ? Vec3{0, 0, 1} : first.axis;
      j.axis = turned(axes(first.parent_frame), own);
      scene_.joints.push_back(j);
      // A free joint guides nothing, so nothing sits there.
      if (f.type == "free") continue;
      sits(j.b);
      sits(j.a);
    }
  }

  // Gears, racks and couplings connect coordinates, not places, and are not drawn.
  void loops() {
    static const std::set<std::string> kPlaced{"pin",      "spherical", "slider",  "weld",
                                               "revolute", "universal", "distance"};
    for (const ConstraintGroup& g : model_.groups) {
      if (g.rows.empty() || !kPlaced.contains(g.type)) continue;
      const Channel& c = model_.rows[static_cast<size_t>(g.rows[0])].channel;
      // The slider moves along x of the second place: there the axis is fixed.
      const bool slider = g.type == "slider";
      const int a = slider ? c.frame_b : c.frame_a, b = slider ? c.frame_a : c.frame_b;
      const Vec3 own = slider || g.type == "universal" ? Vec3{1, 0, 0} : Vec3{0, 0, 1};
      scene_.joints.push_back({g.name, g.type, place(a), place(b), turned(axes(a), own), true});
      sits(place(a));
      sits(place(b));
    }
  }

  // The joint of the file that a speed belongs to.
  [[nodiscard]] const DrawnJoint* joint_of(int dof) const {
    for (const Joint& j : model_.joints)
      if (dof >= j.v && dof < j.v + j.nv) return &scene_.joints[static_cast<size_t>(j.spec)];
    return nullptr;
  }
  // The joints whose coordinates a channel is made of; rotations of sections of beams beside them are left out.
  [[nodiscard]] std::vector<const DrawnJoint*> joints_of(const Channel& c) const {
    std::vector<const DrawnJoint*> out;
    const auto add = [&](int dof) {
      if (const DrawnJoint* j = joint_of(dof)) out.push_back(j);
    };
    if (c.kind == ChannelKind::kCoordinate) add(c.dof);
    if (c.kind == ChannelKind::kSum)
      for (int i = c.first_term; i < c.first_term + c.terms; ++i)
        add(model_.terms[static_cast<size_t>(i)].dof);
    return out;
  }
  // The two places that a channel acts between: for coordinates those of their joint, for curvature and strain the point of the beam.
  [[nodiscard]] std::pair<Place, Place> ends(const Channel& c) const {
    const auto joints = joints_of(c);
    if (!joints.empty()) return {joints[0]->a, joints[0]->b};
    if (c.element >= 0) {
      const auto beam = static_cast<size_t>(model_.elements[static_cast<size_t>(c.element)].beam);
      const Place at{body_of_scene(model_.beams[beam].body), {number(c.x), number(c.height), 0}};
      return {at, at};
    }
    return {place(c.frame_b), place(c.frame_a)};
  }

  // Where a force on the channel is shown: on a body rather than on the ground.
  [[nodiscard]] Place acts_on(const Channel& c) const {
    const auto [from, to] = ends(c);
    return to.body < 0 ? from : to;
  }

  void springs() {
    for (const ForceElement& f : model_.forces) {
      if (f.law != LawKind::kSpringDamper && f.law != LawKind::kTable) continue;
      const auto [a, b] = ends(f.channel);
      const bool torsional = f.channel.angular;
      scene_.springs.push_back(
          {f.name, torsional, f.stiffness >= 0 || f.law == LawKind::kTable, f.damping >= 0, a, b});
      if (f.channel.kind == ChannelKind::kCoordinate) continue;  // the joint sits there
      sits(a);
      sits(b);
    }
  }

  // World direction of a slide that is guided by the ground; of anything else it changes with the pose.
  [[nodiscard]] std::optional<Vec3> fixed_direction(const Channel& c) const {
    if (c.kind == ChannelKind::kPoint || c.kind == ChannelKind::kPointRate) {
      if (place(c.frame_b).body >= 0) return std::nullopt;
      Vec3 unit{};
      unit[static_cast<size_t>(c.axis)] = 1;
      return turned(axes(c.frame_b), unit);
    }
    const auto joints = joints_of(c);
    if (joints.size() != 1 || joints[0]->a.body >= 0) return std::nullopt;
    const DrawnJoint* j = joints[0];
    if (j->type != "prismatic" && j->type != "revolute") return std::nullopt;
    return j->axis;
  }

  // One arrow for the components x, y, z of an applied force, as it points when it is largest.
  void loads() {
    for (size_t i = 0; i < model_.forces.size();) {
      const ForceElement& f = model_.forces[i];
      if (f.law != LawKind::kApplied) {
        ++i;
        continue;
      }
      const bool components =
          f.channel.kind == ChannelKind::kPointRate || f.channel.kind == ChannelKind::kAngularRate;
      size_t end = i + 1;
      while (components && end < model_.forces.size() && end < i + 3 &&
             model_.forces[end].loc.line == f.loc.line &&
             model_.forces[end].loc.column == f.loc.column &&
             model_.forces[end].law == LawKind::kApplied &&
             stem(model_.forces[end].name) == stem(f.name))
        ++end;
      DrawnForce out;
      out.name = end > i + 1 ? stem(f.name) : f.name;
      out.torque = f.channel.angular;
      out.at = acts_on(f.channel);
      out.direction =
          components ? largest(i, end) : signed_by(fixed_direction(f.channel), f.signal);
      scene_.forces.push_back(std::move(out));
      i = end;
    }
  }
  static std::string stem(const std::string& name) {
    return name.substr(0, name.find_last_of('.'));
  }
  [[nodiscard]] double signal(int index, double t) const {
    if (index < 0) return 0;
    const auto i = static_cast<size_t>(index);
    const Expression& source = model_.signal_sources[i];
    if (source.code().empty()) return model_.signals[i].at(t).value;
    std::vector<double> variables{t};
    variables.insert(variables.end(), theta_.begin(), theta_.end());
    return source.evaluate<double>(variables);
  }
  static constexpr int kLooks = 200;  // times at which a course is looked at
  [[nodiscard]] double time(int i) const { return model_.run.until * i / kLooks; }

  [[nodiscard]] std::optional<Vec3> largest(size_t begin, size_t end) const {
    const Channel& c = model_.forces[begin].channel;
    if (place(c.frame_b).body >= 0) return std::nullopt;
    Vec3 best{};
    for (int k = 0; k <= kLooks; ++k) {
      Vec3 force{};
      for (size_t i = begin; i < end; ++i)
        force[static_cast<size_t>(model_.forces[i].channel.axis)] +=
            signal(model_.forces[i].signal, time(k));
      if (norm(force) > norm(best)) best = force;
    }
    const double n = norm(best);
    if (!(n > 0) || !std::isfinite(n)) return std::nullopt;
    for (double& x : best) x /= n;
    return turned(axes(c.frame_b), best);
  }
  [[nodiscard]] std::optional<Vec3> signed_by(std::optional<Vec3> direction, int course) const {
    double best = 0;
    for (int k = 0; direction && k <= kLooks; ++k)
      if (const double x = signal(course, time(k)); std::abs(x) > std::abs(best)) best = x;
    if (best < 0)
      for (double& x : *direction) x = 0.0 - x;
    return direction;
  }

  // An actuator or driver of a distance is a leg between its two places.
  void legs() {
    const auto leg = [this](const std::string& name, const Channel& c) {
      if (c.kind != ChannelKind::kDistance) return;
      const auto [b, a] = ends(c);
      scene_.joints.push_back({name, "distance", a, b, {0, 0, 1}, true});
      sits(a);
      sits(b);
    };
    for (const Actuator& a : model_.actuators) leg(a.name, a.channel);
    for (const ConstraintGroup& g : model_.groups)
      if (g.type == "driver" && !g.rows.empty())
        leg(g.name, model_.rows[static_cast<size_t>(g.rows[0])].channel);
  }

  void actuators() {
    for (const Actuator& a : model_.actuators)
      scene_.forces.push_back({a.name, a.channel.angular, acts_on(a.channel),
                               signed_by(fixed_direction(a.channel),
                                         model_.inputs[static_cast<size_t>(a.input)].signal)});
  }

  void sensors() {
    for (const Sensor& s : model_.sensors) {
      const Output& o = model_.outputs[static_cast<size_t>(s.output)];
      const auto index = static_cast<size_t>(o.index);
      Channel c = o.channel;
      if (o.kind == OutputKind::kForceElement) c = model_.forces[index].channel;
      if (o.kind == OutputKind::kMultiplier) c = model_.rows[index].channel;
      if (o.kind == OutputKind::kInput)
        for (const Actuator& a : model_.actuators)
          if (a.input == o.index) c = a.channel;
      scene_.sensors.push_back({o.name, s.type, acts_on(c)});
    }
  }

  // Frames that the file names "<body>.<frame>", or by their body alone; places written in other items have names of their own.
  void points() {
    for (const Frame& f : model_.frames) {
      const std::string body =
          f.body < 0 ? "ground" : model_.bodies[static_cast<size_t>(f.body)].name;
      if (f.node < 0 && (f.name == body || f.name.starts_with(body + ".")))
        scene_.points.push_back({f.name, {body_of_scene(f.body), vector(f.position)}});
    }
  }

  // ---- sections of beams ------------------------------------------------------------------------------------------------
  // Chords; off the curve of a cantilever by 1/170 of its deflection.
  static constexpr int kPerElement = kPointsPerElement;

  // Adds the section at ξ = x/L of an element.
  int add_section(int body, const erls::ElementConstants<double>& e, double xi) {
    const auto rows = displacement_rows(e.beam, xi);
    const auto slope = slope_row(e.beam, xi);
    Section s;
    s.body = body;
    s.x = beams_.nodes[static_cast<size_t>(e.node_a)].x + xi * e.beam.L;
    s.node = e.node_a;
    for (int k = 0; k < 6; ++k) {
      s.rows[static_cast<size_t>(k)] = rows(0, k);
      s.rows[static_cast<size_t>(6 + k)] = rows(1, k);
      s.rows[static_cast<size_t>(12 + k)] = slope[k];
    }
    scene_.sections.push_back(s);
    return static_cast<int>(scene_.sections.size()) - 1;
  }

  // Adds the sections of an ANCF beam: its points, each moved by itself.
  void add_points(const Beam& beam) {
    const auto& samples = ancf_.samples();
    for (size_t i = 0; i < samples.size(); ++i) {
      if (&model_.beams[static_cast<size_t>(samples[i].beam)] != &beam) continue;
      Section s;
      s.body = body_of_scene(beam.body);
      s.x = samples[i].x;
      const bool last = i + 1 == samples.size();  // the rows take two nodes
      s.node = static_cast<int>(model_.nodes.size() + i) - (last ? 1 : 0);
      for (size_t k = 0; k < 3; ++k) s.rows[6 * k + k + (last ? 3 : 0)] = 1;
      scene_.sections.push_back(s);
    }
  }

  // The section where a place on a beam is, that of the nearer end beyond the ends; none on other bodies.
  int section_at(const Place& p) {
    int nearest = -1;
    for (const Beam& b : model_.beams) {
      if (!b.ancf() || body_of_scene(b.body) != p.body) continue;
      for (size_t i = 0; i < scene_.sections.size(); ++i)
        if (scene_.sections[i].body == p.body &&
            (nearest < 0 ||
             std::abs(scene_.sections[i].x - p.at[0]) <
                 std::abs(scene_.sections[static_cast<size_t>(nearest)].x - p.at[0])))
          nearest = static_cast<int>(i);
    }
    if (nearest >= 0) return nearest;
    const erls::ElementConstants<double>* element = nullptr;
    for (const auto& e : beams_.elements)
      if (body_of_scene(e.body - 1) == p.body &&
          (element == nullptr || beams_.nodes[static_cast<size_t>(e.node_a)].x <= p.at[0]))
        element = &e;
    if (element == nullptr) return -1;
    const double start = beams_.nodes[static_cast<size_t>(element->node_a)].x;
    const double xi = std::clamp((p.at[0] - start) / element->beam.L, 0.0, 1.0);
    for (size_t i = 0; i < scene_.sections.size(); ++i) {
      const Section& s = scene_.sections[i];
      if (s.body == p.body && std::abs(s.x - start - xi * element->beam.L) <= 1e-9 * scene_.size)
        return static_cast<int>(i);
    }
    return add_section(p.body, *element, xi);
  }

  void put_on_sections() {
    const auto put = [this](Place& p) { p.section = section_at(p); };
    const auto put_ends = [&](auto& item) {
      put(item.a);
      put(item.b);
    };
    for (DrawnJoint& j : scene_.joints) put_ends(j);
    for (DrawnSpring& s : scene_.springs) put_ends(s);
    for (DrawnForce& f : scene_.forces) put(f.at);
    for (DrawnSensor& s : scene_.sensors) put(s.at);
    for (NamedPoint& p : scene_.points) put(p.at);
  }

  // ---- shapes ---------------------------------------------------------------------------------------------------------
  void weigh(const Body& body, DrawnBody& out) const {
    for (const Solid& s : body.solids) {
      const Vec3 at =
          s.kind == SolidKind::kBar ? Vec3{0.5 * number(s.numbers[0]), 0, 0} : vector(s.at);
      const double m = mass_of(s);
      for (size_t i = 0; i < 3; ++i) out.centre[i] += m * at[i];
      out.mass += m;
    }
    if (out.mass > 0)
      for (double& x : out.centre) x /= out.mass;
  }

  void weigh(const Beam& beam, DrawnBody& out) const {
    const auto add = [&](double m, double x) {
      out.mass += m;
      out.centre[0] += m * x;
    };
    if (beam.ancf()) {
      add(ancf_.mass(static_cast<int>(&beam - model_.beams.data())), 0.5 * number(beam.length));
      for (int n = beam.first_node; n < beam.first_node + beam.nodes; ++n)
        add(number(model_.ancf_nodes[static_cast<size_t>(n)].mass),
            number(model_.ancf_nodes[static_cast<size_t>(n)].x));
      out.centre[0] /= out.mass;
      return;
    }
    for (const auto& e : beams_.elements) {
      const auto a = static_cast<size_t>(e.node_a);
      if (e.body == beam.body + 1) add(e.mass, 0.5 * (beams_.nodes[a].x + beams_.nodes[a + 1].x));
    }
    for (int n = beam.first_node; n < beam.first_node + beam.nodes; ++n)
      add(beams_.nodes[static_cast<size_t>(n)].mass, beams_.nodes[static_cast<size_t>(n)].x);
    out.centre[0] /= out.mass;
  }

  // The curve of a beam, as thick as its section.
  [[nodiscard]] Drawing curve_of(const Beam& beam) {
    Drawing d;
    d.kind = DrawingKind::kBeam;
    d.first = static_cast<int>(scene_.sections.size());
    if (beam.ancf()) add_points(beam);
    for (const auto& e : beams_.elements)
      if (e.body == beam.body + 1)
        for (int i = e.node_a == beam.first_node ? 0 : 1; i <= kPerElement; ++i)
          add_section(body_of_scene(beam.body), e, static_cast<double>(i) / kPerElement);
    d.count = static_cast<int>(scene_.sections.size()) - d.first;
    const double first = number(beam.numbers[0]), second = number(beam.numbers[1]);
    d.numbers[0] = number(beam.length);
    if (beam.section == SectionKind::kCircle || beam.section == SectionKind::kTube)
      d.numbers[1] = d.numbers[2] = first;
    if (beam.section == SectionKind::kRectangle) {
      d.numbers[1] = second;  // in the plane
      d.numbers[2] = first;
    }
    return d;
  }

  [[nodiscard]] std::vector<Drawing> drawings(const Body& body, const Beam* beam,
                                              const DrawnBody& weighed, std::vector<Vec3> places) {
    std::vector<Drawing> out;
    if (body.hidden) return out;
    for (const Shape& s : body.shapes) out.push_back(given(s));
    if (!out.empty()) return out;
    if (beam != nullptr) return {curve_of(*beam)};
    bool extended = false;
    for (const Solid& s : body.solids) {
      if (s.kind == SolidKind::kExplicit) continue;
      out.push_back(solid(s));
      if (s.kind == SolidKind::kPointMass) {
        places.push_back(vector(s.at));
      } else {
        extended = true;
      }
    }
    if (extended) return out;
    if (weighed.mass > 0) places.push_back(weighed.centre);
    if (places.empty()) places.push_back({});
    const std::vector<Vec3> line = in_line(places);
    if (line.size() > 1) {
      Drawing link;
      link.points = line;
      out.push_back(std::move(link));
    } else if (out.empty()) {
      out.push_back(small_sphere(line.front()));
    }
    return out;
  }

  [[nodiscard]] double mass_of(const Solid& s) const {
    if (s.density < 0) return number(s.mass);
    const double a = number(s.numbers[0]), b = number(s.numbers[1]), c = number(s.numbers[2]);
    const double volume = s.kind == SolidKind::kCylinder ? std::numbers::pi * b * b * a
                          : s.kind == SolidKind::kSphere ? 4.0 / 3.0 * std::numbers::pi * a * a * a
                                                         : a * b * c;
    return number(s.density) * volume;
  }

  [[nodiscard]] Drawing small_sphere(const Vec3& at) const {
    Drawing d;
    d.kind = DrawingKind::kSphere;
    d.at = at;
    d.numbers[0] = 0.025 * scene_.size;
    return d;
  }

  [[nodiscard]] Drawing solid(const Solid& s) const {
    if (s.kind == SolidKind::kPointMass) return small_sphere(vector(s.at));
    Drawing d;
    d.kind = s.kind == SolidKind::kBar        ? DrawingKind::kBar
             : s.kind == SolidKind::kBox      ? DrawingKind::kBox
             : s.kind == SolidKind::kCylinder ? DrawingKind::kCylinder
                                              : DrawingKind::kSphere;
    if (s.kind != SolidKind::kBar) d.at = vector(s.at);
    d.numbers = {number(s.numbers[0]), number(s.numbers[1]), number(s.numbers[2])};
    d.axis = s.axis;
    return d;
  }

  [[nodiscard]] Drawing given(const Shape& s) const {
    Drawing d;
    d.kind = s.kind == ShapeKind::kBar        ? DrawingKind::kBar
             : s.kind == ShapeKind::kBox      ? DrawingKind::kBox
             : s.kind == ShapeKind::kCylinder ? DrawingKind::kCylinder
             : s.kind == ShapeKind::kSphere   ? DrawingKind::kSphere
                                              : DrawingKind::kPolygon;
    d.at = vector(s.position);
    d.axes = rotation(s.rotation);
    d.numbers = vector(s.numbers);
    d.axis = s.axis;
    d.color = s.color;
    for (size_t i = 0; i < s.x.size(); ++i) d.points.push_back({number(s.x[i]), number(s.y[i]), 0});
    return d;
  }

  // The different points among `places`, from the first one always to the nearest that is left.
  [[nodiscard]] std::vector<Vec3> in_line(std::vector<Vec3> places) const {
    std::vector<Vec3> out{places.front()};
    places.erase(places.begin());
    while (!places.empty()) {
      const auto nearest =
          std::min_element(places.begin(), places.end(), [&](const Vec3& a, const Vec3& b) {
            return distance(a, out.back()) < distance(b, out.back());
          });
      const Vec3 next = *nearest;
      places.erase(nearest);
      const bool known = std::any_of(out.begin(), out.end(), [&](const Vec3& p) {
        return distance(p, next) <= 1e-9 * scene_.size;
      });
      if (!known) out.push_back(next);
    }
    return out;
  }

  const Model& model_;
  std::unique_ptr<Workspace> workspace_;
  AncfCurve ancf_;
  std::vector<double> slots_, theta_;
  erls::BeamConstants<double> beams_;
  std::vector<int> scene_body_;            // by body of the model
  std::vector<std::vector<Vec3>> places_;  // by body of the scene
  Scene scene_;
};

}  // namespace

std::vector<int> bodies_of(const Model& model) {
  std::vector<int> bodies;
  for (const FileJoint& f : model.file_joints) bodies.push_back(f.first + f.count - 1);
  std::sort(bodies.begin(), bodies.end());
  return bodies;
}

Scene scene_of(const Model& model, const Params& params) { return Painter(model, params).paint(); }

}  // namespace panto::scene
