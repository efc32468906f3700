#include "weald/tree/leaf_masks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "weald/base/paths.hpp"
#include "weald/base/sorting.hpp"
#include "weald/base/wide_vectors.hpp"

namespace weald {

#ifdef WEALD_HAS_VECTORS

namespace {

constexpr std::size_t kMostLeaves = 64;

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

struct Part {
  std::size_t right, left, sets, values;
};  // where those of a tree end

template <class V, class M>
struct Tests {
  std::vector<Test<V, M>> right, left;  // by where missing values go
  std::vector<SetTest<M>> sets;
  std::vector<double> values;  // of the leaves
  std::vector<Part> parts;
};

template <class V, class M>
void ask_set(const SetTest<M>& test, const V* tile, std::size_t n, M* leaves) {
  for (std::size_t r = 0; r < n; ++r) {
    const V value = tile[test.column * kRows<V> + r];
    bool yes = value != value && test.missing_left;
    if (value >= 0 && value < static_cast<V>(test.n_categories)) {
      const auto c = static_cast<std::uint32_t>(value);
      yes = goes_left(test.set, test.n_categories, c);
    }
    if (!yes) leaves[r] &= test.stay;
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

template <class V, class M>
WEALD_INLINE void add_tile(const Tests<V, M>& tests, const V* tile, const M* codes, std::size_t n, double* sums) {
  typedef V Values __attribute__((vector_size(32), may_alias));
  typedef M Masks __attribute__((vector_size(32), may_alias));
  alignas(32) M leaves[kRows<V>];
  Part from{0, 0, 0, 0};
  for (const Part& to : tests.parts) {
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
    const double* values = tests.values.data() + from.values;
    for (std::size_t r = 0; r < n; ++r) sums[r] += values[std::countr_zero(leaves[r])];
    from = to;
  }
}

WEALD_WIDE void add_floats(const Tests<float, std::uint32_t>& tests, const float* tile, const std::uint32_t* codes,
                           std::size_t n, double* sums) {
  add_tile(tests, tile, codes, n, sums);
}
WEALD_WIDE void add_doubles(const Tests<double, std::uint64_t>& tests, const double* tile, const std::uint64_t* codes,
                            std::size_t n, double* sums) {
  add_tile(tests, tile, codes, n, sums);
}

template <class V, class M>
class MaskedTrees {
 public:
  MaskedTrees(const Forest& forest, const Adding& adding) {
    place_.assign(forest.n_columns(), 0);
    n_categories_ = forest.n_categories;
    for (std::size_t t = adding.first; t < adding.last; ++t) {
      add_tree(forest.trees[t], adding.weights ? adding.weights[t] : 1.0);
    }
  }

  template <class T>
  void add(const Table<T>& table, std::size_t begin, std::size_t end, double* sums, Interrupt& interrupt) const {
    Patience patience(interrupt);
    std::vector<V> values(tile_size());
    std::vector<M> numbers(tile_size());
    V* tile = aligned(values);
    M* codes = aligned(numbers);
    for (std::size_t from = begin; from < end; from += kRows<V>) {
      const std::size_t n = std::min(kRows<V>, end - from);
      patience.spend(tests_.values.size());  // a test of all these rows takes as long as one row elsewhere
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (std::size_t r = 0; r < n; ++r) tile[c * kRows<V> + r] = static_cast<V>(table.at(from + r, columns_[c]));
        const std::uint32_t categories = n_categories_[columns_[c]];
        if (categories == 0 || categories > kFewCategories) continue;
        for (std::size_t r = 0; r < n; ++r) {
          const V value = tile[c * kRows<V> + r];
          const bool known = value >= 0 && value < static_cast<V>(categories);
          codes[c * kRows<V> + r] = known ? static_cast<M>(value) : value != value ? kMissingCode : kUnknownCode;
        }
      }
      if constexpr (sizeof(V) == sizeof(float)) {
        add_floats(tests_, tile, codes, n, sums + from);
      } else {
        add_doubles(tests_, tile, codes, n, sums + from);
      }
    }
  }

 private:
  // Registers are filled from addresses that are multiples of their size.
  std::size_t tile_size() const { return std::max<std::size_t>(columns_.size(), 1) * kRows<V> + 32 / sizeof(V); }
  template <class T>
  static T* aligned(std::vector<T>& values) {
    return values.data() + (0 - reinterpret_cast<std::uintptr_t>(values.data())) % 32 / sizeof(T);
  }

  std::uint32_t place_of(std::size_t column) {
    if (place_[column] == 0) {
      columns_.push_back(static_cast<std::uint32_t>(column));
      place_[column] = static_cast<std::uint32_t>(columns_.size());
    }
    return place_[column] - 1;
  }

  void add_tree(const CompactTree& tree, double weight) {
    // Leaves before each node; in pre-order those below "yes" are the ones up to where "no" leads.
    std::vector<std::uint32_t> before(tree.nodes.size() + 1, 0);
    for (std::size_t m = 0; m < tree.nodes.size(); ++m) {
      before[m + 1] = before[m] + tree.nodes[m].leaf();
      if (tree.nodes[m].leaf()) tests_.values.push_back(weight * tree.nodes[m].number);
    }
    for (std::size_t m = 0; m < tree.nodes.size(); ++m) {
      const Node& node = tree.nodes[m];
      if (node.leaf()) continue;
      const std::uint32_t column = place_of(node.head >> Node::kShift);
      const std::uint32_t first = before[m], n = before[m + node.next] - first;  // n < number of bits
      const M stay = static_cast<M>(~(((M{1} << n) - 1) << first));
      const bool missing_left = (node.head & Node::kMissingLeft) != 0;
      if (node.head & Node::kCategorical) {
        const auto set = std::bit_cast<std::uint64_t>(node.number);
        tests_.sets.push_back(
            {tree.sets.data() + (set >> 32), static_cast<std::uint32_t>(set), column, missing_left, stay});
      } else {
        const V threshold =
            sizeof(V) == sizeof(double) ? static_cast<V>(node.number) : largest_not_above<V>(node.number);
        (missing_left ? tests_.left : tests_.right).push_back({threshold, column, stay});
      }
    }
    tests_.parts.push_back({tests_.right.size(), tests_.left.size(), tests_.sets.size(), tests_.values.size()});
  }

  std::vector<std::uint32_t> columns_, place_;  // in use; 1 + the place of each among them
  std::vector<std::uint32_t> n_categories_;     // per column of the table; 0: numbers
  Tests<V, M> tests_;
};

std::size_t most_leaves(const Forest& forest, const Adding& adding) {
  std::size_t most = 0;
  for (std::size_t t = adding.first; t < adding.last; ++t) most = std::max(most, forest.trees[t].nodes.size() / 2 + 1);
  return most;
}

}  // namespace

bool masks_fit(const Forest& forest, const Adding& adding, std::size_t n_rows) {
  return uses(Path::LeafMasks) && n_rows >= kFewestMasked && forest.outputs.n_outputs == 1 &&
         !forest.outputs.classifies() && !adding.apart && !adding.barred && adding.first < adding.last &&
         most_leaves(forest, adding) <= kMostLeaves;
}

template <class T>
void add_by_masks(const Forest& forest, const Table<T>& table, const Adding& adding, std::size_t threads, double* sums,
                  Interrupt& interrupt) {
  const std::size_t most = most_leaves(forest, adding);
  const double work = 0.1 * static_cast<double>(most * (adding.last - adding.first) * table.n_rows);
  const std::size_t useful = useful_threads(threads, work);
  const std::size_t blocks = std::max(useful, (table.n_rows + kMaskedRows - 1) / kMaskedRows);
  const auto run = [&](const auto& trees) {
    parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
      trees.add(table, table.n_rows * block / blocks, table.n_rows * (block + 1) / blocks, sums, interrupt);
    });
  };
  if (sizeof(T) == sizeof(float) && most <= 32) {
    run(MaskedTrees<float, std::uint32_t>(forest, adding));
  } else {
    run(MaskedTrees<double, std::uint64_t>(forest, adding));
  }
}

#else

bool masks_fit(const Forest&, const Adding&, std::size_t) { return false; }

template <class T>
void add_by_masks(const Forest&, const Table<T>&, const Adding&, std::size_t, double*, Interrupt&) {}

#endif

template void add_by_masks(const Forest&, const Table<float>&, const Adding&, std::size_t, double*, Interrupt&);
template void add_by_masks(const Forest&, const Table<double>&, const Adding&, std::size_t, double*, Interrupt&);

}  // namespace weald
