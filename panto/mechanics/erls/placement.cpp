#include "panto/mechanics/erls/placement.hpp"

#include <string>

#include "panto/numerics/dense.hpp"

namespace panto::erls {

namespace {

constexpr double kRankTolerance =
    1e-6;  // of S0, rotations in rad, translations in lengths of the mechanism
constexpr std::array<const char*, 3> kDisplacements{"ux", "uy", "turn"};

MutableView view(Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }
View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

struct Placed {
  int node = 0;
  size_t axis = 0;
};

int rank(const Eigen::MatrixXd& rows) {
  if (rows.size() == 0) return 0;
  MinimumNorm solver(kRankTolerance);
  solver.compute(rows);
  return solver.rank();
}

}  // namespace

bool check_placement(Workspace& workspace, double t, const Eigen::VectorXd& q, Diagnostics& out) {
  const Model& m = workspace.model();
  if (m.nodes.empty()) return true;
  const int nj = m.joint_nv();
  const double length = workspace.length();
  Eigen::VectorXd scale = Eigen::VectorXd::Ones(nj);
  for (int k = 0; k < nj; ++k)
    if (is_slide(m, k)) scale(k) = length;

  // Motions of the rigid links: what loops allow, whatever drives them.
  Eigen::MatrixXd g, loops(0, nj);
  workspace.constraint_jacobian(t, view(q), g);
  for (int i = 0; i < m.n_position_rows; ++i) {
    const ConstraintRow& r = m.rows[static_cast<size_t>(i)];
    const auto large = [&](int f) {
      return f >= 0 && m.ancf_node_of(m.frames[static_cast<size_t>(f)].node) >= 0;
    };
    if (r.target != TargetKind::kConstant || large(r.channel.frame_a) || large(r.channel.frame_b))
      continue;
    loops.conservativeResize(loops.rows() + 1, nj);
    loops.bottomRows(1) = g.row(i).head(nj);
  }
  Eigen::MatrixXd motions = Eigen::MatrixXd::Identity(nj, nj);
  if (loops.rows() > 0) {
    MinimumNorm solver(kRankTolerance);
    solver.compute(loops * scale.asDiagonal());
    motions = solver.null_space();
  }
  const auto freedom = static_cast<int>(motions.cols());

  // Rows of S: motion of a place on the rigid links along x, y and as a rotation, per motion.
  const auto row = [&](int frame, size_t axis) {
    Channel c;
    c.kind = axis == 2 ? ChannelKind::kAngularRate : ChannelKind::kPointRate;
    c.frame_a = frame;
    c.axis = static_cast<int>(axis);
    Eigen::VectorXd gradient(m.nv);
    workspace.channel(c, Order::kValue, view(q), {}, view(gradient));
    const Eigen::RowVectorXd s = gradient.head(nj).cwiseProduct(scale).transpose() * motions;
    return Eigen::RowVectorXd(axis == 2 ? s : s / length);
  };
  Eigen::MatrixXd held(0, freedom), placed(0, freedom);
  const auto append = [](Eigen::MatrixXd& to, const Eigen::RowVectorXd& r) {
    to.conservativeResize(to.rows() + 1, r.cols());
    to.bottomRows(1) = r;
  };
  for (size_t f = 0; f < m.frames.size(); ++f) {
    const int body = m.frames[f].body;
    if (body < 0 || m.bodies[static_cast<size_t>(body)].solids.empty()) continue;
    for (size_t axis = 0; axis < 3; ++axis) append(held, row(static_cast<int>(f), axis));
  }
  std::vector<Placed> list;
  for (size_t n = 0; n < m.nodes.size(); ++n)
    for (size_t axis = 0; axis < 3; ++axis) {
      const BeamNode& node = m.nodes[n];
      if (node.hold[axis] == NodeHold::kFree) continue;
      const Eigen::RowVectorXd r = row(node.frame, axis);
      if (node.hold[axis] == NodeHold::kPinned) {
        append(held, r);
        continue;
      }
      bool shared = false;  // two beams have one displacement there
      for (size_t k = 0; k < list.size(); ++k)
        shared = shared || (axis < 2 && list[k].axis == axis &&
                            (placed.row(static_cast<Eigen::Index>(k)) - r).norm() < 1e-12);
      if (shared) continue;
      append(placed, r);
      list.push_back({static_cast<int>(n), axis});
    }
  const auto beam_at = [&](int node) -> const Beam& {
    return m.beams[static_cast<size_t>(m.nodes[static_cast<size_t>(node)].beam)];
  };
  const int known = rank(held), missing = freedom - known;
  const auto count = static_cast<int>(list.size());
  if (count != missing) {
    const Beam* b = count > missing ? &beam_at(list.back().node) : &m.beams.front();
    for (const Beam& candidate : m.beams) {
      bool has_one = false;
      for (const Placed& p : list) has_one = has_one || &beam_at(p.node) == &candidate;
      if (count < missing && !has_one) b = &candidate;
    }
    out.error(
        519, b->loc,
        "body \"" + b->name + "\": " + std::to_string(count) +
            " displacements of beams are zeroed, but the rigid links have " +
            std::to_string(missing) + " degrees of freedom to place" +
            (count < missing ? "; list one more in \"zeroed\" of a beam, its rotation at a joint "
                               "(\"n1.turn\") say"
                             : "; list fewer in \"zeroed\" of its beam"));
    return false;
  }
  Eigen::MatrixXd all = held;
  for (size_t k = 0; k < list.size(); ++k) {
    append(all, placed.row(static_cast<Eigen::Index>(k)));
    if (rank(all) == known + static_cast<int>(k) + 1) continue;
    const BeamNode& node = m.nodes[static_cast<size_t>(list[k].node)];
    const Beam& b = beam_at(list[k].node);
    out.error(520, b.loc,
              "body \"" + b.name + "\": in this pose zeroing \"" +
                  node.name.substr(b.name.size() + 1) + "." + kDisplacements[list[k].axis] +
                  "\" does not place its rigid link, as the others that are zeroed already tell "
                  "this motion; list another displacement in \"zeroed\"");
    return false;
  }
  return true;
}

}  // namespace panto::erls
