// Static equilibrium (EQU-1): Newton on the manifold of closed poses. The unknown is a tangent step; after each step the loops are closed again, so
// that ball joints and changes of the independent directions need no special care (an iteration in fixed coordinates would).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/labels.hpp"
#include "panto/numerics/saddle.hpp"

namespace panto {

namespace {

constexpr double kRankTolerance = 1e-9;
constexpr double kBalanced = 1e-10;   // remaining force relative to the forces at play
constexpr double kLargestStep = 0.5;  // rad or lengths
constexpr double kClose =
    0.3;  // rad or lengths: an equilibrium this close to the guess is meant, even an unstable one
constexpr double kNeutral =
    1e-6;  // real parts below this, relative to the largest eigenvalue, are round-off

class EquilibriumSearch {
 public:
  EquilibriumSearch(Workspace& workspace, double t)
      : workspace_(workspace),
        model_(workspace.model()),
        t_(t),
        closure_(workspace, t),
        zero_(Eigen::VectorXd::Zero(workspace.model().nv)),
        wanted_speeds_(zero_),
        u_(workspace.model().nu()),
        u_rate_(workspace.model().nu()) {
    workspace.inputs_at(t, view(u_), view(u_rate_));
    u_rate_.setZero();
    // A drive of order 2 holds its channel at u. Those of order 0 and 1 hold whatever position they have.
    for (const ConstraintRow& row : model_.rows)
      if (row.target == TargetKind::kDrive2)
        closure_.wanted.push_back({row.channel, u_(row.input), 1});
  }

  Result<Equilibrium> run(const EquilibriumOptions& options) {
    const View q_guess = options.q;
    if (q_guess.empty()) {
      auto start = assemble(workspace_, t_);
      if (!start) return start.diagnostics();
      out_.q = start->q;
    } else {
      out_.q = Eigen::Map<const Eigen::VectorXd>(q_guess.data(),
                                                 static_cast<Eigen::Index>(q_guess.size()));
    }
    if (const auto closed = closure_.solve(out_.q); !closed.converged) return not_closed();
    if (!options.v.empty())
      wanted_speeds_ = Eigen::Map<const Eigen::VectorXd>(options.v.data(), model_.nv);
    if (!options.search) {
      const Rest s = rest(out_.q);
      out_.lambda = s.lambda;
      out_.residual = s.force.size() > 0 ? s.force.cwiseAbs().maxCoeff() : 0;
    } else if (!search()) {
      return not_balanced();
    }
    out_.v = speeds(out_.q);
    if (options.v.empty() && options.stability) stability();
    return std::move(out_);
  }

 private:
  // Forces at rest, the directions free to move and the multipliers that balance the rest.
  struct Rest {
    Eigen::VectorXd r;      // with λ = 0
    Eigen::MatrixXd free;   // orthonormal, in angles and lengths
    Eigen::VectorXd force;  // along free
    Eigen::VectorXd lambda;
    double scale = 0;  // size of r
  };

  // The wanted speeds, made to fit the loops at q with the smallest change.
  Eigen::VectorXd speeds(const Eigen::VectorXd& q) {
    if (wanted_speeds_.isZero(0)) return zero_;
    Eigen::MatrixXd g;
    workspace_.constraint_jacobian(t_, view(q), g);
    MinimumNorm rows(kRankTolerance);
    const Eigen::VectorXd& d = closure_.dof_scale();
    rows.compute(closure_.row_scale().asDiagonal() * g * d.asDiagonal());
    return wanted_speeds_ -
           d.cwiseProduct(rows.solve(closure_.row_scale().cwiseProduct(g * wanted_speeds_)));
  }

  // v must outlive the point.
  Point point(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const {
    Point p;
    p.t = t_;
    p.q = view(q);
    p.v = view(v);
    p.a = view(zero_);
    p.u = view(u_);
    p.u_rate = view(u_rate_);
    return p;
  }

  Rest rest(const Eigen::VectorXd& q) {
    Rest s;
    Residual residual;
    const Eigen::VectorXd v = speeds(q);
    workspace_.residual(point(q, v), false, residual);
    s.r = residual.r;
    Eigen::MatrixXd g;
    workspace_.constraint_jacobian(t_, view(q), g);
    const Eigen::VectorXd& d = closure_.dof_scale();
    const Eigen::MatrixXd rows = closure_.row_scale().asDiagonal() * g * d.asDiagonal();
    MinimumNorm along(kRankTolerance), across(kRankTolerance);
    along.compute(rows);
    s.free = along.null_space();
    s.force = s.free.transpose() * d.cwiseProduct(s.r);
    // Gᵀ λ = r, as well as it goes.
    across.compute(rows.transpose());
    s.lambda = closure_.row_scale().cwiseProduct(across.solve(d.cwiseProduct(s.r)));
    s.scale = d.cwiseProduct(s.r).norm();
    return s;
  }

  Eigen::MatrixXd stiffness(const Eigen::VectorXd& q, const Rest& s) {
    const Eigen::VectorXd v = speeds(q);
    Point p = point(q, v);
    p.lambda = view(s.lambda);
    Blocks blocks;
    blocks.v = blocks.a = blocks.lambda = false;
    Tangent tangent;
    workspace_.tangent(p, blocks, tangent);
    const Eigen::MatrixXd basis = closure_.dof_scale().asDiagonal() * s.free;
    return basis.transpose() * tangent.r_q * basis;
  }

  // A near equilibrium, stable or not, is taken as it is; otherwise the mechanism is let down along its forces to where it rests; if that
  // does not end, the nearest balance of forces is searched.
  bool search() {
    const Eigen::VectorXd start = out_.q;
    const std::array<int, 3> limits{10, 300, 200};
    for (const Way way : {Way::kNear, Way::kDown, Way::kBalance}) {
      out_.q = start;
      if (follow(way, limits[static_cast<size_t>(way)])) return true;
    }
    return false;
  }

  enum class Way { kNear, kDown, kBalance };

  bool follow(Way way, int limit) {
    Rest s = rest(out_.q), next;
    Eigen::VectorXd q;
    // Forces at play: the largest met, and what one radian or length would change (in an open chain all forces vanish at the end).
    double scale = 0, travelled = 0;
    for (int k = 0; k < limit; ++k, ++out_.iterations) {
      out_.residual = s.force.size() > 0 ? s.force.cwiseAbs().maxCoeff() : 0;
      out_.lambda = s.lambda;
      if (!std::isfinite(out_.residual)) return false;
      const Eigen::MatrixXd tangent = stiffness(out_.q, s);
      scale = std::max({scale, s.scale, tangent.norm()});
      if (out_.residual <= 1e-15 * scale) return true;
      const bool moved = way == Way::kNear   ? near_step(s, tangent, travelled, q, next)
                         : way == Way::kDown ? down_step(s, tangent, scale, q, next)
                                             : balance_step(s, tangent, q, next);
      const bool balanced = out_.residual <= kBalanced * scale;
      if (!moved || (balanced && next.force.norm() >= s.force.norm())) return balanced;
      out_.q = q;
      s = std::move(next);
    }
    return false;
  }

  // The closed pose one tangent step away, and its forces.
  bool go(const Rest& s, const Eigen::VectorXd& step, Eigen::VectorXd& q, Rest& next) {
    q = out_.q;
    const Eigen::VectorXd move = closure_.dof_scale().cwiseProduct(s.free * step);
    workspace_.move(view(q), view(move));
    if (!closure_.solve(q).converged) return false;
    next = rest(q);
    return next.force.allFinite();
  }

  static double size_of(const Eigen::VectorXd& step) {
    return step.size() > 0 ? step.cwiseAbs().maxCoeff() : 0;
  }
  static void shorten(Eigen::VectorXd& step) {
    const double size = size_of(step);
    if (size > kLargestStep) step *= kLargestStep / size;
  }

  // What Newton's step would be at `next` with the stiffness of s. It shrinks towards a balance also where forces do not: those of a stiff beam
  // feel the second-order part of a turn more than the weight that turned it.
  static double left_over(const MinimumNorm& newton, const Rest& s, const Rest& next) {
    return size_of(newton.solve(s.free.transpose() * (next.free * next.force)));
  }

  // Full Newton, as long as it stays close and shrinks.
  bool near_step(const Rest& s, const Eigen::MatrixXd& k, double& travelled, Eigen::VectorXd& q,
                 Rest& next) {
    MinimumNorm newton(1e-12);
    newton.compute(k);
    const Eigen::VectorXd step = newton.solve(-s.force);
    travelled += size_of(step);
    return travelled <= kClose && go(s, step, q, next) &&
           left_over(newton, s, next) < size_of(step);
  }

  // Newton with every curvature taken positive, so that it goes where the forces push; halved while it runs past the bottom.
  bool down_step(const Rest& s, const Eigen::MatrixXd& k, double scale, Eigen::VectorXd& q,
                 Rest& next) {
    const SymmetricEigen e = symmetric_eigen(0.5 * (k + k.transpose()));
    Eigen::VectorXd step = -(e.vectors.transpose() * s.force);
    for (Eigen::Index i = 0; i < step.size(); ++i) {
      const double force = std::abs(step(i));
      step(i) = force <= 1e-14 * scale
                    ? 0  // balanced: a neutral direction must not drift
                    : step(i) / std::max(std::abs(e.values(i)), force / kLargestStep);
    }
    step = e.vectors * step;
    shorten(step);
    for (int halving = 0; halving < 40 && size_of(step) > 0; ++halving, step *= 0.5) {
      if (!go(s, step, q, next)) continue;
      // Force along the step at both ends: the work done is positive unless the second opposes more than the first drives.
      const double drive = -s.force.dot(step),
                   oppose = next.force.dot(next.free.transpose() * (s.free * step));
      if (oppose <= 0.5 * drive) return true;
    }
    return false;
  }

  // Newton, shortened; where it does not lead on, descent of |force| by damped least squares.
  bool balance_step(const Rest& s, const Eigen::MatrixXd& k, Eigen::VectorXd& q, Rest& next) {
    MinimumNorm newton(1e-12);
    newton.compute(k);
    Eigen::VectorXd step = newton.solve(-s.force);
    const double whole = size_of(step);
    shorten(step);
    for (int halving = 0; halving < 6; ++halving, step *= 0.5)
      if (go(s, step, q, next) && left_over(newton, s, next) < whole * (1 - 1e-12)) return true;
    for (double damping = 1e-6; damping < 1e8; damping *= 100) {
      step = damped_least_squares(k, -s.force, damping * k.squaredNorm() + 1e-300);
      shorten(step);
      if (go(s, step, q, next) && next.force.norm() < s.force.norm() * (1 - 1e-12)) return true;
    }
    return false;
  }

  // EQU-2: δq in the directions that position rows leave, δv in those that velocity rows leave; δa and δλ follow from the linearised equations.
  void stability() {
    Point p = point(out_.q, zero_);
    p.lambda = view(out_.lambda);
    Blocks blocks;
    Tangent tangent;
    workspace_.tangent(p, blocks, tangent);
    const Eigen::MatrixXd& g = tangent.phi_ddot_a;
    const int np = model_.n_position_rows, npv = np + model_.n_velocity_rows, nv = model_.nv;
    MinimumNorm positions(kRankTolerance), velocities(kRankTolerance);
    positions.compute(g.topRows(np));
    velocities.compute(g.topRows(npv));
    const Eigen::MatrixXd x = positions.null_space(), w = velocities.null_space();
    const Eigen::Index nx = x.cols(), nw = w.cols();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(nx + nw, nx + nw);
    a.topRightCorner(nx, nw) = x.transpose() * w;
    SaddleSolver saddle(nv, model_.n_rows());
    for (Eigen::Index k = 0; k < nx + nw; ++k) {
      const bool position = k < nx;
      const Eigen::VectorXd direction = position ? x.col(k) : w.col(k - nx);
      const Eigen::VectorXd force = -(position ? tangent.r_q : tangent.r_v) * direction,
                            bias =
                                -(position ? tangent.phi_ddot_q : tangent.phi_ddot_v) * direction;
      Eigen::VectorXd acceleration, lambda;
      const Status status = saddle.solve(tangent.r_a, g, force, bias, acceleration, lambda);
      if (status == Status::kSingular || status == Status::kNotFinite) return;  // not defined
      a.col(k).tail(nw) = w.transpose() * acceleration;
    }
    double largest = 0;
    out_.growth_rate = nx + nw > 0 ? -HUGE_VAL : 0;
    for (const std::complex<double>& e : eigenvalues(a)) {
      out_.eigenvalues.emplace_back(e.real(), e.imag());
      largest = std::max(largest, std::abs(e));
      out_.growth_rate = std::max(out_.growth_rate, e.real());
    }
    out_.stable = out_.growth_rate <= kNeutral * largest;
  }

  Diagnostics not_closed() const {
    Diagnostics d;
    d.error(505, model_.groups.empty() ? Loc{} : model_.groups[0].loc,
            "no equilibrium: the loops cannot be closed from the guess");
    return d;
  }

  Diagnostics not_balanced() {
    // The coordinate with the largest force that no constraint carries.
    const Rest s = rest(out_.q);
    const Eigen::VectorXd left = (s.free * s.force).cwiseQuotient(closure_.dof_scale());
    int worst = 0;
    const double force = left.size() > 0 ? left.cwiseAbs().maxCoeff(&worst) : 0;
    std::string name = model_.speed_names[static_cast<size_t>(worst)];
    for (const ScalarCoordinate& e : scalar_coordinates(model_))
      if (e.v == worst) name = model_.coordinate_names[static_cast<size_t>(e.q)];
    Loc loc;
    const bool slide = is_slide(model_, worst);
    for (const Joint& j : model_.joints) {
      if (worst < j.v || worst >= j.v + j.nv) continue;
      if (j.spec >= 0) loc = model_.file_joints[static_cast<size_t>(j.spec)].loc;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.4g %s", force, slide ? "N" : "N m");
    Diagnostics d;
    d.error(505, loc,
            "no equilibrium found from this guess: " + std::string(text.data()) + " remains on " +
                name + " after " + std::to_string(out_.iterations) +
                " iterations; begin nearer to one, or take modes and linear models in the pose "
                "itself (here)");
    return d;
  }

  Workspace& workspace_;
  const Model& model_;
  double t_;
  Closure closure_;
  Eigen::VectorXd zero_, wanted_speeds_, u_, u_rate_;
  Equilibrium out_;
};

}  // namespace

Result<Equilibrium> equilibrium(Workspace& workspace, double t, const EquilibriumOptions& options) {
  return EquilibriumSearch(workspace, t).run(options);
}

}  // namespace panto
