// 02 Where is a falling four-bar after ten seconds, and what changes with a heavier crank?
#include <cstdio>
#include <string>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main() {
  const auto model = panto::load("fourbar_f1");  // models/fourbar_f1/model.toml
  if (!model) return fail(model.diagnostics());

  panto::SimulationOptions options;
  options.tol = 1e-12;  // relative; the loop is closed in every evaluation and does not drift
  options.at = {10};    // only the end is wanted
  options.until = 10;
  panto::Params params = panto::nominal(*model);
  const auto run = panto::simulate(*model, params, options);
  if (!run) return fail(run.diagnostics());
  for (size_t k = 0; k < run->outputs.size(); ++k) {
    std::printf("%s %.15g %s\n", run->output_names[k].c_str(), run->outputs[k].back(),
                run->output_units[k].c_str());
  }

  // Every number of the file is a parameter, also one written in place. Nothing is compiled again: the numbers are an
  // argument of everything that computes.
  params.values[panto::find_parameter(*model, "crank.bar.mass")] = 2;
  const auto heavy = panto::simulate(*model, params, options);
  if (!heavy) return fail(heavy.diagnostics());
  std::printf("theta_with_heavy_crank %.15g rad\n", heavy->outputs[0].back());
}
