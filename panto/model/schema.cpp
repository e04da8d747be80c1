#include "panto/model/schema.hpp"

namespace panto {
namespace {

using T = KeyType;
constexpr auto kPlanarOnly = InSpace::kPlanar;
constexpr auto kSpatialOnly = InSpace::kSpatial;

constexpr SchemaKey kName{
    .name = "name", .type = T::kName, .doc = "name of the item", .required = true};
constexpr SchemaKey kAt{.name = "at",
                        .type = T::kVector,
                        .doc = "position in the axes of the body",
                        .unit = "m",
                        .fallback = "0",
                        .planar = {2},
                        .spatial = {3}};
constexpr SchemaKey kAngle{.name = "angle",
                           .doc = "orientation in the body",
                           .unit = "rad",
                           .fallback = "0",
                           .where = kPlanarOnly};
constexpr SchemaKey kRpy{
    .name = "rpy",
    .type = T::kVector,
    .doc = "orientation in the body: roll, pitch, yaw, R = Rz(yaw) Ry(pitch) Rx(roll)",
    .unit = "rad",
    .fallback = "0",
    .spatial = {3},
    .where = kSpatialOnly};
constexpr SchemaKey kMass{.name = "mass", .doc = "mass", .unit = "kg"};
constexpr SchemaKey kDensity{
    .name = "density", .doc = "density, in place of the mass", .unit = "kg/m^3"};
constexpr SchemaKey kBetween{
    .name = "between", .type = T::kPlaces, .doc = "the two places", .required = true};
constexpr SchemaKey kBetweenOption{
    .name = "between", .type = T::kPlaces, .doc = "the two places, in place of `on`"};

// ---- the file ---------------------------------------------------------------------------------

constexpr SchemaKey kModelKeys[] = {
    {.name = "name",
     .type = T::kText,
     .doc = "name of the model; default: the file's folder or stem"},
    {.name = "title", .type = T::kText, .doc = "one line for people"},
    {.name = "space",
     .type = T::kChoice,
     .doc = "motion in a plane or in space",
     .required = true,
     .choices = "planar|spatial"},
    {.name = "gravity",
     .type = T::kVector,
     .doc = "acceleration of gravity; default: none",
     .unit = "m/s^2",
     .planar = {2},
     .spatial = {3}},
    {.name = "independent",
     .type = T::kCoordinates,
     .doc = "coordinates preferred as independent ones"},
    {.name = "parameters",
     .type = T::kTable,
     .doc = "named numbers, quantities and expressions",
     .table = "parameters"},
    {.name = "body", .type = T::kTables, .doc = "rigid bodies", .table = "body"},
    {.name = "frame", .type = T::kTables, .doc = "named places on bodies", .table = "frame"},
    {.name = "joint", .type = T::kTables, .doc = "joints of the tree", .table = "joint"},
    {.name = "loop", .type = T::kTables, .doc = "loop closures", .table = "loop"},
    {.name = "driver", .type = T::kTables, .doc = "prescribed motions", .table = "driver"},
    {.name = "force", .type = T::kTables, .doc = "force elements", .table = "force"},
    {.name = "actuator", .type = T::kTables, .doc = "actuators", .table = "actuator"},
    {.name = "sensor", .type = T::kTables, .doc = "sensors", .table = "sensor"},
    {.name = "output",
     .type = T::kTables,
     .doc = "outputs; default: all coordinates and speeds",
     .table = "output"},
    {.name = "initial", .type = T::kTable, .doc = "initial state", .table = "initial"},
    {.name = "simulation",
     .type = T::kTable,
     .doc = "defaults of `panto simulate`",
     .table = "simulation"},
};

constexpr SchemaKey kSimulationKeys[] = {
    {.name = "until", .doc = "end time", .unit = "s", .fallback = "10"},
    {.name = "dt", .doc = "fixed step", .unit = "s"},
    {.name = "tol", .doc = "relative tolerance of the variable step"},
    {.name = "integrator", .type = T::kText, .doc = "name of the integrator"},
};

// ---- bodies and places ------------------------------------------------------------------------

constexpr SchemaKey kPlaceKeys[] = {
    {.name = "body", .type = T::kBody, .doc = "name of the body, or \"ground\"", .required = true},
    kAt,
    kAngle,
    kRpy,
};
constexpr SchemaKey kFrameKeys[] = {
    kName,
    {.name = "body", .type = T::kBody, .doc = "name of the body, or \"ground\"", .required = true},
    kAt,
    kAngle,
    kRpy,
};

constexpr SchemaKey kBodyKeys[] = {
    kName,
    kMass,
    {.name = "com",
     .type = T::kVector,
     .doc = "centre of mass",
     .unit = "m",
     .fallback = "0",
     .planar = {2},
     .spatial = {3}},
    {.name = "inertia",
     .type = T::kVector,
     .doc = "inertia about the centre of mass: planar one number; spatial [Ixx, Iyy, Izz] or "
            "[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]",
     .unit = "kg m^2",
     .planar = {1},
     .spatial = {3, 6}},
    {.name = "bar",
     .type = T::kTable,
     .doc = "uniform slender bar from the origin along x",
     .table = "bar"},
    {.name = "point_mass", .type = T::kTableOrList, .doc = "point mass", .table = "point_mass"},
    {.name = "box", .type = T::kTable, .doc = "uniform box", .table = "box"},
    {.name = "cylinder",
     .type = T::kTable,
     .doc = "uniform cylinder; planar: a disk",
     .table = "cylinder"},
    {.name = "sphere", .type = T::kTable, .doc = "uniform sphere", .table = "sphere"},
    {.name = "shape", .type = T::kTableOrList, .doc = "what a viewer draws", .table = "shape"},
};
constexpr SchemaKey kBarKeys[] = {
    {.name = "length", .doc = "length along x", .unit = "m", .required = true},
    kMass,
    kDensity,
    {.name = "width", .doc = "size along y, with `density`", .unit = "m"},
    {.name = "height", .doc = "size along z, with `density`", .unit = "m"},
};
constexpr SchemaKey kPointMassKeys[] = {
    {.name = "mass", .doc = "mass", .unit = "kg", .required = true},
    kAt,
};
constexpr SchemaKey kBoxKeys[] = {
    {.name = "size",
     .type = T::kVector,
     .doc = "full lengths of the sides",
     .unit = "m",
     .required = true,
     .planar = {2},
     .spatial = {3}},
    kMass,
    {.name = "density",
     .doc = "density, in place of the mass",
     .unit = "kg/m^3",
     .where = kSpatialOnly},
    kAt,
};
constexpr SchemaKey kCylinderKeys[] = {
    {.name = "length", .doc = "length along the axis", .unit = "m", .where = kSpatialOnly},
    {.name = "radius", .doc = "radius", .unit = "m", .required = true},
    {.name = "axis",
     .type = T::kChoice,
     .doc = "axis of the body it runs along",
     .fallback = "\"x\"",
     .choices = "x|y|z",
     .where = kSpatialOnly},
    kMass,
    {.name = "density",
     .doc = "density, in place of the mass",
     .unit = "kg/m^3",
     .where = kSpatialOnly},
    kAt,
};
constexpr SchemaKey kSphereKeys[] = {
    {.name = "radius", .doc = "radius", .unit = "m", .required = true},
    kMass,
    kDensity,
    kAt,
};
constexpr SchemaKey kShapeKeys[] = {
    {.name = "type",
     .type = T::kChoice,
     .doc = "what to draw",
     .required = true,
     .choices = "bar|box|cylinder|sphere|polygon|none"},
    {.name = "length", .doc = "length", .unit = "m"},
    {.name = "width", .doc = "width", .unit = "m"},
    {.name = "height", .doc = "height", .unit = "m"},
    {.name = "radius", .doc = "radius", .unit = "m"},
    {.name = "size",
     .type = T::kVector,
     .doc = "sides of a box",
     .unit = "m",
     .planar = {2},
     .spatial = {3}},
    {.name = "x", .type = T::kVector, .doc = "polygon: abscissae of the corners", .unit = "m"},
    {.name = "y", .type = T::kVector, .doc = "polygon: ordinates of the corners", .unit = "m"},
    {.name = "axis",
     .type = T::kChoice,
     .doc = "axis of a cylinder",
     .fallback = "\"x\"",
     .choices = "x|y|z"},
    kAt,
    kAngle,
    kRpy,
    {.name = "color", .type = T::kText, .doc = "colour, \"#rrggbb\""},
};

// ---- joints -----------------------------------------------------------------------------------

constexpr SchemaKey kJointKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of joint", .required = true},
    {.name = "parent", .type = T::kPlace, .doc = "place it hangs on", .required = true},
    {.name = "child", .type = T::kPlace, .doc = "place on the carried body", .required = true},
};
constexpr SchemaKey kRevoluteKeys[] = {
    {.name = "axis",
     .type = T::kDirection,
     .doc = "axis in the joint frame",
     .fallback = "\"z\"",
     .where = kSpatialOnly},
    {.name = "range",
     .type = T::kVector,
     .doc = "lower and upper limit",
     .unit = "rad",
     .planar = {2},
     .spatial = {2}},
};
constexpr SchemaKey kPrismaticKeys[] = {
    {.name = "axis",
     .type = T::kDirection,
     .doc = "direction in the joint frame",
     .fallback = "\"x\""},
    {.name = "range",
     .type = T::kVector,
     .doc = "lower and upper limit",
     .unit = "m",
     .planar = {2},
     .spatial = {2}},
};
constexpr SchemaKey kCylindricalKeys[] = {
    {.name = "axis", .type = T::kDirection, .doc = "axis in the joint frame", .fallback = "\"z\""},
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

constexpr SchemaKey kLoopKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of closure", .required = true},
};
constexpr SchemaKey kBetweenKeys[] = {kBetween};
constexpr SchemaKey kSliderKeys[] = {
    kBetween,
    {.name = "turn", .type = T::kFlag, .doc = "it may turn", .fallback = "false"},
};
constexpr SchemaKey kDistanceKeys[] = {
    kBetween,
    {.name = "length", .doc = "distance of the two origins", .unit = "m", .required = true},
};
constexpr SchemaKey kCouplingKeys[] = {
    {.name = "terms", .type = T::kTerms, .doc = "coordinate = coefficient", .required = true},
    {.name = "offset", .doc = "value of the sum", .fallback = "0"},
};
constexpr SchemaKey kGearKeys[] = {
    {.name = "joints",
     .type = T::kCoordinates,
     .doc = "two coordinates [a, b]: b = ratio a + offset",
     .required = true},
    {.name = "ratio", .doc = "b per a", .required = true},
    {.name = "offset", .doc = "b at a = 0", .fallback = "0"},
};
constexpr SchemaKey kRackKeys[] = {
    {.name = "pinion", .type = T::kCoordinate, .doc = "an angle", .required = true},
    {.name = "slider", .type = T::kCoordinate, .doc = "a slide", .required = true},
    {.name = "radius", .doc = "slider = radius pinion + offset", .unit = "m", .required = true},
    {.name = "offset", .doc = "slide at angle zero", .unit = "m", .fallback = "0"},
};
constexpr SchemaVariant kLoopTypes[] = {
    {"pin", "the origins coincide: 2 rows", kBetweenKeys, kPlanarOnly},
    {"spherical", "the origins coincide: 3 rows", kBetweenKeys, kSpatialOnly},
    {"slider", "the first origin stays on the x axis of the second place and does not turn",
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

constexpr SchemaKey kOnCoordinate{
    .name = "on", .type = T::kCoordinate, .doc = "coordinate it acts on", .required = true};
constexpr SchemaKey kOnOption{.name = "on", .type = T::kCoordinate, .doc = "coordinate it acts on"};
constexpr SchemaKey kLawTable{.name = "table",
                              .type = T::kTable,
                              .doc = "force against deflection, in place of the stiffness",
                              .table = "law"};
constexpr SchemaKey kIn{
    .name = "in", .type = T::kPlace, .doc = "place whose axes are used", .fallback = "\"ground\""};

constexpr SchemaKey kForceKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of force", .required = true},
};
constexpr SchemaKey kSpringKeys[] = {
    kBetween,
    {.name = "stiffness", .doc = "stiffness", .unit = "N/m", .fallback = "0"},
    {.name = "damping", .doc = "viscous damping", .unit = "N s/m", .fallback = "0"},
    {.name = "free_length", .doc = "length without force", .unit = "m", .fallback = "0"},
    {.name = "initial_tension", .doc = "tension at the free length", .unit = "N", .fallback = "0"},
    kLawTable,
};
constexpr SchemaKey kTorsionSpringKeys[] = {
    kOnOption,
    {.name = "between",
     .type = T::kPlaces,
     .doc = "the two places, in place of `on`",
     .where = kPlanarOnly},
    {.name = "stiffness", .doc = "stiffness", .unit = "N m/rad", .fallback = "0"},
    {.name = "damping", .doc = "viscous damping", .unit = "N m s/rad", .fallback = "0"},
    {.name = "free_angle", .doc = "angle without torque", .unit = "rad", .fallback = "0"},
    {.name = "preload", .doc = "torque at the free angle", .unit = "N m", .fallback = "0"},
    kLawTable,
};
constexpr SchemaKey kJointSpringKeys[] = {
    kOnCoordinate,
    {.name = "stiffness", .doc = "stiffness", .unit = "N/m or N m/rad", .fallback = "0"},
    {.name = "damping", .doc = "viscous damping", .unit = "N s/m or N m s/rad", .fallback = "0"},
    {.name = "free", .doc = "coordinate without force", .unit = "m or rad", .fallback = "0"},
    {.name = "preload", .doc = "force at the free coordinate", .unit = "N or N m", .fallback = "0"},
    kLawTable,
};
constexpr SchemaKey kAppliedKeys[] = {
    {.name = "on",
     .type = T::kTarget,
     .doc = "place, or coordinate with one value",
     .required = true},
    {.name = "value", .type = T::kSignals, .doc = "one signal per component", .required = true},
    kIn,
};
constexpr SchemaKey kFrictionKeys[] = {
    kOnCoordinate,
    {.name = "level", .doc = "Coulomb level", .unit = "N or N m", .required = true},
    {.name = "speed",
     .doc = "speed at which tanh smooths the step",
     .unit = "m/s or rad/s",
     .fallback = "1e-3"},
    {.name = "damping", .doc = "viscous damping", .unit = "N s/m or N m s/rad", .fallback = "0"},
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
    {.name = "x", .type = T::kVector, .doc = "deflections, increasing", .unit = "m or rad"},
    {.name = "f", .type = T::kVector, .doc = "forces that resist them", .unit = "N or N m"},
    {.name = "csv", .type = T::kText, .doc = "file with the columns x and f, in place of both"},
    {.name = "column",
     .type = T::kText,
     .doc = "column of the file that holds f; default: the second"},
    {.name = "smooth",
     .type = T::kFlag,
     .doc = "cubic spline (true) or straight lines (false)",
     .fallback = "true"},
};
constexpr SchemaKey kSignalKeys[] = {
    {.name = "polynomial", .type = T::kVector, .doc = "coefficients c0, c1, … of the powers of t"},
    {.name = "table", .type = T::kTable, .doc = "samples", .table = "samples"},
    {.name = "csv", .type = T::kText, .doc = "file with samples, first column time"},
    {.name = "column", .type = T::kText, .doc = "column of the file; default: the second"},
    {.name = "linear",
     .type = T::kFlag,
     .doc = "file: straight lines (true) or a cubic spline (false)",
     .fallback = "false"},
};
constexpr SchemaKey kSamplesKeys[] = {
    {.name = "t", .type = T::kVector, .doc = "times, increasing", .unit = "s", .required = true},
    {.name = "y", .type = T::kVector, .doc = "values", .required = true},
    {.name = "linear",
     .type = T::kFlag,
     .doc = "straight lines (true) or a cubic spline (false)",
     .fallback = "false"},
};

constexpr SchemaKey kActuatorKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of actuator", .required = true},
    kOnOption,
    kBetweenOption,
    {.name = "of", .type = T::kPlace, .doc = "acts on a place along `axis`, in place of `on`"},
    {.name = "axis", .type = T::kChoice, .doc = "axis, with `of`", .choices = "x|y|z"},
    {.name = "in",
     .type = T::kPlace,
     .doc = "place whose axes are used, with `of`",
     .fallback = "\"ground\""},
    {.name = "input", .type = T::kSignal, .doc = "course of the input", .fallback = "0"},
};
constexpr SchemaKey kVelocityKeys[] = {
    {.name = "order",
     .type = T::kWhole,
     .doc = "order of its dynamics: 0, 1 or 2",
     .fallback = "0"},
    {.name = "tau", .doc = "time constant, order 1", .unit = "s"},
    {.name = "zeta", .doc = "damping ratio, order 2"},
    {.name = "omega", .doc = "natural frequency, order 2", .unit = "rad/s"},
};
constexpr SchemaVariant kActuatorTypes[] = {
    {"force", "the input is a force", {}},
    {"torque", "the input is a torque", {}},
    {"velocity", "velocity-controlled drive that does not feel its load", kVelocityKeys},
};

constexpr SchemaKey kDriverKeys[] = {
    kName,
    kOnOption,
    {.name = "between", .type = T::kPlaces, .doc = "drives the distance of two places"},
    {.name = "of", .type = T::kPlace, .doc = "drives the position of a place along `axis`"},
    {.name = "axis", .type = T::kChoice, .doc = "axis, with `of`", .choices = "x|y|z"},
    {.name = "in",
     .type = T::kPlace,
     .doc = "place whose axes are used, with `of`",
     .fallback = "\"ground\""},
    {.name = "motion", .type = T::kSignal, .doc = "course of the driven value", .required = true},
};

// ---- channels, outputs, sensors -------------------------------------------------------------------

constexpr SchemaKey kOfPlace{.name = "of", .type = T::kPlace, .doc = "the place", .required = true};
constexpr SchemaKey kFrom{.name = "from",
                          .type = T::kPlace,
                          .doc = "place it is measured from",
                          .fallback = "\"ground\""};
constexpr SchemaKey kAxis{
    .name = "axis", .type = T::kChoice, .doc = "axis", .required = true, .choices = "x|y|z"};
constexpr SchemaKey kAxisZ{.name = "axis",
                           .type = T::kChoice,
                           .doc = "axis; planar: z",
                           .fallback = "\"z\"",
                           .choices = "x|y|z"};
constexpr SchemaKey kOfCoordinate{
    .name = "of", .type = T::kCoordinate, .doc = "name of a coordinate or speed", .required = true};

constexpr SchemaKey kCoordinateChannel[] = {kOfCoordinate};
constexpr SchemaKey kPointChannel[] = {kOfPlace, kAxis, kIn};
constexpr SchemaKey kDistanceChannel[] = {kBetween};
constexpr SchemaKey kAngleChannel[] = {kOfPlace, kFrom};
constexpr SchemaKey kAngularChannel[] = {kOfPlace, kAxisZ, kIn};
constexpr SchemaKey kSumChannel[] = {
    {.name = "terms", .type = T::kTerms, .doc = "coordinate = coefficient", .required = true},
    {.name = "offset", .doc = "added to the sum", .fallback = "0"},
};
constexpr SchemaKey kSumRateChannel[] = {
    {.name = "terms", .type = T::kTerms, .doc = "coordinate = coefficient", .required = true},
};
constexpr SchemaKey kForceOfKeys[] = {
    {.name = "of", .type = T::kForce, .doc = "a force, actuator, driver or loop", .required = true},
    {.name = "component", .type = T::kWhole, .doc = "which row or component, from 0"},
};
constexpr SchemaKey kInputOfKeys[] = {
    {.name = "of", .type = T::kActuator, .doc = "an actuator", .required = true},
};
constexpr SchemaKey kOutputKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of quantity", .required = true},
};
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
    {"angular_velocity", "absolute, along an axis of `in`", kAngularChannel},
    {"angular_acceleration", "absolute, along an axis of `in`", kAngularChannel},
    {"combination", "sum of coefficient times coordinate", kSumChannel},
    {"combination_rate", "rate of `combination`", kSumRateChannel},
    {"force_of", "force of an element, or multiplier of a constraint", kForceOfKeys},
    {"input_of", "input of an actuator", kInputOfKeys},
    {"kinetic_energy", "of the whole mechanism", {}},
    {"potential_energy", "of the whole mechanism", {}},
};

constexpr SchemaKey kSensorKeys[] = {
    kName,
    {.name = "type", .type = T::kChoice, .doc = "kind of sensor", .required = true},
    {.name = "rate", .doc = "samples per second; default: every step", .unit = "Hz"},
    {.name = "noise", .doc = "standard deviation of white noise", .fallback = "0"},
    {.name = "bias", .doc = "constant error", .fallback = "0"},
    {.name = "quantisation", .doc = "step of the reading; default: none", .fallback = "0"},
};
constexpr SchemaVariant kSensorTypes[] = {
    {"encoder", "a joint coordinate", kCoordinateChannel},
    {"angle", "absolute or relative orientation", kAngleChannel},
    {"gyroscope", "angular velocity in the place's own axes",
     std::span<const SchemaKey>(kAngularChannel).first(2)},
    {"accelerometer", "acceleration minus gravity along the place's own axis",
     std::span<const SchemaKey>(kPointChannel).first(2)},
    {"position", "of a place along an axis of `in`", kPointChannel},
    {"distance", "of two places", kDistanceChannel},
    {"force", "force of an element, or multiplier of a constraint", kForceOfKeys},
};

// ---- initial state ----------------------------------------------------------------------------------

constexpr SchemaKey kInitialKeys[] = {
    {.name = "points", .type = T::kTables, .doc = "positions of places", .table = "point"},
    {.name = "velocities",
     .type = T::kTables,
     .doc = "velocities of places",
     .table = "point_velocity"},
    {.name = "guess",
     .type = T::kTable,
     .doc = "values that may be given up to close the loops",
     .table = "guess"},
};
constexpr SchemaKey kGuessKeys[] = {
    {.name = "points", .type = T::kTables, .doc = "positions of places", .table = "point"},
};
constexpr SchemaKey kPointKeys[] = {
    kOfPlace,
    {.name = "at",
     .type = T::kFreeVector,
     .doc = "position in ground axes; an entry may be \"free\"",
     .unit = "m",
     .required = true,
     .planar = {2},
     .spatial = {3}},
};
constexpr SchemaKey kPointVelocityKeys[] = {
    kOfPlace,
    {.name = "at",
     .type = T::kFreeVector,
     .doc = "velocity in ground axes; an entry may be \"free\"",
     .unit = "m/s",
     .required = true,
     .planar = {2},
     .spatial = {3}},
};
constexpr SchemaKey kOrientationKeys[] = {
    {.name = "rpy",
     .type = T::kVector,
     .doc = "roll, pitch, yaw",
     .unit = "rad",
     .planar = {3},
     .spatial = {3}},
    {.name = "quaternion", .type = T::kVector, .doc = "w, x, y, z", .planar = {4}, .spatial = {4}},
};

constexpr SchemaTable kTables[] = {
    {.name = "model", .doc = "one mechanism", .keys = kModelKeys},
    {.name = "parameters",
     .doc = "named numbers",
     .open = "number, quantity or expression of other parameters"},
    {.name = "body", .doc = "rigid body", .keys = kBodyKeys, .item = true},
    {.name = "bar", .doc = "uniform slender bar", .keys = kBarKeys},
    {.name = "point_mass", .doc = "point mass", .keys = kPointMassKeys},
    {.name = "box", .doc = "uniform box, centred at `at`", .keys = kBoxKeys},
    {.name = "cylinder", .doc = "uniform cylinder, centred at `at`", .keys = kCylinderKeys},
    {.name = "sphere", .doc = "uniform sphere, centred at `at`", .keys = kSphereKeys},
    {.name = "shape", .doc = "drawing", .keys = kShapeKeys},
    {.name = "place", .doc = "place on a body", .keys = kPlaceKeys},
    {.name = "frame",
     .doc = "named place on a body: \"<body>.<name>\"",
     .keys = kFrameKeys,
     .item = true},
    {.name = "joint",
     .doc = "joint of the tree",
     .keys = kJointKeys,
     .variants = kJointTypes,
     .item = true},
    {.name = "loop",
     .doc = "loop closure",
     .keys = kLoopKeys,
     .variants = kLoopTypes,
     .item = true},
    {.name = "driver", .doc = "prescribed motion", .keys = kDriverKeys, .item = true},
    {.name = "force",
     .doc = "force element",
     .keys = kForceKeys,
     .variants = kForceTypes,
     .item = true},
    {.name = "law", .doc = "nonlinear force law", .keys = kLawKeys},
    {.name = "signal", .doc = "function of time", .keys = kSignalKeys},
    {.name = "samples", .doc = "sampled function of time", .keys = kSamplesKeys},
    {.name = "actuator",
     .doc = "actuator",
     .keys = kActuatorKeys,
     .variants = kActuatorTypes,
     .item = true},
    {.name = "sensor",
     .doc = "sensor",
     .keys = kSensorKeys,
     .variants = kSensorTypes,
     .item = true},
    {.name = "output",
     .doc = "output",
     .keys = kOutputKeys,
     .variants = kOutputTypes,
     .item = true},
    {.name = "initial",
     .doc = "initial state",
     .keys = kInitialKeys,
     .open = "value of the coordinate or speed of that name, or the orientation of a joint"},
    {.name = "guess",
     .doc = "guessed initial state",
     .keys = kGuessKeys,
     .open = "value of the coordinate of that name, or the orientation of a joint"},
    {.name = "point", .doc = "wanted position", .keys = kPointKeys},
    {.name = "point_velocity", .doc = "wanted velocity", .keys = kPointVelocityKeys},
    {.name = "orientation",
     .doc = "coordinates of one joint",
     .keys = kOrientationKeys,
     .open = "value of the coordinate `joint.key`"},
    {.name = "simulation", .doc = "run defaults", .keys = kSimulationKeys},
};

}  // namespace

std::span<const SchemaTable> schema_tables() { return kTables; }

const SchemaTable* find_schema_table(std::string_view name) {
  for (const SchemaTable& t : kTables) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

const SchemaVariant* find_schema_variant(const SchemaTable& table, std::string_view type) {
  for (const SchemaVariant& v : table.variants) {
    if (v.type == type) return &v;
  }
  return nullptr;
}

}  // namespace panto
