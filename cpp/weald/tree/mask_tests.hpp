// Tests that are asked of many rows at once: what leaf masks and the tops of deep trees share. See leaf_masks.hpp.
#pragma once

#include "weald/base/wide_vectors.hpp"

#ifdef WEALD_HAS_VECTORS

#include <algorithm>
#include <bit>
#include <span>

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

// All tests that a tree puts to a column of categories: the leaves that stay, category by category, stand from `begin`
// on in a table, and behind them those of missing and of unknown ones.
struct SetTests {
  std::size_t begin;
  std::uint32_t column;
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
  std::vector<SetTests> sets;
  std::vector<M> stay;          // tables of `sets`
  std::vector<Part> parts{{}};  // those of tree t lie between parts[t] and parts[t + 1]
};

// Which leaves of a tree are left to each row of a tile, after all its tests.
template <class V, class M>
WEALD_INLINE void ask_tests(const Tests<V, M>& tests, std::size_t tree, const V* tile, const M* codes, M* leaves) {
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
    const M* const stay = tests.stay.data() + tests.sets[k].begin;
    const M* const code = codes + tests.sets[k].column * kRows<V>;
    for (std::size_t r = 0; r < kRows<V>; ++r) leaves[r] &= stay[code[r]];
  }
}

// Do tables of categories pay for so many rows, and are they of a size that can be kept?
inline bool tables_pay(const Question& question, std::size_t n_rows) {
  std::size_t categories = 0;
  for (const std::uint32_t n : question.like.n_categories) categories += n;
  return categories <= 64 * n_rows && categories * question.trees.size() <= kMostTabled;
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
      add_set(tree, std::bit_cast<std::uint64_t>(node.number), column, missing_left, stay);
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
      if (categories == 0 || !codes) continue;
      for (std::size_t r = 0; r < n; ++r) {
        const bool known = values[r] >= 0 && values[r] < static_cast<V>(categories);
        codes[c * kRows<V> + r] = known ? static_cast<M>(values[r]) : categories + M{values[r] == values[r]};
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

  // Ands a test into the table of its column.
  void add_set(const CompactTree& tree, std::uint64_t set, std::uint32_t column, bool missing_left, M stay) {
    const auto n = static_cast<std::uint32_t>(set);
    auto& sets = tests_.sets;
    const auto of_tree = sets.begin() + static_cast<std::ptrdiff_t>(tests_.parts.back().sets);
    auto own = std::find_if(of_tree, sets.end(), [&](const SetTests& other) { return other.column == column; });
    if (own == sets.end()) {
      own = sets.insert(own, {tests_.stay.size(), column});
      tests_.stay.resize(tests_.stay.size() + n + 2, ~M{0});
    }
    M* const table = tests_.stay.data() + own->begin;
    const std::uint32_t* words = tree.sets.data() + (set >> 32);
    table[n] &= missing_left ? ~M{0} : stay;
    table[n + 1] &= stay;
    if (n > kFewCategories && *words != kSetOfBits) {  // only those listed, or all but them, go right
      const std::span<const std::uint32_t> listed(words + 1, *words / 2);
      kept_.clear();
      for (const std::uint32_t c : listed) kept_.push_back(table[c]);
      if (*words % 2 == 0) {
        for (std::uint32_t c = 0; c < n; ++c) table[c] &= stay;
      }
      for (std::size_t k = 0; k < listed.size(); ++k) table[listed[k]] = *words % 2 == 0 ? kept_[k] : kept_[k] & stay;
      return;
    }
    words += n > kFewCategories;
    for (std::uint32_t c = 0; c < n; ++c) table[c] &= stay | (M{0} - static_cast<M>(words[c / 32] >> (c % 32) & 1));
  }

  std::vector<std::uint32_t> columns_, place_;  // in use; 1 + the place of each among them
  std::vector<std::uint32_t> n_categories_;     // per column of the table; 0: numbers
  Tests<V, M> tests_;
  std::vector<M> kept_;
};

}  // namespace weald

#endif
