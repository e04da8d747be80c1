// `panto observe` with settings of a kinematic observer.
#include <cmath>
#include <filesystem>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

class KinematicVerb : public Program {
 protected:
  void SetUp() override {
    ASSERT_EQ(panto("simulate slider_crank --until 1 --sample 0.002 --seed 1 --csv run.csv --out "
                    "run.h5")
                  .exit_code,
              0);
    put("kkf.toml", "[kinematic]\n\n[forces]\nunknown = [{ name = \"F\", walk = 100 }]\n");
  }
};

TEST_F(KinematicVerb, CsvAndHdf5GiveTheSameEstimatesAsTableJsonAndFiles) {
  const Outcome run = panto("observe slider_crank run.csv --settings kkf.toml --json -o est.csv");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["steps"], 500);
  EXPECT_EQ(j["filter"], "ss_ukf");
  EXPECT_EQ(j["channels"]["slider_accelerometer"]["role"], "input");
  EXPECT_EQ(j["channels"]["torque_meter"]["role"], "force");
  EXPECT_EQ(j["channels"]["crank_encoder"]["used"], 500);
  EXPECT_NEAR(j["nis"].get<double>(), 1, 0.3);
  EXPECT_GT(j["crossings"].get<int>(), 0);
  EXPECT_EQ(j["restarts"], 0);
  EXPECT_GT(j["leave"].get<double>(), j["enter"].get<double>());
  for (const char* name : {"theta", "theta_dot", "theta_ddot", "force F", "slider_x"})
    EXPECT_TRUE(j["final"].contains(name)) << name;
  EXPECT_GT(j["final"]["theta_ddot"]["sigma"].get<double>(), 0);
  EXPECT_GT(j["final"]["force F"]["sigma"].get<double>(), 0);
  const std::string csv = text_of(path("est.csv"));
  for (const char* words :
       {"force F [N],force F.sigma [N]", "crank_encoder.innovation [rad]",
        "nis,zone,slider_accelerometer.reading,crank_encoder.reading,torque_meter.reading",
        "used,used,used"})
    EXPECT_NE(csv.find(words), std::string::npos) << words;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 502);

  const Outcome other =
      panto("observe slider_crank run.h5 --settings kkf.toml --outputs slider_x --json -o est.h5");
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(other.json()["final"]["theta"], j["final"]["theta"]);
  EXPECT_FALSE(other.json()["final"].contains("slider_v"));
  EXPECT_TRUE(std::filesystem::exists(path("est.h5")));
  const Outcome table = panto("observe slider_crank run.csv --settings kkf.toml --filter ekf");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* words :
       {"kinematic observer, ekf", "crank_encoder [rad]", "singular zone entered",
        "0 repeated, 0 backward, 0 jumps", "force F [N]", "µs per step"})
    EXPECT_NE(table.out.find(words), std::string::npos) << words << "\n" << table.out;
}

TEST_F(KinematicVerb, BadReadingsAndStampsAreCounted) {
  put("bad.csv",
      "t,slider_accelerometer,crank_encoder\n"
      "0,-86.4,0\n0.002,-86.2,0.024\n0.004,,0.048\n0.004,-86,0.048\n0.001,-86,0\n"
      "0.006,inf,0.072\n0.008,-85,0.072\n0.01,-85,0.072\n99,-85,0\n");
  put("watch.toml",
      "[kinematic]\ninputs = [{ name = \"slider_accelerometer\", hold = \"10 ms\" }]\n"
      "sensors = [{ name = \"crank_encoder\", frozen_after = 3 }]\n");
  const Outcome run = panto("observe slider_crank bad.csv --settings watch.toml --json -o est.csv");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["repeated"], 1);
  EXPECT_EQ(j["backward"], 1);
  EXPECT_EQ(j["jumps"], 1);
  EXPECT_EQ(j["channels"]["slider_accelerometer"]["held"], 1);
  EXPECT_EQ(j["channels"]["slider_accelerometer"]["not_finite"], 1);
  EXPECT_EQ(j["channels"]["crank_encoder"]["frozen"], 1);
  const std::string csv = text_of(path("est.csv"));
  EXPECT_NE(csv.find("held,used"), std::string::npos) << csv;
  EXPECT_NE(csv.find("used,frozen"), std::string::npos) << csv;
  // No state holds the accelerations: their deviation is not known.
  EXPECT_TRUE(j["final"]["theta_ddot"]["sigma"].is_null());
}

TEST_F(KinematicVerb, AdviceChecksTheSetAndRanksCandidates) {
  const Outcome run = panto(
      "observe slider_crank --settings kkf.toml --advise --json --candidates "
      "slider_accelerometer,theta=0.003,slider_x=0.001 -o advice.csv");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["degrees_of_freedom"], 1);
  EXPECT_FALSE(j["check"]["exists"].get<bool>());  // dead centres
  EXPECT_TRUE(j["check"]["observable"].get<bool>());
  EXPECT_GT(j["check"]["failing"].size(), 3U);
  // The slider's acceleration says nothing of the crank's where crank and rod are in line.
  const json& pose = j["check"]["failing"][0]["pose"];
  EXPECT_LT(std::abs(std::sin(pose["phi"].get<double>())), 0.2);
  EXPECT_EQ(j["sets"].size(), 2U);
  EXPECT_EQ(j["sets"][0]["sensors"][0], "theta");
  EXPECT_NE(text_of(path("advice.csv")).find("1,\"slider_accelerometer\",\"theta\""),
            std::string::npos);
  const Outcome table = panto("observe slider_crank --settings kkf.toml --advise");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* words :
       {"at least 1 independent sensor of acceleration", "fails from", "verdict"})
    EXPECT_NE(table.out.find(words), std::string::npos) << words << "\n" << table.out;
}

TEST_F(KinematicVerb, LinesAreAnswered) {
  put("in",
      "{\"t\": 0, \"slider_accelerometer\": -86.4, \"crank_encoder\": 0, \"torque_meter\": 0}\n"
      "{\"t\": 0.002, \"slider_accelerometer\": -86.2, \"crank_encoder\": 0.024}\n"
      "{\"t\": 0.002, \"crank_encoder\": 0.024}\n"
      "{\"t\": 0.004, \"crank_encodr\": 0.024}\n{\"end\": true}\n");
  const std::string command = "cd '" + path("") + "' && '" + PANTO_PROGRAM +
                              "' observe slider_crank --live --settings kkf.toml <in >out 2>err";
  ASSERT_EQ(std::system(command.c_str()), 0) << text_of(path("err"));  // NOLINT: a shell
  std::istringstream lines(text_of(path("out")));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  const json j = json::parse(line);
  EXPECT_TRUE(j.contains("force F_sigma"));
  EXPECT_EQ(j["readings"]["crank_encoder"], "used");
  EXPECT_EQ(j["readings"]["torque_meter"], "none");
  EXPECT_TRUE(j["zone"].is_boolean());
  std::getline(lines, line);
  EXPECT_NE(line.find("is not after"), std::string::npos) << line;
  std::getline(lines, line);
  EXPECT_NE(line.find("did you mean"), std::string::npos) << line;
  EXPECT_NE(text_of(path("err")).find("1 repeated"), std::string::npos);
}

TEST_F(KinematicVerb, WhatDoesNotGoTogetherIsAUsageError) {
  for (const std::string options :
       {"run.csv --sensors crank_encoder", "run.csv --tune", "run.csv --smooth", "run.csv --lag 1",
        "run.csv --restart present", "run.csv --spare 1", "--advise --largest 2",
        "--advise --threads 2", "run.csv -o est.txt", "--advise -o advice.h5", "--live --smooth"})
    EXPECT_EQ(panto("observe slider_crank " + options + " --settings kkf.toml").exit_code, 1)
        << options;
  EXPECT_EQ(panto("observe slider_crank --advise --spare 1").exit_code, 1);
}

TEST_F(KinematicVerb, BadInputEndsWithTwoAndWritesNothing) {
  const auto bad = [&](const std::string& settings, const std::string& arguments,
                       const std::string& id) {
    put("bad.toml", settings);
    const Outcome run = panto("observe " + arguments + " --settings bad.toml -o est.csv --json");
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_NE(run.out.find(id), std::string::npos) << arguments << "\n" << run.out;
    EXPECT_FALSE(std::filesystem::exists(path("est.csv"))) << arguments;
  };
  bad("[kinematic]\ntoop = 1\n", "slider_crank run.csv", "E0110");
  bad("[kinematic]\n", "slider_crank run.csv --filter ukff", "E0801");
  bad("[kinematic]\n", "slider_crank run.csv --outputs torque", "E0805");
  bad("[kinematic]\n", "slider_crank_kkf run.csv", "E0805");
  bad("[kinematic]\n", "slider_crank_kkf --advise", "E0805");
  bad("[kinematic]\nsensors = [{ name = \"slider_x\", sigma = 0.1 }]\n"
      "inputs = [{ name = \"slider_accelerometer\" }]\n",
      "slider_crank short.csv", "E0621");
  put("short.csv", "t,crank_encoder\n0,1\n");
  bad("[kinematic]\n", "slider_crank short.csv", "E0802");
  put("nothing.csv", "t,crank_encoder,slider_accelerometer\n0,,\n1,,\n");
  bad("[kinematic]\n", "slider_crank nothing.csv", "E0815");
  bad("[kinematic]\n[forces]\nunknown = [\"F\"]\nmeasured = [{ name = \"T\", sigma = 1 }]\n",
      "slider_crank nothing.csv", "E0810");
}

}  // namespace
}  // namespace panto::cli
