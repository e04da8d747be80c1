// 12 How does a flexible arm bring its tip to rest, when its modulus and its hub are known only roughly?
//
// From one model file to a feedback loop: every step takes what the one before wrote.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "panto/io/atomic_file.hpp"
#include "panto/io/feedback_report.hpp"
#include "panto/io/frequency_data.hpp"
#include "panto/io/load.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/io/reduction.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/io/update_study.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/model/copy_back.hpp"
#include "panto/scene/ema_report.hpp"
#include "panto/scene/identification_report.hpp"
#include "panto/scene/inversion_report.hpp"
#include "panto/scene/modes_report.hpp"
#include "panto/scene/observation_report.hpp"
#include "panto/scene/reduction_report.hpp"
#include "panto/scene/run_report.hpp"
#include "panto/scene/updating_report.hpp"
#include "panto/updating/ema.hpp"
#include "panto/updating/impact.hpp"
#include "panto/updating/update.hpp"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// What a step gives, or the end of the program with all that is wrong.
template <class T>
T must(panto::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.diagnostics().text());
  return std::move(*result);
}
void must(const panto::Diagnostics& outcome) {
  if (!outcome.ok()) throw std::runtime_error(outcome.text());
}

// A model file with its numbers.
struct Loaded {
  panto::ModelSpec spec;
  panto::Model model;
  panto::Params params;
};
Loaded load(const std::string& name, const std::vector<panto::Override>& set = {}) {
  Loaded out;
  out.model = must(panto::load(name, set, &out.spec));
  out.params = panto::nominal(out.model);
  return out;
}
double& number(Loaded& l, const std::string& name) {
  return l.params.values(panto::find_parameter(l.model, name));
}
void save(const Loaded& l, const std::string& path) {
  must(panto::write_text_atomically(path, panto::copy_back(l.spec, l.model, l.params)));
}

// The steps, their pages and the time.
class Book {
 public:
  void step(const std::string& title) {
    titles_.push_back(title);
    std::fprintf(stderr, "%6.1f s  %s\n", seconds(), title.c_str());
  }
  void page(const panto::scene::Report& report) {
    pages_.push_back({titles_.back(), std::to_string(titles_.size()) + " " + titles_.back(),
                      must(panto::scene::to_html(report))});
  }
  void bind(const std::string& path, const std::string& title) {
    must(panto::write_text_atomically(path, must(panto::scene::bind_pages(title, pages_))));
    std::fprintf(stderr, "%6.1f s  %s\n", seconds(), fs::absolute(path).c_str());
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  Clock::time_point begin_ = Clock::now();
  std::vector<std::string> titles_;
  std::vector<panto::scene::BoundPage> pages_;
};

// Modal table of a hammer test, as an analyser and a modal analysis would give it.
// The first frequency that is found [Hz].
double hammer_test(const Loaded& rig, const std::string& name, Book& book) {
  const auto at = [](int node) {
    return panto::MeasuredPoint{"link.n" + std::to_string(node), Eigen::Vector3d::UnitY()};
  };
  panto::ImpactOptions o;
  o.accelerometers = {at(2), at(3), at(4), at(5)};
  o.hammer = {at(3), at(5)};
  o.sample_rate_hz = 1024;
  o.duration_s = 16;
  o.window_end = 0.005;
  o.peak_n = 20;
  o.trigger_n = 2;
  o.noise = 0.01;
  const auto test =
      must(panto::impact_test(rig.model, rig.params, panto::Operation::kEquilibrium, o));
  must(panto::write_frequency_data(test.data, name + ".uff", test.positions));
  panto::EmaOptions e;
  e.from_hz = 1;
  e.to_hz = 120;
  e.max_order = 20;
  const auto found = must(panto::ema(must(panto::read_frequency_data(name + ".uff")), e));
  must(panto::write_modal_test(panto::modal_test(found), name + ".modes.toml"));
  book.page(panto::scene::report_of_ema(found, "Modal analysis, " + name));
  return found.modes.front().frequency_hz;
}

// The first cycle that is not before a time.
size_t cycle_at(const panto::LoopRun& run, double t) {
  return static_cast<size_t>(std::lower_bound(run.t.begin(), run.t.end(), t) - run.t.begin());
}

// Largest distance of the tip from its goal after the path [rad].
double overshoot(const panto::LoopRun& run, double end, double goal) {
  double worst = 0;
  for (size_t k = cycle_at(run, end); k < run.t.size(); ++k)
    worst = std::max(worst, std::abs(run.z[0][k] - goal));
  return worst;
}

// Largest departure of the tip from a straight line over time, in the last half second [rad].
double vibration(const panto::LoopRun& run) {
  const size_t first = cycle_at(run, run.t.back() - 0.5);
  const auto n = static_cast<Eigen::Index>(run.t.size() - first);
  Eigen::MatrixXd line(n, 2);
  Eigen::VectorXd z(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const size_t k = first + static_cast<size_t>(i);
    line.row(i) << 1, run.t[k] - run.t[first];
    z[i] = run.z[0][k];
  }
  const Eigen::Vector2d fit = (line.transpose() * line).inverse() * (line.transpose() * z);
  return (z - line * fit).cwiseAbs().maxCoeff();
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path studies = fs::absolute("examples/12_flexible_link");
  const fs::path folder =
      argc > 1 ? fs::path(argv[1])
               : fs::temp_directory_path() /
                     ("flexible_link_" + std::to_string(Clock::now().time_since_epoch().count()));
  fs::create_directories(folder);
  for (const auto& file : fs::directory_iterator(studies))
    fs::copy_file(file.path(), folder / file.path().filename(),
                  fs::copy_options::overwrite_existing);
  fs::current_path(folder);
  Book book;

  // The machine that stands there: the file's, with a modulus and a hub that nobody has told us.
  const Loaded file = load("flexible_link_on_motor");
  Loaded machine = file;
  number(machine, "E") *= 0.94;
  number(machine, "k_hub") *= 0.82;
  save(machine, "machine.toml");

  book.step("It moves");
  panto::SimulationOptions simulation;
  simulation.keep_states = true;
  const panto::Run run = must(panto::simulate(machine.model, machine.params, simulation));
  book.page(panto::scene::report_of_run(machine.model, machine.params, run));
  std::printf("energy_drift_below_microjoule %d 1\n", run.energy_max_drift < 1e-6 ? 1 : 0);

  book.step("How it vibrates, as the file has it");
  const auto workspace = panto::Workspace::create(file.model, file.params);
  const auto point = must(panto::operating_point(*workspace, panto::Operation::kHere));
  const auto modes =
      must(panto::modes(*workspace, point, must(panto::linearize(*workspace, point))));
  book.page(panto::scene::report_of_modes(*workspace, point, modes));
  std::printf("mode_2_of_the_file %.6f Hz\n", modes.list[1].frequency_hz);

  book.step("Hammer test, the motor free");
  const double second = hammer_test(load("machine.toml"), "free", book);
  std::printf("mode_2_of_the_machine %.6f Hz\n", second);

  book.step("The modulus, from its frequency responses");
  auto update_study = must(panto::load_update_study("update.toml"));
  const auto updated = must(
      panto::update(update_study.model, panto::nominal(update_study.model), update_study.study));
  Loaded better{std::move(update_study.spec), std::move(update_study.model), updated.params};
  save(better, "updated.toml");
  book.page(panto::scene::report_of_updating(better.model, updated));
  std::printf("E_machine %.9g Pa\n", number(machine, "E"));
  std::printf("E_updated %.9g Pa\n", number(better, "E"));
  std::printf("k_hub_updated %.9g N m/rad\n", number(better, "k_hub"));

  book.step("Hammer test, the brake closed");
  hammer_test(load("machine.toml", {{"brake", "1e5"}}), "braked", book);

  book.step("The stiffness of the hub, from frequencies");
  auto identify_study = must(panto::load_identify_study("identify.toml"));
  const auto identified = must(panto::identify(
      identify_study.model, panto::nominal(identify_study.model), identify_study.study));
  Loaded best{std::move(identify_study.spec), std::move(identify_study.model), identified.params};
  save(best, "identified.toml");
  book.page(panto::scene::report_of_identification(best.model, identified));
  std::printf("k_hub_machine %.9g N m/rad\n", number(machine, "k_hub"));
  std::printf("k_hub_identified %.9g N m/rad\n", number(best, "k_hub"));

  book.step("A smaller model");
  const Loaded whole = load("identified.toml", {{"brake", "0"}});
  const auto whole_space = panto::Workspace::create(whole.model, whole.params);
  const auto rest = must(panto::operating_point(*whole_space, panto::Operation::kHere));
  const auto system =
      must(panto::linear_system(must(panto::linearize(*whole_space, rest)), whole.model.name));
  panto::ReduceOptions reduction;
  reduction.masters = {"theta", "twist", "link.n5.ux", "link.n5.uy", "link.n5.turn"};
  panto::for_band(reduction, {0, 40});
  const auto reduced = must(panto::reduce(system, reduction));
  must(panto::write_text_atomically(
      "reduced.toml",
      must(panto::reduced_model(whole.spec, whole.model, whole.params, system, reduced))));
  book.page(panto::scene::report_of_reduction(system, reduced, reduction));
  std::printf("degrees_of_freedom %d 1\n", system.size());
  std::printf("degrees_of_freedom_reduced %d 1\n", static_cast<int>(reduced.system.M.rows()));

  book.step("Where the payload points, from encoder and strain gauge");
  const auto observe_study = must(panto::load_observe_study("observe.toml"));
  const auto observed = must(
      panto::run_twin(observe_study.study, observe_study.load, {.series = true, .progress = {}}));
  book.page(panto::scene::report_of_observation(observed));
  for (const panto::TwinCell& cell : observed.cells) {
    std::string name = cell.sensors;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::printf("tip_error_from_%s %.6f mrad\n", name.c_str(), 1e3 * cell.rmse_mean[0]);
  }

  // The payload is turned by 1 rad. Its direction has no inverse that is stable forward in time. As if the link were rigid, the hub is turned instead; up to some share of the
  // bending may be asked for besides; stable inversion follows the payload itself and begins before the path does. All take the path of the loop, with its `smooth`.
  const panto::ModelSpec move = must(panto::read_model_file("move.toml"));
  using Table = panto::Node::Table;
  const struct {
    std::string name, what;
    Table how;
  } kinds[] = {
      {"rigid",
       "a rigid link",
       {{"redefine", Table{{"rigid", "hub_angle"}, {"weight", 0.0}}}, {"verify", false}}},
      {"redefined",
       "a redefined output",
       {{"redefine", Table{{"rigid", "hub_angle"}}}, {"verify", false}}},
      {"stable",
       "stable inversion",
       {{"method", Table{{"name", "stable"},
                         {"step", *move.root.find("method")->find("step")},
                         {"tolerance", 1e-4}}}}},
  };
  for (const auto& kind : kinds) {
    book.step("Inputs of " + kind.what);
    panto::ModelSpec described;
    described.file = move.file;
    for (const char* key : {"model", "until", "path", "method"})
      described.root.set(key, *move.root.find(key));
    for (const auto& [key, value] : kind.how) described.root.set(key, value);
    const auto study = must(panto::load_invert_study(described));
    const auto found = must(panto::run_invert_study(study));
    must(panto::write_inversion(found, nullptr, kind.name + ".h5"));
    book.page(
        panto::scene::report_of_inversion(study.model, study.params, found, study.options.limits));
    if (found.redefined && kind.name == "redefined")
      std::printf("largest_share %.6f 1\n", found.redefined->limit);
    if (found.stable) std::printf("begins_before %.6f s\n", found.stable->pre_actuation);
  }

  for (const auto& kind : kinds) {
    book.step("The loop, with inputs of " + kind.what);
    const std::string& feedforward = kind.name;
    const char* name = kind.name.c_str();
    panto::ModelSpec described = move;
    described.root.set("feedforward", feedforward + ".h5");
    const auto study = must(panto::load_invert_study(described));
    const auto found = must(panto::run_invert_study(study));
    const auto loops = must(panto::run_feedback(study, found));
    must(panto::write_inversion(found, &loops, feedforward + "_loop.h5"));
    auto report =
        panto::scene::report_of_inversion(study.model, study.params, found, study.options.limits);
    panto::scene::add_feedback(loops, found, report);
    book.page(report);
    for (const panto::LoopCase& c : loops.cases) {
      std::printf("vibrates_%s_%s_%s %.6f mrad\n", name, c.feedback.c_str(), c.plant.c_str(),
                  1e3 * vibration(c.run));
      std::printf("off_%s_%s_%s %.6f mrad\n", name, c.feedback.c_str(), c.plant.c_str(),
                  1e3 * overshoot(c.run, study.path.duration, study.path.to.front()));
    }
  }
  book.bind("report.html", "One flexible link, from a model file to a feedback loop");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
