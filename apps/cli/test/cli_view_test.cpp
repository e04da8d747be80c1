// panto view and simulate --view. Pages are tested where the program was built with one, figures always.
#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

class ViewVerb : public Program {
 protected:
  [[nodiscard]] bool has_page() const {
    const Outcome o = panto("view pendulum -o probe.html");
    std::filesystem::remove(path("probe.html"));
    return o.err.find("E0640") == std::string::npos;
  }
  [[nodiscard]] json report(const std::string& name) const {
    const std::string html = text_of(path(name));
    const std::string begin = "id=\"report\">";
    const size_t from = html.find(begin) + begin.size();
    return json::parse(html.substr(from, html.find("</script>", from) - from));
  }
  void simulated(const std::string& name, const std::string& more = "") const {
    const Outcome o =
        panto("simulate fourbar_f1 --until 1 --sample 0.01 --out " + name + " " + more);
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }
};

TEST_F(ViewVerb, ARunBecomesAPage) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  simulated("run.h5");
  const Outcome o = panto("view run.h5 -o report.html");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("report.html"), std::string::npos) << o.out;
  const json r = report("report.html");
  EXPECT_EQ(r["title"], "Four-bar under gravity, rocker sqrt(13) m");
  EXPECT_EQ(r["motions"][0]["t"]["n"], 101);
  EXPECT_EQ(r["notes"], json::array());
}

TEST_F(ViewVerb, PagesAreBoundToOne) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  ASSERT_EQ(panto("view pendulum -o a.html").exit_code, 0);
  ASSERT_EQ(panto("view fourbar_f1 -o b.html").exit_code, 0);
  const Outcome o = panto("view a.html \"Second page=b.html\" -o all.html --title Both --json");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.json()["written"], json({"all.html"}));
  const json r = report("all.html");
  EXPECT_EQ(r["title"], "Both");
  EXPECT_EQ(r["chapters"][0], report("a.html"));
  EXPECT_EQ(r["chapters"][1]["title"], "Second page");
  EXPECT_EQ(panto("view a.html b.html").exit_code, 1);
  EXPECT_EQ(panto("view a.html pendulum -o all.html").exit_code, 2);
  EXPECT_EQ(panto("view pendulum a.html -o all.html").exit_code, 1);
}

TEST_F(ViewVerb, TheRunKeepsItsNumbers) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  simulated("run.h5", "--set crank.bar.length=1.25");
  ASSERT_EQ(panto("view run.h5").exit_code, 0);
  EXPECT_EQ(report("run.html")["scene"]["bodies"][0]["shapes"][0]["length"], 1.25);
}

TEST_F(ViewVerb, AModelBecomesAPageInItsInitialPose) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const Outcome o = panto("view fourbar_f1 --set crank.bar.length=1.25 --json");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.json()["written"], json({"fourbar_f1.html"}));
  const json r = report("fourbar_f1.html");
  EXPECT_EQ(r["motions"][0]["t"]["n"], 1);
  EXPECT_EQ(r["scene"]["bodies"][0]["shapes"][0]["length"], 1.25);
}

TEST_F(ViewVerb, TheScaleOfDeformationIsInThePage) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  ASSERT_EQ(panto("view single_flexible_link --deformation 50 -o beam.html").exit_code, 0);
  EXPECT_EQ(report("beam.html")["deformation"], 50);
  EXPECT_EQ(report("beam.html")["scene"]["bodies"][0]["shapes"][0]["kind"], "beam");
  ASSERT_EQ(panto("view single_flexible_link -o beam.html").exit_code, 0);
  EXPECT_FALSE(report("beam.html").contains("deformation"));
  const std::string modes = "modes single_flexible_link --here --count 2 --deformation 3";
  ASSERT_EQ(panto(modes + " --view modes.html").exit_code, 0);
  EXPECT_EQ(report("modes.html")["deformation"], 3);
  EXPECT_EQ(panto(modes).exit_code, 1);
  const std::string run = "simulate single_flexible_link --until 0.01 --deformation 20";
  ASSERT_EQ(panto(run + " --view run.html").exit_code, 0);
  EXPECT_EQ(report("run.html")["deformation"], 20);
  EXPECT_EQ(panto(run).exit_code, 1);
  EXPECT_EQ(panto("view single_flexible_link --deformation -1").exit_code, 1);
}

TEST_F(ViewVerb, ASecondRunIsAGhost) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  simulated("run.h5");
  simulated("heavy.h5", "--set coupler.bar.mass=4");
  ASSERT_EQ(panto("view run.h5 --with heavy.h5 -o both.html").exit_code, 0);
  const json r = report("both.html");
  EXPECT_EQ(r["motions"].size(), 2u);
  EXPECT_EQ(r["panels"][0]["series"][1]["motion"], 1);
}

TEST_F(ViewVerb, SimulateWritesThePageDirectly) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const Outcome o = panto("simulate pendulum --until 1 --view run.html");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("run.html"), std::string::npos);
  EXPECT_EQ(report("run.html")["motions"].size(), 1u);
}

TEST_F(ViewVerb, WithoutAPageTheRemedyIsNamed) {
  if (has_page()) GTEST_SKIP() << "built with the page";
  const Outcome o = panto("view pendulum -o report.html");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("PANTO_VIEWER=ON"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("report.html")));
}

TEST_F(ViewVerb, FiguresNeedNoPage) {
  simulated("run.h5");
  const Outcome o = panto("view run.h5 --plot theta,pin_x --svg a.svg --png a.png");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::string svg = text_of(path("a.svg"));
  EXPECT_NE(svg.find("theta [rad]"), std::string::npos);
  EXPECT_NE(svg.find("pin_x [m]"), std::string::npos);
  EXPECT_EQ(svg.find("theta_dot"), std::string::npos);
  EXPECT_EQ(text_of(path("a.png")).substr(1, 3), "PNG");
  EXPECT_FALSE(std::filesystem::exists(path("run.html")));
}

TEST_F(ViewVerb, TablesArePlottedWithoutAnimation) {
  ASSERT_EQ(panto("simulate pendulum --until 1 --csv run.csv").exit_code, 0);
  const Outcome o = panto("view run.csv --svg a.svg");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.err.find("warning[W0644]"), std::string::npos) << o.err;
  EXPECT_NE(text_of(path("a.svg")).find("vx [m/s]"), std::string::npos);
}

TEST_F(ViewVerb, ATruncatedRunShowsWhatIsLeftOfIt) {
  simulated("run.h5");
  const std::string bytes = text_of(path("run.h5"));
  // Cut among the states at the end of the file: outputs and model are whole.
  put("cut.h5", bytes.substr(0, bytes.size() - 2000));
  const Outcome o = panto("view cut.h5 --svg a.svg");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.err.find("truncated"), std::string::npos) << o.err;
  EXPECT_NE(text_of(path("a.svg")).find("theta [rad]"), std::string::npos);
  if (has_page()) {
    ASSERT_EQ(panto("view cut.h5 -o cut.html").exit_code, 0);
    const json r = report("cut.html");
    ASSERT_FALSE(r["notes"].empty());
    EXPECT_NE(r["notes"].dump().find("truncated"), std::string::npos);
    EXPECT_FALSE(r["panels"].empty());
  }
  // Nothing is left of the first bytes.
  put("stub.h5", bytes.substr(0, 60));
  const Outcome nothing = panto("view stub.h5 --svg b.svg");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.err.find("E0627"), std::string::npos) << nothing.err;
  EXPECT_FALSE(std::filesystem::exists(path("b.svg")));
}

TEST_F(ViewVerb, BadInputExitsWithTwoAndLeavesNoFile) {
  simulated("run.h5");
  put("words.csv", "not a run\n");
  put("noise.bin", std::string("\x00\x01\x02", 3));
  for (const char* line :
       {"view missing.h5 --svg a.svg", "view nowhere --svg a.svg", "view words.csv --svg a.svg",
        "view noise.bin --svg a.svg", "view no/such.toml", "view run.h5 --plot thet --svg a.svg",
        "view run.h5 --with missing.h5 --svg a.svg", "view pendulum --svg a.svg",
        "view run.h5 --svg no/a.svg", "view pendulum --set nothing=1"}) {
    const Outcome o = panto(line);
    EXPECT_EQ(o.exit_code, 2) << line << "\n" << o.err;
    EXPECT_EQ(o.out, "") << line;
    EXPECT_NE(o.err.find("error[E"), std::string::npos) << line << "\n" << o.err;
    EXPECT_FALSE(std::filesystem::exists(path("a.svg"))) << line;
  }
}

TEST_F(ViewVerb, WrongCommandLinesExitWithOne) {
  simulated("run.h5");
  for (const char* line : {"view", "view run.h5 --set g=1", "view pendulum --with run.h5",
                           "view run.h5 --plot theta", "view pendulum --set g"}) {
    const Outcome o = panto(line);
    EXPECT_EQ(o.exit_code, 1) << line << "\n" << o.err;
  }
}

}  // namespace
}  // namespace panto::cli
