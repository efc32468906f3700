// The best cut of a column of bytes among up to 256 rows of many classes. Rows are chained by code and moved to the left
// one at a time, so that a row costs O(1) and not one add a class; the scores of all cuts are then found at once, in
// vector registers.
//
//   sum_k (T_k - L_k)^2 = sum T_k^2 - 2 sum T_k L_k + sum L_k^2         L_k: weight on the left of class k, T_k: of all
#pragma once

#include "weald/search/scored_cuts.hpp"

namespace weald {

// score[k] = left[k] / left_h[k] + right[k] / (h - left_h[k]) of n cuts; the largest.
double score_sides(const Lane* left_h, const Lane* left, const Lane* right, std::size_t n, Lane h, double* score);

class ClassGroups {
 public:
  static constexpr std::size_t kSlots = kByteSlots, kRows = 256;

  // Of a node: how much each class weighs, and all of them.
  void begin(std::span<const Lane> totals) {
    totals_ = totals, h_ = squares_ = 0;
    for (const Lane total : totals) h_ += total, squares_ += total * total;
    left_.resize(totals.size());
  }

  void add(std::size_t row, Code code) {
    next_[row] = head_[code];
    head_[code] = static_cast<std::uint16_t>(row + 1);
    marks_.mark(code);
  }

  // Puts the best cut of the rows added into `best` if it is better, and forgets them. classes and weights: of the rows.
  // Returns H on the left of that cut, if it is the best.
  Lane search(const SearchRequest& request, const Column& column, std::uint32_t j, const std::uint8_t* classes,
              const std::uint8_t* weights, Split& best);

 private:
  struct State {
    Lane h = 0, squares = 0, products = 0;
  };
  void move(Code code, const std::uint8_t* classes, const std::uint8_t* weights, State& state) {
    for (std::size_t row = head_[code]; row != 0; row = next_[row - 1]) {
      const std::size_t k = classes[row - 1];
      const Lane h = weights[row - 1], before = left_[k];
      state.h += h, state.squares += h * (2 * before + h), state.products += h * totals_[k];
      left_[k] = before + h;
    }
  }

  std::span<const Lane> totals_;
  Lane h_ = 0, squares_ = 0;
  std::vector<Lane> left_;
  std::uint16_t head_[kSlots] = {}, next_[kRows];  // one more than the row; heads are all zero between columns
  MarkedBytes marks_;
  Lane left_h_[kSlots], left_squares_[kSlots], right_squares_[kSlots];
  ScoredCuts cuts_;
};

}  // namespace weald
