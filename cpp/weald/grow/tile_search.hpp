// The search for the split of a node inside a tile: columns are drawn, and the best of one random cut in each
// is found. The same draws and the same arithmetic as in node_search.hpp.
#pragma once

#include "weald/grow/node_search.hpp"
#include "weald/grow/tile_statistics.hpp"
#include "weald/search/column_draw.hpp"
#include "weald/search/draw_cut.hpp"

namespace weald {

template <class Statistic>
class TileSearch {
 public:
  explicit TileSearch(const Plan& plan)
      : plan_(plan),
        strips_((plan.matrix.row_stride + kRowsAtOnce - 1) / kRowsAtOnce),
        all_columns_(plan.matrix.row_bytes && strips_ <= plan.columns_per_node),
        statistic_(plan),
        draw_(plan.matrix.n_columns()),
        candidates_(plan.columns_per_node + 1) {}

  Statistic& statistic() { return statistic_; }

  // Does it pay to search nodes of more than sixteen rows here?
  bool takes_large_tiles() const { return statistic_.random_in_large_tiles(); }

  // Makes a tile of rows of the block, which are a node.
  template <class Tile>
  void load(Tile& tile, const Block& block, const Row* rows, std::size_t n, const typename Statistic::OfNode& own) {
    tile.load_rows(rows, n);
    statistic_.load(tile, block, own);
    const std::size_t columns = at_once(block) ? strips_ * kRowsAtOnce : candidates_.size();
    if (tile.codes.size() < columns * Tile::kRows) tile.codes.resize(columns * Tile::kRows);
    if (at_once(block)) tile.load_codes(block, strips_);
  }

  template <class Tile>
  bool find_split(Tile& tile, const Block& block, const typename Tile::Node& node, Split& best) {
    best.score = -kInf;  // nothing else of it is looked at unless a split is found, which writes all that counts
    statistic_.look(tile, node);
    if (statistic_.pure()) return false;
    if (plan_.rules.random_ties) request_.ties.key = derive(node.key, kTieKey) | 1;
    draw_columns(tile, block, node);
    if (node.n == 2) keep_one();
    choose_random_cut(tile, block, node, best);
    if (!best.found()) return false;
    return pays(plan_, statistic_.channels(), best.score,
                gain_of(statistic_.channels(), best.score, statistic_.own_score()));
  }

  // Of the split that was found: the codes of its column, and H on its left.
  const std::uint8_t* codes() const { return best_codes_; }
  Lane left_h() const { return left_h_; }

 private:
  // Are all columns of a tile turned at once? Else a node does so with those that it draws.
  bool at_once(const Block& block) const { return all_columns_ && block.row_bytes; }

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

  // As NodeSearch::search_some draws them: those that vary here become candidates.
  template <class Tile>
  void draw_columns(Tile& tile, const Block& block, const typename Tile::Node& node) {
    const std::size_t d = draw_.size(), wanted = plan_.columns_per_node;
    n_candidates_ = 0;
    draw_.begin();
    for (std::size_t k = 0; k < d && (k < wanted || n_candidates_ == 0); ++k) {
      Candidate& next = candidates_[n_candidates_];
      next.column = wanted < d ? draw_.next(node.key) : static_cast<std::uint32_t>(k);
      const Column& column = block.columns[next.column];
      const auto* data = static_cast<const std::uint8_t*>(column.data);
      if (at_once(block)) {
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
    candidates_[0] = *std::min_element(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
      return request_.ties.prefers(a.column, b.column);
    });
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

  const Plan& plan_;
  std::size_t strips_;  // sixteens of columns
  bool all_columns_;    // does a node draw so many that all of them are worth turning?
  Statistic statistic_;
  // The node at hand.
  ColumnDraw draw_;
  std::vector<Candidate> candidates_;
  std::size_t n_candidates_ = 0;
  const std::uint8_t* best_codes_ = nullptr;
  Lane left_h_ = 0;                   // of the best split
  Code categories_[kByteSlots] = {};  // of a column
  SearchRequest request_;
};

}  // namespace weald
