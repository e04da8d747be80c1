// What the tests of elements share: an own quadrature, random coordinates, chains of elements, eigenfrequencies, orders of convergence.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace panto::test {

using Complex = std::complex<double>;
inline constexpr double kPi = std::numbers::pi;

// Gauss rule on [0, 1] with points from Newton's iteration on the Legendre polynomial.
inline std::vector<std::pair<double, double>> gauss_rule(int n) {
  std::vector<std::pair<double, double>> rule;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(kPi * (i + 0.75) / (n + 0.5)), slope = 0;
    for (int k = 0; k < 50; ++k) {
      double p0 = 1, p1 = x;
      for (int j = 2; j <= n; ++j) {
        const double p2 = ((2 * j - 1) * x * p1 - (j - 1) * p0) / j;
        p0 = p1;
        p1 = p2;
      }
      slope = n * (x * p1 - p0) / (x * x - 1);
      x -= p1 / slope;
    }
    rule.emplace_back(0.5 * (1 - x), 1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

template <int n>
Eigen::Vector<double, n> random_vector(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  Eigen::Vector<double, n> v;
  for (int i = 0; i < n; ++i) v[i] = uniform(random);
  return v;
}

// max |a − b| / max |b|
template <class A, class B>
double relative_difference(const A& a, const B& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

// Jacobian of a vector function of n complex numbers by complex steps.
template <int n, class F>
Eigen::Matrix<double, n, n> complex_step_jacobian(const Eigen::Vector<double, n>& at, F&& f) {
  Eigen::Matrix<double, n, n> jacobian;
  for (int j = 0; j < n; ++j) {
    Eigen::Vector<Complex, n> z = at.template cast<Complex>();
    z[j] += Complex(0, 1e-40);
    jacobian.col(j) = f(z).imag() / 1e-40;
  }
  return jacobian;
}

// Rows and columns that are free.
inline Eigen::MatrixXd free_part(const Eigen::MatrixXd& a, const std::vector<int>& fixed) {
  std::vector<int> keep;
  for (int i = 0; i < a.rows(); ++i)
    if (std::find(fixed.begin(), fixed.end(), i) == fixed.end()) keep.push_back(i);
  return a(keep, keep);
}
inline Eigen::VectorXd free_part(const Eigen::VectorXd& a, const std::vector<int>& fixed) {
  std::vector<int> keep;
  for (int i = 0; i < a.size(); ++i)
    if (std::find(fixed.begin(), fixed.end(), i) == fixed.end()) keep.push_back(i);
  return a(keep);
}

// Ascending ω² of K φ = ω² M φ with some coordinates fixed.
inline Eigen::VectorXd squared_frequencies(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m,
                                           const std::vector<int>& fixed) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      free_part(k, fixed), free_part(m, fixed), Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

// Observed order from errors at n and 2n.
inline double order(double coarse, double fine) { return std::log2(std::abs(coarse / fine)); }

inline double bisect(const std::function<double(double)>& f, double low, double high) {
  const bool sign = f(low) < 0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    ((f(middle) < 0) == sign ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Chain of equal elements: per node `nodal` coordinates, shared between neighbours.
struct Chain {
  int elements, nodal;
  [[nodiscard]] int size() const { return nodal * (elements + 1); }
  template <class M>
  [[nodiscard]] Eigen::MatrixXd assemble(const std::vector<M>& parts) const {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(size(), size());
    for (int i = 0; i < elements; ++i)
      a.block(nodal * i, nodal * i, 2 * nodal, 2 * nodal) +=
          parts[parts.size() == 1 ? 0 : static_cast<size_t>(i)];
    return a;
  }
};

}  // namespace panto::test
