#include "panto/linear/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "panto/mechanics/closure.hpp"
#include "panto/numerics/dense.hpp"

namespace panto {

namespace {

constexpr double kSingular = 1e-9;   // relative pivot below which a choice counts as lost
constexpr int kSamples = 200;        // of a motion, unless told
constexpr size_t kMostChoices = 32;  // that are compared; a mechanism has few that are ever best

class Along {
 public:
  Along(Workspace& workspace, const Run& run)
      : workspace_(workspace), model_(workspace.model()), run_(run) {}

  Result<LinearTrajectory> go() {
    Diagnostics d = refused();
    if (!d.ok()) return d;
    d = choose();
    if (!d.ok()) return d;
    LinearTrajectory out;
    out.time = run_.t;
    for (size_t i = 0; i < run_.t.size(); ++i) {
      Eigen::VectorXd q = sample(run_.q, i), v = sample(run_.v, i), u(model_.nu()),
                      u_rate(model_.nu());
      const double t = run_.t[i];
      workspace_.inputs_at(t, view(u), view(u_rate));
      if (!workspace_.keep_partition(t, view(q)) || !done(workspace_.close_positions(t, view(q))) ||
          !done(workspace_.close_velocities(t, view(u), view(v))))
        return lost(t, "the loops do not close");
      Result<OperatingPoint> point = point_of_motion(workspace_, t, view(q), view(v));
      if (!point.ok()) return point.diagnostics();
      Result<LinearModel> linear = linearize(workspace_, *point, {.keep_independent = true});
      if (!linear.ok()) {
        d = lost(t, "there is no linear model");
        d.append(linear.diagnostics());
        return d;
      }
      out.points.push_back(std::move(*point));
      out.models.push_back(std::move(*linear));
    }
    return out;
  }

 private:
  static bool done(Status status) {
    return status == Status::kOk || status == Status::kRepartition;
  }

  static Diagnostics lost(double t, const std::string& why) {
    Diagnostics d;
    d.error(517, {}, fmt::format("linearisation along the motion: at t = {:.9g} s {}", t, why));
    return d;
  }

  [[nodiscard]] Diagnostics refused() const {
    Diagnostics d;
    const auto whole = [&](const std::vector<std::vector<double>>& series, int count) {
      return static_cast<int>(series.size()) == count &&
             std::all_of(series.begin(), series.end(),
                         [&](const auto& s) { return s.size() == run_.t.size(); });
    };
    if (run_.t.empty())
      d.error(518, {}, "linearisation along a motion: the run has no samples");
    else if (run_.q.empty() && model_.nq > 0)
      d.error(518, {}, "linearisation along a motion: the run does not keep its states");
    else if (!whole(run_.q, model_.nq) || !whole(run_.v, model_.nv) ||
             (!run_.coordinate_names.empty() && run_.coordinate_names != model_.coordinate_names))
      d.error(518, {},
              fmt::format("linearisation along a motion: the run is one of \"{}\", its coordinates "
                          "are not those of \"{}\"",
                          run_.model, model_.name));
    return d;
  }

  static Eigen::VectorXd sample(const std::vector<std::vector<double>>& series, size_t i) {
    Eigen::VectorXd x(static_cast<Eigen::Index>(series.size()));
    for (size_t k = 0; k < series.size(); ++k) x(static_cast<Eigen::Index>(k)) = series[k][i];
    return x;
  }

  // The independent coordinates of the three levels, one after the other.
  [[nodiscard]] std::vector<int> independent() const {
    std::vector<int> out;
    for (const auto part : {workspace_.independent_positions(), workspace_.independent_speeds(),
                            workspace_.independent_accelerations()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }

  void choose_at(size_t i) {
    const Eigen::VectorXd q = sample(run_.q, i);
    workspace_.choose_partition(run_.t[i], view(q), true);
  }

  // How the present choice fares: the worst conditioning, and the sample up to which it is regular.
  struct Fate {
    double worst = 1;
    size_t regular = 0;       // samples
    double from = 0, to = 0;  // where it is lost
  };
  [[nodiscard]] Fate follow() {
    Fate fate;
    Eigen::MatrixXd before_q, before_v;
    for (size_t i = 0; i < run_.t.size(); ++i, ++fate.regular) {
      fate.from = run_.t[i > 0 ? i - 1 : 0];
      fate.to = run_.t[i];
      const Eigen::VectorXd q = sample(run_.q, i);
      if (model_.n_rows() == 0) continue;
      if (!workspace_.keep_partition(run_.t[i], view(q)) || workspace_.conditioning() < kSingular)
        return fate;
      Eigen::MatrixXd now_q = basis(Level::kPosition, workspace_.independent_positions()),
                      now_v = basis(Level::kVelocity, workspace_.independent_speeds());
      if (i > 0 && (turned_over(before_q, now_q) || turned_over(before_v, now_v))) return fate;
      before_q = std::move(now_q);
      before_v = std::move(now_v);
      fate.worst = std::min(fate.worst, workspace_.conditioning());
    }
    return fate;
  }

  // R at the last factorisation: δq (or δv) per independent one.
  [[nodiscard]] Eigen::MatrixXd basis(Level level, std::span<const int> free) {
    Eigen::MatrixXd r = Eigen::MatrixXd::Zero(model_.nv, static_cast<Eigen::Index>(free.size()));
    for (size_t k = 0; k < free.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      r(free[k], column) = 1;
      workspace_.complete(level, {}, {r.col(column).data(), static_cast<size_t>(model_.nv)});
    }
    return r;
  }

  // The space of possible motions turns continuously. Its basis R has unit rows at the independent coordinates and runs through infinity where
  // these have a dead point, coming back with the opposite sign: R⁺(t₁) R(t₂) is near 1 between close samples and has a negative eigenvalue there.
  static bool turned_over(const Eigen::MatrixXd& before, const Eigen::MatrixXd& now) {
    if (now.cols() == 0) return false;
    MinimumNorm inverse;
    inverse.compute(before);
    Eigen::MatrixXd x(now.cols(), now.cols());
    for (Eigen::Index j = 0; j < now.cols(); ++j) x.col(j) = inverse.solve(now.col(j));
    const auto values = eigenvalues(x);
    return std::any_of(values.begin(), values.end(),
                       [](const std::complex<double>& s) { return !(s.real() > 0); });
  }

  Diagnostics choose() {
    std::vector<std::vector<int>> seen;
    std::vector<size_t> at;
    for (size_t i = 0; i < run_.t.size() && at.size() < kMostChoices; ++i) {
      choose_at(i);
      std::vector<int> choice = independent();
      if (std::find(seen.begin(), seen.end(), choice) != seen.end()) continue;
      seen.push_back(std::move(choice));
      at.push_back(i);
    }
    Fate best;
    size_t chosen = at.size();
    for (size_t k = 0; k < at.size(); ++k) {
      choose_at(at[k]);
      const Fate fate = follow();
      const bool better = chosen == at.size() || fate.regular > best.regular ||
                          (fate.regular == best.regular && fate.worst > best.worst);
      if (!better) continue;
      best = fate;
      chosen = k;
    }
    choose_at(at[chosen]);
    if (best.regular == run_.t.size()) return {};
    const std::vector<std::string> all = tangent_names(model_);
    std::string names;
    for (const int z : workspace_.independent_positions())
      names += (names.empty() ? "" : ", ") + all[static_cast<size_t>(z)];
    return lost(
        best.to,
        fmt::format("the states would have to change: with {} as independent coordinates the "
                    "motion has a dead point after t = {:.9g} s, and no other choice serves "
                    "longer; end before it, or sample more often if the motion is fast",
                    names.empty() ? "none" : names, best.from));
  }

  Workspace& workspace_;
  const Model& model_;
  const Run& run_;
};

}  // namespace

Result<LinearTrajectory> linearize_along(Workspace& workspace, const Run& run) {
  return Along(workspace, run).go();
}

Result<LinearTrajectory> linearize_along(const Model& model, const Params& params,
                                         const AlongOptions& options) {
  SimulationOptions o;
  o.until = options.until.value_or(model.run.until);
  o.sample = options.sample.value_or(std::max(0.0, o.until / kSamples));
  if (options.tol)
    o.tol = *options.tol;
  else if (model.run.tol > 0)
    o.tol = model.run.tol;
  o.progress = options.progress;
  Result<Run> run = simulate(model, params, o);
  if (!run.ok()) return run.diagnostics();
  const auto workspace = Workspace::create(model, params);
  Result<LinearTrajectory> along = linearize_along(*workspace, *run);
  Diagnostics notes = run.diagnostics();
  notes.append(along.diagnostics());
  if (!along.ok()) return notes;
  return {std::move(*along), std::move(notes)};
}

}  // namespace panto
