#include "panto/mechanics/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/mechanics/assembler.hpp"
#include "panto/mechanics/erls/placement.hpp"
#include "panto/mechanics/labels.hpp"
#include "panto/numerics/saddle.hpp"

namespace panto {

namespace {

constexpr double kReluctance = 0.1;  // how willingly a guess moves, compared with a free coordinate
constexpr double kConsistent = 1e-6;   // given values that agree this well do not conflict
constexpr double kSoftWeight = 1e-2;   // of guessed points against loops
constexpr int kStartIterations = 100;  // per start
constexpr int kStarts = 32, kStartsLarge = 8;
constexpr int kLargeModel = 60;     // speeds
constexpr double kUnwilling = 1e6;  // weight of displacements of beams against the heaviest speed

// Uniform in [0, 1), the same in every run.
double draw(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z =
      (a * 0x9E3779B97F4A7C15ULL) ^ (b * 0xD1B54A32D192ED03ULL + 0x2545F4914F6CDD1DULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace

Assembler::Assembler(Workspace& workspace, double t, View q_guess)
    : workspace_(workspace), model_(workspace.model()), t_(t), closure_(workspace, t) {
  PANTO_EXPECT(q_guess.empty() || q_guess.size() == static_cast<size_t>(model_.nq),
               "guess has another number of coordinates");
  start_.setZero(model_.nq);
  for (const Joint& j : model_.joints)
    if (j.type == JointType::kSpherical) start_(j.q) = 1;
  std::copy(q_guess.begin(), q_guess.end(), start_.data());
  known_.assign(static_cast<size_t>(model_.nv), q_guess.empty() ? Known::kFree : Known::kGuess);
  // The rigid links close the loops; displacements of beams stay as given, or zero.
  for (int k = model_.joint_nv(); k < model_.nv; ++k)
    known_[static_cast<size_t>(k)] = Known::kGiven;
  for (size_t i = 0; i < model_.initial.size(); ++i) {
    const Condition& c = model_.initial[i];
    if (c.order == Order::kValue && !c.guess)
      given_.push_back({static_cast<int>(i), -1, c.name, c.loc});
  }
  for (size_t i = 0; i < model_.orientations.size(); ++i) {
    const InitialOrientation& o = model_.orientations[i];
    if (!o.guess) given_.push_back({-1, static_cast<int>(i), o.name, o.loc});
  }
  std::vector<int> coordinate(static_cast<size_t>(model_.nv), -1);
  for (const ScalarCoordinate& e : scalar_coordinates(model_))
    coordinate[static_cast<size_t>(e.v)] = e.q;
  // Given values also serve as guesses; they come last so that they win.
  for (const bool guess : {true, false}) {
    if (guess && !q_guess.empty()) continue;
    for (const Condition& c : model_.initial) {
      if (c.order != Order::kValue || c.guess != guess) continue;
      const double value = workspace.number(c.value);
      if (c.channel.kind == ChannelKind::kCoordinate) {
        const auto dof = static_cast<size_t>(c.channel.dof);
        PANTO_EXPECT(coordinate[dof] >= 0, "initial value of a speed without coordinate");
        start_(coordinate[dof]) = value;
        if (known_[dof] == Known::kFree) known_[dof] = Known::kGuess;
      } else if (guess) {
        soft_.push_back({c.channel, value, kSoftWeight});
      }
    }
    for (const InitialOrientation& o : model_.orientations)
      if (o.guess == guess) set_orientation(o);
  }
}

void Assembler::set_orientation(const InitialOrientation& o) {
  const Joint& j = model_.joints[static_cast<size_t>(o.joint)];
  for (int k = 0; k < 4; ++k)
    start_(j.q + k) = workspace_.number(o.quaternion[static_cast<size_t>(k)]);
  start_.segment(j.q, 4).normalize();
  for (int k = 0; k < 3; ++k) known_[static_cast<size_t>(j.v + k)] = Known::kGuess;
}

// Coordinates kept: their columns do not move. Other values kept: rows. A coordinate given twice: a row that its fixed column must satisfy.
void Assembler::configure(const Kept& kept) {
  std::vector<Known> known = known_;
  closure_.wanted.clear();
  wanted_.clear();
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!kept[i]) continue;
    if (given_[i].orientation >= 0) {
      const int joint = model_.orientations[static_cast<size_t>(given_[i].orientation)].joint;
      for (int k = 0; k < 3; ++k)
        known[static_cast<size_t>(model_.joints[static_cast<size_t>(joint)].v + k)] = Known::kGiven;
      continue;
    }
    const Condition& c = model_.initial[static_cast<size_t>(given_[i].condition)];
    const double value = workspace_.number(c.value);
    if (c.channel.kind == ChannelKind::kCoordinate &&
        known[static_cast<size_t>(c.channel.dof)] != Known::kGiven) {
      known[static_cast<size_t>(c.channel.dof)] = Known::kGiven;
      start_(workspace_.coordinate_of(c.channel.dof)) = value;
    } else {
      wanted_.push_back({c.channel, value, 1});
    }
  }
  for (int k = 0; k < model_.nv; ++k) {
    const Known state = known[static_cast<size_t>(k)];
    closure_.mobility(k) = state == Known::kGiven ? 0 : state == Known::kGuess ? kReluctance : 1;
  }
}

void Assembler::perturb(int attempt, Eigen::VectorXd& q) const {
  if (attempt == 0) return;
  const double amplitude = attempt == 1 ? 0.1 : attempt == 2 ? 0.4 : 1;
  const bool any_free = closure_.mobility.size() > 0 && closure_.mobility.maxCoeff() == 1;
  Eigen::VectorXd step = Eigen::VectorXd::Zero(model_.nv);
  for (int k = 0; k < model_.nv; ++k) {
    const double mobility = closure_.mobility(k);
    if (mobility == 0) continue;
    // Guesses are left alone as long as something else may be tried.
    if (mobility < 1 && any_free && attempt < kStartsLarge) continue;
    const double u =
        draw(static_cast<std::uint64_t>(attempt), static_cast<std::uint64_t>(k)) * 2 - 1;
    const double reach = closure_.dof_scale()(k) == 1 ? std::numbers::pi : closure_.dof_scale()(k);
    step(k) = amplitude * u * reach * (mobility < 1 ? 0.3 : 1);
    const Limits limits = model_.limits.empty() ? Limits{} : model_.limits[static_cast<size_t>(k)];
    if (mobility == 1 && limits.lower >= 0 && limits.upper >= 0) {
      const double low = workspace_.number(limits.lower), high = workspace_.number(limits.upper);
      step(k) = 0.5 * (low + high) + 0.5 * amplitude * u * (high - low);
    }
  }
  workspace_.move(view(q), view(step));
}

ClosureResult Assembler::attempt(Eigen::VectorXd& q) {
  closure_.wanted = wanted_;
  ClosureResult result;
  int before = 0;
  if (!soft_.empty()) {
    closure_.wanted.insert(closure_.wanted.end(), soft_.begin(), soft_.end());
    Eigen::VectorXd guessed = q;
    result = closure_.solve(guessed, kStartIterations);
    before = result.iterations;
    if (result.finite) q = guessed;
    closure_.wanted = wanted_;
  }
  result = closure_.solve(q, kStartIterations);
  result.iterations += before;
  return result;
}

bool Assembler::positions(const Kept& kept, Eigen::VectorXd& q, int& iterations) {
  configure(kept);
  const bool can_move = closure_.mobility.size() > 0 && closure_.mobility.maxCoeff() > 0;
  const int starts = !can_move ? 1 : model_.nv > kLargeModel ? kStartsLarge : kStarts;
  double best = std::numeric_limits<double>::infinity();
  q = start_;
  for (int k = 0; k < starts; ++k) {
    Eigen::VectorXd trial = start_;
    perturb(k, trial);
    const ClosureResult result = attempt(trial);
    iterations += result.iterations;
    if (result.finite && result.error < best) {
      best = result.error;
      q = trial;
    }
    if (result.finite && result.converged) return true;
    if (best <= kConsistent && release(q, iterations)) return true;
  }
  return false;
}

bool Assembler::positions(Eigen::VectorXd& q, int& iterations) {
  return positions(Kept(given_.size(), 1), q, iterations);
}

// More values given than there is freedom, agreeing but for rounding: close the loops exactly and let the values give way.
bool Assembler::release(Eigen::VectorXd& q, int& iterations) {
  const Eigen::VectorXd mobility = closure_.mobility;
  closure_.mobility.head(model_.joint_nv()).setOnes();
  closure_.wanted.clear();
  Eigen::VectorXd trial = q;
  const ClosureResult result = closure_.solve(trial, kStartIterations);
  closure_.mobility = mobility;
  iterations += result.iterations;
  if (!result.finite || !result.converged || (trial - q).norm() > 1e3 * kConsistent) return false;
  q = trial;
  return true;
}

double Assembler::speeds(const std::vector<Rate>& rates, const Kept& kept, Eigen::VectorXd& v) {
  const auto n = static_cast<Eigen::Index>(std::count(kept.begin(), kept.end(), 1));
  Eigen::MatrixXd a(loops_.rows() + n, model_.nv);
  Eigen::VectorXd b(a.rows());
  a.topRows(loops_.rows()) = loops_;
  b.head(loops_.rows()) = loop_rates_;
  Eigen::Index row = loops_.rows();
  for (size_t i = 0; i < rates.size(); ++i) {
    if (!kept[i]) continue;
    // Rows of size one, so that the rank does not depend on units.
    const double scale = rates[i].gradient.norm() > 0 ? 1 / rates[i].gradient.norm() : 1;
    a.row(row) = scale * rates[i].gradient.transpose();
    b(row++) = scale * rates[i].value;
  }
  SaddleSolver solver(model_.nv, static_cast<int>(a.rows()));
  Eigen::VectorXd lambda, correction;
  (void)solver.solve(metric_, a, metric_ * v_guess_, b, v, lambda);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(model_.nv);
  for (int k = 0; k < 2; ++k) {  // to round-off
    (void)solver.solve(metric_, a, none, b - a * v, correction, lambda);
    v += correction;
  }
  const double size = 1 + (b.size() > 0 ? b.cwiseAbs().maxCoeff() : 0);
  double worst = a.rows() > 0 ? (a * v - b).cwiseAbs().maxCoeff() / size : 0;
  if (worst <= kConsistent && worst > 1e-12 && loops_.rows() > 0) {
    // Rates that agree but for rounding: the constraints come first.
    (void)solver.solve(metric_, loops_, none, loop_rates_ - loops_ * v, correction, lambda);
    v += correction;
  }
  return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

bool Assembler::velocities(const Eigen::VectorXd& q, Eigen::VectorXd& v, Diagnostics& out) {
  const int nv = model_.nv, npv = model_.n_position_rows + model_.n_velocity_rows;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(nv);
  v_guess_.setZero(nv);
  std::vector<Rate> rates;
  for (size_t i = 0; i < model_.initial.size(); ++i) {
    const Condition& c = model_.initial[i];
    if (c.order != Order::kRate) continue;
    Rate rate{static_cast<int>(i), Eigen::VectorXd(nv), workspace_.number(c.value)};
    workspace_.channel(c.channel, Order::kRate, view(q), view(zero), view(rate.gradient));
    if (!c.guess) {
      rates.push_back(std::move(rate));
    } else if (c.channel.kind == ChannelKind::kCoordinate) {
      v_guess_(c.channel.dof) = rate.value;
    }
  }
  if (npv == 0 && rates.empty()) {
    v = v_guess_;
    return true;
  }
  Eigen::VectorXd u(model_.nu()), u_rate(model_.nu());
  workspace_.inputs_at(t_, view(u), view(u_rate));
  Point at;
  at.t = t_;
  at.q = view(q);
  at.v = at.a = view(zero);
  at.u = view(u);
  Residual residual;
  workspace_.residual(at, false, residual);
  Eigen::MatrixXd g;
  workspace_.constraint_jacobian(t_, view(q), g);
  const Eigen::VectorXd scale = closure_.row_scale().head(npv);
  loops_ = scale.asDiagonal() * g.topRows(npv);
  loop_rates_ = -scale.cwiseProduct(residual.phi_dot);
  workspace_.mass_matrix(view(q), metric_);
  // Massless directions get a trace of inertia, so that they too stay small.
  const double heaviest = nv > 0 ? metric_.diagonal().maxCoeff() : 1;
  metric_.diagonal().array() += 1e-8 * (heaviest > 0 ? heaviest : 1);
  // Beams do not deform to spare kinetic energy.
  if (const int ne = nv - model_.joint_nv(); ne > 0) {
    metric_.rightCols(ne).setZero();
    metric_.bottomRows(ne).setZero();
    metric_.diagonal().tail(ne).setConstant(kUnwilling * (heaviest > 0 ? heaviest : 1));
  }
  Kept kept(rates.size(), 1);
  if (speeds(rates, kept, v) <= kConsistent) return true;

  // Drop rates one by one as long as the rest still conflicts: what remains is a smallest conflicting set.
  Eigen::VectorXd trial;
  for (size_t i = 0; i < rates.size(); ++i) {
    kept[i] = 0;
    if (speeds(rates, kept, trial) <= kConsistent) kept[i] = 1;
  }
  std::string others;
  int first = -1;
  for (size_t i = 0; i < rates.size(); ++i) {
    if (!kept[i]) continue;
    if (first < 0) {
      first = static_cast<int>(i);
      continue;
    }
    others +=
        (others.empty() ? "" : ", ") + model_.initial[static_cast<size_t>(rates[i].condition)].name;
  }
  if (first < 0) {
    int worst = 0;
    (loops_ * v - loop_rates_).cwiseAbs().maxCoeff(&worst);
    const int group = model_.rows[static_cast<size_t>(worst)].group;
    out.error(
        503, model_.groups[static_cast<size_t>(group)].loc,
        group_label(model_, group) + ": its speed at the start contradicts the other constraints");
    return false;
  }
  const Rate& rate = rates[static_cast<size_t>(first)];
  const Condition& c = model_.initial[static_cast<size_t>(rate.condition)];
  Kept without = kept;
  without[static_cast<size_t>(first)] = 0;
  speeds(rates, without, trial);
  out.error(503, c.loc,
            "initial speed " + c.name + " = " + quantity_text(c.channel, rate.value, Order::kRate) +
                " contradicts " +
                (others.empty() ? "the constraints" : "the constraints and " + others) + "; " +
                quantity_text(c.channel, rate.gradient.dot(trial), Order::kRate) + " would fit");
  return false;
}

Result<AssembledState> assemble(Workspace& workspace, double t, View q_guess) {
  Assembler assembler(workspace, t, q_guess);
  AssembledState state;
  Diagnostics diagnostics;
  if (!assembler.positions(state.q, state.iterations)) {
    assembler.explain_positions(state.q, diagnostics);
    return diagnostics;
  }
  if (!erls::check_placement(workspace, t, state.q, diagnostics)) return diagnostics;
  if (!assembler.velocities(state.q, state.v, diagnostics)) return diagnostics;
  return state;
}

}  // namespace panto
