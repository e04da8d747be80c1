// What a viewer draws: bodies with their shapes, what connects and loads them, and how they move. Plain values in SI units;
// viewer/DATA.md is the format they are written in (report.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto::scene {

using Vec3 = std::array<double, 3>;

// A point fixed on a body of the scene (-1: ground), in the axes of the body; z = 0 in planar models.
struct Place {
  int body = kGround;
  Vec3 at{};
  int section = -1;  // of the beam, with which the point moves; `at` is that on the undeformed link
};

// A section of a beam, at x on its rigid link. `rows` (3 × 6, row after row) times the displacements of nodes `node` and `node` + 1 (x, y and
// turn of each, in link axes) are the displacements x, y and the slope of the section: the shape functions of the element (ELM-1). A motion
// then needs the displacements of nodes only, and whoever draws knows no shape functions.
struct Section {
  int body = 0;
  double x = 0;
  int node = 0;
  std::array<double, 18> rows{};
};

enum class DrawingKind : std::uint8_t { kBar, kBox, kCylinder, kSphere, kPolygon, kLink, kBeam };

struct Drawing {
  DrawingKind kind = DrawingKind::kLink;
  Vec3 at{};
  std::array<double, 9> axes{1, 0, 0, 0, 1, 0, 0, 0, 1};  // columns x, y, z
  // kBar, kBeam: length, width, height. kBox: sides. kCylinder: length, radius. kSphere: radius. Zero: not given.
  Vec3 numbers{};
  int axis = 0;              // kCylinder: 0 x, 1 y, 2 z
  std::vector<Vec3> points;  // kPolygon, kLink
  int first = 0, count = 0;  // kBeam: the sections it is drawn through
  std::string color;         // "#rrggbb" or empty
};

struct DrawnBody {
  std::string name;
  std::vector<Drawing> shapes;
  double mass = 0;  // [kg]
  Vec3 centre{};    // of mass
};
struct DrawnJoint {  // joint or loop of the file
  std::string name, type;
  Place a, b;
  Vec3 axis{0, 0, 1};  // in the axes of body a
  bool loop = false;
};
struct DrawnSpring {
  std::string name;
  bool torsional = false;
  bool spring = true, damper = false;
  Place a, b;
};
struct DrawnForce {  // applied load or actuator
  std::string name;
  bool torque = false;
  Place at;
  std::optional<Vec3> direction;  // in the world, where it is always the same
};
struct DrawnSensor {
  std::string name, type;
  Place at;
};
struct NamedPoint {
  std::string name;
  Place at;
};

// A line in the world that does not move: where something shall go.
struct DrawnPath {
  std::string name;
  std::vector<Vec3> points;
};
inline constexpr size_t kMostPathPoints = 500;

struct Scene {
  bool planar = true;
  Vec3 gravity{}, up{0, 1, 0};
  double size = 1;  // characteristic length [m]
  std::vector<DrawnBody> bodies;
  std::vector<std::string> nodes;  // of all beams
  std::vector<Section> sections;
  std::vector<DrawnJoint> joints;
  std::vector<DrawnSpring> springs;
  std::vector<DrawnForce> forces;
  std::vector<DrawnSensor> sensors;
  std::vector<NamedPoint> points;
  std::vector<DrawnPath> paths;
};

// How the bodies of a scene move: frame after frame and body after body x y angle (planar) or x y z qw qx qy qz, then node after node the
// elastic displacements x y turn in ground axes. Angles count turns, quaternions keep their sign from frame to frame.
struct Motion {
  std::string name;
  std::vector<double> t;
  std::vector<double> poses;
};
inline constexpr size_t kMostFrames = 5000;

// Bodies of the file, as indices into Model::bodies: body k of the scene is bodies_of(model)[k]. The massless links inside compound
// joints are left out.
std::vector<int> bodies_of(const Model& model);

// Bodies without a shape of their own show their solids, or a slender link through the places where joints, loops and springs sit and
// the centre of mass; beams the curve through their sections, with which all places on them move.
Scene scene_of(const Model& model, const Params& params);

// Poses along the coordinates that a run recorded, at `most` frames at most, evenly chosen, the first and the last among them. W0642 and
// no frame where the run does not hold every coordinate of the model.
Motion motion_of(const Model& model, const Params& params, const Run& run, Diagnostics& notes,
                 size_t most = kMostFrames);
// One pose.
Motion motion_at(const Model& model, const Params& params, double t, View q);

// Indices 0 … count - 1, at most `most` of them, evenly chosen, first and last among them.
std::vector<size_t> chosen_frames(size_t count, size_t most);

}  // namespace panto::scene
