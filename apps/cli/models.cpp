#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/load.hpp"

namespace panto::cli {
namespace {

struct Entry {
  std::string name, title, file, drawing;
};

int models_verb(bool json_wanted) {
  std::vector<Entry> entries;
  Diagnostics notes;
  for (const std::string& name : zoo_names()) {
    const Result<ModelSpec> spec = load_spec(name);
    notes.append(spec.diagnostics());
    if (!spec.ok()) continue;
    const Node* title = spec->root.find("title");
    const auto drawing = std::filesystem::path(spec->file).replace_filename("drawing.svg");
    entries.push_back({name, title != nullptr && title->text() != nullptr ? *title->text() : "",
                       spec->file,
                       std::filesystem::exists(drawing) ? drawing.string() : std::string()});
  }
  if (entries.empty() && notes.ok())
    notes.error(201, {}, "the zoo is empty: set PANTO_MODELS to its folder");
  if (!notes.ok()) return fail(notes, json_wanted);
  print(notes);
  if (json_wanted) {
    JsonWriter json;
    json.begin_object().key("models").begin_array();
    for (const Entry& e : entries)
      json.begin_object()
          .member("name", e.name)
          .member("title", e.title)
          .member("file", e.file)
          .member("drawing", e.drawing)
          .end_object();
    json.end_array().end_object();
    out(json.text() + "\n");
    return kOk;
  }
  size_t name = 0, title = 0;
  for (const Entry& e : entries) {
    name = std::max(name, e.name.size());
    title = std::max(title, letters(e.title));
  }
  std::string text;
  for (const Entry& e : entries)
    text += fmt::format("{:<{}}  {}{}  {}\n", e.name, name, e.title,
                        std::string(title - letters(e.title), ' '), e.drawing);
  out(text);
  return kOk;
}

}  // namespace

void add_models(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("models", "The zoo: models that come with the program, with drawings");
  verb->group("Models");
  verb->add_flag("--json", *json, "Result as JSON on standard output");
  verb->footer(
      "Examples:\n"
      "  panto models\n"
      "  panto models --json");
  verb->callback([json, &exit_code] { exit_code = models_verb(*json); });
}

}  // namespace panto::cli
