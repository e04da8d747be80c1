#include "panto/linear/response.hpp"

#include <Eigen/Eigenvalues>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/numerics/eigenproblems.hpp"

namespace panto {

namespace {

Eigen::MatrixXd columns_of(const Eigen::MatrixXd& a, std::span<const int> at) {
  Eigen::MatrixXd out(a.rows(), static_cast<Eigen::Index>(at.size()));
  for (size_t j = 0; j < at.size(); ++j) out.col(static_cast<Eigen::Index>(j)) = a.col(at[j]);
  return out;
}
Eigen::MatrixXd rows_of(const Eigen::MatrixXd& a, std::span<const int> at) {
  Eigen::MatrixXd out(static_cast<Eigen::Index>(at.size()), a.cols());
  for (size_t i = 0; i < at.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = a.row(at[i]);
  return out;
}

}  // namespace

std::vector<Eigen::MatrixXcd> frequency_response(const LinearModel& linear,
                                                 std::span<const int> outputs,
                                                 std::span<const int> inputs,
                                                 std::span<const double> frequencies_hz) {
  const Eigen::MatrixXd b = columns_of(linear.B_x, inputs),
                        b_rate = columns_of(linear.B_rate, inputs),
                        c = rows_of(linear.C_x, outputs),
                        d = rows_of(columns_of(linear.D_x, inputs), outputs),
                        d_rate = rows_of(columns_of(linear.D_rate, inputs), outputs);
  std::vector<Eigen::MatrixXcd> out;
  out.reserve(frequencies_hz.size());
  // A = U T U*, T upper triangular.
  const Eigen::Index n = linear.A.rows();
  Eigen::MatrixXcd triangle(n, n), b_u, b_rate_u, c_u;
  if (n > 0) {
    const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(linear.A.cast<std::complex<double>>());
    triangle = schur.matrixT();
    b_u = schur.matrixU().adjoint() * b;
    b_rate_u = schur.matrixU().adjoint() * b_rate;
    c_u = c * schur.matrixU();
  }
  for (const double f : frequencies_hz) {
    const std::complex<double> s(0, 2 * std::numbers::pi * f);
    Eigen::MatrixXcd h = d + s * d_rate;
    if (n > 0) {
      Eigen::MatrixXcd shifted = -triangle;
      shifted.diagonal().array() += s;
      h += c_u * shifted.triangularView<Eigen::Upper>().solve(b_u + s * b_rate_u);
    }
    out.push_back(std::move(h));
  }
  return out;
}

std::vector<std::complex<double>> poles(const LinearModel& linear) {
  const ComplexPairs pairs = state_pairs(linear.A);
  return {pairs.values.data(), pairs.values.data() + pairs.values.size()};
}

std::vector<std::complex<double>> zeros(const LinearModel& linear, std::span<const int> outputs,
                                        std::span<const int> inputs) {
  PANTO_EXPECT(outputs.size() == inputs.size(), "zeros need as many outputs as inputs");
  const Eigen::Index n = linear.A.rows(), m = static_cast<Eigen::Index>(inputs.size());
  const Eigen::MatrixXd b = columns_of(linear.B_x, inputs), c = rows_of(linear.C_x, outputs),
                        d = rows_of(columns_of(linear.D_x, inputs), outputs);
  PANTO_EXPECT(columns_of(linear.B_rate, inputs).isZero(0) &&
                   rows_of(columns_of(linear.D_rate, inputs), outputs).isZero(0),
               "zeros are not defined for inputs that act through their rates");
  Eigen::MatrixXd a(n + m, n + m), e = Eigen::MatrixXd::Zero(n + m, n + m);
  // Inputs and outputs scaled to the size of A, so that infinite zeros stand apart from finite ones.
  const double size = std::max(1.0, linear.A.norm());
  const auto scale = [&](const Eigen::MatrixXd& x) { return x.norm() > 0 ? size / x.norm() : 1.0; };
  const double sb = scale(b), sc = scale(c);
  a << linear.A, sb * b, sc * c, sb * sc * d;
  e.topLeftCorner(n, n).setIdentity();
  return pencil_values(a, e, 1e6 * size);
}

}  // namespace panto
