// Preallocated scratch of one thread, and the equations of motion evaluated in it. Everything above this folder is a client of residual and
// tangent; the independent-coordinate evaluation below them serves integrators and filters and does not allocate.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "panto/base/status.hpp"
#include "panto/model/model.hpp"
#include "panto/numerics/staged_lu.hpp"

namespace panto {

using View = std::span<const double>;
using MutableView = std::span<double>;

// Where the equations are evaluated. Empty lambda, u, u_rate count as zero.
struct Point {
  double t = 0;
  View q, v, a, lambda, u, u_rate;
};

// EOM-2..4. phi: position rows; phi_dot: position and velocity rows; phi_ddot: all rows.
struct Residual {
  Eigen::VectorXd r, phi, phi_dot, phi_ddot, y;
};

// Which derivatives to make.
struct Blocks {
  bool q = true, v = true, a = true, lambda = true, u = false;
  bool y = false;          // also the output rows of the blocks asked for
  std::vector<int> theta;  // parameters to differentiate by
};

// Derivatives of the residual. Columns of q blocks are tangent directions δq (nv columns, q̇ = N v), not raw coordinates.
struct Tangent {
  Eigen::MatrixXd r_q, r_v, r_a, r_lambda, r_u, r_theta;
  Eigen::MatrixXd phi_q, phi_dot_q, phi_dot_v, phi_dot_u, phi_ddot_q, phi_ddot_v, phi_ddot_a,
      phi_ddot_u;
  Eigen::MatrixXd phi_theta, phi_dot_theta, phi_ddot_theta;
  Eigen::MatrixXd y_q, y_v, y_a, y_lambda, y_u, y_theta;
};

// Derivatives along given directions: the tangent's blocks times the columns of (δq, δv, δa), at the cost of those columns alone.
struct DirectionalTangent {
  Eigen::MatrixXd r, phi_dot, phi_ddot, y;
};

struct Energy {
  double kinetic = 0, potential = 0;
};

// Wrench that the parent exerts on the child through a joint, about the joint, world axes. Planar: torque z, force x y.
struct JointReaction {
  std::array<double, 3> force{}, torque{};
};

// Position, orientation of a frame in the world, for drawing: planar (x, y, 0), angle about z.
struct FramePose {
  std::array<double, 3> position{};
  std::array<double, 9> axes{};  // columns x, y, z
};

class Workspace {
 public:
  // The model must outlive the workspace.
  static std::unique_ptr<Workspace> create(const Model& model, const Params& params);
  virtual ~Workspace() = default;

  [[nodiscard]] const Model& model() const { return model_; }
  virtual void set_parameters(const Params& params) = 0;
  // Value of a slot at the current θ; an absent one is zero.
  [[nodiscard]] virtual double number(Slot slot) const = 0;
  // Characteristic length of the mechanism [m], the scale of position tolerances.
  [[nodiscard]] virtual double length() const = 0;

  // ---- EOM-2..4 and derivatives ---------------------------------------------------------------------------------------------------
  // Cost linear in bodies and elements. with_outputs: also y.
  virtual void residual(const Point& x, bool with_outputs, Residual& out) = 0;
  virtual void tangent(const Point& x, const Blocks& blocks, Tangent& out) = 0;

  // Derivatives along the columns of dq, dv, da (nv rows each; da without columns: zero). kVelocity: only phi_dot, and y of outputs that need
  // no acceleration; kAcceleration: all. y: rows of the outputs asked for come first. Allocates only when other columns or more outputs are asked for.
  virtual void along(const Point& x, Level level, const Eigen::MatrixXd& dq,
                     const Eigen::MatrixXd& dv, const Eigen::MatrixXd& da,
                     std::span<const int> outputs, DirectionalTangent& out) = 0;
  // ∂r/∂a + velocity ∂r/∂v + position ∂r/∂q by rows, entries as they may occur in any pose; without ball joints. An empty matrix gets the pattern and
  // allocates, later calls do not. Cost linear in bodies and elements where a coordinate meets few others.
  virtual void step_tangent(const Point& x, double position, double velocity, RowMatrix& out) = 0;
  // Highest derivative of motion that an output reads; kAcceleration also where it reads forces.
  [[nodiscard]] Level level_of(int output) const noexcept;
  // Values of some outputs, evaluating no more of the motion than they read.
  virtual void readings(const Point& x, std::span<const int> outputs, MutableView y) noexcept = 0;

  // ---- pieces ------------------------------------------------------------------------------------------------------------------------
  virtual void mass_matrix(View q, Eigen::MatrixXd& mass) = 0;
  // G: rows as Model::rows, columns speeds.
  virtual void constraint_jacobian(double t, View q, Eigen::MatrixXd& g) = 0;
  // The same by rows, at the last close_positions().
  [[nodiscard]] virtual const RowMatrix& constraint_rows() const = 0;
  virtual void outputs(const Point& x, MutableView y) = 0;
  virtual Energy energy(View q, View v) = 0;
  // M c + k of the motion at speeds v whose independent accelerations are zero; neither gravity nor forces. After close_positions at the same pose.
  virtual void convective_forces(View v, MutableView out) noexcept = 0;
  // Power entering by applied forces, actuators and drivers, and power taken by dampers and friction, at a point with its a and λ.
  virtual void power(const Point& x, double& entering, double& taken) = 0;
  // Reaction in every primitive joint.
  virtual void reactions(const Point& x, std::vector<JointReaction>& out) = 0;
  // Channel value (or rate) and its gradient with respect to speeds at (q, v).
  virtual double channel(const Channel& c, Order order, View q, View v, MutableView gradient) = 0;
  // World pose of a frame (-1: ground) and of a body's own frame.
  virtual FramePose frame_pose(View q, int frame) = 0;
  virtual FramePose body_pose(View q, int body) = 0;
  // Of all bodies at once.
  virtual void body_poses(View q, std::vector<FramePose>& out) = 0;
  // Elastic displacements of all nodes of ERLS beams (3 per node, ground axes) and their rates, also of those that are no coordinates.
  virtual void node_motion(View q, View v, MutableView u, MutableView u_dot) = 0;
  // Of a reduced model: how far the kept modes are from orthonormal at q, largest eigenvalue of |Ψᵀ M_ss Ψ − 1| (RER-7); otherwise zero.
  virtual double reduction_drift(View q) = 0;
  // Computes the interior modes of a reduced model anew, with the links where they are at q, each the one most like the old. Joints and masters of (q, v)
  // stay as they are; amplitudes and their rates become those nearest by mass to the displacements and rates before (RER-8), of which `jump` is left: the
  // largest difference of a displacement [m, rad]. False, with nothing changed, where there are no modes. Allocates.
  [[nodiscard]] virtual bool renew_reduction(MutableView q, MutableView v, double& jump) = 0;

  // ---- coordinates ----------------------------------------------------------------------------------------------------------------
  // q̇ = N(q) v (EOM-1).
  void coordinate_rates(View q, View v, MutableView q_dot) const noexcept;
  // q <- q moved by the tangent step δ; quaternions stay on the unit sphere.
  void move(MutableView q, View step) const noexcept;
  // The step that moves b to a; rotations by the shorter turn.
  void difference(View a, View b, MutableView step) const noexcept;
  void normalise(MutableView q) const noexcept;
  // Coordinate of the one-dof joint that a speed belongs to; of a ball joint, the first of its four.
  [[nodiscard]] int coordinate_of(int dof) const {
    return dof_coordinate_[static_cast<size_t>(dof)];
  }
  // Inputs and their rates from the model's signals.
  virtual void inputs_at(double t, MutableView u, MutableView u_rate) const noexcept = 0;

  // ---- independent coordinates ------------------------------------------------------------------------------------------------
  // Chooses dependent speeds by pivoting at q (LOOP-1); the generic rank found so far is kept through singular positions.
  // The present choice is kept unless another is clearly better conditioned; renew: chosen afresh.
  virtual void choose_partition(double t, View q, bool renew = false) noexcept = 0;
  // The present independent coordinates with the rows that condition them best at q. False where the coordinates are not independent at q; the
  // choice is then another one. Allocates.
  [[nodiscard]] virtual bool keep_partition(double t, View q) = 0;
  // Directions δq that are independent with position rows; speeds that are with position and velocity rows; accelerations that are with all.
  [[nodiscard]] virtual std::span<const int> independent_positions() const = 0;
  [[nodiscard]] virtual std::span<const int> independent_speeds() const = 0;
  [[nodiscard]] virtual std::span<const int> independent_accelerations() const = 0;
  // Rows that follow from the others at the last choice.
  [[nodiscard]] virtual std::span<const int> redundant_rows() const = 0;
  // Smallest relative pivot of the dependent block at the last factorisation.
  [[nodiscard]] virtual double conditioning() const = 0;
  [[nodiscard]] virtual int position_rank() const = 0;

  // Newton on the dependent coordinates until the position rows vanish (LOOP-2), then G and its factors at q. kRepartition: done, but choose again soon.
  // At the pose and time it closed last it does nothing, until forget_pose(): what follows then depends on q alone, to the last bit.
  [[nodiscard]] virtual Status close_positions(double t, MutableView q) noexcept = 0;
  virtual void forget_pose() noexcept = 0;
  // G and its factors at q as it is, loops closed or not.
  [[nodiscard]] virtual Status hold_positions(double t, View q) noexcept = 0;
  // Dependent speeds from the independent ones; after close_positions at the same q.
  [[nodiscard]] virtual Status close_velocities(double t, View u, MutableView v) noexcept = 0;
  // a at (q, v) in the independent-coordinate form (LOOP-4): z̈ = (RᵀMR)⁻¹ Rᵀ(Q - k - M c); after close_velocities.
  [[nodiscard]] virtual Status accelerations(double t, View v, View u, View u_rate,
                                             MutableView a) noexcept = 0;
  // What the equations of motion lack at the independent accelerations in a, whose dependent entries are filled in: Rᵀ(M a + k - Q), by independent
  // acceleration (LOOP-7). Zero where accelerations() would give this a; lambda is then as multipliers() gives it. No mass matrix is made. After
  // close_velocities() at v.
  [[nodiscard]] virtual Status imbalance(double t, View v, View u, View u_rate, MutableView a,
                                         MutableView lambda, MutableView rest) noexcept = 0;
  // Dependent entries of a from the independent ones, after close_velocities() at v: kinematics alone, neither masses nor forces are looked at.
  virtual void close_accelerations(View v, View u, View u_rate, MutableView a) noexcept = 0;
  // Accelerations that the speeds alone ask of the loops, independent ones zero. closed_output() then reads as with all accelerations zero: what is
  // missing is output_row() times a.
  virtual void loop_accelerations(View v, MutableView a) noexcept = 0;
  // A channel output at what close_accelerations() was last called with; outputs of positions also after close_positions().
  [[nodiscard]] virtual double closed_output(int output) noexcept = 0;
  // Row ∂y/∂δq of a position's channel output, which is also ∂y/∂v of a rate's and ∂y/∂a of an acceleration's (CHAN-1); after close_positions().
  virtual void output_row(int output, MutableView row) noexcept = 0;
  // Further generalised forces (nv) that accelerations() and multipliers() count in from now on; empty: none.
  virtual void set_added_forces(View force) noexcept = 0;
  // RᵀMR of the last accelerations(), by independent accelerations.
  virtual void reduced_mass(Eigen::MatrixXd& mass) noexcept = 0;
  // λ that belongs to the last accelerations() (LOOP-5; redundant rows zero).
  virtual void multipliers(View a, MutableView lambda) noexcept = 0;
  // R (LOOP-3): speeds per independent speed (nv x nz), after close_positions. velocity level.
  virtual void null_space(Eigen::MatrixXd& r) const = 0;
  // Dependent entries of x (nv) such that G x = b on the rows up to `level`, the independent entries of that level kept; b by row of the model,
  // empty: zero; redundant rows are not looked at. After close_positions. Columns of R: b empty, x a unit vector.
  virtual void complete(Level level, View b, MutableView x) noexcept = 0;
  // Entering and taken power at the last accelerations(); λ as given by multipliers().
  virtual void last_power(View u, View lambda, double& entering, double& taken) noexcept = 0;
  // Largest position and velocity constraint residual at (t, q, v).
  virtual void violation(double t, View q, View v, View u, double& position, double& velocity) = 0;

  // ---- λ form (LOOP-6): any rank, minimum-norm multipliers; allocates ------------------------------------------------------------------
  [[nodiscard]] virtual Status forward_dynamics(const Point& x, Eigen::VectorXd& a,
                                                Eigen::VectorXd& lambda) = 0;

 protected:
  explicit Workspace(const Model& model);
  const Model& model_;

 private:
  std::vector<int> dof_coordinate_;
  bool turns_ = false;  // ball joints: a coordinate is not the speed's of the same number
};

}  // namespace panto
