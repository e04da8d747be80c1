#include "panto/io/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

constexpr const char* kPendulum = R"toml(
space = "planar"
body = [{ name = "b", point_mass = { mass = 1, at = [1, 0] } }]
joint = [{ name = "q", type = "revolute", parent = "ground", child = "b" }]
)toml";

// A zoo of two models, for the duration of a test.
class Load : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"pendulum/model.toml", "slider/model.toml"})
      folder_.put(name, kPendulum);
    setenv("PANTO_MODELS", folder_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("PANTO_MODELS"); }
  test::TemporaryFolder folder_;
};

TEST_F(Load, ByName) {
  EXPECT_EQ(zoo_names(), (std::vector<std::string>{"pendulum", "slider"}));
  const Result<Model> m = load("pendulum");
  ASSERT_TRUE(m) << m.diagnostics().text();
  EXPECT_EQ(m->name, "pendulum");
}

TEST_F(Load, ByFileAndByFolder) {
  ModelSpec spec;
  EXPECT_TRUE(load(folder_.path("slider/model.toml"), {}, &spec));
  EXPECT_EQ(spec.source_text, kPendulum);
  EXPECT_TRUE(load(folder_.path("slider")));
}

TEST_F(Load, WithOverrides) {
  const std::vector<Override> overrides{{"b.point_mass.mass", "3"}};
  const Result<Model> m = load("pendulum", overrides);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->parameters[static_cast<size_t>(find_parameter(*m, "b.point_mass.mass"))].value, 3);
}

TEST_F(Load, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(
      load("pendlum").diagnostics().text(),
      "error[E0201]: there is no file and no model \"pendlum\"; did you mean \"pendulum\"?\n");
  EXPECT_EQ(load("nothing.toml").diagnostics().text(),
            "nothing.toml: error[E0105]: the file does not exist\n");
}

std::string chain(int n) {
  std::string text =
      "space = \"spatial\"\ngravity = [0, 0, -9.81]\nparameters = { L = 0.5, m = \"2 kg\" }\n";
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    text += "[[body]]\nname = \"link" + k + "\"\nmass = \"m\"\ncom = [\"L/2\", 0, 0]\n";
    text += "inertia = [0.01, \"m*L^2/12\", \"m*L^2/12\"]\n";
    text += "[[frame]]\nname = \"tip\"\nbody = \"link" + k + "\"\nat = [\"L\", 0, 0]\n";
    text += "[[joint]]\nname = \"q" + k + "\"\ntype = \"revolute\"\nparent = \"" +
            (i == 0 ? "ground" : "link" + std::to_string(i - 1) + ".tip") + "\"\nchild = \"link" +
            k + "\"\naxis = \"y\"\nrange = [\"-90 deg\", \"90 deg\"]\n";
    text +=
        "[[force]]\nname = \"d" + k + "\"\ntype = \"friction\"\non = \"q" + k + "\"\nlevel = 0.1\n";
    text += "[[output]]\nname = \"o" + k + "\"\ntype = \"position\"\nof = \"link" + k +
            ".tip\"\naxis = \"z\"\n";
  }
  return text;
}

// Time of the processor, so that other programs on the machine do not count.
double milliseconds_to_load(int n) {
  const test::TemporaryFolder folder;
  const std::string path = folder.put("chain.toml", chain(n));
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::clock_t start = std::clock();
    const Result<Model> m = load(path);
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_TRUE(m) << m.diagnostics().text();
    EXPECT_TRUE(!m || m->n_bodies() == n);
  }
  return best;
}

#ifdef __has_feature  // Clang
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)  // GCC
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr double kSlowdown = kSanitized ? 20 : 1;

// The aim is 20 ms; the bound leaves room for a busy machine.
TEST(LoadTime, OfAHundredBodiesIsAFewMilliseconds) {
  const double ms = milliseconds_to_load(100);
  std::printf("load and compile 100 bodies: %.2f ms\n", ms);
  EXPECT_LE(ms, 60 * kSlowdown);
}

TEST(LoadTime, IsLinearInTheSize) {
  const double one = milliseconds_to_load(200), ten = milliseconds_to_load(2000);
  std::printf("200 bodies %.2f ms, 2000 bodies %.2f ms\n", one, ten);
  EXPECT_LE(ten, 30 * one);  // 10 plus the noise of a busy machine; quadratic cost would give 100
}

}  // namespace
}  // namespace panto
