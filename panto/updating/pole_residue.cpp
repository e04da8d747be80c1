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

namespace {

// Of residues ψ lᵀ one factor is known: the other one by least squares, and the diagonal of its inverse normal matrix.
struct Factor {
  MatrixXcd values;  // points x modes
  VectorXd inverse_diagonal;
  double gain = 0;  // what the fit takes off the squared error
};

// `products` and `moments`: of the columns (Re R, Im R) of all modes with each other and with the pairs; `pair(sought, known)`: column of the pair.
template <class Pair>
Factor other_factor(const MatrixXd& products, const MatrixXd& moments, const MatrixXcd& known,
                    Index points, const Pair& pair) {
  const Index n = known.cols();
  MatrixXd gram(2 * n, 2 * n), moment = MatrixXd::Zero(2 * n, points);
  // (Re R, Im R) = W (Re ψ, Im ψ), W = [Re l, -Im l; Im l, Re l].
  const auto weight = [&](Index k, Index e) {
    const Complex l = known(e, k);
    return (Eigen::Matrix2d() << l.real(), -l.imag(), l.imag(), l.real()).finished();
  };
  for (Index k = 0; k < n; ++k) {
    for (Index l = 0; l < n; ++l) {
      const Eigen::Matrix2d g = products.block<2, 2>(2 * k, 2 * l);
      Eigen::Matrix2d sum = Eigen::Matrix2d::Zero();
      for (Index e = 0; e < known.rows(); ++e) sum += weight(k, e).transpose() * g * weight(l, e);
      gram.block<2, 2>(2 * k, 2 * l) = sum;
    }
    for (Index e = 0; e < known.rows(); ++e) {
      const Eigen::Matrix2d w = weight(k, e).transpose();
      for (Index r = 0; r < points; ++r)
        moment.block<2, 1>(2 * k, r) += w * moments.block<2, 1>(2 * k, pair(r, e));
    }
  }
  const VectorXd scale = gram.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  const Eigen::LDLT<MatrixXd> ldlt(scale.asDiagonal() * gram * scale.asDiagonal());
  const MatrixXd unknowns = scale.asDiagonal() * MatrixXd(ldlt.solve(scale.asDiagonal() * moment));
  Factor out;
  out.inverse_diagonal =
      (scale.asDiagonal() * MatrixXd(ldlt.solve(MatrixXd::Identity(2 * n, 2 * n))) *
       scale.asDiagonal())
          .diagonal();
  out.gain = unknowns.cwiseProduct(moment).sum();
  out.values.resize(points, n);
  for (Index k = 0; k < n; ++k)
    for (Index r = 0; r < points; ++r)
      out.values(r, k) = Complex(unknowns(2 * k, r), unknowns(2 * k + 1, r));
  return out;
}

constexpr int kAlternations = 200;
constexpr double kSettled = 1e-12;  // of the energy that the modes explain, per alternation

}  // namespace

ShapeFit fit_shapes(const PoleResidueModel& model, const MatrixXcd& h, int responses,
                    int excitations, const VectorXcd& poles, const std::vector<bool>& close,
                    const MatrixXcd& given, const VectorXcd& outside) {
  const Index n = poles.size(), others = 2 * outside.size() + 2;
  VectorXcd all(n + outside.size());
  all << poles, outside;
  const MatrixXd phi = model.basis(all), y = PoleResidueModel::stacked(h);
  ShapeFit out;
  out.participation = MatrixXcd::Zero(excitations, n);
  const MatrixXd free = Projection(phi).solve(y);
  const auto pair = [&](Index r, Index e) { return e * responses + r; };
  for (Index k = 0; k < n; ++k) {
    if (close[static_cast<size_t>(k)]) {
      out.participation.col(k) = given.col(k);
      continue;
    }
    MatrixXcd residue(responses, excitations);
    for (Index e = 0; e < excitations; ++e)
      for (Index r = 0; r < responses; ++r)
        residue(r, e) = Complex(free(2 * k, pair(r, e)), free(2 * k + 1, pair(r, e)));
    const Eigen::BDCSVD<MatrixXcd> svd(residue, Eigen::ComputeThinU | Eigen::ComputeThinV);
    out.participation.col(k) = svd.matrixV().col(0).conjugate();
  }
  // Residual terms and poles outside are free for every pair: they are projected out, which leaves the unknowns Re ψ, Im ψ of each response.
  const Projection residual(phi.rightCols(others));
  const MatrixXd modes = residual.without(phi.leftCols(2 * n));
  const MatrixXd products = modes.transpose() * modes, moments = modes.transpose() * y;
  const auto shapes_of = [&](const MatrixXcd& participation) {
    return other_factor(products, moments, participation, responses, pair);
  };
  Factor shapes = shapes_of(out.participation);
  for (int turn = 0; turn < kAlternations; ++turn) {
    MatrixXcd participation =
        other_factor(products, moments, shapes.values, excitations, [&](Index e, Index r) {
          return pair(r, e);
        }).values;
    participation.colwise().normalize();
    const Factor next = shapes_of(participation);
    if (!(next.gain > shapes.gain)) break;
    const bool settled = next.gain - shapes.gain <= kSettled * next.gain;
    out.participation = participation;
    shapes = next;
    if (settled) break;
  }
  out.shapes = shapes.values;
  MatrixXd coefficients(2 * n, h.cols());
  for (Index k = 0; k < n; ++k)
    for (Index r = 0; r < responses; ++r)
      for (Index e = 0; e < excitations; ++e) {
        const Complex residue = out.shapes(r, k) * out.participation(e, k);
        coefficients(2 * k, pair(r, e)) = residue.real();
        coefficients(2 * k + 1, pair(r, e)) = residue.imag();
      }
  const MatrixXd from_modes = phi.leftCols(2 * n) * coefficients;
  const MatrixXd rest = residual.solve(y - from_modes);
  const MatrixXd synthesised = from_modes + phi.rightCols(others) * rest;
  out.synthesised = PoleResidueModel::unstacked(synthesised);
  out.upper.resize(responses, excitations);
  out.lower.resize(responses, excitations);
  out.sigma.resize(responses, n);
  for (int r = 0; r < responses; ++r) {
    double error = 0;
    for (int e = 0; e < excitations; ++e) {
      const Index at = pair(r, e);
      out.upper(r, e) = rest(others - 2, at);
      out.lower(r, e) = rest(others - 1, at);
      error += (y.col(at) - synthesised.col(at)).squaredNorm();
    }
    const double freedom =
        std::max(1.0, static_cast<double>(y.rows() * excitations) - 2.0 * static_cast<double>(n) -
                          static_cast<double>(others * excitations));
    for (Index k = 0; k < n; ++k)
      out.sigma(r, k) = std::sqrt(error / freedom *
                                  std::max(0.0, 0.5 * (shapes.inverse_diagonal(2 * k) +
                                                       shapes.inverse_diagonal(2 * k + 1))));
  }
  return out;
}

}  // namespace panto
