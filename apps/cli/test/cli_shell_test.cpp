// What one notices at the prompt: starters, completion, colours, quiet and verbose.
#include <set>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

TEST_F(Program, NewWritesModelsThatCheckAndSimulate) {
  for (const std::string kind : {"pendulum", "four-bar", "slider-crank", "arm"}) {
    const Outcome made = panto("new " + kind);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string text = text_of(path(kind + ".toml"));
    EXPECT_GT(std::count(text.begin(), text.end(), '#'), 5) << kind;
    const Outcome check = panto("check " + kind + ".toml --json");
    EXPECT_EQ(check.exit_code, 0) << check.err;
    EXPECT_EQ(check.err, "") << kind;
    EXPECT_EQ(check.json()["degrees_of_freedom"], kind == "arm" ? 3 : 1);
    const Outcome run = panto("simulate " + kind + ".toml --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "") << kind;
    // Truncation at the default tolerance of 1e-8, energies of some ten joule.
    EXPECT_LT(run.json()["energy"]["max_drift"].get<double>(), 1e-6) << kind;
  }
}

TEST_F(Program, NewDoesNotOverwriteUnlessForced) {
  put("four-bar.toml", "mine");
  const Outcome refused = panto("new four-bar");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("error[E0620]"), std::string::npos) << refused.err;
  EXPECT_EQ(text_of(path("four-bar.toml")), "mine");
  EXPECT_EQ(panto("new four-bar -o other.toml").exit_code, 0);
  EXPECT_EQ(panto("new four-bar --force").exit_code, 0);
  EXPECT_EQ(text_of(path("four-bar.toml")), text_of(path("other.toml")));
  EXPECT_EQ(panto("new four-bar -o no/such/folder.toml").exit_code, 2);
}

// Runs the completion function as the shell does after a TAB behind `line`.
class Completion : public Program {
 protected:
  [[nodiscard]] std::set<std::string> bash(const std::string& line) const {
    put("complete.sh", "source <('" PANTO_PROGRAM
                       "' completion bash)\n"
                       "panto() { '" PANTO_PROGRAM
                       "' \"$@\"; }\n"
                       "COMP_WORDS=(" +
                           line +
                           ")\n"
                           "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                           "_panto\n"
                           "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines_of(output_of("bash complete.sh"));
  }
  [[nodiscard]] std::set<std::string> zsh(const std::string& line) const {
    put("complete.zsh",
        "compadd() { for w in \"$@\"; do [[ $w == -- ]] || print -- $w; done }\n"
        "_files() { print FILES }\n"
        "compdef() { : }\n"
        "panto() { '" PANTO_PROGRAM
        "' \"$@\" }\n"
        "source <('" PANTO_PROGRAM
        "' completion zsh)\n"
        "words=(" +
            line +
            ")\n"
            "CURRENT=$#words\n"
            "_panto\n");
    return lines_of(output_of("zsh -f complete.zsh"));
  }
  [[nodiscard]] std::string output_of(const std::string& command) const {
    const std::string line =
        "cd '" + folder_.path().string() + "' && " + command + " >'" + path("stdout") + "' 2>&1";
    EXPECT_EQ(std::system(line.c_str()), 0) << command;  // NOLINT: a shell is under test
    return text_of(path("stdout"));
  }
};

TEST_F(Completion, BashKnowsVerbsOptionsModelsAndMethods) {
  EXPECT_EQ(bash("panto sim"), (std::set<std::string>{"simulate"}));
  EXPECT_EQ(bash("panto ''").count("completion"), 1U);
  EXPECT_EQ(bash("panto --co"), (std::set<std::string>{"--color"}));
  EXPECT_EQ(bash("panto --color never ch"), (std::set<std::string>{"check"}));
  EXPECT_EQ(
      bash("panto check four"),
      (std::set<std::string>{"fourbar_f1", "fourbar_f2", "fourbar_sanjurjo", "fourbar_spatial"}));
  put("fourth.toml", "");
  EXPECT_EQ(bash("panto --quiet check fourt"), (std::set<std::string>{"fourth.toml"}));
  EXPECT_EQ(bash("panto simulate pendulum --until 2 --un"), (std::set<std::string>{"--until"}));
  EXPECT_EQ(bash("panto check pendulum --un"), (std::set<std::string>{""}));
  EXPECT_EQ(bash("panto simulate pendulum --integrator ra"), (std::set<std::string>{"radau5"}));
  EXPECT_EQ(bash("panto simulate pendulum --csv four"), (std::set<std::string>{"fourth.toml"}));
  EXPECT_EQ(bash("panto check --color al"), (std::set<std::string>{"always"}));
  EXPECT_EQ(bash("panto new four"), (std::set<std::string>{"four-bar"}));
  EXPECT_EQ(bash("panto reproduce iftomm:A04").count("iftomm:A04"), 1U);
  EXPECT_EQ(bash("panto completion z"), (std::set<std::string>{"zsh"}));
}

TEST_F(Completion, ZshKnowsVerbsOptionsModelsAndMethods) {
  if (std::system("command -v zsh >/dev/null") != 0)
    GTEST_SKIP() << "zsh is not installed";  // NOLINT
  EXPECT_EQ(zsh("panto ''").count("simulate"), 1U);
  const auto models = zsh("panto check ''");
  EXPECT_EQ(models.count("fourbar_f1"), 1U);
  EXPECT_EQ(models.count("FILES"), 1U);
  EXPECT_EQ(zsh("panto simulate pendulum --").count("--until"), 1U);
  EXPECT_EQ(zsh("panto simulate pendulum --integrator ''").count("radau5"), 1U);
  EXPECT_EQ(zsh("panto --color never new ''").count("four-bar"), 1U);
  EXPECT_EQ(zsh("panto completion ''"), (std::set<std::string>{"bash", "zsh"}));
}

TEST_F(Program, ColoursCanBeForcedAndForbidden) {
  EXPECT_NE(panto("check nowhere --color always").err.find("\x1b[1;31merror[E0201]\x1b[0m"),
            std::string::npos);
  EXPECT_EQ(panto("--color never check nowhere").err.find('\x1b'), std::string::npos);
}

TEST_F(Program, QuietLeavesErrorsAndWantedData) {
  // The fixed step is not used by cvode: a warning.
  const std::string run = "simulate pendulum --integrator cvode --dt 0.01 --at 1";
  EXPECT_NE(panto(run).err, "");
  const Outcome quiet = panto(run + " --quiet");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  const Outcome data = panto("--quiet " + run + " --json");
  EXPECT_EQ(data.err, "");
  EXPECT_EQ(data.json()["t"], (json{1.0}));
  EXPECT_NE(panto("models --quiet").out, "");
  EXPECT_NE(panto("check nowhere --quiet").err, "");
  EXPECT_EQ(panto("check nowhere --quiet").exit_code, 2);
}

TEST_F(Program, VerboseTellsWhatIsDone) {
  const Outcome run =
      panto("simulate fourbar_f1 --until 1 --set g=10 --csv run.csv --json --verbose");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* words : {"fourbar_f1/model.toml", "set g = 10", "3 bodies", "2 constraint rows",
                            "until 1 s", "integrator auto", "steps", "wrote run.csv"})
    EXPECT_NE(run.err.find(words), std::string::npos) << words << "\n" << run.err;
  EXPECT_EQ(run.json()["model"], "fourbar_f1");
}

}  // namespace
}  // namespace panto::cli
