// `panto impact` and `panto ema`: a test, its modes, a corrected model.
#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

constexpr const char* kRod = R"toml(
space = "planar"
parameters = { E = "70 GPa" }
body = [{ name = "rod", beam = { length = "0.8 m", circle = "10 mm", E = "E", density = 2700, elements = 4 } }]
joint = [{ name = "clamp", type = "weld", parent = "ground", child = "rod" }]
)toml";

class ModalVerbs : public Program {};

TEST_F(ModalVerbs, HammerModesAndCorrectionFollowEachOtherThroughEveryFormat) {
  put("rod.toml", kRod);
  put("study.toml",
      "model = \"rod.toml\"\nlambda = 0\n[parameters]\nE = { range = 0.2 }\n[[pose]]\ntest = "
      "\"modes.uff\"\n");
  for (const std::string frf : {"frf.uff", "frf.csv", "frf.h5"}) {
    const Outcome made = panto(
        "impact rod.toml --here --set E=65e9 --points rod.n2:y,rod.n3:y,rod.n4:y,rod.end:y "
        "--hammer rod.end:y --damping 0.01 --rate 512 --record 8 --pulse 0.006 --band 2 120 "
        "--noise 0.01 --json -o " +
        frf);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const json truth = made.json();
    ASSERT_EQ(truth["modes"].size(), 2U);
    EXPECT_LT(truth["error"].get<double>(), 0.05);
    const Outcome found = panto("ema " + frf + " --order 16 -o modes.uff --json");
    ASSERT_EQ(found.exit_code, 0) << found.err;
    const json modes = found.json()["modes"];
    ASSERT_EQ(modes.size(), 2U);
    for (size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(
          modes[k]["frequency_hz"].get<double>() / truth["modes"][k]["frequency_hz"].get<double>(),
          1, 1e-3);
    const Outcome updated = panto("update study.toml --json -o new.toml");
    ASSERT_EQ(updated.exit_code, 0) << updated.err;
    // Frequencies to 0.1 %, which is 0.2 % of E.
    EXPECT_NEAR(updated.json()["parameters"]["E"]["value"].get<double>(), 65e9, 0.003 * 65e9);
  }
}

TEST_F(ModalVerbs, AnswersMistakesWithoutWriting) {
  put("rod.toml", kRod);
  const Outcome direction = panto("impact rod.toml --points rod.end -o frf.uff");
  EXPECT_EQ(direction.exit_code, 1);
  EXPECT_NE(direction.err.find("tip:y"), std::string::npos);
  const Outcome place = panto("impact rod.toml --points rod.tip:y -o frf.uff");
  EXPECT_EQ(place.exit_code, 2);
  EXPECT_NE(place.err.find("error[E0970]"), std::string::npos) << place.err;
  EXPECT_TRUE(text_of(path("frf.uff")).empty());
}

}  // namespace
}  // namespace panto::cli
