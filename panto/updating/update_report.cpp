#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/mechanics/closure.hpp"
#include "panto/updating/updater.hpp"

namespace panto::update_run {
namespace {

constexpr double kPrior = 0.5;       // resolution below which the penalty tells more than the data
constexpr double kPlay = 1e-3;       // [m], amplitude at which UPD-3 is compared
constexpr double kRoundOff = 1e-15;  // of a value: no change

// Names of the parameters that are to be kept.
template <class Keep>
std::string names(const Updating& out, const Keep& keep) {
  std::string list;
  for (size_t h = 0; h < out.parameters.size(); ++h)
    if (keep(h)) list += (list.empty() ? "" : ", ") + out.parameters[h].name;
  return list;
}

}  // namespace

bool Updater::judge(const Outcome& found) {
  if (!engine_->evaluate(found.chi, false, after_)) return false;
  out_.curve = found.curve;
  out_.lambda = found.lambda;
  out_.kkt = found.solution.kkt;
  out_.objective = found.solution.objective;
  out_.iterations = found.iterations;
  out_.converged = found.converged;
  out_.equations = found.equations;
  out_.identifiability = identifiability(found.equations);
  if (study_.method == UpdateMethod::kQuadratic) {
    const UpdatingSolution printed = solve_as_printed(found.equations, found.lambda);
    out_.change_as_printed = printed.chi;
    out_.objective_as_printed = printed.objective;
  }
  covariance(found);
  const Eigen::VectorXd theta = engine_->theta(found.chi),
                        told = resolution(found.equations, found.lambda);
  for (Eigen::Index h = 0; h < count(); ++h) {
    UpdatedParameter p;
    p.name = study_.parameters[static_cast<size_t>(h)].name;
    p.nominal = nominal_(h);
    p.change = std::abs(found.chi(h)) < kRoundOff ? 0 : found.chi(h);
    p.value = p.change == 0 ? nominal_(h) : theta(h);
    p.low = nominal_(h) + reference_(h) * low_(h);
    p.high = nominal_(h) + reference_(h) * high_(h);
    p.bounds_hit = at_bound(h, found.chi(h));
    p.std = reference_(h) * std::sqrt(out_.covariance(h, h));
    p.resolution = std::clamp(told(h), 0.0, 1.0);  // but for round-off
    p.unmovable =
        std::find(out_.identifiability.unmovable.begin(), out_.identifiability.unmovable.end(),
                  static_cast<int>(h)) != out_.identifiability.unmovable.end();
    out_.params.values(index_[static_cast<size_t>(h)]) = p.value;
    out_.parameters.push_back(std::move(p));
  }
  Eigen::VectorXd forces;
  Eigen::MatrixXd slopes;
  if (!engine_->unbalanced(found.chi, forces, slopes)) return false;
  for (size_t i = 0; i < out_.limits.size(); ++i) {
    UpdatedLimit& l = out_.limits[i];
    const auto row = static_cast<Eigen::Index>(i);
    l.after = row < c_.rows() ? l.before + c_.row(row).dot(found.chi) : forces(row - c_.rows());
    const double near = 1e-9 * std::max({1e-300, std::abs(l.before), std::abs(l.after)});
    l.active = l.after <= l.low + near || l.after >= l.high - near;
  }
  for (size_t k = 0; k < readings_.size(); ++k) list_modes(k, found);
  return true;
}

void Updater::list_modes(size_t k, const Outcome& found) {
  const PoseReadings& r = readings_[k];
  const ModePairing before = engine_->pair(before_[k], r), after = engine_->pair(after_[k], r);
  UpdatedPose pose;
  pose.name = study_.poses[k].name;
  pose.q = engine_->poses[k].matrices.pose();
  const auto modes = static_cast<Eigen::Index>(r.omega.size());
  const auto hz = [](const PoseState& s, int mode) {
    const double square = s.pairs.values(mode);
    return std::copysign(std::sqrt(std::abs(square)), square) / kTurn;
  };
  for (size_t i = 0; i < r.omega.size(); ++i) {
    UpdatedMode m;
    m.pose = pose.name;
    m.measured_hz = r.omega[i] / kTurn;
    m.mode_before = before.modes[i] + 1;
    m.mode_after = after.modes[i] + 1;
    m.before_hz = hz(before_[k], before.modes[i]);
    m.after_hz = hz(after_[k], after.modes[i]);
    m.mac_before = before.mac[i];
    m.mac_after = after.mac[i];
    m.weight = r.weights[i];
    m.misfit = found.shapes[k][i].misfit;
    if (i < study_.poses[k].test.modes.size()) m.damping = study_.poses[k].test.modes[i].damping;
    out_.modes.push_back(std::move(m));
  }
  // The columns of paired modes, in their order.
  const auto columns = [&](const ModePairing& p, std::vector<int>& numbers, Eigen::MatrixXd& mac) {
    std::vector<int> sorted = p.modes;
    std::sort(sorted.begin(), sorted.end());
    mac = p.table(Eigen::all, sorted);
    for (const int mode : sorted) numbers.push_back(mode + 1);
  };
  columns(before, pose.columns_before, pose.mac_before);
  columns(after, pose.columns_after, pose.mac_after);
  for (const MeasuredPoint& p : engine_->poses[k].points)
    pose.points.push_back(fmt::format("{} ({:.3g}, {:.3g}, {:.3g})", p.frame, p.direction.x(),
                                      p.direction.y(), p.direction.z()));
  const Eigen::Index points = before_[k].rows.rows();
  pose.shapes_measured = pose.shapes_before = pose.shapes_after =
      Eigen::MatrixXd::Zero(points, modes);
  pose.dq_measured = pose.dq_after = Eigen::MatrixXd::Zero(before_[k].matrices.r.rows(), modes);
  for (Eigen::Index i = 0; i < modes; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto unit = [](Eigen::VectorXd x, const Eigen::VectorXd& like) {
      const double norm = x.norm();
      if (norm > 0) x /= like.size() > 0 && x.dot(like) < 0 ? -norm : norm;
      return x;
    };
    Eigen::VectorXd y = r.shapes[at].size() > 0
                            ? r.shapes[at]
                            : Eigen::VectorXd(before_[k].rows * found.shapes[k][at].z);
    for (double& v : y)
      if (!std::isfinite(v)) v = 0;
    pose.shapes_measured.col(i) = unit(y, {});
    pose.shapes_before.col(i) =
        unit(before_[k].rows * before_[k].pairs.vectors.col(before.modes[at]), y);
    pose.shapes_after.col(i) =
        unit(after_[k].rows * after_[k].pairs.vectors.col(after.modes[at]), y);
    pose.dq_measured.col(i) = unit(before_[k].matrices.r * found.shapes[k][at].z, {});
    pose.dq_after.col(i) = unit(after_[k].matrices.r * after_[k].pairs.vectors.col(after.modes[at]),
                                pose.dq_measured.col(i));
  }
  if (!model_.nodes.empty() && modes > 0) {
    const auto workspace = Workspace::create(model_, nominal_params());
    const Eigen::MatrixXd rows = nodal_rows(*workspace, view(pose.q), before_[k].matrices.r);
    for (Eigen::Index i = 0; i < modes; ++i) {
      Eigen::VectorXd b = rows * found.shapes[k][static_cast<size_t>(i)].z;
      double largest = 0;
      for (Eigen::Index n = 0; n < b.size(); ++n)
        if (n % 3 != 2) largest = std::max(largest, std::abs(b(n)));
      if (largest > 0)
        pose.frame_difference =
            std::max(pose.frame_difference,
                     to_erls(*workspace, view(pose.q), before_[k].matrices.r, b * kPlay / largest)
                         .difference);
    }
  }
  out_.poses.push_back(std::move(pose));
}

void Updater::fit_damping() {
  std::vector<double> omega, ratios;
  for (const UpdatedMode& m : out_.modes)
    if (m.damping > 0) {
      omega.push_back(kTurn * m.measured_hz);
      ratios.push_back(m.damping);
    }
  if (omega.size() < 2) {
    notes_.warning(
        985, study_.damping_loc,
        fmt::format("damping: {} damping ratios were measured, α and β need two", omega.size()));
    return;
  }
  const auto vector = [](const std::vector<double>& v) {
    return Eigen::VectorXd(
        Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size())));
  };
  out_.damping =
      fit_rayleigh(vector(omega), vector(ratios),
                   {study_.alpha_low, study_.alpha_high, study_.beta_low, study_.beta_high});
  out_.has_damping = out_.damping.solved;
  for (const auto& [name, value] :
       {std::pair{study_.alpha, out_.damping.alpha}, std::pair{study_.beta, out_.damping.beta}}) {
    if (name.empty()) continue;
    const int index = find_parameter(model_, name);
    if (index < 0)
      notes_.error(701, study_.damping_loc,
                   fmt::format("damping: \"{}\" is no parameter of {}", name, model_.name));
    else
      out_.params.values(index) = value;
  }
}

void Updater::warn(const Outcome& found) {
  const Loc& first = study_.parameters.front().loc;
  size_t listed = 0;
  for (size_t k = 0; k < readings_.size(); ++k) {
    const UpdatePose& pose = study_.poses[k];
    // By measured frequency, in whatever order a study lists them.
    std::vector<UpdatedMode> ascending(
        out_.modes.begin() + static_cast<std::ptrdiff_t>(listed),
        out_.modes.begin() + static_cast<std::ptrdiff_t>(listed + readings_[k].omega.size()));
    std::stable_sort(
        ascending.begin(), ascending.end(),
        [](const UpdatedMode& a, const UpdatedMode& b) { return a.measured_hz < b.measured_hz; });
    int last = 0, without = 0;
    std::string crossing;
    for (const UpdatedMode& m : ascending) {
      if (m.mode_before < last)
        crossing += fmt::format("{}{:.4g} Hz with the model's {:.4g} Hz",
                                crossing.empty() ? "" : ", ", m.measured_hz, m.before_hz);
      last = std::max(last, m.mode_before);
    }
    for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++listed) {
      const UpdatedMode& m = out_.modes[listed];
      if (readings_[k].shapes[i].size() == 0) {
        ++without;
      } else if (m.mac_before < kUnlike) {
        notes_.warning(981, pose.loc,
                       fmt::format("pose \"{}\": the mode measured at {:.5g} Hz resembles none of "
                                   "the model's; the best is at {:.5g} Hz, MAC {:.2f}{}",
                                   pose.name, m.measured_hz, m.before_hz, m.mac_before,
                                   m.weight > 0 ? ""
                                                : "; it does not count (name its number in "
                                                  "\"modes\" if it is that one)"));
      }
    }
    if (!crossing.empty())
      notes_.warning(976, pose.loc,
                     fmt::format("pose \"{}\": by their shapes, modes pair in another order than "
                                 "by frequency: {}",
                                 pose.name, crossing));
    if (without > 0)
      notes_.warning(980, pose.loc,
                     fmt::format("pose \"{}\": {} modes have no shape; they are paired by number, "
                                 "and the model's own shapes are taken, again in every iteration",
                                 pose.name, without));
  }
  if (assumed_)
    notes_.warning(983, study_.poses.front().loc,
                   "no scatter of the shapes was given (shape_sigma = 0.01): 1 % of the largest "
                   "reading is assumed");
  if (const std::string list = names(out_, [&](size_t h) { return out_.parameters[h].unmovable; });
      !list.empty())
    notes_.warning(977, first,
                   fmt::format("no measured mode depends on {}; the values stay", list));
  const Identifiability& seen = out_.identifiability;
  const auto movable = static_cast<int>(count()) - static_cast<int>(seen.unmovable.size());
  if (seen.rank < movable)
    notes_.warning(
        978, first,
        fmt::format("{} independent equations for {} parameters: the penalty on change tells more "
                    "than the data about {}",
                    seen.rank, movable, names(out_, [&](size_t h) {
                      return !out_.parameters[h].unmovable &&
                             out_.parameters[h].resolution < kPrior;
                    })));
  for (const std::vector<int>& group : seen.collinear) {
    std::string list;
    for (const int h : group)
      list += (list.empty() ? "" : ", ") + out_.parameters[static_cast<size_t>(h)].name;
    notes_.warning(984, first,
                   fmt::format("the data tell only a combination of {}: their effects are "
                               "proportional",
                               list));
  }
  if (const std::string list = names(out_, [&](size_t h) { return out_.parameters[h].bounds_hit; });
      !list.empty())
    notes_.warning(
        979, first,
        fmt::format("at a bound: {}; are the ranges too narrow, or is the model wrong?", list));
  if (!found.converged)
    notes_.warning(982, first,
                   fmt::format("not converged after {} iterations; the last values are reported",
                               found.iterations));
}

}  // namespace panto::update_run
