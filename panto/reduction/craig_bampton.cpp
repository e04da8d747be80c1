#include "panto/reduction/craig_bampton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

// A pivot of K₂₂ relative to its diagonal entry below which the softest motion of the interior is weighed: round-off of a pivot alone tells neither sign nor zero.
constexpr double kWeak = 1e-6;
constexpr int kInverseSteps = 4;
// Motions of masters on their static shapes with ω² below this, relative to the largest, are weighed one by one.
constexpr double kSoft = 1e-4;
// RED-15: strain energy by its scale (energy_scale), in units of the round-off of K: below, motions are rigid; in doubt; known to a hundredth, as
// factors multiply round-off by ten or so.
constexpr double kRigid = 20, kDoubtful = 3, kKnown = 1000;
// ω² [1/s²] of growth by a factor of e in a quarter of an hour: counts as rigid.
constexpr double kSlow = 1e-6;

Diagnostics fail(int id, const std::string& message) {
  Diagnostics out;
  out.error(id, {}, message);
  return out;
}

// Motions of masters and their static shapes that cost no strain energy, and whether one gives some. Soft motions of M̄₁₁ and K̄₁₁ are weighed in all of K, where energies
// that cancel each other are known to the round-off of its entries; statics leave an error of second order.
struct Soft {
  int rigid = 0;
  bool negative = false;
};
Soft soft_motions(const LinearSystem& system, const CraigBampton& cb, Diagnostics& notes) {
  Soft out;
  const auto pairs = symmetric_pairs(cb.K11, cb.M11);
  PANTO_EXPECT(pairs.has_value(), "a reduced mass matrix is positive definite");
  double largest = pairs->values.cwiseAbs().maxCoeff();
  for (size_t i = 0; i < cb.masters.size(); ++i)
    largest = std::max(largest, system.K.coeff(cb.masters[i], cb.masters[i]) /
                                    cb.M11.diagonal()(static_cast<Eigen::Index>(i)));
  Eigen::VectorXd x(system.size());
  for (Eigen::Index i = 0; i < pairs->values.size(); ++i) {
    if (!(pairs->values(i) < kSoft * largest)) break;
    x(cb.masters) = pairs->vectors.col(i);
    x(cb.interior) = cb.B * pairs->vectors.col(i);
    const double energy = x.dot(system.K * x),
                 round_off = system.round_off * energy_scale(system.K, x),
                 hz = std::sqrt(std::max(energy / x.dot(system.M * x), 0.0)) /
                      (2 * std::numbers::pi);
    if (energy < -kRigid * round_off && pairs->values(i) < -kSlow) out.negative = true;
    const bool rigid = energy <= kRigid * round_off;
    if (rigid) ++out.rigid;
    const char* why = "elements are very small, or of very unlike stiffness";
    if (rigid && energy > kDoubtful * round_off)
      notes.warning(921, {},
                    fmt::format("a motion of {:.3g} Hz is no stiffer than round-off: it counts as "
                                "rigid ({})",
                                hz, why));
    else if (!rigid && energy < kKnown * round_off)
      notes.warning(921, {},
                    fmt::format("the frequency of a motion of {:.3g} Hz is known to {:.1g} % only, "
                                "for round-off ({})",
                                hz, 500 * round_off / energy, why));
  }
  return out;
}

// Whether the interior is held and its stiffness positive: by the strain energy of its softest motion, and by the inertia of K₂₂.
Diagnostics judge_interior(const SparseMatrix& k22, const SparseMatrix& m22,
                           const SparseSymmetric& factors, double round_off) {
  if (factors.ok() && factors.weakest() > kWeak) return {};
  // Where a pivot vanishes the factors of a matrix beside it serve.
  std::optional<SparseSymmetric> beside;
  if (!factors.ok()) {
    // A matrix without entries has no largest one.
    const auto largest = [](const SparseMatrix& a) {
      return a.nonZeros() > 0 ? a.coeffs().cwiseAbs().maxCoeff() : 0.0;
    };
    const double stiffness = largest(k22), mass = largest(m22);
    beside.emplace(k22 + 1e-12 * std::max(stiffness / mass, kSlow) * m22);
  }
  const SparseSymmetric& f = beside ? *beside : factors;
  Eigen::VectorXd x(k22.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = std::cos(1.0 + 2.3 * static_cast<double>(i));
  for (int i = 0; i < kInverseSteps && f.ok(); ++i)
    x = f.solve(Eigen::VectorXd(m22 * x)).normalized();
  if (!f.ok() || !(std::abs(x.dot(k22 * x)) > kRigid * round_off * energy_scale(k22, x)))
    return fail(905,
                "with the masters held, the interior can still move without strain energy: "
                "choose masters that hold every part (a free body: three degrees of freedom in "
                "the plane, six in space, not all on one line); or its elements are so small, or "
                "so unlike, that round-off hides their stiffness");
  if (f.negative() > 0)
    return fail(907, fmt::format("K is indefinite: with the masters held, {} motions have negative "
                                 "strain energy; reduce a system about a stable equilibrium",
                                 f.negative()));
  return {};
}

Eigen::MatrixXd rows_of(const Eigen::MatrixXd& x, const std::vector<int>& rows) {
  return x(rows, Eigen::indexing::all);
}

}  // namespace

SparseMatrix sub_matrix(const SparseMatrix& a, const std::vector<int>& rows,
                        const std::vector<int>& columns) {
  std::vector<Eigen::Index> place(static_cast<size_t>(a.rows()), -1);
  for (size_t i = 0; i < rows.size(); ++i)
    place[static_cast<size_t>(rows[i])] = static_cast<Eigen::Index>(i);
  std::vector<Eigen::Triplet<double, Eigen::Index>> entries;
  for (size_t j = 0; j < columns.size(); ++j)
    for (SparseMatrix::InnerIterator i(a, columns[j]); i; ++i)
      if (const Eigen::Index row = place[static_cast<size_t>(i.row())]; row >= 0)
        entries.emplace_back(row, static_cast<Eigen::Index>(j), i.value());
  SparseMatrix out(static_cast<Eigen::Index>(rows.size()),
                   static_cast<Eigen::Index>(columns.size()));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

Result<CraigBampton> craig_bampton(const LinearSystem& system, std::vector<int> masters,
                                   const CraigBamptonOptions& options) {
  const auto go_on = [&](double fraction) {
    return !options.progress || options.progress(fraction);
  };
  CraigBampton cb;
  std::vector<char> is_master(static_cast<size_t>(system.size()), 0);
  for (const int dof : masters) {
    PANTO_EXPECT(dof >= 0 && dof < system.size() && is_master[static_cast<size_t>(dof)] == 0,
                 "masters are degrees of freedom of the system, each once");
    is_master[static_cast<size_t>(dof)] = 1;
  }
  cb.masters = std::move(masters);
  for (int i = 0; i < system.size(); ++i)
    if (is_master[static_cast<size_t>(i)] == 0) cb.interior.push_back(i);
  const auto m = static_cast<Eigen::Index>(cb.masters.size()),
             s = static_cast<Eigen::Index>(cb.interior.size());
  if (m == 0) return fail(906, "no masters: name at least one degree of freedom, node or set");
  if (s == 0) return fail(906, "every degree of freedom is a master: nothing is left to reduce");

  const SparseMatrix k11 = sub_matrix(system.K, cb.masters, cb.masters),
                     k21 = sub_matrix(system.K, cb.interior, cb.masters),
                     k22 = sub_matrix(system.K, cb.interior, cb.interior),
                     m11 = sub_matrix(system.M, cb.masters, cb.masters),
                     m21 = sub_matrix(system.M, cb.interior, cb.masters),
                     m22 = sub_matrix(system.M, cb.interior, cb.interior);
  {
    const SparseSymmetric factors(k22);
    if (const Diagnostics wrong = judge_interior(k22, m22, factors, system.round_off); !wrong.ok())
      return wrong;
    if (!go_on(0.02)) return fail(909, "stopped");
    cb.B = -factors.solve(Eigen::MatrixXd(k21));
  }
  // RED-3. Strain energy of the static shapes, in which their own error is of second order.
  const Eigen::MatrixXd unbalanced = Eigen::MatrixXd(k21) + k22 * cb.B;
  cb.K11 = Eigen::MatrixXd(k11) + k21.transpose() * cb.B;
  cb.K11 += cb.B.transpose() * unbalanced;
  cb.K11 = (0.5 * (cb.K11 + cb.K11.transpose())).eval();
  const Eigen::MatrixXd loaded = Eigen::MatrixXd(m21) + m22 * cb.B;  // M₂₁ + M₂₂B
  cb.M11 = Eigen::MatrixXd(m11) + cb.B.transpose() * m21;
  cb.M11 += loaded.transpose() * cb.B;
  cb.M11 = (0.5 * (cb.M11 + cb.M11.transpose())).eval();
  // Inertia of K is that of K₂₂ and of K̄₁₁ together: motions without energy are motions of masters.
  Diagnostics notes;
  const Soft soft = soft_motions(system, cb, notes);
  if (soft.negative)
    return fail(907,
                "K is indefinite: a motion of the masters has negative strain energy; reduce a "
                "system about a stable equilibrium");
  cb.rigid = soft.rigid;
  if (!go_on(0.1)) return fail(909, "stopped");

  if (const Diagnostics wrong = interior_modes(system, options, cb); !wrong.ok()) return wrong;
  return {std::move(cb), std::move(notes)};
}

Diagnostics interior_modes(const LinearSystem& system, const CraigBamptonOptions& options,
                           CraigBampton& cb) {
  const auto m = static_cast<Eigen::Index>(cb.masters.size()),
             s = static_cast<Eigen::Index>(cb.interior.size());
  if (options.modes < -1)
    return fail(906, fmt::format("{} interior modes: give a number, or -1 for all", options.modes));
  const SparseMatrix k22 = sub_matrix(system.K, cb.interior, cb.interior),
                     m21 = sub_matrix(system.M, cb.interior, cb.masters),
                     m22 = sub_matrix(system.M, cb.interior, cb.interior);
  int wanted = options.modes == -1 ? static_cast<int>(s) : options.modes;
  if (options.up_to_hz > 0) {
    const double omega = 2 * std::numbers::pi * options.up_to_hz;
    wanted = values_below(k22, m22, omega * omega);
  }
  wanted = std::min(wanted, static_cast<int>(s));
  cb.Phi.resize(s, 0);
  cb.omega2.resize(0);
  if (wanted > 0) {
    auto pairs = lowest_pairs(k22, m22, wanted);
    if (!pairs)
      return fail(
          908, fmt::format("the {} lowest interior modes were not found: masses or stiffnesses of "
                           "very unlike size (penalty springs, tiny elements) leave them to "
                           "round-off; fewer candidates may do",
                           wanted));
    cb.Phi = std::move(pairs->vectors);
    cb.omega2 = std::move(pairs->values);
  }
  cb.M12 = m21.transpose() * cb.Phi;  // (M₁₂ + BᵀM₂₂)Φ
  cb.M12 += cb.B.transpose() * (m22 * cb.Phi);
  if (system.damped()) {
    const SparseMatrix c11 = sub_matrix(system.C, cb.masters, cb.masters),
                       c21 = sub_matrix(system.C, cb.interior, cb.masters),
                       c22 = sub_matrix(system.C, cb.interior, cb.interior);
    const Eigen::MatrixXd moved = Eigen::MatrixXd(c21) + c22 * cb.B;
    cb.C.resize(m + wanted, m + wanted);
    cb.C.topLeftCorner(m, m) =
        Eigen::MatrixXd(c11) + cb.B.transpose() * c21 + moved.transpose() * cb.B;
    cb.C.topRightCorner(m, wanted) = moved.transpose() * cb.Phi;
    cb.C.bottomLeftCorner(wanted, m) = cb.C.topRightCorner(m, wanted).transpose();
    cb.C.bottomRightCorner(wanted, wanted) = cb.Phi.transpose() * (c22 * cb.Phi);
  }
  if (options.progress && !options.progress(1)) return fail(909, "stopped");
  return {};
}

ReducedSystem reduced(const LinearSystem& system, const CraigBampton& cb,
                      const std::vector<int>& selected) {
  const auto m = static_cast<Eigen::Index>(cb.masters.size()),
             t = static_cast<Eigen::Index>(selected.size());
  ReducedSystem out;
  out.masters = cb.masters;
  out.selected = selected;
  for (const int dof : cb.masters) out.names.push_back(system.dofs[static_cast<size_t>(dof)]);
  for (const int mode : selected) {
    PANTO_EXPECT(mode >= 0 && mode < cb.modes(), "an interior mode that was computed");
    out.names.push_back(fmt::format("mode {}", mode + 1));
  }
  out.M = Eigen::MatrixXd::Identity(m + t, m + t);
  out.M.topLeftCorner(m, m) = cb.M11;
  out.M.topRightCorner(m, t) = cb.M12(Eigen::indexing::all, selected);
  out.M.bottomLeftCorner(t, m) = out.M.topRightCorner(m, t).transpose();
  out.K = Eigen::MatrixXd::Zero(m + t, m + t);
  out.K.topLeftCorner(m, m) = cb.K11;
  out.K.diagonal().tail(t) = cb.omega2(selected);
  if (cb.C.rows() > 0) {
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < m; ++i) kept.push_back(i);
    for (const int mode : selected) kept.push_back(m + mode);
    out.C = cb.C(kept, kept);
  }
  out.basis = Eigen::MatrixXd::Zero(system.size(), m + t);
  for (Eigen::Index i = 0; i < m; ++i) out.basis(cb.masters[static_cast<size_t>(i)], i) = 1;
  for (size_t i = 0; i < cb.interior.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    out.basis.row(cb.interior[i]) << cb.B.row(row), cb.Phi.row(row)(selected);
  }
  return out;
}

Eigen::MatrixXd expand(const CraigBampton& cb, const std::vector<int>& selected,
                       const Eigen::MatrixXd& y) {
  const auto m = static_cast<Eigen::Index>(cb.masters.size()),
             t = static_cast<Eigen::Index>(selected.size());
  PANTO_EXPECT(y.rows() == m + t, "one row per master and selected mode");
  Eigen::MatrixXd x(static_cast<Eigen::Index>(cb.masters.size() + cb.interior.size()), y.cols());
  x(cb.masters, Eigen::indexing::all) = y.topRows(m);
  x(cb.interior, Eigen::indexing::all) =
      cb.B * y.topRows(m) + cb.Phi(Eigen::indexing::all, selected) * y.bottomRows(t);
  return x;
}

Eigen::MatrixXd coordinates(const LinearSystem& system, const CraigBampton& cb,
                            const Eigen::MatrixXd& x) {
  PANTO_EXPECT(x.rows() == system.size(), "one row per degree of freedom");
  const Eigen::MatrixXd x1 = rows_of(x, cb.masters);
  // M₂₂ w is the interior part of M {0; w}.
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  w(cb.interior, Eigen::indexing::all) = rows_of(x, cb.interior) - cb.B * x1;
  const Eigen::MatrixXd weighted = system.M * w;
  Eigen::MatrixXd y(x1.rows() + cb.modes(), x.cols());
  y << x1, cb.Phi.transpose() * rows_of(weighted, cb.interior);
  return y;
}

}  // namespace panto
