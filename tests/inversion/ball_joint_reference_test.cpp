// Models with ball joints: quaternions are coordinates with a row of their own (SRV-8, SRV-9). Against joints that turn about axes, closed forms and simulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>

#include "panto/base/taylor.hpp"
#include "panto/inversion/invert.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

Model compiled(const std::string& text) {
  Result<ModelSpec> spec = parse_model_text(text, "test.toml");
  if (!spec.ok()) throw std::runtime_error(spec.diagnostics().text());
  Result<Model> model = compile(*spec);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return *model;
}

// A thin rod under a trolley that three forces move: in x, y, and up and down. It also turns about itself where the joint is a ball: inertia `spin` about its
// own axis. The load is the point that stays where it is when the other end is struck: its position is a flat output.
constexpr double kBeam = 5, kTrolley = 20, kHoist = 2, kMass = 10, kInertia = 0.4, kCentre = 1.2,
                 kGravity = 9.81, kPercussion = kCentre + kInertia / (kMass * kCentre);
Model crane(const std::string& joint, double spin) {
  return compiled(fmt::format(R"(
space = "spatial"
gravity = [0, 0, -{9}]
body = [
  {{ name = "beam", point_mass = {{ mass = {6} }} }},
  {{ name = "trolley", point_mass = {{ mass = {7} }} }},
  {{ name = "hoist", point_mass = {{ mass = {8} }} }},
  {{ name = "rod", mass = {0}, com = [0, 0, -{1}], inertia = [{2}, {2}, {3}] }},
]
frame = [{{ name = "load", body = "rod", at = [0, 0, -{4}] }}]
joint = [
  {{ name = "x", type = "prismatic", parent = "ground", child = "beam", axis = "x" }},
  {{ name = "y", type = "prismatic", parent = "beam", child = "trolley", axis = "y" }},
  {{ name = "z", type = "prismatic", parent = "trolley", child = "hoist", axis = "z" }},
  {{ name = "hook", type = "{5}", parent = "hoist", child = "rod" }},
]
actuator = [
  {{ name = "fx", type = "force", on = "x" }},
  {{ name = "fy", type = "force", on = "y" }},
  {{ name = "fz", type = "force", on = "z" }},
]
output = [
  {{ name = "px", type = "position", of = "rod.load", axis = "x" }},
  {{ name = "py", type = "position", of = "rod.load", axis = "y" }},
  {{ name = "pz", type = "position", of = "rod.load", axis = "z" }},
]
)",
                              kMass, kCentre, kInertia, spin, kPercussion, joint, kBeam, kTrolley,
                              kHoist, kGravity));
}
const ServoChoice kLoad{{"px", "py", "pz"}, {}, {"fx", "fy", "fz"}, {}};

// The rod points along g - p̈: forces from the load's path and its four derivatives.
std::array<double, 3> exact_forces(const Path& path, double t) {
  std::array<double, 15> p{};
  path.at(t, 5, p);
  using T = Taylor2<double>;
  std::array<T, 3> n;
  for (size_t c = 0; c < 3; ++c) n[c] = -T(p[6 + c], p[9 + c], p[12 + c]);
  n[2] = n[2] - T(kGravity);
  const T length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  std::array<double, 3> f{};
  constexpr std::array<double, 3> kMoved{kBeam + kTrolley + kHoist, kTrolley + kHoist, kHoist};
  for (size_t c = 0; c < 3; ++c) {
    const double turning = (n[c] / length).dd, g = c == 2 ? kGravity : 0,
                 pivot = p[6 + c] - kPercussion * turning;
    f[c] = kMoved[c] * (pivot + g) + kMass * (pivot + kCentre * turning + g);
  }
  return f;
}

std::unique_ptr<ModelServo> servo_of(const Model& m, const ServoChoice& choice) {
  auto servo = ModelServo::create(m, nominal(m), choice);
  if (!servo.ok()) throw std::runtime_error(servo.diagnostics().text());
  return std::move(*servo);
}

// Everything that a servo system gives, by central differences of its values at a motion that obeys no row: truncation and round-off of h = 1e-6.
void expect_derivatives(ServoSystem& s) {
  const int nv = s.nv(), nl = s.n_lambda(), nu = s.nu();
  std::vector<double> x(static_cast<size_t>(3 * nv + nl + nu));
  s.guess({x.data(), static_cast<size_t>(nv)});
  for (size_t i = static_cast<size_t>(nv); i < x.size(); ++i)
    x[i] = std::sin(1.7 * static_cast<double>(i));
  const auto evaluate = [&](bool with_tangent) {
    ServoValues out;
    out.resize(nv, nl, nu);
    const double* p = x.data();
    const auto n = static_cast<size_t>(nv);
    s.evaluate({0.3,
                {p, n},
                {p + n, n},
                {p + 2 * n, n},
                {p + 3 * n, static_cast<size_t>(nl)},
                {p + 3 * n + nl, static_cast<size_t>(nu)}},
               with_tangent, out);
    return out;
  };
  const ServoValues at = evaluate(true);
  constexpr double kStep = 1e-6;
  for (int k = 0; k < static_cast<int>(x.size()); ++k) {
    const double keep = x[static_cast<size_t>(k)];
    x[static_cast<size_t>(k)] = keep + kStep;
    const ServoValues up = evaluate(false);
    x[static_cast<size_t>(k)] = keep - kStep;
    const ServoValues down = evaluate(false);
    x[static_cast<size_t>(k)] = keep;
    const auto same = [&](const char* what, const Eigen::VectorXd& u, const Eigen::VectorXd& d,
                          const Eigen::VectorXd& derivative) {
      const Eigen::VectorXd difference = (u - d) / (2 * kStep);
      const double size = 1 + u.cwiseAbs().maxCoeff() + derivative.cwiseAbs().maxCoeff();
      EXPECT_LT((difference - derivative).cwiseAbs().maxCoeff(), 1e-8 * size) << what << k;
    };
    const int c = k % nv;
    if (k < nv) {
      same("r by y", up.r, down.r, at.r_y.col(c));
      same("g0 by y", up.g0, down.g0, at.G.col(c));
      same("g1 by y", up.g1, down.g1, at.g1_y.col(c));
      same("g2 by y", up.g2, down.g2, at.g2_y.col(c));
    } else if (k < 2 * nv) {
      same("r by v", up.r, down.r, at.r_v.col(c));
      same("g1 by v", up.g1, down.g1, at.G.col(c));
      same("g2 by v", up.g2, down.g2, at.g2_v.col(c));
    } else if (k < 3 * nv) {
      same("r by w", up.r, down.r, at.r_w.col(c));
      same("g2 by w", up.g2, down.g2, at.G.col(c));
    } else if (k < 3 * nv + nl) {
      same("r by lambda", up.r, down.r, at.r_lambda.col(k - 3 * nv));
    } else {
      same("r by u", up.r, down.r, at.r_u.col(k - 3 * nv - nl));
    }
  }
}

TEST(BallJoints, DerivativesFitTheValues) {
  const Model hanging = crane("spherical", 0.1);
  expect_derivatives(*servo_of(hanging, kLoad));
}

// The rod does not turn about itself when it starts at rest: whatever its inertia there, the forces are those of the closed form, and of a joint with two axes.
TEST(BallJoints, ForcesOfACraneAreTheExactOnes) {
  const Model ball = crane("spherical", 0.1), cross = crane("universal", 0);
  const Path path = *Path::line({0, 0, -2}, {1, 2, -1.5}, 0, 4, 8);
  const auto error = [&](const Model& m, const InverseOptions& options) {
    InvertOptions o;
    o.inverse = options;
    o.verify = false;
    const auto run = invert(m, nominal(m), kLoad, path, o);
    EXPECT_TRUE(run.ok()) << run.diagnostics().text();
    if (!run.ok()) return 1e300;
    EXPECT_EQ(run->not_converged, 0);
    double worst = 0;
    for (size_t k = 0; k < run->t.size(); ++k) {
      const auto exact = exact_forces(path, run->t[k]);
      for (size_t i = 0; i < 3; ++i) worst = std::max(worst, std::abs(run->u[i][k] - exact[i]));
    }
    return worst;
  };
  for (const Formulation form : {Formulation::kProjection, Formulation::kMinimalExtension}) {
    SCOPED_TRACE(static_cast<int>(form));
    InverseOptions o;
    o.formulation = form;
    o.order = 3;
    o.dt = 0.02;
    const double coarse = error(ball, o);
    EXPECT_NEAR(error(cross, o), coarse, 0.2 * coarse);
    o.dt = 0.01;
    const double fine = error(ball, o);
    EXPECT_GT(std::log2(coarse / fine), 2.6);
    EXPECT_LT(fine, 0.01);  // of 40 N
  }
  InverseOptions o;
  o.scheme = InverseScheme::kRadau5;
  EXPECT_LT(error(ball, o), 0.01);  // of order 2
}

TEST(BallJoints, ThePlantFollowsTheForces) {
  const Model m = crane("spherical", 0.1);
  const auto run = invert(m, nominal(m), kLoad, *Path::line({0, 0, -2}, {1, 2, -1.5}, 0, 4, 8), {});
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  ASSERT_EQ(run->tracking_max.size(), 3U);
  for (const double e : run->tracking_max) EXPECT_LT(e, 1e-5);
}

// Poles and zeros do not depend on coordinates; a ball adds the turning of the rod about itself, which no input moves: twice zero.
TEST(BallJoints, TheAnalysisSeesTheSameSystem) {
  const auto of = [](const Model& m) {
    const auto servo = servo_of(m, kLoad);
    const auto rest = analyse_at_rest(*servo);
    if (!rest.ok()) throw std::runtime_error(rest.diagnostics().text());
    return rest->analysis;
  };
  const ServoAnalysis cross = of(crane("universal", 0)), ball = of(crane("spherical", 0.1));
  EXPECT_EQ(cross.type, InverseClass::kFlat);
  EXPECT_EQ(cross.relative_degree, (std::vector<int>{4, 4, 2}));
  EXPECT_EQ(ball.relative_degree, cross.relative_degree);
  EXPECT_EQ(ball.index, cross.index);
  EXPECT_EQ(ball.configuration, cross.configuration);
  EXPECT_EQ(ball.type, InverseClass::kMarginal);
  EXPECT_EQ(ball.zeros.size(), 2U);
  EXPECT_EQ(ball.poles.size(), cross.poles.size() + 2);
  double fastest = 0, other = 0;
  for (const auto& s : cross.poles) fastest = std::max(fastest, std::abs(s));
  for (const auto& s : ball.poles) other = std::max(other, std::abs(s));
  EXPECT_NEAR(other, fastest, 1e-6 * fastest);
  for (const auto& s : ball.zeros) EXPECT_LT(std::abs(s), 1e-5 * fastest);
}

// Platform on six legs: moved without turning, each leg's command is u = l̇ + τ l̈ of its length between joints.
TEST(BallJoints, LegsOfTheHexapodFollowTheirLengths) {
  ModelSpec spec;
  const Model m = *load("hexapod", {}, &spec);
  const ServoChoice choice{
      {"x", "y", "z", "yaw", "wx", "wy"}, {}, {"leg0", "leg1", "leg2", "leg3", "leg4", "leg5"}, {}};
  const auto servo = servo_of(m, choice);
  const auto rest = analyse_at_rest(*servo);
  ASSERT_TRUE(rest.ok()) << rest.diagnostics().text();
  // Outputs that are angular velocities leave two angles to be integrated.
  EXPECT_EQ(rest->analysis.type, InverseClass::kMarginal);
  EXPECT_EQ(rest->analysis.zeros.size(), 2U);
  std::vector<double> to = rest->outputs;
  to[0] += 0.1, to[1] -= 0.05, to[2] += 0.15;
  const Path path = *Path::line(rest->outputs, to, 0, 2, 4);
  InvertOptions o;
  const auto run = invert(m, nominal(m), choice, path, o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  for (const double e : run->tracking_max) EXPECT_LT(e, 1e-5);
  std::array<double, 18> z{};
  double worst = 0;
  constexpr double kBase = 1.0, kTop = 0.6, kAngle = 20 * 3.14159265358979323846 / 180, kTau = 0.02;
  for (size_t k = 0; k < run->t.size(); ++k) {
    path.at(run->t[k], 3, z);
    for (int i = 0; i < 6; ++i) {
      const double sign = i % 2 == 0 ? 1 : -1, third = i * 3.14159265358979323846 / 3;
      const double b[3] = {kBase * std::cos(third + sign * kAngle),
                           kBase * std::sin(third + sign * kAngle), 0},
                   p[3] = {kTop * std::cos(third - sign * kAngle),
                           kTop * std::sin(third - sign * kAngle), 0};
      double l2 = 0, lv = 0, vv = 0, la = 0;
      for (size_t c = 0; c < 3; ++c) {
        const double r = z[c] + p[c] - b[c];
        l2 += r * r, lv += r * z[6 + c], vv += z[6 + c] * z[6 + c], la += r * z[12 + c];
      }
      const double l = std::sqrt(l2), rate = lv / l, second = (vv + la - rate * rate) / l;
      worst = std::max(worst, std::abs(run->u[static_cast<size_t>(i)][k] - rate - kTau * second));
    }
  }
  EXPECT_LT(worst, 1e-6);  // BDF4 at 10 ms
}

// A closed loop with a ball joint: the motor's torque makes the slider follow, and the plant confirms it.
TEST(BallJoints, TheSpatialSliderCrankFollows) {
  std::ifstream in(PANTO_SOURCE_DIR "/models/spatial_slider_crank/model.toml");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Model m =
      compiled(text + "actuator = [{ name = \"motor\", type = \"torque\", on = \"theta\" }]\n");
  const ServoChoice choice{{"slider_x"}, {}, {"motor"}, {}};
  const auto servo = servo_of(m, choice);
  const auto rest = analyse_at_rest(*servo);
  ASSERT_TRUE(rest.ok()) << rest.diagnostics().text();
  EXPECT_EQ(rest->analysis.type, InverseClass::kFlat);
  EXPECT_EQ(rest->analysis.relative_degree, std::vector<int>{2});
  InvertOptions o;
  const auto run = invert(m, nominal(m), choice,
                          *Path::line(rest->outputs, {rest->outputs[0] + 0.05}, 0, 1, 4), o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_LT(run->tracking_max[0], 1e-5);
  EXPECT_NE(std::find(run->coordinates.begin(), run->coordinates.end(), "wrist.qw"),
            run->coordinates.end());
}

TEST(BallJoints, StepsAllocateNothing) {
  const Model m = crane("spherical", 0.1);
  const auto servo = servo_of(m, kLoad);
  auto model = InverseModel::create(*servo, *Path::line({0, 0, -2}, {1, 1, -1}, 0, 2, 4), {});
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE((*model)->start(0).ok());
  for (int i = 0; i < 12; ++i) ASSERT_FALSE(fatal((*model)->step()));
  const long before = calls;
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(fatal((*model)->step()));
  EXPECT_EQ(calls - before, 0);
}

}  // namespace
}  // namespace panto
