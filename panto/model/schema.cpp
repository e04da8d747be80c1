#include "panto/model/schema.hpp"

namespace panto {
namespace {

using T = KeyType;
constexpr auto kPlanarOnly = InSpace::kPlanar;
constexpr auto kSpatialOnly = InSpace::kSpatial;

constexpr SchemaKey key(const char* name, KeyType type, const char* doc,
                        const char* fallback = "") {
  SchemaKey k;
  k.name = name;
  k.type = type;
  k.doc = doc;
  k.fallback = fallback;
  return k;
}
constexpr SchemaKey number(const char* name, const char* unit, const char* doc,
                           const char* fallback = "") {
  SchemaKey k = key(name, T::kNumber, doc, fallback);
  k.unit = unit;
  return k;
}
constexpr SchemaKey vector(const char* name, const char* unit, const char* doc,
                           std::array<int, 2> planar = {}, std::array<int, 2> spatial = {},
                           const char* fallback = "") {
  SchemaKey k = key(name, T::kVector, doc, fallback);
  k.unit = unit;
  k.planar = planar;
  k.spatial = spatial;
  return k;
}
constexpr SchemaKey choice(const char* name, const char* choices, const char* doc,
                           const char* fallback = "") {
  SchemaKey k = key(name, T::kChoice, doc, fallback);
  k.choices = choices;
  return k;
}
constexpr SchemaKey table(const char* name, const char* kind, const char* doc,
                          KeyType type = T::kTable) {
  SchemaKey k = key(name, type, doc);
  k.table = kind;
  return k;
}
constexpr SchemaKey list(const char* kind, const char* doc) {
  return table(kind, kind, doc, T::kTables);
}
constexpr SchemaKey required(SchemaKey k) {
  k.required = true;
  return k;
}
constexpr SchemaKey only(InSpace where, SchemaKey k) {
  k.where = where;
  return k;
}

constexpr SchemaKey kName = required(key("name", T::kName, "name of the item"));
constexpr SchemaKey kType = required(choice("type", "", "kind of the item"));
constexpr SchemaKey kAt = vector("at", "m", "position in the axes of the body", {2}, {3}, "0");
constexpr SchemaKey kAngle =
    only(kPlanarOnly, number("angle", "rad", "orientation in the body", "0"));
constexpr SchemaKey kRpy =
    only(kSpatialOnly,
         vector("rpy", "rad",
                "orientation in the body: roll, pitch, yaw, R = Rz(yaw) Ry(pitch) Rx(roll)", {},
                {3}, "0"));
constexpr SchemaKey kBodyName = required(key("body", T::kBody, "name of the body, or \"ground\""));
constexpr SchemaKey kMass = number("mass", "kg", "mass");
constexpr SchemaKey kDensity = number("density", "kg/m^3", "density, in place of the mass");
constexpr SchemaKey kRadius = required(number("radius", "m", "radius"));
constexpr SchemaKey kBetween = required(key("between", T::kPlaces, "the two places"));
constexpr SchemaKey kBetweenOption = key("between", T::kPlaces, "the two places, in place of `on`");
constexpr SchemaKey kOnOption = key("on", T::kCoordinate, "coordinate it acts on");
constexpr SchemaKey kOn = required(kOnOption);
constexpr SchemaKey kIn = key("in", T::kPlace, "place whose axes are used", "\"ground\"");
constexpr SchemaKey kTerms = required(key("terms", T::kTerms, "coordinate = coefficient"));

// ---- the file ---------------------------------------------------------------------------------

constexpr SchemaKey kModelKeys[] = {
    key("name", T::kText, "name of the model; default: the file's folder or stem"),
    key("title", T::kText, "one line for people"),
    required(choice("space", "planar|spatial", "motion in a plane or in space")),
    vector("gravity", "m/s^2", "acceleration of gravity; default: none", {2}, {3}),
    only(kPlanarOnly,
         table("rotating", "rotating", "the ground turns at a constant rate; for ANCF beams")),
    key("independent", T::kCoordinates, "coordinates preferred as independent ones"),
    table("parameters", "parameters", "named numbers, quantities and expressions"),
    list("body", "rigid bodies and flexible beams"),
    list("frame", "named places on bodies"),
    list("joint", "joints of the tree"),
    list("loop", "loop closures"),
    list("driver", "prescribed motions"),
    list("superelement", "linear structures given by their modes"),
    list("force", "force elements"),
    list("actuator", "actuators"),
    list("sensor", "sensors"),
    list("output", "outputs; default: all coordinates and speeds"),
    list("servo", "outputs that shall follow a path, and the actuators that make them"),
    table("initial", "initial", "initial state"),
    table("simulation", "simulation", "defaults of `panto simulate`"),
    only(kPlanarOnly,
         table("reduction", "reduction", "fewer coordinates for the displacements of beams")),
};
constexpr SchemaKey kReductionKeys[] = {
    required(key("masters", T::kCoordinates,
                 "displacements of beams that stay coordinates, \"arm.n2.ux\" say")),
    vector("modes", "", "interior modes kept, counted from 1 by frequency; default: none"),
    key("lowest", T::kWhole, "in place of `modes`: as many of the lowest", "0"),
    table("reference", "reference",
          "where the interior modes are computed; default: the initial pose"),
};
constexpr SchemaKey kRotatingKeys[] = {
    required(number("rate", "rad/s", "about an axis through the origin of the ground")),
    number("setting", "rad",
           "angle of the plane with the plane of rotation, about x: 0 bends in it, 90 deg across",
           "0"),
};
constexpr SchemaKey kServoKeys[] = {
    key("output", T::kNames, "output of a motion or expression of positions, or several"),
    key("condition", T::kNames,
        "in place of outputs, or besides: expression of t, outputs and parameters that shall be "
        "zero"),
    required(key("by", T::kNames, "actuators, as many as outputs and conditions in all tables")),
};
constexpr SchemaKey kSimulationKeys[] = {
    number("until", "s", "end time", "10"),
    number("dt", "s", "fixed step"),
    number("tol", "", "relative tolerance of the variable step"),
    key("integrator", T::kText, "name of the integrator"),
};

// ---- bodies and places ------------------------------------------------------------------------

constexpr SchemaKey kPlaceKeys[] = {kBodyName, kAt, kAngle, kRpy};
constexpr SchemaKey kFrameKeys[] = {kName, kBodyName, kAt, kAngle, kRpy};
constexpr SchemaKey kBodyKeys[] = {
    kName,
    kMass,
    vector("com", "m", "centre of mass", {2}, {3}, "0"),
    vector("inertia", "kg m^2",
           "inertia about the centre of mass: planar one number; spatial [Ixx, Iyy, Izz] or "
           "[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]",
           {1}, {3, 6}),
    table("bar", "bar", "uniform slender bar from the origin along x"),
    only(kPlanarOnly, table("beam", "beam", "beam from the origin along x, which bends")),
    only(kPlanarOnly, table("ancf", "ancf", "beam from the origin along x, which bends much")),
    table("point_mass", "point_mass", "point mass, or a list of such", T::kTableOrList),
    table("box", "box", "uniform box"),
    table("cylinder", "cylinder", "uniform cylinder; planar: a disk"),
    table("sphere", "sphere", "uniform sphere"),
    table("shape", "shape", "what a viewer draws", T::kTableOrList),
};
constexpr SchemaKey kBarKeys[] = {
    required(number("length", "m", "length along x")),
    kMass,
    kDensity,
    number("width", "m", "size along y, with `density`"),
    number("height", "m", "size along z, with `density`"),
};
constexpr SchemaKey kBeamKeys[] = {
    required(number("length", "m", "length along x")),
    number("circle", "m", "diameter of a solid circular section"),
    vector("tube", "m", "outer and inner diameter of a tube", {2}),
    vector("rectangle", "m", "width across the plane and height in it", {2}),
    number("area", "m^2", "area of the section, with `second_moment`"),
    number("second_moment", "m^4", "second moment of the section, ∫y² dA"),
    required(number("E", "Pa", "Young's modulus")),
    kMass,
    kDensity,
    key("elements", T::kWhole, "number of elements of equal length", "4"),
    vector("nodes", "m", "positions of the inner nodes, in place of `elements`"),
    table("lumped", "lumped", "masses at nodes", T::kTables),
    table("damping", "rayleigh", "damping C = alpha M + beta K"),
    key("zeroed", T::kCoordinates,
        "displacements held at zero to place the rigid link, \"n1.turn\" say; default: the "
        "rotation at its joint, if that is actuated or independent"),
    choice("terms", "complete|first", "inertia with or without products with displacements",
           "\"complete\""),
    choice("strain", "linear|stiffening", "without or with the stiffening by axial forces",
           "\"linear\""),
    key("rotary", T::kFlag, "rotary inertia of the section", "false"),
};
constexpr SchemaKey kAncfKeys[] = {
    required(number("length", "m", "length along x")),
    choice("element", "cable|shear",
           "axial and bending stiffness alone, or sections that shear and stretch too",
           "\"cable\""),
    number("circle", "m", "diameter of a solid circular section"),
    vector("tube", "m", "outer and inner diameter of a tube", {2}),
    vector("rectangle", "m", "width across the plane and height in it", {2}),
    number("area", "m^2", "area of the section, with `second_moment`"),
    number("second_moment", "m^4", "second moment of the section, ∫y² dA"),
    required(number("E", "Pa", "Young's modulus")),
    kMass,
    kDensity,
    key("elements", T::kWhole, "number of elements of equal length", "4"),
    vector("nodes", "m", "positions of the inner nodes, in place of `elements`"),
    table("lumped", "lumped", "masses at nodes", T::kTables),
    vector("at", "m", "start of the undeformed beam in the ground, if no joint holds it there",
           {2}),
    number("angle", "rad",
           "direction of the undeformed beam, from x of the place on the ground that its joint "
           "holds, or of the ground",
           "0"),
    number("rate", "rad/s", "at first it turns about its joint, straight, at this rate", "0"),
    number("poisson", "", "Poisson's ratio, with shear", "0"),
    number("shear_factor", "", "of the section, with shear and law \"split\"", "5/6"),
    choice("law", "split|plane_stress|plane_strain",
           "stress and strain, with shear: without locking, or the plain elements", "\"split\""),
    choice("curvature", "unstretched|stretched", "bending of a cable per length of which kind",
           "\"unstretched\""),
    vector("perpendicular", "", "numbers of nodes whose section stays perpendicular to the axis"),
};
constexpr SchemaKey kLumpedKeys[] = {
    required(key("node", T::kWhole, "number of the node, from 1 at the origin")),
    kMass,
    number("inertia", "kg m^2", "inertia that turns with the section", "0"),
};
constexpr SchemaKey kRayleighKeys[] = {
    number("alpha", "1/s", "per mass", "0"),
    number("beta", "s", "per stiffness", "0"),
};
constexpr SchemaKey kPointMassKeys[] = {required(kMass), kAt};
constexpr SchemaKey kBoxKeys[] = {
    required(vector("size", "m", "full lengths of the sides", {2}, {3})),
    kMass,
    only(kSpatialOnly, kDensity),
    kAt,
};
constexpr SchemaKey kCylinderKeys[] = {
    only(kSpatialOnly, required(number("length", "m", "length along the axis"))),
    kRadius,
    only(kSpatialOnly, choice("axis", "x|y|z", "axis of the body it runs along", "\"x\"")),
    kMass,
    only(kSpatialOnly, kDensity),
    kAt,
};
constexpr SchemaKey kSphereKeys[] = {kRadius, kMass, kDensity, kAt};
constexpr SchemaKey kShapeKeys[] = {
    required(choice("type", "bar|box|cylinder|sphere|polygon|none", "what to draw")),
    number("length", "m", "length"),
    number("width", "m", "width"),
    number("height", "m", "height"),
    number("radius", "m", "radius"),
    vector("size", "m", "sides of a box", {2}, {3}),
    vector("x", "m", "polygon: abscissae of the corners"),
    vector("y", "m", "polygon: ordinates of the corners"),
    choice("axis", "x|y|z", "axis of a cylinder", "\"x\""),
    kAt,
    kAngle,
    kRpy,
    key("color", T::kText, "colour, \"#rrggbb\""),
};

// ---- joints -----------------------------------------------------------------------------------

constexpr SchemaKey kJointKeys[] = {
    kName,
    kType,
    required(key("parent", T::kPlace, "place it hangs on")),
    required(key("child", T::kPlace, "place on the carried body")),
};
constexpr SchemaKey kRevoluteKeys[] = {
    only(kSpatialOnly, key("axis", T::kDirection, "axis in the joint frame", "\"z\"")),
    vector("range", "rad", "lower and upper limit", {2}, {2}),
};
constexpr SchemaKey kPrismaticKeys[] = {
    key("axis", T::kDirection, "direction in the joint frame", "\"x\""),
    vector("range", "m", "lower and upper limit", {2}, {2}),
};
constexpr SchemaKey kCylindricalKeys[] = {
    key("axis", T::kDirection, "axis in the joint frame", "\"z\""),
};
constexpr SchemaVariant kJointTypes[] = {
    {"revolute", "turns about the axis: coordinate `name`", kRevoluteKeys},
    {"prismatic", "slides along the axis: coordinate `name`", kPrismaticKeys},
    {"cylindrical", "turns about and slides along the axis: `name.angle`, `name.slide`",
     kCylindricalKeys, kSpatialOnly},
    {"universal", "turns about x, then y: `name.angle1`, `name.angle2`", {}, kSpatialOnly},
    {"spherical", "turns freely: quaternion `name.qw` … `name.qz`", {}, kSpatialOnly},
    {"planar",
     "slides along x and y, turns about z: `name.x`, `name.y`, `name.angle`",
     {},
     kSpatialOnly},
    {"weld", "does not move", {}},
    {"free",
     "does not guide: planar `name.x`, `name.y`, `name.angle`; spatial x, y, z and quaternion",
     {}},
};

// ---- loop closures ------------------------------------------------------------------------------

constexpr SchemaKey kLoopKeys[] = {kName, kType};
constexpr SchemaKey kBetweenKeys[] = {kBetween};
constexpr SchemaKey kSliderKeys[] = {kBetween, key("turn", T::kFlag, "it may turn", "false")};
constexpr SchemaKey kDistanceKeys[] = {
    kBetween,
    required(number("length", "m", "distance of the two origins")),
};
constexpr SchemaKey kCouplingKeys[] = {kTerms, number("offset", "", "value of the sum", "0")};
constexpr SchemaKey kGearKeys[] = {
    required(key("joints", T::kCoordinates, "two coordinates [a, b]: b = ratio a + offset")),
    required(number("ratio", "", "b per a")),
    number("offset", "", "b at a = 0", "0"),
};
constexpr SchemaKey kRackKeys[] = {
    required(key("pinion", T::kCoordinate, "an angle")),
    required(key("slider", T::kCoordinate, "a slide")),
    required(number("radius", "m", "slider = radius pinion + offset")),
    number("offset", "m", "slide at angle zero", "0"),
};
constexpr SchemaVariant kLoopTypes[] = {
    {"pin", "the origins coincide: 2 rows", kBetweenKeys, kPlanarOnly},
    {"spherical", "the origins coincide: 3 rows", kBetweenKeys, kSpatialOnly},
    {"slider", "the first origin stays on the x axis of the second place, without turning",
     kSliderKeys},
    {"distance", "the origins keep their distance: 1 row", kDistanceKeys},
    {"weld", "the frames coincide: 3 or 6 rows", kBetweenKeys},
    {"revolute", "origins and z axes coincide: 5 rows", kBetweenKeys, kSpatialOnly},
    {"universal", "origins coincide, x of the first stays normal to y of the second: 4 rows",
     kBetweenKeys, kSpatialOnly},
    {"coupling", "sum of coefficient times coordinate = offset: 1 row", kCouplingKeys},
    {"gear", "b = ratio a + offset: 1 row", kGearKeys},
    {"rack", "slider = radius pinion + offset: 1 row", kRackKeys},
};

// ---- forces, actuators, drivers -----------------------------------------------------------------

constexpr SchemaKey kLaw =
    table("table", "law", "force against deflection, in place of the stiffness");
constexpr SchemaKey kForceKeys[] = {kName, kType};
constexpr SchemaKey kSpringKeys[] = {
    kBetween,
    number("stiffness", "N/m", "stiffness", "0"),
    number("damping", "N s/m", "viscous damping", "0"),
    number("free_length", "m", "length without force", "0"),
    number("initial_tension", "N", "tension at the free length", "0"),
    kLaw,
};
constexpr SchemaKey kTorsionSpringKeys[] = {
    kOnOption,
    only(kPlanarOnly, kBetweenOption),
    number("stiffness", "N m/rad", "stiffness", "0"),
    number("damping", "N m s/rad", "viscous damping", "0"),
    number("free_angle", "rad", "angle without torque", "0"),
    number("preload", "N m", "torque against the angle at the free angle", "0"),
    kLaw,
};
constexpr SchemaKey kJointSpringKeys[] = {
    kOn,
    number("stiffness", "N/m or N m/rad", "stiffness", "0"),
    number("damping", "N s/m or N m s/rad", "viscous damping", "0"),
    number("free", "m or rad", "coordinate without force", "0"),
    number("preload", "N or N m", "force against the coordinate at `free`", "0"),
    kLaw,
};
constexpr SchemaKey kAppliedKeys[] = {
    required(key("on", T::kTarget, "place, or coordinate with one value")),
    required(key("value", T::kSignals, "one signal per component")),
    kIn,
};
constexpr SchemaKey kFrictionKeys[] = {
    kOn,
    required(number("level", "N or N m", "Coulomb level")),
    number("speed", "m/s or rad/s", "speed at which tanh smooths the step", "1e-3"),
    number("damping", "N s/m or N m s/rad", "viscous damping", "0"),
};
constexpr SchemaVariant kForceTypes[] = {
    {"spring", "spring and damper between two places", kSpringKeys},
    {"torsion_spring", "torsional spring and damper", kTorsionSpringKeys},
    {"joint_spring", "spring and damper on a coordinate", kJointSpringKeys},
    {"force", "applied force", kAppliedKeys},
    {"torque", "applied torque", kAppliedKeys},
    {"friction", "-level tanh(x'/speed) - damping x'", kFrictionKeys},
};
constexpr SchemaKey kLawKeys[] = {
    vector("x", "m or rad", "deflections, increasing"),
    vector("f", "N or N m", "forces that resist them"),
    key("csv", T::kText, "file with the columns x and f, in place of both"),
    key("column", T::kText, "column of the file that holds f; default: the second"),
    key("smooth", T::kFlag, "cubic spline (true) or straight lines (false)", "true"),
};
constexpr SchemaKey kSignalKeys[] = {
    vector("polynomial", "", "coefficients c0, c1, … of the powers of t"),
    table("table", "samples", "samples"),
    key("csv", T::kText, "file with samples, first column time"),
    key("column", T::kText, "column of the file; default: the second"),
    key("linear", T::kFlag, "file: straight lines (true) or a cubic spline (false)", "false"),
};
constexpr SchemaKey kSamplesKeys[] = {
    required(vector("t", "s", "times, increasing")),
    required(vector("y", "", "values")),
    key("linear", T::kFlag, "straight lines (true) or a cubic spline (false)", "false"),
};
constexpr SchemaKey kActuatorKeys[] = {
    kName,
    kType,
    kOnOption,
    kBetweenOption,
    key("of", T::kPlace, "acts on a place along `axis`, in place of `on`"),
    choice("axis", "x|y|z", "axis, with `of`"),
    kIn,
    key("input", T::kSignal, "course of the input", "0"),
};
constexpr SchemaKey kVelocityKeys[] = {
    key("order", T::kWhole, "order of its dynamics: 0, 1 or 2", "0"),
    number("tau", "s", "time constant, order 1"),
    number("zeta", "", "damping ratio, order 2"),
    number("omega", "rad/s", "natural frequency, order 2"),
};
constexpr SchemaVariant kActuatorTypes[] = {
    {"force", "the input is a force", {}},
    {"torque", "the input is a torque", {}},
    {"velocity", "velocity-controlled drive that does not feel its load", kVelocityKeys},
};
constexpr SchemaKey kDriverKeys[] = {
    kName,
    kOnOption,
    key("between", T::kPlaces, "drives the distance of two places"),
    key("of", T::kPlace, "drives the position of a place along `axis`"),
    choice("axis", "x|y|z", "axis, with `of`"),
    kIn,
    required(key("motion", T::kSignal, "course of the driven value")),
};

constexpr SchemaKey kSuperelementKeys[] = {
    kName,
    required(key("modes", T::kText,
                 "file with a row per mode: omega2, damping, displacements of the nodes; `panto "
                 "reduce -o` writes it")),
    number("damping", "", "damping ratio of all modes, beside that of the file", "0"),
    only(kPlanarOnly, number("angle", "rad", "orientation of the structure's axes", "0")),
    required(table("connect", "connection", "nodes that carry something", T::kTables)),
};
constexpr SchemaKey kConnectionKeys[] = {
    required(key("node", T::kText, "node of the file: \"rod.n5\" of \"rod.n5.uy\"")),
    key("name", T::kText, "it is the place \"<superelement>.<name>\"; default: the node's name"),
    vector("at", "m", "position in the ground", {2}, {3}, "0"),
};

// ---- channels, outputs, sensors -------------------------------------------------------------------

constexpr SchemaKey kOfPlace = required(key("of", T::kPlace, "the place"));
constexpr SchemaKey kAxis = required(choice("axis", "x|y|z", "axis"));
constexpr SchemaKey kAxisZ = choice("axis", "x|y|z", "axis; planar: z", "\"z\"");

constexpr SchemaKey kCoordinateChannel[] = {
    required(key("of", T::kCoordinate, "name of a coordinate or speed")),
};
constexpr SchemaKey kPointChannel[] = {kOfPlace, kAxis, kIn};
constexpr SchemaKey kOwnPointChannel[] = {kOfPlace, kAxis};
constexpr SchemaKey kDistanceChannel[] = {kBetween};
constexpr SchemaKey kAngleChannel[] = {
    kOfPlace,
    key("from", T::kPlace, "place it is measured from", "\"ground\""),
};
constexpr SchemaKey kAngularChannel[] = {kOfPlace, kAxisZ, kIn};
constexpr SchemaKey kOwnAngularChannel[] = {kOfPlace, kAxisZ};
constexpr SchemaKey kSumChannel[] = {kTerms, number("offset", "", "added to the sum", "0")};
constexpr SchemaKey kSumRateChannel[] = {kTerms};
constexpr SchemaKey kDisplacementChannel[] = {
    required(key("of", T::kPlace, "a place at a node of a beam")),
    required(choice("axis", "x|y|z", "axis of the link; z: rotation of the section")),
};
constexpr SchemaKey kBeamPoint = required(key("of", T::kBody, "a beam"));
constexpr SchemaKey kBeamX = required(number("x", "m", "point along the beam"));
constexpr SchemaKey kCurvatureChannel[] = {kBeamPoint, kBeamX};
constexpr SchemaKey kStrainChannel[] = {
    kBeamPoint,
    kBeamX,
    number("height", "m", "above the axis of the beam", "0"),
};
constexpr SchemaKey kForceOfKeys[] = {
    required(key("of", T::kForce, "a force, actuator, driver or loop")),
    key("component", T::kWhole, "which row or component, from 0"),
};
constexpr SchemaKey kInputOfKeys[] = {required(key("of", T::kActuator, "an actuator"))};
constexpr SchemaKey kOutputKeys[] = {kName, kType};
constexpr SchemaVariant kOutputTypes[] = {
    {"coordinate", "a joint coordinate", kCoordinateChannel},
    {"speed", "its speed", kCoordinateChannel},
    {"coordinate_acceleration", "its acceleration", kCoordinateChannel},
    {"position", "of a place along an axis of `in`, from its origin", kPointChannel},
    {"velocity", "rate of `position`", kPointChannel},
    {"acceleration", "second derivative of `position`", kPointChannel},
    {"distance", "of two places", kDistanceChannel},
    {"distance_rate", "rate of `distance`", kDistanceChannel},
    {"angle", "orientation of `of` from `from`", kAngleChannel},
    {"angle_rate", "rate of `angle`", kAngleChannel},
    {"direction", "angle at which `from` sees the origin of `of`", kAngleChannel},
    {"direction_rate", "rate of `direction`", kAngleChannel},
    {"angular_velocity", "absolute, along an axis of `in`", kAngularChannel},
    {"angular_acceleration", "rate of `angular_velocity`", kAngularChannel},
    {"combination", "sum of coefficient times coordinate", kSumChannel},
    {"combination_rate", "rate of `combination`", kSumRateChannel},
    {"displacement", "of a node of a beam from its place on the rigid link", kDisplacementChannel,
     kPlanarOnly},
    {"curvature", "of a beam at a point", kCurvatureChannel, kPlanarOnly},
    {"strain", "axial strain of a beam at a point", kStrainChannel, kPlanarOnly},
    {"force_of", "force of an element, or multiplier of a constraint", kForceOfKeys},
    {"input_of", "input of an actuator", kInputOfKeys},
    {"kinetic_energy", "of the whole mechanism", {}},
    {"potential_energy", "of the whole mechanism", {}},
};
constexpr SchemaKey kSensorKeys[] = {
    kName,
    kType,
    number("rate", "Hz", "samples per second; default: every step"),
    number("noise", "", "standard deviation of white noise, in the unit of the reading", "0"),
    number("bias", "", "constant error, in the unit of the reading", "0"),
    number("quantisation", "", "step of the reading; default: none", "0"),
};
constexpr SchemaVariant kSensorTypes[] = {
    {"encoder", "a joint coordinate", kCoordinateChannel},
    {"angle", "absolute or relative orientation", kAngleChannel},
    {"direction", "angle at which `from` sees the origin of `of`", kAngleChannel},
    {"gyroscope", "angular velocity in the place's own axes", kOwnAngularChannel},
    {"accelerometer", "acceleration minus gravity along the place's own axis", kOwnPointChannel},
    {"position", "of a place along an axis of `in`", kPointChannel},
    {"distance", "of two places", kDistanceChannel},
    {"force", "force of an element, or multiplier of a constraint", kForceOfKeys},
    {"strain_gauge", "axial strain of a beam at a point", kStrainChannel, kPlanarOnly},
};

// ---- initial state ----------------------------------------------------------------------------------

constexpr SchemaKey free_vector(const char* name, const char* unit, const char* doc) {
  SchemaKey k = required(vector(name, unit, doc, {2}, {3}));
  k.type = T::kFreeVector;
  return k;
}
constexpr SchemaKey kPoints = table("points", "point", "positions of places", T::kTables);
constexpr SchemaKey kInitialKeys[] = {
    kPoints,
    table("velocities", "point_velocity", "velocities of places", T::kTables),
    table("guess", "guess", "values that may be given up to close the loops"),
};
constexpr SchemaKey kGuessKeys[] = {kPoints};
constexpr SchemaKey kPointKeys[] = {
    kOfPlace,
    free_vector("at", "m", "position in ground axes; an entry may be \"free\""),
};
constexpr SchemaKey kPointVelocityKeys[] = {
    kOfPlace,
    free_vector("at", "m/s", "velocity in ground axes; an entry may be \"free\""),
};
constexpr SchemaKey kOrientationKeys[] = {
    vector("rpy", "rad", "roll, pitch, yaw", {3}, {3}),
    vector("quaternion", "", "w, x, y, z", {4}, {4}),
};

constexpr SchemaTable item(const char* name, const char* doc, std::span<const SchemaKey> keys,
                           std::span<const SchemaVariant> variants = {}) {
  return {name, doc, keys, variants, true, ""};
}
constexpr SchemaTable part(const char* name, const char* doc, std::span<const SchemaKey> keys,
                           const char* open = "") {
  return {name, doc, keys, {}, false, open};
}

constexpr SchemaTable kTables[] = {
    part("model", "one mechanism", kModelKeys),
    part("rotating", "turning ground", kRotatingKeys),
    part("parameters", "named numbers", {}, "number, quantity or expression of other parameters"),
    item("body", "rigid body or flexible beam", kBodyKeys),
    part("bar", "uniform slender bar", kBarKeys),
    part("beam", "flexible beam on a moving link", kBeamKeys),
    part("ancf", "beam of large deformation, absolute nodal coordinates", kAncfKeys),
    part("lumped", "mass at a node of a beam", kLumpedKeys),
    part("rayleigh", "Rayleigh damping", kRayleighKeys),
    part("point_mass", "point mass", kPointMassKeys),
    part("box", "uniform box, centred at `at`", kBoxKeys),
    part("cylinder", "uniform cylinder, centred at `at`", kCylinderKeys),
    part("sphere", "uniform sphere, centred at `at`", kSphereKeys),
    part("shape", "drawing", kShapeKeys),
    part("place", "place on a body", kPlaceKeys),
    item("frame", "named place on a body: \"<body>.<name>\"", kFrameKeys),
    item("joint", "joint of the tree", kJointKeys, kJointTypes),
    item("loop", "loop closure", kLoopKeys, kLoopTypes),
    item("driver", "prescribed motion", kDriverKeys),
    item("superelement", "linear structure given by its modes", kSuperelementKeys),
    part("connection", "node of a superelement that carries something", kConnectionKeys),
    item("force", "force element", kForceKeys, kForceTypes),
    part("law", "nonlinear force law", kLawKeys),
    part("signal", "function of time", kSignalKeys),
    part("samples", "sampled function of time", kSamplesKeys),
    item("actuator", "actuator", kActuatorKeys, kActuatorTypes),
    item("sensor", "sensor", kSensorKeys, kSensorTypes),
    item("output", "output", kOutputKeys, kOutputTypes),
    part("servo", "outputs that shall follow a path", kServoKeys),
    part("initial", "initial state", kInitialKeys,
         "value of the coordinate or speed of that name, or the orientation of a joint"),
    part("guess", "guessed initial state", kGuessKeys,
         "value of the coordinate of that name, or the orientation of a joint"),
    part("point", "wanted position", kPointKeys),
    part("point_velocity", "wanted velocity", kPointVelocityKeys),
    part("orientation", "coordinates of one joint", kOrientationKeys,
         "value of the coordinate `joint.key`"),
    part("simulation", "run defaults", kSimulationKeys),
    part("reduction", "fewer coordinates for the displacements of beams", kReductionKeys),
    part("reference", "reference pose of a reduction", {},
         "angle of the link of the beam of that name"),
};

}  // namespace

std::span<const SchemaTable> schema_tables() { return kTables; }

const SchemaTable* find_schema_table(std::string_view name) {
  for (const SchemaTable& t : kTables) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

const SchemaVariant* find_schema_variant(const SchemaTable& of, std::string_view type) {
  for (const SchemaVariant& v : of.variants) {
    if (v.type == type) return &v;
  }
  return nullptr;
}

}  // namespace panto
