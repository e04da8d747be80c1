#include "panto/model/beam_links.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

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
  // Places of components: masters, then slaves by cluster.
  for (LinkInput& in : inputs) {
    if (in.owner >= 0) continue;
    in.at = masters;
    const auto& dof = model.nodes[static_cast<size_t>(in.node)].dof;
    for (int k = 0; k < (in.pair ? 2 : 1); ++k)
      master_dof.push_back(dof[static_cast<size_t>(in.axis() + k)]);
    masters += in.pair ? 2 : 1;
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
    int cluster = -1;
    for (LinkLayout::Part& p : l.parts) {
      p.component = inputs[static_cast<size_t>(p.input)].at;
      if (p.slave) cluster = cluster_of[root(parent, p.input)];
    }
    if (cluster >= 0) clusters[static_cast<size_t>(cluster)].links.push_back(static_cast<int>(k));
  }
  for (Cluster& c : clusters) {
    for (const int k : c.links) {
      const LinkLayout& l = links[static_cast<size_t>(k)];
      c.columns.insert(c.columns.end(), l.path.begin(), l.path.end());
      for (const LinkLayout::Part& p : l.parts)
        for (int i = 0; i < (p.pair ? 2 : 1) && !p.slave; ++i)
          c.columns.push_back(joints + p.component + i);
    }
    for (int i = 0; i < modes; ++i) c.columns.push_back(joints + masters + slaves + i);
    std::sort(c.columns.begin(), c.columns.end());
    c.columns.erase(std::unique(c.columns.begin(), c.columns.end()), c.columns.end());
  }
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
  const ReducedLayout layout(model);
  int n = 0;
  for (const BeamNode& node : model.nodes)
    for (const int s : node.slave) n = std::max(n, s + 1);
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n), mass = k;
  const auto slave = [&](const LinkLayout& l, int i) {
    return model.nodes[static_cast<size_t>(l.first_node + i / 3)].slave[static_cast<size_t>(i % 3)];
  };
  // Ground axes: 2 x 2 turns of the link on the pairs.
  const auto turning = [&](const LinkLayout& l) {
    const double angle = reference[static_cast<size_t>(l.beam)];
    Eigen::MatrixXd t = Eigen::MatrixXd::Identity(3 * l.nodes, 3 * l.nodes);
    for (int i = 0; i < l.nodes; ++i)
      t.block<2, 2>(3 * i, 3 * i) << std::cos(angle), -std::sin(angle), std::sin(angle),
          std::cos(angle);
    return t;
  };
  for (const LinkLayout& l : layout.links) {
    const NodalMatrices<double> nodal = nodal_matrices(l, c);
    const Eigen::MatrixXd t = turning(l);
    const Eigen::MatrixXd kg =
        t * Eigen::Map<const Eigen::MatrixXd>(nodal.K.data(), nodal.n, nodal.n) * t.transpose();
    const Eigen::MatrixXd mg =
        t * Eigen::Map<const Eigen::MatrixXd>(nodal.M.data(), nodal.n, nodal.n) * t.transpose();
    for (int i = 0; i < nodal.n; ++i)
      for (int j = 0; j < nodal.n; ++j) {
        if (slave(l, i) < 0 || slave(l, j) < 0) continue;
        k(slave(l, i), slave(l, j)) += kg(i, j);
        mass(slave(l, i), slave(l, j)) += mg(i, j);
      }
  }
  const auto kept = static_cast<Eigen::Index>(model.reduction.modes.size());
  if (n == 0 && kept > 0) return false;
  Eigen::MatrixXd phi(n, kept);
  std::vector<double> frequencies;
  if (n > 0) {
    const std::optional<ModalPairs> pairs = symmetric_pairs(k, mass);
    if (!pairs || !(pairs->values(0) > 1e-12 * pairs->largest)) return false;
    for (Eigen::Index i = 0; i < n; ++i)
      frequencies.push_back(std::sqrt(pairs->values(i)) / (2 * std::numbers::pi));
    for (Eigen::Index i = 0; i < kept; ++i) {
      const int mode = model.reduction.modes[static_cast<size_t>(i)];
      if (mode < 1 || mode > n) return false;
      phi.col(i) = pairs->vectors.col(mode - 1);
      Eigen::Index at = 0;
      phi.col(i).cwiseAbs().maxCoeff(&at);
      if (phi(at, i) < 0) phi.col(i) *= -1;
    }
  }
  Eigen::MatrixXd shapes =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(3 * model.nodes.size()), kept);
  for (const LinkLayout& l : layout.links) {
    Eigen::MatrixXd local = Eigen::MatrixXd::Zero(3 * l.nodes, kept);
    for (int i = 0; i < 3 * l.nodes; ++i)
      if (slave(l, i) >= 0) local.row(i) = phi.row(slave(l, i));
    local = turning(l).transpose() * local;
    const std::vector<double> response = static_response(l, nodal_matrices(l, c));
    const Eigen::Map<const Eigen::MatrixXd> inside(response.data(), l.inside, l.nx);
    Eigen::MatrixXd inputs = Eigen::MatrixXd::Zero(l.nx, kept);
    for (int i = 0; i < 3 * l.nodes; ++i)
      if (l.local[static_cast<size_t>(i)] >= 0)
        inputs.row(l.local[static_cast<size_t>(i)]) = local.row(i);
    const Eigen::MatrixXd follows = inside * inputs;
    for (int i = 0; i < 3 * l.nodes; ++i) {
      const int to = l.local[static_cast<size_t>(i)];
      if (to == -1 || (to >= 0 && slave(l, i) < 0)) continue;
      shapes.row(3 * l.first_node + i) = local.row(i);
      if (to <= -2) shapes.row(3 * l.first_node + i) -= follows.row(-2 - to);
    }
  }
  model.reduction.shapes = std::move(shapes);
  model.reduction.frequencies = std::move(frequencies);
  model.reduction.reference.assign(reference.begin(), reference.end());
  return true;
}

}  // namespace panto::erls
