#include "weald/methods/column_copies.hpp"

#include <algorithm>

#include "weald/base/paths.hpp"

namespace weald {

namespace {

constexpr std::size_t kTimes = 1;  // that a column has divided all rows
constexpr std::size_t kShare = 2;  // at most one column in two is copied

}  // namespace

void ColumnCopies::note(const Shape& shape, std::size_t n_columns) {
  divided_.resize(n_columns, 0);
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (shape.right[m] >= 0) divided_[static_cast<std::size_t>(shape.feature[m])] += shape.end[m] - shape.begin[m];
  }
}

void ColumnCopies::lend(Binned& matrix, std::size_t threads, Interrupt& interrupt) {
  const std::size_t n = matrix.n_rows;
  if (!uses(Path::ColumnCopies) || !matrix.row_bytes || matrix.bundles || n * matrix.row_stride < kBeyondCaches) return;
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

}  // namespace weald
