#include "panto/estimation/tune.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "panto/estimation/parallel.hpp"

namespace panto {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Decades: range of noise densities and of standard deviations around the start; first grid, and finer ones around the best point.
constexpr double kNoiseRange = 6, kSigmaRange = 3, kGrid = 0.5, kFinest = 0.01;
constexpr int kFiner = 5;
constexpr int kCycles = 8;  // of one parameter after the other
constexpr double kGain =
    0.05;  // log-likelihood that a cycle must gain: far below 1/2, one standard deviation
constexpr double kFlat = 1.92;       // log-likelihood that a 95 % interval spans
constexpr double kCurvature = 0.25;  // step in ln of the second differences
constexpr int kLags = 20;

// Whether process noise is that of estimated forces.
bool walks(const std::string& filter) { return filter == "error_ekf_fe"; }

// Normalised innovations per sensor.
using Series = std::vector<std::vector<double>>;

double autocorrelation(const std::vector<double>& x, size_t lag) {
  double sum = 0, square = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    square += x[i] * x[i];
    if (i + lag < x.size()) sum += x[i] * x[i + lag];
  }
  return square > 0 ? sum / square : 0;
}

void judge(const Series& series, InnovationTest& out) {
  int tests = 0, inside = 0;
  std::vector<int> counted;
  for (const std::vector<double>& x : series) {
    const auto n = static_cast<double>(x.size());
    const size_t lags = std::min<size_t>(kLags, x.size() / 4);
    for (size_t lag = 1; lag <= lags; ++lag) {
      const double r = autocorrelation(x, lag);
      if (out.autocorrelation.size() < lag) {
        out.autocorrelation.push_back(0);
        counted.push_back(0);
      }
      out.autocorrelation[lag - 1] += r;
      ++counted[lag - 1];
      ++tests;
      inside += std::abs(r) <= 1.96 / std::sqrt(n) ? 1 : 0;
      out.ljung_box += n * (n + 2) * r * r / (n - static_cast<double>(lag));
    }
  }
  for (size_t i = 0; i < counted.size(); ++i) out.autocorrelation[i] /= counted[i];
  if (tests == 0) return;
  out.inside = static_cast<double>(inside) / tests;
  out.p_value =
      boost::math::cdf(boost::math::complement(boost::math::chi_squared(tests), out.ljung_box));
}

class Search {
 public:
  Search(const Model& model, const Params& params, ObserverSettings settings,
         std::vector<SensorSettings> sensors, const Readings& readings, const TuneOptions& options)
      : model_(model),
        params_(params),
        settings_(std::move(settings)),
        sensors_(std::move(sensors)),
        readings_(readings),
        options_(options) {
    settings_.options = {};
  }

  Result<Tuning> run() {
    if (!prepare()) return notes_;
    std::vector<TunePoint> start{point("start")};
    evaluate(start);
    best_ = start[0];
    if (!out_.complete) best_.log_likelihood = -kInfinity;
    common();
    if (out_.complete && !std::isfinite(best_.log_likelihood)) {
      notes_.error(833, settings_.loc,
                   "the filter does not pass through the readings with any noise tried; do model, "
                   "initial state and sensors fit the data?");
      return notes_;
    }
    const bool noises = noise0_.size() > 1;
    for (int cycle = 0; cycle < kCycles && out_.complete && (noises || options_.sensors); ++cycle) {
      const double before = best_.log_likelihood;
      const bool whole = cycle == 0;
      for (size_t i = 0; i < noise0_.size() && noises; ++i)
        if (noise0_[i] > 0) line(out_.speeds[i], i, false, whole ? kNoiseRange : kGrid);
      for (size_t i = 0; i < sigma0_.size() && options_.sensors; ++i)
        line(sensors_[i].name, i, true, whole ? kSigmaRange : kGrid);
      // One speed: its noise is varied anew beside the sensors.
      if (!noises) line(out_.speeds[0], 0, false, kGrid);
      if (best_.log_likelihood - before < kGain) break;
    }
    finish();
    return Result<Tuning>(std::move(out_), notes_);
  }

 private:
  bool prepare() {
    auto made = Observer::create(model_, params_, settings_, sensors_);
    if (!made) {
      notes_ = made.diagnostics();
      return false;
    }
    Observer& o = **made;
    if (o.info().name == "cekf") {
      notes_.error(805, settings_.loc,
                   "cekf has no innovations of readings to judge; tune a discrete filter");
      return false;
    }
    const bool forces = walks(o.info().name);
    const int np = o.mechanism().coordinates(), nz = o.mechanism().speeds();
    const auto names = o.mechanism().names();
    out_.speeds.assign(names.begin() + np, names.begin() + np + nz);
    const std::vector<double>& list =
        forces ? o.settings().force_walk : o.settings().acceleration_noise;
    for (int i = 0; i < nz; ++i)
      noise0_.push_back(list[list.size() == 1 ? 0 : static_cast<size_t>(i)]);
    for (int i = 0; i < o.mechanism().sensors(); ++i)
      sigma0_.push_back(o.mechanism().sensor(i).sigma);
    if (std::none_of(noise0_.begin(), noise0_.end(), [](double e) { return e > 0; }))
      notes_.error(833, settings_.loc, "noise of zero cannot be varied; start with another one");
    bool fits = readings_.fit() && !readings_.t.empty();
    for (const std::vector<int>& used : readings_.sensors)
      for (const int i : used) fits = fits && i >= 0 && i < static_cast<int>(sigma0_.size());
    if (!fits)
      notes_.error(
          833, settings_.loc,
          "readings: times must ascend from the start on, and each reading belong to a sensor");
    return notes_.ok();
  }

  [[nodiscard]] TunePoint point(const std::string& varied) const {
    TunePoint p;
    p.varied = varied;
    p.noise = best_.noise.empty() ? noise0_ : best_.noise;
    p.sigma = best_.sigma.empty() ? sigma0_ : best_.sigma;
    return p;
  }

  std::unique_ptr<Observer> observer(const TunePoint& p) const {
    const ObserverSettings settings = with_noise(settings_, p.noise);
    std::vector<SensorSettings> sensors = sensors_;
    for (size_t i = 0; i < sensors.size(); ++i) sensors[i].sigma = p.sigma[i];
    auto made = Observer::create(model_, params_, settings, sensors);
    return made ? std::move(*made) : nullptr;
  }

  // Points that an early end leaves out have no likelihood (NaN).
  void evaluate(std::vector<TunePoint>& points) {
    for (TunePoint& p : points) p.log_likelihood = std::numeric_limits<double>::quiet_NaN();
    const bool all =
        for_all(static_cast<int>(points.size()), options_.threads, options_.progress, [&](int i) {
          TunePoint& p = points[static_cast<size_t>(i)];
          p.log_likelihood = -kInfinity;
          const auto o = observer(p);
          InnovationTest test;
          if (o == nullptr || test_innovations(*o, readings_, test) != Status::kOk) return;
          p.log_likelihood = test.log_likelihood;
          p.nis = test.nis;
          p.lag1 = test.autocorrelation.empty() ? 0 : test.autocorrelation[0];
        });
    out_.complete = out_.complete && all;
    for (const TunePoint& p : points)
      if (!std::isnan(p.log_likelihood)) out_.points.push_back(p);
  }

  // Points at 10^e times the start, e equally spaced; then finer around the best, which is at first `at`. Those of the first grid.
  template <class Set>
  std::vector<TunePoint> scan(const std::string& varied, double from, double to, double at,
                              Set&& set) {
    std::vector<TunePoint> first;
    double step = to - from > 2 * kGrid ? kGrid : kGrid / kFiner, low = from, high = to;
    for (int round = 0; step > kFinest && out_.complete; ++round) {
      std::vector<TunePoint> points;
      const int count = static_cast<int>(std::lround((high - low) / step));
      for (int i = 0; i <= count; ++i) {
        TunePoint p = point(varied);
        const double e = low + i * step;
        // Ends and middle of a finer grid are points of the coarser one.
        if (round > 0 && (i == 0 || i == count || std::abs(e - at) < 0.5 * step)) continue;
        p.factor = std::pow(10.0, e);
        set(p);
        points.push_back(p);
      }
      evaluate(points);
      for (const TunePoint& p : points)
        if (p.log_likelihood > best_.log_likelihood) {
          best_ = p;
          at = std::log10(p.factor);
        }
      if (round == 0) first = points;
      low = std::max(from, at - step);
      high = std::min(to, at + step);
      step /= kFiner;
    }
    return first;
  }

  void common() {
    const auto grid = scan("all", -kNoiseRange, kNoiseRange, 0, [&](TunePoint& p) {
      for (size_t i = 0; i < p.noise.size(); ++i) p.noise[i] = p.factor * noise0_[i];
    });
    if (!out_.complete || !std::isfinite(best_.log_likelihood)) return;
    if (best_.factor > 0.9 * std::pow(10.0, kNoiseRange))
      notes_.warning(833, settings_.loc,
                     "the most likely noise is the largest one tried: the model does not explain "
                     "the readings");
    else if (grid.front().log_likelihood > best_.log_likelihood - kFlat)
      notes_.warning(833, settings_.loc,
                     "the readings are as likely without process noise: what is found is an upper "
                     "limit of it");
  }

  void line(const std::string& varied, size_t i, bool sigma, double range) {
    const double start = sigma ? sigma0_[i] : noise0_[i];
    const double at = std::log10((sigma ? best_.sigma[i] : best_.noise[i]) / start);
    const double widest = sigma ? kSigmaRange : kNoiseRange;
    (void)scan(varied, std::max(-widest, at - range), std::min(widest, at + range), at,
               [&](TunePoint& p) { (sigma ? p.sigma : p.noise)[i] = p.factor * start; });
  }

  // Errors from the curvature of the log-likelihood in the logarithms of all that was varied.
  void errors() {
    std::vector<std::pair<bool, size_t>> varied;  // sigma?, index
    for (size_t i = 0; i < noise0_.size(); ++i)
      if (noise0_[i] > 0) varied.emplace_back(false, i);
    for (size_t i = 0; i < sigma0_.size() && options_.sensors; ++i) varied.emplace_back(true, i);
    const auto n = static_cast<Eigen::Index>(varied.size());
    const auto moved = [&](Eigen::Index i, double a, Eigen::Index k, double b) {
      TunePoint p = point("curvature");
      for (const auto& [j, e] : {std::pair{i, a}, std::pair{k, b}}) {
        const auto& [sigma, index] = varied[static_cast<size_t>(j)];
        (sigma ? p.sigma : p.noise)[index] *= std::exp(e * kCurvature);
      }
      return p;
    };
    std::vector<TunePoint> points;
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index k = 0; k <= i; ++k)
        for (const auto& [a, b] : {std::pair{1, 1}, {1, -1}, {-1, 1}, {-1, -1}})
          points.push_back(moved(i, a, k, b));
    const size_t known = out_.points.size();
    evaluate(points);
    out_.points.resize(known);  // no part of the search
    out_.noise_error.assign(noise0_.size(), 0);
    if (options_.sensors) out_.sigma_error.assign(sigma0_.size(), 0);
    const auto error = [&](Eigen::Index i) -> double& {
      const auto& [sigma, index] = varied[static_cast<size_t>(i)];
      return (sigma ? out_.sigma_error : out_.noise_error)[index];
    };
    for (Eigen::Index i = 0; i < n; ++i) error(i) = kInfinity;
    if (!out_.complete) return;
    Eigen::MatrixXd information(n, n);
    size_t at = 0;
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index k = 0; k <= i; ++k, at += 4) {
        const double second = points[at].log_likelihood - points[at + 1].log_likelihood -
                              points[at + 2].log_likelihood + points[at + 3].log_likelihood;
        information(i, k) = information(k, i) = -second / (4 * kCurvature * kCurvature);
      }
    const Eigen::LLT<Eigen::MatrixXd> llt(information);
    if (!information.allFinite() || llt.info() != Eigen::Success) return;
    const Eigen::MatrixXd covariance = llt.solve(Eigen::MatrixXd::Identity(n, n));
    for (Eigen::Index i = 0; i < n; ++i) error(i) = std::sqrt(covariance(i, i));
  }

  void finish() {
    out_.noise = best_.noise;
    out_.sigma = best_.sigma;
    if (const auto o = observer(best_)) (void)test_innovations(*o, readings_, out_.chosen);
    TunePoint start;
    start.noise = noise0_;
    start.sigma = sigma0_;
    if (const auto o = observer(start)) (void)test_innovations(*o, readings_, out_.start);
    errors();
  }

  const Model& model_;
  const Params& params_;
  ObserverSettings settings_;
  std::vector<SensorSettings> sensors_;
  const Readings& readings_;
  const TuneOptions& options_;
  std::vector<double> noise0_, sigma0_;
  TunePoint best_;
  Tuning out_;
  Diagnostics notes_;
};

}  // namespace

Status test_innovations(Observer& observer, const Readings& readings, InnovationTest& out) {
  Filter& filter = observer.filter();
  out = {};
  Series series(static_cast<size_t>(filter.system().sensors()));
  Status status = observer.start(readings.start);
  if (status != Status::kOk) return status;
  status = step_through(
      readings, [&](View u) { observer.mechanism().set_inputs(u); },
      [&](double dt, std::span<const int> sensors, View y) {
        const Status s = filter.step(dt, sensors, y);
        if (s == Status::kOk) observer.renew_reference();
        const Innovations& i = filter.innovations();
        out.count += i.count;
        out.nis += i.nis;
        out.log_likelihood -=
            0.5 * (i.nis + i.log_determinant + i.count * std::log(2 * std::numbers::pi));
        for (size_t k = 0; k < i.sensor.size(); ++k)
          series[static_cast<size_t>(i.sensor[k])].push_back(i.value[k] / std::sqrt(i.variance[k]));
        return s;
      });
  if (out.count > 0) out.nis /= out.count;
  judge(series, out);
  if (status == Status::kOk && !std::isfinite(out.log_likelihood)) return Status::kNotFinite;
  return status;
}

ObserverSettings with_noise(ObserverSettings settings, const std::vector<double>& noise) {
  (walks(settings.filter) ? settings.force_walk : settings.acceleration_noise) = noise;
  return settings;
}

Result<Tuning> tune(const Model& model, const Params& params, const ObserverSettings& settings,
                    const std::vector<SensorSettings>& sensors, const Readings& readings,
                    const TuneOptions& options) {
  return Search(model, params, settings, sensors, readings, options).run();
}

}  // namespace panto
