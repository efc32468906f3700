#include "weald/search/sorted_cuts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "weald/base/wide_vectors.hpp"

namespace weald {

namespace {

constexpr std::size_t kColumns = SortedCuts::kColumns;
using Key = SortedCuts::Key;

// A number for each of some columns.
#ifdef WEALD_HAS_VECTORS
constexpr std::size_t kAtOnce = 4;
typedef double Doubles __attribute__((vector_size(8 * kAtOnce)));
typedef std::uint64_t Words __attribute__((vector_size(8 * kAtOnce)));
typedef std::int64_t Masks __attribute__((vector_size(8 * kAtOnce)));
typedef Key Keys __attribute__((vector_size(2 * kAtOnce)));
WEALD_INLINE Masks masks_of(const Key* keys) {
  Keys some;
  std::memcpy(&some, keys, sizeof some);
  return __builtin_convertvector(some, Masks);
}
template <class Fn>
WEALD_INLINE Doubles each(Fn&& fn) {
  return Doubles{fn(0), fn(1), fn(2), fn(3)};
}
template <class Fn>
WEALD_INLINE Words each_word(Fn&& fn) {
  return Words{fn(0), fn(1), fn(2), fn(3)};
}
#else
constexpr std::size_t kAtOnce = 1;
using Doubles = double;
using Words = std::uint64_t;
WEALD_INLINE bool masks_of(const Key* keys) { return *keys != 0; }
template <class Fn>
WEALD_INLINE Doubles each(Fn&& fn) {
  return fn(0);
}
template <class Fn>
WEALD_INLINE Words each_word(Fn&& fn) {
  return fn(0);
}
#endif
static_assert(kColumns % kAtOnce == 0);

// Of signed numbers, as in wide_numbers.hpp.
WEALD_INLINE Doubles doubles_of(Words bits) {
  const auto low = std::bit_cast<Doubles>((bits & 0xFFFFFFFF) | 0x4330000000000000);
  const auto high = std::bit_cast<Doubles>((bits >> 32) ^ 0x4530000080000000);
  return (high - 0x1.00000801p84) + low;
}

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

// What lies left of a cut and right of it, in some columns.
struct Sides {
  Doubles h, left, right;
};

struct Walk {
  const Key *keys, *within;
  std::size_t rows, columns;
  double *most, *at;
};

// `begin(c)`: all rows are on the right, in the columns from c on; `move(places)` moves one row in each.
template <class Begin, class Move>
WEALD_INLINE void walk(const Walk& in, double total_h, Begin&& begin, Move&& move) {
  for (std::size_t c = 0; c < in.columns; c += kAtOnce) {
    begin(c);
    Doubles h{}, most = Doubles{} - kInf, at{};
    for (std::size_t p = 0; p + 1 < in.rows; ++p) {
      const Key* keys = in.keys + p * kColumns + c;
      const Sides sides = move([=](std::size_t k) { return static_cast<std::uint8_t>(keys[k]); }, h);
      h = sides.h;
      const Doubles score = sides.left / h + sides.right / (total_h - h);
      const auto better = (score > most) & ~masks_of(in.within + p * kColumns + c);
      most = better ? score : most;
      at = better ? Doubles{} + static_cast<double>(p) : at;
    }
    std::memcpy(in.most + c, &most, sizeof most), std::memcpy(in.at + c, &at, sizeof at);
  }
}

template <std::size_t kOutputs>  // 0: so many
WEALD_INLINE void walk_numbers(const Walk& in, const double* h_of, const Lane* g_of, std::size_t outputs,
                               const Lane* total) {
  const std::size_t n = kOutputs > 0 ? kOutputs : outputs;
  Words left[SortedCuts::kMostOutputs];
  const auto begin = [&](std::size_t) {
    for (std::size_t o = 0; o < n; ++o) left[o] = Words{};
  };
  walk(in, static_cast<double>(total[0]), begin, [&](auto&& place, Doubles h) {
    Sides out{h + each([&](std::size_t k) { return h_of[place(k)]; }), Doubles{}, Doubles{}};
    for (std::size_t o = 0; o < n; ++o) {
      const Lane* g = g_of + o * SortedCuts::kRows;
      left[o] += each_word([&](std::size_t k) { return static_cast<std::uint64_t>(g[place(k)]); });
      const Doubles gl = doubles_of(left[o]), gr = doubles_of(static_cast<std::uint64_t>(total[1 + o]) - left[o]);
      out.left += gl * gl, out.right += gr * gr;
    }
    return out;
  });
}

WEALD_WIDE void walk_one_output(const Walk& in, const double* h, const Lane* g, const Lane* total) {
  walk_numbers<1>(in, h, g, 1, total);
}
WEALD_WIDE void walk_outputs(const Walk& in, const double* h, const Lane* g, std::size_t outputs, const Lane* total) {
  walk_numbers<0>(in, h, g, outputs, total);
}

//   sum_k (T_k - L_k)^2 = sum T_k^2 - 2 sum T_k L_k + sum L_k^2         L_k: weight on the left of class k, T_k: of all
WEALD_WIDE void walk_classes(const Walk& in, const SortedCuts::Classes& of) {
  double own[SortedCuts::kRows * kAtOnce];  // L_k
  Doubles squares, products;
  const auto begin = [&](std::size_t) {
    std::fill_n(own, of.n * kAtOnce, 0.0);
    squares = products = Doubles{};
  };
  walk(in, of.total_h, begin, [&](auto&& place, Doubles h) {
    const Doubles moved = each([&](std::size_t k) { return of.h[place(k)]; });
    const Doubles before = each([&](std::size_t k) {
      double& sum = own[of.class_of[place(k)] * kAtOnce + k];
      const double was = sum;
      sum = was + of.h[place(k)];
      return was;
    });
    squares += moved * (2 * before + moved);
    products += each([&](std::size_t k) { return of.products[place(k)]; });
    return Sides{h + moved, squares, of.squares - 2 * products + squares};
  });
}

}  // namespace

void SortedCuts::sort(std::size_t rows, std::size_t columns) {
  rows_ = rows, columns_ = columns;
  sort_rows(keys_, rows);
  find_ties(keys_, rows, within_);
}

void SortedCuts::search_numbers(const double* h, const Lane* g, std::size_t outputs, const Lane* total) {
  const Walk in{keys_, within_, rows_, columns_, most_, at_};
  outputs == 1 ? walk_one_output(in, h, g, total) : walk_outputs(in, h, g, outputs, total);
}

void SortedCuts::search_classes(const Classes& classes) {
  walk_classes({keys_, within_, rows_, columns_, most_, at_}, classes);
}

}  // namespace weald
