#include "panto/mechanics/rigid/structure.hpp"

#include <algorithm>

namespace panto::rigid {

namespace {

using Set = std::vector<int>;  // ascending

Set unite(const Set& a, const Set& b) {
  Set s;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(s));
  return s;
}

Set symmetric_difference(const Set& a, const Set& b) {
  Set s;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(s));
  return s;
}

int body_of_frame(const Model& m, int frame) {
  return frame < 0 ? kGround : m.frames[static_cast<size_t>(frame)].body;
}

class Paths {
 public:
  explicit Paths(const Model& m) : model_(m) {
    for (size_t i = 0; i < m.joints.size(); ++i) {
      const Joint& j = m.joints[i];
      Set p = j.parent == kGround ? Set{} : of_body_[static_cast<size_t>(j.parent)];
      for (int k = 0; k < j.nv; ++k) p.push_back(j.v + k);
      std::sort(p.begin(), p.end());
      of_body_.push_back(std::move(p));
    }
  }
  [[nodiscard]] Set body(int b) const {
    return b == kGround ? Set{} : of_body_[static_cast<size_t>(b)];
  }
  [[nodiscard]] Set frame(int f) const {
    const int node = f < 0 ? -1 : model_.frames[static_cast<size_t>(f)].node;
    return node >= 0 ? carrier(node) : body(body_of_frame(model_, f));
  }
  [[nodiscard]] Set carrier(int c) const {
    const int ancf = model_.ancf_node_of(c);
    if (ancf < 0) return node(c);
    const AncfNode& n = model_.ancf_nodes[static_cast<size_t>(ancf)];
    const bool shear = model_.beams[static_cast<size_t>(n.beam)].kind == BeamKind::kAncfShear;
    const bool along_axis = c == model_.axis_carrier(ancf) || !shear;
    Set s;
    for (const auto& dofs : {n.place, along_axis ? n.axis : n.section})
      for (int dof : dofs)
        if (dof >= 0) s.push_back(dof);
    std::sort(s.begin(), s.end());
    return s;
  }
  [[nodiscard]] Set ancf_element(int node) const {
    Set s;
    for (int n = node; n < node + 2; ++n)
      s = unite(s, unite(carrier(model_.section_carrier(n)), carrier(model_.axis_carrier(n))));
    return s;
  }
  // Of a beam: the joints that carry its link and its displacements.
  [[nodiscard]] Set node(int n) const {
    if (model_.reduction.active()) return reduced();
    const BeamNode& node = model_.nodes[static_cast<size_t>(n)];
    Set s = body(model_.beams[static_cast<size_t>(node.beam)].body);
    for (int dof : node.dof)
      if (dof >= 0) s.push_back(dof);
    std::sort(s.begin(), s.end());
    return s;
  }
  // Of a reduced model all beams together: shared displacements depend on all links.
  [[nodiscard]] Set reduced() const {
    Set s;
    for (const Beam& b : model_.beams)
      if (!b.ancf()) s = unite(s, body(b.body));
    const int end = model_.reduction.first_mode + static_cast<int>(model_.reduction.modes.size());
    for (int dof = model_.joint_nv(); dof < end; ++dof) s.push_back(dof);
    return s;
  }
  [[nodiscard]] Set element(int e) const {
    const int n = model_.elements[static_cast<size_t>(e)].node;
    return unite(node(n), node(n + 1));
  }

  // All speeds a channel's value or gradient depends on.
  [[nodiscard]] Set channel(const Channel& c) const {
    switch (c.kind) {
      case ChannelKind::kCoordinate:
        return {c.dof};
      case ChannelKind::kSum: {
        Set s;
        for (int k = c.first_term; k < c.first_term + c.terms; ++k)
          s.push_back(model_.terms[static_cast<size_t>(k)].dof);
        std::sort(s.begin(), s.end());
        s.erase(std::unique(s.begin(), s.end()), s.end());
        return s;
      }
      case ChannelKind::kCurvature:
      case ChannelKind::kStrain:
        return element(c.element);
      default:
        return unite(frame(c.frame_a), frame(c.frame_b));
    }
  }
  // Speeds with a non-zero entry in the channel's gradient: what two bodies share cancels in relative channels, but not on nodes of beams, whose
  // displacements do not turn with them.
  [[nodiscard]] Set gradient(const Channel& c) const {
    switch (c.kind) {
      case ChannelKind::kCoordinate:
      case ChannelKind::kSum:
        return channel(c);
      case ChannelKind::kPointRate:
      case ChannelKind::kAngularRate:
        return frame(c.frame_a);
      case ChannelKind::kGap:
      case ChannelKind::kCurvature:
      case ChannelKind::kStrain:
        return channel(c);
      default:
        if (follows_node(model_, c)) return channel(c);
        return symmetric_difference(frame(c.frame_a), frame(c.frame_b));
    }
  }

 private:
  const Model& model_;
  std::vector<Set> of_body_;
};

// Greedy colouring: two speeds that meet in one equation get different colours.
int colour_columns(int n, const std::vector<const std::vector<Set>*>& equations,
                   std::vector<int>& colour) {
  std::vector<Set> rows_of(static_cast<size_t>(n));
  std::vector<const Set*> rows;
  for (const auto* group : equations)
    for (const Set& s : *group) {
      for (int d : s) rows_of[static_cast<size_t>(d)].push_back(static_cast<int>(rows.size()));
      rows.push_back(&s);
    }
  colour.assign(static_cast<size_t>(n), -1);
  int count = 0;
  std::vector<int> used;
  for (int d = 0; d < n; ++d) {
    used.assign(static_cast<size_t>(count), 0);
    for (int r : rows_of[static_cast<size_t>(d)])
      for (int other : *rows[static_cast<size_t>(r)])
        if (colour[static_cast<size_t>(other)] >= 0)
          used[static_cast<size_t>(colour[static_cast<size_t>(other)])] = 1;
    int c = 0;
    while (c < count && used[static_cast<size_t>(c)]) ++c;
    colour[static_cast<size_t>(d)] = c;
    count = std::max(count, c + 1);
  }
  return count;
}

}  // namespace

bool follows_node(const Model& m, const Channel& c) {
  const auto follows = [&](int f) { return f >= 0 && m.frames[static_cast<size_t>(f)].node >= 0; };
  return follows(c.frame_a) || follows(c.frame_b);
}

bool starts_coincidence(const Model& m, int row) {
  const int dim = m.space == SpaceKind::kPlanar ? 2 : 3;
  if (row + dim > m.n_rows()) return false;
  const Channel& first = m.rows[static_cast<size_t>(row)].channel;
  for (int k = 0; k < dim; ++k) {
    const ConstraintRow& r = m.rows[static_cast<size_t>(row + k)];
    if (r.level != Level::kPosition || r.target != TargetKind::kConstant || r.constant >= 0 ||
        r.channel.kind != ChannelKind::kGap || r.channel.axis != k || follows_node(m, r.channel) ||
        r.channel.frame_a != first.frame_a || r.channel.frame_b != first.frame_b)
      return false;
  }
  return true;
}

Structure::Structure(const Model& m) {
  const auto nv = static_cast<size_t>(m.nv);
  dof_joint.resize(nv);
  dof_parent.assign(nv, -1);
  for (size_t i = 0; i < m.joints.size(); ++i) {
    const Joint& j = m.joints[i];
    int above = -1;
    for (int p = j.parent; p != kGround; p = m.joints[static_cast<size_t>(p)].parent) {
      const Joint& up = m.joints[static_cast<size_t>(p)];
      if (up.nv > 0) {
        above = up.v + up.nv - 1;
        break;
      }
    }
    for (int k = 0; k < j.nv; ++k) {
      dof_joint[static_cast<size_t>(j.v + k)] = static_cast<int>(i);
      dof_parent[static_cast<size_t>(j.v + k)] = k == 0 ? above : j.v + k - 1;
    }
  }
  mass_start.push_back(0);
  for (int j = 0; j < m.joint_nv(); ++j) {
    int count = 0;
    for (int k = j; k >= 0; k = dof_parent[static_cast<size_t>(k)]) ++count;
    mass_start.push_back(mass_start.back() + count);
  }

  const Paths paths(m);
  g_pattern.columns = m.nv;
  for (const ConstraintRow& row : m.rows) {
    row_dofs.push_back(paths.gradient(row.channel));
    for (int d : row_dofs.back()) g_pattern.column.push_back(d);
    g_pattern.start.push_back(static_cast<int>(g_pattern.column.size()));
  }
  g_pattern.value.assign(g_pattern.column.size(), 0.0);

  const int dim = m.space == SpaceKind::kPlanar ? 2 : 3;
  for (int i = 0; i < m.n_rows();) {
    if (!starts_coincidence(m, i)) {
      single_rows.push_back(static_cast<size_t>(i++));
      continue;
    }
    Coincidence c;
    c.row = i;
    c.frame_a = m.rows[static_cast<size_t>(i)].channel.frame_a;
    c.frame_b = m.rows[static_cast<size_t>(i)].channel.frame_b;
    const Set a = paths.frame(c.frame_a);
    const int begin = g_pattern.start[static_cast<size_t>(i)];
    for (int k = begin; k < g_pattern.start[static_cast<size_t>(i) + 1]; ++k) {
      const int dof = g_pattern.column[static_cast<size_t>(k)];
      const Coincidence::Entry entry{dof, dof_joint[static_cast<size_t>(dof)] + 1, k - begin};
      (std::binary_search(a.begin(), a.end(), dof) ? c.on_a : c.on_b).push_back(entry);
    }
    coincidences.push_back(std::move(c));
    i += dim;
  }

  // Equation r_i feels every clique (body path, element) that contains speed i.
  std::vector<Set> cliques;
  cliques.reserve(m.bodies.size() + m.rows.size() + m.forces.size() + m.actuators.size());
  for (int b = 0; b < m.n_bodies(); ++b) cliques.push_back(paths.body(b));
  for (int e = 0; e < static_cast<int>(m.elements.size()); ++e) cliques.push_back(paths.element(e));
  for (int n = 0; n < static_cast<int>(m.ancf_nodes.size()); ++n)
    cliques.push_back(paths.carrier(m.section_carrier(n)));  // lumped masses
  for (const ConstraintRow& row : m.rows) cliques.push_back(paths.channel(row.channel));
  for (const ForceElement& f : m.forces) cliques.push_back(paths.channel(f.channel));
  for (const Actuator& a : m.actuators) cliques.push_back(paths.channel(a.channel));
  state_dofs.resize(nv);
  const auto couple = [](const Set& c, std::vector<Set>& dofs) {
    for (int i : c) dofs[static_cast<size_t>(i)] = unite(dofs[static_cast<size_t>(i)], c);
  };
  for (const Set& c : cliques) couple(c, state_dofs);
  r_dofs = state_dofs;
  for (const BeamSpan& e : m.ancf_elements) couple(paths.ancf_element(e.node), r_dofs);
  std::vector<Set> phi_dofs;
  for (const ConstraintRow& row : m.rows) phi_dofs.push_back(paths.channel(row.channel));
  row_dofs = phi_dofs;
  Set all(nv);
  for (size_t i = 0; i < nv; ++i) all[i] = static_cast<int>(i);
  for (const Output& o : m.outputs) {
    switch (o.kind) {
      case OutputKind::kChannel:
        y_dofs.push_back(paths.channel(o.channel));
        break;
      case OutputKind::kForceElement:
        y_dofs.push_back(paths.channel(m.forces[static_cast<size_t>(o.index)].channel));
        break;
      case OutputKind::kMultiplier:
      case OutputKind::kInput:
        y_dofs.emplace_back();
        break;
      case OutputKind::kKinetic:
      case OutputKind::kPotential:
        y_dofs.push_back(all);
        break;
    }
  }
  colours = colour_columns(m.nv, {&r_dofs, &phi_dofs}, colour);
  state_colours = colour_columns(m.nv, {&state_dofs, &phi_dofs}, state_colour);
  state_colours_with_outputs =
      colour_columns(m.nv, {&state_dofs, &phi_dofs, &y_dofs}, state_colour_with_outputs);
}

}  // namespace panto::rigid
