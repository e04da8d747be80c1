#include "panto/updating/impact.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <mutex>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "panto/linear/modes.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/random.hpp"
#include "panto/updating/expansion.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr double kPi = std::numbers::pi, kTurn = 2 * kPi;
constexpr int kFilterOrder = 12;       // Butterworth, before both channels are sampled
constexpr double kFilterCorner = 0.4;  // of the sample rate
constexpr double kHitScatter = 0.1;    // of peak and length of a hit, half of the range
constexpr double kRings = 0.01;        // of its start, what a mode may have at the end
constexpr double kCoupled = 0.1;       // damping between modes that is told, of their own
constexpr std::uint64_t kHitStream = 6000, kNoiseStream = 7000;

// Modes at the points: H(s) = Σ_k φ_r φ_e s² / (s² + d s + ω²), acceleration per force (EMA-9).
struct ModalModel {
  VectorXd omega, decay;     // ω [rad/s], d [1/s]
  MatrixXd responses, hits;  // points x modes, mass-normalised
  VectorXcd first, second;   // roots of s² + d s + ω²
  [[nodiscard]] MatrixXcd at(Complex s) const {
    VectorXcd factor(omega.size());
    for (Index k = 0; k < omega.size(); ++k)
      factor(k) = omega(k) > 0   ? s * s / (s * s + s * decay(k) + omega(k) * omega(k))
                  : decay(k) > 0 ? s / (s + decay(k))
                                 : Complex(1);
    return responses * factor.asDiagonal() * hits.transpose();
  }
};

void find_roots(ModalModel& m) {
  const Index n = m.omega.size();
  m.first.resize(n);
  m.second.resize(n);
  for (Index k = 0; k < n; ++k) {
    double square = m.omega(k) * m.omega(k) - m.decay(k) * m.decay(k) / 4;
    // Equal roots have no partial fractions: critical damping is missed by 1e-12 of it.
    if (std::abs(square) < 1e-12 * m.omega(k) * m.omega(k))
      square = 1e-12 * m.omega(k) * m.omega(k);
    const Complex root = std::sqrt(Complex(-square, 0));
    m.first(k) = -m.decay(k) / 2 + root;
    m.second(k) = -m.decay(k) / 2 - root;
  }
}

// Low-pass of both channels: A(s) = Π -a_j / (s - a_j).
struct Filter {
  VectorXcd poles, residues;
  explicit Filter(double corner) : poles(kFilterOrder), residues(kFilterOrder) {
    for (int j = 0; j < kFilterOrder; ++j)
      poles(j) = std::polar(corner, kPi / 2 + kPi * (2 * j + 1) / (2.0 * kFilterOrder));
    for (int j = 0; j < kFilterOrder; ++j) {
      residues(j) = -poles(j);
      for (int i = 0; i < kFilterOrder; ++i)
        if (i != j) residues(j) *= -poles(i) / (poles(j) - poles(i));
    }
  }
  [[nodiscard]] Complex at(Complex s) const {
    return (-poles.array() / (s - poles.array())).prod();
  }
};

struct Hit {
  double peak = 0, length = 0, start = 0;  // [N], [s], [s] after the first sample
};

// ∫ exp(p (t - τ)) f(τ) dτ of the pulse sin²(π τ / T) at the samples: closed form while it lasts, then free decay (EMA-10).
void pole_response(Complex p, const Hit& hit, double rate, Eigen::Ref<VectorXcd> out) {
  const Complex turn(0, kTurn / hit.length);
  const auto during = [&](double t) {
    const auto part = [&](Complex mu, double weight) {
      return weight * (std::exp(mu * t) - std::exp(p * t)) / (mu - p);
    };
    return hit.peak * (part(0, 0.5) + part(turn, -0.25) + part(-turn, -0.25));
  };
  const Complex after = during(hit.length), step = std::exp(p / rate);
  Complex value = 0;
  bool free = false;
  for (Index i = 0; i < out.size(); ++i) {
    const double t = static_cast<double>(i) / rate - hit.start;
    if (t <= 0) {
      out(i) = 0;
    } else if (t < hit.length) {
      out(i) = during(t);
    } else {
      // Products, begun anew now and then so that round-off does not gather.
      value = free && i % 512 != 0 ? value * step : after * std::exp(p * (t - hit.length));
      free = true;
      out(i) = value;
    }
  }
}

// Residues at poles with Im p ≥ 0, as pairs of columns (Re, Im) of a real basis: a conjugate pole doubles the real part.
struct Signals {
  VectorXcd poles;
  MatrixXcd residues;  // poles x signals
  [[nodiscard]] MatrixXd samples(const Hit& hit, double rate, Index count) const {
    MatrixXd basis(count, 2 * poles.size());
    VectorXcd y(count);
    for (Index k = 0; k < poles.size(); ++k) {
      pole_response(poles(k), hit, rate, y);
      const double twice = poles(k).imag() > 0 ? 2 : 1;
      basis.col(2 * k) = twice * y.real();
      basis.col(2 * k + 1) = -twice * y.imag();
    }
    MatrixXd weights(2 * poles.size(), residues.cols());
    for (Index k = 0; k < poles.size(); ++k) {
      weights.row(2 * k) = residues.row(k).real();
      weights.row(2 * k + 1) = residues.row(k).imag();
    }
    return basis * weights;
  }
};

// The force first, then all accelerometers, for hits at one point: filtered H(s), in partial fractions (EMA-11).
Signals signals_of(const ModalModel& m, const Filter& filter, Index hammer) {
  std::vector<Complex> poles;
  std::vector<VectorXcd> residues;
  const Index responses = m.responses.rows();
  const auto add = [&](Complex p, Complex of_force, const VectorXcd& of_responses) {
    if (p.imag() < 0) return;
    VectorXcd row(responses + 1);
    row << of_force, of_responses;
    poles.push_back(p);
    residues.push_back(std::move(row));
  };
  for (Index k = 0; k < m.omega.size(); ++k) {
    const VectorXcd shape = (m.responses.col(k) * m.hits(hammer, k)).cast<Complex>();
    const Complex a = m.first(k), b = m.second(k);
    if (a == b) continue;  // free and undamped: s²/s² has no pole
    if (a != 0.0) add(a, 0, shape * (a * a / (a - b) * filter.at(a)));
    if (b != 0.0) add(b, 0, shape * (b * b / (b - a) * filter.at(b)));
  }
  for (Index j = 0; j < filter.poles.size(); ++j) {
    const Complex p = filter.poles(j);
    add(p, filter.residues(j), m.at(p).col(hammer) * filter.residues(j));
  }
  Signals out;
  out.poles = Eigen::Map<const VectorXcd>(poles.data(), static_cast<Index>(poles.size()));
  out.residues.resize(out.poles.size(), responses + 1);
  for (size_t i = 0; i < residues.size(); ++i)
    out.residues.row(static_cast<Index>(i)) = residues[i].transpose();
  return out;
}

class Rig {
 public:
  Rig(const ImpactOptions& o, ModalModel modes)
      : o_(o),
        modes_(std::move(modes)),
        filter_(kTurn * kFilterCorner * o.sample_rate_hz),
        count_(static_cast<Index>(std::lround(o.sample_rate_hz * o.duration_s))),
        decay_(-std::log(o.window_end) / o.duration_s) {}

  [[nodiscard]] double window_decay() const { return decay_; }
  [[nodiscard]] Index samples() const { return count_; }
  [[nodiscard]] const ModalModel& modes() const { return modes_; }
  [[nodiscard]] Signals signals(Index hammer) const { return signals_of(modes_, filter_, hammer); }

  // A record of all channels for one hit: begins `pretrigger` before the sample in which the force reaches the trigger. False: it never does.
  [[nodiscard]] bool record(const Signals& signals, Index hammer, int average,
                            MatrixXd& out) const {
    const double rate = o_.sample_rate_hz;
    const auto stream = kHitStream + static_cast<std::uint64_t>(hammer);
    const auto number = static_cast<std::uint64_t>(3 * average);
    const auto vary = [&](std::uint64_t i) {
      return 1 + kHitScatter * (2 * uniform(o_.seed, stream, number + i) - 1);
    };
    Hit hit{o_.peak_n * vary(0), o_.pulse_s * vary(1), uniform(o_.seed, stream, number + 2) / rate};
    // Where the trigger fires when the record begins with the hit.
    const Signals force{signals.poles, signals.residues.leftCols(1)};
    const auto look = static_cast<Index>(std::ceil((2 * hit.length + 0.01) * rate));
    const VectorXd early = force.samples(hit, rate, std::min(look, count_)).col(0);
    Index fires = 0;
    while (fires < early.size() && early(fires) < o_.trigger_n) ++fires;
    if (fires == early.size()) return false;
    const auto before = static_cast<Index>(std::lround(o_.pretrigger_s * rate));
    const Index shift = before - fires;
    hit.start += static_cast<double>(shift) / rate;
    out = signals.samples(hit, rate, count_);
    if (o_.noise > 0)
      for (Index c = 0; c < out.cols(); ++c) {
        const double size = o_.noise * out.col(c).norm() / std::sqrt(static_cast<double>(count_));
        const auto noise = kNoiseStream + static_cast<std::uint64_t>(
                                              (hammer * o_.averages + average) * out.cols() + c);
        for (Index i = 0; i < count_; ++i)
          out(i, c) += size * normal(o_.seed, noise, static_cast<std::uint64_t>(i));
      }
    if (o_.force_window_s > 0) {
      const Index end = before + static_cast<Index>(std::lround(o_.force_window_s * rate));
      if (end < count_) out.col(0).tail(count_ - end).setZero();
    }
    // The exponential window goes over the force as well: then it is a shift of s by its rate, and nothing else (EMA-12).
    if (decay_ > 0)
      for (Index i = 0; i < count_; ++i)
        out.row(i) *= std::exp(-decay_ * static_cast<double>(i) / rate);
    return true;
  }

 private:
  const ImpactOptions& o_;
  ModalModel modes_;
  Filter filter_;
  Index count_;
  double decay_;
};

// Settings that no rig has.
void check(const ImpactOptions& o, Diagnostics& d) {
  const auto bad = [&](const std::string& why) { d.error(963, {}, "impact test: " + why); };
  const auto positive = [&](double x, const char* name) {
    if (!(x > 0 && std::isfinite(x))) bad(fmt::format("{} must be positive, not {}", name, x));
  };
  if (o.accelerometers.empty()) bad("name at least one accelerometer");
  positive(o.sample_rate_hz, "the sample rate");
  positive(o.duration_s, "the length of a record");
  positive(o.peak_n, "the peak of a hit");
  positive(o.pulse_s, "the length of a hit");
  positive(o.trigger_n, "the trigger");
  if (o.averages < 1) bad("at least one hit per point is needed");
  if (!(o.window_end > 0 && o.window_end <= 1))
    bad(fmt::format("the exponential window ends at {}, expected above 0 and at most 1",
                    o.window_end));
  if (!(o.noise >= 0) || !(o.force_window_s >= 0) || !(o.pretrigger_s >= 0))
    bad("noise, force window and time before the trigger are not negative");
  for (const double z : o.damping)
    if (!(z >= 0 && z < 1)) bad(fmt::format("damping ratio {}, expected 0 to below 1", z));
  if (!d.ok()) return;
  if (o.sample_rate_hz * o.duration_s > 1e7)
    bad(fmt::format("{:.3g} samples per record are too many", o.sample_rate_hz * o.duration_s));
  if (o.pretrigger_s + o.pulse_s >= o.duration_s) bad("the record ends before the hit does");
  if (o.pulse_s * o.sample_rate_hz < 2)
    bad(fmt::format("a hit of {} s has less than two samples at {} Hz", o.pulse_s,
                    o.sample_rate_hz));
  const double last = o.to_hz > 0 ? o.to_hz : o.sample_rate_hz / 2.56;
  if (!(o.from_hz >= 0 && o.from_hz < last && last <= o.sample_rate_hz / 2))
    bad(fmt::format("lines from {} to {} Hz are not within 0 and half of the sample rate",
                    o.from_hz, last));
}

}  // namespace

Result<ImpactTest> impact_test(const Model& given, const Params& params, Operation operation,
                               const ImpactOptions& options) {
  Diagnostics d;
  ImpactOptions o = options;
  if (o.hammer.empty()) o.hammer = o.accelerometers;
  check(o, d);
  const Model model = with_body_frames(given);
  for (const auto* points : {&o.accelerometers, &o.hammer})
    for (const MeasuredPoint& p : *points)
      if (find_frame(model, p.frame) < 0 &&
          (points == &o.accelerometers || !options.hammer.empty()))
        d.error(970, {},
                fmt::format("\"{}\" is no place of {}{}", p.frame, model.name,
                            did_you_mean(p.frame, frame_names(model))));
  if (!d.ok()) return d;

  const auto workspace = Workspace::create(model, params);
  Result<OperatingPoint> point = operating_point(*workspace, operation);
  d.append(point.diagnostics());
  if (!point) return d;
  const Result<LinearModel> linear = linearize(*workspace, *point);
  if (!linear) return linear.diagnostics();
  const Result<Modes> found = modes(*workspace, *point, *linear);
  if (!found) return found.diagnostics();

  // Points.
  ImpactTest out;
  for (auto* points : {&o.accelerometers, &o.hammer})
    for (MeasuredPoint& p : *points) {
      const int frame = find_frame(model, p.frame);
      const FramePose pose = workspace->frame_pose(view(point->q), frame);
      out.positions[p.frame] = {pose.position[0], pose.position[1], pose.position[2]};
      p.direction.normalize();
      const int carrier = model.frames[static_cast<size_t>(frame)].body;
      if (o.body_axes && carrier >= 0) {
        const FramePose body = workspace->body_pose(view(point->q), carrier);
        p.direction = Eigen::Map<const Eigen::Matrix3d>(body.axes.data()) * p.direction;
      }
    }
  const auto modes_count = static_cast<Index>(found->list.size());
  ModalModel m;
  m.omega.resize(modes_count);
  m.decay.resize(modes_count);
  MatrixXd phi(linear->M_z.rows(), modes_count);
  for (Index k = 0; k < modes_count; ++k) phi.col(k) = found->list[static_cast<size_t>(k)].z;
  const MatrixXd damping = phi.transpose() * (0.5 * (linear->D_z + linear->D_z.transpose())) * phi;
  size_t vibrating = 0;
  for (Index k = 0; k < modes_count; ++k) {
    const Mode& mode = found->list[static_cast<size_t>(k)];
    if (mode.growth_rate > 0 && !o.hold) {
      d.error(
          963, {},
          fmt::format("impact test: {} is not stable in this pose (a mode grows at {:.3g} 1/s); "
                      "choose another one, or say that friction holds it (hold)",
                      model.name, mode.growth_rate));
      return d;
    }
    m.omega(k) = kTurn * mode.frequency_hz;
    m.decay(k) = std::max(0.0, damping(k, k));
    if (!o.damping.empty() && m.omega(k) > 0)
      m.decay(k) = 2 * m.omega(k) * o.damping[std::min(vibrating++, o.damping.size() - 1)];
  }
  if (o.damping.empty()) {
    double worst = 0;
    for (Index i = 0; i < modes_count; ++i)
      for (Index k = 0; k < i; ++k)
        if (damping(i, i) > 0 && damping(k, k) > 0)
          worst =
              std::max(worst, std::abs(damping(i, k)) / std::sqrt(damping(i, i) * damping(k, k)));
    if (worst > kCoupled)
      d.warning(965, {},
                fmt::format("the model's damping couples modes by up to {:.0f} % of their own; "
                            "the rig damps each mode by itself",
                            100 * worst));
  }
  m.responses = point_rows(*workspace, view(point->q), linear->R, o.accelerometers) * phi;
  m.hits = point_rows(*workspace, view(point->q), linear->R, o.hammer) * phi;
  find_roots(m);
  const Rig rig(o, std::move(m));

  const double last = o.to_hz > 0 ? o.to_hz : o.sample_rate_hz / 2.56;
  std::string rings;
  for (Index k = 0; k < modes_count; ++k) {
    const double hz = rig.modes().omega(k) / kTurn, rate = rig.modes().decay(k) / 2;
    const bool moves = rig.modes().responses.col(k).norm() * rig.modes().hits.col(k).norm() > 0;
    if (hz > 0 && hz <= last && moves && std::exp(-rate * o.duration_s) * o.window_end > kRings)
      rings += fmt::format("{}{:.4g} Hz", rings.empty() ? "" : ", ", hz);
    if (!(hz >= std::max(o.from_hz, 1e-6) && hz <= last)) continue;
    MeasuredMode mode;
    mode.frequency_hz = hz;
    mode.damping = rate / rig.modes().omega(k);
    mode.shape = rig.modes().responses.col(k).cast<Complex>();
    Index largest = 0;
    if (mode.shape.cwiseAbs().maxCoeff(&largest) > 0) mode.shape /= Complex(mode.shape(largest));
    out.modes.modes.push_back(std::move(mode));
  }
  out.modes.points = o.accelerometers;
  if (!rings.empty())
    d.warning(964, {},
              fmt::format("modes still ring at the end of the record: {}; their lines leak. Record "
                          "longer, damp them, or lower the end of the exponential window",
                          rings));

  // Lines.
  const Index count = rig.samples();
  const double resolution = o.sample_rate_hz / static_cast<double>(count);
  const auto first_line = static_cast<Index>(std::ceil(o.from_hz / resolution - 1e-9)),
             last_line = std::min<Index>(static_cast<Index>(std::floor(last / resolution + 1e-9)),
                                         count / 2);
  const Index lines = last_line - first_line + 1;
  out.data.responses = o.accelerometers;
  out.data.excitations = o.hammer;
  out.data.motion = Motion::kAcceleration;
  out.data.window_decay = rig.window_decay();
  out.data.frequency_hz =
      VectorXd::LinSpaced(lines, static_cast<double>(first_line), static_cast<double>(last_line)) *
      resolution;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  out.data.h = MatrixXcd::Constant(lines, out.data.pairs(), Complex(kNaN, kNaN));
  out.exact.resize(lines, out.data.pairs());
  if (o.averages > 1) out.data.coherence = MatrixXd::Constant(lines, out.data.pairs(), kNaN);
  for (Index i = 0; i < lines; ++i)
    out.exact.row(i) = rig.modes()
                           .at(Complex(rig.window_decay(), kTurn * out.data.frequency_hz(i)))
                           .reshaped()
                           .transpose();

  // Hits.
  const auto responses = static_cast<Index>(o.accelerometers.size()),
             hits = static_cast<Index>(o.hammer.size());
  std::atomic<bool> ended = false, silent = false;
  std::atomic<int> done = 0;
  std::mutex speaking;
  const auto spectrum = [&](Eigen::FFT<double>& fft, const MatrixXd& record, Index channel) {
    std::vector<double> x(record.col(channel).begin(), record.col(channel).end());
    std::vector<Complex> y;
    fft.fwd(y, x);
    return VectorXcd(Eigen::Map<const VectorXcd>(y.data() + first_line, lines));
  };
  const auto hammer_at = [&](Index e) {
    const Signals signals = rig.signals(e);
    MatrixXcd cross = MatrixXcd::Zero(lines, responses);
    MatrixXd power = MatrixXd::Zero(lines, responses);
    VectorXd force = VectorXd::Zero(lines);
    Eigen::FFT<double> fft;
    MatrixXd record;
    for (int a = 0; a < o.averages && !ended && !silent; ++a) {
      if (!rig.record(signals, e, a, record)) {
        silent = true;
        return;
      }
      if (e == 0 && a == 0) {
        out.time = VectorXd::LinSpaced(count, 0, static_cast<double>(count - 1)) / o.sample_rate_hz;
        out.force = record.col(0);
        out.response = record.col(1);
      }
      const VectorXcd f = spectrum(fft, record, 0);
      force += f.cwiseAbs2();
      for (Index r = 0; r < responses; ++r) {
        const VectorXcd x = spectrum(fft, record, r + 1);
        cross.col(r) += x.cwiseProduct(f.conjugate());
        power.col(r) += x.cwiseAbs2();
      }
    }
    if (ended || silent) return;
    for (Index r = 0; r < responses; ++r) {
      const Index pair = out.data.pair(static_cast<size_t>(r), static_cast<size_t>(e));
      out.data.h.col(pair) = cross.col(r).cwiseQuotient(force.cast<Complex>());
      if (o.averages > 1)
        out.data.coherence.col(pair) =
            cross.col(r).cwiseAbs2().array() /
            (power.col(r).array() * force.array()).cwiseMax(std::numeric_limits<double>::min());
    }
    const double finished = ++done / static_cast<double>(hits);
    const std::unique_lock lock(speaking, std::try_to_lock);
    if (lock.owns_lock() && o.progress && !o.progress(finished)) ended = true;
  };
  tbb::task_arena arena(o.threads > 0 ? o.threads : tbb::task_arena::automatic);
  arena.execute([&] { tbb::parallel_for(Index{0}, hits, hammer_at); });
  if (silent) {
    d.error(963, {},
            fmt::format("impact test: a hit of {} N does not reach the trigger of {} N behind the "
                        "low-pass of the channel; hit harder or longer, or lower the trigger",
                        o.peak_n, o.trigger_n));
    return d;
  }
  out.complete = out.data.h.allFinite();
  if (out.complete)
    out.error = (out.data.h - out.exact).norm() / std::max(out.exact.norm(), 1e-300);
  return {std::move(out), d};
}

}  // namespace panto
