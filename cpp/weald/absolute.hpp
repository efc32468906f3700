// The absolute-error criterion. A median is not a sum, so its splits are found from the rows in
// column order: a tree of partial sums over the ranks of the targets gives the weighted median and
// the error around it in O(log n) per added row, O(n log n) per column.
#pragma once

#include <algorithm>
#include <bit>

#include "histogram.hpp"
#include "threads.hpp"

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
        ranks[i] = static_cast<std::uint32_t>(
            std::lower_bound(distinct.begin(), distinct.end(), y) - distinct.begin());
      }
    }
  }
};

// Products of a weight and a target in units: too large for 64 bits unless weights are whole.
#ifdef __SIZEOF_INT128__
__extension__ using WideSum = __int128;
#else
using WideSum = double;  // then equally good cuts may be told apart by rounding
#endif

// Weighted median of a growing set of targets. Sum is an integer wide enough. Fenwick (1994) tree over ranks.
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
    return static_cast<double>((m * below - below_moment) +
                               (total_moment_ - below_moment) - m * (total_ - below));
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

inline PrefixErrors prefix_errors(const NodeRows& node, const Channels& stats,
                                  const RankedTargets& targets,
                                  const std::vector<std::uint32_t>& sequence,
                                  const std::vector<std::size_t>& ends, bool medians,
                                  Interrupt& interrupt) {
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

}  // namespace weald
