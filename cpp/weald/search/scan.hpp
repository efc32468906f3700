// Walks the cuts of one column from left to right and keeps the best. The state of the walk are the sums
// left of the cut and right of it: of each side the count, G, H and the score.
#pragma once

#include <array>

#include "weald/stats/criterion.hpp"
#include "weald/stats/histogram.hpp"

namespace weald {

// What a split must satisfy, and the bounds that monotone columns above have left to this node.
struct Limits {
  Lane min_count = 1;
  double min_weight = 0;               // in units of H
  int monotone = 0;                    // of the column at hand: -1, 0, +1
  double lower = -kInf, upper = kInf;  // in units of G / H
  double floor = -kInf;                // a score below this is of no use: another column has done better

  bool plain() const { return min_count <= 1 && min_weight <= 0 && monotone == 0; }
  bool allows(double left, double right) const {
    return (left - right) * monotone <= 0 && std::min(left, right) >= lower && std::max(left, right) <= upper;
  }
};

// The best cut of a walk: after how many groups, and where the missing values go.
struct Cut {
  double score = -kInf;
  std::size_t groups_left = 0;
  bool missing_left = false;
  Lane left_sum = 0;  // Packed: what lies on the left
};

// One side: two classes, one word: G << 32 | H. One addition moves both sums.
template <class Score>
struct PackedSide {
  static constexpr bool kQuadratic = std::is_same_v<Score, Quadratic>;
  explicit PackedSide(const Channels& stats) : channels(stats), lambda(stats.lambda) {}
  void set(const Lane* total) { sum = total ? *total : 0; }
  void add(const Lane* cell, Lane sign) { sum += sign * *cell; }

  Lane count() const { return sum & 0xFFFFFFFF; }
  double g() const { return static_cast<double>(sum >> 32); }
  double h() const { return static_cast<double>(count()); }
  double squares() const { return g() * g(); }
  double value() const { return g() / (h() + lambda); }
  double score() const { return Score::score(channels, g(), h()); }

  const Channels& channels;
  const double lambda;
  Lane sum = 0;
};

// Channels of any sign: count, H, G_1..G_k; kOne: a single one, in registers.
template <class Score, bool kOne>
struct DenseSide {
  static constexpr bool kQuadratic = kOne && std::is_same_v<Score, Quadratic>;
  explicit DenseSide(const Channels& stats) : channels(stats), lambda(stats.lambda) {
    if constexpr (!kOne) lanes.resize(stats.lanes), all_g.resize(stats.channels);
  }
  void set(const Lane* total) {
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] = total ? total[k] : 0;
  }
  void add(const Lane* cell, Lane sign) {
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] += sign * cell[k];
  }

  Lane count() const { return lanes[0]; }
  double g() const { return static_cast<double>(lanes[2]); }  // monotone columns need one channel; checked at the door
  double h() const { return static_cast<double>(lanes[1]); }
  double squares() const { return g() * g(); }
  double value() const { return g() / (h() + lambda); }
  double score() {
    const double g_unit = Score::kTrueUnits ? channels.g_unit : 1, h_unit = Score::kTrueUnits ? channels.h_unit : 1;
    if constexpr (kOne) return Score::score(channels, g() * g_unit, h() * h_unit);
    for (std::size_t k = 0; k < all_g.size(); ++k) all_g[k] = static_cast<double>(lanes[2 + k]) * g_unit;
    return Score::score(all_g.data(), h() * h_unit, channels);
  }

  template <class T>
  using Array = std::conditional_t<kOne, std::array<T, 3>, std::vector<T>>;
  const Channels& channels;
  const double lambda;
  Array<Lane> lanes{};
  Array<double> all_g{};
  static constexpr Lane sum = 0;  // it is no word
};

// Both sides of a cut, as cells go from right to left.
template <class Side>
struct BothSides {
  explicit BothSides(const Channels& stats) : left(stats), right(stats) {}
  void start(const Lane* total) { left.set(nullptr), right.set(total); }
  void move(const Lane* cell) { left.add(cell, 1), right.add(cell, -1); }
  double left_value() const { return left.value(); }
  double right_value() const { return right.value(); }
  Side left, right;
};

// False only if the sides score no more than `best` for certain. Without a division, which costs more than the rest.
template <class Side>
bool may_beat(const Side& left, const Side& right, double best) {
  if constexpr (!Side::kQuadratic) return true;
  return quadratic_may_beat(left.squares(), left.h() + left.lambda, right.squares(), right.h() + right.lambda, best);
}

// The same walk for the case that matters most: two classes, Gini, no limits, no missing values.
//
// The sums of some cuts at a time are laid out side by side, so that their comparison with the best so
// far, which needs no division, runs in vector registers.
struct LeftSums {
  std::int32_t h[kCutsAtOnce], g[kCutsAtOnce];
};

// excess[k] = D^2 - bar H_l H_r for n cuts. Is any above `least`?
bool find_excess(const LeftSums& left, std::size_t n, double G, double H, double bar, double least, double* excess);

template <class Cells>
Cut scan_plain(const Lane* total, std::size_t last, Cells&& cell, double floor) {
  LeftSums left;
  double excess[kCutsAtOnce];
  const double H = static_cast<double>(*total & 0xFFFFFFFF), G = static_cast<double>(*total >> 32);
  // The bar is D^2 / (H_l H_r) of the best so far; another column's best, in the same terms, with room
  // for rounding.
  Cut best;
  const double floor_gain = (floor - quadratic(G, H)) * H;
  double bar = std::max(0.0, floor_gain - 1e-12 * std::abs(floor) * H);
  // Equal to another column's best is of interest, equal to our own is not.
  double least = -std::numeric_limits<double>::denorm_min();
  std::size_t best_at = 0;
  Lane best_left = 0, sum = 0;
  for (std::size_t begin = 0; begin < last; begin += kCutsAtOnce) {
    const std::size_t n = std::min(kCutsAtOnce, last - begin);
    for (std::size_t k = 0; k < n; ++k) {
      sum += *cell(begin + k);
      left.h[k] = static_cast<std::int32_t>(sum);
      left.g[k] = static_cast<std::int32_t>(sum >> 32);
    }
    if (!find_excess(left, n, G, H, bar, least, excess)) continue;
    for (std::size_t k = 0; k < n; ++k) {
      if (!(excess[k] > least)) continue;
      const double hl = left.h[k], gl = left.g[k], ratio = gain_ratio(gl, hl, G, H);
      if (best_at == 0 ? !(ratio >= bar) : !(ratio > bar)) continue;
      bar = ratio;
      least = 0;
      best_at = begin + k + 1;
      best_left = Lane{left.g[k]} << 32 | Lane{left.h[k]};
    }
  }
  if (best_at == 0) return best;
  const double hl = static_cast<double>(best_left & 0xFFFFFFFF), gl = static_cast<double>(best_left >> 32);
  return {quadratic(gl, hl, G - gl, H - hl), best_at, false, best_left};
}

// The cuts after `first` .. `last` groups; none if last < first.
struct Range {
  std::size_t first, last;
};

// Tries the cuts in range(missing_left). cell(p) gives group p to the sums; `missing`, if there are any, the
// missing values, which are tried on the right, then on the left. Limits are a copy, to stay in registers.
template <class Sums, class Missing, class RangeOf, class Cells>
Cut scan_cuts(Sums& sums, const Lane* total, Missing missing, RangeOf&& range, Cells&& cell, const Limits limits) {
  Cut best;
  double bar = limits.floor;  // a score below it is of no use
  for (int missing_left = 0; missing_left <= (missing ? 1 : 0); ++missing_left) {
    const auto [first, last] = range(missing_left == 1);
    sums.start(total);
    if (missing_left) sums.move(missing);
    for (std::size_t p = 0; p < last; ++p) {
      sums.move(cell(p));
      if (p + 1 < first || sums.left.count() < limits.min_count) continue;
      if (sums.right.count() < limits.min_count) break;
      if (!may_beat(sums.left, sums.right, bar)) continue;
      if (sums.left.h() < limits.min_weight || sums.right.h() < limits.min_weight) continue;
      if (limits.monotone != 0 && !limits.allows(sums.left_value(), sums.right_value())) continue;
      const double score = sums.left.score() + sums.right.score();
      if (score > best.score) {
        best = {score, p + 1, missing_left == 1, sums.left.sum};
        bar = std::max(bar, score);
      }
    }
  }
  return best;
}

// Calls fn with the sums that fit the statistics.
template <class Fn>
auto with_sums(const Channels& stats, Fn&& fn) {
  using Result = decltype(fn(BothSides<PackedSide<Quadratic>>(stats)));
  return with_criterion(stats.criterion, [&](auto kind) -> Result {
    using Score = typename decltype(kind)::Score;
    if constexpr (decltype(kind)::kFromRows) {
      throw std::logic_error("a criterion without sums");
    } else {
      if (stats.layout == Layout::Packed) return fn(BothSides<PackedSide<Score>>(stats));
      if (stats.channels == 1) return fn(BothSides<DenseSide<Score, true>>(stats));
      return fn(BothSides<DenseSide<Score, false>>(stats));
    }
  });
}

}  // namespace weald
