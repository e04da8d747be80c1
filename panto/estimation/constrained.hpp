// A mechanism in all its coordinates (OBS-13), for the extended filter with constraints as perfect measurements: the loops are not closed by the state
// but by sensors that read how far they are open, as zero, with a small standard deviation.
//   state array: q | v | biases     w: δq | δv (nv each) | δ of the biases     sensors: of the mechanism | φ | φ̇, rows that do not follow from others
#pragma once

#include "panto/estimation/mechanism.hpp"

namespace panto {

class AllCoordinates final : public MotionSystem {
 public:
  // The mechanism must outlive this object and be without forces; its sensors with their biases, noise and inputs are used. constraint: standard deviation of
  // the constraints as a share of the mechanism's length, of their rates the same per second.
  AllCoordinates(Mechanism& mechanism, double constraint);

  // P in all coordinates at x from one of independent coordinates and speeds.
  [[nodiscard]] Status initial_covariance(double t, View x, const Eigen::MatrixXd& independent,
                                          Eigen::MatrixXd& p);

  [[nodiscard]] int storage() const override { return nq_ + nv_ + nb_; }
  [[nodiscard]] int size() const override { return 2 * nv_ + nb_; }
  [[nodiscard]] int sensors() const override { return mechanism_.sensors() + constraints_; }
  [[nodiscard]] int constraints() const noexcept override { return constraints_; }
  [[nodiscard]] std::vector<std::string> names() const override;
  void pack(View q, View v, MutableView x) const noexcept override;
  [[nodiscard]] View q(View x) const override { return x.first(static_cast<size_t>(nq_)); }
  [[nodiscard]] View v(View x) const override {
    return x.subspan(static_cast<size_t>(nq_), static_cast<size_t>(nv_));
  }
  [[nodiscard]] int motion() const override { return 2 * nv_; }
  [[nodiscard]] Status state_jacobian(double t, MutableView x, Eigen::MatrixXd& dq,
                                      Eigen::MatrixXd& dv) noexcept override;
  [[nodiscard]] View forces(View) const override { return {}; }
  [[nodiscard]] View biases(View x) const override {
    return x.subspan(static_cast<size_t>(nq_ + nv_));
  }
  // Outputs that read accelerations or forces are those of the closed mechanism.
  [[nodiscard]] Status outputs(double t, MutableView x, std::span<const int> outputs,
                               MutableView y) noexcept override;
  [[nodiscard]] Status outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                        Eigen::MatrixXd& h) noexcept override;

  void move(View x, View w, MutableView out) noexcept override;
  void difference(View a, View b, MutableView w) noexcept override;
  [[nodiscard]] Status settle(double, MutableView) noexcept override { return Status::kOk; }
  // Euler, with the accelerations of the closed mechanism.
  [[nodiscard]] Status step(double t, double dt, MutableView x, MutableView out) noexcept override;
  [[nodiscard]] Status transition(double t, double dt, MutableView x, MutableView out,
                                  Eigen::MatrixXd& f) noexcept override;
  // The mechanism's noise along its possible motions, and as much in every single direction: with little noise across the motions, constraints would
  // be met by moving back along them. Costs up to a doubling of the noise along them.
  void process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept override;
  [[nodiscard]] Status sense(double t, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept override;
  [[nodiscard]] Status sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                      Eigen::MatrixXd& h) noexcept override;
  [[nodiscard]] double variance(int sensor) const noexcept override;
  [[nodiscard]] double innovation(int sensor, double reading,
                                  double expected) const noexcept override;
  // Which coordinates the mechanism takes for independent; the state does not know of them.
  [[nodiscard]] int memory() const override { return mechanism_.memory(); }
  void forget() noexcept override { mechanism_.forget(); }
  void remember(MutableView out) const noexcept override { mechanism_.remember(out); }
  bool recall(double t, View memory, MutableView x, Eigen::MatrixXd& change) noexcept override;
  void unsettle(MutableView) const noexcept override { workspace_.forget_pose(); }

 private:
  [[nodiscard]] Point point(double t, View x) noexcept;
  // closed_: the mechanism at the independent entries of x.
  void close(View x) noexcept;
  [[nodiscard]] Status keep_independent(double t) noexcept;
  void find_rows();
  // p = B a Bᵀ, and a's largest variances in every single direction, at least what keeps p definite.
  void spread(const Eigen::MatrixXd& a, Eigen::MatrixXd& p) noexcept;

  Mechanism& mechanism_;
  Workspace& workspace_;
  int nq_, nv_, nb_, constraints_ = 0;
  double share_, constraint_;           // standard deviation, relative and of a row
  std::vector<double> scale_;           // of a dof: 1, or the mechanism's length where it slides
  std::vector<int> positions_, rates_;  // rows of φ and of φ̇
  std::vector<int> outputs_, plain_, deep_;  // of sensors; those of velocity level at most, others
  std::vector<double> closed_, zero_, lambda_, y_, step_;
  Eigen::MatrixXd dq_, dv_, none_, b_, noise_, product_, h_, change_;
  DirectionalTangent along_;
  Residual residual_;
};

}  // namespace panto
