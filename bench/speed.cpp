// Wall-clock figures of whole tasks, best of several runs, with the bounds that the project promises.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "panto/identification/identify.hpp"
#include "panto/identification/poses.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

using namespace panto;

namespace {

double best_seconds(int repeats, const std::function<void()>& task) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    task();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// A planar chain of n bars with a driver-free joint each, as text.
std::string chain(int n) {
  std::string text = "space = \"planar\"\ngravity = [0, -9.81]\n";
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    text += "[[body]]\nname = \"b" + k + "\"\nbar = { length = 0.1, mass = 0.2 }\n";
    text += "[[joint]]\nname = \"j" + k + "\"\ntype = \"revolute\"\nparent = \"";
    text += i == 0 ? std::string("ground") : "b" + std::to_string(i - 1) + ".end";
    text += "\"\nchild = \"b" + k + "\"\n";
  }
  return text;
}

int failures = 0;

void report(const char* what, double value, const char* unit, double bound, bool at_least) {
  const bool met = at_least ? value >= bound : value <= bound;
  if (!met) ++failures;
  std::printf("%-58s %10.4g %-3s %s %g  %s\n", what, value, unit, at_least ? ">=" : "<=", bound,
              met ? "ok" : "MISSED");
}

// 1000 poses x 1000 parameter sets, and all solutions of one pose from 100 starts (Čepon et al.: 80 s for the former).
void identification() {
  const Result<Model> chain = load("three_link");
  if (!chain) return report("three_link loads", 0, "", 1, true);
  const Params params = nominal(*chain);
  PosesOptions options;
  options.parameters = {"kA", "kB", "kC"};
  const auto seconds = [&](int threads) {
    options.threads = threads;
    return best_seconds(5, [&] { (void)poses(*chain, params, options); });
  };
  const double one = seconds(1), two = seconds(2);
  report("three_link, 1e6 eigenproblems in 1000 poses, 2 threads", two, "s", 0.5, false);
  report("three_link, poses: 2 threads over 1", one / two, "x", 1.8, true);
  IdentifyStudy study;
  for (const char* name : {"kA", "kB", "kC"}) {
    UnknownParameter p;
    p.name = name;
    study.parameters.push_back(p);
  }
  study.poses.resize(1);
  study.simulate.resize(1);
  report("three_link, identify from 100 starts",
         1e3 * best_seconds(10, [&] { (void)identify(*chain, params, study); }), "ms", 50, false);
}

// Filters with encoders at 200 Hz, and the whole grid of Sanjurjo et al. (7 filters, 5 rates, 2 errors, 8 cases, 20 sequences). The error-state
// filters have the plant in independent coordinates.
void observers() {
  const struct {
    const char* filter;
    double bound;
  } filters[] = {{"DEKF", 4}, {"errorEKF", 4}, {"UKF FE", 12}, {"UKF TR", 25}};
  double grid = 0;
  for (const bool five : {false, true}) {
    const std::string name = five ? "five_bar" : "fourbar";
    Result<LoadedObserveStudy> study = load_observe_study(std::string(PANTO_VALIDATION_DIR) +
                                                          "/papers/sanjurjo2017/" + name + ".toml");
    if (!study) return report("study loads", 0, "", 1, true);
    for (StudyFilter& f : study->study.filters) {
      f.model.clear();
      f.settings.scheme.reset();
    }
    ObserveStudy all = study->study, one = study->study;
    one.threads = 1;
    one.rates_hz = {200};
    one.sensors.resize(1);
    one.errors.resize(1);
    for (StudyFilter& f : one.filters) f.sensors.clear();
    std::erase_if(one.filters, [](const StudyFilter& f) {
      return !f.errors.empty() && f.errors.front() != "high";
    });
    for (StudyFilter& f : one.filters) f.errors.clear();
    one.seeds = {1, 2, 3, 4, 5};
    const Result<TwinResult> runs = run_twin(one, study->load);
    if (!runs) return report("study runs", 0, "", 1, true);
    for (const auto& f : filters) {
      double best = 1e9;
      for (const TwinRow& r : runs->rows)
        if (r.filter == f.filter) best = std::min(best, r.us_per_step);
      report((name + ", " + f.filter + ", one step").c_str(), best, "us", (five ? 3 : 1) * f.bound,
             false);
    }
    all.seeds.clear();
    for (std::uint64_t i = 1; i <= 20; ++i) all.seeds.push_back(i);
    const Result<TwinResult> result = run_twin(all, study->load);
    if (result) grid += result->seconds;
  }
  report("grid of Sanjurjo et al., 11 200 runs of 2000 steps", grid, "s", 60, false);
}

}  // namespace

int main() {
  const Result<Model> fourbar = load("fourbar_f1");
  if (!fourbar) {
    std::fputs(fourbar.diagnostics().text().c_str(), stderr);
    return 2;
  }
  const Params params = nominal(*fourbar);
  SimulationOptions fine;
  fine.until = 10;
  fine.at = {10};
  fine.tol = 1e-12;
  const Result<Run> reference = simulate(*fourbar, params, fine);
  SimulationOptions options = fine;
  options.tol = 5e-9;  // error below 1e-8 at 10 s, checked below
  const int theta = find_output(*fourbar, "theta");
  double error = 1;
  const double seconds = best_seconds(20, [&] {
    const Result<Run> run = simulate(*fourbar, params, options);
    error = std::abs(run->outputs[static_cast<size_t>(theta)].back() -
                     reference->outputs[static_cast<size_t>(theta)].back()) /
            std::abs(reference->outputs[static_cast<size_t>(theta)].back());
  });
  report("fourbar_f1, 10 s: relative error of theta(10 s)", error, "", 1e-8, false);
  report("fourbar_f1, 10 s: times faster than real time", 10 / seconds, "x", 500, true);
  identification();
  observers();
  const std::string text = chain(100);
  report("100 bodies: read and compile",
         1e3 * best_seconds(20, [&] { (void)*compile(*parse_model_text(text, "chain.toml")); }),
         "ms", 20, false);
  return failures == 0 ? 0 : 3;
}
