// Base64 back to numbers, for tests; written independently of the encoder.
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace panto::scene::test {

template <class Number>
std::vector<Number> decode(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t value = digits.find(c);
    if (value == std::string::npos) break;
    buffer = (buffer << 6U | static_cast<unsigned>(value)) & 0xffffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(buffer >> static_cast<unsigned>(bits) & 0xffU);
  }
  std::vector<Number> out(bytes.size() / sizeof(Number));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(Number));
  return out;
}

}  // namespace panto::scene::test
