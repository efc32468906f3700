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
  std::size_t n = 0;
  for (std::size_t word = 0; word < kSlots / 64; ++word) {
    for (std::uint64_t bits = std::exchange(marks_[word], 0); bits != 0; bits &= bits - 1) {
      codes_[n++] = static_cast<std::uint8_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
  const bool has_missing = column.has_missing && n > 0 && codes_[n - 1] == column.n_codes;
  n -= has_missing;
  Lane left_h = 0;
  // Missing values on the right, then on the left.
  for (int missing_left = 0; missing_left <= (has_missing ? 1 : 0); ++missing_left) {
    std::fill(left_.begin(), left_.end(), 0);
    State state;
    if (missing_left) move(column.n_codes, classes, weights, state);
    for (std::size_t p = 0; p < n; ++p) {
      move(codes_[p], classes, weights, state);
      left_h_[p] = state.h, left_squares_[p] = state.squares;
      right_squares_[p] = squares_ - 2 * state.products + state.squares;
    }
    const std::size_t cuts = has_missing && !missing_left ? n : n - std::min<std::size_t>(n, 1);
    const double most = score_sides(left_h_, left_squares_, right_squares_, cuts, h_, score_);
    if (cuts == 0 || !best.loses_to(most, j, request.ties)) continue;
    std::size_t at = 0;
    while (score_[at] != most) ++at;
    best = {};
    best.score = most, best.column = j;
    best.had_missing = has_missing, best.missing_left = missing_left == 1;
    best.last_left = codes_[at], best.first_right = at + 1 < n ? codes_[at + 1] : column.n_codes;
    left_h = left_h_[at];
  }
  for (std::size_t p = 0; p < n + has_missing; ++p) head_[codes_[p]] = 0;
  return left_h;
}

}  // namespace weald
