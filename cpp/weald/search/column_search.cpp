#include "weald/search/column_search.hpp"

#include "weald/base/paths.hpp"
#include "weald/search/category_order.hpp"
#include "weald/search/choose_groups.hpp"
#include "weald/search/class_chains.hpp"
#include "weald/search/collect_cells.hpp"
#include "weald/search/draw_cut.hpp"
#include "weald/search/groups.hpp"
#include "weald/search/scan_gradients.hpp"
#include "weald/search/scan_medians.hpp"
#include "weald/stats/all_columns.hpp"

namespace weald {

namespace {

// One column's search: collect the groups, walk the cuts, keep the best.
class ColumnSearch {
 public:
  ColumnSearch(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
               const Lane* total, const Lane* ready, SplitScratch& scratch)
      : request_(request),
        stats_(column.categorical && request.category_stats ? *request.category_stats : *request.stats),
        column_(column),
        j_(j),
        node_(node),
        total_(total),
        scratch_(scratch),
        groups_(groups_for(request, column, j, node, total, ready)),
        cells_(ready) {
    split_.column = j;
    split_.categorical = column.categorical;
  }

  // Whether the column varies in this node.
  bool collect() {
    switch (groups_) {
      case Groups::Cells:
        has_missing_ = collect_cells(column_, node_, stats_, cells_, scratch_);
        break;
      case Groups::AllCodes:
        return collect_all_codes();
      case Groups::Chains:
        has_missing_ = collect_chains(column_, node_, scratch_);
        break;
      case Groups::TwoSides:
        return collect_two_sides();
      case Groups::Listed:
        has_missing_ = collect_listed(request_, column_, node_, stats_, total_, cells_, scratch_);
        break;
      case Groups::ListedChains:
        has_missing_ = collect_listed_chains(request_, column_, node_, stats_, total_, scratch_);
        break;
    }
    return !order().empty() && order().size() + has_missing_ >= 2;
  }

  // Returns whether there is anything to cut.
  bool improve(Split& best) {
    if (column_.categorical && stats_.order_lambda > 0) {
      const Lane* missing = has_missing_ ? cells_ + column_.n_codes * stats_.lanes : nullptr;
      scratch_.order = set_rare_apart(stats_, cells_, missing, order(), rare_, others_);
    }
    const bool by_all_codes = groups_ == Groups::AllCodes;
    if (order().empty() && !by_all_codes) return true;
    const bool others = has_missing_ || !rare_.empty();
    const std::size_t last = others ? order().size() : order().size() - 1;
    Cut cut;
    if (by_all_codes) {
      cut = scan_all_codes(best.score);
    } else if (request_.random && order().size() >= 2) {
      const std::size_t at = groups_ == Groups::TwoSides ? 1
                             : column_.categorical
                                 ? cut_categories(request_.node_key, j_, order())
                                 : draw_position(request_, column_, j_, node_, order(), has_missing_, listed(), split_);
      cut = scan(at, at, best.score);
    } else if (column_.many && request_.price) {
      cut = scan_priced(best.score);
      if (cut.score == -kInf) return false;
    } else {
      if (column_.categorical) sort_categories();
      cut = scan(1, last, best.score);
    }
    if (!best.loses_to(cut.score, j_, request_.ties)) return true;
    split_.score = cut.score;
    split_.left_sum = cut.left_sum;
    split_.had_missing = has_missing_;
    split_.missing_left = cut.missing_left;
    if (by_all_codes) {
      split_.last_left = static_cast<Code>(first_slot_ + cut.groups_left - 1);
      split_.first_right = split_.last_left + 1;
      while (split_.first_right < column_.n_codes && cells_[split_.first_right] == 0) ++split_.first_right;
    } else if (column_.categorical) {
      choose_left(cut);
    } else if (listed() && request_.random && order().size() > 1) {
      draw_cut(request_, column_, j_, node_, {order().front(), order().back(), has_missing_}, split_);
    } else if (groups_ != Groups::TwoSides) {
      const bool all = cut.groups_left == order().size();
      split_.last_left = order()[cut.groups_left - 1];
      split_.first_right = all ? column_.n_codes : order()[cut.groups_left];
    }
    best = std::move(split_);
    return true;
  }

  void sort_categories() {
    if (is_from_rows(stats_.criterion)) {
      sort_by_keys(order(), median_keys(node_, stats_, rows_by_group(column_, node_, order())));
    } else if (groups_ == Groups::Chains) {
      const auto each = [&](auto&& add) {
        for (std::size_t c = 0; c < order().size(); ++c) {
          each_of(order()[c], [&](std::size_t i) {
            for (std::size_t o = 0; o < stats_.n_outputs; ++o)
              add(c, node_.hot[i * stats_.n_outputs + o], node_.words[i]);
          });
        }
      };
      const auto weight_of = [&](std::size_t c) { return h_of(order()[c]); };
      sort_by_keys(order(), CategoryKeys().of_many(stats_, order().size(), each, weight_of));
    } else {
      sort_by_keys(order(), CategoryKeys().of(stats_, cells_, order()));
    }
  }

  // The rows of a code, if they are in chains.
  template <class Fn>
  void each_of(Code code, Fn&& fn) const {
    for (std::uint32_t row = scratch_.head[code]; row != 0; row = scratch_.next[row - 1]) fn(row - 1);
  }
  Lane h_of(Code code) const {
    if (groups_ != Groups::Chains) return h_of_cell(stats_, cells_ + code * stats_.lanes);
    Lane h = 0;
    each_of(code, [&](std::size_t i) { h += node_.words[i]; });
    return h;
  }
  // By how much the first of the categories outweigh the others.
  Lane lead_of(std::size_t first) const {
    Lane lead = 0;
    for (std::size_t p = 0; p < order().size(); ++p) lead += p < first ? h_of(order()[p]) : -h_of(order()[p]);
    return lead;
  }

  // The best cut of a column of many categories, less its price. The cut between all that is present and the missing
  // values needs no order, so it is free.
  Cut scan_priced(double floor) {
    const CategoryPrice& price = *request_.price;
    const std::size_t n = order().size();
    const double own_price = price.of(n);
    Cut cut;
    if (n > 1 && own_price < price.most) {
      sort_categories();
      // Some slack: the sum is rounded, and whether another column came first must not matter.
      const double bar = std::max(floor, price.own) + own_price;
      cut = scan(1, n - 1, bar - 1e-9 * std::abs(bar));
      cut.score -= own_price;
      if (!(cut.score > price.own)) cut = {};
    }
    if (has_missing_) {
      const Cut apart = scan(n, n, floor);
      if (apart.score > cut.score) cut = apart;
    }
    return cut;
  }

  // Which codes are listed as the left ones. All else goes right at this node: categories that are not here, those
  // that nobody has seen, rare ones and missing values if there are any. So if missing values have chosen the left
  // side (or, where there are none, if it is the heavier one), the sides change places. Where missing values are
  // alone on their side, categories that are not here go with the present ones.
  void choose_left(const Cut& cut) {
    const bool others = has_missing_ || !rare_.empty();
    const bool alone = cut.groups_left == order().size();
    const bool flip = others ? cut.missing_left || (alone && rare_.empty()) : lead_of(cut.groups_left) > 0;
    const auto chosen = flip ? order().subspan(cut.groups_left) : order().first(cut.groups_left);
    split_.left_codes.assign(chosen.begin(), chosen.end());
    if (!flip) return;
    split_.missing_left = !cut.missing_left;
    split_.left_sum = *total_ - cut.left_sum;
    std::swap(split_.left_value, split_.right_value);
  }

  // Returns the scratch to all zeros.
  void clear() {
    Lane* const cells = scratch_.cells.data();
    if (groups_ != Groups::Chains && (cells_ == nullptr || cells_ != cells)) return;
    const std::size_t lanes = stats_.lanes;
    const auto zero_all = [&](auto&& zero) {
      for (const Code code : order()) zero(code);
      for (const Code code : rare_) zero(code);
      if (has_missing_) zero(column_.n_codes);
    };
    if (groups_ == Groups::Chains) {
      zero_all([head = scratch_.head.data()](Code code) { head[code] = 0; });
    } else {
      const auto zero = [&](auto width) { zero_all([=](Code code) { std::fill_n(cells + code * width, width, 0); }); };
      lanes == 1   ? zero(std::integral_constant<std::size_t, 1>{})
      : lanes == 3 ? zero(std::integral_constant<std::size_t, 3>{})
                   : zero(lanes);
    }
  }

 private:
  std::span<Code> order() const { return scratch_.order; }
  // Sparse columns: the cells of the groups follow each other, with the missing last.
  bool listed() const { return groups_ == Groups::Listed || groups_ == Groups::ListedChains; }

  // Nearly all codes occur: the walk goes over all of them, without a list. A cut after a code that
  // does not occur is the cut before it again. If values are missing, listed cells take over.
  bool collect_all_codes() {
    if (cells_ == nullptr) {
      const auto mine = at_least(scratch_.sorted, column_.slots());
      std::fill_n(mine.get(0, column_.slots()), column_.slots(), 0);
      add_rows(column_, node_, stats_, mine, OwnSlot{});
      cells_ = mine.get(0, column_.slots());
    }
    has_missing_ = column_.has_missing && cells_[column_.n_codes] != 0;
    if (has_missing_ && !stats_.gradients) {
      groups_ = Groups::Cells;
      const Lane* cells = cells_;
      list_codes(column_, node_, false, [=](std::size_t code) { return cells[code] != 0; }, scratch_);
      return !order().empty();
    }
    first_slot_ = 0;
    while (cells_[first_slot_] == 0) ++first_slot_;
    if (first_slot_ == column_.n_codes || (cells_[first_slot_] == *total_ && !stats_.gradients)) return false;
    last_slot_ = column_.n_codes - 1;
    while (cells_[last_slot_] == 0) --last_slot_;
    return first_slot_ < last_slot_ || has_missing_;
  }

  Cut scan_all_codes(double floor) const {
    const Lane* cells = cells_ + first_slot_;
    const std::size_t n = last_slot_ - first_slot_;
    if (!stats_.gradients) return scan_plain(total_, n, [=](std::size_t p) { return cells + p; }, floor);
    const double least = std::max(static_cast<double>(request_.limits.min_count), request_.limits.min_weight);
    Cut best;
    for (int missing_left = 0; missing_left <= (has_missing_ ? 1 : 0); ++missing_left) {
      auto [first, last] =
          allowed_cuts(missing_left == 1, {first_slot_ + 1, first_slot_ + (missing_left ? n : n + has_missing_)},
                       column_.n_codes, [](std::size_t p) { return p; });
      first -= first_slot_, last -= first_slot_;
      if (first > last) continue;
      GradientScan scan{*total_, missing_left ? cells_[column_.n_codes] : 0, stats_.lambda, least};
      for (std::size_t p = 0; p + 1 < first; ++p) scan.start += cells[p];
      Cut cut = scan_gradients(scan, cells + first - 1, last - first + 1, std::max(floor, best.score));
      cut.groups_left += first - 1, cut.missing_left = missing_left == 1;
      if (cut.score > best.score) best = cut;
    }
    return best;
  }

  // Those of the cuts that leave enough rows on both sides; code_of(p): the code of group p of so many.
  template <class CodeOf>
  Range allowed_cuts(bool missing_left, Range cuts, std::size_t n_groups, CodeOf&& code_of) const {
    if (!request_.counts) return cuts;
    const std::uint32_t* counts = scratch_.group_rows.data();
    Lane left = 0, right = 0, apart = has_missing_ ? counts[listed() ? n_groups : column_.n_codes] : 0;
    for (const Code code : rare_) apart += counts[code];
    (missing_left ? left : right) += apart;
    for (std::size_t p = cuts.last; p < n_groups; ++p) right += counts[code_of(p)];
    for (std::size_t p = 0; p + 1 < cuts.first; ++p) left += counts[code_of(p)];
    // From both ends inwards, until there are enough.
    while (cuts.first <= cuts.last && (left += counts[code_of(cuts.first - 1)]) < request_.min_rows) ++cuts.first;
    while (cuts.first <= cuts.last && right < request_.min_rows) right += counts[code_of(--cuts.last)];
    return cuts;
  }

  bool collect_two_sides() {
    const auto cells = at_least(scratch_.sorted, 3 * stats_.lanes);
    Code* slots = at_least(scratch_.codes, 2).get(0, 2);
    const Extremes ends = find_extremes(column_, node_);
    has_missing_ = ends.has_missing;
    const bool several = ends.first < ends.last;
    if (ends.first == column_.n_codes || !(several || has_missing_)) return false;
    split_.last_left = ends.last;
    split_.first_right = column_.n_codes;  // one value: present | missing
    if (several) draw_cut(request_, column_, j_, node_, ends, split_);
    sum_sides(column_, node_, stats_, total_, split_.last_left, has_missing_, cells);
    slots[0] = 0, slots[1] = 1;
    scratch_.order = {slots, several ? std::size_t{2} : std::size_t{1}};
    cells_ = cells.get(0, 3 * stats_.lanes);
    return true;
  }

  Cut scan(std::size_t first, std::size_t last, double floor) {
    Limits limits = request_.limits;
    if (request_.monotone) limits.monotone = request_.monotone[j_];
    limits.floor = floor;
    if (is_from_rows(stats_.criterion)) {
      const auto groups = rows_by_group(column_, node_, order());
      return scan_absolute(request_, node_, groups, first, last, limits, split_);
    }
    if (groups_ == Groups::Chains || groups_ == Groups::ListedChains) {
      return stats_.criterion == Criterion::Gini ? scan_chains<ChainGini>(first, last, limits)
                                                 : scan_chains<ChainEntropy>(first, last, limits);
    }
    // Of cuts that gain the same, rounding makes one the better one: so whoever can, compares them in this way.
    if (uses(Path::ScanInVectors) && groups_ != Groups::TwoSides && stats_.layout == Layout::Packed &&
        stats_.criterion == Criterion::Gini && limits.plain() && !has_missing_ && first == 1 && !request_.random) {
      return listed() ? scan_plain(
                            total_, last, [&](std::size_t p) { return cells_ + p; }, floor)
                      : scan_plain(total_, last, [&](std::size_t p) { return cells_ + order()[p]; }, floor);
    }
    // Copies for the walk, which may then keep them in registers.
    const Lane* const cells = cells_;
    const Code* const codes = order().data();
    const std::size_t lanes = stats_.lanes;
    if (listed()) {
      return scan_cells(first, last, limits, order().size(), [=](std::size_t p) { return cells + p * lanes; });
    }
    // `collect` has set the cells, which the analyzer cannot see.
    return scan_cells(first, last, limits, groups_ == Groups::TwoSides ? 2 : column_.n_codes, [=](std::size_t p) {
      return cells + codes[p] * lanes;
    });  // NOLINT(clang-analyzer-core.NullPointerArithm)
  }

  template <class CellAt>
  Cut scan_cells(std::size_t first, std::size_t last, const Limits& limits, std::size_t missing_slot, CellAt&& cell) {
    const Lane* missing = !rare_.empty() ? others_.data()
                          : has_missing_ ? cells_ + missing_slot * stats_.lanes
                                         : nullptr;
    return with_sums(stats_, [&](auto sums) {
      const auto range = [&](bool missing_left) {
        return allowed_cuts(missing_left, {first, last}, order().size(),
                            [&](std::size_t p) { return listed() ? p : std::size_t{order()[p]}; });
      };
      const Cut cut = scan_cuts(sums, total_, missing, range, cell, limits);
      if (limits.monotone != 0 && cut.score > -kInf) {  // replay the walk for the sides' values
        sums.start(total_);
        if (missing && cut.missing_left) sums.move(missing);
        for (std::size_t p = 0; p < cut.groups_left; ++p) sums.move(cell(p));
        split_.left_value = sums.left_value(), split_.right_value = sums.right_value();
      }
      return cut;
    });
  }

  template <class Score>
  Cut scan_chains(std::size_t first, std::size_t last, const Limits& limits) {
    const std::uint32_t* head = scratch_.head.data();
    ChainSums<Score> sums(stats_, node_, {head, scratch_.next.data(), scratch_.sorted.data()});
    const std::uint32_t missing = has_missing_ ? head[listed() ? order().size() : column_.n_codes] : 0;
    return scan_cuts(
        sums, total_, missing, [=](bool) { return Range{first, last}; },
        [&](std::size_t p) { return head[listed() ? p : order()[p]]; }, limits);
  }

  const SearchRequest& request_;
  const Channels& stats_;
  const Column& column_;
  const std::uint32_t j_;
  const NodeRows& node_;
  const Lane* const total_;
  SplitScratch& scratch_;
  Groups groups_;
  const Lane* cells_;
  std::size_t first_slot_ = 0, last_slot_ = 0;  // AllCodes: the first and last code that occur
  bool has_missing_ = false;
  std::vector<Code> rare_;    // categories that go where the missing go
  std::vector<Lane> others_;  // what these and the missing add up to
  Split split_;
};

}  // namespace

bool search_column(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
                   const Lane* total, const Lane* ready, SplitScratch& scratch, Split& best) {
  if (column.constant()) return false;
  if (request.lists && is_from_rows(request.stats->criterion)) {
    const Column expanded = request.lists->expand(column, j, request.block_rows, scratch.expanded);
    SearchRequest dense = request;
    dense.lists = nullptr;
    return search_column(dense, expanded, j, node, total, ready, scratch, best);
  }
  if ((scratch.unpolled += ready ? column.slots() : node.n) >
      kRowsBetweenPolls) {  // asking costs as much as a column of a small node
    scratch.unpolled = 0;
    request.interrupt->poll();
  }
  scratch.order = {};
  ColumnSearch search(request, column, j, node, total, ready, scratch);
  bool varies = search.collect();
  if (varies) varies = search.improve(best);
  search.clear();
  return varies;
}

}  // namespace weald
