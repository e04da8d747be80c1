#include "apps/cli/starters.hpp"

namespace panto::cli {
namespace {

constexpr const char* kPendulum = R"toml(# A rod that swings about one end under gravity.
# Try:  panto simulate pendulum.toml --csv run.csv
title = "Pendulum"
space = "planar"                  # motion in the x-y plane; "spatial" for three dimensions
gravity = [0, "-9.81 m/s^2"]      # bare numbers are SI and radians; text may carry a unit

# Named numbers. Any of them can be changed from outside: --set L=1.2
parameters = { L = "0.8 m", m = "2 kg", c = "0.05 N m s/rad" }

# A bar is a slender rod from the body's origin along x. It brings the frames start, mid and end.
body = [{ name = "rod", bar = { length = "L", mass = "m" } }]

# Every body hangs on one joint. The joint's name is the name of its coordinate.
joint = [{ name = "angle", type = "revolute", parent = "ground", child = "rod" }]

# Friction of the bearing: a damper without a spring.
force = [{ name = "bearing", type = "joint_spring", on = "angle", damping = "c" }]

# Released at rest, 60 degrees below the horizontal.
initial = { angle = "-60 deg" }
simulation = { until = "10 s" }

output = [
  { name = "angle", type = "coordinate", of = "angle" },
  { name = "tip_x", type = "position", of = "rod.end", axis = "x" },
  { name = "tip_y", type = "position", of = "rod.end", axis = "y" },
]
)toml";

constexpr const char* kFourBar =
    R"toml(# A four-bar linkage: crank, coupler and rocker on a fixed base.
# Try:  panto check four-bar.toml
#       panto simulate four-bar.toml --csv run.csv
title = "Four-bar linkage"
space = "planar"                  # motion in the x-y plane
gravity = [0, "-9.81 m/s^2"]      # bare numbers are SI and radians; text may carry a unit

# Named numbers. Any of them can be changed from outside: --set base="0.5 m"
[parameters]
crank = "0.12 m"
coupler = "0.40 m"
rocker = "0.30 m"
base = "0.40 m"
rho = "2 kg/m"                    # mass per length of all bars

# A bar is a slender rod from the body's origin along x. It brings the frames start, mid and end.
[[body]]
name = "crank"
bar = { length = "crank", mass = "rho*crank" }
[[body]]
name = "coupler"
bar = { length = "coupler", mass = "rho*coupler" }
[[body]]
name = "rocker"
bar = { length = "rocker", mass = "rho*rocker" }

# Joints form a tree: every body hangs on one joint. The joint's name is the name of its coordinate.
[[joint]]
name = "theta"
type = "revolute"
parent = "ground"
child = "crank"
[[joint]]
name = "beta"                     # angle of the coupler from the crank
type = "revolute"
parent = "crank.end"
child = "coupler"
[[joint]]
name = "gamma"
type = "revolute"
parent = { body = "ground", at = ["base", 0] }
child = "rocker"

# What closes the loop is no joint of the tree but a loop: it pins two places together.
[[loop]]
name = "pin"
type = "pin"
between = ["coupler.end", "rocker.end"]

# A motor on the crank, and a damper that keeps it from running away.
[[actuator]]
name = "motor"
type = "torque"
on = "theta"
input = "1 N*m"                   # a number, an expression of t, or a table
[[force]]
name = "bearing"
type = "joint_spring"
on = "theta"
damping = "0.05 N m s/rad"

# What is known at the start; the rest is assembled from the guesses, which also choose the branch.
[initial]
theta = "60 deg"
theta_dot = 0
guess = { beta = "-30 deg", gamma = "100 deg" }

[simulation]
until = "5 s"

[[output]]
name = "theta"
type = "coordinate"
of = "theta"
[[output]]
name = "gamma"
type = "coordinate"
of = "gamma"
[[output]]
name = "pin_x"                    # where the coupler's end is
type = "position"
of = "coupler.end"
axis = "x"
[[output]]
name = "pin_y"
type = "position"
of = "coupler.end"
axis = "y"
)toml";

constexpr const char* kSliderCrank =
    R"toml(# A slider-crank: the crank turns, the piston slides along x.
# Try:  panto simulate slider-crank.toml --csv run.csv
#       panto simulate slider-crank.toml --set crank="60 mm"
title = "Slider-crank"
space = "planar"                  # no gravity is given: none acts

# Named numbers. Any of them can be changed from outside.
[parameters]
crank = "50 mm"
rod = "160 mm"
m_crank = "0.8 kg"
m_rod = "0.6 kg"
m_piston = "0.5 kg"

# A bar is a slender rod from the body's origin along x; the piston is a point mass.
[[body]]
name = "crank"
bar = { length = "crank", mass = "m_crank" }
[[body]]
name = "rod"
bar = { length = "rod", mass = "m_rod" }
[[body]]
name = "piston"
point_mass = { mass = "m_piston" }
shape = { type = "box", size = ["40 mm", "30 mm"] }   # for drawing only

# Joints form a tree: every body hangs on one joint. The joint's name is the name of its coordinate.
[[joint]]
name = "theta"
type = "revolute"
parent = "ground"
child = "crank"
[[joint]]
name = "phi"                      # angle of the rod from the crank
type = "revolute"
parent = "crank.end"
child = "rod"
[[joint]]
name = "x"
type = "prismatic"
parent = "ground"
child = "piston"
axis = "x"

# The loop is closed where the rod meets the piston.
[[loop]]
name = "wrist"
type = "pin"
between = ["rod.end", "piston"]

# A motor on the crank, a viscous load on it, and a force on the piston that comes and goes.
[[actuator]]
name = "motor"
type = "torque"
on = "theta"
input = "2 N*m"                   # a number, an expression of t, or a table
[[force]]
name = "load"
type = "joint_spring"
on = "theta"
damping = "0.02 N m s/rad"
[[force]]
name = "gas"
type = "force"
on = "x"
value = "-200*pulse(t - 0.1, 0.3)"   # [N]: from 0.1 s to 0.4 s

# What is known at the start; the rest is assembled from the guesses.
[initial]
theta = "30 deg"
theta_dot = "10 rad/s"
guess = { phi = "-40 deg", x = "0.2 m" }

[simulation]
until = "2 s"

[[output]]
name = "theta"
type = "coordinate"
of = "theta"
[[output]]
name = "x"
type = "coordinate"
of = "x"
[[output]]
name = "side_force"               # of the rod on the piston, across its way
type = "force_of"
of = "wrist"
component = 1
)toml";

constexpr const char* kArm = R"toml(# A robot arm in space with three hinges, each with a motor.
# Try:  panto check arm.toml
#       panto simulate arm.toml --csv run.csv
title = "Arm with three hinges"
space = "spatial"                 # vectors have three entries
gravity = [0, 0, "-9.81 m/s^2"]   # z points up

# Named numbers. Any of them can be changed from outside.
[parameters]
column = "0.3 m"
upper = "0.4 m"
fore = "0.35 m"
rho = "900 kg/m^3"
damping = "0.5 N m s/rad"

# A bar lies along the body's x axis and brings the frames start, mid and end; other shapes say where their middle is.
[[body]]
name = "column"
cylinder = { length = "column", radius = "60 mm", axis = "z", mass = "6 kg", at = [0, 0, "column/2"] }
[[body]]
name = "upper"
bar = { length = "upper", width = "60 mm", height = "60 mm", density = "rho" }
[[body]]
name = "fore"
bar = { length = "fore", width = "45 mm", height = "45 mm", density = "rho" }
point_mass = { mass = "0.5 kg", at = ["fore", 0, 0] }   # a tool; several shapes add up

# A named place on a body: "column.top".
[[frame]]
name = "top"
body = "column"
at = [0, 0, "column"]

# The axis is in the axes of the joint's place on the parent. About y, positive angles lower the arm.
[[joint]]
name = "yaw"
type = "revolute"
axis = "z"
parent = "ground"
child = "column"
[[joint]]
name = "shoulder"
type = "revolute"
axis = "y"
parent = "column.top"
child = "upper"
range = ["-120 deg", "60 deg"]    # outside of it `panto check` warns
[[joint]]
name = "elbow"
type = "revolute"
axis = "y"
parent = "upper.end"
child = "fore"
range = ["-10 deg", "150 deg"]

# Motors: torques that nearly hold the initial pose, and a push to and fro about the column.
[[actuator]]
name = "yaw_motor"
type = "torque"
on = "yaw"
input = "2*sin(2*pi*t)"           # [N m], t in seconds
[[actuator]]
name = "shoulder_motor"
type = "torque"
on = "shoulder"
input = "-7.6 N*m"
[[actuator]]
name = "elbow_motor"
type = "torque"
on = "elbow"
input = "-2.7 N*m"

# A damper in every hinge.
[[force]]
name = "yaw_bearing"
type = "joint_spring"
on = "yaw"
damping = "damping"
[[force]]
name = "shoulder_bearing"
type = "joint_spring"
on = "shoulder"
damping = "damping"
[[force]]
name = "elbow_bearing"
type = "joint_spring"
on = "elbow"
damping = "damping"

[initial]
yaw = 0
shoulder = "-45 deg"
elbow = "60 deg"

[simulation]
until = "2 s"

# Without outputs, all coordinates and speeds are reported.
[[output]]
name = "elbow"
type = "coordinate"
of = "elbow"
[[output]]
name = "tool_x"
type = "position"
of = "fore.end"
axis = "x"
[[output]]
name = "tool_z"
type = "position"
of = "fore.end"
axis = "z"
)toml";

constexpr Starter kStarters[] = {
    {"pendulum", "a rod on a hinge", kPendulum},
    {"four-bar", "one planar loop with a motor", kFourBar},
    {"slider-crank", "a piston driven by a crank", kSliderCrank},
    {"arm", "three hinges in space, each with a motor", kArm},
};

}  // namespace

std::span<const Starter> starters() { return kStarters; }

}  // namespace panto::cli
