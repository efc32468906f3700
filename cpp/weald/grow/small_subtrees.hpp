// Whole subtrees of few rows under random cuts, grown without leaving the registers for long.
//
// Two thirds of the nodes of a full tree have at most sixteen rows. What the loop of growth does for any
// node (ranges of rows, blocks, queues, scratch memory) costs there several times what the search
// itself does. So once a node is small its rows' bytes are turned into columns, a node is a set of
// rows, and its whole subtree is finished in place:
//
//   tile       up to 256 rows, column-major       a node inside: 255 for each row that is in it (tile.hpp)
//   smaller    a node of a quarter gets a tile of its own, so that no time goes into rows elsewhere
//
// What the rows add is a parameter (tile_statistics.hpp). The same keys and the same arithmetic as everywhere: the tree is
// the one that grows without. For random cuts; best cuts have few_rows.hpp.
#pragma once

#include <variant>

#include "weald/base/paths.hpp"
#include "weald/grow/tile_numbers.hpp"
#include "weald/grow/tile_search.hpp"
#include "weald/grow/tile_weighed.hpp"

namespace weald {

template <class Statistic>
class SmallGrower {
 public:
  explicit SmallGrower(const Plan& plan) : plan_(plan), search_(plan) {
    most_ = search_.takes_large_tiles() ? large_.kRows : small_.kRows;
  }

  static bool fits(const Plan& plan) {
    const Rules& rules = plan.rules;
    return uses(Path::SmallSubtrees) && rules.random_split && !plan.matrix.sparse && plan.limits.plain() &&
           rules.monotone.empty() && rules.interactions.empty() && rules.max_leaves == 0 &&
           rules.frontier == Frontier::DepthFirst && Statistic::fits(plan);
  }

  // Grows the subtree below the node into `tree` and puts its rows into the order of the leaves; false
  // if it has to be done in the general way.
  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    const Block& block = *node.block;
    if (node.size() > most_ || !Statistic::known(node)) return false;
    if (!block.bytes) return false;
    const Task task{block, tree, rows};
    if (node.size() <= small_.kRows) return begin_in(small_, task, node), true;
    node.size() <= middle_.kRows ? begin_in(middle_, task, node) : begin_in(large_, task, node);
    return true;
  }

 private:
  template <std::size_t kChunks>
  using TileOf = Tile<kChunks, Statistic>;

  // The subtree at hand.
  struct Task {
    const Block& block;
    Subtree& tree;
    View<Row> rows;  // of the whole tree, to be put into the order of the leaves
  };

  template <class Tile>
  void begin_in(Tile& tile, const Task& task, const OpenNode& node) {
    typename Tile::Node root;
    root.key = node.key, root.id = node.id, root.depth = node.depth, root.own = search_.statistic().root(node);
    search_.load(tile, task.block, task.rows.get(node.begin, node.size()), node.size(), root.own);
    grow_tile(tile, task, root, node.begin);
  }

  // --- growth ---

  template <class Tile>
  void grow_tile(Tile& tile, const Task& task, typename Tile::Node node, Row begin) {
    node.n = tile.n;
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      node.in[c] = Bytes::first(std::min(tile.n - std::min(tile.n, c * kRowsAtOnce), kRowsAtOnce));
    }
    auto& open = std::get<std::vector<typename Tile::Node>>(open_);
    Split split;
    for (open.clear();;) {
      if (Tile::kChunks > 1 && node.n <= Tile::kRows / 4 && could_split(node)) {
        begin_smaller(tile, task, node, begin);
      } else {
        DoneNode& done = task.tree.nodes[node.id];
        done.begin = begin, done.end = begin + static_cast<Row>(node.n),
        done.sum = search_.statistic().done_sum(node.own);
        if (could_split(node) && search_.find_split(tile, task.block, node, split)) {
          record(done, task, tile, split, node);
          open.push_back(divide(tile, task, split, node));
          continue;
        }
        tile.list(node, task.rows.get(begin, node.n), [&](Row row) { return task.block.original(row); });
      }
      begin += static_cast<Row>(node.n);
      if (open.empty()) return;
      node = open.back();
      open.pop_back();
    }
  }

  template <class Tile>
  void begin_smaller(const Tile& tile, const Task& task, const typename Tile::Node& node, Row begin) {
    if constexpr (Tile::kChunks > 1) {
      Row few[Tile::kRows];
      tile.list(node, few, [](Row row) { return row; });
      auto& smaller = smaller_than(tile);
      using Smaller = std::remove_reference_t<decltype(smaller)>;
      search_.load(smaller, task.block, few, node.n, node.own);
      typename Smaller::Node root;
      root.key = node.key, root.id = node.id, root.depth = node.depth, root.own = node.own;
      grow_tile(smaller, task, root, begin);
    }
  }
  TileOf<kMiddleTile>& smaller_than(const TileOf<kLargeTile>&) { return middle_; }
  TileOf<1>& smaller_than(const TileOf<kMiddleTile>&) { return small_; }
  static_assert(kLargeTile <= 4 * kMiddleTile && kMiddleTile <= 4);

  bool could_split(const auto& node) const {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.n >= std::max<std::size_t>(rules.min_samples_split, 2) &&
           !Statistic::sure_to_be_pure(node.own);
  }

  template <class Tile>
  void record(DoneNode& done, const Task& task, const Tile& tile, const Split& split, const typename Tile::Node& node) {
    Row rows[Tile::kRows];
    const Column& column = task.block.columns[split.column];
    const bool by_rows = !split.categorical && !column.low;  // ranks: the rows know the values
    if (by_rows) tile.list(node, rows, [](Row row) { return row; });
    done.threshold = threshold_of(task.block, split, plan_.matrix.raw, rows, by_rows ? node.n : 0);
    if (split.categorical) {
      const bool kept = has_few_codes(plan_.matrix.columns[split.column]);
      task.tree.add_set(done, kept ? std::span<const Code>(split.left_codes) : std::span<const Code>());
    }
    done.feature = static_cast<std::int32_t>(split.column);
    done.left = static_cast<std::int32_t>(task.tree.nodes.size());
    done.missing_left = split.had_missing ? split.missing_left : 2 * search_.left_h() > search_.statistic().total_h();
  }

  // The node becomes its left child; returns the right one.
  template <class Tile>
  typename Tile::Node divide(Tile& tile, const Task& task, const Split& split, typename Tile::Node& node) {
    typename Tile::Node right;
    const std::uint8_t* codes = search_.codes();
    const bool missing_left = split.had_missing && split.missing_left;
    const Code missing = task.block.columns[split.column].n_codes;
    std::size_t n_left = 0;
    with_test(split.categorical, split.last_left, split.left_codes, [&](auto&& goes_left) {
      for (std::size_t c = 0; c < Tile::kChunks; ++c) {
        const Bytes code = Bytes::load(codes + c * kRowsAtOnce);
        Bytes left = goes_left(code);
        if (missing_left) left = left | code.is(missing);
        left = left & node.in[c];
        right.in[c] = node.in[c].without(left);
        node.in[c] = left;
        n_left += static_cast<std::size_t>(std::popcount(left.bits()));
      }
    });
    const auto children = static_cast<std::uint32_t>(task.tree.nodes.size());
    task.tree.nodes.resize(children + 2);
    right.n = node.n - n_left, node.n = n_left;
    right.id = children + 1, node.id = children;
    right.depth = ++node.depth;
    right.key = derive(node.key, kChildKey + 1), node.key = derive(node.key, kChildKey);
    right.own = node.own;
    search_.statistic().measure(tile, node, right, split.left_sum);
    return right;
  }

  const Plan& plan_;
  TileSearch<Statistic> search_;
  std::size_t most_ = 0;  // rows of the largest node taken
  TileOf<kLargeTile> large_;
  TileOf<kMiddleTile> middle_;
  TileOf<1> small_;
  std::tuple<std::vector<typename TileOf<kLargeTile>::Node>, std::vector<typename TileOf<kMiddleTile>::Node>,
             std::vector<typename TileOf<1>::Node>>
      open_;
};

// The one of them that fits the statistics of a growth, if any.
class SmallSubtrees {
 public:
  explicit SmallSubtrees(const Plan& plan) {
    choose<TwoClasses>(plan) || choose<ManyClasses>(plan) || choose<WeighedClasses>(plan) || choose<Numbers>(plan);
  }

  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    return std::visit([&](auto& grower) { return grower && grower->grow(node, rows, tree); }, grower_);
  }

 private:
  template <class Statistic>
  using Maybe = std::unique_ptr<SmallGrower<Statistic>>;

  template <class Statistic>
  bool choose(const Plan& plan) {
    if (!SmallGrower<Statistic>::fits(plan)) return false;
    grower_ = std::make_unique<SmallGrower<Statistic>>(plan);
    return true;
  }

  std::variant<Maybe<TwoClasses>, Maybe<ManyClasses>, Maybe<WeighedClasses>, Maybe<Numbers>> grower_;
};

}  // namespace weald
