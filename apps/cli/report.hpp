// How the program speaks: results on standard output, diagnostics and remarks on standard error, exit codes.
#pragma once

#include <string>

#include "panto/base/diagnostics.hpp"
#include "panto/scene/report.hpp"

namespace panto::cli {

enum Exit : int { kOk = 0, kUsage = 1, kBadInput = 2, kNumerical = 3, kInterrupted = 130 };

// The global options.
struct Voice {
  std::string color = "auto";  // "always", "never"; "auto": on terminals, unless NO_COLOR is set
  bool quiet = false;          // errors, and the data that was asked for; nothing else
  bool verbose = false;        // also what is being done
};
Voice& voice();

// One line per diagnostic on standard error; errors alone when quiet.
void print(const Diagnostics& diagnostics);
// "panto: ..." on standard error when verbose.
void note(const std::string& text);

// Ends a verb that failed: prints the diagnostics, with `json` also {"diagnostics": [...]} on standard output, and tells the exit code:
// kNumerical when a calculation failed on acceptable input, kBadInput otherwise.
int fail(const Diagnostics& diagnostics, bool json);
// The same for a wrong command line.
int fail_usage(const std::string& message, bool json);

// The page of a report as a file (E0620, E0640).
Diagnostics write_page(const scene::Report& report, const std::string& path);

// Whether text to this descriptor is coloured.
bool wants_colour(int descriptor);

// Letters of a text for columns: those beyond ASCII count once.
size_t letters(const std::string& text);

// Data to standard output; a reader that went away (a closed pipe) is not an error.
void out(const std::string& text);
// A table for people to standard output: nothing when quiet.
void summary(const std::string& text);

}  // namespace panto::cli
