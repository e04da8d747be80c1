#include "panto/io/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "panto/io/toml.hpp"
#include "panto/io/urdf.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

bool has_extension(const std::string& path, std::string_view extension) {
  return path.size() > extension.size() && path.ends_with(extension);
}

}  // namespace

std::string zoo_folder() {
  std::error_code failure;
  if (const char* given = std::getenv("PANTO_MODELS"); given != nullptr && *given != '\0')
    return given;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    const fs::path shared = program.parent_path().parent_path() / "share/pantograph/models";
    if (fs::is_directory(shared, failure)) return shared.string();
  }
#ifdef PANTO_MODELS_DIR
  if (fs::is_directory(PANTO_MODELS_DIR, failure)) return PANTO_MODELS_DIR;
#endif
  return {};
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  const std::string folder = zoo_folder();
  std::error_code failure;
  if (folder.empty()) return names;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    if (fs::exists(it->path() / "model.toml", failure))
      names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<ModelSpec> load_spec(const std::string& name_or_path) {
  std::error_code failure;
  if (fs::is_directory(name_or_path, failure)) {
    const fs::path inside = fs::path(name_or_path) / "model.toml";
    if (fs::exists(inside, failure) || name_or_path.find('/') != std::string::npos) {
      return read_model_file(inside.string());
    }
  }
  const bool is_path =
      name_or_path.find('/') != std::string::npos || has_extension(name_or_path, ".toml") ||
      has_extension(name_or_path, ".urdf") || fs::is_regular_file(name_or_path, failure);
  if (is_path) {
    return has_extension(name_or_path, ".urdf") ? read_urdf_file(name_or_path)
                                                : read_model_file(name_or_path);
  }
  const std::vector<std::string> names = zoo_names();
  if (std::binary_search(names.begin(), names.end(), name_or_path)) {
    return read_model_file((fs::path(zoo_folder()) / name_or_path / "model.toml").string());
  }
  Diagnostics diagnostics;
  diagnostics.error(201, Loc{},
                    fmt::format("there is no file and no model \"{}\"{}", name_or_path,
                                did_you_mean(name_or_path, names)));
  return diagnostics;
}

Result<Model> load(const std::string& name_or_path, std::span<const Override> overrides,
                   ModelSpec* spec_out) {
  Result<ModelSpec> spec = load_spec(name_or_path);
  if (!spec) return spec.diagnostics();
  Result<Model> model = compile(*spec, overrides);
  if (spec_out != nullptr) *spec_out = std::move(*spec);
  return model;
}

}  // namespace panto
