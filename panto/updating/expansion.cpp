#include "panto/updating/expansion.hpp"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/elements/hermite.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {

namespace {

int beam_of(const Model& model, int body) {
  for (size_t i = 0; i < model.beams.size(); ++i)
    if (model.beams[i].body == body) return static_cast<int>(i);
  return -1;
}

// ∂p/∂δq of a frame's origin, one row per ground axis; of the section it follows, or of the rigid link.
Eigen::MatrixXd frame_rows(Workspace& workspace, View q, int frame) {
  const Model& model = workspace.model();
  const int axes = model.space == SpaceKind::kPlanar ? 2 : 3;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, model.nv);
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(model.nv);
  for (int axis = 0; axis < axes; ++axis) {
    Channel c;
    c.kind = ChannelKind::kPoint;
    c.frame_a = frame;
    c.axis = axis;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(model.nv);
    workspace.channel(c, Order::kValue, q, view(rest), view(gradient));
    rows.row(axis) = gradient;
  }
  return rows;
}

Eigen::RowVectorXd turn_row(Workspace& workspace, View q, int frame) {
  const Model& model = workspace.model();
  Channel c;
  c.kind = ChannelKind::kAngle;
  c.frame_a = frame;
  c.angular = true;
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(model.nv);
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(model.nv);
  workspace.channel(c, Order::kValue, q, view(rest), view(gradient));
  return gradient.transpose();
}

// Axis of a beam's link in the ground, and its normal.
struct LinkAxes {
  Eigen::Vector3d along, across;
};
LinkAxes axes_of(Workspace& workspace, View q, int body) {
  const FramePose pose = workspace.body_pose(q, body);
  return {{pose.axes[0], pose.axes[1], pose.axes[2]}, {pose.axes[3], pose.axes[4], pose.axes[5]}};
}

// Along the beam and above its axis.
std::pair<double, double> place_on(const Workspace& workspace, const Frame& f) {
  return {workspace.number(f.position[0]), workspace.number(f.position[1])};
}

// The element of a beam at x: its nodes, length and the place between them, 0 to 1.
template <class Node>
struct Span {
  const Node &from, &to;
  double length, xi;
};
template <class Node>
Span<Node> span_at(const Workspace& workspace, const std::vector<Node>& nodes, const Beam& beam,
                   double x) {
  int a = beam.first_node;
  while (a + 2 < beam.first_node + beam.nodes &&
         x > workspace.number(nodes[static_cast<size_t>(a + 1)].x))
    ++a;
  const Node &from = nodes[static_cast<size_t>(a)], &to = nodes[static_cast<size_t>(a + 1)];
  const double length = workspace.number(to.x) - workspace.number(from.x);
  return {from, to, length, std::clamp((x - workspace.number(from.x)) / length, 0.0, 1.0)};
}

// Place of a point of a beam with large deformations, whose undeformed link stays (ANCF-1): 3 rows of the ground. Off the axis a section with shear follows its
// gradient, another one stays normal to the axis.
Eigen::MatrixXd large_rows(Workspace& workspace, View q, const Beam& beam, double x, double y) {
  const Model& model = workspace.model();
  const auto [from, to, length, xi] = span_at(workspace, model.ancf_nodes, beam, x);
  const auto h = hermite(length, xi), slope = hermite_slope(length, xi);
  const bool shear = beam.kind == BeamKind::kAncfShear;
  const LinkAxes e = axes_of(workspace, q, beam.body);
  // Of r and of ∂r/∂x, in the axes of the undeformed beam.
  Eigen::MatrixXd place = Eigen::MatrixXd::Zero(2, model.nv), along = place;
  Eigen::Vector2d tangent(1, 0);
  for (int end = 0; end < 2; ++end) {
    const AncfNode& n = end == 0 ? from : to;
    const auto first = static_cast<size_t>(2 * end);
    for (int k = 0; k < 2; ++k) {
      const auto add = [&](int dof, double to_place, double to_tangent) {
        if (dof < 0) return;
        place(k, dof) += to_place;
        along(k, dof) += to_tangent;
        tangent(k) += to_tangent * q[static_cast<size_t>(workspace.coordinate_of(dof))];
      };
      const auto axis = static_cast<size_t>(k);
      add(n.place[axis], h[first], slope[first]);
      add(n.axis[axis], h[first + 1], slope[first + 1]);
      if (shear && n.section[axis] >= 0) place(k, n.section[axis]) += y * (end == 0 ? 1 - xi : xi);
    }
  }
  const double stretch = tangent.norm();
  Eigen::MatrixXd rows(3, model.nv);
  for (Eigen::Index dof = 0; dof < model.nv; ++dof) {
    double x_part = place(0, dof), y_part = place(1, dof);
    if (!shear && y != 0) {
      // The unit normal turns with the tangent: it moves back along it.
      const double turn =
          (tangent(0) * along(1, dof) - tangent(1) * along(0, dof)) / (stretch * stretch * stretch);
      x_part -= y * turn * tangent(0);
      y_part -= y * turn * tangent(1);
    }
    for (Eigen::Index i = 0; i < 3; ++i) rows(i, dof) = e.along(i) * x_part + e.across(i) * y_part;
  }
  return rows;
}

// Elastic displacement of a point of a beam: 3 rows of the ground.
Eigen::MatrixXd elastic_rows(Workspace& workspace, View q, const Beam& beam, double x, double y) {
  const Model& model = workspace.model();
  const auto [from, to, length, xi] = span_at(workspace, model.nodes, beam, x);
  const auto h = hermite(length, xi), slope = hermite_slope(length, xi);
  const LinkAxes e = axes_of(workspace, q, beam.body);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, model.nv);
  for (int end = 0; end < 2; ++end) {
    const BeamNode& n = end == 0 ? from : to;
    const auto first = static_cast<size_t>(2 * end);
    const double axial = end == 0 ? 1 - xi : xi;
    for (int k = 0; k < 2; ++k) {
      const int dof = n.dof[static_cast<size_t>(k)];
      if (dof < 0) continue;
      // u in ground axes: its part along the link and its part across it; a point above the axis moves back as the section turns.
      const double along = e.along(k), across = e.across(k);
      rows.col(dof) +=
          e.along * (axial * along - y * slope[first] * across) + e.across * (h[first] * across);
    }
    if (n.dof[2] >= 0)
      rows.col(n.dof[2]) += e.across * h[first + 1] - e.along * (y * slope[first + 1]);
  }
  return rows;
}

// Value and slope at x of the natural cubic spline through unit values at one station: columns of weights.
struct SplineWeights {
  Eigen::RowVectorXd value, slope;
};
class NaturalSpline {
 public:
  explicit NaturalSpline(std::vector<double> at) : x_(std::move(at)) {
    const auto n = static_cast<Eigen::Index>(x_.size());
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(n, n), b = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 1; i + 1 < n; ++i) {
      const double left = x(i) - x(i - 1), right = x(i + 1) - x(i);
      a(i, i - 1) = left / 6;
      a(i, i) = (left + right) / 3;
      a(i, i + 1) = right / 6;
      b(i, i - 1) = 1 / left;
      b(i, i) = -1 / left - 1 / right;
      b(i, i + 1) = 1 / right;
    }
    curvature_ = a.partialPivLu().solve(b);
  }
  [[nodiscard]] SplineWeights at(double where) const {
    const auto n = static_cast<Eigen::Index>(x_.size());
    const double inside = std::clamp(where, x(0), x(n - 1));
    Eigen::Index i = 0;
    while (i + 2 < n && inside > x(i + 1)) ++i;
    const double h = x(i + 1) - x(i), s = (inside - x(i)) / h, t = 1 - s;
    SplineWeights w{Eigen::RowVectorXd::Zero(n), Eigen::RowVectorXd::Zero(n)};
    w.value(i) = t;
    w.value(i + 1) = s;
    w.slope(i) = -1 / h;
    w.slope(i + 1) = 1 / h;
    const double value_i = (t * t * t - t) * h * h / 6, value_k = (s * s * s - s) * h * h / 6;
    const double slope_i = (1 - 3 * t * t) * h / 6, slope_k = (3 * s * s - 1) * h / 6;
    w.value += value_i * curvature_.row(i) + value_k * curvature_.row(i + 1);
    w.slope += slope_i * curvature_.row(i) + slope_k * curvature_.row(i + 1);
    w.value += (where - inside) * w.slope;  // straight beyond its ends
    return w;
  }

 private:
  [[nodiscard]] double x(Eigen::Index i) const { return x_[static_cast<size_t>(i)]; }
  std::vector<double> x_;
  Eigen::MatrixXd curvature_;
};

}  // namespace

int find_frame(const Model& model, const std::string& name) {
  int found = -1;
  for (size_t i = 0; i < model.frames.size(); ++i)
    if (model.frames[i].name == name) {
      // A place on a beam has a twin that follows its node: the point reads that.
      if (found < 0 || model.frames[i].node >= 0) found = static_cast<int>(i);
    }
  return found;
}

std::vector<std::string> frame_names(const Model& model) {
  std::vector<std::string> names;
  for (const Frame& f : model.frames) names.push_back(f.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Model with_body_frames(const Model& model) {
  Model out = model;
  for (int i = 0; i < model.n_bodies(); ++i) {
    const std::string& name = model.bodies[static_cast<size_t>(i)].name;
    if (find_frame(model, name) >= 0) continue;
    Frame f;
    f.name = name;
    f.body = i;
    out.frames.push_back(std::move(f));
  }
  return out;
}

Eigen::MatrixXd point_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                           const std::vector<MeasuredPoint>& points) {
  const Model& model = workspace.model();
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()), r.cols());
  std::map<std::string, Eigen::MatrixXd> known;
  for (size_t i = 0; i < points.size(); ++i) {
    auto at = known.find(points[i].frame);
    if (at == known.end()) {
      const int frame = find_frame(model, points[i].frame);
      PANTO_EXPECT(frame >= 0, "every point is a frame of the model");
      const Frame& f = model.frames[static_cast<size_t>(frame)];
      Eigen::MatrixXd full = frame_rows(workspace, q, frame);
      const int beam = f.node < 0 ? beam_of(model, f.body) : -1;
      if (beam >= 0) {
        const auto [x, y] = place_on(workspace, f);
        const Beam& b = model.beams[static_cast<size_t>(beam)];
        full += b.ancf() ? large_rows(workspace, q, b, x, y) : elastic_rows(workspace, q, b, x, y);
      }
      at = known.emplace(points[i].frame, full * r).first;
    }
    rows.row(static_cast<Eigen::Index>(i)) =
        points[i].direction.normalized().transpose() * at->second;
  }
  return rows;
}

PointSplines spline_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                         const std::vector<MeasuredPoint>& points, const Eigen::MatrixXd& rows) {
  const Model& model = workspace.model();
  const auto count = static_cast<Eigen::Index>(points.size());
  std::vector<Eigen::RowVectorXd> new_rows, new_matrix;
  std::vector<bool> replaced(points.size(), false);
  for (const Beam& beam : model.beams) {
    if (beam.ancf()) continue;
    const LinkAxes e = axes_of(workspace, q, beam.body);
    // Stations where something across the beam was measured; the last point there tells.
    std::map<double, Eigen::Index> stations;
    for (size_t i = 0; i < points.size(); ++i) {
      const Frame& f = model.frames[static_cast<size_t>(find_frame(model, points[i].frame))];
      if (f.body != beam.body || std::abs(points[i].direction.normalized().dot(e.across)) < 0.99)
        continue;
      stations[place_on(workspace, f).first] = static_cast<Eigen::Index>(i);
    }
    if (stations.size() < 3) continue;
    std::vector<double> x;
    x.reserve(stations.size());
    for (const auto& [at, point] : stations) x.push_back(at);
    const NaturalSpline spline(x);
    for (int k = 0; k < beam.nodes; ++k) {
      const BeamNode& n = model.nodes[static_cast<size_t>(beam.first_node + k)];
      const SplineWeights w = spline.at(workspace.number(n.x));
      Eigen::MatrixXd full = frame_rows(workspace, q, n.frame);
      Eigen::RowVectorXd turn = turn_row(workspace, q, n.frame);
      for (int axis = 0; axis < 2; ++axis)
        if (n.dof[static_cast<size_t>(axis)] >= 0)
          full(axis, n.dof[static_cast<size_t>(axis)]) += 1;
      if (n.dof[2] >= 0) turn(n.dof[2]) += 1;
      // Turns count as displacements at a tenth of the beam's length.
      const double lever = 0.1 * workspace.number(beam.length);
      new_rows.emplace_back(e.across.transpose() * full * r);
      new_rows.emplace_back(lever * turn * r);
      Eigen::RowVectorXd value = Eigen::RowVectorXd::Zero(count), slope = value;
      Eigen::Index s = 0;
      for (const auto& [at, point] : stations) {
        const double sign = points[static_cast<size_t>(point)].direction.dot(e.across) > 0 ? 1 : -1;
        value(point) = sign * w.value(s);
        slope(point) = sign * lever * w.slope(s);
        ++s;
      }
      new_matrix.push_back(value);
      new_matrix.push_back(slope);
    }
    for (const auto& [at, point] : stations) replaced[static_cast<size_t>(point)] = true;
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    if (replaced[static_cast<size_t>(i)]) continue;
    new_rows.emplace_back(rows.row(i));
    new_matrix.emplace_back(Eigen::RowVectorXd::Unit(count, i));
  }
  PointSplines out{Eigen::MatrixXd(static_cast<Eigen::Index>(new_rows.size()), r.cols()),
                   Eigen::MatrixXd(static_cast<Eigen::Index>(new_rows.size()), count)};
  for (size_t i = 0; i < new_rows.size(); ++i) {
    out.rows.row(static_cast<Eigen::Index>(i)) = new_rows[i];
    out.matrix.row(static_cast<Eigen::Index>(i)) = new_matrix[i];
  }
  return out;
}

ExpandedShape expand(const Eigen::MatrixXd& rows, const Eigen::VectorXd& y, double sigma,
                     double omega, const ExpansionBasis& basis) {
  PANTO_EXPECT(rows.rows() == y.size() && sigma > 0 && omega > 0, "one row per reading");
  std::vector<Eigen::Index> read;
  for (Eigen::Index i = 0; i < y.size(); ++i)
    if (std::isfinite(y(i))) read.push_back(i);
  const auto m = static_cast<Eigen::Index>(read.size()), n = basis.squares.size();
  const Eigen::MatrixXd seen = rows(read, Eigen::all) * basis.modes;  // per modal coordinate
  const Eigen::VectorXd value = y(read);
  // Amplitude: of the model's mode that resembles the readings most.
  double best = -1, amplitude = 1;
  for (Eigen::Index j = 0; j < n; ++j) {
    const double norm = seen.col(j).norm();
    if (!(norm > 0)) continue;
    const double alike = std::abs(seen.col(j).dot(value)) / norm;
    if (alike > best) {
      best = alike;
      amplitude = value.norm() / norm;
    }
  }
  Eigen::MatrixXd stacked(m + n, n);
  stacked.topRows(m) = seen / sigma;
  const Eigen::VectorXd doubt =
      (basis.squares.array() / (omega * omega) - 1) / (basis.model_error * amplitude);
  stacked.bottomRows(n) = doubt.asDiagonal();
  // Where K - ω²M vanishes and no point reads the direction, nothing tells: smallest coordinates.
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(stacked);
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(m + n, m);
  right.topRows(m).diagonal().setConstant(1 / sigma);
  const Eigen::MatrixXd slope = qr.solve(right);
  const Eigen::VectorXd c = slope * value;
  ExpandedShape out;
  const double size = c.norm();  // √(zᵀMz)
  out.misfit = value.norm() > 0 ? (seen * c - value).norm() / value.norm() : 0;
  if (!(size > 0)) {
    out.z = Eigen::VectorXd::Zero(n);
    out.slope = Eigen::MatrixXd::Zero(n, y.size());
    return out;
  }
  out.z = basis.modes * c / size;
  // Of the normalised shape: the part along itself does not count.
  const Eigen::MatrixXd across = (slope - c * (c.transpose() * slope) / (size * size)) / size;
  out.slope = Eigen::MatrixXd::Zero(n, y.size());
  const Eigen::MatrixXd full = basis.modes * across;
  for (Eigen::Index i = 0; i < m; ++i) out.slope.col(read[static_cast<size_t>(i)]) = full.col(i);
  return out;
}

Eigen::VectorXd real_shape(const Eigen::VectorXcd& shape) {
  std::complex<double> square = 0;
  for (const std::complex<double>& s : shape)
    if (std::isfinite(s.real()) && std::isfinite(s.imag())) square += s * s;
  const std::complex<double> turn = std::polar(1.0, -0.5 * std::arg(square));
  Eigen::VectorXd out(shape.size());
  for (Eigen::Index i = 0; i < shape.size(); ++i) out(i) = (shape(i) * turn).real();
  return out;
}

Eigen::MatrixXd nodal_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r) {
  const Model& model = workspace.model();
  Eigen::MatrixXd rows(3 * static_cast<Eigen::Index>(model.nodes.size()), model.nv);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const BeamNode& n = model.nodes[i];
    const auto first = 3 * static_cast<Eigen::Index>(i);
    rows.middleRows(first, 2) = frame_rows(workspace, q, n.frame).topRows(2);
    rows.row(first + 2) = turn_row(workspace, q, n.frame);
    for (int k = 0; k < 3; ++k)
      if (n.dof[static_cast<size_t>(k)] >= 0) rows(first + k, n.dof[static_cast<size_t>(k)]) += 1;
  }
  return rows * r;
}

bool nodal_displacements(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                         const Eigen::VectorXd& z, Eigen::VectorXd& out) {
  const Model& model = workspace.model();
  const auto count = 3 * static_cast<Eigen::Index>(model.nodes.size());
  const auto places = [&](const Eigen::VectorXd& at) {
    Eigen::VectorXd place(count);
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      const BeamNode& n = model.nodes[i];
      const FramePose link =
          workspace.body_pose(view(at), model.beams[static_cast<size_t>(n.beam)].body);
      const double x = workspace.number(n.x);
      const auto entry = [&](size_t k) {
        return n.dof[k] < 0 ? 0 : at(workspace.coordinate_of(n.dof[k]));
      };
      const auto first = 3 * static_cast<Eigen::Index>(i);
      place(first) = link.position[0] + x * link.axes[0] + entry(0);
      place(first + 1) = link.position[1] + x * link.axes[1] + entry(1);
      place(first + 2) = std::atan2(link.axes[1], link.axes[0]) + entry(2);
    }
    return place;
  };
  const Eigen::VectorXd from =
      Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  Eigen::VectorXd at = from;
  workspace.choose_partition(0, q, true);
  const Eigen::VectorXd step = r * z;
  workspace.move(view(at), view(step));
  const Status closed = workspace.close_positions(0, view(at));
  if (closed != Status::kOk && closed != Status::kRepartition) return false;
  out = places(at) - places(from);
  for (Eigen::Index i = 2; i < count; i += 3) out(i) = std::remainder(out(i), 2 * std::numbers::pi);
  return true;
}

ErlsShape to_erls(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                  const Eigen::VectorXd& displacements) {
  const Eigen::MatrixXd rows = nodal_rows(workspace, q, r);
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(rows);
  ErlsShape out;
  out.linear = solver.solve(displacements);
  Eigen::VectorXd z = out.linear, reached;
  const double scale = std::max(z.norm(), 1e-300);
  for (int turn = 0; turn < 100; ++turn) {
    if (!nodal_displacements(workspace, q, r, z, reached)) return out;
    const Eigen::VectorXd step = solver.solve(displacements - reached);
    z += step;
    if (step.norm() <= 1e-12 * scale + 1e-14) break;
    if (turn == 99 || !z.allFinite()) return out;
  }
  out.exact = z;
  out.difference = (out.exact - out.linear).norm() / std::max(out.exact.norm(), 1e-300);
  return out;
}

}  // namespace panto
