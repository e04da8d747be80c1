// Commented model files to begin with.
#pragma once

#include <span>

namespace panto::cli {

struct Starter {
  const char* name;   // "four-bar"
  const char* title;  // one line
  const char* text;   // the model file
};
std::span<const Starter> starters();

}  // namespace panto::cli
