#include "panto/updating/ema.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "panto/updating/pole_residue.hpp"
#include "panto/updating/poly_reference.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr int kMostReferences = 4;
// Of the responses' energy that the references must carry before more of them are taken.
constexpr double kCarried = 0.999;
// Residues of a chance pole have a mean square near their variance; those of a mode stand out. The search in what is left tries many poles: it asks for more.
constexpr double kLeastSignificance = 4, kLeastLater = 10;
// What it finds must also be seen at its own frequency: modes outside the band, whose tails are no exact residual terms, and leakage leave patterns that are significant and small.
constexpr double kLeastShare = 0.01;
// Search in narrow bands: each half as wide as the one before, down to this many lines per order, and this order.
constexpr Index kLinesPerOrder = 8;
constexpr int kLeastOrder = 8, kSearches = 3;
constexpr double kExplained = 1e-20;  // of the energy: round-off
// A shape is certain (EMA-15) where its scatter lets expect a MAC of this with the true one: the errors of one test may be twice as large and stay below 0.01.
constexpr double kCertain = 0.995;
// Where the search for a pole outside begins: this share of the band beyond its ends.
constexpr double kBeyond = 0.1, kBeyondDamping = 0.02;

double frequency(Complex s) { return std::abs(s) / (2 * std::numbers::pi); }
double damping_ratio(Complex s) { return -s.real() / std::abs(s); }

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

// Responses as outputs x references with as few references as carry them: the smaller side of the grid, combined by its principal vectors (EMA-2).
struct Compressed {
  MatrixXcd h;
  int outputs = 0, references = 0;
  Eigen::MatrixXd combine;  // side x references
  bool of_excitations = true;
};

Compressed compress(const Grid& g, int wanted) {
  const auto responses = static_cast<Index>(g.responses.size()),
             excitations = static_cast<Index>(g.excitations.size());
  Compressed c;
  c.of_excitations = excitations <= responses;
  const Index side = c.of_excitations ? excitations : responses,
              other = c.of_excitations ? responses : excitations;
  const auto column = [&](Index o, Index r) {
    return c.of_excitations ? r * responses + o : o * responses + r;
  };
  // Every output counts alike.
  MatrixXcd scaled(g.h.rows(), g.h.cols());
  for (Index o = 0; o < other; ++o) {
    double size = 0;
    for (Index r = 0; r < side; ++r) size += g.h.col(column(o, r)).squaredNorm();
    const double factor = size > 0 ? 1 / std::sqrt(size) : 0;
    for (Index r = 0; r < side; ++r) scaled.col(r * other + o) = factor * g.h.col(column(o, r));
  }
  Eigen::MatrixXd energy(side, side);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j <= i; ++j)
      energy(i, j) = energy(j, i) = (scaled.middleCols(i * other, other).conjugate().array() *
                                     scaled.middleCols(j * other, other).array())
                                        .real()
                                        .sum();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(energy);
  const VectorXd values = eigen.eigenvalues().reverse();
  Index count = std::min<Index>(side, wanted);
  if (wanted <= 0) {
    double carried = 0;
    for (count = 0;
         count < std::min<Index>(side, kMostReferences) && carried < kCarried * values.sum();
         ++count)
      carried += values(count);
    count = std::max<Index>(count, 1);
  }
  c.combine = eigen.eigenvectors().rowwise().reverse().leftCols(count);
  c.outputs = static_cast<int>(other);
  c.references = static_cast<int>(count);
  c.h = MatrixXcd::Zero(g.h.rows(), other * count);
  for (Index k = 0; k < count; ++k)
    for (Index r = 0; r < side; ++r)
      c.h.middleCols(k * other, other) += c.combine(r, k) * scaled.middleCols(r * other, other);
  return c;
}

struct Candidate {
  int order = 0;
  Complex s;
  VectorXcd participation;
  Stability stability = Stability::kNew;
};

// Each pole against the nearest of the order before.
void judge(std::vector<Candidate>& poles, const EmaOptions& o) {
  size_t before = 0, begin = 0;
  for (size_t i = 0; i < poles.size(); ++i) {
    if (poles[i].order != poles[begin].order) {
      before = begin;
      begin = i;
    }
    if (begin == before || poles[before].order != poles[begin].order - 1) continue;
    Candidate& p = poles[i];
    for (size_t j = before; j < begin; ++j) {
      const Candidate& q = poles[j];
      const double f = frequency(p.s), z = damping_ratio(p.s);
      Stability s = Stability::kNew;
      if (std::abs(frequency(q.s) - f) < o.frequency_tolerance * f) {
        s = Stability::kFrequency;
        if (std::abs(damping_ratio(q.s) - z) < o.damping_tolerance * z) {
          s = Stability::kDamping;
          if (modal_assurance(p.participation, q.participation) > o.participation_mac)
            s = Stability::kFull;
        }
      }
      p.stability = std::max(p.stability, s);
    }
  }
}

struct Cluster {
  std::vector<size_t> members;
  Complex s;
  VectorXcd participation;  // of the references; in a chosen one: of all excitations
  bool later = false;       // found in what others left
  bool outside = false;     // stands for modes beyond an end of the band
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Stable poles of one mode lie together over many orders: each joins the cluster nearest in frequency and participation, one per order (EMA-8).
std::vector<Cluster> clusters_of(const std::vector<Candidate>& poles, const EmaOptions& o) {
  std::vector<Cluster> clusters;
  for (size_t i = poles.size(); i-- > 0;) {  // from the highest order, the best resolved one
    const Candidate& p = poles[i];
    if (p.stability != Stability::kFull) continue;
    Cluster* nearest = nullptr;
    double least = std::max(o.frequency_tolerance * frequency(p.s), 0.0);
    for (Cluster& c : clusters) {
      const Candidate& last = poles[c.members.back()];
      if (last.order == p.order) continue;
      const double distance = std::abs(frequency(c.s) - frequency(p.s));
      if (distance < least &&
          modal_assurance(c.participation, p.participation) > o.participation_mac - 0.15) {
        least = distance;
        nearest = &c;
      }
    }
    if (nearest == nullptr) {
      clusters.push_back({{i}, p.s, p.participation});
      continue;
    }
    nearest->members.push_back(i);
  }
  for (Cluster& c : clusters) {
    std::vector<double> re, im;
    for (const size_t i : c.members) {
      re.push_back(poles[i].s.real());
      im.push_back(poles[i].s.imag());
    }
    c.s = {median(re), median(im)};
  }
  return clusters;
}

// One band: poles of all orders, judged, and those that stay over enough orders.
struct Searched {
  std::vector<Candidate> poles;
  std::vector<Cluster> clusters;
};

// `window`: rate of the exponential window, which the poles of the data hold.
Searched search(const VectorXd& frequency_hz, const MatrixXcd& h, const Compressed& c, int order,
                double window, const EmaOptions& o) {
  Searched out;
  for (const OrderPole& p : poly_reference_poles(frequency_hz, h, c.outputs, c.references, order)) {
    const Complex s = p.s + window;
    if (!(s.real() < 0) || damping_ratio(s) > o.max_damping) continue;
    // Where the band's ends meet on the circle, the jump between them looks like a wide pole.
    const double width = -p.s.real() / (2 * std::numbers::pi),
                 f = p.s.imag() / (2 * std::numbers::pi);
    if (f - width < frequency_hz(0) || f + width > frequency_hz(frequency_hz.size() - 1)) continue;
    out.poles.push_back({p.order, s, p.participation, Stability::kNew});
  }
  judge(out.poles, o);
  out.clusters = clusters_of(out.poles, o);
  return out;
}

size_t least_members(int order) { return static_cast<size_t>(std::max(3, order / 8)); }

// Every pole of a narrow band that is stable over enough orders, the most stable ones first; noise weighs less there, and a mode that is weak among all is one of few
// (EMA-13). Poles within half-widths of each other are one.
std::vector<Cluster> search_narrow(const Grid& g, const EmaOptions& o, double window,
                                   std::vector<DiagramPole>& diagram) {
  const Compressed c = compress(g, o.references);
  struct Ranked {
    Cluster cluster;
    double share;
  };
  std::vector<Ranked> found;
  const Index lines = g.frequency_hz.size();
  for (Index parts = 2; parts <= 64; parts *= 2) {
    const Index width = lines / parts;
    const int order = std::max(kLeastOrder, o.max_order / static_cast<int>(parts));
    if (width < kLinesPerOrder * order) break;
    for (Index first = 0; first + width <= lines; first += width / 2) {
      const Searched band = search(g.frequency_hz.segment(first, width),
                                   c.h.middleRows(first, width), c, order, window, o);
      for (const Cluster& cluster : band.clusters) {
        if (cluster.members.size() < least_members(order)) continue;
        for (const size_t i : cluster.members) {
          const Candidate& p = band.poles[i];
          diagram.push_back({p.order, frequency(p.s), damping_ratio(p.s), p.stability});
        }
        found.push_back({cluster, static_cast<double>(cluster.members.size()) / order});
        Cluster& added = found.back().cluster;
        added.later = true;
        if (c.of_excitations) added.participation = c.combine * added.participation;
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Ranked& a, const Ranked& b) { return a.share > b.share; });
  std::vector<Cluster> out;
  for (Ranked& r : found) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Cluster& other) {
      return std::abs(other.s - r.cluster.s) <
             std::max(-2 * std::max(other.s.real(), r.cluster.s.real()),
                      o.frequency_tolerance * std::abs(r.cluster.s));
    });
    if (!known) out.push_back(std::move(r.cluster));
  }
  return out;
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
  const Compressed c = compress(g, o.references);
  out.references = c.references;
  const auto report = [&](double fraction) {
    if (o.progress && !o.progress(fraction)) out.complete = false;
    return out.complete;
  };
  report(0);

  // The diagram.
  Searched all = search(g.frequency_hz, c.h, c, o.max_order, data.window_decay, o);
  for (const Candidate& p : all.poles)
    out.diagram.push_back({p.order, frequency(p.s), damping_ratio(p.s), p.stability});
  if (c.of_excitations)
    for (Cluster& cluster : all.clusters) cluster.participation = c.combine * cluster.participation;
  report(0.6);

  // Selection: poles refined, chance ones dropped, and what is left searched again, as long as something is found there.
  const PoleResidueModel model(g.frequency_hz, static_cast<int>(data.motion), data.window_decay);
  std::vector<Cluster> chosen;
  for (const Cluster& cluster : all.clusters)
    if (cluster.members.size() >= least_members(o.max_order)) chosen.push_back(cluster);
  if (chosen.empty()) chosen = search_narrow(g, o, data.window_decay, out.diagram);
  RefinedPoles refined;
  const auto refine = [&] {
    std::sort(chosen.begin(), chosen.end(),
              [](const Cluster& a, const Cluster& b) { return frequency(a.s) < frequency(b.s); });
    VectorXcd start(static_cast<Index>(chosen.size()));
    for (Index k = 0; k < start.size(); ++k) start(k) = chosen[static_cast<size_t>(k)].s;
    refined = refine_poles(model, g.h, start, close_poles(start), o.refine);
  };
  const auto settle = [&] {
    for (refine(); chosen.size() > 1; refine()) {
      // The one that stands out least goes first: others may gain by that.
      size_t weakest = chosen.size();
      double least = 1;
      for (size_t k = 0; k < chosen.size(); ++k) {
        const auto i = static_cast<Index>(k);
        double standing =
            refined.significance(i) / (chosen[k].later ? kLeastLater : kLeastSignificance);
        if (!chosen[k].outside) standing = std::min(standing, refined.share(i) / kLeastShare);
        // A pole that went to a mode outside the band, or became as wide as the band's ends, is no mode of this band; one that was set outside stays there.
        const Complex pole = refined.poles(i);
        const bool outside = frequency(pole) < g.frequency_hz(0) ||
                             frequency(pole) > g.frequency_hz(g.frequency_hz.size() - 1);
        if (outside != chosen[k].outside || (!outside && damping_ratio(pole) > o.max_damping))
          standing = 0;
        if (standing < least) {
          least = standing;
          weakest = k;
        }
      }
      if (weakest == chosen.size()) return;
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(weakest));
    }
  };
  const auto nearest = [&](const std::vector<Cluster>& clusters, double f) {
    const Cluster* best = nullptr;
    for (const Cluster& cluster : clusters)
      if (!cluster.outside && std::abs(frequency(cluster.s) - f) <= 2 * o.frequency_tolerance * f &&
          (best == nullptr || cluster.members.size() > best->members.size()))
        best = &cluster;
    return best;
  };
  // By hand: what the whole band has at these frequencies is enough.
  const bool enough = !o.select_hz.empty() &&
                      std::all_of(o.select_hz.begin(), o.select_hz.end(),
                                  [&](double f) { return nearest(all.clusters, f) != nullptr; });
  const auto explained = [&] {
    return refined.rest.squaredNorm() <= kExplained * g.h.squaredNorm();
  };
  if (!enough && !chosen.empty()) {
    settle();
    if (!explained()) {
      // Modes beyond the ends: a pole at each, which stays where it explains more than residual terms (EMA-14).
      const double first = g.frequency_hz(0), last = g.frequency_hz(g.frequency_hz.size() - 1);
      for (const double f : {first - kBeyond * (last - first), last + kBeyond * (last - first)}) {
        if (!(f > 0)) continue;
        Cluster beyond;
        beyond.s = 2 * std::numbers::pi * f * Complex(-kBeyondDamping, 1);
        beyond.participation = VectorXcd::Zero(static_cast<Index>(g.excitations.size()));
        beyond.later = beyond.outside = true;
        chosen.push_back(std::move(beyond));
      }
      settle();
    }
    for (int turn = 0; turn < kSearches && report(0.7 + 0.05 * turn); ++turn) {
      if (explained()) break;
      Grid left = g;
      left.h = refined.rest;
      const std::vector<Cluster> before = chosen;
      const RefinedPoles settled = refined;
      for (Cluster& more : search_narrow(left, o, data.window_decay, out.diagram)) {
        // What is left close to a known pole is an error of that pole.
        const bool known = std::any_of(settled.poles.begin(), settled.poles.end(), [&](Complex s) {
          return std::abs(s - more.s) < -2 * std::min(s.real(), more.s.real());
        });
        if (!known) chosen.push_back(std::move(more));
      }
      if (chosen.size() == before.size()) break;
      settle();
      if (chosen.size() > before.size()) continue;
      chosen = before;
      refined = settled;
      break;
    }
  }
  if (o.select_hz.empty() && std::all_of(chosen.begin(), chosen.end(),
                                         [](const Cluster& cluster) { return cluster.outside; }))
    d.error(960, {},
            fmt::format("no pole is stable over {} orders: raise the order, narrow the band, or "
                        "select poles of the diagram by their frequencies",
                        least_members(o.max_order)));
  if (!o.select_hz.empty()) {
    std::vector<Cluster> by_hand;
    for (const double f : o.select_hz) {
      const Cluster* best = nearest(all.clusters, f);
      if (best == nullptr) best = nearest(chosen, f);
      if (best == nullptr)
        d.error(960, {}, fmt::format("no stable pole near {} Hz", f));
      else
        by_hand.push_back(*best);
    }
    chosen = std::move(by_hand);
  }
  if (!d.ok()) return d;
  if (!o.select_hz.empty()) refine();
  report(0.9);

  const auto responses = static_cast<int>(g.responses.size()),
             excitations = static_cast<int>(g.excitations.size());
  std::vector<Index> inside, beyond;
  for (Index k = 0; k < refined.poles.size(); ++k)
    (chosen[static_cast<size_t>(k)].outside ? beyond : inside).push_back(k);
  const VectorXcd poles = refined.poles(inside), outside = refined.poles(beyond);
  const auto n = poles.size();
  MatrixXcd given = MatrixXcd::Zero(excitations, n);
  std::vector<bool> close = close_poles(poles);
  for (Index k = 0; k < n; ++k)
    if (c.of_excitations)
      given.col(k) = chosen[static_cast<size_t>(inside[static_cast<size_t>(k)])].participation;
    else
      close[static_cast<size_t>(k)] = false;
  const ShapeFit fit = fit_shapes(model, g.h, responses, excitations, poles, close, given, outside);
  for (Index k = 0; k < n; ++k) {
    const Index i = inside[static_cast<size_t>(k)];
    EmaMode m;
    m.frequency_hz = frequency(poles(k));
    m.damping = damping_ratio(poles(k));
    m.frequency_sigma = refined.frequency_sigma_hz(i);
    m.damping_sigma = refined.damping_sigma(i);
    m.shape = fit.shapes.col(k);
    m.shape_sigma = fit.sigma.col(k);
    m.participation = fit.participation.col(k);
    m.orders = static_cast<int>(chosen[static_cast<size_t>(i)].members.size());
    m.significance = refined.significance(i);
    m.share = refined.share(i);
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
