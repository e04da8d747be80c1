// Linear equations in unknowns that form a chain: rows of stage i contain the unknowns of blocks i and i + 1 alone, as in boundary value problems.
// Elimination with row exchanges, block by block: growing and decaying solutions are kept apart by the conditions at both ends; cost linear in the number of blocks.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

namespace panto {

class BlockChain {
 public:
  BlockChain();
  ~BlockChain();
  BlockChain(BlockChain&&) noexcept;
  BlockChain& operator=(BlockChain&&) noexcept;

  // Forgets all stages, and keeps their memory for those to come.
  void clear();
  // The next stage: rows a x_i + b x_(i+1); the last one has b without columns. x_i may have more unknowns than the stage before knows of: further ones come last.
  // The first `own` rows contain x_i alone, and none of those further unknowns: they are used to eliminate as many of x_i from all other rows at once, which leaves
  // smaller blocks. Rows that x_i does not use up are handed on.
  void stage(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::Index own = 0);
  // After the last stage: as many equations as unknowns, and none of them depends on the others.
  [[nodiscard]] bool regular() const { return regular_; }
  // right: right-hand sides by stage; unknowns by block.
  [[nodiscard]] std::vector<Eigen::VectorXd> solve(const std::vector<Eigen::VectorXd>& right) const;

 private:
  struct Stage;
  void finish(const Stage& next);
  std::vector<std::unique_ptr<Stage>> stages_;
  size_t count_ = 0;         // of them in use
  Eigen::MatrixXd carried_;  // rows on what is free of x_(i+1)
  Eigen::MatrixXd work_;
  Eigen::MatrixXd ahead_,
      next_;  // the last stage: other rows by its own unknowns, and by the next block's, until that is there
  bool regular_ = true;
};

}  // namespace panto
