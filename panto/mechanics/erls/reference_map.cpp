#include "panto/mechanics/erls/reference_map.hpp"

#include <algorithm>
#include <cmath>

namespace panto::erls {

namespace {

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
    ground_mass_.emplace_back(Eigen::MatrixXd::Zero(3 * l.nodes, 3 * l.nodes));
  }
  link_mass_ = ground_mass_;
  const auto modes = static_cast<Eigen::Index>(model.reduction.modes.size());
  mass_.setZero(slaves, slaves);
  for (Eigen::MatrixXd* m : {&from_, &to_, &rate_, &weighted_, &moved_}) m->setZero(slaves, modes);
  for (Eigen::MatrixXd* m : {&x_, &v_}) m->setZero(modes, modes);
  gram_.setIdentity(modes, modes);
  gone_.setZero(slaves);
  llt_.compute(gram_);
  eigen_.compute(gram_, Eigen::EigenvaluesOnly);
}

void ReferenceMap::bake(const BeamConstants<double>& c) {
  for (size_t k = 0; k < layout_.links.size(); ++k) {
    const NodalMatrices<double> nodal = nodal_matrices(layout_.links[k], c);
    link_mass_[k] = Eigen::Map<const Eigen::MatrixXd>(nodal.M.data(), nodal.n, nodal.n);
  }
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

void ReferenceMap::mass(std::span<const double> angles) noexcept {
  mass_.setZero();
  for (size_t k = 0; k < layout_.links.size(); ++k) {
    const LinkLayout& l = layout_.links[k];
    Eigen::MatrixXd& m = ground_mass_[k];
    m = link_mass_[k];
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
        if (row >= 0 && column >= 0) mass_(row, column) += m(i, j);
      }
  }
}

double ReferenceMap::drift(const Eigen::MatrixXd& shapes, std::span<const double> angles) noexcept {
  if (gram_.size() == 0) return 0;
  mass(angles);
  turn(shapes, angles, to_);
  weighted_.noalias() = mass_ * to_;
  gram_.noalias() = to_.transpose() * weighted_;
  gram_.diagonal().array() -= 1;
  eigen_.compute(gram_, Eigen::EigenvaluesOnly);
  return eigen_.eigenvalues().cwiseAbs().maxCoeff();
}

bool ReferenceMap::compute(const Eigen::MatrixXd& from, const Eigen::MatrixXd& to,
                           std::span<const double> angles, std::span<const double> rates) noexcept {
  mass(angles);
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
