// Arithmetic for loops that the compiler turns into vector instructions.
#pragma once

#include <bit>
#include <cstring>

#include "weald/base/types.hpp"
#include "weald/base/wide_vectors.hpp"

namespace weald {

// As a cast, rounded once, in instructions that vectors have: both halves are exact, and so is the difference.
WEALD_INLINE double to_double(Lane x) {
  const auto bits = static_cast<std::uint64_t>(x);
  const auto low = std::bit_cast<double>((bits & 0xFFFFFFFF) | 0x4330000000000000);  // 2^52 + the low half
  const auto high = std::bit_cast<double>((bits >> 32) ^ 0x4530000080000000);        // 2^84 + 2^63 + the high half
  return (high - 0x1.00000801p84) + low;
}

WEALD_INLINE double largest(const double* numbers, std::size_t n) {
  double most = -kInf;
  for (std::size_t k = 0; k < n; ++k) most = numbers[k] > most ? numbers[k] : most;
  return most;
}

// Calls fn(i, lane) in lanes side by side, so that none waits for the one before.
template <std::size_t kLanes, class Fn>
WEALD_INLINE void in_lanes(std::size_t begin, std::size_t end, Fn&& fn) {
  std::size_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) fn(i + k, k);
  }
  for (std::size_t k = 0; i < end; ++i, ++k) fn(i, k);
}

// Some numbers at a time, where the compiler would not find that by itself; their order of addition is that of the code.
#ifdef WEALD_HAS_VECTORS
inline constexpr std::size_t kDoubles = 4;
typedef double Doubles __attribute__((vector_size(8 * kDoubles)));
#else
inline constexpr std::size_t kDoubles = 1;
using Doubles = double;
#endif
// Nothing of this kind is passed by value, which would depend on the instructions there are.
WEALD_INLINE void read(const double* from, Doubles& to) { std::memcpy(&to, from, sizeof to); }
WEALD_INLINE void write(const Doubles& from, double* to) { std::memcpy(to, &from, sizeof from); }

}  // namespace weald
