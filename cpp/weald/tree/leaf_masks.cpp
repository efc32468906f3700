#include "weald/tree/leaf_masks.hpp"

#include "weald/base/paths.hpp"
#include "weald/tree/leaf_values.hpp"
#include "weald/tree/mask_tests.hpp"

namespace weald {

#ifdef WEALD_HAS_VECTORS

namespace {

constexpr std::size_t kMostLeaves = 64;

// What the leaves of all trees say, and where it is added.
struct Says {
  std::size_t width, stride;
  std::vector<double> values;             // leaf after leaf, `width` numbers each
  std::vector<std::size_t> begin, place;  // of each tree: its values, and the sums of a row that they belong to
};

// Leaves of one number: the sums of the tile's rows stay side by side as long as trees add to the same ones.
template <class V, class M>
WEALD_INLINE void add_numbers(const Tests<V, M>& tests, const Says& says, const V* tile, const M* codes, std::size_t n,
                              double* sums) {
  alignas(32) M leaves[kRows<V>];
  double column[kRows<V>] = {};
  const std::size_t n_trees = says.begin.size(), stride = says.stride;
  for (std::size_t t = 0; t < n_trees;) {
    const std::size_t place = says.place[t];
    for (std::size_t r = 0; r < n; ++r) column[r] = sums[r * stride + place];
    for (; t < n_trees && says.place[t] == place; ++t) {
      ask_tests(tests, t, tile, codes, leaves);
      const double* values = says.values.data() + says.begin[t];
      // All rows of the tile, whether there are so many or not: any values lead to some leaf.
      for (std::size_t r = 0; r < kRows<V>; r += 8) {
        for (std::size_t q = 0; q < 8; ++q) column[r + q] += values[std::countr_zero(leaves[r + q])];
      }
    }
    for (std::size_t r = 0; r < n; ++r) sums[r * stride + place] = column[r];
  }
}

template <class V, class M>
WEALD_INLINE void add_tile(const Tests<V, M>& tests, const Says& says, const V* tile, const M* codes, std::size_t n,
                           double* sums) {
  if (says.width == 1) return add_numbers(tests, says, tile, codes, n, sums);
  alignas(32) M leaves[kRows<V>];
  for (std::size_t t = 0; t < says.begin.size(); ++t) {
    ask_tests(tests, t, tile, codes, leaves);
    const double* values = says.values.data() + says.begin[t];
    double* into = sums + says.place[t];
    for (std::size_t r = 0; r < n; ++r, into += says.stride) {
      const double* said = values + static_cast<std::size_t>(std::countr_zero(leaves[r])) * says.width;
      for (std::size_t k = 0; k < says.width; ++k) into[k] += said[k];
    }
  }
}

WEALD_WIDEST void add_floats(const Tests<float, std::uint32_t>& tests, const Says& says, const float* tile,
                             const std::uint32_t* codes, std::size_t n, double* sums) {
  add_tile(tests, says, tile, codes, n, sums);
}
WEALD_WIDEST void add_doubles(const Tests<double, std::uint64_t>& tests, const Says& says, const double* tile,
                              const std::uint64_t* codes, std::size_t n, double* sums) {
  add_tile(tests, says, tile, codes, n, sums);
}

template <class V, class M>
class MaskedTrees {
 public:
  MaskedTrees(const Question& question, bool vote)
      : masks_(question.like.n_categories), says_{question.like.outputs.width(), question.stride, {}, {}, {}} {
    for (const Asked& asked : question.trees) add_tree(asked, question.like.outputs, vote);
  }

  template <class T>
  void add(const Table<T>& table, std::size_t begin, std::size_t end, double* sums, Interrupt& interrupt) const {
    Patience patience(interrupt);
    std::vector<V> values;
    std::vector<M> numbers;
    V* tile = masks_.aligned(values, masks_.tile_size());
    M* codes = masks_.aligned(numbers, masks_.tile_size());
    for (std::size_t from = begin; from < end; from += kRows<V>) {
      const std::size_t n = std::min(kRows<V>, end - from);
      patience.spend(says_.values.size());  // a test of all these rows takes as long as one row elsewhere
      masks_.load(table, from, n, tile, codes);
      double* into = sums + from * says_.stride;
      if constexpr (sizeof(V) == sizeof(float)) {
        add_floats(masks_.tests(), says_, tile, codes, n, into);
      } else {
        add_doubles(masks_.tests(), says_, tile, codes, n, into);
      }
    }
  }

 private:
  void add_tree(const Asked& asked, const Outputs& outputs, bool vote) {
    const CompactTree& tree = *asked.tree;
    const LeafAdder adder(outputs, tree, asked.weight, vote);
    const std::size_t begin = says_.values.size();
    says_.begin.push_back(begin), says_.place.push_back(asked.place);
    says_.values.resize(begin + (tree.nodes.size() / 2 + 1) * says_.width,
                        -0.0);  // which changes no sum, not even of -0
    double* says = says_.values.data() + begin;
    // Leaves before each node; in pre-order those below "yes" are the ones up to where "no" leads.
    std::vector<std::uint32_t> before(tree.nodes.size() + 1, 0), leaves;
    std::vector<Row> numbers;
    for (std::size_t m = 0; m < tree.nodes.size(); ++m) {
      before[m + 1] = before[m] + tree.nodes[m].leaf();
      if (tree.nodes[m].leaf()) leaves.push_back(static_cast<std::uint32_t>(m)), numbers.push_back(before[m]);
    }
    adder.add_all(leaves.data(), numbers, says, says_.width);
    for (std::size_t m = 0; m < tree.nodes.size(); ++m) {
      const Node& node = tree.nodes[m];
      if (!node.leaf()) masks_.add_test(tree, m, before[m], before[m + node.next] - before[m]);
    }
    masks_.end_tree();
  }

  MaskTests<V, M> masks_;
  Says says_;
};

std::size_t most_leaves(const Question& question) {
  std::size_t most = 0;
  for (const Asked& asked : question.trees) most = std::max(most, asked.tree->nodes.size() / 2 + 1);
  return most;
}

}  // namespace

bool masks_fit(const Question& question, const Adding& adding, std::size_t n_rows) {
  return uses(Path::LeafMasks) && n_rows >= kFewestMasked && question.like.outputs.width() <= kMostMaskedNumbers &&
         !adding.apart && !adding.barred && !question.trees.empty() && most_leaves(question) <= kMostLeaves &&
         tables_pay(question, n_rows);
}

template <class T>
void add_by_masks(const Question& question, const Table<T>& table, bool vote, std::size_t threads, double* sums,
                  Interrupt& interrupt) {
  const std::size_t most = most_leaves(question);
  const double work = 0.1 * static_cast<double>(most * question.trees.size() * table.n_rows);
  const std::size_t useful = useful_threads(threads, work);
  const std::size_t blocks = std::max(useful, (table.n_rows + kMaskedRows - 1) / kMaskedRows);
  const auto run = [&](const auto& trees) {
    parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
      trees.add(table, table.n_rows * block / blocks, table.n_rows * (block + 1) / blocks, sums, interrupt);
    });
  };
  if (sizeof(T) == sizeof(float) && most <= 32) {
    run(MaskedTrees<float, std::uint32_t>(question, vote));
  } else {
    run(MaskedTrees<double, std::uint64_t>(question, vote));
  }
}

#else

bool masks_fit(const Question&, const Adding&, std::size_t) { return false; }

template <class T>
void add_by_masks(const Question&, const Table<T>&, bool, std::size_t, double*, Interrupt&) {}

#endif

template void add_by_masks(const Question&, const Table<float>&, bool, std::size_t, double*, Interrupt&);
template void add_by_masks(const Question&, const Table<double>&, bool, std::size_t, double*, Interrupt&);

}  // namespace weald
