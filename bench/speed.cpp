// Wall-clock figures of whole tasks, best of several runs, with the bounds that the project promises.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "panto/identification/identify.hpp"
#include "panto/identification/poses.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
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
  const std::string text = chain(100);
  report("100 bodies: read and compile",
         1e3 * best_seconds(20, [&] { (void)*compile(*parse_model_text(text, "chain.toml")); }),
         "ms", 20, false);
  return failures == 0 ? 0 : 3;
}
