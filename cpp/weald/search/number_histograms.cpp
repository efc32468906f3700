#include "weald/search/number_histograms.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

// score[k] = sum G_l^2 / H_l + sum G_r^2 / H_r of n cuts, from the sums on their left, H and G of each output, kByteSlots
// apart; the largest. What lies beyond the n-th is of no use, but is there.
WEALD_WIDE double score_cuts(const Lane* left, std::size_t n, const Lane* total, std::size_t outputs, double* score) {
  constexpr std::size_t kAtOnce = 8;
  static_assert(kByteSlots % kAtOnce == 0);
  for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
    double left_squares[kAtOnce] = {}, right_squares[kAtOnce] = {};
    for (std::size_t o = 1; o <= outputs; ++o) {
      for (std::size_t k = 0; k < kAtOnce; ++k) {
        const Lane g = left[o * kByteSlots + begin + k];
        const double gl = to_double(g), gr = to_double(total[o] - g);
        left_squares[k] += gl * gl, right_squares[k] += gr * gr;
      }
    }
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      const double hl = to_double(left[begin + k]), hr = to_double(total[0] - left[begin + k]);
      score[begin + k] = left_squares[k] / hl + right_squares[k] / hr;
    }
  }
  return largest(score, n);
}

}  // namespace

void NumberHistograms::count(std::span<const Column* const> columns, const NodeRows& node, const Channels& stats) {
  prepare(stats.channels);
  apart_ = 0;
  for (const Column* column : columns) apart_ = std::max(apart_, column->slots());
  with_constant<2, kMostLanes>(lanes_, [&](auto lanes) {  // so that a cell is a few registers
    constexpr std::size_t kLanes = decltype(lanes)::value;
    using Word = std::array<Lane, kLanes>;  // H, G of all outputs, after the count
    add_rows_together(
        columns, node, apart_ * lanes, view(cells_), lanes,
        [words = node.words](std::size_t i) {
          Word word;
          std::copy_n(words.get(i * (kLanes + 1) + 1, kLanes), kLanes, word.begin());
          return word;
        },
        [](const Word& word, Lane* cell) {
          for (std::size_t l = 0; l < kLanes; ++l) cell[l] += word[l];
        });
  });
}

bool NumberHistograms::search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j,
                              const Lane* total, Split& best) {
  std::size_t n = 0;  // codes that occur, the missing one not among them
  Lane missing[kMostLanes] = {};
  with_constant<2, kMostLanes>(lanes_, [&](auto lanes) {
    Lane* const cells = cell_of(c, 0);
    Lane left[lanes] = {};
    for (Code code = 0; code < column.n_codes; ++code) {
      Lane* cell = cells + code * lanes;
      const bool here = cell[0] != 0;
      for (std::size_t l = 0; l < lanes; ++l) left_[l][n] = left[l] += std::exchange(cell[l], 0);
      codes_[n] = static_cast<std::uint8_t>(code);
      n += here;  // no branch: it could not be foretold
    }
    for (std::size_t l = 0; l < lanes && column.has_missing; ++l) {
      missing[l] = std::exchange(cells[column.n_codes * lanes + l], 0);
    }
  });
  const bool has_missing = missing[0] != 0;
  if (n + has_missing < 2 || n == 0) return false;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !has_missing) break;
    for (std::size_t l = 0; l < lanes_ && missing_left; ++l) {
      for (std::size_t k = 0; k < n; ++k) left_[l][k] += missing[l];
    }
    // With missing values on the right, all that is present may be on the left.
    const std::size_t cuts = has_missing && !missing_left ? n : n - 1;
    const double most = score_cuts(left_[0], cuts, total + 1, lanes_ - 1, score_);
    if (cuts == 0 || !best.loses_to(most, j, request.ties)) continue;
    const auto at = static_cast<std::size_t>(std::find(score_, score_ + cuts, most) - score_);  // the first of the best
    best = {};
    best.score = most, best.column = j;
    best.had_missing = has_missing, best.missing_left = missing_left;
    best.last_left = codes_[at], best.first_right = at + 1 < n ? codes_[at + 1] : column.n_codes;
  }
  return true;
}

}  // namespace weald
