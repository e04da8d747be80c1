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

namespace {

// What could be the name of an output and is no expression.
bool is_name(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
}

}  // namespace

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

  auto out = std::unique_ptr<ModelServo>(new ModelServo(model));
  ModelServo& s = *out;
  s.model_.outputs.clear();
  s.model_.sensors.clear();
  s.nv_ = model.nq;
  s.coordinate_names_ = model.coordinate_names;
  for (size_t i = 0; i < model.rows.size(); ++i) {
    const ConstraintRow& row = model.rows[i];
    s.rows_.push_back({model.groups[static_cast<size_t>(row.group)].name, row.level,
                       row.target != TargetKind::kDrive0, false, -1});
  }
  for (const std::string& ball : s.balls_.names()) s.rows_.push_back({ball});
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
  known.insert(known.end(), output_names.begin(), output_names.end());
  for (const ParameterInfo& p : model.parameters) known.push_back(p.name);
  // An expression of outputs, numbered as they appear from `first` on, with the parameters' values put in.
  const auto expression_of =
      [&](const std::string& text, const char* what, int first,
          std::vector<std::string>& used) -> std::optional<ParsedExpression> {
    constexpr int kParameter = 1 << 20;
    std::vector<int> parameters;
    ParsedExpression parsed = parse_expression(
        text,
        [&](std::string_view name) -> std::optional<ResolvedName> {
          if (first > 0 && name == "t") return ResolvedName{0, {}};
          if (const int k = find_output(model, std::string(name)); k >= 0) {
            auto at = std::find(used.begin(), used.end(), name);
            if (at == used.end()) at = used.insert(used.end(), std::string(name));
            return ResolvedName{static_cast<int>(at - used.begin()) + first,
                                first > 0
                                    ? std::nullopt
                                    : std::optional(model.outputs[static_cast<size_t>(k)].dim)};
          }
          const int p = find_parameter(model, std::string(name));
          if (p < 0) return std::nullopt;
          parameters.push_back(p);
          const ParameterInfo& info = model.parameters[static_cast<size_t>(p)];
          return ResolvedName{kParameter + p,
                              first == 0 && info.has_dim ? std::optional(info.dim) : std::nullopt};
        },
        known);
    if (parsed.error) {
      d.error(1006, choice.loc,
              fmt::format("{} \"{}\", column {}: {}", what, text, parsed.error->column + 1,
                          parsed.error->message));
      return std::nullopt;
    }
    for (const int p : parameters)
      parsed.expression = parsed.expression.with_value(kParameter + p, params.values[p]);
    return parsed;
  };
  for (const std::string& name : choice.outputs) {
    if (find_output(model, name) >= 0 || is_name(name)) {
      const int q = quantity_of(name);
      if (q < 0) continue;
      const int k = find_output(model, name);
      const Output& o = model.outputs[static_cast<size_t>(k)];
      s.servo_.push_back({q, {}, {}});
      s.outputs_.push_back({{k}, {}, o.dim, o.angle, {name}});
      AlgebraicRow row{name, static_cast<Level>(o.order)};
      if (o.order == Order::kValue && o.channel.kind == ChannelKind::kCoordinate && o.offset < 0)
        row.coordinate = o.channel.dof;
      row.within_turn = o.channel.within_turn;
      s.rows_.push_back(std::move(row));
      continue;
    }
    std::vector<std::string> used;
    const std::optional<ParsedExpression> parsed = expression_of(name, "output", 0, used);
    if (!parsed) continue;
    Row row{-1, parsed->expression, {}};
    ServoOutput output{
        {}, parsed->expression, parsed->dim.value_or(dim::kNone), !used.empty(), used};
    bool good = true, turned = false;
    for (const Expression::Instruction& in : parsed->expression.code())
      turned = turned || in.op == Expression::Op::kAtan2 || in.op == Expression::Op::kAtan;
    for (const std::string& of : used) {
      const int k = find_output(model, of), q = quantity_of(of);
      good = good && q >= 0;
      if (!good) break;
      const Output& o = model.outputs[static_cast<size_t>(k)];
      if (o.order != Order::kValue || s.quantities_[static_cast<size_t>(q)].at[0] < 0) {
        d.error(1006, choice.loc,
                fmt::format("output \"{}\": \"{}\" is a speed or an acceleration, an expression "
                            "to be followed needs positions",
                            name, of));
        good = false;
        break;
      }
      row.quantities.push_back(q);
      output.of.push_back(k);
      output.angle = output.angle && o.angle;
    }
    if (!good) continue;
    output.angle = output.angle || turned;
    if (used.empty())
      d.error(1006, choice.loc, fmt::format("output \"{}\" contains no output", name));
    s.servo_.push_back(std::move(row));
    s.outputs_.push_back(std::move(output));
    s.rows_.push_back({name, Level::kPosition});
  }
  for (const std::string& text : choice.conditions) {
    std::vector<std::string> used;
    const std::optional<ParsedExpression> parsed = expression_of(text, "condition", 1, used);
    if (!parsed) continue;
    Condition c{parsed->expression, {}};
    for (const std::string& of : used) c.quantities.push_back(quantity_of(of));
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
  // One joint after the other, numbers of coordinates and speeds differ from the first ball joint on.
  for (AlgebraicRow& row : s.rows_)
    if (row.coordinate >= 0) row.coordinate = s.workspace_->coordinate_of(row.coordinate);
  if (s.balls_.count() > 0) {
    Eigen::MatrixXd mass;
    s.workspace_->mass_matrix({s.rest_.data(), static_cast<size_t>(s.rest_.size())}, mass);
    s.balls_.set_inertia(mass);
    s.q_.resize(static_cast<size_t>(model.nq));
    s.speeds_.resize(static_cast<size_t>(model.nv));
    s.accelerations_ = s.speeds_;
    s.of_model_.resize(model.nv, static_cast<int>(model.rows.size()), s.nu());
  }
  s.u_.resize(model.inputs.size());
  s.u_rate_.resize(model.inputs.size());
  size_t most = 1;
  for (const Condition& c : s.conditions_) most = std::max(most, c.quantities.size() + 1);
  for (const Row& r : s.servo_) most = std::max(most, r.quantities.size());
  s.variables_.resize(most);
  s.dual_variables_.resize(most);
  s.course_.resize(most);
  s.dual_course_.resize(most);
  s.motion_ = Blocks{true, true, false, false, false, true, {}};
  s.linear_ = Blocks{false, false, true, true, true, false, {}};
  return out;
}

// A row and its derivatives; expressions as functions of time.
void ModelServo::follow(const Row& row, Eigen::Index at, ServoValues& out) noexcept {
  if (row.quantity >= 0) {
    const Quantity& q = quantities_[static_cast<size_t>(row.quantity)];
    if (q.at[0] >= 0) out.g0[at] = residual_.y[q.at[0]];
    out.g1[at] = residual_.y[q.at[1]];
    out.g2[at] = residual_.y[q.at[2]];
    return;
  }
  for (size_t k = 0; k < row.quantities.size(); ++k) {
    const Quantity& q = quantities_[static_cast<size_t>(row.quantities[k])];
    course_[k] = {residual_.y[q.at[0]], residual_.y[q.at[1]], residual_.y[q.at[2]]};
  }
  const Taylor2<double> g =
      row.expression.evaluate<Taylor2<double>>({course_.data(), row.quantities.size()});
  out.g0[at] = g.a;
  out.g1[at] = g.d;
  out.g2[at] = g.dd;
}

// Of f(x), with f_x: ġ by x is the rate of f_x, g̈ by x its acceleration, g̈ by ẋ twice its rate.
void ModelServo::follow_tangent(const Row& row, Eigen::Index at, ServoValues& out) noexcept {
  if (row.quantity >= 0) {
    const Quantity& q = quantities_[static_cast<size_t>(row.quantity)];
    if (q.at[0] >= 0)
      out.G.row(at) = tangent_.y_q.row(q.at[0]);
    else
      out.G.row(at) = tangent_.y_v.row(q.at[1]);
    out.g1_y.row(at) = tangent_.y_q.row(q.at[1]);
    out.g2_y.row(at) = tangent_.y_q.row(q.at[2]);
    out.g2_v.row(at) = tangent_.y_v.row(q.at[2]);
    return;
  }
  out.G.row(at).setZero();
  out.g1_y.row(at).setZero();
  out.g2_y.row(at).setZero();
  out.g2_v.row(at).setZero();
  const size_t n = row.quantities.size();
  for (size_t k = 0; k < n; ++k) {
    const Quantity& q = quantities_[static_cast<size_t>(row.quantities[k])];
    dual_course_[k] = {Dual(residual_.y[q.at[0]]), Dual(residual_.y[q.at[1]]),
                       Dual(residual_.y[q.at[2]])};
  }
  for (size_t base = 0; base < n; base += kDualLanes) {
    const size_t count = std::min<size_t>(kDualLanes, n - base);
    for (size_t l = 0; l < count; ++l) dual_course_[base + l].a.v[static_cast<Eigen::Index>(l)] = 1;
    const Taylor2<Dual> g =
        row.expression.evaluate<Taylor2<Dual>>({dual_course_.data(), row.quantities.size()});
    for (size_t l = 0; l < count; ++l) {
      const auto lane = static_cast<Eigen::Index>(l);
      dual_course_[base + l].a.v[lane] = 0;
      const Quantity& q = quantities_[static_cast<size_t>(row.quantities[base + l])];
      const double slope = g.a.v[lane], rate = g.d.v[lane], acceleration = g.dd.v[lane];
      out.G.row(at) += slope * tangent_.y_q.row(q.at[0]);
      out.g1_y.row(at) += rate * tangent_.y_q.row(q.at[0]) + slope * tangent_.y_q.row(q.at[1]);
      out.g2_y.row(at) += acceleration * tangent_.y_q.row(q.at[0]) +
                          2 * rate * tangent_.y_q.row(q.at[1]) + slope * tangent_.y_q.row(q.at[2]);
      out.g2_v.row(at) += 2 * rate * tangent_.y_v.row(q.at[1]) + slope * tangent_.y_v.row(q.at[2]);
    }
  }
}

void ModelServo::guess(MutableView y) const { std::copy(rest_.begin(), rest_.end(), y.begin()); }

void ModelServo::evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept {
  if (balls_.count() == 0) {
    evaluate_model(x, with_tangent, out);
    return;
  }
  std::copy(x.y.begin(), x.y.end(), q_.begin());
  workspace_->normalise(q_);
  balls_.speeds(x.y, x.v, speeds_);
  balls_.speeds(x.y, x.w, accelerations_);
  const size_t nl = model_.rows.size();
  evaluate_model({x.t, q_, speeds_, accelerations_, x.lambda.first(nl), x.u}, with_tangent,
                 of_model_);
  balls_.carry_over(x, of_model_, static_cast<int>(nl), with_tangent, out);
}

void ModelServo::evaluate_model(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept {
  if (inputs_.size() < u_.size()) workspace_->inputs_at(x.t, u_, u_rate_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    u_[static_cast<size_t>(inputs_[i])] = x.u[i];
    u_rate_[static_cast<size_t>(inputs_[i])] = 0;
  }
  const Point point{x.t, x.y, x.v, x.w, x.lambda, u_, u_rate_};
  workspace_->residual(point, true, residual_);
  const int nl = static_cast<int>(model_.rows.size()), np = model_.n_position_rows,
            npv = np + model_.n_velocity_rows;
  out.r = residual_.r;
  out.g0.head(np) = residual_.phi;
  out.g1.head(npv) = residual_.phi_dot;
  out.g2.head(nl) = residual_.phi_ddot;
  for (size_t i = 0; i < servo_.size(); ++i)
    follow(servo_[i], static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(i), out);
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& c = conditions_[i];
    const auto row = static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(servo_.size() + i);
    variables_[0] = x.t;
    for (size_t k = 0; k < c.quantities.size(); ++k)
      variables_[k + 1] = residual_.y[value_of(c.quantities[k])];
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
  for (size_t i = 0; i < servo_.size(); ++i)
    follow_tangent(servo_[i], static_cast<Eigen::Index>(nl) + static_cast<Eigen::Index>(i), out);
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
        dual_variables_[k + 1] = Dual(residual_.y[value_of(c.quantities[k])]);
      for (size_t l = 0; l < count; ++l)
        dual_variables_[base + l + 1].v[static_cast<Eigen::Index>(l)] = 1;
      const Dual e = c.expression.evaluate<Dual>({dual_variables_.data(), c.quantities.size() + 1});
      for (size_t l = 0; l < count; ++l) {
        const int index = c.quantities[base + l];
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
