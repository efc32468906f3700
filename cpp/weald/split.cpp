#include "split.hpp"

#include <numeric>

#include "absolute.hpp"
#include "category_order.hpp"
#include "chain.hpp"
#include "collect.hpp"
#include "draw_cut.hpp"

namespace weald {

namespace {

// The random rule for categories: a random order of those present, cut anywhere.
std::size_t shuffle_and_cut(std::span<Code> order, Stream stream) {
  for (std::size_t p = order.size(); p > 1; --p) {
    std::swap(order[p - 1], order[stream.below(static_cast<std::uint32_t>(p))]);
  }
  return 1 + stream.below(static_cast<std::uint32_t>(order.size() - 1));
}

// The node's rows in the order of a column: group after group as in scratch.order.
struct RowsByGroup {
  std::vector<std::uint32_t> rows, missing;  // positions within the node
  std::vector<std::size_t> ends;             // where each group ends in `rows`
};

RowsByGroup rows_by_group(const Column& column, const NodeRows& node, std::span<const Code> order) {
  RowsByGroup out;
  std::vector<std::uint32_t> group_of(column.slots() + 1);
  for (std::size_t p = 0; p < order.size(); ++p) group_of[order[p]] = static_cast<std::uint32_t>(p);
  std::vector<std::size_t> next(order.size() + 1, 0);
  visit_width(column, [&](const auto* codes) {  // counting sort
    const auto each = [&](auto&& fn) {
      for (std::size_t i = 0; i < node.n; ++i) {
        const Code code = codes[node.rows[i] * column.stride];
        fn(static_cast<std::uint32_t>(i), code == column.n_codes, group_of[code]);
      }
    };
    each([&](std::uint32_t, bool missing, std::uint32_t group) { next[group + 1] += !missing; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    out.ends.assign(next.begin() + 1, next.end());
    out.rows.resize(next.back());
    each([&](std::uint32_t i, bool missing, std::uint32_t group) {
      if (missing) {
        out.missing.push_back(i);
      } else {
        out.rows[next[group]++] = i;
      }
    });
  });
  return out;
}

// Sort keys of categories under the absolute criterion: the median of the first output.
std::vector<double> median_keys(const NodeRows& node, const Channels& stats,
                                const RowsByGroup& groups) {
  std::vector<double> keys;
  std::size_t begin = 0;
  for (const std::size_t end : groups.ends) {
    std::vector<std::pair<Lane, Lane>> targets;  // value, weight
    Lane total = 0, below = 0;
    for (; begin < end; ++begin) {
      const Lane* word = node.words + groups.rows[begin] * stats.lanes;
      targets.emplace_back(word[2], word[1]);
      total += word[1];
    }
    std::sort(targets.begin(), targets.end());
    std::size_t k = 0;
    for (; 2 * (below + targets[k].second) < total; ++k) below += targets[k].second;
    keys.push_back(static_cast<double>(targets[k].first));
  }
  return keys;
}

// The walk for the absolute criterion: errors of all prefixes and all suffixes, then the best pair.
Cut scan_absolute(const SearchRequest& request, const NodeRows& node, const RowsByGroup& groups,
                  std::size_t first, std::size_t last, const Limits& limits, Split& split) {
  const Channels& stats = *request.stats;
  const bool medians = limits.monotone != 0;
  Cut best;
  const RankedTargets targets(node, stats);
  const auto h = [&](std::uint32_t i) {
    return static_cast<double>(node.words[i * stats.lanes + 1]);
  };
  double total_h = 0;
  for (std::uint32_t i = 0; i < node.n; ++i) total_h += h(i);
  for (int missing_left = 0; missing_left <= (groups.missing.empty() ? 0 : 1); ++missing_left) {
    // missing_left ? [missing | groups] : [groups | missing]
    std::vector<std::uint32_t> sequence = groups.rows;
    sequence.insert(missing_left ? sequence.begin() : sequence.end(), groups.missing.begin(),
                    groups.missing.end());
    std::vector<std::size_t> ends = groups.ends, lengths;
    if (missing_left) for (auto& end : ends) end += groups.missing.size();
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) lengths.push_back(node.n - *end);
    const PrefixErrors left = prefix_errors(node, stats, targets, sequence, ends, medians, *request.interrupt);
    const std::vector<std::uint32_t> backwards(sequence.rbegin(), sequence.rend());
    const PrefixErrors right = prefix_errors(node, stats, targets, backwards, lengths, medians, *request.interrupt);

    double left_h = 0;
    std::size_t walked = 0;
    for (std::size_t p = 0; p < last; ++p) {
      for (; walked < ends[p]; ++walked) left_h += h(sequence[walked]);
      const auto count = static_cast<Lane>(ends[p]);
      if (p + 1 < first || count < limits.min_count) continue;
      if (static_cast<Lane>(node.n) - count < limits.min_count) break;
      if (left_h < limits.min_weight || total_h - left_h < limits.min_weight) continue;
      const std::size_t mirror = ends.size() - 1 - p;
      if (limits.monotone != 0 && !limits.allows(left.median[p], right.median[mirror])) continue;
      const double score = -(left.error[p] + right.error[mirror]);
      if (score > best.score) {
        best = {score, p + 1, missing_left == 1, 0};
        if (medians) split.left_value = left.median[p], split.right_value = right.median[mirror];
      }
    }
  }
  return best;
}

// How the groups of a column are held during its search.
enum class Groups { Cells, Slots, Few, Chains, Sides };

Groups groups_for(const SearchRequest& request, const Column& column, const NodeRows& node,
                  const Lane* total, const Lane* ready) {
  if (column.categorical || request.stats->criterion == Criterion::Absolute) return Groups::Cells;
  if (request.random) return Groups::Sides;
  const Channels& stats = *request.stats;
  if (ready == nullptr && stats.layout != Layout::OneHot && node.n <= kFewRows && column.width < 4) {
    return Groups::Few;
  }
  if (stats.layout == Layout::Packed && stats.criterion == Criterion::Gini && request.plain() &&
      (ready != nullptr || !is_sparse(column, node))) {
    return Groups::Slots;
  }
  const bool many_groups = column.slots() * 4 > node.n;
  return ready == nullptr && many_groups && chainable(stats, total) ? Groups::Chains : Groups::Cells;
}

// One column's search: collect the groups, walk the cuts, keep the best.
class ColumnSearch {
 public:
  ColumnSearch(const SearchRequest& request, const Column& column, std::uint32_t j,
               const NodeRows& node, const Lane* total, const Lane* ready, SplitScratch& scratch)
      : request_(request), stats_(*request.stats), column_(column), j_(j), node_(node),
        total_(total), ready_(ready), scratch_(scratch),
        groups_(groups_for(request, column, node, total, ready)), cells_(ready) {
    split_.column = j;
    split_.categorical = column.categorical;
  }

  // Whether the column varies in this node.
  bool collect() {
    switch (groups_) {
      case Groups::Cells: has_missing_ = collect_cells(column_, node_, stats_, cells_, scratch_); break;
      case Groups::Slots: return collect_slots();
      case Groups::Few: has_missing_ = collect_few(column_, node_, stats_, cells_, scratch_); break;
      case Groups::Chains: has_missing_ = collect_chains(column_, node_, scratch_); break;
      case Groups::Sides: return collect_sides();
    }
    return !order().empty() && order().size() + has_missing_ >= 2;
  }

  void improve(Split& best) {
    if (groups_ == Groups::Slots) return improve_by_slots(best);
    std::size_t first = 1, last = has_missing_ ? order().size() : order().size() - 1;
    if (request_.random && order().size() >= 2) {
      first = last = random_position();
    } else if (column_.categorical) {
      sort_by_keys(order(), stats_.criterion == Criterion::Absolute
                                ? median_keys(node_, stats_, rows_by_group(column_, node_, order()))
                                : category_keys(stats_, cells_, order()));
    }
    const Cut cut = scan(first, last, best.score);
    if (!best.loses_to(cut.score, j_, request_.ties)) return;
    split_.score = cut.score;
    split_.left_sum = cut.left_sum;
    split_.had_missing = has_missing_;
    split_.missing_left = cut.missing_left;
    if (column_.categorical) {
      const auto chosen = order().first(cut.groups_left);
      split_.left_codes.assign(chosen.begin(), chosen.end());
    } else if (groups_ != Groups::Sides) {
      const bool all = cut.groups_left == order().size();
      split_.last_left = order()[cut.groups_left - 1];
      split_.first_right = all ? column_.n_codes : order()[cut.groups_left];
    }
    best = std::move(split_);
  }

  // Returns the scratch to all zeros.
  void clear() {
    if (groups_ == Groups::Few || (ready_ != nullptr && groups_ != Groups::Chains)) return;
    const std::size_t lanes = stats_.lanes;
    if (groups_ == Groups::Slots) {
      std::fill_n(scratch_.cells.data(), column_.slots(), 0);
      return;
    }
    if (groups_ == Groups::Sides) {
      std::fill_n(scratch_.cells.data(), 3 * lanes, 0);
      return;
    }
    const auto zero_all = [&](auto&& zero) {
      for (const Code code : order()) zero(code);
      if (has_missing_) zero(column_.n_codes);
    };
    Lane* cells = scratch_.cells.data();
    if (groups_ == Groups::Chains) {
      zero_all([head = scratch_.head.data()](Code code) { head[code] = 0; });
    } else if (lanes == 1) {
      zero_all([=](Code code) { cells[code] = 0; });
    } else if (lanes == 3) {
      zero_all([=](Code code) { Lane* cell = cells + std::size_t{3} * code;
        cell[0] = cell[1] = cell[2] = 0; });
    } else {
      zero_all([=](Code code) { std::fill_n(cells + code * lanes, lanes, 0); });
    }
  }

 private:
  std::span<Code> order() const { return scratch_.order; }

  // Nearly all codes occur: the walk goes over all of them, without a list. A cut after a code that
  // does not occur is the cut before it again. If values are missing, listed cells take over.
  bool collect_slots() {
    if (cells_ == nullptr) {
      Lane* mine = at_least(scratch_.cells, column_.slots());
      add_rows(column_, node_, stats_, mine, OwnSlot{});
      cells_ = mine;
    }
    if (column_.has_missing && cells_[column_.n_codes] != 0) {
      groups_ = Groups::Cells;
      const Lane* cells = cells_;
      has_missing_ = list_codes(column_, false, [=](std::size_t code) { return cells[code] != 0; }, scratch_);
      return !order().empty();
    }
    first_slot_ = 0;
    while (cells_[first_slot_] == 0) ++first_slot_;
    if (cells_[first_slot_] == *total_) {
      groups_ = Groups::Cells;  // one value: clear it as such
      Code* one = at_least(scratch_.codes, 1);
      one[0] = static_cast<Code>(first_slot_);
      scratch_.order = {one, 1};
      return false;
    }
    last_slot_ = column_.n_codes - 1;
    while (cells_[last_slot_] == 0) --last_slot_;
    return true;
  }

  void improve_by_slots(Split& best) {
    const Lane* cells = cells_ + first_slot_;
    const Cut cut = scan_plain(total_, last_slot_ - first_slot_, [=](std::size_t p) { return cells + p; }, best.score);
    if (!best.loses_to(cut.score, j_, request_.ties)) return;
    split_.score = cut.score;
    split_.left_sum = cut.left_sum;
    split_.last_left = static_cast<Code>(first_slot_ + cut.groups_left - 1);
    split_.first_right = split_.last_left + 1;
    while (cells_[split_.first_right] == 0) ++split_.first_right;
    best = std::move(split_);
  }

  bool collect_sides() {
    Lane* cells = at_least(scratch_.cells, 3 * stats_.lanes);
    Code* slots = at_least(scratch_.codes, 2);
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
    cells_ = cells;
    return true;
  }

  std::size_t random_position() {
    if (groups_ == Groups::Sides) return 1;
    if (column_.categorical) return shuffle_and_cut(order(), Stream(derive(request_.node_key, j_)));
    draw_cut(request_, column_, j_, node_, {order().front(), order().back(), has_missing_}, split_);
    const auto cut = std::upper_bound(order().begin(), order().end(), split_.last_left);
    return static_cast<std::size_t>(cut - order().begin());
  }

  Cut scan(std::size_t first, std::size_t last, double floor) {
    Limits limits = request_.limits;
    if (request_.monotone) limits.monotone = request_.monotone[j_];
    limits.floor = floor;
    if (stats_.criterion == Criterion::Absolute) {
      const auto groups = rows_by_group(column_, node_, order());
      return scan_absolute(request_, node_, groups, first, last, limits, split_);
    }
    if (groups_ == Groups::Chains) {
      return stats_.criterion == Criterion::Gini ? scan_chains<ChainGini>(first, last, limits)
                                                 : scan_chains<ChainEntropy>(first, last, limits);
    }
    if (groups_ == Groups::Cells && stats_.layout == Layout::Packed && stats_.criterion == Criterion::Gini &&
        limits.plain() && !has_missing_ && first == 1) {
      return scan_plain(total_, last, [&](std::size_t p) { return cells_ + order()[p]; }, floor);
    }
    if (groups_ == Groups::Few) {
      return scan_cells(first, last, limits, order().size(), [&](std::size_t p) { return cells_ + p * stats_.lanes; });
    }
    return scan_cells(first, last, limits, groups_ == Groups::Sides ? 2 : column_.n_codes,
                      [&](std::size_t p) { return cells_ + order()[p] * stats_.lanes; });
  }

  template <class CellAt>
  Cut scan_cells(std::size_t first, std::size_t last, const Limits& limits, std::size_t missing_slot,
                 CellAt&& cell) {
    const Lane* missing = has_missing_ ? cells_ + missing_slot * stats_.lanes : nullptr;
    return with_sums(stats_, [&](auto sums) {
      const Cut cut = scan_cuts(sums, total_, missing, first, last, cell, limits);
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
    ChainSums<Score> sums(stats_, node_, {head, scratch_.next.data()});
    const std::uint32_t missing = has_missing_ ? head[column_.n_codes] : 0;
    return scan_cuts(sums, total_, missing, first, last,
                     [&](std::size_t p) { return head[order()[p]]; }, limits);
  }

  const SearchRequest& request_;
  const Channels& stats_;
  const Column& column_;
  const std::uint32_t j_;
  const NodeRows& node_;
  const Lane* const total_;
  const Lane* const ready_;
  SplitScratch& scratch_;
  Groups groups_;
  const Lane* cells_;
  std::size_t first_slot_ = 0, last_slot_ = 0;  // Slots: the first and last code that occur
  bool has_missing_ = false;
  Split split_;
};

}  // namespace

bool search_column(const SearchRequest& request, const Column& column, std::uint32_t j,
                   const NodeRows& node, const Lane* total, const Lane* ready,
                   SplitScratch& scratch, Split& best) {
  if (column.constant()) return false;
  if (node.n > 4096) request.interrupt->poll();  // asking costs as much as a column of a small node
  scratch.order = {};
  ColumnSearch search(request, column, j, node, total, ready, scratch);
  const bool varies = search.collect();
  if (varies) search.improve(best);
  search.clear();
  return varies;
}

double node_score(const SearchRequest& request, const NodeRows& node, const Lane* total) {
  const Channels& stats = *request.stats;
  if (stats.criterion == Criterion::Absolute) {
    const RankedTargets targets(node, stats);
    std::vector<std::uint32_t> all(node.n);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    return -prefix_errors(node, stats, targets, all, {node.n}, false, *request.interrupt).error[0];
  }
  return with_sums(stats, [&](auto sums) {
    return std::remove_reference_t<decltype(sums)>::whole_score(total, stats);
  });
}

}  // namespace weald
