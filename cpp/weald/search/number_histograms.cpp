#include "weald/search/number_histograms.hpp"

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
  const std::size_t k = columns.size(), stride = columns[0]->stride;
  apart_ = 0;
  for (const Column* column : columns) apart_ = std::max(apart_, column->slots());
  const auto rows = node.rows;
  const bool marks = node.n < kFewMarked;
  with_lanes([&](auto lanes) {
    with_bytes(columns, apart_ * lanes, [&](const auto& data, auto apart) {
      Lane* const cells = cells_.data();
      const auto add_row = [&](std::size_t i) {
        const std::size_t row = rows[i] * stride;
        constexpr std::size_t kLanes = decltype(lanes)::value;
        Lane word[kLanes];  // H, G of all outputs, after the count
        std::copy_n(node.words.get(i * (kLanes + 1) + 1, kLanes), kLanes, word);
        for (std::size_t c = 0; c < data.size() && c < k; ++c) {
          const Code code = data[c][row];
          Lane* cell = cells + c * apart + code * lanes;
          for (std::size_t l = 0; l < lanes; ++l) cell[l] += word[l];
          if (marks) marks_[c].mark(code);
        }
      };
      std::size_t i = 0;
      for (; i + kPrefetchRows < node.n; ++i) {
        prefetch(data[0].address(rows[i + kPrefetchRows] * stride));
        add_row(i);
      }
      for (; i < node.n; ++i) add_row(i);
    });
  });
}

bool NumberHistograms::search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j,
                              const Lane* total, Split& best) {
  std::size_t& n = cuts_.n;
  n = 0;
  Lane missing[kMostLanes] = {};
  with_lanes([&](auto lanes) {
    Lane* const cells = cell_of(c, 0);
    Lane left[lanes] = {};
    const auto take = [&](Code code) {
      Lane* cell = cells + code * lanes;
      const bool here = cell[0] != 0;
      for (std::size_t l = 0; l < lanes; ++l) left_[l][n] = left[l] += std::exchange(cell[l], 0);
      cuts_.codes[n] = static_cast<std::uint8_t>(code);
      n += here;  // no branch: it could not be foretold
    };
    if (marks_[c].any()) {
      marks_[c].take([&](Code code) {
        if (code < column.n_codes) take(code);
      });
    } else {
      for (Code code = 0; code < column.n_codes; ++code) take(code);
    }
    for (std::size_t l = 0; l < lanes && column.has_missing; ++l) {
      missing[l] = std::exchange(cells[column.n_codes * lanes + l], 0);
    }
  });
  cuts_.has_missing = missing[0] != 0;
  if (n + cuts_.has_missing < 2 || n == 0) return false;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts_.has_missing) break;
    for (std::size_t l = 0; l < lanes_ && missing_left; ++l) {
      for (std::size_t k = 0; k < n; ++k) left_[l][k] += missing[l];
    }
    const double most = score_cuts(left_[0], cuts_.cuts(missing_left), total + 1, lanes_ - 1, cuts_.score);
    cuts_.offer(request, column, j, most, missing_left, best);
  }
  return true;
}

}  // namespace weald
