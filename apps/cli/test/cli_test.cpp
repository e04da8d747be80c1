#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "apps/cli/test/program.hpp"
#include "panto/io/results.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

std::set<std::string> keys(const json& object) {
  std::set<std::string> out;
  for (const auto& item : object.items()) out.insert(item.key());
  return out;
}

const std::set<std::string> kVerbs{"simulate",   "check",  "equilibrium", "inverse-dynamics",
                                   "models",     "schema", "import",      "reproduce",
                                   "completion", "new",    "view",        "modes",
                                   "linearize",  "poses",  "identify"};

TEST_F(Program, HelpFitsAScreenAndNamesEveryVerb) {
  const Outcome help = panto("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 40);
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  for (const std::string& verb : kVerbs)
    EXPECT_NE(help.out.find("  " + verb), std::string::npos) << verb;
}

TEST_F(Program, EveryVerbHasExamplesInItsHelp) {
  for (const std::string& verb : kVerbs) {
    const Outcome help = panto(verb + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.out.find("  panto " + verb), std::string::npos) << help.out;
  }
}

TEST_F(Program, SimulateJsonHasTheAgreedKeys) {
  const Outcome run = panto("simulate pendulum --at 1,2 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json j = run.json();
  EXPECT_EQ(keys(j), (std::set<std::string>{"model", "t", "outputs", "energy",
                                            "constraint_violation", "stats"}));
  EXPECT_EQ(j["model"], "pendulum");
  EXPECT_EQ(keys(j["outputs"]), (std::set<std::string>{"x", "y", "vx", "vy"}));
  EXPECT_EQ(j["outputs"]["x"].size(), 2U);
  EXPECT_EQ(keys(j["energy"]), (std::set<std::string>{"initial", "final", "max_drift"}));
  EXPECT_EQ(keys(j["constraint_violation"]), (std::set<std::string>{"position", "velocity"}));
  EXPECT_EQ(keys(j["stats"]),
            (std::set<std::string>{"steps", "evaluations", "wall_seconds", "real_time_factor"}));
  EXPECT_LT(j["energy"]["max_drift"].get<double>(), 1e-6);
}

TEST_F(Program, AtReportsExactlyThoseTimesInTheirOrder) {
  for (const char* step : {"--tol 1e-9", "--dt 0.01"}) {
    const Outcome run =
        panto(std::string("simulate pendulum --at 2,0,0.1,0.30000000000000004 --json ") + step);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.json()["t"], (json{2.0, 0.0, 0.1, 0.30000000000000004}));
    // Released at (-1, 0); the same instant gives the same value whatever the order.
    EXPECT_EQ(run.json()["outputs"]["x"][1], -1.0);
  }
}

TEST_F(Program, NumbersHaveSeventeenDigits) {
  const Outcome run = panto("simulate pendulum --at 0.1 --json");
  EXPECT_NE(run.out.find("\"t\": [0.10000000000000001]"), std::string::npos) << run.out;
}

TEST_F(Program, UntilIsTheModelsOrTheLastAt) {
  EXPECT_EQ(panto("simulate pendulum --json").json()["t"].back(), 10.0);
  const json j = panto("simulate pendulum --sample 0.5 --until 2 --json").json();
  EXPECT_EQ(j["t"], (json{0.0, 0.5, 1.0, 1.5, 2.0}));
}

TEST_F(Program, SetChangesNumbersAndSize) {
  const json one = panto("check n_four_bar --set N=3 --json").json();
  const json two = panto("check n_four_bar --set N=5 g=1 --json").json();
  EXPECT_EQ(two["loops"].get<int>() - one["loops"].get<int>(), 2);
}

TEST_F(Program, StopEndsTheRunAtTheCrossing) {
  const json j = panto("simulate pendulum --stop 'x>0' --tol 1e-10 --json").json();
  EXPECT_LT(j["t"].back().get<double>(), 1);
  EXPECT_NEAR(j["outputs"]["x"].back().get<double>(), 0, 1e-9);
  EXPECT_TRUE(j.contains("stopped_by"));
}

TEST_F(Program, TheTableShowsValuesAuditAndFiles) {
  const Outcome run = panto("simulate pendulum --until 1 --csv run.csv");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* word : {"x [m]", "energy", "constraints", "real time", "run.csv"})
    EXPECT_NE(run.out.find(word), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
}

TEST_F(Program, ResultFilesReadBack) {
  const Outcome run =
      panto("simulate fourbar_f1 --until 1 --sample 0.1 --out run.h5 --csv run.csv --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  const auto h5 = read_run(path("run.h5"));
  const auto csv = read_run(path("run.csv"));
  ASSERT_TRUE(h5.ok() && csv.ok());
  EXPECT_EQ(json(h5->t), j["t"]);
  EXPECT_EQ(json(csv->t), j["t"]);
  EXPECT_EQ(json(h5->outputs[0]), j["outputs"][h5->output_names[0]]);
  EXPECT_EQ(h5->outputs, csv->outputs);
  EXPECT_EQ(h5->output_units[0], "rad");
  EXPECT_EQ(h5->q.size(), 3U);
  EXPECT_EQ(h5->coordinate_units, (std::vector<std::string>{"rad", "rad", "rad"}));
  EXPECT_NE(h5->model_text.find("rocker"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()),
                          std::filesystem::directory_iterator()),
            2);
}

TEST_F(Program, MeasurementsFollowTheSeed) {
  for (const char* seed : {"1", "1", "2"}) {
    static int number = 0;
    const std::string file = "m" + std::to_string(number++) + ".h5";
    ASSERT_EQ(
        panto("simulate fourbar_sanjurjo --until 1 --seed " + std::string(seed) + " --out " + file)
            .exit_code,
        0);
  }
  const auto a = read_run(path("m0.h5")), b = read_run(path("m1.h5")), c = read_run(path("m2.h5"));
  ASSERT_EQ(a->measured.size(), 3U);
  EXPECT_EQ(a->measured[0].t.size(), 201U);  // 200 Hz for 1 s, both ends
  EXPECT_EQ(a->measured[0].values, b->measured[0].values);
  EXPECT_NE(a->measured[0].values, c->measured[0].values);
  // Encoder noise of pi / 180 rad: the standard deviation of 201 readings scatters by 5 %.
  double sum = 0;
  for (size_t i = 0; i < 201; ++i) {
    const double e = a->measured[0].values[i] - a->outputs[0][i];
    sum += e * e;
  }
  EXPECT_NEAR(std::sqrt(sum / 201) / (M_PI / 180), 1, 0.2);
}

TEST_F(Program, CheckReportsMobility) {
  const json j = panto("check fourbar_f1 --json").json();
  EXPECT_EQ(j["bodies"], 3);
  EXPECT_EQ(j["joints"], 3);
  EXPECT_EQ(j["loops"], 1);
  EXPECT_EQ(j["degrees_of_freedom"], 1);
  EXPECT_EQ(j["mobility"], 1);
  EXPECT_EQ(j["independent"], (json{"theta"}));
  EXPECT_EQ(j["redundant"].size(), 0U);
  EXPECT_GT(panto("check bricard --json").json()["redundant"].size(), 0U);
}

// Processor time of the program and the shell around it, so that a busy machine does not matter.
TEST_F(Program, CheckOfTheFourBarTakesAtMostFiftyMilliseconds) {
  const auto seconds = [] {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto of = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return of(used.ru_utime) + of(used.ru_stime);
  };
  double best = 1;
  for (int i = 0; i < 5; ++i) {
    const double began = seconds();
    ASSERT_EQ(panto("check fourbar_f1").exit_code, 0);
    best = std::min(best, seconds() - began);
  }
  EXPECT_LE(best, 0.05);
}

TEST_F(Program, EquilibriumHangsDown) {
  put("rod.toml", R"(space = "planar"
gravity = [0, -9.81]
body = [{ name = "rod", bar = { length = 1, mass = 1 } }]
joint = [{ name = "angle", type = "revolute", parent = "ground", child = "rod" }]
initial = { angle = -1 }
)");
  const json j = panto("equilibrium rod.toml --json").json();
  EXPECT_NEAR(j["coordinates"]["angle"].get<double>(), -M_PI / 2, 1e-9);
  EXPECT_EQ(j["stable"], true);
  // A uniform rod swings with sqrt(3 g / 2 L).
  double largest = 0;
  for (const auto& e : j["eigenvalues"]) largest = std::max(largest, e[1].get<double>());
  EXPECT_NEAR(largest, std::sqrt(1.5 * 9.81), 1e-6);
}

TEST_F(Program, InverseDynamicsGivesBackTheTorqueOfASimulation) {
  ASSERT_EQ(
      panto("simulate slider_crank --until 1 --sample 0.001 --tol 1e-12 --csv run.csv").exit_code,
      0);
  const auto run = read_run(path("run.csv"));
  ASSERT_TRUE(run.ok());
  size_t theta = 0;
  while (run->output_names[theta] != "theta") ++theta;
  std::ofstream motion(path("motion.csv"));
  motion.precision(17);
  motion << "t [s],theta [rad]\n";
  for (size_t i = 0; i < run->t.size(); ++i)
    motion << run->t[i] << "," << run->outputs[theta][i] << "\n";
  motion.close();
  const Outcome inverse = panto("inverse-dynamics slider_crank motion.csv --actuators T --json");
  ASSERT_EQ(inverse.exit_code, 0) << inverse.err;
  const json j = inverse.json();
  EXPECT_EQ(keys(j["inputs"]), (std::set<std::string>{"T"}));
  double worst = 0;
  for (size_t i = 0; i < run->t.size(); ++i)
    worst = std::max(
        worst, std::abs(j["inputs"]["T"][i].get<double>() - 10 * std::sin(2 * M_PI * run->t[i])));
  // Truncation of the seven-point second derivative (h = 1 ms, one-sided at the ends) and 1e-12 noise over h^2.
  EXPECT_LT(worst, 1e-3);
}

TEST_F(Program, ModelsListsTheZooWithTitlesAndDrawings) {
  const json j = panto("models --json").json();
  EXPECT_GE(j["models"].size(), 10U);
  const Outcome list = panto("models");
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'),
            static_cast<long>(j["models"].size()));
  for (const auto& m : j["models"]) {
    EXPECT_NE(m["title"], "") << m["name"];
    EXPECT_TRUE(std::filesystem::exists(m["drawing"].get<std::string>())) << m["name"];
    EXPECT_NE(list.out.find(m["drawing"].get<std::string>()), std::string::npos) << m["name"];
  }
}

TEST_F(Program, SchemaIsJson) { EXPECT_EQ(keys(panto("schema").json()).count("$schema"), 1U); }

TEST_F(Program, ImportTurnsUrdfIntoAModelFile) {
  put("arm.urdf", R"(<robot name="arm">
<link name="base"/>
<link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>)");
  const Outcome import = panto("import arm.urdf -o arm.toml");
  ASSERT_EQ(import.exit_code, 0) << import.err;
  const json j = panto("check arm.toml --json").json();
  EXPECT_EQ(j["degrees_of_freedom"], 1);
  EXPECT_EQ(j["space"], "spatial");
  EXPECT_EQ(panto("import arm.urdf").out, text_of(path("arm.toml")));
}

TEST_F(Program, ReproduceListsCasesAndReportsRows) {
  const json list = panto("reproduce --list --json").json();
  EXPECT_GE(list["cases"].size(), 5U);
  const Outcome one = panto("reproduce drucker2022:manipulator_2d --json");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  for (const auto& row : one.json()["rows"]) {
    EXPECT_EQ(keys(row), (std::set<std::string>{"quantity", "printed", "computed", "unit", "band",
                                                "verdict", "note"}));
    EXPECT_EQ(row["verdict"], "reproduced") << row;
  }
  EXPECT_TRUE(one.json()["assumed"].empty());
  // What the source does not print is said, also where all is reproduced.
  const json horn = panto("reproduce palomba:table5.1 --json").json();
  EXPECT_NE(horn["assumed"]["palomba:table5.1"].dump().find("plane strain"), std::string::npos);
  EXPECT_NE(panto("reproduce palomba:table5.1").out.find("plane strain"), std::string::npos);
}

TEST_F(Program, LinearizeAlongGivesMatricesOverTime) {
  const Outcome run = panto("linearize fourbar_f1 --along --until 0.4 --sample 0.1 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(keys(j),
            (std::set<std::string>{"model", "coordinates", "independent", "states", "inputs",
                                   "outputs", "output_units", "time", "state_space", "minimal",
                                   "eigenvalues", "q", "v", "u"}));
  ASSERT_EQ(j["time"].size(), 5U);
  EXPECT_EQ(j["states"], (json{"theta", "theta_dot"}));
  for (const char* name : {"A", "B", "B_rate", "C", "D", "D_rate"})
    EXPECT_EQ(j["state_space"][name].size(), 5U) << name;
  for (const json& a : j["state_space"]["A"]) {
    ASSERT_EQ(a.size(), 2U);
    EXPECT_EQ(a[0], (json{0.0, 1.0}));
  }
  EXPECT_EQ(j["q"][4].size(), 3U);
  EXPECT_EQ(j["eigenvalues"][0].size(), 2U);
}

TEST_F(Program, LinearizeAlongWritesAFileAndTellsItsTable) {
  const Outcome run =
      panto("linearize double_pendulum --along --at theta1=10deg --until 1 --out " + path("l.h5"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("201 samples, 4 states"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("l.h5"), std::string::npos);
  EXPECT_LE(std::count(run.out.begin(), run.out.end(), '\n'), 30);
  ASSERT_TRUE(std::filesystem::exists(path("l.h5")));
  // No run: the reader of runs says so.
  const auto no_run = read_run(path("l.h5"));
  EXPECT_FALSE(no_run.ok());
  EXPECT_NE(no_run.diagnostics().text().find("E0626"), std::string::npos);
}

TEST_F(Program, LinearizeAlongRefusesWhatBelongsToASinglePose) {
  for (const char* line :
       {"linearize fourbar_f1 --along --here", "linearize fourbar_f1 --until 1",
        "linearize fourbar_f1 --along --time 2", "linearize fourbar_f1 --sample 0.1"})
    EXPECT_EQ(panto(line).exit_code, 1) << line;
  EXPECT_EQ(panto("linearize fourbar_f1 --along --until -1").exit_code, 2);
  EXPECT_EQ(panto("linearize fourbar_f1 --along --sample -1").exit_code, 2);
  EXPECT_EQ(panto("linearize fourbar_f1 --along --at crank=1").exit_code, 2);
  const Outcome unwritable =
      panto("linearize fourbar_f1 --along --until 0.1 --out " + path("missing/l.h5"));
  EXPECT_EQ(unwritable.exit_code, 2);
  EXPECT_EQ(unwritable.out, "");
}

// The sparse path in the program as it is linked: other libraries in it bring instances of the same Eigen templates.
TEST_F(Program, ModesOfALargeModelAreThoseOfTheClosedForm) {
  constexpr int kMasses = 320;
  std::string text = "space = \"planar\"\n";
  const auto place = [](int i) {
    const std::string at = std::to_string(i + 1);
    return i < 0 || i == kMasses ? "{ body = \"ground\", at = [" + at + ", 0] }"
                                 : "\"b" + at + "\"";
  };
  for (int i = 0; i < kMasses; ++i) {
    const std::string at = std::to_string(i + 1);
    text += "[[body]]\nname = \"b" + at + "\"\npoint_mass = { mass = 2 }\n[[joint]]\nname = \"x" +
            at + "\"\ntype = \"prismatic\"\naxis = \"x\"\nparent = { body = \"ground\", at = [" +
            at + ", 0] }\nchild = \"b" + at + "\"\n";
  }
  for (int i = 0; i <= kMasses; ++i)
    text += "[[force]]\nname = \"k" + std::to_string(i) + "\"\ntype = \"spring\"\nbetween = [" +
            place(i - 1) + ", " + place(i) + "]\nstiffness = 800\nfree_length = 1\n";
  put("line.toml", text);
  const Outcome run = panto("modes line.toml --here --count 3 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(run.json()["frequencies_hz"][static_cast<size_t>(k)].get<double>(),
                2 * std::sqrt(800.0 / 2) *
                    std::sin((k + 1) * std::numbers::pi / (2 * (kMasses + 1))) /
                    (2 * std::numbers::pi),
                1e-8);
}

}  // namespace
}  // namespace panto::cli
