// A linear system with known matrices, and the textbook filter and smoother for it: plain formulas, nothing shared with the library.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "panto/estimation/filter.hpp"
#include "panto/numerics/random.hpp"

namespace panto::test {

// A point on a line driven by white acceleration noise of density s; sensors: rows of h.
class LinearSystem final : public System {
 public:
  LinearSystem(double density, const Eigen::MatrixXd& h, const Eigen::VectorXd& r)
      : density_(density), h_(h), r_(r) {}

  [[nodiscard]] static Eigen::MatrixXd f(double dt) {
    Eigen::MatrixXd f(2, 2);
    f << 1, dt, 0, 1;
    return f;
  }
  [[nodiscard]] Eigen::MatrixXd q(double dt) const {
    Eigen::MatrixXd q(2, 2);
    q << dt * dt * dt / 3, dt * dt / 2, dt * dt / 2, dt;
    return density_ * q;
  }
  [[nodiscard]] const Eigen::MatrixXd& h() const { return h_; }
  [[nodiscard]] const Eigen::VectorXd& r() const { return r_; }

  [[nodiscard]] int storage() const override { return 2; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] int sensors() const override { return static_cast<int>(h_.rows()); }
  void move(View x, View w, MutableView out) noexcept override {
    for (size_t i = 0; i < 2; ++i) out[i] = x[i] + w[i];
  }
  void difference(View a, View b, MutableView w) noexcept override {
    for (size_t i = 0; i < 2; ++i) w[i] = a[i] - b[i];
  }
  [[nodiscard]] Status settle(double, MutableView) noexcept override { return Status::kOk; }
  [[nodiscard]] Status step(double, double dt, MutableView x, MutableView out) noexcept override {
    out[0] = x[0] + dt * x[1];
    out[1] = x[1];
    return Status::kOk;
  }
  [[nodiscard]] Status transition(double, double dt, MutableView, MutableView,
                                  Eigen::MatrixXd& out) noexcept override {
    out = f(dt);
    return Status::kOk;
  }
  void process_noise(double, double dt, View, Eigen::MatrixXd& out) noexcept override {
    out = q(dt);
  }
  [[nodiscard]] Status sense(double, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept override {
    for (size_t i = 0; i < sensors.size(); ++i)
      y[i] = h_(sensors[i], 0) * x[0] + h_(sensors[i], 1) * x[1];
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
  double density_;
  Eigen::MatrixXd h_;
  Eigen::VectorXd r_;
};

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
    const Eigen::Matrix2d l = system.q(s.dt).llt().matrixL();
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

// Kalman's filter and the smoother of Rauch, Tung and Striebel as in textbooks.
struct Textbook {
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
      const Eigen::MatrixXd i_s = (h * v * h.transpose() + r).inverse(),
                            k = v * h.transpose() * i_s;
      nis = e.dot(i_s * e);
      m += k * e;
      v -= k * h * v;
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
      const Eigen::MatrixXd g =
          p[at] * f[at + 1].transpose() * predicted_p[at + 1].inverse();
      xs = x[at] + g * (xs - predicted[at + 1]);
      ps = p[at] + g * (ps - predicted_p[at + 1]) * g.transpose();
    }
  }
};

inline LinearSystem two_sensors() {
  Eigen::MatrixXd h(2, 2);
  h << 1, 0, 0.3, 1;
  return {0.8, h, Eigen::Vector2d(0.04, 0.09)};
}

}  // namespace panto::test
