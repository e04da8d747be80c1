#include "panto/scene/reduction_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace panto::scene {
namespace {

constexpr size_t kBars = 20;  // interior modes shown

double hz(double omega2) { return std::sqrt(std::max(omega2, 0.0)) / (2 * std::numbers::pi); }

std::string upper(const char* name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

// One measure over size, a curve per ranking; nothing where no ranking has it. What is not positive has no place on a logarithmic axis.
template <class Measure>
void add_curves(const RankedReduction& r, const char* title, const char* note, const char* unit,
                double limit, const Measure& measure, std::vector<Panel>& panels) {
  PlotPanel panel;
  panel.group = "Error by size";
  panel.title = title;
  panel.note = note;
  panel.x = {"degrees of freedom", ""};
  panel.y_log = true;
  double first = 0, last = 0;
  bool any = false;
  for (const RankingCurve& c : r.rankings) {
    Series s;
    s.name = upper(to_string(c.method));
    s.unit = unit;
    for (const SizePoint& p : c.points) {
      const double value = measure(p);
      if (!std::isfinite(value)) continue;
      s.x.push_back(p.size);
      s.values.push_back(value > 0 ? value : std::numeric_limits<double>::quiet_NaN());
      first = any ? std::min(first, s.x.back()) : s.x.back();
      last = std::max(last, s.x.back());
      any = true;
    }
    panel.series.push_back(std::move(s));
  }
  if (!any) return;
  if (limit > 0) {
    Series s;
    s.name = "allowed";
    s.unit = unit;
    s.x = {first, last};
    s.values = {limit, limit};
    panel.series.push_back(std::move(s));
  }
  panels.emplace_back(std::move(panel));
}

}  // namespace

Report report_of_reduction(const LinearSystem& system, const RankedReduction& r,
                           const ReduceOptions& o) {
  Report report;
  report.title = "Reduction of " + system.name;
  report.model = system.name;

  const auto masters = static_cast<double>(r.cb.masters.size());
  TablePanel sizes;
  sizes.title = "Size needed";
  sizes.note = fmt::format(
      "{} degrees of freedom; the reduced model has {}: {} masters and {} of {} interior modes.",
      system.size(), r.system.M.rows(), r.cb.masters.size(), r.selected.size(), r.cb.modes());
  sizes.columns = {{"ranking", ""}, {"size", ""}, {"interior modes", ""}, {"saved", "%"}};
  for (const RankingCurve& c : r.rankings) {
    std::vector<Cell> row{upper(to_string(c.method))};
    if (c.needed >= 0) {
      row.emplace_back(static_cast<double>(c.needed));
      row.emplace_back(c.needed - masters);
      row.emplace_back(100 * (1 - static_cast<double>(c.needed) / system.size()));
    } else {
      row.emplace_back(MarkedText{"not reached", Mark::kWarn});
      row.emplace_back();
      row.emplace_back();
    }
    sizes.rows.push_back(std::move(row));
  }
  report.panels.emplace_back(std::move(sizes));

  add_curves(
      r, "Truncation error", "A priori, of the modes asked for (RED-8).", "%", 100 * o.tolerance,
      [](const SizePoint& p) { return 100 * p.epsilon; }, report.panels);
  add_curves(
      r, "Gain error", "Largest of all harmonics, at the sample (RED-11).", "%", 100 * o.tolerance,
      [](const SizePoint& p) { return 100 * p.gain; }, report.panels);
  add_curves(
      r, "1 - MAC", "Of the forced response, the worst of all harmonics (RED-11).", "", 1 - o.mac,
      [](const SizePoint& p) { return 1 - p.mac; }, report.panels);
  add_curves(
      r, "Frequency error", "Worst of the modes asked for.", "%", 0,
      [](const SizePoint& p) { return 100 * p.frequency; }, report.panels);
  add_curves(
      r, "1 - NCO", "Worst of the modes asked for (RED-9).", "", 0,
      [](const SizePoint& p) { return 1 - p.nco; }, report.panels);

  if (!r.mode_errors.empty()) {
    TablePanel modes;
    modes.title = "Modes of the reduced model";
    modes.columns = {{"mode", ""}, {"frequency", "Hz"}, {"error", "%"}, {"NCO", ""}};
    for (size_t i = 0; i < r.mode_errors.size(); ++i)
      modes.rows.push_back({static_cast<double>(r.modes->numbers[i] + 1),
                            hz(r.modes->omega2(static_cast<Eigen::Index>(i))),
                            100 * r.mode_errors[i].frequency, r.mode_errors[i].nco});
    report.panels.emplace_back(std::move(modes));
  }
  const Ranking& chosen = r.rankings.front().ranking;
  if (!chosen.order.empty()) {
    BarsPanel bars;
    bars.title = "Interior modes that matter most";
    bars.note = fmt::format("Coefficients of {}, relative to the largest.",
                            upper(to_string(r.rankings.front().method)));
    BarSet set{"coefficient", {}, {}, {}};
    const double largest = chosen.coefficient(chosen.order.front());
    for (size_t i = 0; i < std::min(kBars, chosen.order.size()); ++i) {
      const int mode = chosen.order[i];
      bars.categories.push_back(fmt::format("{}: {:.4g} Hz", mode + 1, hz(r.cb.omega2(mode))));
      set.values.push_back(largest > 0 ? chosen.coefficient(mode) / largest : 0);
    }
    bars.series.push_back(std::move(set));
    report.panels.emplace_back(std::move(bars));
  }
  return report;
}

}  // namespace panto::scene
