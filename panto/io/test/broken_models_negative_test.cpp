// Deliberately broken model files, see golden_files.hpp.
#include "panto/io/test/golden_files.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

const std::filesystem::path kFolder = PANTO_SOURCE_DIR "/panto/io/test/broken";

TEST(BrokenModels, AreAnsweredWithTheExpectedDiagnostics) {
  test::expect_golden(kFolder, [](const std::filesystem::path& path) {
    const Result<ModelSpec> spec = read_model_file(path.string());
    return spec ? compile(*spec).diagnostics() : spec.diagnostics();
  });
}

TEST(BrokenModels, AreMany) { EXPECT_GE(test::broken_files(kFolder).size(), 40u); }

TEST(BrokenModels, ExpectedFilesBelongToAModel) { test::expect_no_stray_golden(kFolder); }

}  // namespace
}  // namespace panto
