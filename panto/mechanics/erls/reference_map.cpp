#include "panto/mechanics/erls/reference_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace panto::erls {

namespace {

// A mode whose strain energy has doubled is stiffer than it need be, and so is the model; its motion is hardly wrong for that: as much as a fiftieth of
// its mass.
constexpr double kEnergyWeight = 0.02;

size_t at(int i) { return static_cast<size_t>(i); }

}  // namespace

ReferenceMap::ReferenceMap(const Model& model) : layout_(model) {
  int slaves = 0;
  for (const BeamNode& n : model.nodes)
    for (const int s : n.slave) slaves = std::max(slaves, s + 1);
  std::vector<bool> known(at(slaves), false);
  for (const LinkLayout& l : layout_.links) {
    std::vector<int>& of = slave_.emplace_back(at(3 * l.nodes), -1);
    for (int i = 0; i < l.nodes; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        const int s = model.nodes[at(l.first_node + i)].slave[at(axis)];
        of[at(3 * i + axis)] = s;
        // What beams share turns with the first of them; both translations of a node are slaves together.
        if (s < 0 || known[at(s)]) continue;
        known[at(s)] = true;
        if (axis != 1) turned_.push_back({s, 3 * (l.first_node + i) + axis, l.beam, axis == 0});
      }
    ground_.emplace_back(Eigen::MatrixXd::Zero(3 * l.nodes, 3 * l.nodes));
  }
  link_mass_ = link_stiffness_ = ground_;
  const auto modes = static_cast<Eigen::Index>(model.reduction.modes.size());
  for (Eigen::MatrixXd* m : {&mass_, &stiffness_, &all_part_}) m->setZero(slaves, slaves);
  for (Eigen::MatrixXd* m : {&from_, &to_, &rate_, &weighted_, &moved_}) m->setZero(slaves, modes);
  for (Eigen::MatrixXd* m : {&x_, &v_, &energy_, &part_}) m->setZero(modes, modes);
  gram_.setIdentity(modes, modes);
  gone_.setZero(slaves);
  llt_.compute(gram_);
  all_llt_.compute(Eigen::MatrixXd::Identity(slaves, slaves));
  placed_.assign(model.beams.size(), std::numeric_limits<double>::quiet_NaN());
  eigen_.compute(gram_, Eigen::EigenvaluesOnly);
}

void ReferenceMap::bake(const BeamConstants<double>& c) {
  for (size_t k = 0; k < layout_.links.size(); ++k) {
    const NodalMatrices<double> nodal = nodal_matrices(layout_.links[k], c);
    link_mass_[k] = Eigen::Map<const Eigen::MatrixXd>(nodal.M.data(), nodal.n, nodal.n);
    link_stiffness_[k] = Eigen::Map<const Eigen::MatrixXd>(nodal.K.data(), nodal.n, nodal.n);
  }
  std::fill(placed_.begin(), placed_.end(), std::numeric_limits<double>::quiet_NaN());
}

void ReferenceMap::turn(const Eigen::MatrixXd& shapes, std::span<const double> angles,
                        Eigen::MatrixXd& psi) const noexcept {
  for (const Turned& d : turned_) {
    if (!d.pair) {
      psi.row(d.slave) = shapes.row(d.row);
      continue;
    }
    const double c = std::cos(angles[at(d.beam)]), s = std::sin(angles[at(d.beam)]);
    for (Eigen::Index j = 0; j < shapes.cols(); ++j) {
      const double ux = shapes(d.row, j), uy = shapes(d.row + 1, j);
      psi(d.slave, j) = c * ux - s * uy;
      psi(d.slave + 1, j) = s * ux + c * uy;
    }
  }
}

void ReferenceMap::rate(const Eigen::MatrixXd& psi, std::span<const double> rates,
                        Eigen::MatrixXd& out) const noexcept {
  out.setZero();
  for (const Turned& d : turned_) {
    if (!d.pair) continue;
    out.row(d.slave) = -rates[at(d.beam)] * psi.row(d.slave + 1);
    out.row(d.slave + 1) = rates[at(d.beam)] * psi.row(d.slave);
  }
}

// Matrices of the links, of all displacements that are no coordinates, ground axes.
void ReferenceMap::assemble(const std::vector<Eigen::MatrixXd>& links,
                            std::span<const double> angles, Eigen::MatrixXd& all) noexcept {
  all.setZero();
  for (size_t k = 0; k < layout_.links.size(); ++k) {
    const LinkLayout& l = layout_.links[k];
    Eigen::MatrixXd& m = ground_[k];
    m = links[k];
    const double c = std::cos(angles[at(l.beam)]), s = std::sin(angles[at(l.beam)]);
    for (Eigen::Index i = 0; i < m.rows(); i += 3)
      for (Eigen::Index j = 0; j < m.cols(); ++j) {
        const double a = m(i, j), b = m(i + 1, j);
        m(i, j) = c * a - s * b;
        m(i + 1, j) = s * a + c * b;
      }
    for (Eigen::Index j = 0; j < m.cols(); j += 3)
      for (Eigen::Index i = 0; i < m.rows(); ++i) {
        const double a = m(i, j), b = m(i, j + 1);
        m(i, j) = c * a - s * b;
        m(i, j + 1) = s * a + c * b;
      }
    const std::vector<int>& slave = slave_[k];
    for (Eigen::Index j = 0; j < m.cols(); ++j)
      for (Eigen::Index i = 0; i < m.rows(); ++i) {
        const int row = slave[static_cast<size_t>(i)], column = slave[static_cast<size_t>(j)];
        if (row >= 0 && column >= 0) all(row, column) += m(i, j);
      }
  }
}

void ReferenceMap::place(std::span<const double> angles) noexcept {
  if (std::equal(placed_.begin(), placed_.end(), angles.begin())) return;
  std::copy_n(angles.begin(), placed_.size(), placed_.begin());
  assemble(link_mass_, angles, mass_);
  stiff_ = false;
}

void ReferenceMap::place_stiffness(std::span<const double> angles) noexcept {
  place(angles);
  if (stiff_) return;
  stiff_ = true;
  assemble(link_stiffness_, angles, stiffness_);
  all_llt_.compute(stiffness_);
  all_flexibility_ = 0;
  if (all_llt_.info() != Eigen::Success) return;
  all_part_ = mass_;
  all_llt_.solveInPlace(all_part_);
  all_flexibility_ = all_part_.trace();
}

// Of the modes turned there: to_, gram_ = Ψᵀ M Ψ.
void ReferenceMap::products(const Eigen::MatrixXd& shapes,
                            std::span<const double> angles) noexcept {
  place(angles);
  turn(shapes, angles, to_);
  weighted_.noalias() = mass_ * to_;
  gram_.noalias() = to_.transpose() * weighted_;
}

// And energy_ = Ψᵀ K Ψ.
void ReferenceMap::energies(const Eigen::MatrixXd& shapes,
                            std::span<const double> angles) noexcept {
  products(shapes, angles);
  place_stiffness(angles);
  weighted_.noalias() = stiffness_ * to_;
  energy_.noalias() = to_.transpose() * weighted_;
}

// Share of the modes in tr K⁻¹ M, after energies().
double ReferenceMap::flexibility() noexcept {
  llt_.compute(energy_);
  if (llt_.info() != Eigen::Success || !(all_flexibility_ > 0)) return 0;
  part_ = gram_;
  llt_.solveInPlace(part_);
  return part_.trace() / all_flexibility_;
}

double ReferenceMap::departure() noexcept {
  gram_.diagonal().array() -= 1;
  eigen_.compute(gram_, Eigen::EigenvaluesOnly);
  return eigen_.eigenvalues().cwiseAbs().maxCoeff();
}

double ReferenceMap::drift(const Eigen::MatrixXd& shapes, std::span<const double> angles) noexcept {
  if (gram_.size() == 0) return 0;
  products(shapes, angles);
  return departure();
}

ReferenceFit ReferenceMap::fit(const Eigen::MatrixXd& shapes, std::span<const double> angles) {
  ReferenceFit out;
  out.angles.assign(angles.begin(), angles.end());
  if (gram_.size() == 0) return out;
  energies(shapes, angles);
  out.energies = energy_.diagonal();
  out.flexibility = flexibility();
  return out;
}

double ReferenceMap::misfit(const Eigen::MatrixXd& shapes, const ReferenceFit& fit,
                            std::span<const double> angles) noexcept {
  if (gram_.size() == 0) return 0;
  energies(shapes, angles);
  double out = 0;
  for (Eigen::Index i = 0; i < fit.energies.size(); ++i)
    out = std::max(out, kEnergyWeight * (energy_(i, i) / fit.energies(i) - 1));
  if (fit.flexibility > 0) out = std::max(out, 1 - flexibility() / fit.flexibility);
  return std::max(out, departure());
}

bool ReferenceMap::compute(const Eigen::MatrixXd& from, const Eigen::MatrixXd& to,
                           std::span<const double> angles, std::span<const double> rates) noexcept {
  place(angles);
  turn(from, angles, from_);
  turn(to, angles, to_);
  weighted_.noalias() = mass_ * to_;
  gram_.noalias() = to_.transpose() * weighted_;
  llt_.compute(gram_);
  if (llt_.info() != Eigen::Success) return false;
  x_.noalias() = weighted_.transpose() * from_;
  llt_.solveInPlace(x_);
  rate(to_, rates, rate_);
  moved_.noalias() = rate_ * x_;
  rate(from_, rates, rate_);
  rate_ -= moved_;
  v_.noalias() = weighted_.transpose() * rate_;
  llt_.solveInPlace(v_);
  return x_.allFinite() && v_.allFinite();
}

double ReferenceMap::lost(const Eigen::Ref<const Eigen::VectorXd>& eta) noexcept {
  moved_.noalias() = to_ * x_;
  moved_ = from_ - moved_;
  gone_.noalias() = moved_ * eta;
  return gone_.size() > 0 ? gone_.cwiseAbs().maxCoeff() : 0.0;
}

}  // namespace panto::erls
