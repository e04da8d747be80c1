#include "panto/numerics/sine_cosine.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace panto {

namespace {

// A turn in equal pieces; sine and cosine at each as a number and what it leaves out.
constexpr int kPieces = 256, kQuarter = kPieces / 4;
struct Entry {
  double s = 0, c = 0, s_rest = 0, c_rest = 0;
};

constexpr long double kPi = 3.14159265358979323846264338327950288L;

constexpr Entry entry(int piece) {
  // Series below an eighth of a turn, the rest by symmetry.
  const int quadrant = piece / kQuarter, within = piece % kQuarter;
  const bool swapped = 2 * within > kQuarter;
  const long double x = 2 * kPi * (swapped ? kQuarter - within : within) / kPieces;
  long double s = 0, c = 0, term = 1;
  for (int i = 0; i < 26; ++i) {
    (i % 2 == 0 ? c : s) += i % 4 < 2 ? term : -term;
    term *= x / (i + 1);
  }
  if (swapped != (quadrant % 2 == 1)) {
    const long double other = s;
    s = c;
    c = other;
  }
  if (quadrant >= 2) s = -s;
  if (quadrant == 1 || quadrant == 2) c = -c;
  Entry e;
  e.s = static_cast<double>(s);
  e.c = static_cast<double>(c);
  e.s_rest = static_cast<double>(s - e.s);
  e.c_rest = static_cast<double>(c - e.c);
  return e;
}

constexpr std::array<Entry, kPieces> table() {
  std::array<Entry, kPieces> out{};
  for (int i = 0; i < kPieces; ++i) out[static_cast<size_t>(i)] = entry(i);
  return out;
}
constexpr std::array<Entry, kPieces> kTable = table();

constexpr double kFar = 2e4;
constexpr double kPerRadian = 0x1.45f306dc9c883p+5;
// A piece in three parts: products of the first two with a number of pieces are exact.
constexpr double kPiece = 0x1.921fb544p-6, kPiece2 = 0x1.0b4611a6p-40,
                 kPiece3 = 0x1.3198a2e037073p-75;
constexpr double kRound = 0x1.8p52;  // added to a number, its last bits are the nearest integer

}  // namespace

SineCosine sine_cosine(double angle) noexcept {
  if (!(std::abs(angle) < kFar)) return {std::sin(angle), std::cos(angle)};
  const double rounded = angle * kPerRadian + kRound, pieces = rounded - kRound;
  const Entry& e = kTable[std::bit_cast<std::uint64_t>(rounded) % kPieces];
  const double r = ((angle - pieces * kPiece) - pieces * kPiece2) - pieces * kPiece3, r2 = r * r;
  // sin r and cos r - 1 of at most half a piece.
  const double s = r + r * r2 * (-1.0 / 6 + r2 * (1.0 / 120 - r2 * (1.0 / 5040))),
               c = r2 * (-0.5 + r2 * (1.0 / 24 - r2 * (1.0 / 720)));
  return {e.s + (e.s_rest + (e.c * s + e.s * c)), e.c + (e.c_rest + (e.c * c - e.s * s))};
}

}  // namespace panto
