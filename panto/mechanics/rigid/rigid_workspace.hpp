// Workspace of a rigid tree with loops, for one space.
#pragma once

#include <Eigen/LU>

#include "panto/mechanics/erls/reference_map.hpp"
#include "panto/mechanics/references.hpp"
#include "panto/mechanics/rigid/equations.hpp"
#include "panto/mechanics/rigid/mass.hpp"
#include "panto/mechanics/workspace.hpp"
#include "panto/numerics/dual.hpp"
#include "panto/numerics/saddle.hpp"
#include "panto/numerics/staged_lu.hpp"

namespace panto::rigid {

template <class S>
class RigidWorkspace final : public Workspace, public References {
 public:
  RigidWorkspace(const Model& model, const Params& params);
  void set_parameters(const Params& params) override;
  [[nodiscard]] double number(Slot slot) const override { return c_[slot]; }
  [[nodiscard]] double length() const override { return length_; }

  void residual(const Point& x, bool with_outputs, Residual& out) override;
  void tangent(const Point& x, const Blocks& blocks, Tangent& out) override;
  void along(const Point& x, Level level, const Eigen::MatrixXd& dq, const Eigen::MatrixXd& dv,
             const Eigen::MatrixXd& da, std::span<const int> outputs,
             DirectionalTangent& out) override;
  void step_tangent(const Point& x, double position, double velocity, RowMatrix& out) override;
  void readings(const Point& x, std::span<const int> outputs, MutableView y) noexcept override;

  void mass_matrix(View q, Eigen::MatrixXd& mass) override;
  void constraint_jacobian(double t, View q, Eigen::MatrixXd& g) override;
  [[nodiscard]] const RowMatrix& constraint_rows() const override { return g_; }
  void outputs(const Point& x, MutableView y) override;
  Energy energy(View q, View v) override;
  void convective_forces(View v, MutableView out) noexcept override;
  void power(const Point& x, double& entering, double& taken) override;
  void reactions(const Point& x, std::vector<JointReaction>& out) override;
  double channel(const Channel& c, Order order, View q, View v, MutableView gradient) override;
  FramePose frame_pose(View q, int frame) override;
  FramePose body_pose(View q, int body) override;
  void body_poses(View q, std::vector<FramePose>& out) override;
  void node_motion(View q, View v, MutableView u, MutableView u_dot) override;
  double reduction_drift(View q) override;
  [[nodiscard]] bool renew_reduction(MutableView q, MutableView v, double& jump) override;
  [[nodiscard]] int references() const noexcept override {
    return static_cast<int>(references_.size());
  }
  [[nodiscard]] int reference() const noexcept override { return reference_; }
  [[nodiscard]] int add_reference(View q) override;
  void use_reference(int i) noexcept override;
  [[nodiscard]] double misfit(View q) noexcept override;
  [[nodiscard]] double reference_misfit(int i, View q) noexcept override;
  [[nodiscard]] bool hand_over(int from, int to, MutableView q, MutableView v,
                               Eigen::MatrixXd& change) noexcept override;

  void inputs_at(double t, MutableView u, MutableView u_rate) const noexcept override;

  void choose_partition(double t, View q, bool renew) noexcept override;
  [[nodiscard]] bool keep_partition(double t, View q) override;
  [[nodiscard]] std::span<const int> independent_positions() const override {
    return lu_.free_columns(0);
  }
  [[nodiscard]] std::span<const int> independent_speeds() const override {
    return lu_.free_columns(1);
  }
  [[nodiscard]] std::span<const int> independent_accelerations() const override {
    return lu_.free_columns(2);
  }
  [[nodiscard]] std::span<const int> redundant_rows() const override {
    return lu_.redundant_rows();
  }
  [[nodiscard]] double conditioning() const override { return lu_.conditioning(); }
  [[nodiscard]] int position_rank() const override { return lu_.rank(0); }
  [[nodiscard]] Status close_positions(double t, MutableView q) noexcept override;
  void forget_pose() noexcept override { closed_ = mass_known_ = floating_known_ = false; }
  [[nodiscard]] Status hold_positions(double t, View q) noexcept override;
  [[nodiscard]] Status close_velocities(double t, View u, MutableView v) noexcept override;
  [[nodiscard]] Status accelerations(double t, View v, View u, View u_rate,
                                     MutableView a) noexcept override;
  [[nodiscard]] Status imbalance(double t, View v, View u, View u_rate, MutableView a,
                                 MutableView lambda, MutableView rest) noexcept override;
  void close_accelerations(View v, View u, View u_rate, MutableView a) noexcept override;
  void loop_accelerations(View v, MutableView a) noexcept override;
  [[nodiscard]] double closed_output(int output) noexcept override;
  void output_row(int output, MutableView row) noexcept override;
  void set_added_forces(View force) noexcept override;
  void reduced_mass(Eigen::MatrixXd& mass) noexcept override;
  void multipliers(View a, MutableView lambda) noexcept override;
  void null_space(Eigen::MatrixXd& r) const override;
  void complete(Level level, View b, MutableView x) noexcept override;
  void last_power(View u, View lambda, double& entering, double& taken) noexcept override;
  void violation(double t, View q, View v, View u, double& position, double& velocity) override;
  [[nodiscard]] Status forward_dynamics(const Point& x, Eigen::VectorXd& a,
                                        Eigen::VectorXd& lambda) override;

 private:
  // Accelerations with the mass matrix of all speeds, which reduced_mass() reads.
  [[nodiscard]] Status general_accelerations(double t, View v, View u, View u_rate,
                                             MutableView a) noexcept;
  // By floating frames (RER-9), of reduced models; what reduced_mass() reads is then made up for by general().
  [[nodiscard]] Status floating_accelerations(double t, View v, View u, View u_rate,
                                              MutableView a) noexcept;
  void general() noexcept;
  bool reduced_accelerations(double* a) noexcept;  // false: reduced mass matrix not definite
  bool full_accelerations(double* a) noexcept;     // the same, all coordinates at once
  bool saddle_accelerations(double* a) noexcept;   // false: singular
  static Arguments<double> arguments(const Point& x);
  void set_positions(View q);
  void evaluate_mass() noexcept;  // at the kinematics' positions
  void bake_references();
  // Links of the beams at q, v: link_angles_, link_rates_.
  void place_beams(View q, View v) noexcept;
  [[nodiscard]] bool make_reference(View q, erls::Reference& out);
  // Amplitudes of (q, v) by the map just computed; what is lost of displacements.
  double change_amplitudes(MutableView q, MutableView v) noexcept;
  void adopt(const erls::Reference& next) noexcept;
  void find_free_entries() noexcept;
  // Adds the dependent accelerations that the rows ask for at the kinematics' accelerations.
  void add_dependent(const Arguments<double>& x, double* a) noexcept;
  void jacobian() noexcept;  // g_ and the position rows' φ at the kinematics' positions
  void coincidence_jacobian(const Coincidence& c) noexcept;
  void gradient_row(const Channel& c, const Gradient<S, double>& gradient,
                    MutableView row) const noexcept;
  // Adds the projection of a wrench on the speeds between a body and `stop` (Kinematics indices).
  void project(int body, const Wrench<S, double>& w, int stop, double* row) const noexcept;
  void project_node(int node, const typename S::template Ang<double>& n,
                    const typename S::template Vec<double>& f, double* row) const noexcept;
  // The part of the gradient of a curvature or strain that neither of its nodes has.
  void project_on_link(const Channel& c, const Gradient<S, double>& gradient,
                       double* row) const noexcept;
  template <class P>
  // Dual evaluation with the current seeds; placed: the last one's positions stay.
  void sweep(const Constants<S, P>& c, const Point& x, bool placed = false);
  void seed_point(const Point& x);
  void tangent_state(const Point& x, const Blocks& blocks, Tangent& out);
  void tangent_linear(const Point& x, const Blocks& blocks, Tangent& out);
  void tangent_theta(const Point& x, const Blocks& blocks, Tangent& out);

  Structure structure_;
  Params params_;
  Eigen::MatrixXd shapes_;  // interior modes of a reduced model
  erls::ReferenceFit fit_;  // of them
  std::vector<erls::Reference> references_;
  int reference_ = 0;
  std::unique_ptr<erls::ReferenceMap> map_;
  std::vector<double> link_angles_, link_rates_, unit_;
  Eigen::VectorXd eta_, eta_dot_;
  Eigen::MatrixXd map_x_, map_v_, slope_;
  Constants<S, double> c_;
  Equations<S, double> eq_;
  TreeMass<S> mass_;
  std::unique_ptr<erls::ReducedForce<double>> node_scratch_;  // of project_node()
  std::unique_ptr<erls::FloatingLinks> floating_;             // where it can be used
  bool floating_known_ = false;  // its factor belongs to the closed pose
  bool floating_last_ = false;   // the last accelerations() took it, with these arguments
  double last_t_ = 0;
  std::vector<double> last_v_, last_u_, last_u_rate_, last_a_;
  RowMatrix g_;
  std::vector<int> stop_;  // per row: the body that both sides of the channel hang on
  StagedLU lu_, old_lu_;
  bool chosen_ = false;
  bool driven_ = false;              // a row's velocity-level target is not zero
  bool displacements_move_ = false;  // some row of G has an elastic coordinate
  // closed_q_ at closed_t_ is the closed pose that g_ and lu_ belong to; mass_known_: so do mass_, basis_, mass_basis_ and the factors.
  bool closed_ = false, mass_known_ = false;
  Status closed_status_ = Status::kOk;
  double closed_t_ = 0;
  std::vector<double> closed_q_;
  std::vector<int> free_entry_;
  std::array<int, 3> generic_rank_{0, 0, 0};
  std::vector<double> weight_;
  double length_ = 1;  // characteristic length of the position tolerance

  std::vector<double> row_, target_rate_, zero_, bias_, particular_, force_, right_, added_;
  std::vector<double> basis_, mass_basis_, reduced_, reduced_force_;  // R and M R by columns, RᵀMR
  std::vector<double> full_, full_right_, full_pivots_;               // of full_accelerations()
  Eigen::MatrixXd elastic_columns_, saddle_;                          // of saddle_accelerations()
  Eigen::VectorXd saddle_right_, saddle_solution_;
  Eigen::PartialPivLU<Eigen::MatrixXd> saddle_lu_;

  // dual evaluation, made at the first tangent()
  struct DualScratch {
    explicit DualScratch(const Model& m)
        : eq(m),
          q(static_cast<size_t>(m.nq)),
          v(static_cast<size_t>(m.nv)),
          a(static_cast<size_t>(m.nv)),
          lambda(m.rows.size()),
          u(m.inputs.size()) {}
    Equations<S, Dual> eq;
    std::vector<Dual> q, v, a, lambda, u;
  };
  std::unique_ptr<DualScratch> dual_;
};

extern template class RigidWorkspace<Planar>;
extern template class RigidWorkspace<Spatial>;

}  // namespace panto::rigid
