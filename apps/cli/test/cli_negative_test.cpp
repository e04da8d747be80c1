#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

TEST_F(Program, WrongCommandLinesExitWithOne) {
  for (const char* line : {"",
                           "simulat pendulum",
                           "simulate",
                           "simulate pendulum --untill 3",
                           "simulate pendulum --until x",
                           "simulate pendulum --until 2m",
                           "simulate pendulum --dt 0",
                           "pendulum.toml",
                           "observe pendulum --live -o est.csv",
                           "simulate pendulum --dt 0.1 --tol 1e-6",
                           "simulate pendulum --at 1,b",
                           "simulate pendulum --at 5 --until 2",
                           "simulate pendulum --at -1",
                           "simulate pendulum --set g",
                           "simulate pendulum --set =3",
                           "simulate pendulum --stop x",
                           "check",
                           "reproduce",
                           "new",
                           "new fourbar",
                           "completion",
                           "completion fish",
                           "check pendulum --quiet --verbose",
                           "check pendulum --color sometimes"}) {
    const Outcome o = panto(line);
    EXPECT_EQ(o.exit_code, 1) << line << "\n" << o.err;
    EXPECT_EQ(o.out, "") << line;
    EXPECT_NE(o.err, "") << line;
  }
  EXPECT_NE(panto("new fourbar").err.find("did you mean \"four-bar\""), std::string::npos);
  EXPECT_NE(panto("simulat pendulum").err.find("did you mean \"simulate\""), std::string::npos);
  EXPECT_NE(panto("a.toml").err.find("panto simulate a.toml"), std::string::npos);
}

TEST_F(Program, TimesMayCarryTheirUnit) {
  const json j = panto("simulate pendulum --until 20ms --dt 0.1ms --sample 0.005s --json").json();
  EXPECT_EQ(j["t"],
            panto("simulate pendulum --until 0.02 --dt 1e-4 --sample 5e-3 --json").json()["t"]);
}

TEST_F(Program, BadInputExitsWithTwo) {
  put("broken.toml", "space = \"planar\"\nbody = [{ name = \"a\", mas = 1 }]\n");
  put("noise.toml", std::string("\x00\x01\xff", 3));
  put("motion.csv", "t,theta\n0,0\n1,0\n2,0\n");
  for (const char* line :
       {"simulate nowhere", "simulate no/such.toml", "simulate broken.toml", "check broken.toml",
        "check noise.toml", "simulate pendulum --set nothing=1",
        "simulate pendulum --integrator magic", "simulate pendulum --until -1",
        "simulate pendulum --dt 0.1 --integrator nonsense", "simulate pendulum --stop 'speed>1'",
        "simulate pendulum --out no/run.h5", "simulate pendulum --until 1 --csv no/run.csv",
        "reproduce nobody", "reproduce iftomm:A99", "equilibrium nowhere",
        "inverse-dynamics slider_crank missing.csv",
        "inverse-dynamics slider_crank motion.csv --actuators X",
        "inverse-dynamics pendulum motion.csv", "import missing.urdf"}) {
    const Outcome o = panto(line);
    EXPECT_EQ(o.exit_code, 2) << line << "\n" << o.err;
    EXPECT_EQ(o.out, "") << line;
    EXPECT_NE(o.err.find("error[E"), std::string::npos) << line << "\n" << o.err;
    EXPECT_EQ(o.err.find('\x1b'), std::string::npos) << line;
  }
}

TEST_F(Program, NumericalFailureExitsWithThreeAndLeavesNoFile) {
  // At rest it swings slowly enough for this step, in motion it does not.
  const Outcome o = panto("simulate double_pendulum --dt 0.5 --out run.h5");
  EXPECT_EQ(o.exit_code, 3) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("error[E0510]"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("run.h5")));
}

TEST_F(Program, AnExplicitStepThatCannotBeStableIsRefused) {
  const Outcome o = panto("simulate flexible_manipulator --dt 1e-4 --out run.h5");
  EXPECT_EQ(o.exit_code, 2) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("error[E0525]"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("4668 Hz, the largest stable dt is 9.644e-05 s"), std::string::npos)
      << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("run.h5")));
  EXPECT_EQ(
      panto("simulate flexible_manipulator --dt 1e-4 --until 0.01 --integrator radau5").exit_code,
      0);
  EXPECT_NEAR(panto("check flexible_manipulator --json").json()["largest_rk4_step"].get<double>(),
              9.644e-5, 1e-8);
}

TEST_F(Program, ErrorsAreJsonWhereJsonWasAskedFor) {
  put("broken.toml", "space = \"planar\"\nbody = [{ name = \"a\", mas = 1 }]\n");
  const Outcome o = panto("simulate broken.toml --json");
  EXPECT_EQ(o.exit_code, 2);
  const json d = o.json()["diagnostics"];
  ASSERT_GE(d.size(), 1U);
  EXPECT_EQ(d[0]["severity"], "error");
  EXPECT_EQ(d[0]["id"].get<std::string>()[0], 'E');
  EXPECT_EQ(d[0]["file"], "broken.toml");
  EXPECT_EQ(d[0]["line"], 2);
  EXPECT_GT(d[0]["column"].get<int>(), 1);
  EXPECT_NE(o.err, "");
  EXPECT_EQ(panto("simulate pendulum --untill 3 --json").json()["diagnostics"].size(), 1U);
  EXPECT_EQ(
      panto("simulate flyball --dt 0.02 --integrator euler --json").json()["diagnostics"].size(),
      1U);
}

TEST_F(Program, WarningsDoNotBreakJson) {
  const Outcome o = panto("simulate pendulum --integrator cvode --dt 0.01 --at 1 --json");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.err.find("warning["), std::string::npos) << o.err;
  EXPECT_EQ(o.json()["t"], (json{1.0}));
}

TEST_F(Program, AnUnreachableMotionIsExplained) {
  put("motion.csv", "t,x\n0,0.9\n1,2\n2,3\n");
  const Outcome o = panto("inverse-dynamics slider_crank motion.csv --actuators T");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("error[E0635]"), std::string::npos) << o.err;
}

TEST_F(Program, AMotionThatLeavesFreedomIsRefused) {
  put("motion.csv", "t,theta1\n0,0\n1,0.1\n2,0.2\n");
  put("five.toml", R"(space = "planar"
body = [{ name = "a", bar = { length = 1, mass = 1 } }, { name = "b", bar = { length = 1, mass = 1 } }]
joint = [{ name = "theta1", type = "revolute", parent = "ground", child = "a" },
         { name = "theta2", type = "revolute", parent = "a.end", child = "b" }]
actuator = [{ name = "T", type = "torque", on = "theta1" }]
)");
  const Outcome o = panto("inverse-dynamics five.toml motion.csv");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("error[E0634]"), std::string::npos) << o.err;
}

TEST_F(Program, AMotionBeyondTheActuatorsIsAWarning) {
  put("motion.csv", "t,alpha,beta\n0,0,0\n1,0.1,0.5\n2,0.3,0.2\n3,0.1,0\n");
  const Outcome o = panto("inverse-dynamics manipulator_2d motion.csv --json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("warning[W0636]"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace panto::cli
