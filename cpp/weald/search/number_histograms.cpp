#include "weald/search/number_histograms.hpp"

#include "weald/base/wide_numbers.hpp"

namespace weald {

WEALD_WIDE double score_cuts(const Lane* left_h, const Lane* left_g, std::size_t n, Lane h, Lane g, double* score) {
  for (std::size_t k = 0; k < n; ++k) {
    const double hl = to_double(left_h[k]), gl = to_double(left_g[k]);
    const double hr = to_double(h - left_h[k]), gr = to_double(g - left_g[k]);
    score[k] = gl * gl / hl + gr * gr / hr;
  }
  return largest(score, n);
}

void NumberHistograms::count(std::span<const Column* const> columns, const NodeRows& node) {
  prepare();
  const std::size_t k = columns.size(), stride = columns[0]->stride;
  View<const std::uint8_t> data[kTogether];
  for (std::size_t c = 0; c < k; ++c)
    data[c] = {static_cast<const std::uint8_t*>(columns[c]->data), columns[c]->extent};
  const auto rows = node.rows;
  const auto words = node.words;  // count, H, G
  const auto each = [&](auto&& put) {
    const auto add_row = [&](std::size_t i) {
      const std::size_t row = rows[i] * stride;
      const Lane h = words[i * 3 + 1], g = words[i * 3 + 2];
      for (std::size_t c = 0; c < k; ++c) put(c, data[c][row], h, g);
    };
    std::size_t i = 0;
    for (; i + kPrefetchRows < node.n; ++i) {
      prefetch(data[0].address(rows[i + kPrefetchRows] * stride));
      add_row(i);
    }
    for (; i < node.n; ++i) add_row(i);
  };
  if (node.n < kFewMarked) {
    each([this](std::size_t c, Code code, Lane h, Lane g) { add(c, code, h, g); });
  } else {
    each([this](std::size_t c, Code code, Lane h, Lane g) { cells_[c][code].h += h, cells_[c][code].g += g; });
  }
}

bool NumberHistograms::search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j,
                              const Lane* total, Split& best) {
  Lane left_h = 0, left_g = 0;
  std::size_t& n = cuts_.n;
  n = 0;
  const auto take = [&](Code code) {
    Cell& cell = cells_[c][code];
    const bool here = cell.h != 0;
    left_h += cell.h, left_g += cell.g;
    cell = {0, 0};
    cuts_.codes[n] = static_cast<std::uint8_t>(code), left_h_[n] = left_h, left_g_[n] = left_g;
    n += here;  // no branch: it could not be foretold
  };
  if (marks_[c].any()) {
    marks_[c].take([&](Code code) {
      if (code < column.n_codes) take(code);
    });
  } else {
    for (Code code = 0; code < column.n_codes; ++code) take(code);
  }
  const Cell missing = missing_of(c, column);
  cuts_.has_missing = missing.h != 0;
  if (n + cuts_.has_missing < 2 || n == 0) return false;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts_.has_missing) break;
    for (std::size_t k = 0; k < n && missing_left; ++k) left_h_[k] += missing.h, left_g_[k] += missing.g;
    const double most = score_cuts(left_h_, left_g_, cuts_.cuts(missing_left), total[1], total[2], cuts_.score);
    cuts_.offer(request, column, j, most, missing_left, best);
  }
  return true;
}

}  // namespace weald
