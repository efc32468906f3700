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
  if (node.n < kSlots / 2) {
    each([this](std::size_t c, Code code, Lane h, Lane g) { add(c, code, h, g); });
  } else {
    each([this](std::size_t c, Code code, Lane h, Lane g) { cells_[c][code].h += h, cells_[c][code].g += g; });
  }
}

bool NumberHistograms::search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j,
                              const Lane* total, Split& best) {
  Lane left_h = 0, left_g = 0;
  std::size_t n = 0;
  const auto take = [&](std::size_t code) {
    Cell& cell = cells_[c][code];
    const bool here = cell.h != 0;
    left_h += cell.h, left_g += cell.g;
    cell = {0, 0};
    codes_[n] = static_cast<std::uint8_t>(code), left_h_[n] = left_h, left_g_[n] = left_g;
    n += here;  // no branch: it could not be foretold
  };
  std::uint64_t* const marks = marks_[c];
  if ((marks[0] | marks[1] | marks[2] | marks[3]) == 0) {
    for (std::size_t code = 0; code < column.n_codes; ++code) take(code);
  } else {
    for (std::size_t word = 0; word < kSlots / 64; ++word) {
      for (std::uint64_t bits = std::exchange(marks[word], 0); bits != 0; bits &= bits - 1) {
        const std::size_t code = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        if (code < column.n_codes) take(code);
      }
    }
  }
  const Cell missing = missing_of(c, column);
  const bool has_missing = missing.h != 0;
  if (n + has_missing < 2 || n == 0) return false;
  // Missing values on the right, then on the left.
  for (int missing_left = 0; missing_left <= (has_missing ? 1 : 0); ++missing_left) {
    if (missing_left) {
      for (std::size_t k = 0; k < n; ++k) left_h_[k] += missing.h, left_g_[k] += missing.g;
    }
    const std::size_t cuts = has_missing && !missing_left ? n : n - 1;
    const double most = score_cuts(left_h_, left_g_, cuts, total[1], total[2], score_);
    if (cuts == 0 || !best.loses_to(most, j, request.ties)) continue;
    std::size_t at = 0;
    while (score_[at] != most) ++at;
    best = {};
    best.score = most, best.column = j;
    best.had_missing = has_missing, best.missing_left = missing_left == 1;
    best.last_left = codes_[at], best.first_right = at + 1 < n ? codes_[at + 1] : column.n_codes;
  }
  return true;
}

}  // namespace weald
