// Systems from files: a mesh that CalculiX solved, Matrix Market pairs, study files, mechanisms; reduced systems as files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <regex>

#include "panto/io/load.hpp"
#include "panto/io/matrix_market.hpp"
#include "panto/io/reduction.hpp"
#include "panto/linear/linearize.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

constexpr int kAcross = 2, kAlong = 6;

// A clamped bar of 2 x 2 x 6 bricks, without the step.
std::string deck() {
  std::string text = "*NODE,NSET=NALL\n", elements = "*ELEMENT,TYPE=C3D8,ELSET=EALL\n";
  const auto node = [](int i, int j, int k) {
    return (k * (kAcross + 1) + j) * (kAcross + 1) + i + 1;
  };
  int element = 0;
  for (int k = 0; k <= kAlong; ++k)
    for (int j = 0; j <= kAcross; ++j)
      for (int i = 0; i <= kAcross; ++i) {
        text += fmt::format("{},{},{},{}\n", node(i, j, k), 0.01 * i, 0.01 * j, 0.02 * k);
        if (i == kAcross || j == kAcross || k == kAlong) continue;
        elements +=
            fmt::format("{},{},{},{},{},{},{},{},{}\n", ++element, node(i, j, k), node(i + 1, j, k),
                        node(i + 1, j + 1, k), node(i, j + 1, k), node(i, j, k + 1),
                        node(i + 1, j, k + 1), node(i + 1, j + 1, k + 1), node(i, j + 1, k + 1));
      }
  return text + elements +
         "*NSET,NSET=FIX,GENERATE\n1,9\n*NSET,NSET=TIP\n55,59,63\n*BOUNDARY\nFIX,1,3\n"
         "*MATERIAL,NAME=TI\n*ELASTIC\n115e9,0.32\n*DENSITY\n4340\n"
         "*SOLID SECTION,ELSET=EALL,MATERIAL=TI\n*STEP\n";
}

TEST(Calculix, ExportedMatricesHaveTheSolversOwnFrequencies) {
  ASSERT_EQ(std::system("command -v ccx > /dev/null"), 0)
      << "ccx is not installed: package calculix-ccx of tools/packages.txt";
  const test::TemporaryFolder folder;
  folder.put("bar.inp", deck() + "*FREQUENCY,SOLVER=MATRIXSTORAGE\n10\n*END STEP\n");
  folder.put("own.inp", deck() + "*FREQUENCY\n10\n*END STEP\n");
  for (const char* job : {"bar", "own"})
    ASSERT_EQ(std::system(("cd '" + folder.path().string() + "' && ccx " + job + " > log").c_str()),
              0);
  std::ifstream in(folder.path("own.dat"));
  std::vector<double> own;
  for (std::string line; std::getline(in, line) && own.size() < 10;) {
    static const std::regex row(R"(^\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+0\.0000000E\+00\s*$)");
    std::smatch match;
    if (std::regex_match(line, match, row)) own.push_back(std::stod(match[4]));
  }
  ASSERT_EQ(own.size(), 10u);
  const auto system = read_calculix(folder.path("bar.inp"));
  ASSERT_TRUE(system.ok()) << system.diagnostics().text();
  EXPECT_EQ(system->size(), 162);
  EXPECT_EQ(find_dofs(*system, {"TIP"})->size(), 9u);
  EXPECT_EQ(find_dofs(*system, {"n63.y"})->size(), 1u);
  const auto pairs = lowest_pairs(system->K, system->M, 10);  // double values among them
  ASSERT_TRUE(pairs);
  for (size_t i = 0; i < 10; ++i)  // printed with seven digits
    EXPECT_NEAR(std::sqrt(pairs->values(static_cast<Eigen::Index>(i))) / (2 * std::numbers::pi),
                own[i], 2e-6 * own[i]);
  // The whole task on it: the first longitudinal mode from the tip's nodes.
  ReduceOptions o;
  o.masters = {"TIP"};
  o.modes = {1, 2, 3};
  const auto r = reduce(*system, o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  EXPECT_LT(r->system.M.rows(), 40);
  for (const ModeError& e : r->mode_errors) EXPECT_LT(e.frequency, 0.01);
}

TEST(Reduction, TheReducedPairReadsBackWithItsNames) {
  const test::TemporaryFolder folder;
  const auto study = load_reduce_study(folder.put("study.toml", R"(
masters = ["tip"]
modes = [1, 2]
[frame]
beam = [{ name = "beam", x = [0, 0.25, 0.5, 0.75, 1], mass_per_length = 2, bending_stiffness = 50 }]
mass = [{ name = "tip", mass = "3 kg" }]
spring = [{ between = ["tip", "beam.5"], stiffness = "2 kN/m" },
          { between = ["beam.1", "ground"], stiffness = 1e4 },
          { between = ["beam.4", "ground"], stiffness = 1e4 }]
)"));
  ASSERT_TRUE(study.ok()) << study.diagnostics().text();
  const auto r = reduce(study->system, study->options);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  ASSERT_TRUE(write_reduction(study->system, *r, folder.path("small.h5")).ok());
  const auto again = read_matrices({folder.path("small.M.mtx"), folder.path("small.K.mtx"), ""});
  ASSERT_TRUE(again.ok()) << again.diagnostics().text();
  EXPECT_EQ(again->dofs, r->system.names);
  EXPECT_EQ(Eigen::MatrixXd(again->M), r->system.M);
  EXPECT_EQ(Eigen::MatrixXd(again->K), r->system.K);

  // A reduction in the same place takes its files with it, and files that name other rows are not mixed.
  EXPECT_TRUE(std::filesystem::exists(folder.path("small.modes.csv")));
  RankedReduction coupled = *r;
  coupled.system.C = Eigen::MatrixXd::Zero(r->system.K.rows(), r->system.K.cols());
  coupled.system.C(0, 0) = 1;
  EXPECT_TRUE(write_reduction(study->system, coupled, folder.path("small.h5")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path("small.modes.csv")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("small.C.mtx")));
  EXPECT_TRUE(write_reduction(study->system, *r, folder.path("small.h5")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path("small.C.mtx")));
  std::vector<std::string> others = r->system.names;
  std::swap(others.front(), others.back());
  write_matrix_market(r->system.M.sparseView(), true, others, folder.path("small.M.mtx"));
  const auto mixed = read_matrices({folder.path("small.M.mtx"), folder.path("small.K.mtx"), ""});
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.diagnostics().items().front().id, 901);
  EXPECT_EQ(mixed.diagnostics().items().front().loc.file, folder.path("small.M.mtx"));
}

// Accelerometers and gyroscopes read accelerations and speeds: masters are the displacements they belong to.
TEST(Reduction, SensorsNameTheDisplacementsTheyRead) {
  const test::TemporaryFolder folder;
  const auto model = load(folder.put("rod.toml", R"(
space = "planar"
body = [{ name = "rod", beam = { length = 0.5, rectangle = ["20 mm", "2 mm"], E = "70 GPa", density = 2700, elements = 4 } }]
joint = [{ name = "hold", type = "weld", parent = "ground", child = "rod" }]
sensor = [{ name = "acc", type = "accelerometer", of = "rod.end", axis = "y" },
          { name = "rate", type = "gyroscope", of = "rod.n4" }]
)"));
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto workspace = Workspace::create(*model, nominal(*model));
  const auto point = operating_point(*workspace, {});
  ASSERT_TRUE(point.ok()) << point.diagnostics().text();
  const auto system = linear_system(*linearize(*workspace, *point), "rod");
  ASSERT_TRUE(system.ok()) << system.diagnostics().text();
  EXPECT_EQ(*find_dofs(*system, {"acc"}), *find_dofs(*system, {"rod.n5.uy"}));
  EXPECT_EQ(*find_dofs(*system, {"rate"}), *find_dofs(*system, {"rod.n4.theta"}));
}

// On a hinge the rod has no flexibility matrix, and its tip accelerates with the hinge too.
TEST(Reduction, AnAccelerometerOnAHingedRodNamesTheHingeAndItsOwnDisplacement) {
  const test::TemporaryFolder folder;
  for (const char* gravity : {"", "gravity = [0, -9.81]\n"}) {
    const auto model =
        load(folder.put("rod.toml", std::string("space = \"planar\"\n") + gravity + R"(
body = [{ name = "rod", beam = { length = 0.5, rectangle = ["20 mm", "2 mm"], E = "70 GPa", density = 2700, elements = 4 } }]
joint = [{ name = "theta", type = "revolute", parent = "ground", child = "rod" }]
actuator = [{ name = "motor", type = "torque", on = "theta" }]
sensor = [{ name = "acc", type = "accelerometer", of = "rod.end", axis = "y" },
          { name = "enc", type = "encoder", of = "theta" }]
)"));
    ASSERT_TRUE(model.ok()) << model.diagnostics().text();
    const auto workspace = Workspace::create(*model, nominal(*model));
    const auto point = operating_point(*workspace, Operation::kHere);
    ASSERT_TRUE(point.ok()) << point.diagnostics().text();
    const auto system = linear_system(*linearize(*workspace, *point), "rod");
    ASSERT_TRUE(system.ok()) << system.diagnostics().text();
    EXPECT_EQ(*find_dofs(*system, {"motor", "acc", "enc"}),
              *find_dofs(*system, {"theta", "rod.n5.uy"}));
  }
}

TEST(Reduction, AMechanismIsReducedAtItsPose) {
  const test::TemporaryFolder folder;
  const auto study = load_reduce_study(folder.put(
      "study.toml",
      "model = \"three_link\"\nwhere = \"here\"\nmasters = [\"theta_A\"]\nmodes = [1]\n"));
  ASSERT_TRUE(study.ok()) << study.diagnostics().text();
  ReduceOptions o = study->options;
  o.keep = 2;  // all
  const auto r = reduce(study->system, o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  const auto full =
      symmetric_pairs(Eigen::MatrixXd(study->system.K), Eigen::MatrixXd(study->system.M));
  const auto small = symmetric_pairs(r->system.K, r->system.M);
  EXPECT_LT((full->values - small->values).cwiseAbs().maxCoeff(), 1e-9 * full->largest);
}

// A cantilevered arm on a hinge, with masters at its tip: the written file is a mechanism with the modes of the reduced matrices.
TEST(ReducedModel, MovesWithTheModesOfTheReducedMatrices) {
  ModelSpec spec;
  const Result<Model> model = load("single_flexible_link", {}, &spec);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto reduction = [](const Model& whole, const std::vector<std::string>& masters) {
    const auto workspace = Workspace::create(whole, nominal(whole));
    const auto point = operating_point(*workspace, Operation::kHere);
    const auto linear = linearize(*workspace, *point);
    const auto system = linear_system(*linear, whole.name);
    ReduceOptions o;
    o.masters = masters;
    o.modes = {2, 3};
    return std::pair(*system, *reduce(*system, o));
  };
  const auto [system, found] = reduction(*model, {"theta", "link.n5.ux", "link.n5.uy"});
  const Result<std::string> text = reduced_model(spec, *model, nominal(*model), system, found);
  ASSERT_TRUE(text.ok()) << text.diagnostics().text();
  EXPECT_NE(text->find("One flexible link"), std::string::npos);
  const test::TemporaryFolder folder;
  ModelSpec again;
  const Result<Model> small = load(folder.put("small.toml", *text), {}, &again);
  ASSERT_TRUE(small.ok()) << small.diagnostics().text();
  EXPECT_EQ(small->nv, found.system.M.rows());
  const auto workspace = Workspace::create(*small, nominal(*small));
  const auto linear = linearize(*workspace, *operating_point(*workspace, Operation::kHere));
  const auto of_file = linear_system(*linear, "small");
  const auto values = [](const Eigen::MatrixXd& k, const Eigen::MatrixXd& m) {
    return symmetric_pairs(k, m)->values;
  };
  const Eigen::VectorXd a = values(found.system.K, found.system.M),
                        b = values(Eigen::MatrixXd(of_file->K), Eigen::MatrixXd(of_file->M));
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-8 * a.cwiseAbs().maxCoeff());

  const auto refused = [](const Result<std::string>& r, const char* words) {
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.diagnostics().text().find("E1103"), std::string::npos) << r.diagnostics().text();
    EXPECT_NE(r.diagnostics().text().find(words), std::string::npos) << r.diagnostics().text();
  };
  refused(reduced_model(again, *small, nominal(*small), system, found), "already");
  ModelSpec sprung_spec;
  const std::vector<Override> closed{{"brake", "1e5"}};
  const Result<Model> sprung = load("flexible_link_on_motor", closed, &sprung_spec);
  ASSERT_TRUE(sprung.ok()) << sprung.diagnostics().text();
  const auto [held, free] = reduction(*sprung, {"twist", "link.n5.ux", "link.n5.uy"});
  refused(reduced_model(sprung_spec, *sprung, nominal(*sprung), held, free),
          "\"theta\" is no master");
  RankedReduction elsewhere = found;
  elsewhere.cb.omega2 *= 1.01;
  refused(reduced_model(spec, *model, nominal(*model), system, elsewhere), "in its initial pose");
}

}  // namespace
}  // namespace panto
