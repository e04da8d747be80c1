#include "panto/identification/identify.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <Eigen/SVD>
#include <algorithm>
#include <atomic>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <mutex>

#include "panto/identification/modal_fit.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/random.hpp"

namespace panto {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kAssumedSigma = 1e-3;  // of each frequency (and 10 % of a damping ratio)
constexpr double kAssumedDampingSigma = 0.1;
constexpr double kSame = 1e-4;     // relative difference of two ends of one minimum
constexpr double kAtBound = 1e-6;  // of the range
constexpr int kRepeats = 20;       // of a search that ends at a bound
constexpr double kNormal95 = 1.9599639845400545;
constexpr double kBelievable =
    0.9999;  // probability up to which residuals are due to the uncertainties that were given
constexpr double kHardly = 1e6;  // condition beyond which a combination of parameters is not seen
constexpr std::uint64_t kStartStream = 2000, kNoiseStream = 3000;

class Identifier {
 public:
  Identifier(const Model& model, const Params& params, const IdentifyStudy& study,
             const std::function<bool(double)>& progress)
      : model_(model), study_(study), progress_(progress) {
    out_.params = params;
  }

  Result<Identification> run() {
    find_parameters();
    if (!notes_.ok()) return notes_;
    for (const MeasuredPose& pose : study_.poses) add_pose(pose);
    if (!notes_.ok()) return notes_;
    fit_.emplace_back(std::move(targets_));
    if (!study_.simulate.empty() && !simulate(0)) return notes_;
    ModalFit& fit = fit_.front();
    const int count = static_cast<int>(index_.size());
    if (fit.size() < count) {
      notes_.error(711, study_.parameters.front().loc,
                   fmt::format("{} parameters cannot follow from {} measured values; measure more "
                               "modes or more poses, or fix {} of the parameters",
                               count, fit.size(), count - fit.size()));
      return notes_;
    }
    search();
    if (out_.solutions.empty()) {
      notes_.error(718, {}, fmt::format("none of {} starts converged", out_.starts));
      return notes_;
    }
    judge();
    if (!study_.simulate.empty()) repeat();
    return {std::move(out_), std::move(notes_)};
  }

 private:
  void find_parameters() {
    std::vector<std::string> known;
    for (const ParameterInfo& p : model_.parameters) known.push_back(p.name);
    const auto count = static_cast<Eigen::Index>(study_.parameters.size());
    bounds_.low.resize(count);
    bounds_.high.resize(count);
    start_.resize(count);
    truth_.resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const UnknownParameter& p = study_.parameters[static_cast<size_t>(i)];
      const int index = find_parameter(model_, p.name);
      if (index < 0) {
        notes_.error(701, p.loc,
                     fmt::format("\"{}\" is no parameter of {}{}", p.name, model_.name,
                                 did_you_mean(p.name, known)));
        continue;
      }
      const double value = out_.params.values(index);
      if (value == 0 && !(p.has_low && p.has_high)) {
        notes_.error(703, p.loc,
                     fmt::format("parameter \"{}\" is zero in the model; give bounds, {} = {{ low "
                                 "= …, high = … }}",
                                 p.name, p.name));
        continue;
      }
      index_.push_back(index);
      const double a = value / 100, b = value * 100;
      bounds_.low(i) = p.has_low ? p.low : std::min({a, b, p.has_high ? p.high / 1e4 : b});
      bounds_.high(i) = p.has_high ? p.high : std::max({a, b, p.has_low ? p.low * 1e4 : a});
      start_(i) = std::clamp(p.has_start ? p.start : value, bounds_.low(i), bounds_.high(i));
      truth_(i) = value;
      if (!(bounds_.low(i) < bounds_.high(i)))
        notes_.error(308, p.loc,
                     fmt::format("parameter \"{}\": the lower bound {} is not below the upper one "
                                 "{}",
                                 p.name, bounds_.low(i), bounds_.high(i)));
    }
    if (study_.simulate.empty()) return;
    for (const auto& [name, value] : study_.simulate.front().truth) {
      const auto at =
          std::find_if(study_.parameters.begin(), study_.parameters.end(),
                       [&, &wanted = name](const UnknownParameter& p) { return p.name == wanted; });
      if (at == study_.parameters.end())
        notes_.error(701, study_.simulate.front().loc,
                     fmt::format("truth: \"{}\" is not among the parameters to be identified; give "
                                 "its value in [set]",
                                 name));
      else
        truth_(at - study_.parameters.begin()) = value;
    }
  }

  // The pose itself, loops closed and limits kept.
  bool reach(const MeasuredPose& pose, Eigen::VectorXd& q) {
    const auto located = [&](int id, const Diagnostics& why) {
      for (const Diagnostic& d : why.items())
        if (d.severity == Severity::kError)
          notes_.error(id > 0 ? id : d.id, pose.loc,
                       fmt::format("pose \"{}\": {}", pose.name, d.message));
      return false;
    };
    const Result<Model> posed = with_pose(model_, pose.at);
    if (!posed.ok()) return located(0, posed.diagnostics());
    const auto workspace = Workspace::create(*posed, out_.params);
    const Result<AssembledState> state = assemble(*workspace);
    if (!state.ok()) return located(713, state.diagnostics());
    q = state->q;
    for (const Joint& j : model_.joints) {
      if (j.nv != 1) continue;
      const Limits& l = model_.limits[static_cast<size_t>(j.v)];
      const double low = l.lower >= 0 ? workspace->number(l.lower) : -kInfinity,
                   high = l.upper >= 0 ? workspace->number(l.upper) : kInfinity;
      if (q(j.q) >= low - 1e-9 && q(j.q) <= high + 1e-9) continue;
      notes_.error(713, pose.loc,
                   fmt::format("pose \"{}\": {} = {:.6g} is outside its joint's range, {:.6g} to "
                               "{:.6g}",
                               pose.name, model_.coordinate_names[static_cast<size_t>(j.q)], q(j.q),
                               low, high));
      return false;
    }
    return true;
  }

  void add_pose(const MeasuredPose& pose) {
    Eigen::VectorXd q;
    if (!reach(pose, q)) return;
    Result<ModalMap> map = ModalMap::create(model_, out_.params, view(q), index_, pose.operation);
    if (!map.ok()) {
      for (const Diagnostic& d : map.diagnostics().items())
        notes_.error(d.id, pose.loc, fmt::format("pose \"{}\": {}", pose.name, d.message));
      return;
    }
    PoseTarget target{std::move(*map), {}, {}};
    std::vector<MeasuredFrequency> modes = pose.modes;
    if (!study_.simulate.empty() && modes.empty())
      modes.resize(static_cast<size_t>(target.map.modes()));
    find_outputs(pose, modes, target);
    for (size_t i = 0; i < modes.size(); ++i) {
      const MeasuredFrequency& m = modes[i];
      ModeTarget t;
      t.hz = m.frequency_hz;
      t.mode = m.mode >= 0 ? m.mode : static_cast<int>(i);
      if (t.mode >= target.map.modes())
        notes_.error(712, m.loc,
                     fmt::format("pose \"{}\": mode {} was measured, but the model has {}",
                                 pose.name, t.mode + 1, target.map.modes()));
      if (study_.simulate.empty() && !(m.frequency_hz > 0 && std::isfinite(m.frequency_hz)))
        notes_.error(710, m.loc,
                     fmt::format("pose \"{}\": frequency {} Hz: a measured frequency is positive",
                                 pose.name, m.frequency_hz));
      out_.sigma_assumed = out_.sigma_assumed || !(m.sigma_hz > 0);
      t.sigma_hz = m.sigma_hz > 0 ? m.sigma_hz : kAssumedSigma * m.frequency_hz;
      t.damping = m.damping;
      t.damping_sigma = m.damping_sigma > 0 ? m.damping_sigma : kAssumedDampingSigma * m.damping;
      if (!m.shape.empty()) {
        t.shape = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(target.outputs.size()));
        for (const auto& [name, value] : m.shape) {
          const int output = find_output(model_, name);
          const auto at = std::find(target.outputs.begin(), target.outputs.end(), output);
          if (at != target.outputs.end()) t.shape(at - target.outputs.begin()) = value;
        }
      }
      target.modes.push_back(std::move(t));
    }
    check_pairing(pose, target);
    if (notes_.ok()) targets_.push_back(std::move(target));
  }

  // Every measured mode needs a model mode of its own.
  void check_pairing(const MeasuredPose& pose, const PoseTarget& target) {
    std::vector<int> taken;
    int shaped = 0;
    for (size_t i = 0; i < target.modes.size(); ++i) {
      const ModeTarget& m = target.modes[i];
      if (m.shape.size() > 0) {
        ++shaped;
        continue;
      }
      if (std::find(taken.begin(), taken.end(), m.mode) != taken.end())
        notes_.error(712, i < pose.modes.size() ? pose.modes[i].loc : pose.loc,
                     fmt::format("pose \"{}\": mode {} is given twice", pose.name, m.mode + 1));
      taken.push_back(m.mode);
    }
    if (shaped > target.map.modes())
      notes_.error(712, pose.loc,
                   fmt::format("pose \"{}\": {} shapes were measured, but the model has {} modes",
                               pose.name, shaped, target.map.modes()));
  }

  void find_outputs(const MeasuredPose& pose, const std::vector<MeasuredFrequency>& modes,
                    PoseTarget& target) {
    std::vector<std::string> known;
    for (const Output& o : model_.outputs) known.push_back(o.name);
    for (const MeasuredFrequency& m : modes)
      for (const auto& [name, value] : m.shape) {
        const int output = find_output(model_, name);
        if (output < 0)
          notes_.error(712, m.loc,
                       fmt::format("pose \"{}\": the shape names \"{}\", which is no output of "
                                   "{}{}",
                                   pose.name, name, model_.name, did_you_mean(name, known)));
        else if (std::find(target.outputs.begin(), target.outputs.end(), output) ==
                 target.outputs.end())
          target.outputs.push_back(output);
      }
  }

  // Puts measurement number `repeat` of the truth into the fit.
  bool simulate(int repeat) {
    const SimulatedMeasurement& s = study_.simulate.front();
    ModalFit& fit = fit_.front();
    std::uint64_t reading = 0;
    for (size_t k = 0; k < fit.poses().size(); ++k) {
      PoseTarget& pose = fit.poses()[k];
      ModalValues values;
      if (!pose.map.evaluate(view(truth_), values)) {
        notes_.error(
            718, s.loc,
            fmt::format("pose \"{}\": the truth has no modes there", study_.poses[k].name));
        return false;
      }
      for (ModeTarget& m : pose.modes) {
        m.hz = measured(values.hz(m.mode), repeat, reading++);
        m.sigma_hz = sigma(values.hz(m.mode));
      }
    }
    out_.sigma_assumed = !(s.noise > 0 || s.round_hz > 0);
    return true;
  }
  [[nodiscard]] double measured(double hz, int repeat, std::uint64_t reading) const {
    const SimulatedMeasurement& s = study_.simulate.front();
    if (s.noise > 0)
      hz *= 1 + s.noise *
                    normal(study_.seed, kNoiseStream + reading, static_cast<std::uint64_t>(repeat));
    return s.round_hz > 0 ? s.round_hz * std::round(hz / s.round_hz) : hz;
  }
  [[nodiscard]] double sigma(double hz) const {
    const SimulatedMeasurement& s = study_.simulate.front();
    const double known = std::hypot(s.noise * hz, s.round_hz / std::sqrt(12.0));
    return known > 0 ? known : kAssumedSigma * hz;
  }

  [[nodiscard]] Eigen::VectorXd start(int number) const {
    if (number == 0) return start_;
    return Eigen::VectorXd::NullaryExpr(start_.size(), [&](Eigen::Index i) {
      const double share = uniform(study_.seed, kStartStream + static_cast<std::uint64_t>(i),
                                   static_cast<std::uint64_t>(number));
      const double low = bounds_.low(i), high = bounds_.high(i);
      return low > 0 ? low * std::pow(high / low, share) : low + share * (high - low);
    });
  }

  // work(fit, i) for i = 0, 1, … on all cores, each with a fit of its own; ended early where the caller wants it. How many were done.
  int for_all(int count, bool alone, const std::function<void(ModalFit&, int)>& work) {
    std::atomic<int> done = 0;
    std::atomic<bool> ended = false;
    std::mutex speaking;
    const auto block = [&](const tbb::blocked_range<int>& range) {
      ModalFit own = fit_.front().clone();
      for (int i = range.begin(); i < range.end() && !ended; ++i) {
        work(own, i);
        const double finished = ++done / static_cast<double>(count);
        const std::unique_lock lock(speaking, std::try_to_lock);
        if (lock.owns_lock() && progress_ && !progress_(finished)) ended = true;
      }
    };
    const tbb::blocked_range<int> all(0, count);
    if (alone) {
      block(all);
    } else {
      tbb::task_arena arena(study_.threads > 0 ? study_.threads : tbb::task_arena::automatic);
      arena.execute([&] { tbb::parallel_for(all, block); });
    }
    out_.complete = out_.complete && !ended;
    return done;
  }

  // A local minimum; where it ends at a bound the search is repeated from there until nothing is gained.
  [[nodiscard]] LocalMinimum settled(ModalFit& fit, const Eigen::VectorXd& from) const {
    LocalMinimum end = minimise(fit, bounds_, from, study_.method);
    for (int again = 0; again < kRepeats && end.converged; ++again) {
      bool bound = false;
      for (Eigen::Index i = 0; i < end.theta.size(); ++i)
        bound = bound || at_bound(i, end.theta(i));
      if (!bound) break;
      LocalMinimum next = minimise(fit, bounds_, end.theta, study_.method);
      if (!(next.converged && next.cost < end.cost * (1 - 1e-9))) break;
      end = std::move(next);
    }
    return end;
  }

  void search() {
    std::vector<LocalMinimum> ends(static_cast<size_t>(study_.starts));
    // IPOPT's linear solver keeps global state.
    out_.starts = for_all(
        study_.starts, study_.method == IdentifyMethod::kInteriorPoint,
        [&](ModalFit& fit, int i) { ends[static_cast<size_t>(i)] = settled(fit, start(i)); });
    std::vector<const LocalMinimum*> good;
    for (const LocalMinimum& e : ends)
      if (e.converged && e.theta.allFinite()) good.push_back(&e);
    out_.converged = static_cast<int>(good.size());
    std::stable_sort(good.begin(), good.end(), [](const LocalMinimum* a, const LocalMinimum* b) {
      return a->cost < b->cost;
    });
    for (const LocalMinimum* e : good) {
      const auto known =
          std::find_if(out_.solutions.begin(), out_.solutions.end(), [&](const Solution& s) {
            return ((s.theta - e->theta).array().abs() <=
                    kSame * s.theta.array().abs().max(e->theta.array().abs()))
                .all();
          });
      if (known != out_.solutions.end()) {
        ++known->hits;
        continue;
      }
      Solution s;
      s.theta = e->theta;
      s.cost = 2 * e->cost;
      s.hits = 1;
      for (Eigen::Index i = 0; i < s.theta.size(); ++i)
        s.bounds_hit = s.bounds_hit || at_bound(i, s.theta(i));
      Eigen::VectorXd r;
      if (fit_.front().evaluate(view(s.theta), r)) s.error_hz = fit_.front().error_hz();
      out_.solutions.push_back(std::move(s));
    }
    // Boender and Rinnooy Kan: with w minima found by n starts, w (w + 1) / (n - w - 2) more are expected.
    const double n = out_.converged, w = static_cast<double>(out_.solutions.size());
    out_.unseen = n > w + 2 ? w * (w + 1) / (n - w - 2) : kInfinity;
  }

  [[nodiscard]] bool at_bound(Eigen::Index i, double theta) const {
    const double low = bounds_.low(i), high = bounds_.high(i);
    if (low > 0)
      return std::min(std::log(theta / low), std::log(high / theta)) <=
             kAtBound * std::log(high / low);
    return std::min(theta - low, high - theta) <= kAtBound * (high - low);
  }

  // From the start, in shares of the bounds' range.
  [[nodiscard]] double distance(const Solution& s) const {
    double sum = 0;
    for (Eigen::Index i = 0; i < s.theta.size(); ++i) {
      const double low = bounds_.low(i), high = bounds_.high(i);
      sum += std::pow(low > 0 ? std::log(s.theta(i) / start_(i)) / std::log(high / low)
                              : (s.theta(i) - start_(i)) / (high - low),
                      2);
    }
    return sum;
  }

  void judge() {
    ModalFit& fit = fit_.front();
    const int count = static_cast<int>(index_.size());
    const int surplus = fit.size() - count;
    // The scatter of the residuals tells the scale of uncertainties that are not known, and of those that it belies (IDN-9), where there are enough.
    const double best = out_.solutions.front().cost;
    belied_ = !out_.sigma_assumed && surplus > 0 &&
              best > boost::math::quantile(boost::math::chi_squared(surplus), kBelievable);
    by_scatter_ = surplus > 0 && (out_.sigma_assumed || belied_);
    const double scale = by_scatter_ ? std::max(best / surplus, 1e-24) : 1;
    const double limit =
        boost::math::quantile(boost::math::chi_squared(count), 0.95) * std::max(scale, 1.0);
    for (Solution& s : out_.solutions) s.explains = s.cost - best <= limit;
    std::stable_sort(out_.solutions.begin(), out_.solutions.end(),
                     [&](const Solution& a, const Solution& b) {
                       if (a.explains != b.explains) return a.explains;
                       return a.explains ? distance(a) < distance(b) : a.cost < b.cost;
                     });
    const Solution& chosen = out_.solutions.front();
    out_.cost = chosen.cost;
    out_.error_hz = chosen.error_hz;
    for (int i = 0; i < count; ++i)
      out_.params.values(index_[static_cast<size_t>(i)]) = chosen.theta(i);

    Eigen::VectorXd residual;
    Eigen::MatrixXd jacobian;
    const bool evaluated = fit.evaluate(view(chosen.theta), residual, &jacobian);
    uncertainty(chosen, evaluated ? jacobian : Eigen::MatrixXd::Zero(fit.size(), count),
                std::sqrt(scale), surplus);
    list_modes(chosen);
    warn(chosen);
  }

  // (JᵀJ)⁻¹ from the singular values of J with columns scaled by θ.
  void uncertainty(const Solution& s, Eigen::MatrixXd jacobian, double scale, int surplus) {
    const auto count = static_cast<Eigen::Index>(index_.size());
    for (Eigen::Index i = 0; i < count; ++i)
      jacobian.col(i) *= s.theta(i) != 0 ? std::abs(s.theta(i)) : 1;
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian, Eigen::ComputeThinV);
    const Eigen::VectorXd& singular = svd.singularValues();
    out_.condition = singular(count - 1) > 0 ? singular(0) / singular(count - 1) : kInfinity;
    worst_direction_ = svd.matrixV().col(count - 1);
    const bool full = singular(count - 1) > 1e-13 * singular(0);
    const Eigen::MatrixXd& v = svd.matrixV();
    const Eigen::MatrixXd covariance =
        full ? Eigen::MatrixXd(v * singular.cwiseAbs2().cwiseInverse().asDiagonal() * v.transpose())
             : Eigen::MatrixXd::Constant(count, count, kInfinity);
    out_.correlation = Eigen::MatrixXd::Identity(count, count);
    const double quantile =
        by_scatter_ ? boost::math::quantile(boost::math::students_t(surplus), 0.975) : kNormal95;
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index k = 0; k < count && full; ++k)
        out_.correlation(i, k) = covariance(i, k) / std::sqrt(covariance(i, i) * covariance(k, k));
      const UnknownParameter& u = study_.parameters[static_cast<size_t>(i)];
      IdentifiedParameter p;
      p.name = u.name;
      p.value = s.theta(i);
      p.start = start_(i);
      p.low = bounds_.low(i);
      p.high = bounds_.high(i);
      p.bounds_hit = at_bound(i, s.theta(i));
      p.std = scale * std::sqrt(covariance(i, i)) * (s.theta(i) != 0 ? std::abs(s.theta(i)) : 1);
      p.from = p.value - quantile * p.std;
      p.to = p.value + quantile * p.std;
      out_.parameters.push_back(std::move(p));
    }
  }

  void list_modes(const Solution& s) {
    ModalFit& fit = fit_.front();
    for (size_t k = 0; k < fit.poses().size(); ++k) {
      PoseTarget& pose = fit.poses()[k];
      ModalValues values;
      if (!pose.map.evaluate(view(s.theta), values)) continue;
      for (size_t i = 0; i < pose.modes.size(); ++i) {
        const ModeTarget& t = pose.modes[i];
        FittedMode m;
        m.pose = study_.poses[k].name;
        const int mode = fit.pairs()[k][i];
        m.mode = mode + 1;
        m.measured_hz = t.hz;
        m.fitted_hz = values.hz(mode);
        m.sigma_hz = t.sigma_hz;
        m.measured_damping = t.damping;
        m.fitted_damping = values.damping(mode);
        m.assurance = fit.assurance()[k][i];
        out_.modes.push_back(std::move(m));
      }
    }
  }

  void warn(const Solution& chosen) {
    const bool hardly = !(out_.condition < kHardly);  // then minima are points of one valley
    if (out_.equivalent() > 1 && !hardly) {
      std::string list;
      int listed = 0;
      for (const Solution& s : out_.solutions) {
        if (!s.explains || listed == 10) continue;
        ++listed;
        list += list.empty() ? " (" : "; ";
        for (size_t i = 0; i < index_.size(); ++i)
          list += fmt::format("{}{} = {:.5g}", i == 0 ? "" : ", ", study_.parameters[i].name,
                              s.theta(static_cast<Eigen::Index>(i)));
      }
      notes_.warning(714, {},
                     fmt::format("the answer is not unique: {} parameter sets explain the data "
                                 "equally well{}); the one nearest to the start is reported, and a "
                                 "good fit does not make it the true one. Measure in another pose "
                                 "as well (`panto poses` finds one)",
                                 out_.equivalent(), list));
    }
    if (hardly) {
      std::string direction;
      for (size_t i = 0; i < index_.size(); ++i)
        if (const double w = worst_direction_(static_cast<Eigen::Index>(i)); std::abs(w) > 0.1)
          direction += fmt::format("{}{:+.2f} {}", direction.empty() ? "" : " ", w,
                                   study_.parameters[i].name);
      notes_.warning(715, study_.parameters.front().loc,
                     fmt::format("the data do not tell the relative change {} (condition {:.1e}); "
                                 "fix one of these parameters or measure another pose",
                                 direction, out_.condition));
    } else {
      for (size_t i = 0; i < out_.parameters.size(); ++i) {
        const IdentifiedParameter& p = out_.parameters[i];
        if (p.std > 0.5 * std::abs(p.value))
          notes_.warning(715, study_.parameters[i].loc,
                         fmt::format("parameter \"{}\" is known to ± {:.0f} % only", p.name,
                                     100 * p.std / std::abs(p.value)));
      }
    }
    for (size_t i = 0; i < out_.parameters.size(); ++i)
      if (chosen.bounds_hit && out_.parameters[i].bounds_hit)
        notes_.warning(716, study_.parameters[i].loc,
                       fmt::format("parameter \"{}\" ended at its bound, {:.6g}; is the range too "
                                   "narrow, or the model wrong?",
                                   out_.parameters[i].name, out_.parameters[i].value));
    if (out_.sigma_assumed && study_.simulate.empty())
      notes_.warning(717, study_.poses.front().loc,
                     "no uncertainty was given (sigma = \"0.1 Hz\"): 0.1 % of each frequency is "
                     "assumed");
    if (belied_) {
      const auto surplus =
          static_cast<double>(fit_.front().size()) - static_cast<double>(index_.size());
      notes_.warning(719, study_.poses.front().loc,
                     fmt::format("the fit is off by {:.3g} times the standard deviations that were "
                                 "given: they are too small, or the model differs in more than its "
                                 "parameters. Intervals follow the residuals instead",
                                 std::sqrt(out_.cost / surplus)));
    }
  }

  // The local minimum next to the truth, for many measurements.
  void repeat() {
    const SimulatedMeasurement& s = study_.simulate.front();
    const auto count = static_cast<Eigen::Index>(index_.size());
    Eigen::MatrixXd found(count, s.repeats);
    std::vector<char> good(static_cast<size_t>(s.repeats));
    std::vector<std::vector<double>> clean;
    for (PoseTarget& pose : fit_.front().poses()) {
      ModalValues values;
      clean.emplace_back();
      if (!pose.map.evaluate(view(truth_), values)) return;
      for (const ModeTarget& m : pose.modes) clean.back().push_back(values.hz(m.mode));
    }
    for_all(s.repeats, false, [&](ModalFit& fit, int n) {
      std::uint64_t reading = 0;
      for (size_t k = 0; k < fit.poses().size(); ++k)
        for (size_t i = 0; i < fit.poses()[k].modes.size(); ++i)
          fit.poses()[k].modes[i].hz = measured(clean[k][i], n, reading++);
      const LocalMinimum end = minimise(fit, bounds_, truth_, IdentifyMethod::kLeastSquares);
      good[static_cast<size_t>(n)] = end.converged ? 1 : 0;
      found.col(n) = end.theta.cwiseQuotient(truth_).array() - 1;
    });
    out_.repeats = static_cast<int>(std::count(good.begin(), good.end(), 1));
    for (Eigen::Index i = 0; i < count; ++i) {
      SimulatedError e;
      e.name = study_.parameters[static_cast<size_t>(i)].name;
      e.truth = truth_(i);
      double sum = 0, square = 0;
      for (int n = 0; n < s.repeats; ++n) {
        if (good[static_cast<size_t>(n)] == 0) continue;
        sum += found(i, n);
        square += found(i, n) * found(i, n);
        e.worst = std::max(e.worst, std::abs(found(i, n)));
      }
      const double n = std::max(out_.repeats, 1);
      e.mean = sum / n;
      e.std = n > 1 ? std::sqrt(std::max(0.0, (square - n * e.mean * e.mean) / (n - 1))) : 0;
      out_.errors.push_back(std::move(e));
    }
  }

  const Model& model_;
  const IdentifyStudy& study_;
  const std::function<bool(double)>& progress_;
  Diagnostics notes_;
  Identification out_;
  std::vector<int> index_;
  bool belied_ = false,
       by_scatter_ = false;  // the uncertainties given are too small; the residuals tell them
  Bounds bounds_;
  Eigen::VectorXd start_, truth_, worst_direction_;
  std::vector<PoseTarget> targets_;
  std::vector<ModalFit> fit_;  // one, once the poses are known
};

}  // namespace

int Identification::equivalent() const {
  return static_cast<int>(std::count_if(solutions.begin(), solutions.end(),
                                        [](const Solution& s) { return s.explains; }));
}

Result<Identification> identify(const Model& model, const Params& params,
                                const IdentifyStudy& study,
                                const std::function<bool(double)>& progress) {
  Diagnostics d;
  if (study.parameters.empty() || study.poses.empty()) {
    d.error(711, {}, "identify: name at least one parameter and one measured pose");
    return d;
  }
  return Identifier(model, params, study, progress).run();
}

}  // namespace panto
