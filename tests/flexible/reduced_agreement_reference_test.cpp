// The reduced manipulator beside the full one in the band of the kept modes, 0 to 180 Hz: frequency responses at the reference, and a motion over ±0.5 rad.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "tests/flexible/reduced_case.hpp"

namespace panto {
namespace {

using test::ReducedCase;
using test::view;

const std::vector<std::string> kOutputs{"q1",       "q2",       "q5",       "AD.n2.ux", "AD.n2.uy",
                                        "BC.n3.ux", "BC.n3.uy", "EF.n2.ux", "EF.n2.uy"};

int coordinate(const Model& m, const std::string& name) {
  return static_cast<int>(std::find(m.coordinate_names.begin(), m.coordinate_names.end(), name) -
                          m.coordinate_names.begin());
}

// Accelerations of kOutputs per torque of the three motors at a frequency.
class Response {
 public:
  Response(const Model& model, Workspace& ws, const Eigen::VectorXd& q) : model_(model) {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv);
    Point x;
    x.q = view(q);
    x.v = x.a = view(zero);
    Blocks blocks;
    blocks.u = true;
    Tangent t;
    ws.tangent(x, blocks, t);
    ws.choose_partition(0, view(q));
    ws.null_space(r_);
    k_ = r_.transpose() * t.r_q * r_;
    c_ = r_.transpose() * t.r_v * r_;
    m_ = r_.transpose() * t.r_a * r_;
    b_ = -r_.transpose() * t.r_u;
  }
  [[nodiscard]] Eigen::MatrixXcd at(double hz) const {
    const std::complex<double> s(0, 2 * std::numbers::pi * hz);
    const Eigen::MatrixXcd a = s * s * m_.cast<std::complex<double>>() +
                               s * c_.cast<std::complex<double>>() +
                               k_.cast<std::complex<double>>();
    const Eigen::MatrixXcd x =
        s * s *
        (r_.cast<std::complex<double>>() * a.partialPivLu().solve(b_.cast<std::complex<double>>()));
    Eigen::MatrixXcd y(kOutputs.size(), x.cols());
    for (size_t i = 0; i < kOutputs.size(); ++i)
      y.row(static_cast<Eigen::Index>(i)) = x.row(coordinate(model_, kOutputs[i]));
    return y;
  }

  // Undamped [Hz], ascending.
  [[nodiscard]] std::vector<double> frequencies() const {
    const Eigen::MatrixXd k = 0.5 * (k_ + k_.transpose()), m = 0.5 * (m_ + m_.transpose());
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(k, m,
                                                                           Eigen::EigenvaluesOnly);
    std::vector<double> out;
    for (const double e : solver.eigenvalues())
      out.push_back(std::sqrt(std::max(0.0, e)) / (2 * std::numbers::pi));
    return out;
  }

 private:
  const Model& model_;
  Eigen::MatrixXd r_, k_, c_, m_, b_;
};

// The measure, chosen before the comparison: of each acceleration, by the motor that moves it most, the correlation of both responses over the band
// (FRAC) and the frequencies of the six elastic modes in it. Pointwise differences beside a resonance tell of the frequencies alone: a mode that is off by
// a share e and damped by ζ differs there by e / ζ of its peak.
struct Agreement {
  double frac = 1;       // least
  double pointwise = 0;  // RMS of the difference over the RMS of the response, largest
  double frequency = 0;  // largest error, share
};
std::vector<double> frequencies(const Model& model, Workspace& ws, const Eigen::VectorXd& q) {
  const Response r(model, ws, q);
  std::vector<double> out = r.frequencies();
  out.erase(out.begin(), out.begin() + 3);  // the motions of the links
  out.resize(6);
  return out;
}
Agreement agreement(ReducedCase& c, const Eigen::VectorXd& q) {
  const Response full(*c.full, *c.full_ws, c.full_q(q)), reduced(*c.model, *c.ws, q);
  Eigen::MatrixXd error = Eigen::MatrixXd::Zero(9, 3), size = error, other = error;
  Eigen::MatrixXcd product = Eigen::MatrixXcd::Zero(9, 3);
  for (double hz = 1; hz <= 180; hz += 1) {
    const Eigen::MatrixXcd f = full.at(hz), g = reduced.at(hz);
    error += (f - g).cwiseAbs2();
    size += f.cwiseAbs2();
    other += g.cwiseAbs2();
    product += f.conjugate().cwiseProduct(g);
  }
  Agreement out;
  for (Eigen::Index i = 0; i < error.rows(); ++i) {
    Eigen::Index motor = 0;
    size.row(i).maxCoeff(&motor);
    out.frac =
        std::min(out.frac, std::norm(product(i, motor)) / (size(i, motor) * other(i, motor)));
    out.pointwise = std::max(out.pointwise, std::sqrt(error(i, motor) / size(i, motor)));
  }
  const auto f = frequencies(*c.full, *c.full_ws, c.full_q(q)), g = frequencies(*c.model, *c.ws, q);
  for (size_t i = 0; i < f.size(); ++i)
    out.frequency = std::max(out.frequency, std::abs(g[i] / f[i] - 1));
  return out;
}
void record(const std::string& name, const Agreement& a) {
  const std::string text = "FRAC " + std::to_string(a.frac) + ", pointwise " +
                           std::to_string(a.pointwise) + ", frequency " +
                           std::to_string(a.frequency);
  testing::Test::RecordProperty(name, text);
  std::cout << name << ": " << text << "\n";
}

TEST(ReducedAgreement, FrequencyResponsesAgreeUpTo180HertzAtTheReference) {
  ReducedCase c("manipulator");
  const Agreement a = agreement(c, test::manipulator_pose(c, 0, 0));
  record("reference", a);
  EXPECT_GT(a.frac, 0.99);
  EXPECT_LT(a.frequency,
            0.015);  // criterion of the thesis' reduction at q*; 1.03 % with these four modes
  // The mode at 155 Hz is 1 % off and damped by 4 %: a quarter of its peak.
  EXPECT_LT(a.pointwise, 0.25);
}

TEST(ReducedAgreement, FrequencyResponsesAgreeOverHalfARadian) {
  Agreement kept, anew;
  for (const double q1 : {-0.5, 0.5})
    for (const double q2 : {-0.5, 0.5}) {
      ReducedCase c("manipulator");
      Eigen::VectorXd q = test::manipulator_pose(c, q1, q2), v = Eigen::VectorXd::Zero(c.model->nv);
      const auto worse = [](Agreement& all, const Agreement& one) {
        all.frac = std::min(all.frac, one.frac);
        all.pointwise = std::max(all.pointwise, one.pointwise);
        all.frequency = std::max(all.frequency, one.frequency);
      };
      const Agreement here = agreement(c, q);
      record("kept modes at " + std::to_string(q1) + ", " + std::to_string(q2), here);
      worse(kept, here);
      double jump = 0;
      ASSERT_TRUE(c.ws->renew_reduction(view(q), view(v), jump));
      const Agreement there = agreement(c, q);
      record("modes of there at " + std::to_string(q1) + ", " + std::to_string(q2), there);
      worse(anew, there);
    }
  // Criterion of the thesis' reduction within half a radian.
  EXPECT_LT(kept.frequency, 0.05);
  EXPECT_GT(kept.frac, 0.99);  // the turned modes of the reference: 0.994
  // With modes of there it is that of the reference.
  EXPECT_LT(anew.frequency, 0.015);
  EXPECT_GT(anew.frac, 0.99);
}

TEST(ReducedAgreement, MotionsOverHalfARadianAgree) {
  std::string text = test::reduced_text("manipulator");
  const auto input = [&](const std::string& motor, const std::string& signal) {
    const std::string head = "name = \"" + motor + "\"\ntype = \"torque\"\n";
    text.replace(text.find(head), head.size(), head + "input = \"" + signal + "\"\n");
  };
  // Half a radian out, each link its own way, and a tremble within the band.
  input("motor1", "-16*sin(2*pi*t/0.6) + 0.5*sin(2*pi*60*t)");
  input("motor2", "38*sin(2*pi*t/0.6) + 2*sin(2*pi*45*t)");
  ReducedCase c(text, 0);
  const auto run = [](const Model& m) {
    SimulationOptions o;
    o.until = 0.6;
    o.sample = 5e-4;
    o.reduction_limit = 0;  // the modes of the reference all the way
    auto r = simulate(m, nominal(m), o);
    EXPECT_TRUE(r.ok()) << r.diagnostics().text();
    return r.ok() ? *std::move(r) : panto::Run{};
  };
  const panto::Run full = run(*c.full), reduced = run(*c.model);
  for (const std::string& name : kOutputs) {
    const auto &f = full.q[static_cast<size_t>(coordinate(*c.full, name))],
               &g = reduced.q[static_cast<size_t>(coordinate(*c.model, name))];
    double error = 0, size = 0;
    for (size_t i = 0; i < f.size(); ++i) {
      error += std::pow(f[i] - g[i], 2);
      size += std::pow(f[i] - (name[0] == 'q' ? f[0] : 0.0), 2);
    }
    RecordProperty(name, std::to_string(std::sqrt(error / size)));
    // What the interior modes that are left out would move: 0.1 % of the RMS was found, of the tip.
    EXPECT_LT(std::sqrt(error / size), 0.005) << name;
  }
  const auto& q1 = full.q[0];
  const auto& q2 = full.q[1];
  EXPECT_LT(q1.back() - q1.front(), -0.4);
  EXPECT_GT(q2.back() - q2.front(), 0.4);
}

}  // namespace
}  // namespace panto
