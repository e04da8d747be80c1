#include "panto/scene/ema_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace panto::scene {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr size_t kShown = 6;  // responses drawn

std::string name_of(const Ema& e, Eigen::Index pair) {
  const auto responses = static_cast<Eigen::Index>(e.responses.size());
  return fmt::format("{} / {}", e.responses[static_cast<size_t>(pair % responses)].frame,
                     e.excitations[static_cast<size_t>(pair / responses)].frame);
}

FrequencyResponse curve(const Eigen::VectorXcd& h, std::string name, bool ghost, bool hidden) {
  FrequencyResponse out;
  out.name = std::move(name);
  out.ghost = ghost;
  out.hidden = hidden;
  for (const std::complex<double>& value : h) {
    out.magnitude.push_back(std::abs(value));
    out.phase_deg.push_back(std::arg(value) / kDegree);
  }
  return out;
}

}  // namespace

Report report_of_ema(const Ema& e, const std::string& title) {
  Report report;
  report.title = "Modes of " + title;
  const std::vector<double> frequencies(e.frequency_hz.begin(), e.frequency_hz.end());

  TablePanel table;
  table.title = "Modes";
  table.columns = {{"mode", ""},     {"frequency", "Hz"},  {"deviation", "Hz"},
                   {"damping", "%"}, {"deviation", "%"},   {"MPC", ""},
                   {"MPD", "deg"},   {"expected MAC", ""}, {"orders", ""}};
  for (size_t k = 0; k < e.modes.size(); ++k) {
    const EmaMode& m = e.modes[k];
    table.rows.push_back({static_cast<double>(k + 1), m.frequency_hz, m.frequency_sigma,
                          100 * m.damping, 100 * m.damping_sigma, m.mpc, m.mpd / kDegree,
                          m.assurance, static_cast<double>(m.orders)});
  }
  report.panels.emplace_back(std::move(table));

  ScatterPanel diagram;
  diagram.title = "Stabilisation diagram";
  diagram.note = "poles of all orders; the line is the sum of all responses, scaled";
  diagram.x = {"frequency", "Hz"};
  diagram.y = {"order", ""};
  std::vector<PointSet> sets(4);
  const char* names[] = {"new", "frequency stable", "damping stable too", "stable"};
  const Marker markers[] = {Marker::kDot, Marker::kDot, Marker::kCircle, Marker::kCross};
  for (size_t i = 0; i < 4; ++i) {
    sets[i].name = names[i];
    sets[i].marker = markers[i];
  }
  int highest = 1;
  for (const DiagramPole& p : e.diagram) {
    PointSet& set = sets[static_cast<size_t>(p.stability)];
    set.x.push_back(p.frequency_hz);
    set.y.push_back(p.order);
    highest = std::max(highest, p.order);
  }
  PointSet sum;
  sum.name = "sum of responses (logarithm)";
  const Eigen::VectorXd logarithm = e.sum.array().max(1e-300).log();
  const double low = logarithm.minCoeff(), span = std::max(1e-12, logarithm.maxCoeff() - low);
  for (Eigen::Index i = 0; i < logarithm.size(); ++i) {
    sum.x.push_back(e.frequency_hz(i));
    sum.y.push_back(highest * (logarithm(i) - low) / span);
  }
  sets.push_back(std::move(sum));
  diagram.series = std::move(sets);
  report.panels.emplace_back(std::move(diagram));

  FrfPanel responses;
  responses.title = "Measured and synthesised responses";
  responses.frequency_hz = frequencies;
  // The worst ones first.
  std::vector<Eigen::Index> order(static_cast<size_t>(e.correlation.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index a, Eigen::Index b) { return e.correlation(a) < e.correlation(b); });
  for (size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    const Eigen::Index pair = order[i];
    responses.series.push_back(
        curve(e.measured.col(pair), name_of(e, pair) + " measured", true, i > 0));
    responses.series.push_back(curve(
        e.synthesised.col(pair),
        fmt::format("{} synthesised, correlation {:.4f}", name_of(e, pair), e.correlation(pair)),
        false, i > 0));
  }
  report.panels.emplace_back(std::move(responses));

  TablePanel shapes;
  shapes.title = "Mode shapes";
  shapes.columns = {{"point", ""}};
  for (size_t k = 0; k < e.modes.size(); ++k)
    shapes.columns.push_back({fmt::format("{:.4g} Hz", e.modes[k].frequency_hz), ""});
  for (size_t r = 0; r < e.responses.size(); ++r) {
    std::vector<Cell> row{e.responses[r].frame};
    for (const EmaMode& m : e.modes) {
      const std::complex<double> value = m.shape(static_cast<Eigen::Index>(r));
      row.emplace_back(fmt::format("{:.3f} ∠ {:.0f}°", std::abs(value), std::arg(value) / kDegree));
    }
    shapes.rows.push_back(std::move(row));
  }
  report.panels.emplace_back(std::move(shapes));
  return report;
}

}  // namespace panto::scene
