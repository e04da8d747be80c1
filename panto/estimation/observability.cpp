#include "panto/estimation/observability.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <map>

namespace panto {

namespace {

constexpr double kShown = 0.1;  // share from which a state is named

View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

// One step as the filter sees it: state changes by F before the readings, which see it by H.
struct LinearStep {
  double t = 0;
  Eigen::MatrixXd f, h;  // h: a row per reading
  int frame = 0;
};

// F and H of the step that a filter is about to take.
class Lineariser {
 public:
  Lineariser(Filter& filter, const SigmaOptions* sigma)
      : filter_(filter), system_(filter.system()), n_(system_.size()), sampled_(sigma != nullptr) {
    if (sigma != nullptr) {
      set_ = sigma_points(*sigma, n_);
      redraw_ = sigma->redraw;
    }
    y_.resize(static_cast<size_t>(system_.sensors()));
  }

  Status operator()(double dt, std::span<const int> sensors, LinearStep& out) {
    out.t = filter_.time() + dt;
    out.f.setZero(n_, n_);
    out.h.setZero(static_cast<Eigen::Index>(sensors.size()), n_);
    return sampled_ ? regress(dt, sensors, out) : differentiate(dt, sensors, out);
  }

 private:
  using State = std::vector<double>;

  Status differentiate(double dt, std::span<const int> sensors, LinearStep& out) {
    State x(filter_.state().begin(), filter_.state().end()), next(x.size());
    Status status = system_.step(filter_.time(), dt, x, next);
    if (status == Status::kOk) status = system_.transition(filter_.time(), dt, x, next, out.f);
    if (status == Status::kOk && !sensors.empty()) status = system_.sense(out.t, next, sensors, y_);
    if (status == Status::kOk && !sensors.empty())
      status = system_.sense_jacobian(out.t, next, sensors, out.h);
    return status;
  }

  // F = P(x₁, x₀) P₀⁻¹, H = P(y, x₁) P(x₁)⁻¹ with the covariances of the points alone, no noise added.
  Status regress(double dt, std::span<const int> sensors, LinearStep& out) {
    const double t = filter_.time();
    State x(filter_.state().begin(), filter_.state().end());
    Eigen::MatrixXd p, l(n_, n_);
    filter_.covariance(p);
    if (!cholesky(p, l)) return Status::kSingular;
    Status status = system_.settle(t, x);
    if (status != Status::kOk) return status;
    std::vector<State> before = draw(x, l), points(before.size(), State(x.size()));
    for (size_t i = 0; i < before.size(); ++i) {
      status = system_.step(t, dt, before[i], points[i]);
      if (status != Status::kOk) return status;
    }
    Eigen::VectorXd mean;
    Eigen::MatrixXd dx = weighted(differences(points), mean);
    // Weighted points c have unit covariance.
    Eigen::MatrixXd c = Eigen::MatrixXd::Zero(n_, dx.cols());
    for (Eigen::Index i = 0; i < set_.c.cols(); ++i)
      c.col(i) = std::sqrt(set_.spread(i)) * set_.c.col(i);
    out.f = (dx * c.transpose()) * l.inverse();
    if (sensors.empty()) return Status::kOk;
    if (redraw_) {
      State middle(x.size());
      system_.move(points[0], view(mean), middle);
      Eigen::MatrixXd q = Eigen::MatrixXd::Zero(n_, n_);
      system_.process_noise(t, dt, x, q);
      p = dx * dx.transpose() + filter_.process_factor() * q;
      status = system_.settle(out.t, middle);
      if (status != Status::kOk) return status;
      if (!cholesky(p, l)) return Status::kSingular;
      points = draw(middle, l);
      dx = weighted(differences(points), mean);
    }
    Eigen::MatrixXd y(out.h.rows(), static_cast<Eigen::Index>(points.size()));
    for (size_t i = 0; i < points.size(); ++i) {
      status = system_.sense(out.t, points[i], sensors, y_);
      if (status != Status::kOk) return status;
      for (Eigen::Index k = 0; k < y.rows(); ++k)
        y(k, static_cast<Eigen::Index>(i)) = y_[static_cast<size_t>(k)];
    }
    y.colwise() -= Eigen::VectorXd(y.col(0));
    Eigen::VectorXd mean_y;
    const Eigen::MatrixXd dy = weighted(y, mean_y);
    out.h = dx.transpose().colPivHouseholderQr().solve(dy.transpose()).transpose();
    return Status::kOk;
  }

  std::vector<State> draw(View x, const Eigen::MatrixXd& factor) {
    std::vector<State> points(static_cast<size_t>(set_.c.cols()), State(x.size()));
    for (size_t i = 0; i < points.size(); ++i) {
      const Eigen::VectorXd w = factor * set_.c.col(static_cast<Eigen::Index>(i));
      system_.move(x, view(w), points[i]);
    }
    return points;
  }

  Eigen::MatrixXd differences(const std::vector<State>& points) {
    Eigen::MatrixXd d(n_, static_cast<Eigen::Index>(points.size()));
    std::vector<double> w(static_cast<size_t>(n_));
    for (size_t i = 0; i < points.size(); ++i) {
      system_.difference(points[i], points[0], w);
      d.col(static_cast<Eigen::Index>(i)) = Eigen::Map<const Eigen::VectorXd>(w.data(), n_);
    }
    return d;
  }

  // Columns whose squares sum to the covariance, from deviations d from point 0; as in the filter.
  [[nodiscard]] Eigen::MatrixXd weighted(const Eigen::MatrixXd& d, Eigen::VectorXd& mean) const {
    mean = d * set_.mean;
    Eigen::MatrixXd out(d.rows(), d.cols() + (set_.from_centre ? 1 : 0));
    for (Eigen::Index i = 0; i < d.cols(); ++i) {
      out.col(i) = d.col(i);
      if (!set_.from_centre) out.col(i) -= mean;
      out.col(i) *= std::sqrt(set_.spread(i));
    }
    if (set_.from_centre) out.col(d.cols()) = std::sqrt(set_.centre) * mean;
    return out;
  }

  Filter& filter_;
  System& system_;
  int n_;
  bool sampled_, redraw_ = false;
  SigmaPoints set_;
  std::vector<double> y_;
};

// Squared entries of the directions beyond the threshold; of the last one where there is none.
using Shares = Eigen::VectorXd;

// κ of the window that starts at step `first`; false where the steps end before the window does.
bool judge(const std::vector<LinearStep>& steps, size_t first, int blocks, double threshold,
           ObservableInstant& out, Shares& shares) {
  const Eigen::Index n = steps[first].f.rows();
  Eigen::MatrixXd o = steps[first].h, product = Eigen::MatrixXd::Identity(n, n);
  int found = 1;
  for (size_t k = first + 1; found < blocks; ++k) {
    if (k == steps.size() || steps[k].frame != steps[first].frame) return false;
    product = steps[k].f * product;
    if (steps[k].h.rows() == 0) continue;
    o.conservativeResize(o.rows() + steps[k].h.rows(), n);
    o.bottomRows(steps[k].h.rows()) = steps[k].h * product;
    ++found;
  }
  if (!o.allFinite()) return false;
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(o, Eigen::ComputeFullV);
  const Eigen::VectorXd& s = svd.singularValues();
  const auto logarithm = [&](Eigen::Index i) {
    const double value = i < s.size() ? s(i) : 0;
    return value > 0 ? std::min(kBlind, std::log10(s(0) / value)) : kBlind;
  };
  out.t = steps[first].t;
  out.frame = steps[first].frame;
  out.log10_condition = logarithm(n - 1);
  out.direction = svd.matrixV().col(n - 1);
  shares = out.direction.cwiseAbs2();
  for (Eigen::Index i = 0; i + 1 < n; ++i)
    if (logarithm(i) > threshold) shares += svd.matrixV().col(i).cwiseAbs2();
  return true;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

void summarise(double threshold, const std::vector<Shares>& shares, Observability& out) {
  std::vector<double> sorted;
  sorted.reserve(out.instants.size());
  for (const ObservableInstant& i : out.instants) {
    sorted.push_back(i.log10_condition);
    if (i.log10_condition > threshold) out.blind += 1;
    if (i.log10_condition > out.worst) {
      out.worst = i.log10_condition;
      out.worst_time = i.t;
    }
  }
  std::sort(sorted.begin(), sorted.end());
  out.median = quantile(sorted, 0.5);
  out.low = quantile(sorted, 0.1);
  out.high = quantile(sorted, 0.9);
  out.blind /= static_cast<double>(sorted.size());
  out.observable = out.median <= threshold;
  std::map<std::string, double> sums;
  int counted = 0;
  for (size_t k = 0; k < out.instants.size(); ++k) {
    const ObservableInstant& i = out.instants[k];
    if (!out.observable && i.log10_condition <= threshold) continue;
    ++counted;
    const auto& names = out.frames[static_cast<size_t>(i.frame)];
    for (size_t j = 0; j < names.size(); ++j)
      sums[names[j]] += shares[k](static_cast<Eigen::Index>(j));
  }
  for (const auto& [name, sum] : sums)
    if (sum > kShown * counted) out.least.emplace_back(name, sum / counted);
  std::stable_sort(out.least.begin(), out.least.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

Result<Observability> observability(Observer& observer, const Readings& readings,
                                    const ObservabilityOptions& options) {
  Diagnostics notes;
  const std::string& name = observer.info().name;
  if (name == "cekf" || name == "iekf") {
    notes.error(805, observer.settings().loc,
                fmt::format("observability is judged for discrete filters of independent "
                            "coordinates, not for {}; \"error_ekf_ej\" sees the same",
                            name));
    return notes;
  }
  Filter& filter = observer.filter();
  // The particle filter has no linear model; points of its covariance stand for its particles.
  const auto* points = dynamic_cast<const SigmaFilter*>(&filter);
  SigmaOptions sigma;
  if (points != nullptr) sigma = points->sigma_options();
  Lineariser linearise(filter, points != nullptr || name == "particle" ? &sigma : nullptr);

  Observability out;
  std::vector<LinearStep> steps;
  Status status = observer.start(readings.start);
  int reframed = -1;
  if (status == Status::kOk)
    status = step_through(
        readings, [&](View u) { observer.mechanism().set_inputs(u); },
        [&](double dt, std::span<const int> sensors, View y) {
          if (filter.reframed() != reframed) {
            reframed = filter.reframed();
            out.frames.push_back(observer.mechanism().names());
          }
          LinearStep step;
          Status s = linearise(dt, sensors, step);
          step.frame = static_cast<int>(out.frames.size()) - 1;
          if (s == Status::kOk) s = filter.step(dt, sensors, y);
          if (s != Status::kOk) return s;
          steps.push_back(std::move(step));
          if (options.after_step) options.after_step(filter);
          return s;
        });
  const int blocks = options.blocks > 0 ? options.blocks : filter.system().size();
  std::vector<Shares> shares;
  for (size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].h.rows() == 0) continue;
    ObservableInstant instant;
    Shares share;
    if (!judge(steps, k, blocks, options.threshold, instant, share)) continue;
    out.instants.push_back(std::move(instant));
    shares.push_back(std::move(share));
  }
  const std::string end = status == Status::kOk ? ""
                                                : fmt::format("{} stopped at {:.6g} s: {}", name,
                                                              filter.time(), to_string(status));
  if (out.instants.empty()) {
    notes.error(
        831, observer.settings().loc,
        end.empty() ? fmt::format("observability needs readings at {} instants", blocks) : end);
    return notes;
  }
  if (!end.empty()) notes.warning(831, observer.settings().loc, end);
  summarise(options.threshold, shares, out);
  return Result<Observability>(std::move(out), notes);
}

std::string state_in_words(const Model& model, const std::string& state) {
  for (const Joint& j : model.joints)
    for (int i = j.v; i < j.v + j.nv; ++i) {
      const std::string& speed = model.speed_names[static_cast<size_t>(i)];
      const bool place = state + "_dot" == speed || state == "turn " + speed;
      if (!place && state != speed) continue;
      // A compound joint carries the body at its end.
      auto body = static_cast<size_t>(&j - model.joints.data());
      if (j.spec >= 0) {
        const FileJoint& whole = model.file_joints[static_cast<size_t>(j.spec)];
        body = static_cast<size_t>(whole.first + whole.count - 1);
      }
      const bool slides = j.type == JointType::kPrismatic;
      return fmt::format("{} ({} {})", state, model.bodies[body].name,
                         !place   ? "speed"
                         : slides ? "position"
                                  : "angle");
    }
  return state;
}

std::string in_words(const Observability& o, const Model* model) {
  std::vector<std::string> names;
  names.reserve(o.least.size());
  for (const auto& [name, share] : o.least)
    names.push_back(model != nullptr ? state_in_words(*model, name) : name);
  const std::string which = fmt::format("{}", fmt::join(names, ", "));
  if (!o.observable)
    return fmt::format(
        "not observable: the readings do not show {} (log10 of the condition number {:.1f} in the "
        "median; {:.0f} % of the motion)",
        which, o.median, 100 * o.blind);
  std::string text = fmt::format(
      "observable: log10 of the condition number {:.2f} in the median, {:.2f} at worst, at {:.4g} "
      "s; seen least: {}",
      o.median, o.worst, o.worst_time, which);
  if (o.blind > 0) text += fmt::format("; not seen in {:.1f} % of the motion", 100 * o.blind);
  return text;
}

}  // namespace panto
