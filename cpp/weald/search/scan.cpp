#include "weald/search/scan_gradients.hpp"

#include "weald/base/wide_vectors.hpp"

namespace weald {

WEALD_WIDE bool find_excess(const LeftSums& left, std::size_t n, double G, double H, double bar, double least,
                            double* excess) {
  for (std::size_t k = 0; k < n; ++k) {
    const double hl = left.h[k], gl = left.g[k], D = gain_root(gl, hl, G, H);
    excess[k] = D * D - bar * gain_room(hl, H);
  }
  // Bits are or-ed instead of looking for the largest, whose order the compiler would have to keep.
  std::int64_t any = 0;
  for (std::size_t k = 0; k < n; ++k) any |= excess[k] > least;
  return any != 0;
}

WEALD_WIDE bool find_gradient_excess(const LeftPairs& left, std::size_t n, Lane total, const GradientTest& test,
                                     float* excess) {
  const float lambda = test.lambda, whole = test.whole, slope = test.slope, steep = test.steep;
  const auto H = static_cast<std::int32_t>(total), G = static_cast<std::int32_t>(total >> 32), half = H / 2;
  std::int32_t any = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::int32_t h = left.h(k), g = left.g(k);
    const float a = static_cast<float>(std::min(h, H - h)) + lambda;
    const float d = static_cast<float>(h > half ? G - g : g) - slope * a;
    excess[k] = d * d - steep * a * (whole - a);
    any |= excess[k] > 0;
  }
  return any != 0;
}

}  // namespace weald
