// What an inverse model is made of (SRV-1): equations of motion in (t, y, v, w = v̇, λ, u), rows that the mechanism obeys by its multipliers λ, and servo
// rows that it shall obey by its inputs u. Mechanisms, matrices and user code give the same narrow interface; solvers and analysis know no other.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "panto/mechanics/workspace.hpp"

namespace panto {

// A row is stated on the level of positions, speeds or accelerations; the row and its time derivatives up to accelerations are evaluated (SRV-2).
struct AlgebraicRow {
  std::string name;
  Level level = Level::kPosition;
  // The derivatives up to accelerations are known in (t, y, v, w) alone. False: the row contains inputs, and differentiating it would need their rates.
  bool differentiable = true;
  // Servo rows whose target is zero, not a component of the desired path: s(t, y, v, w) = 0.
  bool implicit = false;
  // Where the row is one coordinate: its number, otherwise -1.
  int coordinate = -1;
  // Its value is known up to whole turns.
  bool within_turn = false;
  // What is left of a value less its target, on a level of the row or one of its derivatives.
  [[nodiscard]] double left(double difference, int at_level) const noexcept {
    constexpr double kTurn = 2 * std::numbers::pi;
    return within_turn && at_level == 0 ? std::remainder(difference, kTurn) : difference;
  }
};

struct ServoPoint {
  double t = 0;
  View y, v, w, lambda, u;
};

// Values and derivatives at a point. Rows: those of the mechanism (one per λ), then servo rows (one per u). g0, g1, g2: the row as position, its first and
// its second derivative; entries below the level of a row are meaningless. G is the derivative of g0 by y, of g1 by v, and of g2 by w.
struct ServoValues {
  Eigen::VectorXd r;  // M w + k - q - Gfᵀ λ - B u
  Eigen::VectorXd g0, g1, g2;
  Eigen::MatrixXd r_y, r_v, r_w, r_lambda, r_u;
  Eigen::MatrixXd G, g1_y, g2_y, g2_v;
  Eigen::MatrixXd g_u;  // of rows that contain inputs, at their own level
  void resize(int nv, int n_lambda, int nu);
};

class ServoSystem {
 public:
  virtual ~ServoSystem() = default;
  [[nodiscard]] int nv() const { return nv_; }
  [[nodiscard]] int n_lambda() const { return static_cast<int>(rows_.size()) - nu(); }
  [[nodiscard]] int nu() const { return static_cast<int>(input_names_.size()); }
  [[nodiscard]] const std::vector<AlgebraicRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::string>& coordinate_names() const {
    return coordinate_names_;
  }
  [[nodiscard]] const std::vector<std::string>& input_names() const { return input_names_; }

  // r, g0 … g2 and, with_tangent, all derivatives. `out` has been resized by the caller; nothing is allocated after the first call.
  virtual void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept = 0;
  // Whether λ and u enter r linearly, and no row: then they are found by one solution once the motion stands still.
  [[nodiscard]] virtual bool linear_in_forces() const { return false; }
  // Somewhere to start the search for an equilibrium.
  virtual void guess(MutableView y) const = 0;

 protected:
  ServoSystem() = default;
  ServoSystem(const ServoSystem&) = default;
  ServoSystem& operator=(const ServoSystem&) = default;
  int nv_ = 0;
  std::vector<AlgebraicRow> rows_;
  std::vector<std::string> coordinate_names_, input_names_;
};

}  // namespace panto
