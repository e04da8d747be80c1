#include "panto/io/matrix_market.hpp"

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

class MatrixMarket : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

TEST_F(MatrixMarket, WhatIsWrittenReadsBackToTheLastDigit) {
  SparseMatrix a(3, 3);
  a.insert(0, 0) = 1.0 / 3;
  a.insert(2, 1) = a.insert(1, 2) = -4e-300;
  const std::string path = folder_.path("a.mtx");
  for (const bool symmetric : {true, false}) {
    ASSERT_TRUE(write_matrix_market(a, symmetric, {"p.x", "q 2", "r"}, path).ok());
    const auto file = read_matrix_market(path);
    ASSERT_TRUE(file.ok()) << file.diagnostics().text();
    EXPECT_EQ(Eigen::MatrixXd(file->matrix), Eigen::MatrixXd(a));
    EXPECT_EQ(file->names, (std::vector<std::string>{"p.x", "q 2", "r"}));
  }
}

TEST_F(MatrixMarket, ArraysAndEitherTriangleAreRead) {
  const auto array = read_matrix_market(folder_.put(
      "b.mtx", "%%MatrixMarket matrix array real symmetric\n% a comment\n2 2\n1\n2\n3\n"));
  ASSERT_TRUE(array.ok()) << array.diagnostics().text();
  EXPECT_EQ(array->matrix.coeff(0, 1), 2);
  EXPECT_EQ(array->matrix.coeff(1, 1), 3);
  const auto upper = read_matrix_market(
      folder_.put("c.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n1 2 5\n"));
  ASSERT_TRUE(upper.ok());
  EXPECT_EQ(upper->matrix.coeff(1, 0), 5);
}

TEST_F(MatrixMarket, WhatIsNoMatrixIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "error[E0916]: the file is empty"},
      {"1 2 3\n", "expected \"%%MatrixMarket"},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "real matrices"},
      {"%%MatrixMarket matrix coordinate real general\n1 1\n", "rows, columns and number"},
      {"%%MatrixMarket matrix coordinate real general\n1 1 x\n", "not a size"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "entry (3, 1)"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", "row, column and value"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "cut off"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 1\n", "more than the 1"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "is square"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 3\n1 2 3\n",
       ":4:1: error[E0916]: entry (1, 2): a file that says symmetric holds one triangle"},
      {"%%MatrixMarket matrix coordinate real general\n%dof a\n2 2 0\n", "1 names of 2 rows"},
      {"%%MatrixMarket matrix coordinate real general\n999999999999 1 0\n", "are read"},
  };
  for (const auto& [text, words] : cases) {
    const auto file = read_matrix_market(folder_.put("bad.mtx", text));
    EXPECT_FALSE(file.ok()) << text;
    EXPECT_NE(file.diagnostics().text().find(words), std::string::npos)
        << file.diagnostics().text();
  }
}

}  // namespace
}  // namespace panto
