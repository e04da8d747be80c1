#include "apps/cli/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "apps/cli/json.hpp"
#include "panto/io/atomic_file.hpp"

namespace panto::cli {
namespace {

// Failures of a calculation; all other diagnostics speak about what was given.
constexpr int kNumericalIds[] = {505, 510, 540};

std::string json_of(const Diagnostics& diagnostics) {
  JsonWriter json;
  json.begin_object().key("diagnostics").begin_array();
  for (const Diagnostic& d : diagnostics.items()) {
    const bool error = d.severity == Severity::kError;
    json.begin_object()
        .member("severity", error ? "error" : "warning")
        .member("id", fmt::format("{}{:04}", error ? 'E' : 'W', d.id))
        .member("file", d.loc.file)
        .member("line", d.loc.line)
        .member("column", d.loc.column)
        .member("message", d.message)
        .end_object();
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

}  // namespace

bool wants_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string(terminal) != "dumb");
}

void print(const Diagnostics& diagnostics) {
  std::string text = diagnostics.text();
  if (wants_colour(STDERR_FILENO)) {
    std::string coloured;
    size_t start = 0;
    for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      std::string line = text.substr(start, end - start);
      for (const auto& [word, code] :
           {std::pair{"error[", "\x1b[1;31m"}, {"warning[", "\x1b[1;33m"}}) {
        const size_t at = line.find(word);
        if (at == std::string::npos) continue;
        const size_t close = line.find(']', at);
        if (close == std::string::npos) continue;
        line.insert(close + 1, "\x1b[0m");
        line.insert(at, code);
        break;
      }
      coloured += line + "\n";
    }
    text = coloured;
  }
  std::fputs(text.c_str(), stderr);
}

int fail(const Diagnostics& diagnostics, bool json) {
  print(diagnostics);
  if (json) out(json_of(diagnostics));
  for (const Diagnostic& d : diagnostics.items()) {
    const bool numerical = std::find(std::begin(kNumericalIds), std::end(kNumericalIds), d.id) !=
                           std::end(kNumericalIds);
    if (d.severity == Severity::kError && !numerical) return kBadInput;
  }
  return kNumerical;
}

int fail_usage(const std::string& message, bool json) {
  Diagnostics diagnostics;
  diagnostics.error(001, {}, message);
  print(diagnostics);
  if (json) out(json_of(diagnostics));
  return kUsage;
}

Diagnostics write_page(const scene::Report& report, const std::string& path) {
  const Result<std::string> html = scene::to_html(report);
  return html.ok() ? write_text_atomically(path, *html) : html.diagnostics();
}

void out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace panto::cli
