#include "panto/numerics/block_chain.hpp"

#include <Eigen/QR>
#include <cmath>

#include "panto/base/contract.hpp"

namespace panto {

// Qᵀ [a | b] = [R, U; 0, carried].
struct BlockChain::Stage {
  Eigen::HouseholderQR<Eigen::MatrixXd> qr;
  Eigen::MatrixXd after;  // U
  Eigen::Index carried = 0, rows = 0, size = 0;
};

BlockChain::BlockChain() = default;
BlockChain::~BlockChain() = default;

void BlockChain::clear() {
  stages_.clear();
  carried_.resize(0, 0);
  regular_ = true;
}

void BlockChain::stage(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  auto s = std::make_unique<Stage>();
  s->size = a.cols();
  s->carried = carried_.rows();
  s->rows = s->carried + a.rows();
  PANTO_EXPECT(b.cols() > 0 || s->rows == s->size, "as many equations as unknowns");
  if (s->rows < s->size) {
    regular_ = false;
    return;
  }
  Eigen::MatrixXd own = Eigen::MatrixXd::Zero(s->rows, s->size),
                  next = Eigen::MatrixXd::Zero(s->rows, b.cols());
  if (s->carried > 0) own.topLeftCorner(s->carried, carried_.cols()) = carried_;
  own.bottomRows(a.rows()) = a;
  next.bottomRows(b.rows()) = b;
  // Columns of like size would be needed to judge singularity by them: each diagonal entry is compared with its own column.
  const Eigen::VectorXd sizes = own.colwise().norm();
  s->qr.compute(own);
  constexpr double kZero = 1e-14;
  for (Eigen::Index k = 0; k < s->size; ++k)
    if (!(std::abs(s->qr.matrixQR()(k, k)) > kZero * sizes[k])) regular_ = false;
  if (b.cols() > 0) next.applyOnTheLeft(s->qr.householderQ().adjoint());
  s->after = next.topRows(s->size);
  carried_ = next.bottomRows(s->rows - s->size);
  stages_.push_back(std::move(s));
}

std::vector<Eigen::VectorXd> BlockChain::solve(const std::vector<Eigen::VectorXd>& right) const {
  PANTO_EXPECT(right.size() == stages_.size(), "a right-hand side per stage");
  std::vector<Eigen::VectorXd> x(stages_.size());
  Eigen::VectorXd carried;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& s = *stages_[i];
    Eigen::VectorXd all(s.rows);
    all << carried, right[i];
    all.applyOnTheLeft(s.qr.householderQ().adjoint());
    x[i] = all.head(s.size);
    carried = all.tail(s.rows - s.size);
  }
  for (size_t i = stages_.size(); i-- > 0;) {
    const Stage& s = *stages_[i];
    if (i + 1 < stages_.size()) x[i] -= s.after * x[i + 1].head(s.after.cols());
    s.qr.matrixQR().topRows(s.size).triangularView<Eigen::Upper>().solveInPlace(x[i]);
  }
  return x;
}

}  // namespace panto
