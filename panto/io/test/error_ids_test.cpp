// Every id that the sources use is explained in docs/errors.md, and every one that a file can provoke has a golden file.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/source_dir.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = PANTO_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// Ids in calls like error(207, …): a name of the list, a parenthesis, three digits, a comma.
void collect_ids(const std::string& text, std::set<int>& ids) {
  for (const std::string call : {"error(", "warning(", "refuse(", "fail("}) {
    for (size_t p = text.find(call); p != std::string::npos; p = text.find(call, p + 1)) {
      size_t k = p + call.size();
      while (k < text.size() && std::isspace(static_cast<unsigned char>(text[k])) != 0) ++k;
      size_t end = k;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      if (end - k == 3 && end < text.size() && text[end] == ',') {
        ids.insert(std::stoi(text.substr(k, 3)));
      }
    }
  }
}

std::set<int> used_ids() {
  std::set<int> ids;
  for (const char* folder : {"panto", "apps"}) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cpp" && path.extension() != ".hpp") continue;
      if (path.string().find("/test/") == std::string::npos) collect_ids(text_of(path), ids);
    }
  }
  return ids;
}

std::set<int> documented_ids() {
  std::set<int> ids;
  std::istringstream in(text_of(kRoot / "docs/errors.md"));
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| E0", 0) != 0 && line.rfind("| W0", 0) != 0) continue;
    EXPECT_TRUE(ids.insert(std::stoi(line.substr(4, 3))).second) << line;
    EXPECT_GT(line.size(), 30u) << line;
  }
  return ids;
}

TEST(ErrorIds, AreDocumented) {
  const std::set<int> documented = documented_ids();
  const std::set<int> used = used_ids();
  EXPECT_GE(used.size(), 50u);
  for (const int id : used) EXPECT_TRUE(documented.contains(id)) << id;
  for (const int id : documented)
    EXPECT_TRUE(used.contains(id)) << id << " is documented, not used";
}

TEST(ErrorIds, HaveAGoldenFileOrAReason) {
  std::string golden;
  for (const char* folder : {"panto/io/test/broken", "panto/io/test/broken_studies"}) {
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".expected") golden += text_of(entry.path());
    }
  }
  const std::map<int, std::string> elsewhere{
      {102, "a file of 16 MB: size_negative_test"},
      {105, "a file that is not there: size_negative_test"},
      {120, "URDF: urdf_test"},
      {121, "URDF: urdf_test"},
      {201, "a name: load_test"},
      {203, "an override: model_parameters_test"},
      {702, "an option of poses: poses_negative_test"},
      {704, "a range of poses: poses_negative_test"},
      {705, "a range of poses: test_identification.py"},
      {719, "a fit that belies its deviations: identify_negative_test"},
  };
  for (const int id : used_ids()) {
    if (id >= 500 && id < 600) continue;  // assembly, tested in mechanics
    if (id < 100 || (id >= 620 && id < 700))
      continue;               // command line, result files, motions: tested in io and apps/cli
    if (id >= 800) continue;  // observers and reduction: tested beside them, in io and apps/cli
    if (elsewhere.contains(id)) continue;
    const std::string digits = std::to_string(id);
    EXPECT_TRUE(golden.find("[E0" + digits + "]") != std::string::npos ||
                golden.find("[W0" + digits + "]") != std::string::npos)
        << id;
  }
}

}  // namespace
}  // namespace panto
