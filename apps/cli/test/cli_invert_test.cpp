// `panto invert`.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

class InvertVerb : public Program {
 protected:
  void refused(const std::string& arguments, int exit_code, const char* id, const char* words) {
    const Outcome run = panto("invert " + arguments);
    EXPECT_EQ(run.exit_code, exit_code) << arguments << ": " << run.err;
    EXPECT_NE(run.err.find(id), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  }
};

TEST_F(InvertVerb, FindsTheForceThatMovesAMassOnACarAndWritesIt) {
  const Outcome run = panto("invert mass_on_car --to 4 --in 8s --csv u.csv --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W1034"), std::string::npos) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["model"], "mass_on_car");
  EXPECT_EQ(j["analysis"]["class"], "marginal");
  // 8 s and a quarter of it more, in steps of 10 ms.
  ASSERT_EQ(j["t"].size(), 1001u);
  EXPECT_NEAR(j["t"].back().get<double>(), 10, 1e-9);
  for (const auto& [table, name] : {std::pair{"inputs", "u"},
                                    {"desired", "z"},
                                    {"achieved", "z"},
                                    {"coordinates", "x1"},
                                    {"coordinates", "s2"}})
    EXPECT_EQ(j[table][name].size(), 1001u) << table << "." << name;
  EXPECT_NEAR(j["desired"]["z"].front().get<double>(), 1, 1e-12);
  EXPECT_NEAR(j["achieved"]["z"].back().get<double>(), 4, 1e-4);
  // Truncation of BDF4 at 10 ms, with margin, as in the tests of the module.
  EXPECT_LT(j["tracking_max"][0].get<double>(), 1e-4);
  EXPECT_LE(j["tracking_rms"][0].get<double>(), j["tracking_max"][0].get<double>());
  EXPECT_EQ(j["not_converged"], 0);
  EXPECT_GT(j["cycle"]["mean"].get<double>(), 0);
  const std::string csv = text_of(path("u.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1002);
  const std::string head = csv.substr(0, csv.find('\n'));
  for (const char* column : {"u", "z_desired", "z_achieved", "x1_q", "s1_q", "s2_q", "[N]", "[m]"})
    EXPECT_NE(head.find(column), std::string::npos) << column << " in " << head;
}

TEST_F(InvertVerb, SolvesForTheBoundedMotionOfANonMinimumPhaseArm) {
  const std::string arm = "invert manipulator_2d --output z --by u ";
  const Outcome kind = panto(arm + "--analyse");
  EXPECT_NE(kind.err.find("method \"stable\""), std::string::npos) << kind.err;
  const Outcome run =
      panto(arm + "--to 30deg --smooth 4 --method stable --csv u.csv --view u.html --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["analysis"]["class"], "non-minimum phase");
  // Internal motion of 21.9 1/s has decayed to a millionth after 0.63 s, 64 intervals; inputs begin about 0.2 s before the path.
  EXPECT_NEAR(j["stable"]["before"].get<double>(), 0.64, 1e-9);
  EXPECT_NEAR(j["t"].front().get<double>(), -0.64, 1e-9);
  EXPECT_EQ(j["stable"]["path_begin"], 0);
  EXPECT_EQ(j["stable"]["path_end"], 1);
  EXPECT_NEAR(j["stable"]["growing"][0][0].get<double>(), 21.9, 0.05);
  EXPECT_NEAR(j["stable"]["decaying"][0][0].get<double>(), -21.9, 0.05);
  EXPECT_TRUE(j["stable"]["neutral"].empty());
  EXPECT_NEAR(j["stable"]["pre_actuation"].get<double>(), 0.2, 0.02);
  EXPECT_LE(j["stable"]["error"].get<double>(), 1e-6);
  EXPECT_EQ(j["stable"]["clamped_begin"].size(), 0u);
  // The plant alone, from the beginning of the horizon: inputs are a spline through a sample every 10 ms.
  EXPECT_LT(j["tracking_max"][0].get<double>(), 1e-5);
  const std::string csv = text_of(path("u.csv"));
  EXPECT_EQ(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')), j["t"].size() + 1);
  const std::string page = text_of(path("u.html"));
  for (const char* words : {"u before the path", "u on the path", "u after the path",
                            "inputs act before the path, s", "stable inverse"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  const Outcome clamped =
      panto(arm + "--to 30deg --method stable --ends clamped --before 1s --after 1s");
  EXPECT_EQ(clamped.exit_code, 0) << clamped.err;
  EXPECT_NE(clamped.out.find("beta"), std::string::npos) << clamped.out;
}

// On paths that are just smooth enough, or by one derivative more, no mesh resolves the motion to the default tolerance.
TEST_F(InvertVerb, FindsBoundedMotionsOfDampedMechanismsWithItsDefaults) {
  for (const char* of :
       {"flexible_link_on_motor --to 30deg", "mass_on_car --set d1=1 --set d2=1 --to 4 --in 8s"}) {
    const Outcome run = panto(std::string("invert ") + of + " --method stable --no-verify --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_LE(run.json()["stable"]["error"].get<double>(), 1e-6) << of;
  }
}

TEST_F(InvertVerb, TellsWhatStableInversionCannotDo) {
  const std::string arm = "manipulator_2d --output z --by u --to 30deg --method stable ";
  refused(arm + "--ends sideways", 1, "--ends sideways", "eigenspaces or clamped");
  refused(arm + "--ends eigenspaces --clamp-end beta", 1, "--ends eigenspaces",
          "clamped beside coordinates to clamp");
  refused(arm + "--guess lucky", 1, "--guess lucky", "rest or linear");
  refused(arm + "--before -1s", 1, "--before", "a time");
  refused(arm + "--clamp-begin gamma", 2, "E1072", "gamma");
  refused(arm + "--clamp-begin beta,alpha", 2, "E1072", "leave them out");
  refused(arm + "--set k=0", 2, "E1071", "a zero at the origin");
  refused(
      "slider_crank_flexible --output mid_y --by T --set E=3e9 --to 0.15 --in 0.5s --method stable",
      2, "E1071", "crosses the imaginary axis");
  refused(arm + "--step 0.2s", 2, "E1078", "must be shorter than");
  refused(arm + "--tolerance 1e-15", 3, "E1074", "a larger tolerance");
  refused(arm + "--before 20ms", 0, "W1077", "would do");
  refused(arm + "--smooth 0", 3, "E1073", "the speed of the path jumps");
  refused(arm + "--smooth 1", 3, "E1074", "the path is C1, the inverse needs C2");
  refused("mass_on_car --to 4 --in 8s --method stable --tolerance 0.05 --no-verify", 0, "W1076",
          "on the imaginary axis");
  refused("flexible_link_on_motor --to 1 --smooth 3 --method stable", 3, "E1074",
          "with 828 intervals, 1e-06 was asked for; on finer meshes it no longer falls: ask for a "
          "larger tolerance, or take a smoother path (`smooth` of 5");
  const Outcome lasting = panto("invert mass_on_car --to 4 --in 8s --method stable --no-verify");
  EXPECT_NE(lasting.out.find("0 s before the path, 2 s after it"), std::string::npos)
      << lasting.out;
  EXPECT_NE(lasting.out.find("without end after it"), std::string::npos) << lasting.out;
}

TEST_F(InvertVerb, TellsThatAnUnstablePlantNeedsFeedback) {
  std::ofstream(path("pole.toml")) << R"(space = "planar"
gravity = [0, -9.81]
body = [
  { name = "cart", point_mass = { mass = "1 kg" } },
  { name = "pole", bar = { length = "0.6 m", mass = "0.2 kg" } },
]
joint = [
  { name = "x", type = "prismatic", parent = "ground", child = "cart", axis = "x" },
  { name = "phi", type = "revolute", parent = "cart", child = "pole" },
]
actuator = [{ name = "F", type = "force", on = "x" }]
output = [{ name = "place", type = "coordinate", of = "x" }]
initial = { phi = "90 deg" }
servo = [{ output = "place", by = "F" }]
)";
  refused("pole.toml --to 0.5 --method stable", 0, "W1043",
          "unstable in itself, with a pole at 5.29");
}

// Options that the method has no use for are refused, as a study refuses such keys.
TEST_F(InvertVerb, RefusesOptionsOfOtherMethods) {
  const std::string arm = "manipulator_2d --output z --by u --to 30deg --method ";
  refused(arm + "optimal --ends clamped", 1, "--ends clamped", "method stable");
  refused(arm + "optimal --clamp-end beta", 1, "--clamp-end beta", "method stable");
  refused(arm + "bdf3 --guess rest", 1, "--guess rest", "method stable");
  refused(arm + "bdf3 --before 1s", 1, "--before 1", "stable or optimal");
  refused(arm + "bdf3 --tolerance 1e-3", 1, "--tolerance 0.001", "stable or optimal");
  refused(arm + "stable --solver direct", 1, "--solver direct", "method optimal");
  refused(arm + "optimal --solver other", 1, "--solver other", "direct or indirect");
  refused(arm + "stable --force", 1, "--force", "goes forward");
  refused(arm + "stable --form original", 1, "--form original", "goes forward");
  refused(arm + "stable --until -1", 1, "--until -1", "a time");
  refused(arm + "stable --after 1s --until 5s", 1, "--until 5: expected 2", "one of both alone");
  const Outcome indirect = panto("invert " + arm + "optimal --solver indirect --tolerance 1e-4");
  EXPECT_EQ(indirect.exit_code, 0) << indirect.err;
  EXPECT_NE(indirect.out.find("indirect"), std::string::npos) << indirect.out;
}

TEST_F(InvertVerb, SaysWhatIsWrongInARedefinition) {
  refused("flexible_arm --output \"atan2(tip_y, tip_x)\" --by drive --weight 0.5 --to 30deg", 2,
          "E1086", "were the links rigid");
  refused("manipulator_2d --output z --by u --to 30deg --redefine alpha --weight -1", 2, "E1086",
          "a weight is from 0 to 1, not -1");
  const std::string arm =
      "flexible_two_link --output tip_x,tip_y --by shoulder,elbow --to 1.8,0.1 ";
  refused(arm + "--redefine \"L1*cos(alpha),L1*sin(alpha)\" --along nosuch", 2, "E1006",
          "redefine, along");
  refused(arm + "--redefine \"L1*cos(alpha),L1*sin(alpa)\"", 2, "E1006", "redefine, rigid");
}

TEST_F(InvertVerb, EndsWhereTheLastWordSaysSo) {
  const auto last = [&](const std::string& arguments) {
    const Outcome run = panto("invert " + arguments + " --no-verify --json");
    EXPECT_EQ(run.exit_code, 0) << arguments << ": " << run.err;
    return run.exit_code == 0 ? run.json()["t"].back().get<double>() : 0;
  };
  const std::string arm = "manipulator_2d --output z --by u --to 30deg --method stable ";
  EXPECT_NEAR(last(arm + "--after 1s --until 2s"), 2, 1e-9);
  const std::string head =
      "model = \"manipulator_2d\"\nservo = [{ output = \"z\", by = \"u\" }]\npath = { to = "
      "[\"30 deg\"], duration = 1 }\n";
  put("after.toml", head + "method = { name = \"stable\", after = 1 }\n");
  EXPECT_NEAR(last("after.toml --until 3s"), 3, 1e-9);
  put("until.toml", head + "until = 3\nmethod = { name = \"stable\" }\n");
  EXPECT_NEAR(last("until.toml --after 1s"), 2, 1e-9);
  // Both of them, of a path that is longer now.
  put("both.toml", head + "until = 2\nmethod = { name = \"stable\", after = 1 }\n");
  EXPECT_NEAR(last("both.toml"), 2, 1e-9);
  refused("both.toml --in 2s", 2, "E1072", "one of them says all");
}

// The plant has not moved when the horizon begins: with one too short it cannot follow.
TEST_F(InvertVerb, VerifiesFromRest) {
  const Outcome run = panto(
      "invert manipulator_2d --output z --by u --to 30deg --method stable --smooth 2 --step 1ms "
      "--before 0.05 --after 0.05 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W1077"), std::string::npos) << run.err;
  EXPECT_NEAR(run.json()["tracking_max"][0].get<double>(), 0.0168, 5e-4);
}

TEST_F(InvertVerb, WritesAPageWithTheDesiredPathAndTellsWhereALimitIsExceeded) {
  const Outcome run = panto(
      "invert cable_robot_reduced --to 11,-7 --in 10s --smooth 4 --limit u_T=-0.5m/s..0.5m/s "
      "--view crane.html");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W1041"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("actuator \"u_T\" exceeds its limit from t = "), std::string::npos);
  const std::string page = text_of(path("crane.html"));
  const std::string begin = "id=\"report\">";
  const size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const json report =
      json::parse(page.substr(at + begin.size(), page.find("</script>", at) - at - begin.size()));
  ASSERT_EQ(report["scene"]["paths"].size(), 1u);
  const json& points = report["scene"]["paths"][0]["points"];
  EXPECT_EQ(points.front(), (json{15.0, -4.0, 0.0}));
  EXPECT_EQ(points.back(), (json{11.0, -7.0, 0.0}));
  EXPECT_EQ(report["motions"].size(), 1u);
  std::vector<std::string> titles;
  for (const json& p : report["panels"]) titles.push_back(p["title"]);
  for (const char* title : {"x_P", "Error of z_P", "u_T", "Coordinates in m", "Speeds in rad/s",
                            "Poles and zeros", "Analysis and cycles"})
    EXPECT_NE(std::find(titles.begin(), titles.end(), title), titles.end()) << title;
  const Outcome wrong = panto("invert cable_robot_reduced --to 11,-7 --limit u_T=3");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.err.find("--limit u_T=3: expected an actuator and its range"), std::string::npos);
}

TEST_F(InvertVerb, TellsWhatKindOfInverseItIs) {
  const Outcome run = panto("invert mass_on_car --analyse --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  const json& a = j["analysis"];
  EXPECT_EQ(j["model"], "mass_on_car");
  EXPECT_FALSE(j.contains("t"));
  EXPECT_EQ(a["class"], "marginal");
  EXPECT_EQ(a["configuration"], "tangential");
  EXPECT_EQ(a["regular"], true);
  EXPECT_EQ(a["decoupling_regular"], true);
  EXPECT_EQ(a["reachable"], 0);
  EXPECT_EQ(a["poles"].size(), 6u);
  EXPECT_EQ(a["relative_degree"], json::array({4}));
  EXPECT_EQ(a["total_relative_degree"], 4);
  EXPECT_EQ(a["index"], 5);
  EXPECT_EQ(a["motion_index"], 5);
  EXPECT_TRUE(a.contains("plant_index"));
  EXPECT_EQ(a["smoothness"], 4);
  // Drücker (2022), Table 5.1: ±i √(k2/m3) / sin α.
  for (const char* zeros : {"zeros", "zeros_qz", "zeros_second_order"}) {
    ASSERT_EQ(a[zeros].size(), 2u) << zeros;
    for (const json& zero : a[zeros])
      EXPECT_NEAR(std::abs(zero[1].get<double>()), 1 / std::sin(std::numbers::pi / 12), 1e-6);
  }
  const Outcome damped = panto("invert mass_on_car --analyse --set d1=1 --set d2=1");
  ASSERT_EQ(damped.exit_code, 0) << damped.err;
  EXPECT_NE(damped.out.find("minimum phase"), std::string::npos) << damped.out;
}

TEST_F(InvertVerb, AnalysesTheOutputThatIsFollowedInPlaceOfAnother) {
  const std::string arm = "invert manipulator_2d --output z --by u --redefine alpha --analyse ";
  const Outcome run = panto(arm + "--weight 0.3 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["analysis"]["class"], "minimum phase");
  // |s|² = 120 / (1 - Γ/0.8) with a share Γ of the output.
  EXPECT_NEAR(j["analysis"]["zeros"][0][1].get<double>(), 13.8564, 1e-3);
  EXPECT_EQ(j["redefined"]["weight"], 0.3);
  EXPECT_NEAR(j["redefined"]["limit"].get<double>(), 0.8, 1e-3);
  EXPECT_EQ(j["redefined"]["zeros"].size(), 21u);
  EXPECT_TRUE(j["redefined"]["true"].empty());
  const Outcome told = panto(arm);
  EXPECT_NE(told.out.find("minimum phase up to"), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("zero furthest right"), std::string::npos) << told.out;
  EXPECT_EQ(told.out.find("error of the true output"), std::string::npos) << told.out;
  const Outcome beyond = panto(arm + "--weight 0.9");
  EXPECT_NE(beyond.err.find("W1031"), std::string::npos) << beyond.err;
}

TEST_F(InvertVerb, RefusesWhatAnAnalysisHasNoUseFor) {
  const std::string arm = "manipulator_2d --output z --by u --analyse ";
  for (const char* option :
       {"--csv u.csv", "--view u.html", "--until 2s", "--limit u=-1..1", "--force", "--no-verify"})
    refused(arm + option, 1, option, "no --analyse beside it");
}

TEST_F(InvertVerb, RefusesWhatHasNoStableInverse) {
  const Outcome run = panto("invert manipulator_2d --output z --by u --to 0.5 --json");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("E1031"), std::string::npos) << run.err;
  EXPECT_EQ(run.json()["diagnostics"][0]["id"], "E1031");
  const Outcome told = panto("invert manipulator_2d --output z --by u --analyse --json");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(told.json()["analysis"]["class"], "non-minimum phase");
  const Outcome forced = panto(
      "invert manipulator_2d --output z --by u --to 0.5 --until 0.1s --force --no-verify --json");
  ASSERT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_NE(forced.err.find("W1031"), std::string::npos) << forced.err;
  EXPECT_EQ(forced.json()["t"].size(), 11u);
  EXPECT_TRUE(forced.json()["achieved"].empty());
}

TEST_F(InvertVerb, NamesThatDoNotExistAreToldWithTheNearest) {
  refused("manipulator_2d --output zz --by u --to 1", 2, "E1003", "did you mean \"z\"");
  refused("cable_robot_reduced --by u_T,u_M --to 1,1", 2, "E1003", "did you mean \"u_");
  refused("manipulator_2d --output z --by u,u --to 1", 2, "E1002", "u");
  refused("mass_on_car --to 4,5", 2, "E1011", "2 at the end");
  refused("mass_on_car --to 4 --step 0s", 2, "E1007", "step");
}

TEST_F(InvertVerb, CommandLinesThatCannotBeUnderstood) {
  refused("mass_on_car", 1, "E0001", "where to?");
  refused("mass_on_car --to x", 1, "E0001", "--to x: expected values");
  refused("mass_on_car --to 4 --in x", 1, "E0001", "--in x: expected a time");
  refused("mass_on_car --to 4 --step x", 1, "E0001", "--step x: expected a time");
  refused("mass_on_car --to 4 --until x", 1, "E0001", "--until x: expected a time");
  refused("mass_on_car --to 4 --method bdf7", 1, "E0001", "--method bdf7: expected euler");
  refused("mass_on_car --to 4 --form new", 1, "E0001", "--form new: expected original");
}

TEST_F(InvertVerb, AStudySaysMoreAndTheCommandLineStandsOverIt) {
  put("crane.toml", R"toml(model = "cable_robot_reduced"
until = "12 s"
path = { to = [11, -7], duration = "10 s", smooth = 4 }
method = { name = "bdf3", step = "20 ms" }
limits = { u_T = ["-0.5 m/s", "0.5 m/s"] }
)toml");
  const Outcome run = panto("invert crane.toml --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W1041"), std::string::npos) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["analysis"]["class"], "flat");
  ASSERT_EQ(j["t"].size(), 601u);
  EXPECT_NEAR(j["desired"]["x_P"].back().get<double>(), 11, 1e-9);
  EXPECT_EQ(j["tracking_max"].size(), 2u);
  for (const json& e : j["tracking_max"]) EXPECT_LT(e.get<double>(), 1e-4);
  const Outcome over =
      panto("invert crane.toml --to 15,-6 --in 2s --until 2s --step 50ms --no-verify --json");
  ASSERT_EQ(over.exit_code, 0) << over.err;
  EXPECT_EQ(over.json()["t"].size(), 41u);
  EXPECT_NEAR(over.json()["desired"]["z_P"].back().get<double>(), -6, 1e-9);
  EXPECT_EQ(panto("invert crane.toml --set g=9").exit_code, 1);
  put("broken.toml", "model = \"mass_on_car\"\npath = { to = 4 }\n");
  refused("broken.toml", 2, "E0111", "duration");
}

TEST_F(InvertVerb, TriesTheFeedbackOfAStudy) {
  put("disks.toml", R"(
model = "torsional_oscillator"
set = { n = 2 }
until = "6 s"
path = { to = [1], duration = "3 s" }
limits = { u = [-0.5, 0.5] }
feedback = [{ law = "none" }, { law = "lqr", q = 10, r = 1 }]
perturbed = [{ name = "turned", start = { phi1 = 0.2, phi2 = 0.2, phi3 = 0.2 } }]
monte_carlo = { draws = 3, factor = { k = 0.1 } }
)");
  const Outcome run = panto("invert disks.toml --csv loops.csv --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W1061"), std::string::npos) << run.err;
  const json j = run.json();
  ASSERT_EQ(j["loops"].size(), 4u);
  EXPECT_EQ(j["loops"][3]["feedback"], "lqr");
  EXPECT_EQ(j["loops"][3]["plant"], "turned");
  EXPECT_NEAR(j["loops"][1]["tracking"]["z"]["final"].get<double>(), 0.2, 0.05);
  EXPECT_LT(std::abs(j["loops"][3]["tracking"]["z"]["final"].get<double>()), 0.02);
  EXPECT_GT(j["loops"][3]["inputs"]["u"]["saturated"].get<double>(), 0);
  EXPECT_EQ(j["feedback"][1]["gains"][0][0].size(), 6u);
  EXPECT_EQ(j["monte_carlo"]["feedback"][1]["draws"], 3);
  EXPECT_EQ(j["monte_carlo"]["drawn"]["factor k"].size(), 3u);
  const std::string csv = text_of(path("loops.csv"));
  EXPECT_NE(csv.substr(0, csv.find('\n')).find("lqr.turned.z"), std::string::npos);
  const Outcome text = panto("invert disks.toml --csv loops.h5");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* words : {"rms error", "turned", "in a limit", "95 % below"})
    EXPECT_NE(text.out.find(words), std::string::npos) << text.out;
  put("bad.toml", R"(
model = "torsional_oscillator"
path = { to = [1], duration = "3 s" }
feedback = [{ law = "lqr", q = 10, r = 1 }]
perturbed = [{ factor = { kay = 2 } }]
)");
  refused("bad.toml", 2, "E1057", "kay");
}

}  // namespace
}  // namespace panto::cli
