#include "panto/updating/pole_residue.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/updating/projection.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr Complex kI(0, 1);
constexpr double kTurn = 2 * std::numbers::pi;
// Noise is no less than this share of a response's root mean square: nothing in a model of a machine is better.
constexpr double kLeastNoise = 1e-3;
// Noise along the lines: one level per part of the band, of so many lines at least.
constexpr Index kParts = 8, kLinesPerPart = 64;
// Bands in which noise alone has one pole.
constexpr double kBands = 1000;
// A pole is looked for in the lines within this many half-widths; each width is so many times the one before.
constexpr double kReach = 10, kWider = 2;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// EMA-16.
double chance_limit(double variance, Index lines, Index responses, Index excitations) {
  const double root = std::sqrt(static_cast<double>(responses)) +
                      std::sqrt(static_cast<double>(excitations)) +
                      std::sqrt(std::log(kBands * static_cast<double>(lines)));
  return 2 * std::max(1.0, variance) * root * root;
}

VectorXd line_energy(const MatrixXd& y) {
  const VectorXd rows = y.rowwise().squaredNorm();
  return rows.head(rows.size() / 2) + rows.tail(rows.size() / 2);
}

// Of residues in units of their scatter, `two`: real and imaginary parts x pairs.
double largest_square(const MatrixXd& two, Index responses) {
  const Index excitations = two.cols() / responses;
  MatrixXcd z(responses, excitations);
  for (Index e = 0; e < excitations; ++e)
    for (Index r = 0; r < responses; ++r)
      z(r, e) = Complex(two(0, e * responses + r), two(1, e * responses + r));
  const MatrixXcd gram =
      responses < excitations ? MatrixXcd(z * z.adjoint()) : MatrixXcd(z.adjoint() * z);
  return Eigen::SelfAdjointEigenSolver<MatrixXcd>(gram, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .tail<1>()(0);
}

}  // namespace

ResponseNoise response_noise(const MatrixXcd& h) {
  ResponseNoise out;
  const Index lines = h.rows(), pairs = h.cols();
  out.lines = VectorXd::Ones(lines);
  out.pairs.resize(pairs);
  // |third difference|² of white noise: 20 variances; the median of a sum of two squares is ln 2 of its mean, and each part has half.
  MatrixXd squares = MatrixXd::Zero(std::max<Index>(lines - 3, 0), pairs);
  if (lines > 3)
    squares = (h.bottomRows(lines - 3) - 3 * h.middleRows(2, lines - 3) +
               3 * h.middleRows(1, lines - 3) - h.topRows(lines - 3))
                  .cwiseAbs2() /
              (40 * std::numbers::ln2);
  const auto middle = [](const auto& block) {
    std::vector<double> values(static_cast<size_t>(block.size()));
    VectorXd::Map(values.data(), block.size()) = block.reshaped();
    return median(std::move(values));
  };
  std::vector<double> least;  // of the pairs' noise
  for (Index k = 0; k < pairs; ++k) {
    const double floor = kLeastNoise * h.col(k).norm() / std::sqrt(static_cast<double>(lines));
    const double noise = squares.rows() > 0 ? std::sqrt(middle(squares.col(k))) : 0;
    out.pairs(k) = std::max(noise, floor);
    if (!(out.pairs(k) > 0)) out.pairs(k) = 1;
    squares.col(k) /= out.pairs(k) * out.pairs(k);
    least.push_back(floor / out.pairs(k));
  }
  const double lowest = median(least);
  const Index parts = std::min(kParts, squares.rows() / kLinesPerPart);
  if (parts < 2) return out;
  // Straight between the middles of the parts, in logarithms.
  VectorXd level(parts);
  const Index width = squares.rows() / parts;
  for (Index p = 0; p < parts; ++p)
    level(p) = std::log(std::max({std::sqrt(middle(squares.middleRows(p * width, width))), lowest,
                                  std::numeric_limits<double>::min()}));
  for (Index i = 0; i < lines; ++i) {
    const double at = std::clamp(static_cast<double>(i) / static_cast<double>(width) - 0.5, 0.0,
                                 static_cast<double>(parts - 1));
    const Index p = std::min(static_cast<Index>(at), parts - 2);
    const double share = at - static_cast<double>(p);
    out.lines(i) = std::exp((1 - share) * level(p) + share * level(p + 1));
  }
  return out;
}

PoleResidueModel::PoleResidueModel(const VectorXd& frequency_hz, int q, double window_decay,
                                   ResponseNoise noise)
    : s_(frequency_hz.size()), factor_(frequency_hz.size()), noise_(std::move(noise)) {
  for (Index i = 0; i < s_.size(); ++i) {
    s_(i) = Complex(window_decay, kTurn * frequency_hz(i));
    factor_(i) = q == 0 ? Complex(1) : q == 1 ? s_(i) : s_(i) * s_(i);
  }
}

double PoleResidueModel::spacing() const {
  return (line(lines() - 1) - line(0)) / static_cast<double>(lines() - 1);
}

Index PoleResidueModel::line_from(double omega) const {
  const auto below = [](Complex s, double at) { return s.imag() < at; };
  return std::lower_bound(s_.begin(), s_.end(), omega, below) - s_.begin();
}

void PoleResidueModel::stack(const VectorXcd& values, Index first, Eigen::Ref<VectorXd> out) const {
  const Index n = values.size();
  out.head(n) = values.real().cwiseQuotient(noise_.lines.segment(first, n));
  out.tail(n) = values.imag().cwiseQuotient(noise_.lines.segment(first, n));
}

MatrixXd PoleResidueModel::columns(Complex pole, Index first, Index count) const {
  MatrixXd out(2 * count, 2);
  const auto s = s_.segment(first, count).array();
  const auto factor = factor_.segment(first, count).array();
  const VectorXcd g = factor / (s - pole), c = factor / (s - std::conj(pole));
  stack(g + c, first, out.col(0));
  stack(kI * (g - c), first, out.col(1));
  return out;
}

MatrixXd PoleResidueModel::basis(const VectorXcd& poles) const {
  const Index n = poles.size();
  MatrixXd out(2 * lines(), 2 * n + kResiduals);
  for (Index k = 0; k < n; ++k) out.middleCols<2>(2 * k) = columns(poles(k), 0, lines());
  stack(factor_, 0, out.col(2 * n));
  stack(factor_.array() / (s_.array() * s_.array()), 0, out.col(2 * n + 1));
  stack(factor_.array() * s_.array() * s_.array(), 0, out.col(2 * n + 2));
  return out;
}

MatrixXd PoleResidueModel::derivatives(const VectorXcd& poles) const {
  MatrixXd out(2 * lines(), 4 * poles.size());
  for (Index k = 0; k < poles.size(); ++k) {
    const VectorXcd g = factor_.array() / (s_.array() - poles(k)).square(),
                    c = factor_.array() / (s_.array() - std::conj(poles(k))).square();
    stack(g + c, 0, out.col(4 * k));
    stack(kI * (g - c), 0, out.col(4 * k + 1));
    stack(kI * (g - c), 0, out.col(4 * k + 2));
    stack(-g - c, 0, out.col(4 * k + 3));
  }
  return out;
}

double PoleResidueModel::energy_around(Complex pole, const VectorXd& line_energy) const {
  double sum = 0, nearest = 0, least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < lines(); ++i) {
    const double distance = std::abs(line(i) - pole.imag());
    if (distance <= half_width(pole)) sum += line_energy(i);
    if (distance < least) {
      least = distance;
      nearest = line_energy(i);
    }
  }
  return std::max(sum, nearest);
}

MatrixXd PoleResidueModel::stacked(const MatrixXcd& h) const {
  MatrixXd out(2 * h.rows(), h.cols());
  for (Index k = 0; k < h.cols(); ++k) stack(h.col(k) / noise_.pairs(k), 0, out.col(k));
  return out;
}

MatrixXcd PoleResidueModel::unstacked(const MatrixXd& h) const {
  MatrixXcd out(h.rows() / 2, h.cols());
  out.real() = h.topRows(out.rows());
  out.imag() = h.bottomRows(out.rows());
  return noise_.lines.asDiagonal() * out * noise_.pairs.asDiagonal();
}

RefinedPoles refine_poles(const PoleResidueModel& model, const MatrixXd& y, int responses,
                          const VectorXcd& poles, const std::vector<bool>& fixed, int iterations) {
  const Index n = poles.size();
  PANTO_EXPECT(y.rows() == 2 * model.lines() && y.cols() % responses == 0, "stacked responses");
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
    p.error = projection.without(y);
    p.cost = p.error.squaredNorm();
    if (!with_derivatives) return p;
    p.coefficients = projection.solve(y);
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
  for (; n > 0 && out.iterations < iterations; ++out.iterations) {
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
  const double size = y.squaredNorm();
  out.unexplained = size > 0 ? now.cost / size : 0;
  const double freedom = static_cast<double>(y.size()) -
                         static_cast<double>(y.cols() * (2 * n + PoleResidueModel::kResiduals)) -
                         2.0 * static_cast<double>(n);
  const double variance = now.cost / std::max(1.0, freedom);
  const MatrixXd covariance = variance * now.gram.ldlt().solve(MatrixXd::Identity(2 * n, 2 * n));
  out.frequency_sigma_hz = VectorXd::Zero(n);
  out.damping_sigma = VectorXd::Zero(n);
  const VectorXd by_line = line_energy(y);
  const double limit = chance_limit(variance, model.lines(), responses, y.cols() / responses);
  for (Index k = 0; k < n; ++k) {
    const Eigen::Matrix2d metric = now.inverse_gram.block<2, 2>(2 * k, 2 * k).inverse();
    const MatrixXd scaled = Eigen::LLT<Eigen::Matrix2d>(metric).matrixL().transpose() *
                            now.coefficients.middleRows<2>(2 * k);
    out.standing.push_back(
        {largest_square(scaled, responses) / limit,
         scaled.squaredNorm() / std::max(model.energy_around(out.poles(k), by_line), 1e-300)});
    if (fixed[static_cast<size_t>(k)]) continue;
    const Complex pole = out.poles(k);
    const double omega = std::abs(pole);
    // ω = |λ|, ζ = -Re λ / |λ|.
    const Eigen::Vector2d by_omega(pole.real() / omega, pole.imag() / omega);
    const Eigen::Vector2d by_zeta(-pole.imag() * pole.imag() / std::pow(omega, 3),
                                  pole.real() * pole.imag() / std::pow(omega, 3));
    const Eigen::Matrix2d c = covariance.block<2, 2>(2 * k, 2 * k);
    out.frequency_sigma_hz(k) = std::sqrt(std::max(0.0, by_omega.dot(c * by_omega))) / kTurn;
    out.damping_sigma(k) = std::sqrt(std::max(0.0, by_zeta.dot(c * by_zeta)));
  }
  return out;
}

Leftover::Leftover(const PoleResidueModel& model, const MatrixXd& y, int responses,
                   const VectorXcd& poles)
    : model_(model), responses_(responses), line_energy_(line_energy(y)) {
  Projection projection(model.basis(poles));
  left_ = projection.without(y);
  q_ = std::move(projection.q);
  const double freedom = static_cast<double>(y.cols()) * static_cast<double>(y.rows() - q_.cols());
  limit_ = chance_limit(left_.squaredNorm() / std::max(1.0, freedom), model.lines(), responses,
                        y.cols() / responses);
}

Standing Leftover::of(Complex pole, double reach) const {
  const Index lines = model_.lines(), first = model_.line_from(pole.imag() - reach),
              count = model_.line_from(pole.imag() + reach) - first;
  if (count < 4) return {};
  const MatrixXd b = model_.columns(pole, first, count);
  const auto product = [&](const MatrixXd& with) {
    return MatrixXd(b.topRows(count).transpose() * with.middleRows(first, count) +
                    b.bottomRows(count).transpose() * with.middleRows(lines + first, count));
  };
  const MatrixXd taken = product(q_);
  const Eigen::Matrix2d gram = b.transpose() * b - taken * taken.transpose();
  const Eigen::LLT<Eigen::Matrix2d> llt(gram);
  if (llt.info() != Eigen::Success) return {};
  const MatrixXd scaled = llt.matrixL().solve(product(left_));
  const double whole = scaled.squaredNorm();
  Standing out{whole / limit_, whole / std::max(model_.energy_around(pole, line_energy_), 1e-300)};
  if (out.significance > 1) out.significance = largest_square(scaled, responses_) / limit_;
  return out;
}

std::optional<Complex> Leftover::best(const std::vector<Complex>& known, double max_damping,
                                      double least_share) const {
  std::optional<Complex> best;
  double most = 1;
  const double begin = model_.line(0), end = model_.line(model_.lines() - 1),
               spacing = model_.spacing(), decay = model_.half_width(0);
  for (double width = 0.5 * spacing; width < 0.5 * (end - begin); width *= kWider)
    for (double omega = begin + width; omega <= end - width; omega += width) {
      const Complex pole(-std::max(width - decay, 0.1 * width), omega);
      if (-pole.real() > max_damping * omega) continue;
      if (std::any_of(known.begin(), known.end(), [&](Complex s) {
            return std::abs(s - pole) < -2 * std::min(s.real(), pole.real());
          }))
        continue;
      const Standing at = of(pole, std::max(kReach * width, 4 * spacing));
      if (at.significance <= most || at.share < least_share) continue;
      most = at.significance;
      best = pole;
    }
  return best;
}

}  // namespace panto
