#include "weald/search/scan_gradients.hpp"

#include <cstring>
#include <numeric>

#include "weald/base/wide_vectors.hpp"
#include "weald/search/scan_medians.hpp"

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

#ifdef WEALD_HAS_VECTORS
namespace {

static_assert(std::endian::native == std::endian::little);  // H is the first half of a word
typedef Lane Words __attribute__((vector_size(32)));
typedef std::int32_t Halves __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(32)));

// Four words become the sums up to each of them.
WEALD_INLINE void add_up(const Lane* from, Words& to) {
  const Words none{};
  std::memcpy(&to, from, sizeof to);
  to += __builtin_shufflevector(none, to, 0, 4, 2, 6);
  to += __builtin_shufflevector(none, to, 0, 1, 5, 5);
}

}  // namespace
#endif

WEALD_WIDEST std::size_t skip_gradient_cuts([[maybe_unused]] const Lane* cells, std::size_t from,
                                            [[maybe_unused]] std::size_t n, [[maybe_unused]] Lane total,
                                            [[maybe_unused]] const GradientTest& test, [[maybe_unused]] Lane& sum,
                                            std::uint32_t& passed) {
  passed = ~0U;
#ifdef WEALD_HAS_VECTORS
  const float lambda = test.lambda, whole = test.whole, slope = test.slope, steep = test.steep;
  const auto H = static_cast<std::int32_t>(total), G = static_cast<std::int32_t>(total >> 32), half = H / 2,
             too_few = test.least - 1;
  Words before = Words{} + sum;
  // The bits of cuts, which lie as their halves do below.
  constexpr Halves kBits{1, 2, 16, 32, 4, 8, 64, 128};
  for (; from < n; from += kCutsSifted) {
    const Lane* some = cells + from;
    Lane padded[kCutsSifted];  // registers have no odd ends
    if (n - from < kCutsSifted) {
      std::fill(std::copy_n(some, n - from, padded), padded + kCutsSifted, 0);
      some = padded;
    }
    const Lane start = before[0];
    Halves pass{};
    for (std::size_t k = 0; k < kCutsSifted; k += 8) {
      Words first, second;
      add_up(some + k, first), add_up(some + k + 4, second);
      second += __builtin_shufflevector(first, first, 3, 3, 3, 3);
      first += before, second += before;
      before = __builtin_shufflevector(second, second, 3, 3, 3, 3);
      // The halves of words as they lie in memory, H G H G .., of the cuts 0 1 4 5 2 3 6 7. As floats they are parted by
      // one instruction.
      const auto one = reinterpret_cast<Floats>(first), two = reinterpret_cast<Floats>(second);
      const auto h = reinterpret_cast<Halves>(__builtin_shufflevector(one, two, 0, 2, 8, 10, 4, 6, 12, 14));
      const auto g = reinterpret_cast<Halves>(__builtin_shufflevector(one, two, 1, 3, 9, 11, 5, 7, 13, 15));
      const Halves rest = H - h, lighter = rest < h ? rest : h, its_g = h > half ? G - g : g;
      const Floats a = __builtin_convertvector(lighter, Floats) + lambda;
      const Floats d = __builtin_convertvector(its_g, Floats) - slope * a;
      pass |= (lighter > too_few) & (d * d > steep * a * (whole - a)) & kBits << static_cast<std::int32_t>(k);
    }
    auto any = reinterpret_cast<Words>(pass);
    any |= __builtin_shufflevector(any, any, 2, 3, 2, 3);
    if (const Lane bits = any[0] | any[1]; bits != 0) {
      sum = start, passed = static_cast<std::uint32_t>(bits | bits >> 32);
      break;
    }
  }
  return std::min(from, n);
#else
  return from;
#endif
}

double node_score(const SearchRequest& request, const NodeRows& node, const Lane* total) {
  const Channels& stats = *request.stats;
  if (is_from_rows(stats.criterion)) {
    const RankedTargets targets(node, stats, *request.interrupt);
    std::vector<std::uint32_t> all(node.n);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    return -prefix_errors(node, stats, targets, all, {node.n}, false, *request.interrupt).error[0];
  }
  return with_sums(stats, [&](auto sums) {
    sums.start(total);
    return sums.right.score();
  });
}

}  // namespace weald
