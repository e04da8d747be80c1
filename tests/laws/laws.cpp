#include "tests/laws/laws.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "tests/laws/complex_step.hpp"

namespace panto::laws {

namespace {

constexpr double kRoundOff = 1e-12;

double largest(const Eigen::MatrixXd& m) { return m.size() > 0 ? m.cwiseAbs().maxCoeff() : 0; }

std::unique_ptr<Workspace> workspace_of(const Model& m) { return Workspace::create(m, nominal(m)); }

// Largest difference relative to the largest entry (at least `floor`).
double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double floor = 1e-30) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  if (!a.allFinite() || !b.allFinite()) return std::numeric_limits<double>::infinity();
  return largest(a - b) / std::max({largest(a), largest(b), floor});
}

struct NamedChannel {
  std::string name;
  Channel channel;
};
std::vector<NamedChannel> channels_of(const Model& m) {
  std::vector<NamedChannel> list;
  list.reserve(m.rows.size() + m.forces.size() + m.actuators.size() + m.outputs.size());
  for (int i = 0; i < m.n_rows(); ++i)
    list.push_back({"row " + std::to_string(i), m.rows[static_cast<size_t>(i)].channel});
  for (const ForceElement& e : m.forces) list.push_back({"force " + e.name, e.channel});
  for (const Actuator& e : m.actuators) list.push_back({"actuator " + e.name, e.channel});
  for (const Output& e : m.outputs)
    if (e.kind == OutputKind::kChannel) list.push_back({"output " + e.name, e.channel});
  for (const Condition& e : m.initial) list.push_back({"initial " + e.name, e.channel});
  return list;
}

// The model with one more force input on a channel.
int add_actuator(Model& m, const Channel& channel) {
  Input input;
  input.name = "extra" + std::to_string(m.nu());
  m.inputs.push_back(input);
  Actuator actuator;
  actuator.name = input.name;
  actuator.channel = channel;
  actuator.input = m.nu() - 1;
  m.actuators.push_back(actuator);
  return actuator.input;
}

Sample with_inputs(const Sample& s, const Model& m) {
  Sample t = s;
  const Eigen::Index n = s.u.size();
  t.u.conservativeResize(m.nu());
  t.u_rate.conservativeResize(m.nu());
  t.u.tail(m.nu() - n).setZero();
  t.u_rate.tail(m.nu() - n).setZero();
  return t;
}

bool has_value(const Model& m, const Channel& c) {
  if (c.kind != ChannelKind::kCoordinate) return !rate_only(c.kind);
  const auto all = scalar_coordinates(m);
  return std::any_of(all.begin(), all.end(),
                     [&](const ScalarCoordinate& e) { return e.v == c.dof; });
}

Eigen::MatrixXd null_space_of(Workspace& w, const Sample& s) {
  Eigen::MatrixXd g;
  w.constraint_jacobian(s.t, view(s.q), g);
  MinimumNorm rows(1e-9);
  rows.compute(g);
  return rows.null_space();
}

// Size of the generalised forces at play.
double force_scale(Workspace& w, const Sample& s) {
  Sample still = s;
  still.a.setZero();
  still.lambda.setZero();
  Residual residual;
  w.residual(still.point(), false, residual);
  Eigen::MatrixXd mass, g;
  w.mass_matrix(view(s.q), mass);
  w.constraint_jacobian(s.t, view(s.q), g);
  return largest(residual.r) + largest(mass * s.a) + largest(g.transpose() * s.lambda) + 1e-12;
}

bool reduced_mass_is_positive(Workspace& w, const Sample& s) {
  const Eigen::MatrixXd n = null_space_of(w, s);
  Eigen::MatrixXd mass;
  w.mass_matrix(view(s.q), mass);
  const Eigen::MatrixXd reduced = n.transpose() * mass * n;
  const auto e = symmetric_eigen(reduced);
  return e.values.size() == 0 || e.values(0) > 1e-12 * e.values(e.values.size() - 1);
}

}  // namespace

void mass_matrix_is_inertia(const Model& model, const Sample& s) {
  const auto w = workspace_of(model);
  Eigen::MatrixXd mass;
  w->mass_matrix(view(s.q), mass);
  EXPECT_EQ(largest(mass - mass.transpose()), 0) << "M is not symmetric";
  EXPECT_TRUE(reduced_mass_is_positive(*w, s)) << "M is not positive along the possible motions";
  Residual with, without;
  w->residual(s.point(), false, with);
  Sample still = s;
  still.a.setZero();
  w->residual(still.point(), false, without);
  EXPECT_LT(relative(with.r - without.r, mass * s.a, 1e-3 * largest(with.r)), kRoundOff)
      << "r(a) - r(0) is not M a";
  const double kinetic = w->energy(view(s.q), view(s.v)).kinetic;
  EXPECT_NEAR(kinetic, 0.5 * s.v.dot(mass * s.v), kRoundOff * (1e-12 + kinetic))
      << "kinetic energy";
}

void channels_are_power_conjugate(const Model& model, const Sample& s) {
  const std::vector<NamedChannel> list = channels_of(model);
  const auto w = workspace_of(model);
  std::vector<Channel> channels;
  channels.reserve(list.size());
  for (const NamedChannel& c : list) channels.push_back(c.channel);
  with_complex(model, [&](auto& residual) {
    const auto motions = residual.motions(s, channels);
    for (size_t i = 0; i < list.size(); ++i) {
      const Channel& c = list[i].channel;
      SCOPED_TRACE(list[i].name);
      Eigen::VectorXd gradient(model.nv);
      const double rate = w->channel(c, Order::kRate, view(s.q), view(s.v), view(gradient));
      const double speed = gradient.cwiseAbs().dot(s.v.cwiseAbs());
      const double size = 1e-3 * s.v.norm() + speed;
      EXPECT_NEAR(rate, gradient.dot(s.v), kRoundOff * size) << "rate is not gradient · v";
      EXPECT_NEAR(rate, motions[i].rate, kRoundOff * size);
      if (has_value(model, c)) {
        EXPECT_NEAR(motions[i].value_derivative, rate, kRoundOff * size)
            << "rate is not the derivative of the value";
      }
      const double bias = 1 + gradient.cwiseAbs().dot(s.a.cwiseAbs()) + speed * s.v.norm() +
                          std::abs(motions[i].acceleration);
      EXPECT_NEAR(motions[i].rate_derivative, motions[i].acceleration, kRoundOff * bias)
          << "acceleration is not the derivative of the rate";
    }
  });
  // A unit force on the channel.
  for (const NamedChannel& c : list) {
    SCOPED_TRACE(c.name);
    Model extended = model;
    const int input = add_actuator(extended, c.channel);
    const auto w2 = workspace_of(extended);
    Sample t = with_inputs(s, extended);
    Residual without, with;
    w2->residual(t.point(), false, without);
    t.u(input) = 1;
    w2->residual(t.point(), false, with);
    Eigen::VectorXd gradient(model.nv);
    w2->channel(c.channel, Order::kRate, view(s.q), view(s.v), view(gradient));
    EXPECT_LT(largest(with.r - without.r + gradient),
              kRoundOff * (largest(gradient) + 1e-3 * largest(without.r)))
        << "force is not applied through the gradient";
  }
}

void tangent_is_complex_step(const Model& model, const Sample& s, double tolerance) {
  const auto w = workspace_of(model);
  Blocks blocks;
  blocks.u = blocks.y = true;
  for (int i = 0; i < static_cast<int>(model.parameters.size()); ++i) blocks.theta.push_back(i);
  Tangent t;
  w->tangent(s.point(), blocks, t);
  with_complex(model, [&](auto& residual) {
    // Columns of one argument.
    const auto columns = [&](Eigen::VectorXd Direction::*argument, Eigen::Index n) {
      std::vector<Derivative> list;
      for (Eigen::Index k = 0; k < n; ++k) {
        Direction d;
        d.*argument = Eigen::VectorXd::Unit(n, k);
        list.push_back(residual.along(s, d));
      }
      return list;
    };
    const auto compare = [&](const char* name, const Eigen::MatrixXd& block,
                             const std::vector<Derivative>& list,
                             Eigen::VectorXd Derivative::*result, double scale = 0) {
      if (list.empty()) return;
      Eigen::MatrixXd oracle((list[0].*result).size(), static_cast<Eigen::Index>(list.size()));
      for (size_t k = 0; k < list.size(); ++k)
        oracle.col(static_cast<Eigen::Index>(k)) = list[k].*result;
      if (oracle.size() == 0) return;
      ASSERT_EQ(block.rows(), oracle.rows()) << name;
      ASSERT_EQ(block.cols(), oracle.cols()) << name;
      EXPECT_TRUE(block.allFinite()) << name;
      // scale: the size of the terms, where all may cancel.
      // Row by row, as the rows have different units; a row far below the others is round-off of what cancels in it.
      for (Eigen::Index i = 0; i < oracle.rows(); ++i)
        EXPECT_LT(
            relative(block.row(i), oracle.row(i), 1e-30 + 1e-3 * std::max(scale, largest(oracle))),
            tolerance)
            << name << " row " << i << "\n tangent " << block.row(i) << "\n complex "
            << oracle.row(i);
    };
    const auto q = columns(&Direction::q, model.nv), v = columns(&Direction::v, model.nv),
               a = columns(&Direction::a, model.nv),
               l = columns(&Direction::lambda, model.n_rows()),
               u = columns(&Direction::u, model.nu()),
               theta =
                   columns(&Direction::theta, static_cast<Eigen::Index>(model.parameters.size()));
    const double position = w->length(), velocity = position * largest(s.v),
                 acceleration = velocity * largest(s.v) + position * largest(s.a);
    const double force = force_scale(*w, s);
    compare("r_q", t.r_q, q, &Derivative::r, force);
    compare("r_v", t.r_v, v, &Derivative::r, force / (1 + largest(s.v)));
    compare("r_a", t.r_a, a, &Derivative::r);
    compare("r_lambda", t.r_lambda, l, &Derivative::r);
    compare("r_u", t.r_u, u, &Derivative::r);
    compare("r_theta", t.r_theta, theta, &Derivative::r);
    compare("phi_q", t.phi_q, q, &Derivative::phi, position);
    compare("phi_theta", t.phi_theta, theta, &Derivative::phi, position);
    compare("phi_dot_q", t.phi_dot_q, q, &Derivative::phi_dot, velocity);
    compare("phi_dot_v", t.phi_dot_v, v, &Derivative::phi_dot, velocity);
    compare("phi_dot_u", t.phi_dot_u, u, &Derivative::phi_dot, velocity);
    compare("phi_dot_theta", t.phi_dot_theta, theta, &Derivative::phi_dot, velocity);
    compare("phi_ddot_q", t.phi_ddot_q, q, &Derivative::phi_ddot, acceleration);
    compare("phi_ddot_v", t.phi_ddot_v, v, &Derivative::phi_ddot, acceleration);
    compare("phi_ddot_a", t.phi_ddot_a, a, &Derivative::phi_ddot, acceleration);
    compare("phi_ddot_u", t.phi_ddot_u, u, &Derivative::phi_ddot, acceleration);
    compare("phi_ddot_theta", t.phi_ddot_theta, theta, &Derivative::phi_ddot, acceleration);
    compare("y_q", t.y_q, q, &Derivative::y);
    compare("y_v", t.y_v, v, &Derivative::y);
    compare("y_a", t.y_a, a, &Derivative::y);
    compare("y_lambda", t.y_lambda, l, &Derivative::y);
    compare("y_u", t.y_u, u, &Derivative::y);
    compare("y_theta", t.y_theta, theta, &Derivative::y);
  });
}

void forms_agree(const Model& model, const Sample& s) {
  const auto w = workspace_of(model);
  Eigen::VectorXd a, lambda;
  ASSERT_EQ(w->forward_dynamics(s.point(), a, lambda), Status::kOk);

  w->choose_partition(s.t, view(s.q));
  Eigen::VectorXd q = s.q, v = s.v, a_z(model.nv), lambda_z(model.n_rows());
  ASSERT_FALSE(fatal(w->close_positions(s.t, view(q))));
  ASSERT_FALSE(fatal(w->close_velocities(s.t, view(s.u), view(v))));
  EXPECT_LT((v - s.v).norm(), 1e-9 * (1 + s.v.norm())) << "a consistent speed was changed";
  ASSERT_EQ(w->accelerations(s.t, view(v), view(s.u), view(s.u_rate), view(a_z)), Status::kOk);
  w->multipliers(view(a_z), view(lambda_z));
  EXPECT_LT(relative(a, a_z), 1e-10) << a.transpose() << "\n" << a_z.transpose();
  Eigen::MatrixXd g;
  w->constraint_jacobian(s.t, view(s.q), g);
  const Eigen::VectorXd f = g.transpose() * lambda, f_z = g.transpose() * lambda_z;

  Sample solved = s;
  solved.a = a;
  solved.lambda = lambda;
  const double force = force_scale(*w, solved);
  EXPECT_LT(largest(f - f_z), 1e-10 * force) << "constraint forces differ";
  Residual residual;
  w->residual(solved.point(), false, residual);
  EXPECT_LT(largest(residual.r), 1e-10 * force) << "r is not zero";
  EXPECT_LT(largest(residual.phi_ddot), 1e-10 * (1 + largest(a) + s.v.squaredNorm()))
      << "φ'' is not zero";
}

void inverse_undoes_forward(const Model& model, const Sample& s) {
  Model extended = model;
  std::vector<int> inputs;
  for (int k = 0; k < model.nv; ++k) {
    Channel c;
    c.dof = k;
    inputs.push_back(add_actuator(extended, c));
  }
  const auto w = workspace_of(extended);
  Sample t = with_inputs(s, extended);
  Eigen::VectorXd a, lambda;
  ASSERT_EQ(w->forward_dynamics(t.point(), a, lambda), Status::kOk);
  const Eigen::MatrixXd free = null_space_of(*w, t);
  t.a = a + free * (free.transpose() * s.a);  // any acceleration that the constraints allow
  InverseDynamics inverse;
  ASSERT_EQ(inverse_dynamics(*w, t.point(), inputs, inverse), Status::kOk);
  const Eigen::VectorXd wanted = t.a;
  t.u = inverse.u;
  ASSERT_EQ(w->forward_dynamics(t.point(), a, lambda), Status::kOk);
  EXPECT_LT(relative(a, wanted), 1e-10) << a.transpose() << "\n" << wanted.transpose();
}

void energy_is_balanced(const Model& model, const Sample& s) {
  const auto w = workspace_of(model);
  Sample solved = s;
  ASSERT_EQ(w->forward_dynamics(s.point(), solved.a, solved.lambda), Status::kOk);
  double entering = 0, taken = 0;
  w->power(solved.point(), entering, taken);
  Direction d;
  d.q = solved.v;
  d.v = solved.a;
  double change = 0;
  with_complex(model, [&](auto& residual) { change = residual.along(solved, d).energy; });
  Eigen::MatrixXd mass;
  w->mass_matrix(view(s.q), mass);
  const double scale = std::abs(entering) + std::abs(taken) +
                       (mass * solved.a).cwiseAbs().dot(solved.v.cwiseAbs()) + 1e-9;
  EXPECT_NEAR(change, entering - taken, 1e-10 * scale);
}

void reactions_carry_the_coordinate_forces(const Model& model, const Sample& s) {
  const auto w = workspace_of(model);
  Sample solved = s;
  ASSERT_EQ(w->forward_dynamics(s.point(), solved.a, solved.lambda), Status::kOk);
  std::vector<JointReaction> reactions;
  w->reactions(solved.point(), reactions);
  // Forces of elements by an output each.
  Model extended = model;
  extended.outputs.clear();
  for (int i = 0; i < static_cast<int>(model.forces.size()); ++i) {
    Output o;
    o.kind = OutputKind::kForceElement;
    o.index = i;
    extended.outputs.push_back(o);
  }
  const auto w2 = workspace_of(extended);
  Eigen::VectorXd element(static_cast<Eigen::Index>(model.forces.size()));
  w2->outputs(solved.point(), view(element));
  const double force = force_scale(*w, solved);
  Eigen::VectorXd along = Eigen::VectorXd::Zero(model.nv), size = along;
  const auto add = [&](const Channel& c, double f) {
    if (c.kind == ChannelKind::kCoordinate) {
      along(c.dof) += f;
      size(c.dof) += std::abs(f);
    } else if (c.kind == ChannelKind::kSum) {
      for (int k = c.first_term; k < c.first_term + c.terms; ++k) {
        const Term& term = model.terms[static_cast<size_t>(k)];
        along(term.dof) += w->number(term.coefficient) * f;
        size(term.dof) += std::abs(w->number(term.coefficient) * f);
      }
    }
  };
  for (size_t i = 0; i < model.forces.size(); ++i)
    add(model.forces[i].channel, element(static_cast<Eigen::Index>(i)));
  for (const Actuator& a : model.actuators)
    if (a.group < 0) add(a.channel, s.u(a.input));
  for (int i = 0; i < model.n_rows(); ++i)
    add(model.rows[static_cast<size_t>(i)].channel, solved.lambda(i));
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& j = model.joints[i];
    if (j.type != JointType::kRevolute && j.type != JointType::kPrismatic) continue;
    const JointReaction& r = reactions[i];
    const FramePose pose = j.parent_frame >= 0 ? w->frame_pose(view(s.q), j.parent_frame)
                                               : w->body_pose(view(s.q), j.parent);
    double sum = 0, scale = size(j.v) + force;
    for (size_t k = 0; k < 3; ++k) {
      const double axis =
          pose.axes[k] * j.axis[0] + pose.axes[3 + k] * j.axis[1] + pose.axes[6 + k] * j.axis[2];
      const double part = j.type == JointType::kRevolute ? r.torque[k] : r.force[k];
      sum += axis * part;
      scale += std::abs(part) + w->length() * std::abs(r.force[k]);
    }
    EXPECT_NEAR(sum, along(j.v), 1e-10 * scale) << "joint " << j.name;
  }
}

void independent_coordinates_close(const Model& model, const Sample& s) {
  const auto w = workspace_of(model);
  w->choose_partition(s.t, view(s.q));
  Eigen::VectorXd q = s.q, v = s.v;
  // Dependent coordinates a little off are brought back; independent ones stay.
  Eigen::VectorXd step = Eigen::VectorXd::Constant(model.nv, 1e-4 * w->length());
  for (int k : w->independent_speeds()) step(k) = 0;
  w->move(view(q), view(step));
  ASSERT_FALSE(fatal(w->close_positions(s.t, view(q))));
  ASSERT_FALSE(fatal(w->close_velocities(s.t, view(s.u), view(v))));
  double position = 0, velocity = 0;
  w->violation(s.t, view(q), view(v), view(s.u), position, velocity);
  EXPECT_LT(position, 1e-11 * w->length());
  EXPECT_LT(velocity, 1e-10 * (1 + s.v.norm()));
  ASSERT_FALSE(fatal(w->close_positions(s.t, view(q))));
  Eigen::MatrixXd r, g;
  w->null_space(r);
  w->constraint_jacobian(s.t, view(q), g);
  EXPECT_LT(largest(g.topRows(model.n_position_rows + model.n_velocity_rows) * r),
            1e-10 * (1 + largest(r)));
}

void all(const Model& model, int count, unsigned seed) {
  int k = 0;
  for (const Sample& s : samples(model, count, seed)) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " sample " + std::to_string(k++));
    mass_matrix_is_inertia(model, s);
    channels_are_power_conjugate(model, s);
    tangent_is_complex_step(model, s);
    forms_agree(model, s);
    inverse_undoes_forward(model, s);
    energy_is_balanced(model, s);
    reactions_carry_the_coordinate_forces(model, s);
    independent_coordinates_close(model, s);
    // Beams are planar.
    if (model.space == SpaceKind::kPlanar && model.beams.empty()) planar_equals_spatial(model, s);
  }
}

}  // namespace panto::laws
