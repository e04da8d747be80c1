// Shell completion, written from the description of the command line itself, so that it cannot fall out of step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/cli/report.hpp"
#include "apps/cli/starters.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/integrate/simulate.hpp"

namespace panto::cli {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--until", "--json", …: the options that one writes with their names.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// What the first argument of a verb may be, as a word for the script.
std::string argument_kind(const CLI::App& verb) {
  for (const CLI::Option* o : verb.get_options()) {
    if (!o->get_positional()) continue;
    if (o->get_name() == "MODEL" || o->get_name() == "RUN") return "model";
    if (o->get_name() == "KIND") return "starter";
    if (o->get_name() == "KEY") return "case";
    if (o->get_name() == "SHELL") return "shell";
    return "file";
  }
  return "none";
}

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

std::string integrator_names() {
  std::vector<std::string> names;
  for (const IntegratorInfo& i : integrators()) names.push_back(i.name);
  return words(names);
}

std::string starter_names() {
  std::vector<std::string> names;
  for (const Starter& s : starters()) names.emplace_back(s.name);
  return words(names);
}

// Options whose value is the name of a file.
constexpr const char* kFileOptions = "--out|--csv|-o";

// One line per verb: what its arguments are and which options it has.
std::string verb_cases(const CLI::App& app, const char* pattern) {
  std::string text;
  for (const CLI::App* verb : verbs_of(app)) {
    std::vector<std::string> options = option_names(*verb);
    for (const std::string& name : option_names(app))
      if (name != "--version" && name != "--help" && name != "-h") options.push_back(name);
    text +=
        fmt::format(fmt::runtime(pattern), fmt::arg("verb", verb->get_name()),
                    fmt::arg("kind", argument_kind(*verb)), fmt::arg("options", words(options)));
  }
  return text;
}

std::vector<std::string> top_words(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::App* verb : verbs_of(app)) all.push_back(verb->get_name());
  for (const std::string& name : option_names(app)) all.push_back(name);
  return all;
}

std::string bash_script(const CLI::App& app) {
  return fmt::format(
      R"script(# bash completion of panto. Load it with:  source <(panto completion bash)
_panto() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb= kind= options= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      --color) ((i++)) ;;
      -*) ;;
      *) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  COMPREPLY=()
  case $prev in
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur"); return ;;
    --integrator) mapfile -t COMPREPLY < <(compgen -W "{0}" -- "$cur"); return ;;
    {1}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
  esac
  case $verb in
    '') mapfile -t COMPREPLY < <(compgen -W "{2}" -- "$cur"); return ;;
{3}  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur"); return
  fi
  case $kind in
    model) compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -W "$(panto models 2>/dev/null | cut -d' ' -f1)" -- "$cur"; compgen -f -- "$cur") ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    starter) mapfile -t COMPREPLY < <(compgen -W "{4}" -- "$cur") ;;
    case) mapfile -t COMPREPLY < <(compgen -W "$(panto reproduce --list 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
    shell) mapfile -t COMPREPLY < <(compgen -W "bash zsh" -- "$cur") ;;
  esac
}}
complete -F _panto panto
)script",
      integrator_names(), kFileOptions, words(top_words(app)),
      verb_cases(app, "    {verb}) kind={kind} options=\"{options}\" ;;\n"), starter_names());
}

std::string zsh_script(const CLI::App& app) {
  return fmt::format(
      R"script(#compdef panto
# zsh completion of panto. Load it with:  source <(panto completion zsh)
_panto() {{
  local verb kind i
  local -a options
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      --color) ((i++)) ;;
      -*) ;;
      *) verb=$words[i]; break ;;
    esac
  done
  case $words[CURRENT-1] in
    --color) compadd auto always never; return ;;
    --integrator) compadd {0}; return ;;
    {1}) _files; return ;;
  esac
  case $verb in
    '') compadd -- {2}; return ;;
{3}  esac
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $options; return
  fi
  case $kind in
    model) compadd -- ${{(f)"$(panto models 2>/dev/null | cut -d' ' -f1)"}}; _files ;;
    file) _files ;;
    starter) compadd {4} ;;
    case) compadd -- ${{(f)"$(panto reproduce --list 2>/dev/null | cut -d' ' -f1)"}} ;;
    shell) compadd bash zsh ;;
  esac
}}
if [[ $funcstack[1] == _panto ]]; then _panto "$@"; else compdef _panto panto; fi
)script",
      integrator_names(), kFileOptions, words(top_words(app)),
      verb_cases(app, "    {verb}) kind={kind} options=({options}) ;;\n"), starter_names());
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Completion of this program for a shell");
  verb->group("Other");
  verb->add_option("SHELL", *shell, "bash or zsh")->required();
  verb->footer(
      "Examples:\n"
      "  source <(panto completion bash)\n"
      "  panto completion zsh > ~/.zfunc/_panto");
  verb->callback([shell, &app, &exit_code] {
    exit_code = kOk;
    if (*shell == "bash") {
      out(bash_script(app));
    } else if (*shell == "zsh") {
      out(zsh_script(app));
    } else {
      exit_code = fail_usage(fmt::format("no completion for \"{}\": bash or zsh", *shell), false);
    }
  });
}

}  // namespace panto::cli
