// Some columns of a table of bytes once more, each by itself: those that rows are divided by most.
//
// Dividing the rows of a node looks at one byte of each. Where a row's bytes lie side by side that fetches a
// cache line a row, while histograms want just that. To keep every column twice would take too much memory, but a
// few columns do most of the dividing.
#pragma once

#include <algorithm>

#include "weald/base/paths.hpp"
#include "weald/grow/grow_tree.hpp"

namespace weald {

class ColumnCopies {
 public:
  // Remembers which columns have divided how many rows.
  void note(const Shape& shape, std::size_t n_columns) {
    divided_.resize(n_columns, 0);
    for (std::size_t m = 0; m < shape.size(); ++m) {
      if (!shape.nodes[m].leaf()) divided_[static_cast<std::size_t>(shape.nodes[m].feature)] += shape.nodes[m].size();
    }
  }

  // Copies columns that have divided as many rows as there are, if it is beyond the caches, and lets
  // `matrix` know of them.
  void lend(Binned& matrix, std::size_t threads, Interrupt& interrupt) {
    const std::size_t n = matrix.n_rows;
    if (!uses(Path::ColumnCopies) || !matrix.row_bytes || matrix.bundles || n * matrix.row_stride < kBeyondCaches)
      return;
    for (std::size_t j = 0; j < divided_.size() && copies_.size() < matrix.n_columns() / kShare; ++j) {
      Column& column = matrix.columns[j];
      if (column.alone || divided_[j] < kTimes * n) continue;
      std::uint8_t* to = copies_.emplace_back(n).data();
      const auto* from = static_cast<const std::uint8_t*>(column.data);
      parallel_for(threads, (n + kRowsCopied - 1) / kRowsCopied, interrupt, [&](std::size_t chunk) {
        const std::size_t end = std::min(n, (chunk + 1) * kRowsCopied);
        for (std::size_t i = chunk * kRowsCopied; i < end; ++i) to[i] = from[i * column.stride];
      });
      column.alone = to;
    }
  }

 private:
  static constexpr std::size_t kTimes = 1;  // that a column has divided all rows
  static constexpr std::size_t kShare = 2;  // at most one column in two is copied
  std::vector<std::size_t> divided_;        // rows, per column
  std::vector<BigVector<std::uint8_t>> copies_;
};

}  // namespace weald
