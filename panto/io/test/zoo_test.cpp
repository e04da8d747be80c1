// Every mechanism of the zoo reads and compiles without a word, and has a page that says where its numbers come from.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "panto/io/load.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

std::set<std::string> outputs_of(const Model& model) {
  std::set<std::string> names;
  for (const Output& output : model.outputs) names.insert(output.name);
  return names;
}

TEST(Zoo, EveryFolderHoldsAModelAndItsPage) {
  const std::string folder = zoo_folder();
  ASSERT_FALSE(folder.empty());
  int models = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    ++models;
    EXPECT_TRUE(fs::is_regular_file(entry.path() / "model.toml")) << entry.path();
    EXPECT_TRUE(fs::is_regular_file(entry.path() / "README.md")) << entry.path();
  }
  EXPECT_EQ(models, static_cast<int>(zoo_names().size()));
  EXPECT_GE(models, 30);
}

TEST(Zoo, EveryModelCompilesWithoutErrorsAndWarnings) {
  for (const std::string& name : zoo_names()) {
    const Result<Model> model = load(name);
    EXPECT_TRUE(model) << name << "\n" << model.diagnostics().text();
    if (!model) continue;
    EXPECT_EQ(model.diagnostics().text(), "") << name;
    EXPECT_EQ(model->name, name);
    EXPECT_FALSE(model->title.empty()) << name;
    EXPECT_FALSE(model->outputs.empty()) << name;
    EXPECT_GT(model->run.until, 0) << name;
  }
}

TEST(Zoo, BenchmarksHaveTheOutputNamesOfTheBenchmarkList) {
  struct Benchmark {
    const char* name;
    std::set<std::string> outputs;
  };
  const std::array<Benchmark, 10> benchmarks{{
      {"pendulum", {"x", "y", "vx", "vy"}},
      {"n_four_bar", {"B0_x", "B0_y", "B0_vx", "B0_vy"}},
      {"andrews", {"beta", "theta", "gamma", "phi", "delta", "epsilon"}},
      {"bricard", {"P3_x", "P3_y", "P3_z"}},
      {"flyball", {"s", "sdot", "beta", "shaft_speed"}},
      {"fourbar_f1", {"theta", "theta_dot", "pin_x", "pin_y"}},
      {"fourbar_f2", {"theta", "theta_dot"}},
      {"heavy_top", {"cg_x", "cg_y", "cg_z", "wx", "wy", "wz"}},
      {"revolute_tilted", {"cg_x", "cg_y", "cg_z"}},
      {"distance_rod", {"cg_x", "cg_y", "cg_z"}},
  }};
  for (const Benchmark& benchmark : benchmarks) {
    const Result<Model> model = load(benchmark.name);
    ASSERT_TRUE(model) << model.diagnostics().text();
    const std::set<std::string> names = outputs_of(*model);
    for (const std::string& output : benchmark.outputs) {
      EXPECT_TRUE(names.contains(output)) << benchmark.name << ": " << output;
    }
  }
}

TEST(Zoo, NFourBarGrowsWithItsParameter) {
  for (const int n : {2, 5, 10, 40}) {
    const std::array<Override, 1> overrides{{{"N", std::to_string(n)}}};
    const Result<Model> model = load("n_four_bar", overrides);
    ASSERT_TRUE(model) << model.diagnostics().text();
    EXPECT_EQ(model->n_bodies(), 2 * n + 1);
    EXPECT_EQ(model->n_position_rows, 2 * n);
  }
}

TEST(Zoo, SpatialArmAndThreeLinkHaveTheCoordinatesOfTheirSources) {
  const Result<Model> arm = load("arm_spatial");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->coordinate_names, (std::vector<std::string>{"Omega", "alpha", "beta", "gamma"}));
  const Result<Model> chain = load("three_link");
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->coordinate_names, (std::vector<std::string>{"theta_A", "theta_B", "theta_C"}));
  for (const char* parameter : {"kA", "kB", "kC"}) EXPECT_GE(find_parameter(*chain, parameter), 0);
}

}  // namespace
}  // namespace panto
