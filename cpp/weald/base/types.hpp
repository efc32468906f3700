// The vocabulary of the engine: rows, codes, sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "weald/base/paths.hpp"

namespace weald {

using Row = std::uint32_t;   // a row number: 4 billion rows are enough, and half the traffic of 64 bits
using Code = std::uint32_t;  // a bin or rank code, widened for arithmetic
using Lane = std::int64_t;   // one integer sum: adds are exact, so their order cannot change a model

inline constexpr std::size_t kByteSlots = 256;  // cells of a column of bytes, whatever its codes

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Asks for the memory of a row that will be read soon; scattered rows else wait for it.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  if (uses(Path::Prefetch)) __builtin_prefetch(address);
#endif
}

}  // namespace weald
