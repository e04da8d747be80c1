// From readings to coordinates and back: exact for shapes of the model, second order between finite and linearised displacements.
#include <gtest/gtest.h>

#include <cmath>

#include "panto/linear/linearize.hpp"
#include "panto/linear/parameter_matrices.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/random.hpp"
#include "tests/laws/laws.hpp"
#include "tests/updating/update_case.hpp"

namespace panto {
namespace {

struct Posed {
  LoadedUpdateStudy study = test::twin();
  std::unique_ptr<Workspace> workspace;
  Eigen::VectorXd q;
  LinearModel linear;
  ModalPairs pairs;
  Eigen::MatrixXd rows;

  Posed() {
    workspace = Workspace::create(study.model, nominal(study.model));
    const auto point = operating_point(*workspace, Operation::kHere);
    q = point->q;
    linear = *linearize(*workspace, *point);
    pairs = *symmetric_pairs(0.5 * (linear.K_z + linear.K_z.transpose()), linear.M_z);
    rows = point_rows(*workspace, view(q), linear.R, study.study.simulate.front().points);
  }
};

TEST(Expansion, FindsExactShapesFromRedundantPoints) {
  const Posed p;
  for (int mode = 3; mode < 10; ++mode) {
    const Eigen::VectorXd truth = p.pairs.vectors.col(mode), y = p.rows * truth;
    // A basis that is no eigenbasis: springs half as stiff.
    ExpansionBasis basis{0.5 * p.pairs.values, p.pairs.vectors, 0.2};
    const ExpandedShape e =
        expand(p.rows, 3.7 * y, 1e-10 * y.norm(), std::sqrt(p.pairs.values(mode)), basis);
    const double sign = e.z.dot(p.linear.M_z * truth) < 0 ? -1 : 1;
    // σ relative to the prior, times the condition of the rows.
    EXPECT_LT((sign * e.z - truth).norm(), 1e-7 * truth.norm()) << mode;
    EXPECT_LT(e.misfit, 1e-8);
  }
}

// A point between nodes reads the beam's own interpolation: the same place as a node of a finer mesh, compared by a difference of the exact position.
TEST(Expansion, RowsAreTheDerivativesOfExactNodalPositions) {
  Posed p;
  const Eigen::MatrixXd nodes = nodal_rows(*p.workspace, view(p.q), p.linear.R);
  const double h = 1e-6;
  for (Eigen::Index k = 0; k < p.linear.R.cols(); ++k) {
    Eigen::VectorXd up, down;
    const Eigen::VectorXd step = h * Eigen::VectorXd::Unit(p.linear.R.cols(), k);
    ASSERT_TRUE(nodal_displacements(*p.workspace, view(p.q), p.linear.R, step, up));
    ASSERT_TRUE(nodal_displacements(*p.workspace, view(p.q), p.linear.R, -step, down));
    // Truncation h², round-off 1e-16/h.
    EXPECT_LT(((up - down) / (2 * h) - nodes.col(k)).lpNorm<Eigen::Infinity>(), 1e-8) << k;
  }
}

TEST(Expansion, PointsAtNodesReadTheNodes) {
  Posed p;
  const Eigen::MatrixXd nodes = nodal_rows(*p.workspace, view(p.q), p.linear.R);
  const std::vector<MeasuredPoint>& points = p.study.study.simulate.front().points;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].frame != "AD.p2") continue;  // at AD.n2, the fourth node
    const int axis = points[i].direction.x() != 0 ? 0 : 1;
    EXPECT_LT((p.rows.row(static_cast<Eigen::Index>(i)) - nodes.row(3 * 3 + axis)).norm(), 1e-13);
  }
}

// The same cantilever twice: as small displacements on a link, and with nodes that move freely (ANCF). Both bend by cubic functions.
TEST(Expansion, PointsOfLargeDeformationsReadWhatSmallOnesDo) {
  const auto shapes = [](const std::string& kind) {
    const auto spec = parse_model_text(
        "space = \"planar\"\n"
        "body = [{ name = \"rod\", " +
            kind +
            " = { length = 0.8, circle = 0.01, E = 7e10, density = 2700, elements = 4 } }]\n"
            "frame = [{ name = \"between\", body = \"rod\", at = [0.33, 0] }, { name = "
            "\"above\", body = \"rod\", at = [0.33, 0.05] }]\n"
            "joint = [{ name = \"clamp\", type = \"weld\", parent = \"ground\", child = "
            "\"rod\" }]\n",
        "rod.toml");
    const auto model = compile(*spec, {});
    if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
    const auto workspace = Workspace::create(*model, nominal(*model));
    const auto point = operating_point(*workspace, Operation::kHere);
    const auto linear = linearize(*workspace, *point);
    const auto pairs = symmetric_pairs(0.5 * (linear->K_z + linear->K_z.transpose()), linear->M_z);
    const Eigen::Vector3d x(1, 0, 0), y(0, 1, 0);
    const Eigen::MatrixXd rows = point_rows(
        *workspace, view(point->q), linear->R,
        {{"rod.n3", y}, {"rod.end", y}, {"rod.between", y}, {"rod.above", x}, {"rod.above", y}});
    return Eigen::MatrixXd(rows * pairs->vectors.leftCols(3));
  };
  const Eigen::MatrixXd small = shapes("beam"), large = shapes("ancf");
  EXPECT_GT(small.rowwise().norm().minCoeff(), 0.1);  // every point moves, in some mode
  for (Eigen::Index k = 0; k < 3; ++k) {
    const double sign = small.col(k).dot(large.col(k)) < 0 ? -1 : 1;
    // Integration over the elements.
    EXPECT_LT((sign * large.col(k) - small.col(k)).norm(), 1e-6 * small.col(k).norm()) << k;
  }
}

TEST(Expansion, SplinesFindSmoothShapesToo) {
  Posed p;
  const auto& points = p.study.study.simulate.front().points;
  const PointSplines splines = spline_rows(*p.workspace, view(p.q), p.linear.R, points, p.rows);
  EXPECT_EQ(splines.matrix.cols(), static_cast<Eigen::Index>(points.size()));
  // Directions x and y are not along the beams here: nothing is replaced but by turned points.
  std::vector<MeasuredPoint> across = points;
  for (MeasuredPoint& m : across) {
    const std::string body = m.frame.substr(0, 2);
    const double angle = body == "AB"                   ? 1.0821
                         : body == "AD" || body == "BC" ? 2.6354
                         : body == "CE"                 ? 1.0821 + 3.14159265358979
                                                        : 4.7123;
    const bool first = m.direction.x() != 0;
    m.direction = first ? Eigen::Vector3d(std::cos(angle), std::sin(angle), 0)
                        : Eigen::Vector3d(-std::sin(angle), std::cos(angle), 0);
  }
  const Eigen::MatrixXd rows = point_rows(*p.workspace, view(p.q), p.linear.R, across);
  const PointSplines turned = spline_rows(*p.workspace, view(p.q), p.linear.R, across, rows);
  EXPECT_GT(turned.rows.rows(), rows.rows());
  const ExpansionBasis basis{p.pairs.values, p.pairs.vectors, 0.2};
  for (const int mode : {3, 4, 5}) {
    const Eigen::VectorXd truth = p.pairs.vectors.col(mode), y = rows * truth;
    const ExpandedShape e =
        expand(turned.rows, turned.matrix * y, 1e-3 * y.lpNorm<Eigen::Infinity>(),
               std::sqrt(p.pairs.values(mode)), basis);
    const double alike = e.z.dot(p.linear.M_z * truth);
    // Natural splines bend less at the ends than beams do: some percent of the shape.
    EXPECT_GT(alike * alike, 0.99) << mode;
  }
}

TEST(Erls, TransformationThereAndBackIsExact) {
  Posed p;
  const Eigen::VectorXd z =
      1e-3 * Eigen::VectorXd::NullaryExpr(p.linear.R.cols(), [](Eigen::Index i) {
        return normal(5, 1, static_cast<std::uint64_t>(i));
      });
  Eigen::VectorXd b;
  ASSERT_TRUE(nodal_displacements(*p.workspace, view(p.q), p.linear.R, z, b));
  const ErlsShape back = to_erls(*p.workspace, view(p.q), p.linear.R, b);
  ASSERT_EQ(back.exact.size(), z.size());
  EXPECT_LT((back.exact - z).norm(), 1e-11 * z.norm());  // of the iteration
  EXPECT_GT((back.linear - z).norm(), 1e-6 * z.norm());
}

TEST(Erls, LinearisedTransformationIsOffByTheAmplitude) {
  Posed p;
  const Eigen::VectorXd shape =
      nodal_rows(*p.workspace, view(p.q), p.linear.R) * p.pairs.vectors.col(3);
  double last = 0;
  for (const double amplitude : {1e-4, 1e-3, 1e-2}) {
    const ErlsShape s = to_erls(*p.workspace, view(p.q), p.linear.R, amplitude * shape);
    ASSERT_GT(s.exact.size(), 0);
    // First order: ten times the amplitude, ten times the difference.
    if (last > 0) {
      EXPECT_NEAR(s.difference / last, 10, 1);
    }
    last = s.difference;
  }
}

// Derivatives with respect to all 29 parameters by dual numbers and by complex steps.
TEST(ParameterMatricesLaw, DualNumbersOfTheTwinAreComplexSteps) {
  const LoadedUpdateStudy study = test::twin();
  for (const laws::Sample& s : laws::samples(study.model, 2, 5))
    laws::tangent_is_complex_step(study.model, s);
}

// Ours are differences of exact tangents, exact where affine.
TEST(ParameterMatricesLaw, SlopesOfTheMassMatrixAreThoseOfDualNumbers) {
  Posed p;
  std::vector<int> index;
  for (const UpdateParameter& u : p.study.study.parameters)
    index.push_back(find_parameter(p.study.model, u.name));
  const Params params = nominal(p.study.model);
  auto matrices =
      ParameterMatrices::create(p.study.model, params, view(p.q), index, Operation::kHere);
  ASSERT_TRUE(matrices) << matrices.diagnostics().text();
  EXPECT_TRUE(matrices->affine());
  std::vector<PoseMatrices> slopes;
  const Eigen::VectorXd theta = params.values(index);
  ASSERT_TRUE(matrices->slopes(view(theta), slopes));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(p.study.model.nv);
  const Eigen::VectorXd lambda = Eigen::VectorXd::Zero(p.study.model.n_rows());
  const auto r_theta = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& a) {
    Point x;
    x.q = view(q);
    x.v = view(zero);
    x.a = view(a);
    x.lambda = view(lambda);
    Blocks blocks;
    blocks.q = blocks.v = blocks.a = blocks.lambda = false;
    blocks.theta = index;
    Tangent t;
    p.workspace->tangent(x, blocks, t);
    return t.r_theta;
  };
  for (const int mode : {3, 6, 9}) {
    const Eigen::VectorXd z = p.pairs.vectors.col(mode), dq = p.linear.R * z;
    const Eigen::MatrixXd mass = p.linear.R.transpose() * (r_theta(p.q, dq) - r_theta(p.q, zero));
    // ∂(K z)/∂θ: difference of the dual numbers along the shape, of second order; λ is zero without loads.
    const double h = 1e-4;
    Eigen::VectorXd up = p.q, down = p.q;
    const Eigen::VectorXd step = h * dq, back = -step;
    p.workspace->move(view(up), view(step));
    p.workspace->move(view(down), view(back));
    const Eigen::MatrixXd stiffness =
        p.linear.R.transpose() * (r_theta(up, zero) - r_theta(down, zero)) / (2 * h);
    for (size_t k = 0; k < slopes.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      const Eigen::VectorXd m = slopes[k].m * z, s = slopes[k].k * z;
      // Round-off of the probing, relative to the largest entries of M and K.
      const double unit = 1 / std::max(std::abs(theta(column)), 1e-3);
      EXPECT_LT((m - mass.col(column)).norm(), 1e-11 * unit * p.linear.M_z.norm() * z.norm()) << k;
      EXPECT_LT((s - stiffness.col(column)).norm(), 1e-7 * unit * p.linear.K_z.norm() * z.norm())
          << k;
    }
  }
}

}  // namespace
}  // namespace panto
