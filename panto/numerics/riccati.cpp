#include "panto/numerics/riccati.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "panto/numerics/dense.hpp"

// LAPACK as its Fortran interface has it; lengths of character arguments come last.
extern "C" {
using PantoSelect = int (*)(const double*, const double*);
void dgees_(const char* jobvs, const char* sort, PantoSelect select, const int* n, double* a,
            const int* lda, int* sdim, double* wr, double* wi, double* vs, const int* ldvs,
            double* work, const int* lwork, int* bwork, int* info, std::size_t, std::size_t);
void dtrsyl_(const char* trana, const char* tranb, const int* isgn, const int* m, const int* n,
             const double* a, const int* lda, const double* b, const int* ldb, double* c,
             const int* ldc, double* scale, int* info, std::size_t, std::size_t);
}

namespace panto {
namespace {

int left_half_plane(const double* re, const double* /*im*/) { return *re < 0 ? 1 : 0; }

struct Schur {
  Eigen::MatrixXd t, u;  // a = u t uᵀ
  Eigen::VectorXd re, im;
  int stable = 0;  // eigenvalues with negative real part, which come first where asked for
  bool ok = false;
};
Schur schur(const Eigen::MatrixXd& a, bool stable_first) {
  Schur s;
  const int n = static_cast<int>(a.rows());
  s.t = a;
  s.u.resize(n, n);
  s.re.resize(n);
  s.im.resize(n);
  std::vector<int> chosen(static_cast<size_t>(n));
  const int room = 64 * n;
  std::vector<double> work(static_cast<size_t>(room));
  int info = 0;
  dgees_("V", stable_first ? "S" : "N", left_half_plane, &n, s.t.data(), &n, &s.stable, s.re.data(),
         s.im.data(), s.u.data(), &n, work.data(), &room, chosen.data(), &info, 1, 1);
  s.ok = info == 0;
  return s;
}

bool positive_semidefinite(const Eigen::MatrixXd& q) {
  if (!q.allFinite() || !q.isApprox(q.transpose(), 1e-9)) return q.isZero(0);
  const SymmetricEigen e = symmetric_eigen(q);
  return e.values[0] >= -1e-10 * std::max(e.values[e.values.size() - 1], 0.0);
}

double defect(const Eigen::MatrixXd& a, const Eigen::MatrixXd& g, const Eigen::MatrixXd& q,
              const Eigen::MatrixXd& p) {
  const Eigen::MatrixXd pa = p * a, pgp = p * g * p;
  const double size = std::max({pa.norm(), pgp.norm(), q.norm(), 1e-300});
  return (pa + pa.transpose() - pgp + q).norm() / size;
}

}  // namespace

bool solve_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& c, Eigen::MatrixXd& x) {
  const Schur s = schur(a, false);
  if (!s.ok) return false;
  // Tᵀ Y + Y T = -scale Uᵀ C U.
  Eigen::MatrixXd y = -(s.u.transpose() * c * s.u);
  const int n = static_cast<int>(a.rows()), plus = 1;
  double scale = 1;
  int info = 0;
  dtrsyl_("T", "N", &plus, &n, &n, s.t.data(), &n, s.t.data(), &n, y.data(), &n, &scale, &info, 1,
          1);
  if (info != 0 || !(scale > 0)) return false;
  x = s.u * (y / scale) * s.u.transpose();
  x = (0.5 * (x + x.transpose())).eval();
  return x.allFinite();
}

std::optional<std::complex<double>> unstabilisable_mode(const Eigen::MatrixXd& a,
                                                        const Eigen::MatrixXd& b) {
  const Eigen::Index n = a.rows();
  const double size = std::max(a.norm(), 1e-300);
  Eigen::MatrixXd columns = b;  // inputs have units of their own
  for (Eigen::Index k = 0; k < b.cols(); ++k)
    if (const double norm = b.col(k).norm(); norm > 0) columns.col(k) *= size / norm;
  // Eigenvalues are right to round-off, double ones to its square root: a rank is lost where the smallest singular value is of that size.
  for (const std::complex<double>& s : eigenvalues(a)) {
    if (s.real() < -1e-9 * size) break;
    Eigen::MatrixXcd m(n, n + b.cols());
    m << a.cast<std::complex<double>>() - s * Eigen::MatrixXcd::Identity(n, n),
        columns.cast<std::complex<double>>();
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXcd>(m).singularValues();
    if (values[n - 1] < 1e-9 * size) return s;
  }
  return std::nullopt;
}

Riccati solve_riccati(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const Eigen::MatrixXd& q,
                      const Eigen::MatrixXd& r) {
  Riccati out;
  const Eigen::Index n = a.rows(), nu = b.cols();
  if (n == 0 || nu == 0 || a.cols() != n || b.rows() != n || q.rows() != n || q.cols() != n ||
      r.rows() != nu || r.cols() != nu || !a.allFinite() || !b.allFinite() || !r.allFinite() ||
      !positive_semidefinite(q) || !r.isApprox(r.transpose(), 1e-9))
    return out;
  const Eigen::LLT<Eigen::MatrixXd> llt(r);
  if (llt.info() != Eigen::Success) return out;
  if (const auto mode = unstabilisable_mode(a, b)) {
    out.outcome = RiccatiOutcome::kNotStabilisable;
    out.mode = *mode;
    return out;
  }
  const Eigen::MatrixXd g = b * llt.solve(b.transpose());
  // P = ρ P' with both off-diagonal blocks of one size.
  const double rho = g.norm() > 0 && q.norm() > 0 ? std::sqrt(q.norm() / g.norm()) : 1;
  Eigen::MatrixXd h(2 * n, 2 * n);
  h << a, -rho * g, -q / rho, -a.transpose();
  const Schur s = schur(h, true);
  Eigen::Index nearest = 0;
  const double margin = s.re.cwiseAbs().minCoeff(&nearest);
  // A pair on the axis is split by round-off to a distance of its square root.
  if (!s.ok || s.stable != n || !(margin > 1e-9 * h.norm())) {
    out.outcome = RiccatiOutcome::kUnseen;
    out.mode = {s.re[nearest], s.im[nearest]};
    return out;
  }
  const Eigen::MatrixXd top = s.u.topLeftCorner(n, n), bottom = s.u.bottomLeftCorner(n, n);
  Eigen::MatrixXd p = rho * top.transpose().partialPivLu().solve(bottom.transpose()).transpose();
  p = (0.5 * (p + p.transpose())).eval();
  // Newton's method (Kleinman): the solution of a Lyapunov equation is the next iterate.
  out.residual = defect(a, g, q, p);
  for (int i = 0; i < 2; ++i) {
    Eigen::MatrixXd next;
    if (!solve_lyapunov(a - g * p, q + p * g * p, next)) break;
    const double left = defect(a, g, q, next);
    if (!(left < out.residual)) break;
    p = next;
    out.residual = left;
  }
  out.P = p;
  out.F = llt.solve(b.transpose() * p);
  out.poles = eigenvalues(a - b * out.F);
  out.outcome = out.P.allFinite() && out.poles.front().real() < 0 ? RiccatiOutcome::kSolved
                                                                  : RiccatiOutcome::kUnseen;
  if (out.outcome == RiccatiOutcome::kUnseen) out.mode = out.poles.front();
  return out;
}

}  // namespace panto
