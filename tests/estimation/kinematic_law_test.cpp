// Systems observed by kinematics: derivatives of every scheme against differences, steps that allocate nothing, and geometry that is all they read.
#include <algorithm>
#include <numeric>

#include "panto/estimation/ekf.hpp"
#include "panto/estimation/sigma.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/estimation/kinematic_case.hpp"

namespace panto {
namespace {

using test::KinematicCase;
using test::view;

struct Setup {
  const char* model;
  std::vector<std::string> rates, accelerations, sensors;
};
const std::vector<Setup>& setups() {
  static const std::vector<Setup> list{
      {"slider_crank_inline", {"slider_v"}, {"slider_accelerometer"}, {"crank_encoder"}},
      {"two_link", {"theta1_dot", "theta2_dot"}, {"a1", "a2"}, {"encoder1", "tip_x"}},
      {"two_link",
       {"theta1_dot", "theta2_dot", "theta1_dot"},
       {"a1", "a2", "b2"},
       {"encoder1", "tip_y"}},
      {"excavator",
       {"theta_b_dot", "theta_s_dot", "rate1", "theta_bc_dot"},
       {"a1", "a2", "a3"},
       {"boom_encoder", "tip_x", "length2"}},
  };
  return list;
}

// Outputs that the tests need and the models do not have.
Model with_outputs(const std::string& name) {
  Model m = *test::zoo_model(name);
  const auto speed = [&](const std::string& dof) {
    const int i = find_dof(m, dof);
    if (i < 0 || find_output(m, dof + "_dot") >= 0) return;
    Output o;
    o.name = dof + "_dot";
    o.channel.dof = i;
    o.order = Order::kRate;
    m.outputs.push_back(o);
  };
  for (const char* dof : {"theta1", "theta2", "theta_b", "theta_s", "theta_bc"}) speed(dof);
  if (const int a2 = find_output(m, "a2"); a2 >= 0) {
    Output along = m.outputs[static_cast<size_t>(a2)];
    along.name = "b2";
    along.channel.axis = 0;
    m.outputs.push_back(along);
  }
  return m;
}

struct Variant {
  size_t setup;
  KinematicOptions options;
};
void PrintTo(const Variant& v, std::ostream* out) { *out << setups()[v.setup].model; }

std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (size_t s = 0; s < setups().size(); ++s)
    for (const int order : {1, 2})
      for (const Scheme scheme : {Scheme::kEuler, Scheme::kTrapezoidal, Scheme::kRungeKutta4})
        for (const TopState top : {TopState::kNone, TopState::kRandomWalk, TopState::kNewmarkSpeed,
                                   TopState::kNewmarkPosition, TopState::kCombined})
          for (const InputHold hold : {InputHold::kBegin, InputHold::kLinear}) {
            if (top == TopState::kNewmarkPosition && (order == 1 || scheme == Scheme::kEuler))
              continue;
            KinematicOptions o;
            o.order = order;
            o.scheme = scheme;
            o.top = top;
            o.hold = hold;
            o.gamma = 0.8;
            o.beta = 0.4;
            list.push_back({s, o});
          }
  return list;
}

KinematicCase make(const Variant& variant, double bias = 0.1) {
  const Setup& s = setups()[variant.setup];
  return {with_outputs(s.model),
          variant.options.order == 1 ? s.rates : s.accelerations,
          0.05,
          s.sensors,
          0.003,
          variant.options,
          bias,
          bias};
}

// Away from the initial pose, with a speed.
void displace(KinematicCase& c) {
  std::vector<double> w(static_cast<size_t>(c.system->size()));
  for (size_t i = 0; i < w.size(); ++i) w[i] = 0.3 + 0.2 * std::sin(1.0 + static_cast<double>(i));
  c.system->move(c.x, w, c.x);
  ASSERT_EQ(c.system->settle(0, c.x), Status::kOk);
}

// Readings near those of the present motion, which redundant ones contradict a little.
std::vector<double> readings(KinematicCase& c, double shift) {
  std::vector<double> u(static_cast<size_t>(c.system->inputs()));
  for (size_t i = 0; i < u.size(); ++i) u[i] = 1 + shift + 0.7 * std::cos(static_cast<double>(i));
  return u;
}

class Derivatives : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(All, Derivatives, testing::ValuesIn(variants()));

TEST_P(Derivatives, OfAStepAreThoseOfItsDifferences) {
  constexpr double kStep = 0.01;
  KinematicCase exact = make(GetParam());
  Variant other = GetParam();
  other.options.jacobian = KinematicJacobian::kNumeric;
  KinematicCase numeric = make(other);
  displace(exact);
  displace(numeric);
  const int n = exact.system->size();
  Eigen::MatrixXd f(n, n), g(n, n);
  for (auto* c : {&exact, &numeric}) {
    const auto begin = readings(*c, 0), end = readings(*c, 0.4);
    c->system->set_inputs(begin, end);
    std::vector<double> out(c->x.size());
    ASSERT_EQ(c->system->step(0, kStep, c->x, out), Status::kOk);
    ASSERT_FALSE(c->system->in_zone(out));
    ASSERT_EQ(c->system->transition(0, kStep, c->x, out, c == &exact ? f : g), Status::kOk);
  }
  // Differences of 1e-5: truncation 1e-10 of the third derivative, round-off 1e-11; the derivative states divide it by the step (its square).
  const double scale = 1 + g.cwiseAbs().maxCoeff();
  const double tolerance = GetParam().options.top == TopState::kNewmarkPosition ? 1e-6 : 2e-8;
  EXPECT_LT((f - g).cwiseAbs().maxCoeff(), tolerance * scale) << f << "\n\n" << g;
}

TEST_P(Derivatives, OfOutputsAreThoseOfTheirDifferences) {
  KinematicCase c = make(GetParam());
  displace(c);
  const auto u = readings(c, 0);
  c.system->set_inputs(u, u);
  std::vector<int> outputs;
  for (size_t i = 0; i < c.model->outputs.size(); ++i) {
    const Output& o = c.model->outputs[i];
    if (o.kind == OutputKind::kChannel &&
        (GetParam().options.order == 2 || o.order != Order::kAcceleration))
      outputs.push_back(static_cast<int>(i));
  }
  const int n = c.system->size();
  Eigen::MatrixXd h(static_cast<Eigen::Index>(outputs.size()), n);
  std::vector<double> y(outputs.size()), plus(y), minus(y), w(static_cast<size_t>(n), 0.0),
      moved(c.x.size());
  ASSERT_EQ(c.system->outputs(0, c.x, outputs, y), Status::kOk);
  ASSERT_EQ(c.system->outputs_jacobian(0, c.x, outputs, h), Status::kOk);
  constexpr double kStep = 1e-5;
  for (int k = 0; k < n; ++k) {
    for (const double sign : {1.0, -1.0}) {
      w[static_cast<size_t>(k)] = sign * kStep;
      c.system->move(c.x, w, moved);
      ASSERT_EQ(c.system->outputs(0, moved, outputs, sign > 0 ? plus : minus), Status::kOk);
      w[static_cast<size_t>(k)] = 0;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const double expected = (plus[i] - minus[i]) / (2 * kStep),
                   got = h(static_cast<Eigen::Index>(i), k);
      EXPECT_NEAR(got, expected, 1e-6 * (1 + std::abs(expected)))
          << c.model->outputs[static_cast<size_t>(outputs[i])].name << " by "
          << c.system->names()[static_cast<size_t>(k)];
    }
  }
}

// Masses, gravity's forces and springs are no part of it: the same numbers to the last bit with others.
TEST(Kinematics, ReadNeitherMassesNorForces) {
  const Model model = with_outputs("excavator");
  Model other = model;
  for (auto& p : other.parameters)
    for (const char* name : {"mb", "ms", "mk", "Jb", "Js", "Jk", "k_boom", "c_cyl", "T_fr"})
      if (p.name == name) p.value *= 7.3;
  KinematicOptions options;
  options.top = TopState::kRandomWalk;
  options.noise.top = {1.0};
  std::vector<std::vector<double>> states;
  for (const Model* m : {&model, static_cast<const Model*>(&other)}) {
    KinematicCase c(*m, {"a1", "a2", "a3"}, 0.03,
                    {"boom_encoder", "stick_encoder", "bucket_encoder"}, 0.006, options);
    SigmaFilter filter(*c.system, {}, {.set = SigmaSet::kSphericalSimplex});
    Eigen::MatrixXd p0;
    c.system->initial_covariance(std::vector{0.01}, std::vector{0.1}, std::vector{1.0}, p0);
    ASSERT_EQ(filter.start(0, c.x, p0), Status::kOk);
    const std::vector<int> all{0, 1, 2};
    for (int k = 0; k < 50; ++k) {
      const std::vector<double> u{9 + std::sin(0.1 * k), 4.0, -2 + std::cos(0.2 * k)},
          y{0.7, -1.745, -1.05};
      c.system->set_inputs(u, u);
      ASSERT_EQ(filter.step(1e-3, all, y), Status::kOk);
    }
    states.emplace_back(filter.state().begin(), filter.state().end());
  }
  EXPECT_EQ(states[0], states[1]);
}

TEST(Kinematics, StepsOfEveryFilterAllocateNothing) {
  for (const Variant& variant : variants()) {
    if (variant.options.hold == InputHold::kLinear &&
        variant.options.top == TopState::kNewmarkSpeed)
      continue;
    for (const int kind : {0, 1, 2, 3, 4, 5, 6}) {
      Variant v = variant;
      if (kind == 6) v.options.jacobian = KinematicJacobian::kNumeric;
      v.options.noise.position = v.options.noise.speed = v.options.noise.top = {1e-3};
      KinematicCase c = make(v);
      std::unique_ptr<Filter> filter;
      if (kind == 0 || kind == 6) {
        filter = std::make_unique<Ekf>(*c.system, FilterOptions{});
      } else {
        SigmaOptions o;
        o.set = kind == 1   ? SigmaSet::kUnscented
                : kind == 2 ? SigmaSet::kSphericalSimplex
                            : SigmaSet::kCubature;
        o.square_root = kind > 3;
        if (kind == 4) o.set = SigmaSet::kSphericalSimplex;
        filter = std::make_unique<SigmaFilter>(*c.system, FilterOptions{}, o);
      }
      displace(c);
      Eigen::MatrixXd p0, p;
      c.system->initial_covariance(std::vector{1e-3}, std::vector{1e-3}, std::vector{1e-3}, p0);
      p = p0;
      ASSERT_EQ(filter->start(0, c.x, p0), Status::kOk);
      std::vector<int> all(static_cast<size_t>(c.system->sensors()));
      std::iota(all.begin(), all.end(), 0);
      std::vector<double> y(all.size());
      ASSERT_EQ(c.system->sense(0, c.x, all, y), Status::kOk);
      const auto u = readings(c, 0);
      std::vector<double> partly = u;
      if (u.size() > 2) partly[0] = std::nan("");
      for (int k = 0; k < 20; ++k) {
        const size_t used = k % 3 == 0 ? 0 : all.size();
        const long before = calls;
        c.system->set_inputs(k % 4 == 3 ? partly : u, u);
        const Status status = filter->step(1e-3, std::span(all).first(used), View(y).first(used));
        ASSERT_EQ(calls - before, 0) << setups()[v.setup].model << " filter " << kind;
        ASSERT_EQ(status, Status::kOk)
            << setups()[v.setup].model << " filter " << kind << " step " << k << " order "
            << v.options.order << " top " << static_cast<int>(v.options.top);
        filter->covariance(p);
        ASSERT_TRUE(test::definite(p));
      }
    }
  }
}

}  // namespace
}  // namespace panto
