// The walk over the cuts of a column of gradient pairs, G << 32 | H with G of any sign.
//
//   S(left) + S(right) = G_l^2 / a + G_r^2 / b           a = H_l + lambda, b = H_r + lambda, C = a + b
//                      = G^2 / C + d^2 C / (a b)         d = G_l - a G / C = b G / C - G_r
//
// so that a cut beats a score where d^2 > t a b, with the same t for all cuts of the node. Sums are added up and put to
// that test in vector registers, in floats and without a division. Those that may pass it, given how coarse floats are,
// are looked at closely.
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
  std::int32_t least;                 // of H

  GradientTest(const GradientScan& scan, double C, double G, double bar)
      : lambda(static_cast<float>(scan.lambda)),
        whole(static_cast<float>(C)),
        slope(static_cast<float>(G / C)),
        least(static_cast<std::int32_t>(std::ceil(std::min(scan.least, 0x1p30)))) {
    // Of d^2 floats may lose 6e-7 (1 + |G_l / d|) parts, and |G_l / d| <= sqrt(2 bar / gain) where the side
    // is the lighter one and the cut beats the bar.
    const double gain = bar * (1 - 1e-14) - quadratic(G, C);
    const double slack = gain > 0 ? 2e-6 * (2 + std::sqrt(2 * bar / gain)) : 1;
    steep = slack < 1 ? static_cast<float>(gain / C * (1 - slack)) : -1.0F;
  }
};

inline constexpr std::size_t kCutsSifted = 16;  // at a time: two registers of eight

// From the cuts after cells[from] .. cells[n - 1], of which the first has `sum` + cells[from] on its left: the first of
// kCutsSifted among which some may pass the test, with `sum` for it and a bit of `passed` for each; n if there are none.
std::size_t skip_gradient_cuts(const Lane* cells, std::size_t from, std::size_t n, Lane total, const GradientTest& test,
                               Lane& sum, std::uint32_t& passed);

// Else floats are not in range: every cut is looked at closely.
inline bool can_sift(double lambda) { return uses(Path::GradientsInFloats) && lambda < 0x1p40; }

// Says of whole columns whether one of their cuts may reach a score: in most columns none reaches the best so far.
class GradientSieve {
 public:
  explicit GradientSieve(const GradientScan& scan)
      : scan_(scan),
        H_(static_cast<double>(scan.total & 0xFFFFFFFF)),
        G_(static_cast<double>(scan.total >> 32)),
        test_(scan, H_ + 2 * scan.lambda, G_, 0) {}

  // `missing`: the cell of missing values, null if there are none. They go right and then left.
  bool passes(const Lane* cells, std::size_t n, const Lane* missing, double score) {
    if (score > bar_) test_ = GradientTest(scan_, H_ + 2 * scan_.lambda, G_, bar_ = score);
    const auto any = [&](Lane sum) {
      std::uint32_t passed;
      return skip_gradient_cuts(cells, 0, n, scan_.total, test_, sum, passed) < n;
    };
    return any(0) || (missing && *missing != 0 && any(*missing));
  }

 private:
  GradientScan scan_;
  double H_, G_, bar_ = 0;
  GradientTest test_;
};

// Tries the cuts after cells[0] .. cells[n - 1]; one at a score of `floor` is of interest.
inline Cut scan_gradients(const GradientScan& scan, const Lane* cells, std::size_t n, double floor) {
  constexpr Lane kLow = 0xFFFFFFFF;
  const double H = static_cast<double>(scan.total & kLow), G = static_cast<double>(scan.total >> 32);
  const double lambda = scan.lambda, C = H + 2 * lambda;
  const bool sifts = can_sift(lambda);
  Cut best;
  double bar = std::max(floor, 0.0);
  GradientTest test(scan, C, G, bar);
  Lane sum = scan.start;
  for (std::size_t begin = 0; begin < n; begin += kCutsSifted) {
    std::uint32_t passed = ~0U;
    if (sifts) begin = skip_gradient_cuts(cells, begin, n, scan.total, test, sum, passed);
    const double before = best.score;
    for (std::size_t k = begin; k < std::min(begin + kCutsSifted, n); ++k, passed >>= 1) {
      sum += cells[k];
      if ((passed & 1) == 0) continue;
      const double hl = static_cast<double>(sum & kLow), hr = H - hl;
      if (hl < scan.least || hr < scan.least) continue;
      const double gl = static_cast<double>(sum >> 32), gr = G - gl, a = hl + lambda, b = hr + lambda;
      if (bar > 0 && !quadratic_may_beat(gl * gl, a, gr * gr, b, bar)) continue;
      const double score = quadratic(gl, a, gr, b);
      if (score > best.score && score >= floor) best = {score, k + 1, false, sum};
    }
    if (best.score > before) test = GradientTest(scan, C, G, bar = std::max(best.score, 0.0));
  }
  return best;
}

}  // namespace weald
