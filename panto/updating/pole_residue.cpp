#include "panto/updating/pole_residue.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <numbers>

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr Complex kI(0, 1);

void stack(const VectorXcd& values, Eigen::Ref<VectorXd> out) {
  out.head(values.size()) = values.real();
  out.tail(values.size()) = values.imag();
}

// Orthonormal columns that span those of a, and their coefficients.
struct Projection {
  explicit Projection(const MatrixXd& a)
      : scale(a.colwise().norm().cwiseMax(1e-300).cwiseInverse()), qr(a * scale.asDiagonal()) {
    q = qr.householderQ() * MatrixXd::Identity(a.rows(), a.cols());
  }
  [[nodiscard]] MatrixXd without(const MatrixXd& b) const { return b - q * (q.transpose() * b); }
  [[nodiscard]] MatrixXd solve(const MatrixXd& b) const {
    return scale.asDiagonal() * MatrixXd(qr.solve(b));
  }
  // Diagonal blocks of (AᵀA)⁻¹ are needed only: R⁻¹ of the scaled columns.
  [[nodiscard]] MatrixXd inverse_gram() const {
    const MatrixXd r = qr.matrixQR().topRows(qr.cols()).triangularView<Eigen::Upper>();
    const MatrixXd inverse =
        r.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(qr.cols(), qr.cols()));
    return scale.asDiagonal() * (inverse * inverse.transpose()) * scale.asDiagonal();
  }
  VectorXd scale;
  Eigen::HouseholderQR<MatrixXd> qr;
  MatrixXd q;
};

}  // namespace

PoleResidueModel::PoleResidueModel(const VectorXd& frequency_hz, int q, double window_decay)
    : s_(frequency_hz.size()), factor_(frequency_hz.size()) {
  for (Index i = 0; i < s_.size(); ++i) {
    s_(i) = Complex(window_decay, 2 * std::numbers::pi * frequency_hz(i));
    factor_(i) = q == 0 ? Complex(1) : q == 1 ? s_(i) : s_(i) * s_(i);
  }
}

MatrixXd PoleResidueModel::basis(const VectorXcd& poles) const {
  const Index n = poles.size();
  MatrixXd out(2 * s_.size(), 2 * n + 2);
  for (Index k = 0; k < n; ++k) {
    const VectorXcd g = factor_.array() / (s_.array() - poles(k)),
                    c = factor_.array() / (s_.array() - std::conj(poles(k)));
    stack(g + c, out.col(2 * k));
    stack(kI * (g - c), out.col(2 * k + 1));
  }
  stack(factor_, out.col(2 * n));
  stack(factor_.array() / (s_.array() * s_.array()), out.col(2 * n + 1));
  return out;
}

MatrixXd PoleResidueModel::derivatives(const VectorXcd& poles) const {
  MatrixXd out(2 * s_.size(), 4 * poles.size());
  for (Index k = 0; k < poles.size(); ++k) {
    const VectorXcd g = factor_.array() / (s_.array() - poles(k)).square(),
                    c = factor_.array() / (s_.array() - std::conj(poles(k))).square();
    stack(g + c, out.col(4 * k));
    stack(kI * (g - c), out.col(4 * k + 1));
    stack(kI * (g - c), out.col(4 * k + 2));
    stack(-g - c, out.col(4 * k + 3));
  }
  return out;
}

double PoleResidueModel::energy_around(Complex pole, const VectorXd& line_energy) const {
  double sum = 0, nearest = 0, least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < s_.size(); ++i) {
    const double distance = std::abs(s_(i).imag() - pole.imag());
    if (distance <= s_(i).real() - pole.real()) sum += line_energy(i);
    if (distance < least) {
      least = distance;
      nearest = line_energy(i);
    }
  }
  return std::max(sum, nearest);
}

MatrixXd PoleResidueModel::stacked(const MatrixXcd& h) {
  MatrixXd out(2 * h.rows(), h.cols());
  out.topRows(h.rows()) = h.real();
  out.bottomRows(h.rows()) = h.imag();
  return out;
}

MatrixXcd PoleResidueModel::unstacked(const MatrixXd& h) {
  MatrixXcd out(h.rows() / 2, h.cols());
  out.real() = h.topRows(out.rows());
  out.imag() = h.bottomRows(out.rows());
  return out;
}

RefinedPoles refine_poles(const PoleResidueModel& model, const MatrixXcd& h, const VectorXcd& poles,
                          const std::vector<bool>& fixed, int iterations) {
  const Index n = poles.size();
  MatrixXd y = PoleResidueModel::stacked(h);
  VectorXd sizes = y.colwise().norm();
  for (double& size : sizes)
    if (!(size > 0)) size = 1;
  y *= sizes.cwiseInverse().asDiagonal();
  RefinedPoles out;
  out.poles = poles;
  struct Point {
    MatrixXd coefficients, error;
    MatrixXd gram;  // of the poles' real and imaginary parts: JᵀJ
    VectorXd gradient;
    double cost = 0;
    MatrixXd inverse_gram;  // of the basis
  };
  const auto evaluate = [&](const VectorXcd& at, bool with_derivatives) {
    Point p;
    const Projection projection(model.basis(at));
    p.coefficients = projection.solve(y);
    p.error = projection.without(y);
    p.cost = p.error.squaredNorm();
    if (!with_derivatives) return p;
    p.inverse_gram = projection.inverse_gram();
    const MatrixXd v = model.derivatives(at);
    const MatrixXd w = projection.without(v);
    const MatrixXd g = v.transpose() * w, ev = v.transpose() * p.error;  // 4n x 4n, 4n x pairs
    const MatrixXd cc = p.coefficients.topRows(2 * n) * p.coefficients.topRows(2 * n).transpose();
    p.gram = MatrixXd::Zero(2 * n, 2 * n);
    p.gradient = VectorXd::Zero(2 * n);
    for (Index a = 0; a < 2 * n; ++a) {
      const Index k = a / 2;
      for (Index i = 0; i < 2; ++i) {
        p.gradient(a) -= ev.row(2 * a + i).dot(p.coefficients.row(2 * k + i));
        for (Index b = 0; b < 2 * n; ++b)
          for (Index j = 0; j < 2; ++j)
            p.gram(a, b) += g(2 * a + i, 2 * b + j) * cc(2 * k + i, 2 * (b / 2) + j);
      }
      if (fixed[static_cast<size_t>(k)]) p.gradient(a) = 0;
    }
    for (Index a = 0; a < 2 * n; ++a)
      if (fixed[static_cast<size_t>(a / 2)]) {
        p.gram.row(a).setZero();
        p.gram.col(a).setZero();
        p.gram(a, a) = 1;
      }
    return p;
  };
  Point now = evaluate(out.poles, true);
  double damping = 1e-6;
  for (; out.iterations < iterations; ++out.iterations) {
    bool moved = false;
    double step = 0;
    for (int attempt = 0; attempt < 8 && !moved; ++attempt, damping *= 10) {
      MatrixXd damped = now.gram;
      damped.diagonal() *= 1 + damping;
      const VectorXd delta = damped.ldlt().solve(-now.gradient);
      VectorXcd next = out.poles;
      step = 0;
      for (Index k = 0; k < n; ++k) {
        const Complex d(delta(2 * k), delta(2 * k + 1));
        next(k) += d;
        step = std::max(step, std::abs(d) / std::abs(out.poles(k)));
        // A pole stays stable and in its half plane.
        if (!(next(k).real() < 0) || !(next(k).imag() > 0) || !std::isfinite(std::abs(next(k))))
          step = std::numeric_limits<double>::infinity();
      }
      if (!std::isfinite(step)) continue;
      if (evaluate(next, false).cost <= now.cost * (1 + 1e-14)) {
        out.poles = next;
        moved = true;
      }
    }
    if (!moved) break;
    now = evaluate(out.poles, true);
    damping = std::max(1e-9, damping * 1e-2);
    if (step < 1e-14) break;
  }
  out.rest = PoleResidueModel::unstacked(now.error * sizes.asDiagonal());
  const double freedom = static_cast<double>(y.size()) -
                         static_cast<double>(y.cols() * (2 * n + 2)) - 2.0 * static_cast<double>(n);
  const double variance = now.cost / std::max(1.0, freedom);
  const MatrixXd covariance = variance * now.gram.ldlt().solve(MatrixXd::Identity(2 * n, 2 * n));
  out.frequency_sigma_hz = VectorXd::Zero(n);
  out.damping_sigma = VectorXd::Zero(n);
  out.significance = VectorXd::Zero(n);
  out.share = VectorXd::Zero(n);
  const VectorXd line_energy =
      y.rowwise().squaredNorm().head(h.rows()) + y.rowwise().squaredNorm().tail(h.rows());
  const VectorXd column_variance =
      now.error.colwise().squaredNorm() /
      std::max(1.0, static_cast<double>(y.rows()) - 2.0 * static_cast<double>(n) - 2);
  for (Index k = 0; k < n; ++k) {
    const Eigen::Matrix2d inverse = now.inverse_gram.block<2, 2>(2 * k, 2 * k).inverse();
    double sum = 0, alone = 0;
    for (Index j = 0; j < y.cols(); ++j) {
      const Eigen::Vector2d c = now.coefficients.block<2, 1>(2 * k, j);
      const double energy = c.dot(inverse * c);
      alone += energy;
      sum += energy / (2 * std::max(column_variance(j), 1e-300));
    }
    out.share(k) = alone / std::max(model.energy_around(out.poles(k), line_energy), 1e-300);
    out.significance(k) = sum / static_cast<double>(y.cols());
    if (fixed[static_cast<size_t>(k)]) continue;
    const Complex pole = out.poles(k);
    const double omega = std::abs(pole);
    // ω = |λ|, ζ = -Re λ / |λ|.
    const Eigen::Vector2d by_omega(pole.real() / omega, pole.imag() / omega);
    const Eigen::Vector2d by_zeta(-pole.imag() * pole.imag() / std::pow(omega, 3),
                                  pole.real() * pole.imag() / std::pow(omega, 3));
    const Eigen::Matrix2d c = covariance.block<2, 2>(2 * k, 2 * k);
    out.frequency_sigma_hz(k) =
        std::sqrt(std::max(0.0, by_omega.dot(c * by_omega))) / (2 * std::numbers::pi);
    out.damping_sigma(k) = std::sqrt(std::max(0.0, by_zeta.dot(c * by_zeta)));
  }
  return out;
}

ShapeFit fit_shapes(const PoleResidueModel& model, const MatrixXcd& h, int responses,
                    int excitations, const VectorXcd& poles, const std::vector<bool>& close,
                    const MatrixXcd& given) {
  const Index n = poles.size();
  const MatrixXd phi = model.basis(poles), y = PoleResidueModel::stacked(h);
  ShapeFit out;
  out.participation = MatrixXcd::Zero(excitations, n);
  const MatrixXd free = Projection(phi).solve(y);
  for (Index k = 0; k < n; ++k) {
    if (close[static_cast<size_t>(k)]) {
      out.participation.col(k) = given.col(k);
      continue;
    }
    MatrixXcd residue(responses, excitations);
    for (int e = 0; e < excitations; ++e)
      for (int r = 0; r < responses; ++r) {
        const Index pair = Index{e} * responses + r;
        residue(r, e) = Complex(free(2 * k, pair), free(2 * k + 1, pair));
      }
    const Eigen::BDCSVD<MatrixXcd> svd(residue, Eigen::ComputeThinU | Eigen::ComputeThinV);
    out.participation.col(k) = svd.matrixV().col(0).conjugate();
  }
  // Residual terms are free for every pair: they are projected out, which leaves the unknowns Re ψ, Im ψ of each response.
  const Projection residual(phi.rightCols(2));
  const MatrixXd modes = residual.without(phi.leftCols(2 * n));
  const MatrixXd products = modes.transpose() * modes, moments = modes.transpose() * y;
  const MatrixXd re = out.participation.real(), im = out.participation.imag();
  // Coefficient of column i of mode k (Re R, Im R) by unknown c (Re ψ, Im ψ), per excitation.
  const auto weight = [&](Index k, int c, int i) -> VectorXd {
    if (c == 0) return i == 0 ? re.col(k) : im.col(k);
    return i == 0 ? VectorXd(-im.col(k)) : VectorXd(re.col(k));
  };
  MatrixXd gram = MatrixXd::Zero(2 * n, 2 * n), moment = MatrixXd::Zero(2 * n, responses);
  for (Index k = 0; k < n; ++k)
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < 2; ++i) {
        const VectorXd w = weight(k, c, i);
        for (Index l = 0; l < n; ++l)
          for (int d = 0; d < 2; ++d)
            for (int j = 0; j < 2; ++j)
              gram(2 * k + c, 2 * l + d) += products(2 * k + i, 2 * l + j) * w.dot(weight(l, d, j));
        for (int r = 0; r < responses; ++r)
          for (int e = 0; e < excitations; ++e)
            moment(2 * k + c, r) += w(e) * moments(2 * k + i, Index{e} * responses + r);
      }
  const VectorXd scale = gram.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  const Eigen::LDLT<MatrixXd> ldlt(scale.asDiagonal() * gram * scale.asDiagonal());
  const MatrixXd unknowns = scale.asDiagonal() * MatrixXd(ldlt.solve(scale.asDiagonal() * moment));
  const VectorXd inverse_diagonal =
      (scale.asDiagonal() * MatrixXd(ldlt.solve(MatrixXd::Identity(2 * n, 2 * n))) *
       scale.asDiagonal())
          .diagonal();
  MatrixXd coefficients(2 * n, h.cols());
  out.shapes.resize(responses, n);
  for (Index k = 0; k < n; ++k)
    for (int r = 0; r < responses; ++r) {
      const Complex psi(unknowns(2 * k, r), unknowns(2 * k + 1, r));
      out.shapes(r, k) = psi;
      for (int e = 0; e < excitations; ++e) {
        const Complex residue = psi * out.participation(e, k);
        coefficients(2 * k, Index{e} * responses + r) = residue.real();
        coefficients(2 * k + 1, Index{e} * responses + r) = residue.imag();
      }
    }
  const MatrixXd from_modes = phi.leftCols(2 * n) * coefficients;
  const MatrixXd rest = residual.solve(y - from_modes);
  const MatrixXd synthesised = from_modes + phi.rightCols(2) * rest;
  out.synthesised = PoleResidueModel::unstacked(synthesised);
  out.upper.resize(responses, excitations);
  out.lower.resize(responses, excitations);
  out.sigma.resize(responses, n);
  for (int r = 0; r < responses; ++r) {
    double error = 0;
    for (int e = 0; e < excitations; ++e) {
      const Index pair = Index{e} * responses + r;
      out.upper(r, e) = rest(0, pair);
      out.lower(r, e) = rest(1, pair);
      error += (y.col(pair) - synthesised.col(pair)).squaredNorm();
    }
    const double freedom = std::max(1.0, static_cast<double>(y.rows() * excitations) -
                                             2.0 * static_cast<double>(n) - 2.0 * excitations);
    for (Index k = 0; k < n; ++k)
      out.sigma(r, k) =
          std::sqrt(error / freedom *
                    std::max(0.0, 0.5 * (inverse_diagonal(2 * k) + inverse_diagonal(2 * k + 1))));
  }
  return out;
}

}  // namespace panto
