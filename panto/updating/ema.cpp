#include "panto/updating/ema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "panto/updating/pole_residue.hpp"
#include "panto/updating/stabilisation.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// What a mode explains must also be seen at its own frequency: modes outside the band, whose tails are no exact residual terms, and leakage leave patterns that are
// significant and small.
constexpr double kLeastShare = 0.01;
constexpr double kExplained = 1e-20;  // of the energy: round-off
// A shape is certain (EMA-15) where its scatter lets expect a MAC of this with the true one: the errors of one test may be twice as large and stay below 0.01.
constexpr double kCertain = 0.995;
// Where the search for a pole outside begins, and how far it may go: shares of the band beyond its ends.
constexpr double kBeyond = 0.1, kBeyondDamping = 0.02, kFarthest = 1;
constexpr int kMostSearches = 40;  // of single poles

// The lines of the band and the pairs that form a complete grid.
struct Grid {
  std::vector<size_t> responses, excitations;
  VectorXd frequency_hz;
  MatrixXcd h;
};

Result<Grid> complete_grid(const FrequencyData& data, const EmaOptions& o) {
  Diagnostics d;
  Grid g;
  std::vector<size_t> left_out;
  for (size_t e = 0; e < data.excitations.size(); ++e) g.excitations.push_back(e);
  for (size_t r = 0; r < data.responses.size(); ++r) {
    const bool all = std::all_of(g.excitations.begin(), g.excitations.end(), [&](size_t e) {
      return data.h.rows() > 0 && !std::isnan(data.h(0, data.pair(r, e)).real());
    });
    (all ? g.responses : left_out).push_back(r);
  }
  if (g.responses.empty() || g.excitations.empty()) {
    d.error(958, {},
            "no response was measured for every excitation: analyse the excitations one by one, or "
            "measure the missing pairs");
    return d;
  }
  if (!left_out.empty()) {
    std::string names;
    for (const size_t r : left_out)
      names += (names.empty() ? "\"" : ", \"") + data.responses[r].frame + "\"";
    d.warning(961, {},
              fmt::format("responses that were not measured for every excitation are left out: {}",
                          names));
  }
  const double to = o.to_hz > 0 ? o.to_hz : std::numeric_limits<double>::infinity();
  std::vector<Index> lines;
  for (Index i = 0; i < data.frequency_hz.size(); ++i)
    // At 0 Hz the residual terms are not defined.
    if (data.frequency_hz(i) > 0 && data.frequency_hz(i) >= o.from_hz && data.frequency_hz(i) <= to)
      lines.push_back(i);
  const auto least = static_cast<size_t>(std::max(8, 2 * o.max_order + 2));
  if (lines.size() < least) {
    d.error(
        958, {},
        fmt::format("{} lines between {} and {} Hz are too few for the order {}: at least {} are "
                    "needed; widen the band or lower the order",
                    lines.size(), o.from_hz, to, o.max_order, least));
    return d;
  }
  g.frequency_hz = data.frequency_hz(lines);
  g.h.resize(g.frequency_hz.size(), static_cast<Index>(g.responses.size() * g.excitations.size()));
  for (size_t e = 0; e < g.excitations.size(); ++e)
    for (size_t r = 0; r < g.responses.size(); ++r)
      g.h.col(static_cast<Index>(e * g.responses.size() + r)) =
          data.h.col(data.pair(g.responses[r], g.excitations[e]))(lines);
  if (!g.h.allFinite()) {
    d.error(958, {}, "a response has values that are no numbers");
    return d;
  }
  return {std::move(g), d};
}

// Further apart than a half-width, the residues of two modes are told apart by the lines alone.
std::vector<bool> close_poles(const VectorXcd& poles) {
  std::vector<bool> close(static_cast<size_t>(poles.size()), false);
  for (Index i = 0; i < poles.size(); ++i)
    for (Index j = 0; j < i; ++j)
      if (std::abs(poles(i) - poles(j)) < std::max(-poles(i).real(), -poles(j).real()))
        close[static_cast<size_t>(i)] = close[static_cast<size_t>(j)] = true;
  return close;
}

struct Chosen {
  Complex s;
  VectorXcd participation;  // of all excitations; empty: not known
  int orders = 0;           // 0: found in what others leave
  bool outside = false;     // stands for modes beyond an end of the band
};

// Poles that are refined together; those that may be chance are dropped, and what is left is searched for more.
class Selection {
 public:
  Selection(const PoleResidueModel& model, const MatrixXd& y, int responses, const EmaOptions& o)
      : model_(model), y_(y), responses_(responses), o_(o) {}

  std::vector<Chosen> chosen;
  RefinedPoles refined;

  void refine() {
    std::sort(chosen.begin(), chosen.end(), [](const Chosen& a, const Chosen& b) {
      return frequency_of(a.s) < frequency_of(b.s);
    });
    VectorXcd start(static_cast<Index>(chosen.size()));
    for (Index k = 0; k < start.size(); ++k) start(k) = chosen[static_cast<size_t>(k)].s;
    std::vector<bool> fixed = close_poles(start);
    for (size_t k = 0; k < chosen.size(); ++k)
      fixed[k] = fixed[k] || (chosen[k].outside && !free_outside_);
    refined = refine_poles(model_, y_, responses_, start, fixed, o_.refine);
  }

  // Refined without the poles that stand out too little: the least one goes first, others may gain by that.
  void settle() {
    for (refine(); !chosen.empty(); refine()) {
      size_t weakest = chosen.size();
      double least = 1;
      for (size_t k = 0; k < chosen.size(); ++k)
        if (const double s = standing(k); s < least) {
          least = s;
          weakest = k;
        }
      if (weakest == chosen.size()) return;
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(weakest));
    }
  }

  // Forward through the diagram: again and again the pole that stands out most in what the chosen ones leave. Poles that stand for modes beyond the ends of the band (EMA-14) are there
  // from the beginning, or poles within would be found that explain those; they are refined when all others are known.
  void choose(std::vector<Chosen> candidates) {
    add_outside();
    for (settle(); !candidates.empty(); settle()) {
      const Leftover left(model_, y_, responses_, refined.poles);
      size_t best = candidates.size();
      double most = 1;
      for (size_t k = 0; k < candidates.size(); ++k) {
        const Standing at = left.of(candidates[k].s);
        if (at.significance <= most || at.share < kLeastShare) continue;
        most = at.significance;
        best = k;
      }
      if (best == candidates.size()) break;
      chosen.push_back(std::move(candidates[best]));
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    }
    free_outside_ = true;
    settle();
  }

  // What the diagram does not have (EMA-16): single poles in what is left, until nothing stands out. `go_on`: false stops.
  template <class GoOn>
  void search(const GoOn& go_on) {
    std::vector<Complex> tried;
    for (bool grown = true; grown && refined.unexplained > kExplained;) {
      const size_t before = chosen.size();
      while (static_cast<int>(tried.size()) < kMostSearches && go_on()) {
        std::vector<Complex> known = tried;
        known.insert(known.end(), refined.poles.begin(), refined.poles.end());
        const auto next = Leftover(model_, y_, responses_, refined.poles)
                              .best(known, o_.max_damping, kLeastShare);
        if (!next) break;
        tried.push_back(*next);
        chosen.push_back({*next, {}, 0, false});
        settle();
      }
      grown = chosen.size() > before;
      if (grown) {
        add_outside();
        settle();
      }
    }
  }

 private:
  [[nodiscard]] double first() const { return model_.line(0); }
  [[nodiscard]] double last() const { return model_.line(model_.lines() - 1); }

  // Below 1: not a mode of this band.
  [[nodiscard]] double standing(size_t k) const {
    const Complex pole = refined.poles(static_cast<Index>(k));
    const Standing& s = refined.standing[k];
    const double omega = std::abs(pole), far = kFarthest * (last() - first());
    const bool outside = omega < first() || omega > last();
    if (outside && !free_outside_) return 1;
    if (outside != chosen[k].outside || omega < first() - far || omega > last() + far) return 0;
    if (outside) return s.significance;
    return damping_of(pole) > o_.max_damping ? 0 : std::min(s.significance, s.share / kLeastShare);
  }

  void add_outside() {
    const double beyond = kBeyond * (last() - first());
    for (const double omega : {first() - beyond, last() + beyond}) {
      const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Chosen& c) {
        return c.outside && (std::abs(c.s) < first()) == (omega < first());
      });
      if (omega > 0 && !known) chosen.push_back({omega * Complex(-kBeyondDamping, 1), {}, 0, true});
    }
    settle();
  }

  const PoleResidueModel& model_;
  const MatrixXd& y_;
  int responses_;
  const EmaOptions& o_;
  bool free_outside_ = false;
};

// The one near a frequency that is stable over most orders; -1: none.
template <class Poles>
int nearest(const Poles& poles, double f, const EmaOptions& o) {
  int best = -1;
  for (size_t i = 0; i < poles.size(); ++i)
    if (std::abs(frequency_of(poles[i].s) - f) <= 2 * o.frequency_tolerance * f &&
        (best < 0 || poles[i].orders > poles[static_cast<size_t>(best)].orders))
      best = static_cast<int>(i);
  return best;
}

void describe_complexity(EmaMode& m) {
  const VectorXd re = m.shape.real(), im = m.shape.imag();
  const double xx = re.squaredNorm(), yy = im.squaredNorm(), xy = re.dot(im);
  const double total = (xx + yy) * (xx + yy);
  m.mpc = total > 0 ? ((xx - yy) * (xx - yy) + 4 * xy * xy) / total : 1;
  // The straight line through the shape in the complex plane: angle ½ atan2(2 xy, xx - yy).
  const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
  double deviation = 0, weight = 0;
  for (Index i = 0; i < re.size(); ++i) {
    const double size = std::abs(m.shape(i));
    if (!(size > 0)) continue;
    const double along = std::abs(re(i) * std::cos(angle) + im(i) * std::sin(angle)) / size;
    deviation += size * std::acos(std::min(1.0, along));
    weight += size;
  }
  m.mpd = weight > 0 ? deviation / weight : 0;
}

// Largest entry 1; the participation takes the factor, so that their product stays.
void normalise(EmaMode& m) {
  Index largest = 0;
  m.shape.cwiseAbs().maxCoeff(&largest);
  const Complex factor = m.shape(largest);
  if (!(std::abs(factor) > 0)) return;
  m.shape /= factor;
  m.shape_sigma /= std::abs(factor);
  m.participation *= factor;
}

}  // namespace

double modal_assurance(const VectorXcd& a, const VectorXcd& b) {
  const double aa = a.squaredNorm(), bb = b.squaredNorm();
  return aa > 0 && bb > 0 ? std::norm(a.dot(b)) / (aa * bb) : 0;
}

Result<Ema> ema(const FrequencyData& data, const EmaOptions& o) {
  Result<Grid> found = complete_grid(data, o);
  if (!found) return found.diagnostics();
  Diagnostics d = found.diagnostics();
  Grid& g = *found;
  Ema out;
  for (const size_t r : g.responses) out.responses.push_back(data.responses[r]);
  for (const size_t e : g.excitations) out.excitations.push_back(data.excitations[e]);
  const auto responses = static_cast<int>(g.responses.size()),
             excitations = static_cast<int>(g.excitations.size());
  const auto report = [&](double fraction) {
    if (o.progress && !o.progress(fraction)) out.complete = false;
    return out.complete;
  };
  report(0);

  // The diagram.
  const PoleResidueModel model(g.frequency_hz, static_cast<int>(data.motion), data.window_decay,
                               response_noise(g.h));
  Stabilisation stable =
      stabilise(g.frequency_hz, g.h, model.noise(), responses, data.window_decay, o);
  out.diagram = std::move(stable.diagram);
  out.references = stable.references;
  report(0.4);

  // Selection. By hand: what the diagram has at these frequencies is enough.
  const MatrixXd y = model.stacked(g.h);
  Selection selection(model, y, responses, o);
  const int least_orders = std::max(3, o.max_order / 8);
  const bool enough = !o.select_hz.empty() &&
                      std::all_of(o.select_hz.begin(), o.select_hz.end(),
                                  [&](double f) { return nearest(stable.poles, f, o) >= 0; });
  if (!enough) {
    std::vector<Chosen> candidates;
    for (const StablePole& p : stable.poles)
      if (p.orders >= least_orders) candidates.push_back({p.s, p.participation, p.orders, false});
    selection.choose(std::move(candidates));
    double fraction = 0.5;
    selection.search([&] { return report(fraction = std::min(0.85, fraction + 0.05)); });
  }
  std::vector<Chosen>& chosen = selection.chosen;
  if (!o.select_hz.empty()) {
    std::vector<Chosen> by_hand;
    for (const double f : o.select_hz) {
      const int i = nearest(stable.poles, f, o), k = nearest(chosen, f, o);
      if (i >= 0) {
        const StablePole& p = stable.poles[static_cast<size_t>(i)];
        by_hand.push_back({p.s, p.participation, p.orders, false});
      } else if (k >= 0 && !chosen[static_cast<size_t>(k)].outside) {
        by_hand.push_back(chosen[static_cast<size_t>(k)]);
      } else {
        d.error(960, {}, fmt::format("no stable pole near {} Hz", f));
      }
    }
    chosen = std::move(by_hand);
    if (d.ok()) selection.refine();
  } else if (std::all_of(chosen.begin(), chosen.end(), [](const Chosen& c) { return c.outside; })) {
    d.error(960, {},
            fmt::format("no pole is stable over {} orders or stands out of the noise: raise the "
                        "order, narrow the band, or select poles of the diagram by their "
                        "frequencies",
                        least_orders));
  }
  if (!d.ok()) return d;
  report(0.9);

  const RefinedPoles& refined = selection.refined;
  std::vector<Index> inside, beyond;
  for (Index k = 0; k < refined.poles.size(); ++k)
    (chosen[static_cast<size_t>(k)].outside ? beyond : inside).push_back(k);
  const VectorXcd poles = refined.poles(inside), outside = refined.poles(beyond);
  const auto n = poles.size();
  MatrixXcd given = MatrixXcd::Zero(excitations, n);
  std::vector<bool> close = close_poles(poles);
  for (Index k = 0; k < n; ++k) {
    const VectorXcd& own =
        chosen[static_cast<size_t>(inside[static_cast<size_t>(k)])].participation;
    if (own.size() > 0)
      given.col(k) = own;
    else
      close[static_cast<size_t>(k)] = false;
  }
  const ShapeFit fit = fit_shapes(model, y, responses, poles, close, given, outside);
  for (Index k = 0; k < n; ++k) {
    const Index i = inside[static_cast<size_t>(k)];
    EmaMode m;
    m.frequency_hz = frequency_of(poles(k));
    m.damping = damping_of(poles(k));
    m.frequency_sigma = refined.frequency_sigma_hz(i);
    m.damping_sigma = refined.damping_sigma(i);
    m.shape = fit.shapes.col(k);
    m.shape_sigma = fit.sigma.col(k);
    m.participation = fit.participation.col(k);
    m.orders = chosen[static_cast<size_t>(i)].orders;
    m.significance = refined.standing[static_cast<size_t>(i)].significance;
    m.share = refined.standing[static_cast<size_t>(i)].share;
    m.assurance = 1 - 2 * m.shape_sigma.squaredNorm() / std::max(m.shape.squaredNorm(), 1e-300);
    m.assurance = std::max(0.0, m.assurance);
    normalise(m);
    describe_complexity(m);
    out.modes.push_back(std::move(m));
  }
  std::sort(out.modes.begin(), out.modes.end(),
            [](const EmaMode& a, const EmaMode& b) { return a.frequency_hz < b.frequency_hz; });
  out.frequency_hz = g.frequency_hz;
  out.upper = fit.upper;
  out.lower = fit.lower;
  out.synthesised = fit.synthesised;
  out.measured = std::move(g.h);
  out.sum = out.measured.cwiseAbs().rowwise().sum();
  out.correlation.resize(out.measured.cols());
  out.error.resize(out.measured.cols());
  int bad = 0;
  for (Index k = 0; k < out.measured.cols(); ++k) {
    out.correlation(k) = modal_assurance(out.synthesised.col(k), out.measured.col(k));
    const double size = out.measured.col(k).squaredNorm();
    out.error(k) =
        size > 0 ? (out.synthesised.col(k) - out.measured.col(k)).squaredNorm() / size : 0;
    bad += out.correlation(k) < 0.8 ? 1 : 0;
  }
  if (bad > 0)
    d.warning(962, {},
              fmt::format("{} of {} responses are explained badly by the modes that were found "
                          "(correlation below 0.8): look for missing modes, noise, or bad sensors",
                          bad, out.correlation.size()));
  std::string uncertain;
  for (const EmaMode& m : out.modes)
    if (m.assurance < kCertain)
      uncertain += fmt::format("{}{:.5g} Hz (a MAC of {:.3f} with the true one is to be expected)",
                               uncertain.empty() ? "" : ", ", m.frequency_hz, m.assurance);
  if (!uncertain.empty())
    d.warning(966, {},
              fmt::format("shapes that scatter hides: {}; the points hardly move in such a mode, "
                          "or another one is close: measure at other points, or average more",
                          uncertain));
  report(1);
  return {std::move(out), d};
}

ModalTest modal_test(const Ema& e) {
  const bool roving = e.excitations.size() > e.responses.size();
  ModalTest test;
  test.points = roving ? e.excitations : e.responses;
  for (const EmaMode& m : e.modes) {
    MeasuredMode mode;
    mode.frequency_hz = m.frequency_hz;
    mode.damping = m.damping;
    mode.frequency_sigma = m.frequency_sigma;
    mode.damping_sigma = m.damping_sigma;
    mode.shape = m.shape;
    if (roving) {
      Index largest = 0;
      m.participation.cwiseAbs().maxCoeff(&largest);
      mode.shape = m.participation / m.participation(largest);
    } else {
      mode.shape_sigma = m.shape_sigma;
    }
    test.modes.push_back(std::move(mode));
  }
  return test;
}

}  // namespace panto
