#include "weald/search/sorted_cuts.hpp"

#include <algorithm>

#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

constexpr std::size_t kColumns = SortedCuts::kColumns, kAtOnce = 4;
using Key = SortedCuts::Key;

// Merge exchange (Batcher 1968; Knuth, The Art of Computer Programming, 5.2.2, algorithm M): which rows are compared does
// not depend on what is in them.
WEALD_WIDE void sort_rows(Key* keys, std::size_t n) {
  const std::size_t top = std::bit_ceil(n) / 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    for (std::size_t q = top, first = 0, apart = p;; apart = q - p, q /= 2, first = p) {
      for (std::size_t begin = first; begin + apart < n; begin += 2 * p) {
        const std::size_t end = std::min(begin + p, n - apart);
        for (std::size_t i = begin; i < end; ++i) {
          Key *const a = keys + i * kColumns, *const b = a + apart * kColumns;
          for (std::size_t c = 0; c < kColumns; ++c) {
            const Key x = a[c], y = b[c];
            a[c] = x < y ? x : y, b[c] = x < y ? y : x;
          }
        }
      }
      if (q == p) break;
    }
  }
}

WEALD_WIDE void find_ties(const Key* keys, std::size_t n, Key* within) {
  for (std::size_t k = 0; k + kColumns < n * kColumns; ++k) {
    within[k] = static_cast<Key>(-(((keys[k] ^ keys[k + kColumns]) & 0xFF00) == 0));
  }
}

WEALD_WIDE void find_best(const double* h, const double* left, const double* right, std::size_t n, std::size_t width,
                          double total_h, double* most, double* at) {
  for (std::size_t c = 0; c < width; c += kAtOnce) {
    double top[kAtOnce], where[kAtOnce] = {};
    for (std::size_t k = 0; k < kAtOnce; ++k) top[k] = -kInf;
    for (std::size_t p = 0; p < n; ++p) {
      const auto here = static_cast<double>(p);
      for (std::size_t k = 0; k < kAtOnce; ++k) {
        const std::size_t cut = p * width + c + k;
        const double score = left[cut] / h[cut] + right[cut] / (total_h - h[cut]);
        const bool better = score > top[k];
        top[k] = better ? score : top[k];
        where[k] = better ? here : where[k];
      }
    }
    for (std::size_t k = 0; k < kAtOnce; ++k) most[c + k] = top[k], at[c + k] = where[k];
  }
}

}  // namespace

WEALD_WIDE void add_squares(const Lane* g, std::size_t n, Lane total, double* left, double* right) {
  for (std::size_t k = 0; k < n; ++k) {
    const double gl = to_double(g[k]), gr = to_double(total - g[k]);
    left[k] += gl * gl, right[k] += gr * gr;
  }
}

void SortedCuts::sort(std::size_t rows, std::size_t columns) {
  rows_ = rows, columns_ = columns, width_ = (columns + kAtOnce - 1) / kAtOnce * kAtOnce;
  sort_rows(keys_, rows);
  find_ties(keys_, rows, within_);
}

void SortedCuts::score(double total_h) { find_best(h_, left_, right_, rows_ - 1, width_, total_h, most_, at_); }

}  // namespace weald
