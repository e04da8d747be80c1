// Smoothing after Rauch, Tung and Striebel (OBS-10): what all readings, also the later ones, say of every state. Beside any filter that keeps its
// predictions.
#pragma once

#include "panto/estimation/filter.hpp"

namespace panto {

// In the free entries that are present when smooth() is called.
struct Smoothed {
  std::vector<double> t;
  std::vector<std::vector<double>> x;
  std::vector<Eigen::MatrixXd> p;
};

class Smoother {
 public:
  // The filter must outlive this object.
  explicit Smoother(Filter& filter);
  // False: this filter cannot keep predictions.
  [[nodiscard]] bool possible() const { return possible_; }

  // After Filter::start(); forgets what was recorded.
  [[nodiscard]] Status begin();
  // After every Filter::step().
  [[nodiscard]] Status record();
  [[nodiscard]] size_t count() const { return records_.size(); }

  // The state at the start and after every step, each from the readings of all steps, or of up to `lag` (>= 0) further ones. kOk, or what kept a
  // state from being settled: it is then the filter's.
  [[nodiscard]] Status smooth(Smoothed& out) const;
  [[nodiscard]] Status smooth(Smoothed& out, int lag) const;
  // The same from the steps of up to `seconds` later.
  [[nodiscard]] Status smooth_within(Smoothed& out, double seconds) const;

 private:
  struct Record {
    double t = 0;
    std::vector<double> x;
    Eigen::MatrixXd p, whole;
    // Of the step that led here, in the free entries after it: prediction and its cross covariance with the state before, and the correction.
    Eigen::MatrixXd predicted, cross;
    Eigen::VectorXd correction;
  };
  [[nodiscard]] Status add(Record record);
  // Gain from the record after k back to k.
  [[nodiscard]] Eigen::MatrixXd gain(size_t k) const;
  // From record k + 1 back to k: w and p are of the smoothed state, w from the filter's.
  void back(size_t k, const Eigen::MatrixXd& gain, Eigen::VectorXd& w, Eigen::MatrixXd& p) const;
  [[nodiscard]] Status place(size_t k, const Eigen::VectorXd& w, const Eigen::MatrixXd& p,
                             Smoothed& out) const;
  void prepare(Smoothed& out) const;
  // Every record from those up to last[record].
  [[nodiscard]] Status smooth_up_to(Smoothed& out, const std::vector<size_t>& last) const;

  Filter& filter_;
  bool possible_;
  std::vector<Record> records_;
};

}  // namespace panto
