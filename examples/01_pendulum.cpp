// 01 How long is one swing of a pendulum that is let go at 90 degrees?
#include <cstdio>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"

namespace {

// Bad input comes back as diagnostics: all of them, each with its place and a remedy.
int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main() {
  const auto model = panto::load("pendulum");  // a model of the zoo; a path works as well
  if (!model) return fail(model.diagnostics());

  // The bob starts at rest at x = -L. It passes the lowest point, x = 0, after a quarter of the period:
  // an event ends the run exactly there, between two steps if need be.
  panto::SimulationOptions options;
  options.tol = 1e-12;
  options.stop = panto::StopEvent{"x", 0, +1};
  const auto run = panto::simulate(*model, panto::nominal(*model), options);
  if (!run) return fail(run.diagnostics());

  std::printf("period %.15g s\n", 4 * run->t.back());
  const int vx = panto::find_output(*model, "vx");
  std::printf("lowest_point_speed %.15g m/s\n", run->outputs[static_cast<size_t>(vx)].back());
}
