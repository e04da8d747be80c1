// Model files in TOML.
#pragma once

#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// A file larger than this, or nested deeper, is refused before it is parsed.
inline constexpr size_t kMaxModelBytes = 16u << 20;
inline constexpr int kMaxModelNesting = 64;

// The description in a text; `file` names it in messages. Syntax errors, text that is not UTF-8, dates and times, size and
// nesting are answered with diagnostics E0101 … E0106. Tables keep the order of the file.
Result<ModelSpec> parse_model_text(std::string_view text, const std::string& file);
Result<ModelSpec> read_model_file(const std::string& path);

// A text that reads back as the same description. Comments and layout of a file are not kept; copy_back() keeps them.
std::string to_toml(const ModelSpec& spec);

}  // namespace panto
