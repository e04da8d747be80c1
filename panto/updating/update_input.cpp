#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/updating/updater.hpp"

namespace panto::update_run {
namespace {

constexpr double kAssumedShape = 0.01;  // of the largest reading, where no scatter is known

}  // namespace

void Updater::find_parameters() {
  std::vector<std::string> known;
  for (const ParameterInfo& p : model_.parameters) known.push_back(p.name);
  const auto n = static_cast<Eigen::Index>(study_.parameters.size());
  nominal_.resize(n);
  reference_ = low_ = high_ = nominal_;
  for (Eigen::Index i = 0; i < n; ++i) {
    const UpdateParameter& p = study_.parameters[static_cast<size_t>(i)];
    const int index = find_parameter(model_, p.name);
    if (index < 0) {
      notes_.error(701, p.loc,
                   fmt::format("\"{}\" is no parameter of {}{}", p.name, model_.name,
                               did_you_mean(p.name, known)));
      continue;
    }
    index_.push_back(index);
    const double v = out_.params.values(index);
    const double low = p.has_low ? p.low : v - p.range * std::abs(v),
                 high = p.has_high ? p.high : v + p.range * std::abs(v);
    const ParameterInfo& info = model_.parameters[static_cast<size_t>(index)];
    const auto bad = [&](const std::string& why) {
      notes_.error(971, p.loc, fmt::format("parameter \"{}\": {}", p.name, why));
    };
    if (v == 0 && !(p.has_high && p.high > 0))
      bad("it is zero in the model, so that shares of it mean nothing; give an upper bound "
          "above 0, to which changes are counted");
    else if (!(low < high))
      bad(fmt::format("the lower bound {:.6g} is not below the upper one {:.6g}", low, high));
    else if (v < low || v > high)
      bad(fmt::format("the model's value {:.6g} is outside its bounds, {:.6g} to {:.6g}", v, low,
                      high));
    else if (v >= 0 && low < 0 && info.has_dim && info.dim.kg != 0)
      bad(
          fmt::format("the lower bound {:.6g} is negative: masses, inertias, moduli and "
                      "stiffnesses are not",
                      low));
    nominal_(i) = v;
    reference_(i) = v != 0 ? std::abs(v) : high;
    low_(i) = (low - v) / reference_(i);
    high_(i) = (high - v) / reference_(i);
  }
}

void Updater::check_test(const UpdatePose& pose) {
  const std::vector<MeasuredPoint>& points =
      study_.simulate.empty() ? pose.test.points : study_.simulate.front().points;
  const std::vector<std::string> known = frame_names(*framed_);
  for (const MeasuredPoint& p : points)
    if (find_frame(*framed_, p.frame) < 0)
      notes_.error(970, pose.loc,
                   fmt::format("pose \"{}\": a shape was measured at \"{}\", which is no place of "
                               "{}{}{}",
                               pose.name, p.frame, model_.name, did_you_mean(p.frame, known),
                               p.frame.starts_with("node ")
                                   ? " (universal files name a node by a trace line of it alone, "
                                     "dataset 82)"
                                   : ""));
  const size_t count = study_.simulate.empty() ? pose.test.modes.size() : pose.modes.size();
  const auto misfit = [&](const std::string& why) {
    notes_.error(972, pose.loc, fmt::format("pose \"{}\": {}", pose.name, why));
  };
  if (count == 0) misfit("the test has no modes");
  if (!pose.weights.empty() && pose.weights.size() != count)
    misfit(fmt::format("{} weights for {} modes", pose.weights.size(), count));
  if (!pose.modes.empty() && pose.modes.size() != count)
    misfit(fmt::format("{} mode numbers for {} modes", pose.modes.size(), count));
  for (const MeasuredMode& m : pose.test.modes) {
    if (!(m.frequency_hz > 0 && std::isfinite(m.frequency_hz)))
      misfit(fmt::format("frequency {} Hz: a measured frequency is positive", m.frequency_hz));
    if (m.shape.size() != 0 && m.shape.size() != static_cast<Eigen::Index>(points.size()))
      misfit(fmt::format("the shape at {} Hz has {} readings for {} points", m.frequency_hz,
                         m.shape.size(), points.size()));
  }
}

bool Updater::reach(const std::string& kind, const std::string& name,
                    const std::vector<PoseValue>& at, const Loc& loc, Eigen::VectorXd& q) {
  const auto located = [&](int id, const Diagnostics& why) {
    for (const Diagnostic& d : why.items())
      if (d.severity == Severity::kError)
        notes_.error(id > 0 ? id : d.id, loc, fmt::format("{} \"{}\": {}", kind, name, d.message));
    return false;
  };
  const Result<Model> posed = with_pose(model_, at);
  if (!posed.ok()) return located(0, posed.diagnostics());
  const auto workspace = Workspace::create(*posed, out_.params);
  const Result<AssembledState> state = assemble(*workspace);
  if (!state.ok()) return located(713, state.diagnostics());
  q = state->q;
  return true;
}

Result<ParameterMatrices> Updater::matrices_at(const Model& model, const std::string& kind,
                                               const std::string& name,
                                               const std::vector<PoseValue>& at,
                                               Operation operation, const Loc& loc) {
  Eigen::VectorXd q;
  if (!reach(kind, name, at, loc, q)) return Diagnostics{};
  Result<ParameterMatrices> out =
      ParameterMatrices::create(model, out_.params, view(q), index_, operation);
  for (const Diagnostic& d : out.diagnostics().items())
    if (d.severity == Severity::kError)
      notes_.error(d.id, loc, fmt::format("{} \"{}\": {}", kind, name, d.message));
  return out;
}

void Updater::add_pose(const UpdatePose& pose) {
  Result<ParameterMatrices> matrices =
      matrices_at(model_, "pose", pose.name, pose.at, pose.operation, pose.loc);
  if (!matrices.ok()) return;
  engine_->poses.push_back({std::move(*matrices), study_.simulate.empty()
                                                      ? pose.test.points
                                                      : study_.simulate.front().points});
  PoseReadings r;
  const size_t count = study_.simulate.empty() ? pose.test.modes.size() : pose.modes.size();
  r.weights = pose.weights.empty() ? std::vector<double>(count, 1) : pose.weights;
  r.modes = pose.modes.empty() ? std::vector<int>(count, -1) : pose.modes;
  for (const MeasuredMode& m : pose.test.modes) {
    r.omega.push_back(kTurn * m.frequency_hz);
    r.omega_sigma.push_back(kTurn * m.frequency_sigma);
    r.shapes.push_back(m.shape.size() > 0 ? real_shape(m.shape) : Eigen::VectorXd());
    double largest = 0, scatter = 0;
    for (const double y : r.shapes.back())
      if (std::isfinite(y)) largest = std::max(largest, std::abs(y));
    for (const double s : m.shape_sigma)
      if (std::isfinite(s)) scatter = std::max(scatter, s);
    if (m.shape.size() > 0 && !(largest > 0)) r.shapes.back().resize(0);
    if (m.shape.size() > 0 && !(scatter > 0)) assumed_ = true;
    r.shape_sigma.push_back(scatter > 0 ? scatter : kAssumedShape * std::max(largest, 1e-300));
  }
  readings_.push_back(std::move(r));
}

// UPD-8: forces that the model leaves along the coordinates named, and what friction holds.
void Updater::add_static(const StaticTest& test) {
  auto loaded = std::make_shared<Model>(model_);
  std::vector<std::string> inputs;
  for (const Input& i : model_.inputs) inputs.push_back(i.name);
  for (const auto& [name, value] : test.inputs) {
    const auto found = std::find(inputs.begin(), inputs.end(), name);
    if (found == inputs.end()) {
      notes_.error(972, test.loc,
                   fmt::format("static \"{}\": \"{}\" is no input of {}{}", test.name, name,
                               model_.name, did_you_mean(name, inputs)));
      continue;
    }
    loaded->inputs[static_cast<size_t>(found - inputs.begin())].signal =
        static_cast<int>(loaded->signals.size());
    loaded->signals.push_back(Signal::constant(value));
    loaded->signal_sources.emplace_back();
  }
  Result<ParameterMatrices> matrices =
      matrices_at(*loaded, "static", test.name, test.at, Operation::kHere, test.loc);
  if (!matrices.ok()) return;
  const std::vector<std::string>& free = matrices->independent();
  std::vector<Eigen::Index> rows;
  for (const auto& [name, bound] : test.friction) {
    const auto found = std::find(free.begin(), free.end(), name);
    if (found == free.end()) {
      notes_.error(972, test.loc,
                   fmt::format("static \"{}\": \"{}\" is no independent coordinate there{}",
                               test.name, name, did_you_mean(name, free)));
      continue;
    }
    rows.push_back(found - free.begin());
    friction_.push_back(bound);
    static_names_.push_back(fmt::format("{}: {}", test.name, name));
  }
  engine_->balances.push_back({std::move(loaded), std::move(*matrices), std::move(rows)});
}

void Updater::add_constraints() {
  const auto rows = static_cast<Eigen::Index>(study_.constraints.size());
  c_ = Eigen::MatrixXd::Zero(rows, count());
  row_low_.resize(rows);
  row_high_.resize(rows);
  Eigen::Index row = 0;
  const auto each = [&](const UpdateConstraint& c, const auto& use) {
    for (const auto& [name, factor] : c.terms) {
      const int h = parameter_number(name);
      if (h < 0)
        notes_.error(
            701, c.loc,
            fmt::format("\"{}\": \"{}\" is not among the parameters to be updated", c.name, name));
      else
        use(h, factor);
    }
  };
  for (const UpdateConstraint& c : study_.constraints) {
    double at = 0;
    each(c, [&](int h, double factor) {
      c_(row, h) += factor * reference_(h);
      at += factor * nominal_(h);
    });
    row_low_(row) = c.low - at;
    row_high_(row) = c.high - at;
    out_.limits.push_back({c.name, c.low, c.high, at, at, false});
    ++row;
  }
  Eigen::VectorXd forces;
  Eigen::MatrixXd slopes;
  if (!engine_->unbalanced(Eigen::VectorXd::Zero(count()), forces, slopes)) return;
  for (Eigen::Index i = 0; i < forces.size(); ++i) {
    const double friction = friction_[static_cast<size_t>(i)];
    out_.limits.push_back(
        {static_names_[static_cast<size_t>(i)], -friction, friction, forces(i), forces(i), false});
  }
  omega_ =
      Eigen::MatrixXd::Zero(count() + static_cast<Eigen::Index>(study_.penalties.size()), count());
  for (Eigen::Index h = 0; h < count(); ++h)
    omega_(h, h) = std::sqrt(study_.parameters[static_cast<size_t>(h)].cost);
  for (size_t i = 0; i < study_.penalties.size(); ++i)
    each(study_.penalties[i], [&](int h, double factor) {
      omega_(count() + static_cast<Eigen::Index>(i), h) += factor;
    });
  if (!out_.limits.empty() && study_.method == UpdateMethod::kSensitivity)
    notes_.error(
        974,
        study_.constraints.empty() ? study_.statics.front().loc : study_.constraints.front().loc,
        "the sensitivity method knows bounds only; use method = \"quadratic\" with "
        "constraints and static tests");
}

void Updater::check_modes(size_t k) {
  const UpdatePose& pose = study_.poses[k];
  const auto n = static_cast<int>(before_[k].pairs.values.size());
  if (static_cast<int>(readings_[k].omega.size()) > n)
    notes_.error(972, pose.loc,
                 fmt::format("pose \"{}\": {} modes were measured, but the model has {}", pose.name,
                             readings_[k].omega.size(), n));
  for (const int mode : readings_[k].modes)
    if (mode >= n)
      notes_.error(972, pose.loc,
                   fmt::format("pose \"{}\": mode {} is named, but the model has {}", pose.name,
                               mode + 1, n));
}

// A measured mode that resembles none of the model's (a mode of what is not modelled, two poles of one mode) does not count, unless the study tells its number or weight.
void Updater::leave_unlike(size_t k) {
  const UpdatePose& pose = study_.poses[k];
  if (!pose.modes.empty() || !pose.weights.empty() || !study_.simulate.empty()) return;
  const ModePairing pairing = engine_->pair(before_[k], readings_[k]);
  for (size_t i = 0; i < pairing.mac.size(); ++i)
    if (pairing.mac[i] < kUnlike) readings_[k].weights[i] = 0;
}

bool Updater::all_shapes() const {
  for (const PoseReadings& r : readings_)
    for (const Eigen::VectorXd& y : r.shapes)
      if (y.size() == 0) return false;
  return true;
}

}  // namespace panto::update_run
