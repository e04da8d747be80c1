#include "panto/reduction/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "panto/elements/beam.hpp"

namespace panto {
namespace {

using Triplet = Eigen::Triplet<double, Eigen::Index>;

// Sums element matrices into sparse ones.
class Assembly {
 public:
  explicit Assembly(LinearSystem& system) : system_(system) {}
  template <class Matrix>
  void add(const std::vector<int>& dofs, const Matrix& m, const Matrix& k) {
    for (size_t i = 0; i < dofs.size(); ++i)
      for (size_t j = 0; j < dofs.size(); ++j) {
        const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
        if (m(r, c) != 0) m_.emplace_back(dofs[i], dofs[j], m(r, c));
        if (k(r, c) != 0) k_.emplace_back(dofs[i], dofs[j], k(r, c));
      }
  }
  void finish() {
    const auto n = static_cast<Eigen::Index>(system_.dofs.size());
    system_.M.resize(n, n);
    system_.K.resize(n, n);
    system_.M.setFromTriplets(m_.begin(), m_.end());
    system_.K.setFromTriplets(k_.begin(), k_.end());
  }

 private:
  LinearSystem& system_;
  std::vector<Triplet> m_, k_;
};

bool ascending(const std::vector<double>& x) {
  return x.size() >= 2 && std::adjacent_find(x.begin(), x.end(), [](double a, double b) {
                            return !(a < b);
                          }) == x.end();
}

bool elastic(const ElasticMaterial& m) {
  return m.youngs_modulus > 0 && m.density > 0 && m.poisson > -1 && m.poisson < 0.5;
}

Diagnostics refused(const std::string& why) {
  Diagnostics out;
  out.error(910, {}, why);
  return out;
}

constexpr double kSamePlane = 1e-9;  // of the length of a prism: round-off of equal steps

// Motions found are mixtures of those measured, with an error of their own.
constexpr double kMixed = 4;

// ε of RED-15: what motions without strain cost in K all the same. Elements of one shape have the same round-off, which adds up.
double round_off_of(const SparseMatrix& k, const Eigen::MatrixXd& rigid) {
  double out = std::numeric_limits<double>::epsilon();
  for (Eigen::Index i = 0; i < rigid.cols(); ++i) {
    const Eigen::VectorXd x = rigid.col(i);
    const double scale = energy_scale(k, x);
    if (scale > 0) out = std::max(out, kMixed * std::abs(x.dot(k * x)) / scale);
  }
  return out;
}

// Rigid motions of nodes with D displacements each: along the axes, and about them at the middle of the body.
template <int D>
Eigen::MatrixXd rigid_motions(const std::vector<Eigen::Vector<double, D>>& places) {
  constexpr int kTurns = D * (D - 1) / 2;
  Eigen::Vector<double, D> low = places.front(), high = low;
  for (const auto& p : places) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Eigen::Vector<double, D> middle = 0.5 * (low + high);
  Eigen::MatrixXd out =
      Eigen::MatrixXd::Zero(D * static_cast<Eigen::Index>(places.size()), D + kTurns);
  for (size_t n = 0; n < places.size(); ++n) {
    const Eigen::Index row = D * static_cast<Eigen::Index>(n);
    const Eigen::Vector<double, D> at = places[n] - middle;
    Eigen::Index turn = D;
    for (int a = 0; a < D; ++a) {
      out(row + a, a) = 1;
      for (int b = a + 1; b < D; ++b, ++turn) {
        out(row + a, turn) = -at(b);
        out(row + b, turn) = at(a);
      }
    }
  }
  return out;
}

std::vector<int> dofs_of(const std::vector<int>& nodes, int per_node) {
  std::vector<int> out;
  for (const int node : nodes)
    for (int d = 0; d < per_node; ++d) out.push_back(per_node * node + d);
  return out;
}

}  // namespace

std::vector<double> equal_steps(double from, double to, int steps) {
  std::vector<double> out;
  for (int i = 0; i <= steps; ++i) out.push_back(from + (to - from) * i / steps);
  return out;
}

Result<LinearSystem> plate(const Plate& p) {
  if (!ascending(p.x) || !ascending(p.y))
    return refused("plate: the lines of a mesh ascend, and there are at least two each way");
  if (!elastic(p.material) || !(p.thickness > 0))
    return refused("plate: modulus, density and thickness are positive, -1 < nu < 0.5");
  for (const PlateSlot& s : p.slots) {
    if (!(s.x_from < s.x_to && s.y_from < s.y_to))
      return refused("plate: the sides of a slot ascend, x = [from, to] and y = [from, to]");
    const auto between = [](const std::vector<double>& lines, double from, double to) {
      for (size_t i = 0; i + 1 < lines.size(); ++i)
        if (const double middle = 0.5 * (lines[i] + lines[i + 1]); middle > from && middle < to)
          return true;
      return false;
    };
    if (!between(p.x, s.x_from, s.x_to) || !between(p.y, s.y_from, s.y_to))
      return refused(
          fmt::format("plate: the slot x = [{}, {}], y = [{}, {}] contains the middle of no "
                      "element: put lines of the mesh along its sides",
                      s.x_from, s.x_to, s.y_from, s.y_to));
  }
  const auto nx = static_cast<int>(p.x.size()), ny = static_cast<int>(p.y.size());
  const auto solid = [&](int i, int j) {
    const double x = 0.5 * (p.x[static_cast<size_t>(i)] + p.x[static_cast<size_t>(i) + 1]),
                 y = 0.5 * (p.y[static_cast<size_t>(j)] + p.y[static_cast<size_t>(j) + 1]);
    return std::none_of(p.slots.begin(), p.slots.end(), [&](const PlateSlot& s) {
      return x > s.x_from && x < s.x_to && y > s.y_from && y < s.y_to;
    });
  };
  std::vector<int> number(static_cast<size_t>(nx) * static_cast<size_t>(ny), -1);
  const auto at = [&](int i, int j) -> int& { return number[static_cast<size_t>(j * nx + i)]; };
  constexpr std::array<std::array<int, 2>, 4> kRound{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i)
      if (solid(i, j))
        for (const auto& c : kRound) at(i + c[0], j + c[1]) = 0;
  LinearSystem out;
  out.name = "plate";
  std::array<std::vector<int>, 4> sides;
  std::vector<Eigen::Vector2d> place;
  int nodes = 0;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      if (at(i, j) < 0) continue;
      at(i, j) = nodes++;
      place.emplace_back(p.x[static_cast<size_t>(i)], p.y[static_cast<size_t>(j)]);
      out.dofs.push_back(fmt::format("n{}.x", nodes));
      out.dofs.push_back(fmt::format("n{}.y", nodes));
      if (i == 0) sides[0].push_back(nodes - 1);
      if (i == nx - 1) sides[1].push_back(nodes - 1);
      if (j == 0) sides[2].push_back(nodes - 1);
      if (j == ny - 1) sides[3].push_back(nodes - 1);
    }
  if (nodes == 0) return refused("plate: the slots leave nothing of it");
  Assembly assembly(out);
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i) {
      if (!solid(i, j)) continue;
      Eigen::Matrix<double, 4, 2> corners;
      std::vector<int> node;
      for (int c = 0; c < 4; ++c) {
        const int u = i + kRound[static_cast<size_t>(c)][0],
                  v = j + kRound[static_cast<size_t>(c)][1];
        corners.row(c) << p.x[static_cast<size_t>(u)], p.y[static_cast<size_t>(v)];
        node.push_back(at(u, v));
      }
      const QuadMatrices e = quad_matrices(corners, p.material, p.thickness, p.state);
      assembly.add(dofs_of(node, 2), e.M, e.K);
    }
  assembly.finish();
  out.round_off = round_off_of(out.K, rigid_motions<2>(place));
  const std::array<const char*, 4> names{"x_min", "x_max", "y_min", "y_max"};
  for (size_t k = 0; k < 4; ++k) out.sets.push_back({names[k], dofs_of(sides[k], 2)});
  return out;
}

Result<LinearSystem> prism(const Prism& p) {
  if (p.sections.size() < 2 || !ascending(p.z) || p.across_x < 1 || p.across_y < 1)
    return refused(
        "prism: at least two sections, two mesh planes that ascend and one element each way");
  for (size_t i = 0; i < p.sections.size(); ++i)
    if (!(p.sections[i].width > 0 && p.sections[i].height > 0) ||
        (i > 0 && !(p.sections[i].z > p.sections[i - 1].z)))
      return refused("prism: sections have positive width and height and ascend in z");
  if (!elastic(p.material))
    return refused("prism: modulus and density are positive, -1 < nu < 0.5");
  // The mesh has the sections at its planes alone: others bend its sides between them, or do nothing.
  Diagnostics notes;
  const double same = kSamePlane * (p.z.back() - p.z.front());
  for (size_t i = 0; i < p.sections.size(); ++i) {
    const double z = p.sections[i].z;
    const auto next = std::upper_bound(p.z.begin(), p.z.end(), z + same);
    const bool begun = next != p.z.begin();
    if (begun && z - *(next - 1) <= same) continue;
    const bool missed = i > 0 && i + 1 < p.sections.size() && begun && next != p.z.end() &&
                        p.sections[i - 1].z >= *(next - 1) - same &&
                        p.sections[i + 1].z <= *next + same;
    const std::string which = fmt::format("prism: the section at z = {} is on no plane", z);
    if (missed)
      return refused(which +
                     " of the mesh, nor is one between its neighbours: it changes nothing; take "
                     "more elements along z");
    notes.warning(922, {},
                  which +
                      " of the mesh, whose sides are straight from plane to plane: take "
                      "elements along z that begin and end there");
  }
  const int nx = p.across_x + 1, ny = p.across_y + 1;
  const auto nz = static_cast<int>(p.z.size());
  const auto section_at = [&](double z) {
    size_t k = 1;
    while (k + 1 < p.sections.size() && p.sections[k].z < z) ++k;
    const PrismSection &a = p.sections[k - 1], &b = p.sections[k];
    const double t = std::clamp((z - a.z) / (b.z - a.z), 0.0, 1.0);
    return std::array{a.width + t * (b.width - a.width), a.height + t * (b.height - a.height)};
  };
  LinearSystem out;
  out.name = "prism";
  std::vector<Eigen::Vector3d> place;
  for (int k = 0; k < nz; ++k) {
    const double z = p.z[static_cast<size_t>(k)];
    const auto [width, height] = section_at(z);
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        place.emplace_back(width * (static_cast<double>(i) / p.across_x - 0.5),
                           height * (static_cast<double>(j) / p.across_y - 0.5), z);
        for (const char axis : {'x', 'y', 'z'})
          out.dofs.push_back(fmt::format("n{}.{}", place.size(), axis));
      }
  }
  Assembly assembly(out);
  for (int k = 0; k + 1 < nz; ++k)
    for (int j = 0; j + 1 < ny; ++j)
      for (int i = 0; i + 1 < nx; ++i) {
        const int n = (k * ny + j) * nx + i, up = nx * ny;
        const std::vector<int> node{n,      n + 1,      n + nx + 1,      n + nx,
                                    n + up, n + up + 1, n + up + nx + 1, n + up + nx};
        Eigen::Matrix<double, 8, 3> corners;
        for (int c = 0; c < 8; ++c)
          corners.row(c) = place[static_cast<size_t>(node[static_cast<size_t>(c)])];
        const BrickMatrices e = brick_matrices(corners, p.material);
        assembly.add(dofs_of(node, 3), e.M, e.K);
      }
  assembly.finish();
  out.round_off = round_off_of(out.K, rigid_motions<3>(place));
  std::vector<int> low, high;
  for (int n = 0; n < nx * ny; ++n) {
    low.push_back(n);
    high.push_back((nz - 1) * nx * ny + n);
  }
  out.sets = {{"z_min", dofs_of(low, 3)}, {"z_max", dofs_of(high, 3)}};
  return {std::move(out), std::move(notes)};
}

Result<LinearSystem> beam_frame(const BeamFrame& f, const std::string& name) {
  Diagnostics wrong;
  LinearSystem out;
  out.name = name;
  Assembly assembly(out);
  std::map<std::string, int> place;  // of heights y
  std::set<std::string> names{"ground"};
  const auto name_once = [&](const char* what, const std::string& given) {
    if (given.empty() || !names.insert(given).second)
      wrong.error(910, {},
                  fmt::format("{} \"{}\": each needs a name of its own, other than \"ground\"",
                              what, given));
  };
  for (const FrameBeam& b : f.beams) {
    name_once("beam", b.name);
    if (!ascending(b.x) || !(b.mass_per_length > 0) || !(b.bending_stiffness > 0)) {
      wrong.error(
          910, {},
          fmt::format("beam \"{}\": nodes ascend, mass per length and bending stiffness are "
                      "positive",
                      b.name));
      continue;
    }
    const auto first = static_cast<int>(out.dofs.size());
    for (size_t i = 0; i < b.x.size(); ++i) {
      const std::string node = fmt::format("{}.{}", b.name, i + 1);
      place[node] = static_cast<int>(out.dofs.size());
      out.dofs.push_back(node + ".y");
      out.dofs.push_back(node + ".r");
      if (i == 0) continue;
      // Bending alone: the axial rows of the plane beam are left out.
      BeamElement<double> element;
      element.L = b.x[i] - b.x[i - 1];
      element.EA = 1;
      element.EI = b.bending_stiffness;
      element.mu = b.mass_per_length;
      const std::array bending{1, 2, 4, 5};
      const BeamMatrix<double> m = mass_matrix(element), k = stiffness_matrix(element);
      const int d = first + 2 * static_cast<int>(i) - 2;
      assembly.add({d, d + 1, d + 2, d + 3}, Eigen::Matrix4d(m(bending, bending)),
                   Eigen::Matrix4d(k(bending, bending)));
    }
  }
  for (const FrameMass& m : f.masses) {
    name_once("mass", m.name);
    if (!(m.mass > 0))
      wrong.error(910, {}, fmt::format("mass \"{}\": {} kg is not positive", m.name, m.mass));
    place[m.name] = static_cast<int>(out.dofs.size());
    out.dofs.push_back(m.name + ".y");
    const Eigen::Matrix<double, 1, 1> mass(m.mass), none(0.0);
    assembly.add({place[m.name]}, mass, none);
  }
  std::vector<std::string> places{"ground"};
  for (const auto& [key, dof] : place) places.push_back(key);
  for (const FrameSpring& s : f.springs) {
    std::vector<int> ends;
    for (const std::string& end : {s.from, s.to}) {
      if (end == "ground") continue;
      const auto found = place.find(end);
      if (found == place.end())
        wrong.error(
            904, {},
            fmt::format("spring: there is no place \"{}\"{}", end, did_you_mean(end, places)));
      else
        ends.push_back(found->second);
    }
    if (!(s.stiffness > 0))
      wrong.error(910, {},
                  fmt::format("spring from \"{}\" to \"{}\": {} N/m is not positive", s.from, s.to,
                              s.stiffness));
    if (s.from == s.to)
      wrong.error(910, {},
                  fmt::format("spring: both its ends are \"{}\", it holds nothing", s.from));
    Eigen::Matrix2d k;
    k << s.stiffness, -s.stiffness, -s.stiffness, s.stiffness;
    const Eigen::Matrix2d none = Eigen::Matrix2d::Zero();
    if (ends.size() == 2) assembly.add(ends, none, k);
    if (ends.size() == 1)
      assembly.add(ends, Eigen::Matrix<double, 1, 1>(0.0),
                   Eigen::Matrix<double, 1, 1>(s.stiffness));
  }
  if (out.dofs.empty() && wrong.ok()) wrong.error(910, {}, "frame: neither beams nor masses");
  if (!wrong.ok()) return wrong;
  assembly.finish();
  return out;
}

}  // namespace panto
