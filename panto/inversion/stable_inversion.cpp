#include "panto/inversion/stable_inversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/inversion/horizon_search.hpp"

namespace panto {
namespace {

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

// The internal modes by which a finite horizon changes the motion, the slowest first: those that conditions at its ends leave free, of a minimum, which has none, growing and
// decaying ones at either end (SRV-55).
struct FreeZeros {
  std::vector<std::complex<double>> before, after;
};
FreeZeros free_zeros(const InternalModes& modes, StableMethod method) {
  if (method == StableMethod::kBoundaryValue) return {modes.growing, modes.decaying};
  std::vector<std::complex<double>> all = modes.growing;
  all.insert(all.end(), modes.decaying.begin(), modes.decaying.end());
  std::stable_sort(all.begin(), all.end(),
                   [](auto a, auto b) { return std::abs(a.real()) < std::abs(b.real()); });
  return {all, all};
}

// How far the motion is at most from the rest with the outputs where the path is, instant by instant: positions, and speeds in units of `frequency`.
Result<double> largest_deviation(ServoSystem& system, const StableInversion& found,
                                 const Rest& begin, const Path& path) {
  constexpr size_t kSamples = 500;
  std::vector<size_t> on_path;
  for (size_t i = 0; i < found.t.size(); ++i)
    if (found.t[i] >= path.begin() && found.t[i] <= path.end()) on_path.push_back(i);
  const size_t every = 1 + on_path.size() / kSamples;
  std::vector<double> times;
  for (size_t k = 0; k < on_path.size(); k += every) times.push_back(found.t[on_path[k]]);
  const Result<Eigen::MatrixXd> rest = rest_along(system, {path}, times, begin);
  if (!rest.ok()) return rest.diagnostics();
  Eigen::MatrixXd off = rest->topRows(system.nv());
  for (Eigen::Index k = 0; k < off.cols(); ++k)
    for (Eigen::Index c = 0; c < off.rows(); ++c)
      off(c, k) =
          found.y[static_cast<size_t>(c)][on_path[static_cast<size_t>(k) * every]] - off(c, k);
  double largest = off.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 1; k + 1 < off.cols(); ++k) {
    const double between = times[static_cast<size_t>(k) + 1] - times[static_cast<size_t>(k) - 1];
    largest = std::max(largest, (off.col(k + 1) - off.col(k - 1)).cwiseAbs().maxCoeff() /
                                    (between * found.modes.frequency));
  }
  return largest;
}

Diagnostics describe_ends(StableInversion& out, const Rest& begin, const Rest& end,
                          ServoSystem& system, const Path& path, const StableOptions& options) {
  Diagnostics notes;
  const int nv = system.nv();
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
  // Relative to internal motion alone: the travel of the path would hide what is left of it.
  const Result<double> on_path = largest_deviation(system, out, begin, path);
  if (!on_path.ok()) return on_path.diagnostics();
  double largest = std::max(*on_path, 1e-300);
  for (size_t i = 0; i <= last; ++i)
    if (out.t[i] < path.begin() || out.t[i] > path.end())
      largest = std::max(largest, distance(i, out.t[i] < path.begin() ? begin : end));
  if (out.modes.size() > 0) {
    out.leakage_begin = distance(0, begin) / largest;
    out.leakage_end = distance(last, end) / largest;
  }
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
  const FreeZeros zeros = free_zeros(out.modes, options.method);
  judge(out.leakage_begin, zeros.before, out.before, false, "before");
  judge(out.leakage_end, zeros.after, out.after, !out.modes.neutral.empty(), "after");

  constexpr double kActs = 1e-3;
  double first = path.begin(), final = path.end();
  // Neutral oscillation does not end with the horizon, nor do inputs that still differ from rest late in it.
  const double late = out.t.back() - out.after / 4;
  bool lasts = false;
  for (size_t i = 0; i < out.u.size(); ++i) {
    const double u0 = begin.u[static_cast<Eigen::Index>(i)],
                 u1 = end.u[static_cast<Eigen::Index>(i)];
    double change = 0;
    for (const double u : out.u[i])
      change = std::max(change, std::min(std::abs(u - u0), std::abs(u - u1)));
    for (size_t k = 0; k <= last; ++k) {
      if (out.t[k] < first && std::abs(out.u[i][k] - u0) > kActs * change) first = out.t[k];
      if (out.t[k] < path.end() || !(std::abs(out.u[i][k] - u1) > kActs * change)) continue;
      final = std::max(final, out.t[k]);
      lasts = lasts || (!out.modes.neutral.empty() && out.t[k] >= late);
    }
  }
  out.pre_actuation = path.begin() - first;
  out.post_actuation = lasts ? std::numeric_limits<double>::infinity() : final - path.end();
  return notes;
}

// Internal modes at both ends of the path, into `out` and `at_end`. E1071 where no bounded motion can be told.
Diagnostics modes_at_ends(ServoSystem& system, const Path& path, const Rest& begin, const Rest& end,
                          StableInversion& out, InternalModes& at_end) {
  Diagnostics notes;
  // Round-off may put zeros of the imaginary axis beside it: they are those whose number at both ends would differ.
  const auto alike = [&] {
    return at_end.growing.size() == out.modes.growing.size() &&
           at_end.idle.cols() == out.modes.idle.cols();
  };
  for (double marginal = 1e-6; marginal < 2e-4; marginal *= 10) {
    out.modes = internal_modes(system, path.begin(), begin, marginal);
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
  if (!alike())
    notes.error(
        1071, {},
        fmt::format("{} growing internal modes at the beginning of the path, {} at its end: "
                    "a zero crosses the imaginary axis on the way, or is too near it to be told, "
                    "and the ends ask for more or less than a motion can obey; another path, "
                    "another output, or fewer elements",
                    out.modes.growing.size(), at_end.growing.size()));
  return notes;
}

// Conditions at the ends of the horizon, as `options` ask; the names of what is clamped into `out`. E1072.
Diagnostics conditions_at_ends(const ServoSystem& system, const StableOptions& options,
                               const InternalModes& at_end, StableInversion& out,
                               EndConditions& first, EndConditions& last) {
  if (options.method != StableMethod::kBoundaryValue) {
    first = rest_of_neutral(out.modes);
    last = arrive_along_decaying(at_end);
    last.rows.resize(0, 2 * system.nv());
    return {};
  }
  if (options.ends == EndKind::kEigenspaces) {
    first = leave_along_growing(out.modes);
    last = arrive_along_decaying(at_end);
    return {};
  }
  Diagnostics notes;
  std::vector<int> chosen_begin, chosen_end;
  std::string unknown;
  if (!numbers_of(system, options.clamp_begin, chosen_begin, unknown) ||
      !numbers_of(system, options.clamp_end, chosen_end, unknown)) {
    notes.error(1072, {},
                fmt::format("there is no coordinate \"{}\" to be clamped{}", unknown,
                            did_you_mean(unknown, system.coordinate_names())));
    return notes;
  }
  first = clamp_begin(out.modes, chosen_begin);
  last = clamp_end(at_end, chosen_end);
  const auto judge = [&](const EndConditions& c, Eigen::Index needed, const char* where) {
    if (needed > 0 && c.rows.rows() == 0)
      notes.error(1072, {},
                  fmt::format("clamps at the {}: {} of them must tell as many internal modes "
                              "apart, {} given ones do not; leave them out to have them chosen",
                              where, needed, c.clamped.size()));
  };
  judge(first, out.modes.size() - out.modes.growing_basis.cols(), "beginning");
  judge(last, at_end.growing_basis.cols(), "end");
  out.clamped_begin = names_of(system, first.clamped);
  out.clamped_end = names_of(system, last.clamped);
  return notes;
}

// How long before or after the path [s], in whole intervals of its mesh: on a chain of equal ones no motion of its own begins or ends to grow on the way (SRV-49, SRV-66).
double horizon(double given, const std::vector<std::complex<double>>& zeros, double leakage,
               double duration, double interval) {
  if (given >= 0 || zeros.empty()) return std::max(given, 0.0);
  double longest = 20 * duration;
  for (const std::complex<double>& s : zeros)
    if (!hardly_decays(s)) {
      longest += 20 / std::abs(s.real());
      break;
    }
  return std::ceil(std::min(-std::log(leakage) / slowest(zeros), longest) / interval) * interval;
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
  const Result<Rest> begin = rest_at(system, path, path.begin());
  if (!begin.ok()) return begin.diagnostics();
  StableInversion out;
  out.analysis = analyse(system, path.begin(), *begin);
  const Diagnostics judged = judge(out.analysis, path);
  for (const Diagnostic& d : judged.items()) {
    if (d.id == 1032) {
      notes.error(1032, {}, d.message);
      return notes;
    }
    if (d.id == 1033) notes.warning(1033, {}, d.message);
  }
  const int smoothness = out.analysis.smoothness;
  if (path.smoothness() < 1 && smoothness > 1) {
    notes.error(
        1073, {},
        fmt::format("the speed of the path jumps (it is C0), which no bounded motion follows: "
                    "a path that is C{} (`smooth`) is needed",
                    smoothness));
    return notes;
  }
  // The rest at the end is the one that is reached along the path.
  const double duration = path.end() - path.begin();
  const Result<Eigen::MatrixXd> along = rest_along(
      system, {path}, equal_intervals({path.begin(), path.end()}, duration / 20), *begin);
  if (!along.ok()) return along.diagnostics();
  const auto reached = along->col(along->cols() - 1);
  const Rest end{reached.head(nv), reached.segment(3 * nv, nl), reached.tail(nu)};

  out.method = options.method;
  out.ends = options.method == StableMethod::kBoundaryValue ? options.ends : EndKind::kEigenspaces;
  out.path_begin = path.begin();
  out.path_end = path.end();
  out.rest.assign(begin->y.begin(), begin->y.end());
  InternalModes at_end;
  if (Diagnostics d = modes_at_ends(system, path, *begin, end, out, at_end); !d.ok()) {
    notes.append(d);
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
  // Measured on chains of disks: of errors of inputs that act by way of more derivatives the rows tell less than round-off does.
  constexpr int kMostDirect = 4;
  const std::vector<int>& degrees = out.analysis.relative_degree;
  if (const int most = *std::max_element(degrees.begin(), degrees.end());
      options.method == StableMethod::kDirect && most > kMostDirect) {
    notes.error(
        1090, {},
        fmt::format("inputs act by way of {} derivatives of the outputs: more than {} leave "
                    "the direct method to round-off; the boundary value problem (method "
                    "`stable`) serves",
                    most, kMostDirect));
    return notes;
  }
  const auto forces = [](const Rest& rest) {
    Eigen::VectorXd mu(rest.lambda.size() + rest.u.size());
    mu << rest.lambda, rest.u;
    return mu;
  };
  HorizonEnd first{begin->y, forces(*begin), {}, out.modes.frequency},
      last{end.y, forces(end), {}, at_end.frequency};
  if (Diagnostics d =
          conditions_at_ends(system, options, at_end, out, first.conditions, last.conditions);
      !d.ok()) {
    notes.append(d);
    return notes;
  }

  const double spacing = options.dt > 0 ? options.dt : duration / 100;
  const double interval = duration / std::ceil(duration / spacing - 1e-9);
  const FreeZeros zeros = free_zeros(out.modes, options.method);
  out.before = horizon(options.before, zeros.before, options.leakage, duration, interval);
  out.after = horizon(options.after, zeros.after, options.leakage, duration, interval);
  // Of what neither grows nor decays a quarter of the path, as forward methods run.
  if (options.after < 0 && zeros.after.empty() && !out.modes.neutral.empty())
    out.after = std::ceil(duration / 4 / interval - 1e-9) * interval;
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
  const HorizonProblem problem{
      *begin,
      first,
      last,
      spacing,
      smoothness,
      horizon(-1, out.modes.growing, options.leakage, duration, interval),
      horizon(-1, out.modes.decaying, options.leakage, duration, interval)};
  if (Diagnostics d = search_motion(system, path, options, problem, out); !d.ok()) {
    notes.append(d);
    return notes;
  }
  Diagnostics described = describe_ends(out, *begin, end, system, path, options);
  notes.append(described);
  if (!notes.ok()) return notes;
  return {std::move(out), std::move(notes)};
}

}  // namespace panto
