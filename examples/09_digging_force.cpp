// 09 With which force does an excavator dig, as its angles, accelerations and cylinder forces tell?
#include <cstdio>

#include "panto/estimation/kinematic_log.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  // The machine: its sensors have noise, its pins dry friction.
  const auto machine = panto::load("excavator");
  if (!machine) return fail(machine.diagnostics());
  panto::SimulationOptions options;
  options.until = 14;
  options.sample = 0.002;
  auto run = panto::simulate(*machine, panto::nominal(*machine), options);
  if (!run) return fail(run.diagnostics());
  panto::measure(*machine, panto::nominal(*machine), 1, *run);
  panto::SensorLog log;
  for (const panto::MeasuredSeries& m : run->measured) {
    panto::LogSeries series{m.name, {}};
    for (size_t i = 0; i < m.t.size(); ++i)
      series.samples.push_back({m.t[i], m.values[i], static_cast<long>(i), 0});
    log.sensors.push_back(std::move(series));
  }

  // The observer's model knows nothing of the friction.
  const std::vector<panto::Override> without{{"T_fr", "0"}};
  const auto model = panto::load("excavator", without);
  if (!model) return fail(model.diagnostics());
  const panto::Params params = panto::nominal(*model);
  auto setup = panto::load_kinematic_setup(argc > 1 ? argv[1] : "examples/09_digging_force.toml");
  if (!setup) return fail(setup.diagnostics());
  setup = panto::complete(std::move(*setup), *model, params);
  if (!setup) return fail(setup.diagnostics());
  const auto tracker = panto::KinematicTracker::create(*model, params, *setup, {});
  if (!tracker) return fail(tracker.diagnostics());

  panto::EstimateSeries found;
  const auto summary = panto::run_log(
      **tracker, log, [&](const panto::KinematicEstimate& e) { panto::add(found, e); });
  if (!summary) return fail(summary.diagnostics());
  panto::label(found, **tracker);
  std::printf("steps %ld 1\n", summary->counts.steps);
  std::printf("nis %.6f 1\n", summary->nis);

  // Means while it digs with all its force, and with the load in the bucket at the end.
  const auto print = [&](const char* what, const char* name, double from, double to) {
    for (const panto::EstimateColumn& c : found.estimates) {
      if (c.name != name) continue;
      double value = 0, sigma = 0;
      int count = 0;
      for (size_t i = 0; i < found.t.size(); ++i) {
        if (found.t[i] < from || found.t[i] > to) continue;
        value += c.value[i];
        sigma += c.sigma[i];
        ++count;
      }
      std::printf("%s %.3f N\n", what, value / count);
      std::printf("%s_sigma %.3f N\n", what, sigma / count);
    }
  };
  print("dig_x", "force dig_x", 6.5, 7.5);
  print("dig_z", "force dig_z", 6.5, 7.5);
  print("payload", "force payload", 12, 14);
}
