// What values become codes by: sorted values, and the cuts between quantile bins.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "weald/base/exact_sums.hpp"
#include "weald/base/random.hpp"
#include "weald/base/sorting.hpp"
#include "weald/bins/bins.hpp"

namespace weald {

template <class T>
struct Ranked {
  KeyOf<T> key;
  Row row;
};

template <class T>
struct Bare {
  KeyOf<T> key;
};

// Memory that one thread uses for column after column.
template <class T>
struct Scratch {
  BigVector<Ranked<T>> ranked, ranked_spare;
  BigVector<Bare<T>> bare, bare_spare;
  BigVector<T> columns;  // some of them, one after another
};

// The rows whose values decide about quantiles: all, or one from each of so many equal strata. That covers the table
// evenly, and there is no set of drawn rows to keep.
struct Sample {
  std::size_t n_rows, size;

  explicit Sample(std::size_t n) : n_rows(n), size(n > kSampleAbove ? kSampleSize : n) {}
  std::size_t row(std::size_t k) const {
    if (size == n_rows) return k;
    const std::size_t begin = k * n_rows / size, end = (k + 1) * n_rows / size;
    return begin + combine(0x5A3D1E, k) % (end - begin);
  }
};

// Weights as whole numbers, so that their sums are the same in any order: 2^52 in all. None of them becomes 0.
inline BigVector<Lane> whole_weights(const double* weights, std::size_t n) {
  BigVector<Lane> out(weights ? n : 0);
  double total = 0;
  for (std::size_t i = 0; i < out.size(); ++i) total += weights[i];
  const int exponent = exponent_for(total, 52);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Lane units = std::llrint(std::ldexp(weights[i], exponent));
    out[i] = weights[i] > 0 ? std::max(units, Lane{1}) : 0;
  }
  return out;
}

// A column's cuts in histogram mode. A value belongs to the first bin whose `top` is not below it.
template <class T>
struct Cuts {
  std::vector<T> top;        // ascending, one per bin; the last is +inf
  std::vector<T> low, high;  // extremes of the values seen in each bin
};

// Equal-weight bins over sorted values: close a bin when it holds its share of what is left. Ties
// stay together, so a value heavier than a share gets a bin of its own and the others' shares grow.
template <class T, class Item, class WeightOf>
Cuts<T> quantile_cuts(const BigVector<Item>& sorted, WeightOf&& weight_of, std::size_t max_bins) {
  const std::size_t n = sorted.size();
  const auto run_ends = [&](std::size_t k) { return k + 1 == n || sorted[k + 1].key != sorted[k].key; };
  std::size_t distinct = 0;
  Lane left = 0;
  for (std::size_t k = 0; k < n; ++k) {
    distinct += run_ends(k);
    left += weight_of(sorted[k]);
  }
  Cuts<T> cuts;
  Lane inside = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const T value = value_of<T>(sorted[k].key);
    if (inside == 0) cuts.low.push_back(value);
    inside += weight_of(sorted[k]);
    if (!run_ends(k)) continue;
    const std::size_t bins_left = max_bins - cuts.high.size();
    const bool last = k + 1 == n;
    const bool full = bins_left > 1 && inside * static_cast<Lane>(bins_left) >= left;
    if (!last && !full && distinct > max_bins) continue;
    cuts.high.push_back(value);
    cuts.top.push_back(last ? std::numeric_limits<T>::infinity()
                            : largest_not_above<T>(midpoint(value, value_of<T>(sorted[k + 1].key))));
    left -= inside;
    inside = 0;
  }
  return cuts;
}

// The keys of a column, as long as they are few: each has a place of its own, so that no rows are sorted.
template <class Key>
class FewKeys {
 public:
  explicit FewKeys(std::size_t most) : most_(std::min(most, kFewKeys)) {}

  // False if there are too many.
  bool add(Key key) {
    std::size_t at = key * std::uint64_t{0x9E3779B97F4A7C15} >> (64 - kBits);  // the high bits: numbers end in zeros
    while (places_[at] != key && places_[at] != 0) at = (at + 1) % kPlaces;
    if (places_[at] == key) return true;
    places_[at] = key;
    return ++n_ <= most_;
  }

  template <class Item>
  void list(BigVector<Item>& items) const {
    items.clear();
    for (const Key key : places_) {
      if (key != 0) items.push_back({key});
    }
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
  }

 private:
  static constexpr int kBits = std::bit_width(kFewKeys) + 4;
  static constexpr std::size_t kPlaces = std::size_t{1} << kBits;
  std::array<Key, kPlaces> places_{};  // 0, the key of no number: none
  std::size_t n_ = 0, most_;
};

// A sample does not show the extremes of a bin: take the cuts themselves, so that a threshold between
// two bins parts all rows as their codes do.
template <class T>
void widen_to_cuts(Cuts<T>& cuts) {
  for (std::size_t b = 0; b + 1 < cuts.top.size(); ++b) cuts.high[b] = cuts.low[b + 1] = cuts.top[b];
}

// Finds the bins of many values of one column: the first bin whose top is not below the value. A
// branch-free binary search over a table padded to a power of 2, several values in flight at once, so that
// the processor need neither guess nor wait.
template <class T>
class BinFinder {
 public:
  explicit BinFinder(const std::vector<T>& top) : half_(static_cast<std::uint32_t>(std::bit_ceil(top.size()) / 2)) {
    top_.fill(std::numeric_limits<T>::infinity());
    std::copy(top.begin(), top.end(), top_.begin());
  }

  static constexpr std::size_t kLanes = 8;

  // codes[i] for n values, n a multiple of kLanes; NaN gets an arbitrary code.
  void find(const T* values, std::size_t n, std::uint8_t* codes) const {
    for (std::size_t i = 0; i < n; i += kLanes) {
      std::uint32_t at[kLanes] = {};
#pragma GCC unroll 8
      for (std::uint32_t half = 128; half > 0; half /= 2) {
        if (half > half_) continue;
        for (std::size_t k = 0; k < kLanes; ++k) {
          at[k] += static_cast<std::uint32_t>(top_[at[k] + half - 1] < values[i + k]) * half;
        }
      }
      for (std::size_t k = 0; k < kLanes; ++k) codes[i + k] = static_cast<std::uint8_t>(at[k]);
    }
  }

 private:
  std::array<T, 256> top_;
  std::uint32_t half_;  // of the table
};

}  // namespace weald
