// 04 Which torque keeps a crank at constant speed while its slider works against a spring?
#include <cstdio>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto model = panto::load(argc > 1 ? argv[1] : "examples/04_loop_spring_driver.toml");
  if (!model) return fail(model.diagnostics());

  // The driver prescribes the crank angle: no freedom is left, and the motor's torque is the multiplier that goes with
  // this constraint. One turn takes 2 pi / (20 rad/s).
  panto::SimulationOptions options;
  options.until = 0.3;
  options.sample = 0.05;
  const auto run = panto::simulate(*model, panto::nominal(*model), options);
  if (!run) return fail(run.diagnostics());

  for (size_t i = 0; i < run->t.size(); ++i) {
    for (size_t k = 0; k < run->outputs.size(); ++k) {
      std::printf("%s_%zu %.15g %s\n", run->output_names[k].c_str(), i, run->outputs[k][i],
                  run->output_units[k].c_str());
    }
  }
  // What the motor did so far is now kinetic energy and energy of the spring.
  std::printf("work_of_motor %.15g J\n", run->entered.back());
}
