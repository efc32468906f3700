// What all threads of one growth share.
#pragma once

#include "weald/grow/grow_tree.hpp"
#include "weald/search/scan.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

// Everything that all threads of one growth share and none of them changes.
struct Plan {
  const Binned& matrix;
  const Statistics& stats;
  const Rules& rules;
  std::size_t threads;
  Interrupt& interrupt;
  std::size_t columns_per_node;
  Limits limits;
  bool one_cut = false;  // nodes try one cut a column: a random one, or the only one there is

  bool all_columns() const { return columns_per_node == matrix.n_columns(); }
  // Of a node that is not pure every cut pays that is the only one of its column: without a penalty none loses anything.
  bool takes_any() const { return rules.min_decrease <= 0; }
};

// One of the threads that work on a node together, each on columns of its own: always the same ones, so that it finds their
// cells in its own caches.
struct Part {
  std::size_t number = 0, parts = 1;
  std::size_t begin(std::size_t n) const { return n * number / parts; }
  std::size_t end(std::size_t n) const { return n * (number + 1) / parts; }
  bool whole() const { return parts == 1; }
};

inline constexpr double kUpdateNs = 2.5;  // rough cost of one row in one column, to decide about threads
inline constexpr double kCutNs = 0.7;     // ... of one cell of a histogram

// A histogram is kept for the children (who then need only one pass, over the smaller of them)
// where a node has more rows than the histogram has cells: to clear and subtract a cell costs about
// what it costs to add a row, and each of its lanes is a number to be cleared and subtracted.
inline std::size_t histogram_slots(const Block& block) {
  std::size_t slots = 0;
  for (const Column& column : block.columns) slots += column.slots();
  return slots;
}

}  // namespace weald
