// How the program speaks: diagnostics on standard error (and as JSON on standard output where asked for), exit codes.
#pragma once

#include <string>

#include "panto/base/diagnostics.hpp"
#include "panto/scene/report.hpp"

namespace panto::cli {

enum Exit : int { kOk = 0, kUsage = 1, kBadInput = 2, kNumerical = 3, kInterrupted = 130 };

// One line per diagnostic on standard error, in colour on a terminal.
void print(const Diagnostics& diagnostics);

// Ends a verb that failed: prints the diagnostics, with `json` also {"diagnostics": [...]} on standard output, and tells the exit code:
// kNumerical when a calculation failed on acceptable input, kBadInput otherwise.
int fail(const Diagnostics& diagnostics, bool json);
// The same for a wrong command line.
int fail_usage(const std::string& message, bool json);

// The page of a report as a file (E0620, E0640).
Diagnostics write_page(const scene::Report& report, const std::string& path);

bool wants_colour(int descriptor);

// Writes to standard output; a reader that went away (a closed pipe) is not an error.
void out(const std::string& text);

}  // namespace panto::cli
