#include "weald/tree/leaf_masks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "weald/base/paths.hpp"
#include "weald/base/wide_vectors.hpp"
#include "weald/tree/leaf_values.hpp"
#include "weald/tree/steps.hpp"
#include "weald/tree/tops.hpp"
#include "weald/tree/turned_rows.hpp"

namespace weald {

namespace {

// How a row's values are looked at: the general case, or the usual one of numbers side by side with
// none of them missing, which takes half the instructions.
enum class Look { Plain, Missing, Categories };

// Does a missing value go left at this test?
inline std::uint64_t missing_yes(const Node& node, double value) {
  return static_cast<std::uint64_t>(value != value) & (node.head & Node::kMissingLeft);
}

// Is the answer of a test to a value yes? Arithmetic instead of choices: half of all tests would mislead a branch
// predictor.
template <Look kLook>
std::uint64_t is_up_to(const Node& node, double value) {
  const auto yes = static_cast<std::uint64_t>(value <= node.number);
  return kLook == Look::Plain ? yes : yes | missing_yes(node, value);
}

WEALD_INLINE std::uint64_t is_in_set(const Node& node, const std::uint32_t* sets, double value) {
  const auto set = std::bit_cast<std::uint64_t>(node.number);
  const auto categories = static_cast<std::uint32_t>(set);
  const bool known = value >= 0 && value < static_cast<double>(categories);
  const auto c = static_cast<std::uint32_t>(known ? value : 0.0);
  return static_cast<std::uint64_t>(known & goes_left(sets + (set >> 32), categories, c)) | missing_yes(node, value);
}

// One step down.
template <Look kLook, class T>
const Node* step(const Node* node, const std::uint32_t* sets, const T* row, std::size_t stride) {
  const std::size_t column = node->head >> Node::kShift;
  const auto value = static_cast<double>(row[kLook == Look::Plain ? column : column * stride]);
  std::uint64_t yes = is_up_to<kLook>(*node, value);
  if constexpr (kLook == Look::Categories) {
    if (node->head & Node::kCategorical) yes = is_in_set(*node, sets, value);
  }
  return node + 1 + ((std::uint64_t{node->next} - 1) & (yes - 1));
}

// Walks of rows down trees. Several at a time hide the latency of the loads; one that has arrived makes
// room for the next. enter(k) tells where walk k starts: its tree, node and row; arrive(k, leaf) where
// it ends.
struct Start {
  const CompactTree* tree;
  const Node* node;
  Row row;
};

template <Look kLook, class T, class Enter, class Arrive>
void walk(const Table<T>& table, std::size_t n_walks, Enter&& enter, Arrive&& arrive) {
  constexpr std::size_t kLanes = 12;
  const Node* at[kLanes];
  const T* values[kLanes];
  struct Item {
    const CompactTree* tree;
    std::size_t number;
  } item[kLanes];
  const std::size_t stride = table.column_stride;
  std::size_t lanes = 0, next = 0;
  const auto begin = [&](std::size_t l) {
    const Start start = enter(next);
    at[l] = start.node;
    values[l] = table.data + start.row * table.row_stride;
    item[l] = {start.tree, next++};
  };
  const auto advance = [&](std::size_t l) {
    at[l] = step<kLook>(at[l], kLook == Look::Categories ? item[l].tree->sets.data() : nullptr, values[l], stride);
  };
  const auto end = [&](std::size_t l) {
    arrive(item[l].number, static_cast<std::uint32_t>(at[l] - item[l].tree->nodes.data()));
  };
  while (lanes < kLanes && next < n_walks) begin(lanes++);
  while (lanes == kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (!at[l]->leaf()) {
        advance(l);
        continue;
      }
      end(l);
      if (next < n_walks) {
        begin(l);
      } else {
        --lanes;
        at[l] = at[lanes], values[l] = values[lanes], item[l] = item[lanes];
        break;
      }
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {  // no more to come: finish those under way
    while (!at[l]->leaf()) advance(l);
    end(l);
  }
}

template <class T>
Look look_for(const Forest& forest, const Table<T>& table, std::size_t begin, std::size_t end) {
  for (const std::uint32_t n : forest.n_categories) {
    if (n > 0) return Look::Categories;
  }
  if (table.column_stride != 1) return Look::Missing;
  if (table.complete) return Look::Plain;
  for (std::size_t i = begin; i < end; ++i) {
    const T* row = table.data + i * table.row_stride;
    bool missing = false;
    for (std::size_t j = 0; j < table.n_columns; ++j) missing |= row[j] != row[j];
    if (missing) return Look::Missing;
  }
  return Look::Plain;
}

// The rows of one block, on their way down one tree after another.
template <class T>
class BlockWalker {
 public:
  BlockWalker(const Question& question, const Tops<T>& tops, const Table<T>& table, std::size_t begin, std::size_t end)
      : trees_(question.trees),
        table_(table),
        begin_(begin),
        end_(end),
        look_(look_for(question.like, table, begin, end)),
        tops_(tops, table, begin, end) {}

  // rows[k] ends in leaf[k] of the tree. The rows are put into another order.
  void walk_tree(std::size_t tree, std::vector<Row>& rows, std::uint32_t* leaf) {
    const CompactTree& into = *trees_[tree].tree;
    const Node* root = into.nodes.data();
    const std::size_t n = rows.size();
    const bool crowd = uses(Path::CrowdsDivided) && n >= kCrowd;
    if (tops_.serve() && n > 0) {
      order_by_top(tree, rows);
      lay_out(into, steps_);
      return look_ == Look::Missing ? walk_in_step<true>(table_, steps_, rows, open_, leaf)
                                    : walk_in_step<false>(table_, steps_, rows, open_, leaf);
    }
    if (crowd) {
      open_.assign(1, {0, 0, n});
      with_look([&]<Look kLook>(As<kLook>) { spread<kLook>(into, rows); });
    }
    walk_all(
        n, [&](std::size_t k) { return Start{&into, crowd ? start_[k] : root, rows[k]}; },
        [&](std::size_t k, std::uint32_t at) { leaf[k] = at; });
  }

  // Few rows: the trees first..last-1 at once. leaf[(tree - first) * rows + k] is where rows[k] ends.
  void walk_trees(std::size_t first, std::size_t last, const std::vector<Row>& rows, std::uint32_t* leaf) {
    const std::size_t n = rows.size();
    std::size_t tree = first, row = 0;
    walk_all((last - first) * n,
             [&](std::size_t) {
               const CompactTree& into = *trees_[tree].tree;
               const Start start{&into, into.nodes.data(), rows[row]};
               if (row == 0 && tree + kTreesAhead < last) prefetch(trees_[tree + kTreesAhead].tree->nodes.data());
               if (++row == n) row = 0, ++tree;
               return start;
             },
             [&](std::size_t k, std::uint32_t at) { leaf[k] = at; });
  }

 private:
  template <class Enter, class Arrive>
  void walk_all(std::size_t n, Enter&& enter, Arrive&& arrive) {
    with_look([&]<Look kLook>(As<kLook>) { walk<kLook>(table_, n, enter, arrive); });
  }

  template <Look kLook>
  using As = std::integral_constant<Look, kLook>;
  template <class Fn>
  void with_look(Fn&& fn) const {
    switch (look_) {
      case Look::Plain:
        return fn(As<Look::Plain>{});
      case Look::Missing:
        return fn(As<Look::Missing>{});
      case Look::Categories:
        return fn(As<Look::Categories>{});
    }
  }

  // The first tests of a tree are asked of all rows of the block at once; rows that they lead to the same node become
  // neighbours, in ascending order.
  void order_by_top(std::size_t tree, std::vector<Row>& rows) {
    const std::vector<std::uint32_t>& ends = tops_.ends(tree);
    top_.resize(end_ - begin_ + kTopRows);
    tops_.place(tree, top_.data());
    std::size_t count[kMostEnds] = {}, at[kMostEnds] = {};
    for (const Row row : rows) ++count[top_[row - begin_]];
    for (std::size_t e = 1; e < ends.size(); ++e) at[e] = at[e - 1] + count[e - 1];
    open_.clear();
    for (std::size_t e = 0; e < ends.size(); ++e) open_.push_back({ends[e], at[e], at[e] + count[e]});
    if (rows.size() == end_ - begin_) {
      for (std::size_t i = begin_; i < end_; ++i) rows[at[top_[i - begin_]]++] = static_cast<Row>(i);
      return;
    }
    scratch_ = rows;
    for (const Row row : scratch_) rows[at[top_[row - begin_]]++] = row;
  }

  // Near the root the rows are divided as in growth, [left | right], test by test: that reads them in
  // order and leaves rows that go the same way next to each other, so that the lower nodes they walk
  // on from are still in the first cache when the next of them comes.
  template <Look kLook>
  void spread(const CompactTree& tree, std::vector<Row>& rows) {
    start_.resize(rows.size());
    scratch_.resize(rows.size());
    const std::uint32_t* sets = tree.sets.data();
    while (!open_.empty()) {
      const Group group = open_.back();
      open_.pop_back();
      const Node node = tree.nodes[group.node];  // a copy, which no store can change
      if (node.leaf() || group.end - group.begin < kCrowd) {
        std::fill(start_.begin() + static_cast<std::ptrdiff_t>(group.begin),
                  start_.begin() + static_cast<std::ptrdiff_t>(group.end), &tree.nodes[group.node]);
        continue;
      }
      const T* column = table_.data + (node.head >> Node::kShift) * table_.column_stride;
      std::size_t left = group.begin, right = 0;
      const auto divide = [&](auto&& is_yes) {
        for (std::size_t i = group.begin; i < group.end; ++i) {
          const Row row = rows[i];
          const std::uint64_t yes = is_yes(static_cast<double>(column[row * table_.row_stride]));
          rows[left] = row;  // left <= i: never overwrites a row not yet read
          scratch_[right] = row;
          left += yes;
          right += 1 - yes;
        }
      };
      if (kLook == Look::Categories && (node.head & Node::kCategorical)) {
        divide([&](double value) { return is_in_set(node, sets, value); });
      } else {
        divide([&](double value) { return is_up_to<kLook>(node, value); });
      }
      std::copy_n(scratch_.begin(), right, rows.begin() + static_cast<std::ptrdiff_t>(left));
      open_.push_back({group.node + node.next, left, group.end});
      open_.push_back({group.node + 1, group.begin, left});
    }
  }

  const std::vector<Asked>& trees_;
  const Table<T>& table_;
  std::size_t begin_, end_;
  Look look_;
  TopRows<T> tops_;
  std::vector<Group> open_;
  std::vector<const Node*> start_;
  std::vector<Row> scratch_;
  std::vector<std::uint8_t> top_;
  std::vector<Step<T>> steps_;
};

// Rough cost of walking one row down these trees.
double walk_ns(const std::vector<Asked>& trees) {
  double steps = 0;
  for (const Asked& asked : trees) steps += std::log2(static_cast<double>(asked.tree->nodes.size()) + 1);
  return steps * 4;
}

std::size_t tile_of(const std::vector<Asked>& trees) {
  std::size_t depth = kFarDown;
  for (const Asked& asked : trees) depth = std::max<std::size_t>(depth, asked.tree->depth);
  return std::max<std::size_t>(kWalkTile * kFarDown / depth, 1);
}

// Calls sink(tree, rows, leaves) with where the rows of each block end, tree after tree. rows_of(tree,
// begin, end, rows), if it says so, chooses the rows of a block for a tree; else they are all of them.
template <class T, class RowsOf, class Sink>
void for_leaves(const Question& question, const Table<T>& table, std::size_t threads, Interrupt& interrupt,
                RowsOf&& rows_of, Sink&& sink) {
  const std::size_t n_trees = question.trees.size();
  // A row alone is through the trees before their work is added up.
  const std::size_t useful =
      threads == 1 ? 1 : useful_threads(threads, walk_ns(question.trees) * static_cast<double>(table.n_rows));
  const std::size_t tile = tile_of(question.trees);
  const std::size_t blocks = std::max(useful, (table.n_rows + tile - 1) / tile);
  const Tops<T> tops(question, table.n_rows, (table.n_rows + blocks - 1) / blocks);
  parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
    const std::size_t begin = table.n_rows * block / blocks, end = table.n_rows * (block + 1) / blocks;
    if (begin == end) return;
    BlockWalker<T> walker(question, tops, table, begin, end);
    std::vector<Row> rows(end - begin);
    std::iota(rows.begin(), rows.end(), static_cast<Row>(begin));
    const bool chosen = rows_of(0, begin, end, rows);
    const std::size_t at_once = chosen || !uses(Path::ManyTreesAtOnce) || rows.size() >= kFewWalks
                                    ? 1
                                    : std::min(std::max<std::size_t>(tile / rows.size(), 1), n_trees);
    std::vector<std::uint32_t> leaf(at_once * (end - begin));
    for (std::size_t t = 0; t < n_trees; t += at_once) {
      interrupt.poll();
      if (chosen && t > 0) rows_of(t, begin, end, rows);
      if (at_once == 1) {
        walker.walk_tree(t, rows, leaf.data());
        sink(t, rows, leaf.data());
        continue;
      }
      const std::size_t to = std::min(t + at_once, n_trees);
      walker.walk_trees(t, to, rows, leaf.data());
      for (std::size_t u = t; u < to; ++u) sink(u, rows, leaf.data() + (u - t) * rows.size());
    }
  });
}

Question question_of(std::span<const Forest* const> forests, std::size_t first, std::size_t last,
                     const double* weights) {
  const std::size_t width = forests[0]->outputs.width();
  Question out{*forests[0], {}, width * forests.size()};
  out.trees.reserve(forests.size() * (last - first));
  for (std::size_t k = 0; k < forests.size(); ++k) {
    for (std::size_t t = first; t < last; ++t) {
      out.trees.push_back({&forests[k]->trees[t], weights ? weights[t] : 1.0, k * width});
    }
  }
  return out;
}

}  // namespace

template <class T>
void find_leaves(const Forest& forest, const Table<T>& table, std::size_t first, std::size_t last, std::size_t threads,
                 std::int64_t* out, Interrupt& interrupt) {
  const Forest* only = &forest;
  const auto all = [](std::size_t, std::size_t, std::size_t, std::vector<Row>&) { return false; };
  for_leaves(question_of({&only, 1}, first, last, nullptr), table, threads, interrupt, all,
             [&](std::size_t tree, const std::vector<Row>& rows, const std::uint32_t* leaf) {
               for (std::size_t k = 0; k < rows.size(); ++k) out[rows[k] * (last - first) + tree] = leaf[k];
             });
}

namespace {

template <class AnyTable>
void add_answers(const Question& question, const AnyTable& table, const Adding& adding, std::size_t threads,
                 double* sums, Interrupt& interrupt) {
  const auto allowed = [&](std::size_t tree, std::size_t begin, std::size_t end, std::vector<Row>& rows) {
    if (!adding.barred) return false;
    const std::uint64_t* barred = adding.barred + tree * adding.barred_words;
    rows.clear();
    for (std::size_t k = begin; k < end; ++k) {
      if ((barred[k / 64] >> (k % 64) & 1) == 0) rows.push_back(static_cast<Row>(k));
    }
    for (const Row row : rows) ++adding.answered[row];
    return true;
  };
  const std::size_t rounds = adding.last - adding.first, plane = adding.apart ? table.n_rows * question.stride : 0;
  for_leaves(question, table, threads, interrupt, allowed,
             [&](std::size_t tree, const std::vector<Row>& rows, const std::uint32_t* leaf) {
               const Asked& asked = question.trees[tree];
               const LeafAdder adder(question.like.outputs, *asked.tree, asked.weight, adding.vote, rows.size());
               double* into = sums + tree % rounds * plane + asked.place;
               adder.add_all(leaf, rows, into, question.stride);
             });
}

}  // namespace

template <class T>
void add_values(std::span<const Forest* const> forests, const Table<T>& table, const Adding& adding,
                std::size_t threads, double* sums, Interrupt& interrupt) {
  const Question question = question_of(forests, adding.first, adding.last, adding.weights);
  if (masks_fit(question, adding, table.n_rows)) {
    return add_by_masks(question, table, adding.vote, threads, sums, interrupt);
  }
  add_answers(question, table, adding, threads, sums, interrupt);
}

template <class T>
bool add_sparse_values(std::span<const Forest* const> forests, const SparseTable<T>& table, const Adding& adding,
                       std::size_t threads, double* sums, Interrupt& interrupt) {
  const Question question = question_of(forests, adding.first, adding.last, adding.weights);
  if (!turning_pays(question, table)) return false;
  add_answers(question, table, adding, threads, sums, interrupt);
  return true;
}

template void find_leaves(const Forest&, const Table<float>&, std::size_t, std::size_t, std::size_t, std::int64_t*,
                          Interrupt&);
template void find_leaves(const Forest&, const Table<double>&, std::size_t, std::size_t, std::size_t, std::int64_t*,
                          Interrupt&);
template void add_values(std::span<const Forest* const>, const Table<float>&, const Adding&, std::size_t, double*,
                         Interrupt&);
template void add_values(std::span<const Forest* const>, const Table<double>&, const Adding&, std::size_t, double*,
                         Interrupt&);
template bool add_sparse_values(std::span<const Forest* const>, const SparseTable<float>&, const Adding&, std::size_t,
                                double*, Interrupt&);
template bool add_sparse_values(std::span<const Forest* const>, const SparseTable<double>&, const Adding&, std::size_t,
                                double*, Interrupt&);

}  // namespace weald
