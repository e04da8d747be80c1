#include <algorithm>
#include <cmath>

#include "panto/scene/ancf_curve.hpp"
#include "panto/scene/scene.hpp"

namespace panto::scene {
namespace {

using Quaternion = std::array<double, 4>;

// Of the rotation with the given columns, by the largest component (Shepperd).
Quaternion quaternion_of(const std::array<double, 9>& r) {
  const auto at = [&r](size_t row, size_t column) { return r[3 * column + row]; };
  const std::array<double, 4> squares{
      1 + at(0, 0) + at(1, 1) + at(2, 2), 1 + at(0, 0) - at(1, 1) - at(2, 2),
      1 - at(0, 0) + at(1, 1) - at(2, 2), 1 - at(0, 0) - at(1, 1) + at(2, 2)};
  const auto largest =
      static_cast<size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  const double s = 0.5 / std::sqrt(squares[largest]);
  const double wx = s * (at(2, 1) - at(1, 2)), wy = s * (at(0, 2) - at(2, 0)),
               wz = s * (at(1, 0) - at(0, 1));
  const double xy = s * (at(0, 1) + at(1, 0)), xz = s * (at(0, 2) + at(2, 0)),
               yz = s * (at(1, 2) + at(2, 1));
  const double root = 0.5 * std::sqrt(squares[largest]);
  switch (largest) {
    case 0:
      return {root, wx, wy, wz};
    case 1:
      return {wx, root, xy, xz};
    case 2:
      return {wy, xy, root, yz};
    default:
      return {wz, xz, yz, root};
  }
}

class PoseWriter {
 public:
  PoseWriter(const Model& model, const Params& params)
      : model_(model),
        workspace_(Workspace::create(model, params)),
        ancf_(*workspace_),
        bodies_(bodies_of(model)),
        turned_(model.bodies.size(), 0.0),
        offset_(bodies_.size(), 0.0),
        last_(bodies_.size(), Quaternion{0, 0, 0, 0}) {}

  void add(double t, View q, Motion& out) {
    workspace_->body_poses(q, poses_);
    const bool planar = model_.space == SpaceKind::kPlanar;
    if (planar) turn(q);
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const FramePose& pose = poses_[static_cast<size_t>(bodies_[k])];
      const Vec3& p = pose.position;
      if (planar) {
        out.poses.insert(out.poses.end(), {p[0], p[1], angle(k, pose, out.t.empty())});
      } else {
        Quaternion x = quaternion_of(pose.axes);
        double along = 0;
        for (size_t i = 0; i < 4; ++i) along += x[i] * last_[k][i];
        if (along < 0)
          for (double& c : x) c = -c;
        last_[k] = x;
        out.poses.insert(out.poses.end(), {p[0], p[1], p[2], x[0], x[1], x[2], x[3]});
      }
    }
    const int shift = model_.joint_nq() - model_.joint_nv();
    for (const BeamNode& n : model_.nodes)
      for (const int dof : n.dof)
        out.poses.push_back(dof < 0 ? 0 : q[static_cast<size_t>(dof + shift)]);
    ancf_.append([&](int dof) { return q[static_cast<size_t>(dof + shift)]; }, false, out.poses);
    out.t.push_back(t);
  }

 private:
  // In a plane the angle of a body is a constant plus the angles of the joints that carry it, so that turns are counted however far
  // apart the frames are.
  void turn(View q) {
    for (size_t i = 0; i < model_.joints.size(); ++i) {
      const Joint& j = model_.joints[i];
      const double below = j.parent < 0 ? 0 : turned_[static_cast<size_t>(j.parent)];
      turned_[i] = below + (j.type == JointType::kRevolute ? q[static_cast<size_t>(j.q)] : 0.0);
    }
  }
  double angle(size_t k, const FramePose& pose, bool first) {
    const double turned = turned_[static_cast<size_t>(bodies_[k])];
    if (first) offset_[k] = std::atan2(pose.axes[1], pose.axes[0]) - turned;
    return turned + offset_[k];
  }

  const Model& model_;
  std::unique_ptr<Workspace> workspace_;
  AncfCurve ancf_;
  std::vector<int> bodies_;
  std::vector<double> turned_, offset_;  // per body of the model, of the scene
  std::vector<Quaternion> last_;
  std::vector<FramePose> poses_;
};

}  // namespace

std::vector<size_t> chosen_frames(size_t count, size_t most) {
  const size_t n = std::min(count, most);
  std::vector<size_t> frames(n);
  for (size_t i = 0; i < n; ++i) frames[i] = n == 1 ? 0 : (i * (count - 1) + (n - 1) / 2) / (n - 1);
  return frames;
}

Motion motion_of(const Model& model, const Params& params, const Run& run, Diagnostics& notes,
                 size_t most) {
  Motion out;
  out.name = "run";
  std::vector<size_t> column;
  for (const std::string& name : model.coordinate_names) {
    const auto found = std::find(run.coordinate_names.begin(), run.coordinate_names.end(), name);
    const auto k = static_cast<size_t>(found - run.coordinate_names.begin());
    if (k >= run.q.size() || run.q[k].size() != run.t.size()) {
      notes.warning(642, {},
                    run.q.empty()
                        ? std::string("the run holds no coordinates: no animation")
                        : "the run does not hold the coordinate \"" + name + "\": no animation");
      return out;
    }
    column.push_back(k);
  }
  PoseWriter writer(model, params);
  std::vector<double> q(column.size());
  for (const size_t i : chosen_frames(run.t.size(), most)) {
    for (size_t k = 0; k < q.size(); ++k) q[k] = run.q[column[k]][i];
    writer.add(run.t[i], q, out);
  }
  return out;
}

Motion motion_at(const Model& model, const Params& params, double t, View q) {
  Motion out;
  out.name = "pose";
  PoseWriter(model, params).add(t, q, out);
  return out;
}

}  // namespace panto::scene
