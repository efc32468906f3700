#include "weald/tree/tops.hpp"

#include "weald/base/paths.hpp"
#include "weald/tree/steps.hpp"

#ifdef WEALD_HAS_VECTORS

namespace weald {

namespace {

// Tile by tile: the values of one are asked for by all trees while they are near.
template <class V, class M>
WEALD_INLINE void place_tiles(const Tests<V, M>& tests, std::size_t first, std::size_t last, const V* tiles,
                              const M* codes, std::size_t tile_size, std::size_t n_rows, std::uint8_t* top,
                              std::size_t stride) {
  alignas(32) M ends[kRows<V>];
  for (std::size_t from = 0; from < n_rows; from += kRows<V>, tiles += tile_size, codes += codes ? tile_size : 0) {
    for (std::size_t tree = first; tree < last; ++tree) {
      ask_tests(tests, tree, tiles, codes, ends);
      std::uint8_t* const out = top + (tree - first) * stride + from;
      for (std::size_t r = 0; r < kRows<V>; ++r) out[r] = static_cast<std::uint8_t>(std::countr_zero(ends[r]));
    }
  }
}

WEALD_WIDEST void place_floats(const Tests<float, std::uint32_t>& tests, std::size_t first, std::size_t last,
                               const float* tiles, const std::uint32_t* codes, std::size_t tile_size,
                               std::size_t n_rows, std::uint8_t* top, std::size_t stride) {
  place_tiles(tests, first, last, tiles, codes, tile_size, n_rows, top, stride);
}
WEALD_WIDEST void place_doubles(const Tests<double, std::uint64_t>& tests, std::size_t first, std::size_t last,
                                const double* tiles, const std::uint64_t* codes, std::size_t tile_size,
                                std::size_t n_rows, std::uint8_t* top, std::size_t stride) {
  place_tiles(tests, first, last, tiles, codes, tile_size, n_rows, top, stride);
}

}  // namespace

template <class T>
Tops<T>::Tops(const Question& question, std::size_t n_rows, std::size_t block_rows)
    : masks_(question.like.n_categories) {
  if (!uses(Path::InStep) || n_rows < kFewestInStep || question.trees.empty() || !tables_pay(question, n_rows)) return;
  // All columns become keys (steps.hpp), in a copy that has to be small, and twice as many have to fit into two bytes.
  const std::size_t columns = question.like.n_columns();
  if (columns * block_rows * sizeof(T) > kTopBytes || columns >= (std::size_t{1} << 15)) return;
  std::size_t nodes = 0;
  for (const Asked& asked : question.trees) nodes += asked.tree->nodes.size();
  if (nodes < kFewestSteps * question.trees.size()) return;
  // Where many tests are of many categories, walks would stop again and again.
  const auto& some = question.trees[0].tree->nodes;
  if (16 * std::count_if(some.begin(), some.end(), stops<T>) > static_cast<std::ptrdiff_t>(some.size())) return;
  for (const Asked& asked : question.trees) ends_.push_back(add_top(*asked.tree));
  // The columns are laid out once for all trees.
  if (masks_.n_columns() > 4 * question.trees.size()) ends_.clear();
}

// The largest subtrees are divided, until there are as many as a mask has bits.
template <class T>
std::vector<std::uint32_t> Tops<T>::add_top(const CompactTree& tree) {
  struct Subtree {
    std::uint32_t root, nodes;
  };
  std::vector<Subtree> parts{{0, static_cast<std::uint32_t>(tree.nodes.size())}};
  std::vector<std::uint32_t> tests, ends;
  while (parts.size() < kMostEnds) {
    std::size_t largest = parts.size();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (tree.nodes[parts[k].root].leaf()) continue;
      if (largest == parts.size() || parts[k].nodes > parts[largest].nodes) largest = k;
    }
    if (largest == parts.size()) break;
    const auto [root, nodes] = parts[largest];
    const std::uint32_t next = tree.nodes[root].next;
    tests.push_back(root);
    parts[largest] = {root + 1, next - 1};
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(largest) + 1, {root + next, nodes - next});
  }
  for (const Subtree& part : parts) ends.push_back(part.root);
  const auto before = [&](std::uint32_t node) {
    return static_cast<std::uint32_t>(std::lower_bound(ends.begin(), ends.end(), node) - ends.begin());
  };
  for (const std::uint32_t m : tests) {
    const std::uint32_t first = before(m);
    masks_.add_test(tree, m, first, before(m + tree.nodes[m].next) - first);
  }
  masks_.end_tree();
  return ends;
}

template <class T>
TopRows<T>::TopRows(const Tops<T>& tops, const Table<T>& table, std::size_t begin, std::size_t end)
    : tops_(tops), n_rows_(end - begin) {
  if (!serve()) return;
  const std::size_t tiles = (n_rows_ + kRows<T> - 1) / kRows<T>, size = tops.masks_.tile_size();
  tiles_ = tops.masks_.aligned(values_, tiles * size);
  if (tops.masks_.has_sets()) codes_ = tops.masks_.aligned(numbers_, tiles * size);
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t from = t * kRows<T>;
    tops.masks_.load(table, begin + from, std::min(kRows<T>, n_rows_ - from), tiles_ + t * size,
                     codes_ ? codes_ + t * size : nullptr);
  }
}

template <class T>
void TopRows<T>::place(std::size_t first, std::size_t last, std::uint8_t* top, std::size_t stride) const {
  const std::size_t size = tops_.masks_.tile_size();
  if constexpr (sizeof(T) == sizeof(float)) {
    place_floats(tops_.masks_.tests(), first, last, tiles_, codes_, size, n_rows_, top, stride);
  } else {
    place_doubles(tops_.masks_.tests(), first, last, tiles_, codes_, size, n_rows_, top, stride);
  }
}

template class Tops<float>;
template class Tops<double>;
template class TopRows<float>;
template class TopRows<double>;

}  // namespace weald

#endif
