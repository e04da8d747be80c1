#include "panto/updating/update.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "panto/linear/assurance.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/random.hpp"
#include "panto/updating/engine.hpp"

namespace panto {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kAssumedShape = 0.01;  // of the largest reading, where no scatter is known
constexpr double kExactShape = 1e-10;   // of the largest reading, for simulated tests without noise
constexpr double kConverged = 1e-10;    // change of χ from one iteration to the next
constexpr double kUnlike = 0.5;         // MAC below which a pair is doubtful
constexpr double kPrior = 0.5;     // resolution below which the penalty tells more than the data
constexpr double kAtBound = 1e-9;  // of the range
constexpr double kPlay = 1e-3;     // [m], amplitude at which UPD-3 is compared
constexpr int kIterations = 30;
constexpr std::uint64_t kFrequencyStream = 4000, kShapeStream = 5000;

struct StaticRow {
  std::string name;
  Eigen::RowVectorXd slope;  // ∂f/∂χ
  double value = 0;          // at χ = 0
  double bound = 0;
};

// One update: the same for the measured test and for every simulated one.
struct Outcome {
  bool ok = false, converged = true, infeasible = false;
  Eigen::VectorXd chi;
  UpdatingEquations equations;
  UpdatingSolution solution;
  LCurve curve;
  double lambda = 0;
  int iterations = 0;
  std::vector<std::vector<ExpandedShape>> shapes;
};

class Updater {
 public:
  Updater(const Model& model, const Params& params, const UpdateStudy& study,
          const std::function<bool(double)>& progress)
      : model_(model),
        framed_(std::make_shared<const Model>(with_body_frames(model))),
        study_(study),
        progress_(progress) {
    out_.params = params;
  }

  Result<Updating> run() {
    find_parameters();
    for (const UpdatePose& pose : study_.poses) check_test(pose);
    if (!notes_.ok()) return notes_;
    engine_ =
        std::make_unique<UpdateEngine>(framed_, out_.params, index_, nominal_, reference_, study_);
    for (const UpdatePose& pose : study_.poses) add_pose(pose);
    for (const StaticTest& test : study_.statics) add_static(test);
    add_constraints();
    if (!notes_.ok()) return notes_;
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(count());
    if (!engine_->evaluate(zero, true, before_)) return failed("at the nominal values");
    if (!study_.simulate.empty() && !simulate()) return notes_;
    for (size_t k = 0; k < readings_.size(); ++k) check_modes(k);
    if (!notes_.ok()) return notes_;
    out_.linear = engine_->affine() && all_shapes();
    Outcome found = study_.method == UpdateMethod::kSensitivity
                        ? by_sensitivities(*engine_, readings_)
                        : by_program(*engine_, before_, readings_, -1);
    if (!found.ok) return found.infeasible ? contradiction() : failed("at the values sought");
    if (!judge(found)) return failed("at the updated values");
    if (study_.cross_validate) leave_out(found);
    if (study_.damping) fit_damping();
    if (!study_.simulate.empty() && study_.simulate.front().draws > 1) draw();
    warn(found);
    return {std::move(out_), std::move(notes_)};
  }

 private:
  [[nodiscard]] Eigen::Index count() const { return nominal_.size(); }

  Diagnostics failed(const std::string& where) {
    notes_.error(975, study_.poses.front().loc,
                 fmt::format("the model has no modes {}: its mass matrix is not positive definite, "
                             "or its pose cannot be reached",
                             where));
    return notes_;
  }

  Diagnostics contradiction() {
    notes_.error(973,
                 !study_.constraints.empty() ? study_.constraints.front().loc
                 : !study_.statics.empty()   ? study_.statics.front().loc
                                             : study_.parameters.front().loc,
                 "no values satisfy all bounds, constraints and static tests at once; widen one");
    return notes_;
  }

  // ---- input ---------------------------------------------------------------------------------------------------------------------
  void find_parameters() {
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

  [[nodiscard]] int parameter_number(const std::string& name) const {
    for (size_t i = 0; i < study_.parameters.size(); ++i)
      if (study_.parameters[i].name == name) return static_cast<int>(i);
    return -1;
  }

  void check_test(const UpdatePose& pose) {
    const std::vector<MeasuredPoint>& points =
        study_.simulate.empty() ? pose.test.points : study_.simulate.front().points;
    const std::vector<std::string> known = frame_names(*framed_);
    for (const MeasuredPoint& p : points)
      if (find_frame(*framed_, p.frame) < 0)
        notes_.error(
            970, pose.loc,
            fmt::format("pose \"{}\": a shape was measured at \"{}\", which is no place of "
                        "{}{}",
                        pose.name, p.frame, model_.name, did_you_mean(p.frame, known)));
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

  bool reach(const std::string& kind, const std::string& name, const std::vector<PoseValue>& at,
             const Loc& loc, Eigen::VectorXd& q) {
    const auto located = [&](int id, const Diagnostics& why) {
      for (const Diagnostic& d : why.items())
        if (d.severity == Severity::kError)
          notes_.error(id > 0 ? id : d.id, loc,
                       fmt::format("{} \"{}\": {}", kind, name, d.message));
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

  Result<ParameterMatrices> matrices_at(const std::string& kind, const std::string& name,
                                        const std::vector<PoseValue>& at, Operation operation,
                                        const Loc& loc) {
    Eigen::VectorXd q;
    if (!reach(kind, name, at, loc, q)) return Diagnostics{};
    Result<ParameterMatrices> out =
        ParameterMatrices::create(model_, out_.params, view(q), index_, operation);
    for (const Diagnostic& d : out.diagnostics().items())
      if (d.severity == Severity::kError)
        notes_.error(d.id, loc, fmt::format("{} \"{}\": {}", kind, name, d.message));
    return out;
  }

  void add_pose(const UpdatePose& pose) {
    Result<ParameterMatrices> matrices =
        matrices_at("pose", pose.name, pose.at, pose.operation, pose.loc);
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
  void add_static(const StaticTest& test) {
    Result<ParameterMatrices> matrices =
        matrices_at("static", test.name, test.at, Operation::kHere, test.loc);
    if (!matrices.ok()) return;
    PoseMatrices at;
    std::vector<PoseMatrices> slopes;
    if (!matrices->at(view(nominal_), at) || !matrices->slopes(view(nominal_), slopes)) return;
    const auto workspace = Workspace::create(model_, out_.params);
    const auto point = operating_point(*workspace, Operation::kHere, 0, view(matrices->pose()));
    const auto linear = linearize(*workspace, *point);
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
      const Eigen::Index i = found - inputs.begin();
      at.f -= linear->B_z.col(i) * (value - point->u(i));
    }
    const std::vector<std::string>& free = matrices->independent();
    for (const auto& [name, bound] : test.friction) {
      const auto found = std::find(free.begin(), free.end(), name);
      if (found == free.end()) {
        notes_.error(972, test.loc,
                     fmt::format("static \"{}\": \"{}\" is no independent coordinate there{}",
                                 test.name, name, did_you_mean(name, free)));
        continue;
      }
      const Eigen::Index i = found - free.begin();
      StaticRow row{fmt::format("{}: {}", test.name, name), Eigen::RowVectorXd(count()), at.f(i),
                    bound};
      for (Eigen::Index h = 0; h < count(); ++h)
        row.slope(h) = reference_(h) * slopes[static_cast<size_t>(h)].f(i);
      statics_.push_back(std::move(row));
    }
  }

  void add_constraints() {
    const auto rows = static_cast<Eigen::Index>(study_.constraints.size() + statics_.size());
    c_ = Eigen::MatrixXd::Zero(rows, count());
    row_low_.resize(rows);
    row_high_.resize(rows);
    Eigen::Index row = 0;
    const auto each = [&](const UpdateConstraint& c, const auto& use) {
      for (const auto& [name, factor] : c.terms) {
        const int h = parameter_number(name);
        if (h < 0)
          notes_.error(701, c.loc,
                       fmt::format("\"{}\": \"{}\" is not among the parameters to be updated",
                                   c.name, name));
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
    for (const StaticRow& s : statics_) {
      c_.row(row) = s.slope;
      row_low_(row) = -s.bound - s.value;
      row_high_(row) = s.bound - s.value;
      out_.limits.push_back({s.name, -s.bound, s.bound, s.value, s.value, false});
      ++row;
    }
    omega_ = Eigen::MatrixXd::Zero(count() + static_cast<Eigen::Index>(study_.penalties.size()),
                                   count());
    for (Eigen::Index h = 0; h < count(); ++h)
      omega_(h, h) = std::sqrt(study_.parameters[static_cast<size_t>(h)].cost);
    for (size_t i = 0; i < study_.penalties.size(); ++i)
      each(study_.penalties[i], [&](int h, double factor) {
        omega_(count() + static_cast<Eigen::Index>(i), h) += factor;
      });
    if (rows > 0 && study_.method == UpdateMethod::kSensitivity)
      notes_.error(
          974,
          study_.constraints.empty() ? study_.statics.front().loc : study_.constraints.front().loc,
          "the sensitivity method knows bounds only; use method = \"quadratic\" with "
          "constraints and static tests");
  }

  void check_modes(size_t k) {
    const UpdatePose& pose = study_.poses[k];
    const auto n = static_cast<int>(before_[k].pairs.values.size());
    if (static_cast<int>(readings_[k].omega.size()) > n)
      notes_.error(972, pose.loc,
                   fmt::format("pose \"{}\": {} modes were measured, but the model has {}",
                               pose.name, readings_[k].omega.size(), n));
    for (const int mode : readings_[k].modes)
      if (mode >= n)
        notes_.error(972, pose.loc,
                     fmt::format("pose \"{}\": mode {} is named, but the model has {}", pose.name,
                                 mode + 1, n));
  }

  [[nodiscard]] bool all_shapes() const {
    for (const PoseReadings& r : readings_)
      for (const Eigen::VectorXd& y : r.shapes)
        if (y.size() == 0) return false;
    return true;
  }

  // ---- simulated tests --------------------------------------------------------------------------------------------------------------
  bool simulate() {
    const SimulatedTest& s = study_.simulate.front();
    truth_ = Eigen::VectorXd::Zero(count());
    for (const auto& [name, value] : s.truth) {
      const int h = parameter_number(name);
      if (h < 0) {
        notes_.error(701, s.loc,
                     fmt::format("truth: \"{}\" is not among the parameters to be updated; give "
                                 "its value in [set]",
                                 name));
        continue;
      }
      truth_(h) = (value - nominal_(h)) / reference_(h);
    }
    if (!notes_.ok()) return false;
    std::vector<PoseState> states;
    if (!engine_->evaluate(truth_, false, states)) {
      notes_.error(975, s.loc, "simulate: the truth has no modes");
      return false;
    }
    for (size_t k = 0; k < states.size(); ++k) {
      PoseReadings& r = readings_[k];
      const auto n = static_cast<int>(states[k].pairs.values.size());
      for (int& mode : r.modes) {
        if (mode >= n || !(states[k].pairs.values(std::min(mode, n - 1)) > 0)) {
          notes_.error(972, study_.poses[k].loc,
                       fmt::format("pose \"{}\": mode {} is no vibration of the model",
                                   study_.poses[k].name, mode + 1));
          return false;
        }
        r.omega.push_back(std::sqrt(states[k].pairs.values(mode)));
        r.omega_sigma.push_back(s.frequency_noise * r.omega.back());
        Eigen::VectorXd y = states[k].rows * states[k].pairs.vectors.col(mode);
        y /= std::max(y.lpNorm<Eigen::Infinity>(), 1e-300);
        r.shapes.push_back(std::move(y));
        r.shape_sigma.push_back(s.shape_noise > 0 ? s.shape_noise : kExactShape);
        mode = -1;  // by its shape, as a measured one
      }
    }
    exact_ = readings_;
    readings_ = drawn(0);
    return true;
  }

  [[nodiscard]] std::vector<PoseReadings> drawn(int draw) const {
    const SimulatedTest& s = study_.simulate.front();
    std::vector<PoseReadings> out = exact_;
    std::uint64_t reading = 0;
    const auto number = static_cast<std::uint64_t>(draw);
    for (PoseReadings& r : out)
      for (size_t i = 0; i < r.omega.size(); ++i) {
        r.omega[i] *=
            1 + s.frequency_noise * normal(study_.seed, kFrequencyStream + reading, number);
        for (Eigen::Index k = 0; k < r.shapes[i].size(); ++k)
          r.shapes[i](k) += s.shape_noise * normal(study_.seed, kShapeStream + reading,
                                                   number * 100000 + static_cast<std::uint64_t>(k));
        ++reading;
      }
    return out;
  }

  // ---- the two methods ---------------------------------------------------------------------------------------------------------------
  [[nodiscard]] UpdatingEquations limits() const {
    UpdatingEquations e;
    e.omega = omega_;
    e.low = low_;
    e.high = high_;
    e.c = c_;
    e.row_low = row_low_;
    e.row_high = row_high_;
    return e;
  }

  // UPD-5 at the state of χ_k, for χ itself.
  UpdatingEquations equations(const UpdateEngine& engine, const std::vector<PoseState>& states,
                              const std::vector<PoseReadings>& readings, const Eigen::VectorXd& chi,
                              std::vector<std::vector<ExpandedShape>>& shapes) const {
    UpdatingEquations e = limits();
    Eigen::Index rows = 0;
    for (const PoseReadings& r : readings) rows += static_cast<Eigen::Index>(r.omega.size());
    e.a.resize(rows, count());
    e.d.resize(rows);
    e.weights.resize(rows);
    Eigen::Index row = 0;
    shapes.clear();
    for (size_t k = 0; k < states.size(); ++k) {
      const PoseState& s = states[k];
      const PoseReadings& r = readings[k];
      shapes.push_back(engine.shapes(s, r, engine.pair(s, r)));
      for (size_t i = 0; i < r.omega.size(); ++i, ++row) {
        const Eigen::VectorXd& z = shapes.back()[i].z;
        const double square = r.omega[i] * r.omega[i];
        const double scale = study_.relative ? 1 / square : 1;
        for (Eigen::Index h = 0; h < count(); ++h) {
          const PoseMatrices& d = s.slopes[static_cast<size_t>(h)];
          e.a(row, h) = scale * (square * z.dot(d.m * z) - z.dot(d.k * z));
        }
        e.d(row) = -scale * (square * z.dot(s.matrices.m * z) - z.dot(s.matrices.k * z)) +
                   e.a.row(row).dot(chi);
        e.weights(row) = r.weights[i];
      }
    }
    return e;
  }

  // lambda < 0: the study's own, or the L-curve's.
  Outcome by_program(UpdateEngine& engine, const std::vector<PoseState>& first,
                     const std::vector<PoseReadings>& readings, double lambda) const {
    Outcome out;
    out.chi = Eigen::VectorXd::Zero(count());
    bool linear = engine.affine();
    for (const PoseReadings& r : readings)
      for (const Eigen::VectorXd& y : r.shapes) linear = linear && y.size() > 0;
    const int most = study_.iterations > 0 ? study_.iterations : (linear ? 1 : kIterations);
    std::vector<PoseState> states = first;
    for (int turn = 0; turn < most; ++turn) {
      if (turn > 0 && !engine.evaluate(out.chi, true, states)) return out;
      out.equations = equations(engine, states, readings, out.chi, out.shapes);
      if (turn == 0) {
        out.curve = l_curve(out.equations);
        out.lambda = lambda >= 0          ? lambda
                     : study_.lambda >= 0 ? study_.lambda
                     : out.curve.corner >= 0
                         ? out.curve.lambda[static_cast<size_t>(out.curve.corner)]
                         : 0;
      }
      out.solution = study_.as_printed ? solve_as_printed(out.equations, out.lambda)
                                       : solve(out.equations, out.lambda);
      out.infeasible = !out.solution.solved;
      if (out.infeasible) return out;
      const double moved = (out.solution.chi - out.chi).lpNorm<Eigen::Infinity>();
      out.chi = out.solution.chi;
      out.iterations = turn + 1;
      out.converged = linear || moved <= kConverged;
      if (moved <= kConverged) break;
    }
    out.ok = true;
    return out;
  }

  Outcome by_sensitivities(UpdateEngine& engine, const std::vector<PoseReadings>& readings) const {
    Outcome out;
    SensitivityProblem p;
    p.engine = &engine;
    p.readings = &readings;
    p.mac_weight = study_.mac_weight;
    p.omega = omega_;
    p.low = low_;
    p.high = high_;
    out.chi = Eigen::VectorXd::Zero(count());
    Eigen::VectorXd residual;
    Eigen::MatrixXd jacobian;
    if (!sensitivity_residuals(p, out.chi, residual, &jacobian)) return out;
    out.equations = limits();
    out.equations.a = jacobian;
    out.equations.d = -residual;
    out.equations.weights = Eigen::VectorXd::Ones(residual.size());
    out.curve = l_curve(out.equations);
    p.lambda = out.lambda = study_.lambda >= 0 ? study_.lambda
                            : out.curve.corner >= 0
                                ? out.curve.lambda[static_cast<size_t>(out.curve.corner)]
                                : 0;
    const SensitivityMinimum end = minimise(p, out.chi);
    out.chi = end.chi;
    out.converged = end.converged;
    out.iterations = end.iterations;
    out.solution.chi = end.chi;
    if (!sensitivity_residuals(p, out.chi, residual, &jacobian)) return out;
    out.equations.a = jacobian;
    out.equations.d = jacobian * out.chi - residual;
    out.solution.objective = residual.squaredNorm() + out.lambda * (omega_ * out.chi).squaredNorm();
    // Stationarity within the bounds, relative.
    const Eigen::VectorXd data = jacobian.transpose() * residual,
                          prior = out.lambda * omega_.transpose() * (omega_ * out.chi);
    const double size =
        std::max({data.lpNorm<Eigen::Infinity>(), prior.lpNorm<Eigen::Infinity>(), 1e-300});
    for (Eigen::Index h = 0; h < count(); ++h) {
      const double g = data(h) + prior(h);
      if (at_bound(h, out.chi(h)) && g * (out.chi(h) - 0.5 * (low_(h) + high_(h))) <= 0) continue;
      out.solution.kkt = std::max(out.solution.kkt, std::abs(g) / size);
    }
    std::vector<PoseState> states;
    if (!engine.evaluate(out.chi, false, states)) return out;
    for (size_t k = 0; k < states.size(); ++k)
      out.shapes.push_back(
          engine.shapes(states[k], readings[k], engine.pair(states[k], readings[k])));
    out.ok = true;
    return out;
  }

  [[nodiscard]] bool at_bound(Eigen::Index h, double chi) const {
    return std::min(chi - low_(h), high_(h) - chi) <= kAtBound * (high_(h) - low_(h));
  }

  // ---- results ----------------------------------------------------------------------------------------------------------------------
  bool judge(const Outcome& found) {
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
      p.change = found.chi(h);
      p.value = found.chi(h) == 0 ? nominal_(h) : theta(h);
      p.low = nominal_(h) + reference_(h) * low_(h);
      p.high = nominal_(h) + reference_(h) * high_(h);
      p.bounds_hit = at_bound(h, found.chi(h));
      p.std = reference_(h) * std::sqrt(out_.covariance(h, h));
      p.resolution = told(h);
      p.unmovable =
          std::find(out_.identifiability.unmovable.begin(), out_.identifiability.unmovable.end(),
                    static_cast<int>(h)) != out_.identifiability.unmovable.end();
      out_.params.values(index_[static_cast<size_t>(h)]) = p.value;
      out_.parameters.push_back(std::move(p));
    }
    for (size_t i = 0; i < out_.limits.size(); ++i) {
      UpdatedLimit& l = out_.limits[i];
      l.after = l.before + c_.row(static_cast<Eigen::Index>(i)).dot(found.chi);
      const double near = 1e-9 * std::max({1e-300, std::abs(l.before), std::abs(l.after)});
      l.active = l.after <= l.low + near || l.after >= l.high - near;
    }
    for (size_t k = 0; k < readings_.size(); ++k) list_modes(k, found);
    return true;
  }

  void list_modes(size_t k, const Outcome& found) {
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
    const auto columns = [&](const ModePairing& p, std::vector<int>& numbers,
                             Eigen::MatrixXd& mac) {
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
      pose.dq_after.col(i) =
          unit(after_[k].matrices.r * after_[k].pairs.vectors.col(after.modes[at]),
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

  [[nodiscard]] Params nominal_params() const {
    Params p = out_.params;
    p.values(index_) = nominal_;
    return p;
  }

  // UPD-13: scatter of frequencies and shapes, carried through the equations with the limits that hold kept.
  void covariance(const Outcome& found) {
    out_.covariance =
        Eigen::MatrixXd::Constant(count(), count(), std::numeric_limits<double>::quiet_NaN());
    if (study_.method == UpdateMethod::kSensitivity) return;
    const UpdatingEquations& e = found.equations;
    Eigen::VectorXd scatter(e.d.size());
    Eigen::Index row = 0;
    for (size_t k = 0; k < readings_.size(); ++k)
      for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++row) {
        const PoseReadings& r = readings_[k];
        if (!(r.omega_sigma[i] > 0)) return;
        const ExpandedShape& s = found.shapes[k][i];
        const double square = r.omega[i] * r.omega[i], scale = study_.relative ? 1 / square : 1;
        const PoseMatrices& m = after_[k].matrices;
        const double by_frequency = 2 * scale * r.omega[i] * s.z.dot(m.m * s.z) * r.omega_sigma[i];
        const Eigen::VectorXd force = 2 * scale * (square * (m.m * s.z) - m.k * s.z);
        const double by_shape = (force.transpose() * s.slope).norm() * r.shape_sigma[i];
        scatter(row) = std::hypot(by_frequency, by_shape);
      }
    std::vector<Eigen::Index> free;
    for (Eigen::Index h = 0; h < count(); ++h)
      if (!at_bound(h, found.chi(h))) free.push_back(h);
    out_.covariance.setZero();
    if (free.empty()) return;
    const Eigen::MatrixXd wa = (e.weights.asDiagonal() * e.a)(Eigen::all, free);
    const double lambda = std::max(found.lambda, 1e-22 * wa.squaredNorm());
    const Eigen::MatrixXd penalty = e.omega(Eigen::all, free);
    const Eigen::MatrixXd h = wa.transpose() * wa + lambda * penalty.transpose() * penalty;
    const Eigen::MatrixXd gain = h.ldlt().solve(wa.transpose()) * e.weights.asDiagonal();
    const Eigen::MatrixXd part = gain * scatter.cwiseAbs2().asDiagonal() * gain.transpose();
    for (size_t i = 0; i < free.size(); ++i)
      for (size_t j = 0; j < free.size(); ++j)
        out_.covariance(free[i], free[j]) =
            part(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  }

  // Every mode once without: predicted from the others.
  void leave_out(const Outcome& found) {
    size_t listed = 0;
    for (size_t k = 0; k < readings_.size(); ++k)
      for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++listed) {
        std::vector<PoseReadings> others = readings_;
        others[k].weights[i] = 0;
        UpdateEngine own = engine_->clone();
        const Outcome without = study_.method == UpdateMethod::kSensitivity
                                    ? by_sensitivities(own, others)
                                    : by_program(own, before_, others, found.lambda);
        std::vector<PoseState> states;
        if (!without.ok || !own.evaluate(without.chi, false, states)) continue;
        const int mode = own.pair(states[k], readings_[k]).modes[i];
        out_.modes[listed].left_out_hz =
            std::sqrt(std::max(0.0, states[k].pairs.values(mode))) / kTurn;
      }
  }

  void fit_damping() {
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

  // ---- many simulated tests -----------------------------------------------------------------------------------------------------------
  void draw() {
    const int draws = study_.simulate.front().draws;
    Eigen::MatrixXd values(count(), draws);
    std::vector<double> before(static_cast<size_t>(draws)), after(before);
    std::vector<char> good(static_cast<size_t>(draws), 0), improved(good), within(good);
    std::atomic<int> done = 0;
    std::atomic<bool> ended = false;
    std::mutex speaking;
    const auto one = [&](UpdateEngine& engine, int n) {
      const std::vector<PoseReadings> readings = drawn(n);
      const Outcome found = study_.method == UpdateMethod::kSensitivity
                                ? by_sensitivities(engine, readings)
                                : by_program(engine, before_, readings, -1);
      std::vector<PoseState> states;
      if (!found.ok || !engine.evaluate(found.chi, false, states)) return;
      const auto at = static_cast<size_t>(n);
      good[at] = improved[at] = 1;
      within[at] =
          (found.chi.array() >= low_.array()).all() && (found.chi.array() <= high_.array()).all()
              ? 1
              : 0;
      values.col(n) = engine.theta(found.chi);
      int modes = 0;
      for (size_t k = 0; k < readings.size(); ++k) {
        const ModePairing first = engine.pair(before_[k], readings[k]),
                          last = engine.pair(states[k], readings[k]);
        for (size_t i = 0; i < readings[k].omega.size(); ++i, ++modes) {
          const auto error = [&](const PoseState& s, int mode) {
            return std::abs(std::sqrt(std::abs(s.pairs.values(mode))) / readings[k].omega[i] - 1);
          };
          const double was = error(before_[k], first.modes[i]),
                       is = error(states[k], last.modes[i]);
          before[at] += was;
          after[at] += is;
          if (!(is < was)) improved[at] = 0;
        }
      }
      before[at] /= modes;
      after[at] /= modes;
    };
    tbb::task_arena arena(study_.threads > 0 ? study_.threads : tbb::task_arena::automatic);
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<int>(0, draws),
                        [&](const tbb::blocked_range<int>& range) {
                          UpdateEngine own = engine_->clone();
                          for (int n = range.begin(); n < range.end() && !ended; ++n) {
                            one(own, n);
                            const double finished = ++done / static_cast<double>(draws);
                            const std::unique_lock lock(speaking, std::try_to_lock);
                            if (lock.owns_lock() && progress_ && !progress_(finished)) ended = true;
                          }
                        });
    });
    out_.complete = !ended;
    DrawnUpdates& d = out_.draws;
    d.draws = done;
    d.mean = d.std = Eigen::VectorXd::Zero(count());
    int used = 0;
    for (int n = 0; n < draws; ++n) {
      const auto at = static_cast<size_t>(n);
      if (good[at] == 0) continue;
      ++used;
      d.all_improved += improved[at];
      d.within_bounds += within[at];
      d.mean += values.col(n);
      d.mean_error_before += before[at];
      d.mean_error_after += after[at];
    }
    d.failed = d.draws - used;
    if (used == 0) return;
    d.mean /= used;
    d.mean_error_before /= used;
    d.mean_error_after /= used;
    for (int n = 0; n < draws; ++n)
      if (good[static_cast<size_t>(n)] != 0) d.std += (values.col(n) - d.mean).cwiseAbs2();
    d.std = (d.std / std::max(1, used - 1)).cwiseSqrt();
  }

  // ---- remarks ------------------------------------------------------------------------------------------------------------------------
  template <class Keep>
  [[nodiscard]] std::string names(const Keep& keep) const {
    std::string list;
    for (size_t h = 0; h < out_.parameters.size(); ++h)
      if (keep(h)) list += (list.empty() ? "" : ", ") + out_.parameters[h].name;
    return list;
  }

  void warn(const Outcome& found) {
    const Loc& first = study_.parameters.front().loc;
    size_t listed = 0;
    for (size_t k = 0; k < readings_.size(); ++k) {
      const UpdatePose& pose = study_.poses[k];
      int last = 0, without = 0;
      std::string crossing;
      for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++listed) {
        const UpdatedMode& m = out_.modes[listed];
        if (m.mode_before < last)
          crossing += fmt::format("{}{:.4g} Hz with the model's {:.4g} Hz",
                                  crossing.empty() ? "" : ", ", m.measured_hz, m.before_hz);
        last = std::max(last, m.mode_before);
        if (readings_[k].shapes[i].size() == 0) {
          ++without;
        } else if (m.mac_before < kUnlike) {
          notes_.warning(
              981, pose.loc,
              fmt::format("pose \"{}\": the mode measured at {:.5g} Hz resembles none of "
                          "the model's; the best is at {:.5g} Hz, MAC {:.2f}",
                          pose.name, m.measured_hz, m.before_hz, m.mac_before));
        }
      }
      if (!crossing.empty())
        notes_.warning(976, pose.loc,
                       fmt::format("pose \"{}\": by their shapes, modes pair in another order than "
                                   "by frequency: {}",
                                   pose.name, crossing));
      if (without > 0)
        notes_.warning(
            980, pose.loc,
            fmt::format("pose \"{}\": {} modes have no shape; they are paired by number, "
                        "and the model's own shapes are taken, again in every iteration",
                        pose.name, without));
    }
    if (assumed_)
      notes_.warning(983, study_.poses.front().loc,
                     "no scatter of the shapes was given (shape_sigma = 0.01): 1 % of the largest "
                     "reading is assumed");
    if (const std::string list = names([&](size_t h) { return out_.parameters[h].unmovable; });
        !list.empty())
      notes_.warning(977, first,
                     fmt::format("no measured mode depends on {}; the values stay", list));
    const Identifiability& seen = out_.identifiability;
    const auto movable = static_cast<int>(count()) - static_cast<int>(seen.unmovable.size());
    if (seen.rank < movable)
      notes_.warning(
          978, first,
          fmt::format(
              "{} independent equations for {} parameters: the penalty on change tells more "
              "than the data about {}",
              seen.rank, movable, names([&](size_t h) {
                return !out_.parameters[h].unmovable && out_.parameters[h].resolution < kPrior;
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
    if (const std::string list = names([&](size_t h) { return out_.parameters[h].bounds_hit; });
        !list.empty())
      notes_.warning(
          979, first,
          fmt::format("at a bound: {}; are the ranges too narrow, or is the model wrong?", list));
    if (!found.converged)
      notes_.warning(982, first,
                     fmt::format("not converged after {} iterations; the last values are reported",
                                 found.iterations));
  }

  const Model& model_;
  std::shared_ptr<const Model> framed_;
  const UpdateStudy& study_;
  const std::function<bool(double)>& progress_;
  Diagnostics notes_;
  Updating out_;
  std::vector<int> index_;
  Eigen::VectorXd nominal_, reference_, low_, high_, truth_;
  std::unique_ptr<UpdateEngine> engine_;
  std::vector<PoseReadings> readings_, exact_;
  std::vector<StaticRow> statics_;
  Eigen::MatrixXd c_, omega_;
  Eigen::VectorXd row_low_, row_high_;
  std::vector<PoseState> before_, after_;
  bool assumed_ = false;
};

double mean_error(const std::vector<UpdatedMode>& modes, double (UpdatedMode::*error)() const) {
  double sum = 0;
  for (const UpdatedMode& m : modes) sum += std::abs((m.*error)());
  return modes.empty() ? 0 : sum / static_cast<double>(modes.size());
}

}  // namespace

double Updating::mean_error_before() const { return mean_error(modes, &UpdatedMode::error_before); }
double Updating::mean_error_after() const { return mean_error(modes, &UpdatedMode::error_after); }

Result<Updating> update(const Model& model, const Params& params, const UpdateStudy& study,
                        const std::function<bool(double)>& progress) {
  Diagnostics d;
  if (study.parameters.empty() || study.poses.empty()) {
    d.error(972, {}, "update: name at least one parameter and one pose with a modal test");
    return d;
  }
  return Updater(model, params, study, progress).run();
}

}  // namespace panto
