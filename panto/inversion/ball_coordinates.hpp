// Ball joints in an inverse model: four numbers each, the quaternion of the joint, that are differentiated like all others; that its length stays one is a row of
// the mechanism (SRV-8). Speeds of the model follow from the rates of its coordinates, v = E(y) ẏ, its accelerations are E(y) ÿ (SRV-9).
#pragma once

#include "panto/inversion/servo_system.hpp"
#include "panto/model/model.hpp"

namespace panto {

class BallCoordinates {
 public:
  explicit BallCoordinates(const Model& model);

  [[nodiscard]] int count() const { return static_cast<int>(balls_.size()); }
  // Names of the joints.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // E(y) times rates or second derivatives of the coordinates: speeds or accelerations of the model.
  void speeds(View y, View rates, MutableView v) const noexcept;
  // Inertia against a change of a quaternion's length, as large as the mean against turning: makes the mass matrix regular, and has no say where the row holds.
  void set_inertia(const Eigen::MatrixXd& mass);

  // r, g0 … g2 and, with_tangent, all derivatives as functions of (y, ẏ, ÿ), from those of the model in (q, v, a) at the same point. `constraints`: rows of the
  // model, which those of the balls follow. Nothing is allocated after the first call.
  void carry_over(const ServoPoint& x, const ServoValues& model, int constraints, bool with_tangent,
                  ServoValues& out) noexcept;

 private:
  struct Ball {
    int q = 0, v = 0;
    double inertia = 1;
  };
  // to = from E(y); to -= from E(x) in the columns of the balls, as the derivative of E(y) x by y is; to = E(y)ᵀ from.
  void by_coordinates(const Eigen::Ref<const Eigen::MatrixXd>& from, View y,
                      Eigen::Ref<Eigen::MatrixXd> to) const noexcept;
  void less_turning(const Eigen::Ref<const Eigen::MatrixXd>& from, View x,
                    Eigen::Ref<Eigen::MatrixXd> to) const noexcept;
  void along_coordinates(const Eigen::Ref<const Eigen::MatrixXd>& from, View y,
                         Eigen::Ref<Eigen::MatrixXd> to) const noexcept;

  std::vector<Ball> balls_;
  std::vector<std::string> names_;
  std::vector<ScalarCoordinate> scalars_;
  Eigen::MatrixXd turned_;  // derivatives of the model's r by (y, ẏ, ÿ)
};

}  // namespace panto
