#include "weald/search/class_groups.hpp"

#include "weald/base/wide_numbers.hpp"

namespace weald {

WEALD_WIDE double score_sides(const Lane* left_h, const Lane* left, const Lane* right, std::size_t n, Lane h,
                              double* score) {
  for (std::size_t k = 0; k < n; ++k) {
    score[k] = to_double(left[k]) / to_double(left_h[k]) + to_double(right[k]) / to_double(h - left_h[k]);
  }
  return largest(score, n);
}

Lane ClassGroups::search(const SearchRequest& request, const Column& column, std::uint32_t j,
                         const std::uint8_t* classes, const std::uint8_t* weights, Split& best) {
  std::size_t& n = cuts_.n;
  n = 0;
  marks_.take([&](Code code) { cuts_.codes[n++] = static_cast<std::uint8_t>(code); });
  cuts_.has_missing = column.has_missing && n > 0 && cuts_.codes[n - 1] == column.n_codes;
  n -= cuts_.has_missing;
  Lane left_h = 0;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts_.has_missing) break;
    std::fill(left_.begin(), left_.end(), 0);
    State state;
    if (missing_left) move(column.n_codes, classes, weights, state);
    for (std::size_t p = 0; p < n; ++p) {
      move(cuts_.codes[p], classes, weights, state);
      left_h_[p] = state.h, left_squares_[p] = state.squares;
      right_squares_[p] = squares_ - 2 * state.products + state.squares;
    }
    const double most = score_sides(left_h_, left_squares_, right_squares_, cuts_.cuts(missing_left), h_, cuts_.score);
    const std::size_t at = cuts_.offer(request, column, j, most, missing_left, best);
    if (at < n) left_h = left_h_[at];
  }
  for (std::size_t p = 0; p < n + cuts_.has_missing; ++p) head_[cuts_.codes[p]] = 0;
  return left_h;
}

}  // namespace weald
