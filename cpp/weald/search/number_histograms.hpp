// The best cut of columns of bytes in a node of numbers: histograms of H and G, a few bytes a cell, and the scores of all
// cuts of a column at once, in vector registers. The sums and the arithmetic are those of the walk in scan.hpp.
#pragma once

#include "weald/search/column_search.hpp"

namespace weald {

class NumberHistograms {
 public:
  static constexpr std::size_t kMostOutputs = 8;

  // The score sum G^2 / H of few outputs. A code occurs where there is some H, so that every row must have some.
  static bool fit(const Channels& stats) {
    return stats.layout == Layout::Dense && stats.channels <= kMostOutputs && stats.least_h > 0 && !stats.gradients &&
           stats.lambda == 0 && (stats.criterion == Criterion::Squared || stats.criterion == Criterion::Gini);
  }

  // To be called if it is going to be used.
  void prepare(std::size_t outputs) {
    lanes_ = 1 + outputs;
    if (cells_.empty()) cells_.resize(kTogetherSlots * lanes_, 0);
  }

  // Histograms of columns with one stride, of at most kTogetherSlots in all.
  void count(std::span<const Column* const> columns, const NodeRows& node, const Channels& stats);

  static bool missing(std::size_t, const Column&) { return false; }  // those that are missing are no trouble

  // Puts the best cut of the c-th of the columns into `best` if it is better, and forgets its cells; false if the
  // column does not vary.
  bool search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j, const Lane* total,
              Split& best);

 private:
  static constexpr std::size_t kMostLanes = 1 + kMostOutputs;
  Lane* cell_of(std::size_t c, std::size_t code) { return &cells_[(c * apart_ + code) * lanes_]; }

  std::size_t lanes_ = 0, apart_ = 0;  // of a cell; slots of a column
  BigVector<Lane> cells_;              // of some columns, all zero between nodes
  Lane left_[kMostLanes][kByteSlots] = {};
  std::uint8_t codes_[kByteSlots] = {};  // of a column: those that occur
  double score_[kByteSlots] = {};        // of the cut after each of them
};

}  // namespace weald
