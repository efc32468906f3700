// The walk over cuts for the absolute criterion, whose scores are not sums: errors of all prefixes and of
// all suffixes of the rows in the order of a column.
#pragma once

#include "absolute.hpp"
#include "split.hpp"

namespace weald {

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
inline std::vector<double> median_keys(const NodeRows& node, const Channels& stats,
                                const RowsByGroup& groups) {
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

}  // namespace weald
