// A linear system with known matrices, and the textbook filter and smoother for it: plain formulas, nothing shared with the library.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <vector>

#include "panto/estimation/filter.hpp"
#include "panto/numerics/random.hpp"

namespace panto::test {

// x <- F x + noise of covariance Q, both by the length of the step; sensors: rows of h with variances r.
class LinearSystem final : public System {
 public:
  using Matrix = std::function<Eigen::MatrixXd(double)>;
  LinearSystem(Matrix f, Matrix q, const Eigen::MatrixXd& h, const Eigen::VectorXd& r)
      : f_(std::move(f)), q_(std::move(q)), h_(h), r_(r), n_(static_cast<int>(h.cols())) {}

  [[nodiscard]] Eigen::MatrixXd f(double dt) const { return f_(dt); }
  [[nodiscard]] Eigen::MatrixXd q(double dt) const { return q_(dt); }
  [[nodiscard]] const Eigen::MatrixXd& h() const { return h_; }
  [[nodiscard]] const Eigen::VectorXd& r() const { return r_; }

  [[nodiscard]] int storage() const override { return n_; }
  [[nodiscard]] int size() const override { return n_; }
  [[nodiscard]] int sensors() const override { return static_cast<int>(h_.rows()); }
  void move(View x, View w, MutableView out) noexcept override {
    for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] + w[i];
  }
  void difference(View a, View b, MutableView w) noexcept override {
    for (size_t i = 0; i < a.size(); ++i) w[i] = a[i] - b[i];
  }
  [[nodiscard]] Status settle(double, MutableView) noexcept override { return Status::kOk; }
  [[nodiscard]] Status step(double, double dt, MutableView x, MutableView out) noexcept override {
    const Eigen::VectorXd next = f_(dt) * Eigen::Map<const Eigen::VectorXd>(x.data(), n_);
    std::copy(next.begin(), next.end(), out.begin());
    return Status::kOk;
  }
  [[nodiscard]] Status transition(double, double dt, MutableView, MutableView,
                                  Eigen::MatrixXd& out) noexcept override {
    out = f_(dt);
    return Status::kOk;
  }
  void process_noise(double, double dt, View, Eigen::MatrixXd& out) noexcept override {
    out = q_(dt);
  }
  [[nodiscard]] Status sense(double, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept override {
    for (size_t i = 0; i < sensors.size(); ++i)
      y[i] = h_.row(sensors[i]).dot(Eigen::Map<const Eigen::VectorXd>(x.data(), n_));
    return Status::kOk;
  }
  [[nodiscard]] Status sense_jacobian(double, MutableView, std::span<const int> sensors,
                                      Eigen::MatrixXd& out) noexcept override {
    for (size_t i = 0; i < sensors.size(); ++i)
      out.row(static_cast<Eigen::Index>(i)) = h_.row(sensors[i]);
    return Status::kOk;
  }
  [[nodiscard]] double variance(int sensor) const noexcept override { return r_(sensor); }

 private:
  Matrix f_, q_;
  Eigen::MatrixXd h_;
  Eigen::VectorXd r_;
  int n_;
};

// A point on a line: position and speed.
inline Eigen::MatrixXd point_transition(double dt) {
  return (Eigen::MatrixXd(2, 2) << 1, dt, 0, 1).finished();
}
// White acceleration noise of density 1.
inline Eigen::MatrixXd white_acceleration(double dt) {
  return (Eigen::MatrixXd(2, 2) << dt * dt * dt / 3, dt * dt / 2, dt * dt / 2, dt).finished();
}

inline LinearSystem two_sensors(double density = 0.8) {
  Eigen::MatrixXd h(2, 2);
  h << 1, 0, 0.3, 1;
  return {point_transition,
          [density](double dt) -> Eigen::MatrixXd { return density * white_acceleration(dt); }, h,
          Eigen::Vector2d(0.04, 0.09)};
}

// One step of a run: its length and the readings at its end.
struct LinearStep {
  double dt = 0;
  std::vector<int> sensors;
  std::vector<double> y;
};

// Steps of uneven length with one, two or no readings, from a truth that starts off the estimate.
inline std::vector<LinearStep> linear_run(const LinearSystem& system, int steps,
                                          std::uint64_t seed) {
  std::vector<LinearStep> run;
  Eigen::Vector2d x(0.7, -0.4);
  std::uint64_t draw = 0;
  const auto z = [&] { return normal(seed, 0, draw++); };
  for (int k = 0; k < steps; ++k) {
    LinearStep s;
    s.dt = 0.05 + 0.1 * uniform(seed, 1, static_cast<std::uint64_t>(k));
    Eigen::MatrixXd l(2, 2);
    noise_factor(system.q(s.dt), l);
    x = system.f(s.dt) * x + l * Eigen::Vector2d(z(), z());
    for (int i = 0; i < system.sensors(); ++i)
      if ((k + i) % (i + 2) == 0 || k % 7 == 3) {
        s.sensors.push_back(i);
        s.y.push_back(system.h().row(i).dot(x) + std::sqrt(system.r()(i)) * z());
      }
    run.push_back(s);
  }
  return run;
}

// Kalman's filter and the smoother of Rauch, Tung and Striebel as in textbooks. reused: the readings are expected without the noise of the step,
// which is what sigma points say that are not drawn anew; the gain is then not optimal unless there is no noise.
struct Textbook {
  bool reused = false;
  std::vector<Eigen::VectorXd> x, predicted;
  std::vector<Eigen::MatrixXd> p, predicted_p, f;
  double nis = 0;  // of the last step

  void start(const Eigen::VectorXd& x0, const Eigen::MatrixXd& p0) {
    x = {x0};
    p = {p0};
    predicted = {x0};
    predicted_p = {p0};
    f = {Eigen::MatrixXd::Identity(x0.size(), x0.size())};
  }
  void step(const LinearSystem& system, const LinearStep& s) {
    const Eigen::MatrixXd a = system.f(s.dt);
    Eigen::VectorXd m = a * x.back();
    Eigen::MatrixXd v = a * p.back() * a.transpose() + system.q(s.dt);
    predicted.push_back(m);
    predicted_p.push_back(v);
    f.push_back(a);
    nis = 0;
    if (!s.sensors.empty()) {
      const auto rows = static_cast<Eigen::Index>(s.sensors.size());
      Eigen::MatrixXd h(rows, m.size());
      Eigen::MatrixXd r = Eigen::MatrixXd::Zero(rows, rows);
      Eigen::VectorXd e(rows);
      for (Eigen::Index i = 0; i < rows; ++i) {
        const int sensor = s.sensors[static_cast<size_t>(i)];
        h.row(i) = system.h().row(sensor);
        r(i, i) = system.r()(sensor);
        e(i) = s.y[static_cast<size_t>(i)] - h.row(i).dot(m);
      }
      const Eigen::MatrixXd known = reused ? v - system.q(s.dt) : v,
                            spread = h * known * h.transpose() + r,
                            k = known * h.transpose() * spread.inverse();
      nis = e.dot(spread.inverse() * e);
      m += k * e;
      v -= k * spread * k.transpose();
    }
    x.push_back(m);
    p.push_back(v);
  }
  // Estimates at k from the readings up to `last`.
  void smooth(int k, int last, Eigen::VectorXd& xs, Eigen::MatrixXd& ps) const {
    xs = x[static_cast<size_t>(last)];
    ps = p[static_cast<size_t>(last)];
    for (int i = last - 1; i >= k; --i) {
      const auto at = static_cast<size_t>(i);
      const Eigen::MatrixXd g = p[at] * f[at + 1].transpose() * predicted_p[at + 1].inverse();
      xs = x[at] + g * (xs - predicted[at + 1]);
      ps = p[at] + g * (ps - predicted_p[at + 1]) * g.transpose();
    }
  }
};

}  // namespace panto::test
