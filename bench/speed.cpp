// Wall-clock figures of whole tasks, best of several runs, with the bounds that the project promises.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/inverse_cases.hpp"
#include "panto/estimation/force_observer.hpp"
#include "panto/identification/identify.hpp"
#include "panto/identification/poses.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/io/update_study.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/model/compile.hpp"
#include "panto/numerics/random.hpp"
#include "panto/reduction/test/cases.hpp"
#include "panto/updating/update.hpp"

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

// Time that this thread has had of a processor [s]: nothing of what others took meanwhile.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
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

// Kinematic observers (SS-UKF, acceleration as a state) along simulated motions, driven by all accelerometers and corrected by all encoders every
// millisecond; two-stage: the first half of the model's inputs measured, the others unknown.
void kinematic_observers() {
  const struct {
    const char *name, *truth, *model;
    bool forces;
    double enter, bound;
  } cases[] = {
      {"slider-crank, kinematic observer, one step", "slider_crank_kkf", "slider_crank_inline",
       false, 0.008, 3},
      {"slider-crank, two-stage observer, one step", "slider_crank", "slider_crank", true, 0.1, 6},
      {"excavator, two-stage observer, one step", "excavator", "excavator", true, 0, 20}};
  constexpr double kStep = 1e-3;
  for (const auto& c : cases) {
    const Result<Model> truth = load(c.truth), model = load(c.model);
    if (!truth || !model) return report("models load", 0, "", 1, true);
    SimulationOptions options;
    options.until = 2;
    options.sample = kStep;
    const Result<Run> run = simulate(*truth, nominal(*truth), options);
    if (!run) return report("motion is simulated", 0, "", 1, true);
    std::vector<KinematicChannel> inputs, sensors;
    std::vector<size_t> of_inputs, of_sensors;
    for (const Sensor& s : model->sensors) {
      KinematicChannel channel;
      channel.name = model->outputs[static_cast<size_t>(s.output)].name;
      const auto at = static_cast<size_t>(
          std::find(run->output_names.begin(), run->output_names.end(), channel.name) -
          run->output_names.begin());
      if (s.type == "accelerometer") {
        inputs.push_back(channel);
        of_inputs.push_back(at);
      } else if (s.type == "encoder") {
        sensors.push_back(channel);
        of_sensors.push_back(at);
      }
    }
    KinematicSettings settings;
    settings.system.top = TopState::kCombined;
    settings.system.noise.top = {100};
    settings.system.fallback_noise.top = {3e4};
    settings.system.enter = c.enter;
    settings.system.leave = 1.25 * c.enter;
    ForceSettings f;
    const size_t measured = c.forces ? model->inputs.size() / 2 : 0;
    f.unknown.resize(measured);
    for (size_t i = 0; i < measured; ++i) {
      f.measured.push_back({.name = model->inputs[i].name, .sigma = 1});
      f.unknown[i].name = model->inputs[measured + i].name;
    }
    // All readings first: a step is timed as part of the whole run.
    const auto workspace = Workspace::create(*truth, nominal(*truth));
    const size_t steps = run->t.size(), nu = inputs.size(), ny = sensors.size(),
                 nt = model->inputs.size();
    std::vector<double> u(steps * nu), y(steps * ny), t(steps * nt), rate(nt);
    for (size_t k = 0; k < steps; ++k) {
      for (size_t i = 0; i < nu; ++i)
        u[k * nu + i] = run->outputs[of_inputs[i]][k] + 0.03 * normal(1, i, k);
      for (size_t i = 0; i < ny; ++i)
        y[k * ny + i] = run->outputs[of_sensors[i]][k] + 0.003 * normal(2, i, k);
      if (c.forces) workspace->inputs_at(run->t[k], {&t[k * nt], nt}, rate);
    }
    double best = 1e9;
    bool good = true;
    for (int repeat = 0; repeat < 15; ++repeat) {
      auto first = KinematicObserver::create(*model, nominal(*model), settings, inputs, sensors);
      if (!first) return report("observer is created", 0, "", 1, true);
      KinematicObserver& kinematic = **first;
      std::unique_ptr<TwoStageObserver> both;
      good = kinematic.start(0, {u.data(), nu}) == Status::kOk && good;
      if (c.forces) {
        auto second = ForceObserver::create(*model, nominal(*model), f);
        if (!second) return report("force observer is created", 0, "", 1, true);
        both = std::make_unique<TwoStageObserver>(std::move(*first), std::move(*second));
        good = both->start({t.data(), measured}) == Status::kOk && good;
      }
      const double spent = best_seconds(1, [&] {
        for (size_t k = 1; k < steps; ++k) {
          const View input(&u[k * nu], nu), sensor(&y[k * ny], ny);
          if (both)
            both->step(run->t[k], input, sensor, {&t[k * nt], measured});
          else
            kinematic.step(run->t[k], input, sensor);
        }
      });
      good = good && kinematic.counts().restarts == 0;
      best = std::min(best, 1e6 * spent / static_cast<double>(steps - 1));
    }
    report(c.name, good ? best : 1e9, "us", c.bound, false);
  }
}

// Flexible links by implicit steps of 0.1 ms, every joint at 1 rad/s or more at the start.
void flexible_links() {
  const struct {
    const char *model, *integrator;
    double bound;
  } cases[] = {{"flexible_manipulator", "trapezoidal", 10},
               {"flexible_manipulator", "generalised_alpha", 10},
               {"flexible_manipulator", "implicit_euler", 10},
               {"slider_crank_flexible", "trapezoidal", 10}};
  for (const auto& c : cases) {
    const Result<Model> model = load(c.model);
    if (!model) return report("model loads", 0, "", 1, true);
    const Params params = nominal(*model);
    const auto workspace = Workspace::create(*model, params);
    const Result<AssembledState> start = assemble(*workspace);
    if (!start) return report("model is assembled", 0, "", 1, true);
    SimulationOptions options;
    options.integrator = c.integrator;
    options.dt = 1e-4;
    options.until = options.sample = 0.5;
    options.q.assign(start->q.begin(), start->q.end());
    options.v.assign(start->v.begin(), start->v.end());
    for (int i = 0; i < model->joint_nv(); ++i) options.v[static_cast<size_t>(i)] += 1;
    bool good = true;
    const double seconds =
        best_seconds(5, [&] { good = simulate(*model, params, options).ok() && good; });
    report((std::string(c.model) + ", " + c.integrator + ": times faster than real time").c_str(),
           good ? options.until / seconds : 0, "x", c.bound, true);
  }
}

// The observer of Palomba's Chapter 6: 26 states of the reduced manipulator, three angles and three strains every 0.1 ms, Runge–Kutta steps and their exact
// transition, which is what a minute of motion needs. Mean of the best of five runs of 0.1 s, and the slowest step of all.
void reduced_observer() {
  const Result<Model> model = load("flexible_manipulator_reduced");
  if (!model) return report("model loads", 0, "", 1, true);
  std::vector<SensorSettings> sensors;
  for (const Sensor& e : model->sensors) {
    SensorSettings s;
    s.name = model->outputs[static_cast<size_t>(e.output)].name;
    s.sigma = e.type == "encoder" ? 4.4e-4 : 3e-7;
    sensors.push_back(s);
  }
  ObserverSettings settings;
  settings.filter = "dekf_exact";
  settings.scheme = Scheme::kRungeKutta4;
  settings.jacobian = TransitionJacobian::kExact;
  settings.acceleration_noise = {1e-6};
  settings.sigma_coordinates = {1e-4};
  settings.sigma_speeds = {1e-3};
  constexpr int kRuns = 5, kSteps = 1000;
  double mean = 1e9, slowest = 0, slowest_own = 0;
  for (int run = 0; run < kRuns; ++run) {
    auto made = Observer::create(*model, nominal(*model), settings, sensors);
    if (!made || (*made)->start() != Status::kOk)
      return report("reduced manipulator, EKF starts", 0, "", 1, true);
    Observer& observer = **made;
    std::vector<int> which(sensors.size());
    for (size_t i = 0; i < which.size(); ++i) which[i] = static_cast<int>(i);
    std::vector<double> x(observer.filter().state().begin(), observer.filter().state().end()),
        y(which.size());
    (void)observer.system().sense(0, x, which, y);
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
      const std::vector<double> u{std::sin(5e-3 * i), 5 * std::sin(6e-3 * i), 0.1};
      observer.mechanism().set_inputs(u);
      Status status = Status::kOk;
      const double own = thread_seconds();
      const double us =
          1e6 * best_seconds(1, [&] { status = observer.filter().step(1e-4, which, y); });
      slowest_own = std::max(slowest_own, 1e6 * (thread_seconds() - own));
      if (status != Status::kOk) return report("reduced manipulator, EKF steps", 0, "", 1, true);
      sum += us;
      slowest = std::max(slowest, us);
    }
    mean = std::min(mean, sum / kSteps);
  }
  report("reduced manipulator, EKF of 26 states, one step", mean, "us", 100, false);
  std::printf("%-58s %10.4g us  slowest of %d steps; in this thread's own time %.4g us\n", "",
              slowest, kRuns * kSteps, slowest_own);
}

// 29 parameters from seven modes of the manipulator of Belotti et al.: one update with all it reports, and a thousand noisy ones.
void updating() {
  Result<LoadedUpdateStudy> loaded =
      load_update_study(PANTO_VALIDATION_DIR "/papers/belotti2018/twin.toml");
  if (!loaded) return report("twin.toml loads", 0, "", 1, true);
  const Params params = nominal(loaded->model);
  UpdateStudy& study = loaded->study;
  study.simulate.front().frequency_noise = 0.002;
  study.simulate.front().shape_noise = 0.01;
  report("manipulator, update 29 parameters from 7 modes",
         1e3 * best_seconds(10, [&] { (void)update(loaded->model, params, study); }), "ms", 50,
         false);
  study.simulate.front().draws = 1000;
  report("manipulator, 1000 noisy updates",
         best_seconds(1, [&] { (void)update(loaded->model, params, study); }), "s", 20, false);
}

// A solid of 8712 degrees of freedom with 800 interior modes, the ranking of 310, and a plate of 10⁵ degrees of freedom.
void reduction() {
  const Result<LinearSystem> sonotrode = prism(test::sonotrode_prism()),
                             horn = plate(test::horn_plate());
  if (!sonotrode || !horn) return report("structures are made", 0, "", 1, true);
  CraigBamptonOptions modes;
  modes.modes = 800;
  const auto masters = *find_dofs(*sonotrode, test::sonotrode_options(1).masters);
  bool good = true;
  const double seconds =
      best_seconds(1, [&] { good = craig_bampton(*sonotrode, masters, modes).ok(); });
  report("solid of 8712 dofs, Craig-Bampton with 800 interior modes", good ? seconds : 1e9, "s", 60,
         false);
  modes.modes = -1;
  const auto cb = craig_bampton(*horn, *find_dofs(*horn, test::horn_masters()), modes);
  const auto full = full_modes(*horn, {7, 13});
  if (!cb || !full) return report("horn is reduced", 0, "", 1, true);
  report("IMR ranking of 310 modes",
         1e3 * best_seconds(10, [&] { (void)rank_imr(*horn, *cb, *full); }), "ms", 10, false);
  Plate large = test::horn_plate();
  large.x = equal_steps(0, 1, 249);
  large.y = equal_steps(0, 0.8, 200);
  large.slots.clear();
  const Result<LinearSystem> sheet = plate(large);
  ReduceOptions options;
  options.masters = {"n1", "n250"};
  options.keep = 30;
  good = good && sheet.ok();
  report("plate of 100,500 dofs, 4 masters and 30 interior modes",
         good ? best_seconds(1, [&] { good = reduce(*sheet, options).ok(); }) : 1e9, "s", 120,
         false);
}

// Mean cycle along the path [us]: of every hundred cycles the quickest of some passes. Below zero: a step failed.
double cycle_us(bench::InverseCase& c) {
  constexpr long kBlock = 100;
  const auto blocks = static_cast<size_t>(c.steps / kBlock);
  std::vector<double> quickest(blocks, 1e9);
  double spent = 0;  // other programs may hold the processor for long: passes for two seconds
  for (int pass = 0; pass < 20 || spent < 2; ++pass) {
    if (!c.inverse->start(0).ok()) return -1;
    for (double& block : quickest) {
      bool good = true;
      const double seconds = best_seconds(1, [&] {
        for (long i = 0; i < kBlock; ++i) good = !fatal(c.inverse->step()) && good;
      });
      if (!good) return -1;
      spent += seconds;
      block = std::min(block, 1e6 * seconds / kBlock);
    }
  }
  double sum = 0;
  for (const double block : quickest) sum += block;
  return sum / static_cast<double>(blocks);
}

// One feedforward cycle of inverse models of model files, by the paths of Drücker (2022), Sections 4.2.6 and 5.2.2 (40.3 us and 236 us on the thesis' test
// bench with BDF4 and Radau), the slowest of a million cycles, and how much dearer other Jacobians are.
void inverse_models() {
  const struct {
    const char *model, *method, *title;
    double bound;
  } cases[] = {
      {"cable_robot_reduced", "bdf4", "reduced cable robot, inverse by BDF4, one cycle", 5},
      {"cable_robot_reduced", "radau5", "reduced cable robot, inverse by Radau5", 30},
      {"arm_spatial", "bdf2", "spatial arm, inverse by BDF2, one cycle", 20}};
  constexpr long kCycles = 1'000'000;
  for (const auto& c : cases) {
    std::array<double, 3> us{};
    const std::array<const char*, 3> kinds{"analytic", "broyden", "difference"};
    for (size_t i = 0; i < kinds.size(); ++i) {
      Result<bench::InverseCase> made = bench::inverse_case(c.model, c.method, kinds[i]);
      if (!made || !made->inverse) return report("inverse model is made", 0, "", 1, true);
      us[i] = cycle_us(*made);
      if (us[i] < 0) return report("inverse model runs", 0, "", 1, true);
      if (i > 0) continue;
      report(c.title, us[0], "us", c.bound, false);
      double slowest = 0, slowest_own = 0;
      for (long n = 0; n < kCycles;) {
        if (!made->inverse->start(0).ok()) return report("inverse model starts", 0, "", 1, true);
        for (long k = 0; k < made->steps && n < kCycles; ++k, ++n) {
          const double own = thread_seconds();
          const double wall = best_seconds(1, [&] { (void)made->inverse->step(); });
          slowest = std::max(slowest, 1e6 * wall);
          slowest_own = std::max(slowest_own, 1e6 * (thread_seconds() - own));
        }
      }
      std::printf("%-58s %10.4g us  slowest of 1e6 cycles; in this thread's own time %.4g us\n", "",
                  slowest, slowest_own);
    }
    report("  with Broyden's Jacobian, times the analytic", us[1] / us[0], "x", 1, true);
    report("  by differences, times Broyden's", us[2] / us[1], "x", 1, true);
  }
}

// Forward inversion of the flexible arm by a redefined output (Drücker, 2022, Section 6.5.2: 8.5 s for 2 s of motion): in real time at 1 kHz below 1000 us.
void redefined_arm() {
  Result<bench::InverseCase> made = bench::redefined_arm(Formulation::kOriginal);
  if (!made || !made->inverse) return report("redefined arm is made", 0, "", 1, true);
  double mean = 1e9, slowest = 0;
  for (int pass = 0; pass < 3; ++pass) {
    if (!made->inverse->start(0).ok()) return report("redefined arm starts", 0, "", 1, true);
    double sum = 0;
    bool good = true;
    for (long n = 0; n < made->steps; ++n) {
      const double own = thread_seconds();
      good = !fatal(made->inverse->step()) && good;
      const double us = 1e6 * (thread_seconds() - own);
      sum += us;
      slowest = std::max(slowest, us);
    }
    if (!good) return report("redefined arm runs", 0, "", 1, true);
    mean = std::min(mean, sum / static_cast<double>(made->steps));
  }
  report("flexible arm of ten elements, redefined output, one cycle", mean, "us", 1000, false);
  std::printf("%-58s %10.4g us  slowest of %ld cycles, in this thread's own time\n", "", slowest,
              3 * made->steps);
}

// This thread's own time [s] of an inversion of the flexible arm. None: failed, told.
std::optional<StableInversion> invert_arm(int elements, bool perpendicular, bool torque, double dt,
                                          double& seconds) {
  Result<bench::StableCase> made = bench::stable_arm(elements, perpendicular, torque);
  if (!made) {
    report("flexible arm is made", 0, "", 1, true);
    return {};
  }
  made->options.dt = dt;
  const double start = thread_seconds();
  Result<StableInversion> found =
      invert_stably(*made->servo, inversion_test::one_link_swing(), made->options);
  seconds = thread_seconds() - start;
  if (!found) {
    std::fputs(found.diagnostics().text().c_str(), stderr);
    report("flexible arm is inverted", 0, "", 1, true);
    return {};
  }
  return std::move(*found);
}

// Stable inversion of the flexible arm to a millionth in the four cases of Drücker (2022), Table 6.2 (55.5, 29.5, 51.5 and 76.5 s there, four elements), in
// this thread's own time: at most 2 s with four elements, 10 s with ten.
void stable_arms() {
  constexpr struct {
    const char* title;
    bool perpendicular, torque;
  } cases[] = {{"free section, torque", false, true},
               {"free section, speed", false, false},
               {"normal section, torque", true, true},
               {"normal section, speed", true, false}};
  double seconds = 0;
  for (const auto& [elements, bound] : {std::pair{4, 2.0}, std::pair{10, 10.0}})
    for (const auto& c : cases) {
      const auto found = invert_arm(elements, c.perpendicular, c.torque, 0, seconds);
      if (!found) return;
      char title[80];
      std::snprintf(title, sizeof title, "stable inversion, %d elements, %s", elements, c.title);
      report(title, seconds, "s", bound, false);
      std::printf("%-58s %10d    intervals, %d Newton steps on %d meshes, error %.2g\n", "",
                  found->intervals, found->iterations, found->meshes, found->error);
    }
  // A Newton step, quickest of three: exponents of its cost in intervals and elements.
  const auto step = [&](int elements, double dt) {
    double least = 1e300;
    for (int pass = 0; pass < 3; ++pass)
      if (const auto found = invert_arm(elements, true, true, dt, seconds))
        least = std::min(least, seconds / found->iterations);
    return least;
  };
  const double five = step(5, 0.005), ten = step(10, 0.005), fifteen = step(15, 0.005);
  report("Newton step by intervals, 600 to 1200: exponent", std::log2(step(5, 0.0025) / five), "",
         1.1, false);
  report("Newton step by elements, 5 to 15: exponent", std::log(fifteen / five) / std::log(3.0), "",
         2, false);
  // Dense blocks: towards three where elements are many.
  std::printf("%-58s %10.4g, %.4g\n", "of it, 5 to 10 and 10 to 15: exponents",
              std::log2(ten / five), std::log(fifteen / ten) / std::log(1.5));
}

}  // namespace

int main(int argc, char** argv) {
  // By name one group alone.
  if (argc == 2 && std::string(argv[1]) == "inverse") {
    inverse_models();
    redefined_arm();
    return failures == 0 ? 0 : 3;
  }
  if (argc == 2 && std::string(argv[1]) == "stable") {
    stable_arms();
    return failures == 0 ? 0 : 3;
  }
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
  flexible_links();
  reduced_observer();
  identification();
  updating();
  reduction();
  inverse_models();
  redefined_arm();
  stable_arms();
  kinematic_observers();
  observers();
  const std::string text = chain(100);
  report("100 bodies: read and compile",
         1e3 * best_seconds(20, [&] { (void)*compile(*parse_model_text(text, "chain.toml")); }),
         "ms", 20, false);
  return failures == 0 ? 0 : 3;
}
