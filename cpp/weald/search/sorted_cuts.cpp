#include "weald/search/sorted_cuts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

constexpr std::size_t kColumns = SortedCuts::kColumns;
using Key = SortedCuts::Key;

// For each of some columns: words, and whether two rows have the same code.
constexpr std::size_t kAtOnce = kDoubles;
static_assert(kColumns % kAtOnce == 0);
#ifdef WEALD_HAS_VECTORS
typedef std::uint64_t Words __attribute__((vector_size(8 * kAtOnce)));
typedef std::int64_t Masks __attribute__((vector_size(8 * kAtOnce)));
WEALD_INLINE void masks_of(const Key* keys, Masks& out) {
  typedef Key Keys __attribute__((vector_size(2 * kAtOnce)));
  Keys some;
  std::memcpy(&some, keys, sizeof some);
  out = __builtin_convertvector(some, Masks);
}
WEALD_INLINE void up_to(const std::uint8_t* codes, std::uint8_t most, Masks& out) {
  typedef std::uint8_t Codes __attribute__((vector_size(kAtOnce)));
  Codes some;
  std::memcpy(&some, codes, sizeof some);
  out = __builtin_convertvector(some <= most, Masks);
}
#else
using Words = std::uint64_t;
using Masks = bool;
WEALD_INLINE void masks_of(const Key* keys, Masks& out) { out = *keys != 0; }
WEALD_INLINE void up_to(const std::uint8_t* codes, std::uint8_t most, Masks& out) { out = *codes <= most; }
#endif

// Of signed numbers, as in wide_numbers.hpp.
WEALD_INLINE void to_doubles(const Words& bits, Doubles& out) {
  const Words low = (bits & 0xFFFFFFFF) | 0x4330000000000000, high = (bits >> 32) ^ 0x4530000080000000;
  Doubles of_low, of_high;
  std::memcpy(&of_low, &low, sizeof low), std::memcpy(&of_high, &high, sizeof high);
  out = (of_high - 0x1.00000801p84) + of_low;
}

// out[k] = from[place of the row in column k].
template <class T, class Out>
WEALD_INLINE void gather(const T* from, const Key* keys, Out& out) {
  T some[kAtOnce];
  for (std::size_t k = 0; k < kAtOnce; ++k) some[k] = from[static_cast<std::uint8_t>(keys[k])];
  std::memcpy(&out, some, sizeof out);
}

WEALD_WIDE void make_keys(const std::uint8_t* codes, std::span<const std::uint8_t> places, Key* keys) {
  for (std::size_t p = 0; p < places.size(); ++p) {
    const unsigned place = places[p] ^ 0x8000U;  // in the order of signed numbers
    for (std::size_t c = 0; c < kColumns; ++c) {
      keys[p * kColumns + c] = static_cast<Key>((unsigned{codes[p * kColumns + c]} << 8) ^ place);
    }
  }
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

struct Walk {
  const Key *keys, *within;
  const std::uint8_t* codes;
  std::span<const std::uint8_t> places;
  std::size_t columns, few_codes;  // few codes: 0 if the rows are sorted
  double *most, *at;
};

// What lies left of a cut and right of it, in some columns.
struct Sides {
  Doubles h, left, right;
  Doubles g;  // of two classes, on the left
};

WEALD_INLINE void score_of(const Sides& sides, double total_h, Doubles& out) {
  out = sides.left / sides.h + sides.right / (total_h - sides.h);
}
struct ByScore {
  static constexpr bool kByRatio = false;
  WEALD_INLINE void value(const Sides& sides, double total_h, std::size_t, Doubles& out) const {
    score_of(sides, total_h, out);
  }
};

// Cuts are compared by the values of a rule. A side is made anew where no row is on the left: move(keys, sides) moves the
// next row in each of some columns, and move(place, those, sides) one row in those of the columns; then, finish(sides).
template <class Rule, class MakeSide>
WEALD_INLINE void walk(const Walk& in, double total_h, const Rule& rule, const MakeSide& make) {
  for (std::size_t c = 0; c < in.columns; c += kAtOnce) {
    Doubles most = Doubles{} - kInf, at{};
    Sides best{};
    const auto compare = [&](const Sides& sides, std::size_t here, const Masks& none) __attribute__((always_inline)) {
      Doubles value;
      rule.value(sides, total_h, c, value);
      const auto better = (value > most) & ~none;
      most = better ? value : most;
      at = better ? Doubles{} + static_cast<double>(here) : at;
      if constexpr (Rule::kByRatio) {
        best.h = better ? sides.h : best.h;
        best.left = better ? sides.left : best.left, best.right = better ? sides.right : best.right;
      }
    };
    if (in.few_codes > 0) {
      for (std::size_t code = 0; code + 1 < in.few_codes; ++code) {
        auto side = make();
        Sides sides{};
        for (std::size_t p = 0; p < in.places.size(); ++p) {
          Masks left;
          up_to(in.codes + p * kColumns + c, static_cast<std::uint8_t>(code), left);
          side.move(in.places[p], left, sides);
        }
        side.finish(sides);
        compare(sides, code, Masks{});  // a side without rows scores 0 / 0, which is not better
      }
    } else {
      auto side = make();
      Sides sides{};
      for (std::size_t p = 0; p + 1 < in.places.size(); ++p) {
        side.move(in.keys + p * kColumns + c, sides);
        Masks same;
        masks_of(in.within + p * kColumns + c, same);
        compare(sides, p, same);
      }
    }
    if constexpr (Rule::kByRatio) {
      const auto none = most < 0;
      score_of(best, total_h, most);
      most = none ? Doubles{} - kInf : most;
    }
    write(most, in.most + c), write(at, in.at + c);
  }
}

struct NumberTable {
  const double* h;
  const Lane* g;  // of each output, kRows apart
  std::size_t outputs;
  const Lane* total;  // H, G of each output
};

template <std::size_t kOutputs>  // 0: any number
struct NumberSide {
  const NumberTable& of;
  Words g[kOutputs > 0 ? kOutputs : SortedCuts::kMostOutputs] = {};

  WEALD_INLINE std::size_t outputs() const { return kOutputs > 0 ? kOutputs : of.outputs; }
  WEALD_INLINE void move(const Key* keys, Sides& sides) {
    Doubles h;
    gather(of.h, keys, h);
    sides.h += h;
    for (std::size_t o = 0; o < outputs(); ++o) {
      Words moved;
      gather(of.g + o * SortedCuts::kRows, keys, moved);
      g[o] += moved;
    }
    finish(sides);
  }
  WEALD_INLINE void move(std::size_t place, const Masks& those, Sides& sides) {
    sides.h += those ? Doubles{} + of.h[place] : Doubles{};
    for (std::size_t o = 0; o < outputs(); ++o) {
      g[o] += those ? Words{} + static_cast<std::uint64_t>(of.g[o * SortedCuts::kRows + place]) : Words{};
    }
  }
  WEALD_INLINE void finish(Sides& sides) const {
    sides.left = sides.right = Doubles{};
    for (std::size_t o = 0; o < outputs(); ++o) {
      Doubles gl, gr;
      to_doubles(g[o], gl), to_doubles(static_cast<std::uint64_t>(of.total[1 + o]) - g[o], gr);
      sides.left += gl * gl, sides.right += gr * gr;
    }
  }
};

WEALD_WIDE void walk_one_output(const Walk& in, const NumberTable& of) {
  const auto make = [&]() WEALD_INLINE_LAMBDA { return NumberSide<1>{of}; };
  walk(in, static_cast<double>(of.total[0]), ByScore{}, make);
}
WEALD_WIDE void walk_outputs(const Walk& in, const NumberTable& of) {
  const auto make = [&]() WEALD_INLINE_LAMBDA { return NumberSide<0>{of}; };
  walk(in, static_cast<double>(of.total[0]), ByScore{}, make);
}

//   sum_k (T_k - L_k)^2 = sum T_k^2 - 2 sum T_k L_k + sum L_k^2         L_k: weight on the left of class k, T_k: of all
struct ClassSide {
  const SortedCuts::Classes& of;
  double* own;  // L_k
  Doubles products{};

  WEALD_INLINE void move(const Key* keys, Sides& sides) {
    Doubles moved, product, before;
    gather(of.h, keys, moved), gather(of.products, keys, product);
    double was[kAtOnce];
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      const std::size_t place = static_cast<std::uint8_t>(keys[k]);
      double& sum = own[of.class_of[place] * kAtOnce + k];
      was[k] = sum;
      sum += of.h[place];
    }
    read(was, before);
    products += product;
    sides.h += moved, sides.left += moved * (2 * before + moved);
    sides.right = of.squares - 2 * products + sides.left;
  }
  WEALD_INLINE void move(std::size_t place, const Masks& those, Sides& sides) {
    const Doubles moved = those ? Doubles{} + of.h[place] : Doubles{};
    double* sum = own + of.class_of[place] * kAtOnce;
    Doubles before;
    read(sum, before);
    write(before + moved, sum);
    sides.h += moved;
  }
  WEALD_INLINE void finish(Sides& sides) const {
    Doubles sum = Doubles{};
    for (std::size_t k = 0; k < of.n; ++k) {
      Doubles left;
      read(own + k * kAtOnce, left);
      sides.left += left * left, sum += left * of.weight[k];
    }
    sides.right = of.squares - 2 * sum + sides.left;
  }
};

WEALD_WIDE void walk_classes(const Walk& in, const SortedCuts::Classes& of) {
  double own[SortedCuts::kRows * kAtOnce];
  const auto make = [&]() WEALD_INLINE_LAMBDA {
    std::fill_n(own, of.n * kAtOnce, 0.0);
    return ClassSide{of, own};
  };
  walk(in, of.total_h, ByScore{}, make);
}

// Two classes, in a word: compared by D^2 / (H_l H_r), which is rounded once.
struct TwoClassSide {
  const Lane* words;
  double total_g;
  Words sum{};

  WEALD_INLINE void move(const Key* keys, Sides& sides) {
    Words moved;
    gather(words, keys, moved);
    sum += moved;
    finish(sides);
  }
  WEALD_INLINE void move(std::size_t place, const Masks& those, Sides&) {
    sum += those ? Words{} + static_cast<std::uint64_t>(words[place]) : Words{};
  }
  WEALD_INLINE void finish(Sides& sides) const {
    Doubles g;
    to_doubles(sum & 0xFFFFFFFF, sides.h), to_doubles(sum >> 32, g);
    const Doubles gr = total_g - g;
    sides.g = g, sides.left = g * g, sides.right = gr * gr;
  }
};

struct ByRatio {
  static constexpr bool kByRatio = true;
  double total_g;
  const Key* missing;
  WEALD_INLINE void value(const Sides& sides, double total_h, std::size_t c, Doubles& out) const {
    Masks by_score;
    masks_of(missing + c, by_score);
    const Doubles D = sides.g * total_h - total_g * sides.h;
    Doubles score;
    score_of(sides, total_h, score);
    out = by_score ? score : D * D / (sides.h * (total_h - sides.h));
  }
};
WEALD_WIDE void walk_two_classes(const Walk& in, const Lane* words, Lane total, const Key* missing) {
  const auto total_h = static_cast<double>(total & 0xFFFFFFFF), total_g = static_cast<double>(total >> 32);
  const auto make = [&]() WEALD_INLINE_LAMBDA { return TwoClassSide{words, total_g}; };
  walk(in, total_h, ByRatio{total_g, missing}, make);
}

// All are compared with all, which for so few takes less than branches that cannot be foretold.
WEALD_WIDE void rank_all(const double* numbers, std::size_t n, std::uint8_t* ranks) {
  for (std::size_t a = 0; a < n; ++a) {
    const double own = numbers[a];
    std::int64_t below = 0;
    for (std::size_t b = 0; b < a; ++b) below += numbers[b] <= own;
    for (std::size_t b = a + 1; b < n; ++b) below += numbers[b] < own;
    ranks[a] = static_cast<std::uint8_t>(below);
  }
}

}  // namespace

void find_ranks(std::span<const double> numbers, std::uint8_t* ranks) {
  rank_all(numbers.data(), numbers.size(), ranks);
}

void SortedCuts::search_two_classes(const Lane* words, Lane total) {
  walk_two_classes({keys_, within_, codes_, places_, columns_, few_codes_, most_, at_}, words, total, missing_);
}

void SortedCuts::begin(std::span<const std::uint8_t> places, std::size_t columns, std::size_t codes) {
  places_ = places, columns_ = columns;
  sorted_ = codes > kFewCompared;
  few_codes_ = sorted_ ? 0 : codes;
  if (!sorted_) return;
  make_keys(codes_, places, keys_);
  sort_rows(keys_, places.size());
  find_ties(keys_, places.size(), within_);
}

void SortedCuts::search_numbers(const double* h, const Lane* g, std::size_t outputs, const Lane* total) {
  const Walk in{keys_, within_, codes_, places_, columns_, few_codes_, most_, at_};
  const NumberTable of{h, g, outputs, total};
  outputs == 1 ? walk_one_output(in, of) : walk_outputs(in, of);
}

void SortedCuts::search_classes(const Classes& classes) {
  walk_classes({keys_, within_, codes_, places_, columns_, few_codes_, most_, at_}, classes);
}

Code SortedCuts::first_right(std::size_t c) const {
  if (sorted_) return code_of(at(c) + 1, c);
  Code out = 256;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const Code code = codes_[p * kColumns + c];
    if (code > at(c)) out = std::min(out, code);
  }
  return out;
}

}  // namespace weald
