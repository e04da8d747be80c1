// Covariances stay definite in long runs with readings, also where the mechanism tumbles: the readings come from a true mechanism beside the filter.
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

}  // namespace
}  // namespace panto
