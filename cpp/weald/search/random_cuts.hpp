// One cut a column, drawn or the only one there is, on rows of bytes: some columns of a node are looked at together.
//
// One pass over the node's rows puts the codes of sixteen drawn columns side by side and finds the smallest and
// largest of each; a cut is drawn between them; a second pass sums up what lies left of all cuts at once: classes are
// counted in bytes, weights and numbers are added where the cut says so. Missing values are what is left if the cut is
// above all others.
#pragma once

#include <array>
#include <span>

#include "weald/search/cut_sums.hpp"
#include "weald/search/draw_cut.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

class RandomCuts {
 public:
  static constexpr std::size_t kColumns = kCutColumns;  // at a time

  // For sums of numbers or of one output's classes, in a block of row-major bytes.
  static bool fit(const Block& block, const Statistics& stats);

  // Looks at some columns of a node, at most kColumns.
  void look(const Block& block, const Row* rows, std::size_t n, std::span<const std::uint32_t> drawn);

  // Draws the cut of one of them between its extremes, or takes the only one; false if it does not vary.
  bool add_cut(const SearchRequest& request, std::size_t k);

  // Scores the cuts, puts the best of them into `best` if it is better, and forgets them.
  void try_cuts(const SearchRequest& request, const Block& block, const NodeRows& rows, const Lane* total, Split& best);

 private:
  struct DrawnCut {
    std::size_t k;
    Extremes ends;
    CutPoint at;
  };
  struct Drawn {
    const Column* column;
    std::uint32_t j;
  };
  static constexpr std::uint8_t kNowhere = 255;  // beside kLeft, kRight and kAbsent
  CutPoint cut_categories(std::uint64_t node_key, std::size_t k);
  void list_left(const DrawnCut& cut, const Channels& stats, const Lane* total, Split& split) const;
  // Sums of the rows whose code is not above `tops`, columns x lanes.
  void sum_up_to(CutBytes tops, const Channels& stats, const Block& block, const NodeRows& rows, Lane* sums);
  void count_two_classes(CutBytes tops, const Block& block, const NodeRows& rows, Lane* sums);
  template <class T, class WeightsOf>
  void sum_classes(CutBytes tops, const Channels& stats, const Block& block, const NodeRows& rows, Lane* sums,
                   WeightsOf&& weights_of);
  template <class T, class ValuesOf>
  void sum_cells(CutBytes tops, std::size_t cells, ValuesOf&& values_of);

  Drawn drawn_[kColumns] = {};
  std::size_t n_drawn_ = 0, n_rows_ = 0;
  BigVector<std::uint8_t> codes_;  // kColumns a row
  CutEnds ends_{};
  std::uint8_t missing_[kColumns] = {};  // the code of what is missing
  CutBytes tops_;
  std::vector<DrawnCut> cuts_;
  std::array<std::uint8_t, 256> sides_[kColumns] = {};  // of every category
  std::vector<Lane> cells_;                             // cells x columns
  std::vector<Lane> left_, absent_;  // columns x lanes: what lies left of the cut, and what is missing
};

}  // namespace weald
