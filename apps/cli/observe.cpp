#include <memory>

#include "apps/cli/observe_study.hpp"
#include "apps/cli/verbs.hpp"

namespace panto::cli {

void add_observe(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<ObserveStudyArguments>();
  CLI::App* verb = app.add_subcommand("observe", "State observers: Kalman filters on models");
  verb->group("Motion");
  verb->add_option("STUDY", a->study, "Twin study")->required()->type_name(".toml");
  verb->add_option("--seeds", a->seeds, "Noise sequences 1 … n instead of the study's")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("--threads", a->threads, "Cores to use (all)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", a->out, "Write one line per run")->type_name("rows.csv");
  verb->add_option("--view", a->view, "Write the report page")->type_name("observe.html");
  verb->add_flag("--json", a->json, "Result as JSON on standard output");
  verb->callback([a, &exit_code] { exit_code = observe_study(*a); });
}

}  // namespace panto::cli
