// Counter-based random numbers (Philox): a draw depends on seed, stream and index alone, so results are the same for any number
// of threads or machines.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace panto {

// Two independent numbers, uniform in (0, 1], 53 bits.
inline std::pair<double, double> uniform_pair(std::uint64_t seed, std::uint64_t stream,
                                              std::uint64_t index) {
  using Generator = r123::Philox2x64;
  const Generator::ctr_type bits = Generator()({{index, stream}}, {{seed}});
  const auto unit = [](std::uint64_t b) { return (static_cast<double>(b >> 11U) + 1) * 0x1p-53; };
  return {unit(bits[0]), unit(bits[1])};
}

inline double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return uniform_pair(seed, stream, index).first;
}

// Standard normal (Box–Muller).
inline double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto [a, b] = uniform_pair(seed, stream, index);
  return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
}

}  // namespace panto
