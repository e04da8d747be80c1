#include "apps/cli/study.hpp"

namespace panto::cli {

void add_study_arguments(CLI::App& verb, StudyArguments& a, const std::string& contents,
                         const std::vector<std::string>& methods, const std::string& meaning) {
  verb.add_option("STUDY", a.study, "Study file: " + contents)->required()->type_name(".toml");
  verb.add_option("--method", a.method, meaning)->type_name("name")->check(CLI::IsMember(methods));
  verb.add_option("--threads", a.threads, "Cores to use (all)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
}

void add_study_results(CLI::App& verb, StudyArguments& a) {
  verb.add_option("--view", a.view, "Write the report page")->type_name(verb.get_name() + ".html");
  verb.add_flag("--json", a.json, "Result as JSON on standard output");
}

}  // namespace panto::cli
