// The walk over the cuts of a column of gradient pairs, G << 32 | H with G of any sign.
//
//   S(left) + S(right) = G_l^2 / a + G_r^2 / b           a = H_l + lambda, b = H_r + lambda, C = a + b
//                      = G^2 / C + d^2 C / (a b)         d = G_l - a G / C = b G / C - G_r
//
// so that a cut beats a score where d^2 > t a b, with the same t for all cuts of the node. The sums of 64
// cuts at a time are put to that test in vector registers, in floats and without a division. Those that
// may pass it, given how coarse floats are, are looked at closely.
#pragma once

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

// excess[k] > 0 for n cuts with these sums on their left, where they may pass the test. Does any? `mirror`:
// look at the sums on their right.
bool find_gradient_excess(const Lane* left, std::size_t n, Lane total, bool mirror, const GradientTest& test,
                          float* excess);

// Tries the cuts after cells[0] .. cells[n - 1]; one at a score of `floor` is of interest.
inline Cut scan_gradients(const GradientScan& scan, const Lane* cells, std::size_t n, double floor) {
  constexpr Lane kLow = 0xFFFFFFFF;
  Lane left[kSumsAtOnce];
  float excess[kCutsAtOnce];
  const double H = static_cast<double>(scan.total & kLow), G = static_cast<double>(scan.total >> 32);
  const double lambda = scan.lambda, C = H + 2 * lambda;
  const Lane half = (scan.total & kLow) / 2;
  const bool in_range =
      uses(Path::GradientsInFloats) && lambda < 0x1p40;  // else floats are not: every cut is looked at closely
  Cut best;
  const auto test_for = [&](double bar) { return GradientTest(lambda, C, G, std::max(bar, 0.0)); };
  GradientTest test = test_for(floor);
  const auto look = [&](const Lane* sums, std::size_t m, std::size_t begin, bool mirror) {
    if (in_range) {
      if (!find_gradient_excess(sums, m, scan.total, mirror, test, excess)) return;
    } else {
      std::fill_n(excess, m, 1.0F);
    }
    const double before = best.score;
    for (std::size_t k = 0; k < m; ++k) {
      if (!(excess[k] > 0)) continue;
      const double hl = static_cast<double>(sums[k] & kLow), hr = H - hl;
      if (hl < scan.least || hr < scan.least) continue;
      const double gl = static_cast<double>(sums[k] >> 32), gr = G - gl, a = hl + lambda, b = hr + lambda;
      if (best.score > 0 && !quadratic_may_beat(gl * gl, a, gr * gr, b, best.score)) continue;
      const double score = quadratic(gl, a, gr, b);
      if (score > best.score && score >= floor) best = {score, begin + k + 1, false, sums[k]};
    }
    if (best.score > before) test = test_for(best.score);
  };
  Lane sum = scan.start;
  for (std::size_t begin = 0; begin < n; begin += kSumsAtOnce) {
    const std::size_t m = std::min(kSumsAtOnce, n - begin);
    for (std::size_t k = 0; k < m; ++k) left[k] = sum += cells[begin + k];
    // Where most rows have the lowest code, as in sparse columns, the search would look at all of the sums in vain.
    const auto* const first_above =
        (left[0] & kLow) > half
            ? left
            : std::upper_bound(left, left + m, half, [](Lane h, Lane at) { return h < (at & kLow); });
    const auto middle = static_cast<std::size_t>(first_above - left);
    for (std::size_t k = 0; k < middle; k += kCutsAtOnce)
      look(left + k, std::min(kCutsAtOnce, middle - k), begin + k, false);
    for (std::size_t k = middle; k < m; k += kCutsAtOnce) look(left + k, std::min(kCutsAtOnce, m - k), begin + k, true);
  }
  return best;
}

}  // namespace weald
