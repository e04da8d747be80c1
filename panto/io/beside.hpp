// Files that other files name.
#pragma once

#include <string>

#include "panto/base/diagnostics.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// A model file or folder beside `file`, else the name as it is.
std::string model_beside(const std::string& file, const std::string& model);
// A file beside `file`; absolute names stay.
std::string file_beside(const std::string& file, const std::string& name);

// What was found about a model that a key names: findings without a place of their own stand at the key.
void append_at(const Diagnostics& from, const Node* key, Diagnostics& to);

}  // namespace panto
