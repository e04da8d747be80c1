// Covariances stay definite in long runs with readings, also where the mechanism tumbles: the readings come from a true mechanism beside the filter.
#include <cstdlib>

#include "panto/numerics/small.hpp"
#include "tests/estimation/observer_case.hpp"

namespace panto {
namespace {

struct Long {
  const char* model;
  int steps;
};

void PrintTo(const Long& run, std::ostream* out) { *out << run.model; }

class Endurance : public testing::TestWithParam<Long> {};
INSTANTIATE_TEST_SUITE_P(Models, Endurance,
                         testing::Values(Long{"fourbar_sanjurjo", 1'000'000},
                                         Long{"pendulum", 100'000}, Long{"five_bar", 100'000},
                                         Long{"double_pendulum", 100'000},
                                         Long{"slider_crank", 100'000}, Long{"heavy_top", 10'000}),
                         [](const auto& run) { return run.param.model; });

TEST_P(Endurance, LeavesTheCovarianceDefinite) {
  const auto model = test::zoo_model(GetParam().model);
  const auto sensors = test::give_sensors(*model);
  std::vector<int> outputs, all;
  for (const SensorSettings& s : sensors) {
    all.push_back(static_cast<int>(outputs.size()));
    outputs.push_back(find_output(*model, s.name));
  }
  test::Truth truth(*model, nominal(*model));
  std::vector<std::unique_ptr<Observer>> list;
  for (const char* name : {"dekf", "ukf"}) {
    ObserverSettings settings;
    settings.filter = name;
    list.push_back(test::observer(*model, nominal(*model), settings, sensors));
    ASSERT_EQ(list.back()->start(), Status::kOk);
  }
  const double dt = 2e-3;
  std::vector<double> y(outputs.size());
  for (int k = 0; k < GetParam().steps; ++k) {
    ASSERT_EQ(truth.step(dt), Status::kOk) << k;
    const bool read = k % 5 == 4;
    if (read) {
      ASSERT_EQ(truth.mechanism->outputs(truth.t, truth.x, outputs, y), Status::kOk);
      for (size_t i = 0; i < y.size(); ++i)
        y[i] += test::kSigma * normal(2, i, static_cast<std::uint64_t>(k));
    }
    for (const auto& o : list) {
      const Status status = read ? o->filter().step(dt, all, y) : o->filter().step(dt, {}, {});
      ASSERT_EQ(status, Status::kOk) << o->info().name << " in step " << k;
    }
    if (k % 1000 != 999) continue;
    for (const auto& o : list) {
      Eigen::MatrixXd p;
      o->filter().covariance(p);
      ASSERT_TRUE(test::definite(p)) << o->info().name << " after step " << k << "\n" << p;
    }
  }
}

// Every mechanism of the zoo. Its motion is repeated as often as it takes: truth and estimate go back to the start, the covariance goes on, but where its
// coordinates are not independent there (a rod that has turned over). A state that no sensor sees (its spin about its own axis) drifts: a step that does
// not converge then is allowed for, a covariance that is not definite is not.
// `make validate` runs a million steps, PANTO_ENDURANCE_STEPS.
class ZooEndurance : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, ZooEndurance, testing::ValuesIn(zoo_names()),
                         [](const auto& model) { return model.param; });

TEST_P(ZooEndurance, LeavesTheCovarianceDefinite) {
  const char* asked = std::getenv("PANTO_ENDURANCE_STEPS");
  const long steps = asked != nullptr ? std::atol(asked) : 500;
  ASSERT_GT(steps, 0);
  const auto model = test::zoo_model(GetParam());
  const auto sensors = test::give_sensors(*model);
  const Params params = nominal(*model);
  test::Truth truth(*model, params);
  if (truth.mechanism->speeds() == 0) GTEST_SKIP() << "nothing is free to move";
  const double dt = test::short_step(*model, 500);
  const double until = model->run.until;
  std::vector<int> outputs, all;
  for (const SensorSettings& s : sensors) {
    all.push_back(static_cast<int>(outputs.size()));
    outputs.push_back(find_output(*model, s.name));
  }
  ObserverSettings settings;
  settings.filter = "error_ekf_ej";
  // That of the trapezoidal rule itself: one of first order grows with every vibration of a stiff mechanism.
  settings.jacobian = TransitionJacobian::kExact;
  settings.sigma_coordinates = settings.sigma_speeds = {1e-3};
  settings.acceleration_noise = {1e-6};  // the truth has none
  if (!model->beams.empty()) {
    settings.sigma_coordinates = settings.sigma_speeds = {1e-9};
    settings.acceleration_noise = {1e-12};
  }
  const auto o = test::observer(*model, params, settings, sensors);
  ASSERT_EQ(o->start(), Status::kOk);
  std::vector<double> y(outputs.size());
  Snapshot kept = o->filter().snapshot();
  bool lost = false;
  int drifted = 0;
  for (long k = 0; k < steps; ++k) {
    const bool repeated = truth.t + dt > until || lost;
    if (repeated) truth.restart();
    if (lost) {
      ASSERT_EQ(o->start(), Status::kOk);
    } else if (repeated) {
      o->filter().save(kept);
      o->system().pack(test::view(truth.q), test::view(truth.v), kept.x);
      kept.t = 0;
      o->filter().restore(kept);
    }
    ASSERT_EQ(truth.step(dt), Status::kOk) << k;
    const bool read = k % 5 == 4;
    if (read) {
      ASSERT_EQ(truth.mechanism->outputs(truth.t, truth.x, outputs, y), Status::kOk);
      for (size_t i = 0; i < y.size(); ++i)
        y[i] += test::kSigma * normal(2, i, static_cast<std::uint64_t>(k));
    }
    const Status status = read ? o->filter().step(dt, all, y) : o->filter().step(dt, {}, {});
    lost = status != Status::kOk;
    ASSERT_TRUE(!lost || repeated || status == Status::kNotConverged)
        << to_string(status) << " in step " << k;
    if (lost) {
      if (!repeated) ++drifted;
      continue;
    }
    if (k % 1000 != 999 && k + 1 != steps) continue;
    // The factor's own rank: of a stiff mechanism the product has a wider range of sizes than numbers have places.
    o->filter().save(kept);
    Eigen::MatrixXd transposed = kept.carried.transpose(), triangle(kept.carried);
    ASSERT_TRUE(triangularise(transposed, triangle)) << "after step " << k;
    ASSERT_GT(triangle.diagonal().minCoeff(), 0) << "after step " << k;
  }
  EXPECT_LT(drifted, 10);
}

}  // namespace
}  // namespace panto
