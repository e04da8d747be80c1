#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>  // NOLINT: kill is POSIX

#include <chrono>
#include <thread>

#include "apps/cli/test/program.hpp"
#include "panto/io/results.hpp"

namespace panto::cli {
namespace {

// Some minutes of work.
const char* const kLongRun = "simulate n_four_bar --set N=40 --until 100000 --sample 0.1";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

[[noreturn]] void become_panto(const std::string& arguments, const std::string& folder) {
  if (chdir(folder.c_str()) != 0) _exit(127);
  std::vector<std::string> words = words_of(arguments);
  std::string program = PANTO_PROGRAM;
  std::vector<char*> argv{program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(PANTO_PROGRAM, argv.data());
  _exit(127);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs on a terminal; `seconds` later Ctrl-C is typed (0: never). What appeared on the screen is returned.
std::string on_terminal(const std::string& arguments, const std::string& folder, double seconds,
                        int& exit_code) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    become_panto(arguments, folder);
  }
  std::string screen;
  const auto began = std::chrono::steady_clock::now();
  bool typed = seconds <= 0;
  for (;;) {
    pollfd waiting{terminal, POLLIN, 0};
    poll(&waiting, 1, 20);
    char buffer[4096];
    if ((waiting.revents & (POLLIN | POLLHUP)) != 0) {
      const ssize_t n = read(terminal, buffer, sizeof buffer);
      if (n <= 0) break;
      screen.append(buffer, static_cast<size_t>(n));
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    if (!typed && passed.count() > seconds) {
      typed = true;
      if (write(terminal, "\x03", 1) != 1) break;
    }
    if (passed.count() > 60) kill(child, SIGKILL);
  }
  close(terminal);
  exit_code = exit_code_of(child);
  return screen;
}

TEST_F(Program, ALongRunShowsItsProgressOnATerminal) {
  int exit_code = -1;
  const std::string screen =
      on_terminal(std::string(kLongRun) + " --out run.h5", folder_.path().string(), 2.5, exit_code);
  EXPECT_EQ(exit_code, 130) << screen;
  EXPECT_NE(screen.find(" %, "), std::string::npos) << screen;
  EXPECT_NE(screen.find(" left"), std::string::npos) << screen;
  EXPECT_TRUE(read_run(path("run.h5")).ok());
}

TEST_F(Program, AShortRunShowsNoProgress) {
  int exit_code = -1;
  const std::string screen =
      on_terminal("simulate pendulum --until 1", folder_.path().string(), 0, exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(screen.find(" %, "), std::string::npos) << screen;
}

TEST_F(Program, ErrorsAreColouredOnATerminalOnly) {
  int exit_code = -1;
  const std::string screen = on_terminal("simulate nowhere", folder_.path().string(), 0, exit_code);
  EXPECT_EQ(exit_code, 2);
  EXPECT_NE(screen.find("\x1b[1;31merror[E0201]\x1b[0m"), std::string::npos) << screen;
}

// No terminal: no progress line; Ctrl-C leaves a complete file up to there, under its name only.
TEST_F(Program, InterruptedRunsLeaveAValidResult) {
  const pid_t child = fork();
  if (child == 0) {
    const int silent = open(path("screen").c_str(), O_CREAT | O_WRONLY, 0666);
    dup2(silent, STDOUT_FILENO);
    dup2(silent, STDERR_FILENO);
    become_panto(std::string(kLongRun) + " --out run.h5 --csv run.csv --json",
                 folder_.path().string());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_FALSE(std::filesystem::exists(path("run.h5")));
  kill(child, SIGINT);
  EXPECT_EQ(exit_code_of(child), 130);
  const std::string screen = text_of(path("screen"));
  EXPECT_EQ(screen.find(" left"), std::string::npos);
  const nlohmann::json j = nlohmann::json::parse(screen);
  std::filesystem::remove(path("screen"));
  const auto run = read_run(path("run.h5"));
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_EQ(run.diagnostics().text(), "");
  EXPECT_FALSE(run->complete);
  EXPECT_GT(run->t.size(), 1U);
  EXPECT_LT(run->t.back(), 100000);
  EXPECT_EQ(run->outputs[0].size(), run->t.size());
  EXPECT_EQ(nlohmann::json(run->t), j["t"]);
  EXPECT_TRUE(read_run(path("run.csv")).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()),
                          std::filesystem::directory_iterator()),
            2);
}

}  // namespace
}  // namespace panto::cli
