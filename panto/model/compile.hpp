// From the editable description to the immutable model.
#pragma once

#include <span>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// Validates the description, expands `repeat`, resolves parameters and references, decomposes compound joints and lays out
// coordinates, constraint rows, forces and outputs. Reports every finding, not only the first; warnings accompany a model.
// An override replaces the text of a named parameter before anything is expanded, or a number written in place
// ("crank.mass"). Data files (CSV) are looked up relative to the folder of spec.file.
// Cost: linear in the size of the expanded description.
Result<Model> compile(const ModelSpec& spec, std::span<const Override> overrides = {});

}  // namespace panto
