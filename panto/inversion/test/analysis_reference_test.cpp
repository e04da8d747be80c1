// Poles, zeros, relative degrees and index of systems whose values are known in closed form (Drücker, 2022, Tables 3.3 and 5.1, Example 3.4).
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include "panto/inversion/analysis.hpp"
#include "panto/inversion/test/cases.hpp"

namespace panto {
namespace {

using inversion_test::Car;
using inversion_test::chain;
using Complex = std::complex<double>;

ServoAnalysis analysed(ServoSystem& system, const Path& path) {
  const Result<Rest> rest = rest_at(system, path, 0);
  EXPECT_TRUE(rest.ok()) << rest.diagnostics().text();
  return analyse(system, 0, *rest);
}

// Every expected value has a computed one within a share of it.
void expect_values(const std::vector<Complex>& computed, const std::vector<Complex>& expected,
                   double share) {
  ASSERT_EQ(computed.size(), expected.size());
  for (const Complex& e : expected) {
    double nearest = 1e300;
    for (const Complex& c : computed) nearest = std::min(nearest, std::abs(c - e));
    EXPECT_LE(nearest, share * std::max(1.0, std::abs(e))) << e;
  }
}

TEST(AnalysisReference, AChainOfDisksHasRelativeDegreeTwicePerDiskLessOnePerDamper) {
  for (int disks = 2; disks <= 5; ++disks)
    for (int dampers = 0; dampers < disks; ++dampers) {
      SCOPED_TRACE(testing::Message() << disks << " disks, " << dampers << " dampers");
      auto system = LinearServo::create(chain(disks, dampers, 0.1));
      const ServoAnalysis a = analysed(*system, inversion_test::turn());
      ASSERT_TRUE(a.regular);
      EXPECT_EQ(a.poles.size(), 2U * static_cast<size_t>(disks));
      EXPECT_EQ(a.total_relative_degree, 2 * disks - dampers);
      EXPECT_EQ(a.relative_degree, std::vector<int>{2 * disks - dampers});
      EXPECT_EQ(a.index, 2 * disks - dampers + 1);
      EXPECT_EQ(a.smoothness, 2 * disks - dampers);
      EXPECT_EQ(a.configuration, Configuration::kTangential);
      EXPECT_EQ(a.type, dampers == 0 ? InverseClass::kFlat : InverseClass::kMinimumPhase);
      // Each damper adds a zero at -k/d (4.3); of multiplicity n_d, hence round-off to the power 1/n_d.
      expect_values(a.zeros, std::vector<Complex>(static_cast<size_t>(dampers), -20.0),
                    std::pow(1e-12, 1.0 / std::max(1, dampers)));
      EXPECT_TRUE(a.has_second_order);
      EXPECT_EQ(a.zeros_second_order.size(), a.zeros.size());
    }
}

// Table 5.1.
TEST(AnalysisReference, MassOnCarHasTheZeroDynamicsOfItsSixCases) {
  struct Case {
    double degrees, damping;
    int relative_degree;
    InverseClass type;
    std::vector<Complex> zeros;
  };
  const auto quadratic = [](double m, double d, double k) {
    const Complex root = std::sqrt(Complex(d * d - 4 * k * m));
    return std::vector<Complex>{(-d + root) / (2 * m), (-d - root) / (2 * m)};
  };
  const double s15 = std::pow(std::sin(std::numbers::pi / 12), 2);
  auto damped = [&](double s2) {
    auto z = quadratic(3 * s2, 1, 3);
    z.emplace_back(-3.0);
    return z;
  };
  const std::vector<Case> cases{
      {90, 1, 3, InverseClass::kMinimumPhase, damped(1)},
      {90, 0, 4, InverseClass::kMarginal, quadratic(3, 0, 3)},
      {15, 1, 3, InverseClass::kMinimumPhase, damped(s15)},
      {15, 0, 4, InverseClass::kMarginal, quadratic(3 * s15, 0, 3)},
      {0, 1, 4, InverseClass::kMinimumPhase, {-3.0, -3.0}},
      {0, 0, 6, InverseClass::kFlat, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.degrees << " deg, damping " << c.damping);
    Car car;
    car.alpha = c.degrees * std::numbers::pi / 180;
    car.d1 = car.d2 = c.damping;
    auto system = LinearServo::create(car.matrices());
    const ServoAnalysis a = analysed(*system, inversion_test::car_line());
    ASSERT_TRUE(a.regular);
    EXPECT_EQ(a.configuration, Configuration::kTangential);
    EXPECT_EQ(a.total_relative_degree, c.relative_degree);
    EXPECT_EQ(a.relative_degree.front(), c.relative_degree);
    EXPECT_EQ(a.index, c.relative_degree + 1);
    EXPECT_EQ(a.type, c.type);
    // A double zero is known to the square root of round-off.
    expect_values(a.zeros, c.zeros, c.degrees == 0 ? 1e-6 : 1e-9);
    expect_values(a.zeros_second_order, c.zeros, c.degrees == 0 ? 1e-6 : 1e-9);
  }
}

// A11: ±3.9 i at 15°, and real zeros below 9.6°.
TEST(AnalysisReference, MassOnCarChangesFromRealToComplexZerosAtItsAngle) {
  Car car;
  auto undamped = LinearServo::create(car.matrices());
  const ServoAnalysis a = analysed(*undamped, inversion_test::car_line());
  EXPECT_NEAR(std::abs(a.zeros.front().imag()), 1 / std::sin(std::numbers::pi / 12), 1e-9);
  const auto complex_pairs = [](double alpha) {
    Car c;
    c.alpha = alpha;
    c.d1 = c.d2 = 1;
    auto system = LinearServo::create(c.matrices());
    const ServoAnalysis at = analysed(*system, inversion_test::car_line());
    return std::any_of(at.zeros.begin(), at.zeros.end(),
                       [](const Complex& s) { return std::abs(s.imag()) > 1e-6; });
  };
  const double change = std::asin(1 / (2 * std::sqrt(9.0)));  // d2 / (2 sqrt(k2 m3)): 9.594°
  EXPECT_NEAR(change * 180 / std::numbers::pi, 9.594, 1e-3);
  EXPECT_FALSE(complex_pairs(change * 0.999));
  EXPECT_TRUE(complex_pairs(change * 1.001));
}

// A24, Example 3.4: the second of three disks is moved as wanted, φ_2 = u, the output is the speed of the third. u follows from ż: relative degree 1. The
// index is not 2: φ_2 follows from ż and its speed from z̈, which makes 3 for motion and inputs, the thesis' number; the moment λ that moves the disk
// follows from its acceleration, the third derivative, which makes 4 for all unknowns.
TEST(AnalysisReference, TheIndexIsNotAlwaysOneAboveTheRelativeDegree) {
  LinearServoMatrices m = chain(3);
  m.B.setZero();
  m.C = Eigen::RowVector3d(0, 1, 0);
  m.C_u = Eigen::MatrixXd::Constant(1, 1, -1);
  m.output_levels = {Level::kVelocity};
  auto system = LinearServo::create(m);
  ASSERT_TRUE(system.ok());
  const ServoAnalysis a = analysed(*system, inversion_test::turn());
  ASSERT_TRUE(a.regular);
  EXPECT_EQ(a.relative_degree, std::vector<int>{1});
  EXPECT_EQ(a.total_relative_degree, 1);
  EXPECT_EQ(a.motion_index, 3);
  EXPECT_EQ(a.plant_index, 3);
  EXPECT_EQ(a.index, 4);
  // Without inertia of the disk that is moved, λ needs no acceleration: index 3.
  m.M(1, 1) = 0;
  auto light = LinearServo::create(m);
  const ServoAnalysis b = analysed(*light, inversion_test::turn());
  EXPECT_EQ(b.relative_degree, std::vector<int>{1});
  EXPECT_EQ(b.index, 3);
  EXPECT_EQ(b.motion_index, 3);
}

// A23, Table 6.2: free section 4 by torque and 3 by its rate, section normal to the axis 2 and 1. The zeros do not depend on torque or rate.
TEST(AnalysisReference, AFlexibleLinkHasRelativeDegreesFourToOne) {
  for (int elements = 1; elements <= 3; ++elements)
    for (const bool normal : {false, true}) {
      std::vector<Complex> zeros;
      for (const bool rate : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << elements << " elements, normal " << normal << ", rate " << rate);
        auto system = LinearServo::create(inversion_test::ancf_arm(elements, normal, rate));
        ASSERT_TRUE(system.ok()) << system.diagnostics().text();
        const ServoAnalysis a = analysed(*system, inversion_test::turn());
        ASSERT_TRUE(a.regular);
        EXPECT_EQ(a.relative_degree, std::vector<int>{4 - (normal ? 2 : 0) - (rate ? 1 : 0)});
        EXPECT_EQ(a.type, InverseClass::kNonMinimumPhase);
        if (!rate)
          zeros = a.zeros;
        else
          expect_values(a.zeros, zeros, 1e-4);  // ill-conditioned; largest about 1e4 1/s
      }
    }
}
// What remains of the relative degree 1: rate of the tip per rate of the drive, at once. Recheck 0.10, 0.018, 0.0034.
TEST(AnalysisReference, TheTipAnswersADriveAtOnceLessAndLessWithMoreElements) {
  const std::array<double, 3> recheck{0.10, 0.018, 0.0034};
  for (int elements = 1; elements <= 3; ++elements) {
    const LinearServoMatrices m = inversion_test::ancf_arm(elements, true, true);
    const Eigen::Index n = m.M.rows(), rows = m.C.rows();
    // A jump of the speeds: M Δv = Cᵀ Λ, C Δv + C_u = 0.
    Eigen::MatrixXd saddle = Eigen::MatrixXd::Zero(n + rows, n + rows);
    saddle << m.M, -m.C.transpose(), m.C, Eigen::MatrixXd::Zero(rows, rows);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(n + rows);
    right.tail(rows) = -m.C_u;
    const Eigen::VectorXd jump = saddle.fullPivLu().solve(right).head(n);
    const double expected = recheck[static_cast<size_t>(elements - 1)];  // two digits
    EXPECT_NEAR(std::abs(m.H.row(0).dot(jump)), expected, 0.05 * expected);
  }
}

TEST(AnalysisReference, TheReducedCableRobotIsFlatInBothForms) {
  FunctionServo<inversion_test::CableOde> ode;
  auto dae = inversion_test::cable_dae();
  for (ServoSystem* system : {static_cast<ServoSystem*>(&ode), static_cast<ServoSystem*>(&dae)}) {
    const ServoAnalysis a = analysed(*system, inversion_test::cable_line());
    ASSERT_TRUE(a.regular);
    EXPECT_EQ(a.poles.size(), 6U);
    EXPECT_TRUE(a.zeros.empty());
    EXPECT_EQ(a.type, InverseClass::kFlat);
    EXPECT_EQ(a.total_relative_degree, 6);
    EXPECT_EQ(a.relative_degree, (std::vector<int>{4, 2}));
    EXPECT_EQ(a.index, 5);
    EXPECT_EQ(a.motion_index, 5);
    EXPECT_EQ(a.reachable, 1);
    EXPECT_EQ(a.configuration, Configuration::kMixed);
  }
}

TEST(AnalysisReference, AnOutputThatNoInputReachesHasNoInverse) {
  LinearServoMatrices m = chain(2);
  m.K.setZero();
  auto system = LinearServo::create(m);
  Rest rest;
  rest.y.setZero(2);
  rest.lambda.resize(0);
  rest.u.setZero(1);
  const ServoAnalysis a = analyse(*system, 0, rest);
  EXPECT_FALSE(a.regular);
  EXPECT_EQ(a.type, InverseClass::kUndetermined);
  const Diagnostics d = judge(a, inversion_test::turn());
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(d.items().front().id, 1032);
}

// A5: the matrix of implicit Euler in (y, v, u) grows ill-conditioned like Δt^-index; without the coordinate that is the output like Δt^-(index - 2).
// Recheck of the thesis' Figure 4.3 at 10 ms: 7e7 and 6e4 for two disks, 4e10 and 4e7 for three.
TEST(AnalysisReference, ConditionNumbersGrowWithTheIndex) {
  const auto condition = [](int disks, double dt, bool substituted) {
    auto system = LinearServo::create(chain(disks));
    Rest rest;
    rest.y.setZero(disks);
    rest.lambda.resize(0);
    rest.u.setZero(1);
    const ServoPencil p = servo_pencil(*system, 0, rest);
    Eigen::MatrixXd j = p.E / dt - p.A;
    if (substituted) {
      std::vector<int> rows, columns;
      for (int i = 0; i < j.rows(); ++i) {
        if (i != disks - 1 && i != 2 * disks) rows.push_back(i);
        if (i != disks - 1 && i != 2 * disks - 1) columns.push_back(i);
      }
      j = j(rows, columns).eval();
    }
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(j).singularValues();
    return values[0] / values[values.size() - 1];
  };
  const double table[2][2] = {{7e7, 6e4}, {4e10, 4e7}};
  for (int disks = 2; disks <= 3; ++disks)
    for (const bool substituted : {false, true}) {
      const int index = 2 * disks + 1 - (substituted ? 2 : 0);
      const double at10 = condition(disks, 1e-2, substituted);
      EXPECT_NEAR(std::log10(condition(disks, 2e-3, substituted) / at10) / std::log10(5.0), index,
                  0.2);
      const double expected = table[disks - 2][substituted ? 1 : 0];  // one digit
      EXPECT_NEAR(at10, expected, 0.2 * expected);
    }
}

// The same of the projected form (T 3.72)–(3.75), in (y, v, u): 1.2e5 and 8e7 at 10 ms, like Δt^-(index - 2).
TEST(AnalysisReference, ConditionNumbersOfTheProjectedFormGrowWithItsIndex) {
  const auto condition = [](int disks, double dt) {
    const LinearServoMatrices m = chain(disks);
    const Eigen::MatrixXd P = Eigen::MatrixXd::Identity(disks, disks - 1), HM = m.H * m.M.inverse(),
                          I = Eigen::MatrixXd::Identity(disks, disks);
    Eigen::MatrixXd j = Eigen::MatrixXd::Zero(2 * disks + 1, 2 * disks + 1);
    j.topLeftCorner(disks, disks) = I / dt;
    j.block(0, disks, disks, disks) = -I;
    j.block(disks, 0, disks - 1, disks) = P.transpose() * m.K;
    j.block(disks, disks, disks - 1, disks) = P.transpose() * m.M / dt;
    j.block(disks, 2 * disks, disks - 1, 1) = -P.transpose() * m.B;
    j.block(2 * disks - 1, 0, 1, disks) = -HM * m.K;
    j.block(2 * disks - 1, 2 * disks, 1, 1) = HM * m.B;
    j.bottomLeftCorner(1, disks) = m.H;
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(j).singularValues();
    return values[0] / values[values.size() - 1];
  };
  const std::array<double, 2> table{1.2e5, 8e7};
  for (int disks = 2; disks <= 3; ++disks) {
    const double at10 = condition(disks, 1e-2), expected = table[static_cast<size_t>(disks - 2)];
    EXPECT_NEAR(std::log10(condition(disks, 2e-3) / at10) / std::log10(5.0), 2 * disks - 1, 0.2);
    EXPECT_NEAR(at10, expected, 0.2 * expected);  // one digit
  }
}

TEST(AnalysisReference, WarnsOfAPathThatIsNotSmoothEnough) {
  auto system = LinearServo::create(chain(4));
  const ServoAnalysis a = analysed(*system, inversion_test::turn());
  const Diagnostics d = judge(a, inversion_test::turn(7));
  EXPECT_TRUE(d.ok());
  ASSERT_EQ(d.items().size(), 1U);
  EXPECT_EQ(d.items().front().id, 1033);
  EXPECT_NE(d.items().front().message.find("C7, C8 is needed"), std::string::npos);
  EXPECT_TRUE(judge(a, inversion_test::turn(8)).items().empty());
}

}  // namespace
}  // namespace panto
