// Walks the cuts of one column from left to right and keeps the best. A `Sums` is the state of the
// walk: what lies left of the cut, what lies right, and the score of the pair.
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

// Two classes, one word: G << 32 | H. One subtraction moves both sums.
template <class Score>
class PackedSums {
 public:
  explicit PackedSums(const Channels& channels) : channels_(channels), lambda_(channels.lambda) {}
  void start(const Lane* total) { left_ = 0, right_ = *total; }
  void move(const Lane* cell) { left_ += *cell, right_ -= *cell; }
  Lane left_sum() const { return left_; }
  Lane left_count() const { return left_ & kLow; }
  Lane right_count() const { return right_ & kLow; }
  double left_h() const { return static_cast<double>(left_ & kLow); }
  double right_h() const { return static_cast<double>(right_ & kLow); }
  double left_value() const { return left_g() / (left_h() + lambda_); }
  double right_value() const { return right_g() / (right_h() + lambda_); }
  double score() const {
    return Score::score(channels_, left_g(), left_h()) + Score::score(channels_, right_g(), right_h());
  }
  // False only if score() <= best for certain. Without a division, which costs more than the rest.
  bool may_beat(double best) const {
    if constexpr (std::is_same_v<Score, Quadratic>) {
      const double gl = left_g(), gr = right_g();
      return quadratic_may_beat(gl * gl, left_h() + lambda_, gr * gr, right_h() + lambda_, best);
    } else {
      return true;
    }
  }
  static double whole_score(const Lane* total, const Channels& channels) {
    return Score::score(channels, static_cast<double>(*total >> 32), static_cast<double>(*total & kLow));
  }

  static constexpr Lane kLow = 0xFFFFFFFF;

 private:
  double left_g() const { return static_cast<double>(left_ >> 32); }
  double right_g() const { return static_cast<double>(right_ >> 32); }
  const Channels& channels_;
  double lambda_;
  Lane left_ = 0, right_ = 0;
};

// Channels of any sign: count, H, G_1..G_k; kOne: a single one, in registers.
template <class Score, bool kOne>
class DenseSums {
 public:
  explicit DenseSums(const Channels& stats) : stats_(stats), lambda_(stats.lambda) {
    if constexpr (!kOne) left_.resize(stats.lanes), right_.resize(stats.lanes), g_.resize(stats.channels);
  }
  void start(const Lane* total) {
    for (std::size_t k = 0; k < left_.size(); ++k) left_[k] = 0, right_[k] = total[k];
  }
  void move(const Lane* cell) {
    for (std::size_t k = 0; k < left_.size(); ++k) left_[k] += cell[k], right_[k] -= cell[k];
  }
  Lane left_sum() const { return 0; }
  Lane left_count() const { return left_[0]; }
  Lane right_count() const { return right_[0]; }
  double left_h() const { return static_cast<double>(left_[1]); }
  double right_h() const { return static_cast<double>(right_[1]); }
  // Monotone columns need one channel; checked at the door.
  double left_value() const { return static_cast<double>(left_[2]) / (left_h() + lambda_); }
  double right_value() const { return static_cast<double>(right_[2]) / (right_h() + lambda_); }
  double score() { return side(left_.data()) + side(right_.data()); }
  bool may_beat(double best) const {
    if constexpr (kOne && std::is_same_v<Score, Quadratic>) {
      const double gl = static_cast<double>(left_[2]), gr = static_cast<double>(right_[2]);
      return quadratic_may_beat(gl * gl, left_h() + lambda_, gr * gr, right_h() + lambda_, best);
    } else {
      return true;
    }
  }
  static double whole_score(const Lane* total, const Channels& stats) { return DenseSums(stats).side(total); }

 private:
  template <class T>
  using Array = std::conditional_t<kOne, std::array<T, 3>, std::vector<T>>;

  double side(const Lane* lanes) {
    const double g_unit = Score::kTrueUnits ? stats_.g_unit : 1, h_unit = Score::kTrueUnits ? stats_.h_unit : 1;
    const double h = static_cast<double>(lanes[1]) * h_unit;
    if constexpr (kOne) return Score::score(stats_, static_cast<double>(lanes[2]) * g_unit, h);
    for (std::size_t k = 0; k < g_.size(); ++k) g_[k] = static_cast<double>(lanes[2 + k]) * g_unit;
    return Score::score(g_.data(), h, stats_);
  }
  const Channels& stats_;
  const double lambda_;
  Array<Lane> left_{}, right_{};
  Array<double> g_{};
};

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
  const auto score_of = [&](double hl, double gl) { return quadratic(gl, hl, G - gl, H - hl); };
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
  return {score_of(static_cast<double>(best_left & 0xFFFFFFFF), static_cast<double>(best_left >> 32)), best_at, false,
          best_left};
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
      if (p + 1 < first || sums.left_count() < limits.min_count) continue;
      if (sums.right_count() < limits.min_count) break;
      if (!sums.may_beat(bar)) continue;
      if (sums.left_h() < limits.min_weight || sums.right_h() < limits.min_weight) continue;
      if (limits.monotone != 0) {
        if (!limits.allows(sums.left_value(), sums.right_value())) continue;
      }
      const double score = sums.score();
      if (score > best.score) {
        best = {score, p + 1, missing_left == 1, sums.left_sum()};
        bar = std::max(bar, score);
      }
    }
  }
  return best;
}

// Calls fn with the Sums that fit the statistics.
template <class Fn>
auto with_sums(const Channels& stats, Fn&& fn) {
  using Result = decltype(fn(PackedSums<Quadratic>(stats)));
  return with_criterion(stats.criterion, [&](auto kind) -> Result {
    using Kind = decltype(kind);
    if constexpr (Kind::kFromRows) {
      throw std::logic_error("a criterion without sums");
    } else {
      if (stats.layout == Layout::Packed) return fn(PackedSums<typename Kind::Score>(stats));
      if (stats.channels == 1) return fn(DenseSums<typename Kind::Score, true>(stats));
      return fn(DenseSums<typename Kind::Score, false>(stats));
    }
  });
}

}  // namespace weald
