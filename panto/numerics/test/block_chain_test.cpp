#include "panto/numerics/block_chain.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

namespace panto {
namespace {

// Random rows: two conditions at the beginning, three at the end, five unknowns per block.
TEST(BlockChain, SolvesAsTheFullMatrix) {
  constexpr int kBlocks = 6, kSize = 5;
  std::srand(3);
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(kBlocks * kSize, kBlocks * kSize);
  BlockChain chain;
  std::vector<Eigen::VectorXd> right;
  Eigen::Index row = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const bool last = i + 1 == kBlocks;
    const Eigen::Index rows = last ? 3 : i == 0 ? kSize + 2 : kSize;
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(rows, kSize);
    Eigen::MatrixXd b = Eigen::MatrixXd::Random(rows, last ? 0 : kSize);
    if (i == 0) b.topRows(2).setZero();
    full.block(row, i * kSize, rows, kSize) = a;
    if (!last) full.block(row, (i + 1) * kSize, rows, kSize) = b;
    chain.stage(a, b);
    right.emplace_back(Eigen::VectorXd::Random(rows));
    row += rows;
  }
  ASSERT_TRUE(chain.regular());
  Eigen::VectorXd all(kBlocks * kSize);
  row = 0;
  for (const auto& r : right) {
    all.segment(row, r.size()) = r;
    row += r.size();
  }
  const Eigen::VectorXd expected = full.partialPivLu().solve(all);
  const auto x = chain.solve(right);
  for (int i = 0; i < kBlocks; ++i)
    EXPECT_LT((x[static_cast<size_t>(i)] - expected.segment(i * kSize, kSize)).norm(),
              1e-12 * expected.norm());
}

// Rows of a block's own make its others smaller; a further unknown of each block is known to its stage alone.
TEST(BlockChain, SolvesWithRowsOfBlocksTheirOwn) {
  constexpr int kBlocks = 6, kKnown = 4, kFurther = 1, kSize = kKnown + kFurther;
  std::srand(5);
  constexpr int kUnknowns = kBlocks * kSize - kFurther;
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(kUnknowns, kUnknowns);
  BlockChain chain;
  std::vector<Eigen::VectorXd> right;
  Eigen::Index row = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const bool last = i + 1 == kBlocks;
    // A condition at the beginning, two at the end, one row of its own at every block.
    const Eigen::Index own = i == 0 ? 2
                             : last ? 3
                                    : 1,
                       rows = own + (last ? 0 : 4), size = last ? kKnown : kSize;
    Eigen::MatrixXd a = Eigen::MatrixXd::Random(rows, size),
                    b = Eigen::MatrixXd::Random(rows, last ? 0 : kKnown);
    b.topRows(own).setZero();
    if (!last) a.topRightCorner(own, kFurther).setZero();
    full.block(row, i * kSize, rows, size) = a;
    if (!last) full.block(row, (i + 1) * kSize, rows, kKnown) = b;
    chain.stage(a, b, own);
    right.emplace_back(Eigen::VectorXd::Random(rows));
    row += rows;
  }
  ASSERT_EQ(row, kUnknowns);
  ASSERT_TRUE(chain.regular());
  Eigen::VectorXd all(kUnknowns);
  row = 0;
  for (const auto& r : right) {
    all.segment(row, r.size()) = r;
    row += r.size();
  }
  const Eigen::VectorXd expected = full.partialPivLu().solve(all);
  const auto x = chain.solve(right);
  for (int i = 0; i < kBlocks; ++i) {
    const Eigen::VectorXd& own = x[static_cast<size_t>(i)];
    EXPECT_LT((own - expected.segment(i * kSize, own.size())).norm(), 1e-11 * expected.norm());
  }
}

// x'' = k² x over a length where e^(k t) reaches 1e43: a forward elimination of the growing part would leave nothing.
TEST(BlockChain, KeepsGrowingAndDecayingSolutionsApart) {
  constexpr int kBlocks = 201;
  const double h = 0.05, k = 10, growth = std::exp(k * h);
  BlockChain chain;
  std::vector<Eigen::VectorXd> right;
  for (int i = 0; i < kBlocks; ++i) {
    const bool first = i == 0, last = i + 1 == kBlocks;
    // (growing, decaying) step by step, mixed; conditions: their sum is 1 at both ends.
    Eigen::MatrixXd a(first ? 3 : last ? 1 : 2, 2), b(a.rows(), last ? 0 : 2);
    b.setZero();
    if (first || last) a.row(0) << 1, 1;
    if (!last) {
      a.bottomRows(2) << growth, 0, 0, 1 / growth;
      b.bottomRows(2) << -1, 0, 0, -1;
    }
    chain.stage(a, b);
    Eigen::VectorXd r = Eigen::VectorXd::Zero(a.rows());
    if (first || last) r[0] = 1;
    right.push_back(r);
  }
  ASSERT_TRUE(chain.regular());
  const auto x = chain.solve(right);
  for (int i = 0; i < kBlocks; ++i) {
    const double t = i * h, end = (kBlocks - 1) * h;
    EXPECT_NEAR(x[static_cast<size_t>(i)][0], std::exp(k * (t - end)), 1e-12);
    EXPECT_NEAR(x[static_cast<size_t>(i)][1], std::exp(-k * t), 1e-12);
  }
}

TEST(BlockChain, TellsThatEquationsDepend) {
  BlockChain chain;
  const Eigen::MatrixXd a = (Eigen::MatrixXd(2, 2) << 1, 2, 2, 4).finished();
  chain.stage(a, Eigen::MatrixXd(2, 0));
  EXPECT_FALSE(chain.regular());
}

}  // namespace
}  // namespace panto
