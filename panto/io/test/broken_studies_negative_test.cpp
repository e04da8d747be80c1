// Deliberately broken or doubtful study files. Each broken_studies/NAME.toml has its full diagnostics in broken_studies/NAME.expected.
// PANTO_UPDATE=1 writes the expected files anew; read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "panto/identification/identify.hpp"
#include "panto/io/study.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = PANTO_SOURCE_DIR "/panto/io/test/broken_studies";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// Without the folder, which differs from machine to machine.
std::string without_folder(std::string text) {
  const std::string folder = kFolder.string() + "/";
  for (size_t p = text.find(folder); p != std::string::npos; p = text.find(folder, p))
    text.erase(p, folder.size());
  return text;
}

std::string diagnostics_of(const fs::path& path) {
  const Result<LoadedStudy> loaded = load_identify_study(path.string());
  Diagnostics d = loaded.diagnostics();
  if (loaded)
    d.append(identify(loaded->model, nominal(loaded->model), loaded->study).diagnostics());
  return without_folder(d.text());
}

std::vector<fs::path> broken_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(BrokenStudies, AreAnsweredWithTheExpectedDiagnostics) {
  const bool update = std::getenv("PANTO_UPDATE") != nullptr;
  for (const fs::path& file : broken_files()) {
    fs::path golden = file;
    golden.replace_extension(".expected");
    const std::string found = diagnostics_of(file);
    if (update) std::ofstream(golden, std::ios::binary) << found;
    EXPECT_NE(found, "") << file << " is not broken";
    ASSERT_TRUE(fs::exists(golden)) << golden << " is missing";
    EXPECT_EQ(found, text_of(golden)) << file;
  }
}

TEST(BrokenStudies, AreMany) { EXPECT_GE(broken_files().size(), 16u); }

TEST(BrokenStudies, ExpectedFilesBelongToAStudy) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".expected") continue;
    fs::path study = entry.path();
    EXPECT_TRUE(fs::exists(study.replace_extension(".toml"))) << entry.path();
  }
}

}  // namespace
}  // namespace panto
