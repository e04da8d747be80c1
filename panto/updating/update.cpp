#include "panto/updating/update.hpp"

#include <fmt/format.h>

#include <cmath>

#include "panto/updating/updater.hpp"

namespace panto::update_run {

Updater::Updater(const Model& model, const Params& params, const UpdateStudy& study,
                 const std::function<bool(double)>& progress)
    : model_(model),
      framed_(std::make_shared<const Model>(with_body_frames(model))),
      study_(study),
      progress_(progress) {
  out_.params = params;
}

Result<Updating> Updater::run() {
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
  for (size_t k = 0; k < readings_.size(); ++k) leave_unlike(k);
  out_.linear = engine_->affine() && all_shapes();
  Outcome found = by_method(*engine_, readings_, -1);
  if (!found.ok) return found.infeasible ? contradiction() : failed("at the values sought");
  if (!judge(found)) return failed("at the updated values");
  if (study_.cross_validate) leave_out(found);
  if (study_.damping) fit_damping();
  if (!study_.simulate.empty() && study_.simulate.front().draws > 1) draw();
  warn(found);
  return {std::move(out_), std::move(notes_)};
}

Diagnostics Updater::failed(const std::string& where) {
  notes_.error(975, study_.poses.front().loc,
               fmt::format("the model has no modes {}: its mass matrix is not positive definite, "
                           "or its pose cannot be reached",
                           where));
  return notes_;
}

Diagnostics Updater::contradiction() {
  notes_.error(973,
               !study_.constraints.empty() ? study_.constraints.front().loc
               : !study_.statics.empty()   ? study_.statics.front().loc
                                           : study_.parameters.front().loc,
               "no values satisfy all bounds, constraints and static tests at once; widen one");
  return notes_;
}

}  // namespace panto::update_run

namespace panto {
namespace {

double mean_error(const std::vector<UpdatedMode>& modes, double (UpdatedMode::*error)() const) {
  double sum = 0, count = 0;
  for (const UpdatedMode& m : modes) {
    if (!(m.weight > 0)) continue;
    sum += std::abs((m.*error)());
    ++count;
  }
  return count > 0 ? sum / count : 0;
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
  return update_run::Updater(model, params, study, progress).run();
}

}  // namespace panto
