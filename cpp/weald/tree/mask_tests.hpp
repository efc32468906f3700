// Tests that are asked of many rows at once: what leaf masks and the tops of deep trees share. See leaf_masks.hpp.
#pragma once

#include "weald/base/wide_vectors.hpp"

#ifdef WEALD_HAS_VECTORS

#include <algorithm>
#include <bit>
#include <cmath>

#include "weald/base/sorting.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

// A test of one column; the leaves that stay if it says "no".
template <class V, class M>
struct Test {
  V threshold;
  std::uint32_t column;  // among those in use
  M stay;
};

template <class M>
struct SetTest {
  const std::uint32_t* set;
  std::uint32_t n_categories, column;
  bool missing_left;
  M stay;
};

// Numbers of type V, thirty-two bytes of them in a register; four registers of rows at a time.
template <class V>
constexpr std::size_t kRows = 128 / sizeof(V);

// Where the tests of a tree end.
struct Part {
  std::size_t right = 0, left = 0, sets = 0;
};

template <class V, class M>
struct Tests {
  std::vector<Test<V, M>> right, left;  // by where missing values go
  std::vector<SetTest<M>> sets;
  std::vector<Part> parts{{}};  // those of tree t lie between parts[t] and parts[t + 1]
};

template <class V, class M>
WEALD_INLINE void ask_set(const SetTest<M>& test, const V* tile, std::size_t n, M* leaves) {
  for (std::size_t r = 0; r < n; ++r) {
    const V value = tile[test.column * kRows<V> + r];
    const bool known = value >= 0 && value < static_cast<V>(test.n_categories);
    const auto c = static_cast<std::uint32_t>(known ? value : V{0});
    const bool yes = (known & bit_of(test.set, c)) | ((value != value) & test.missing_left);
    leaves[r] &= test.stay | (M{0} - static_cast<M>(yes));
  }
}

// The same of a column of few categories, whose set is bits: all rows at once, a word of the set at a time. `codes`
// are the categories, or one of two that no word holds.
constexpr std::uint32_t kMissingCode = kFewCategories, kUnknownCode = 2 * kFewCategories;

template <class V, class M>
WEALD_INLINE void ask_bits(const SetTest<M>& test, const M* codes, M* leaves) {
  typedef M Masks __attribute__((vector_size(32), may_alias));
  const auto* code = reinterpret_cast<const Masks*>(codes + test.column * kRows<V>);
  auto* out = reinterpret_cast<Masks*>(leaves);
  const Masks stay = test.stay - Masks{}, absent = (test.missing_left ? M{kMissingCode} : ~M{0}) - Masks{};
  Masks yes[4];
  for (std::size_t q = 0; q < 4; ++q) yes[q] = (Masks)(code[q] == absent);
  for (M word = 0; word * 32 < test.n_categories; ++word) {
    const Masks bits = M{test.set[word]} - Masks{};
    for (std::size_t q = 0; q < 4; ++q) {
      yes[q] |= (Masks)(code[q] >> 5 == word - Masks{}) & (0 - ((bits >> (code[q] & 31)) & 1));
    }
  }
  for (std::size_t q = 0; q < 4; ++q) out[q] &= yes[q] | stay;
}

// Which leaves of a tree are left to each of the n rows of a tile, after all its tests.
template <class V, class M>
WEALD_INLINE void ask_tests(const Tests<V, M>& tests, std::size_t tree, const V* tile, const M* codes, std::size_t n,
                            M* leaves) {
  typedef V Values __attribute__((vector_size(32), may_alias));
  typedef M Masks __attribute__((vector_size(32), may_alias));
  const Part& from = tests.parts[tree];
  const Part& to = tests.parts[tree + 1];
  Masks a = ~Masks{}, b = a, c = a, d = a;
  for (std::size_t k = from.right; k < to.right; ++k) {
    const Test<V, M>& test = tests.right[k];
    const auto* x = reinterpret_cast<const Values*>(tile + test.column * kRows<V>);
    const Values threshold = test.threshold - Values{};
    const Masks stay = test.stay - Masks{};
    a &= (Masks)(x[0] <= threshold) | stay, b &= (Masks)(x[1] <= threshold) | stay;
    c &= (Masks)(x[2] <= threshold) | stay, d &= (Masks)(x[3] <= threshold) | stay;
  }
  for (std::size_t k = from.left; k < to.left; ++k) {  // a missing value is not above: it goes left
    const Test<V, M>& test = tests.left[k];
    const auto* x = reinterpret_cast<const Values*>(tile + test.column * kRows<V>);
    const Values threshold = test.threshold - Values{};
    const Masks stay = test.stay - Masks{};
    a &= ~(Masks)(x[0] > threshold) | stay, b &= ~(Masks)(x[1] > threshold) | stay;
    c &= ~(Masks)(x[2] > threshold) | stay, d &= ~(Masks)(x[3] > threshold) | stay;
  }
  auto* out = reinterpret_cast<Masks*>(leaves);
  out[0] = a, out[1] = b, out[2] = c, out[3] = d;
  for (std::size_t k = from.sets; k < to.sets; ++k) {
    const SetTest<M>& test = tests.sets[k];
    test.n_categories <= kFewCategories ? ask_bits<V>(test, codes, leaves) : ask_set(test, tile, n, leaves);
  }
}

// Tests of one tree after another, and the columns that they ask for, side by side.
template <class V, class M>
class MaskTests {
 public:
  explicit MaskTests(const std::vector<std::uint32_t>& n_categories)
      : place_(n_categories.size(), 0), n_categories_(n_categories) {}

  const Tests<V, M>& tests() const { return tests_; }
  std::size_t n_columns() const { return columns_.size(); }
  bool has_sets() const { return !tests_.sets.empty(); }

  // The test of node m; of the leaves those from `first` on, n of them (fewer than there are bits), are below its "yes".
  void add_test(const CompactTree& tree, std::size_t m, std::uint32_t first, std::uint32_t n) {
    const Node& node = tree.nodes[m];
    const std::uint32_t column = place_of(node.head >> Node::kShift);
    const M stay = static_cast<M>(~(((M{1} << n) - 1) << first));
    const bool missing_left = (node.head & Node::kMissingLeft) != 0;
    if (node.head & Node::kCategorical) {
      const auto set = std::bit_cast<std::uint64_t>(node.number);
      const auto categories = static_cast<std::uint32_t>(set);
      const std::uint32_t* words = tree.sets.data() + (set >> 32);
      if (categories > kFewCategories) {  // as bits, which are found at once
        auto& bits = bits_.emplace_back((categories + 31) / 32, 0);
        for (std::uint32_t c = 0; c < categories; ++c) bits[c / 32] |= std::uint32_t{in_wide_set(words, c)} << (c % 32);
        words = bits.data();
      }
      tests_.sets.push_back({words, categories, column, missing_left, stay});
      return;
    }
    const V threshold = sizeof(V) == sizeof(double) ? static_cast<V>(node.number) : largest_not_above<V>(node.number);
    (missing_left ? tests_.left : tests_.right).push_back({threshold, column, stay});
  }
  void end_tree() { tests_.parts.push_back({tests_.right.size(), tests_.left.size(), tests_.sets.size()}); }

  // Tiles of kRows<V> rows: the values of all columns that are asked for, and the codes of categories. Registers are
  // filled from addresses that are multiples of their size. Where no column has categories, codes may be null.
  std::size_t tile_size() const { return std::max<std::size_t>(columns_.size(), 1) * kRows<V>; }
  template <class X>
  static X* aligned(std::vector<X>& memory, std::size_t size) {
    memory.resize(size + 32 / sizeof(X));
    return memory.data() + (0 - reinterpret_cast<std::uintptr_t>(memory.data())) % 32 / sizeof(X);
  }
  template <class T>
  void load(const Table<T>& table, std::size_t from, std::size_t n, V* tile, M* codes) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      V* values = tile + c * kRows<V>;
      for (std::size_t r = 0; r < n; ++r) values[r] = static_cast<V>(table.at(from + r, columns_[c]));
      const std::uint32_t categories = n_categories_[columns_[c]];
      if (categories == 0 || categories > kFewCategories || !codes) continue;
      for (std::size_t r = 0; r < n; ++r) {
        const bool known = values[r] >= 0 && values[r] < static_cast<V>(categories);
        codes[c * kRows<V> + r] = known                    ? static_cast<M>(values[r])
                                  : values[r] != values[r] ? kMissingCode
                                                           : kUnknownCode;
      }
    }
  }

 private:
  std::uint32_t place_of(std::size_t column) {
    if (place_[column] == 0) {
      columns_.push_back(static_cast<std::uint32_t>(column));
      place_[column] = static_cast<std::uint32_t>(columns_.size());
    }
    return place_[column] - 1;
  }

  std::vector<std::uint32_t> columns_, place_;  // in use; 1 + the place of each among them
  std::vector<std::uint32_t> n_categories_;     // per column of the table; 0: numbers
  Tests<V, M> tests_;
  std::vector<std::vector<std::uint32_t>> bits_;  // of sets that are lists
};

}  // namespace weald

#endif
