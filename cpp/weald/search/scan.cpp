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

WEALD_WIDE bool find_gradient_excess(const Lane* left, std::size_t n, Lane total, bool mirror, const GradientTest& test,
                                     float* excess) {
  const float lambda = test.lambda, whole = test.whole, slope = test.slope, steep = test.steep;
  const auto of_side = [=](Lane side) {
    const auto g = static_cast<float>(static_cast<std::int32_t>(side >> 32));
    const float a = static_cast<float>(static_cast<std::int32_t>(side)) + lambda;
    const float d = g - slope * a;
    return d * d - steep * a * (whole - a);
  };
  if (mirror) {
    for (std::size_t k = 0; k < n; ++k) excess[k] = of_side(total - left[k]);
  } else {
    for (std::size_t k = 0; k < n; ++k) excess[k] = of_side(left[k]);
  }
  std::int32_t any = 0;
  for (std::size_t k = 0; k < n; ++k) any |= excess[k] > 0;
  return any != 0;
}

}  // namespace weald
