// Jobs and studies that cannot be read are refused with id and place.
#include <gtest/gtest.h>

#include <tuple>

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

TEST(Matrices, FindingsNameTheFileOfTheirMatrix) {
  const test::TemporaryFolder folder;
  const std::string head = "%%MatrixMarket matrix array real general\n2 2\n",
                    right = head + "2\n-1\n-1\n2\n", skew = head + "2\n-1\n-0.5\n2\n",
                    other = "%%MatrixMarket matrix array real general\n1 1\n1\n";
  const auto expect = [&](const std::string& m, const std::string& k, const std::string& c,
                          const char* file, const char* words) {
    const auto system =
        read_matrices({folder.put("m.mtx", m), folder.put("k.mtx", k), folder.put("c.mtx", c)});
    const std::string text = system.diagnostics().text();
    EXPECT_NE(text.find(std::string(file) + ": error"), std::string::npos) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(skew, right, right, "m.mtx", "M is not symmetric");
  expect(right, skew, right, "k.mtx", "one triangle");
  expect(right, right, skew, "c.mtx", "C is not symmetric");
  expect(other, right, right, "m.mtx", "M has 1 rows");
  expect(head + "1\n2\n2\n1\n", right, right, "m.mtx", "not positive definite");
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
      {"masters = [\"a\"]\nmodel = \"pendulum\"\nmodes = [1.5]\n", "E0112"},
      {"masters = [\"a\"]\n[prism]\nacross = [2.5, 2]\nalong = 3\n", "E0112"},
      {"masters = [\"a\"]\n[prism]\nacross = [2, 20000]\nalong = 3\n", "E0112"},
      {"masters = [\"a\"]\n[prism]\nacross = [2]\nalong = 3\n", "E0113"},
      {"masters = [\"a\"]\nmodel = \"pendulum\"\ntolerance = \"x%\"\n", "E0112"},
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

TEST(Calculix, SetsGrowByFurtherCardsAndOtherSets) {
  const test::TemporaryFolder folder;
  folder.put("job.sti", "1 1 2.0\n2 2 2.0\n3 3 2.0\n");
  folder.put("job.mas", "1 1 1.0\n2 2 1.0\n3 3 1.0\n");
  folder.put("job.dof", "1.1\n2.1\n3.1\n");
  folder.put("job.inp",
             "*NODE, NSET=Some\n1, 2., 3., 0.\n*NSET, NSET=tip\n2\n*NSET, NSET=TIP\n3\n"
             "*NSET, NSET=both\nSOME, 2\n");
  const auto system = read_calculix(folder.path("job.inp"));
  ASSERT_TRUE(system.ok()) << system.diagnostics().text();
  EXPECT_EQ(*find_dofs(*system, {"some"}), (std::vector<int>{0}));
  EXPECT_EQ(*find_dofs(*system, {"tip"}), (std::vector<int>{1, 2}));
  EXPECT_EQ(*find_dofs(*system, {"BOTH"}), (std::vector<int>{0, 1}));
}

TEST(ReduceStudy, WhatIsWrongIsToldWithItsPlace) {
  const test::TemporaryFolder folder;
  const std::string frame =
      "[frame]\nbeam = [{ name = \"b\", x = [0, 1, 2], mass_per_length = 1, "
      "bending_stiffness = 1 }]\n";
  const std::string held =
      "spring = [{ between = [\"b.1\", \"ground\"], stiffness = 1 }, "
      "{ between = [\"b.3\", \"ground\"], stiffness = 1 }]\n";
  const std::tuple<std::string, const char*, const char*> cases[] = {
      {"masters = [\"b.2\"]\nkeep = 0\n" + frame + "spring = [{ between = [\"b.1\", \"c\"] }]\n",
       ":3:", "there is no place \"c\""},
      {"masters = [\"c.2\"]\nkeep = 0\n" + frame + held, ":1:11:", "\"c.2\""},
      {"keep = 0\nmasters = [\"b.2.y\"]\n" + frame, ":2:11:", "without strain energy"},
      {"masters = [\"b.2\"]\nmodes = [99]\n" + frame + held, ":2:9:", "mode 99"},
      {"masters = [\"b.2\"]\nmodes = [1]\ntolerance = -1\n" + frame + held,
       ":3:13:", "tolerance -1"},
      {"masters = [\"b.2\"]\nforce = [{ at = [\"b.1.y\"], frequency = 1 }]\n" + frame + held,
       ":2:", "not a master"},
  };
  for (const auto& [text, place, words] : cases) {
    const auto study = load_reduce_study(folder.put("study.toml", text));
    const Diagnostics d =
        study.ok() ? reduce(study->system, study->options).diagnostics() : study.diagnostics();
    EXPECT_FALSE(d.ok()) << text;
    EXPECT_NE(d.text().find(std::string("study.toml") + place), std::string::npos)
        << text << d.text();
    EXPECT_NE(d.text().find(words), std::string::npos) << text << d.text();
  }
}

}  // namespace
}  // namespace panto
