// On a linear system every filter is Kalman's filter and every smoother that of Rauch, Tung and Striebel; in the steady state their gains have closed forms.
#include <gtest/gtest.h>

#include <functional>

#include "panto/estimation/ekf.hpp"
#include "panto/estimation/sigma.hpp"
#include "panto/estimation/smoother.hpp"
#include "panto/estimation/test/linear_system.hpp"

namespace panto {
namespace {

using test::LinearStep;
using test::LinearSystem;
using test::Textbook;

struct Kind {
  std::string name;
  bool reused;  // sigma points that were moved are also read
  std::function<std::unique_ptr<Filter>(System&)> make;
};

std::vector<Kind> kinds() {
  std::vector<Kind> list;
  list.push_back(
      {"ekf", false, [](System& s) { return std::make_unique<Ekf>(s, FilterOptions{}); }});
  list.push_back(
      {"iterated", false, [](System& s) { return std::make_unique<Ekf>(s, FilterOptions{}, 3); }});
  const std::vector<std::pair<std::string, SigmaOptions>> sets{
      {"unscented", {.set = SigmaSet::kUnscented, .alpha = 1}},
      {"unscented_narrow", {.set = SigmaSet::kUnscented, .alpha = 1e-2}},
      {"simplex", {.set = SigmaSet::kSphericalSimplex}},
      {"cubature", {.set = SigmaSet::kCubature}}};
  for (const auto& [name, base] : sets)
    for (const bool root : {false, true})
      for (const bool redraw : {false, true}) {
        SigmaOptions o = base;
        o.square_root = root;
        o.redraw = redraw;
        list.push_back(
            {name + (root ? "_root" : "") + (redraw ? "_redrawn" : ""), !redraw,
             [o](System& s) { return std::make_unique<SigmaFilter>(s, FilterOptions{}, o); }});
      }
  return list;
}

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Filters : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(All, Filters, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

const Eigen::MatrixXd kStart = Eigen::Vector2d(0.5, 0.3).asDiagonal();

// Round-off only.
constexpr double kTolerance = 1e-10;

void expect_textbook(const Kind& kind, LinearSystem& system, bool reused) {
  const auto filter = kind.make(system);
  const std::vector<double> x0{0, 0};
  ASSERT_EQ(filter->start(0, x0, kStart), Status::kOk);
  Textbook book;
  book.reused = reused;
  book.start(Eigen::Vector2d::Zero(), kStart);
  Eigen::MatrixXd p(2, 2);
  for (const LinearStep& s : test::linear_run(system, 200, 11)) {
    ASSERT_EQ(filter->step(s.dt, s.sensors, s.y), Status::kOk);
    book.step(system, s);
    filter->covariance(p);
    for (int i = 0; i < 2; ++i)
      ASSERT_NEAR(filter->state()[static_cast<size_t>(i)], book.x.back()(i), kTolerance);
    ASSERT_LT((p - book.p.back()).cwiseAbs().maxCoeff(), kTolerance);
    // Points close together: their differences have fewer digits.
    ASSERT_NEAR(filter->innovations().nis, book.nis, 100 * kTolerance);
    ASSERT_EQ(filter->innovations().count, static_cast<int>(s.sensors.size()));
  }
}

TEST_P(Filters, AreKalmansFilterOnALinearSystem) {
  auto system = test::two_sensors();
  expect_textbook(GetParam(), system, GetParam().reused);
}

TEST_P(Filters, AreKalmansFilterWithoutNoiseWhateverPointsAreRead) {
  auto system = test::two_sensors(0);
  expect_textbook(GetParam(), system, false);
}

TEST_P(Filters, AreSmoothedAsByRauchTungAndStriebel) {
  auto system = test::two_sensors();
  const auto filter = GetParam().make(system);
  Smoother smoother(*filter);
  ASSERT_TRUE(smoother.possible());
  const std::vector<double> x0{0, 0};
  ASSERT_EQ(filter->start(0, x0, kStart), Status::kOk);
  ASSERT_EQ(smoother.begin(), Status::kOk);
  Textbook book;
  book.reused = GetParam().reused;
  book.start(Eigen::Vector2d::Zero(), kStart);
  const int steps = 100;
  for (const LinearStep& s : test::linear_run(system, steps, 11)) {
    ASSERT_EQ(filter->step(s.dt, s.sensors, s.y), Status::kOk);
    ASSERT_EQ(smoother.record(), Status::kOk);
    book.step(system, s);
  }
  Smoothed out;
  for (const int lag : {-1, 0, 1, 10}) {
    ASSERT_EQ(lag < 0 ? smoother.smooth(out) : smoother.smooth(out, lag), Status::kOk);
    ASSERT_EQ(out.t.size(), static_cast<size_t>(steps + 1));
    for (int k = 0; k <= steps; ++k) {
      Eigen::VectorXd x;
      Eigen::MatrixXd p;
      book.smooth(k, lag < 0 ? steps : std::min(k + lag, steps), x, p);
      const auto at = static_cast<size_t>(k);
      for (int i = 0; i < 2; ++i)
        ASSERT_NEAR(out.x[at][static_cast<size_t>(i)], x(i), kTolerance) << lag << " " << k;
      ASSERT_LT((out.p[at] - p).cwiseAbs().maxCoeff(), kTolerance) << lag << " " << k;
    }
  }
}

// Gain of the steady state from the innovation and what it changed.
Eigen::VectorXd steady_gain(Filter& filter, double dt, int steps) {
  const std::vector<int> sensor{0};
  std::vector<double> y{0};
  EXPECT_TRUE(filter.keep_predictions());
  for (int k = 0; k < steps; ++k) {
    y[0] = std::sin(0.3 * k);
    EXPECT_EQ(filter.step(dt, sensor, y), Status::kOk);
  }
  const std::vector<double>& w = filter.prediction().correction;
  return Eigen::Map<const Eigen::VectorXd>(w.data(), static_cast<Eigen::Index>(w.size())) /
         filter.innovations().value[0];
}

constexpr double kStep = 0.1, kReading = 0.04;

// The gain is a ratio of differences of states of size 1: 1e-9 of it.
TEST_P(Filters, HaveTheGainsOfTheAlphaBetaFilter) {
  if (GetParam().reused) GTEST_SKIP() << "not optimal where there is noise";
  // Accelerations constant over a step (Kalata).
  const double acceleration = 0.9;
  const Eigen::Vector2d g(kStep * kStep / 2, kStep);
  LinearSystem piecewise(
      test::point_transition,
      [&](double) -> Eigen::MatrixXd { return acceleration * acceleration * g * g.transpose(); },
      Eigen::RowVector2d(1, 0), Eigen::VectorXd::Constant(1, kReading));
  const auto filter = GetParam().make(piecewise);
  const std::vector<double> x0{0, 0};
  ASSERT_EQ(filter->start(0, x0, kStart), Status::kOk);
  Eigen::VectorXd k = steady_gain(*filter, kStep, 400);
  const double index = kStep * kStep * acceleration / std::sqrt(kReading),
               root = (4 + index - std::sqrt(8 * index + index * index)) / 4,
               alpha = 1 - root * root, beta = 2 * (2 - alpha) - 4 * std::sqrt(1 - alpha);
  EXPECT_NEAR(k(0), alpha, 1e-9);
  EXPECT_NEAR(k(1) * kStep, beta, 1e-9);

  // White acceleration noise of density s: s T³ / R = β² / (1 - α), α² = 2 β - α β - β² / 6.
  const double density = 0.8;
  LinearSystem white(
      test::point_transition,
      [&](double dt) -> Eigen::MatrixXd { return density * test::white_acceleration(dt); },
      Eigen::RowVector2d(1, 0), Eigen::VectorXd::Constant(1, kReading));
  const auto other = GetParam().make(white);
  ASSERT_EQ(other->start(0, x0, kStart), Status::kOk);
  k = steady_gain(*other, kStep, 400);
  const double a = k(0), b = k(1) * kStep;
  EXPECT_NEAR(b * b / (1 - a), density * std::pow(kStep, 3) / kReading, 1e-9);
  EXPECT_NEAR(a * a, 2 * b - a * b - b * b / 6, 1e-9);
}

// P⁻ = (q + √(q² + 4 q r)) / 2.
TEST_P(Filters, HaveTheGainOfARandomWalk) {
  if (GetParam().reused) GTEST_SKIP() << "not optimal where there is noise";
  const double q = 0.02;
  LinearSystem walk([](double) -> Eigen::MatrixXd { return Eigen::MatrixXd::Identity(1, 1); },
                    [&](double) -> Eigen::MatrixXd { return Eigen::MatrixXd::Constant(1, 1, q); },
                    Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Constant(1, kReading));
  const auto filter = GetParam().make(walk);
  const std::vector<double> x0{0};
  ASSERT_EQ(filter->start(0, x0, Eigen::MatrixXd::Identity(1, 1)), Status::kOk);
  const double predicted = (q + std::sqrt(q * q + 4 * q * kReading)) / 2;
  EXPECT_NEAR(steady_gain(*filter, kStep, 200)(0), predicted / (predicted + kReading), 1e-9);
  Eigen::MatrixXd p;
  filter->covariance(p);
  EXPECT_NEAR(p(0, 0), predicted * kReading / (predicted + kReading), 1e-9 * kReading);
}

// First and second moments are those of a standard normal distribution; weights of the mean sum to one.
TEST(SigmaPoints, HaveExactMoments) {
  for (const SigmaSet set :
       {SigmaSet::kUnscented, SigmaSet::kSphericalSimplex, SigmaSet::kCubature})
    for (int n = 1; n <= 8; ++n)
      for (const double w0 : {0.0, 0.3, 0.9}) {
        const SigmaPoints s =
            sigma_points({.set = set, .alpha = 0.1 + w0, .kappa = 3 - w0, .w0 = w0}, n);
        EXPECT_EQ(s.c.rows(), n);
        EXPECT_EQ(s.c.cols(), set == SigmaSet::kUnscented          ? 2 * n + 1
                              : set == SigmaSet::kSphericalSimplex ? n + 2
                                                                   : 2 * n);
        const Eigen::MatrixXd second = s.c * s.spread.asDiagonal() * s.c.transpose();
        EXPECT_LT((s.c * s.mean).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_LT((second - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_NEAR(s.mean.sum(), 1, 1e-12);
        EXPECT_GE(s.spread.minCoeff(), 0);
      }
}

TEST(Filter, RefusesACovarianceThatIsNone) {
  auto system = test::two_sensors();
  Ekf filter(system, {});
  const std::vector<double> x0{0, 0};
  Eigen::MatrixXd p = kStart;
  p(0, 0) = -1;
  EXPECT_EQ(filter.start(0, x0, p), Status::kBadArgument);
  p = kStart;
  p(0, 1) = 0.1;  // not symmetric
  EXPECT_EQ(filter.start(0, x0, p), Status::kBadArgument);
  p(0, 1) = p(1, 0) = std::nan("");
  EXPECT_EQ(filter.start(0, x0, p), Status::kBadArgument);
  EXPECT_EQ(filter.start(0, x0, Eigen::MatrixXd::Identity(3, 3)), Status::kBadArgument);
  EXPECT_EQ(filter.start(0, x0, kStart), Status::kOk);
}

TEST(Filter, ReturnsAStatusForAReadingThatIsNone) {
  for (const Kind& kind : kinds()) {
    auto system = test::two_sensors();
    const auto filter = kind.make(system);
    const std::vector<double> x0{0, 0}, y{std::nan("")};
    const std::vector<int> sensor{0};
    ASSERT_EQ(filter->start(0, x0, kStart), Status::kOk);
    EXPECT_EQ(filter->step(0.1, sensor, y), Status::kNotFinite) << kind.name;
    EXPECT_EQ(filter->state()[0], 0) << kind.name;
  }
}

}  // namespace
}  // namespace panto
