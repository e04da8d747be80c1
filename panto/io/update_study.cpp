#include "panto/io/update_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "panto/io/beside.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto {

namespace {

// What a bound sets, as it was written or as a number; empty: there is none.
Override bound_of(const UpdateParameter& p, const Model& model, bool lower) {
  const int index = find_parameter(model, p.name);
  if (index < 0) return {};
  const double nominal = model.parameters[static_cast<size_t>(index)].value;
  if (lower ? p.has_low : p.has_high) {
    const std::string& text = lower ? p.low_text : p.high_text;
    return {p.name, text.empty() ? fmt::format("{}", lower ? p.low : p.high) : text};
  }
  if (nominal == 0) return {};
  return {p.name, fmt::format("{}", nominal + (lower ? -p.range : p.range) * std::abs(nominal))};
}

// Values between which a parameter may move must be values that the model accepts, in its dimension.
void check_bounds(const LoadedUpdateStudy& loaded, Diagnostics& notes) {
  const auto refused = [&](const std::vector<Override>& bounds) {
    std::vector<Override> all = loaded.study.set;
    for (const Override& b : bounds) {
      std::erase_if(all, [&](const Override& o) { return o.name == b.name; });
      all.push_back(b);
    }
    return compile(loaded.spec, all).diagnostics();
  };
  for (const bool lower : {true, false}) {
    std::vector<Override> bounds;
    for (const UpdateParameter& p : loaded.study.parameters)
      if (const Override b = bound_of(p, loaded.model, lower); !b.name.empty()) bounds.push_back(b);
    if (refused(bounds).ok()) continue;
    for (const UpdateParameter& p : loaded.study.parameters) {
      const Override b = bound_of(p, loaded.model, lower);
      if (b.name.empty()) continue;
      const Diagnostics why = refused({b});
      const auto first = std::find_if(why.items().begin(), why.items().end(),
                                      [](const auto& d) { return d.severity == Severity::kError; });
      if (first != why.items().end())
        notes.error(971, p.loc,
                    fmt::format("parameter \"{}\": the model refuses its {} bound {}: {}", p.name,
                                lower ? "lower" : "upper", b.value, first->message));
    }
  }
}

}  // namespace

Result<UpdateStudy> read_update_study(const ModelSpec& description) {
  Result<UpdateStudy> study = update_study(description);
  if (!study) return study;
  Diagnostics notes = study.diagnostics();
  for (UpdatePose& pose : study->poses) {
    if (pose.file.empty()) continue;
    Result<ModalTest> test = read_modal_test(file_beside(description.file, pose.file));
    notes.append(test.diagnostics());
    if (test) pose.test = std::move(*test);
  }
  if (!notes.ok()) return notes;
  return {std::move(*study), std::move(notes)};
}

Result<LoadedUpdateStudy> load_update_study(const ModelSpec& description) {
  Result<LoadedUpdateStudy> loaded = study_with_model(description, read_update_study(description));
  if (!loaded) return loaded;
  Diagnostics notes = loaded.diagnostics();
  check_bounds(*loaded, notes);
  if (!notes.ok()) return notes;
  return {std::move(*loaded), std::move(notes)};
}

Result<LoadedUpdateStudy> load_update_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_update_study(*file);
}

}  // namespace panto
