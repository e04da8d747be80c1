// Files that are either complete or absent: written under a temporary name in the same folder, flushed to the disk, renamed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"

namespace panto {

// `write` fills the file at the temporary path it is given; an empty answer means success, anything else is the reason of failure.
// On failure (E0620) nothing is left behind and a file that was at `path` before is untouched.
Diagnostics write_atomically(const std::string& path,
                             const std::function<std::string(const std::string& path)>& write);
Diagnostics write_text_atomically(const std::string& path, std::string_view text);

// Whole file as bytes; E0621 when it cannot be read, E0622 beyond `limit` bytes.
Result<std::string> read_bytes(const std::string& path, size_t limit = size_t{4} << 30);

}  // namespace panto
