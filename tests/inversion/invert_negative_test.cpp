// What cannot be inverted, or not like this, is refused with its reason and, where there is one, its time.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>

#include "panto/inversion/linear_servo.hpp"
#include "panto/inversion/test/cases.hpp"
#include "panto/io/invert_study.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

int first_error(const Diagnostics& d) {
  for (const Diagnostic& item : d.items())
    if (item.severity == Severity::kError) return item.id;
  return 0;
}
// Error or warning.
bool warns(const Diagnostics& d, int id, const std::string& words) {
  for (const Diagnostic& item : d.items())
    if (item.id == id && item.message.find(words) != std::string::npos) return true;
  return false;
}
Model model_of(const char* name) { return *load(name); }
int choice_error(const char* name, const ServoChoice& choice) {
  const Model m = model_of(name);
  return first_error(ModelServo::create(m, nominal(m), choice).diagnostics());
}

TEST(InvertNegative, ChoicesThatCannotBe) {
  EXPECT_EQ(choice_error("mass_on_car", {}), 1002);
  EXPECT_EQ(choice_error("mass_on_car", {{"z", "z"}, {}, {"u"}, {}}), 1002);
  EXPECT_EQ(choice_error("cable_robot_reduced", {{"x_P", "z_P"}, {}, {"u_T", "u_T"}, {}}), 1002);
  EXPECT_EQ(choice_error("mass_on_car", {{"zz"}, {}, {"u"}, {}}), 1003);
  EXPECT_EQ(choice_error("mass_on_car", {{"z"}, {}, {"v"}, {}}), 1003);
  EXPECT_EQ(choice_error("gantry_crane", {{"rope_force"}, {}, {"hoist"}, {}}), 1004);
  EXPECT_EQ(choice_error("cable_robot", {{"x_P", "z_P"}, {"tilt*("}, {"u_T", "u_L1", "u_L2"}, {}}),
            1006);
  EXPECT_EQ(choice_error("cable_robot", {{"x_P", "z_P"}, {"tilted"}, {"u_T", "u_L1", "u_L2"}, {}}),
            1006);
}
TEST(InvertNegative, MatricesThatDoNotFit) {
  LinearServoMatrices m = inversion_test::chain(3);
  m.K.resize(2, 3);
  EXPECT_EQ(first_error(LinearServo::create(m).diagnostics()), 1001);
  m = inversion_test::chain(3);
  m.H = Eigen::MatrixXd::Zero(2, 3);
  EXPECT_EQ(first_error(LinearServo::create(m).diagnostics()), 1002);
}

TEST(InvertNegative, OptionsThatCannotBe) {
  auto dae = inversion_test::cable_dae();
  FunctionServo<inversion_test::CableOde> ode;
  const Path path = inversion_test::cable_line();
  const auto error = [&](ServoSystem& s, auto change) {
    InverseOptions o;
    change(o);
    return first_error(InverseModel::create(s, path, o).diagnostics());
  };
  EXPECT_EQ(error(dae, [](InverseOptions& o) { o.dt = 0; }), 1007);
  EXPECT_EQ(error(dae, [](InverseOptions& o) { o.order = 7; }), 1007);
  EXPECT_EQ(error(dae, [](InverseOptions& o) { o.newton.iterations = 0; }), 1007);
  EXPECT_EQ(error(ode, [](InverseOptions& o) { o.formulation = Formulation::kSubstitution; }),
            1007);
  EXPECT_EQ(first_error(InverseModel::create(dae, inversion_test::car_line(), {}).diagnostics()),
            1002);
}

TEST(InvertNegative, StartsThatDoNotFit) {
  auto dae = inversion_test::cable_dae();
  auto model = InverseModel::create(dae, inversion_test::cable_line(), {});
  EXPECT_EQ(first_error((*model)->start(1)), 1022);  // the path moves since 0
  const std::vector<double> y{15, 4, 15, 4.1}, v(4, 0.0), lambda{-1}, u{0, 0};
  const Diagnostics d = (*model)->start(0, y, v, lambda, u);
  EXPECT_EQ(first_error(d), 1022);
  EXPECT_NE(d.text().find("row \"c1\""), std::string::npos);
}

// The tip cannot be 9 m away: links of 2 m.
TEST(InvertNegative, TargetsOutOfReach) {
  const Model m = model_of("arm_spatial");
  const ServoChoice choice{{"tip_x", "tip_y", "tip_z"}, {}, {"u1", "u2", "u3"}, {}};
  InvertOptions o;
  EXPECT_EQ(first_error(invert(m, nominal(m), choice, *Path::line({9, 0, 1}, {8, 0, 1}, 0, 1, 4), o)
                            .diagnostics()),
            1021);
  const auto leaving =
      invert(m, nominal(m), choice, *Path::line({0.347296355333861, 0, 1}, {4, 0, 1}, 0, 1, 4), o);
  ASSERT_FALSE(leaving.ok());
  EXPECT_TRUE(warns(leaving.diagnostics(), 1025, "leaves the reach"));
  EXPECT_TRUE(warns(leaving.diagnostics(), 1025, "between t = 0."));
  // Beyond that point, if it must be, until nothing is left.
  o.force = true;
  const auto beyond =
      invert(m, nominal(m), choice, *Path::line({0.347296355333861, 0, 1}, {4, 0, 1}, 0, 1, 4), o);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(first_error(beyond.diagnostics()), 1024);
  EXPECT_TRUE(warns(beyond.diagnostics(), 1024, "t = 0."));
}

// The torque ceases to move α + 0.42 β where the inertia of the second link, I22 - 0.42 I12, changes its sign: cos β = 0.92063 or β = 23.0°, and the elbow rests at 34.4°.
TEST(InvertNegative, ASingularDecouplingOnTheWayIsLocated) {
  std::ifstream in(PANTO_SOURCE_DIR "/models/manipulator_2d/model.toml");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto replace = [&](const std::string& what, const std::string& by) {
    ASSERT_NE(text.find(what), std::string::npos);
    text.replace(text.find(what), what.size(), by);
  };
  replace("beta = \"L2/(L1 + L2)\"", "beta = 0.42");
  replace("damping = \"d\"", "damping = \"d\", free_angle = 0.6");
  replace("beta = 0 }", "beta = 0.6 }");
  const Result<ModelSpec> spec = parse_model_text(text, "arm.toml");
  ASSERT_TRUE(spec.ok());
  const Result<Model> model = compile(*spec);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const ServoChoice choice{{"z"}, {}, {"u"}, {}};
  InvertOptions o;
  o.inverse.dt = 1e-3;
  const double begin = 0.42 * 0.6;
  const auto slow =
      invert(*model, nominal(*model), choice, *Path::line({begin}, {begin + 0.1}, 0, 1, 4), o);
  ASSERT_TRUE(slow.ok()) << slow.diagnostics().text();
  const auto fast =
      invert(*model, nominal(*model), choice, *Path::line({begin}, {begin + 4}, 0, 1, 4), o);
  ASSERT_FALSE(fast.ok());
  EXPECT_EQ(first_error(fast.diagnostics()), 1025);
  EXPECT_TRUE(warns(fast.diagnostics(), 1025, "between t = 0."));
  o.force = true;
  o.verify = false;
  const auto forced =
      invert(*model, nominal(*model), choice, *Path::line({begin}, {begin + 4}, 0, 1, 4), o);
  EXPECT_TRUE(warns(forced.diagnostics(), 1025, "no motion of the plant"));
  ASSERT_TRUE(forced.ok()) << forced.diagnostics().text();
  // Where it is told the elbow has just passed that angle.
  const std::string message = fast.diagnostics().items().front().message;
  const double told = std::stod(message.substr(message.find("t = ") + 4));
  const auto k = static_cast<size_t>(std::lround(told / o.inverse.dt));
  EXPECT_LT(std::cos(forced->y[1][k]), 0.92063);
  EXPECT_GT(std::cos(forced->y[1][k + 1]), 0.92063);
}

TEST(InvertNegative, LimitsAreToldWithTheirTime) {
  const Model m = model_of("mass_on_car");
  InvertOptions o;
  o.verify = false;
  o.limits = {{"u", -1, 1}};
  const ServoChoice choice{{"z"}, {}, {"u"}, {}};
  const auto run = invert(m, nominal(m), choice, *Path::line({1}, {4}, 0, 4, 4), o);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(warns(run.diagnostics(), 1041, "actuator \"u\" exceeds its limit from t = "));
  o.limits = {{"v", -1, 1}};
  EXPECT_EQ(
      first_error(invert(m, nominal(m), choice, *Path::line({1}, {4}, 0, 4, 4), o).diagnostics()),
      1003);
}

// Nothing but a residual that no iterate is small enough for.
TEST(InvertNegative, FirstStepsThatDoNotConverge) {
  struct Stubborn : LinearServo {
    explicit Stubborn(LinearServo s) : LinearServo(std::move(s)) {}
    void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept override {
      LinearServo::evaluate(x, with_tangent, out);
      if (x.t > 0) out.r[0] += 1 + x.u[0] * x.u[0];  // no root
    }
  };
  Stubborn system(*LinearServo::create(inversion_test::chain(2)));
  auto model = InverseModel::create(system, inversion_test::turn(), {});
  ASSERT_TRUE(model.ok());
  const Diagnostics d = (*model)->start(0);
  EXPECT_EQ(first_error(d), 1023);
  EXPECT_TRUE(warns(d, 1023, "the first steps from t = 0 s"));
}

TEST(InvertNegative, StepsThatDoNotConvergeAreCounted) {
  const Model m = model_of("cable_robot_reduced");
  InvertOptions o;
  o.verify = false;
  o.inverse.dt = 0.1;
  o.inverse.newton.iterations = 2;
  o.inverse.predict = false;
  const ServoChoice choice{{"x_P", "z_P"}, {}, {"u_T", "u_L"}, {}};
  const auto run = invert(m, nominal(m), choice, *Path::line({15, -4}, {11, -7}, 0, 10, 4), o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_GT(run->not_converged, 0);
  EXPECT_TRUE(warns(run.diagnostics(), 1042, "steps did not converge, the first at t = "));
}

// Implicit Euler with coarse steps eats the internal oscillation of the arm.
TEST(InvertNegative, APlantThatDoesNotFollowIsTold) {
  const Model m = model_of("arm_spatial");
  const ServoChoice choice{{"tip_x", "tip_y", "tip_z"}, {}, {"u1", "u2", "u3"}, {}};
  InvertOptions o;
  o.inverse.order = 1;
  o.inverse.formulation = Formulation::kOriginal;
  o.until = 2;
  o.tol = 1e-6;
  auto servo = ModelServo::create(m, nominal(m), choice);
  const auto rest = analyse_at_rest(**servo);
  const auto run =
      invert(m, nominal(m), choice, *Path::circle(rest->outputs, {0.65, 0.7, 1}, 0, 2, 4), o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_TRUE(warns(run.diagnostics(), 1043, "the plant does not follow: output \"tip_x\""));
}

// No integrator takes this tolerance.
TEST(InvertNegative, APlantThatIsNotSimulatedIsTold) {
  const Model m = model_of("mass_on_car");
  InvertOptions o;
  o.tol = -1;
  const auto run = invert(m, nominal(m), {{"z"}, {}, {"u"}, {}}, *Path::line({1}, {4}, 0, 4, 4), o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_TRUE(run->tracking_max.empty());
  EXPECT_TRUE(warns(run.diagnostics(), 1044, "not verified"));
  EXPECT_TRUE(warns(run.diagnostics(), 1044, "failed: ")) << run.diagnostics().text();
}

// BDF4 with the index 5 of the cable robot: neither its path nor its inputs are at fault.
TEST(InvertNegative, AnIndexThatIsTooHighIsToldWhereAStepFails) {
  const Model m = model_of("cable_robot_reduced");
  InvertOptions o;
  o.verify = false;
  o.inverse.formulation = Formulation::kOriginal;
  const ServoChoice choice{{"x_P", "z_P"}, {}, {"u_T", "u_L"}, {}};
  const auto run = invert(m, nominal(m), choice, *Path::line({15, -4}, {11, -7}, 0, 10, 4), o);
  ASSERT_FALSE(run.ok());
  EXPECT_TRUE(warns(run.diagnostics(), 1024, "form \"projection\" lowers it"));
}

// Half way down the load would have to fall faster than freely: the rope cannot push, and the iteration runs away.
TEST(InvertNegative, AnIterationThatDivergesIsLocated) {
  const Model m = model_of("cable_robot_reduced");
  const ServoChoice choice{{"x_P", "z_P"}, {}, {"u_T", "u_L"}, {}};
  const Path fall = *Path::line({15, -4}, {14, -8}, 0, 1.5, 4);
  InvertOptions o;
  o.verify = false;
  const auto run = invert(m, nominal(m), choice, fall, o);
  ASSERT_FALSE(run.ok());
  EXPECT_TRUE(warns(run.diagnostics(), 1024, "the iteration diverges, steps do not converge from"))
      << run.diagnostics().text();
  const std::string message = run.diagnostics().items().front().message;
  const double since = std::stod(message.substr(message.find("from ") + 5));
  std::array<double, 6> z{};
  double free = 0;  // first instant of free fall
  while (fall.at(free, 3, z), z[5] > -9.81) free += 0.001;
  EXPECT_NEAR(since, free, 0.05);
  o.force = true;
  const auto forced = invert(m, nominal(m), choice, fall, o);
  EXPECT_TRUE(warns(forced.diagnostics(), 1042, "steps did not converge"));
}

TEST(InvertNegative, PathsThatCannotBe) {
  EXPECT_EQ(first_error(Path::line({0}, {1}, 0, 0, 2).diagnostics()), 1011);
  EXPECT_TRUE(warns(Path::along({{0}, {1}, {0.5}}, 0, 1, 4).diagnostics(), 1011,
                    "the curve turns back between points 1 and 2"));
}

TEST(InvertNegative, StudiesThatCannotBeUnderstood) {
  const auto error = [](const std::string& text) {
    const Result<ModelSpec> spec = parse_model_text(text, "study.toml");
    EXPECT_TRUE(spec.ok());
    EXPECT_TRUE(is_invert_study(*spec));
    return first_error(load_invert_study(*spec).diagnostics());
  };
  EXPECT_EQ(error("path = { to = [1], duration = 1 }"), 111);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { type = \"spiral\" }"), 114);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1] }"), 111);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1], duration = 1, speed = 2 }"), 115);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1], speed = 0 }"), 304);
  const std::string line = "model = \"mass_on_car\"\npath = { to = [1], duration = 1 }\n";
  EXPECT_EQ(
      error(line + "method = { name = \"stable\", ends = \"eigenspaces\", clamp_end = \"x\" }"),
      115);
  EXPECT_EQ(error(line + "until = 5\nmethod = { name = \"stable\", after = 1 }"), 115);
  EXPECT_EQ(error(line + "until = 2\nmethod = { name = \"stable\", after = 1 }"), 0);
  EXPECT_EQ(error(line + "force = true\nmethod = { name = \"stable\" }"), 115);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { type = \"points\", points = [1, 2] }"), 111);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1], duration = 1 }\nmethod = { name = "
                  "\"bdf9\" }"),
            114);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1], duration = 1 }\nlimits = { u = 3 }"),
            113);
  EXPECT_EQ(error("model = \"mass_on_car\"\npath = { to = [1], duration = 1 }\nspeed = 3"), 110);
}

}  // namespace
}  // namespace panto
