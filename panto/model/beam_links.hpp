// The links of a reduced model (RER-1): which displacements of each beam are inputs of it, shared with others or masters, and which are inside, and
// the matrices of the link in its own axes after the static condensation of the inside.
//
// symbol → code
//   a = (x, η, p): static inputs in link axes, amplitudes of interior modes, modal part of pins that turn with another link → n = nx + modes + 2 foreign
//   d = E a all nodal displacements of the link → E
//   EᵀME, EᵀM_tE (no rotary inertia), EᵀGE → M, Mt, G;  static stiffness of the inputs → k;  of a, less what sums to zero over the links → K
//   EᵀM t_x, EᵀM t_y, EᵀM r, EᵀM_t r_x → Sx, Sy, h, s1   (t unit translations, r unit turn about the link's origin, r_x = node places)
#pragma once

#include <optional>

#include "panto/model/beam_constants.hpp"
#include "panto/numerics/lanes.hpp"

namespace panto::erls {

// A displacement that is an input of links: a pair along x and y, or a rotation.
struct LinkInput {
  bool pair = true;
  int at = 0;      // first component among all inputs: masters first, then slaves
  int node = 0;    // first node that has it
  int owner = -1;  // slaves: the link with which its modal part turns (of pairs)
  int axis() const { return pair ? 0 : 2; }
};

struct LinkLayout {
  int beam = 0, body = 0;  // body: Kinematics index
  int first_node = 0, nodes = 0;
  struct Part {         // an input
    int input = 0;      // into ReducedLayout::inputs
    int at = 0;         // first component in a
    int component = 0;  // and among all inputs
    bool pair = true, slave = false;
    int column = -1;  // of masters: first place among those of the link's cluster
  };
  struct Foreign {  // a pair of slaves whose modal part turns with another link
    int at = 0;     // in a
    int slave = 0;  // component, counted from the first slave
    int owner = 0;  // link
  };
  std::vector<Part> parts;
  std::vector<Foreign> foreign;
  std::vector<int> local;  // 3 node + axis -> component of a, -1 held, -2 - k inside k
  std::vector<int> path;   // speeds of joints that move the link
  int nx = 0, inside = 0, n = 0;
  int cluster = -1;
};

// Slaves among the inputs that links couple with each other but not with those of other clusters.
struct Cluster {
  int first = 0, size = 0;  // components of slaves, counted from the first slave
  std::vector<int> links;
  std::vector<int> masters;  // components that its links have
};

struct ReducedLayout {
  explicit ReducedLayout(const Model& model);
  bool active = false;
  std::vector<LinkInput> inputs;
  std::vector<LinkLayout> links;
  std::vector<Cluster> clusters;
  std::vector<int> master_dof;  // speed of each component of a master
  int joints = 0, masters = 0, slaves = 0, modes = 0;
  int first_mode = -1;  // speed
  [[nodiscard]] int components() const { return masters + slaves; }
};

template <class P>
struct LinkMatrices {
  int nx = 0, n = 0, ld = 0, ldx = 0;  // ld, ldx: n, nx padded (lanes.hpp)
  std::vector<P> M, Mt, G, K, C;       // n columns of ld
  std::vector<P> k;                    // nx columns of ldx
  std::vector<P> Sx, Sy, h, s1;        // ld
  std::vector<P> E;                    // 3 nodes rows of n
  P mass{0.0}, moment{0.0},
      inertia{0.0};  // of the undeformed link about its origin; moment: first one, along x
  bool damped = false;
};

template <class P>
struct ReducedConstants {
  std::vector<LinkMatrices<P>> links;
  std::vector<double>
      shared;  // slaves x modes, by rows: modal part of shared displacements, axes of the owner's link
};

// Interior modes with the links of the beams at given angles (RER-2), of all displacements that are no coordinates.
struct InteriorModes {
  Eigen::MatrixXd shapes;           // kept ones, as Reduction::shapes
  Eigen::MatrixXd phi;              // the same in ground axes, by slave displacement
  Eigen::MatrixXd mass;             // M_ss there
  std::vector<double> frequencies;  // of all [Hz]
};
// Of the constants c. `before`: kept modes as they were, ground axes; those that are most like them are then kept, in their order and sense; otherwise
// those that the model's reduction counts. Nothing, when the slaves can move without strain or without inertia, or a kept mode does not exist.
[[nodiscard]] std::optional<InteriorModes> interior_modes(const Model& model,
                                                          const BeamConstants<double>& c,
                                                          std::span<const double> reference,
                                                          const Eigen::MatrixXd* before = nullptr);
// Shapes in link axes to ground axes, by slave displacement, with the links at these angles: Ψ of (5.48).
[[nodiscard]] Eigen::MatrixXd turned_shapes(const Model& model, const Eigen::MatrixXd& shapes,
                                            std::span<const double> angles);

// Makes the interior modes at the nominal parameters, with the links of the beams at these angles, the basis of the model. False, with the model as before,
// when there are none.
[[nodiscard]] bool renew_basis(Model& model, std::span<const double> reference);

// Nodal matrices of one beam with its lumped masses, link axes, 3 nodes rows.
template <class P>
struct NodalMatrices {
  int n = 0;
  std::vector<P> M, Mt, G, K;
  explicit NodalMatrices(int size)
      : n(size), M(static_cast<size_t>(size * size), P(0.0)), Mt(M), G(M), K(M) {}
};

template <class P>
NodalMatrices<P> nodal_matrices(const LinkLayout& l, const BeamConstants<P>& c) {
  NodalMatrices<P> out(3 * l.nodes);
  const auto at = [&](int i, int j) { return static_cast<size_t>(j * out.n + i); };
  for (const ElementConstants<P>& e : c.elements) {
    if (e.node_a < l.first_node || e.node_a >= l.first_node + l.nodes) continue;
    const int base = 3 * (e.node_a - l.first_node);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        out.M[at(base + i, base + j)] += e.matrices.M(i, j);
        out.Mt[at(base + i, base + j)] += e.matrices.M_translation(i, j);
        out.G[at(base + i, base + j)] += e.matrices.G(i, j);
        out.K[at(base + i, base + j)] += e.matrices.K(i, j);
      }
  }
  for (int i = 0; i < l.nodes; ++i) {
    const NodeConstants<P>& n = c.nodes[static_cast<size_t>(l.first_node + i)];
    for (int k = 0; k < 2; ++k) {
      out.M[at(3 * i + k, 3 * i + k)] += n.mass;
      out.Mt[at(3 * i + k, 3 * i + k)] += n.mass;
    }
    out.M[at(3 * i + 2, 3 * i + 2)] += n.inertia;
    out.G[at(3 * i, 3 * i + 1)] -= n.mass;
    out.G[at(3 * i + 1, 3 * i)] += n.mass;
  }
  return out;
}

// X of A X = B, A symmetric and definite (of complex and dual numbers: its real part), both by columns; columns of B become X.
template <class P>
void solve_definite(int n, std::vector<P>& a, int columns, std::vector<P>& b) {
  const auto at = [n](int i, int j) { return static_cast<size_t>(j * n + i); };
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) {
      const P f = a[at(i, j)] / a[at(j, j)];
      for (int k = j; k < n; ++k) a[at(i, k)] -= f * a[at(j, k)];
      for (int c = 0; c < columns; ++c) b[at(i, c)] -= f * b[at(j, c)];
    }
  for (int c = 0; c < columns; ++c)
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) b[at(i, c)] -= a[at(i, k)] * b[at(k, c)];
      b[at(i, c)] = b[at(i, c)] / a[at(i, i)];
    }
}

// −K_ii⁻¹ K_ix by columns of inputs, rows of the inside: static response of the inside.
template <class P>
std::vector<P> static_response(const LinkLayout& l, const NodalMatrices<P>& m) {
  const auto ni = static_cast<size_t>(l.inside), nx = static_cast<size_t>(l.nx);
  std::vector<P> kii(ni * ni, P(0.0)), kix(ni * nx, P(0.0));
  for (int i = 0; i < m.n; ++i) {
    const int row = -2 - l.local[static_cast<size_t>(i)];
    if (row < 0) continue;
    for (int j = 0; j < m.n; ++j) {
      const int to = l.local[static_cast<size_t>(j)];
      const P& k = m.K[static_cast<size_t>(j * m.n + i)];
      if (to >= 0) kix[static_cast<size_t>(to) * ni + static_cast<size_t>(row)] -= k;
      if (to <= -2) kii[static_cast<size_t>(-2 - to) * ni + static_cast<size_t>(row)] += k;
    }
  }
  solve_definite(l.inside, kii, l.nx, kix);
  return kix;
}

// shapes: as Reduction::shapes.
template <class P>
LinkMatrices<P> link_matrices(const Model& model, const ReducedLayout& layout, const LinkLayout& l,
                              const BeamConstants<P>& c, const Eigen::MatrixXd& shapes) {
  const NodalMatrices<P> nodal = nodal_matrices(l, c);
  const std::vector<P> response = static_response(l, nodal);
  const int nn = nodal.n, n = l.n;
  const auto un = static_cast<size_t>(n);
  LinkMatrices<P> out;
  out.nx = l.nx;
  out.n = n;
  out.ld = lanes::padded(n);
  out.ldx = lanes::padded(l.nx);
  std::vector<P> e(static_cast<size_t>(nn) * un, P(0.0));  // rows nodal, by columns
  const auto at = [nn](int i, int j) { return static_cast<size_t>(j * nn + i); };
  for (int i = 0; i < nn; ++i) {
    const int to = l.local[static_cast<size_t>(i)];
    if (to == -1) continue;
    bool slave = to <= -2, foreign = false;
    if (to >= 0) e[at(i, to)] = P(1.0);
    for (const LinkLayout::Part& p : l.parts) {
      if (to < p.at || to > p.at + (p.pair ? 1 : 0) || !p.slave) continue;
      slave = true;
      const LinkInput& in = layout.inputs[static_cast<size_t>(p.input)];
      for (const LinkLayout::Foreign& f : l.foreign)
        if (in.at - layout.masters == f.slave) {
          foreign = true;
          e[at(i, f.at + to - p.at)] = P(1.0);
        }
    }
    for (int j = 0; j < l.nx && to <= -2; ++j)
      e[at(i, j)] = response[static_cast<size_t>(j * l.inside - 2 - to)];
    for (int j = 0; j < layout.modes && slave && !foreign; ++j)
      e[at(i, l.nx + j)] = P(shapes(3 * l.first_node + i, j));
  }
  out.E.resize(e.size());
  for (int i = 0; i < nn; ++i)
    for (int j = 0; j < n; ++j) out.E[static_cast<size_t>(i * n + j)] = e[at(i, j)];
  const auto times = [&](const std::vector<P>& a, const std::vector<P>& x, int columns) {
    std::vector<P> y(static_cast<size_t>(nn * columns), P(0.0));
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < nn; ++k)
        for (int i = 0; i < nn; ++i) y[at(i, j)] += a[at(i, k)] * x[at(k, j)];
    return y;
  };
  const auto project = [&](const std::vector<P>& y, int columns) {
    std::vector<P> r(static_cast<size_t>(out.ld * columns), P(0.0));
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < nn; ++k)
          r[static_cast<size_t>(j * out.ld + i)] += e[at(k, i)] * y[at(k, j)];
    return r;
  };
  out.M = project(times(nodal.M, e, n), n);
  out.Mt = project(times(nodal.Mt, e, n), n);
  out.G = project(times(nodal.G, e, n), n);
  out.K = project(times(nodal.K, e, n), n);
  const auto one = static_cast<size_t>(nn);
  std::vector<P> tx(one, P(0.0)), ty(tx), r(tx), rx(tx);
  for (int i = 0; i < l.nodes; ++i) {
    const P& x = c.nodes[static_cast<size_t>(l.first_node + i)].x;
    const auto b = static_cast<size_t>(3 * i);
    tx[b] = P(1.0);
    ty[b + 1] = P(1.0);
    r[b + 1] = x;
    r[b + 2] = P(1.0);
    rx[b] = x;
  }
  const auto dot = [&](const std::vector<P>& a, const std::vector<P>& b) {
    P s(0.0);
    for (size_t i = 0; i < one; ++i) s += a[i] * b[i];
    return s;
  };
  const std::vector<P> mr = times(nodal.M, r, 1), mx = times(nodal.Mt, tx, 1);
  out.Sx = project(mx, 1);
  out.Sy = project(times(nodal.Mt, ty, 1), 1);
  out.h = project(mr, 1);
  out.s1 = project(times(nodal.Mt, rx, 1), 1);
  out.mass = dot(tx, mx);
  out.moment = dot(rx, mx);
  out.inertia = dot(r, mr);
  const Beam& beam = model.beams[static_cast<size_t>(l.beam)];
  const P alpha = c.nodes[static_cast<size_t>(l.first_node)].alpha;
  P beta(0.0);
  for (const ElementConstants<P>& element : c.elements)
    if (element.node_a == l.first_node) beta = element.beta;
  out.damped = beam.alpha >= 0 || beam.beta >= 0;
  if (out.damped) {
    out.C.resize(out.M.size());
    for (size_t i = 0; i < out.C.size(); ++i) out.C[i] = alpha * out.M[i] + beta * out.K[i];
  }
  out.k.assign(static_cast<size_t>(l.nx * out.ldx), P(0.0));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      P& value = out.K[static_cast<size_t>(j * out.ld + i)];
      if (i < l.nx && j < l.nx) out.k[static_cast<size_t>(j * out.ldx + i)] = value;
      // The static displacements do no work on the modes, all links together.
      if ((i < l.nx) != (j < l.nx)) value = P(0.0);
    }
  return out;
}

// With the interior modes `shapes`, as Reduction::shapes.
template <class P>
ReducedConstants<P> bake_reduction(const Model& model, const ReducedLayout& layout,
                                   const BeamConstants<P>& c, const Eigen::MatrixXd& shapes) {
  ReducedConstants<P> out;
  const auto modes = static_cast<size_t>(layout.modes);
  for (const LinkLayout& l : layout.links)
    out.links.push_back(link_matrices(model, layout, l, c, shapes));
  out.shared.assign(static_cast<size_t>(layout.slaves) * modes, 0.0);
  for (const LinkInput& in : layout.inputs) {
    if (in.at < layout.masters) continue;
    for (int k = 0; k < (in.pair ? 2 : 1); ++k)
      for (size_t j = 0; j < modes; ++j)
        out.shared[static_cast<size_t>(in.at - layout.masters + k) * modes + j] =
            shapes(3 * in.node + in.axis() + k, static_cast<Eigen::Index>(j));
  }
  return out;
}

}  // namespace panto::erls
