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
#include "weald/base/wide_vectors.hpp"
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
#ifdef WEALD_HAS_SSE2
  __m128i place(__m128i heads) const {
    const int missing = static_cast<int>(missing_);
    return _mm_or_si128(_mm_slli_epi32(_mm_srli_epi32(heads, Node::kShift), missing),
                        _mm_and_si128(heads, _mm_set1_epi32(missing)));
  }
#endif
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

// A subtree laid out for such walks, in the order of its nodes. A walk keeps the address of its node, so that no
// register is taken by where the nodes are.
template <class T>
class Steps {
 public:
  using Key = KeyOf<T>;
  struct Step {
    Key threshold, mask;
    std::int32_t skip;    // bytes between the node after this and the one that "no" leads to; kStop: stay here
    std::uint32_t place;  // among the keys of a row
  };
  static constexpr std::int32_t kStop = -static_cast<std::int32_t>(sizeof(Step));

  // The nodes first .. last - 1 of a tree; sets: whether there are tests of categories.
  template <bool kSets>
  void lay_out(const CompactTree& tree, std::uint32_t first, std::uint32_t last, const RowKeys<T>& keys) {
    const std::size_t n = last - first;
    const Node* const nodes = &tree.nodes[first];
    steps_.resize(n);
    std::size_t m = 0;
#ifdef WEALD_HAS_SSE2
    if constexpr (sizeof(Key) == 4) {
      for (; m + 4 <= n; m += 4) {
        prefetch(nodes + m + n);  // of the subtree that comes next
        lay_out_four(nodes + m, keys, steps_.data() + m);
      }
    }
#endif
    for (; m < n; ++m) {
      const Node& node = nodes[m];
      const std::uint32_t inner = node.leaf() ? 0 : ~std::uint32_t{0};
      const Key threshold = key_not_above<T>(node.number) & static_cast<Key>(static_cast<std::int32_t>(inner));
      const std::int32_t skip = (static_cast<std::int32_t>(node.next & inner) - 1) * -kStop;
      steps_[m] = {threshold, ~Key{0}, skip, keys.place(node.head) & inner};
    }
    for (m = 0; kSets && m < n; ++m) {
      if (nodes[m].head & Node::kCategorical) lay_out_set(tree, nodes[m], steps_[m]);
    }
  }
  const Step* first() const { return steps_.data(); }

 private:
#ifdef WEALD_HAS_SSE2
  // Four nodes at once, in the same way.
  WEALD_INLINE static void lay_out_four(const Node* nodes, const RowKeys<T>& keys, Step* steps) {
    const auto* const in = reinterpret_cast<const __m128i*>(nodes);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    const __m128i ab = _mm_unpackhi_epi32(a, b), cd = _mm_unpackhi_epi32(c, d);
    const __m128i head = _mm_unpacklo_epi64(ab, cd), next = _mm_unpackhi_epi64(ab, cd);
    const __m128d first = _mm_castsi128_pd(_mm_unpacklo_epi64(a, b)),
                  second = _mm_castsi128_pd(_mm_unpacklo_epi64(c, d));
    const __m128 rounded = _mm_add_ps(_mm_movelh_ps(_mm_cvtpd_ps(first), _mm_cvtpd_ps(second)), _mm_setzero_ps());
    const __m128d first_above = _mm_cmpgt_pd(_mm_cvtps_pd(rounded), first);
    const __m128d second_above = _mm_cmpgt_pd(_mm_cvtps_pd(_mm_movehl_ps(rounded, rounded)), second);
    const __m128i above = _mm_castps_si128(
        _mm_shuffle_ps(_mm_castpd_ps(first_above), _mm_castpd_ps(second_above), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i bits = _mm_castps_si128(rounded), all = _mm_set1_epi32(-1);
    const __m128i flip = _mm_or_si128(_mm_srai_epi32(bits, 31), _mm_slli_epi32(all, 31));
    const __m128i inner = _mm_cmpeq_epi32(_mm_and_si128(head, _mm_set1_epi32(Node::kLeaf)), _mm_setzero_si128());
    const __m128i threshold = _mm_and_si128(_mm_add_epi32(_mm_xor_si128(bits, flip), above), inner);
    static_assert(sizeof(Step) == 16 || sizeof(Key) != 4);
    const __m128i skip = _mm_slli_epi32(_mm_add_epi32(_mm_and_si128(next, inner), all), 4);
    const __m128i place = _mm_and_si128(keys.place(head), inner);
    const __m128i low = _mm_unpacklo_epi32(threshold, all), low_end = _mm_unpackhi_epi32(threshold, all);
    const __m128i high = _mm_unpacklo_epi32(skip, place), high_end = _mm_unpackhi_epi32(skip, place);
    auto* const out = reinterpret_cast<__m128i*>(steps);
    _mm_storeu_si128(out, _mm_unpacklo_epi64(low, high)), _mm_storeu_si128(out + 1, _mm_unpackhi_epi64(low, high));
    _mm_storeu_si128(out + 2, _mm_unpacklo_epi64(low_end, high_end));
    _mm_storeu_si128(out + 3, _mm_unpackhi_epi64(low_end, high_end));
  }
#endif

  static void lay_out_set(const CompactTree& tree, const Node& node, Step& step) {
    const auto set = std::bit_cast<std::uint64_t>(node.number);
    step.threshold = 0;
    if (stops<T>(node)) {
      step.skip = kStop;
      return;
    }
    const std::uint32_t* words = tree.sets.data() + (set >> 32);
    std::uint64_t left = words[0];
    if (static_cast<std::uint32_t>(set) > 32) left |= std::uint64_t{words[1]} << 32;
    if (node.head & Node::kMissingLeft) left |= RowKeys<T>::kMissing;
    step.mask = ~static_cast<Key>(left) | RowKeys<T>::kUnknown;
  }

  std::vector<Step> steps_;
};

// A batch of rows goes down in step, some steps at a time; those that have arrived make room. rows[k] ends in leaf[k].
// ask(node, k) answers the tests that are asked apart: where rows[k] comes to next.
template <bool kSets, class T, class Ask>
[[gnu::noinline]] void walk_in_step(const RowKeys<T>& keys, const Steps<T>& steps, std::span<const Row> rows,
                                    std::uint32_t* leaf, Ask&& ask) {
  using Key = KeyOf<T>;
  using Step = typename Steps<T>::Step;
  constexpr std::size_t kSide = 6, kBatch = 10 * kSide;  // so many rows at a time, whose places stay in registers
  const Step *const first = steps.first(), *at[kBatch];
  std::size_t lane[kBatch];
  const Key* values[kBatch];
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatch, leaf += kBatch) {
    std::size_t n = std::min(kBatch, rows.size() - begin);
    for (std::size_t k = 0; k < n; ++k) {
      if (begin + k + kBatch < rows.size()) keys.bring_near(rows[begin + k + kBatch]);
      at[k] = first, lane[k] = k, values[k] = keys.of(rows[begin + k]);
    }
    const auto go = [&]<std::size_t kSteps>(std::integral_constant<std::size_t, kSteps>) {
      for (std::size_t k = n; k % kSide != 0; ++k) at[k] = at[0], lane[k] = lane[0];
      for (std::size_t from = 0; from < n; from += kSide) {
        const Step* now[kSide];
        const Key* row[kSide];
        for (std::size_t l = 0; l < kSide; ++l) now[l] = at[from + l], row[l] = values[lane[from + l]];
#pragma GCC unroll 8
        for (std::size_t s = 0; s < kSteps; ++s) {
#pragma GCC unroll 6
          for (std::size_t l = 0; l < kSide; ++l) {
            Key key = row[l][now[l]->place];
            if (kSets) key &= now[l]->mask;
            const std::int64_t no = -static_cast<std::int64_t>(now[l]->threshold < key);
            now[l] = reinterpret_cast<const Step*>(reinterpret_cast<const char*>(now[l] + 1) + (now[l]->skip & no));
          }
        }
        for (std::size_t l = 0; l < kSide; ++l) at[from + l] = now[l];
      }
      std::size_t left = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = lane[k];
        const Step* now = at[k];
        bool stay = now->skip == Steps<T>::kStop;
        if (kSets && stay) {
          const Step* const next = first + ask(static_cast<std::size_t>(now - first), begin + i);
          stay = next == now, now = next;
        }
        leaf[i] = static_cast<std::uint32_t>(now - first);
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
