// The best cut of columns of bytes in a node of numbers: histograms of H and G, sixteen bytes a cell, and the scores of all
// cuts of a column at once, in vector registers. The sums and the arithmetic are those of the walk in scan.hpp.
#pragma once

#include <memory>
#include <utility>

#include "weald/search/scored_cuts.hpp"

namespace weald {

// score[k] = G_l^2 / H_l + G_r^2 / H_r of n cuts, from the sums on their left; the largest.
double score_cuts(const Lane* left_h, const Lane* left_g, std::size_t n, Lane h, Lane g, double* score);

class NumberHistograms {
 public:
  static constexpr std::size_t kSlots = kByteSlots;

  // One output and the score G^2 / H. A code occurs where there is some H, so that every row must have some.
  static bool fit(const Channels& stats) {
    return stats.layout == Layout::Dense && stats.channels == 1 && stats.least_h > 0 && !stats.gradients &&
           stats.lambda == 0 && (stats.criterion == Criterion::Squared || stats.criterion == Criterion::Gini);
  }

  // To be called once, if it is going to be used.
  void prepare() {
    if (!cells_) cells_ = std::make_unique<Cells[]>(kTogether);
  }

  // Histograms of up to kTogether columns with one stride.
  void count(std::span<const Column* const> columns, const NodeRows& node);

  // One row of one column at a time, if there are few of them.
  void add(std::size_t c, Code code, Lane h, Lane g) {
    Cell& cell = cells_[c][code];
    cell.h += h, cell.g += g;
    marks_[c].mark(code);
  }

  static bool missing(std::size_t, const Column&) { return false; }  // those that are missing are no trouble
  void forget(std::size_t c) {
    std::fill_n(cells_[c], kSlots, Cell{0, 0});
    marks_[c].forget();
  }

  // Puts the best cut of the c-th of the columns into `best` if it is better, and forgets its cells; false if the
  // column does not vary.
  bool search(std::size_t c, const SearchRequest& request, const Column& column, std::uint32_t j, const Lane* total,
              Split& best);

 private:
  struct Cell {
    Lane h, g;
  };
  Cell missing_of(std::size_t c, const Column& column) {
    return column.has_missing ? std::exchange(cells_[c][column.n_codes], Cell{0, 0}) : Cell{0, 0};
  }
  using Cells = Cell[kSlots];
  std::unique_ptr<Cells[]> cells_;  // of kTogether columns, all zero between nodes
  MarkedBytes marks_[kTogether];    // codes that occur, if there are few rows; none: look at all
  Lane left_h_[kSlots], left_g_[kSlots];
  ScoredCuts cuts_;
};

}  // namespace weald
