#include "scan.hpp"

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

}  // namespace weald
