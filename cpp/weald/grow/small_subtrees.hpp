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
// The same keys and the same arithmetic as everywhere: the tree is the one that grows without. Random cuts know
// categories and missing values; the best cuts of such columns are left to the general search.
#pragma once

#include "weald/base/paths.hpp"
#include "weald/grow/node_search.hpp"
#include "weald/grow/tile.hpp"
#include "weald/search/draw_cut.hpp"

namespace weald {

class SmallSubtrees {
 public:
  SmallSubtrees(const Plan& plan, const NodeSearch& search) : plan_(plan), search_(search) {
    const Rules& rules = plan.rules;
    const Binned& matrix = plan.matrix;
    const std::size_t strips = (matrix.row_stride + kRowsAtOnce - 1) / kRowsAtOnce;
    const bool fits = uses(Path::SmallSubtrees) && plan.stats.light_two_classes && plan.limits.plain() &&
                      rules.monotone.empty() && rules.max_leaves == 0 && rules.frontier == Frontier::DepthFirst &&
                      matrix.row_bytes && strips <= plan.columns_per_node;
    if (!fits) return;
    drawn_.resize(matrix.n_columns()), candidates_.resize(matrix.n_columns() + 1);
    for (std::size_t j = 0; j < matrix.n_columns(); ++j) {
      const Column& column = matrix.columns[j];
      if (column.categorical && !rules.random_split) return;
      place_.push_back(static_cast<std::size_t>(static_cast<const std::uint8_t*>(column.data) - matrix.row_bytes));
      if (column.has_missing && !rules.random_split) may_miss_.push_back(static_cast<std::uint32_t>(j));
    }
    most_ = rules.random_split ? large_.kRows : small_.kRows;
    if (rules.random_split) {
      large_.codes.resize(strips * kRowsAtOnce * large_.kRows);
      middle_.codes.resize(strips * kRowsAtOnce * middle_.kRows);
    }
    small_.codes.resize(strips * kRowsAtOnce * small_.kRows);
  }

  // Grows the subtree below the node into `tree` and puts its rows into the order of the leaves; false
  // if it has to be done in the general way.
  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    if (node.size() > most_ || node.sum == OpenNode::kUnknown || node.block->row_bytes == nullptr) return false;
    const Task task{*node.block, tree, rows};
    if (node.size() <= small_.kRows) return begin_in(small_, task, node);
    return node.size() <= middle_.kRows ? begin_in(middle_, task, node) : begin_in(large_, task, node);
  }

 private:
  // The subtree at hand.
  struct Task {
    const Block& block;
    Subtree& tree;
    View<Row> rows;  // of the whole tree, to be put into the order of the leaves
  };

  template <class Tile>
  bool begin_in(Tile& tile, const Task& task, const OpenNode& node) {
    tile.load(task.block, task.rows.get(node.begin, node.size()), node.size());
    if (misses(tile, task.block)) return false;
    grow_tile(tile, task, {node.key, node.sum, node.id, node.depth}, node.size(), node.begin);
    return true;
  }

  template <class Tile>
  const std::uint8_t* codes_of(const Tile& tile, std::uint32_t j) const {
    return &tile.codes[place_[j] * Tile::kRows];
  }

  // Are values missing that the general search has to place?
  template <class Tile>
  bool misses(const Tile& tile, const Block& block) const {
    Bytes any = Bytes::none();
    for (const std::uint32_t j : may_miss_) {
      const std::uint8_t* codes = codes_of(tile, j);
      for (std::size_t c = 0; c < Tile::kChunks; ++c) {
        any = any | Bytes::load(codes + c * kRowsAtOnce).is(block.columns[j].n_codes);
      }
    }
    return any.bits() != 0;
  }

  // --- growth ---

  template <class Tile>
  void grow_tile(Tile& tile, const Task& task, const SmallNode& root, std::size_t n, Row begin) {
    typename Tile::Node node;
    static_cast<SmallNode&>(node) = root;
    node.n = n;
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      node.in[c] = Bytes::first(std::min(n - std::min(n, c * kRowsAtOnce), kRowsAtOnce));
    }
    auto& open = std::get<std::vector<typename Tile::Node>>(open_);
    Split split;
    for (open.clear();;) {
      if constexpr (Tile::kChunks > 1) {
        if (node.n <= Tile::kRows / 4 && could_split(node)) {
          Row few[Tile::kRows];
          tile.list(node, few, [](Row row) { return row; });
          auto& smaller = smaller_than(tile);
          smaller.load(task.block, few, node.n);
          grow_tile(smaller, task, node, node.n, begin);
          begin += static_cast<Row>(node.n);
          if (open.empty()) return;
          node = open.back();
          open.pop_back();
          continue;
        }
      }
      DoneNode& done = task.tree.nodes[node.id];
      done.begin = begin, done.end = begin + static_cast<Row>(node.n), done.sum = node.sum;
      if (could_split(node) && find_split(tile, task.block, node, split)) {
        record(done, task, split, node.sum);
        open.push_back(divide(tile, task.tree, split, node));
        continue;
      }
      tile.list(node, task.rows.get(begin, node.n), [&](Row row) { return task.block.original(row); });
      begin += static_cast<Row>(node.n);
      if (open.empty()) return;
      node = open.back();
      open.pop_back();
    }
  }

  Tile<kMiddleTile>& smaller_than(const Tile<kLargeTile>&) { return middle_; }
  Tile<1>& smaller_than(const Tile<kMiddleTile>&) { return small_; }
  static_assert(kLargeTile <= 4 * kMiddleTile && kMiddleTile <= 4);

  bool could_split(const auto& node) const {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.n >= std::max<std::size_t>(rules.min_samples_split, 2) &&
           !pure_word(node.sum);
  }

  void record(DoneNode& done, const Task& task, const Split& split, Lane sum) {
    const Column& column = task.block.columns[split.column];
    if (split.categorical) {
      done.threshold = kNaN;
      const bool kept = has_few_codes(plan_.matrix.columns[split.column]);
      task.tree.add_set(done, kept ? std::span<const Code>(split.left_codes) : std::span<const Code>());
    } else if (split.first_right == column.n_codes) {
      done.threshold = kInf;  // present | missing
    } else {
      CutPoint cut{split.last_left, split.first_right, kNaN};
      if (plan_.rules.random_split) cut = bin_cut(column, split.last_left, split.random_threshold);
      done.threshold =
          std::isnan(cut.threshold) ? midpoint(column.high[cut.last_left], column.low[cut.first_right]) : cut.threshold;
    }
    done.feature = static_cast<std::int32_t>(split.column);
    done.left = static_cast<std::int32_t>(task.tree.nodes.size());
    const Lane left = split.left_sum & 0xFFFFFFFF;
    done.missing_left = split.had_missing ? split.missing_left : left > (sum & 0xFFFFFFFF) - left;
  }

  // The node becomes its left child; returns the right one.
  template <class Tile>
  typename Tile::Node divide(const Tile& tile, Subtree& tree, const Split& split, typename Tile::Node& node) {
    typename Tile::Node right;
    const std::uint8_t* codes = codes_of(tile, split.column);
    const bool missing_left = split.had_missing && split.missing_left;
    const Code missing = plan_.matrix.columns[split.column].n_codes;
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
    const auto children = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes.resize(children + 2);
    right.n = node.n - n_left, node.n = n_left;
    right.sum = node.sum - split.left_sum, node.sum = split.left_sum;
    right.id = children + 1, node.id = children;
    right.depth = ++node.depth;
    right.key = derive(node.key, kChildKey + 1), node.key = derive(node.key, kChildKey);
    return right;
  }

  // --- the search ---

  struct Candidate {
    std::uint32_t column;
    Extremes ends;
    Code last_left;
    double threshold;
  };
  std::span<Candidate> candidates() { return {candidates_.data(), n_candidates_}; }

  template <class Tile>
  bool find_split(const Tile& tile, const Block& block, const typename Tile::Node& node, Split& best) {
    best.score = -kInf;  // nothing else of it is looked at unless a split is found, which writes all that counts
    if (plan_.rules.random_ties) request_.ties.key = derive(node.key, kTieKey) | 1;
    draw_columns(tile, node);
    if (plan_.rules.random_split) {
      draw_cuts(node.key, block);
      for (const Candidate& cut : candidates()) {
        TwoGroups groups;
        if (block.columns[cut.column].categorical) groups = draw_categories(tile, cut, node);
        try_cut(tile, cut, groups, node, best);
      }
    } else {
      SixteenRows sixteen;
      (Bytes::load(tile.h) & node.in[0]).store(sixteen.h);
      (Bytes::load(tile.g) & node.in[0]).store(sixteen.g);
      const std::uint32_t members = node.in[0].bits();
      for (const Candidate& one : candidates()) {
        search_sixteen_rows(request_, sixteen, codes_of(tile, one.column), members, one.column, node.sum, best);
      }
    }
    if (!best.found()) return false;
    const auto G = static_cast<double>(node.sum >> 32), H = static_cast<double>(node.sum & 0xFFFFFFFF);
    return search_.pays(best.score, search_.gain_of(best.score, quadratic(G, H)));
  }

  // As NodeSearch::search_some draws them: those that vary here become candidates.
  template <class Tile>
  void draw_columns(const Tile& tile, const typename Tile::Node& node) {
    const std::size_t d = drawn_.size(), wanted = plan_.columns_per_node;
    std::iota(drawn_.begin(), drawn_.end(), 0U);
    n_candidates_ = 0;
    for (std::size_t k = 0; k < d && (k < wanted || n_candidates_ == 0); ++k) {
      if (wanted < d) {
        std::swap(drawn_[k], drawn_[k + to_below(derive(node.key, kDrawKey + k), static_cast<std::uint32_t>(d - k))]);
      }
      Candidate& next = candidates_[n_candidates_];
      next.column = drawn_[k];
      const Column& column = plan_.matrix.columns[next.column];
      next.ends = column.has_missing ? present_extremes_of(codes_of(tile, next.column), column.n_codes, node)
                                     : extremes_of(codes_of(tile, next.column), node);
      n_candidates_ += varies(next.ends, column);  // no branch: it could not be foretold
    }
  }

  static bool varies(const Extremes& ends, const Column& column) {
    return (ends.first < ends.last) | (ends.has_missing & (ends.first != column.n_codes));
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
  TwoGroups draw_categories(const Tile& tile, const Candidate& at, const typename Tile::Node& node) {
    const std::uint8_t* codes = codes_of(tile, at.column);
    std::uint64_t seen[kByteSlots / 64] = {};
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      for (std::uint32_t bits = node.in[c].bits(); bits != 0; bits &= bits - 1) {
        const std::uint8_t code = codes[c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits))];
        seen[code / 64] |= std::uint64_t{1} << (code % 64);
      }
    }
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

  template <class Tile>
  void try_cut(const Tile& tile, const Candidate& at, const TwoGroups& groups, const typename Tile::Node& node,
               Split& best) {
    const std::uint8_t* codes = codes_of(tile, at.column);
    const Column& column = plan_.matrix.columns[at.column];
    const auto sum_of = [&](auto&& chosen) {
      ByteSums sums;
      for (std::size_t c = 0; c < Tile::kChunks; ++c) {
        const Bytes in = chosen(Bytes::load(codes + c * kRowsAtOnce)) & node.in[c];
        sums.add(Bytes::load(tile.h + c * kRowsAtOnce) & in, Bytes::load(tile.g + c * kRowsAtOnce) & in);
      }
      return sums.packed();
    };
    const auto side = [](Lane sum) {
      const auto G = static_cast<double>(sum >> 32), H = static_cast<double>(sum & 0xFFFFFFFF);
      return quadratic(G, H);
    };
    const auto score_of = [&](Lane left) { return side(left) + side(node.sum - left); };
    Lane left = 0;
    with_test(column.categorical, at.last_left, groups.left, [&](auto&& goes_left) { left = sum_of(goes_left); });
    double score = score_of(left);
    bool missing_left = false;
    if (at.ends.has_missing && at.ends.first < at.ends.last) {  // tried on the right, then on the left
      const Lane with_missing = left + sum_of([&](Bytes code) { return code.is(column.n_codes); });
      const double other = score_of(with_missing);
      missing_left = other > score;
      if (missing_left) score = other, left = with_missing;
    }
    if (!best.loses_to(score, at.column, request_.ties)) return;
    best.score = score, best.column = at.column, best.left_sum = left;
    best.last_left = at.last_left, best.random_threshold = at.threshold;
    best.first_right = at.ends.first < at.ends.last ? at.last_left + 1 : column.n_codes;
    best.had_missing = at.ends.has_missing, best.missing_left = missing_left;
    best.categorical = column.categorical;
    if (!column.categorical) return;
    // As ColumnSearch::choose_left does: categories that are not here go right.
    const Lane right_h = (node.sum & 0xFFFFFFFF) - (left & 0xFFFFFFFF);
    const bool flip = at.ends.has_missing ? missing_left || groups.right.empty() : (left & 0xFFFFFFFF) > right_h;
    const auto& listed = flip ? groups.right : groups.left;
    best.left_codes.assign(listed.begin(), listed.end());
    if (!flip) return;
    best.missing_left = !missing_left, best.left_sum = node.sum - left;
  }

  const Plan& plan_;
  const NodeSearch& search_;
  std::size_t most_ = 0;                 // rows of the largest node taken
  std::vector<std::size_t> place_;       // of each column's byte in a row
  std::vector<std::uint32_t> may_miss_;  // columns whose missing values are left to the general search
  Tile<kLargeTile> large_;
  Tile<kMiddleTile> middle_;
  Tile<1> small_;
  std::tuple<std::vector<TileNode<kLargeTile>>, std::vector<TileNode<kMiddleTile>>, std::vector<TileNode<1>>> open_;
  // The node at hand.
  std::vector<std::uint32_t> drawn_;
  std::vector<Candidate> candidates_;
  std::size_t n_candidates_ = 0;
  Code categories_[kByteSlots] = {};  // of a column
  SearchRequest request_;
};

}  // namespace weald
