// Studies of the three-link chain, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "panto/identification/identify.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"

namespace panto::test {

inline const std::string kUnknown =
    "model = \"three_link\"\n"
    "parameters = { kA = { start = 30 }, kB = { start = 20 }, kC = { start = 10 } }\n";
inline const std::string kStraight =
    "[[pose]]\nname = \"straight\"\nat = { theta_B = 0, theta_C = 0 }\n";
inline const std::string kBent =
    "[[pose]]\nname = \"bent\"\nat = { theta_B = \"89.11 deg\", theta_C = \"-84.95 deg\" }\n";

inline Result<Identification> identified(const std::string& text) {
  const auto file = parse_model_text(text, "study.toml");
  if (!file.ok()) return file.diagnostics();
  const auto loaded = load_identify_study(*file);
  if (!loaded.ok()) return loaded.diagnostics();
  return identify(loaded->model, nominal(loaded->model), loaded->study);
}

}  // namespace panto::test
