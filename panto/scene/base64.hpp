// Numbers in bulk as base64 (RFC 4648) of their little-endian bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace panto::scene {

std::string base64(std::string_view bytes);
std::string base64_f4(std::span<const double> numbers);  // rounded to single precision
std::string base64_f8(std::span<const double> numbers);

}  // namespace panto::scene
