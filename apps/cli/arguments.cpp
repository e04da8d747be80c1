#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "apps/cli/verbs.hpp"

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
