// The walk over cuts for many classes, row by row. A histogram cell of k classes costs k adds per
// group; where nearly every row is a group of its own it is cheaper to remember *which* rows have a
// code and to move them one at a time: a row changes one class, so the score changes in O(1).
//
//   head[code] -> row -> row -> end      chains of the rows with the same code
#pragma once

#include "weald/base/paths.hpp"
#include "weald/search/scan.hpp"

namespace weald {

// Rows chained by code: numbers are one too high, so that zero means "none".
struct Chains {
  const std::uint32_t* head;
  const std::uint32_t* next;
  const Lane* rest = nullptr;  // what the rows of chain kRestChain add up to: they are not listed

  static constexpr std::uint32_t kRestChain = ~std::uint32_t{0};
};

// G_k^2 when one class changes: its square, as an exact integer.
struct ChainGini {
  static Lane change(const Channels&, Lane g, Lane h) { return h * (2 * g + h); }  // (g+h)^2 - g^2
  static double side(const Channels&, Lane sum, Lane h) { return static_cast<double>(sum) / static_cast<double>(h); }
};

struct ChainEntropy {
  static Lane change(const Channels& c, Lane g, Lane h) { return c.xlog2x[g + h] - c.xlog2x[g]; }
  static double side(const Channels& c, Lane sum, Lane h) {
    return static_cast<double>(sum - static_cast<Lane>(c.n_outputs) * c.xlog2x[h]) * c.xlog2x_unit;
  }
};

template <class Score>
class ChainSums {
 public:
  ChainSums(const Channels& channels, const NodeRows& node, const Chains& chains)
      : channels_(channels), node_(node), chains_(chains), left_(channels.channels), right_(channels.channels) {}

  void start(const Lane* total) {
    std::fill(left_.begin(), left_.end(), 0);
    std::copy(total + 2, total + 2 + channels_.channels, right_.begin());
    left_count_ = left_h_ = left_sum_ = right_sum_ = 0;
    right_count_ = total[0], right_h_ = total[1];
    for (const Lane g : right_) right_sum_ += Score::change(channels_, 0, g);
  }
  void move(std::uint32_t row) {
    const std::size_t outputs = channels_.n_outputs;
    if (row == Chains::kRestChain) {
      for (std::size_t k = 0; k < left_.size(); ++k) shift(k, chains_.rest[2 + k]);
      return count(chains_.rest[0], chains_.rest[1]);
    }
    for (; row != 0; row = chains_.next[row - 1]) {
      const Lane h = node_.words[row - 1];
      const std::uint32_t* hot = node_.hot.get((row - 1) * outputs, outputs);
      for (std::size_t o = 0; o < outputs; ++o) shift(hot[o], h);
      count(1, h);
    }
  }
  Lane left_sum() const { return 0; }
  Lane left_count() const { return left_count_; }
  Lane right_count() const { return right_count_; }
  double left_h() const { return static_cast<double>(left_h_); }
  double right_h() const { return static_cast<double>(right_h_); }
  double left_value() const { return 0; }  // monotone columns need one channel; checked at the door
  double right_value() const { return 0; }
  double score() const {
    return Score::side(channels_, left_sum_, left_h_) + Score::side(channels_, right_sum_, right_h_);
  }
  bool may_beat(double best) const {
    if constexpr (std::is_same_v<Score, ChainGini>) {
      return quadratic_may_beat(static_cast<double>(left_sum_), left_h(), static_cast<double>(right_sum_), right_h(),
                                best);
    } else {
      return true;
    }
  }

 private:
  // h of a class goes from right to left.
  void shift(std::size_t k, Lane h) {
    left_sum_ += Score::change(channels_, left_[k], h);
    right_sum_ -= Score::change(channels_, right_[k] - h, h);
    left_[k] += h, right_[k] -= h;
  }
  void count(Lane rows, Lane h) {
    left_count_ += rows, right_count_ -= rows;
    left_h_ += h, right_h_ -= h;
  }

  const Channels& channels_;
  const NodeRows& node_;
  const Chains chains_;
  std::vector<Lane> left_, right_;
  Lane left_count_ = 0, right_count_ = 0, left_h_ = 0, right_h_ = 0, left_sum_ = 0, right_sum_ = 0;
};

// Can this task's classes be walked in chains? The sums of squares must fit an integer.
inline bool chainable(const Channels& channels, const Lane* total) {
  if (!uses(Path::ClassChains) || channels.layout != Layout::OneHot || !channels.whole_weights) return false;
  if (channels.criterion == Criterion::Entropy) return channels.xlog2x != nullptr;
  const double h = static_cast<double>(total[1]);
  return channels.criterion == Criterion::Gini && h * h * static_cast<double>(channels.n_outputs) < 0x1.0p62;
}

}  // namespace weald
