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

namespace panto::cli {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

class Program : public ::testing::Test {
 protected:
  Program() {
    std::string name = (std::filesystem::temp_directory_path() / "panto-cli-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Program() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  // `arguments` as in a shell; output to pipes (files), never a terminal.
  [[nodiscard]] Outcome panto(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && '" + PANTO_PROGRAM + "' " +
                                arguments + " >'" + path("stdout") + "' 2>'" + path("stderr") +
                                "' </dev/null";
    const int status = std::system(command.c_str());  // NOLINT: the test is a shell script in C++
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(path("stdout")),
                    text_of(path("stderr"))};
    std::filesystem::remove(path("stdout"));
    std::filesystem::remove(path("stderr"));
    return outcome;
  }

  std::filesystem::path folder_;
};

}  // namespace panto::cli
