// A description as TOML text, for models built in code.
#pragma once

#include <string>

#include "panto/model/spec.hpp"

namespace panto {

// Requires a table. Lists of tables are written one item per line; numbers read back as the same doubles.
std::string write_toml(const Node& root);

}  // namespace panto
