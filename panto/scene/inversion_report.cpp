#include "panto/scene/inversion_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace panto::scene {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoLimit = 1e300;  // as InputLimit has it

PlotPanel plot(const Inversion& r, const char* group, std::string title) {
  PlotPanel p;
  p.group = group;
  p.title = std::move(title);
  p.x_values = r.t;
  p.cursor = true;
  return p;
}
Series series(std::string name, const std::string& unit, std::vector<double> values) {
  Series s;
  s.name = std::move(name);
  s.unit = unit;
  s.values = std::move(values);
  return s;
}

void add_outputs(const Inversion& r, Report& report) {
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    const std::string& unit = r.output_units[i];
    PlotPanel p = plot(r, "Outputs", r.outputs[i]);
    p.series.push_back(series(r.outputs[i] + " desired", unit, r.desired[i]));
    if (i < r.achieved.size()) {
      p.note = "achieved: by the plant, simulated with the inputs";
      p.series.push_back(series(r.outputs[i] + " achieved", unit, r.achieved[i]));
    }
    report.panels.emplace_back(std::move(p));
    if (i >= r.achieved.size()) continue;
    PlotPanel e = plot(r, "Outputs", "Error of " + r.outputs[i]);
    std::vector<double> error(r.t.size());
    for (size_t k = 0; k < error.size(); ++k) error[k] = r.achieved[i][k] - r.desired[i][k];
    e.series.push_back(
        series(r.outputs[i] + " achieved - desired", r.output_units[i], std::move(error)));
    report.panels.emplace_back(std::move(e));
  }
}

// An input where the path moves, and before and after it: those parts are what stable inversion adds.
void add_parts(const Inversion& r, const std::string& name, Series whole, PlotPanel& panel) {
  std::array<Series, 3> parts;
  const std::array names{" before the path", " on the path", " after the path"};
  for (size_t p = 0; p < parts.size(); ++p) parts[p] = series(name + names[p], whole.unit, {});
  for (size_t k = 0; k < r.t.size(); ++k)
    for (size_t p = 0; p < parts.size(); ++p) {
      const bool inside = p == 0   ? r.t[k] <= r.stable->path_begin
                          : p == 1 ? r.t[k] >= r.stable->path_begin && r.t[k] <= r.stable->path_end
                                   : r.t[k] >= r.stable->path_end;
      if (!inside) continue;
      parts[p].x.push_back(r.t[k]);
      parts[p].values.push_back(whole.values[k]);
    }
  if (!whole.low.empty()) {  // the limits, over the whole run
    Series limits = whole;
    limits.name = "limits of " + name;
    limits.values.assign(r.t.size(), kNone);
    panel.series.push_back(std::move(limits));
  }
  for (Series& part : parts)
    if (part.x.size() > 1) panel.series.push_back(std::move(part));
}

void add_inputs(const Inversion& r, const std::vector<InputLimit>& limits, Report& report) {
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    PlotPanel p = plot(r, "Inputs", r.inputs[i]);
    Series s = series(r.inputs[i], r.input_units[i], r.u[i]);
    for (const InputLimit& limit : limits) {
      if (limit.actuator != r.inputs[i]) continue;
      s.low.assign(r.t.size(), limit.lower > -kNoLimit ? limit.lower : kNone);
      s.high.assign(r.t.size(), limit.upper < kNoLimit ? limit.upper : kNone);
      p.note = "band: limits of the actuator";
      if (std::any_of(r.u[i].begin(), r.u[i].end(),
                      [&](double u) { return u > limit.upper || u < limit.lower; }))
        p.note += ", which it exceeds";
    }
    if (r.stable) {
      p.note += fmt::format("{}acts {:.3g} s before the path and {} after it",
                            p.note.empty() ? "" : "; ", r.stable->pre_actuation,
                            std::isfinite(r.stable->post_actuation)
                                ? fmt::format("{:.3g} s", r.stable->post_actuation)
                                : "without end");
      add_parts(r, r.inputs[i], std::move(s), p);
    } else {
      p.series.push_back(std::move(s));
    }
    report.panels.emplace_back(std::move(p));
  }
}

void add_states(const Inversion& r, Report& report) {
  const auto add = [&](const char* title, const char* suffix,
                       const std::vector<std::vector<double>>& values) {
    std::vector<PlotPanel> plots;
    for (size_t i = 0; i < r.coordinates.size() && i < values.size(); ++i) {
      const std::string unit = r.coordinate_units[i] + suffix;
      auto p = std::find_if(plots.begin(), plots.end(),
                            [&](const PlotPanel& e) { return e.series.front().unit == unit; });
      if (p == plots.end()) {
        plots.push_back(plot(r, "States", fmt::format("{} in {}", title, unit)));
        p = plots.end() - 1;
      }
      p->series.push_back(
          series(suffix[0] == 0 ? r.coordinates[i] : r.coordinates[i] + "_dot", unit, values[i]));
    }
    for (PlotPanel& p : plots) report.panels.emplace_back(std::move(p));
  };
  add("Coordinates", "", r.y);
  add("Speeds", "/s", r.v);
}

void add_analysis(const Inversion& r, Report& report) {
  const ServoAnalysis& a = r.analysis;
  ScatterPanel map;
  map.group = "Inverse model";
  map.title = "Poles and zeros";
  map.note = "a zero to the right of the imaginary axis is internal motion that grows";
  map.x = {"real part", "1/s"};
  map.y = {"imaginary part", "1/s"};
  map.equal = true;
  const auto points = [&](const char* name, Marker marker,
                          const std::vector<std::complex<double>>& values) {
    PointSet set;
    set.name = name;
    set.marker = marker;
    for (const auto& v : values) {
      set.x.push_back(v.real());
      set.y.push_back(v.imag());
    }
    map.series.push_back(std::move(set));
  };
  points("poles", Marker::kCross, a.poles);
  points("zeros", Marker::kCircle, a.zeros);
  report.panels.emplace_back(std::move(map));

  TablePanel t;
  t.group = "Inverse model";
  t.title = r.stable             ? "Analysis and boundary value problem"
            : r.times.cycles > 0 ? "Analysis and cycles"
                                 : "Analysis";
  t.columns = {{"quantity", ""}, {"value", ""}};
  const bool tolerated = redefinition_tolerates(r);
  const Mark mark = tolerated || a.type == InverseClass::kMarginal ? Mark::kWarn
                    : a.type == InverseClass::kNonMinimumPhase     ? Mark::kBad
                                                                   : Mark::kGood;
  t.rows = {
      {"class",
       MarkedText{tolerated ? "marginal, as the redefinition tolerates" : to_string(a.type), mark}},
      {"configuration", std::string(to_string(a.configuration))},
      {"relative degree", fmt::format("{}", fmt::join(a.relative_degree, ", "))},
      {"index", static_cast<double>(a.index)},
      {"continuous derivatives that the path needs", static_cast<double>(a.smoothness)},
  };
  if (r.stable) {
    const StableReport& s = *r.stable;
    const auto row = [&](const char* name, double value) {
      t.rows.push_back({std::string(name), value});
    };
    row("horizon before the path, s", s.before);
    row("horizon after the path, s", s.after);
    row("inputs act before the path, s", s.pre_actuation);
    if (std::isfinite(s.post_actuation))
      row("inputs act after the path, s", s.post_actuation);
    else
      t.rows.push_back({"inputs act after the path", std::string("without end")});
    row("left of the internal motion at the beginning", s.leakage_begin);
    row("left of it at the end", s.leakage_end);
    row("intervals of the mesh", s.intervals);
    row("error of the solution", s.error);
    row("Newton steps", s.iterations);
  } else if (r.times.cycles > 0) {
    t.rows.push_back({"cycles", static_cast<double>(r.times.cycles)});
    t.rows.push_back({"mean cycle, us", 1e6 * r.times.mean});
    t.rows.push_back({"slowest cycle, us", 1e6 * r.times.worst});
    t.rows.push_back({"most iterations of a cycle", static_cast<double>(r.most_iterations)});
    t.rows.push_back({"cycles not converged",
                      r.not_converged > 0
                          ? Cell(MarkedText{std::to_string(r.not_converged), Mark::kWarn})
                          : Cell(std::string("none"))});
  }
  for (size_t i = 0; i < r.tracking_max.size(); ++i)
    t.rows.push_back({fmt::format("largest error of {}, {}", r.outputs[i], r.output_units[i]),
                      r.tracking_max[i]});
  report.panels.emplace_back(std::move(t));
}

// Outputs that others are followed in place of, and the zeros along the weight.
void add_redefined(const Inversion& r, Report& report) {
  const RedefinedOutput& o = *r.redefined;
  for (size_t i = 0; i < o.truth.size(); ++i) {
    const TrueOutput& t = o.truth[i];
    PlotPanel p = plot(r, "Redefined output", t.name);
    p.note = fmt::format("followed instead: {}; mean square error {:.3g}", o.choice.outputs[i],
                         t.mean_square);
    if (t.residual) p.note += fmt::format(", after the path {:.3g}", *t.residual);
    p.series.push_back(series("desired", t.unit, r.desired[i]));
    p.series.push_back(series("inverse model", t.unit, t.inverse));
    if (!t.plant.empty()) p.series.push_back(series("plant", t.unit, t.plant));
    report.panels.emplace_back(std::move(p));
  }
  PlotPanel w;
  w.group = "Redefined output";
  w.title = "How far right the zeros are, by the weight of the true output";
  w.x = {"weight", "1"};
  w.note =
      fmt::format("minimum phase up to {:.4g}{}; used {:.4g}", o.limit,
                  o.axial >= 0 ? fmt::format(", along the link {:.4g}", o.together) : "", o.weight);
  std::vector<double> worst;
  for (const WeightedZeros& at : o.along) {
    w.x_values.push_back(at.weight);
    worst.push_back(at.worst);
  }
  w.series.push_back(series("largest Re s / |s|", "1", std::move(worst)));
  report.panels.emplace_back(std::move(w));
  ScatterPanel map;
  map.group = "Redefined output";
  map.title = "Zeros along the weight";
  map.note = "right of the imaginary axis internal motion grows";
  map.x = {"real part", "1/s"};
  map.y = {"imaginary part", "1/s"};
  const auto points = [&](std::string name, Marker marker, const auto& wanted) {
    PointSet set;
    set.name = std::move(name);
    set.marker = marker;
    for (const WeightedZeros& at : o.along)
      if (wanted(at.weight))
        for (const auto& z : at.zeros) {
          set.x.push_back(z.real());
          set.y.push_back(z.imag());
        }
    if (!set.x.empty()) map.series.push_back(std::move(set));
  };
  points(fmt::format("weight up to {:.3g}, minimum phase", o.limit), Marker::kCircle,
         [&](double weight) { return weight <= o.limit; });
  points("above", Marker::kCross, [&](double weight) { return weight > o.limit; });
  report.panels.emplace_back(std::move(map));
}

std::vector<std::string> plants_of(const FeedbackReport& r) {
  std::vector<std::string> plants;
  for (const LoopCase& c : r.cases)
    if (std::find(plants.begin(), plants.end(), c.plant) == plants.end()) plants.push_back(c.plant);
  return plants;
}

// Where points shall go: outputs that are positions of one place, what they leave open as the inverse model has it.
void add_paths(const Model& model, const Params& params, const Inversion& r, Report& report) {
  std::vector<int> places;
  const auto position = [&](size_t i) -> const Channel* {
    const int k = find_output(model, r.outputs[i]);
    if (k < 0) return nullptr;
    const Output& o = model.outputs[static_cast<size_t>(k)];
    const bool fits =
        o.kind == OutputKind::kChannel && o.order == Order::kValue &&
        (o.channel.kind == ChannelKind::kPoint || o.channel.kind == ChannelKind::kGap) &&
        o.channel.frame_a >= 0 && o.channel.frame_b < 0;
    return fits ? &o.channel : nullptr;
  };
  for (size_t i = 0; i < r.outputs.size(); ++i)
    if (const Channel* c = position(i);
        c != nullptr && std::find(places.begin(), places.end(), c->frame_a) == places.end())
      places.push_back(c->frame_a);
  if (places.empty()) return;
  const auto workspace = Workspace::create(model, params);
  std::vector<double> q(static_cast<size_t>(model.nq), 0.0);
  for (const int place : places) {
    DrawnPath path;
    for (const size_t k : chosen_frames(r.t.size(), kMostPathPoints)) {
      for (size_t i = 0; i < q.size(); ++i) q[i] = r.y[i][k];
      Vec3 point = workspace->frame_pose(q, place).position;
      for (size_t i = 0; i < r.outputs.size(); ++i)
        if (const Channel* c = position(i); c != nullptr && c->frame_a == place)
          point[static_cast<size_t>(c->axis)] = r.desired[i][k];
      path.points.push_back(point);
    }
    path.name = "desired path of " + model.frames[static_cast<size_t>(place)].name;
    report.scene->paths.push_back(std::move(path));
  }
}

// What an output of the plant is off the desired one, which stands still behind its last instant.
std::vector<double> errors_of(const LoopRun& run, size_t output, const Inversion& inverse) {
  std::vector<double> error(run.t.size());
  size_t at = 0;
  for (size_t k = 0; k < error.size(); ++k) {
    while (at + 1 < inverse.t.size() && inverse.t[at + 1] <= run.t[k] + 1e-9) ++at;
    error[k] = run.z[output][k] - inverse.desired[output][at];
  }
  return error;
}

TablePanel draws_of(const FeedbackReport& r) {
  TablePanel draws;
  draws.group = "Feedback";
  draws.title = "Largest errors over draws";
  draws.columns = {{"feedback", ""}, {"draws", ""},      {"failed", ""}, {"output", ""},
                   {"mean", ""},     {"95 % below", ""}, {"worst", ""}};
  for (const LoopDraws& d : r.draws)
    for (size_t i = 0; i < d.max.size(); ++i)
      draws.rows.push_back({d.feedback, static_cast<double>(d.draws), static_cast<double>(d.failed),
                            fmt::format("{} [{}]", r.outputs[i], r.output_units[i]), d.max[i].mean,
                            d.max[i].most, d.max[i].largest});
  return draws;
}

}  // namespace

bool redefinition_tolerates(const Inversion& r) {
  return r.redefined && tolerates(*r.redefined, r.analysis);
}

Report report_of_inversion(const Model& model, const Params& params, const Inversion& r,
                           const std::vector<InputLimit>& limits) {
  Report report;
  report.title = "Inverse model of " + (model.title.empty() ? r.model : model.title);
  report.model = r.model;
  report.scene = scene_of(model, params);
  Run run;
  run.t = r.t;
  run.coordinate_names = r.coordinates;
  run.q = r.y;
  Diagnostics notes;
  Motion motion = motion_of(model, params, run, notes);
  motion.name = r.stable ? "stable inverse" : "inverse model";
  if (!motion.t.empty()) report.motions.push_back(std::move(motion));
  add_notes(notes, report);
  add_paths(model, params, r, report);
  add_outputs(r, report);
  if (r.redefined) add_redefined(r, report);
  add_inputs(r, limits, report);
  add_states(r, report);
  add_analysis(r, report);
  return report;
}

void add_feedback(const FeedbackReport& r, const Inversion& inverse, Report& report) {
  std::vector<Panel> panels;
  TablePanel table;
  table.group = "Feedback";
  table.title = "Errors and inputs";
  table.columns = {{"feedback", ""}, {"plant", ""},      {"quantity", ""},   {"rms", ""},
                   {"largest", ""},  {"at the end", ""}, {"in a limit", "%"}};
  for (const LoopCase& c : r.cases) {
    for (size_t i = 0; i < c.run.errors.size(); ++i) {
      const OutputError& e = c.run.errors[i];
      table.rows.push_back({c.feedback, c.plant,
                            fmt::format("error of {} [{}]", r.outputs[i], r.output_units[i]), e.rms,
                            e.max, e.final, std::monostate{}});
    }
    for (size_t i = 0; i < c.run.inputs.size(); ++i) {
      const InputUse& u = c.run.inputs[i];
      table.rows.push_back({c.feedback, c.plant,
                            fmt::format("{} [{}]", r.inputs[i], r.input_units[i]), u.rms, u.max,
                            std::monostate{}, 100 * u.saturated});
    }
  }
  panels.emplace_back(std::move(table));
  for (const std::string& plant : plants_of(r)) {
    const auto add = [&](const std::string& what, const std::string& unit, const auto& values) {
      PlotPanel p;
      p.group = "Feedback";
      p.title = fmt::format("{}, plant \"{}\"", what, plant);
      p.cursor = true;
      for (const LoopCase& c : r.cases) {
        if (c.plant != plant) continue;
        Series s = series(c.feedback, unit, values(c));
        s.x = c.run.t;
        p.series.push_back(std::move(s));
      }
      panels.emplace_back(std::move(p));
    };
    for (size_t i = 0; i < r.outputs.size(); ++i) {
      add("Error of " + r.outputs[i], r.output_units[i],
          [&](const LoopCase& c) { return errors_of(c.run, i, inverse); });
      add("Output " + r.outputs[i], r.output_units[i],
          [i](const LoopCase& c) { return c.run.z[i]; });
    }
    for (size_t i = 0; i < r.inputs.size(); ++i)
      add("Input " + r.inputs[i], r.input_units[i],
          [i](const LoopCase& c) { return c.run.acting[i]; });
  }
  if (!r.draws.empty()) panels.emplace_back(draws_of(r));
  report.panels.insert(report.panels.begin(), std::make_move_iterator(panels.begin()),
                       std::make_move_iterator(panels.end()));
}

}  // namespace panto::scene
