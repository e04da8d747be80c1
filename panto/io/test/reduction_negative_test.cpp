// Jobs and studies that cannot be read are refused with id and place.
#include <gtest/gtest.h>

#include "panto/io/reduction.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

TEST(Calculix, FilesThatAreMissingOrDoNotFitAreRefused) {
  const test::TemporaryFolder folder;
  const auto expect = [&](const char* words) {
    const auto system = read_calculix(folder.path("job"));
    EXPECT_FALSE(system.ok());
    EXPECT_NE(system.diagnostics().text().find("E0917"), std::string::npos);
    EXPECT_NE(system.diagnostics().text().find(words), std::string::npos)
        << system.diagnostics().text();
  };
  expect("MATRIXSTORAGE");
  folder.put("job.sti", "1 1 2.0\n");
  folder.put("job.mas", "1 1 2.0\n");
  folder.put("job.dof", "1.x\n");
  expect("such as 17.1");
  folder.put("job.dof", "1.1\n2.1\n");
  folder.put("job.sti", "1 1 2.0\n1 3 5\n");
  expect("entry (1, 3)");
  folder.put("job.sti", "1 1 2.0\n2 2\n");
  expect("row, column and value");
}

TEST(ReduceStudy, KeysAndSourcesAreChecked) {
  const test::TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"masters = [\"a\"]\n", "E0115"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\ncalculix = \"job\"\n", "E0115"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\nrank = \"omr\"\n", "E0114"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\nmodez = [1]\n", "E0110"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\nmodes = [0]\n", "E0112"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\nband = [1]\n", "E0113"},
      {"masters = [\"a\"]\nmatrices = { M = \"m.mtx\" }\n", "E0111"},
      {"masters = [\"a\"]\nmatrices = { M = \"m.mtx\", K = \"k.mtx\" }\n", "E0621"},
      {"masters = [\"a\"]\n[plate]\nx = [0, 1]\ny = [1, 0]\nthickness = 1\nyoungs_modulus = 1\n"
       "density = 1\n",
       "E0910"},
  };
  for (const auto& [text, id] : cases) {
    const auto study = load_reduce_study(folder.put("study.toml", text));
    EXPECT_FALSE(study.ok()) << text;
    EXPECT_NE(study.diagnostics().text().find(id), std::string::npos)
        << text << study.diagnostics().text();
  }
}

}  // namespace
}  // namespace panto
