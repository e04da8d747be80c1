// Studies of updating, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/io/update_study.hpp"
#include "panto/model/compile.hpp"
#include "panto/updating/update.hpp"
#include "tests/source_dir.hpp"

namespace panto::test {

inline const std::string kBelotti = PANTO_SOURCE_DIR "/validation/papers/belotti2018/";

// The synthetic twin of the manipulator: 29 parameters, seven modes, 22 points.
inline LoadedUpdateStudy twin() {
  auto loaded = load_update_study(kBelotti + "twin.toml");
  if (!loaded.ok()) throw std::runtime_error(loaded.diagnostics().text());
  return std::move(*loaded);
}

inline Result<Model> compiled(const ModelSpec& spec, const std::vector<Override>& set = {}) {
  return compile(spec, set);
}

inline Result<Updating> updated(const LoadedUpdateStudy& loaded) {
  return update(loaded.model, nominal(loaded.model), loaded.study);
}

inline Result<Updating> updated(const std::string& text, const std::string& file = "study.toml") {
  const auto parsed = parse_model_text(text, file);
  if (!parsed.ok()) return parsed.diagnostics();
  const auto loaded = load_update_study(*parsed);
  if (!loaded.ok()) return loaded.diagnostics();
  return updated(*loaded);
}

// Only some of the parameters of the twin, the truth of the others as the model's own.
inline void keep(LoadedUpdateStudy& loaded, const std::vector<std::string>& names) {
  const auto kept = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::erase_if(loaded.study.parameters, [&](const UpdateParameter& p) { return !kept(p.name); });
  std::erase_if(loaded.study.simulate.front().truth, [&](const auto& t) { return !kept(t.first); });
}

}  // namespace panto::test
