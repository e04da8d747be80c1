// `panto observe STUDY.toml`, alone and under mpirun.
#include <cmath>
#include <filesystem>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

constexpr const char* kStudy = R"toml(
model = "fourbar_sanjurjo"
truth = { integrator = "trapezoidal" }
until = "10 s"
dt = "5 ms"
noise = "splitmix64"
seeds = [1, 2]
channels = ["theta"]
rates = ["200 Hz", "50 Hz"]
[[error]]
name = "high"
set = { g = 9, "initial.theta" = "pi/3 + pi/16" }
[[sensors]]
name = "encoder"
use = ["crank_encoder"]
[[sensors]]
name = "crank gyro"
use = ["crank_gyro"]
[[filter]]
filter = "dekf"
acceleration_noise = "5.25*pi/180"
[[filter]]
filter = "ukf_fe"
acceleration_noise = "5.25*pi/180"
)toml";

class ObserveVerb : public Program {};

TEST_F(ObserveVerb, RowsAndCellsOfATwinStudy) {
  put("study.toml", kStudy);
  const Outcome run = panto("observe study.toml --json -o rows.csv --view page.html");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  ASSERT_EQ(j["rows"].size(), 16U);
  ASSERT_EQ(j["cells"].size(), 8U);
  for (const char* key :
       {"filter", "sensors", "rate_hz", "error_level", "seed", "rmse", "coverage95", "nis_mean",
        "diverged", "lost", "lost_at", "restarts", "us_per_step"})
    EXPECT_TRUE(j["rows"][0].contains(key)) << key;
  // Measured with the authors' implementation on sequence 1 (mrad).
  const auto rmse = [&](const char* filter, const char* sensors, double rate) {
    for (const json& r : j["rows"])
      if (r["filter"] == filter && r["sensors"] == sensors && r["rate_hz"] == rate &&
          r["seed"] == 1)
        return 1e3 * r["rmse"]["theta"].get<double>();
    return std::nan("");
  };
  EXPECT_NEAR(rmse("dekf", "encoder", 200), 5.283, 0.005);
  EXPECT_NEAR(rmse("dekf", "encoder", 50), 12.529, 0.012);
  EXPECT_NEAR(rmse("ukf_fe", "encoder", 200), 5.345, 0.005);
  EXPECT_NEAR(rmse("dekf", "crank gyro", 200), 194.416, 0.19);
  EXPECT_NEAR(rmse("ukf_fe", "crank gyro", 50), 36.205, 0.036);
  // The constant transition hides the angle, which is said in words.
  EXPECT_NE(run.err.find("W0834"), std::string::npos);
  EXPECT_NE(run.err.find("do not show theta (crank angle)"), std::string::npos);
  const std::string csv = text_of(path("rows.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
  EXPECT_NE(text_of(path("page.html")).find("Spectrum of the innovations"), std::string::npos);
}

TEST_F(ObserveVerb, NumbersAreTheSameForThreadsAndRanks) {
  put("study.toml", kStudy);
  const auto numbers = [](const std::string& text) {
    json j = json::parse(text);
    for (json& r : j["rows"]) r.erase("us_per_step");
    return j["rows"];
  };
  const Outcome one = panto("observe study.toml --threads 1 --json");
  const Outcome two = panto("observe study.toml --threads 2 --json");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(numbers(one.out), numbers(two.out));
  const std::string mpirun =
      "cd '" + path("") +
      "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -n 2 '" PANTO_PROGRAM "' observe study.toml --json >ranks.json 2>ranks.err";
  ASSERT_EQ(std::system(mpirun.c_str()), 0) << text_of(path("ranks.err"));
  EXPECT_EQ(numbers(text_of(path("ranks.json"))), numbers(one.out));
}

TEST_F(ObserveVerb, ATunedStudyRunsAndItsRowsGoToHdf5) {
  put("study.toml", std::string(kStudy) + "[[filter]]\nfilter = \"cekf\"\n");
  const Outcome tuned = panto("observe study.toml --tune --json -o tuned.toml");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const json j = tuned.json()["tunings"];
  ASSERT_EQ(j.size(), 4U);
  EXPECT_EQ(j[0]["filter"], "dekf");
  EXPECT_TRUE(j[0]["noise"].contains("theta_dot"));
  EXPECT_NE(tuned.err.find("W0805"), std::string::npos) << tuned.err;
  const Outcome run = panto("observe tuned.toml --json -o rows.h5 --series");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.json()["rows"].size(), 16U);
  EXPECT_TRUE(run.json()["rows"][0]["lost_at"].is_null());
  const std::string file = text_of(path("rows.h5"));
  EXPECT_EQ(file.substr(1, 3), "HDF");
  for (const char* name : {"pantograph twin study", "error_level", "lost_at", "innovation_sigma"})
    EXPECT_NE(file.find(name), std::string::npos) << name;
  EXPECT_EQ(panto("observe study.toml -o rows.txt").exit_code, 1);
  EXPECT_EQ(panto("observe study.toml --series").exit_code, 1);
  EXPECT_EQ(panto("observe study.toml --tune --tune-sensors").exit_code, 1);
  EXPECT_EQ(panto("observe study.toml --advise").exit_code, 1);
  EXPECT_EQ(panto("observe study.toml --filter ukf").exit_code, 1);
  EXPECT_EQ(panto("observe study.toml --smooth").exit_code, 1);
}

TEST_F(ObserveVerb, BadStudiesEndWithTwo) {
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = kStudy;
    text.replace(text.find(from), from.size(), to);
    put("study.toml", text);
    const Outcome run = panto("observe study.toml --json -o rows.csv");
    EXPECT_EQ(run.exit_code, 2) << to;
    EXPECT_FALSE(std::filesystem::exists(path("rows.csv")));
    return run.exit_code == 2 ? run.json()["diagnostics"][0]["id"].get<std::string>() : "";
  };
  EXPECT_EQ(with("filter = \"dekf\"", "filter = \"dekff\""), "E0801");
  EXPECT_EQ(with("\"crank_encoder\"", "\"crank_encodre\""), "E0802");
  EXPECT_EQ(with("[\"crank_encoder\"]", "[{ name = \"theta_dot\" }]"), "E0803");
  EXPECT_EQ(with("acceleration_noise = \"5.25*pi/180\"", "acceleration_noise = -1"), "E0804");
  EXPECT_EQ(with("acceleration_noise = \"5.25*pi/180\"", "sigma_speeds = 0"), "E0804");
  EXPECT_EQ(with("\"50 Hz\"", "\"60 Hz\""), "E0807");
  EXPECT_EQ(with("acceleration_noise = \"5.25*pi/180\"", "sensors = \"gyro\""), "E0808");
  EXPECT_EQ(with("[\"theta\"]", "[\"thetta\"]"), "E0809");
  EXPECT_EQ(with("until = \"10 s\"", "until = \"10 m\""), "E0302");
  EXPECT_EQ(with("seeds", "seads"), "E0110");
}

}  // namespace
}  // namespace panto::cli
