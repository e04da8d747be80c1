#include "panto/scene/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/labels.hpp"

namespace panto::scene {
namespace {

constexpr size_t kShownAtFirst = 8;  // series of a plot; more are toggled off

std::string title_of_unit(const std::string& unit) {
  static const std::map<std::string, std::string> kTitles{{"m", "Positions"},
                                                          {"rad", "Angles"},
                                                          {"m/s", "Velocities"},
                                                          {"rad/s", "Angular velocities"},
                                                          {"m/s^2", "Accelerations"},
                                                          {"rad/s^2", "Angular accelerations"},
                                                          {"N", "Forces"},
                                                          {"N m", "Torques"},
                                                          {"J", "Energies"},
                                                          {"", "Outputs"}};
  const auto found = kTitles.find(unit);
  return found != kTitles.end() ? found->second : fmt::format("Outputs in {}", unit);
}

PlotPanel& plot_of_unit(std::vector<PlotPanel>& plots, const std::string& unit, const Run& run) {
  for (PlotPanel& p : plots)
    if (p.series.front().unit == unit) return p;
  PlotPanel p;
  p.title = title_of_unit(unit);
  p.group = "Outputs";
  p.x_values = run.t;
  p.cursor = true;
  return plots.emplace_back(std::move(p));
}

void add_outputs(const Run& run, const Run* second, Report& report) {
  std::vector<PlotPanel> plots;
  const auto unit_of = [](const Run& r, size_t k) {
    return k < r.output_units.size() ? r.output_units[k] : std::string();
  };
  for (size_t k = 0; k < run.outputs.size(); ++k) {
    const std::string unit = unit_of(run, k);
    PlotPanel& p = plot_of_unit(plots, unit, run);
    Series s;
    s.name = run.output_names[k];
    s.unit = unit;
    s.values = run.outputs[k];
    s.hidden = p.series.size() >= kShownAtFirst;
    p.series.push_back(std::move(s));
  }
  for (const MeasuredSeries& m : run.measured) {
    PlotPanel& p = plot_of_unit(plots, m.unit, run);
    Series s;
    s.name = m.name + " measured";
    s.unit = m.unit;
    s.values = m.values;
    s.x = m.t;
    s.points = true;
    p.series.push_back(std::move(s));
  }
  for (PlotPanel& p : plots) {
    const std::vector<Series> own = p.series;
    for (const Series& s : own) {
      if (second == nullptr || s.points) continue;
      const auto found =
          std::find(second->output_names.begin(), second->output_names.end(), s.name);
      const auto k = static_cast<size_t>(found - second->output_names.begin());
      if (k >= second->outputs.size() || unit_of(*second, k) != s.unit) continue;
      Series ghost;
      ghost.name = s.name;
      ghost.unit = s.unit;
      ghost.values = second->outputs[k];
      if (second->t != run.t) ghost.x = second->t;
      ghost.ghost = true;
      ghost.hidden = s.hidden;
      p.series.push_back(std::move(ghost));
    }
    report.panels.emplace_back(std::move(p));
  }
}

// What is conserved: kinetic + potential - entered + taken, as a difference from the start.
std::vector<double> drift_of(const Run& run) {
  const size_t n = run.t.size();
  const bool works = run.entered.size() == n && run.taken.size() == n;
  std::vector<double> drift(n);
  for (size_t i = 0; i < n; ++i) {
    drift[i] = run.kinetic[i] + run.potential[i] - run.kinetic[0] - run.potential[0];
    if (works) drift[i] -= (run.entered[i] - run.entered[0]) - (run.taken[i] - run.taken[0]);
  }
  return drift;
}

void add_energy(const Run& run, Report& report) {
  const size_t n = run.t.size();
  if (n == 0 || run.kinetic.size() != n || run.potential.size() != n) return;
  PlotPanel energy;
  energy.title = "Energy";
  energy.group = "Energy";
  energy.x_values = run.t;
  energy.cursor = true;
  PlotPanel drift = energy;
  const auto add = [](PlotPanel& p, const char* name, std::vector<double> values) {
    Series s;
    s.name = name;
    s.unit = "J";
    s.values = std::move(values);
    p.series.push_back(std::move(s));
  };
  std::vector<double> total(n);
  for (size_t i = 0; i < n; ++i) total[i] = run.kinetic[i] + run.potential[i];
  add(energy, "kinetic", run.kinetic);
  add(energy, "potential", run.potential);
  add(energy, "kinetic + potential", total);
  const auto moves = [n](const std::vector<double>& work) {
    return work.size() == n &&
           std::any_of(work.begin(), work.end(), [](double x) { return x != 0; });
  };
  if (moves(run.entered)) add(energy, "entered", run.entered);
  if (moves(run.taken)) add(energy, "taken", run.taken);
  drift.title = "Energy drift";
  drift.note = "kinetic + potential − entered + taken, from its value at the start";
  add(drift, "drift", drift_of(run));
  report.panels.emplace_back(std::move(energy));
  report.panels.emplace_back(std::move(drift));
}

// A number with a verdict: `scale` is the size that makes it small or large.
Cell judged(double value, double scale, double good, double bad) {
  const double relative = std::abs(value) / scale;
  const Mark mark = !std::isfinite(relative) || relative > bad ? Mark::kBad
                    : relative > good                          ? Mark::kWarn
                                                               : Mark::kGood;
  return MarkedText{fmt::format("{:.3g}", value), mark};
}

void add_audit(const Run& run, double size, Report& report) {
  double largest = 0;
  for (const double x : run.kinetic) largest = std::max(largest, x);
  for (const double x : run.entered) largest = std::max(largest, std::abs(x));
  const double scale = largest > 0 ? largest : 1;
  TablePanel t;
  t.title = "Audit";
  t.group = "Audit";
  t.note =
      "green below 1e-6 of the size of the mechanism and of its largest energy, red above 1e-3";
  t.columns = {{"quantity", ""}, {"value", ""}, {"unit", ""}};
  t.rows = {{"constraints open by at most, position",
             judged(run.max_position_violation, size, 1e-6, 1e-3), "m, rad"},
            {"constraints open by at most, velocity",
             judged(run.max_velocity_violation, size, 1e-6, 1e-3), "m/s, rad/s"},
            {"energy at the start", run.energy_initial, "J"},
            {"energy at the end", run.energy_final, "J"},
            {"largest energy drift", judged(run.energy_max_drift, scale, 1e-6, 1e-3), "J"}};
  report.panels.emplace_back(std::move(t));
}

void add_statistics(const Run& run, Report& report) {
  TablePanel t;
  t.title = "Run";
  t.group = "Audit";
  t.columns = {{"quantity", ""}, {"value", ""}};
  const auto row = [&t](const char* name, Cell value) {
    t.rows.push_back({name, std::move(value)});
  };
  const auto count = [&](const char* name, long n) {
    if (n > 0) row(name, static_cast<double>(n));
  };
  row("model", run.model);
  if (!run.integrator.empty()) row("integrator", run.integrator);
  if (!run.t.empty()) row("from, s", run.t.front());
  if (!run.t.empty()) row("to, s", run.t.back());
  count("instants", static_cast<long>(run.t.size()));
  count("steps", run.stats.steps);
  count("evaluations", run.stats.evaluations);
  count("Jacobians", run.stats.jacobians);
  count("repartitions", run.stats.repartitions);
  count("steps rejected", run.stats.rejected);
  if (run.stats.wall_seconds > 0) row("computed in, s", run.stats.wall_seconds);
  if (run.stats.real_time_factor > 0)
    row("times faster than real time", run.stats.real_time_factor);
  if (!run.complete) row("complete", MarkedText{"no", Mark::kWarn});
  if (!run.stopped_by.empty()) row("stopped by", run.stopped_by);
  for (const std::string& s : run.settings) row("set", s);
  report.panels.emplace_back(std::move(t));
}

std::string body_name(const Scene& scene, int body) {
  return body < 0 ? "ground" : scene.bodies[static_cast<size_t>(body)].name;
}

void add_model(const Model& model, const Params& params, const Scene& scene, Report& report) {
  const auto table = [&](const char* title, std::vector<Axis> columns) {
    TablePanel t;
    t.title = title;
    t.group = "Model";
    t.columns = std::move(columns);
    return t;
  };
  const auto add = [&](TablePanel t) {
    if (!t.rows.empty()) report.panels.emplace_back(std::move(t));
  };
  TablePanel bodies = table(
      "Bodies",
      {{"body", ""}, {"mass", "kg"}, {"centre x", "m"}, {"centre y", "m"}, {"centre z", "m"}});
  if (scene.planar) bodies.columns.pop_back();
  for (const DrawnBody& b : scene.bodies) {
    bodies.rows.push_back({b.name, b.mass, b.centre[0], b.centre[1]});
    if (!scene.planar) bodies.rows.back().emplace_back(b.centre[2]);
  }
  add(std::move(bodies));

  TablePanel joints =
      table("Joints", {{"joint", ""}, {"type", ""}, {"from", ""}, {"to", ""}, {"coordinates", ""}});
  for (size_t i = 0; i < model.file_joints.size(); ++i) {
    const FileJoint& f = model.file_joints[i];
    std::vector<std::string> names;
    for (int k = f.first; k < f.first + f.count; ++k) {
      const Joint& j = model.joints[static_cast<size_t>(k)];
      for (int c = j.q; c < j.q + j.nq; ++c)
        names.push_back(model.coordinate_names[static_cast<size_t>(c)]);
    }
    joints.rows.push_back({f.name, f.type, body_name(scene, scene.joints[i].a.body),
                           body_name(scene, scene.joints[i].b.body),
                           fmt::format("{}", fmt::join(names, ", "))});
  }
  add(std::move(joints));

  TablePanel loops = table("Loops and drives", {{"constraint", ""}, {"type", ""}, {"rows", ""}});
  for (const ConstraintGroup& g : model.groups)
    loops.rows.push_back({g.name, g.type, static_cast<double>(g.rows.size())});
  add(std::move(loops));

  TablePanel forces = table("Forces and actuators", {{"name", ""}, {"type", ""}});
  for (const ForceElement& f : model.forces) forces.rows.push_back({f.name, f.type});
  for (const Actuator& a : model.actuators) {
    const char* type = a.group >= 0 ? "velocity" : a.channel.angular ? "torque" : "force";
    forces.rows.push_back({a.name, fmt::format("actuator, {}", type)});
  }
  add(std::move(forces));

  TablePanel numbers = table("Parameters", {{"parameter", ""}, {"value", ""}, {"unit", ""}});
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const ParameterInfo& p = model.parameters[i];
    numbers.rows.push_back({p.name, params.values[static_cast<Eigen::Index>(i)],
                            p.has_dim ? to_string(p.dim) : std::string()});
  }
  add(std::move(numbers));
}

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const int b : bodies_of(model)) names.push_back(model.bodies[static_cast<size_t>(b)].name);
  for (const BeamNode& n : model.nodes) names.push_back(n.name);
  for (const BeamSpan& e : model.ancf_elements)
    names.push_back(model.ancf_nodes[static_cast<size_t>(e.node)].name);
  return names;
}

}  // namespace

Report report_of_run(const Recorded& first, const Recorded* second) {
  Report report;
  const Run& run = first.run;
  report.model = run.model;
  report.title = run.model.empty() ? "Run" : run.model;
  double size = 1;
  Diagnostics notes;
  if (first.model != nullptr) {
    const Model& model = *first.model;
    if (!model.title.empty()) report.title = model.title;
    report.scene = scene_of(model, *first.params);
    size = report.scene->size;
    Motion motion = motion_of(model, *first.params, run, notes);
    if (!motion.t.empty()) report.motions.push_back(std::move(motion));
  }
  if (first.model != nullptr && second != nullptr && second->model != nullptr &&
      !report.motions.empty()) {
    if (names_of(*first.model) != names_of(*second->model)) {
      notes.warning(643, {}, "the second run has other bodies or nodes: its motion is not shown");
    } else {
      Motion ghost = motion_of(*second->model, *second->params, second->run, notes);
      ghost.name = "second run";
      if (!ghost.t.empty()) report.motions.push_back(std::move(ghost));
    }
  }
  add_notes(notes, report);
  add_outputs(run, second == nullptr ? nullptr : &second->run, report);
  add_energy(run, report);
  add_audit(run, size, report);
  add_statistics(run, report);
  if (first.model != nullptr) add_model(*first.model, *first.params, *report.scene, report);
  return report;
}

Report report_of_run(const Model& model, const Params& params, const Run& run, const Run* second) {
  const Recorded first{run, &model, &params};
  if (second == nullptr) return report_of_run(first);
  const Recorded other{*second, &model, &params};
  return report_of_run(first, &other);
}

Report report_of_model(const Model& model, const Params& params) {
  Report report;
  report.model = model.name;
  report.title = model.title.empty() ? model.name : model.title;
  report.scene = scene_of(model, params);
  const auto workspace = Workspace::create(model, params);
  const Result<AssembledState> state = assemble(*workspace);
  std::vector<double> q(static_cast<size_t>(model.nq), 0.0);
  if (state.ok()) {
    q.assign(state->q.begin(), state->q.end());
  } else {
    for (const Joint& j : model.joints)
      if (j.type == JointType::kSpherical) q[static_cast<size_t>(j.q)] = 1;
  }
  add_notes(state.diagnostics(), report);
  report.motions.push_back(motion_at(model, params, 0, q));
  add_model(model, params, *report.scene, report);
  return report;
}

}  // namespace panto::scene
