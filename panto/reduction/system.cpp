#include "panto/reduction/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace panto {
namespace {

constexpr double kSymmetric =
    1e-9;                          // round-off of linearisation; of two entries that should be one
constexpr double kStored = 1e-12;  // the same of the largest entry, without linearisation
constexpr double kLinearised = 1e-14;  // entries of K, sums of many terms
constexpr double kDefinite = 1e-14;    // a pivot of M relative to its diagonal entry
constexpr size_t kSuggested = 2000;    // names that a slip of the pen is compared with

void check_symmetry(const char* what, SparseMatrix& a, const Loc& file, bool mechanism,
                    Diagnostics& out) {
  const double round_off = mechanism ? kSymmetric : kStored;
  double largest = 0;
  for (Eigen::Index j = 0; j < a.outerSize(); ++j)
    for (SparseMatrix::InnerIterator i(a, j); i; ++i) {
      if (!std::isfinite(i.value())) {
        out.error(902, file,
                  fmt::format("{}({}, {}) is not a finite number", what, i.row() + 1, j + 1));
        return;
      }
      largest = std::max(largest, std::abs(i.value()));
    }
  const SparseMatrix transposed = a.transpose();
  const SparseMatrix difference = a - transposed;
  double worst = 0;
  bool any = false;
  Eigen::Index row = 0, column = 0;
  for (Eigen::Index j = 0; j < difference.outerSize(); ++j)
    for (SparseMatrix::InnerIterator i(difference, j); i; ++i) {
      const double differs = std::abs(i.value());
      any = any || differs > 0;
      if (differs > worst && differs > round_off * largest &&
          differs > kSymmetric * (std::abs(a.coeff(i.row(), j)) + std::abs(a.coeff(j, i.row())))) {
        worst = differs;
        row = i.row();
        column = j;
      }
    }
  std::string remedy;
  if (mechanism)
    remedy =
        ", which mechanisms are not with gyroscopic or follower forces, with friction or far from "
        "equilibrium: take a pose of equilibrium, at rest";
  else if (!file.file.empty())
    remedy = " (a file that holds one triangle says \"symmetric\" in its first line)";
  if (worst > 0)
    out.error(
        902, file,
        fmt::format("{} is not symmetric: {}({}, {}) = {:.6g}, {}({}, {}) = {:.6g}; reduction "
                    "by modes is for symmetric systems{}",
                    what, what, row + 1, column + 1, a.coeff(row, column), what, column + 1,
                    row + 1, a.coeff(column, row), remedy));
  else if (any)
    a = SparseMatrix(0.5 * (a + transposed));
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Diagnostics check(LinearSystem& system, const MatrixOrigin& origin) {
  Diagnostics out;
  const auto square = [&](const char* what, const SparseMatrix& a, const Loc& file) {
    if (a.rows() == a.cols() && a.rows() == system.K.rows() && a.rows() > 0) return;
    out.error(901, file,
              fmt::format("{} has {} rows and {} columns, K {} and {}: square matrices of one size "
                          "are needed",
                          what, a.rows(), a.cols(), system.K.rows(), system.K.cols()));
  };
  square("K", system.K, origin.K);
  square("M", system.M, origin.M);
  if (system.damped()) square("C", system.C, origin.C);
  if (out.ok() && system.dofs.size() != static_cast<size_t>(system.size()))
    out.error(901, {},
              fmt::format("{} names for {} degrees of freedom", system.dofs.size(), system.size()));
  std::set<std::string> names;
  for (const std::string& name : system.dofs)
    if (!names.insert(name).second && out.ok())
      out.error(901, {}, fmt::format("the name \"{}\" stands for two degrees of freedom", name));
  if (!out.ok()) return out;
  check_symmetry("K", system.K, origin.K, origin.mechanism, out);
  check_symmetry("M", system.M, origin.M, origin.mechanism, out);
  if (system.damped()) check_symmetry("C", system.C, origin.C, origin.mechanism, out);
  if (!out.ok()) return out;
  for (int i = 0; i < system.size(); ++i)
    if (!(system.M.coeff(i, i) > 0)) {
      out.error(903, origin.M,
                fmt::format("M is not positive definite: its diagonal entry of \"{}\" is {:.6g}; "
                            "condense degrees of freedom without mass first",
                            system.dofs[static_cast<size_t>(i)], system.M.coeff(i, i)));
      return out;
    }
  const SparseSymmetric mass(system.M);
  if (!mass.ok() || mass.weakest() < kDefinite)
    out.error(903, origin.M,
              "M is not positive definite: some motion has no kinetic energy, or a negative one; "
              "masses and inertias must be positive");
  return out;
}

Diagnostics located(const Diagnostics& findings, const Loc& place) {
  Diagnostics out;
  for (const Diagnostic& d : findings.items()) {
    const Loc& at = d.loc.file.empty() ? place : d.loc;
    if (d.severity == Severity::kError)
      out.error(d.id, at, d.message);
    else
      out.warning(d.id, at, d.message);
  }
  return out;
}

Result<LinearSystem> linear_system(const LinearModel& linear, const std::string& name) {
  Diagnostics out;
  if (!linear.second_order()) {
    out.error(509, {}, "drives act on speeds: the mechanism has no second-order form to reduce");
    return out;
  }
  LinearSystem system;
  system.round_off = kLinearised;
  system.name = name;
  system.M = linear.M_z.sparseView();
  system.K = linear.K_z.sparseView();
  if (linear.D_z.cwiseAbs().maxCoeff() > 0) system.C = linear.D_z.sparseView();
  system.dofs = linear.independent;
  const Eigen::Index n = linear.M_z.rows();
  const auto involved = [&](const Eigen::VectorXd& weights) {
    const double least = 1e-9 * weights.cwiseAbs().maxCoeff();  // above what solving leaves
    std::vector<int> dofs;
    for (Eigen::Index i = 0; i < n; ++i)
      if (std::abs(weights(i)) > least) dofs.push_back(static_cast<int>(i));
    return dofs;
  };
  // An acceleration is a sum over all forces in C_x, whatever it is the acceleration of: C_a tells.
  const auto read = [&](Eigen::Index output) {
    std::vector<int> dofs = involved(linear.C_a.row(output).transpose());
    if (dofs.empty()) dofs = involved(linear.C_x.row(output).head(n).transpose());
    if (dofs.empty()) dofs = involved(linear.C_x.row(output).segment(n, n).transpose());
    return dofs;
  };
  for (size_t j = 0; j < linear.inputs.size(); ++j)
    system.sets.push_back(
        {linear.inputs[j], involved(linear.B_z.col(static_cast<Eigen::Index>(j)))});
  for (size_t i = 0; i < linear.outputs.size(); ++i)
    system.sets.push_back({linear.outputs[i], read(static_cast<Eigen::Index>(i))});
  MatrixOrigin origin;
  origin.mechanism = true;
  out = check(system, origin);
  if (!out.ok()) return out;
  return system;
}

Result<std::vector<int>> find_dofs(const LinearSystem& system,
                                   const std::vector<std::string>& names, const Loc& place) {
  Diagnostics out;
  std::vector<int> found;
  std::set<int> seen;
  const auto add = [&](int dof) {
    if (seen.insert(dof).second) found.push_back(dof);
  };
  for (const std::string& name : names) {
    bool known = false;
    const auto exact = std::find(system.dofs.begin(), system.dofs.end(), name);
    if (exact != system.dofs.end()) {
      add(static_cast<int>(exact - system.dofs.begin()));
      known = true;
    }
    const auto take = [&](const DofSet& s) {
      for (const int dof : s.dofs) add(dof);
      known = true;
    };
    for (const DofSet& s : system.sets)
      if (!known && s.name == name && !s.dofs.empty()) take(s);
    if (!known) {
      const std::string prefix = name + ".";
      for (size_t i = 0; i < system.dofs.size(); ++i)
        if (system.dofs[i].starts_with(prefix) &&
            system.dofs[i].find('.', prefix.size()) == std::string::npos) {
          add(static_cast<int>(i));
          known = true;
        }
    }
    // Solvers that take names in capitals do not ask how they are written.
    for (const DofSet& s : system.sets)
      if (!known && upper(s.name) == upper(name) && !s.dofs.empty()) take(s);
    if (known) continue;
    if (std::any_of(system.sets.begin(), system.sets.end(),
                    [&](const DofSet& s) { return upper(s.name) == upper(name); })) {
      out.error(904, place,
                fmt::format("\"{}\" has no degree of freedom: all of it is held, or it reads none",
                            name));
      continue;
    }
    std::vector<std::string> candidates;
    for (const DofSet& s : system.sets)
      if (!s.dofs.empty()) candidates.push_back(s.name);
    for (const std::string& dof : system.dofs) {
      if (candidates.size() == kSuggested) break;
      candidates.push_back(dof);
    }
    // Sets of solvers have their names in capitals.
    std::string meant = did_you_mean(name, candidates);
    if (meant.empty()) meant = did_you_mean(upper(name), candidates);
    out.error(904, place,
              fmt::format("there is no degree of freedom, node or set \"{}\"{}", name, meant));
  }
  if (!out.ok()) return out;
  return found;
}

}  // namespace panto
