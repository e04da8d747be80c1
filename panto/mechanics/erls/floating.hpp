// Forward dynamics of the links of a reduced model (RER-9), as floating frames: each pair of displacements is taken in the axes of one link that has
// it, its owner, so that the matrices of links that own all of theirs are constant; in other links such a pair turns by the angle between
// the two. Rates and accelerations of masters become those in ground axes at the end. Up to kJoints independent joints and kWidest
// coordinates of links; scalars are double. What belongs to the independent joints and to the bias forces stands in one vector each: lanes are the joints, the
// last one the bias.
//
// symbol → code
//   b = (masters, amplitudes | slaves), owners' axes; a_l = B_l b → FloatingPlan::Own, Foreign
//   BᵀMB, static stiffness of the slaves = Σ κ N, κ = 1, c, s, c², cs of the angles β between owners and the link → FloatingPlan::LinkPlan::table, z_
//   ẏ = W (ḃ, β̇): slaves from masters and the rates of the angles → w_
#pragma once

#include <memory>

#include "panto/mechanics/erls/floating_plan.hpp"
#include "panto/mechanics/erls/reduced_forces.hpp"

namespace panto::erls {

class FloatingLinks {
 public:
  using Kin = Kinematics<Planar, double>;
  using Const = Constants<Planar, double>;
  using Wrenches = std::vector<Wrench<Planar, double>>;
  static constexpr int kWidest = 4 * lanes::kWidth, kJoints = lanes::kWidth - 1;

  explicit FloatingLinks(const Model& model);
  // So many coordinates and independent joints are not too many.
  [[nodiscard]] static bool fits(const ReducedLayout& layout);
  // The plan with other numbers: of other parameters, or of other interior modes.
  [[nodiscard]] std::shared_ptr<const FloatingPlan> baked(const ReducedConstants<double>& c) const;
  void use(std::shared_ptr<const FloatingPlan> plan) noexcept;

  // R of the joints, what is not zero, before place().
  void clear_directions(int joints) noexcept;
  void set_direction(int speed, int joint, double value) noexcept {
    directions_[static_cast<size_t>(speed)][joint] = value;
  }
  // Positions of the links at those of the bodies.
  void place(const Kin& kin, const Const& c) noexcept;
  // Displacements of the links whose nodes forces look at, for place_node() and move_node().
  void lend(Kin& kin) const noexcept;
  // Rates of a, after the speeds of the bodies.
  void move(Kin& kin, const Const& c, const double* v) noexcept;
  // Accelerations of a while b and the amplitudes have none, the slaves following; after move() and the accelerations of the bodies.
  void accelerate(const Kin& kin, const Const& c) noexcept;
  // Forces on a of displacements and speeds, and the links' wrenches of speeds, for gather().
  void forces(Kin& kin, const Const& c, Wrenches& wrench) noexcept;
  // Adds those of accelerations less gravity. Wrenches of nodes and forces on a to b, slaves eliminated, and to the links' wrenches; r: what acts on speeds
  // directly, less `added`.
  void gather(Kin& kin, const Const& c, Wrenches& wrench, const double* r,
              const double* added) noexcept;
  // The factor of the mass matrix, where the pose is new. False: not definite.
  [[nodiscard]] bool factor(double tolerance) noexcept;
  // Accelerations; r: forces on the joints, left sides; a has those of the joints at zero independent ones.
  void solve(const Kin& kin, const double* r, int joints, double* a) noexcept;

 private:
  using Four = lanes::Four;
  struct Turn {
    double c = 1, s = 0, rate = 0, second = 0;  // of β
    double fx = 0, fy = 0;                      // of slaves: k x on the pair
  };
  struct Link {
    // As LinkState. Amplitudes are copied in whole groups, what stands behind them then.
    alignas(32) double a[kWidest + lanes::kWidth], a_dot[kWidest + lanes::kWidth], spin[kWidest];
    double inertia, ox, oy;  // as LinkState
    // Per independent joint and, in the last lane, accelerations less gravity: of the link's origin, link axes; of what moves. Momenta and torque.
    Four vx, vy, w, d[2 * kWidest], px, py, turn;
  };
  void bodies(const Kin& kin) noexcept;
  void slaves() noexcept;
  void dependence(const Const& c) noexcept;
  void along_joints(const Kin& kin) noexcept;
  [[gnu::always_inline]] void project(const Const& c, size_t index, const double* f,
                                      const Rot2<double>& R, Wrench<Planar, double>& wrench,
                                      Four* out) noexcept;
  template <int B>
  void weigh_slaves() noexcept;
  template <int B, int C, int K>
  [[gnu::always_inline]] void assemble(Four (&columns)[C][K]) const noexcept;

  std::shared_ptr<const FloatingPlan> plan_;
  const Model& model_;
  int nz_ = 0;
  bool known_ = false;     // the factor belongs to the pose
  std::vector<double> z_;  // FloatingPlan::constant at the pose
  std::vector<double> w_, u_, factor_;
  std::vector<double> x_, x_dot_, x_ddot_, rate_;
  std::vector<Turn> turns_;  // per angle
  std::vector<Link> links_;
  std::vector<Four> body_;        // per body: ω, v_x, v_y
  std::vector<Four> directions_;  // R of the joints
  std::vector<Four> on_, pull_;   // gathered: on places, angles
  Four inertia_[kJoints];         // of the joints
  double lower_[kJoints][kJoints] = {};
  std::vector<double> eta_, bias_;
  // The factor: rows of b; columns of the joints, then of b.
  std::vector<double> system_, solution_, pivots_, inverse_;
};

}  // namespace panto::erls
