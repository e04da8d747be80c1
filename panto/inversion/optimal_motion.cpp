#include "panto/inversion/optimal_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "panto/numerics/sparse_lu.hpp"

namespace panto {
namespace {

using Entries = std::vector<HorizonCollocation::Entry>;

// Simpson's weights of the integral at the instants and middles of a mesh.
Eigen::VectorXd simpson(const std::vector<double>& mesh) {
  Eigen::VectorXd w = Eigen::VectorXd::Zero(2 * static_cast<Eigen::Index>(mesh.size()) - 1);
  for (size_t i = 0; i + 1 < mesh.size(); ++i) {
    const double h = mesh[i + 1] - mesh[i];
    const auto k = static_cast<Eigen::Index>(2 * i);
    w[k] += h / 6;
    w[k + 1] += 4 * h / 6;
    w[k + 2] += h / 6;
  }
  return w;
}

// A sparse matrix whose entries come in the same places each time.
class Assembly {
 public:
  explicit Assembly(int size) : size_(size) {}
  // kSingular or kOk.
  Status factor(const Entries& entries) {
    if (!lu_) place(entries);
    values_.assign(values_.size(), 0.0);
    for (size_t k = 0; k < entries.size(); ++k)
      values_[static_cast<size_t>(slot_[k])] += entries[k].value;
    return lu_->factor(values_) ? Status::kOk : Status::kSingular;
  }
  void solve(Eigen::VectorXd& x) { lu_->solve(x.data(), 1); }

 private:
  void place(const Entries& entries) {
    std::vector<std::map<int, int>> rows(static_cast<size_t>(size_));
    for (const auto& e : entries) rows[static_cast<size_t>(e.row)].emplace(e.column, 0);
    RowMatrix pattern;
    pattern.columns = size_;
    for (auto& row : rows) {
      for (auto& [column, slot] : row) {
        slot = static_cast<int>(pattern.column.size());
        pattern.column.push_back(column);
      }
      pattern.start.push_back(static_cast<int>(pattern.column.size()));
    }
    slot_.reserve(entries.size());
    for (const auto& e : entries) slot_.push_back(rows[static_cast<size_t>(e.row)].at(e.column));
    pattern.value.assign(pattern.column.size(), 0.0);
    values_ = pattern.value;
    lu_ = std::make_unique<SparseLU>(pattern);
  }
  int size_;
  std::vector<int> slot_;
  std::vector<double> values_;
  std::unique_ptr<SparseLU> lu_;
};

}  // namespace

Status nearest_to_rest(HorizonCollocation& problem, const Eigen::MatrixXd& rest, int iterations,
                       double tolerance, HorizonCollocation::Report& report) {
  report = {};
  const Eigen::VectorXd scale = problem.scales(), weight = simpson(problem.mesh());
  const Eigen::Index nv = rest.rows();
  EqualityProgram program;
  program.start = problem.unknowns().cwiseQuotient(scale);
  program.g = Eigen::VectorXd::Zero(scale.size());
  // ½ (P x - rest)ᵀ W (P x - rest).
  std::vector<Entries> sums(static_cast<size_t>(rest.size()));
  for (const auto& e : problem.positions()) sums[static_cast<size_t>(e.row)].push_back(e);
  double largest = 0;
  for (const Entries& sum : sums) {
    const Eigen::Index at = sum.front().row / nv, c = sum.front().row % nv;
    for (const auto& a : sum) {
      program.g[a.column] += weight[at] * a.value * scale[a.column] * rest(c, at);
      for (const auto& b : sum)
        if (a.column >= b.column) {
          program.hessian.push_back(
              {a.column, b.column,
               weight[at] * a.value * scale[a.column] * b.value * scale[b.column]});
          largest = std::max(largest, program.hessian.back().value);
        }
    }
  }
  for (auto& e : program.hessian) e.value /= largest;
  program.g /= largest;
  // Of flexible arms with growing modes that hardly show in positions: without this steps follow H beyond where the equations are linear.
  program.held = 1e-2;

  Eigen::VectorXd rows;
  program.equations = [&](const Eigen::VectorXd& x, Eigen::VectorXd& c, Entries* derivatives) {
    problem.set(scale.cwiseProduct(x));
    const bool finite = problem.equations(c, derivatives);
    if (derivatives != nullptr) {
      for (auto& e : *derivatives) e.value *= scale[e.column];
      if (rows.size() == 0) {
        rows = Eigen::VectorXd::Zero(c.size());
        for (const auto& e : *derivatives) rows[e.row] = std::max(rows[e.row], std::abs(e.value));
        rows = rows.unaryExpr([](double r) { return r > 0 ? 1 / r : 1.0; });
      }
      for (auto& e : *derivatives) e.value *= rows[e.row];
    }
    c = c.cwiseProduct(rows);
    return finite;
  };
  program.go_on = [&] { return problem.goes_on(); };
  const EqualityOptimum found = minimise(program, iterations, tolerance);
  report.iterations = found.iterations;
  report.stopped = found.stopped;
  report.step = found.left;
  if (found.x.size() == scale.size()) problem.set(scale.cwiseProduct(found.x));
  // Where steps end in round-off so do the changes from mesh to mesh, which tell it.
  constexpr double kRoundOff = 1e-4;
  return found.left <= std::max(tolerance, kRoundOff) ? Status::kOk : Status::kNotConverged;
}

Status nearest_by_adjoint(HorizonCollocation& problem, const Eigen::MatrixXd& rest, int iterations,
                          double tolerance, HorizonCollocation::Report& report) {
  report = {};
  const std::vector<double>& mesh = problem.mesh();
  const Eigen::Index nv = rest.rows(), n = static_cast<Eigen::Index>(mesh.size()), ns = 2 * nv,
                     nx = problem.unknowns().size(), size = nx + ns * n;
  std::vector<Entries> sums(static_cast<size_t>(rest.size()));
  for (const auto& e : problem.positions()) sums[static_cast<size_t>(e.row)].push_back(e);
  Assembly matrix(static_cast<int>(size));
  Eigen::VectorXd p = Eigen::VectorXd::Zero(ns * n), left, right(size), step, next;
  Eigen::VectorXd deviation(rest.size());
  Entries entries;

  // The adjoint rows are linear in p and in the deviations, with the motion's derivatives of the last linearisation.
  std::vector<Eigen::MatrixXd> w;
  Eigen::MatrixXd free;
  const auto adjoint = [&](Entries* to, Eigen::Index row) {
    for (size_t k = 0; k < sums.size(); ++k) {
      deviation[static_cast<Eigen::Index>(k)] =
          -rest(static_cast<Eigen::Index>(k) % nv, static_cast<Eigen::Index>(k) / nv);
      for (const auto& e : sums[k])
        deviation[static_cast<Eigen::Index>(k)] += e.value * problem.unknowns()[e.column];
    }
    const auto add = [&](Eigen::Index first, Eigen::Index column, const Eigen::MatrixXd& block) {
      if (to == nullptr) return;
      for (Eigen::Index i = 0; i < block.rows(); ++i)
        for (Eigen::Index k = 0; k < block.cols(); ++k)
          to->push_back({static_cast<int>(first + i), static_cast<int>(column + k), block(i, k)});
    };
    // -Aᵀ of ṗ = -Aᵀ p - (d, 0), A = [0, 1; by positions, by speeds].
    const auto back = [&](Eigen::Index at) {
      Eigen::MatrixXd m = Eigen::MatrixXd::Zero(ns, ns);
      m.topRightCorner(nv, nv) = -w[static_cast<size_t>(at)].leftCols(nv).transpose();
      m.bottomLeftCorner(nv, nv).diagonal().setConstant(-1);
      m.bottomRightCorner(nv, nv) = -w[static_cast<size_t>(at)].rightCols(nv).transpose();
      return m;
    };
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(ns, ns);
    // p at the beginning is normal to the motions that the rows leave free (SRV-54).
    right.segment(row, free.cols()) = free.transpose() * p.head(ns);
    add(row, nx, free.transpose());
    row += free.cols();
    for (Eigen::Index i = 0; i + 1 < n; ++i) {
      const double h = mesh[static_cast<size_t>(i) + 1] - mesh[static_cast<size_t>(i)];
      const Eigen::MatrixXd b0 = back(2 * i), bm = back(2 * i + 1), b1 = back(2 * i + 2);
      const Eigen::MatrixXd by0 = -one - h / 6 * (b0 + bm * (2 * one + h / 2 * b0)),
                            by1 = one - h / 6 * (b1 + bm * (2 * one - h / 2 * b1));
      add(row, nx + i * ns, by0);
      add(row, nx + (i + 1) * ns, by1);
      right.segment(row, ns) = by0 * p.segment(i * ns, ns) + by1 * p.segment((i + 1) * ns, ns);
      // By the deviations at both ends and in the middle.
      const auto deviates = [&](Eigen::Index at, const Eigen::MatrixXd& by) {
        right.segment(row, ns) += by * deviation.segment(at * nv, nv);
        for (Eigen::Index c = 0; c < nv; ++c)
          for (const auto& e : sums[static_cast<size_t>(at * nv + c)])
            add(row, e.column, by.col(c) * e.value);
      };
      const Eigen::MatrixXd in = one.leftCols(nv);
      deviates(2 * i, h / 6 * (in + h / 2 * bm.leftCols(nv)));
      deviates(2 * i + 1, h / 6 * 4 * in);
      deviates(2 * i + 2, h / 6 * (in - h / 2 * bm.leftCols(nv)));
      row += ns;
    }
    right.segment(row, ns) = p.tail(ns);
    add(row, nx + (n - 1) * ns, one);
    return row + ns;
  };
  const auto residual = [&](Entries* to) {
    const bool finite = problem.equations(left, to);
    const Eigen::Index rows = left.size();
    right.head(rows) = left;
    if (to != nullptr) {
      w = problem.accelerations();
      free = problem.free_at_begin();
    }
    return finite && rows + free.cols() + ns * n == size && adjoint(to, rows) == size &&
           right.allFinite();
  };
  const auto norm = [&](const Eigen::VectorXd& s, const Eigen::VectorXd& scale) {
    return (s.head(nx).array() / scale.array()).abs().maxCoeff();
  };
  while (report.iterations < iterations) {
    report.stopped = !problem.goes_on();
    if (report.stopped) return Status::kNotConverged;
    ++report.iterations;
    const Eigen::VectorXd scale = problem.scales();
    if (!residual(&entries)) return Status::kSingular;
    report.regular = matrix.factor(entries) == Status::kOk;
    if (!report.regular) return Status::kSingular;
    step = right;
    matrix.solve(step);
    report.step = norm(step, scale);
    if (!std::isfinite(report.step)) return Status::kNotConverged;
    const Eigen::VectorXd x = problem.unknowns(), before = p;
    bool helps = false;
    for (double factor = 1; factor > 1e-3 && !helps; factor /= 2) {
      report.stopped = !problem.goes_on();
      if (report.stopped) return Status::kNotConverged;
      problem.set(x - factor * step.head(nx));
      p = before - factor * step.tail(ns * n);
      if (report.step <= tolerance) return Status::kOk;
      if (residual(nullptr)) {
        next = right;
        matrix.solve(next);
        const double left_over = norm(next, scale);
        helps = std::isfinite(left_over) && left_over <= (1 - factor / 2) * report.step;
      }
      if (!helps) ++report.dampings;
    }
    if (!helps) return Status::kNotConverged;
  }
  return Status::kNotConverged;
}

}  // namespace panto
