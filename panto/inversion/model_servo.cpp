#include "panto/inversion/model_servo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "panto/mechanics/assembly.hpp"
#include "panto/model/study_reader.hpp"

namespace panto {

Result<ServoChoice> servo_choice(const ModelSpec& file) {
  Diagnostics d;
  ServoChoice out;
  const Node* servo = file.root.find("servo");
  if (servo == nullptr) return out;
  const StudyReader top(file.root, "", d);
  const Node::Array* list = top.list("servo", "tables");
  if (list == nullptr) return d;
  out.loc = servo->loc;
  for (size_t i = 0; i < list->size(); ++i) {
    const StudyReader r((*list)[i], fmt::format("servo {}", i + 1), d);
    r.keys({"output", "condition", "by"});
    for (std::string& name : r.texts("output")) out.outputs.push_back(std::move(name));
    for (std::string& text : r.texts("condition")) out.conditions.push_back(std::move(text));
    for (std::string& name : r.texts("by")) out.inputs.push_back(std::move(name));
  }
  if (!d.ok()) return d;
  return out;
}

int ModelServo::add_quantity(const Output& output) {
  Quantity q;
  q.order = output.order;
  for (const Order order : {Order::kValue, Order::kRate, Order::kAcceleration}) {
    if (order == Order::kValue && rate_only(output.channel.kind)) continue;
    Output twin = output;
    twin.order = order;
    if (order != output.order) twin.offset = -1, twin.minus_gravity = false;
    q.at[static_cast<size_t>(order)] = static_cast<int>(model_.outputs.size());
    model_.outputs.push_back(std::move(twin));
  }
  quantities_.push_back(q);
  return static_cast<int>(quantities_.size()) - 1;
}

Result<std::unique_ptr<ModelServo>> ModelServo::create(const Model& model, const Params& params,
                                                       const ServoChoice& choice) {
  Diagnostics d;
  std::vector<std::string> output_names, actuator_names, known{"t"};
  for (const Output& o : model.outputs) output_names.push_back(o.name);
  for (const Actuator& a : model.actuators) actuator_names.push_back(a.name);
  if (choice.inputs.empty())
    d.error(1002, choice.loc, "no actuators are named: [[servo]] output = \"…\", by = [\"…\"]");
  if (choice.outputs.size() + choice.conditions.size() != choice.inputs.size())
    d.error(1002, choice.loc,
            fmt::format("{} outputs and conditions for {} actuators: an inverse needs as many",
                        choice.outputs.size() + choice.conditions.size(), choice.inputs.size()));
  for (const Joint& j : model.joints)
    if (j.type == JointType::kSpherical)
      d.error(1005, {},
              fmt::format("joint \"{}\": models with ball joints are not inverted", j.name));

  auto out = std::unique_ptr<ModelServo>(new ModelServo(model));
  ModelServo& s = *out;
  s.model_.outputs.clear();
  s.model_.sensors.clear();
  s.nv_ = model.nv;
  for (const ScalarCoordinate& c : scalar_coordinates(model))
    s.coordinate_names_.push_back(model.coordinate_names[static_cast<size_t>(c.q)]);
  for (size_t i = 0; i < model.rows.size(); ++i) {
    const ConstraintRow& row = model.rows[i];
    s.rows_.push_back({model.groups[static_cast<size_t>(row.group)].name, row.level,
                       row.target != TargetKind::kDrive0, false, -1});
  }
  const auto quantity_of = [&](const std::string& name) {
    const int k = find_output(model, name);
    if (k < 0) {
      d.error(1003, choice.loc,
              fmt::format("there is no output \"{}\"{}", name, did_you_mean(name, output_names)));
      return -1;
    }
    const Output& o = model.outputs[static_cast<size_t>(k)];
    if (o.kind != OutputKind::kChannel) {
      d.error(1004, choice.loc, fmt::format("output \"{}\" is no quantity of motion", name));
      return -1;
    }
    return s.add_quantity(o);
  };
  for (const std::string& name : choice.outputs) {
    const int q = quantity_of(name);
    if (q < 0) continue;
    const Output& o = model.outputs[static_cast<size_t>(find_output(model, name))];
    s.servo_.push_back(q);
    s.outputs_.push_back(find_output(model, name));
    AlgebraicRow row{name, static_cast<Level>(o.order)};
    if (o.order == Order::kValue && o.channel.kind == ChannelKind::kCoordinate && o.offset < 0)
      row.coordinate = o.channel.dof;
    row.within_turn = o.channel.within_turn;
    s.rows_.push_back(std::move(row));
  }
  for (const std::string& name : output_names) known.push_back(name);
  for (const ParameterInfo& p : model.parameters) known.push_back(p.name);
  for (const std::string& text : choice.conditions) {
    Condition c;
    std::vector<std::string> used;
    const ParsedExpression parsed = parse_expression(
        text,
        [&](std::string_view name) -> std::optional<ResolvedName> {
          if (name == "t") return ResolvedName{0, {}};
          const auto known_as = std::find(used.begin(), used.end(), name);
          if (known_as != used.end())
            return ResolvedName{static_cast<int>(known_as - used.begin()) + 1, {}};
          if (find_output(model, name) < 0) {
            const int p = find_parameter(model, name);
            if (p < 0) return std::nullopt;
            used.emplace_back(name);
            c.quantities.push_back(-1 - p);
            return ResolvedName{static_cast<int>(used.size()), {}};
          }
          used.emplace_back(name);
          c.quantities.push_back(quantity_of(std::string(name)));
          return ResolvedName{static_cast<int>(used.size()), {}};
        },
        known);
    if (parsed.error) {
      d.error(1006, choice.loc,
              fmt::format("condition \"{}\", column {}: {}", text, parsed.error->column + 1,
                          parsed.error->message));
      continue;
    }
    c.expression = parsed.expression;
    for (size_t i = 0; i < c.quantities.size(); ++i)
      if (c.quantities[i] < 0) {  // a parameter: its value
        c.expression =
            c.expression.with_value(static_cast<int>(i) + 1, params.values[-1 - c.quantities[i]]);
      }
    s.conditions_.push_back(std::move(c));
    s.rows_.push_back({text, Level::kAcceleration, true, true, -1});
  }
  for (const std::string& name : choice.inputs) {
    const auto it = std::find(actuator_names.begin(), actuator_names.end(), name);
    if (it == actuator_names.end()) {
      d.error(
          1003, choice.loc,
          fmt::format("there is no actuator \"{}\"{}", name, did_you_mean(name, actuator_names)));
      continue;
    }
    const int input = model.actuators[static_cast<size_t>(it - actuator_names.begin())].input;
    if (std::find(s.inputs_.begin(), s.inputs_.end(), input) != s.inputs_.end())
      d.error(1002, choice.loc, fmt::format("actuator \"{}\" is named twice", name));
    s.inputs_.push_back(input);
    s.input_names_.push_back(name);
  }
  if (!d.ok()) return d;
  // A drive of order 0 on the speed of a coordinate: its row holds the input unless its course is given.
  for (size_t i = 0; i < model.rows.size(); ++i)
    if (model.rows[i].target == TargetKind::kDrive0 &&
        std::find(s.inputs_.begin(), s.inputs_.end(), model.rows[i].input) == s.inputs_.end())
      s.rows_[i].differentiable = true;

  s.workspace_ = Workspace::create(s.model_, params);
  Result<AssembledState> start = assemble(*s.workspace_);
  if (!start.ok()) return start.diagnostics();
  s.rest_ = start->q;
  s.u_.resize(model.inputs.size());
  s.u_rate_.resize(model.inputs.size());
  size_t most = 1;
  for (const Condition& c : s.conditions_) most = std::max(most, c.quantities.size() + 1);
  s.variables_.resize(most);
  s.dual_variables_.resize(most);
  s.motion_ = Blocks{true, true, false, false, false, true, {}};
  s.linear_ = Blocks{false, false, true, true, true, false, {}};
  return out;
}

void ModelServo::guess(MutableView y) const {
  for (int i = 0; i < nv_; ++i) y[static_cast<size_t>(i)] = rest_[workspace_->coordinate_of(i)];
}

void ModelServo::evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept {
  if (inputs_.size() < u_.size()) workspace_->inputs_at(x.t, u_, u_rate_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    u_[static_cast<size_t>(inputs_[i])] = x.u[i];
    u_rate_[static_cast<size_t>(inputs_[i])] = 0;
  }
  const Point point{x.t, x.y, x.v, x.w, x.lambda, u_, u_rate_};
  workspace_->residual(point, true, residual_);
  const int nl = n_lambda(), np = model_.n_position_rows, npv = np + model_.n_velocity_rows;
  out.r = residual_.r;
  out.g0.head(np) = residual_.phi;
  out.g1.head(npv) = residual_.phi_dot;
  out.g2.head(nl) = residual_.phi_ddot;
  for (size_t i = 0; i < servo_.size(); ++i) {
    const Quantity& q = quantities_[static_cast<size_t>(servo_[i])];
    const auto row = static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(i);
    if (q.at[0] >= 0) out.g0[row] = residual_.y[q.at[0]];
    out.g1[row] = residual_.y[q.at[1]];
    out.g2[row] = residual_.y[q.at[2]];
  }
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& c = conditions_[i];
    const auto row = static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(servo_.size() + i);
    variables_[0] = x.t;
    for (size_t k = 0; k < c.quantities.size(); ++k)
      variables_[k + 1] = c.quantities[k] < 0 ? 0.0 : residual_.y[value_of(c.quantities[k])];
    out.g2[row] = c.expression.evaluate<double>({variables_.data(), c.quantities.size() + 1});
  }
  if (!with_tangent) return;

  workspace_->tangent(point, motion_, tangent_);
  workspace_->tangent(point, linear_, tangent_);
  out.r_y = tangent_.r_q;
  out.r_v = tangent_.r_v;
  out.r_w = tangent_.r_a;
  out.r_lambda = tangent_.r_lambda;
  out.G.topRows(nl) = tangent_.phi_ddot_a;
  out.g1_y.topRows(npv) = tangent_.phi_dot_q;
  out.g2_y.topRows(nl) = tangent_.phi_ddot_q;
  out.g2_v.topRows(nl) = tangent_.phi_ddot_v;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    out.r_u.col(column) = tangent_.r_u.col(inputs_[i]);
    out.g_u.col(column).head(npv) = tangent_.phi_dot_u.col(inputs_[i]);
    out.g_u.col(column).segment(npv, nl - npv) = tangent_.phi_ddot_u.col(inputs_[i]).tail(nl - npv);
  }
  for (size_t i = 0; i < servo_.size(); ++i) {
    const Quantity& q = quantities_[static_cast<size_t>(servo_[i])];
    const auto row = static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(i);
    if (q.at[0] >= 0)
      out.G.row(row) = tangent_.y_q.row(q.at[0]);
    else
      out.G.row(row) = tangent_.y_v.row(q.at[1]);
    out.g1_y.row(row) = tangent_.y_q.row(q.at[1]);
    out.g2_y.row(row) = tangent_.y_q.row(q.at[2]);
    out.g2_v.row(row) = tangent_.y_v.row(q.at[2]);
  }
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& c = conditions_[i];
    const auto row = static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(servo_.size() + i);
    out.G.row(row).setZero();
    out.g2_y.row(row).setZero();
    out.g2_v.row(row).setZero();
    for (size_t base = 0; base < c.quantities.size(); base += kDualLanes) {
      const size_t count = std::min<size_t>(kDualLanes, c.quantities.size() - base);
      dual_variables_[0] = Dual(x.t);
      for (size_t k = 0; k < c.quantities.size(); ++k)
        dual_variables_[k + 1] =
            Dual(c.quantities[k] < 0 ? 0.0 : residual_.y[value_of(c.quantities[k])]);
      for (size_t l = 0; l < count; ++l)
        dual_variables_[base + l + 1].v[static_cast<Eigen::Index>(l)] = 1;
      const Dual e = c.expression.evaluate<Dual>({dual_variables_.data(), c.quantities.size() + 1});
      for (size_t l = 0; l < count; ++l) {
        const int index = c.quantities[base + l];
        if (index < 0) continue;
        const Quantity& q = quantities_[static_cast<size_t>(index)];
        const double slope = e.v[static_cast<Eigen::Index>(l)];
        const int value = value_of(index);
        out.g2_y.row(row) += slope * tangent_.y_q.row(value);
        out.g2_v.row(row) += slope * tangent_.y_v.row(value);
        if (q.order != Order::kAcceleration) continue;
        if (q.at[0] >= 0)
          out.G.row(row) += slope * tangent_.y_q.row(q.at[0]);
        else
          out.G.row(row) += slope * tangent_.y_v.row(q.at[1]);
      }
    }
  }
}

}  // namespace panto
