// A few columns drawn for a node, counted in one pass over its rows.
#pragma once

#include <array>

#include "weald/grow/node.hpp"
#include "weald/search/number_histograms.hpp"
#include "weald/search/small_histograms.hpp"

namespace weald {

class DrawnColumns {
 public:
  // Counts some columns in cells made for the statistic, and looks for the best cut; those that do not
  // fit go to try_column. Does any column vary?
  template <class Histograms, class Try>
  bool search(Histograms& histograms, const SearchRequest& request, const OpenNode& node, const NodeRows& rows,
              const Lane* total, std::span<const std::uint32_t> drawn, Try&& try_column, Split& best) {
    const auto columns = byte_columns(node, drawn, false);
    if (!columns.empty()) histograms.count(columns, rows, *request.stats);
    bool varies = false;
    for (std::size_t c = 0; c < drawn.size(); ++c) {
      const Column& column = node.block->columns[drawn[c]];
      if (place_[c] == kNone || histograms.missing(place_[c], column)) {
        varies |= try_column(drawn[c], nullptr, best);
      } else {
        varies |= histograms.search(place_[c], request, column, drawn[c], total, best);
      }
    }
    return varies;
  }

  // Histograms of some columns, those of bytes.
  void count(const OpenNode& node, const NodeRows& rows, const Statistics& stats,
             std::span<const std::uint32_t> drawn) {
    const auto columns = byte_columns(node, drawn, true);
    const std::size_t slots = std::min(node.block->most_codes, kByteSlots);
    apart_ = stats.lanes == 1 ? slots_apart(columns.size(), slots) : slots * stats.lanes;
    cells_.assign(columns.size() * apart_, 0);
    if (columns.empty()) return;
    const bool h_last = sums_h_at_the_end(stats, rows.n, apart_ / stats.lanes);
    with_adding(rows, stats, h_last, [&](auto lanes, const auto& add) {
      add_rows_together(columns, rows, apart_, view(cells_), lanes, [](std::size_t i) { return i; }, add);
    });
    if (h_last) sum_h(stats, cells_.size() / stats.lanes, view(cells_));
  }
  // Of the c-th of them; null: not counted.
  const Lane* ready(std::size_t c) const { return place_[c] == kNone ? nullptr : cells_.data() + place_[c] * apart_; }

 private:
  // Those of the columns that can be counted together, and where each of them went.
  std::span<const Column* const> byte_columns(const OpenNode& node, std::span<const std::uint32_t> drawn,
                                              bool categories) {
    std::size_t n = 0;
    for (std::size_t c = 0; c < drawn.size(); ++c) {
      const Column& column = node.block->columns[drawn[c]];
      const bool fits = column.width == 1 && !column.constant() && (categories || !column.categorical) &&
                        (n == 0 || column.stride == bytes_[0]->stride);
      place_[c] = fits ? n : kNone;
      if (fits) bytes_[n++] = &column;
    }
    return {bytes_.data(), n};
  }

  static constexpr std::size_t kNone = kTogether;
  BigVector<Lane> cells_;
  std::size_t apart_ = 0;  // lanes of a column
  std::array<const Column*, kTogether> bytes_{};
  std::array<std::size_t, kTogether> place_{};
};

}  // namespace weald
