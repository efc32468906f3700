#include "predict.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weald {

namespace {

// Rows x trees walked before their values are added up. Large, since a tree comes from far memory for
// every block of rows, while the rows themselves pass by in order.
constexpr std::size_t kTile = 16384;

// How a row's values are looked at: the general case, or the usual one of numbers side by side with
// none of them missing, which takes half the instructions.
enum class Look { Plain, Missing, Categories };

// One step down. Arithmetic instead of a choice: half of all tests would mislead a branch predictor.
template <Look kLook, class T>
const Node* step(const Node* node, const std::uint32_t* sets, const T* row, std::size_t stride) {
  const std::size_t column = node->head >> Node::kShift;
  const auto value = static_cast<double>(row[kLook == Look::Plain ? column : column * stride]);
  bool yes = value <= node->number;
  if constexpr (kLook == Look::Categories) {
    if (node->head & Node::kCategorical) {
      const auto set = std::bit_cast<std::uint64_t>(node->number);
      const auto categories = static_cast<std::uint32_t>(set);
      yes = false;
      if (value >= 0 && value < categories) {
        const auto c = static_cast<std::uint32_t>(value);
        yes = (sets[(set >> 32) + c / 32] >> (c % 32) & 1) != 0;
      }
    }
  }
  std::uint64_t no = 1 ^ static_cast<std::uint64_t>(yes);
  if constexpr (kLook != Look::Plain) {
    no &= ~(static_cast<std::uint64_t>(value != value) & (node->head & Node::kMissingLeft));
  }
  return node + 1 + ((std::uint64_t{node->next} - 1) & (0 - no));
}

// Walks n_rows rows down each of the trees first..last-1: leaf[(tree - first) * n_rows + k] is where
// rows[k] ends. Several walks at a time hide the latency of the loads; one that has arrived makes
// room for the next.
template <Look kLook, class T>
void walk(const Forest& forest, const Table<T>& table, std::size_t first, std::size_t last,
          const Row* rows, std::size_t n_rows, std::uint32_t* leaf) {
  constexpr std::size_t kLanes = 12;
  const Node* at[kLanes];
  const T* values[kLanes];
  struct Item { const CompactTree* tree; std::uint32_t number; } item[kLanes];
  const std::size_t stride = table.column_stride, n_items = (last - first) * n_rows;
  std::size_t lanes = 0, tree = first, k = 0, next = 0;
  const auto enter = [&](std::size_t l) {
    const CompactTree& into = forest.trees[tree];
    at[l] = into.nodes.data();
    values[l] = table.data + rows[k] * table.row_stride;
    item[l] = {&into, static_cast<std::uint32_t>(next++)};
    if (++k == n_rows) k = 0, ++tree;
  };
  const auto advance = [&](std::size_t l) {
    at[l] = step<kLook>(at[l], kLook == Look::Categories ? item[l].tree->sets.data() : nullptr, values[l], stride);
  };
  const auto arrive = [&](std::size_t l) {
    leaf[item[l].number] = static_cast<std::uint32_t>(at[l] - item[l].tree->nodes.data());
  };
  while (lanes < kLanes && next < n_items) enter(lanes++);
  while (lanes == kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (!at[l]->leaf()) {
        advance(l);
        continue;
      }
      arrive(l);
      if (next < n_items) {
        enter(l);
      } else {
        --lanes;
        at[l] = at[lanes], values[l] = values[lanes], item[l] = item[lanes];
        break;
      }
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {  // no more to come: finish those under way
    while (!at[l]->leaf()) advance(l);
    arrive(l);
  }
}

template <class T>
Look look_for(const Forest& forest, const Table<T>& table, std::size_t begin, std::size_t end) {
  for (const std::uint32_t n : forest.n_categories) {
    if (n > 0) return Look::Categories;
  }
  if (table.column_stride != 1) return Look::Missing;
  for (std::size_t i = begin; i < end; ++i) {
    const T* row = table.data + i * table.row_stride;
    bool missing = false;
    for (std::size_t j = 0; j < table.n_columns; ++j) missing |= row[j] != row[j];
    if (missing) return Look::Missing;
  }
  return Look::Plain;
}

template <class T>
void walk(Look look, const Forest& forest, const Table<T>& table, std::size_t first, std::size_t last,
          const Row* rows, std::size_t n_rows, std::uint32_t* leaf) {
  switch (look) {
    case Look::Plain: return walk<Look::Plain>(forest, table, first, last, rows, n_rows, leaf);
    case Look::Missing: return walk<Look::Missing>(forest, table, first, last, rows, n_rows, leaf);
    case Look::Categories: return walk<Look::Categories>(forest, table, first, last, rows, n_rows, leaf);
  }
}

// Adds one leaf's value to a row's sums.
class LeafAdder {
 public:
  LeafAdder(const Outputs& outputs, const CompactTree& tree, double weight, bool vote)
      : outputs_(outputs), tree_(tree), weight_(weight), vote_(vote && outputs.classifies()) {}

  void add(std::uint32_t leaf, double* sums) const {
    const Node& node = tree_.nodes[leaf];
    const std::size_t width = outputs_.width();
    if (outputs_.is_inline()) {
      const double value = vote_ ? static_cast<double>(node.number > 0.5) : node.number;
      sums[width - 1] += weight_ * value;
      if (width == 2) sums[0] += weight_ * (1 - value);
      return;
    }
    tree_.table.visit([&](const auto* cells) {
      const auto* row = cells + node.next * (1 + width) + 1;
      if (vote_) {
        for (std::size_t o = 0; o < outputs_.n_outputs; ++o, row += outputs_.max_classes) {
          const auto* top = std::max_element(row, row + outputs_.max_classes);
          sums[o * outputs_.max_classes + static_cast<std::size_t>(top - row)] += weight_;
        }
        return;
      }
      const double total = static_cast<double>(row[-1]);
      for (std::size_t k = 0; k < width; ++k) {
        if (row[k] != 0) sums[k] += weight_ * (static_cast<double>(row[k]) / total);
      }
    });
  }

 private:
  const Outputs& outputs_;
  const CompactTree& tree_;
  double weight_;
  bool vote_;
};

// Rough cost of walking one row down these trees.
double walk_ns(const Forest& forest, std::size_t first, std::size_t last) {
  double steps = 0;
  for (std::size_t t = first; t < last; ++t) {
    steps += std::log2(static_cast<double>(forest.trees[t].nodes.size()) + 1);
  }
  return steps * 4;
}

// Cuts the rows into blocks for the threads, and calls fn(tile of trees, rows) for each block.
template <class Fn>
void for_blocks(const Forest& forest, std::size_t n_rows, std::size_t first, std::size_t last,
                std::size_t threads, Interrupt& interrupt, Fn&& fn) {
  const double work = walk_ns(forest, first, last) * static_cast<double>(n_rows);
  const std::size_t useful = useful_threads(threads, work);
  const std::size_t blocks = std::max(useful, (n_rows + kTile - 1) / kTile);
  parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
    const std::size_t begin = n_rows * block / blocks, end = n_rows * (block + 1) / blocks;
    if (begin < end) fn(begin, end);
  });
}

}  // namespace

template <class T>
void find_leaves(const Forest& forest, const Table<T>& table, std::size_t first, std::size_t last,
                 std::size_t threads, std::int64_t* out, Interrupt& interrupt) {
  const std::size_t n_trees = last - first;
  for_blocks(forest, table.n_rows, first, last, threads, interrupt, [&](std::size_t begin, std::size_t end) {
    const std::size_t n = end - begin, trees_at_once = std::max<std::size_t>(1, kTile / n);
    const Look look = look_for(forest, table, begin, end);
    std::vector<Row> rows(n);
    for (std::size_t k = 0; k < n; ++k) rows[k] = static_cast<Row>(begin + k);
    std::vector<std::uint32_t> leaf(std::min(trees_at_once, n_trees) * n);
    for (std::size_t t = first; t < last; t += trees_at_once) {
      interrupt.poll();
      const std::size_t to = std::min(t + trees_at_once, last);
      walk(look, forest, table, t, to, rows.data(), n, leaf.data());
      for (std::size_t u = t; u < to; ++u) {
        for (std::size_t k = 0; k < n; ++k) {
          out[(begin + k) * n_trees + u - first] = leaf[(u - t) * n + k];
        }
      }
    }
  });
}

template <class T>
void add_values(const Forest& forest, const Table<T>& table, const Adding& adding,
                std::size_t threads, double* sums, Interrupt& interrupt) {
  const std::size_t width = forest.outputs.width(), first = adding.first, last = adding.last;
  for_blocks(forest, table.n_rows, first, last, threads, interrupt, [&](std::size_t begin, std::size_t end) {
    const std::size_t n = end - begin;
    const std::size_t trees_at_once = adding.barred ? 1 : std::max<std::size_t>(1, kTile / n);
    const Look look = look_for(forest, table, begin, end);
    std::vector<Row> rows;
    std::vector<std::uint32_t> leaf(std::min(trees_at_once, last - first) * n);
    for (std::size_t k = begin; k < end; ++k) rows.push_back(static_cast<Row>(k));
    for (std::size_t t = first; t < last; t += trees_at_once) {
      interrupt.poll();
      if (adding.barred) {
        const std::uint64_t* barred = adding.barred + (t - first) * adding.barred_words;
        rows.clear();
        for (std::size_t k = begin; k < end; ++k) {
          if ((barred[k / 64] >> (k % 64) & 1) == 0) rows.push_back(static_cast<Row>(k));
        }
        for (const Row row : rows) ++adding.answered[row];
        if (rows.empty()) continue;
      }
      const std::size_t to = std::min(t + trees_at_once, last);
      walk(look, forest, table, t, to, rows.data(), rows.size(), leaf.data());
      for (std::size_t u = t; u < to; ++u) {
        const LeafAdder adder(forest.outputs, forest.trees[u], adding.weights ? adding.weights[u] : 1.0, adding.vote);
        double* plane = sums + (adding.apart ? (u - first) * table.n_rows * width : 0);
        const std::uint32_t* leaves = leaf.data() + (u - t) * rows.size();
        for (std::size_t k = 0; k < rows.size(); ++k) adder.add(leaves[k], plane + rows[k] * width);
      }
    }
  });
}

template void find_leaves(const Forest&, const Table<float>&, std::size_t, std::size_t, std::size_t,
                          std::int64_t*, Interrupt&);
template void find_leaves(const Forest&, const Table<double>&, std::size_t, std::size_t, std::size_t,
                          std::int64_t*, Interrupt&);
template void add_values(const Forest&, const Table<float>&, const Adding&, std::size_t, double*, Interrupt&);
template void add_values(const Forest&, const Table<double>&, const Adding&, std::size_t, double*, Interrupt&);

}  // namespace weald
