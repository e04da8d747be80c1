// A compiled mechanism as a servo system: outputs to be tracked and actuators that do it, by name. Equations of motion, loops and drives come from the
// mechanics; the output rows stand beside the constraint rows, the input columns beside those of λ. y are the coordinates of the model in their order.
#pragma once

#include <memory>

#include "panto/base/expression.hpp"
#include "panto/inversion/ball_coordinates.hpp"
#include "panto/model/model.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {

// What shall follow what. Together outputs and conditions are as many as inputs.
struct ServoChoice {
  std::vector<std::string> outputs;  // names of outputs: of positions, speeds or accelerations
  // Expressions of t, outputs and parameters that shall be zero: "ax - tan(tilt)*(az - g)".
  std::vector<std::string> conditions;
  std::vector<std::string> inputs;  // names of actuators; the others follow their own course
  Loc loc;
};

// The tables [[servo]] of a model file, put together; empty where it has none. E0110 … E0115.
Result<ServoChoice> servo_choice(const ModelSpec& file);

class ModelServo : public ServoSystem {
 public:
  // E1002: not as many of both. E1003: no such output or actuator. E1004: an output that is no quantity of motion. E1006: an expression.
  static Result<std::unique_ptr<ModelServo>> create(const Model& model, const Params& params,
                                                    const ServoChoice& choice);
  void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept override;
  void guess(MutableView y) const override;

  // The model with the outputs of the rows in place of its own.
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  // Which inputs and outputs of the original model u and z are.
  [[nodiscard]] std::span<const int> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const int> outputs() const { return outputs_; }

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
  explicit ModelServo(const Model& model) : model_(model), balls_(model) {}
  int add_quantity(const Output& output);
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
  std::vector<int> inputs_, outputs_;  // of the model
  std::vector<Quantity> quantities_;
  std::vector<int> servo_;  // quantity of each output row
  std::vector<Condition> conditions_;
  std::vector<double> u_, u_rate_, variables_;
  std::vector<Dual> dual_variables_;
  std::vector<double> q_, speeds_, accelerations_;  // with ball joints
  ServoValues of_model_;
  Residual residual_;
  Tangent tangent_;
  Blocks motion_, linear_;
};

}  // namespace panto
