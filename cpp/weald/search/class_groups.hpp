// The best cut of a column of bytes among up to 256 light rows of many classes: rows are counted by code and class in cells
// of 16 bits, so that a code is a few vectors, and the scores of all cuts are found at once.
//
//   sum_k (T_k - L_k)^2 = sum T_k^2 - 2 sum T_k L_k + sum L_k^2         L_k: weight on the left of class k, T_k: of all
#pragma once

#include "weald/search/scored_cuts.hpp"

namespace weald {

// score[k] = left[k] / left_h[k] + right[k] / (h - left_h[k]) of n cuts; the largest.
double score_sides(const Lane* left_h, const Lane* left, const Lane* right, std::size_t n, Lane h, double* score);

class ClassGroups {
 public:
  static constexpr std::size_t kMostClasses = 256;
  using Count = std::int16_t;  // of 256 rows of weight 127 no sum is beyond it

  // Of a node: how much each class weighs.
  void begin(std::span<const Lane> totals) {
    h_ = squares_ = 0;
    for (const Lane total : totals) h_ += total, squares_ += total * total;
    width_ = (totals.size() + kAtOnce - 1) / kAtOnce * kAtOnce;
    totals_.assign(width_, 0);
    std::copy(totals.begin(), totals.end(), totals_.begin());
    if (cells_.size() < kByteSlots * width_) cells_.resize(kByteSlots * width_, 0);
  }

  void add(Code code, std::size_t of_class, std::uint8_t weight) {
    cells_[code * width_ + of_class] += weight;
    marks_.mark(code);
  }

  // Puts the best cut of the rows added into `best` if it is better, and forgets them. Returns H on the left of that cut,
  // if it is the best.
  Lane search(const SearchRequest& request, const Column& column, std::uint32_t j, Split& best);

  static constexpr std::size_t kAtOnce = 16;  // classes
  struct Sums {
    Lane left_h[kByteSlots], left_squares[kByteSlots], right_squares[kByteSlots];  // of each cut
  };

 private:
  Lane h_ = 0, squares_ = 0;
  std::size_t width_ = 0;              // of a cell: classes, in whole vectors
  std::vector<Count> totals_, cells_;  // cells are all zero between columns
  MarkedBytes marks_;
  Sums sums_;
  ScoredCuts cuts_;
};

}  // namespace weald
