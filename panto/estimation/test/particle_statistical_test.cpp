// The particle filter beside Kalman's on a linear system, where that one is exact.
#include <gtest/gtest.h>

#include "panto/estimation/particle.hpp"
#include "panto/estimation/test/linear_system.hpp"

namespace panto {
namespace {

using test::LinearStep;
using test::Textbook;

// Over a run: deviation of the mean in standard deviations, on average and at worst, relative error of the variances, error of the normalised
// innovations, and the least number of particles that counted.
struct Distance {
  double mean = 0, worst_mean = 0, variance = 0, nis = 0, effective = 1e9;
};

Distance distance(int particles, double jitter, std::uint64_t seed) {
  auto system = test::two_sensors();
  const Eigen::MatrixXd p0 = Eigen::Vector2d(0.5, 0.3).asDiagonal();
  ParticleFilter filter(system, {}, {particles, seed, jitter});
  const std::vector<double> x0{0, 0};
  EXPECT_EQ(filter.start(0, x0, p0), Status::kOk);
  Textbook book;
  book.start(Eigen::Vector2d::Zero(), p0);
  Distance d;
  Eigen::MatrixXd p(2, 2);
  const auto run = test::linear_run(system, 60, 5);
  for (const LinearStep& s : run) {
    EXPECT_EQ(filter.step(s.dt, s.sensors, s.y), Status::kOk);
    book.step(system, s);
    filter.covariance(p);
    d.effective = std::min(d.effective, filter.effective());
    for (int i = 0; i < 2; ++i) {
      const double off = std::abs(filter.state()[static_cast<size_t>(i)] - book.x.back()(i)) /
                         std::sqrt(book.p.back()(i, i));
      d.mean += off / 120;
      d.worst_mean = std::max(d.worst_mean, off);
      d.variance += std::abs(p(i, i) / book.p.back()(i, i) - 1) / 120;
    }
    d.nis += std::abs(filter.innovations().nis - book.nis) / 60;
  }
  return d;
}

// N particles of which at least half count: errors of a mean are about √(2/N) standard deviations, of a variance 2/√N; the factor 3 covers what
// earlier steps have left. After outliers fewer count.
TEST(ParticleFilter, AgreesWithKalmansFilterOnALinearSystem) {
  const int n = 20000;
  for (const double jitter : {0.0, 0.05}) {
    const Distance d = distance(n, jitter, 3);
    EXPECT_LT(d.mean, 3 * std::sqrt(2.0 / n)) << jitter;
    EXPECT_LT(d.worst_mean, 4 / std::sqrt(d.effective)) << jitter;
    EXPECT_LT(d.variance, 3 * 2 / std::sqrt(n)) << jitter;
    EXPECT_LT(d.nis, 0.1) << jitter;
  }
}

// A hundred times the particles, a tenth of the error.
TEST(ParticleFilter, ConvergesAsTheRootOfTheNumberOfParticles) {
  double few = 0, many = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    few += distance(200, 0, seed).mean;
    many += distance(20000, 0, seed).mean;
  }
  EXPECT_GT(few / many, 6);
  EXPECT_LT(few / many, 17);
}

TEST(ParticleFilter, GivesTheSameRunForTheSameSeed) {
  EXPECT_EQ(distance(500, 0.05, 7).mean, distance(500, 0.05, 7).mean);
  EXPECT_NE(distance(500, 0.05, 7).mean, distance(500, 0.05, 8).mean);
}

}  // namespace
}  // namespace panto
