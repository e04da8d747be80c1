// Runs the built program in a folder of its own and catches what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace panto::cli {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

class Program : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  void put(const std::string& name, const std::string& text) const { folder_.put(name, text); }
  // `arguments` as in a shell; output to pipes (files), never a terminal.
  [[nodiscard]] Outcome panto(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.path().string() + "' && '" + PANTO_PROGRAM + "' " +
                                arguments + " >'" + path("stdout") + "' 2>'" + path("stderr") +
                                "' </dev/null";
    const int status = std::system(command.c_str());  // NOLINT: the test is a shell script in C++
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(path("stdout")),
                    text_of(path("stderr"))};
    std::filesystem::remove(path("stdout"));
    std::filesystem::remove(path("stderr"));
    return outcome;
  }

  test::TemporaryFolder folder_;
};

}  // namespace panto::cli
