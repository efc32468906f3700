// The random rule on rows of bytes: all columns of a row are looked at together.
//
// One pass over a node's rows finds the smallest and largest code of every column, thirty-two columns
// to a vector; a cut is drawn for some of the columns; a second pass sums up what lies left of all cuts at once: classes
// are counted in bytes, numbers are added where the cut says so.
#pragma once

#include "weald/search/draw_cut.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

class RandomCuts {
 public:
  // For numbers, and for classes counted in rows that all weigh the same, in a block of row-major bytes.
  static bool fit(const Block& block, const Statistics& stats, std::size_t columns_per_node);

  void find_extremes(const Block& block, const Row* rows, std::size_t n);

  // Of one column, after find_extremes.
  Extremes extremes(const Column& column) const {
    const std::size_t place = place_of(column);
    return {low_[place], high_[place], missing_seen_[place] != 0};
  }

  // Draws the cut of a column between its extremes.
  void add_cut(const SearchRequest& request, const Column& column, std::uint32_t j, const Extremes& ends);

  // Scores the cuts, puts the best of them into `best` if it is better, and forgets them.
  void try_cuts(const SearchRequest& request, const Block& block, const NodeRows& rows, const Lane* total, Split& best);

 private:
  struct DrawnCut {
    std::size_t place;  // byte of the row
    std::uint32_t column;
    CutPoint at;
  };

  std::size_t place_of(const Column& column) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(column.data) - base_);
  }
  // Calls fn(at, cuts) with the bytes of a row that hold columns with a cut, a vector of them at a time.
  template <class Fn>
  void for_strips(Fn&& fn);
  void count_classes(const Channels& stats, const Block& block, const NodeRows& rows);
  void sum_numbers(const Channels& stats, const NodeRows& rows);

  const std::uint8_t* base_ = nullptr;
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> low_, high_, missing_, missing_seen_, cut_;  // per byte of a row
  std::vector<std::uint8_t> counted_;                                    // two sets of classes x bytes of some columns
  std::vector<DrawnCut> cuts_;
  std::vector<Lane> left_;  // cuts x lanes: what lies left of the cut
};

}  // namespace weald
