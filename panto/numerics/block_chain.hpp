// Linear equations in unknowns that form a chain: rows of stage i contain the unknowns of blocks i and i + 1 alone, as in boundary value problems.
// Orthogonal elimination, block by block: stable for growing and decaying solutions alike, cost linear in the number of blocks.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

namespace panto {

class BlockChain {
 public:
  BlockChain();
  ~BlockChain();
  BlockChain(const BlockChain&) = delete;
  BlockChain& operator=(const BlockChain&) = delete;

  // Forgets all stages.
  void clear();
  // The next stage: rows a x_i + b x_(i+1); the last one has b without columns. Rows that x_i does not use up are handed on.
  void stage(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
  // After the last stage: as many equations as unknowns, and none of them depends on the others.
  [[nodiscard]] bool regular() const { return regular_; }
  // right: right-hand sides by stage; unknowns by block.
  [[nodiscard]] std::vector<Eigen::VectorXd> solve(const std::vector<Eigen::VectorXd>& right) const;

 private:
  struct Stage;
  std::vector<std::unique_ptr<Stage>> stages_;
  Eigen::MatrixXd carried_;  // rows on x_(i+1)
  bool regular_ = true;
};

}  // namespace panto
