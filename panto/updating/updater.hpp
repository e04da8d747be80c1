// One run of `update`, private to this folder's sources: each of them holds one of its steps.
#pragma once

#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "panto/updating/engine.hpp"
#include "panto/updating/update.hpp"

namespace panto::update_run {

inline constexpr double kTurn = 2 * std::numbers::pi;
inline constexpr double kAtBound = 1e-9;  // of the range
inline constexpr double kUnlike = 0.5;    // MAC below which a pair is doubtful

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
  Eigen::VectorXd scatter;  // of the equations' right-hand sides; NaN: the test tells none
};

class Updater {
 public:
  Updater(const Model& model, const Params& params, const UpdateStudy& study,
          const std::function<bool(double)>& progress);
  Result<Updating> run();

 private:
  [[nodiscard]] Eigen::Index count() const { return nominal_.size(); }

  // ---- what was asked for: update_input.cpp
  void find_parameters();
  [[nodiscard]] int parameter_number(const std::string& name) const {
    for (size_t i = 0; i < study_.parameters.size(); ++i)
      if (study_.parameters[i].name == name) return static_cast<int>(i);
    return -1;
  }
  void check_test(const UpdatePose& pose);
  bool reach(const std::string& kind, const std::string& name, const std::vector<PoseValue>& at,
             const Loc& loc, Eigen::VectorXd& q);
  Result<ParameterMatrices> matrices_at(const Model& model, const std::string& kind,
                                        const std::string& name, const std::vector<PoseValue>& at,
                                        Operation operation, const Loc& loc);
  void add_pose(const UpdatePose& pose);
  void add_static(const StaticTest& test);
  void add_constraints();
  void check_modes(size_t k);
  void leave_unlike(size_t k);
  [[nodiscard]] bool all_shapes() const;

  // ---- the two methods: update_methods.cpp
  // Bounds, constraints and static tests as they are linear at χ; false where a static test has no balance there.
  bool limits(UpdateEngine& engine, const Eigen::VectorXd& chi, UpdatingEquations& out) const;
  void equations(const UpdateEngine& engine, const std::vector<PoseState>& states,
                 const std::vector<PoseReadings>& readings, const Eigen::VectorXd& chi,
                 UpdatingEquations& e, std::vector<std::vector<ExpandedShape>>& shapes) const;
  Outcome by_program(UpdateEngine& engine, const std::vector<PoseState>& first,
                     const std::vector<PoseReadings>& readings, double lambda) const;
  Outcome by_sensitivities(UpdateEngine& engine, const std::vector<PoseReadings>& readings) const;
  // The study's method. lambda < 0: the study's own, or the L-curve's.
  Outcome by_method(UpdateEngine& engine, const std::vector<PoseReadings>& readings,
                    double lambda) const {
    return study_.method == UpdateMethod::kSensitivity
               ? by_sensitivities(engine, readings)
               : by_program(engine, before_, readings, lambda);
  }
  [[nodiscard]] bool at_bound(Eigen::Index h, double chi) const {
    return std::min(chi - low_(h), high_(h) - chi) <= kAtBound * (high_(h) - low_(h));
  }

  // ---- simulated tests: update_simulated.cpp
  bool simulate();
  [[nodiscard]] std::vector<PoseReadings> drawn(int draw) const;
  void draw();

  // ---- how far the data told it: update_uncertainty.cpp
  [[nodiscard]] Eigen::VectorXd scatter_of(const Outcome& found) const;
  void covariance(const Outcome& found);
  void leave_out(const Outcome& found);

  // ---- results and remarks: update_report.cpp
  bool judge(const Outcome& found);
  void list_modes(size_t k, const Outcome& found);
  [[nodiscard]] Params nominal_params() const {
    Params p = out_.params;
    p.values(index_) = nominal_;
    return p;
  }
  void fit_damping();
  void warn(const Outcome& found);

  // ---- failures
  Diagnostics failed(const std::string& where);
  Diagnostics contradiction();

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
  std::vector<double> friction_;  // per row of the static tests
  std::vector<std::string> static_names_;
  Eigen::MatrixXd c_, omega_;  // rows of the constraints alone
  Eigen::VectorXd row_low_, row_high_;
  std::vector<PoseState> before_, after_;
  bool assumed_ = false;
};

}  // namespace panto::update_run
