// `panto poses` and `panto identify`, alone and under mpirun.
#include <cmath>
#include <filesystem>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

constexpr const char* kStudy = R"toml(
model = "three_link"
parameters = { kA = { start = 30 }, kB = { start = 20 }, kC = { start = 10 } }
[[pose]]
name = "straight"
at = { theta_B = 0, theta_C = 0 }
frequencies = [16.946036, 83.064916, 229.156590]
sigma = "0.05 Hz"
)toml";

class IdentificationVerbs : public Program {};

TEST_F(IdentificationVerbs, PosesAsJsonTableAndPage) {
  const Outcome run = panto(
      "poses three_link --parameters kA,kB,kC --poses 40 --samples 50 --best 3 --together 2 "
      "--ranges theta_B=-90deg:90deg,theta_C=-90deg:90deg --csv p.csv --view p.html --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["poses"].size(), 3U);
  EXPECT_EQ(j["together"]["poses"].size(), 2U);
  EXPECT_EQ(j["features"], (std::vector<std::string>{"f1", "f2", "f3"}));
  const json& best = j["poses"][0];
  EXPECT_EQ(best["correlation"].size(), 3U);
  EXPECT_EQ(best["told_by"]["kC"], "f3");
  EXPECT_EQ(best["coordinates"]["theta_A"], 0.0);
  EXPECT_GE(best["score"].get<double>(), j["poses"][1]["score"].get<double>());
  const std::string csv = text_of(path("p.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 41);
  EXPECT_NE(csv.find("theta_B [rad]"), std::string::npos);
  EXPECT_NE(text_of(path("p.html")).find("Correlation in the best pose"), std::string::npos);
}

TEST_F(IdentificationVerbs, PosesAreTheSameForThreadsAndRanks) {
  const std::string question =
      "poses three_link --parameters kA,kB,kC --poses 30 --samples 40 --json";
  const Outcome one = panto(question + " --threads 1"), two = panto(question + " --threads 2");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, two.out);
  const std::string mpirun =
      "cd '" + path("") +
      "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -n 2 '" PANTO_PROGRAM "' " +
      question + " >ranks.json 2>ranks.err";
  ASSERT_EQ(std::system(mpirun.c_str()), 0) << text_of(path("ranks.err"));
  EXPECT_EQ(text_of(path("ranks.json")), one.out);
}

TEST_F(IdentificationVerbs, IdentifyListsAllSolutionsAndWritesTheModel) {
  put("study.toml", kStudy);
  const Outcome run = panto("identify study.toml -o identified.toml --view i.html --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("W0714"), std::string::npos);
  const json j = run.json();
  EXPECT_EQ(j["unique"], false);
  int exact = 0;
  for (const json& s : j["solutions"]) exact += s["explains"].get<bool>() ? 1 : 0;
  EXPECT_EQ(exact, 4);
  for (const char* key : {"value", "std", "bounds_hit"})
    EXPECT_TRUE(j["parameters"]["kA"].contains(key)) << key;
  EXPECT_EQ(j["frequencies"].size(), 3U);
  EXPECT_NEAR(j["frequencies"][1]["fitted"].get<double>(), 83.064916, 1e-6);
  EXPECT_LT(j["cost"].get<double>(), 1e-9);
  // What was written is a model with those frequencies.
  const Outcome modes = panto("modes identified.toml --here --json");
  ASSERT_EQ(modes.exit_code, 0) << modes.err;
  EXPECT_NEAR(modes.json()["frequencies_hz"][2].get<double>(), 229.156590, 1e-5);
  EXPECT_NE(text_of(path("i.html")).find("All minima that were found"), std::string::npos);
}

TEST_F(IdentificationVerbs, IdentifyByInteriorPointFromOneStart) {
  put("study.toml", kStudy);
  const Outcome run = panto("identify study.toml --method interior_point --starts 1");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("95 % interval"), std::string::npos);
}

TEST_F(IdentificationVerbs, BadInputEndsWithTwoAndWritesNothing) {
  put("study.toml",
      "model = \"three_link\"\nparameters = { kA = {}, kB = {} }\n"
      "[[pose]]\nfrequencies = [-1]\n");
  const Outcome run = panto("identify study.toml -o out.toml --json");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.json()["diagnostics"][0]["id"], "E0710");
  EXPECT_FALSE(std::filesystem::exists(path("out.toml")));
  EXPECT_EQ(panto("identify nowhere.toml").exit_code, 2);
  EXPECT_EQ(panto("poses three_link").exit_code, 1);
  EXPECT_EQ(panto("poses three_link --parameters kA --ranges theta_B=1").exit_code, 1);
  EXPECT_EQ(panto("poses three_link --parameters kA --ranges theta_X=0:1").exit_code, 2);
  EXPECT_EQ(panto("poses three_link --parameters kA --spread 200").exit_code, 2);
  EXPECT_EQ(panto("poses three_link --parameters kA --poses 0").exit_code, 2);
}

}  // namespace
}  // namespace panto::cli
