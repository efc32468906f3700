#include "weald/search/small_histograms.hpp"

#include <bit>

#include "weald/base/wide_vectors.hpp"
#include "weald/stats/quadratic.hpp"

namespace weald {

namespace {

// left[k] = cells[0] + .. + cells[k].
void sum_up(const std::uint32_t* cells, std::size_t n, std::uint32_t* left) {
#ifdef WEALD_HAS_SSE2
  if (uses(Path::SumsInVectors)) {
    __m128i carry = _mm_setzero_si128();
    for (std::size_t k = 0; k < n; k += 4) {
      __m128i x = _mm_load_si128(reinterpret_cast<const __m128i*>(cells + k));
      x = _mm_add_epi32(x, _mm_slli_si128(x, 4));
      x = _mm_add_epi32(x, _mm_slli_si128(x, 8));
      x = _mm_add_epi32(x, carry);
      carry = _mm_shuffle_epi32(x, 0xFF);
      _mm_store_si128(reinterpret_cast<__m128i*>(left + k), x);
    }
    return;
  }
#endif
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) left[k] = sum += cells[k];
}

// The first of ratio[k] .. ratio[n - 1] that is enough, or n; some more can be read.
std::size_t find_enough(const float* ratio, std::size_t k, std::size_t n, float enough) {
#ifdef WEALD_HAS_SSE2
  const __m128 least = _mm_set1_ps(enough);
  for (; k < n; k += 4) {
    const int found = _mm_movemask_ps(_mm_cmpge_ps(_mm_loadu_ps(ratio + k), least));
    if (found != 0) return std::min(n, k + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(found))));
  }
#else
  while (k < n && ratio[k] < enough) ++k;
#endif
  return std::min(k, n);
}

}  // namespace

WEALD_WIDE float find_ratios(const std::uint32_t* left, std::size_t n, float G, float H, float* ratio) {
  for (std::size_t k = 0; k < n; ++k) {
    const auto hl = static_cast<float>(static_cast<std::int32_t>(left[k] & 0xFFFF));
    const auto gl = static_cast<float>(static_cast<std::int32_t>(left[k] >> 16));
    ratio[k] = gain_ratio(gl, hl, G, H);
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

bool SmallHistograms::search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j,
                             const Lane* total, Split& best) {
  const auto H = static_cast<std::int32_t>(*total & 0xFFFFFFFF), G = static_cast<std::int32_t>(*total >> 32);
  const std::uint32_t all = static_cast<std::uint32_t>(G) << 16 | static_cast<std::uint32_t>(H);
  const std::size_t n = column.n_codes;
  const std::uint32_t* const cells = cells_ + c * apart_;
  sum_up(cells, whole_vectors(n), left_);
  std::size_t first = 0;
  while (left_[first] == 0) ++first;
  if (left_[first] == all) return false;
  std::size_t last = n - 1;  // no cut after the last code that occurs
  while (left_[last - 1] == all) --last;

  // Floats find the few cuts that may be the best, whole numbers choose among them.
  constexpr double kSlack = 1 - 4e-6;
  const double most = find_ratios(left_ + first, last - first, static_cast<float>(G), static_cast<float>(H), ratio_);
  const double node_score = quadratic(G, H);
  if (most < (best.score - node_score) * H * kSlack) return true;
  const auto enough = static_cast<float>(most * kSlack);
  double bar = -1;
  std::size_t at = first;
  const std::size_t n_cuts = last - first;
  for (std::size_t p = 0; (p = find_enough(ratio_, p, n_cuts, enough)) < n_cuts; ++p) {
    const std::size_t k = first + p;
    if (cells[k] == 0) continue;
    const double hl = left_[k] & 0xFFFF, gl = left_[k] >> 16, ratio = gain_ratio<double>(gl, hl, G, H);
    if (ratio > bar) bar = ratio, at = k;
  }
  const double hl = left_[at] & 0xFFFF, gl = left_[at] >> 16;
  const double score = quadratic(gl, hl, G - gl, H - hl);
  if (!best.loses_to(score, j, request.ties)) return true;
  best = {};
  best.score = score;
  best.column = j;
  best.last_left = static_cast<Code>(at);
  best.left_sum = Lane{left_[at] >> 16} << 32 | Lane{left_[at] & 0xFFFF};
  best.first_right = best.last_left + 1;
  while (cells[best.first_right] == 0) ++best.first_right;
  return true;
}

}  // namespace weald
