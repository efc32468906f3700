// The absolute-error criterion. A median is not a sum, so its splits are found from the rows in
// column order: a tree of partial sums over the ranks of the targets gives the weighted median and
// the error around it in O(log n) per added row, O(n log n) per column. A cut is scored by the errors of
// a prefix and of a suffix of these rows.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>

#include "weald/base/wide_sum.hpp"
#include "weald/search/column_search.hpp"

namespace weald {

// The targets of a node, ranked once for all columns.
struct RankedTargets {
  std::vector<std::vector<Lane>> values;         // per output: distinct targets, ascending
  std::vector<std::vector<std::uint32_t>> rank;  // per output and row of the node

  RankedTargets(const NodeRows& node, const Channels& stats, Interrupt& interrupt) {
    Patience patience(interrupt);
    for (std::size_t o = 0; o < stats.n_outputs; ++o) {
      auto& distinct = values.emplace_back(node.n);
      for (std::size_t i = 0; i < node.n; ++i) distinct[i] = node.words[i * stats.lanes + 2 + o];
      arrange_patiently(node.n, interrupt, [&](auto&& less) { std::sort(distinct.begin(), distinct.end(), less); });
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      auto& ranks = rank.emplace_back(node.n);
      for (std::size_t i = 0; i < node.n; ++i) {
        patience.spend(16);
        const Lane y = node.words[i * stats.lanes + 2 + o];
        ranks[i] = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), y) - distinct.begin());
      }
    }
  }
};

// Weighted median of a growing set of targets. Sum is an integer wide enough: products of a weight and a target are too
// large for 64 bits unless weights are whole. Fenwick (1994) tree over ranks.
template <class Sum>
class MedianTracker {
 public:
  explicit MedianTracker(const std::vector<Lane>& values)
      : values_(values), weight_(values.size() + 1, 0), moment_(values.size() + 1, 0) {}

  void add(std::uint32_t rank, Lane h) {
    const Sum w = static_cast<Sum>(h), wy = w * static_cast<Sum>(values_[rank]);
    total_ += w, total_moment_ += wy;
    for (std::size_t k = rank + 1; k < weight_.size(); k += k & (~k + 1)) {
      weight_[k] += w, moment_[k] += wy;
    }
  }

  // Sum of w |y - median|. Any point between the lower and the upper median gives the same.
  double error() const {
    Sum below = 0, below_moment = 0;
    const Sum m = static_cast<Sum>(values_[descend(below, below_moment, false)]);
    return static_cast<double>((m * below - below_moment) + (total_moment_ - below_moment) - m * (total_ - below));
  }

  // Midway between the lower and the upper median.
  double median() const {
    Sum below = 0, moment = 0, below_upper = 0, moment_upper = 0;
    const double lower = static_cast<double>(values_[descend(below, moment, false)]);
    const double upper = static_cast<double>(values_[descend(below_upper, moment_upper, true)]);
    return (lower + upper) / 2;
  }

 private:
  // First rank at which the weight up to it reaches half (or, for the upper median, passes half);
  // leaves the sums below that rank in `below`.
  std::size_t descend(Sum& below, Sum& below_moment, bool upper) const {
    std::size_t at = 0;
    for (std::size_t step = std::bit_floor(weight_.size() - 1); step > 0; step /= 2) {
      if (at + step >= weight_.size()) continue;
      const Sum twice = 2 * (below + weight_[at + step]);
      if (twice < total_ || (upper && twice == total_)) {
        at += step;
        below += weight_[at], below_moment += moment_[at];
      }
    }
    return std::min(at, values_.size() - 1);
  }

  const std::vector<Lane>& values_;
  std::vector<Sum> weight_, moment_;
  Sum total_ = 0, total_moment_ = 0;
};

// Error and median of each prefix of `sequence`, at the prefix lengths listed in `ends`.
struct PrefixErrors {
  std::vector<double> error, median;  // median only if asked for
};

inline PrefixErrors prefix_errors(const NodeRows& node, const Channels& stats, const RankedTargets& targets,
                                  const std::vector<std::uint32_t>& sequence, const std::vector<std::size_t>& ends,
                                  bool medians, Interrupt& interrupt) {
  PrefixErrors out{std::vector<double>(ends.size(), 0.0), std::vector<double>(ends.size(), 0.0)};
  Patience patience(interrupt);
  const auto walk = [&](auto tracker, std::size_t o) {
    std::size_t done = 0;
    for (std::size_t e = 0; e < ends.size(); ++e) {
      for (; done < ends[e]; ++done) {
        const std::uint32_t i = sequence[done];
        patience.spend(16);
        tracker.add(targets.rank[o][i], node.words[i * stats.lanes + 1]);
      }
      out.error[e] += tracker.error();
      if (medians) out.median[e] = tracker.median();
      patience.spend(16);
    }
  };
  for (std::size_t o = 0; o < stats.n_outputs; ++o) {
    if (stats.whole_weights) {
      walk(MedianTracker<Lane>(targets.values[o]), o);
    } else {
      walk(MedianTracker<WideSum>(targets.values[o]), o);
    }
  }
  return out;
}

// The node's rows in the order of a column: group after group as in scratch.order.
struct RowsByGroup {
  std::vector<std::uint32_t> rows, missing;  // positions within the node
  std::vector<std::size_t> ends;             // where each group ends in `rows`
};

inline RowsByGroup rows_by_group(const Column& column, const NodeRows& node, std::span<const Code> order) {
  RowsByGroup out;
  std::vector<std::uint32_t> group_of(column.slots() + 1);
  for (std::size_t p = 0; p < order.size(); ++p) group_of[order[p]] = static_cast<std::uint32_t>(p);
  std::vector<std::size_t> next(order.size() + 1, 0);
  visit_width(column, [&](auto codes) {  // counting sort
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
inline std::vector<double> median_keys(const NodeRows& node, const Channels& stats, const RowsByGroup& groups) {
  std::vector<double> keys;
  std::size_t begin = 0;
  for (const std::size_t end : groups.ends) {
    std::vector<std::pair<Lane, Lane>> targets;  // value, weight
    Lane total = 0, below = 0;
    for (; begin < end; ++begin) {
      const Lane* word = node.words.get(groups.rows[begin] * stats.lanes, stats.lanes);
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
inline Cut scan_absolute(const SearchRequest& request, const NodeRows& node, const RowsByGroup& groups,
                         std::size_t first, std::size_t last, const Limits& limits, Split& split) {
  const Channels& stats = *request.stats;
  const bool medians = limits.monotone != 0;
  Cut best;
  const RankedTargets targets(node, stats, *request.interrupt);
  const auto h = [&](std::uint32_t i) { return static_cast<double>(node.words[i * stats.lanes + 1]); };
  double total_h = 0;
  for (std::uint32_t i = 0; i < node.n; ++i) total_h += h(i);
  for (int missing_left = 0; missing_left <= (groups.missing.empty() ? 0 : 1); ++missing_left) {
    // missing_left ? [missing | groups] : [groups | missing]
    std::vector<std::uint32_t> sequence = groups.rows;
    sequence.insert(missing_left ? sequence.begin() : sequence.end(), groups.missing.begin(), groups.missing.end());
    std::vector<std::size_t> ends = groups.ends, lengths;
    if (missing_left)
      for (auto& end : ends) end += groups.missing.size();
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

}  // namespace weald
