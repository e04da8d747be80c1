// Other independent coordinates, chosen before or during a run, describe the same estimate; added states for sensor biases find them.
#include "panto/estimation/smoother.hpp"
#include "tests/estimation/observer_case.hpp"

namespace panto {
namespace {

using test::kDegree;
using test::Truth;

// The crank turns around; the rocker, which may be preferred, has dead points.
std::unique_ptr<Model> turning(const std::string& preferred) {
  auto model = test::zoo_model("fourbar_f1");
  model->preferred = {find_dof(*model, preferred)};
  return model;
}

constexpr double kSpeed = 12;  // of the crank at the start

// Coordinates and speeds at the start, closed.
void fast_start(Workspace& workspace, Eigen::VectorXd& q, Eigen::VectorXd& v) {
  const auto start = assemble(workspace);
  ASSERT_TRUE(start.ok());
  q = start->q;
  Eigen::MatrixXd g, r;
  workspace.constraint_jacobian(0, test::view(q), g);
  r = g.fullPivLu().kernel();
  v = r.col(0) * kSpeed / r(0, 0);
}

struct Course {
  std::vector<double> y, sigma;  // of all outputs at every step, one after the other
  int changes = 0;
  Smoothed smoothed;
  std::vector<double> smoothed_theta, smoothed_sigma;
};

// Short steps and small deviations: truncation and what is curved in a coordinate next to its dead point do not show.
constexpr double kDt = 1e-4, kSmall = 1e-4;

// A tenth of a second beside a true mechanism with an encoder. P0 is given by the crank, whatever the coordinate is. No acceleration noise: that belongs to
// the coordinate that is independent.
Course course(const std::string& filter, const std::string& preferred) {
  const auto model = turning(preferred);
  Course out;
  const auto same = turning("theta");
  Truth truth(*same, nominal(*same), {0.0}, Scheme::kRungeKutta4);
  Eigen::VectorXd q, v;
  fast_start(*truth.workspace, q, v);
  truth.mechanism->pack(test::view(q), test::view(v), truth.x);
  ObserverSettings settings;
  settings.filter = filter;
  settings.scheme = filter == "ukf" ? Scheme::kRungeKutta4 : Scheme::kTrapezoidal;
  settings.jacobian = TransitionJacobian::kExact;
  settings.acceleration_noise = {0};
  const auto o =
      test::observer(*model, nominal(*model), settings, {{.name = "theta", .sigma = kSmall}});
  std::vector<double> x(static_cast<size_t>(o->system().storage()));
  o->system().pack(test::view(q), test::view(v), x);
  Eigen::MatrixXd b;
  EXPECT_EQ(o->mechanism().whole(0, x, b), Status::kOk);
  const int theta = find_dof(*model, "theta");
  Eigen::MatrixXd to_crank(2, 2);
  to_crank << b.row(theta), b.row(model->nv + theta);
  const Eigen::MatrixXd from_crank = to_crank.inverse(),
                        crank = Eigen::Vector2d(kSmall * kSmall, 25 * kSmall * kSmall).asDiagonal();
  Eigen::MatrixXd p0 = from_crank * crank * from_crank.transpose();
  p0 = (0.5 * (p0 + p0.transpose())).eval();
  Smoother smoother(o->filter());
  EXPECT_EQ(o->filter().start(0, x, p0), Status::kOk);
  EXPECT_EQ(smoother.begin(), Status::kOk);
  const std::vector<int> wanted{find_output(*model, "theta"), find_output(*model, "theta_dot")};
  std::vector<double> y(wanted.size()), sigma(wanted.size()), reading(1);
  const std::vector<int> sensor{0};
  for (int k = 0; k < 1000; ++k) {
    EXPECT_EQ(truth.step(kDt), Status::kOk);
    const bool read = k % 5 == 4;
    reading[0] = truth.output(find_output(*model, "theta")) +
                 kSmall * normal(1, 0, static_cast<std::uint64_t>(k));
    const Status status =
        read ? o->filter().step(kDt, sensor, reading) : o->filter().step(kDt, {}, {});
    EXPECT_EQ(status, Status::kOk) << k;
    EXPECT_EQ(smoother.record(), Status::kOk);
    EXPECT_EQ(o->outputs(wanted, y, sigma), Status::kOk);
    out.y.insert(out.y.end(), y.begin(), y.end());
    out.sigma.insert(out.sigma.end(), sigma.begin(), sigma.end());
  }
  out.changes = o->filter().reframed();
  EXPECT_EQ(smoother.smooth(out.smoothed), Status::kOk);
  for (size_t k = 0; k < out.smoothed.t.size(); ++k) {
    MutableView state = out.smoothed.x[k];
    Eigen::MatrixXd h(1, 2);
    const std::vector<int> only{find_output(*model, "theta")};
    EXPECT_EQ(o->system().outputs(out.smoothed.t[k], state, only, reading), Status::kOk);
    EXPECT_EQ(o->system().outputs_jacobian(out.smoothed.t[k], state, only, h), Status::kOk);
    out.smoothed_theta.push_back(reading[0]);
    out.smoothed_sigma.push_back(std::sqrt((h * out.smoothed.p[k] * h.transpose())(0, 0)));
  }
  return out;
}

double largest(const std::vector<double>& a, const std::vector<double>& b,
               const std::vector<double>& unit) {
  double out = 0;
  for (size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]) / unit[i]);
  return out;
}

TEST(Coordinates, ChangesLeaveEstimatesAndDeviationsAsTheyAre) {
  for (const char* filter : {"error_ekf_ej", "ukf"}) {
    const Course crank = course(filter, "theta"), rocker = course(filter, "gamma");
    EXPECT_EQ(crank.changes, 0);
    EXPECT_GT(rocker.changes, 0);
    // The trapezoidal rule depends on the coordinate by h², Runge's by h⁴.
    const double tolerance = std::string(filter) == "ukf" ? 0.02 : 0.3;
    EXPECT_LT(largest(crank.y, rocker.y, crank.sigma), tolerance) << filter;
    EXPECT_LT(largest(crank.sigma, rocker.sigma, crank.sigma), 2e-3) << filter;
    EXPECT_LT(largest(crank.smoothed_theta, rocker.smoothed_theta, crank.smoothed_sigma), tolerance)
        << filter;
    EXPECT_LT(largest(crank.smoothed_sigma, rocker.smoothed_sigma, crank.smoothed_sigma), 2e-3)
        << filter;
  }
}

// H P Hᵀ before and after the very change.
TEST(Coordinates, ChangesLeaveTheCovarianceOfOutputs) {
  const auto model = turning("gamma");
  Truth truth(*model, nominal(*model));
  Eigen::VectorXd q, v;
  fast_start(*truth.workspace, q, v);
  Mechanism& m = *truth.mechanism;
  m.pack(test::view(q), test::view(v), truth.x);
  std::vector<int> wanted;
  for (size_t i = 0; i < model->outputs.size(); ++i) wanted.push_back(static_cast<int>(i));
  std::vector<double> y(wanted.size()), after(wanted.size());
  Eigen::MatrixXd h(static_cast<Eigen::Index>(wanted.size()), 2), change(2, 2), p(2, 2);
  p << 2e-4, 1e-4, 1e-4, 3e-4;
  int changes = 0;
  double t = 0;
  for (int k = 0; k < 1000; ++k, t += 1e-3) {
    if (m.worn()) {
      ++changes;
      ASSERT_EQ(m.outputs(t, truth.x, wanted, y), Status::kOk);
      ASSERT_EQ(m.outputs_jacobian(t, truth.x, wanted, h), Status::kOk);
      const Eigen::MatrixXd before = h * p * h.transpose();
      ASSERT_EQ(m.reframe(t, truth.x, change), Status::kOk);
      EXPECT_NE(change(0, 0), 1);
      p = (change * p * change.transpose()).eval();
      ASSERT_EQ(m.outputs(t, truth.x, wanted, after), Status::kOk);
      ASSERT_EQ(m.outputs_jacobian(t, truth.x, wanted, h), Status::kOk);
      const Eigen::MatrixXd now = h * p * h.transpose();
      for (Eigen::Index i = 0; i < now.rows(); ++i) {
        EXPECT_NEAR(now(i, i), before(i, i), 1e-9 * before(i, i))
            << model->outputs[static_cast<size_t>(i)].name;
        EXPECT_NEAR(after[static_cast<size_t>(i)], y[static_cast<size_t>(i)], 1e-12);
      }
    }
    ASSERT_EQ(m.step(t, 1e-3, truth.x, truth.next), Status::kOk);
    std::swap(truth.x, truth.next);
    ASSERT_EQ(m.settle(t + 1e-3, truth.x), Status::kOk);
  }
  EXPECT_GT(changes, 0);
}

// A load cell in a joint or a loop: its rows against differences of the closed mechanism.
TEST(ConstraintForce, ChangesWithTheStateAsItsDifferencesDo) {
  for (const char* name : {"distance_rod", "slider_crank_flexible", "fourbar_sanjurjo"}) {
    const auto model = test::zoo_model(name);
    if (model->rows.empty()) continue;
    std::vector<int> wanted;
    for (size_t r = 0; r < model->rows.size(); ++r) {
      Output force;
      force.name = "force " + std::to_string(r);
      force.kind = OutputKind::kMultiplier;
      force.index = static_cast<int>(r);
      wanted.push_back(static_cast<int>(model->outputs.size()));
      model->outputs.push_back(force);
    }
    Truth truth(*model, nominal(*model));
    for (int k = 0; k < 20; ++k) ASSERT_EQ(truth.step(1e-5), Status::kOk);
    Mechanism& m = *truth.mechanism;
    const auto rows = static_cast<Eigen::Index>(wanted.size());
    Eigen::MatrixXd h(rows, m.size()), differences = h;
    std::vector<double> y(wanted.size()), moved(truth.x.size()), w(static_cast<size_t>(m.size()));
    ASSERT_EQ(m.outputs(truth.t, truth.x, wanted, y), Status::kOk);
    ASSERT_EQ(m.outputs_jacobian(truth.t, truth.x, wanted, h), Status::kOk);
    const double step = 1e-6;
    for (int j = 0; j < m.size(); ++j) {
      for (const double sign : {1.0, -1.0}) {
        std::fill(w.begin(), w.end(), 0.0);
        w[static_cast<size_t>(j)] = sign * step;
        m.move(truth.x, w, moved);
        ASSERT_EQ(m.outputs(truth.t, moved, wanted, y), Status::kOk);
        const auto read = Eigen::Map<const Eigen::VectorXd>(y.data(), rows);
        if (sign > 0) {
          differences.col(j) = read / (2 * step);
        } else {
          differences.col(j) -= read / (2 * step);
        }
      }
    }
    // Differences: second order in the step, round-off of forces by the step.
    EXPECT_LT((h - differences).cwiseAbs().maxCoeff(), 1e-6 * h.cwiseAbs().maxCoeff()) << name;
    EXPECT_GT(h.cwiseAbs().maxCoeff(), 0) << name;
  }
}

// A load cell tells an extended filter of the motion: with it the speed is known better than with the encoder alone.
TEST(ConstraintForce, IsReadByEveryFilter) {
  const auto model = test::zoo_model("fourbar_sanjurjo");
  Output force;
  force.name = "pin force";
  force.kind = OutputKind::kMultiplier;
  force.index = 0;
  model->outputs.push_back(force);
  for (const FilterInfo& info : filters()) {
    Truth truth(*model, nominal(*model));
    ObserverSettings settings;
    settings.filter = info.name;
    settings.particles = 300;
    settings.sigma_coordinates = settings.sigma_speeds = {kDegree};
    settings.acceleration_noise = {0.01};
    const auto o = test::observer(*model, nominal(*model), settings,
                                  {{.name = "crank_encoder"}, {.name = "pin force", .sigma = 0.5}});
    ASSERT_EQ(o->start(), Status::kOk) << info.name;
    std::vector<double> y(2);
    const std::vector<int> sensors{0, 1};
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(truth.step(5e-3), Status::kOk);
      const auto index = static_cast<std::uint64_t>(k);
      y[0] = truth.output(find_output(*model, "crank_encoder")) + kDegree * normal(4, 0, index);
      y[1] = truth.output(find_output(*model, "pin force")) + 0.5 * normal(4, 1, index);
      ASSERT_EQ(o->filter().step(5e-3, sensors, y), Status::kOk) << info.name << " " << k;
    }
    const double speed = o->system().v(o->filter().state())[0],
                 truly = truth.mechanism->v(truth.x)[0];
    EXPECT_NEAR(speed, truly, 0.1) << info.name;
  }
}

TEST(Bias, OfAGyroscopeIsFound) {
  const auto model = test::zoo_model("fourbar_sanjurjo");
  const double bias = 0.05;
  for (const char* filter : {"error_ekf", "error_ekf_ej", "ukf", "cekf", "iekf"}) {
    Truth truth(*model, nominal(*model));
    ObserverSettings settings;
    settings.filter = filter;
    settings.sigma_coordinates = settings.sigma_speeds = {kDegree};
    settings.acceleration_noise = {0.01};
    // The continuous filter's covariance has no solution from an uncertainty far above the sensors'.
    const double start = settings.filter == "cekf" ? 0.02 : 0.2;
    const auto o =
        test::observer(*model, nominal(*model), settings,
                       {{.name = "crank_encoder"}, {.name = "coupler_gyro", .bias_sigma = start}});
    ASSERT_EQ(o->start(), Status::kOk);
    const std::vector<int> sensors{0, 1};
    std::vector<double> y(2);
    for (int k = 0; k < 2000; ++k) {
      ASSERT_EQ(truth.step(5e-3), Status::kOk);
      const auto index = static_cast<std::uint64_t>(k);
      y[0] = truth.output(find_output(*model, "crank_encoder")) + kDegree * normal(4, 0, index);
      y[1] =
          truth.output(find_output(*model, "coupler_gyro")) + bias + kDegree * normal(4, 1, index);
      ASSERT_EQ(o->filter().step(5e-3, sensors, y), Status::kOk);
    }
    Eigen::MatrixXd p;
    o->filter().covariance(p);
    const Eigen::Index last = p.rows() - 1;
    const double sigma = std::sqrt(p(last, last)),
                 found = o->system().biases(o->filter().state())[0];
    EXPECT_EQ(o->system().names()[static_cast<size_t>(last)], "bias coupler_gyro");
    EXPECT_LT(sigma, 0.002) << filter;
    EXPECT_NEAR(found, bias, 3 * sigma) << filter;
  }
}

}  // namespace
}  // namespace panto
