#include "panto/inversion/stable_inversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "panto/inversion/optimal_motion.hpp"

namespace panto {
namespace {

View view_of(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

// A path that is followed more slowly: `stretch` times its duration, from the same beginning.
struct Slowed {
  const Path& path;
  double stretch = 1;
  [[nodiscard]] double own_time(double t) const {
    return path.begin() + (t - path.begin()) / stretch;
  }
  [[nodiscard]] double end() const { return path.begin() + (path.end() - path.begin()) * stretch; }
  [[nodiscard]] Targets targets() const {
    return [this](double t, std::span<double> out) {
      path.at(own_time(t), 3, out);
      const size_t n = out.size() / 3;
      for (size_t i = 0; i < n; ++i) {
        out[n + i] /= stretch;
        out[2 * n + i] /= stretch * stretch;
      }
    };
  }
};

// Parts of the horizon with equal spacing inside; boundaries are instants of the mesh.
std::vector<double> uniform(const std::vector<double>& ends, double spacing) {
  std::vector<double> mesh{ends.front()};
  for (size_t i = 1; i < ends.size(); ++i) {
    const double length = ends[i] - ends[i - 1];
    const int n = std::max(1, static_cast<int>(std::lround(std::ceil(length / spacing - 1e-9))));
    for (int k = 1; k <= n; ++k) mesh.push_back(ends[i - 1] + length * k / n);
    mesh.back() = ends[i];
  }
  return mesh;
}

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

// At rest where the path is, instant by instant; speeds and accelerations by differences.
Result<Eigen::MatrixXd> quasi_static(ServoSystem& system, const Slowed& slowed,
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

// Numbers in (y, v) of names of coordinates, "'" for speeds.
bool numbers_of(const ServoSystem& system, const std::vector<std::string>& names,
                std::vector<int>& numbers, std::string& unknown) {
  const std::vector<std::string>& all = system.coordinate_names();
  for (std::string name : names) {
    const bool speed = !name.empty() && name.back() == '\'';
    if (speed) name.pop_back();
    const auto it = std::find(all.begin(), all.end(), name);
    if (it == all.end()) {
      unknown = name;
      return false;
    }
    numbers.push_back(static_cast<int>(it - all.begin()) + (speed ? system.nv() : 0));
  }
  return true;
}

std::vector<std::string> names_of(const ServoSystem& system, const std::vector<int>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const int k : numbers)
    names.push_back(k < system.nv()
                        ? system.coordinate_names()[static_cast<size_t>(k)]
                        : system.coordinate_names()[static_cast<size_t>(k - system.nv())] + "'");
  return names;
}

// Oscillation that is damped by less than a hundredth.
bool hardly_decays(std::complex<double> s) { return std::abs(s.real()) < 0.01 * std::abs(s); }

double slowest(const std::vector<std::complex<double>>& zeros) {
  return zeros.empty() ? 0 : std::abs(zeros.front().real());
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
    states = states(Eigen::all, Eigen::seq(0, Eigen::last, 2)).eval();
  }
  if (better.cols() > 0) {
    const Eigen::MatrixXd correction = better - states(Eigen::all, Eigen::seq(0, Eigen::last, 2));
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

void describe_ends(StableInversion& out, const Rest& begin, const Rest& end, int nv,
                   const Path& path, const StableOptions& options, Diagnostics& notes) {
  const size_t last = out.t.size() - 1;
  const auto distance = [&](size_t at, const Rest& rest) {
    double sum = 0;
    for (int c = 0; c < nv; ++c) {
      const auto k = static_cast<size_t>(c);
      sum = std::max(
          {sum, std::abs(out.y[k][at] - rest.y[c]), std::abs(out.v[k][at]) / out.modes.frequency});
    }
    return sum;
  };
  double largest = 1e-300;
  for (size_t i = 0; i <= last; ++i)
    largest = std::max(largest, std::min(distance(i, begin), distance(i, end)));
  out.leakage_begin = distance(0, begin) / largest;
  out.leakage_end = distance(last, end) / largest;
  constexpr double kTooMuch = 100;  // times what was asked for
  const auto judge = [&](double leaks, const std::vector<std::complex<double>>& zeros, double has,
                         bool lasts, const char* where) {
    const double rate = slowest(zeros);
    if (!(leaks > kTooMuch * options.leakage) || rate <= 0) return;
    notes.warning(
        1077, {},
        fmt::format("the horizon ends too early {} the path: internal motion is still {:.2g} "
                    "of its largest there; {:.3g} s instead of {:.3g} s would do{}",
                    where, leaks, has + std::log(leaks / options.leakage) / rate, has,
                    hardly_decays(zeros.front())
                        ? fmt::format(", as that of {} 1/s hardly decays", zero_text(zeros.front()))
                    : lasts ? fmt::format(", but for that of {} 1/s, which does not decay",
                                          zero_text(out.modes.neutral.front()))
                            : ""));
  };
  judge(out.leakage_begin, out.modes.growing, out.before, false, "before");
  judge(out.leakage_end, out.modes.decaying, out.after, !out.modes.neutral.empty(), "after");

  constexpr double kActs = 1e-3;
  double first = path.begin(), final = path.end();
  for (size_t i = 0; i < out.u.size(); ++i) {
    const double u0 = begin.u[static_cast<Eigen::Index>(i)],
                 u1 = end.u[static_cast<Eigen::Index>(i)];
    double change = 0;
    for (const double u : out.u[i])
      change = std::max(change, std::min(std::abs(u - u0), std::abs(u - u1)));
    for (size_t k = 0; k <= last; ++k) {
      if (out.t[k] < first && std::abs(out.u[i][k] - u0) > kActs * change) first = out.t[k];
      if (out.t[k] > final && std::abs(out.u[i][k] - u1) > kActs * change) final = out.t[k];
    }
  }
  out.pre_actuation = path.begin() - first;
  out.post_actuation = final - path.end();
}

}  // namespace

Diagnostics resolves(const InternalModes& modes, double dt) {
  Diagnostics d;
  for (const auto* zeros : {&modes.growing, &modes.decaying}) {
    if (!(dt * slowest(*zeros) > 1)) continue;
    d.error(1078, {},
            fmt::format("steps of {:.3g} s cannot follow internal motion of {} 1/s: they must be "
                        "shorter than {:.2g} s",
                        dt, zero_text(zeros->front()), 1 / slowest(*zeros)));
    break;
  }
  return d;
}

Result<StableInversion> invert_stably(ServoSystem& system, const Path& path,
                                      const StableOptions& options) {
  Diagnostics notes;
  const int nv = system.nv(), nl = system.n_lambda(), nu = system.nu();
  Result<Rest> begin = rest_at(system, path, path.begin());
  if (!begin.ok()) return begin.diagnostics();
  const ServoAnalysis analysis = analyse(system, path.begin(), *begin);
  const Diagnostics judged = judge(analysis, path);
  for (const Diagnostic& d : judged.items()) {
    if (d.id == 1032) {
      notes.error(1032, {}, d.message);
      return notes;
    }
    if (d.id == 1033) notes.warning(1033, {}, d.message);
  }
  if (path.smoothness() < 1 && analysis.smoothness > 1) {
    notes.error(
        1073, {},
        fmt::format("the speed of the path jumps (it is C0), which no bounded motion follows: "
                    "a path that is C{} (`smooth`) is needed",
                    analysis.smoothness));
    return notes;
  }
  // The rest at the end is the one that is reached along the path.
  Slowed slowed{path, 1};
  Result<Eigen::MatrixXd> along =
      quasi_static(system, slowed,
                   uniform({path.begin(), path.end()}, (path.end() - path.begin()) / 20), *begin);
  if (!along.ok()) return along.diagnostics();
  Rest end;
  end.y = along->col(along->cols() - 1).head(nv);
  end.lambda = along->col(along->cols() - 1).segment(3 * nv, nl);
  end.u = along->col(along->cols() - 1).tail(nu);

  StableInversion out;
  out.analysis = analysis;
  out.method = options.method;
  out.ends = options.method == StableMethod::kBoundaryValue ? options.ends : EndKind::kEigenspaces;
  out.path_begin = path.begin();
  out.path_end = path.end();
  out.rest.assign(begin->y.begin(), begin->y.end());
  // Round-off may put zeros of the imaginary axis beside it: they are those whose number at both ends would differ.
  InternalModes at_end;
  const auto alike = [&] {
    return at_end.growing.size() == out.modes.growing.size() &&
           at_end.idle.cols() == out.modes.idle.cols();
  };
  for (double marginal = 1e-6; marginal < 2e-4; marginal *= 10) {
    out.modes = internal_modes(system, path.begin(), *begin, marginal);
    at_end = internal_modes(system, path.end(), end, marginal);
    if (alike()) break;
  }
  constexpr double kDrifts = 1e-5;
  // A double zero at the origin may be computed as a slow pair of any kind.
  for (const auto* zeros : {&out.modes.neutral, &out.modes.growing, &out.modes.decaying})
    if (!zeros->empty() &&
        std::abs(zeros->front()) < kDrifts * std::max(1.0, out.modes.frequency)) {
      notes.error(1071, {},
                  "a zero at the origin: internal motion drifts and no bounded motion follows the "
                  "path; hold the free motion by a spring, or choose another output");
      return notes;
    }
  if (!alike()) {
    notes.error(
        1071, {},
        fmt::format("{} growing internal modes at the beginning of the path, {} at its end: "
                    "a zero crosses the imaginary axis on the way, or is too near it to be told, "
                    "and the ends ask for more or less than a motion can obey; another path, "
                    "another output, or fewer elements",
                    out.modes.growing.size(), at_end.growing.size()));
    return notes;
  }
  if (Diagnostics d = resolves(out.modes, std::max(options.dt, options.cycle)); !d.ok()) return d;
  if (!out.modes.neutral.empty())
    notes.warning(1076, {},
                  fmt::format("{} zeros on the imaginary axis, the slowest at {:.4g} rad/s: these "
                              "internal oscillations start from rest and do not decay",
                              out.modes.neutral.size(), std::abs(out.modes.neutral.front())));

  if (options.method == StableMethod::kIndirect && out.modes.idle.cols() > 0) {
    notes.error(1090, {},
                "the adjoint equations need inputs that act on accelerations at once, here they "
                "act by way of the mechanism; the direct method does without");
    return notes;
  }
  const auto forces = [](const Rest& rest) {
    Eigen::VectorXd mu(rest.lambda.size() + rest.u.size());
    mu << rest.lambda, rest.u;
    return mu;
  };
  HorizonEnd first{begin->y, forces(*begin), {}, out.modes.frequency},
      last{end.y, forces(end), {}, at_end.frequency};
  if (out.ends == EndKind::kEigenspaces) {
    first.conditions = leave_along_growing(out.modes);
    last.conditions = arrive_along_decaying(at_end);
  } else {
    std::vector<int> chosen_begin, chosen_end;
    std::string unknown;
    if (!numbers_of(system, options.clamp_begin, chosen_begin, unknown) ||
        !numbers_of(system, options.clamp_end, chosen_end, unknown)) {
      notes.error(1072, {},
                  fmt::format("there is no coordinate \"{}\" to be clamped{}", unknown,
                              did_you_mean(unknown, system.coordinate_names())));
      return notes;
    }
    first.conditions = clamp_begin(out.modes, chosen_begin);
    last.conditions = clamp_end(at_end, chosen_end);
    const int free_modes = out.modes.size() - static_cast<int>(out.modes.growing_basis.cols());
    const auto wrong = [&](const EndConditions& c, Eigen::Index needed, const char* where) {
      if (needed > 0 && c.rows.rows() == 0)
        notes.error(1072, {},
                    fmt::format("clamps at the {}: {} of them must tell as many internal modes "
                                "apart, {} given ones do not; leave them out to have them chosen",
                                where, needed, c.clamped.size()));
    };
    wrong(first.conditions, free_modes, "beginning");
    wrong(last.conditions, at_end.growing_basis.cols(), "end");
    if (!notes.ok()) return notes;
    out.clamped_begin = names_of(system, first.conditions.clamped);
    out.clamped_end = names_of(system, last.conditions.clamped);
  }

  if (options.method != StableMethod::kBoundaryValue) {
    first.conditions = rest_of_neutral(out.modes);
    last.conditions.rows.resize(0, 2 * nv);
  }
  const double decades = -std::log(options.leakage);
  const double duration = path.end() - path.begin();
  double spacing = options.dt > 0 ? options.dt : duration / 100;
  // In whole intervals of the path: on a chain of equal ones no motion of its own begins or ends to grow on the way (SRV-49).
  const double interval = duration / std::ceil(duration / spacing - 1e-9);
  const auto horizon = [&](double given, const std::vector<std::complex<double>>& zeros) {
    if (given >= 0 || zeros.empty()) return std::max(given, 0.0);
    // (SRV-66)
    double longest = 20 * duration;
    for (const std::complex<double>& s : zeros)
      if (!hardly_decays(s)) {
        longest += 20 / std::abs(s.real());
        break;
      }
    return std::ceil(std::min(decades / slowest(zeros), longest) / interval) * interval;
  };
  out.before = horizon(options.before, out.modes.growing);
  out.after = horizon(options.after, out.modes.decaying);
  if (const double needed = (out.before + out.after + duration) / interval;
      options.dt <= 0 && needed > options.most_intervals) {
    notes.error(
        1074, {},
        fmt::format("a horizon of {:.3g} s before and {:.3g} s after a path of {:.3g} s needs "
                    "{:.0f} intervals, more than {}: give a shorter one, what is left at "
                    "its ends is told",
                    out.before, out.after, duration, needed, options.most_intervals));
    return notes;
  }
  const auto parts = [&] {
    std::vector<double> ends;
    if (out.before > 0) ends.push_back(path.begin() - out.before);
    ends.push_back(path.begin());
    ends.push_back(slowed.end());
    if (out.after > 0) ends.push_back(slowed.end() + out.after);
    return ends;
  };
  const double finest = duration / 400;
  std::vector<double> mesh = uniform(parts(), spacing);
  Eigen::MatrixXd guess;
  bool at_rest = false;  // the guess
  const auto begin_at_rest = [&]() -> Diagnostics {
    Result<Eigen::MatrixXd> states = quasi_static(system, slowed, mesh, *begin);
    if (!states.ok()) return states.diagnostics();
    guess = *states;
    at_rest = true;
    return {};
  };
  if (Diagnostics d = begin_at_rest(); !d.ok()) return d;
  constexpr double kSlowest = 1024;
  constexpr int kSlowDowns = 40, kTries = 3, kRestarts = 2;
  // stalls: successive meshes on which the error did not fall
  int tries = 0, restarts = 0, stalls = 0;
  const auto most = static_cast<size_t>(options.most_intervals);
  const bool rough = path.smoothness() < analysis.smoothness;
  const std::string smoother =
      fmt::format("the path is C{}, the inverse needs C{}: a smoother path (`smooth` of {})",
                  path.smoothness(), analysis.smoothness, analysis.smoothness);
  // The last motion found along a slower path, and by how much faster it is played next.
  struct {
    double stretch = 1;
    std::vector<double> mesh;
    Eigen::MatrixXd states;
  } slow;
  constexpr double kLeastFaster = 1.05;
  double faster = 2;
  HorizonCollocation::Report report;
  const auto reached = [&] {
    return out.error > 0
               ? fmt::format(
                     "an error of {:.2g} is reached with {} intervals, {:.2g} was asked for",
                     out.error, out.intervals, options.tolerance)
               : fmt::format("there is a solution with {} intervals, whose error is not known",
                             out.intervals);
  };
  const auto not_finer = [&](bool stalled, Status status) {
    if (rough)
      return fmt::format("{}; on finer meshes Newton's method fails ({}): {} is needed", reached(),
                         to_string(status), smoother);
    if (stalled)
      return fmt::format(
          "{}; on finer meshes it no longer falls, as round-off grows: ask for a "
          "larger tolerance",
          reached());
    return fmt::format(
        "{}; on finer meshes Newton's method finds none ({}): ask for a larger "
        "tolerance, or take a smoother path, or a longer one",
        reached(), to_string(status));
  };
  const auto not_found = [&](Status status) {
    const std::string how =
        fmt::format("Newton's method: {}, relative step {:.2g}{}", to_string(status), report.step,
                    report.regular ? "" : ", the equations are singular");
    if (slow.stretch > 1)
      return fmt::format(
          "a motion is found when the path is followed {:.3g} times more slowly, in "
          "{:.3g} s, and none when it is faster ({}): the inputs may cease to move "
          "the outputs on the way; a longer duration or a smaller move would do",
          slow.stretch, slow.stretch * duration, how);
    return fmt::format(
        "no motion is found, nor when the path is followed {:.3g} times more slowly "
        "({}): a smaller move, a longer duration or another guess may help",
        std::max(1.0, slowed.stretch / 2), how);
  };
  // When intervals are halved errors fall at least by four, at most by sixteen: the change is three to fifteen times what is left, as two changes tell. Where it is far
  // below the tolerance intervals are fine enough; extrapolated forces need all of them halved.
  constexpr double kLeast = 3, kMost = 15, kFine = 0.3;
  double change_of_all = 0, change_of_better = 0;
  // Below what the mesh is asked for; forces that act by way of derivatives of the path are no better known on fine meshes than round-off lets them be.
  const double newton_tolerance = options.dt > 0
                                      ? options.newton_tolerance
                                      : std::max(options.newton_tolerance, 0.1 * options.tolerance);
  std::unique_ptr<HorizonCollocation> coarser;
  Eigen::MatrixXd better;  // extrapolated
  const auto play_faster = [&] {
    slowed.stretch = slow.stretch;
    const double old_end = slowed.end();
    slowed.stretch = std::max(1.0, slow.stretch / faster);
    const double by = slow.stretch / slowed.stretch;
    mesh = slow.mesh;
    for (double& at : mesh)
      at = at <= path.begin() ? at
           : at >= old_end    ? slowed.end() + (at - old_end)
                              : path.begin() + (at - path.begin()) / by;
    guess = slow.states;
    guess.middleRows(nv, nv) *= by;
    guess.middleRows(2 * nv, nv) *= by * by;
    at_rest = false;
  };
  const auto solve = [&](HorizonCollocation& problem) -> Result<Status> {
    if (options.method == StableMethod::kBoundaryValue)
      return problem.solve(options.iterations, newton_tolerance, report);
    const Result<Eigen::MatrixXd> rest = quasi_static(system, slowed, problem.times(), *begin);
    if (!rest.ok()) return rest.diagnostics();
    // Without the curvature of the equations convergence is linear: more steps than Newton's.
    constexpr int kSlower = 8;
    return options.method == StableMethod::kDirect
               ? nearest_to_rest(problem, rest->topRows(nv), kSlower * options.iterations,
                                 newton_tolerance, report)
               : nearest_by_adjoint(problem, rest->topRows(nv), kSlower * options.iterations,
                                    newton_tolerance, report);
  };
  for (;;) {
    auto problem =
        std::make_unique<HorizonCollocation>(system, slowed.targets(), mesh, first, last, guess);
    if (options.method == StableMethod::kBoundaryValue && out.modes.idle.cols() > 0 &&
        problem->interpolates())
      (void)problem->end_along_discrete_modes();
    if (std::exchange(at_rest, false) && options.method == StableMethod::kBoundaryValue &&
        options.guess == StableGuess::kLinear && problem->move_linearly())
      ++out.iterations;
    const Result<Status> solved = solve(*problem);
    if (!solved.ok()) return solved.diagnostics();
    const Status status = *solved;
    out.iterations += report.iterations;
    ++out.meshes;
    if (options.progress && !options.progress(std::min(0.9, 0.15 * out.meshes))) {
      notes.error(1075, {}, "stopped before a solution was found");
      return notes;
    }
    // On fine meshes round-off may end the iteration before it has converged.
    const bool exhausted = status == Status::kNotConverged && report.step <= options.tolerance;
    if (!ok(status) && !exhausted && coarser) {
      // There is a solution on a coarser mesh: from rest on this one, from that solution on one that is finer still, from rest there, and only then like a first mesh.
      const bool stalled = stalls > 1 || (stalls > 0 && tries >= kTries);
      const bool gone = tries >= kTries && (restarts >= kRestarts || rough);
      const bool larger = tries == 1;
      if (stalled || gone || (larger && 2 * mesh.size() > most)) {
        notes.error(1074, {}, not_finer(stalled, status));
        return notes;
      }
      if (tries < kTries) {
        ++tries;
        if (larger) {
          mesh = halved(mesh);
          guess = between(coarser->times(), coarser->states(), mesh);
        } else if (Diagnostics d = begin_at_rest(); !d.ok()) {
          return d;
        }
        continue;
      }
      ++restarts;
    }
    if (!ok(status) && !exhausted) {
      // On a mesh that is too coarse for the internal motion there may be no solution; slower motion is nearer to the guess.
      const bool refine = options.dt <= 0 && spacing > finest && slow.stretch <= 1;
      if (slow.stretch > 1) {
        faster = std::sqrt(faster);
      } else if (refine) {
        spacing /= 2;
      } else {
        slowed.stretch *= 2;
      }
      if (!refine) ++out.slow_downs;
      coarser.reset();
      better.resize(0, 0);
      out.error = change_of_all = change_of_better = 0;
      tries = stalls = 0;
      if (slow.stretch <= 1) mesh = uniform(parts(), spacing);
      if (faster < kLeastFaster || out.slow_downs > kSlowDowns || slowed.stretch > kSlowest ||
          (options.dt <= 0 && slowed.stretch > 1 && mesh.size() > most)) {
        notes.error(1073, {}, not_found(status));
        return notes;
      }
      if (slow.stretch > 1)
        play_faster();
      else if (Diagnostics d = begin_at_rest(); !d.ok())
        return d;
      continue;
    }
    tries = 0;
    if (slowed.stretch > 1) {
      slow = {slowed.stretch, mesh, problem->states()(Eigen::all, Eigen::seq(0, Eigen::last, 2))};
      play_faster();
      continue;
    }
    slow = {};
    faster = 2;
    out.intervals = static_cast<int>(mesh.size()) - 1;
    std::vector<char> halve(mesh.size() - 1, 1);
    bool done = options.dt > 0, extrapolates = false;
    if (coarser && !done) {
      const bool straight = problem->interpolates(),
                 halved = mesh.size() == 2 * coarser->mesh().size() - 1;
      const Eigen::MatrixXd before = std::exchange(
          better, straight && halved ? extrapolated(*problem, *coarser, nv) : Eigen::MatrixXd());
      const auto estimate = [&](double change, double& last_change) {
        const double falls = last_change > 0 ? last_change / change - 1 : kLeast;
        last_change = change;
        return change / std::clamp(falls, kLeast, kMost);
      };
      const std::vector<double> changed = problem->changes(*coarser);
      const double last_error = std::exchange(
          out.error, estimate(*std::max_element(changed.begin(), changed.end()), change_of_all));
      if (before.cols() > 0 && better.cols() > 0) {
        const Eigen::MatrixXd now = better(Eigen::all, Eigen::seq(0, Eigen::last, 2));
        double change = 0;
        for (Eigen::Index i = 0; i < now.cols(); ++i)
          change = std::max(change, problem->distance(now.col(i).data(), before.col(i).data()));
        const double left = estimate(change, change_of_better);
        extrapolates = left < out.error;
        out.error = std::min(out.error, left);
      }
      done = out.error <= options.tolerance;
      constexpr double kFalls = 0.7;
      stalls = last_error > 0 && out.error > kFalls * last_error ? stalls + 1 : 0;
      size_t k = 0;
      for (size_t i = 0; i + 1 < mesh.size(); ++i) {
        while (k + 2 < coarser->mesh().size() && coarser->mesh()[k + 1] <= mesh[i]) ++k;
        halve[i] = straight || std::max(changed[k], changed[k + 1]) > kFine * options.tolerance;
      }
    }
    if (done) {
      keep(*problem, system, extrapolates ? better : Eigen::MatrixXd(), out);
      break;
    }
    const Eigen::MatrixXd states = problem->states();
    std::vector<double> finer{mesh.front()};
    std::vector<Eigen::Index> columns{0};
    for (size_t i = 0; i + 1 < mesh.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(2 * i);
      if (halve[i] != 0) {
        finer.push_back((mesh[i] + mesh[i + 1]) / 2);
        columns.push_back(column + 1);
      }
      finer.push_back(mesh[i + 1]);
      columns.push_back(column + 2);
    }
    if (finer.size() > most) {
      notes.error(
          1074, {},
          fmt::format("{}: {}", reached(),
                      rough        ? smoother + ", or a larger tolerance is needed"
                      : stalls > 0 ? "it no longer falls, as round-off grows: ask for a "
                                     "larger tolerance"
                                   : "ask for a larger tolerance, or take a smoother path"));
      return notes;
    }
    guess = states(Eigen::all, columns);
    mesh = std::move(finer);
    coarser = std::move(problem);
    coarser->finish();
  }
  describe_ends(out, *begin, end, nv, path, options, notes);
  return {std::move(out), std::move(notes)};
}

}  // namespace panto
