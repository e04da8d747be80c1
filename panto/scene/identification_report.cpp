#include "panto/scene/identification_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/scene/run_report.hpp"

namespace panto::scene {

namespace {

constexpr size_t kRanked = 20;       // poses in the table
constexpr size_t kScattered = 2000;  // points that a plot still shows apart
constexpr double kDegree = std::numbers::pi / 180;

struct Scaled {  // how a coordinate is shown
  std::string unit;
  double factor = 1;
};

Scaled scaled(const Model& model, const std::string& coordinate) {
  for (const Joint& j : model.joints)
    if (j.nv == 1 && model.coordinate_names[static_cast<size_t>(j.q)] == coordinate &&
        j.type == JointType::kRevolute)
      return {"deg", 1 / kDegree};
  return {"m", 1};
}

std::vector<std::vector<double>> rows_of(const Eigen::MatrixXd& m) {
  std::vector<std::vector<double>> out;
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    out.emplace_back();
    for (Eigen::Index k = 0; k < m.cols(); ++k) out.back().push_back(std::abs(m(i, k)));
  }
  return out;
}

template <class... P>
void put_in_front(Report& report, P&&... panels) {
  std::vector<Panel> list;
  (list.emplace_back(std::forward<P>(panels)), ...);
  report.panels.insert(report.panels.begin(), std::make_move_iterator(list.begin()),
                       std::make_move_iterator(list.end()));
}

}  // namespace

Report report_of_poses(const Model& model, const Params& params, const PoseStudy& study) {
  Report report = report_of_model(model, params);
  report.title = "Poses of " + (model.title.empty() ? model.name : model.title);
  const ScoredPose& best = study.poses.front();
  const std::vector<double> q(best.q.begin(), best.q.end());
  if (!report.motions.empty()) report.motions.front().name = "initial pose";
  report.motions.insert(report.motions.begin(), motion_at(model, params, 0, q));
  report.motions.front().name = "best pose";

  TablePanel table;
  table.title = "Best poses";
  table.note = fmt::format(
      "A score of 1: each frequency depends on one parameter alone (IDN-5). {} draws: {} cannot be "
      "closed, {} leave joint limits, {} are singular.",
      study.drawn, study.unreachable, study.beyond_limits, study.singular);
  std::vector<int> column;
  std::vector<Scaled> shown;
  for (const PoseRange& r : study.ranges) {
    shown.push_back(scaled(model, r.coordinate));
    column.push_back(static_cast<int>(
        std::find(study.coordinates.begin(), study.coordinates.end(), r.coordinate) -
        study.coordinates.begin()));
    table.columns.push_back({r.coordinate, shown.back().unit});
  }
  table.columns.push_back({"score", ""});
  table.columns.push_back({"information", ""});
  for (const std::string& p : study.parameters) table.columns.push_back({p + " told by", ""});
  for (size_t i = 0; i < std::min(kRanked, study.poses.size()); ++i) {
    const ScoredPose& pose = study.poses[i];
    std::vector<Cell> row;
    for (size_t k = 0; k < column.size(); ++k)
      row.emplace_back(pose.q(column[k]) * shown[k].factor);
    row.emplace_back(pose.score);
    row.emplace_back(pose.information);
    for (size_t k = 0; k < study.parameters.size(); ++k) {
      const int f = pose.told_by[k];
      row.emplace_back(f < 0 ? std::string("-")
                             : fmt::format("{} ({:.2f})", study.features[static_cast<size_t>(f)],
                                           pose.correlation(f, static_cast<Eigen::Index>(k))));
    }
    table.rows.push_back(std::move(row));
  }

  MatrixPanel matrix;
  matrix.title = "Correlation in the best pose";
  matrix.note = "Size of the Pearson coefficient of each frequency with each parameter (IDN-3).";
  matrix.rows = study.features;
  matrix.columns = study.parameters;
  matrix.values = rows_of(best.correlation);
  BarsPanel bars;
  bars.title = "Sensitivity in the best pose";
  bars.note = "Relative change of a frequency per relative change of a parameter (IDN-2).";
  bars.categories = study.features;
  for (size_t k = 0; k < study.parameters.size(); ++k) {
    BarSet set{study.parameters[k], {}, {}, {}};
    for (Eigen::Index i = 0; i < best.sensitivity.rows(); ++i)
      set.values.push_back(best.sensitivity(i, static_cast<Eigen::Index>(k)));
    bars.series.push_back(std::move(set));
  }
  std::vector<Panel> scatters;
  const size_t step = 1 + study.poses.size() / kScattered;
  for (size_t k = 0; k < column.size(); ++k) {
    ScatterPanel s;
    s.group = "Where good poses lie";
    s.title = "Score over " + study.ranges[k].coordinate;
    s.x = {study.ranges[k].coordinate, shown[k].unit};
    s.y = {"score", ""};
    PointSet all{"poses", {}, {}, Marker::kDot}, first{"best pose", {}, {}, Marker::kCross};
    for (size_t i = 0; i < study.poses.size(); i += step) {
      all.x.push_back(study.poses[i].q(column[k]) * shown[k].factor);
      all.y.push_back(study.poses[i].score);
    }
    first.x = {best.q(column[k]) * shown[k].factor};
    first.y = {best.score};
    s.series = {std::move(all), std::move(first)};
    scatters.emplace_back(std::move(s));
  }
  put_in_front(report, std::move(table), std::move(matrix), std::move(bars));
  report.panels.insert(report.panels.begin() + 3, std::make_move_iterator(scatters.begin()),
                       std::make_move_iterator(scatters.end()));
  return report;
}

Report report_of_identification(const Model& model, const Identification& result) {
  Report report = report_of_model(model, result.params);
  report.title = "Identification of " + (model.title.empty() ? model.name : model.title);
  TablePanel parameters;
  parameters.title = "Parameters";
  parameters.columns = {{"parameter", ""}, {"value", ""}, {"standard deviation", ""},
                        {"95 % from", ""}, {"to", ""},    {"start", ""},
                        {"at a bound", ""}};
  BarsPanel bars;
  bars.title = "Identified value relative to the start";
  bars.note = "Whiskers: 95 % confidence.";
  BarSet set{"identified / start", {}, {}, {}};
  for (const IdentifiedParameter& p : result.parameters) {
    parameters.rows.push_back(
        {p.name, p.value, p.std, p.from, p.to, p.start,
         p.bounds_hit ? Cell(MarkedText{"yes", Mark::kWarn}) : Cell(std::string("no"))});
    bars.categories.push_back(p.name);
    set.values.push_back(p.value / p.start);
    set.low.push_back(p.from / p.start);
    set.high.push_back(p.to / p.start);
  }
  bars.series.push_back(std::move(set));

  TablePanel modes;
  modes.title = "Measured and fitted modes";
  modes.columns = {{"pose", ""},         {"mode", ""},    {"measured", "Hz"}, {"fitted", "Hz"},
                   {"difference", "Hz"}, {"sigma", "Hz"}, {"MAC", ""}};
  for (const FittedMode& m : result.modes)
    modes.rows.push_back({m.pose, static_cast<double>(m.mode), m.measured_hz, m.fitted_hz,
                          m.fitted_hz - m.measured_hz, m.sigma_hz, m.assurance});

  TablePanel solutions;
  solutions.title = "All minima that were found";
  solutions.note = fmt::format(
      "{} of {} starts converged; {:.2g} more minima are expected (IDN-10). Those that explain the "
      "data cannot be told apart by it.",
      result.converged, result.starts, result.unseen);
  for (const IdentifiedParameter& p : result.parameters) solutions.columns.push_back({p.name, ""});
  for (const char* name : {"error", "cost", "starts", "explains the data"})
    solutions.columns.push_back({name, std::string_view(name) == "error" ? "Hz" : ""});
  for (const Solution& s : result.solutions) {
    std::vector<Cell> row;
    for (const double value : s.theta) row.emplace_back(value);
    row.emplace_back(s.error_hz);
    row.emplace_back(s.cost);
    row.emplace_back(static_cast<double>(s.hits));
    row.emplace_back(s.explains ? MarkedText{"yes", Mark::kGood} : MarkedText{"no", Mark::kNone});
    solutions.rows.push_back(std::move(row));
  }
  MatrixPanel correlation;
  correlation.title = "Correlation of the estimates";
  correlation.note = "Near 1: the data tell these parameters apart only together.";
  for (const IdentifiedParameter& p : result.parameters) correlation.rows.push_back(p.name);
  correlation.columns = correlation.rows;
  correlation.values = rows_of(result.correlation);
  put_in_front(report, std::move(parameters), std::move(bars), std::move(modes),
               std::move(solutions), std::move(correlation));
  if (result.errors.empty()) return report;
  TablePanel errors;
  errors.title = "Simulated measurements";
  errors.note = fmt::format("{} repetitions; errors relative to the truth.", result.repeats);
  errors.columns = {{"parameter", ""},
                    {"truth", ""},
                    {"mean error", "%"},
                    {"standard deviation", "%"},
                    {"worst", "%"}};
  for (const SimulatedError& e : result.errors)
    errors.rows.push_back({e.name, e.truth, 100 * e.mean, 100 * e.std, 100 * e.worst});
  put_in_front(report, std::move(errors));
  return report;
}

}  // namespace panto::scene
