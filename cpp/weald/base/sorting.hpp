// Sorting of column values: least-significant-digit radix on order-preserving integer keys.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "weald/base/memory.hpp"
#include "weald/base/threads.hpp"

namespace weald {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Maps floats to unsigned integers of the same order: flip all bits of negatives, the sign bit of
// the others. Adding zero turns -0.0 into 0.0, so that equal values have equal keys.
template <class T>
KeyOf<T> key_of(T value) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (sizeof(Key) * 8 - 1);
  const auto bits = std::bit_cast<Key>(value + T{0});
  return bits ^ ((bits & sign) ? ~Key{0} : sign);
}

template <class T>
T value_of(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (sizeof(Key) * 8 - 1);
  return std::bit_cast<T>(key ^ ((key & sign) ? sign : ~Key{0}));
}

// The largest T that is not above x: comparing a T with it is the same as comparing it with x.
template <class T>
T largest_not_above(double x) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return x;
  } else {
    // As integers in the order of the floats; without a branch, since half of all numbers are rounded up.
    const auto flip = [](std::int32_t bits) { return bits ^ ((bits >> 31) & 0x7FFFFFFF); };
    const T rounded = static_cast<T>(x);
    const auto above = static_cast<std::int32_t>(static_cast<double>(rounded) > x);
    return std::bit_cast<T>(flip(flip(std::bit_cast<std::int32_t>(rounded)) - above));
  }
}

// Sorts items by items.key, stably. `scratch` is resized as needed.
template <class Item>
void sort_by_key(BigVector<Item>& items, BigVector<Item>& scratch, Patience& patience) {
  using Key = decltype(Item::key);
  constexpr int kDigit = 11;
  constexpr int kPasses = (sizeof(Key) * 8 + kDigit - 1) / kDigit;
  constexpr std::size_t kBuckets = std::size_t{1} << kDigit;
  const std::size_t n = items.size();
  if (n < 4 * kBuckets / kPasses) {  // too few to pay for the counters
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
    return;
  }
  std::vector<std::array<std::uint32_t, kBuckets>> counts(kPasses);
  for (auto& count : counts) count.fill(0);
  for_all(0, n, patience, [&](std::size_t i) {
    for (int p = 0; p < kPasses; ++p) ++counts[p][(items[i].key >> (p * kDigit)) & (kBuckets - 1)];
  });
  scratch.resize(n);
  // Fresh pages come here one after another: the first items of the first pass would ask for nearly all of them.
  for_stretches(0, n, patience, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += 4096 / sizeof(Item)) scratch[i] = Item{};
  });
  for (int p = 0; p < kPasses; ++p) {
    auto& count = counts[p];
    const int shift = p * kDigit;
    if (count[(items[0].key >> shift) & (kBuckets - 1)] == n) continue;  // one digit: sorted
    std::uint32_t sum = 0;
    for (auto& c : count) sum += std::exchange(c, sum);
    for_stretches(0, n, patience, [&](std::size_t begin, std::size_t end) {
      const Item* from = items.data();
      Item* to = scratch.data();
      for (std::size_t i = begin; i < end; ++i) to[count[(from[i].key >> shift) & (kBuckets - 1)]++] = from[i];
    });
    items.swap(scratch);
  }
}

}  // namespace weald
