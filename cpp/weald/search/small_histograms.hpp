// The best cut of columns of bytes in a node of a few hundred rows of two classes: histograms in
// 32-bit cells, G << 16 | H, summed and compared four slots at a time.
#pragma once

#include "weald/search/column_search.hpp"

namespace weald {

// ratio[k] = D^2 / (H_l H_r) of n cuts, as in scan_plain but in floats; the largest.
float find_ratios(const std::uint32_t* left, std::size_t n, float G, float H, float* ratio);

class SmallHistograms {
 public:
  // Histograms of columns with one stride, of at most kTogetherSlots in all.
  void count(std::span<const Column* const> columns, const NodeRows& node, const Channels&) {
    const std::size_t k = columns.size();
    std::size_t most = 0;
    for (const Column* column : columns) most = std::max(most, column->slots());
    apart_ = slots_apart(k, most);
    for (std::size_t c = 0; c < k; ++c) std::fill_n(cells_ + c * apart_, whole_vectors(most), 0U);
    add_rows_together(
        columns, node, apart_, View(cells_, kTogetherSlots), std::integral_constant<std::size_t, 1>{},
        [words = node.words](std::size_t i) {
          return static_cast<std::uint32_t>(words[i] >> 16 | (words[i] & 0xFFFF));
        },
        [](std::uint32_t word, std::uint32_t* cell) { *cell += word; });
  }

  bool missing(std::size_t c, const Column& column) const {
    return column.has_missing && cells_[c * apart_ + column.n_codes] != 0;
  }

  // Puts the best cut of the c-th of the columns into `best` if it is better; false if it does not vary.
  bool search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j, const Lane* total,
              Split& best);

 private:
  std::size_t apart_ = 0;  // slots of a column
  alignas(16) std::uint32_t cells_[kTogetherSlots];
  alignas(16) std::uint32_t left_[kByteSlots];
  float ratio_[kByteSlots + 4] = {};
};

}  // namespace weald
