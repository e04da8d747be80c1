#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/cli/report.hpp"
#include "apps/cli/starters.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/atomic_file.hpp"

namespace panto::cli {
namespace {

struct Arguments {
  std::string kind, out;
  bool force = false;
};

int new_verb(const Arguments& a) {
  const auto all = starters();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Starter& s) { return s.name == a.kind; });
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const Starter& s : all) names.emplace_back(s.name);
    return fail_usage(
        fmt::format("there is no starter \"{}\"{}", a.kind, did_you_mean(a.kind, names)), false);
  }
  const std::string file = a.out.empty() ? a.kind + ".toml" : a.out;
  Diagnostics notes;
  if (!a.force && std::filesystem::exists(file)) {
    notes.error(620, {file, 0, 0}, "the file exists; --force overwrites it");
  } else {
    notes = write_text_atomically(file, found->text);
  }
  if (!notes.ok()) return fail(notes, false);
  summary(fmt::format("written {}: {}\nnext    panto check {}\n        panto simulate {}\n", file,
                      found->title, file, file));
  return kOk;
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("new", "A commented model file to begin with");
  verb->group("Models");
  verb->add_option("KIND", a->kind, "Which mechanism, see below")->required();
  verb->add_option("-o,--out", a->out, "Where to write (default: KIND.toml in this folder)")
      ->type_name("model.toml");
  verb->add_flag("--force", a->force, "Overwrite the file");
  std::string text = "Kinds:\n";
  for (const Starter& s : starters()) text += fmt::format("  {:<24}{}\n", s.name, s.title);
  verb->footer(text +
               "\nExamples:\n"
               "  panto new four-bar\n"
               "  panto new arm -o robot.toml");
  verb->callback([a, &exit_code] { exit_code = new_verb(*a); });
}

}  // namespace panto::cli
