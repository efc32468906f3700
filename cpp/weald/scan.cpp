#include "scan_pairs.hpp"

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

WEALD_WIDE bool find_pair_excess(const Lane* left, std::size_t n, Lane total, float lambda, float bar, float* excess) {
  for (std::size_t k = 0; k < n; ++k) {
    const Lane right = total - left[k];  // before rounding: a small side must not lose its digits
    const auto gl = static_cast<float>(static_cast<std::int32_t>(left[k] >> 32));
    const auto gr = static_cast<float>(static_cast<std::int32_t>(right >> 32));
    const float a = static_cast<float>(static_cast<std::int32_t>(left[k])) + lambda;
    const float b = static_cast<float>(static_cast<std::int32_t>(right)) + lambda;
    excess[k] = gl * gl * b + gr * gr * a - bar * (a * b);
  }
  std::int32_t any = 0;
  for (std::size_t k = 0; k < n; ++k) any |= excess[k] > 0;
  return any != 0;
}

}  // namespace weald
