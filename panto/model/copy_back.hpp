// From θ back to a file that a person can read and compare.
#pragma once

#include <string>

#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// The text of the model file with the literals that differ from θ replaced in place: comments and layout are kept, and a
// quantity keeps its unit ("16 mm" becomes "17.3 mm"). Numbers are the shortest that read back as the same double. Overrides
// that were expressions or changed the size of a repeat are written too. With θ as in the file the text is unchanged.
// For a description built in code: TOML text. Requires `model` compiled from `spec` and finite values.
std::string copy_back(const ModelSpec& spec, const Model& model, const Params& theta);

// The same on the description itself.
ModelSpec with_parameters(const ModelSpec& spec, const Model& model, const Params& theta);

}  // namespace panto
