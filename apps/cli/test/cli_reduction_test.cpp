// `panto reduce`.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

constexpr const char* kFeeder = R"toml(
masters = ["tray.1.y", "tray.5.y", "exciter"]
[frame]
beam = [{ name = "tray", x = [0, 0.2, 0.4, 0.6, 0.8], mass_per_length = 20, bending_stiffness = 6e4 }]
mass = [{ name = "exciter", mass = "6 kg" }]
spring = [
  { between = ["exciter", "tray.5"], stiffness = "1200 kN/m" },
  { between = ["tray.2", "ground"], stiffness = 2e5 },
  { between = ["tray.4", "ground"], stiffness = 2e5 },
]
[[force]]
at = ["exciter"]
frequency = "50 Hz"
)toml";

class ReduceVerb : public Program {
 protected:
  // Matrices of two or three rows, of the entries given.
  void matrices(const char* k, const char* m) {
    put("K.mtx", std::string("%%MatrixMarket matrix array real general\n") + k);
    put("M.mtx", std::string("%%MatrixMarket matrix array real general\n") + m);
  }
  void refused(const std::string& arguments, const char* id, const char* words) {
    const Outcome run = panto("reduce " + arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(id), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  }
};

TEST_F(ReduceVerb, TellsSizesOrdersAndErrorsOfEveryRankingAsJson) {
  put("feeder.toml", kFeeder);
  const Outcome run = panto("reduce feeder.toml --modes 3,4 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["size"], 11);
  EXPECT_EQ(j["masters"], 3);
  EXPECT_EQ(j["interior"].size(), 8u);
  EXPECT_EQ(j["kept"].size(), j["reduced_size"].get<size_t>() - 3);
  EXPECT_EQ(j["names"].size(), j["reduced_size"].get<size_t>());
  for (const char* name : {"imr", "ebr", "sbe"}) {
    const json& r = j["rankings"][name];
    EXPECT_EQ(r["order"].size(), 8u) << name;
    EXPECT_EQ(r["coefficient"].size(), 8u) << name;
    const json& last = r["sizes"].back();
    EXPECT_EQ(last["size"], 11) << name;
    // All modes: exact.
    EXPECT_LT(last["epsilon"].get<double>(), 1e-9) << name;
    EXPECT_LT(last["frequency_error"].get<double>(), 1e-9) << name;
    EXPECT_NEAR(last["nco"].get<double>(), 1, 1e-9) << name;
    EXPECT_NEAR(last["mac"].get<double>(), 1, 1e-9) << name;
    EXPECT_LT(last["gain_error"].get<double>(), 1e-9) << name;
  }
  ASSERT_EQ(j["modes"].size(), 2u);
  EXPECT_EQ(j["modes"][0]["mode"], 3);
}

TEST_F(ReduceVerb, PrintsTheSizesThatWereAskedAbout) {
  // A chain of 60 masses: more sizes than the table has rows.
  const int n = 60;
  std::string k = "60 60\n", m = "60 60\n";
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      k += i == j                 ? (i + 1 == n ? "10000\n" : "20000\n")
           : std::abs(i - j) == 1 ? "-10000\n"
                                  : "0\n";
      m += i == j ? "1\n" : "0\n";
    }
  matrices(k.c_str(), m.c_str());
  const std::string chain = "reduce K.mtx --mass M.mtx --masters d60,d30 ";
  const std::string wanted = "--modes 9,11 --forces 1.7Hz:d60=1 --damping 0.01 ";
  const json rankings = panto(chain + wanted + "--json").json()["rankings"];
  const std::string text = panto(chain + wanted).out;
  const size_t priori = text.find("error by size (a priori)"),
               gain = text.find("error by size (gain, MAC)");
  ASSERT_NE(priori, std::string::npos) << text;
  ASSERT_NE(gain, std::string::npos) << text;
  for (const auto& [name, ranking] : rankings.items()) {
    const int needed = ranking["needed"].get<int>();
    ASSERT_GT(needed, 2) << name;
    std::string row = std::to_string(needed);
    row = "\n" + std::string(8 - row.size(), ' ') + row + " ";
    EXPECT_LT(text.find(row, priori), gain) << name << "\n" << text;
    EXPECT_NE(text.find(row, gain), std::string::npos) << name << "\n" << text;
    for (const auto& [other, curve] : rankings.items())
      EXPECT_TRUE(std::any_of(curve["sizes"].begin(), curve["sizes"].end(), [&](const json& p) {
        return p["size"] == needed && p["epsilon"].is_number() && p["gain_error"].is_number();
      })) << other;
  }
  const std::string kept = panto(chain + "--keep 3").out;
  EXPECT_NE(kept.find("60 degrees of freedom -> 5"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("error by size"), std::string::npos) << kept;
}

TEST_F(ReduceVerb, WritesAPageWithErrorsBySizeForEveryRanking) {
  put("feeder.toml", kFeeder);
  const Outcome run = panto("reduce feeder.toml --modes 3,4 --view r.html");
  if (run.err.find("E0640") != std::string::npos) GTEST_SKIP() << "built without the page";
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string page = text_of(path("r.html"));
  for (const char* words :
       {"Size needed", "Truncation error", "Gain error", "1 - MAC", "1 - NCO", "Frequency error",
        "Interior modes that matter most", "\"IMR\"", "\"EBR\"", "\"SBE\""})
    EXPECT_NE(page.find(words), std::string::npos) << words;
}

TEST_F(ReduceVerb, WritesModesThatAMechanismTakes) {
  put("arm.toml", R"toml(space = "planar"
body = [{ name = "rod", beam = { length = 0.8, circle = "12 mm", E = 7e10, density = 2700 } }]
joint = [{ name = "clamp", type = "weld", parent = "ground", child = "rod" }]
)toml");
  ASSERT_EQ(panto("reduce arm.toml --here --masters rod.n5 --keep 9 -o arm.h5").exit_code, 0);
  put("machine.toml", R"toml(space = "planar"
superelement = [{ name = "arm", modes = "arm.modes.csv", connect = [{ node = "rod.n5", name = "tip" }] }]
body = [{ name = "motor", mass = 1e-9, com = [0, 0], inertia = 1e-12 }]
joint = [{ name = "feet", type = "weld", parent = "arm.tip", child = "motor" }]
)toml");
  const json beam = panto("modes arm.toml --here --json").json(),
             machine = panto("modes machine.toml --here --json").json();
  const auto hz = [](const json& j, size_t i) { return j["frequencies_hz"][i].get<double>(); };
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(hz(machine, i), hz(beam, i), 1e-6 * hz(beam, i)) << i;
  EXPECT_EQ(panto("simulate machine.toml --until 0.05").exit_code, 0);
}

TEST_F(ReduceVerb, WhatTheCommandLineSaysStandsOverTheStudy) {
  put("feeder.toml", "band = [\"0 Hz\", \"20 Hz\"]\n" + std::string(kFeeder));
  const Outcome run = panto("reduce feeder.toml --modes 5 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.json()["modes"][0]["mode"], 5);
  // Forces too: that of the study, where no master is, is not looked at.
  std::string elsewhere = kFeeder;
  elsewhere.replace(elsewhere.find("at = [\"exciter\"]"), 16, "at = [\"tray.3.y\"]");
  put("elsewhere.toml", elsewhere);
  refused("elsewhere.toml", "E0914", "tray.3.y");
  EXPECT_EQ(panto("reduce elsewhere.toml --forces 50Hz:exciter=1").exit_code, 0);
}

TEST_F(ReduceVerb, TakesStudiesWithoutMasters) {
  const std::string lines = kFeeder,
                    masters = "masters = [\"tray.1.y\", \"tray.5.y\", \"exciter\"]";
  ASSERT_EQ(lines.find(masters), 1u);
  const std::string rest = lines.substr(1 + masters.size());
  put("feeder.toml", rest);
  EXPECT_EQ(panto("reduce feeder.toml --masters tray.1.y,tray.5.y,exciter").exit_code, 0);
  refused("feeder.toml", "E0906", "no masters");
  put("slip.toml", "master = [\"exciter\"]\n" + rest);
  refused("slip.toml", "E0110", "did you mean \"masters\"");
  put("plate.toml",
      "[plate]\nx = [0, 1, 2]\ny = [0, 1]\nthickness = 0.1\n"
      "youngs_modulus = 1e9\ndensity = 1000\n");
  EXPECT_EQ(panto("reduce plate.toml --masters x_min --keep 1").exit_code, 0);
  put("pendulum.toml", "model = \"flexible_pendulum\"\nwhere = \"here\"\n");
  EXPECT_EQ(panto("reduce pendulum.toml --masters beam.n9 --keep 1").exit_code, 0);
}

TEST_F(ReduceVerb, WeighsModesAsAStudyDoes) {
  const std::string rest = "modes = [3, 4, 7]\n" + std::string(kFeeder);
  put("alike.toml", rest);
  put("weighed.toml", "weights = [1, 2, 50]\n" + rest);
  const auto imr = [&](const std::string& arguments) {
    const Outcome run = panto("reduce " + arguments + " --rank imr --json");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.json()["rankings"]["imr"];
  };
  const json weighed = imr("weighed.toml");
  EXPECT_NE(imr("alike.toml"), weighed);
  EXPECT_EQ(imr("alike.toml --weights 1,2,50"), weighed);
  EXPECT_EQ(imr("alike.toml --modes 7,4,3 --weights 50,2,1"), weighed);
  refused("alike.toml --weights 1,2", "E0913", "2 weights for 3 modes");
  refused("alike.toml --weights 1,0,2", "E0913", "weights are positive");
  const Outcome words = panto("reduce alike.toml --weights much");
  EXPECT_EQ(words.exit_code, 1);
  EXPECT_NE(words.err.find("--weights much: expected numbers"), std::string::npos) << words.err;
}

TEST_F(ReduceVerb, RefusesOptionsOfForcedResponsesWithoutForces) {
  matrices("2 2\n2\n-1\n-1\n2\n", "2 2\n1\n0\n0\n1\n");
  const std::string pair = "K.mtx --mass M.mtx --masters d1 --keep 1 ";
  EXPECT_EQ(panto("reduce " + pair).exit_code, 0);
  refused(pair + "--damping 0.01", "E0913", "damping is for forced responses");
  refused(pair + "--mac 0.99", "E0913", "mac is for forced responses");
  refused(pair + "--sample d1", "E0913", "sample is for forced responses");
  EXPECT_EQ(panto("reduce " + pair + "--damping 0.01 --forces 1Hz:d1").exit_code, 0);
  put("study.toml",
      "masters = [\"d1\"]\nkeep = 1\ndamping = 0.01\n"
      "matrices = { M = \"M.mtx\", K = \"K.mtx\" }\n");
  refused("study.toml", "study.toml:3:11: error[E0913]", "damping is for forced responses");
}

TEST_F(ReduceVerb, RefusesASampleThatDoesNotMove) {
  matrices("4 4\n100\n-50\n0\n0\n-50\n100\n0\n0\n0\n0\n100\n-50\n0\n0\n-50\n100\n",
           "4 4\n1\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n");
  const std::string pairs = "K.mtx --mass M.mtx --masters d1,d3 --forces 1Hz:d1=1";
  EXPECT_EQ(panto("reduce " + pairs).exit_code, 0);
  refused(pairs + " --sample d3", "E0913", "does not move at 1 Hz");
}

TEST_F(ReduceVerb, RefusesMatricesThatAreNotWhatReductionNeeds) {
  const std::string pair = "K.mtx --mass M.mtx --keep 0 --masters ";
  matrices("2 2\n2\n-1\n-1\n2\n", "2 2\n1\n0\n0\n1\n");
  EXPECT_EQ(panto("reduce " + pair + "d1").exit_code, 0);
  refused(pair + "d7", "E0904", "d7");
  refused(pair + "d1,d2", "E0906", "nothing is left");
  matrices("2 2\n2\n-1\n-0.5\n2\n", "2 2\n1\n0\n0\n1\n");
  refused(pair + "d1", "E0902", "K is not symmetric");
  matrices("2 2\n2\n-1\n-1\n2\n", "2 2\n1\n0.3\n0\n1\n");
  refused(pair + "d1", "E0902", "M is not symmetric");
  matrices("2 2\n2\n-1\n-1\n2\n", "2 2\n1\n0\n0\n0\n");
  refused(pair + "d1", "E0903", "not positive definite");
  matrices("2 2\n2\n-1\n-1\n2\n", "2 2\n1\n2\n2\n1\n");
  refused(pair + "d1", "E0903", "not positive definite");
  matrices("2 2\n2\n-1\n-1\n-2\n", "2 2\n1\n0\n0\n1\n");
  refused(pair + "d1", "E0907", "indefinite");
  refused(pair + "d2", "E0907", "indefinite");
  matrices("3 3\n1\n0\n0\n0\n1\n-1\n0\n-1\n1\n", "3 3\n1\n0\n0\n0\n1\n0\n0\n0\n1\n");
  refused(pair + "d1", "E0905", "without strain energy");
  matrices("3 3\n1\n-1\n0\n-1\n1\n0\n0\n0\n1\n", "2 2\n1\n0\n0\n1\n");
  refused(pair + "d1", "E0901", "one size");
}

TEST_F(ReduceVerb, SaysWhatMakesAMechanismUnsymmetric) {
  const Outcome run = panto("reduce heavy_top --here --masters phi --keep 0");
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("gyroscopic"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("triangle"), std::string::npos) << run.err;
}

TEST_F(ReduceVerb, KeepsRigidMotionsWhoseMastersAreFree) {
  matrices("3 3\n1\n-1\n0\n-1\n2\n-1\n0\n-1\n1\n", "3 3\n1\n0\n0\n0\n1\n0\n0\n0\n1\n");
  const Outcome run = panto("reduce K.mtx --mass M.mtx --masters d1 --modes 1,2,3 --keep 2 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["rigid"], 1);
  EXPECT_NEAR(j["modes"][0]["frequency"].get<double>(), 0, 1e-7);
  EXPECT_NEAR(j["modes"][1]["frequency"].get<double>(), 1 / (2 * M_PI), 1e-9);
  for (const json& m : j["modes"]) EXPECT_NEAR(m["nco"].get<double>(), 1, 1e-9);
}

TEST_F(ReduceVerb, RefusesCommandLinesThatSayTooLittle) {
  put("feeder.toml", kFeeder);
  EXPECT_EQ(panto("reduce K.mtx --masters d1").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --modes 1.5").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --rank eim").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --forces 50Hz").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --forces 50Hz:=1").exit_code, 1);
  refused("feeder.toml --rank imr", "E0913", "imr ranks for modes");
  refused("feeder.toml --modes 99", "E0911", "99");
  refused("feeder.toml --forces 50Hz:tray.3.y=1", "E0914", "tray.3.y");
  refused("feeder.toml --band 0,1e-3Hz", "E0911", "no elastic mode");
  EXPECT_EQ(panto("reduce feeder.toml --band 0,180mm").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --forces 50kg:exciter=1").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --mass M.mtx").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml --at q=1").exit_code, 1);
  EXPECT_EQ(panto("reduce feeder.toml -o r.txt").exit_code, 1);
  EXPECT_NE(panto("reduce feeder.toml --candidates 0").err.find("not in range 1 to 1000000"),
            std::string::npos);
  // Nothing is ignored because it is negative, and nothing is written where something is refused.
  put("r.h5", "before");
  refused("feeder.toml --damping -0.1 -o r.h5", "E0913", "damping ratio -0.1");
  refused("feeder.toml --mac -1 -o r.h5", "E0913", "MAC -1");
  refused("feeder.toml --mac 0 -o r.h5", "E0913", "MAC 0");
  refused("feeder.toml --tolerance -1% -o r.h5", "E0913", "tolerance -0.01");
  refused("feeder.toml --keep 9 -o r.h5", "E0913", "there are 8");
  EXPECT_EQ(text_of(path("r.h5")), "before");
}

}  // namespace
}  // namespace panto::cli
