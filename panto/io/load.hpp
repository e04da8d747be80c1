// From a name to a model: files and the zoo.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// `name_or_path`: a .toml or .urdf file, a folder with model.toml, or the name of a zoo model. A text with a '/' or a file
// extension is a path, and so is the name of something that exists. Reads and compiles; `spec_out` receives the description.
Result<Model> load(const std::string& name_or_path, std::span<const Override> overrides = {},
                   ModelSpec* spec_out = nullptr);

// The description alone.
Result<ModelSpec> load_spec(const std::string& name_or_path);

// Folder of the zoo: $PANTO_MODELS, <prefix>/share/pantograph/models beside the program, or the source tree; empty if there
// is none.
std::string zoo_folder();
// Names of the models in it, sorted.
std::vector<std::string> zoo_names();

}  // namespace panto
