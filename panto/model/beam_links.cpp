#include "panto/model/beam_links.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "panto/numerics/assignment.hpp"
#include "panto/numerics/eigenproblems.hpp"

namespace panto::erls {
namespace {

// Components in one cluster, by merging.
int root(std::vector<int>& parent, int i) {
  while (parent[static_cast<size_t>(i)] != i) i = parent[static_cast<size_t>(i)];
  return i;
}

}  // namespace

ReducedLayout::ReducedLayout(const Model& model) : active(model.reduction.active()) {
  if (!active) return;
  joints = model.joint_nv();
  modes = static_cast<int>(model.reduction.modes.size());
  first_mode = model.reduction.first_mode;
  // How many beams have each slave displacement.
  std::map<int, std::vector<int>> beams_of;
  for (const BeamNode& n : model.nodes)
    for (const int s : n.slave)
      if (s >= 0) beams_of[s].push_back(n.beam);
  std::map<int, int> input_of;  // master dof or -1 - slave -> input
  for (size_t b = 0; b < model.beams.size(); ++b) {
    const Beam& beam = model.beams[b];
    if (beam.ancf()) continue;
    LinkLayout l;
    l.beam = static_cast<int>(b);
    l.body = beam.body + 1;
    l.first_node = beam.first_node;
    l.nodes = beam.nodes;
    l.local.assign(static_cast<size_t>(3 * l.nodes), -1);
    for (int i = 0; i < l.nodes; ++i) {
      const BeamNode& n = model.nodes[static_cast<size_t>(l.first_node + i)];
      for (const int axis : {0, 2}) {
        const auto a = static_cast<size_t>(axis);
        const int size = axis == 0 ? 2 : 1;
        const auto place = static_cast<size_t>(3 * i + axis);
        if (n.dof[a] < 0 && n.slave[a] < 0) continue;
        if (n.dof[a] < 0 && beams_of[n.slave[a]].size() == 1) {
          for (int k = 0; k < size; ++k) l.local[place + static_cast<size_t>(k)] = -2 - l.inside++;
          continue;
        }
        const int key = n.dof[a] >= 0 ? n.dof[a] : -1 - n.slave[a];
        const auto [it, fresh] = input_of.try_emplace(key, static_cast<int>(inputs.size()));
        if (fresh) {
          LinkInput in;
          in.pair = axis == 0;
          in.node = l.first_node + i;
          if (n.dof[a] < 0) in.owner = static_cast<int>(links.size());
          inputs.push_back(in);
        }
        l.parts.push_back({it->second, l.nx, 0, axis == 0, n.dof[a] < 0});
        for (int k = 0; k < size; ++k) l.local[place + static_cast<size_t>(k)] = l.nx + k;
        l.nx += size;
      }
    }
    for (int body = beam.body; body != kGround;) {
      const Joint& j = model.joints[static_cast<size_t>(body)];
      for (int k = j.v; k < j.v + j.nv; ++k) l.path.push_back(k);
      body = j.parent;
    }
    links.push_back(std::move(l));
  }
  // Clusters of slaves.
  std::vector<int> parent(inputs.size());
  for (size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<int>(i);
  const auto slave = [&](int i) { return inputs[static_cast<size_t>(i)].owner >= 0; };
  for (const LinkLayout& l : links) {
    int first = -1;
    for (const LinkLayout::Part& p : l.parts) {
      if (!p.slave) continue;
      if (first < 0) first = p.input;
      parent[static_cast<size_t>(root(parent, p.input))] = root(parent, first);
    }
  }
  // Places of components: masters in the order of their speeds, then slaves by cluster.
  std::map<int, size_t> by_speed;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].owner < 0)
      by_speed[model.nodes[static_cast<size_t>(inputs[i].node)]
                   .dof[static_cast<size_t>(inputs[i].axis())]] = i;
  for (const auto& [speed, i] : by_speed) {
    inputs[i].at = masters;
    const auto& dof = model.nodes[static_cast<size_t>(inputs[i].node)].dof;
    for (int k = 0; k < (inputs[i].pair ? 2 : 1); ++k)
      master_dof.push_back(dof[static_cast<size_t>(inputs[i].axis() + k)]);
    masters += inputs[i].pair ? 2 : 1;
  }
  std::map<int, int> cluster_of;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (slave(static_cast<int>(i)))
      cluster_of.try_emplace(root(parent, static_cast<int>(i)),
                             static_cast<int>(cluster_of.size()));
  clusters.resize(cluster_of.size());
  for (size_t c = 0; c < clusters.size(); ++c) {
    clusters[c].first = slaves;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!slave(static_cast<int>(i)) ||
          cluster_of[root(parent, static_cast<int>(i))] != static_cast<int>(c))
        continue;
      inputs[i].at = masters + slaves;
      slaves += inputs[i].pair ? 2 : 1;
    }
    clusters[c].size = slaves - clusters[c].first;
  }
  for (size_t k = 0; k < links.size(); ++k) {
    LinkLayout& l = links[k];
    l.n = l.nx + modes;
    for (LinkLayout::Part& p : l.parts) {
      const LinkInput& in = inputs[static_cast<size_t>(p.input)];
      p.component = in.at;
      if (!p.slave) continue;
      l.cluster = cluster_of[root(parent, p.input)];
      if (!p.pair || in.owner == static_cast<int>(k)) continue;
      l.foreign.push_back({l.n, in.at - masters, in.owner});
      l.n += 2;
    }
    if (l.cluster < 0) continue;
    Cluster& c = clusters[static_cast<size_t>(l.cluster)];
    c.links.push_back(static_cast<int>(k));
    for (LinkLayout::Part& p : l.parts) {
      if (p.slave) continue;
      const auto known = std::find(c.masters.begin(), c.masters.end(), p.component);
      p.column = static_cast<int>(known - c.masters.begin());
      if (known != c.masters.end()) continue;
      for (int i = 0; i < (p.pair ? 2 : 1); ++i) c.masters.push_back(p.component + i);
    }
  }
}

namespace {

// Displacement i of a link among those that are no coordinates.
int slave_of(const Model& model, const LinkLayout& l, int i) {
  return model.nodes[static_cast<size_t>(l.first_node + i / 3)].slave[static_cast<size_t>(i % 3)];
}
int slaves_of(const Model& model) {
  int n = 0;
  for (const BeamNode& node : model.nodes)
    for (const int s : node.slave) n = std::max(n, s + 1);
  return n;
}
// Link axes to ground axes: turns of the pairs.
Eigen::MatrixXd turning(const LinkLayout& l, std::span<const double> angles) {
  const double angle = angles[static_cast<size_t>(l.beam)];
  Eigen::MatrixXd t = Eigen::MatrixXd::Identity(3 * l.nodes, 3 * l.nodes);
  for (int i = 0; i < l.nodes; ++i)
    t.block<2, 2>(3 * i, 3 * i) << std::cos(angle), -std::sin(angle), std::sin(angle),
        std::cos(angle);
  return t;
}

}  // namespace

Eigen::MatrixXd turned_shapes(const Model& model, const Eigen::MatrixXd& shapes,
                              std::span<const double> angles) {
  const ReducedLayout layout(model);
  Eigen::MatrixXd phi = Eigen::MatrixXd::Zero(slaves_of(model), shapes.cols());
  // What beams share turns with the first of them.
  for (auto l = layout.links.rbegin(); l != layout.links.rend(); ++l) {
    const Eigen::MatrixXd ground =
        turning(*l, angles) * shapes.middleRows(3 * l->first_node, 3 * l->nodes);
    for (int i = 0; i < 3 * l->nodes; ++i)
      if (const int s = slave_of(model, *l, i); s >= 0) phi.row(s) = ground.row(i);
  }
  return phi;
}

std::optional<InteriorModes> interior_modes(const Model& model, const BeamConstants<double>& c,
                                            std::span<const double> reference,
                                            const Eigen::MatrixXd* before) {
  const ReducedLayout layout(model);
  const int n = slaves_of(model);
  InteriorModes out;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  out.mass = k;
  for (const LinkLayout& l : layout.links) {
    const NodalMatrices<double> nodal = nodal_matrices(l, c);
    const Eigen::MatrixXd t = turning(l, reference);
    const Eigen::MatrixXd kg =
        t * Eigen::Map<const Eigen::MatrixXd>(nodal.K.data(), nodal.n, nodal.n) * t.transpose();
    const Eigen::MatrixXd mg =
        t * Eigen::Map<const Eigen::MatrixXd>(nodal.M.data(), nodal.n, nodal.n) * t.transpose();
    for (int i = 0; i < nodal.n; ++i)
      for (int j = 0; j < nodal.n; ++j) {
        const int row = slave_of(model, l, i), column = slave_of(model, l, j);
        if (row < 0 || column < 0) continue;
        k(row, column) += kg(i, j);
        out.mass(row, column) += mg(i, j);
      }
  }
  const auto kept = static_cast<Eigen::Index>(model.reduction.modes.size());
  if (n == 0 && kept > 0) return std::nullopt;
  out.phi.resize(n, kept);
  if (n > 0) {
    const std::optional<ModalPairs> pairs = symmetric_pairs(k, out.mass);
    if (!pairs || !(pairs->values(0) > 1e-12 * pairs->largest)) return std::nullopt;
    for (Eigen::Index i = 0; i < n; ++i)
      out.frequencies.push_back(std::sqrt(pairs->values(i)) / (2 * std::numbers::pi));
    Eigen::MatrixXd alike;
    std::vector<int> partner;
    if (before != nullptr) {
      alike = before->transpose() * out.mass * pairs->vectors;
      // By what they share of the flexibility: a mode that has come to lean on the axial stiffness of a link is also like one of a thousand hertz.
      Eigen::VectorXd own(kept);
      for (Eigen::Index i = 0; i < kept; ++i) {
        const int mode = model.reduction.modes[static_cast<size_t>(i)];
        own(i) = std::pow(model.reduction.frequencies[static_cast<size_t>(mode - 1)], 2);
      }
      partner = best_assignment(own.asDiagonal() * alike.cwiseAbs2() *
                                pairs->values.cwiseInverse().asDiagonal());
    }
    for (Eigen::Index i = 0; i < kept; ++i) {
      const auto at = static_cast<size_t>(i);
      const int mode = before != nullptr ? partner[at] + 1 : model.reduction.modes[at];
      if (mode < 1 || mode > n) return std::nullopt;
      out.phi.col(i) = pairs->vectors.col(mode - 1);
      Eigen::Index largest = 0;
      out.phi.col(i).cwiseAbs().maxCoeff(&largest);
      if (before != nullptr ? alike(i, mode - 1) < 0 : out.phi(largest, i) < 0)
        out.phi.col(i) *= -1;
    }
  }
  out.shapes = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(3 * model.nodes.size()), kept);
  for (const LinkLayout& l : layout.links) {
    Eigen::MatrixXd ground = Eigen::MatrixXd::Zero(3 * l.nodes, kept);
    for (int i = 0; i < 3 * l.nodes; ++i)
      if (const int s = slave_of(model, l, i); s >= 0) ground.row(i) = out.phi.row(s);
    out.shapes.middleRows(3 * l.first_node, 3 * l.nodes) =
        turning(l, reference).transpose() * ground;
  }
  return out;
}

bool renew_basis(Model& model, std::span<const double> reference) {
  const Params params = nominal(model);
  std::vector<double> slots(model.slots.size());
  evaluate_slots<double>(
      model,
      std::span<const double>(params.values.data(), static_cast<size_t>(params.values.size())),
      slots);
  const BeamConstants<double> c = bake_beams<double>(
      model, [&](Slot s) { return s >= 0 ? slots[static_cast<size_t>(s)] : 0.0; });
  std::optional<InteriorModes> modes = interior_modes(model, c, reference);
  if (!modes) return false;
  model.reduction.shapes = std::move(modes->shapes);
  model.reduction.frequencies = std::move(modes->frequencies);
  model.reduction.reference.assign(reference.begin(), reference.end());
  return true;
}

}  // namespace panto::erls
