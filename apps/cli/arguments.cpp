#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/load.hpp"

namespace panto::cli {

void add_model_arguments(CLI::App& verb, ModelArguments& arguments) {
  verb.add_option("MODEL", arguments.model, "Model file, folder with model.toml, or zoo model")
      ->required();
  verb.add_option("--set", arguments.set,
                  "name=value: change a parameter, or a number in place (crank.mass=2)")
      ->type_name("name=value ...")
      ->expected(1)
      ->take_all();
  verb.add_flag("--json", arguments.json, "Result as JSON on standard output");
}

CLI::Option* add_deformation(CLI::App& verb, std::optional<double>& scale) {
  return verb
      .add_option("--deformation", scale,
                  "Of beams: how many times larger than they are the page draws elastic "
                  "displacements at first (default: so that they are seen)")
      ->type_name("scale")
      ->check(CLI::Range(0.0, 1e9));
}

bool parse_settings(const std::vector<std::string>& set, std::vector<Override>& overrides,
                    std::string& message) {
  for (const std::string& text : set) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      message = fmt::format("--set {}: expected name=value", text);
      return false;
    }
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return true;
}

Result<Model> load_model(const std::string& model, const std::vector<Override>& overrides,
                         ModelSpec* spec) {
  ModelSpec own;
  if (spec == nullptr) spec = &own;
  Result<Model> loaded = load(model, overrides, spec);
  if (!loaded.ok()) return loaded;
  note(fmt::format("read {} ({} bytes)", spec->file, spec->source_text.size()));
  for (const Override& o : overrides) note(fmt::format("set {} = {}", o.name, o.value));
  note(fmt::format(
      "model {}: {}, {} bodies, {} coordinates, {} speeds, {} constraint rows, {} forces, "
      "{} inputs, {} outputs, {} parameters",
      loaded->name, loaded->space == SpaceKind::kPlanar ? "planar" : "spatial",
      loaded->file_joints.size(), loaded->nq, loaded->nv, loaded->n_rows(), loaded->forces.size(),
      loaded->nu(), loaded->outputs.size(), nominal(*loaded).values.size()));
  return loaded;
}

bool parse_number(const std::string& text, double& number) {
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return first != last && end == last && error == std::errc() && std::isfinite(number);
}

bool parse_numbers(const std::string& text, std::vector<double>& numbers) {
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find_first_of(", \t", start), text.size());
    if (end > start) {
      double number = 0;
      if (!parse_number(text.substr(start, end - start), number)) return false;
      numbers.push_back(number);
    }
    start = end + 1;
  }
  return !numbers.empty();
}

}  // namespace panto::cli
