#include "panto/estimation/smoother.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

#include "panto/base/contract.hpp"

namespace panto {

Smoother::Smoother(Filter& filter) : filter_(filter), possible_(filter.keep_predictions()) {}

Status Smoother::add(Record record) {
  record.t = filter_.time();
  record.x.assign(filter_.state().begin(), filter_.state().end());
  filter_.covariance(record.p);
  std::vector<double> x = record.x;
  const Status status = filter_.system().whole(record.t, x, record.whole);
  records_.push_back(std::move(record));
  return status;
}

Status Smoother::begin() {
  PANTO_EXPECT(possible_, "a filter that keeps its predictions");
  records_.clear();
  return add({});
}

Status Smoother::record() {
  PANTO_EXPECT(!records_.empty(), "begin() comes first");
  const Prediction& last = filter_.prediction();
  Record r;
  r.predicted = last.p;
  r.cross = last.cross;
  r.correction = Eigen::Map<const Eigen::VectorXd>(
      last.correction.data(), static_cast<Eigen::Index>(last.correction.size()));
  if (filter_.changed()) {
    const Eigen::MatrixXd& change = filter_.change();
    r.predicted = change * last.p * change.transpose();
    r.cross = last.cross * change.transpose();
    r.correction = change * r.correction;
  }
  return add(std::move(r));
}

// G = C P⁻⁻¹
Eigen::MatrixXd Smoother::gain(size_t k) const {
  const Record& next = records_[k + 1];
  return next.predicted.ldlt().solve(next.cross.transpose()).transpose();
}

// x^s_k = x_k ⊕ G (x^s_k+1 ⊖ x⁻_k+1), P^s_k = P_k + G (P^s_k+1 - P⁻_k+1) Gᵀ
void Smoother::back(size_t k, const Eigen::MatrixXd& gain, Eigen::VectorXd& w,
                    Eigen::MatrixXd& p) const {
  const Record& next = records_[k + 1];
  w = (gain * (w + next.correction)).eval();
  p = (records_[k].p + gain * (p - next.predicted) * gain.transpose()).eval();
  p = (0.5 * (p + p.transpose())).eval();
}

void Smoother::prepare(Smoothed& out) const {
  out.t.resize(records_.size());
  out.x.resize(records_.size());
  out.p.resize(records_.size());
}

Status Smoother::place(size_t k, const Eigen::VectorXd& w, const Eigen::MatrixXd& p,
                       Smoothed& out) const {
  const Record& r = records_[k];
  System& system = filter_.system();
  Eigen::VectorXd step = w;
  out.t[k] = r.t;
  out.x[k] = r.x;
  out.p[k] = p;
  if (r.whole.size() > 0) {
    Eigen::MatrixXd change(w.size(), w.size());
    system.adopt(r.whole, out.x[k], change);
    step = change * w;
    out.p[k] = change * p * change.transpose();
  }
  std::vector<double> moved(r.x.size());
  system.move(out.x[k], {step.data(), static_cast<size_t>(step.size())}, moved);
  const Status status = system.settle(r.t, moved);
  if (status == Status::kOk) out.x[k] = std::move(moved);
  return status;
}

Status Smoother::smooth(Smoothed& out) const {
  prepare(out);
  if (records_.empty()) return Status::kOk;
  Eigen::VectorXd w = Eigen::VectorXd::Zero(records_.back().p.rows());
  Eigen::MatrixXd p = records_.back().p;
  Status worst = place(records_.size() - 1, w, p, out);
  for (size_t k = records_.size() - 1; k-- > 0;) {
    back(k, gain(k), w, p);
    const Status status = place(k, w, p, out);
    if (status != Status::kOk) worst = status;
  }
  return worst;
}

Status Smoother::smooth(Smoothed& out, int lag) const {
  PANTO_EXPECT(lag >= 0, "a lag of at least no step");
  std::vector<size_t> last(records_.size());
  for (size_t k = 0; k < last.size(); ++k)
    last[k] = std::min(k + static_cast<size_t>(lag), records_.size() - 1);
  return smooth_up_to(out, last);
}

Status Smoother::smooth_within(Smoothed& out, double seconds) const {
  PANTO_EXPECT(seconds >= 0, "a lag of at least no time");
  std::vector<size_t> last(records_.size());
  for (size_t k = 0, i = 0; k < last.size(); last[k++] = i)
    while (i + 1 < records_.size() && records_[i + 1].t <= records_[k].t + seconds) ++i;
  return smooth_up_to(out, last);
}

Status Smoother::smooth_up_to(Smoothed& out, const std::vector<size_t>& last) const {
  prepare(out);
  std::vector<Eigen::MatrixXd> gains;
  gains.reserve(records_.size());
  for (size_t k = 0; k + 1 < records_.size(); ++k) gains.push_back(gain(k));
  Status worst = Status::kOk;
  Eigen::VectorXd w;
  Eigen::MatrixXd p;
  for (size_t k = 0; k < records_.size(); ++k) {
    w.setZero(records_[last[k]].p.rows());
    p = records_[last[k]].p;
    for (size_t i = last[k]; i-- > k;) back(i, gains[i], w, p);
    const Status status = place(k, w, p, out);
    if (status != Status::kOk) worst = status;
  }
  return worst;
}

}  // namespace panto
