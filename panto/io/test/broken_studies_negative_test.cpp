// Deliberately broken or doubtful study files, see golden_files.hpp.
#include "panto/identification/identify.hpp"
#include "panto/io/study.hpp"
#include "panto/io/test/golden_files.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

const std::filesystem::path kFolder = PANTO_SOURCE_DIR "/panto/io/test/broken_studies";

TEST(BrokenStudies, AreAnsweredWithTheExpectedDiagnostics) {
  test::expect_golden(kFolder, [](const std::filesystem::path& path) {
    const Result<LoadedStudy> loaded = load_identify_study(path.string());
    Diagnostics d = loaded.diagnostics();
    if (loaded)
      d.append(identify(loaded->model, nominal(loaded->model), loaded->study).diagnostics());
    return d;
  });
}

TEST(BrokenStudies, AreMany) { EXPECT_GE(test::broken_files(kFolder).size(), 16u); }

TEST(BrokenStudies, ExpectedFilesBelongToAStudy) { test::expect_no_stray_golden(kFolder); }

}  // namespace
}  // namespace panto
