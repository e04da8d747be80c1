// ANCF beams in models against closed forms, the elastica, and each other.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <fstream>
#include <numbers>
#include <regex>

#include "panto/integrate/simulate.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "tests/linear/linear_case.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

using test::linearised;
using test::model_of;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kLength = 0.8, kHeight = 0.01, kYoung = 70e9, kDensity = 2700;

double bending_stiffness() { return kYoung * std::pow(kHeight, 4) / 12; }
double mass_per_length() { return kDensity * kHeight * kHeight; }

std::string beam(const char* element, int elements, const std::string& more = "") {
  return fmt::format(
      "space = \"planar\"\n[[body]]\nname = \"b\"\nancf = {{ element = \"{}\", length = {}, "
      "rectangle "
      "= [{}, {}], E = {}, density = {}, elements = {}{} }}\n",
      element, kLength, kHeight, kHeight, kYoung, kDensity, elements, more);
}
std::string joint(const char* type, const std::string& parent = "\"ground\"") {
  return fmt::format("[[joint]]\nname = \"j\"\ntype = \"{}\"\nparent = {}\nchild = \"b\"\n", type,
                     parent);
}

// Bending frequency of (βL)², in Hz.
double bending(double beta) {
  return beta * beta / (kLength * kLength) * std::sqrt(bending_stiffness() / mass_per_length()) /
         kTurn;
}

std::vector<double> frequencies(const std::string& text) {
  return linearised(model_of(text), Operation::kHere).frequencies();
}

// Cubic elements with consistent mass miss a bending frequency by (β h)⁴ / 1440.
TEST(AncfCable, BendingFrequenciesConvergeAtFourthOrder) {
  const std::tuple<const char*, size_t, double> cases[] = {{"weld", 0, 1.8751040687119611},
                                                           {"revolute", 1, 3.9266023120479191},
                                                           {"free", 3, 4.7300407448627040}};
  for (const auto& [type, mode, beta] : cases) {
    const double exact = bending(beta),
                 coarse = frequencies(beam("cable", 4) + joint(type)).at(mode) / exact - 1,
                 fine = frequencies(beam("cable", 8) + joint(type)).at(mode) / exact - 1;
    EXPECT_NEAR(fine / (std::pow(beta / 8, 4) / 1440), 1, 0.05) << type;
    EXPECT_NEAR(std::log2(coarse / fine), 4, 0.3) << type;
  }
}

// Against Euler and Bernoulli the slender beam with shear misses by shear and rotary inertia, some (β h/L)², and by its mesh.
TEST(AncfShear, FrequenciesTendToThoseOfASlenderBeam) {
  for (const auto& [type, mode, beta] :
       {std::tuple{"weld", 0u, 1.8751040687119611}, {"revolute", 1u, 3.9266023120479191}}) {
    const double exact = bending(beta);
    const double coarse = frequencies(beam("shear", 4) + joint(type)).at(mode) / exact - 1,
                 fine = frequencies(beam("shear", 16) + joint(type)).at(mode) / exact - 1;
    EXPECT_LT(std::abs(fine), 0.005) << type;
    EXPECT_LT(std::abs(fine), std::abs(coarse)) << type;
  }
}

// A pin on the ground away from the start, at an angle: the same frequencies, at the place that was asked for.
TEST(Ancf, AJointPlacesTheBeam) {
  const std::string text =
      beam("cable", 4, ", angle = \"20 deg\"") +
      "[[joint]]\nname = \"j\"\ntype = \"revolute\"\nparent = { body = \"ground\", at = [1, "
      "2], angle = \"30 deg\" }\nchild = \"b.n3\"\n"
      "[[output]]\nname = \"x\"\ntype = \"position\"\nof = \"b.end\"\naxis = \"x\"\n"
      "[[output]]\nname = \"y\"\ntype = \"position\"\nof = \"b.end\"\naxis = \"y\"\n"
      "[[output]]\nname = \"angle\"\ntype = \"coordinate\"\nof = \"j\"\n";
  const auto model = model_of(text);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto workspace = Workspace::create(*model, nominal(*model));
  const auto state = assemble(*workspace);
  ASSERT_TRUE(state.ok()) << state.diagnostics().text();
  std::vector<double> y(3);
  const int outputs[] = {0, 1, 2};
  Point at;
  at.q = view(state->q);
  at.v = view(state->v);
  workspace->readings(at, outputs, y);
  const double angle = 50 * std::numbers::pi / 180;
  EXPECT_NEAR(y[0], 1 + kLength / 2 * std::cos(angle), 1e-14);
  EXPECT_NEAR(y[1], 2 + kLength / 2 * std::sin(angle), 1e-14);
  EXPECT_NEAR(y[2], 20 * std::numbers::pi / 180, 1e-14);  // against the place on the ground
}

// Tip of a cantilever that a dead force F across its end bends far and stretches: EI θ″ = −F (1 + ε) cos θ with ε = F sin θ / EA, by unstretched length. Its
// first integral gives θ′; the angle at the tip is found by shooting, integrals by Simpson's rule.
struct Tip {
  double x, y;
};
Tip elastica(double force, double length, double bending_stiffness, double axial_stiffness) {
  const double k = force / bending_stiffness;
  const auto run = [&](double tip_angle, Tip& out) {
    // From the tip: s(θ) = ∫ dθ / √(2 k (sin θ_L − sin θ)), singular at θ_L; θ = θ_L − w² removes it.
    const int n = 20000;
    double length_found = 0;
    out = {0, 0};
    for (int i = 0; i <= n; ++i) {
      const double w = std::sqrt(tip_angle) * i / n, theta = tip_angle - w * w,
                   end = std::sin(tip_angle), here = std::sin(theta),
                   slack = force / axial_stiffness,
                   drop = (end - here) * (1 + 0.5 * slack * (end + here)),
                   f = i == 0 ? 2 / std::sqrt(2 * k * std::cos(tip_angle) * (1 + slack * end))
                              : 2 * w / std::sqrt(2 * k * drop),
                   weight = (i == 0 || i == n ? 1.0
                             : i % 2          ? 4.0
                                              : 2.0) *
                            std::sqrt(tip_angle) / n / 3,
                   stretch = 1 + force * std::sin(theta) / axial_stiffness;
      length_found += weight * f;
      out.x += weight * f * std::cos(theta) * stretch;
      out.y += weight * f * std::sin(theta) * stretch;
    }
    return length_found;
  };
  double low = 1e-6, high = std::numbers::pi / 2 - 1e-6;
  Tip tip{};
  for (int i = 0; i < 60; ++i) {
    const double mid = 0.5 * (low + high);
    (run(mid, tip) < length ? low : high) = mid;
  }
  return tip;
}

// Distance of the computed tip of the zoo's cantilever with so many elements from that of the elastica.
double miss(int elements) {
  std::ifstream in(PANTO_SOURCE_DIR "/models/ancf_cantilever/model.toml");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = std::regex_replace(text, std::regex("elements = [0-9]+"),
                            fmt::format("elements = {}", elements));
  const auto model = model_of(text);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  const auto workspace = Workspace::create(*model, nominal(*model));
  const auto found = equilibrium(*workspace, 0, {});
  if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
  std::vector<double> y(2);
  const int outputs[] = {0, 1};
  Point at;
  at.q = view(found->q);
  const std::vector<double> still(static_cast<size_t>(model->nv), 0.0);
  at.v = still;
  workspace->readings(at, outputs, y);
  const double L = 2, E = 2.07e11, A = 0.01, EI = E * 0.1 * 0.1 * 0.1 * 0.1 / 12;
  const Tip exact = elastica(3 * EI / (L * L), L, EI, E * A);
  return std::hypot(y[0] - exact.x + L, y[1] - exact.y);
}

// The tip moves by 1.3 m.
TEST(AncfCantilever, BendsAsTheElastica) {
  const double coarse = miss(8), fine = miss(16);
  EXPECT_LT(coarse, 1e-4);
  EXPECT_LT(fine, 2e-6);
  EXPECT_GT(std::log2(coarse / fine), 4);
}

// Flap frequencies of a uniform cantilever on a hub without size, all of EI, ρA, L one, by Ritz's method with powers x², x³, …:
// K = ∫ φ″φ″ + ½ Ω² (1 − x²) φ′φ′. Across the plane of rotation; in it, Ω² less (Southwell).
Eigen::VectorXd flap_frequencies(double rate) {
  const int n = 9;
  Eigen::MatrixXd k(n, n), m(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double p = i + 2, q = j + 2, s = p + q;
      m(i, j) = 1 / (s + 1);
      k(i, j) = p * (p - 1) * q * (q - 1) / (s - 3) +
                0.5 * rate * rate * p * q * (1 / (s - 1) - 1 / (s + 1));
    }
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(k, m).eigenvalues().cwiseSqrt();
}

// Eight elements miss the second frequency by (β h)⁴ / 1440 = 8.2e-5 at rest and by less when tension rules, the stretch of the blade by 1e-6.
TEST(RotatingCantilever, HasTheFrequenciesOfRitz) {
  for (const double rate : {0.0, 2.0, 5.0, 10.0}) {
    const Eigen::VectorXd flap = flap_frequencies(rate);
    for (const bool across : {true, false}) {
      const auto model = load("rotating_cantilever",
                              std::vector<Override>{{"Omega", fmt::format("{}", rate)},
                                                    {"setting", across ? "90 deg" : "0 deg"}});
      ASSERT_TRUE(model.ok()) << model.diagnostics().text();
      const auto hz = linearised(model, Operation::kEquilibrium).frequencies();
      for (int k = 0; k < 2; ++k) {
        const double found = std::hypot(kTurn * hz.at(static_cast<size_t>(k)), across ? 0 : rate);
        EXPECT_NEAR(found, flap(k), 1e-4 * flap(k)) << rate << across;
      }
    }
  }
}

double drift(const std::string& name, const char* integrator, double dt, double until) {
  const auto model = load(name);
  EXPECT_TRUE(model.ok()) << model.diagnostics().text();
  SimulationOptions options;
  options.until = until;
  options.integrator = integrator;
  options.dt = dt;
  options.tol = 1e-9;
  const auto run = simulate(*model, nominal(*model), options);
  EXPECT_TRUE(run.ok()) << run.diagnostics().text();
  return run.ok() ? run->energy_max_drift : 1;
}

TEST(FlexiblePendulum, KeepsItsEnergy) {
  // Falls by m g L/2 = 4.9 J.
  EXPECT_LT(drift("flexible_pendulum", "cvode", 0, 1), 1e-5);
}

// Tip and middle of the zoo's pendulum with so many elements, after half a second; by radau5 with 1 ms, whose error is 1e-7 m there.
std::vector<double> swung(int elements) {
  std::ifstream in(PANTO_SOURCE_DIR "/models/flexible_pendulum/model.toml");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = std::regex_replace(text, std::regex("elements = [0-9]+"),
                            fmt::format("elements = {}", elements));
  text = std::regex_replace(text, std::regex("beam\\.n[0-9]+"),
                            fmt::format("beam.n{}", elements / 2 + 1));
  const auto model = model_of(text);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  SimulationOptions options;
  options.at = {0.5};
  options.until = 0.5;
  options.integrator = "radau5";
  options.dt = 1e-3;
  const auto run = simulate(*model, nominal(*model), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  std::vector<double> found;
  found.reserve(4);
  for (int i = 0; i < 4; ++i) found.push_back(run->outputs[static_cast<size_t>(i)].back());
  return found;
}

// The eight elements of the zoo against 64: what the tip misses falls with the fourth power of the length of the elements. It has moved by 1.5 m.
TEST(FlexiblePendulum, SwingsAsOnAFineMesh) {
  const std::vector<double> exact = swung(64);
  const auto miss = [&](int elements) {
    const std::vector<double> found = swung(elements);
    double largest = 0;
    for (size_t i = 0; i < found.size(); ++i)
      largest = std::max(largest, std::abs(found[i] - exact[i]));
    return largest;
  };
  const double coarse = miss(8), fine = miss(16);
  EXPECT_LT(coarse, 4e-5);
  EXPECT_LT(fine, 3e-6);
  EXPECT_GT(std::log2(coarse / fine), 3.7);
  // Printed in the model's README, from 128 elements and steps of 0.5 ms.
  const double written[] = {-0.0992334, -0.9960160, -0.0352990, -0.4997074};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(exact[i], written[i], 3e-7) << i;
}

// Drives and loops on ANCF nodes do work that the balance accounts for.
TEST(FlexibleTwoLink, BalancesTheWorkOfItsDrives) {
  EXPECT_LT(drift("flexible_two_link", "generalised_alpha", 1e-3, 1), 1e-3);
}

}  // namespace
}  // namespace panto
