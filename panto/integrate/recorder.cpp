#include "panto/integrate/recorder.hpp"

#include <algorithm>
#include <cmath>

#include "panto/integrate/state_units.hpp"
#include "panto/integrate/stepper.hpp"

namespace panto {

namespace {

std::vector<std::string> row_names(const Model& m) {
  std::vector<std::string> names(m.rows.size());
  for (const ConstraintGroup& g : m.groups)
    for (size_t k = 0; k < g.rows.size(); ++k)
      names[static_cast<size_t>(g.rows[k])] =
          g.rows.size() == 1 ? g.name : g.name + "[" + std::to_string(k) + "]";
  return names;
}

}  // namespace

Recorder::Recorder(const Model& model, const SimulationOptions& options, Ode& ode, Run& run)
    : model_(model),
      ode_(ode),
      run_(run),
      keep_states_(options.keep_states),
      needs_multipliers_(options.keep_states),
      x_dot_(static_cast<size_t>(ode.size())),
      y_(model.outputs.size()) {
  for (const Output& o : model.outputs) {
    run.output_names.push_back(o.name);
    run.output_units.push_back(unit_of(o));
    needs_multipliers_ = needs_multipliers_ || o.kind == OutputKind::kMultiplier;
  }
  run.model = model.name;
  run.coordinate_names = model.coordinate_names;
  run.speed_names = model.speed_names;
  run.multiplier_names = row_names(model);
  run.outputs.resize(model.outputs.size());
  if (keep_states_) {
    run.q.resize(static_cast<size_t>(model.nq));
    run.v.resize(static_cast<size_t>(model.nv));
    run.a.resize(static_cast<size_t>(model.nv));
    run.lambda.resize(model.rows.size());
  }
}

Status Recorder::evaluate(double t, View x) {
  const Status status = ode_.rhs(t, x, x_dot_);
  if (!usable(status)) return status;
  Workspace& w = ode_.workspace();
  point_.t = t;
  point_.q = ode_.positions();
  point_.v = ode_.speeds();
  point_.a = ode_.accelerations();
  point_.u = ode_.inputs();
  point_.u_rate = ode_.input_rates();
  point_.lambda = {};
  if (needs_multipliers_ && !model_.rows.empty()) {
    point_.lambda = ode_.multipliers();
    // With redundant rows the multipliers are not unique: report those of minimum norm.
    if (!w.redundant_rows().empty()) {
      const Status solved = w.forward_dynamics(point_, unused_, minimum_norm_);
      if (!fatal(solved))
        point_.lambda = {minimum_norm_.data(), static_cast<size_t>(minimum_norm_.size())};
    }
  }
  w.outputs(point_, y_);
  return Status::kOk;
}

Status Recorder::output(int index, double t, View x, double& value) {
  const Status status = evaluate(t, x);
  if (status == Status::kOk) value = y_[static_cast<size_t>(index)];
  return status;
}

Energy Recorder::examine(double t, View x) {
  Workspace& w = ode_.workspace();
  double position = 0, velocity = 0;
  w.violation(t, point_.q, point_.v, point_.u, position, velocity);
  run_.max_position_violation = std::max(run_.max_position_violation, position);
  run_.max_velocity_violation = std::max(run_.max_velocity_violation, velocity);
  const Energy e = w.energy(point_.q, point_.v);
  double balance = run_.energy_final = e.kinetic + e.potential;
  if (const auto work = static_cast<size_t>(ode_.dynamic_size()); ode_.with_work())
    balance += x[work + 1] - x[work];
  run_.energy_max_drift = std::max(run_.energy_max_drift, std::abs(balance - run_.energy_initial));
  return e;
}

Status Recorder::audit(double t, View x) {
  const Status status = evaluate(t, x);
  if (status == Status::kOk) examine(t, x);
  return status;
}

Status Recorder::record(double t, View x) {
  if (!run_.t.empty() && run_.t.back() == t) return Status::kOk;
  const Status status = evaluate(t, x);
  if (status != Status::kOk) return status;
  run_.t.push_back(t);
  for (size_t k = 0; k < y_.size(); ++k) run_.outputs[k].push_back(y_[k]);
  if (keep_states_) {
    const auto append = [](View from, std::vector<std::vector<double>>& to) {
      for (size_t k = 0; k < to.size(); ++k) to[k].push_back(k < from.size() ? from[k] : 0);
    };
    append(point_.q, run_.q);
    append(point_.v, run_.v);
    append(point_.a, run_.a);
    append(point_.lambda, run_.lambda);
  }
  const Energy e = examine(t, x);
  const auto work = static_cast<size_t>(ode_.dynamic_size());
  run_.kinetic.push_back(e.kinetic);
  run_.potential.push_back(e.potential);
  run_.entered.push_back(ode_.with_work() ? x[work] : 0);
  run_.taken.push_back(ode_.with_work() ? x[work + 1] : 0);
  return Status::kOk;
}

}  // namespace panto
