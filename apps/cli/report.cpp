#include "apps/cli/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "apps/cli/json.hpp"
#include "panto/base/numerical_failure.hpp"
#include "panto/io/atomic_file.hpp"

namespace panto::cli {
namespace {

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

constexpr const char *kError = "\x1b[1;31m", *kWarning = "\x1b[1;33m", *kFaint = "\x1b[2m",
                     *kPlain = "\x1b[0m";

// "error[E0201]" in bold red, "warning[W0320]" in bold yellow.
std::string coloured(const std::string& text) {
  std::string out;
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    std::string line = text.substr(start, end - start);
    for (const auto& [word, code] : {std::pair{"error[", kError}, {"warning[", kWarning}}) {
      const size_t at = line.find(word);
      if (at == std::string::npos) continue;
      const size_t close = line.find(']', at);
      if (close == std::string::npos) continue;
      line.insert(close + 1, kPlain);
      line.insert(at, code);
      break;
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace

Voice& voice() {
  static Voice the_voice;
  return the_voice;
}

bool wants_colour(int descriptor) {
  if (voice().color != "auto") return voice().color == "always";
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string(terminal) != "dumb");
}

void print(const Diagnostics& diagnostics) {
  Diagnostics shown;
  for (const Diagnostic& d : diagnostics.items()) {
    if (d.severity == Severity::kError) {
      shown.error(d.id, d.loc, d.message);
    } else if (!voice().quiet) {
      shown.warning(d.id, d.loc, d.message);
    }
  }
  std::string text = shown.text();
  if (wants_colour(STDERR_FILENO)) text = coloured(text);
  std::fputs(text.c_str(), stderr);
}

void note(const std::string& text) {
  if (!voice().verbose) return;
  const bool colour = wants_colour(STDERR_FILENO);
  fmt::print(stderr, "{}panto: {}{}\n", colour ? kFaint : "", text, colour ? kPlain : "");
}

int fail(const Diagnostics& diagnostics, bool json) {
  print(diagnostics);
  if (json) out(json_of(diagnostics));
  return numerical_failure(diagnostics) ? kNumerical : kBadInput;
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

size_t letters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void summary(const std::string& text) {
  if (!voice().quiet) out(text);
}

}  // namespace panto::cli
