// The compiled mechanism: immutable topology, layout and names, shared by threads. Every physical number is a parameter θ;
// the model holds, for each number it uses (a *slot*), the expression that gives it from θ.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "panto/base/expression.hpp"
#include "panto/base/signal.hpp"
#include "panto/base/units.hpp"
#include "panto/elements/ancf_cable.hpp"
#include "panto/elements/ancf_shear.hpp"
#include "panto/model/shape.hpp"
#include "panto/model/spec.hpp"

namespace panto {

enum class SpaceKind : std::uint8_t { kPlanar, kSpatial };

inline constexpr int kGround = -1;

// ---- bodies, frames, joints -----------------------------------------------------------------------------------------
// A frame fixed on a body. Planar: position x, y and one angle (rotation[0]). Spatial: x, y, z and roll, pitch, yaw (R = Rz Ry Rx).
struct Frame {
  std::string name;  // "crank.end"
  int body = kGround;
  std::array<Slot, 3> position{-1, -1, -1};
  std::array<Slot, 3> rotation{-1, -1, -1};
  // Of a beam: follows this carrier, not the link (Model::section_carrier); position and rotation are still those on the undeformed link.
  int node = -1;
  [[nodiscard]] bool has_position() const {
    return position[0] >= 0 || position[1] >= 0 || position[2] >= 0;
  }
  [[nodiscard]] bool has_rotation() const {
    return rotation[0] >= 0 || rotation[1] >= 0 || rotation[2] >= 0;
  }
};

enum class SolidKind : std::uint8_t { kExplicit, kBar, kPointMass, kBox, kCylinder, kSphere };

// One contribution to a body's mass; a body is the sum of its solids.
struct Solid {
  SolidKind kind = SolidKind::kExplicit;
  Slot mass = -1;     // or density below
  Slot density = -1;  // kg/m^3; mass = density * volume
  // kExplicit: centre of mass. kPointMass, kBox, kCylinder, kSphere: centre. kBar starts at the body origin and runs along x.
  std::array<Slot, 3> at{-1, -1, -1};
  // kExplicit: inertia about the centre of mass. Planar: [0] only. Spatial: xx yy zz xy xz yz.
  // kBar: length, width, height (the last two only for its volume). kBox: size x y z. kCylinder: length, radius. kSphere: radius.
  std::array<Slot, 6> numbers{-1, -1, -1, -1, -1, -1};
  int axis = 0;  // kCylinder: 0 x, 1 y, 2 z
};

struct Body {
  std::string name;
  std::vector<Solid> solids;  // empty: massless (the links inside compound joints)
  std::vector<Shape> shapes;  // empty: drawn from its solids and joints
  bool hidden = false;        // shape "none": not drawn
  Loc loc;
};

// Primitive joints. The file's cylindrical, universal, planar and free joints are chains of these with massless links between.
enum class JointType : std::uint8_t { kWeld, kRevolute, kPrismatic, kSpherical };

// Joint i carries body i; parents come before children (parent < i).
struct Joint {
  std::string name;
  JointType type = JointType::kRevolute;
  int parent = kGround;
  int parent_frame = -1, child_frame = -1;  // -1: the body's own frame
  // Unit vector in the joint frame; planar: revolute (0,0,1), prismatic (x,y,0).
  std::array<double, 3> axis{0, 0, 1};
  int q = 0, v = 0;    // first coordinate, first speed
  int nq = 0, nv = 0;  // kSpherical: 4 (w x y z) and 3 (angular velocity in child axes)
  int spec = -1;       // which joint of the file (index into Model::file_joints)
};

// A joint as the user wrote it.
struct FileJoint {
  std::string name, type;
  int first = 0, count = 1;  // its primitive joints
  Loc loc;
};

// ---- beams -----------------------------------------------------------------------------------------------------
// A planar body that bends; its body in the tree is a massless rigid link along x. Small deformation (ERLS): the nodes move with the link and by
// elastic displacements in ground axes, which are coordinates after those of the joints (ERLS-1). Large deformation (ANCF): the link is fixed to the ground where the
// undeformed beam lies, positions and gradients of the nodes are coordinates, counted from the undeformed beam in its axes (ANCF-1).
enum class BeamKind : std::uint8_t { kErls, kAncfShear, kAncfCable };
enum class SectionKind : std::uint8_t { kCircle, kTube, kRectangle, kGiven };
enum class NodeHold : std::uint8_t {
  kFree,    // a coordinate, its own or shared with another beam
  kPinned,  // zero: the ground or a rigid body holds it
  kPlaced,  // zero: places the rigid link
};
struct BeamNode {
  std::string name;  // "rod.n2"
  int beam = -1;
  Slot x = -1;     // along the link from its origin
  int frame = -1;  // place of the node on the rigid link
  std::array<int, 3> dof{
      -1, -1,
      -1};  // speed indices of the displacements along x and y and of the rotation; -1: held
  std::array<NodeHold, 3> hold{};
  // Of a reduced model: numbers of the displacements that follow from masters and interior modes; one number where beams share one. -1: none.
  std::array<int, 3> slave{-1, -1, -1};
  Slot mass = -1, inertia = -1;  // lumped
};
struct AncfNode {
  std::string name;  // "arm.n2"
  int beam = -1;
  Slot x = -1;     // along the undeformed beam
  int frame = -1;  // place of the node on it
  // Speed indices of r, ∂r/∂x and ∂r/∂y (only beams with shear), in the axes of the undeformed beam; -1: held as they are there.
  std::array<int, 2> place{-1, -1}, axis{-1, -1}, section{-1, -1};
  Slot mass = -1, inertia = -1;  // lumped
};
struct Beam {
  std::string name;
  BeamKind kind = BeamKind::kErls;
  int body = -1;
  int first_node = 0,
      nodes = 0;  // in Model::nodes or ancf_nodes; an element between each and the next
  SectionKind section = SectionKind::kCircle;
  // kCircle: diameter. kTube: outer, inner diameter. kRectangle: width, height in the plane. kGiven: area, second moment.
  std::array<Slot, 2> numbers{-1, -1};
  Slot length = -1, youngs_modulus = -1;
  Slot mass = -1, density = -1;                 // one of them
  Slot alpha = -1, beta = -1;                   // Rayleigh damping
  bool first_terms = false;                     // inertia without products with the displacements
  bool stiffening = false;                      // bending shortens
  bool rotary = false;                          // rotary inertia of the section
  Slot poissons_ratio = -1, shear_factor = -1;  // kAncfShear; factor absent: 5/6
  AncfLaw law = AncfLaw::kSplit;
  CableCurvature curvature = CableCurvature::kPerUnstretchedLength;
  Loc loc;
  [[nodiscard]] bool ancf() const { return kind != BeamKind::kErls; }
};
struct BeamSpan {  // an element: from its node to the next
  int beam = -1, node = -1;
};
struct ElasticCoordinate {
  bool angular = false;  // also a gradient
};

// The displacements of ERLS beams follow from some of them, the masters, and from amplitudes of interior modes, the last coordinates (RER-1).
struct Reduction {
  std::vector<int> modes;           // kept interior modes, counted from 1 by frequency
  int first_mode = -1;              // speed of the first amplitude; -1: the model is not reduced
  std::vector<double> reference;    // per beam: angle of its link where the modes were computed
  std::vector<double> frequencies;  // of all interior modes there [Hz]
  // Rows 3 node + axis, columns kept modes, of modal mass 1 kg, in the axes of the beam's link (RER-3); zero in the rows of coordinates and of what is
  // held.
  Eigen::MatrixXd shapes;
  [[nodiscard]] bool active() const { return first_mode >= 0; }
};

// ---- channels: a scalar quantity, written once, used as constraint, spring, actuator, sensor, output ----------------------
enum class ChannelKind : std::uint8_t {
  kCoordinate,  // speed index `dof`: a 1-dof joint's coordinate (or a spherical joint's angular velocity: rate only)
  kPoint,  // position of frame a's origin along axis of frame b, from b's origin (b = -1: ground)
  kGap,    // origin of a minus origin of b along a world axis
  kDistance,  // between the origins of frames a and b
  kAngle,  // planar: orientation of a minus that of b. Spatial: angle of a's x axis about b's z axis, from b's x axis
  kDirection,    // of a's origin as seen from b's: angle about b's z axis, from b's x axis
  kAxisDot,      // spatial: axis `axis` of a times axis `axis_b` of b
  kSum,          // sum of coefficient * coordinate (terms)
  kPointRate,    // rate only: velocity of a's origin along axis of b (force on a alone)
  kAngularRate,  // rate only: angular velocity of a along axis of b (torque on a alone); planar: the angular velocity
  kCurvature,    // of a beam at a point
  kStrain,       // axial strain of a beam at a point, at a height above its axis
};

struct Channel {
  ChannelKind kind = ChannelKind::kCoordinate;
  int dof = -1;      // kCoordinate: speed index
  int frame_a = -1;  // index of Frame; -1: ground's own frame
  int frame_b = -1;
  int axis = 0;  // 0 x, 1 y, 2 z
  int axis_b = 0;
  int first_term = 0, terms = 0;  // kSum: range in Model::terms
  int element = -1;               // kCurvature, kStrain: index into Model::elements
  Slot x = -1, height = -1;  // kCurvature, kStrain: point along the beam, kStrain: above its axis
  bool angular = false;      // value is an angle (for units and wrapping)
  bool within_turn = false;  // known up to whole turns: kDirection, kAngle of an ANCF section
};
struct Term {
  int dof = -1;
  Slot coefficient = -1;
};
[[nodiscard]] constexpr bool rate_only(ChannelKind k) {
  return k == ChannelKind::kPointRate || k == ChannelKind::kAngularRate;
}

// ---- constraints ------------------------------------------------------------------------------------------------------
// Rows are ordered by level: all kPosition rows first, then kVelocity, then kAcceleration.
enum class Level : std::uint8_t { kPosition, kVelocity, kAcceleration };
enum class TargetKind : std::uint8_t {  // drives: DRV-1
  kConstant,                            // x = value of a slot (slot -1: zero)
  kSignal,                              // x = signal(t): driver
  kDrive0,  // velocity-controlled, order 0: x' = u                                             (kVelocity)
  kDrive1,  // order 1: tau x'' + x' = u                                                        (kAcceleration)
  kDrive2,  // order 2 on the velocity: x''' is not a state of ours, so as in Drücker (2.54): x'' + 2 zeta w x' + w^2 x = w^2 u
};
struct ConstraintRow {
  Level level = Level::kPosition;
  Channel channel;
  TargetKind target = TargetKind::kConstant;
  Slot constant = -1;
  int signal = -1;  // kSignal: index into Model::signals
  int input = -1;   // kDrive*: input u
  Slot tau = -1, zeta = -1, omega = -1;
  int group = 0;  // index into Model::groups
};
// What the user wrote: a loop closure, a driver or a velocity-controlled actuator; owns consecutive rows per level.
struct ConstraintGroup {
  std::string name, type;
  std::vector<int> rows;
  Loc loc;
};

// ---- forces and actuators ------------------------------------------------------------------------------------------------
enum class LawKind : std::uint8_t {
  kSpringDamper,  // f = -(k (x - x0) + c x' + preload)
  kTable,         // f = -(table(x - x0) + c x' + preload)
  kApplied,       // f = signal(t)
  kFriction,      // f = -(level tanh(x'/speed) + c x')
};
struct ForceElement {
  std::string name, type;
  Channel channel;
  LawKind law = LawKind::kSpringDamper;
  Slot stiffness = -1, damping = -1, free = -1, preload = -1, level = -1, speed = -1;
  int signal = -1;  // kApplied
  int table = -1;   // kTable: index into Model::tables
  Loc loc;
};
struct Actuator {  // force or torque u on a channel; velocity-controlled ones are constraint rows
  std::string name;
  Channel channel;
  int input = -1;
  int group = -1;  // velocity-controlled: its ConstraintGroup; -1 for force/torque
  Loc loc;
};
struct Input {
  std::string name;
  int signal = -1;  // default course, index into Model::signals
  Dim dim;
};

// ---- outputs and sensors ---------------------------------------------------------------------------------------------------
// clang-format off
enum class OutputKind : std::uint8_t { kChannel, kForceElement, kMultiplier, kInput, kKinetic, kPotential };
// clang-format on
enum class Order : std::uint8_t { kValue, kRate, kAcceleration };
struct Output {
  std::string name;
  OutputKind kind = OutputKind::kChannel;
  Channel channel;
  Order order = Order::kValue;
  // Accelerometer: channel kPointRate with frame_b = frame_a, order kAcceleration; the value is the absolute acceleration
  // minus gravity along that axis.
  bool minus_gravity = false;
  int index = -1;  // force element, constraint row (multiplier, the force on the channel) or input
  Slot offset = -1;  // added to the value
  Dim dim;
  bool angle = false;  // unit shown as rad, rad/s ...
  Loc loc;
};
struct Sensor {
  int output = -1;   // index into Model::outputs
  std::string type;  // encoder, angle, gyroscope, accelerometer, position, distance, force
  // Hz, standard deviation, offset, step; absent: every step, none.
  Slot rate = -1, noise = -1, bias = -1, quantum = -1;
};

// ---- initial state ------------------------------------------------------------------------------------------------------
struct Condition {  // channel value (or rate) wanted at t = 0
  Channel channel;
  Order order = Order::kValue;
  Slot value = -1;
  bool guess = false;  // a guess may be given up to close the loops
  std::string name;    // as written: "theta", "coupler.end x"
  Loc loc;
};
struct InitialOrientation {  // of a kSpherical joint at t = 0
  int joint = -1;
  std::array<Slot, 4> quaternion{-1, -1, -1, -1};  // w x y z, of any length but zero
  bool guess = false;
  std::string name;
  Loc loc;
};

// ---- the model ---------------------------------------------------------------------------------------------------------------
struct ParameterInfo {
  std::string name;  // "L1", or "crank.mass" for a number written in place
  double value = 0;  // nominal
  Dim dim;
  bool has_dim = false;
  Loc loc;
  std::string pointer;  // where the description holds it: "/body/0/bar/mass"
};

// An override that is not θ: an expression, or the size of a repeat. Kept so that copy_back can write it.
struct AppliedOverride {
  std::string name, value;
  std::string pointer;  // empty: in one copy of a repeated item, which a file cannot express
};

struct Limits {  // coordinate range, for pose sampling and checks
  Slot lower = -1, upper = -1;
};

struct RunDefaults {  // [simulation] of the file
  double until = 10, dt = 0, tol = 0;
  std::string integrator;
};

struct Model {
  std::string name, title;
  SpaceKind space = SpaceKind::kPlanar;
  int nq = 0, nv = 0;

  std::vector<ParameterInfo> parameters;  // θ
  std::vector<Expression> slots;          // slot value = expression of θ
  std::array<Slot, 3> gravity{-1, -1, -1};
  // The ground turns at a constant rate; the axis passes through its origin, at the angle `setting` from z towards y. Absent: it stands.
  Slot rotation_rate = -1, rotation_setting = -1;

  std::vector<Body> bodies;  // body i hangs on joint i
  std::vector<Joint> joints;
  std::vector<FileJoint> file_joints;
  std::vector<Frame> frames;
  std::vector<Beam> beams;
  std::vector<BeamNode> nodes;
  std::vector<BeamSpan> elements;
  std::vector<AncfNode> ancf_nodes;
  std::vector<BeamSpan> ancf_elements;
  std::vector<ElasticCoordinate> elastic;  // the last coordinates and speeds
  Reduction reduction;
  std::vector<std::string> coordinate_names, speed_names;  // nq, nv
  std::vector<Limits> limits;                              // per speed index

  std::vector<Term> terms;
  std::vector<Signal> signals;  // at the nominal θ
  // As many: variable 0 is t, 1 + k is θ_k; empty where θ plays no part.
  std::vector<Expression> signal_sources;
  std::vector<Signal> tables;  // force laws, argument is the deflection
  std::vector<ConstraintRow> rows;
  std::vector<ConstraintGroup> groups;
  int n_position_rows = 0, n_velocity_rows = 0, n_acceleration_rows = 0;

  std::vector<ForceElement> forces;
  std::vector<Actuator> actuators;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Sensor> sensors;
  std::vector<Condition> initial;
  std::vector<InitialOrientation> orientations;
  std::vector<int> preferred;  // speed indices the user wants independent
  RunDefaults run;
  std::vector<AppliedOverride> overrides;

  [[nodiscard]] int nu() const { return static_cast<int>(inputs.size()); }
  [[nodiscard]] int n_rows() const { return static_cast<int>(rows.size()); }
  [[nodiscard]] int n_bodies() const { return static_cast<int>(bodies.size()); }
  // What moves like a body besides those of the tree: the sections of all nodes, each with a twin along the axis for ANCF nodes.
  [[nodiscard]] int n_carriers() const {
    return static_cast<int>(nodes.size() + 2 * ancf_nodes.size());
  }
  [[nodiscard]] int section_carrier(int ancf_node) const {
    return static_cast<int>(nodes.size()) + 2 * ancf_node;
  }
  [[nodiscard]] int axis_carrier(int ancf_node) const { return section_carrier(ancf_node) + 1; }
  // ANCF node of a carrier, -1 for those of ERLS nodes.
  [[nodiscard]] int ancf_node_of(int carrier) const {
    const int k = carrier - static_cast<int>(nodes.size());
    return k < 0 ? -1 : k / 2;
  }
  // Of the joints alone, without elastic displacements.
  [[nodiscard]] int joint_nq() const { return nq - static_cast<int>(elastic.size()); }
  [[nodiscard]] int joint_nv() const { return nv - static_cast<int>(elastic.size()); }
};

// Coordinates whose rate is their speed: those of joints with one, and elastic displacements. In the order of speeds.
struct ScalarCoordinate {
  int q = 0, v = 0;
  bool angular = false;
};
std::vector<ScalarCoordinate> scalar_coordinates(const Model& model);
// Whether the speed is one of length per time.
bool is_slide(const Model& model, int dof);

// θ: flat, named by Model::parameters.
struct Params {
  Eigen::VectorXd values;
};
Params nominal(const Model& model);
// Index of a parameter by name, -1 if there is none.
int find_parameter(const Model& model, std::string_view name);
int find_output(const Model& model, std::string_view name);
// Index of a speed by the name of its coordinate ("theta") or of the speed itself ("theta_dot", "ball.wx"); -1 if none.
int find_dof(const Model& model, std::string_view name);

// All slots from θ. Works for double, dual numbers and complex.
template <class P>
void evaluate_slots(const Model& model, std::span<const P> theta, std::span<P> slots) {
  for (size_t i = 0; i < model.slots.size(); ++i)
    slots[i] = model.slots[i].template evaluate<P>(theta);
}

}  // namespace panto
