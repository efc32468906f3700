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

// One side of a cut. `changes`: of every G so far.
template <class Score>
struct ChainSide {
  static constexpr bool kQuadratic = std::is_same_v<Score, ChainGini>;
  explicit ChainSide(const Channels& stats) : channels(stats), all_g(stats.channels) {}
  void set(const Lane* total) {
    std::fill(all_g.begin(), all_g.end(), 0);
    rows = weight = changes = 0;
    if (total) add(total, 1);
  }
  void add(const Lane* cell, Lane sign) {
    for (std::size_t k = 0; k < all_g.size(); ++k) shift(k, sign * cell[2 + k]);
    rows += sign * cell[0], weight += sign * cell[1];
  }
  void shift(std::size_t k, Lane h) {
    const Lane g = all_g[k];
    all_g[k] = g + h, changes += Score::change(channels, g, h);
  }

  Lane count() const { return rows; }
  double h() const { return static_cast<double>(weight); }
  double squares() const { return static_cast<double>(changes); }
  double value() const { return 0; }  // monotone columns need one channel; checked at the door
  double score() const { return Score::side(channels, changes, weight); }

  const Channels& channels;
  std::vector<Lane> all_g;
  Lane rows = 0, weight = 0, changes = 0;
  static constexpr double lambda = 0;
  static constexpr Lane sum = 0;
};

template <class Score>
class ChainSums : public BothSides<ChainSide<Score>> {
 public:
  using BothSides<ChainSide<Score>>::left, BothSides<ChainSide<Score>>::right;
  ChainSums(const Channels& channels, const NodeRows& node, const Chains& chains)
      : BothSides<ChainSide<Score>>(channels), node_(node), chains_(chains), outputs_(channels.n_outputs) {}

  void move(std::uint32_t row) {
    if (row == Chains::kRestChain) return BothSides<ChainSide<Score>>::move(chains_.rest);
    for (; row != 0; row = chains_.next[row - 1]) {
      const Lane h = node_.words[row - 1];
      const std::uint32_t* hot = node_.hot.get((row - 1) * outputs_, outputs_);
      for (std::size_t o = 0; o < outputs_; ++o) left.shift(hot[o], h), right.shift(hot[o], -h);
      left.rows += 1, left.weight += h;
      right.rows -= 1, right.weight -= h;
    }
  }

 private:
  const NodeRows& node_;
  const Chains chains_;
  const std::size_t outputs_;
};

// Can this task's classes be walked in chains? The sums of squares must fit an integer.
inline bool chainable(const Channels& channels, const Lane* total) {
  if (!uses(Path::ClassChains) || channels.layout != Layout::OneHot || !channels.whole_weights) return false;
  if (channels.criterion == Criterion::Entropy) return channels.xlog2x != nullptr;
  const double h = static_cast<double>(total[1]);
  return channels.criterion == Criterion::Gini && h * h * static_cast<double>(channels.n_outputs) < 0x1.0p62;
}

}  // namespace weald
