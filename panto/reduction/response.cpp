#include "panto/reduction/response.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/IterativeSolvers>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using ComplexSparse = Eigen::SparseMatrix<Complex, Eigen::ColMajor, Eigen::Index>;

constexpr double kResonance = 1e-11;  // weakest pivot, or residual, of an undamped response
constexpr double kAside = 1e-7;       // the preconditioner keeps off a natural frequency
constexpr double kResidual = 1e-12;
constexpr double kLeft = 1e-8;  // of the forces
constexpr int kSweeps = 5;
constexpr double kAlike = 1e-6;  // frequencies that count as one
constexpr ResponseError kNoAgreement{0, std::numeric_limits<double>::infinity()};

double omega_of(double hz) { return 2 * std::numbers::pi * hz; }

Diagnostics fail(int id, const std::string& message) {
  Diagnostics out;
  out.error(id, {}, message);
  return out;
}

// (K - ω²M)⁻¹ for GMRES on the damped system: what damping changes is small, or of few resonant directions, so that some ten steps suffice.
class Undamped {
 public:
  Undamped() = default;
  void use(const SparseSymmetric& factors) { factors_ = &factors; }
  template <class Matrix>
  Undamped& analyzePattern(const Matrix& /*a*/) {
    return *this;
  }
  template <class Matrix>
  Undamped& factorize(const Matrix& /*a*/) {
    return *this;
  }
  template <class Matrix>
  Undamped& compute(const Matrix& /*a*/) {
    return *this;
  }
  template <class Vector>
  Eigen::VectorXcd solve(const Vector& b) const {
    Eigen::MatrixXd parts(b.size(), 2);
    parts << b.real(), b.imag();
    parts = factors_->solve(parts);
    Eigen::VectorXcd x(b.size());
    x.real() = parts.col(0);
    x.imag() = parts.col(1);
    return x;
  }
  static Eigen::ComputationInfo info() { return Eigen::Success; }

 private:
  const SparseSymmetric* factors_ = nullptr;
};

Result<Eigen::VectorXcd> undamped_response(const SparseMatrix& dynamic, const Eigen::VectorXcd& f,
                                           double hz) {
  const SparseSymmetric factors(dynamic);
  Eigen::MatrixXd right(f.size(), 2);
  right << f.real(), f.imag();
  Eigen::MatrixXd x = factors.solve(right);
  if (factors.ok())
    x += factors.solve(Eigen::MatrixXd(right - dynamic * x));  // one step of refinement
  const double scale = right.norm() + (dynamic.cwiseAbs() * x.cwiseAbs()).norm() * kResonance;
  if (!factors.ok() || !x.allFinite() || (right - dynamic * x).norm() > 1e-6 * scale)
    return fail(912,
                fmt::format("{} Hz is a natural frequency of the undamped system: its response "
                            "has no bound; give damping",
                            hz));
  Eigen::VectorXcd out(f.size());
  out.real() = x.col(0);
  out.imag() = x.col(1);
  return out;
}

}  // namespace

Result<FullModes> full_modes(const LinearSystem& system, const std::vector<int>& numbers) {
  PANTO_EXPECT(!numbers.empty(), "at least one mode");
  FullModes out;
  out.numbers = numbers;
  std::sort(out.numbers.begin(), out.numbers.end());
  out.numbers.erase(std::unique(out.numbers.begin(), out.numbers.end()), out.numbers.end());
  if (out.numbers.front() < 0 || out.numbers.back() >= system.size())
    return fail(
        911, fmt::format("mode {}: the system has the modes 1 to {}",
                         out.numbers.front() < 0 ? out.numbers.front() + 1 : out.numbers.back() + 1,
                         system.size()));
  // One more: whether the last one stands alone.
  const auto pairs =
      lowest_pairs(system.K, system.M, std::min(out.numbers.back() + 2, system.size()));
  if (!pairs)
    return fail(908,
                fmt::format("the lowest {} modes were not found: masses or stiffnesses of very "
                            "unlike size (penalty springs, tiny elements) leave them to "
                            "round-off",
                            out.numbers.back() + 1));
  out.omega2 = pairs->values(out.numbers);
  out.U = pairs->vectors(Eigen::indexing::all, out.numbers);
  for (const int number : out.numbers) {
    const double here = pairs->values(number);
    out.alike.push_back(static_cast<int>(
        ((pairs->values.array() - here).abs() <= 2 * kAlike * std::abs(here)).count()));
  }
  return out;
}

Result<FullModes> full_modes(const LinearSystem& system, double from_hz, double to_hz, int rigid) {
  const auto below = [&](double hz) {
    return values_below(system.K, system.M, std::pow(omega_of(hz), 2));
  };
  const int first = std::max(rigid, from_hz > 0 ? below(from_hz) : 0), last = below(to_hz);
  if (!(last > first))
    return fail(
        911, fmt::format("no elastic mode has a frequency between {} and {} Hz", from_hz, to_hz));
  std::vector<int> numbers;
  for (int i = first; i < last; ++i) numbers.push_back(i);
  return full_modes(system, numbers);
}

Result<Eigen::MatrixXcd> forced_response(const LinearSystem& system,
                                         const std::vector<Harmonic>& harmonics, double damping) {
  Eigen::MatrixXcd out(system.size(), static_cast<Eigen::Index>(harmonics.size()));
  for (size_t k = 0; k < harmonics.size(); ++k) {
    const Harmonic& h = harmonics[k];
    const double omega = omega_of(h.hz);
    Eigen::VectorXcd f = Eigen::VectorXcd::Zero(system.size());
    for (const auto& [dof, amplitude] : h.forces) f(dof) += amplitude;
    const SparseMatrix dynamic = system.K - (omega * omega) * system.M;
    if (damping == 0 && !system.damped()) {
      const auto x = undamped_response(dynamic, f, h.hz);
      if (!x) return x.diagnostics();
      out.col(static_cast<Eigen::Index>(k)) = *x;
      continue;
    }
    ComplexSparse a = (system.K * Complex(1, 2 * damping)).eval();
    a -= (system.M * Complex(omega * omega)).eval();
    if (system.damped()) a += (system.C * Complex(0, omega)).eval();
    const SparseSymmetric near(system.K - (omega * omega * (1 + kAside)) * system.M);
    Eigen::GMRES<ComplexSparse, Undamped> solver;
    solver.preconditioner().use(near);
    solver.compute(a);
    solver.setTolerance(kResidual);
    solver.setMaxIterations(500);
    solver.set_restart(100);
    // What is left is small where the preconditioner is large: at a natural frequency it takes some refinement.
    Eigen::VectorXcd x = solver.solve(f), left = f - a * x;
    for (int sweep = 0; sweep < kSweeps && left.norm() > kLeft * f.norm(); ++sweep) {
      x += solver.solve(left);
      left = f - a * x;
    }
    if (!near.ok() || !x.allFinite() || left.norm() > kLeft * f.norm())
      return fail(908, fmt::format("the response at {} Hz did not converge", h.hz));
    out.col(static_cast<Eigen::Index>(k)) = x;
  }
  return out;
}

Eigen::MatrixXd mode_loads(const LinearSystem& system, const CraigBampton& cb,
                           const Eigen::MatrixXd& u) {
  const Eigen::MatrixXd mu = system.M * u;
  const Eigen::MatrixXd inner = mu(cb.interior, Eigen::indexing::all);
  Eigen::MatrixXd out(static_cast<Eigen::Index>(cb.masters.size()) + cb.modes(), u.cols());
  out << Eigen::MatrixXd(mu(cb.masters, Eigen::indexing::all)) + cb.B.transpose() * inner,
      cb.Phi.transpose() * inner;
  return out;
}

std::vector<ModeError> mode_errors(const CraigBampton& cb, const FullModes& full,
                                   const Eigen::MatrixXd& loaded,
                                   const std::vector<int>& selected) {
  const auto m = static_cast<Eigen::Index>(cb.masters.size()),
             t = static_cast<Eigen::Index>(selected.size());
  Eigen::MatrixXd mass = Eigen::MatrixXd::Identity(m + t, m + t),
                  stiffness = Eigen::MatrixXd::Zero(m + t, m + t), load(m + t, loaded.cols());
  mass.topLeftCorner(m, m) = cb.M11;
  mass.topRightCorner(m, t) = cb.M12(Eigen::indexing::all, selected);
  mass.bottomLeftCorner(t, m) = mass.topRightCorner(m, t).transpose();
  stiffness.topLeftCorner(m, m) = cb.K11;
  stiffness.diagonal().tail(t) = cb.omega2(selected);
  load.topRows(m) = loaded.topRows(m);
  for (Eigen::Index i = 0; i < t; ++i)
    load.row(m + i) = loaded.row(m + selected[static_cast<size_t>(i)]);
  const auto pairs = symmetric_pairs(stiffness, mass);
  PANTO_EXPECT(pairs.has_value(), "a reduced mass matrix is positive definite");
  const Eigen::MatrixXd products = pairs->vectors.transpose() * load;  // ūᵀ H̃ᵀ M u
  // A model of rigid motions alone has no frequency to compare theirs with: they are exact.
  const double elastic =
      cb.rigid < m + t ? pairs->values(cb.rigid) : std::numeric_limits<double>::infinity();
  std::vector<ModeError> out;
  for (Eigen::Index i = 0; i < loaded.cols(); ++i) {
    ModeError e;
    Eigen::Index best = 0;
    Eigen::VectorXd shares = products.col(i).cwiseAbs2();
    shares.maxCoeff(&best);
    const double exact = full.omega2(i), found = std::max(pairs->values(best), 0.0);
    const bool rigid = full.numbers[static_cast<size_t>(i)] < cb.rigid;
    e.frequency = rigid ? std::sqrt(found / elastic) : std::abs(std::sqrt(found / exact) - 1);
    const Eigen::Index together = std::min<Eigen::Index>(
        rigid ? cb.rigid : full.alike[static_cast<size_t>(i)], shares.size());
    std::sort(shares.data(), shares.data() + shares.size(), std::greater<>());
    e.nco = std::min(shares.head(together).sum(), 1.0);
    out.push_back(e);
  }
  return out;
}

ResponseScan::ResponseScan(const LinearSystem& system, const CraigBampton& cb,
                           const std::vector<Harmonic>& harmonics, double damping,
                           const Eigen::MatrixXcd& full, int sample)
    : cb_(cb), damping_(damping) {
  const auto m = static_cast<Eigen::Index>(cb.masters.size());
  const Eigen::Index all = m + cb.modes();
  gram_.resize(all, all);
  gram_.topLeftCorner(m, m) = Eigen::MatrixXd::Identity(m, m) + cb.B.transpose() * cb.B;
  gram_.topRightCorner(m, cb.modes()) = cb.B.transpose() * cb.Phi;
  gram_.bottomLeftCorner(cb.modes(), m) = gram_.topRightCorner(m, cb.modes()).transpose();
  gram_.bottomRightCorner(cb.modes(), cb.modes()) = cb.Phi.transpose() * cb.Phi;
  std::vector<int> place(static_cast<size_t>(system.size()), -1);
  for (size_t i = 0; i < cb.masters.size(); ++i)
    place[static_cast<size_t>(cb.masters[i])] = static_cast<int>(i);
  amplitude_.resize(static_cast<Eigen::Index>(harmonics.size()));
  for (size_t k = 0; k < harmonics.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    omega_.push_back(omega_of(harmonics[k].hz));
    Eigen::VectorXcd f = Eigen::VectorXcd::Zero(m);
    for (const auto& [dof, amplitude] : harmonics[k].forces) {
      PANTO_EXPECT(place[static_cast<size_t>(dof)] >= 0, "forces act on masters");
      f(place[static_cast<size_t>(dof)]) += amplitude;
    }
    force_.push_back(std::move(f));
    const Eigen::VectorXcd x = full.col(column), x1 = x(cb.masters), x2 = x(cb.interior);
    Eigen::VectorXcd h(all);
    h << x1 + cb.B.transpose() * x2, cb.Phi.transpose() * x2;
    full_.push_back(std::move(h));
    norm2_.push_back(x.squaredNorm());
    Eigen::Index at = sample;
    if (sample < 0) x1.cwiseAbs().maxCoeff(&at);
    sample_.push_back(at);
    amplitude_(column) = x1(at);
  }
}

Eigen::VectorXcd ResponseScan::reduced_response(size_t harmonic,
                                                const std::vector<int>& selected) const {
  const auto m = static_cast<Eigen::Index>(cb_.masters.size()),
             t = static_cast<Eigen::Index>(selected.size());
  const Complex stiff(1, 2 * damping_);
  const double w = omega_[harmonic], w2 = w * w;
  Eigen::MatrixXcd a = Eigen::MatrixXcd::Zero(m + t, m + t);
  a.topLeftCorner(m, m) = stiff * cb_.K11.cast<Complex>() - w2 * cb_.M11.cast<Complex>();
  a.topRightCorner(m, t) = -w2 * cb_.M12(Eigen::indexing::all, selected).cast<Complex>();
  a.bottomLeftCorner(t, m) = a.topRightCorner(m, t).transpose();
  a.diagonal().tail(t) = (stiff * cb_.omega2(selected).array().cast<Complex>() - w2).matrix();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < m; ++i) kept.push_back(i);
  for (const int mode : selected) kept.push_back(m + mode);
  a += Complex(0, w) * cb_.C(kept, kept).cast<Complex>();
  Eigen::VectorXcd f = Eigen::VectorXcd::Zero(m + t);
  f.head(m) = force_[harmonic];
  return a.partialPivLu().solve(f);
}

ResponseError ResponseScan::compare(size_t harmonic, const std::vector<int>& selected,
                                    const Eigen::VectorXcd& y) const {
  const auto m = static_cast<Eigen::Index>(cb_.masters.size());
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < m; ++i) kept.push_back(i);
  for (const int mode : selected) kept.push_back(m + mode);
  Complex product = 0;
  for (size_t i = 0; i < kept.size(); ++i)
    product += std::conj(full_[harmonic](kept[i])) * y(static_cast<Eigen::Index>(i));
  // yᴴ HᵀH y, each pair once.
  double norm2 = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const Complex yi = y(static_cast<Eigen::Index>(i));
    const double* column = &gram_.coeffRef(0, kept[i]);
    Complex sum = 0.5 * column[kept[i]] * yi;
    for (size_t j = 0; j < i; ++j) sum += column[kept[j]] * y(static_cast<Eigen::Index>(j));
    norm2 += 2 * std::real(std::conj(yi) * sum);
  }
  ResponseError e;
  e.mac = std::norm(product) / (norm2_[harmonic] * norm2);
  const auto column = static_cast<Eigen::Index>(harmonic);
  e.gain = std::abs(std::abs(y(sample_[harmonic])) / std::abs(amplitude_(column)) - 1);
  // A reduced model that is singular here has no response to compare: min() and max() would pass over NaN.
  if (!std::isfinite(e.mac) || !std::isfinite(e.gain)) e = kNoAgreement;
  return e;
}

std::vector<ResponseError> ResponseScan::errors(const std::vector<int>& order, int step) const {
  const auto m = static_cast<Eigen::Index>(cb_.masters.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<ResponseError> out(order.size() + 1, {none, none});
  const auto wanted = [&](size_t t) {
    return t == order.size() || t % static_cast<size_t>(step) == 0;
  };
  for (size_t t = 0; t <= order.size(); ++t)
    if (wanted(t)) out[t] = {};
  const Complex stiff(1, 2 * damping_);
  for (size_t k = 0; k < omega_.size(); ++k) {
    const double w2 = omega_[k] * omega_[k];
    // Masters see the interior through D = K̄₁₁ - ω²M̄₁₁ - Σ ω⁴ p pᵀ/(ω_ς² - ω²): one more term per mode.
    Eigen::MatrixXcd d = stiff * cb_.K11.cast<Complex>() - w2 * cb_.M11.cast<Complex>();
    std::vector<int> selected;
    for (size_t t = 0; t <= order.size(); ++t) {
      if (t > 0) {
        const int mode = order[t - 1];
        selected.push_back(mode);
        const Eigen::VectorXcd p = cb_.M12.col(mode).cast<Complex>();
        d -= (w2 * w2 / (stiff * cb_.omega2(mode) - w2)) * p * p.transpose();
      }
      if (!wanted(t)) continue;
      Eigen::VectorXcd y(m + static_cast<Eigen::Index>(t));
      if (cb_.C.rows() > 0) {
        y = reduced_response(k, selected);
      } else {
        y.head(m) = d.partialPivLu().solve(force_[k]);
        for (size_t i = 0; i < t; ++i)
          y(m + static_cast<Eigen::Index>(i)) =
              w2 * (cb_.M12.col(selected[i]).transpose() * y.head(m)).value() /
              (stiff * cb_.omega2(selected[i]) - w2);
      }
      const ResponseError e = compare(k, selected, y);
      out[t].mac = std::min(out[t].mac, e.mac);
      out[t].gain = std::max(out[t].gain, e.gain);
    }
  }
  return out;
}

}  // namespace panto
