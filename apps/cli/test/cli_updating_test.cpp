// `panto update`.
#include <algorithm>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

constexpr const char* kModel = R"toml(# A rod that is clamped.
space = "planar"
parameters = { E = "70 GPa", m_tip = 0 } # as bought

[[body]]
name = "rod"
beam = { length = "0.8 m", circle = "10 mm", E = "E", density = 2700, elements = 4, lumped = [{ node = 5, mass = "m_tip" }] }

[[joint]]
name = "clamp"
type = "weld"
parent = "ground"
child = "rod"
)toml";

constexpr const char* kStudy = R"toml(
model = "beam.toml"
lambda = 0
[parameters]
E = { range = 0.1 }
m_tip = { low = 0, high = "50 g" }
[[pose]]
modes = [1, 2, 3]
[simulate]
truth = { E = "66 GPa", m_tip = "20 g" }
points = [["rod.n2", "y"], ["rod.n3", "y"], ["rod.n4", "y"], ["rod.end", "y"]]
)toml";

class UpdateVerb : public Program {};

TEST_F(UpdateVerb, WritesAModelThatDiffersInNumbersOnly) {
  put("beam.toml", kModel);
  put("study.toml", kStudy);
  const Outcome run = panto("update study.toml --json --view u.html -o new.toml");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  // Rotations are not read and the model's balance fills them in with another stiffness and mass: some parts in a thousand.
  EXPECT_NEAR(j["parameters"]["E"]["value"].get<double>(), 66e9, 0.01 * 66e9);
  EXPECT_LT(j["mean_error_after"].get<double>(), 0.2 * j["mean_error_before"].get<double>());
  EXPECT_LT(j["kkt"].get<double>(), 1e-9);
  ASSERT_EQ(j["poses"].size(), 1U);
  EXPECT_GE(j["poses"][0]["frame_difference"].get<double>(), 0);
  for (const json& mode : j["modes"]) EXPECT_EQ(mode["weight"].get<double>(), 1);
  const std::string text = text_of(path("new.toml"));
  EXPECT_NE(text.find("# A rod that is clamped."), std::string::npos);
  EXPECT_NE(text.find("# as bought"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            std::count(kModel, kModel + std::string(kModel).size(), '\n'));
  const std::string page = text_of(path("u.html"));
  for (const char* panel :
       {"Modes before and after", "Frequency errors", "Change of the parameters",
        "Mode shapes side by side", "L-curve", "MAC"})
    EXPECT_NE(page.find(panel), std::string::npos) << panel;
  EXPECT_EQ(panto("modes new.toml --here").exit_code, 0);
}

TEST_F(UpdateVerb, PrintsATableAndKeepsQuietAboutFilesWhenDry) {
  put("beam.toml", kModel);
  put("study.toml", kStudy);
  const Outcome run = panto("update study.toml --dry-run --cross-validate --as-printed");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("mean |error|"), std::string::npos);
  EXPECT_NE(run.out.find("left out"), std::string::npos);
  EXPECT_TRUE(text_of(path("model.updated.toml")).empty());
}

TEST_F(UpdateVerb, AnswersMistakesWithCodeTwoAndOverwritesNothing) {
  put("beam.toml", kModel);
  std::string wrong = kStudy;
  wrong.replace(wrong.find("rod.n3"), 6, "rod.n9");
  put("study.toml", wrong);
  put("new.toml", "mine");
  const Outcome run = panto("update study.toml -o new.toml");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("error[E0970]"), std::string::npos) << run.err;
  EXPECT_EQ(text_of(path("new.toml")), "mine");
}

}  // namespace
}  // namespace panto::cli
