// The vocabulary of the engine: rows, codes, sums.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weald/base/paths.hpp"

namespace weald {

using Row = std::uint32_t;   // a row number: 4 billion rows are enough, and half the traffic of 64 bits
using Code = std::uint32_t;  // a bin or rank code, widened for arithmetic
using Lane = std::int64_t;   // one integer sum: adds are exact, so their order cannot change a model

inline constexpr std::size_t kByteSlots = 256;  // cells of a column of bytes, whatever its codes

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Calls fn(k) for every bit k that is set in some words, ascending.
template <class Fn>
void for_bits(const std::uint64_t* words, std::size_t n, Fn&& fn) {
  for (std::size_t word = 0; word < n; ++word) {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      fn(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

// Calls fn with a number from kFirst to kLast as a constant, known to the compiler.
template <std::size_t kFirst, std::size_t kLast, class Fn>
void with_constant(std::size_t number, Fn&& fn) {
  if (number == kFirst) return fn(std::integral_constant<std::size_t, kFirst>{});
  if constexpr (kFirst < kLast) with_constant<kFirst + 1, kLast>(number, fn);
}

// Asks for the memory of a row that will be read soon; scattered rows else wait for it.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  if (uses(Path::Prefetch)) __builtin_prefetch(address);
#endif
}

}  // namespace weald
