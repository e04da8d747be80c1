// Residues of rank one: shapes and participations of modes whose poles are known.
#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "panto/updating/pole_residue.hpp"
#include "panto/updating/projection.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr int kAlternations = 200;
constexpr double kSettled = 1e-12;  // of the energy that the modes explain, per alternation

// Of residues ψ lᵀ one factor is known: the other one by least squares, and the diagonal of its inverse normal matrices.
struct Factor {
  MatrixXcd values;           // points x modes
  MatrixXd inverse_diagonal;  // points x modes: mean of real and imaginary part
  double gain = 0;            // what the fit takes off the squared error
};

// `products` and `moments`: of the columns (Re R, Im R) of all modes with each other and with the pairs, each in units of its noise; `pair(sought, known)`: column.
template <class Pair>
Factor other_factor(const MatrixXd& products, const MatrixXd& moments, const VectorXd& noise,
                    const MatrixXcd& known, Index points, const Pair& pair) {
  const Index n = known.cols();
  Factor out;
  out.values.resize(points, n);
  out.inverse_diagonal.resize(points, n);
  // (Re R, Im R) = W (Re ψ, Im ψ), W = [Re l, -Im l; Im l, Re l].
  const auto weight = [&](Index k, Index e) {
    const Complex l = known(e, k);
    return (Eigen::Matrix2d() << l.real(), -l.imag(), l.imag(), l.real()).finished();
  };
  for (Index r = 0; r < points; ++r) {
    MatrixXd gram(2 * n, 2 * n);
    VectorXd moment = VectorXd::Zero(2 * n);
    for (Index k = 0; k < n; ++k) {
      for (Index l = 0; l < n; ++l) {
        const Eigen::Matrix2d g = products.block<2, 2>(2 * k, 2 * l);
        Eigen::Matrix2d sum = Eigen::Matrix2d::Zero();
        for (Index e = 0; e < known.rows(); ++e) {
          const double s = noise(pair(r, e));
          sum += weight(k, e).transpose() * g * weight(l, e) / (s * s);
        }
        gram.block<2, 2>(2 * k, 2 * l) = sum;
      }
      for (Index e = 0; e < known.rows(); ++e)
        moment.segment<2>(2 * k) +=
            weight(k, e).transpose() * moments.block<2, 1>(2 * k, pair(r, e)) / noise(pair(r, e));
    }
    const VectorXd scale = gram.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    const Eigen::LDLT<MatrixXd> ldlt(scale.asDiagonal() * gram * scale.asDiagonal());
    const VectorXd unknowns = scale.cwiseProduct(VectorXd(ldlt.solve(scale.cwiseProduct(moment))));
    const VectorXd diagonal = MatrixXd(ldlt.solve(MatrixXd::Identity(2 * n, 2 * n)))
                                  .diagonal()
                                  .cwiseProduct(scale.cwiseAbs2());
    out.gain += unknowns.dot(moment);
    for (Index k = 0; k < n; ++k) {
      out.values(r, k) = Complex(unknowns(2 * k), unknowns(2 * k + 1));
      out.inverse_diagonal(r, k) = 0.5 * (diagonal(2 * k) + diagonal(2 * k + 1));
    }
  }
  return out;
}

}  // namespace

ShapeFit fit_shapes(const PoleResidueModel& model, const MatrixXd& y, int responses,
                    const VectorXcd& poles, const std::vector<bool>& close, const MatrixXcd& given,
                    const VectorXcd& outside) {
  const Index n = poles.size(), others = 2 * outside.size() + PoleResidueModel::kResiduals;
  const Index excitations = y.cols() / responses;
  VectorXcd all(n + outside.size());
  all << poles, outside;
  const MatrixXd phi = model.basis(all);
  const VectorXd& noise = model.noise().pairs;
  ShapeFit out;
  out.participation = MatrixXcd::Zero(excitations, n);
  const MatrixXd free = Projection(phi).solve(y) * noise.asDiagonal();
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
    return other_factor(products, moments, noise, participation, responses, pair);
  };
  Factor shapes = shapes_of(out.participation);
  for (int turn = 0; turn < kAlternations; ++turn) {
    MatrixXcd participation =
        other_factor(products, moments, noise, shapes.values, excitations, [&](Index e, Index r) {
          return pair(r, e);
        }).values;
    participation.colwise().normalize();
    Factor next = shapes_of(participation);
    if (!(next.gain > shapes.gain)) break;
    const bool settled = next.gain - shapes.gain <= kSettled * next.gain;
    out.participation = participation;
    shapes = std::move(next);
    if (settled) break;
  }
  out.shapes = shapes.values;
  MatrixXd coefficients(2 * n, y.cols());
  for (Index k = 0; k < n; ++k)
    for (Index r = 0; r < responses; ++r)
      for (Index e = 0; e < excitations; ++e) {
        const Complex residue = out.shapes(r, k) * out.participation(e, k) / noise(pair(r, e));
        coefficients(2 * k, pair(r, e)) = residue.real();
        coefficients(2 * k + 1, pair(r, e)) = residue.imag();
      }
  const MatrixXd from_modes = phi.leftCols(2 * n) * coefficients;
  const MatrixXd rest = residual.solve(y - from_modes);
  const MatrixXd synthesised = from_modes + phi.rightCols(others) * rest;
  out.synthesised = model.unstacked(synthesised);
  out.upper.resize(responses, excitations);
  out.lower.resize(responses, excitations);
  out.sigma.resize(responses, n);
  const double freedom =
      std::max(1.0, static_cast<double>(y.rows() * excitations) - 2.0 * static_cast<double>(n) -
                        static_cast<double>(others * excitations));
  for (int r = 0; r < responses; ++r) {
    double error = 0;
    for (Index e = 0; e < excitations; ++e) {
      const Index at = pair(r, e);
      out.upper(r, e) = noise(at) * rest(2 * outside.size(), at);
      out.lower(r, e) = noise(at) * rest(2 * outside.size() + 1, at);
      error += (y.col(at) - synthesised.col(at)).squaredNorm();
    }
    for (Index k = 0; k < n; ++k)
      out.sigma(r, k) = std::sqrt(error / freedom * std::max(0.0, shapes.inverse_diagonal(r, k)));
  }
  return out;
}

}  // namespace panto
