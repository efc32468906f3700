#include "weald/search/class_groups.hpp"

#include <cstring>

#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

using Count = ClassGroups::Count;

// The cells of some codes, in order: those up to each are on the left of its cut. `first`: a cell that is there before.
struct CellsInOrder {
  const Count *cells, *totals, *first;
  std::size_t width;
  const std::uint8_t* codes;
  std::size_t n;
};

WEALD_WIDE void sum_cells(const CellsInOrder& in, Lane node_squares, ClassGroups::Sums& out) {
  constexpr std::size_t kAtOnce = ClassGroups::kAtOnce;
  Count left[ClassGroups::kMostClasses];
  for (std::size_t k = 0; k < in.width; ++k) left[k] = in.first ? in.first[k] : Count{0};
  for (std::size_t p = 0; p < in.n; ++p) {
    const Count* cell = in.cells + in.codes[p] * in.width;
    std::int32_t h = 0, squares = 0, products = 0;
    for (std::size_t begin = 0; begin < in.width; begin += kAtOnce) {
      for (std::size_t k = begin; k < begin + kAtOnce; ++k) {
        left[k] = static_cast<Count>(left[k] + cell[k]);
        h += left[k], squares += left[k] * left[k], products += left[k] * in.totals[k];
      }
    }
    out.left_h[p] = h, out.left_squares[p] = squares;
    out.right_squares[p] = node_squares - 2 * Lane{products} + squares;
  }
}

}  // namespace

WEALD_WIDE double score_sides(const Lane* left_h, const Lane* left, const Lane* right, std::size_t n, Lane h,
                              double* score) {
  for (std::size_t k = 0; k < n; ++k) {
    score[k] = to_double(left[k]) / to_double(left_h[k]) + to_double(right[k]) / to_double(h - left_h[k]);
  }
  return largest(score, n);
}

Lane ClassGroups::search(const SearchRequest& request, const Column& column, std::uint32_t j, Split& best) {
  std::size_t& n = cuts_.n;
  n = 0;
  marks_.take([&](Code code) { cuts_.codes[n++] = static_cast<std::uint8_t>(code); });
  cuts_.has_missing = column.has_missing && n > 0 && cuts_.codes[n - 1] == column.n_codes;
  n -= cuts_.has_missing;
  Lane left_h = 0;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts_.has_missing) break;
    const Count* first = missing_left ? &cells_[column.n_codes * width_] : nullptr;
    sum_cells({cells_.data(), totals_.data(), first, width_, cuts_.codes, n}, squares_, sums_);
    const double most =
        score_sides(sums_.left_h, sums_.left_squares, sums_.right_squares, cuts_.cuts(missing_left), h_, cuts_.score);
    const std::size_t at = cuts_.offer(request, column, j, most, missing_left, best);
    if (at < n) left_h = sums_.left_h[at];
  }
  for (std::size_t p = 0; p < n + cuts_.has_missing; ++p) {  // in steps that need no call
    Count* const cell = &cells_[cuts_.codes[p] * width_];
    for (std::size_t k = 0; k < width_; k += kAtOnce) std::memset(cell + k, 0, kAtOnce * sizeof(Count));
  }
  return left_h;
}

}  // namespace weald
