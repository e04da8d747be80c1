#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "panto/io/atomic_file.hpp"
#include "panto/io/results.hpp"
#include "panto/io/test/example_run.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

class BadResults : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  void put(const std::string& name, const std::string& bytes) const { folder_.put(name, bytes); }

  test::TemporaryFolder folder_;
};

TEST_F(BadResults, AMissingFolderIsNamed) {
  const Diagnostics d = write_hdf5(example_run(), path("no/run.h5"));
  EXPECT_EQ(d.text(), path("no/run.h5") + ": error[E0620]: cannot be written: folder \"" +
                          path("no") + "\" does not exist\n");
}

TEST_F(BadResults, AFolderInPlaceOfTheFileIsAnError) {
  fs::create_directory(path("run.h5"));
  EXPECT_EQ(write_hdf5(example_run(), path("run.h5")).items().at(0).id, 620);
  EXPECT_EQ(write_csv(example_run(), path("")).items().at(0).id, 620);
}

TEST_F(BadResults, AFolderWithoutPermissionIsAnErrorAndTheOldFileStays) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  put("run.csv", "old");
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Diagnostics d = write_csv(example_run(), path("run.csv"));
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_NE(d.text().find("Permission denied"), std::string::npos) << d.text();
  EXPECT_EQ(*read_bytes(path("run.csv")), "old");
}

TEST_F(BadResults, AFailedWriteLeavesTheOldFileAndNoOther) {
  put("run.csv", "old");
  const Diagnostics d = write_atomically(path("run.csv"), [](const std::string& name) {
    std::ofstream(name) << "half";
    return std::string("disk on fire");
  });
  EXPECT_EQ(d.text(), path("run.csv") + ": error[E0620]: cannot be written: disk on fire\n");
  EXPECT_EQ(*read_bytes(path("run.csv")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(BadResults, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  // The temporary name cannot be a device, so the writer itself is pointed at one.
  const Diagnostics d = write_atomically(path("run.csv"), [](const std::string&) {
    std::ofstream full("/dev/full");
    full << std::string(100000, 'x') << std::flush;
    return full ? std::string() : std::string("No space left on device");
  });
  EXPECT_FALSE(d.ok());
}

TEST_F(BadResults, AMissingFileIsAnError) {
  const auto run = read_run(path("none.h5"));
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.diagnostics().text(),
            path("none.h5") + ": error[E0621]: cannot be read: No such file or directory\n");
}

TEST_F(BadResults, ForeignFilesAreRefused) {
  put("empty.h5", "");
  put("noise.h5", std::string("\x01\x00\x02noise", 8));
  put("table.csv", "a,b\n1,2\n");
  put("back.csv", "t [s],x\n1,2\n0,3\n");
  put("text.csv", "hello\nworld\n");
  const hid_t file = H5Fcreate(path("other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  for (const char* name :
       {"empty.h5", "noise.h5", "table.csv", "back.csv", "text.csv", "other.h5"}) {
    const auto run = read_run(path(name));
    ASSERT_FALSE(run.ok()) << name;
    EXPECT_TRUE(run.diagnostics().items().at(0).id == 626 ||
                run.diagnostics().items().at(0).id == 625)
        << run.diagnostics().text();
  }
}

TEST_F(BadResults, ATruncatedCsvGivesItsCompleteRows) {
  ASSERT_TRUE(write_csv(example_run(), path("run.csv")).ok());
  const std::string whole = *read_bytes(path("run.csv"));
  put("run.csv", whole.substr(0, whole.size() / 2));
  const auto run = read_run(path("run.csv"));
  ASSERT_TRUE(run.ok());
  EXPECT_GT(run->t.size(), 40U);
  EXPECT_LT(run->t.size(), 60U);
  EXPECT_EQ(run->outputs[0].back(), example_run().outputs[0][run->t.size() - 1]);
  EXPECT_EQ(run.diagnostics().items().at(0).id, 624);
}

// Every length: no crash, never a wrong number, and a message that says so.
TEST_F(BadResults, ATruncatedHdf5GivesWhatItStillHolds) {
  const auto whole_run = example_run();
  ASSERT_TRUE(write_hdf5(whole_run, path("run.h5")).ok());
  const std::string whole = *read_bytes(path("run.h5"));
  size_t partly = 0;
  for (size_t size = 0; size < whole.size(); size += 97) {
    put("cut.h5", whole.substr(0, size));
    const auto run = read_run(path("cut.h5"));
    ASSERT_FALSE(run.diagnostics().items().empty()) << size;
    if (!run.ok()) continue;
    ++partly;
    EXPECT_EQ(run->t, whole_run.t);
    for (size_t k = 0; k < run->outputs.size(); ++k) {
      const auto name = std::find(whole_run.output_names.begin(), whole_run.output_names.end(),
                                  run->output_names[k]);
      ASSERT_NE(name, whole_run.output_names.end());
      EXPECT_EQ(run->outputs[k],
                whole_run.outputs[static_cast<size_t>(name - whole_run.output_names.begin())]);
    }
  }
  EXPECT_GT(partly, whole.size() / 97 / 2);
}

// One wrong byte anywhere: an error, a warning or at worst one wrong number, never a crash.
TEST_F(BadResults, ADamagedHdf5DoesNotCrash) {
  ASSERT_TRUE(write_hdf5(example_run(), path("run.h5")).ok());
  const std::string whole = *read_bytes(path("run.h5"));
  for (size_t at = 8; at < whole.size(); at += 53) {
    std::string bad = whole;
    bad[at] = static_cast<char>(~bad[at]);
    put("bad.h5", bad);
    const auto run = read_run(path("bad.h5"));
    if (!run.ok()) {
      EXPECT_FALSE(run.diagnostics().ok());
    }
  }
}

TEST_F(BadResults, ANewerFormatIsReadWithAWarning) {
  ASSERT_TRUE(write_hdf5(example_run(), path("run.h5")).ok());
  const hid_t file = H5Fopen(path("run.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
  const long version = 2;
  H5Awrite(attribute, H5T_NATIVE_LONG, &version);
  H5Aclose(attribute);
  H5Fclose(file);
  const auto run = read_run(path("run.h5"));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->outputs.size(), 3U);
  EXPECT_EQ(run.diagnostics().items().at(0).id, 628);
}

}  // namespace
}  // namespace panto
