#include "panto/mechanics/inverse_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/dense.hpp"
#include "panto/numerics/differentiate.hpp"

namespace panto {
namespace {

constexpr double kApproach = 0.2;  // [rad or lengths] per step from the initial pose to the motion
// Forces that no input produces count when they exceed this share of the inertia and load terms of the residual.
constexpr double kNegligible = 1e-6;

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

class Follower {
 public:
  Follower(Workspace& workspace, const PrescribedMotion& motion, std::span<const int> inputs,
           Diagnostics& d)
      : workspace_(workspace),
        model_(workspace.model()),
        motion_(motion),
        inputs_(inputs),
        d_(d),
        prescribed_(static_cast<size_t>(model_.nv), -1),
        coordinate_(static_cast<size_t>(model_.nv), -1),
        v_(Eigen::VectorXd::Zero(model_.nv)),
        a_(Eigen::VectorXd::Zero(model_.nv)),
        u_(static_cast<size_t>(model_.nu())),
        u_rate_(static_cast<size_t>(model_.nu())) {
    for (const ScalarCoordinate& e : scalar_coordinates(model_))
      coordinate_[static_cast<size_t>(e.v)] = e.q;
  }

  bool prepare() {
    check_times();
    for (size_t k = 0; k < motion_.coordinates.size(); ++k) add(k);
    if (motion_.coordinates.empty()) d_.error(632, {}, "the motion prescribes no coordinate");
    if (!d_.ok()) return false;
    for (int dof = 0; dof < model_.nv; ++dof)
      if (prescribed_[static_cast<size_t>(dof)] < 0) free_.push_back(dof);
    const Result<AssembledState> start = assemble(workspace_);
    d_.append(start.diagnostics());
    if (!start.ok()) return false;
    q_ = start->q;
    return approach();
  }

  bool follow(const std::function<bool(double)>& progress, InverseMotion& out) {
    const size_t n = motion_.t.size();
    out.t = motion_.t;
    out.inputs.assign(inputs_.begin(), inputs_.end());
    out.efforts.assign(inputs_.size(), std::vector<double>(n));
    out.q.assign(static_cast<size_t>(model_.nq), std::vector<double>(n));
    out.v.assign(static_cast<size_t>(model_.nv), std::vector<double>(n));
    out.a = out.v;
    double worst_share = 0, worst_time = 0;
    InverseDynamics inverse;
    for (size_t i = 0; i < n; ++i) {
      if (progress && !progress(static_cast<double>(i) / static_cast<double>(n))) {
        shorten(i, out);
        break;
      }
      if (!kinematics(i)) return false;
      const Point point{motion_.t[i], view(q_), view(v_), view(a_), {}, u_, u_rate_};
      const Status status = inverse_dynamics(workspace_, point, inputs_, inverse);
      if (status != Status::kOk && status != Status::kSingular) {
        d_.error(540, {},
                 fmt::format("inverse dynamics failed at t = {:.9g} s: {}", motion_.t[i],
                             to_string(status)));
        return false;
      }
      for (size_t k = 0; k < inputs_.size(); ++k) out.efforts[k][i] = inverse.u[inputs_[k]];
      for (size_t k = 0; k < out.q.size(); ++k) out.q[k][i] = q_[static_cast<int>(k)];
      for (size_t k = 0; k < out.v.size(); ++k) {
        out.v[k][i] = v_[static_cast<int>(k)];
        out.a[k][i] = a_[static_cast<int>(k)];
      }
      out.max_residual = std::max(out.max_residual, inverse.residual);
      const double share = inverse.residual / (1e-300 + load(point));
      if (share > worst_share) {
        worst_share = share;
        worst_time = motion_.t[i];
      }
    }
    if (worst_share > kNegligible)
      d_.warning(636, {},
                 fmt::format("the inputs cannot produce this motion: up to {:.3g} of generalised "
                             "force is missing ({:.2g} of the load, worst at t = {:.6g} s); the "
                             "efforts are the nearest in the least-squares sense",
                             out.max_residual, worst_share, worst_time));
    return true;
  }

 private:
  static void shorten(size_t n, InverseMotion& out) {
    out.t.resize(n);
    for (auto* series : {&out.efforts, &out.q, &out.v, &out.a})
      for (std::vector<double>& values : *series) values.resize(n);
  }

  void check_times() {
    if (motion_.t.size() < 3) d_.error(633, {}, "the motion needs at least three times");
    if (!all_finite(motion_.t)) d_.error(633, {}, "a time of the motion is not a number");
    for (size_t i = 1; i < motion_.t.size(); ++i)
      if (!(motion_.t[i] > motion_.t[i - 1])) {
        d_.error(633, {},
                 fmt::format("the times of the motion must increase: {} s comes after {} s",
                             motion_.t[i], motion_.t[i - 1]));
        return;
      }
  }

  void add(size_t k) {
    PrescribedCoordinate c = motion_.coordinates[k];
    const int dof = find_dof(model_, c.name);
    if (dof < 0 || coordinate_[static_cast<size_t>(dof)] < 0) {
      d_.error(631, {},
               fmt::format("the motion prescribes \"{}\", which is no joint coordinate{}", c.name,
                           did_you_mean(c.name, model_.coordinate_names)));
      return;
    }
    const size_t n = motion_.t.size();
    for (const auto* series : {&c.value, &c.rate, &c.acceleration}) {
      const bool missing = series->empty() && series != &c.value;
      if (!missing && (series->size() != n || !all_finite(*series))) {
        d_.error(633, {}, fmt::format("\"{}\": one finite value per time is needed", c.name));
        return;
      }
    }
    if (!d_.ok()) return;
    if (c.acceleration.empty())
      c.acceleration = c.rate.empty() ? differentiate(motion_.t, c.value, 2)
                                      : differentiate(motion_.t, c.rate, 1);
    if (c.rate.empty()) c.rate = differentiate(motion_.t, c.value, 1);
    prescribed_[static_cast<size_t>(dof)] = static_cast<int>(given_.size());
    given_.push_back({dof, std::move(c)});
  }

  // From the model's initial pose to the first pose of the motion, in steps that keep the branch of the loops.
  bool approach() {
    Closure closure(workspace_, motion_.t.front());
    std::vector<double> from;
    double distance = 0;
    for (const Given& g : given_) {
      from.push_back(q_[coordinate_[static_cast<size_t>(g.dof)]]);
      distance = std::max(
          distance, std::abs(g.course.value.front() - from.back()) / closure.dof_scale()[g.dof]);
    }
    const int steps = std::max(1, static_cast<int>(std::ceil(std::min(distance, 1e3) / kApproach)));
    for (int s = 1; s <= steps; ++s) {
      for (size_t k = 0; k < given_.size(); ++k)
        q_[coordinate_[static_cast<size_t>(given_[k].dof)]] =
            from[k] + (given_[k].course.value.front() - from[k]) * s / steps;
      if (!close(closure, motion_.t.front())) return false;
    }
    return true;
  }

  bool close(Closure& closure, double t) {
    if (free_.empty() && model_.n_position_rows == 0) return true;
    closure.mobility = Eigen::VectorXd::Zero(model_.nv);
    for (const int dof : free_) closure.mobility[dof] = 1;
    const ClosureResult result = closure.solve(q_);
    if (result.converged) return true;
    d_.error(635, {},
             fmt::format("the loops cannot follow the motion at t = {:.9g} s: they stay "
                         "open by {:.3g} (of the mechanism's length, or rad)",
                         t, result.error));
    return false;
  }

  // Free speeds (or accelerations) from rows = J x, J the columns of the free speeds.
  bool complete(Eigen::VectorXd rows, const Eigen::MatrixXd& g, Eigen::VectorXd& x, double t) {
    if (free_.empty()) return true;
    Eigen::MatrixXd columns(rows.size(), static_cast<int>(free_.size()));
    for (size_t k = 0; k < free_.size(); ++k)
      columns.col(static_cast<int>(k)) = g.col(free_[k]).head(rows.size());
    // Velocity-controlled drives that are solved for follow the motion, they do not determine it.
    for (int row = 0; row < rows.size(); ++row) {
      const int input = model_.rows[static_cast<size_t>(row)].input;
      if (std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end()) {
        rows[row] = 0;
        columns.row(row).setZero();
      }
    }
    MinimumNorm solver;
    solver.compute(columns);
    if (solver.rank() < static_cast<int>(free_.size())) {
      d_.error(634, {},
               fmt::format("the motion does not determine the mechanism at t = {:.9g} s: {} more "
                           "coordinates must be given",
                           t, static_cast<int>(free_.size()) - solver.rank()));
      return false;
    }
    const Eigen::VectorXd solution = solver.solve(-rows);
    for (size_t k = 0; k < free_.size(); ++k) x[free_[k]] = solution[static_cast<int>(k)];
    return true;
  }

  bool kinematics(size_t i) {
    const double t = motion_.t[i];
    if (i > 0) {  // a predictor keeps the branch where samples are far apart
      const Eigen::VectorXd step = (t - motion_.t[i - 1]) * v_;
      workspace_.move(view(q_), view(step));
    }
    for (const Given& g : given_) {
      q_[coordinate_[static_cast<size_t>(g.dof)]] = g.course.value[i];
    }
    Closure closure(workspace_, t);
    if (!close(closure, t)) return false;
    workspace_.inputs_at(t, u_, u_rate_);
    v_.setZero();
    a_.setZero();
    for (const Given& g : given_) {
      v_[g.dof] = g.course.rate[i];
      a_[g.dof] = g.course.acceleration[i];
    }
    workspace_.constraint_jacobian(t, view(q_), g_);
    workspace_.residual({t, view(q_), view(v_), view(a_), {}, u_, u_rate_}, false, residual_);
    if (!complete(residual_.phi_dot, g_, v_, t)) return false;
    workspace_.residual({t, view(q_), view(v_), view(a_), {}, u_, u_rate_}, false, residual_);
    return complete(residual_.phi_ddot, g_, a_, t);
  }

  // Size of the equations of motion without any input or multiplier.
  double load(const Point& point) {
    workspace_.residual({point.t, point.q, point.v, point.a, {}, {}, {}}, false, residual_);
    return residual_.r.norm();
  }

  struct Given {
    int dof;
    PrescribedCoordinate course;
  };

  Workspace& workspace_;
  const Model& model_;
  const PrescribedMotion& motion_;
  std::span<const int> inputs_;
  Diagnostics& d_;
  std::vector<int> prescribed_;  // per speed: index into given_, -1: free
  std::vector<int> coordinate_;  // per speed: its coordinate, -1: none
  std::vector<int> free_;
  std::vector<Given> given_;
  Eigen::VectorXd q_, v_, a_;
  std::vector<double> u_, u_rate_;
  Eigen::MatrixXd g_;
  Residual residual_;
};

}  // namespace

Result<InverseMotion> inverse_motion(Workspace& workspace, const PrescribedMotion& motion,
                                     std::span<const int> inputs,
                                     const std::function<bool(double)>& progress) {
  Diagnostics d;
  InverseMotion out;
  Follower follower(workspace, motion, inputs, d);
  if (!follower.prepare() || !follower.follow(progress, out)) return d;
  return {std::move(out), std::move(d)};
}

}  // namespace panto
