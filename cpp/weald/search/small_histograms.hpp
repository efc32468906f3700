// The best cut of columns of bytes in a node of a few hundred rows of two classes: histograms in
// 32-bit cells, G << 16 | H, summed and compared four slots at a time.
#pragma once

#include "weald/search/column_search.hpp"

namespace weald {

// ratio[k] = D^2 / (H_l H_r) of n cuts, as in scan_plain but in floats; the largest.
float find_ratios(const std::uint32_t* left, std::size_t n, float G, float H, float* ratio);

class SmallHistograms {
 public:
  static constexpr std::size_t kSlots = 256;

  // Histograms of columns with one stride, of at most kTogetherSlots in all.
  void count(std::span<const Column* const> columns, const NodeRows& node, const Channels&) {
    words_.resize(node.n);
    for (std::size_t i = 0; i < node.n; ++i) {
      words_[i] = static_cast<std::uint32_t>(node.words[i] >> 16 | (node.words[i] & 0xFFFF));
    }
    const std::size_t k = columns.size();
    std::size_t most = 0;
    for (const Column* column : columns) most = std::max(most, column->slots());
    apart_ = slots_apart(k, most);
    for (std::size_t c = 0; c < k; ++c) std::fill_n(cells_ + c * apart_, whole_vectors(most), 0U);
    add_rows_together(
        columns, node, apart_, View(cells_, kTogetherSlots), std::integral_constant<std::size_t, 1>{},
        [words = words_.data()](std::size_t i) { return words[i]; },
        [](std::uint32_t word, std::uint32_t* cell) { *cell += word; });
  }

  void forget(std::size_t) {}  // cells are cleared when they are counted
  bool missing(std::size_t c, const Column& column) const {
    return column.has_missing && cells_[c * apart_ + column.n_codes] != 0;
  }

  // Puts the best cut of the c-th of the columns into `best` if it is better; false if it does not vary.
  bool search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j, const Lane* total,
              Split& best);

 private:
  std::vector<std::uint32_t> words_;
  std::size_t apart_ = 0;  // slots of a column
  alignas(16) std::uint32_t cells_[kTogetherSlots];
  alignas(16) std::uint32_t left_[kSlots];
  float ratio_[kSlots + 4] = {};
};

}  // namespace weald
