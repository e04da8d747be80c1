#include "panto/inversion/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/numerics/dense.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/pencil.hpp"

namespace panto {

const char* to_string(Configuration c) {
  switch (c) {
    case Configuration::kOrthogonal:
      return "orthogonal";
    case Configuration::kMixed:
      return "mixed tangential-orthogonal";
    default:
      return "tangential";
  }
}

const char* to_string(InverseClass c) {
  switch (c) {
    case InverseClass::kFlat:
      return "flat";
    case InverseClass::kMinimumPhase:
      return "minimum phase";
    case InverseClass::kMarginal:
      return "marginal";
    case InverseClass::kNonMinimumPhase:
      return "non-minimum phase";
    default:
      return "undetermined";
  }
}

namespace {

ServoValues values_at(ServoSystem& system, double t, const Rest& rest) {
  ServoValues values;
  values.resize(system.nv(), system.n_lambda(), system.nu());
  const std::vector<double> still(static_cast<size_t>(system.nv()), 0.0);
  const auto view = [](const Eigen::VectorXd& x) {
    return View{x.data(), static_cast<size_t>(x.size())};
  };
  system.evaluate({t, view(rest.y), still, still, view(rest.lambda), view(rest.u)}, true, values);
  return values;
}

ServoPencil pencil_of(const ServoSystem& system, const ServoValues& v) {
  ServoPencil p;
  p.nv = system.nv();
  p.n_lambda = system.n_lambda();
  p.nu = system.nu();
  const int n = p.nv, rows = p.n_lambda + p.nu, size = 2 * n + rows;
  p.E.setZero(size, size);
  p.A.setZero(size, size);
  p.E.topLeftCorner(n, n).setIdentity();
  p.A.block(0, n, n, n).setIdentity();
  p.E.block(n, n, n, n) = v.r_w;
  p.A.block(n, 0, n, n) = -v.r_y;
  p.A.block(n, n, n, n) = -v.r_v;
  p.A.block(n, 2 * n, n, p.n_lambda) = -v.r_lambda;
  p.A.block(n, 2 * n + p.n_lambda, n, p.nu) = -v.r_u;
  for (int i = 0; i < rows; ++i) {
    const int row = 2 * n + i;
    switch (system.rows()[static_cast<size_t>(i)].level) {
      case Level::kPosition:
        p.A.row(row).head(n) = -v.G.row(i);
        break;
      case Level::kVelocity:
        p.A.row(row).head(n) = -v.g1_y.row(i);
        p.A.row(row).segment(n, n) = -v.G.row(i);
        break;
      case Level::kAcceleration:
        p.A.row(row).head(n) = -v.g2_y.row(i);
        p.A.row(row).segment(n, n) = -v.g2_v.row(i);
        p.E.row(row).segment(n, n) = v.G.row(i);
        break;
    }
    p.A.row(row).tail(p.nu) = -v.g_u.row(i);
  }
  return p;
}

// From accelerations and forces to equations of motion and rows: [M, -Gfᵀ, -B; G, 0, g_u], rows and columns of like size, so that a tolerance means the same for
// all of them.
Eigen::MatrixXd reach_matrix(const ServoSystem& system, const ServoValues& v) {
  const int n = system.nv(), nl = system.n_lambda(), nu = system.nu(), size = n + nl + nu;
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);
  m.topRows(n) << v.r_w, v.r_lambda, v.r_u;
  m.block(n, 0, nl + nu, n) = v.G;
  for (int i = 0; i < nl; ++i) m.row(n + i).tail(nu) = v.g_u.row(i);
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int i = 0; i < size; ++i)
      if (const double norm = m.row(i).norm(); norm > 0) m.row(i) /= norm;
    for (int i = 0; i < size; ++i)
      if (const double norm = m.col(i).norm(); norm > 0) m.col(i) /= norm;
  }
  return m;
}

// Outputs whose accelerations (or the levels they are stated on) the inputs reach at once: its rank beyond nv + n_λ.
int reachable(const ServoSystem& system, const ServoValues& v) {
  MinimumNorm decomposition(1e-9);
  decomposition.compute(reach_matrix(system, v));
  return decomposition.rank() - system.nv() - system.n_lambda();
}

// Relative degrees: three integrators before every input make every state a function of states alone, and add three.
void relative_degrees(const ServoSystem& system, const ServoPencil& p, const ServoValues& v,
                      ServoAnalysis& out) {
  constexpr int kIntegrators = 3;
  const int n = 2 * p.nv + p.n_lambda, size = n + kIntegrators * p.nu;
  Eigen::MatrixXd e = Eigen::MatrixXd::Zero(size, size), a = e,
                  b = Eigen::MatrixXd::Zero(size, p.nu);
  e.topLeftCorner(n, n) = p.E.topLeftCorner(n, n);
  a.topLeftCorner(n, n + p.nu) = p.A.topLeftCorner(n, n + p.nu);
  e.bottomRightCorner(kIntegrators * p.nu, kIntegrators * p.nu).setIdentity();
  a.block(n, n + p.nu, (kIntegrators - 1) * p.nu, (kIntegrators - 1) * p.nu).setIdentity();
  b.bottomRows(p.nu).setIdentity();
  const PencilStructure s = reduce_pencil(e, a, b);
  out.relative_degree.assign(static_cast<size_t>(p.nu), 0);
  if (!s.regular || s.E.rows() == 0) return;
  MinimumNorm inverse(1e-14);
  inverse.compute(s.E);
  Eigen::MatrixXd A(s.A.rows(), s.A.cols()), B(s.B.rows(), s.B.cols());
  for (Eigen::Index k = 0; k < s.A.cols(); ++k) A.col(k) = inverse.solve(s.A.col(k));
  for (Eigen::Index k = 0; k < s.B.cols(); ++k) B.col(k) = inverse.solve(s.B.col(k));
  const double rate = A.norm() / std::sqrt(static_cast<double>(A.rows()));
  if (rate > 0) A /= rate;  // a unit of time in which powers of A stay of one size
  Eigen::MatrixXd C(p.nu, A.rows());
  const Eigen::MatrixXd ny = s.N.topRows(p.nv), nw = s.N.middleRows(p.nv, p.nv);
  for (int i = 0; i < p.nu; ++i) {
    const int row = p.n_lambda + i;
    switch (system.rows()[static_cast<size_t>(row)].level) {
      case Level::kPosition:
        C.row(i) = v.G.row(row) * ny;
        break;
      case Level::kVelocity:
        C.row(i) = v.G.row(row) * nw + v.g1_y.row(row) * ny;
        break;
      case Level::kAcceleration:
        C.row(i) = rate * (v.G.row(row) * nw) * A + v.g2_v.row(row) * nw + v.g2_y.row(row) * ny;
        break;
    }
  }
  // First power k with C_i A^(k-1) B ≠ 0: compared with what round-off of the product may be.
  constexpr double kZero = 1e-9;
  Eigen::MatrixXd decoupling = Eigen::MatrixXd::Zero(p.nu, p.nu), power = B;
  int found = 0;
  for (int k = 1; k <= A.rows() && found < p.nu; ++k) {
    for (int i = 0; i < p.nu; ++i) {
      if (out.relative_degree[static_cast<size_t>(i)] != 0) continue;
      const Eigen::RowVectorXd markov = C.row(i) * power;
      if (!(markov.norm() > kZero * C.row(i).norm() * power.norm())) continue;
      out.relative_degree[static_cast<size_t>(i)] = k - kIntegrators;
      decoupling.row(i) = markov / markov.norm();
      ++found;
    }
    power = (A * power).eval();
    if (const double norm = power.norm(); norm > 0) power /= norm;
  }
  if (found < p.nu) return;
  MinimumNorm rank(1e-6);
  rank.compute(decoupling);
  out.decoupling_regular = rank.rank() == p.nu;
}

Configuration configuration_of(int reachable, int inputs) {
  return reachable == inputs ? Configuration::kOrthogonal
         : reachable == 0    ? Configuration::kTangential
                             : Configuration::kMixed;
}

// Of one output the relative degree is the number of poles less that of zeros. Where an input acts weakly at once round-off may hide it from products and ranks (arms
// with many elements) or hide fast zeros; either makes a degree too large, so that the smaller one is true.
void trust_the_smaller(const ServoSystem& system, const ServoValues& v, ServoAnalysis& out) {
  const int degree = out.total_relative_degree;
  if (degree <= 0 || (out.relative_degree[0] > 0 && out.relative_degree[0] <= degree)) return;
  out.relative_degree[0] = degree;
  out.decoupling_regular = true;
  // At once: accelerations of the output by forces, by accelerations of a drive whose speed is given, …
  int at_once = 2 - static_cast<int>(system.rows().back().level);
  for (int i = 0; i < system.n_lambda(); ++i)
    if (!v.g_u.row(i).isZero(0))
      at_once -= 2 - static_cast<int>(system.rows()[static_cast<size_t>(i)].level);
  out.reachable = degree <= at_once ? 1 : 0;
  out.configuration = configuration_of(out.reachable, 1);
}

// Index of the inverse equations that λ has been taken out of: Wᵀ r = 0 with Wᵀ ∂r/∂λ = 0 (SRV-36).
int motion_index(const ServoPencil& p, int index) {
  const int n = p.nv, size = 2 * n + p.nu;
  if (p.n_lambda == 0) return index;
  MinimumNorm left(1e-10);
  left.compute(p.A.block(n, 2 * n, n, p.n_lambda).transpose());
  const Eigen::MatrixXd W = left.null_space();
  if (W.cols() != n - p.n_lambda) return index;
  const auto without = [&](const Eigen::MatrixXd& m) {
    Eigen::MatrixXd rows(size, m.cols()), out(size, size);
    rows << m.topRows(n), W.transpose() * m.middleRows(n, n), m.bottomRows(p.n_lambda + p.nu);
    out << rows.leftCols(2 * n), rows.rightCols(p.nu);
    return out;
  };
  const PencilStructure s = reduce_pencil(without(p.E), without(p.A), Eigen::MatrixXd(size, 0));
  return s.regular ? s.index : index;
}

// det(s² Wᵀ M V + s Wᵀ D V + Wᵀ K V) = 0 with V: null space of the rows, W: of the columns of λ and u.
void second_order_zeros(const ServoSystem& system, const ServoValues& v, ServoAnalysis& out) {
  for (const AlgebraicRow& row : system.rows())
    if (row.level != Level::kPosition || !row.differentiable) return;
  Eigen::MatrixXd forces(system.nv(), system.n_lambda() + system.nu());
  forces << v.r_lambda, v.r_u;
  MinimumNorm right(1e-10), left(1e-10);
  right.compute(v.G);
  left.compute(forces.transpose());
  const Eigen::MatrixXd V = right.null_space(), W = left.null_space();
  if (V.cols() != W.cols()) return;
  out.has_second_order = true;
  const Eigen::Index n = V.cols();
  if (n == 0) return;
  Eigen::MatrixXd e = Eigen::MatrixXd::Zero(2 * n, 2 * n), a = e;
  e.topLeftCorner(n, n).setIdentity();
  e.bottomRightCorner(n, n) = W.transpose() * v.r_w * V;
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = -W.transpose() * v.r_y * V;
  a.bottomRightCorner(n, n) = -W.transpose() * v.r_v * V;
  const PencilStructure s = reduce_pencil(e, a, Eigen::MatrixXd(2 * n, 0));
  if (s.regular)
    out.zeros_second_order = s.values();
  else
    out.has_second_order = false;
}

}  // namespace

ServoPencil servo_pencil(ServoSystem& system, double t, const Rest& rest) {
  return pencil_of(system, values_at(system, t, rest));
}

int decoupling_side(ServoSystem& system, const ServoPoint& x, ServoValues& values) {
  system.evaluate(x, true, values);
  Eigen::MatrixXd m = reach_matrix(system, values);
  // Elimination with the largest entry left; what round-off may have made is no sign.
  constexpr double kTold = 1e-12;
  int sign = 1;
  for (Eigen::Index k = 0, size = m.rows(); k < size; ++k) {
    Eigen::Index row = 0, column = 0;
    const double pivot = m.bottomRightCorner(size - k, size - k).cwiseAbs().maxCoeff(&row, &column);
    if (!(pivot > kTold)) return 0;
    if (row != 0) m.row(k).swap(m.row(k + row)), sign = -sign;
    if (column != 0) m.col(k).swap(m.col(k + column)), sign = -sign;
    if (m(k, k) < 0) sign = -sign;
    for (Eigen::Index i = k + 1; i < size; ++i)
      m.row(i).tail(size - k) -= m(i, k) / m(k, k) * m.row(k).tail(size - k);
  }
  return sign;
}

ServoAnalysis analyse(ServoSystem& system, double t, const Rest& rest, double marginal) {
  ServoAnalysis out;
  const ServoValues v = values_at(system, t, rest);
  const ServoPencil p = pencil_of(system, v);
  const int n = 2 * p.nv + p.n_lambda;
  const PencilStructure plant =
      reduce_pencil(p.E.topLeftCorner(n, n), p.A.topLeftCorner(n, n), Eigen::MatrixXd(n, 0));
  if (plant.regular) out.poles = plant.values();
  out.plant_index = plant.index;
  out.degrees_of_freedom = static_cast<int>(out.poles.size() + 1) / 2;
  out.reachable = reachable(system, v);
  out.configuration = configuration_of(out.reachable, p.nu);
  const PencilStructure inverse = reduce_pencil(p.E, p.A, Eigen::MatrixXd(p.E.rows(), 0));
  out.regular = plant.regular && inverse.regular;
  if (!out.regular) return out;
  out.index = inverse.index;
  out.motion_index = motion_index(p, out.index);
  out.zeros = inverse.values();
  out.total_relative_degree =
      static_cast<int>(out.poles.size()) - static_cast<int>(out.zeros.size());
  relative_degrees(system, p, v, out);
  if (p.nu == 1) trust_the_smaller(system, v, out);
  // λ leaves with equations, which cannot raise the index; where round-off says so, one output's part and that of rows on positions remain.
  if (out.motion_index > out.index)
    out.motion_index =
        p.nu == 1 ? std::min(out.index, std::max(out.total_relative_degree + 1, 2)) : out.index;
  second_order_zeros(system, v, out);
  double fastest = 0;
  for (const auto& s : out.poles) fastest = std::max(fastest, std::abs(s));
  for (const auto& s : out.zeros) fastest = std::max(fastest, std::abs(s));
  // Infinite eigenvalues come out of QZ as large ones: of index k at about ε^(-1/k).
  const double beyond =
      std::max(1.0, fastest) *
      std::pow(std::numeric_limits<double>::epsilon(), -0.9 / std::max(out.index, 1)) / 4;
  out.zeros_qz = pencil_values(p.A, p.E, beyond);

  bool unstable = false, marginally = false;
  // A double zero at the origin (a rod that turns about itself) is found to the square root of round-off.
  constexpr double kOrigin = 3e-8;
  for (const auto& s : out.zeros) {
    const double bound = marginal * std::max(std::abs(s), 1e-3 * fastest);
    const bool at_origin = std::abs(s) < kOrigin * fastest;
    if (s.real() > bound && !at_origin)
      unstable = true;
    else if (s.real() > -bound || at_origin)
      marginally = true;
  }
  out.type = out.zeros.empty() ? InverseClass::kFlat
             : unstable        ? InverseClass::kNonMinimumPhase
             : marginally      ? InverseClass::kMarginal
                               : InverseClass::kMinimumPhase;
  out.smoothness = out.decoupling_regular
                       ? *std::max_element(out.relative_degree.begin(), out.relative_degree.end())
                       : out.index - 1;
  return out;
}

Diagnostics judge(const ServoAnalysis& analysis, const Path& path) {
  Diagnostics d;
  if (!analysis.regular) {
    d.error(1032, {},
            "no inverse: the inputs do not determine the outputs (the linearised equations are "
            "singular for every frequency)");
    return d;
  }
  if (analysis.type == InverseClass::kNonMinimumPhase)
    d.error(1031, {},
            fmt::format("non-minimum phase: a zero at {:+.4g} 1/s, the internal motion would grow "
                        "without bound in a forward integration; method \"stable\" solves a "
                        "boundary value problem for it, another output may have no such zero",
                        analysis.zeros.front().real()));
  if (path.smoothness() < analysis.smoothness)
    d.warning(1033, {},
              fmt::format("the path is C{}, C{} is needed: the inputs will jump or peak where its "
                          "derivatives jump",
                          path.smoothness(), analysis.smoothness));
  if (analysis.type == InverseClass::kMarginal)
    d.warning(
        1034, {},
        "internal motion on the edge of stability: it neither decays nor grows, and the inputs "
        "go on oscillating after the end of the path; use a method of low numerical damping");
  return d;
}

std::string zero_text(std::complex<double> s) {
  if (std::abs(s.imag()) <= 1e-6 * std::abs(s)) return fmt::format("{:.4g}", s.real());
  return fmt::format("{:.4g} ± {:.4g}i", s.real(), std::abs(s.imag()));
}

}  // namespace panto
