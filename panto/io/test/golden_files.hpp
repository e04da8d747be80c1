// Files that are broken on purpose: each NAME.toml of a folder has its full diagnostics in NAME.expected.
// PANTO_UPDATE=1 writes the expected files anew; read the difference before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto::test {

inline std::vector<std::filesystem::path> broken_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Messages without the folder, which differs from machine to machine.
inline void expect_golden(
    const std::filesystem::path& folder,
    const std::function<Diagnostics(const std::filesystem::path&)>& diagnostics_of) {
  const bool update = std::getenv("PANTO_UPDATE") != nullptr;
  const std::string prefix = folder.string() + "/";
  for (const std::filesystem::path& file : broken_files(folder)) {
    std::filesystem::path golden = file;
    golden.replace_extension(".expected");
    std::string found = diagnostics_of(file).text();
    for (size_t p = found.find(prefix); p != std::string::npos; p = found.find(prefix, p))
      found.erase(p, prefix.size());
    if (update) std::ofstream(golden, std::ios::binary) << found;
    EXPECT_NE(found, "") << file << " is not broken";
    ASSERT_TRUE(std::filesystem::exists(golden)) << golden << " is missing";
    std::stringstream expected;
    expected << std::ifstream(golden, std::ios::binary).rdbuf();
    EXPECT_EQ(found, expected.str()) << file;
  }
}

inline void expect_no_stray_golden(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".expected") continue;
    std::filesystem::path broken = entry.path();
    EXPECT_TRUE(std::filesystem::exists(broken.replace_extension(".toml"))) << entry.path();
  }
}

}  // namespace panto::test
