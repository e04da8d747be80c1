#include "panto/inversion/horizon_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>

#include "panto/inversion/optimal_motion.hpp"

namespace panto {
namespace {

View view_of(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

std::vector<double> halved(const std::vector<double>& mesh) {
  std::vector<double> out{mesh.front()};
  for (size_t i = 0; i + 1 < mesh.size(); ++i) {
    out.push_back((mesh[i] + mesh[i + 1]) / 2);
    out.push_back(mesh[i + 1]);
  }
  return out;
}

// States at the instants of `mesh` on straight lines between those at `t`.
Eigen::MatrixXd between(const std::vector<double>& t, const Eigen::MatrixXd& states,
                        const std::vector<double>& mesh) {
  Eigen::MatrixXd out(states.rows(), static_cast<Eigen::Index>(mesh.size()));
  size_t k = 0;
  for (size_t i = 0; i < mesh.size(); ++i) {
    while (k + 2 < t.size() && t[k + 1] <= mesh[i]) ++k;
    const double part = std::clamp((mesh[i] - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0);
    const auto column = static_cast<Eigen::Index>(k);
    out.col(static_cast<Eigen::Index>(i)) =
        (1 - part) * states.col(column) + part * states.col(column + 1);
  }
  return out;
}

// States of every other column: at the instants of a mesh without its middles.
Eigen::MatrixXd at_instants(const Eigen::MatrixXd& states) {
  return states(Eigen::all, Eigen::seq(0, Eigen::last, 2));
}

// States at the instants of a mesh, from it and from the one with every interval halved: errors of second order (accelerations and forces) and of fourth (positions and
// speeds) cancel (SRV-48).
Eigen::MatrixXd extrapolated(const HorizonCollocation& fine, const HorizonCollocation& coarse,
                             int nv) {
  const Eigen::MatrixXd f = fine.states(), c = coarse.states();
  const Eigen::Index motion = 2 * nv, forces = f.rows() - motion;
  Eigen::MatrixXd out(f.rows(), static_cast<Eigen::Index>(coarse.mesh().size()));
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    const auto now = f.col(4 * i), before = c.col(2 * i);
    out.col(i).head(motion) = (16 * now.head(motion) - before.head(motion)) / 15;
    out.col(i).tail(forces) = (4 * now.tail(forces) - before.tail(forces)) / 3;
  }
  return out;
}

// better: states at every other instant, where they are better known, or none. Where forces are straight in intervals the middles are not delivered.
void keep(const HorizonCollocation& problem, const ServoSystem& system,
          const Eigen::MatrixXd& better, StableInversion& out) {
  out.t = problem.times();
  Eigen::MatrixXd states = problem.states();
  if (problem.interpolates() && problem.mesh().size() % 2 != 0) {
    out.t = problem.mesh();
    states = at_instants(states);
  }
  if (better.cols() > 0) {
    const Eigen::MatrixXd correction = better - at_instants(states);
    for (Eigen::Index i = 0; i < states.cols(); ++i)
      states.col(i) += (correction.col(i / 2) + correction.col((i + 1) / 2)) / 2;
  }
  const auto rows = [&](int from, int count, std::vector<std::vector<double>>& to) {
    for (int i = 0; i < count; ++i) {
      std::vector<double>& row = to.emplace_back(out.t.size());
      for (size_t k = 0; k < row.size(); ++k)
        row[k] = states(from + i, static_cast<Eigen::Index>(k));
    }
  };
  const int nv = system.nv(), nl = system.n_lambda();
  rows(0, nv, out.y);
  rows(nv, nv, out.v);
  rows(2 * nv, nv, out.w);
  rows(3 * nv, nl, out.lambda);
  rows(3 * nv + nl, system.nu(), out.u);
}

// The error of a solution by how quantities change from mesh to mesh. When intervals are halved errors fall at least by four, at most by sixteen: the change is three to
// fifteen times what is left, as two changes tell.
class ErrorEstimate {
 public:
  double operator()(double change) {
    constexpr double kLeast = 3, kMost = 15;
    const double falls = last_ > 0 ? last_ / change - 1 : kLeast;
    last_ = change;
    return change / std::clamp(falls, kLeast, kMost);
  }

 private:
  double last_ = 0;
};

class Search {
 public:
  Search(ServoSystem& system, const Path& path, const StableOptions& options,
         const HorizonProblem& problem, StableInversion& out)
      : system_(system),
        path_(path),
        options_(options),
        problem_(problem),
        out_(out),
        most_(static_cast<size_t>(options.most_intervals)),
        spacing_(problem.spacing),
        slowed_{path, 1},
        // Below what the mesh is asked for; forces that act by way of derivatives of the path are no better known on fine meshes than round-off lets them be.
        newton_tolerance_(options.dt > 0
                              ? options.newton_tolerance
                              : std::max(options.newton_tolerance, 0.1 * options.tolerance)) {}

  Diagnostics run();

 private:
  using Solution = std::unique_ptr<HorizonCollocation>;

  [[nodiscard]] double duration() const { return path_.end() - path_.begin(); }
  [[nodiscard]] std::vector<double> equal_mesh() const;
  Diagnostics begin_at_rest();
  Result<Status> solve(HorizonCollocation& problem);
  // Ways on where Newton's method failed: on a mesh finer than one with a solution, and where there is none yet. `true`: begin anew like a first mesh.
  Result<bool> after_finer_failed(Status status);
  Diagnostics after_first_failed(Status status);
  void play_faster();
  // Of a solution along the path itself: whether it is good enough; `halve_`, which intervals are to be halved if not.
  bool judge(const HorizonCollocation& found);
  Diagnostics refine(Solution found);
  [[nodiscard]] std::string reached() const;
  [[nodiscard]] std::string stalls() const;
  [[nodiscard]] std::string remedy() const;
  // That clamps may be too near the path; "" where they are not.
  [[nodiscard]] std::string too_near() const;
  // Continuous derivatives of the path beyond what the inverse needs.
  [[nodiscard]] int smoother_by() const { return path_.smoothness() - problem_.smoothness; }
  [[nodiscard]] std::string not_finer(bool stalled, Status status) const;
  [[nodiscard]] std::string not_found(Status status) const;

  ServoSystem& system_;
  const Path& path_;
  const StableOptions& options_;
  const HorizonProblem& problem_;
  StableInversion& out_;
  const size_t most_;  // instants of a mesh

  double spacing_;
  SlowedPath slowed_;
  std::vector<double> mesh_;
  Eigen::MatrixXd guess_;
  bool at_rest_ = false;  // the guess

  // The last motion found along a slower path, and by how much faster it is played next.
  struct {
    double stretch = 1;
    std::vector<double> mesh;
    Eigen::MatrixXd states;
  } slow_;
  double faster_ = 2;

  const double newton_tolerance_;
  HorizonCollocation::Report report_;
  Solution coarser_;        // the solution on the last mesh
  Eigen::MatrixXd better_;  // extrapolated
  bool extrapolates_ = false;
  ErrorEstimate plain_error_, better_error_;
  std::vector<char> halve_;
  // Successive meshes on which the error did not fall, and of those on which it rose.
  int tries_ = 0, restarts_ = 0, stalls_ = 0, rises_ = 0;
  struct {
    double error = 0;
    int intervals = 0;
  } best_;
};

std::vector<double> Search::equal_mesh() const {
  std::vector<double> boundaries;
  if (out_.before > 0) boundaries.push_back(path_.begin() - out_.before);
  boundaries.push_back(path_.begin());
  boundaries.push_back(slowed_.end());
  if (out_.after > 0) boundaries.push_back(slowed_.end() + out_.after);
  // Along slower paths coarser ones, where there is no room to halve them twice.
  const double room = (boundaries.back() - boundaries.front()) / (static_cast<double>(most_) / 4);
  const bool coarser = options_.dt <= 0 && slowed_.stretch > 1;
  return equal_intervals(boundaries, coarser ? std::max(spacing_, room) : spacing_);
}

Diagnostics Search::begin_at_rest() {
  Result<Eigen::MatrixXd> states = rest_along(system_, slowed_, mesh_, problem_.rest);
  if (!states.ok()) return states.diagnostics();
  guess_ = *states;
  at_rest_ = true;
  return {};
}

Result<Status> Search::solve(HorizonCollocation& problem) {
  const bool boundary_value = options_.method == StableMethod::kBoundaryValue;
  if (boundary_value && out_.modes.idle.cols() > 0 && problem.interpolates())
    (void)problem.end_along_discrete_modes();
  if (std::exchange(at_rest_, false) && boundary_value && options_.guess == StableGuess::kLinear &&
      problem.move_linearly())
    ++out_.iterations;
  if (boundary_value) return problem.solve(options_.iterations, newton_tolerance_, report_);
  const Result<Eigen::MatrixXd> rest = rest_along(system_, slowed_, problem.times(), problem_.rest);
  if (!rest.ok()) return rest.diagnostics();
  // Without the curvature of the equations convergence is linear: more steps than Newton's.
  constexpr int kSlower = 8;
  const Eigen::MatrixXd positions = rest->topRows(system_.nv());
  const int iterations = kSlower * options_.iterations;
  return options_.method == StableMethod::kDirect
             ? nearest_to_rest(problem, positions, iterations, newton_tolerance_, report_)
             : nearest_by_adjoint(problem, positions, iterations, newton_tolerance_, report_);
}

// From rest on this mesh, from the coarser solution on one that is finer still, from rest there, and only then like a first mesh.
Result<bool> Search::after_finer_failed(Status status) {
  constexpr int kTries = 3, kRestarts = 2;
  Diagnostics failed;
  const bool stalled = stalls_ > 1 || (stalls_ > 0 && tries_ >= kTries);
  const bool gone = tries_ >= kTries && (restarts_ >= kRestarts || smoother_by() < 0);
  const bool larger = tries_ == 1;
  if (stalled || gone || (larger && 2 * mesh_.size() > most_)) {
    failed.error(1074, {}, not_finer(stalled, status));
    return failed;
  }
  if (tries_ >= kTries) {
    ++restarts_;
    return true;
  }
  ++tries_;
  rises_ = 0;  // beyond a mesh that is passed over errors begin anew
  if (larger) {
    mesh_ = halved(mesh_);
    guess_ = between(coarser_->times(), coarser_->states(), mesh_);
  } else if (Diagnostics d = begin_at_rest(); !d.ok()) {
    return d;
  }
  return false;
}

// On a mesh that is too coarse for the internal motion there may be no solution; slower motion is nearer to the guess.
Diagnostics Search::after_first_failed(Status status) {
  constexpr double kSlowest = 1024, kLeastFaster = 1.05;
  constexpr int kSlowDowns = 40;
  const bool too_fast = slow_.stretch > 1;  // there is a slower motion
  const bool refine =
      options_.dt <= 0 && spacing_ > duration() / 400 && !too_fast && 2 * mesh_.size() <= most_;
  if (too_fast) {
    faster_ = std::sqrt(faster_);
  } else if (refine) {
    spacing_ /= 2;
  } else {
    slowed_.stretch *= 2;
  }
  if (!refine) ++out_.slow_downs;
  coarser_.reset();
  better_.resize(0, 0);
  out_.error = 0;
  plain_error_ = better_error_ = {};
  tries_ = stalls_ = rises_ = 0;
  if (!too_fast) mesh_ = equal_mesh();
  if (faster_ < kLeastFaster || out_.slow_downs > kSlowDowns || slowed_.stretch > kSlowest) {
    Diagnostics failed;
    failed.error(1073, {}, not_found(status));
    return failed;
  }
  if (!too_fast) return begin_at_rest();
  play_faster();
  return {};
}

void Search::play_faster() {
  slowed_.stretch = slow_.stretch;
  const double old_end = slowed_.end();
  slowed_.stretch = std::max(1.0, slow_.stretch / faster_);
  const double by = slow_.stretch / slowed_.stretch;
  mesh_ = slow_.mesh;
  for (double& at : mesh_)
    at = at <= path_.begin() ? at
         : at >= old_end     ? slowed_.end() + (at - old_end)
                             : path_.begin() + (at - path_.begin()) / by;
  const int nv = system_.nv();
  guess_ = slow_.states;
  guess_.middleRows(nv, nv) *= by;
  guess_.middleRows(2 * nv, nv) *= by * by;
  at_rest_ = false;
}

bool Search::judge(const HorizonCollocation& found) {
  out_.intervals = static_cast<int>(mesh_.size()) - 1;
  halve_.assign(mesh_.size() - 1, 1);
  extrapolates_ = false;
  if (options_.dt > 0) return true;
  if (!coarser_) return false;
  // Forces that are straight in intervals are extrapolated, which needs all intervals halved.
  const bool straight = found.interpolates(),
             all_halved = mesh_.size() == 2 * coarser_->mesh().size() - 1;
  const Eigen::MatrixXd before =
      std::exchange(better_, straight && all_halved ? extrapolated(found, *coarser_, system_.nv())
                                                    : Eigen::MatrixXd());
  const std::vector<double> changed = found.changes(*coarser_);
  const double last_error =
      std::exchange(out_.error, plain_error_(*std::max_element(changed.begin(), changed.end())));
  if (before.cols() > 0 && better_.cols() > 0) {
    const Eigen::MatrixXd now = at_instants(better_);
    double change = 0;
    for (Eigen::Index i = 0; i < now.cols(); ++i)
      change = std::max(change, found.distance(now.col(i).data(), before.col(i).data()));
    const double left = better_error_(change);
    extrapolates_ = left < out_.error;
    out_.error = std::min(out_.error, left);
  }
  constexpr double kFalls = 0.7;
  stalls_ = last_error > 0 && out_.error > kFalls * last_error ? stalls_ + 1 : 0;
  rises_ = last_error > 0 && out_.error > last_error ? rises_ + 1 : 0;
  if (!(best_.error > 0 && best_.error <= out_.error)) best_ = {out_.error, out_.intervals};
  // Where the change is far below the tolerance intervals are fine enough.
  constexpr double kFine = 0.3;
  const std::vector<double>& coarse = coarser_->mesh();
  size_t k = 0;
  for (size_t i = 0; i + 1 < mesh_.size(); ++i) {
    while (k + 2 < coarse.size() && coarse[k + 1] <= mesh_[i]) ++k;
    halve_[i] = straight || std::max(changed[k], changed[k + 1]) > kFine * options_.tolerance;
  }
  return out_.error <= options_.tolerance;
}

Diagnostics Search::refine(Solution found) {
  std::vector<double> finer{mesh_.front()};
  std::vector<Eigen::Index> columns{0};
  for (size_t i = 0; i + 1 < mesh_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(2 * i);
    if (halve_[i] != 0) {
      finer.push_back((mesh_[i] + mesh_[i + 1]) / 2);
      columns.push_back(column + 1);
    }
    finer.push_back(mesh_[i + 1]);
    columns.push_back(column + 2);
  }
  if (rises_ > 1 || finer.size() > most_) {
    Diagnostics failed;
    failed.error(1074, {},
                 reached() + (stalls_ > 0 ? stalls() : "") + ": " + remedy() + too_near());
    return failed;
  }
  guess_ = found->states()(Eigen::all, columns);
  mesh_ = std::move(finer);
  coarser_ = std::move(found);
  coarser_->finish();
  return {};
}

std::string Search::reached() const {
  return best_.error > 0
             ? fmt::format("an error of {:.2g} is reached with {} intervals, {:.2g} was asked for",
                           best_.error, best_.intervals, options_.tolerance)
             : fmt::format("there is a solution with {} intervals, whose error is not known",
                           out_.intervals);
}

std::string Search::stalls() const {
  return smoother_by() < 0 ? ""
         : smoother_by() < kSmootherPath
             ? "; on finer meshes it no longer falls"
             : "; on finer meshes it no longer falls, as round-off grows";
}

std::string Search::remedy() const {
  const int enough = std::min(problem_.smoothness + kSmootherPath, kMostSmooth);
  if (smoother_by() < 0)
    return fmt::format(
        "the path is C{}, the inverse needs C{}: a smoother path (`smooth` of {}), or a larger "
        "tolerance is needed",
        path_.smoothness(), problem_.smoothness, enough);
  if (smoother_by() < kSmootherPath)
    return fmt::format(
        "ask for a larger tolerance, or take a smoother path (`smooth` of {}, this one is C{})",
        enough, path_.smoothness());
  return "ask for a larger tolerance";
}

std::string Search::too_near() const {
  if (options_.method != StableMethod::kBoundaryValue || options_.ends != EndKind::kClamped)
    return "";
  std::string lengths;
  double left = 0;
  const auto judge = [&](double has, double needs, const std::vector<std::complex<double>>& zeros,
                         const char* where) {
    if (!(has >= 0 && has < (1 - 1e-6) * needs)) return;
    lengths += fmt::format("{}{:.3g} s instead of {:.3g} s {} the path",
                           lengths.empty() ? "" : " and ", needs, has, where);
    left = std::max(left, std::exp(-std::abs(zeros.front().real()) * has));
  };
  judge(options_.before, problem_.before, out_.modes.growing, "before");
  judge(options_.after, problem_.after, out_.modes.decaying, "after");
  return lengths.empty()
             ? ""
             : fmt::format(
                   "; or the horizon is too short for clamped ends, where {:.2g} of the slowest "
                   "internal motion is left: {} would do; `ends` of \"eigenspaces\" bear shorter "
                   "ones",
                   left, lengths);
}

std::string Search::not_finer(bool stalled, Status status) const {
  const std::string near = too_near();
  if (stalled && smoother_by() >= 0) return reached() + stalls() + ": " + remedy() + near;
  return fmt::format("{}; on finer meshes Newton's method finds none ({}): {}{}{}", reached(),
                     to_string(status), remedy(), smoother_by() < 0 ? "" : ", or a longer path",
                     near);
}

std::string Search::not_found(Status status) const {
  const std::string how =
      fmt::format("Newton's method: {}, relative step {:.2g}{}", to_string(status), report_.step,
                  report_.regular ? "" : ", the equations are singular");
  if (slow_.stretch > 1)
    return fmt::format(
        "a motion is found when the path is followed {:.3g} times more slowly, in "
        "{:.3g} s, and none when it is faster ({}): the inputs may cease to move "
        "the outputs on the way; a longer duration or a smaller move would do{}",
        slow_.stretch, slow_.stretch * duration(), how, too_near());
  return fmt::format(
      "no motion is found, nor when the path is followed {:.3g} times more slowly "
      "({}): a smaller move, a longer duration or another guess may help{}",
      slowed_.stretch / 2, how, too_near());
}

Diagnostics Search::run() {
  mesh_ = equal_mesh();
  if (Diagnostics d = begin_at_rest(); !d.ok()) return d;
  for (;;) {
    auto problem = std::make_unique<HorizonCollocation>(system_, slowed_.targets(), mesh_,
                                                        problem_.first, problem_.last, guess_);
    const auto go_on = [this] {
      return !options_.progress || options_.progress(std::min(0.9, 0.15 * out_.meshes));
    };
    problem->ask(go_on);
    const Result<Status> solved = solve(*problem);
    if (!solved.ok()) return solved.diagnostics();
    out_.iterations += report_.iterations;
    ++out_.meshes;
    if (report_.stopped || !go_on()) {
      Diagnostics stopped;
      stopped.error(1075, {}, "stopped before a solution was found");
      return stopped;
    }
    // On fine meshes round-off may end the iteration before it has converged.
    const bool exhausted = *solved == Status::kNotConverged && report_.step <= options_.tolerance;
    if (!ok(*solved) && !exhausted) {
      if (coarser_) {
        const Result<bool> anew = after_finer_failed(*solved);
        if (!anew.ok()) return anew.diagnostics();
        if (!*anew) continue;
      }
      if (Diagnostics d = after_first_failed(*solved); !d.ok()) return d;
      continue;
    }
    tries_ = 0;
    if (slowed_.stretch > 1) {
      slow_ = {slowed_.stretch, mesh_, at_instants(problem->states())};
      play_faster();
      continue;
    }
    slow_ = {};
    faster_ = 2;
    if (judge(*problem)) {
      keep(*problem, system_, extrapolates_ ? better_ : Eigen::MatrixXd(), out_);
      return {};
    }
    if (Diagnostics d = refine(std::move(problem)); !d.ok()) return d;
  }
}

}  // namespace

Targets SlowedPath::targets() const {
  return [this](double t, std::span<double> out) {
    path.at(own_time(t), 3, out);
    const size_t n = out.size() / 3;
    for (size_t i = 0; i < n; ++i) {
      out[n + i] /= stretch;
      out[2 * n + i] /= stretch * stretch;
    }
  };
}

std::vector<double> equal_intervals(const std::vector<double>& boundaries, double spacing) {
  std::vector<double> mesh{boundaries.front()};
  for (size_t i = 1; i < boundaries.size(); ++i) {
    const double length = boundaries[i] - boundaries[i - 1];
    const int n = std::max(1, static_cast<int>(std::lround(std::ceil(length / spacing - 1e-9))));
    for (int k = 1; k <= n; ++k) mesh.push_back(boundaries[i - 1] + length * k / n);
    mesh.back() = boundaries[i];
  }
  return mesh;
}

Result<Eigen::MatrixXd> rest_along(ServoSystem& system, const SlowedPath& slowed,
                                   const std::vector<double>& mesh, const Rest& begin) {
  const int nv = system.nv(), nl = system.n_lambda(), nu = system.nu();
  const auto n = static_cast<Eigen::Index>(mesh.size());
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(3 * nv + nl + nu, n);
  Rest rest = begin;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double t = mesh[static_cast<size_t>(i)];
    const bool moves = t > slowed.path.begin() && t < slowed.end();
    if (moves || (i > 0 && t >= slowed.end() && mesh[static_cast<size_t>(i) - 1] < slowed.end())) {
      Result<Rest> next = rest_at(system, slowed.path, slowed.own_time(t), view_of(rest.y));
      if (!next.ok()) return next.diagnostics();
      rest = *next;
    }
    states.col(i).head(nv) = rest.y;
    states.col(i).segment(3 * nv, nl) = rest.lambda;
    states.col(i).tail(nu) = rest.u;
  }
  const auto differentiate = [&](int from, int to) {
    for (Eigen::Index i = 1; i + 1 < n; ++i)
      states.col(i).segment(to, nv) =
          (states.col(i + 1).segment(from, nv) - states.col(i - 1).segment(from, nv)) /
          (mesh[static_cast<size_t>(i) + 1] - mesh[static_cast<size_t>(i) - 1]);
  };
  differentiate(0, nv);
  differentiate(nv, 2 * nv);
  return states;
}

Diagnostics search_motion(ServoSystem& system, const Path& path, const StableOptions& options,
                          const HorizonProblem& problem, StableInversion& out) {
  return Search(system, path, options, problem, out).run();
}

}  // namespace panto
