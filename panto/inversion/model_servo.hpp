// A compiled mechanism as a servo system: outputs to be tracked and actuators that do it, by name. Equations of motion, loops and drives come from the
// mechanics; the output rows stand beside the constraint rows, the input columns beside those of λ. y are the coordinates of the model in their order.
#pragma once

#include <memory>

#include "panto/base/expression.hpp"
#include "panto/base/taylor.hpp"
#include "panto/inversion/ball_coordinates.hpp"
#include "panto/model/model.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {

// What shall follow what. Together outputs and conditions are as many as inputs.
struct ServoChoice {
  // Names of outputs, of positions, speeds or accelerations, or expressions of outputs that are positions and of parameters: "0.7*tip + 0.3*base".
  std::vector<std::string> outputs;
  // Expressions of t, outputs and parameters that shall be zero: "ax - tan(tilt)*(az - g)".
  std::vector<std::string> conditions;
  std::vector<std::string> inputs;  // names of actuators; the others follow their own course
  Loc loc;
};

// The tables [[servo]] of a model file, put together; empty where it has none. E0110 … E0115.
Result<ServoChoice> servo_choice(const ModelSpec& file);

// What follows a path, in outputs of the model: one of them, or an expression of several.
struct ServoOutput {
  std::vector<int> of;
  Expression expression;  // variable i: output of[i]; empty: of[0] itself
  Dim dim;
  bool angle = false;
  std::vector<std::string> names;  // of these outputs
  [[nodiscard]] double value(std::span<const double> values) const {
    return expression.code().empty() ? values[0] : expression.evaluate<double>(values);
  }
};

class ModelServo : public ServoSystem {
 public:
  // E1002: not as many of both. E1003: no such output or actuator. E1004: an output that is no quantity of motion. E1006: an expression.
  static Result<std::unique_ptr<ModelServo>> create(const Model& model, const Params& params,
                                                    const ServoChoice& choice);
  void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept override;
  [[nodiscard]] bool linear_in_forces() const override { return true; }
  void guess(MutableView y) const override;

  // The model with the outputs of the rows in place of its own.
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  // Which inputs and outputs of the original model u and z are.
  [[nodiscard]] std::span<const int> inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ServoOutput>& outputs() const { return outputs_; }

 private:
  // A quantity of motion among the outputs of model_: where its value and derivatives are.
  struct Quantity {
    Order order = Order::kValue;        // of the quantity itself
    std::array<int, 3> at{-1, -1, -1};  // outputs of model_ by order
  };
  struct Condition {
    Expression expression;        // variable 0: t, then the quantities
    std::vector<int> quantities;  // in quantities_
  };
  struct Row {  // that follows a path
    int quantity = -1;
    Expression expression;  // of quantities, on positions; empty: the quantity itself
    std::vector<int> quantities;
  };
  explicit ModelServo(const Model& model) : model_(model), balls_(model) {}
  int add_quantity(const Output& output);
  void follow(const Row& row, Eigen::Index at, ServoValues& out) noexcept;
  void follow_tangent(const Row& row, Eigen::Index at, ServoValues& out) noexcept;
  // In coordinates, speeds and accelerations of the model; without rows of ball joints.
  void evaluate_model(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept;
  [[nodiscard]] int value_of(int quantity) const noexcept {
    const Quantity& q = quantities_[static_cast<size_t>(quantity)];
    return q.at[static_cast<size_t>(q.order)];
  }

  Model model_;
  BallCoordinates balls_;
  std::unique_ptr<Workspace> workspace_;
  Eigen::VectorXd rest_;
  std::vector<int> inputs_;  // of the model
  std::vector<ServoOutput> outputs_;
  std::vector<Quantity> quantities_;
  std::vector<Row> servo_;
  std::vector<Condition> conditions_;
  std::vector<double> u_, u_rate_, variables_;
  std::vector<Dual> dual_variables_;
  std::vector<double> q_, speeds_, accelerations_;  // with ball joints
  ServoValues of_model_;
  std::vector<Taylor2<double>> course_;
  std::vector<Taylor2<Dual>> dual_course_;
  Residual residual_;
  Tangent tangent_;
  Blocks motion_, linear_;
};

}  // namespace panto
