#include "panto/scene/updating_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "panto/mechanics/closure.hpp"
#include "panto/scene/modes_report.hpp"
#include "panto/scene/run_report.hpp"

namespace panto::scene {

namespace {

MatrixPanel mac_panel(const std::string& title, const UpdatedPose& pose, const Updating& r,
                      const Eigen::MatrixXd& mac, const std::vector<int>& columns) {
  MatrixPanel panel;
  panel.group = "MAC";
  panel.title = fmt::format("{}, {}", title, pose.name);
  panel.note =
      "Measured modes (rows) and the model's (columns); 1 on the diagonal: the same shapes.";
  for (const UpdatedMode& m : r.modes)
    if (m.pose == pose.name) panel.rows.push_back(fmt::format("{:.4g} Hz", m.measured_hz));
  for (const int c : columns) panel.columns.push_back(fmt::format("mode {}", c));
  for (Eigen::Index i = 0; i < mac.rows(); ++i) {
    panel.values.emplace_back();
    for (Eigen::Index k = 0; k < mac.cols(); ++k) panel.values.back().push_back(mac(i, k));
  }
  return panel;
}

}  // namespace

Report report_of_updating(const Model& model, const Updating& r) {
  Report report = report_of_model(model, r.params);
  report.title = "Updating of " + (model.title.empty() ? model.name : model.title);
  std::vector<Panel> panels;

  TablePanel modes;
  modes.title = "Modes before and after";
  modes.note = fmt::format("Mean of |error| {:.3g} % before, {:.3g} % after.",
                           100 * r.mean_error_before(), 100 * r.mean_error_after());
  modes.columns = {{"pose", ""},       {"measured", "Hz"},    {"before", "Hz"},
                   {"after", "Hz"},    {"error before", "%"}, {"error after", "%"},
                   {"MAC before", ""}, {"MAC after", ""},     {"left out", "Hz"}};
  BarsPanel errors;
  errors.title = "Frequency errors";
  errors.unit = "%";
  BarSet before{"before", {}, {}, {}}, after{"after", {}, {}, {}};
  for (const UpdatedMode& m : r.modes) {
    modes.rows.push_back({m.pose, m.measured_hz, m.before_hz, m.after_hz, 100 * m.error_before(),
                          100 * m.error_after(), m.mac_before, m.mac_after, m.left_out_hz});
    errors.categories.push_back(fmt::format("{:.4g} Hz", m.measured_hz));
    before.values.push_back(100 * m.error_before());
    after.values.push_back(100 * m.error_after());
  }
  errors.series = {std::move(before), std::move(after)};
  panels.emplace_back(std::move(modes));
  panels.emplace_back(std::move(errors));

  TablePanel parameters;
  parameters.title = "Parameters";
  parameters.note = "Told: 1 where the data alone tell the value, 0 where only the penalty does.";
  parameters.columns = {
      {"parameter", ""},          {"nominal", ""}, {"updated", ""}, {"change", "%"},
      {"standard deviation", ""}, {"from", ""},    {"to", ""},      {"told", ""},
      {"at a bound", ""}};
  BarsPanel bars;
  bars.title = "Change of the parameters";
  bars.unit = "%";
  bars.note = "Whiskers: bounds. Values that are zero in the model: relative to their upper bound.";
  BarSet change{"change", {}, {}, {}};
  for (const UpdatedParameter& p : r.parameters) {
    parameters.rows.push_back(
        {p.name, p.nominal, p.value, 100 * p.change, p.std, p.low, p.high, p.resolution,
         p.bounds_hit ? Cell(MarkedText{"yes", Mark::kWarn}) : Cell(std::string("no"))});
    const double reference = p.nominal != 0 ? std::abs(p.nominal) : p.high;
    bars.categories.push_back(p.name);
    change.values.push_back(100 * p.change);
    change.low.push_back(100 * (p.low - p.nominal) / reference);
    change.high.push_back(100 * (p.high - p.nominal) / reference);
  }
  bars.series.push_back(std::move(change));
  panels.emplace_back(std::move(parameters));
  panels.emplace_back(std::move(bars));

  for (const UpdatedPose& pose : r.poses) {
    if (pose.points.empty()) continue;
    panels.emplace_back(mac_panel("Before", pose, r, pose.mac_before, pose.columns_before));
    panels.emplace_back(mac_panel("After", pose, r, pose.mac_after, pose.columns_after));
    size_t number = 0;
    for (const UpdatedMode& m : r.modes) {
      if (m.pose != pose.name) continue;
      const auto column = static_cast<Eigen::Index>(number++);
      BarsPanel shape;
      shape.group = "Mode shapes side by side";
      shape.title = fmt::format("{:.4g} Hz, {}", m.measured_hz, pose.name);
      shape.note = "Readings of the points, of unit length.";
      shape.categories = pose.points;
      const auto add = [&](const char* name, const Eigen::MatrixXd& all) {
        const Eigen::VectorXd values = all.col(column);
        shape.series.push_back({name, {values.begin(), values.end()}, {}, {}});
      };
      add("measured", pose.shapes_measured);
      add("before", pose.shapes_before);
      add("after", pose.shapes_after);
      panels.emplace_back(std::move(shape));
    }
  }
  if (r.curve.corner >= 0) {
    PlotPanel curve;
    curve.title = "L-curve";
    curve.note = fmt::format(
        "Size of the change over what the equations lack; λ = {:.3g} was used.", r.lambda);
    curve.x = {"residual", ""};
    curve.x_log = curve.y_log = true;
    curve.x_values = r.curve.residual;
    curve.series.push_back({"change", "", r.curve.size, {}, {}, {}, false, false, false});
    const auto corner = static_cast<size_t>(r.curve.corner);
    curve.series.push_back({"corner",
                            "",
                            {r.curve.size[corner]},
                            {r.curve.residual[corner]},
                            {},
                            {},
                            false,
                            false,
                            true});
    panels.emplace_back(std::move(curve));
  }
  // Measured shapes move; their twins of the updated model follow.
  if (!r.poses.empty()) {
    const UpdatedPose& pose = r.poses.front();
    const auto workspace = Workspace::create(model, r.params);
    const std::vector<double> q(pose.q.begin(), pose.q.end());
    report.motions = {motion_at(model, r.params, 0, q)};
    report.modes.emplace();
    report.modes->pose = report.motions[0].poses;
    for (Eigen::Index i = 0; i < pose.dq_after.cols(); ++i) {
      const UpdatedMode& m = r.modes[static_cast<size_t>(i)];
      report.modes->list.push_back({m.measured_hz,
                                    m.damping,
                                    fmt::format("measured, {:.4g} Hz", m.measured_hz),
                                    mode_displacements(*workspace, pose.q, pose.dq_measured.col(i)),
                                    {}});
      report.modes->list.push_back({m.after_hz,
                                    m.damping,
                                    fmt::format("updated, {:.4g} Hz", m.after_hz),
                                    mode_displacements(*workspace, pose.q, pose.dq_after.col(i)),
                                    {}});
    }
  }
  report.panels.insert(report.panels.begin(), std::make_move_iterator(panels.begin()),
                       std::make_move_iterator(panels.end()));
  return report;
}

}  // namespace panto::scene
