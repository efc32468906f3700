// Some columns of a table of bytes once more, each by itself: those that rows are divided by most.
//
// Dividing the rows of a node looks at one byte of each. Where a row's bytes lie side by side that fetches a
// cache line a row, while histograms want just that. To keep every column twice would take too much memory, but a
// few columns do most of the dividing.
#pragma once

#include "weald/grow/grow_tree.hpp"

namespace weald {

class ColumnCopies {
 public:
  // Remembers which columns have divided how many rows.
  void note(const Shape& shape, std::size_t n_columns);

  // Copies columns that have divided as many rows as there are, if it is beyond the caches, and lets
  // `matrix` know of them.
  void lend(Binned& matrix, std::size_t threads, Interrupt& interrupt);

 private:
  std::vector<std::size_t> divided_;  // rows, per column
  std::vector<BigVector<std::uint8_t>> copies_;
};

}  // namespace weald
