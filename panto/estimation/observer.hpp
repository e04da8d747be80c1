// From a model and a filter's name to a running observer: all settings with their defaults in one place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/constrained.hpp"
#include "panto/estimation/mechanism.hpp"
#include "panto/estimation/particle.hpp"
#include "panto/estimation/sigma.hpp"

namespace panto {

// A filter by name: what it is, and the scheme and transition it has unless others are asked for.
struct FilterInfo {
  std::string name, title;
  Scheme scheme = Scheme::kEuler;
  TransitionJacobian jacobian = TransitionJacobian::kConstant;
};
// The one list behind options, help, documentation and tests.
const std::vector<FilterInfo>& filters();

// A filter on any system by its name in the list: sigma points ("ukf", "sr_ckf", …), particles, or else the extended filter.
std::unique_ptr<Filter> make_filter(const std::string& name, System& system,
                                    const FilterOptions& options, SigmaOptions sigma,
                                    const ParticleOptions& particles);

struct SensorSettings {
  std::string name;                      // a sensor or output of the model
  double sigma = 0;                      // standard deviation of a reading; 0: the model's `noise`
  double rate = 0;                       // readings per second; 0: the model's `rate`
  double bias_sigma = 0, bias_walk = 0;  // bias estimated, where bias_sigma > 0
  Loc loc{};
};

// All sensors of the model.
std::vector<SensorSettings> sensors_of(const Model& model);

// Every number of a filter. Empty lists and absent values: automatic ones.
struct ObserverSettings {
  std::string filter = "ukf";
  std::optional<Scheme> scheme;
  std::optional<TransitionJacobian> jacobian;
  RateTerms rate_terms = RateTerms::kAll;
  NoiseForm noise_form = NoiseForm::kVanLoan;
  // Standard deviations at the start, one or one per independent coordinate, speed, force.
  std::vector<double> sigma_coordinates, sigma_speeds, sigma_forces;
  // Spectral density of acceleration noise, one or one per independent speed.
  std::vector<double> acceleration_noise;
  std::vector<double> force_walk;                           // variance of δz̈ per second
  std::vector<std::pair<std::string, double>> input_noise;  // input, spectral density
  SigmaOptions sigma;
  FilterOptions options;
  // Of a reduced model: beyond this misfit (RER-11) the observer changes to modes of another reference; 0: never. iekf and particle never do.
  double reduction_limit = 0.02;
  int iterations = 3;  // iterated filter
  double constraint =
      1e-6;  // iterated filter: standard deviation of the constraints, lengths of the mechanism
  int particles = 1000;
  std::uint64_t seed = 1;  // of the particle filter
  double jitter = 0.05;    // of particles drawn anew, share of the standard deviation
  Loc loc{};
};

// A workspace, the mechanism in it and the filter on it. Not to be shared by threads.
class Observer {
 public:
  // Errors: E0801 unknown filter, E0802 unknown sensor, E0803 sensor without noise, E0804 settings that are not positive (definite), E0805 not
  // possible with this filter, E0806 input noise.
  static Result<std::unique_ptr<Observer>> create(const Model& model, const Params& params,
                                                  const ObserverSettings& settings,
                                                  const std::vector<SensorSettings>& sensors);

  [[nodiscard]] Filter& filter() { return *filter_; }
  // What the filter runs on: the mechanism, or (iekf) all its coordinates.
  [[nodiscard]] MotionSystem& system() { return *system_; }
  [[nodiscard]] Mechanism& mechanism() { return *mechanism_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  [[nodiscard]] const FilterInfo& info() const { return *info_; }
  // Covariance that start() begins with; iekf: that the last start() began with.
  [[nodiscard]] const Eigen::MatrixXd& initial_covariance() const { return p0_; }
  // What was chosen where the settings left it open.
  [[nodiscard]] const ObserverSettings& settings() const { return settings_; }

  // At the model's initial state, or at these coordinates and speeds (amplitudes of a reduced model: of the reference in use).
  [[nodiscard]] Status start(double t = 0);
  [[nodiscard]] Status start(double t, View q, View v);
  // Between steps: a reference of a reduced model is made where the last step has left the region of all that are there, and the next step changes to
  // it. Allocates then; where time is short, make them before (Mechanism::add_reference). True: one was made.
  bool renew_reference();
  // Outputs of the model at the present estimate and their standard deviations √(H P Hᵀ), the same way for every filter. Allocates when their number
  // changes.
  [[nodiscard]] Status outputs(std::span<const int> outputs, MutableView y, MutableView sigma);

 private:
  Observer() = default;
  void automatic(const Model& model);
  const FilterInfo* info_ = nullptr;
  ObserverSettings settings_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Mechanism> mechanism_;
  std::unique_ptr<AllCoordinates> constrained_;  // of the iterated filter
  MotionSystem* system_ = nullptr;
  std::unique_ptr<Filter> filter_;
  Eigen::VectorXd q_, v_;
  Eigen::MatrixXd p0_, p_, h_;
  std::vector<double> x_;
};

// Names of schemes, transitions and noise forms in study files and options.
std::optional<Scheme> scheme_named(std::string_view name);
std::optional<TransitionJacobian> jacobian_named(std::string_view name);
std::optional<NoiseForm> noise_form_named(std::string_view name);
std::string_view name_of(Scheme scheme);
std::string_view name_of(TransitionJacobian jacobian);
std::string_view name_of(NoiseForm form);

}  // namespace panto
