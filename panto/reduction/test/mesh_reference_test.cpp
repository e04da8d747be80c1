// Structures of the mesher against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/reduction/test/cases.hpp"

namespace panto {
namespace {

double hz(double omega2) { return std::sqrt(omega2) / (2 * std::numbers::pi); }

TEST(Mesh, ARodInPlaneStressHasItsLongitudinalFrequency) {
  // Free rod, ν = 0: f = c/(2L), element error (kh)²/24 with k = π/L.
  Plate p;
  p.x = equal_steps(0, 1, 50);
  p.y = {0, 1e-3};
  p.material = {70e9, 0, 2700};
  p.thickness = 0.01;
  const LinearSystem rod = *plate(p);
  const double exact = std::sqrt(70e9 / 2700) / 2;
  const FullModes modes = *full_modes(rod, 0.95 * exact, 1.05 * exact, 3);
  // Bending modes of the slender strip may lie near; one of them is the rod's.
  double best = 1;
  for (const double w2 : modes.omega2) best = std::min(best, std::abs(hz(w2) / exact - 1));
  EXPECT_NEAR(best, std::pow(std::numbers::pi / 50, 2) / 24, 2e-6);
}

TEST(Mesh, ABarOfBricksHasItsLongitudinalFrequency) {
  Prism p;
  p.sections = {{0, 0.01, 0.01}, {0.5, 0.01, 0.01}};
  p.z = equal_steps(0, 0.5, 40);
  p.material = {115e9, 0, 4340};
  LinearSystem bar = *prism(p);
  EXPECT_TRUE(check(bar).ok());
  EXPECT_EQ(bar.size(), 3 * 4 * 41);
  const double exact = std::sqrt(115e9 / 4340) / (2 * 0.5);
  const FullModes modes = *full_modes(bar, 0.99 * exact, 1.01 * exact, 6);
  double best = 1;
  for (const double w2 : modes.omega2) best = std::min(best, std::abs(hz(w2) / exact - 1));
  EXPECT_LT(best, 1.1 * std::pow(std::numbers::pi / 40, 2) / 24);
}

TEST(Mesh, MassesAreThoseOfTheShape) {
  LinearSystem horn = *plate(test::horn_plate());
  double mass = 0;
  for (int i = 0; i < horn.size(); i += 2)
    for (SparseMatrix::InnerIterator e(horn.M, i); e; ++e) mass += e.value();
  EXPECT_NEAR(mass, 2810 * 0.03 * (0.104 * 0.07 - 0.072 * 0.007), 1e-12);
  Prism p;
  p.sections = {{0, 0.04, 0.04}, {0.05, 0.04, 0.04}, {0.06, 0.02, 0.03}, {0.1, 0.02, 0.03}};
  p.across_x = p.across_y = 2;
  p.z = equal_steps(0, 0.1, 10);
  p.material = {115e9, 0.32, 4340};
  const LinearSystem stepped = *prism(p);
  mass = 0;
  for (int i = 0; i < stepped.size(); i += 3)
    for (SparseMatrix::InnerIterator e(stepped.M, i); e; ++e) mass += e.value();
  // The frustum's width and height both change: ∫ b h dz by Simpson's rule, exact for a square of linear functions.
  const double volume =
      0.05 * 0.0016 + 0.04 * 0.0006 + 0.01 / 6 * (0.04 * 0.04 + 4 * 0.03 * 0.035 + 0.02 * 0.03);
  EXPECT_NEAR(mass, 4340 * volume, 1e-9);
}

TEST(Mesh, ABeamOnTwoSpringsSwaysAsARigidBody) {
  // Stiff beam of mass m on two springs at its ends: bounce sqrt(2k/m), pitch sqrt(6k/m).
  BeamFrame f;
  f.beams = {{"beam", equal_steps(0, 1, 4), 10, 1e7}};
  f.springs = {{"beam.1", "ground", 500}, {"ground", "beam.5", 500}};
  const LinearSystem s = *beam_frame(f, "beam");
  const FullModes modes = *full_modes(s, {0, 1});
  // The beam gives by about kL³/(100 EI) of the spring's deflection, and round-off of its highest ω², 3e11, is of the same size.
  EXPECT_NEAR(modes.omega2(0), 100, 5e-4);
  EXPECT_NEAR(modes.omega2(1), 300, 1.5e-3);
}

TEST(Mesh, NamesAreThoseOfNodesAndSets) {
  const LinearSystem s = *plate(test::horn_plate());
  EXPECT_EQ(s.size(), 316);
  EXPECT_EQ(find_dofs(s, {"y_min"})->size(), 18u);
  EXPECT_EQ(*find_dofs(s, {"n2", "n2.x", "n1.y"}), (std::vector<int>{2, 3, 1}));
  EXPECT_EQ(find_dofs(s, {"Y_MIN"})->size(), 18u);
}

TEST(Mesh, SectionsBetweenPlanesAreTold) {
  Prism p;
  p.sections = {{0, 1, 1}, {0.3, 1, 1}, {0.7, 0.5, 0.5}, {1, 0.5, 0.5}};
  p.material = {115e9, 0.32, 4340};
  p.z = equal_steps(0, 1, 10);  // 3 * 0.1 is not 0.3
  EXPECT_EQ(prism(p).diagnostics().text(), "");
  p.z = equal_steps(0, 1, 4);
  const auto told = prism(p);
  ASSERT_TRUE(told.ok()) << told.diagnostics().text();
  const std::string text = told.diagnostics().text();
  for (const char* words : {"W0922", "z = 0.3 ", "z = 0.7 "})
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(Mesh, WhatCannotBeMadeIsRefused) {
  Plate p = test::horn_plate();
  p.x[2] = p.x[1];
  EXPECT_NE(plate(p).diagnostics().text().find("E0910"), std::string::npos);
  p = test::horn_plate();
  p.slots = {{-1, 1, -1, 1}};
  EXPECT_NE(plate(p).diagnostics().text().find("leave nothing"), std::string::npos);
  p.slots = {{0.04, 0.03, 0.02, 0.08}};
  EXPECT_NE(plate(p).diagnostics().text().find("sides of a slot ascend"), std::string::npos);
  p.slots = {{0.0316, 0.0318, 0.02, 0.08}};  // between two lines of the mesh
  EXPECT_NE(plate(p).diagnostics().text().find("the middle of no element"), std::string::npos);
  BeamFrame f = test::feeder_frame();
  f.beams.push_back(f.beams.front());
  f.masses.push_back({"ground", 1});
  f.springs.push_back({"tray.2", "tray.2", 1});
  const std::string twice = beam_frame(f, "feeder").diagnostics().text();
  for (const char* words : {"beam \"tray\": each needs a name",
                            "mass \"ground\": each needs a name", "both its ends are \"tray.2\""})
    EXPECT_NE(twice.find(words), std::string::npos) << twice;
  f = test::feeder_frame();
  f.springs.push_back({"trey.2", "ground", 1});
  f.springs.push_back({"tray.2", "ground", 0});
  const std::string text = beam_frame(f, "feeder").diagnostics().text();
  EXPECT_NE(text.find("did you mean \"tray.2\""), std::string::npos) << text;
  EXPECT_NE(text.find("0 N/m is not positive"), std::string::npos) << text;
  Prism q;
  // A neck between two planes.
  q.sections = {{0, 1, 1},         {0.51, 1, 1}, {0.511, 0.1, 0.1},
                {0.589, 0.1, 0.1}, {0.59, 1, 1}, {1, 1, 1}};
  q.material = {115e9, 0.32, 4340};
  q.z = equal_steps(0, 1, 10);
  EXPECT_NE(prism(q).diagnostics().text().find("z = 0.511 is on no plane of the mesh, nor is one"),
            std::string::npos)
      << prism(q).diagnostics().text();
  q.sections = {{0, 1, 1}, {0, 1, 1}};
  q.z = {0, 1};
  EXPECT_FALSE(prism(q).ok());
}

}  // namespace
}  // namespace panto
