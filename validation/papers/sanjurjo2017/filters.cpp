// Sanjurjo et al., Nonlinear Dynamics (2017): the filters, figures 3 to 18. The figures print no numbers; what stands for "printed" was measured with
// the authors' implementation (PROVENANCE.md): RMS errors of the crank angles of one given noise sequence (kAnchors), their means over fifty
// sequences (kMeans), and the conclusions of the text.
//
// Bands, set before the runs: anchors 0.1 % (0.5 % for the five-bar at 5 rad/s, a sensitive motion), which is what independent programs differ by;
// means of twenty sequences against means of fifty: three standard errors of their difference and 1 % for differences of implementation;
// conclusions: 0.5, for they hold (1) or not (0).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "panto/estimation/observability.hpp"
#include "panto/io/study.hpp"
#include "validation/support.hpp"

namespace panto::validation::sanjurjo2017 {
namespace {

constexpr double kFails = -1, kMilli = 1e3;
constexpr std::array kRates{200.0, 100.0, 50.0, 20.0, 10.0};
constexpr std::array kFilters{"DEKF", "errorEKF",    "UKF FE",     "UKF TR",
                              "CEKF", "errorEKF-EJ", "errorEKF-FE"};
constexpr int kSequences = 20, kSequencesThere = 50;

// mrad, high error, splitmix64 seed 1; in the order of kFilters.
struct Anchor {
  int figure;
  double rate;
  std::array<double, 7> rms;
};
constexpr Anchor kAnchors[] = {
    {3, 200, {5.283, 5.192, 5.345, 5.198, 11.636, 5.220, 5.003}},
    {3, 50, {12.529, 12.410, 12.590, 12.321, 22.204, 12.378, 11.855}},
    {3, 10, {25.496, 25.380, 25.799, 25.539, 63.726, 25.565, 25.860}},
    {5, 200, {45.541, 45.641, 27.718, 28.282, 64.998, 27.665, 19.590}},
    {5, 50, {49.227, 49.811, 33.755, 34.792, 84.294, 33.970, 28.202}},
    {5, 10, {57.252, 56.790, 44.622, 43.729, kFails, 43.557, 47.642}},
    {9, 200, {6.460, 6.158, 6.134, 5.569, 33.226, 5.600, 7.067}},
    {9, 50, {11.740, 11.251, 12.372, 10.563, 41.742, 10.604, 12.482}},
    {9, 10, {29.767, 29.861, 27.136, 25.950, kFails, 26.238, 26.945}},
    {12, 200, {194.416, 196.093, 34.097, 30.986, kFails, 30.592, 15.023}},
    {12, 50, {197.444, 199.143, 36.205, 33.099, kFails, 32.803, 20.514}},
    {12, 10, {193.117, 196.673, 39.315, 36.191, kFails, 35.727, 28.512}},
    {4, 200, {6.751, 6.541, 6.775, 6.470, 14.586, 6.494, 6.679}},
    {4, 50, {15.496, 15.200, 15.482, 14.988, 24.152, 15.019, 15.445}},
    {4, 10, {34.786, 34.492, 34.037, 33.098, kFails, 33.289, 33.051}},
    {10, 200, {28.464, 25.901, 25.785, 24.145, 52.799, 23.623, 16.494}},
    {10, 50, {32.656, 30.244, 30.433, 28.475, kFails, 28.378, 24.239}},
    {10, 10, {59.303, 54.095, 56.397, 49.467, kFails, 50.837, 62.538}},
    {11, 200, {25.924, 6.757, 22.104, 8.217, 64.610, 7.080, 8.301}},
    {11, 50, {27.773, 14.637, 24.393, 13.610, kFails, 13.809, 15.387}},
    {11, 10, {52.248, 47.071, 41.747, 35.333, kFails, 41.308, 45.045}},
    {13, 200, {224.049, 196.177, 31.767, 28.716, kFails, 27.346, 11.629}},
    {13, 50, {228.748, 200.032, 33.069, 29.814, kFails, 28.448, 15.103}},
    {13, 10, {165.488, 150.887, 38.685, 33.552, kFails, 32.918, 26.076}},
};

// mrad, mean and standard deviation over fifty sequences at kRates; coverage of the 95 % interval at 200 Hz. Five-bar gyros with the diagonal terms of
// ∂R/∂z alone, as in the authors' program.
struct Mean {
  int figure;
  const char *error, *filter;
  std::array<double, 5> mean, spread;
  double coverage;
};
constexpr Mean kMeans[] = {
    {3, "high", "DEKF", {5.23, 8.12, 11.70, 18.47, 26.02}, {0.29, 0.31, 0.41, 0.77, 0.98}, 0.97},
    {3,
     "high",
     "errorEKF",
     {5.16, 8.05, 11.63, 18.38, 25.93},
     {0.27, 0.31, 0.40, 0.76, 0.98},
     0.97},
    {3, "high", "UKF FE", {5.27, 8.16, 11.77, 18.47, 25.95}, {0.29, 0.32, 0.41, 0.75, 0.94}, 0.96},
    {3, "high", "UKF TR", {5.16, 8.05, 11.65, 18.33, 25.81}, {0.27, 0.32, 0.40, 0.74, 0.91}, 0.97},
    {3, "low", "DEKF", {5.10, 6.97, 9.39, 13.90, 18.86}, {0.28, 0.33, 0.46, 0.91, 1.14}, 0.97},
    {3, "low", "errorEKF", {5.03, 6.90, 9.31, 13.81, 18.78}, {0.27, 0.34, 0.44, 0.89, 1.12}, 0.97},
    {3, "low", "UKF FE", {5.14, 7.03, 9.49, 14.00, 19.00}, {0.28, 0.34, 0.46, 0.89, 1.10}, 0.97},
    {3, "low", "UKF TR", {5.04, 6.91, 9.35, 13.83, 18.84}, {0.26, 0.35, 0.44, 0.86, 1.06}, 0.97},
    {4, "high", "DEKF", {7.04, 10.30, 14.61, 22.99, 33.86}, {0.21, 0.29, 0.42, 0.66, 0.95}, 0.95},
    {4,
     "high",
     "errorEKF",
     {6.89, 10.13, 14.40, 22.74, 33.46},
     {0.20, 0.27, 0.39, 0.59, 0.87},
     0.95},
    {4, "high", "UKF FE", {7.06, 10.31, 14.61, 22.84, 33.27}, {0.21, 0.29, 0.41, 0.66, 0.92}, 0.95},
    {4, "high", "UKF TR", {6.84, 10.03, 14.23, 22.31, 32.42}, {0.20, 0.27, 0.38, 0.57, 0.82}, 0.96},
    {4, "low", "DEKF", {6.41, 8.64, 11.66, 17.38, 24.48}, {0.21, 0.32, 0.45, 0.75, 1.02}, 0.95},
    {4, "low", "errorEKF", {6.12, 8.31, 11.23, 16.85, 23.73}, {0.20, 0.28, 0.41, 0.65, 0.92}, 0.96},
    {4, "low", "UKF FE", {6.48, 8.74, 11.79, 17.45, 24.28}, {0.22, 0.33, 0.45, 0.75, 1.00}, 0.95},
    {4, "low", "UKF TR", {6.07, 8.21, 11.06, 16.42, 22.76}, {0.21, 0.28, 0.38, 0.63, 0.87}, 0.96},
    {5, "high", "DEKF", {49.43, 49.35, 50.96, 54.69, 61.24}, {1.49, 1.83, 3.06, 4.37, 6.73}, 0.82},
    {5,
     "high",
     "errorEKF",
     {48.96, 48.81, 50.30, 54.09, 60.38},
     {1.41, 1.60, 2.69, 4.28, 6.37},
     0.90},
    {5,
     "high",
     "UKF FE",
     {32.49, 33.89, 36.78, 42.11, 48.96},
     {1.58, 1.82, 3.22, 4.25, 5.41},
     0.89},
    {5,
     "high",
     "UKF TR",
     {32.16, 33.48, 36.24, 41.66, 48.24},
     {1.52, 1.57, 2.85, 4.35, 5.29},
     0.94},
    {5, "low", "DEKF", {28.52, 28.70, 30.94, 35.69, 43.01}, {1.69, 2.29, 4.05, 6.13, 8.27}, 0.88},
    {5,
     "low",
     "errorEKF",
     {27.68, 27.78, 29.94, 34.97, 42.20},
     {1.47, 1.84, 3.52, 6.15, 8.00},
     0.95},
    {5, "low", "UKF FE", {18.53, 20.19, 23.58, 29.31, 36.45}, {1.89, 2.42, 4.22, 5.76, 6.73}, 0.89},
    {5, "low", "UKF TR", {17.78, 19.41, 22.74, 28.77, 35.80}, {1.68, 1.96, 3.73, 5.96, 6.75}, 0.96},
    {9, "high", "DEKF", {6.74, 9.59, 13.39, 21.04, 30.10}, {0.77, 0.89, 1.04, 1.34, 1.65}, 0.84},
    {9,
     "high",
     "errorEKF",
     {6.48, 9.40, 13.21, 20.74, 29.68},
     {0.86, 0.95, 1.16, 1.48, 1.71},
     0.96},
    {9, "high", "UKF FE", {6.47, 9.21, 12.78, 19.52, 27.57}, {0.69, 0.76, 0.72, 0.96, 1.66}, 0.84},
    {9, "high", "UKF TR", {5.99, 8.60, 11.86, 18.07, 25.79}, {0.83, 0.77, 0.83, 1.07, 1.57}, 0.96},
    {9, "low", "DEKF", {6.25, 8.12, 10.48, 15.24, 20.94}, {0.65, 0.81, 0.96, 1.35, 1.70}, 0.84},
    {9, "low", "errorEKF", {5.75, 7.73, 10.17, 14.83, 20.27}, {0.75, 0.86, 1.14, 1.57, 1.69}, 0.96},
    {9, "low", "UKF FE", {6.24, 8.11, 10.51, 14.90, 20.18}, {0.62, 0.79, 0.73, 1.12, 1.95}, 0.84},
    {9, "low", "UKF TR", {5.61, 7.33, 9.40, 13.17, 17.99}, {0.72, 0.77, 0.85, 1.25, 1.76}, 0.97},
    {10, "high", "DEKF", {29.02, 31.02, 34.09, 41.89, 54.82}, {0.96, 1.03, 1.51, 2.08, 2.81}, 0.59},
    {10,
     "high",
     "errorEKF",
     {26.35, 28.61, 31.80, 39.26, 50.36},
     {0.96, 1.02, 1.39, 1.99, 2.58},
     0.90},
    {10,
     "high",
     "UKF FE",
     {25.71, 27.96, 31.33, 39.35, 51.62},
     {0.96, 1.00, 1.46, 2.04, 2.75},
     0.67},
    {10,
     "high",
     "UKF TR",
     {23.93, 26.19, 29.31, 36.13, 45.70},
     {1.01, 1.03, 1.36, 1.90, 2.38},
     0.92},
    {10, "low", "DEKF", {17.02, 18.46, 20.69, 26.10, 34.60}, {0.83, 0.97, 1.38, 1.68, 2.26}, 0.65},
    {10,
     "low",
     "errorEKF",
     {13.10, 15.02, 17.46, 22.59, 29.48},
     {0.81, 0.92, 1.20, 1.49, 1.96},
     0.95},
    {10,
     "low",
     "UKF FE",
     {15.40, 17.14, 19.82, 25.86, 34.31},
     {0.84, 0.99, 1.37, 1.55, 2.01},
     0.69},
    {10,
     "low",
     "UKF TR",
     {12.19, 14.11, 16.45, 20.96, 26.53},
     {0.93, 1.01, 1.24, 1.36, 1.66},
     0.96},
    {11,
     "high",
     "DEKF",
     {25.44, 26.73, 29.12, 37.31, 56.98},
     {1.63, 2.17, 2.90, 3.82, 10.16},
     0.47},
    {11,
     "high",
     "errorEKF",
     {11.03, 14.81, 17.97, 26.27, 47.92},
     {2.17, 2.33, 2.29, 3.00, 6.96},
     0.90},
    {11,
     "high",
     "UKF FE",
     {21.57, 21.75, 23.25, 29.58, 43.02},
     {1.61, 2.04, 2.19, 2.61, 2.65},
     0.50},
    {11,
     "high",
     "UKF TR",
     {7.55, 10.18, 13.86, 22.53, 36.41},
     {1.16, 1.05, 0.94, 1.56, 2.14},
     0.94},
    {11, "low", "DEKF", {23.91, 24.35, 25.46, 30.55, 38.88}, {1.47, 2.03, 2.73, 3.54, 4.10}, 0.47},
    {11,
     "low",
     "errorEKF",
     {8.88, 11.57, 14.03, 18.97, 27.70},
     {1.69, 2.00, 2.18, 2.58, 3.80},
     0.92},
    {11,
     "low",
     "UKF FE",
     {21.81, 21.41, 21.82, 24.84, 31.26},
     {1.57, 2.01, 2.20, 2.76, 2.58},
     0.48},
    {11, "low", "UKF TR", {6.28, 8.00, 10.20, 14.97, 22.00}, {0.92, 0.91, 0.85, 1.37, 1.99}, 0.96},
    {12,
     "high",
     "DEKF",
     {194.67, 194.60, 194.26, 191.43, 181.50},
     {2.22, 2.83, 3.97, 7.90, 10.08},
     0.00},
    {12,
     "high",
     "errorEKF",
     {196.38, 196.29, 195.97, 193.47, 184.77},
     {2.25, 2.87, 4.02, 8.02, 10.31},
     0.00},
    {12,
     "high",
     "UKF FE",
     {33.38, 33.72, 34.42, 36.31, 38.94},
     {0.81, 0.77, 0.98, 1.00, 1.07},
     0.73},
    {12,
     "high",
     "UKF TR",
     {30.28, 30.71, 31.54, 33.43, 35.92},
     {0.74, 0.68, 0.65, 0.61, 0.79},
     0.99},
    {12, "low", "DEKF", {97.91, 97.86, 97.61, 95.94, 90.37}, {2.21, 2.81, 3.95, 7.82, 9.77}, 1.00},
    {12,
     "low",
     "errorEKF",
     {98.21, 98.16, 97.94, 96.51, 91.46},
     {2.25, 2.87, 4.03, 8.00, 10.11},
     1.00},
    {12,
     "low",
     "UKF FE",
     {20.48, 20.59, 20.96, 22.18, 24.04},
     {0.86, 0.90, 1.33, 1.54, 1.75},
     0.71},
    {12,
     "low",
     "UKF TR",
     {14.27, 14.55, 15.19, 16.46, 18.07},
     {0.78, 0.73, 0.66, 0.71, 0.91},
     1.00},
    {13,
     "high",
     "DEKF",
     {224.42, 224.55, 223.72, 215.18, 162.36},
     {2.03, 2.66, 3.57, 6.00, 6.02},
     0.00},
    {13,
     "high",
     "errorEKF",
     {196.52, 196.50, 195.65, 189.02, 147.67},
     {1.81, 2.35, 3.17, 5.34, 5.50},
     0.00},
    {13,
     "high",
     "UKF FE",
     {31.96, 32.23, 32.73, 34.54, 38.37},
     {0.36, 0.49, 0.60, 0.73, 0.67},
     0.89},
    {13,
     "high",
     "UKF TR",
     {28.97, 29.16, 29.47, 30.70, 33.54},
     {0.38, 0.49, 0.61, 0.69, 0.68},
     0.99},
    {13,
     "low",
     "DEKF",
     {113.78, 113.89, 113.24, 109.32, 83.27},
     {2.04, 2.69, 3.60, 6.01, 5.98},
     1.00},
    {13,
     "low",
     "errorEKF",
     {98.36, 98.35, 97.67, 94.53, 74.09},
     {1.80, 2.35, 3.16, 5.32, 5.46},
     1.00},
    {13,
     "low",
     "UKF FE",
     {19.09, 19.28, 19.73, 21.26, 23.94},
     {0.36, 0.48, 0.53, 0.73, 0.65},
     0.79},
    {13,
     "low",
     "UKF TR",
     {11.85, 12.01, 12.31, 13.28, 14.96},
     {0.43, 0.56, 0.63, 0.71, 0.75},
     1.00},
};

struct Figure {
  int number;
  bool five;
  const char* sensors;
};
constexpr Figure kFigures[] = {{3, false, "crank encoder"}, {4, true, "crank encoders"},
                               {5, false, "coupler gyro"},  {9, false, "coupler gyro, 5 rad/s"},
                               {10, true, "coupler gyros"}, {11, true, "coupler gyros, 5 rad/s"},
                               {12, false, "crank gyro"},   {13, true, "crank gyros"}};

const Figure& figure(int number) {
  return *std::find_if(std::begin(kFigures), std::end(kFigures),
                       [&](const Figure& f) { return f.number == number; });
}

// The study of a figure's mechanism with its sensors alone.
Result<LoadedObserveStudy> study_of(const Figure& f) {
  Result<LoadedObserveStudy> study = load_observe_study(
      folder() + "/papers/sanjurjo2017/" + (f.five ? "five_bar" : "fourbar") + ".toml");
  if (study)
    std::erase_if(study->study.sensors, [&](const SensorSet& s) { return s.name != f.sensors; });
  if (study)
    for (StudyFilter& e : study->study.filters) {
      const bool meant = e.sensors.empty() || std::find(e.sensors.begin(), e.sensors.end(),
                                                        f.sensors) != e.sensors.end();
      if (meant)
        e.sensors.clear();
      else
        e.name.clear();
    }
  if (study)
    std::erase_if(study->study.filters, [](const StudyFilter& e) { return e.name.empty(); });
  return study;
}

void keep_filters(ObserveStudy& study, std::initializer_list<const char*> names) {
  std::erase_if(study.filters, [&](const StudyFilter& f) {
    return std::find_if(names.begin(), names.end(), [&](const char* n) { return f.name == n; }) ==
           names.end();
  });
}

void keep_error(ObserveStudy& study, const std::string& name) {
  std::erase_if(study.errors, [&](const ModelError& e) { return e.name != name; });
  std::erase_if(study.filters, [&](const StudyFilter& f) {
    return !f.errors.empty() && std::find(f.errors.begin(), f.errors.end(), name) == f.errors.end();
  });
}

// Mean over the cranks.
double rms(const std::vector<double>& channels) {
  double sum = 0;
  for (double e : channels) sum += e;
  return kMilli * sum / static_cast<double>(channels.size());
}

const TwinCell& cell(const TwinResult& r, const std::string& filter, const std::string& error,
                     double rate) {
  return *std::find_if(r.cells.begin(), r.cells.end(), [&](const TwinCell& c) {
    return c.filter == filter && c.error_level == error && c.rate_hz == rate;
  });
}

Row claim(const std::string& text, bool holds, const std::string& note = {}) {
  return {text, 1, holds ? 1.0 : 0.0, "", 0.5, note};
}

// Where the errorEKF's corrections leave the constraints, the form of the constraint equations matters at third order of the correction.
constexpr const char* kOffConstraints =
    "the plant's constraints are written otherwise (pins and distances, not one angle equation): "
    "after a correction of 0.19 rad at 5 rad/s this changes speeds "
    "by 0.2 %, and the motion is sensitive";

Result<std::vector<Row>> anchors(const Figure& f, std::vector<Row> rows) {
  Result<LoadedObserveStudy> study = study_of(f);
  if (!study) return study.diagnostics();
  keep_error(study->study, "high");
  study->study.rates_hz = {200, 50, 10};
  const Result<TwinResult> r = run_twin(study->study, study->load);
  if (!r) return r.diagnostics();
  const bool fast = f.number == 11;
  for (const Anchor& a : kAnchors) {
    if (a.figure != f.number) continue;
    for (size_t i = 0; i < kFilters.size(); ++i) {
      const TwinCell& c = cell(*r, kFilters[i], "high", a.rate);
      const std::string name = fmt::format("{}, {} Hz, one sequence", kFilters[i], a.rate);
      if (a.rms[i] == kFails) {
        rows.push_back(claim(name + ": covariance is lost", c.failed == 1));
        continue;
      }
      Row row{name, a.rms[i], rms(c.rmse_mean), "mrad", (fast ? 5e-3 : 1e-3) * a.rms[i], ""};
      if (!row.reproduced() && std::string(kFilters[i]).starts_with("errorEKF"))
        row.note = kOffConstraints;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<std::vector<Row>> accuracy(int number) {
  const Figure& f = figure(number);
  Result<std::vector<Row>> rows = anchors(f, {});
  if (!rows) return rows;
  Result<LoadedObserveStudy> study = study_of(f);
  if (!study) return study.diagnostics();
  ObserveStudy& s = study->study;
  keep_filters(s, {"DEKF", "errorEKF", "UKF FE", "UKF TR"});
  if (f.five)
    for (StudyFilter& e : s.filters)
      if (e.name == "DEKF" || e.name == "errorEKF") e.settings.rate_terms = RateTerms::kDiagonal;
  s.seeds.clear();
  for (int i = 1; i <= kSequences; ++i) s.seeds.push_back(static_cast<std::uint64_t>(i));
  const Result<TwinResult> r = run_twin(s, study->load);
  if (!r) return r.diagnostics();
  for (const Mean& m : kMeans) {
    if (m.figure != number) continue;
    for (size_t i = 0; i < kRates.size(); ++i) {
      const TwinCell& c = cell(*r, m.filter, m.error, kRates[i]);
      const double band =
          3 * m.spread[i] * std::sqrt(1.0 / kSequences + 1.0 / kSequencesThere) + 0.01 * m.mean[i];
      Row row{fmt::format("{}, {} error, {} Hz, mean", m.filter, m.error, kRates[i]),
              m.mean[i],
              rms(c.rmse_mean),
              "mrad",
              band,
              ""};
      if (!row.reproduced() && std::string(m.filter) == "errorEKF") row.note = kOffConstraints;
      rows->push_back(std::move(row));
    }
    rows->push_back({fmt::format("{}, {} error, 200 Hz, 95 % interval covers", m.filter, m.error),
                     m.coverage, cell(*r, m.filter, m.error, 200).coverage95, "", 0.03, ""});
  }
  // What the text concludes.
  const auto mean = [&](const char* filter, const char* error, double rate) {
    return rms(cell(*r, filter, error, rate).rmse_mean);
  };
  const auto all = [&](auto&& test) {
    return std::all_of(kFilters.begin(), kFilters.begin() + 4, test);
  };
  constexpr double kSensor = 17.453292519943295;
  if (number == 3 || number == 4) {
    double low = 1e9, high = 0;
    for (size_t i = 0; i < 4; ++i) {
      low = std::min(low, mean(kFilters[i], "high", 200));
      high = std::max(high, mean(kFilters[i], "high", 200));
    }
    rows->push_back(
        claim("encoders: the discrete filters are equally accurate (7 %)", high < 1.07 * low));
    rows->push_back(claim("both model errors coincide at 200 Hz (16 %) and part at 10 Hz (30 %)",
                          all([&](const char* n) {
                            return mean(n, "high", 200) < 1.16 * mean(n, "low", 200) &&
                                   mean(n, "high", 10) > 1.3 * mean(n, "low", 10);
                          })));
    rows->push_back(claim("they beat the sensor from 50 Hz up",
                          all([&](const char* n) { return mean(n, "high", 50) < kSensor; })));
  }
  if (number == 5)
    rows->push_back(
        claim("coupler gyro from rest: UKFs better than DEKF and errorEKF",
              std::max(mean("UKF FE", "high", 200), mean("UKF TR", "high", 200)) <
                  0.75 * std::min(mean("DEKF", "high", 200), mean("errorEKF", "high", 200))));
  if (number == 9)
    rows->push_back(
        claim("with 5 rad/s every filter improves with the rate", all([&](const char* n) {
                return mean(n, "high", 200) < mean(n, "high", 100) &&
                       mean(n, "high", 100) < mean(n, "high", 50);
              })));
  if (number == 10)
    rows->push_back(claim("five-bar coupler gyros: errorEKF closer to the UKFs than DEKF",
                          mean("errorEKF", "high", 200) < mean("DEKF", "high", 200)));
  if (number == 11)
    rows->push_back(
        claim("five-bar at 5 rad/s: trapezoidal filters improve with the rate, forward-Euler ones "
              "saturate",
              mean("UKF TR", "high", 200) < 0.6 * mean("UKF TR", "high", 50) &&
                  mean("UKF FE", "high", 200) > 0.85 * mean("UKF FE", "high", 50)));
  if (number == 12 || number == 13) {
    rows->push_back(
        claim("crank gyro: EKFs with constant transition do not observe the position, UKFs do",
              mean("DEKF", "high", 200) > 180 && mean("errorEKF", "high", 200) > 180 &&
                  mean("UKF TR", "high", 200) < 35 && mean("UKF FE", "high", 200) < 35));
    rows->push_back(claim("trapezoidal better than Euler, more so at low error",
                          mean("UKF TR", "high", 200) < mean("UKF FE", "high", 200) &&
                              mean("UKF TR", "low", 200) / mean("UKF FE", "low", 200) <
                                  mean("UKF TR", "high", 200) / mean("UKF FE", "high", 200)));
    const std::string ej = number == 12 ? "four-bar" : "five-bar";
    Result<LoadedObserveStudy> exact = study_of(f);
    keep_filters(exact->study, {"DEKF", "errorEKF-EJ"});
    keep_error(exact->study, "high");
    exact->study.rates_hz = {200};
    for (StudyFilter& e : exact->study.filters)
      if (e.name == "DEKF") e.settings.filter = "dekf_exact";
    const Result<TwinResult> x = run_twin(exact->study, exact->load);
    if (!x) return x.diagnostics();
    rows->push_back(claim(ej + ": beyond the paper: with the exact transition EKFs observe it too",
                          rms(cell(*x, "DEKF", "high", 200).rmse_mean) < 35 &&
                              rms(cell(*x, "errorEKF-EJ", "high", 200).rmse_mean) < 35));
  }
  return rows;
}

// One run with its course.
Result<TwinResult> course(int number, const char* filter, std::vector<double> rates) {
  Result<LoadedObserveStudy> study = study_of(figure(number));
  if (!study) return study.diagnostics();
  keep_filters(study->study, {filter});
  keep_error(study->study, "high");
  study->study.rates_hz = std::move(rates);
  TwinOptions options;
  options.series = true;
  return run_twin(study->study, study->load, options);
}

}  // namespace

Result<std::vector<Row>> fig3() { return accuracy(3); }
Result<std::vector<Row>> fig4() { return accuracy(4); }
Result<std::vector<Row>> fig5() { return accuracy(5); }
Result<std::vector<Row>> fig9() { return accuracy(9); }
Result<std::vector<Row>> fig10() { return accuracy(10); }
Result<std::vector<Row>> fig11() { return accuracy(11); }
Result<std::vector<Row>> fig12() { return accuracy(12); }
Result<std::vector<Row>> fig13() { return accuracy(13); }

// Start of the transient with the coupler gyro at 200, 100 and 50 Hz. The paper's sequence shows 200 Hz worse than 100 Hz; over many sequences that is so in about half of them.
Result<std::vector<Row>> fig6() {
  Result<LoadedObserveStudy> study = study_of(figure(5));
  if (!study) return study.diagnostics();
  keep_filters(study->study, {"DEKF"});
  keep_error(study->study, "high");
  study->study.rates_hz = {200, 100, 50};
  study->study.seeds.clear();
  for (int i = 1; i <= kSequences; ++i) study->study.seeds.push_back(static_cast<std::uint64_t>(i));
  const Result<TwinResult> r = run_twin(study->study, study->load);
  if (!r) return r.diagnostics();
  int worse = 0;
  for (int i = 0; i < kSequences; ++i)
    if (r->rows[static_cast<size_t>(i)].rmse[0] >
        r->rows[static_cast<size_t>(kSequences + i)].rmse[0])
      ++worse;
  // Binomial with share 1/2: three standard deviations of 20.
  return std::vector<Row>{{"sequences of 20 in which 200 Hz is worse than 100 Hz", 10,
                           static_cast<double>(worse), "", 6.7, ""}};
}

Result<std::vector<Row>> fig7() {
  const Result<TwinResult> r = course(5, "DEKF", {200});
  if (!r) return r.diagnostics();
  const TwinSeries& s = r->series.front();
  // The model without corrections leaves the truth; the observer follows it.
  const Result<Loaded> wrong = load_model(
      "fourbar_sanjurjo", std::vector<Override>{{"g", "9"}, {"initial.theta", "pi/3 + pi/16"}});
  if (!wrong) return wrong.diagnostics();
  const Result<Run> free = run_at(*wrong, {.at = {10}, .tol = 1e-10});
  if (!free) return free.diagnostics();
  return std::vector<Row>{
      {"crank angle of the mechanism at 10 s", -4.905879, s.truth[0].back(), "rad", 1e-5, ""},
      claim("the model without corrections is far off at 10 s (0.5 rad)",
            std::abs(output(*free, "theta").back() - s.truth[0].back()) > 0.5),
      claim("the observer is near at 10 s (0.05 rad)",
            std::abs(s.estimate[0].back() - s.truth[0].back()) < 0.05)};
}

namespace {

Row inside(const TwinResult& r, const char* what, double from, double expected, double band) {
  const TwinSeries& s = r.series.front();
  int count = 0, covered = 0;
  for (size_t i = 0; i < s.t.size(); ++i) {
    if (s.t[i] < from) continue;
    ++count;
    covered += std::abs(s.estimate[0][i] - s.truth[0][i]) <= 1.96 * s.sigma[0][i] ? 1 : 0;
  }
  return {what, expected, static_cast<double>(covered) / count, "", band, ""};
}

}  // namespace

Result<std::vector<Row>> fig8() {
  const Result<TwinResult> r = course(5, "DEKF", {200});
  if (!r) return r.diagnostics();
  // Mean of fifty sequences 0.82; one sequence may be far from it.
  return std::vector<Row>{
      inside(*r, "DEKF, coupler gyro: error inside its 95 % interval", 0, 0.82, 0.15)};
}

Result<std::vector<Row>> fig14() {
  const Result<TwinResult> r = course(12, "UKF TR", {200});
  if (!r) return r.diagnostics();
  return std::vector<Row>{
      inside(*r, "UKF TR, crank gyro: error inside its 95 % interval", 0, 0.99, 0.02),
      claim("the error is below 0.05 rad after 5 s", [&] {
        const TwinSeries& s = r->series.front();
        for (size_t i = 0; i < s.t.size(); ++i)
          if (s.t[i] > 5 && std::abs(s.estimate[0][i] - s.truth[0][i]) > 0.05) return false;
        return true;
      }())};
}

// Cost, encoders at 200 Hz. Real time is 5 ms per step; the paper's interpreted program reached it with the errorEKF on the four-bar alone.
Result<std::vector<Row>> fig15() {
  std::vector<Row> rows;
  for (int number : {3, 4}) {
    const Figure& f = figure(number);
    Result<LoadedObserveStudy> study = study_of(f);
    if (!study) return study.diagnostics();
    ObserveStudy& s = study->study;
    keep_error(s, "high");
    keep_filters(s, {"DEKF", "errorEKF", "UKF FE", "UKF TR", "CEKF"});
    s.rates_hz = {200};
    s.threads = 1;
    s.seeds = {1, 2, 3};
    // Cost of the filters themselves: the error-state one with the plant in independent coordinates.
    for (StudyFilter& e : s.filters)
      if (e.name == "errorEKF") {
        e.model.clear();
        e.settings.scheme.reset();
      }
    const Result<TwinResult> r = run_twin(s, study->load);
    if (!r) return r.diagnostics();
    std::map<std::string, double> best;
    for (const TwinRow& row : r->rows) {
      auto [at, fresh] = best.emplace(row.filter, row.us_per_step);
      if (!fresh) at->second = std::min(at->second, row.us_per_step);
    }
    const std::string name = f.five ? "five-bar" : "four-bar";
    for (const auto& [filter, us] : best)
      rows.push_back(claim(fmt::format("{}: {} runs faster than real time", name, filter),
                           us < 5000, fmt::format("{:.3g} us per step of 5000", us)));
    rows.push_back(claim(name + ": extended filters are the fastest, UKF TR costs more than UKF FE",
                         std::max(best["DEKF"], best["errorEKF"]) < best["UKF FE"] &&
                             best["UKF FE"] < best["UKF TR"],
                         "the best times of this machine, which may be busy"));
  }
  return rows;
}

// Observability along the motion, log10 of the condition number: medians printed to 0.01, band 0.1 for another noise sequence. Where a state is not
// seen, the number is round-off; that it is flagged is what counts.
namespace {

Result<std::vector<Row>> observed(int number,
                                  std::initializer_list<std::pair<const char*, double>> medians) {
  std::vector<Row> rows;
  for (const auto& [name, median] : medians) {
    const std::string filter = name;
    const Figure& f = figure(number);
    Result<LoadedObserveStudy> study = study_of(f);
    if (!study) return study.diagnostics();
    const ObserveStudy& s = study->study;
    const StudyFilter& e = *std::find_if(s.filters.begin(), s.filters.end(),
                                         [&](const StudyFilter& c) { return c.name == filter; });
    const Result<Model> right = study->load(s.model, s.sensors.front().set),
                        wrong = study->load(s.model, s.errors.front().set);
    if (!right) return right.diagnostics();
    if (!wrong) return wrong.diagnostics();
    SimulationOptions o;
    o.until = s.until;
    o.dt = o.sample = s.dt;
    o.integrator = s.integrator;
    const Result<Run> run = simulate(*right, nominal(*right), o);
    if (!run) return run.diagnostics();
    const auto noise = noise_sequence(s.noise, 1, static_cast<int>(run->t.size()) - 1, 1);
    const std::vector<double>& y = output(*run, s.sensors.front().use.front().name);
    Readings readings;
    readings.dt = s.dt;
    for (size_t k = 1; k < run->t.size(); ++k) {
      readings.t.push_back(run->t[k]);
      readings.sensors.push_back({0});
      readings.values.push_back({y[k] + std::numbers::pi / 180 * noise[k - 1][0]});
    }
    ObserverSettings settings = e.settings;
    settings.scheme.reset();
    Result<std::unique_ptr<Observer>> observer =
        Observer::create(*wrong, nominal(*wrong), settings, s.sensors.front().use);
    if (!observer) return observer.diagnostics();
    const Result<Observability> seen = observability(**observer, readings);
    if (!seen) return seen.diagnostics();
    if (median > 0)
      rows.push_back({fmt::format("{}: median of log10 of the condition number", filter), median,
                      seen->median, "", 0.1, ""});
    else
      rows.push_back(
          claim(fmt::format("{}: flagged as not observable", filter), !seen->observable));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> fig16() {
  return observed(3, {{"DEKF", 2.60}, {"errorEKF", 2.60}, {"UKF FE", 2.60}, {"UKF TR", 2.60}});
}
Result<std::vector<Row>> fig17() {
  return observed(5, {{"DEKF", 2.24}, {"errorEKF", 2.24}, {"UKF FE", 2.10}, {"UKF TR", 2.10}});
}
Result<std::vector<Row>> fig18() {
  return observed(12, {{"DEKF", 0}, {"errorEKF", 0}, {"UKF FE", 1.88}, {"UKF TR", 1.88}});
}

}  // namespace panto::validation::sanjurjo2017
