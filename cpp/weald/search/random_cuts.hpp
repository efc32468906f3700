// The random rule on rows of bytes: some columns of a node are looked at together.
//
// One pass over the node's rows puts the codes of sixteen drawn columns side by side and finds the smallest and
// largest of each; a cut is drawn between them; a second pass sums up what lies left of all cuts at once: classes are
// counted in bytes, weights and numbers are added where the cut says so. Missing values are what is left if the cut is
// above all others.
#pragma once

#include <array>
#include <span>

#include "weald/search/draw_cut.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

class RandomCuts {
 public:
  static constexpr std::size_t kColumns = 16;  // at a time

  // For sums of numbers or of one output's classes, in a block of row-major bytes.
  static bool fit(const Block& block, const Statistics& stats);

  // Looks at some columns of a node, at most kColumns.
  void look(const Block& block, const Row* rows, std::size_t n, std::span<const std::uint32_t> drawn);

  // Draws the cut of one of them between its extremes; false if it does not vary.
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
  void sum_up_to(const std::uint8_t* tops, const Channels& stats, const Block& block, const NodeRows& rows, Lane* sums);
  void count_two(const std::uint8_t* codes, std::size_t n, const std::uint8_t* tops, const std::uint8_t* second,
                 Lane* sums);
  void count_classes(const std::uint8_t* tops, const Channels& stats, const Block& block, const NodeRows& rows,
                     Lane* sums);
  template <class ValuesOf>
  void sum_cells(const std::uint8_t* tops, const NodeRows& rows, std::size_t cells, ValuesOf&& values_of);
  void sum_classes(const std::uint8_t* tops, const Channels& stats, const NodeRows& rows, Lane* sums);
  void sum_lanes(const std::uint8_t* tops, const Channels& stats, const NodeRows& rows, Lane* sums);

  Drawn drawn_[kColumns] = {};
  std::size_t n_drawn_ = 0, n_rows_ = 0;
  BigVector<std::uint8_t> codes_;  // kColumns a row
  std::uint8_t missing_[kColumns] = {}, low_[kColumns] = {}, high_[kColumns] = {}, seen_[kColumns] = {};
  std::uint8_t cut_[kColumns] = {};
  std::vector<DrawnCut> cuts_;
  std::array<std::uint8_t, 256> sides_[kColumns] = {};  // of every category
  std::vector<std::uint8_t> counted_;                   // two sets of classes x columns
  std::vector<Lane> cells_, part_;                      // cells x columns, of all rows and of some
  std::vector<Lane> left_, absent_;  // columns x lanes: what lies left of the cut, and what is missing
};

}  // namespace weald
