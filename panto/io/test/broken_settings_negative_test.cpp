// Deliberately broken settings of kinematic observers, see golden_files.hpp.
#include "panto/estimation/kinematic_log.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study.hpp"
#include "panto/io/test/golden_files.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

const std::filesystem::path kFolder = PANTO_SOURCE_DIR "/panto/io/test/broken_settings";

TEST(BrokenSettings, AreAnsweredWithTheExpectedDiagnostics) {
  const Result<Model> model = load("slider_crank");
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const Params params = nominal(*model);
  test::expect_golden(kFolder, [&](const std::filesystem::path& path) {
    const Result<KinematicSetup> read = load_kinematic_setup(path.string());
    if (!read) return read.diagnostics();
    const Result<KinematicSetup> setup = complete(*read, *model, params);
    if (!setup) return setup.diagnostics();
    return KinematicTracker::create(*model, params, *setup, {}).diagnostics();
  });
}

TEST(BrokenSettings, ExpectedFilesBelongToSettings) { test::expect_no_stray_golden(kFolder); }

}  // namespace
}  // namespace panto
