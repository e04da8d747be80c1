// Systems and options that cannot be reduced are refused with an id and a remedy.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "panto/reduction/reduce.hpp"
#include "panto/reduction/test/cases.hpp"

namespace panto {
namespace {

LinearSystem horn() { return *plate(test::horn_plate()); }
LinearSystem feeder() { return *beam_frame(test::feeder_frame(), "feeder"); }

ReduceOptions horn_options() {
  ReduceOptions o;
  o.masters = test::horn_masters();
  o.modes = {8};
  return o;
}

void expect(const Diagnostics& d, const std::string& id, const std::string& words) {
  EXPECT_NE(d.text().find("[" + id + "]"), std::string::npos) << d.text();
  EXPECT_NE(d.text().find(words), std::string::npos) << d.text();
}
void expect(const LinearSystem& s, const ReduceOptions& o, const std::string& id,
            const std::string& words) {
  const auto r = reduce(s, o);
  EXPECT_FALSE(r.ok());
  expect(r.diagnostics(), id, words);
}

TEST(Refused, MatricesOfDifferentSizes) {
  LinearSystem s = horn();
  s.M.conservativeResize(314, 314);
  expect(check(s), "E0901", "square matrices of one size");
  s = horn();
  s.dofs.pop_back();
  expect(check(s), "E0901", "315 names for 316");
}

TEST(Refused, AsymmetricMatrices) {
  LinearSystem s = horn();
  s.K.coeffRef(3, 5) += 1e7;
  expect(check(s), "E0902", "K is not symmetric");
  s = horn();
  s.M.coeffRef(0, 0) = std::numeric_limits<double>::quiet_NaN();
  expect(check(s), "E0902", "not a finite number");
}

TEST(Refused, AsymmetryThatIsSmallBesideStiffElements) {
  LinearSystem s = *beam_frame(test::soft_frame(600), "bar");
  const int a = find_dofs(s, {"bar.1.y"})->front(), b = find_dofs(s, {"bar.81.y"})->front();
  s.K.coeffRef(a, b) += 500;
  s.K.coeffRef(b, a) -= 500;
  expect(check(s), "E0902", "K is not symmetric");
}

TEST(Refused, NamesThatStandTwice) {
  LinearSystem s = horn();
  s.dofs[7] = s.dofs[3];
  expect(check(s), "E0901", "stands for two");
}

TEST(Refused, RoundOffOfSymmetryIsAveragedAway) {
  LinearSystem s = horn();
  s.K.coeffRef(3, 5) *= 1 + 1e-12;
  EXPECT_TRUE(check(s).ok());
  EXPECT_EQ(s.K.coeff(3, 5), s.K.coeff(5, 3));
}

TEST(Refused, MassesThatAreNotPositive) {
  LinearSystem s = feeder();
  s.M.coeffRef(38, 38) = 0;
  expect(check(s), "E0903", "exciter3.y");
  s = feeder();
  s.M.coeffRef(0, 2) = s.M.coeffRef(2, 0) = 100;
  expect(check(s), "E0903", "kinetic energy");
}

TEST(Refused, MastersThatDoNotExist) {
  ReduceOptions o = horn_options();
  o.masters = {"n4", "n4000", "y_mim"};
  expect(horn(), o, "E0904", "n4000");
  expect(horn(), o, "E0904", "did you mean \"y_min\"");
  LinearSystem s = horn();
  s.sets.push_back({"TIP", {0}});
  o.masters = {"tipp"};
  expect(s, o, "E0904", "did you mean \"TIP\"");
}

TEST(Refused, MastersThatLeaveTheBodyFree) {
  ReduceOptions o = horn_options();
  o.masters = {"n4.x", "n4.y"};  // the body can turn about the node
  expect(horn(), o, "E0905", "without strain energy");
}

TEST(Refused, AnInteriorWithoutAnyStiffness) {
  BeamFrame f;
  f.masses = {{"a", 1}, {"b", 1}, {"c", 1}};
  f.springs = {{"a", "ground", 1}};
  ReduceOptions o;
  o.masters = {"a"};
  o.keep = 0;
  LinearSystem s = *beam_frame(f, "loose");
  expect(s, o, "E0905", "without strain energy");
  s.K = SparseMatrix(3, 3);
  expect(s, o, "E0905", "without strain energy");
}

// Round-off hides the zero pivot of a long plate that is held at one node.
TEST(Refused, OneNodeOfAFineFreePlate) {
  Plate p;
  p.x = equal_steps(0, 1, 100);
  p.y = equal_steps(0, 0.02, 4);
  p.material = {210e9, 0.3, 7800};
  p.thickness = 1e-3;
  ReduceOptions o;
  o.modes = {4, 5};
  const LinearSystem s = *plate(p);
  for (const char* node : {"n1", "n51", "n463", "n505"}) {
    o.masters = {node};
    expect(s, o, "E0905", "without strain energy");
  }
}

TEST(Refused, AZeroOnTheDiagonalOfAnIndefiniteInterior) {
  BeamFrame f;
  const char* names[] = {"ground", "a", "b", "c", "d", "e", "ground"};
  for (int i = 1; i < 6; ++i) f.masses.push_back({names[i], 1});
  for (int i = 0; i < 6; ++i) f.springs.push_back({names[i], names[i + 1], 1});
  LinearSystem s = *beam_frame(f, "chain");
  for (int i = 0; i < s.size(); ++i) s.K.coeffRef(i, i) -= 2;
  ReduceOptions o;
  o.masters = {"a"};
  o.keep = 1;
  expect(s, o, "E0907", "negative strain energy");
}

TEST(Reduced, MotionsThatRoundOffHidesAreTold) {
  ReduceOptions o;
  o.masters = test::soft_masters(1000);
  o.keep = 1;
  const auto r = reduce(*beam_frame(test::soft_frame(300, 1000), "bar"), o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  expect(r.diagnostics(), "W0921", "round-off");
}

// Elements of one shape have the same round-off, which adds up over a mesh.
TEST(Reduced, FreePlatesOfManyEqualElementsHaveThreeRigidMotions) {
  const std::tuple<double, double, int, int> sizes[] = {
      {1, 1, 160, 160}, {0.3, 0.1, 150, 100}, {0.5, 0.1, 500, 30}, {1, 0.01, 3000, 2}};
  for (const auto& [a, b, nx, ny] : sizes) {
    Plate p;
    p.x = equal_steps(0, a, nx);
    p.y = equal_steps(0, b, ny);
    p.material = {2e11, 0.3, 7800};
    p.thickness = 0.01;
    const LinearSystem s = *plate(p);
    // Two corners hold it.
    const auto cb = craig_bampton(s, *find_dofs(s, {"n1", fmt::format("n{}", nx + 1)}));
    ASSERT_TRUE(cb.ok()) << nx << " x " << ny << cb.diagnostics().text();
    EXPECT_EQ(cb->rigid, 3) << nx << " x " << ny;
    EXPECT_EQ(cb.diagnostics().text(), "") << nx << " x " << ny;
  }
}

TEST(Reduced, FreePrismsOfManySlicesHaveSixRigidMotions) {
  const std::tuple<double, double, int> sizes[] = {
      {0.02, 1, 100}, {0.02, 1, 1000}, {0.02, 4, 1000}, {0.04, 0.1, 1000}, {0.04, 0.01, 300}};
  for (const auto& [width, length, slices] : sizes) {
    Prism p;
    p.sections = {{0, width, width}, {length, width, width}};
    p.across_x = p.across_y = 2;
    p.z = equal_steps(0, length, slices);
    p.material = {2e11, 0.3, 7800};
    const LinearSystem s = *prism(p);
    const auto cb = craig_bampton(s, *find_dofs(s, {"z_min"}));
    ASSERT_TRUE(cb.ok()) << length << " m, " << slices << cb.diagnostics().text();
    EXPECT_EQ(cb->rigid, 6) << length << " m, " << slices;
    EXPECT_EQ(cb.diagnostics().text(), "") << length << " m, " << slices;
  }
}

TEST(Refused, NoMastersAndNothingElse) {
  ReduceOptions o = horn_options();
  o.masters = {};
  expect(horn(), o, "E0906", "no masters");
  LinearSystem s = feeder();
  o.masters = s.dofs;
  o.modes = {1};
  expect(s, o, "E0906", "nothing is left");
}

TEST(Refused, NegativeStiffness) {
  LinearSystem s = feeder();
  s.K.coeffRef(0, 0) -= 1e8;  // an interior degree of freedom
  ReduceOptions o;
  o.masters = test::feeder_masters();
  o.modes = {5};
  expect(s, o, "E0907", "with the masters held");
  s = feeder();
  s.K.coeffRef(38, 38) -= 1e8;  // a master
  expect(s, o, "E0907", "motion of the masters");
}

TEST(Refused, ModesAndBandsThatAreNotThere) {
  ReduceOptions o = horn_options();
  o.modes = {8, 317};
  expect(horn(), o, "E0911", "317");
  o.modes.clear();
  o.band_hz = {100, 200};
  expect(horn(), o, "E0911", "no elastic mode");
}

TEST(Refused, AnUndampedSystemAtResonance) {
  // One mass on a spring beside another: 1 Hz exactly.
  BeamFrame f;
  const double k = 4 * 9.869604401089358;
  f.masses = {{"a", 1}, {"b", 1}};
  f.springs = {{"a", "ground", k}, {"b", "ground", 2 * k}};
  LinearSystem s = *beam_frame(f, "two");
  const auto x = forced_response(s, {{1.0, {{0, 1.0}}}}, 0);
  EXPECT_FALSE(x.ok());
  expect(x.diagnostics(), "E0912", "give damping");
  EXPECT_TRUE(forced_response(s, {{1.0, {{0, 1.0}}}}, 0.01).ok());
}

TEST(Refused, OptionsThatDoNotSayWhatFor) {
  ReduceOptions o;
  o.masters = test::horn_masters();
  expect(horn(), o, "E0913", "what the model is for");
  o = horn_options();
  o.rank = RankingMethod::kEbr;
  expect(horn(), o, "E0913", "ebr ranks for periodic forces");
  o = horn_options();
  o.weights = {1, 2};
  expect(horn(), o, "E0913", "2 weights for 1 modes");
  o.modes.clear();
  o.band_hz = {0, 31e3};
  expect(horn(), o, "E0913", "weights are of modes by number");
  o = horn_options();
  o.modes = {8, 14, 8};
  o.weights = {1, 2, 3};
  expect(horn(), o, "E0913", "mode 8 is given twice");
  o = horn_options();
  o.tolerance = 1.5;
  expect(horn(), o, "E0913", "tolerance 1.5");
  o = horn_options();
  o.keep = 311;
  expect(horn(), o, "E0913", "311 interior modes to keep: there are 310");
  o.keep = -3;
  expect(horn(), o, "E0913", "-3 interior modes to keep");
  o = horn_options();
  o.damping = -0.1;
  expect(horn(), o, "E0913", "damping ratio -0.1");
  o = horn_options();
  o.sample = "n100.x";
  expect(horn(), o, "E0913", "is not one master");
}

TEST(Refused, ASampleThatDoesNotMove) {
  // Two pairs of masses that share nothing.
  BeamFrame f;
  f.masses = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  f.springs = {{"a", "ground", 50}, {"a", "b", 50}, {"c", "ground", 50}, {"c", "d", 50}};
  const LinearSystem s = *beam_frame(f, "pairs");
  ReduceOptions o;
  o.masters = {"a", "c"};
  o.forces = {{{"a"}, 1, 1, 0}};
  EXPECT_TRUE(reduce(s, o).ok());  // the master that moves most
  for (const double damping : {0.0, 0.01}) {
    o.damping = damping;
    o.sample = "c";
    expect(s, o, "E0913", "sample \"c.y\" does not move at 1 Hz");
  }
  // The mass beside it takes the force: its own frequency is that of the force.
  o.damping = 0;
  o.masters = {"a"};
  o.sample.clear();
  o.forces = {{{"a"}, std::sqrt(50.0) / (2 * std::numbers::pi), 1, 0}};
  expect(s, o, "E0913", "no master moves");
}

TEST(Refused, AForceOnTheInterior) {
  ReduceOptions o;
  o.masters = test::feeder_masters();
  o.forces = {{{"tray.1.y"}, 50, 1, 0}};
  expect(feeder(), o, "E0914", "tray.1.y");
}

TEST(Refused, WorkThatWasStopped) {
  ReduceOptions o = horn_options();
  o.progress = [](double fraction) { return fraction < 0.5; };
  expect(horn(), o, "E0909", "stopped");
}

TEST(Warned, ATolerenceThatTheCandidatesDoNotMeet) {
  ReduceOptions o = horn_options();
  o.modes = {14};
  o.candidates = 5;
  const auto r = reduce(horn(), o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  expect(r.diagnostics(), "W0915", "5 interior modes");
  EXPECT_EQ(r->system.M.rows(), 11);
}

}  // namespace
}  // namespace panto
