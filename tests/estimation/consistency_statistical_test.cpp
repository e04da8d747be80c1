// Filters know how wrong they are: the normalised estimation error squared has a chi-squared distribution when the truth moves with the noise that the
// filter assumes and starts as far off as its initial covariance says.
#include <boost/math/distributions/chi_squared.hpp>

#include "tests/estimation/observer_case.hpp"

namespace panto {
namespace {

using test::kDegree;
using test::Truth;

struct Case {
  const char *model, *filter;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " " << c.filter; }

class Consistency : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Models, Consistency,
    testing::Values(Case{"fourbar_sanjurjo", "error_ekf_ej"}, Case{"fourbar_sanjurjo", "ukf"},
                    Case{"five_bar", "error_ekf_ej"}, Case{"five_bar", "ukf"},
                    Case{"arm_spatial", "error_ekf_ej"}, Case{"arm_spatial", "ukf"}),
    [](const auto& c) { return std::string(c.param.model) + "_" + c.param.filter; });

TEST_P(Consistency, ErrorsHaveTheSizeThatTheCovarianceSays) {
  const int runs = 40, steps = 200, every = 20;
  const double dt = 5e-3;
  const auto model = test::zoo_model(GetParam().model);
  const auto sensors = test::give_sensors(*model);
  std::vector<int> outputs, all;
  for (const SensorSettings& s : sensors) {
    all.push_back(static_cast<int>(outputs.size()));
    outputs.push_back(find_output(*model, s.name));
  }
  ObserverSettings settings;
  settings.filter = GetParam().filter;
  settings.scheme = Scheme::kTrapezoidal;
  settings.jacobian = TransitionJacobian::kExact;
  settings.sigma.redraw = true;
  settings.sigma_coordinates = {kDegree};
  settings.sigma_speeds = {5 * kDegree};
  settings.acceleration_noise = {0.05};
  const auto o = test::observer(*model, nominal(*model), settings, sensors);
  Truth truth(*model, nominal(*model), {0.05});
  const int n = o->system().size();
  const std::vector<double> start = truth.x;
  std::vector<double> nees(static_cast<size_t>(steps / every), 0.0), y(outputs.size()),
      w(static_cast<size_t>(n));
  double nis = 0;
  int count = 0;
  Eigen::MatrixXd p, factor(n, n);
  noise_factor(o->initial_covariance(), factor);
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(100 + run);
    truth.t = 0;
    truth.x = start;
    Eigen::VectorXd z(n);
    for (int i = 0; i < n; ++i) z(i) = normal(seed, 7, static_cast<std::uint64_t>(i));
    const Eigen::VectorXd off = factor * z;
    ASSERT_EQ(truth.mechanism->settle(0, truth.x), Status::kOk);
    truth.mechanism->move(truth.x, test::view(off), truth.x);
    ASSERT_EQ(truth.mechanism->settle(0, truth.x), Status::kOk);
    ASSERT_EQ(o->start(), Status::kOk);
    for (int k = 0; k < steps; ++k) {
      const auto index = static_cast<std::uint64_t>(k);
      ASSERT_EQ(truth.step(dt, seed, 8, index), Status::kOk);
      ASSERT_EQ(truth.mechanism->outputs(truth.t, truth.x, outputs, y), Status::kOk);
      for (size_t i = 0; i < y.size(); ++i) y[i] += test::kSigma * normal(seed, 20 + i, index);
      const bool read = k % 2 == 1;
      ASSERT_EQ(read ? o->filter().step(dt, all, y) : o->filter().step(dt, {}, {}), Status::kOk);
      nis += o->filter().innovations().nis;
      count += o->filter().innovations().count;
      if (k % every != every - 1) continue;
      // The difference in the free entries of both.
      truth.mechanism->difference(truth.x, o->filter().state(), w);
      o->filter().covariance(p);
      const Eigen::VectorXd e = Eigen::Map<const Eigen::VectorXd>(w.data(), n);
      nees[static_cast<size_t>(k / every)] += e.dot(p.llt().solve(e));
    }
    ASSERT_EQ(o->filter().reframed(), 0);
  }
  // Ten looks, each outside with a chance of 1e-4.
  const boost::math::chi_squared sum(runs * n);
  const double low = boost::math::quantile(sum, 5e-5), high = boost::math::quantile(sum, 1 - 5e-5);
  for (const double e : nees) {
    EXPECT_GT(e, low);
    EXPECT_LT(e, high);
  }
  const boost::math::chi_squared readings(count);
  EXPECT_GT(nis, boost::math::quantile(readings, 5e-5));
  EXPECT_LT(nis, boost::math::quantile(readings, 1 - 5e-5));
}

}  // namespace
}  // namespace panto
