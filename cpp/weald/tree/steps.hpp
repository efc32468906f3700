// Walks of many rows down a deep tree in step, without a branch that depends on a row.
//
// The values of a row are keys, whole numbers in the same order, and a test is one comparison of such a key:
//
//   number     key > threshold                      a missing value has the highest key, or in a second copy of the row's
//                                                   keys, for tests that send it left, the lowest
//   category   (key & mask) > 0                     the key has one bit, the mask those of the categories that go right
//   leaf       key > 0, which is always so          and leads to the leaf itself
//
// A set of many categories stops a walk as a leaf does, and is asked apart.
#pragma once

#include <algorithm>
#include <span>

#include "weald/base/sorting.hpp"
#include "weald/tree/compact.hpp"

namespace weald {

// The largest key of a T that is not above x: no T lies between.
template <class T>
KeyOf<T> key_not_above(double x) {
  const T rounded = static_cast<T>(x);
  return key_of(rounded) - static_cast<KeyOf<T>>(static_cast<double>(rounded) > x);
}

// The keys of rows begin .. end - 1.
template <class T>
class RowKeys {
 public:
  using Key = KeyOf<T>;
  // Categories that are bits of a key, next to one for missing and one for unknown values.
  static constexpr std::size_t kBits = 8 * sizeof(Key), kMostBits = kBits - 2;
  static constexpr Key kUnknown = Key{1} << (kBits - 1), kMissing = Key{1} << (kBits - 2);

  RowKeys(const Table<T>& table, std::size_t begin, std::size_t end, bool missing,
          std::span<const std::uint32_t> n_categories)
      : begin_(begin), missing_(missing), width_(table.n_columns << missing_), keys_((end - begin) * width_) {
    for (std::size_t i = begin; i < end; ++i) {
      Key* keys = keys_.data() + (i - begin) * width_;
      for (std::size_t j = 0; j < table.n_columns; ++j) {
        const T value = table.at(i, j);
        keys[j << missing_] = value == value ? key_of(value) : ~Key{0};
      }
      for (std::size_t j = 0; missing_ && j < table.n_columns; ++j) {
        keys[2 * j + 1] = keys[2 * j] == ~Key{0} ? Key{1} : keys[2 * j];
      }
    }
    for (std::size_t j = 0; j < n_categories.size(); ++j) {
      if (n_categories[j] == 0) continue;
      for (std::size_t i = begin; i < end; ++i) {
        const T value = table.at(i, j);
        const bool known = value >= 0 && value < static_cast<T>(std::min<std::size_t>(n_categories[j], kMostBits));
        Key* const keys = keys_.data() + (i - begin) * width_ + (j << missing_);
        keys[0] = known ? Key{1} << static_cast<unsigned>(value) : value == value ? kUnknown : kMissing;
        keys[missing_] = keys[0];
      }
    }
  }

  const Key* of(Row row) const { return keys_.data() + (row - begin_) * width_; }
  std::size_t width() const { return width_; }
  // Where among the keys of a row a test looks.
  std::uint32_t place(std::uint32_t head) const {
    return head >> Node::kShift << missing_ | (head & static_cast<std::uint32_t>(missing_));
  }
  void bring_near(Row row) const {
    for (std::size_t k = 0; k < width_; k += 64 / sizeof(Key)) prefetch(of(row) + k);
  }

 private:
  static_assert(Node::kMissingLeft == 1);
  std::size_t begin_, missing_;  // 1: there are missing values, and two copies
  std::size_t width_;
  BigVector<Key> keys_;
};

// Is this a test of more categories than a key has bits?
template <class T>
bool stops(const Node& node) {
  constexpr std::uint32_t kKind = Node::kLeaf | Node::kCategorical;
  return (node.head & kKind) == Node::kCategorical &&
         static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(node.number)) > RowKeys<T>::kMostBits;
}

// A subtree laid out for such walks, in the order of its nodes.
template <class T>
struct Steps {
  using Key = KeyOf<T>;
  static constexpr std::uint32_t kStop = ~std::uint32_t{0};

  std::vector<Key> threshold, mask;
  std::vector<std::uint32_t> skip;  // nodes between this and the one that "no" leads to; kStop: stay here
  std::vector<std::uint16_t> place;

  // The nodes first .. last - 1 of a tree; sets: whether there are tests of categories.
  template <bool kSets>
  void lay_out(const CompactTree& tree, std::uint32_t first, std::uint32_t last, const RowKeys<T>& keys) {
    const std::size_t n = last - first;
    threshold.resize(n), skip.resize(n), place.resize(n);
    if (kSets) mask.assign(n, ~Key{0});
    for (std::size_t m = 0; m < n; ++m) {
      const Node& node = tree.nodes[first + m];
      const std::uint32_t inner = node.leaf() ? 0 : ~std::uint32_t{0};
      threshold[m] = key_not_above<T>(node.number) & static_cast<Key>(static_cast<std::int32_t>(inner));
      skip[m] = (node.next & inner) - 1;
      place[m] = static_cast<std::uint16_t>(keys.place(node.head) & inner);
      if (kSets && (node.head & Node::kCategorical)) lay_out_set(tree, node, m);
    }
  }

 private:
  void lay_out_set(const CompactTree& tree, const Node& node, std::size_t m) {
    const auto set = std::bit_cast<std::uint64_t>(node.number);
    threshold[m] = 0;
    if (stops<T>(node)) {
      skip[m] = kStop;
      return;
    }
    const std::uint32_t* words = tree.sets.data() + (set >> 32);
    std::uint64_t left = words[0];
    if (static_cast<std::uint32_t>(set) > 32) left |= std::uint64_t{words[1]} << 32;
    if (node.head & Node::kMissingLeft) left |= RowKeys<T>::kMissing;
    mask[m] = ~static_cast<Key>(left) | RowKeys<T>::kUnknown;
  }
};

// A batch of rows goes down in step, some steps at a time; those that have arrived make room. rows[k] ends in leaf[k].
// ask(node, k) answers the tests that are asked apart: where rows[k] comes to next.
template <bool kSets, class T, class Ask>
[[gnu::noinline]] void walk_in_step(const RowKeys<T>& keys, const Steps<T>& steps, std::span<const Row> rows,
                                    std::uint32_t* leaf, Ask&& ask) {
  using Key = KeyOf<T>;
  constexpr std::size_t kBatch = 64, kSide = 4;  // so many rows at a time, whose places stay in registers
  std::size_t at[kBatch], lane[kBatch];
  const Key* values[kBatch];
  const Key *const threshold = steps.threshold.data(), *const mask = steps.mask.data();
  const std::uint32_t* const skip = steps.skip.data();
  const std::uint16_t* const place = steps.place.data();
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatch, leaf += kBatch) {
    std::size_t n = std::min(kBatch, rows.size() - begin);
    for (std::size_t k = 0; k < n; ++k) {
      if (begin + k + kBatch < rows.size()) keys.bring_near(rows[begin + k + kBatch]);
      at[k] = 0, lane[k] = k, values[k] = keys.of(rows[begin + k]);
    }
    const auto go = [&]<std::size_t kSteps>(std::integral_constant<std::size_t, kSteps>) {
      for (std::size_t k = n; k % kSide != 0; ++k) at[k] = at[0], lane[k] = lane[0];
      for (std::size_t from = 0; from < n; from += kSide) {
        std::size_t now[kSide];
        const Key* row[kSide];
        for (std::size_t l = 0; l < kSide; ++l) now[l] = at[from + l], row[l] = values[lane[from + l]];
#pragma GCC unroll 8
        for (std::size_t s = 0; s < kSteps; ++s) {
#pragma GCC unroll 4
          for (std::size_t l = 0; l < kSide; ++l) {
            Key key = row[l][place[now[l]]];
            if (kSets) key &= mask[now[l]];
            const std::uint32_t no = 0U - static_cast<std::uint32_t>(threshold[now[l]] < key);
            now[l] = static_cast<std::uint32_t>(now[l] + 1 + (skip[now[l]] & no));
          }
        }
        for (std::size_t l = 0; l < kSide; ++l) at[from + l] = now[l];
      }
      std::size_t left = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = lane[k];
        std::size_t now = at[k];
        bool stay = skip[now] == Steps<T>::kStop;
        if (kSets && stay) {
          const std::size_t next = ask(now, begin + i);
          stay = next == now, now = next;
        }
        leaf[i] = static_cast<std::uint32_t>(now);
        at[left] = now, lane[left] = i;
        left += !stay;
      }
      n = left;
    };
    go(std::integral_constant<std::size_t, 8>{});
    while (n > 0) go(std::integral_constant<std::size_t, 4>{});
  }
}

}  // namespace weald
