// The rows of one block on their way down trees: walks of single rows, and of many in step.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "weald/base/paths.hpp"
#include "weald/base/wide_vectors.hpp"
#include "weald/tree/predict.hpp"
#include "weald/tree/steps.hpp"
#include "weald/tree/tops.hpp"

namespace weald {

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
bool has_missing(const Table<T>& table, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end && !table.complete; ++i) {
    bool missing = false;
    for (std::size_t j = 0; j < table.n_columns; ++j) missing |= table.at(i, j) != table.at(i, j);
    if (missing) return true;
  }
  return false;
}

template <class T>
Look look_for(const Question& question, const Table<T>& table, std::size_t begin, std::size_t end) {
  for (const std::uint32_t n : question.like.n_categories) {
    if (n > 0) return Look::Categories;
  }
  if (table.complete) return table.column_stride == 1 ? Look::Plain : Look::Missing;
  // To look at all cells of a wide table takes longer than to walk down few trees.
  std::size_t steps = 0;
  for (const Asked& asked : question.trees) steps += asked.tree->depth;
  const bool may_miss = table.n_columns > steps || table.column_stride != 1 || has_missing(table, begin, end);
  return may_miss ? Look::Missing : Look::Plain;
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
        look_(look_for(question, table, begin, end)),
        tops_(tops, table, begin, end) {
    if (tops_.serve()) {
      const bool missing = look_ != Look::Plain && has_missing(table, begin, end);
      keys_.emplace(table, begin, end, missing, question.like.n_categories);
    }
  }

  // rows[k] ends in leaf[k] of the tree, one after another. The rows are put into another order.
  void walk_tree(std::size_t tree, std::vector<Row>& rows, std::uint32_t* leaf) {
    const CompactTree& into = *trees_[tree].tree;
    if (tops_.serve() && !rows.empty()) {
      order_by_top(tree, rows);
      for (const Group& group : groups_) walk_group(into, group, rows, leaf);
      return;
    }
    const bool crowd = uses(Path::CrowdsDivided) && rows.size() >= kCrowd;
    if (crowd) with_look([&]<Look kLook>(As<kLook>) { spread<kLook>(into, rows); });
    walk_all(
        rows.size(), [&](std::size_t k) { return Start{&into, crowd ? start_[k] : into.nodes.data(), rows[k]}; },
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
  struct Group {  // rows begin..end-1 of a list have come to the same node, whose subtree ends before `last`
    std::uint32_t node, last;
    std::size_t begin, end;
  };

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

  // Rows below an end of the top go on in step, if they are enough to lay out the nodes there.
  void walk_group(const CompactTree& tree, const Group& group, std::span<const Row> all, std::uint32_t* leaf) {
    const auto rows = all.subspan(group.begin, group.end - group.begin);
    leaf += group.begin;
    const std::uint32_t first = group.node;
    const std::size_t stride = table_.column_stride;
    if (group.last - first > kStepsPerRow * rows.size()) {
      return walk_all(
          rows.size(), [&](std::size_t k) { return Start{&tree, &tree.nodes[first], rows[k]}; },
          [&](std::size_t k, std::uint32_t at) { leaf[k] = at; });
    }
    const auto go = [&]<bool kSets>(std::bool_constant<kSets>) {
      steps_.template lay_out<kSets>(tree, first, group.last, *keys_);
      walk_in_step<kSets>(*keys_, steps_, rows, leaf, [&](std::size_t m, std::size_t k) {
        const Node* node = &tree.nodes[first + m];
        while (stops<T>(*node))
          node = step<Look::Categories>(node, tree.sets.data(), table_.data + rows[k] * table_.row_stride, stride);
        return static_cast<std::size_t>(node - &tree.nodes[first]);
      });
    };
    look_ == Look::Categories ? go(std::true_type{}) : go(std::false_type{});
    for (std::size_t k = 0; k < rows.size(); ++k) leaf[k] += first;
  }

  // The first tests of a tree are asked of all rows of the block at once; rows that they lead to the same node become
  // neighbours, in ascending order.
  void order_by_top(std::size_t tree, std::vector<Row>& rows) {
    const std::vector<std::uint32_t>& ends = tops_.ends(tree);
    const std::size_t stride = end_ - begin_ + kTopRows;
    if (tree >= placed_) {  // those of some trees at once
      first_placed_ = tree, placed_ = std::min(tree + kTopTrees, trees_.size());
      top_.resize((placed_ - tree) * stride);
      tops_.place(tree, placed_, top_.data(), stride);
    }
    const std::uint8_t* const top = top_.data() + (tree - first_placed_) * stride;
    std::size_t count[kMostEnds] = {}, at[kMostEnds] = {};
    for (const Row row : rows) ++count[top[row - begin_]];
    for (std::size_t e = 1; e < ends.size(); ++e) at[e] = at[e - 1] + count[e - 1];
    groups_.clear();
    const auto nodes = static_cast<std::uint32_t>(trees_[tree].tree->nodes.size());
    for (std::size_t e = 0; e < ends.size(); ++e) {
      groups_.push_back({ends[e], e + 1 < ends.size() ? ends[e + 1] : nodes, at[e], at[e] + count[e]});
    }
    if (rows.size() == end_ - begin_) {
      for (std::size_t i = begin_; i < end_; ++i) rows[at[top[i - begin_]]++] = static_cast<Row>(i);
      return;
    }
    scratch_ = rows;
    for (const Row row : scratch_) rows[at[top[row - begin_]]++] = row;
  }

  // Near the root the rows are divided as in growth, [left | right], test by test: that reads them in
  // order and leaves rows that go the same way next to each other, so that the lower nodes they walk
  // on from are still in the first cache when the next of them comes.
  template <Look kLook>
  void spread(const CompactTree& tree, std::vector<Row>& rows) {
    start_.resize(rows.size());
    scratch_.resize(rows.size());
    const std::uint32_t* sets = tree.sets.data();
    groups_.assign(1, {0, 0, 0, rows.size()});
    while (!groups_.empty()) {
      const Group group = groups_.back();
      groups_.pop_back();
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
      groups_.push_back({group.node + node.next, 0, left, group.end});
      groups_.push_back({group.node + 1, 0, group.begin, left});
    }
  }

  const std::vector<Asked>& trees_;
  const Table<T>& table_;
  std::size_t begin_, end_;
  Look look_;
  TopRows<T> tops_;
  std::optional<RowKeys<T>> keys_;
  Steps<T> steps_;
  std::vector<Group> groups_;
  std::vector<const Node*> start_;
  std::vector<Row> scratch_;
  std::vector<std::uint8_t> top_;  // of the trees first_placed_ .. placed_ - 1
  std::size_t first_placed_ = 0, placed_ = 0;
};

}  // namespace weald
