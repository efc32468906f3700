// The walk over the cuts of a column of gradient pairs, G << 32 | H with G of any sign.
//
//   S(left) + S(right) = G_l^2 / a + G_r^2 / b           a = H_l + lambda, b = H_r + lambda, C = a + b
//                      = G^2 / C + d^2 C / (a b)         d = G_l - a G / C = b G / C - G_r
//
// so that a cut beats a score where d^2 > t a b, with the same t for all cuts of the node. The sums of 64
// cuts at a time are put to that test in vector registers, in floats and without a division. Those that
// may pass it, given how coarse floats are, are looked at closely.
#pragma once

#include <bit>
#include <cstring>

#include "weald/base/paths.hpp"
#include "weald/search/scan.hpp"

namespace weald {

struct GradientScan {
  Lane total = 0;  // of the node
  Lane start = 0;  // on the left from the beginning: missing values, if they go there
  double lambda = 0;
  double least = 1;  // of H on either side
};

// The test as floats. It is made with the sums of the lighter side: of the heavier one a float would not
// see small differences.
struct GradientTest {
  float lambda, whole, slope, steep;  // lambda, C, G / C, t

  GradientTest(double l, double C, double G, double bar)
      : lambda(static_cast<float>(l)), whole(static_cast<float>(C)), slope(static_cast<float>(G / C)) {
    // Of d^2 floats may lose 6e-7 (1 + |G_l / d|) parts, and |G_l / d| <= sqrt(2 bar / gain) where the side
    // is the lighter one and the cut beats the bar.
    const double gain = bar * (1 - 1e-14) - quadratic(G, C);
    const double slack = gain > 0 ? 2e-6 * (2 + std::sqrt(2 * bar / gain)) : 1;
    steep = slack < 1 ? static_cast<float>(gain / C * (1 - slack)) : -1.0F;
  }
};

// The sums on the left of some cuts, H G H G ..: the halves of words as they lie in memory, which vector registers take
// apart quicker than shifts do.
struct LeftPairs {
  static_assert(std::endian::native == std::endian::little);
  std::int32_t halves[2 * kCutsAtOnce];

  void put(std::size_t k, Lane sum) { std::memcpy(&halves[2 * k], &sum, sizeof sum); }
  std::int32_t h(std::size_t k) const { return halves[2 * k]; }
  std::int32_t g(std::size_t k) const { return halves[2 * k + 1]; }
  Lane sum(std::size_t k) const { return Lane{g(k)} << 32 | h(k); }
};

// excess[k] > 0 for n cuts with these sums on their left, where they may pass the test. Does any?
bool find_gradient_excess(const LeftPairs& left, std::size_t n, Lane total, const GradientTest& test, float* excess);

// Tries the cuts after cells[0] .. cells[n - 1]; one at a score of `floor` is of interest.
inline Cut scan_gradients(const GradientScan& scan, const Lane* cells, std::size_t n, double floor) {
  constexpr Lane kLow = 0xFFFFFFFF;
  LeftPairs left;
  float excess[kCutsAtOnce];
  const double H = static_cast<double>(scan.total & kLow), G = static_cast<double>(scan.total >> 32);
  const double lambda = scan.lambda, C = H + 2 * lambda;
  const bool in_range =
      uses(Path::GradientsInFloats) && lambda < 0x1p40;  // else floats are not: every cut is looked at closely
  Cut best;
  const auto test_for = [&](double bar) { return GradientTest(lambda, C, G, std::max(bar, 0.0)); };
  GradientTest test = test_for(floor);
  Lane sum = scan.start;
  for (std::size_t begin = 0; begin < n; begin += kCutsAtOnce) {
    const std::size_t m = std::min(kCutsAtOnce, n - begin), full = (m + 7) / 8 * 8;
    for (std::size_t k = 0; k < m; ++k) left.put(k, sum += cells[begin + k]);
    for (std::size_t k = m; k < full; ++k) left.put(k, sum);  // vector registers have no odd ends
    if (!in_range) {
      std::fill_n(excess, m, 1.0F);
    } else if (!find_gradient_excess(left, full, scan.total, test, excess)) {
      continue;
    }
    const double before = best.score;
    for (std::size_t k = 0; k < m; ++k) {
      if (!(excess[k] > 0)) continue;
      const double hl = left.h(k), hr = H - hl;
      if (hl < scan.least || hr < scan.least) continue;
      const double gl = left.g(k), gr = G - gl, a = hl + lambda, b = hr + lambda;
      if (best.score > 0 && !quadratic_may_beat(gl * gl, a, gr * gr, b, best.score)) continue;
      const double score = quadratic(gl, a, gr, b);
      if (score > best.score && score >= floor) best = {score, begin + k + 1, false, left.sum(k)};
    }
    if (best.score > before) test = test_for(best.score);
  }
  return best;
}

}  // namespace weald
