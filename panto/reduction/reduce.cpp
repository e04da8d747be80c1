#include "panto/reduction/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace panto {
namespace {

constexpr int kAll = 600;  // interior degrees of freedom up to which all modes are computed
constexpr int kFirstCandidates = 150;
constexpr int kMostCandidates = 1500;
constexpr int kPoints = 40;      // sizes at which modes of reduced models are computed
constexpr double kUnseen = 0.1;  // of the tolerance: what modes not computed may hold
constexpr double kStill = 1e-9;  // of the largest amplitude: round-off of a response
constexpr int kEverySize = 250;  // candidates up to which a damping matrix allows each size

struct Named {
  RankingMethod method;
  const char* name;
};
constexpr std::array kMethods{Named{RankingMethod::kSbe, "sbe"}, Named{RankingMethod::kImr, "imr"},
                              Named{RankingMethod::kEbr, "ebr"}};

// What the rankings are made for, at one set of candidates.
struct Purpose {
  std::optional<InteriorModeRanking> imr;
  std::optional<EnergyRanking> ebr;
  std::optional<ResponseScan> scan;
  Eigen::MatrixXd loads;
  int step = 1;
};

Diagnostics check_options(const ReduceOptions& o, RankingMethod method) {
  Diagnostics out;
  const bool modes = !o.modes.empty() || o.band_hz.has_value(), forces = !o.forces.empty();
  const auto refuse = [&](const char* key, const std::string& why) {
    out.error(913, o.place(key), why);
  };
  if (o.masters.empty())
    out.error(906, o.place("masters"),
              "no masters: name at least one degree of freedom, node or set");
  if (!o.modes.empty() && o.band_hz) refuse("band", "give modes or a band, not both");
  if (!modes && !forces && o.keep == -1)
    refuse("masters",
           "say what the model is for: modes, a band of frequencies or forces; or how many "
           "interior modes to keep");
  if (method == RankingMethod::kImr && !modes)
    refuse("rank", "imr ranks for modes: give modes, or a band of frequencies");
  if (method == RankingMethod::kEbr && !forces)
    refuse("rank", "ebr ranks for periodic forces: give them");
  for (auto mode = o.modes.begin(); mode != o.modes.end(); ++mode)
    if (std::find(o.modes.begin(), mode, *mode) != mode)
      refuse("modes", fmt::format("mode {} is given twice", *mode));
  if (!o.weights.empty() && o.modes.empty())
    refuse("weights", "weights are of modes by number: give modes");
  else if (!o.weights.empty() && o.weights.size() != o.modes.size())
    refuse("weights", fmt::format("{} weights for {} modes", o.weights.size(), o.modes.size()));
  for (const double w : o.weights)
    if (!(w > 0 && std::isfinite(w)))
      refuse("weights", fmt::format("weight {}: weights are positive", w));
  if (o.band_hz && !(o.band_hz->first >= 0 && o.band_hz->second > o.band_hz->first &&
                     std::isfinite(o.band_hz->second)))
    refuse("band", fmt::format("band {} to {} Hz: frequencies ascend from 0", o.band_hz->first,
                               o.band_hz->second));
  if (!(o.tolerance > 0 && o.tolerance < 1))
    refuse("tolerance", fmt::format("tolerance {}: give a share between 0 and 1", o.tolerance));
  if (!(o.mac > 0 && o.mac < 1))
    refuse("mac", fmt::format("MAC {}: give a threshold between 0 and 1", o.mac));
  if (!(o.damping >= 0 && o.damping < 1))
    refuse("damping", fmt::format("damping ratio {}: give 0 or more, below 1", o.damping));
  if (o.candidates < 0)
    refuse("candidates", fmt::format("{} candidates: give 1 or more", o.candidates));
  if (o.keep < -1) refuse("keep", fmt::format("{} interior modes to keep: give 0 or more", o.keep));
  for (const char* key : {"damping", "mac", "sample"})
    if (!forces && o.places.contains(key))
      refuse(key, fmt::format("{} is for forced responses: give forces", key));
  for (const ForceTerm& f : o.forces)
    if (!(f.hz > 0) || !std::isfinite(f.hz) || !std::isfinite(f.amplitude) || f.amplitude == 0 ||
        !std::isfinite(f.phase))
      out.error(913, f.loc,
                fmt::format("force of {} at {} Hz: frequency is positive, amplitude not "
                            "zero",
                            f.amplitude, f.hz));
  return out;
}

// Forces of one frequency together, on masters.
Result<std::vector<Harmonic>> harmonics_of(const LinearSystem& system, const ReduceOptions& o,
                                           const std::vector<int>& masters) {
  Diagnostics wrong;
  std::vector<Harmonic> out;
  for (const ForceTerm& f : o.forces) {
    const auto dofs = find_dofs(system, f.at, f.loc);
    wrong.append(dofs.diagnostics());
    if (!dofs) continue;
    auto same =
        std::find_if(out.begin(), out.end(), [&](const Harmonic& h) { return h.hz == f.hz; });
    if (same == out.end()) {
      out.push_back({f.hz, {}});
      same = out.end() - 1;
    }
    for (const int dof : *dofs) {
      if (std::find(masters.begin(), masters.end(), dof) == masters.end())
        wrong.error(
            914, f.loc,
            fmt::format("a force acts on \"{}\", which is not a master: make it one, so that "
                        "the force stays where it acts",
                        system.dofs[static_cast<size_t>(dof)]));
      same->forces.emplace_back(dof, std::polar(f.amplitude, f.phase));
    }
  }
  if (!wrong.ok()) return wrong;
  return out;
}

// A relative error needs an amplitude: that of the sample, or of the master that moves most, in every harmonic.
void check_samples(const LinearSystem& system, const ReduceOptions& o, const RankedReduction& r,
                   const Eigen::MatrixXcd& response, int sample, Diagnostics& out) {
  for (size_t k = 0; k < r.harmonics.size(); ++k) {
    const Eigen::ArrayXd moves = response.col(static_cast<Eigen::Index>(k)).cwiseAbs();
    const Eigen::ArrayXd masters = moves(r.cb.masters);
    if ((sample < 0 ? masters.maxCoeff() : masters(sample)) > kStill * moves.maxCoeff()) continue;
    const double hz = r.harmonics[k].hz;
    if (sample < 0)
      out.error(913, o.place("masters"),
                fmt::format("no master moves at {} Hz: there is no amplitude to compare", hz));
    else
      out.error(
          913, o.place("sample"),
          fmt::format("sample \"{}\" does not move at {} Hz: its amplitude has no relative "
                      "error; choose a master that the forces move",
                      system.dofs[static_cast<size_t>(r.cb.masters[static_cast<size_t>(sample)])],
                      hz));
  }
}

std::vector<int> first(const std::vector<int>& order, size_t count) {
  return {order.begin(),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()))};
}

Ranking ranking_of(RankingMethod method, const CraigBampton& cb, const Purpose& p) {
  switch (method) {
    case RankingMethod::kImr:
      return *p.imr;
    case RankingMethod::kEbr:
      return *p.ebr;
    case RankingMethod::kSbe:
      break;
  }
  return rank_sbe(cb);
}

// All sizes while they are few, then ever wider apart.
std::vector<size_t> sampled(size_t count) {
  std::vector<size_t> out;
  const double ratio = std::pow(static_cast<double>(count + 1), 1.0 / kPoints);
  for (double t = 0; static_cast<size_t>(t) <= count; t = std::max(t + 1, t * ratio))
    out.push_back(static_cast<size_t>(t));
  if (out.back() != count) out.push_back(count);
  return out;
}

// One ranking, with its errors by the number of modes taken.
struct Ranked {
  RankingCurve curve;
  std::vector<double> epsilon;
  std::vector<ResponseError> response;
};

// `needed` is the first size that meets every tolerance.
Ranked ranked(RankingMethod method, const CraigBampton& cb, const Purpose& p,
              const ReduceOptions& o) {
  Ranked out;
  out.curve.method = method;
  out.curve.ranking = ranking_of(method, cb, p);
  const std::vector<int>& order = out.curve.ranking.order;
  if (p.imr) out.epsilon = p.imr->error(order);
  if (p.scan) out.response = p.scan->errors(order, p.step);
  for (size_t t = 0; t <= order.size() && out.curve.needed < 0; ++t) {
    const bool modes = !p.imr || out.epsilon[t] <= o.tolerance;
    const bool forces =
        !p.scan || (out.response[t].mac >= o.mac && out.response[t].gain <= o.tolerance);
    if (modes && forces && (p.imr || p.scan))
      out.curve.needed = static_cast<int>(cb.masters.size() + t);
  }
  return out;
}

// Sizes, a-priori errors and responses of one ranking. asked: numbers of interior modes that are among them.
RankingCurve curve_of(Ranked&& r, const CraigBampton& cb, const Purpose& p,
                      const std::optional<FullModes>& full, const std::vector<size_t>& asked) {
  RankingCurve out = std::move(r.curve);
  const std::vector<int>& order = out.ranking.order;
  std::vector<size_t> few = sampled(order.size());
  for (const size_t t : asked)
    if (t <= order.size()) few.push_back(t);
  std::sort(few.begin(), few.end());
  few.erase(std::unique(few.begin(), few.end()), few.end());
  std::vector<size_t> sizes = few;
  if (p.scan && p.step == 1) {
    sizes.resize(order.size() + 1);
    std::iota(sizes.begin(), sizes.end(), size_t{0});
  }
  for (const size_t t : sizes) {
    SizePoint point;
    point.size = static_cast<int>(cb.masters.size() + t);
    if (p.imr) point.epsilon = r.epsilon[t];
    if (p.scan) {
      point.mac = r.response[t].mac;
      point.gain = r.response[t].gain;
    }
    const bool here = std::binary_search(few.begin(), few.end(), t);
    if (p.imr && here && t <= static_cast<size_t>(kAll)) {
      point.frequency = 0;
      point.nco = 1;
      for (const ModeError& e : mode_errors(cb, *full, p.loads, first(order, t))) {
        point.frequency = std::max(point.frequency, e.frequency);
        point.nco = std::min(point.nco, e.nco);
      }
    }
    out.points.push_back(point);
  }
  return out;
}

}  // namespace

const char* to_string(RankingMethod method) {
  for (const Named& n : kMethods)
    if (n.method == method) return n.name;
  return "";
}

std::optional<RankingMethod> ranking_method(const std::string& name) {
  for (const Named& n : kMethods)
    if (name == n.name) return n.method;
  return std::nullopt;
}

void for_modes(ReduceOptions& options, std::vector<int> modes) {
  options.modes = std::move(modes);
  options.weights.clear();
  options.band_hz.reset();
}

void for_band(ReduceOptions& options, std::pair<double, double> hz) {
  options.modes.clear();
  options.weights.clear();
  options.band_hz = hz;
}

Result<RankedReduction> reduce(const LinearSystem& system, const ReduceOptions& o) {
  const bool for_modes = !o.modes.empty() || o.band_hz.has_value();
  const RankingMethod method = o.rank.value_or(for_modes          ? RankingMethod::kImr
                                               : o.forces.empty() ? RankingMethod::kSbe
                                                                  : RankingMethod::kEbr);
  Diagnostics notes = check_options(o, method);
  const auto masters = find_dofs(system, o.masters, o.place("masters"));
  notes.append(masters.diagnostics());
  if (!notes.ok()) return notes;
  auto harmonics = harmonics_of(system, o, *masters);
  if (!harmonics) return harmonics.diagnostics();
  int sample = -1;
  if (!o.sample.empty()) {
    const auto at = find_dofs(system, {o.sample}, o.place("sample"));
    if (!at) return at.diagnostics();
    const auto place = std::find(masters->begin(), masters->end(), at->front());
    if (at->size() != 1 || place == masters->end()) {
      notes.error(913, o.place("sample"), fmt::format("sample \"{}\" is not one master", o.sample));
      return notes;
    }
    sample = static_cast<int>(place - masters->begin());
  }
  const auto progress = [&](double from, double to) {
    return [&o, from, to](double fraction) {
      return !o.progress || o.progress(from + (to - from) * fraction);
    };
  };

  RankedReduction out;
  out.harmonics = std::move(*harmonics);
  const int interior = system.size() - static_cast<int>(masters->size());
  if (o.keep > interior && interior > 0) {
    notes.error(913, o.place("keep"),
                fmt::format("{} interior modes to keep: there are {}", o.keep, interior));
    return notes;
  }
  // Without a purpose the lowest modes are kept: no others are needed.
  const bool purpose = for_modes || !out.harmonics.empty();
  int candidates = o.candidates > 0   ? o.candidates
                   : !purpose         ? o.keep
                   : interior <= kAll ? interior
                                      : kFirstCandidates;
  candidates = std::max(candidates, o.keep);
  // Statics first: what is wrong with the masters shows before the long work.
  CraigBamptonOptions cb_options;
  cb_options.progress = progress(0, 0.1);
  Result<CraigBampton> statics = craig_bampton(system, *masters, cb_options);
  if (!statics) return located(statics.diagnostics(), o.place("masters"));
  notes.append(located(statics.diagnostics(), o.place("masters")));
  out.cb = std::move(*statics);
  if (for_modes) {
    std::vector<int> numbers = o.modes;
    for (int& n : numbers) --n;
    auto full = o.band_hz ? full_modes(system, o.band_hz->first, o.band_hz->second, out.cb.rigid)
                          : full_modes(system, numbers);
    if (!full) return located(full.diagnostics(), o.place(o.band_hz ? "band" : "modes"));
    out.modes = std::move(*full);
  }
  Eigen::MatrixXcd response;
  if (!out.harmonics.empty()) {
    auto x = forced_response(system, out.harmonics, o.damping);
    if (!x) return x.diagnostics();
    response = std::move(*x);
    check_samples(system, o, out, response, sample, notes);
    if (!notes.ok()) return notes;
  }
  // Weights follow the modes into ascending order.
  std::vector<double> weights;
  if (out.modes && !o.weights.empty())
    for (const int number : out.modes->numbers)
      weights.push_back(o.weights[static_cast<size_t>(
          std::find(o.modes.begin(), o.modes.end(), number + 1) - o.modes.begin())]);

  Purpose p;
  for (;;) {
    cb_options.modes = std::min(candidates, interior);
    cb_options.progress = progress(0.1, 0.8);
    if (const Diagnostics wrong = interior_modes(system, cb_options, out.cb); !wrong.ok())
      return wrong;
    bool enough = true;
    if (out.modes) {
      p.imr = rank_imr(system, out.cb, *out.modes, weights);
      out.unseen = p.imr->weights.dot(p.imr->rest);
      enough = enough && out.unseen <= kUnseen * o.tolerance;
    }
    if (!out.harmonics.empty()) {
      p.ebr = rank_ebr(system, out.cb, out.harmonics, response);
      p.scan.emplace(system, out.cb, out.harmonics, o.damping, response, sample);
      const std::vector<int>& order = p.ebr->order;
      const ResponseError all =
          p.scan->errors(order, std::max(1, static_cast<int>(order.size()))).back();
      enough = enough && all.mac >= o.mac && all.gain <= o.tolerance;
    }
    if (enough || o.candidates > 0 || out.cb.complete() || candidates >= kMostCandidates) break;
    candidates = std::min(2 * candidates, kMostCandidates);
  }
  if (out.cb.C.rows() > 0 && out.cb.modes() > kEverySize) p.step = out.cb.modes() / kEverySize + 1;
  if (out.modes) p.loads = mode_loads(system, out.cb, out.modes->U);

  std::vector<RankingMethod> methods{method};
  for (const Named& n : kMethods) {
    const bool possible =
        (n.method != RankingMethod::kImr || p.imr) && (n.method != RankingMethod::kEbr || p.ebr);
    if (n.method != method && possible) methods.push_back(n.method);
  }
  const auto m = static_cast<int>(out.cb.masters.size());
  std::vector<Ranked> all;
  std::vector<size_t> asked;
  if (o.keep >= 0) asked.push_back(static_cast<size_t>(o.keep));
  const auto steps = static_cast<double>(2 * methods.size());
  for (size_t i = 0; i < 2 * methods.size(); ++i) {
    if (!progress(0.8, 1)(static_cast<double>(i) / steps)) {
      notes.error(909, {}, "stopped");
      return notes;
    }
    if (i < methods.size()) {
      all.push_back(ranked(methods[i], out.cb, p, o));
      if (const int needed = all.back().curve.needed; needed >= m)
        asked.push_back(static_cast<size_t>(needed - m));
    } else {
      out.rankings.push_back(
          curve_of(std::move(all[i - methods.size()]), out.cb, p, out.modes, asked));
    }
  }
  const RankingCurve& chosen = out.rankings.front();
  size_t kept = chosen.ranking.order.size();
  if (o.keep >= 0) {
    kept = static_cast<size_t>(o.keep);
  } else if (chosen.needed >= 0) {
    kept = static_cast<size_t>(chosen.needed - m);
  } else {
    notes.warning(915, {},
                  fmt::format("the tolerance is not met with {} interior modes, all of them are "
                              "kept; allow more candidates, or choose other masters",
                              out.cb.modes()));
  }
  out.selected = first(chosen.ranking.order, kept);
  if (out.modes) out.mode_errors = mode_errors(out.cb, *out.modes, p.loads, out.selected);
  out.system = reduced(system, out.cb, out.selected);
  return {std::move(out), std::move(notes)};
}

}  // namespace panto
