// Whole subtrees of few rows, grown without leaving the registers for long.
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
// the one that grows without. The best cuts of categories are left to the general search.
#pragma once

#include <variant>

#include "weald/base/paths.hpp"
#include "weald/grow/node_search.hpp"
#include "weald/grow/tile_statistics.hpp"
#include "weald/search/column_draw.hpp"
#include "weald/search/draw_cut.hpp"

namespace weald {

template <class Statistic>
class SmallGrower {
 public:
  explicit SmallGrower(const Plan& plan)
      : plan_(plan),
        strips_((plan.matrix.row_stride + kRowsAtOnce - 1) / kRowsAtOnce),
        all_columns_(plan.matrix.row_bytes && strips_ <= plan.columns_per_node),
        statistic_(plan),
        draw_(plan.matrix.n_columns()),
        candidates_(plan.columns_per_node + 1) {
    const bool large = plan.rules.random_split ? statistic_.random_in_large_tiles() : best_in_large_tiles();
    most_ = large ? large_.kRows : small_.kRows;
  }

  static bool fits(const Plan& plan) {
    const Rules& rules = plan.rules;
    const auto& columns = plan.matrix.columns;
    const auto best_of_categories = [&](const Column& column) { return column.categorical && !rules.random_split; };
    return uses(Path::SmallSubtrees) && !plan.matrix.sparse && plan.limits.plain() && rules.monotone.empty() &&
           rules.interactions.empty() && rules.max_leaves == 0 && rules.frontier == Frontier::DepthFirst &&
           Statistic::fits(plan) && std::none_of(columns.begin(), columns.end(), best_of_categories);
  }

  bool best_in_large_tiles() const {
    if constexpr (requires { statistic_.by_groups(); }) return statistic_.by_groups();
    return false;
  }

  // Grows the subtree below the node into `tree` and puts its rows into the order of the leaves; false
  // if it has to be done in the general way.
  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    const Block& block = *node.block;
    if (node.size() > most_ || !Statistic::known(node)) return false;
    if (block.row_bytes == nullptr && block.most_codes > kByteCodes) return false;
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
    root.key = node.key, root.id = node.id, root.depth = node.depth, root.own = statistic_.root(node);
    load(tile, task.block, task.rows.get(node.begin, node.size()), node.size(), root.own);
    grow_tile(tile, task, root, node.begin);
  }

  template <class Tile>
  void load(Tile& tile, const Block& block, const Row* rows, std::size_t n, const typename Statistic::OfNode& own) {
    tile.load_rows(rows, n);
    statistic_.load(tile, block, own);
    const bool at_once = all_columns_ && block.row_bytes;
    const std::size_t columns = at_once ? strips_ * kRowsAtOnce : candidates_.size();
    if (tile.codes.size() < columns * Tile::kRows) tile.codes.resize(columns * Tile::kRows);
    if (at_once) tile.load_codes(block, strips_);
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
        done.begin = begin, done.end = begin + static_cast<Row>(node.n), done.sum = statistic_.done_sum(node.own);
        if (could_split(node) && find_split(tile, task.block, node, split)) {
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
      load(smaller, task.block, few, node.n, node.own);
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
    done.missing_left = split.had_missing ? split.missing_left : left_h_ > statistic_.total_h() - left_h_;
  }

  // The node becomes its left child; returns the right one.
  template <class Tile>
  typename Tile::Node divide(Tile& tile, const Task& task, const Split& split, typename Tile::Node& node) {
    typename Tile::Node right;
    const std::uint8_t* codes = best_codes_;
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
    statistic_.measure(tile, node, right, split.left_sum);
    return right;
  }

  // --- the search ---

  struct Candidate {
    std::uint32_t column;
    const std::uint8_t* codes;
    Extremes ends;
    Code last_left;
    double threshold;
    Sides sides;  // of the random cut
    bool missing_left;
  };
  std::span<Candidate> candidates() { return {candidates_.data(), n_candidates_}; }

  template <class Tile>
  bool find_split(Tile& tile, const Block& block, const typename Tile::Node& node, Split& best) {
    best.score = -kInf;  // nothing else of it is looked at unless a split is found, which writes all that counts
    statistic_.look(tile, node);
    if (statistic_.pure()) return false;
    if (plan_.rules.random_ties) request_.ties.key = derive(node.key, kTieKey) | 1;
    draw_columns(tile, block, node);
    if (node.n == 2) keep_one();
    if (plan_.rules.random_split) {
      choose_random_cut(tile, block, node, best);
    } else {
      for (const Candidate& one : candidates()) find_cut(tile, block, one, node, best);
      for (const Candidate& one : candidates()) best_codes_ = one.column == best.column ? one.codes : best_codes_;
    }
    if (!best.found()) return false;
    return pays(plan_, statistic_.channels(), best.score,
                gain_of(statistic_.channels(), best.score, statistic_.own_score()));
  }

  // As NodeSearch::search_some draws them: those that vary here become candidates.
  template <class Tile>
  void draw_columns(Tile& tile, const Block& block, const typename Tile::Node& node) {
    const std::size_t d = draw_.size(), wanted = plan_.columns_per_node;
    const bool at_once = all_columns_ && block.row_bytes;
    n_candidates_ = 0;
    draw_.begin();
    for (std::size_t k = 0; k < d && (k < wanted || n_candidates_ == 0); ++k) {
      Candidate& next = candidates_[n_candidates_];
      next.column = wanted < d ? draw_.next(node.key) : static_cast<std::uint32_t>(k);
      const Column& column = block.columns[next.column];
      const auto* data = static_cast<const std::uint8_t*>(column.data);
      if (at_once) {
        next.codes = &tile.codes[static_cast<std::size_t>(data - block.row_bytes) * Tile::kRows];
      } else {
        if (column.constant()) continue;
        tile.load_column(data, column.stride, n_candidates_, node);
        next.codes = &tile.codes[n_candidates_ * Tile::kRows];
      }
      next.ends =
          column.has_missing ? present_extremes_of(next.codes, column.n_codes, node) : extremes_of(next.codes, node);
      n_candidates_ += varies(next.ends, column);  // no branch: it could not be foretold
    }
  }

  static bool varies(const Extremes& ends, const Column& column) {
    return (ends.first < ends.last) | (ends.has_missing & (ends.first != column.n_codes));
  }

  // Two rows: all cuts divide them alike, so that the tie decides. A third of all splits are of such.
  void keep_one() {
    const auto known = [&](const Candidate& one) {
      const Column& column = plan_.matrix.columns[one.column];
      return !one.ends.has_missing && !column.categorical;
    };
    const auto all = candidates();
    if (all.empty() || !std::all_of(all.begin(), all.end(), known)) return;
    std::size_t best = 0;
    for (std::size_t k = 1; k < all.size(); ++k) {
      if (request_.ties.prefers(all[k].column, all[best].column)) best = k;
    }
    candidates_[0] = candidates_[best];
    n_candidates_ = 1;
  }

  // Looking values up in the tables of bins takes long: all candidates at once.
  void draw_cuts(std::uint64_t key, const Block& block) {
    const auto several = [&](const Candidate& one) {
      return !block.columns[one.column].categorical && one.ends.first < one.ends.last;
    };
    for (Candidate& one : candidates()) {
      one.last_left = one.ends.last;  // one value: present | missing
      if (several(one)) one.threshold = draw_bin_threshold(key, block.columns[one.column], one.column, one.ends);
    }
    for (Candidate& one : candidates()) {
      if (several(one)) one.last_left = last_bin_below(block.columns[one.column], one.ends, one.threshold);
    }
  }

  struct TwoGroups {
    std::span<const Code> left, right;
  };

  // A column's categories, divided.
  template <class Tile>
  TwoGroups draw_categories(const Candidate& at, const typename Tile::Node& node) {
    std::uint64_t seen[kByteSlots / 64] = {};
    for_rows_in(node, [&](std::size_t i) { seen[at.codes[i] / 64] |= std::uint64_t{1} << (at.codes[i] % 64); });
    std::size_t n = 0;
    for (std::size_t word = at.ends.first / 64; word <= at.ends.last / 64; ++word) {
      for (std::uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
        categories_[n++] = static_cast<Code>(word * 64) + static_cast<Code>(std::countr_zero(bits));
      }
    }
    n -= n > 0 && categories_[n - 1] > at.ends.last;  // missing
    const std::size_t n_left = n > 1 ? shuffle_and_cut(node.key, at.column, {categories_, n}) : n;
    return {{categories_, n_left}, {categories_ + n_left, n - n_left}};
  }

  // Random cuts are scored first and compared then: which is the best so far could not be foretold.
  template <class Tile>
  void choose_random_cut(const Tile& tile, const Block& block, const typename Tile::Node& node, Split& best) {
    draw_cuts(node.key, block);
    double most = -kInf;
    for (Candidate& one : candidates()) {
      try_cut(tile, block, one, node);
      most = std::max(most, one.sides.score);
    }
    const Candidate* chosen = nullptr;
    for (const Candidate& one : candidates()) {
      const bool wins = !chosen || request_.ties.prefers(one.column, chosen->column);
      if (one.sides.score == most && wins) chosen = &one;
    }
    if (chosen) take_random_cut<Tile>(block, *chosen, node, best);
  }

  template <class Tile>
  void try_cut(const Tile& tile, const Block& block, Candidate& at, const typename Tile::Node& node) {
    const Column& column = block.columns[at.column];
    const TwoGroups groups = column.categorical ? draw_categories<Tile>(at, node) : TwoGroups{};
    Bytes left[Tile::kChunks];
    with_test(column.categorical, at.last_left, groups.left, [&](auto&& goes_left) {
      for (std::size_t c = 0; c < Tile::kChunks; ++c)
        left[c] = goes_left(Bytes::load(at.codes + c * kRowsAtOnce)) & node.in[c];
    });
    at.sides = statistic_.split(tile, left);
    at.missing_left = false;
    if (!at.ends.has_missing || at.ends.first == at.ends.last) return;
    for (std::size_t c = 0; c < Tile::kChunks; ++c)  // tried on the right, then on the left
      left[c] = left[c] | (Bytes::load(at.codes + c * kRowsAtOnce).is(column.n_codes) & node.in[c]);
    const Sides other = statistic_.split(tile, left);
    at.missing_left = other.score > at.sides.score;
    if (at.missing_left) at.sides = other;
  }

  template <class Tile>
  void take_random_cut(const Block& block, const Candidate& at, const typename Tile::Node& node, Split& best) {
    const Column& column = block.columns[at.column];
    best.score = at.sides.score, best.column = at.column, best.left_sum = at.sides.left_sum;
    const CutPoint cut = column.categorical || at.ends.first == at.ends.last
                             ? CutPoint{at.last_left, column.n_codes, kNaN}
                             : bin_cut(column, at.last_left, at.threshold);
    best.last_left = cut.last_left, best.first_right = cut.first_right, best.random_threshold = cut.threshold;
    best.had_missing = at.ends.has_missing, best.missing_left = at.missing_left;
    best.categorical = column.categorical;
    best_codes_ = at.codes, left_h_ = at.sides.left_h;
    if (!column.categorical) return;
    // As ColumnSearch::choose_left does: categories that are not here go right.
    const TwoGroups groups = draw_categories<Tile>(at, node);
    const bool flip =
        at.ends.has_missing ? at.missing_left || groups.right.empty() : left_h_ > statistic_.total_h() - left_h_;
    const auto& listed = flip ? groups.right : groups.left;
    best.left_codes.assign(listed.begin(), listed.end());
    if (!flip) return;
    best.missing_left = !at.missing_left;
    best.left_sum = statistic_.done_sum(node.own) - best.left_sum, left_h_ = statistic_.total_h() - left_h_;
  }

  // The best cut of a column: that after each row, missing values on the right, then on the left.
  template <class Tile>
  void find_cut(const Tile& tile, const Block& block, const Candidate& at, const typename Tile::Node& node,
                Split& best) {
    const Column& column = block.columns[at.column];
    if constexpr (requires { statistic_.search_sixteen(tile, node, at.codes, request_, at.column, best); }) {
      if (!at.ends.has_missing) {
        left_h_ = statistic_.search_sixteen(tile, node, at.codes, request_, at.column, best);
        return;
      }
    }
    if constexpr (requires { statistic_.by_groups(); }) {
      if (Tile::kChunks > 1 || (statistic_.by_groups() && node.n > kFewCompared)) {
        const Lane h = statistic_.search_groups(tile, node, at.codes, request_, column, at.column, best);
        if (best.column == at.column) left_h_ = h;
        return;
      }
    }
    const Bytes all = Bytes::load(at.codes);
    const Bytes absent = at.ends.has_missing ? all.is(column.n_codes) & node.in[0] : Bytes::none();
    const Bytes present = node.in[0].without(absent);
    Sides top{-kInf, 0, 0};
    Code last_left = 0;
    bool missing_left = false;
    for (int pass = 0; pass <= (at.ends.has_missing ? 1 : 0); ++pass) {
      const Code end = pass == 0 && at.ends.has_missing ? column.n_codes : at.ends.last;  // cuts are below it
      for (std::uint32_t bits = present.bits(); bits != 0; bits &= bits - 1) {
        const Code own = at.codes[std::countr_zero(bits)];
        const Bytes left[Tile::kChunks] = {pass == 0 ? all.is_up_to(own) & present
                                                     : (all.is_up_to(own) & present) | absent};
        const Sides sides = statistic_.split(tile, left);
        const bool first_of_equals = sides.score == top.score && missing_left == (pass == 1) && own < last_left;
        if (own >= end || !(sides.score > top.score || first_of_equals)) continue;
        top = sides, last_left = own, missing_left = pass == 1;
      }
    }
    if (!best.loses_to(top.score, at.column, request_.ties)) return;
    best.score = top.score, best.column = at.column, best.left_sum = top.left_sum;
    best.last_left = last_left, best.first_right = column.n_codes;
    best.had_missing = at.ends.has_missing, best.missing_left = missing_left;
    left_h_ = top.left_h;
    for (std::uint32_t bits = present.bits(); bits != 0; bits &= bits - 1) {
      const Code own = at.codes[std::countr_zero(bits)];
      if (own > last_left) best.first_right = std::min(best.first_right, own);
    }
  }

  const Plan& plan_;
  std::size_t strips_;  // sixteens of columns
  bool all_columns_;    // are those of a tile all turned at once? Else a node does so with those it draws
  Statistic statistic_;
  std::size_t most_ = 0;  // rows of the largest node taken
  TileOf<kLargeTile> large_;
  TileOf<kMiddleTile> middle_;
  TileOf<1> small_;
  std::tuple<std::vector<typename TileOf<kLargeTile>::Node>, std::vector<typename TileOf<kMiddleTile>::Node>,
             std::vector<typename TileOf<1>::Node>>
      open_;
  // The node at hand.
  ColumnDraw draw_;
  std::vector<Candidate> candidates_;
  std::size_t n_candidates_ = 0;
  const std::uint8_t* best_codes_ = nullptr;
  Lane left_h_ = 0;                   // of the best split
  Code categories_[kByteSlots] = {};  // of a column
  SearchRequest request_;
};

// The one of them that fits the statistics of a growth, if any.
class SmallSubtrees {
 public:
  explicit SmallSubtrees(const Plan& plan) {
    if (SmallGrower<TwoClasses>::fits(plan)) {
      grower_ = std::make_unique<SmallGrower<TwoClasses>>(plan);
    } else if (SmallGrower<ManyClasses>::fits(plan)) {
      grower_ = std::make_unique<SmallGrower<ManyClasses>>(plan);
    } else if (SmallGrower<Numbers>::fits(plan)) {
      grower_ = std::make_unique<SmallGrower<Numbers>>(plan);
    }
  }

  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    return std::visit([&](auto& grower) { return grower && grower->grow(node, rows, tree); }, grower_);
  }

 private:
  std::variant<std::unique_ptr<SmallGrower<TwoClasses>>, std::unique_ptr<SmallGrower<ManyClasses>>,
               std::unique_ptr<SmallGrower<Numbers>>>
      grower_;
};

}  // namespace weald
