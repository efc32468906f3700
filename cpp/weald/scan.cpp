#include "slots.hpp"

#include <bit>

#include "wide.hpp"

namespace weald {

WEALD_WIDE bool find_excess(const LeftSums& left, std::size_t n, double G, double H, double bar,
                            double least, double* excess) {
  for (std::size_t k = 0; k < n; ++k) {
    const double hl = left.h[k], D = left.g[k] * H - G * hl;
    excess[k] = D * D - bar * (hl * (H - hl));
  }
  // Bits are or-ed instead of looking for the largest, whose order the compiler would have to keep.
  std::int64_t any = 0;
  for (std::size_t k = 0; k < n; ++k) any |= excess[k] > least;
  return any != 0;
}

WEALD_WIDE float find_ratios(const std::uint32_t* left, std::size_t n, float G, float H, float* ratio) {
  for (std::size_t k = 0; k < n; ++k) {
    const auto hl = static_cast<float>(static_cast<std::int32_t>(left[k] & 0xFFFF));
    const auto gl = static_cast<float>(static_cast<std::int32_t>(left[k] >> 16));
    const float D = gl * H - G * hl;
    ratio[k] = D * D / (hl * (H - hl));
  }
  // Floats that are not negative are ordered as their bits are; the largest of whole numbers may be
  // looked for in any order.
  std::int32_t most = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto bits = std::bit_cast<std::int32_t>(ratio[k]);
    most = bits > most ? bits : most;
  }
  return std::bit_cast<float>(most);
}

}  // namespace weald
