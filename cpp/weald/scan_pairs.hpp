// The walk over the cuts of a column of gradient pairs, G << 32 | H with G of any sign.
//
//   S(left) + S(right) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)
//
// The sums left of 64 cuts at a time are compared with the best so far in vector registers, in floats
// and without a division. Cuts that may be better, given how coarse floats are, are looked at closely.
#pragma once

#include "scan.hpp"

namespace weald {

struct PairScan {
  Lane total = 0;        // of the node
  Lane start = 0;        // on the left from the beginning: missing values, if they go there
  double lambda = 0;
  double least = 1;      // of H on either side
};

inline constexpr std::size_t kCutsAtOnce = 64;

// excess[k] > 0 where S(left) + S(right) may exceed bar, for n cuts with these sums on their left. Is
// there any?
bool find_pair_excess(const Lane* left, std::size_t n, Lane total, float lambda, float bar, float* excess);

// Tries the cuts after cells[0] .. cells[n - 1]; one at a score of `floor` is of interest.
inline Cut scan_pairs(const PairScan& scan, const Lane* cells, std::size_t n, double floor) {
  constexpr double kCoarse = 1 - 4e-6;  // floats are right to 6e-8, and these are a few of them
  Lane left[kCutsAtOnce];
  float excess[kCutsAtOnce];
  const double H = static_cast<double>(scan.total & 0xFFFFFFFF), G = static_cast<double>(scan.total >> 32);
  const double lambda = scan.lambda;
  const bool in_range = lambda < 0x1p40;
  Cut best;
  Lane sum = scan.start;
  for (std::size_t begin = 0; begin < n; begin += kCutsAtOnce) {
    const std::size_t m = std::min(kCutsAtOnce, n - begin);
    for (std::size_t k = 0; k < m; ++k) left[k] = sum += cells[begin + k];
    const double bar = std::max(std::max(best.score, floor), 0.0);
    // Beyond the range of floats (a huge lambda) every cut is looked at closely.
    if (!in_range) {
      std::fill_n(excess, m, 1.0F);
    } else if (!find_pair_excess(left, m, scan.total, static_cast<float>(lambda), static_cast<float>(bar * kCoarse), excess)) {
      continue;
    }
    for (std::size_t k = 0; k < m; ++k) {
      if (!(excess[k] > 0)) continue;
      const double hl = static_cast<double>(left[k] & 0xFFFFFFFF), hr = H - hl;
      if (hl < scan.least || hr < scan.least) continue;
      const double gl = static_cast<double>(left[k] >> 32), gr = G - gl, a = hl + lambda, b = hr + lambda;
      if (best.score > 0 && gl * gl * b + gr * gr * a <= best.score * (1 - 1e-12) * (a * b)) continue;
      const double score = gl * gl / a + gr * gr / b;
      if (score > best.score && score >= floor) best = {score, begin + k + 1, false, left[k]};
    }
  }
  return best;
}

}  // namespace weald
