#include "panto/scene/base64.hpp"

#include <bit>
#include <cstdint>

namespace panto::scene {
namespace {

// Little endian whatever the machine.
template <class Word, class Number>
void put(std::string& bytes, Number number) {
  const auto word = std::bit_cast<Word>(number);
  for (size_t i = 0; i < sizeof(Word); ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(word >> (8 * i)));
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8U | (k < here ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= here ? kDigits[word >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::string base64_f4(std::span<const double> numbers) {
  std::string bytes;
  bytes.reserve(4 * numbers.size());
  for (const double x : numbers) put<std::uint32_t>(bytes, static_cast<float>(x));
  return base64(bytes);
}

std::string base64_f8(std::span<const double> numbers) {
  std::string bytes;
  bytes.reserve(8 * numbers.size());
  for (const double x : numbers) put<std::uint64_t>(bytes, x);
  return base64(bytes);
}

}  // namespace panto::scene
