#include "panto/inversion/inverse_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/numerics/dense.hpp"
#include "panto/numerics/small.hpp"

namespace panto {
namespace {

// Points of the extrapolation that a step of backward differences begins with, beyond the order of the method.
constexpr int kPredicted = 2;

// Derivatives at the nodes of the polynomial through values at all of them: entry (i, j) of value j at node i.
Eigen::MatrixXd differentiation(const Eigen::VectorXd& nodes) {
  const Eigen::Index n = nodes.size();
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      if (j != i) weight[i] /= nodes[i] - nodes[j];
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      if (j != i) {
        d(i, j) = weight[j] / weight[i] / (nodes[i] - nodes[j]);
        d(i, i) -= d(i, j);
      }
  return d;
}

// Values at `to` of the polynomial through values at `from`.
Eigen::MatrixXd interpolation(const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Ones(to.size(), from.size());
  for (Eigen::Index i = 0; i < to.size(); ++i)
    for (Eigen::Index j = 0; j < from.size(); ++j)
      for (Eigen::Index k = 0; k < from.size(); ++k)
        if (k != j) m(i, j) *= (to[i] - from[k]) / (from[j] - from[k]);
  return m;
}

}  // namespace

std::vector<double> bdf_coefficients(int order) {
  // Σ_{j=1}^k ∇^j / j: α_0 … α_k.
  std::vector<double> alpha(static_cast<size_t>(order) + 1, 0.0);
  for (int j = 1; j <= order; ++j) {
    double binomial = 1;
    for (int i = 0; i <= j; ++i) {
      alpha[static_cast<size_t>(i)] += (i % 2 != 0 ? -binomial : binomial) / j;
      binomial = binomial * (j - i) / (i + 1);
    }
  }
  return alpha;
}

StageRule radau5_rule(double dt) {
  const double r = std::sqrt(6.0);
  Eigen::MatrixXd a(3, 3), inverse = Eigen::MatrixXd::Identity(3, 3);
  a << (88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225,  //
      (296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225,   //
      (16 - r) / 36, (16 + r) / 36, 1.0 / 9;
  StageRule rule;
  rule.nodes = a.rowwise().sum();
  static_cast<void>(eliminate(a, inverse));
  rule.D = inverse / dt;
  return rule;
}

Result<Rest> rest_at(ServoSystem& system, const Path& path, double t, View guess) {
  const int nv = system.nv(), nl = system.n_lambda(), nu = system.nu(), n = nv + nl + nu;
  Rest rest;
  rest.y.setZero(nv);
  rest.lambda.setZero(nl);
  rest.u.setZero(nu);
  if (guess.empty())
    system.guess({rest.y.data(), static_cast<size_t>(nv)});
  else
    std::copy(guess.begin(), guess.end(), rest.y.data());
  const std::vector<double> still(static_cast<size_t>(nv), 0.0);
  std::vector<double> target(static_cast<size_t>(path.size()));
  path.at(t, 1, target);
  ServoValues values;
  values.resize(nv, nl, nu);
  Eigen::VectorXd f(n);
  Eigen::MatrixXd j(n, n);
  const auto residual = [&](bool with_tangent) {
    const auto view = [](const Eigen::VectorXd& x) {
      return View{x.data(), static_cast<size_t>(x.size())};
    };
    system.evaluate({t, view(rest.y), still, still, view(rest.lambda), view(rest.u)}, with_tangent,
                    values);
    f.head(nv) = values.r;
    if (with_tangent) {
      j.setZero();
      j.topRows(nv) << values.r_y, values.r_lambda, values.r_u;
    }
    size_t component = 0;
    for (int i = 0; i < nl + nu; ++i) {
      const AlgebraicRow& row = system.rows()[static_cast<size_t>(i)];
      const int level = static_cast<int>(row.level);
      f[nv + i] = level == 0 ? values.g0[i] : level == 1 ? values.g1[i] : values.g2[i];
      // A path of speeds or accelerations says nothing about where the mechanism rests.
      if (i >= nl && !row.implicit) {
        const double wanted = target[component++];
        if (level == 0) f[nv + i] = row.left(f[nv + i] - wanted, 0);
      }
      if (!with_tangent) continue;
      j.row(nv + i).head(nv) = level == 0   ? values.G.row(i)
                               : level == 1 ? values.g1_y.row(i)
                                            : values.g2_y.row(i);
      j.row(nv + i).tail(nu) = values.g_u.row(i);
    }
    return f.cwiseAbs().maxCoeff();
  };
  // Gauss-Newton with minimum-norm steps: what the rows leave free stays near the guess. Forces count in a unit in which they are small: they hold a pose where
  // they can before it moves. A step is halved while the one after it, by the same matrix, would not be
  // smaller: forces of stiff directions may well grow on the way.
  constexpr int kIterations = 50;
  constexpr double kTolerance = 1e-9, kBalanced = 1e-6;
  MinimumNorm solver(1e-12);
  double norm = residual(true);
  const double force = 1e3 * std::max(1.0, values.r.cwiseAbs().maxCoeff());
  for (; rest.iterations < kIterations && std::isfinite(norm) && norm > 0; ++rest.iterations) {
    j.rightCols(nl + nu) *= force;
    solver.compute(j);
    const auto solve = [&] {
      Eigen::VectorXd step = solver.solve(f);
      step.tail(nl + nu) *= force;
      return step;
    };
    const Eigen::VectorXd step = solve();
    const Eigen::VectorXd y = rest.y, lambda = rest.lambda, u = rest.u;
    const double length = step.norm();
    bool helps = false;
    double factor = 1;
    for (int halving = 0; halving < 12 && !helps; ++halving, factor /= 2) {
      rest.y = y - factor * step.head(nv);
      rest.lambda = lambda - factor * step.segment(nv, nl);
      rest.u = u - factor * step.tail(nu);
      const double next = residual(false);
      helps = next < norm || solve().norm() < (1 - factor / 4) * length;
    }
    if (!helps) {
      rest.y = y;
      rest.lambda = lambda;
      rest.u = u;
      norm = residual(true);
      break;
    }
    norm = residual(true);
    if (step.cwiseAbs().maxCoeff() * factor < 1e-13 * (1 + y.cwiseAbs().maxCoeff())) break;
  }
  rest.residual = norm;
  const double scale = 1 + rest.lambda.cwiseAbs().sum() + rest.u.cwiseAbs().sum();
  if (!(norm <= kTolerance * scale)) {
    Eigen::Index worst = 0;
    f.cwiseAbs().maxCoeff(&worst);
    const std::string name =
        worst < nv ? fmt::format("forces along \"{}\"",
                                 system.coordinate_names()[static_cast<size_t>(worst)])
                   : fmt::format("row \"{}\"", system.rows()[static_cast<size_t>(worst - nv)].name);
    if (!(norm <= kBalanced * scale)) {
      Diagnostics d;
      d.error(1021, {},
              fmt::format("no rest with the outputs {} their path (t = {:.6g} s): {} left by "
                          "{:.3g}; is it within reach?",
                          t <= path.begin() ? "at the beginning of"
                          : t >= path.end() ? "at the end of"
                                            : "on",
                          t, name, f[worst]));
      return d;
    }
  }
  return rest;
}

Result<std::unique_ptr<InverseModel>> InverseModel::create(ServoSystem& system, Path path,
                                                           const InverseOptions& options) {
  Diagnostics d;
  int outputs = 0;
  bool coordinates = true;
  for (size_t i = static_cast<size_t>(system.n_lambda()); i < system.rows().size(); ++i) {
    outputs += system.rows()[i].implicit ? 0 : 1;
    coordinates = coordinates && system.rows()[i].coordinate >= 0;
  }
  if (path.size() != outputs)
    d.error(1002, {},
            fmt::format("the path has {} components for {} outputs", path.size(), outputs));
  if (!(options.dt > 0) || !std::isfinite(options.dt))
    d.error(1007, {}, fmt::format("the step must be positive, it is {} s", options.dt));
  if (options.scheme == InverseScheme::kBdf && (options.order < 1 || options.order > 6))
    d.error(1007, {}, fmt::format("BDF has the orders 1 … 6, not {}", options.order));
  if (options.newton.iterations < 1 || !(options.newton.tolerance >= 0))
    d.error(1007, {}, "at least one iteration and a tolerance that is not negative are needed");
  if (options.formulation == Formulation::kSubstitution && !coordinates)
    d.error(1007, {}, "only outputs that are coordinates themselves can be substituted");
  if (!d.ok()) return d;
  return std::unique_ptr<InverseModel>(new InverseModel(system, std::move(path), options));
}

InverseModel::InverseModel(ServoSystem& system, Path path, const InverseOptions& options)
    : system_(system),
      path_(std::move(path)),
      options_(options),
      nv_(system.nv()),
      nl_(system.n_lambda()),
      nu_(system.nu()) {
  StageRule rule;
  if (options_.scheme == InverseScheme::kRadau5) {
    rule = radau5_rule(options_.dt);
    const Eigen::VectorXd next = (rule.nodes.array() + 1).matrix();
    Eigen::VectorXd both(2 * rule.nodes.size());
    both << rule.nodes, (rule.nodes.array() - 1).matrix();
    extrapolation_[0] = interpolation(rule.nodes, next);
    extrapolation_[1] = interpolation(both, next);
  } else {
    alpha_ = bdf_coefficients(options_.order);
    rule.nodes = Eigen::VectorXd::Ones(1);
    rule.D = Eigen::MatrixXd::Constant(1, 1, alpha_[0] / options_.dt);
  }
  solver_ = std::make_unique<StageSolver>(system_, options_.formulation, options_.newton,
                                          std::move(rule), options_.dt);
  const int n = solver_->state_size(), s = solver_->stages();
  state_.setZero(n);
  history_.setZero(n, options_.order + kPredicted);
  p_.setZero(nv_, s);
  s_ = p_;
  stages_.setZero(n, s);
  previous_[0] = previous_[1] = stages_;
}

Diagnostics InverseModel::start(double t) {
  Diagnostics d;
  if (t > path_.begin()) {
    d.error(1022, {},
            fmt::format("a start at rest at t = {} s, where the path has been moving since {} s", t,
                        path_.begin()));
    return d;
  }
  Result<Rest> rest = rest_at(system_, path_, t);
  if (!rest.ok()) return rest.diagnostics();
  const std::vector<double> still(static_cast<size_t>(nv_), 0.0);
  const auto view = [](const Eigen::VectorXd& x) {
    return View{x.data(), static_cast<size_t>(x.size())};
  };
  return start(t, view(rest->y), still, view(rest->lambda), view(rest->u));
}

Diagnostics InverseModel::start(double t, View y, View v, View lambda, View u) {
  Diagnostics d;
  const auto put = [&](int first, View x) { std::copy(x.begin(), x.end(), state_.data() + first); };
  state_.setZero();
  put(0, y);
  put(nv_, v);
  put(3 * nv_, lambda);
  put(3 * nv_ + nl_, u);
  t_ = t0_ = t;
  // The rows on positions and speeds must hold before the first step: nothing later would make them.
  ServoValues values;
  values.resize(nv_, nl_, nu_);
  system_.evaluate({t, this->y(), this->v(), this->w(), this->lambda(), this->u()}, true, values);
  std::vector<double> target(static_cast<size_t>(2 * path_.size()));
  path_.at(t, 2, target);
  size_t component = 0;
  constexpr double kTolerance = 1e-6;
  for (int i = 0; i < nl_ + nu_; ++i) {
    const AlgebraicRow& row = system_.rows()[static_cast<size_t>(i)];
    const int level = static_cast<int>(row.level);
    double g0 = values.g0[i], g1 = values.g1[i];
    if (i >= nl_ && !row.implicit) {
      g0 = row.left(g0 - target[component], level);
      g1 -= target[component + (level == 0 ? static_cast<size_t>(path_.size()) : 0)];
      ++component;
    }
    if (level == 0 && row.differentiable && std::abs(g0) > kTolerance)
      d.error(1022, {},
              fmt::format("inconsistent start at t = {} s: row \"{}\" left by {:.3g}", t, row.name,
                          g0));
    else if (level <= 1 && row.differentiable && std::abs(g1) > kTolerance)
      d.error(1022, {},
              fmt::format("inconsistent start at t = {} s: speed of row \"{}\" left by {:.3g}", t,
                          row.name, g1));
  }
  if (!d.ok()) return d;
  for (Eigen::Index k = 0; k < history_.cols(); ++k) history_.col(k) = state_;
  known_ = 1;
  steps_ = 0;
  replayed_ = 0;
  first_.resize(state_.size(), 0);
  have_stages_ = 0;
  if (options_.scheme == InverseScheme::kBdf && options_.start_up == StartUp::kCollocation)
    d.append(start_up());
  return d;
}

// The first steps at once, as values of one polynomial of a degree two above the order: differentiating it twice leaves the order of the method.
Diagnostics InverseModel::start_up() {
  Diagnostics d;
  const int s = options_.order + 2;
  Eigen::VectorXd nodes(s + 1);
  for (int i = 0; i <= s; ++i) nodes[i] = i;
  const Eigen::MatrixXd full = differentiation(nodes) / options_.dt;
  StageRule rule{nodes.tail(s), full.bottomRightCorner(s, s)};
  NewtonOptions newton = options_.newton;
  newton.jacobian = JacobianKind::kAnalytic;
  newton.iterations = std::max(newton.iterations, 20);
  StageSolver block(system_, options_.formulation, newton, std::move(rule), options_.dt);
  Eigen::MatrixXd p(nv_, s), w(nv_, s);
  for (int k = 0; k < s; ++k) {
    p.col(k) = full(k + 1, 0) * state_.head(nv_);
    w.col(k) = full(k + 1, 0) * state_.segment(nv_, nv_);
  }
  first_ = state_.replicate(1, s);
  for (int k = 0; k < s; ++k)
    first_.col(k).head(nv_) += (k + 1) * options_.dt * state_.segment(nv_, nv_);
  const Status status = block.solve(t_, path_, p, w, first_);
  if (!ok(status))
    d.error(1023, {},
            fmt::format(
                "the first steps from t = {} s: {}, residual {:.3g}; the inputs do not move "
                "the outputs up to t = {:.6g} s, or the path is too fast for steps of {} s",
                t_, to_string(status), block.report().residual, t_ + s * options_.dt, options_.dt));
  // The speeds that the next steps differentiate are those that the method would have found, its error included: otherwise the error would seem to jump,
  // and its derivative would cost an order. Positions before the start are those of the polynomial.
  const int k = options_.order;
  Eigen::MatrixXd known(nv_, s + 1);
  known << state_.head(nv_), first_.topRows(nv_);
  Eigen::VectorXd wanted(2 * k);
  for (int i = 0; i < 2 * k; ++i) wanted[i] = s - i;
  const Eigen::MatrixXd positions = known * interpolation(nodes, wanted).transpose();
  start_speeds_.setZero(nv_, k);
  for (int n = 0; n < k; ++n)
    for (int i = 0; i <= k; ++i)
      start_speeds_.col(n) += alpha_[static_cast<size_t>(i)] / options_.dt * positions.col(n + i);
  return d;
}

void InverseModel::push() noexcept {
  for (Eigen::Index k = history_.cols() - 1; k > 0; --k) history_.col(k) = history_.col(k - 1);
  history_.col(0) = state_;
  known_ = std::min<int>(known_ + 1, static_cast<int>(history_.cols()));
  t_ = t0_ + static_cast<double>(++steps_) * options_.dt;
}

Status InverseModel::step() noexcept {
  if (replayed_ < first_.cols()) {
    state_ = first_.col(replayed_++);
    push();
    if (replayed_ == first_.cols())
      for (Eigen::Index i = 0; i < start_speeds_.cols(); ++i)
        history_.col(i).segment(nv_, nv_) = start_speeds_.col(i);
    return Status::kOk;
  }
  const int s = solver_->stages();
  if (options_.scheme == InverseScheme::kBdf) {
    p_.setZero();
    s_.setZero();
    const int k = options_.order;
    for (int i = 1; i <= k; ++i) {
      const double a = alpha_[static_cast<size_t>(i)] / options_.dt;
      p_.col(0) += a * history_.col(i - 1).head(nv_);
      s_.col(0) += a * history_.col(i - 1).segment(nv_, nv_);
    }
    // Extrapolation by the polynomial through the points that are known.
    const int points = options_.predict ? std::min(known_, static_cast<int>(history_.cols())) : 1;
    double binomial = 1;
    stages_.col(0).setZero();
    for (int i = 1; i <= points; ++i) {
      binomial = binomial * (points - i + 1) / i;
      stages_.col(0) += (i % 2 != 0 ? binomial : -binomial) * history_.col(i - 1);
    }
    // Positions that stood still would be linearised about no speed at all.
    if (points == 1)
      stages_.col(0).head(nv_) =
          (history_.col(0).segment(nv_, nv_) - p_.col(0)) / solver_->rule().D(0, 0);
  } else {
    for (int j = 0; j < s; ++j) {
      const double sum = solver_->rule().D.row(j).sum();
      p_.col(j) = -sum * state_.head(nv_);
      s_.col(j) = -sum * state_.segment(nv_, nv_);
    }
    for (int j = 0; j < s; ++j) {
      stages_.col(j) = state_;
      if (!options_.predict || have_stages_ == 0) {
        const double h = solver_->rule().nodes[j] * options_.dt;
        stages_.col(j).head(nv_) += h * state_.segment(nv_, nv_);
        continue;
      }
      const Eigen::MatrixXd& weights = extrapolation_[static_cast<size_t>(have_stages_ - 1)];
      stages_.col(j).setZero();
      for (int k = 0; k < s * have_stages_; ++k)
        stages_.col(j) += weights(j, k) * previous_[static_cast<size_t>(k / s)].col(k % s);
    }
  }
  const Status status = solver_->solve(t_, path_, p_, s_, stages_);
  if (fatal(status)) return status;
  previous_[0].swap(previous_[1]);
  previous_[0] = stages_;
  have_stages_ = std::min(have_stages_ + 1, 2);
  state_ = stages_.col(s - 1);
  push();
  return status;
}

}  // namespace panto
