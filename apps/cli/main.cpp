// panto: one program, one verb per task.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"

namespace {

// "--set a=1 b=2" means "--set a=1 --set b=2".
std::vector<std::string> spread_settings(int argc, char** argv) {
  std::vector<std::string> out;
  bool after_set = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool pair = !word.starts_with('-') && word.find('=') != std::string::npos;
    if (after_set && pair && out.back() != "--set") out.emplace_back("--set");
    after_set = word == "--set" || (after_set && pair);
    out.push_back(word);
  }
  return out;
}

// The first word that is no option, where it is not a verb either.
std::string unknown_verb(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  for (const std::string& word : words) {
    if (word.starts_with('-')) continue;
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
    if (word.ends_with(".toml") || word.ends_with(".urdf"))
      return fmt::format("a verb comes before the file: panto simulate {}", word);
    return fmt::format("there is no verb \"{}\"{}", word, panto::did_you_mean(word, verbs));
  }
  return "a verb is missing";
}

class HelpLayout : public CLI::Formatter {
 public:
  HelpLayout() {
    column_width(26);
    label("Positionals", "Arguments");
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() == nullptr) return "Usage: panto VERB [options]      panto VERB --help\n";
    return CLI::Formatter::make_usage(app, name);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    if (option->get_type_size() == 0 || type == "TEXT") return {};
    return " " + type.substr(0, type.find(':'));  // without the permitted words
  }
  std::string make_footer(const CLI::App* app) const override {
    std::string own = CLI::Formatter::make_footer(app);
    if (app->get_parent() == nullptr) return own;
    return own + "\nEverywhere: --quiet, --verbose, --color auto|always|never\n";
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace panto::cli;  // NOLINT: the program's own names
  CLI::App app("Pantograph: one description of a mechanism, everything engineering needs from it.",
               "panto");
  app.formatter(std::make_shared<HelpLayout>());
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("panto ") + PANTO_VERSION,
                       "Version of the program");
  CLI::Option* quiet =
      app.add_flag("--quiet", voice().quiet, "Errors and wanted data only, no tables or warnings");
  app.add_flag("--verbose", voice().verbose, "Tell what is being done")->excludes(quiet);
  app.add_option("--color", voice().color, "auto (default), always or never; NO_COLOR is respected")
      ->type_name("when")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.fallthrough();  // the options above may also follow the verb
  app.footer("Exit codes: 0 ok, 1 usage, 2 bad input, 3 numerical failure, 130 interrupted.");
  int exit_code = kOk;
  add_simulate(app, exit_code);
  add_check(app, exit_code);
  add_equilibrium(app, exit_code);
  add_inverse_dynamics(app, exit_code);
  add_invert(app, exit_code);
  add_modes(app, exit_code);
  add_linearize(app, exit_code);
  add_poses(app, exit_code);
  add_identify(app, exit_code);
  add_update(app, exit_code);
  add_impact(app, exit_code);
  add_ema(app, exit_code);
  add_reduce(app, exit_code);
  add_observe(app, exit_code);
  add_view(app, exit_code);
  add_models(app, exit_code);
  add_new(app, exit_code);
  add_schema(app, exit_code);
  add_import(app, exit_code);
#ifdef PANTO_WITH_VALIDATION
  add_reproduce(app, exit_code);
#endif
  add_completion(app, exit_code);

  const std::vector<std::string> words = spread_settings(argc, argv);
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& wanted) {  // help, version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    const std::string wrong_verb = unknown_verb(app, words);
    const int code = fail_usage(wrong_verb.empty() ? error.what() : wrong_verb, json);
    const auto verbs = app.get_subcommands();
    fmt::print(stderr, "Try `panto {}--help`.\n", verbs.empty() ? "" : verbs[0]->get_name() + " ");
    return code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "panto: {}\n", error.what());
    return kNumerical;
  }
  return exit_code;
}
