#include "panto/scene/observation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace panto::scene {

namespace {

constexpr double kNormal95 = 1.9599639845400545;
constexpr size_t kCourses = 16;  // runs drawn one by one
constexpr int kLags = 40;

std::string label(const TwinRow& r) {
  return fmt::format("{}, {}, {}{}", r.filter, r.sensors, r.error_level,
                     r.rate_hz > 0 ? fmt::format(", {:g} Hz", r.rate_hz) : "");
}

TablePanel table_of(const TwinResult& r) {
  TablePanel t;
  t.title = "All cells";
  t.note =
      "RMS errors are means over the noise sequences that did not diverge. Consistent: coverage "
      "0.95, NEES and NIS 1, whiteness 0 (OBS-7).";
  t.columns = {{"filter", ""}, {"sensors", ""}, {"model error", ""}, {"rate", "Hz"}};
  for (size_t i = 0; i < r.channels.size(); ++i) {
    t.columns.push_back({"RMS " + r.channels[i], r.units[i]});
    t.columns.push_back({"±", r.units[i]});
  }
  for (const char* name : {"coverage", "NEES", "NIS", "whiteness", "diverged"})
    t.columns.push_back({name, ""});
  t.columns.push_back({"time per step", "us"});
  for (const TwinCell& c : r.cells) {
    std::vector<Cell> row{c.filter, c.sensors, c.error_level};
    row.emplace_back(c.rate_hz > 0 ? Cell(c.rate_hz) : Cell(std::string("own")));
    const bool none = c.runs == c.diverged;
    for (size_t i = 0; i < r.channels.size(); ++i) {
      row.emplace_back(none
                           ? Cell(MarkedText{c.failed == c.runs ? "fails" : "diverges", Mark::kBad})
                           : Cell(c.rmse_mean[i]));
      row.emplace_back(none ? Cell() : Cell(c.rmse_std[i]));
    }
    for (double e : {c.coverage95, c.nees, c.nis_mean, c.whiteness})
      row.emplace_back(none || std::isnan(e) ? Cell() : Cell(e));
    row.emplace_back(
        c.diverged > 0 ? Cell(MarkedText{fmt::format("{} of {}", c.diverged, c.runs), Mark::kWarn})
                       : Cell(std::string("none")));
    row.emplace_back(c.us_per_step);
    t.rows.push_back(std::move(row));
  }
  return t;
}

// RMS error over the rate: a panel per sensors and channel, a line per filter and error.
void add_rates(const TwinResult& r, std::vector<Panel>& panels) {
  std::map<std::string, std::map<std::string, std::vector<const TwinCell*>>> sets;
  for (const TwinCell& c : r.cells)
    if (c.rate_hz > 0 && c.runs > c.diverged)
      sets[c.sensors][c.filter + ", " + c.error_level].push_back(&c);
  for (auto& [sensors, lines] : sets)
    for (size_t i = 0; i < r.channels.size(); ++i) {
      PlotPanel p;
      p.group = "RMS error over the rate of the sensors";
      p.title = sensors + ": " + r.channels[i];
      p.x = {"rate", "Hz"};
      p.x_log = p.y_log = true;
      size_t longest = 0;
      for (auto& [name, cells] : lines) {
        std::sort(cells.begin(), cells.end(),
                  [](const TwinCell* a, const TwinCell* b) { return a->rate_hz < b->rate_hz; });
        Series s;
        s.name = name;
        s.unit = r.units[i];
        for (const TwinCell* c : cells) {
          s.x.push_back(c->rate_hz);
          s.values.push_back(c->rmse_mean[i]);
        }
        longest = std::max(longest, cells.size());
        if (s.x.size() > p.x_values.size()) p.x_values = s.x;
        p.series.push_back(std::move(s));
      }
      if (longest > 1) panels.emplace_back(std::move(p));
    }
}

void add_course(const TwinResult& r, const TwinSeries& s, std::vector<Panel>& panels) {
  const std::string group = label(r.rows[s.row]);
  for (size_t i = 0; i < s.truth.size(); ++i) {
    PlotPanel p, e;
    p.group = e.group = group;
    p.title = r.channels[i];
    e.title = "Error of " + r.channels[i];
    p.note = e.note = "Band: 95 % by the filter's own covariance.";
    p.x_values = e.x_values = s.t;
    Series truth, estimate, error;
    truth.name = "truth";
    estimate.name = "estimate";
    error.name = "estimate minus truth";
    truth.unit = estimate.unit = error.unit = r.units[i];
    truth.values = s.truth[i];
    estimate.values = s.estimate[i];
    for (size_t k = 0; k < s.t.size(); ++k) {
      const double half = kNormal95 * s.sigma[i][k];
      estimate.low.push_back(s.estimate[i][k] - half);
      estimate.high.push_back(s.estimate[i][k] + half);
      error.values.push_back(s.estimate[i][k] - s.truth[i][k]);
      error.low.push_back(-half);
      error.high.push_back(half);
    }
    p.series = {std::move(truth), std::move(estimate)};
    e.series = {std::move(error)};
    panels.emplace_back(std::move(p));
    panels.emplace_back(std::move(e));
  }
  for (size_t i = 0; i < s.sensors.size(); ++i) {
    const size_t n = s.innovation[i].size();
    if (n < 8) continue;
    std::vector<double> white(n);
    PlotPanel p;
    p.group = group;
    p.title = "Innovations of " + s.sensors[i];
    p.note = "Reading minus expectation; band: 95 %.";
    p.x_values = s.innovation_t[i];
    Series e;
    e.name = s.sensors[i];
    e.values = s.innovation[i];
    e.points = true;
    for (size_t k = 0; k < n; ++k) {
      const double half = kNormal95 * s.innovation_sigma[i][k];
      e.low.push_back(-half);
      e.high.push_back(half);
      white[k] = s.innovation[i][k] / s.innovation_sigma[i][k];
    }
    p.series = {std::move(e)};
    panels.emplace_back(std::move(p));

    double power = 0;
    for (double x : white) power += x * x;
    PlotPanel a;
    a.group = group;
    a.title = "Autocorrelation of the innovations of " + s.sensors[i];
    a.note = "White innovations stay in the band.";
    a.x = {"lag", ""};
    Series rho;
    rho.name = s.sensors[i];
    for (int lag = 1; lag <= std::min<int>(kLags, static_cast<int>(n) - 1); ++lag) {
      double sum = 0;
      for (size_t k = static_cast<size_t>(lag); k < n; ++k)
        sum += white[k] * white[k - static_cast<size_t>(lag)];
      a.x_values.push_back(lag);
      rho.values.push_back(power > 0 ? sum / power : 0);
      rho.low.push_back(-kNormal95 / std::sqrt(static_cast<double>(n)));
      rho.high.push_back(kNormal95 / std::sqrt(static_cast<double>(n)));
    }
    a.series = {std::move(rho)};
    panels.emplace_back(std::move(a));

    // Mean power of the normalised innovations is 1 at all frequencies when they are white. Averaged over eight segments (Welch).
    const size_t segment = std::max<size_t>(8, n / 8);
    const double dt =
        n > 1 ? (s.innovation_t[i].back() - s.innovation_t[i].front()) / static_cast<double>(n - 1)
              : 1;
    Eigen::FFT<double> fft;
    std::vector<double> mean(segment / 2 + 1, 0.0);
    int segments = 0;
    for (size_t at = 0; at + segment <= n; at += segment, ++segments) {
      const std::vector<double> part(white.begin() + static_cast<std::ptrdiff_t>(at),
                                     white.begin() + static_cast<std::ptrdiff_t>(at + segment));
      std::vector<std::complex<double>> spectrum;
      fft.fwd(spectrum, part);
      for (size_t k = 0; k < mean.size(); ++k)
        mean[k] += std::norm(spectrum[k]) / static_cast<double>(segment);
    }
    PlotPanel f;
    f.group = group;
    f.title = "Spectrum of the innovations of " + s.sensors[i];
    f.note = "Of the normalised innovations: 1 at all frequencies when they are white.";
    f.x = {"frequency", "Hz"};
    f.y_log = true;
    Series density;
    density.name = s.sensors[i];
    for (size_t k = 1; k < mean.size(); ++k) {
      f.x_values.push_back(static_cast<double>(k) / (static_cast<double>(segment) * dt));
      density.values.push_back(mean[k] / std::max(1, segments));
    }
    f.series = {std::move(density)};
    panels.emplace_back(std::move(f));
  }
}

}  // namespace

Report report_of_observation(const TwinResult& r) {
  Report report;
  report.title = "State observers of " + r.model;
  report.model = r.model;
  report.panels.emplace_back(table_of(r));
  add_rates(r, report.panels);
  size_t drawn = 0;
  for (const TwinSeries& s : r.series) {
    if (s.t.empty()) continue;
    if (++drawn > kCourses) {
      report.notes.push_back(fmt::format("The course of the first {} runs is drawn.", kCourses));
      break;
    }
    add_course(r, s, report.panels);
  }
  return report;
}

}  // namespace panto::scene
