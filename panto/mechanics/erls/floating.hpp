// Forward dynamics of the links of a reduced model (RER-9), as floating frames: each pair of displacements is taken in the axes of one link that has
// it, its owner, so that the matrices of links that own all of theirs are constant; in other links such a pair turns by the angle between
// the two. Rates and accelerations of masters become those in ground axes at the end. Up to four independent joints and kWidest
// coordinates of links; scalars are double.
//
// symbol → code
//   b = (masters, amplitudes | slaves), owners' axes; a_l = B_l b → FloatingPlan::Place
//   BᵀMB = Σ κ N, κ = 1, c, s, c², cs of the angles between owners and the link → FloatingPlan::LinkPlan::tables
//   ẏ = W (ḃ, ω): slaves from masters and the links' angular velocities → w_
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
  static constexpr int kWidest = 4 * lanes::kWidth, kSpeeds = lanes::kWidth;

  explicit FloatingLinks(const Model& model);
  // So many coordinates and independent joints are not too many.
  [[nodiscard]] static bool fits(const ReducedLayout& layout);
  // The plan with other numbers: of other parameters, or of other interior modes.
  [[nodiscard]] std::shared_ptr<const FloatingPlan> baked(const ReducedConstants<double>& c) const;
  void use(std::shared_ptr<const FloatingPlan> plan) noexcept { plan_ = std::move(plan); }

  // Relative angles, displacements in owners' axes and W, after place_links().
  void place(const Kin& kin) noexcept;
  // Rates of a, after the speeds of the bodies.
  void move(Kin& kin, const Const& c, const double* v) noexcept;
  // Accelerations of a while b and the amplitudes have none, the slaves following; after move() and the accelerations of the bodies.
  void accelerate(Kin& kin, const Const& c) noexcept;
  // All forces on a, inertia less gravity and elastic ones, and the links' wrenches.
  void forces(Kin& kin, const Const& c, Wrenches& wrench) const noexcept;
  // Wrenches of nodes and forces on a to b, slaves eliminated, and to the links' wrenches; r: what acts on speeds directly, less `added`.
  void gather(Kin& kin, const Const& c, Wrenches& wrench, const double* r,
              const double* added) noexcept;
  // The mass matrix over (independent joints, b) and its factor. basis: R of the joints, nz columns `stride` apart. False: not definite.
  [[nodiscard]] bool factor(const Kin& kin, const Const& c, const double* basis, int stride, int nz,
                            double tolerance) noexcept;
  // Accelerations; r: forces on the joints, left sides; a has those of the joints at zero independent ones.
  void solve(const Kin& kin, const double* r, const double* basis, int stride, int joints,
             double* a) noexcept;

 private:
  void dependence(const Kin& kin) noexcept;
  void bodies(const Kin& kin, const double* basis, int stride) noexcept;
  void rigid(const Kin& kin, const Const& c) noexcept;
  void link(const Kin& kin, const Const& c, size_t index, const Rot2<double>* relative) noexcept;
  template <int B>
  void eliminate() noexcept;

  std::shared_ptr<const FloatingPlan> plan_;
  int nz_ = 0;
  std::vector<double> w_, u_, z_;  // z_: columns of independent joints, b, slaves, ldz apart
  std::vector<double> rate_, force_, x_, x_dot_, x_ddot_, slave_force_, turned_;
  std::vector<double> body_;  // per body and independent joint: ω, v
  // Per independent joint: momenta and speeds whose product is the block of the joints; angular speeds of the links; W and U of the slaves.
  std::vector<double> momentum_, speed_, link_turn_, wz_, uz_;
  int outer_ = 0, outers_ = 0;  // filled so far, room
  std::vector<Rot2<double>> relative_;
  std::vector<double> system_, solution_, pivots_;
};

}  // namespace panto::erls
