// Rows of a sparse table on their way down trees: made dense, a few at a time.
#pragma once

#include <algorithm>

#include "weald/base/threads.hpp"
#include "weald/bins/bins.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

// Calls fn(rows, number, threads) with some rows of the table after another: the first of them has that number, a
// multiple of `step`. What a row costs is its filled cells, which are put in and taken out again, and its way down the
// trees. A thread has few rows at a time, so that they stay in its cache.
template <class T, class Fn>
void for_dense_rows(const SparseTable<T>& table, std::size_t step, std::size_t threads, Interrupt& interrupt, Fn&& fn) {
  if (table.n_rows == 0) return;
  const std::size_t d = table.n_columns, steps = std::max<std::size_t>(kDenseBytes / (step * d * sizeof(T)), 1);
  const std::size_t at_once = std::min(steps * step, table.n_rows);
  const auto make_dense = [&](std::size_t chunk, BigVector<T>& cells) {
    if (cells.empty()) cells.resize(at_once * d, T{0});
    const std::size_t begin = chunk * at_once, n = std::min(at_once, table.n_rows - begin);
    const auto put = [&](auto&& value) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::int64_t k = table.begin[begin + i]; k < table.begin[begin + i + 1]; ++k) {
          cells[i * d + static_cast<std::size_t>(table.columns[k])] = value(k);
        }
      }
    };
    bool complete = true;
    put([&](std::int64_t k) {
      complete &= table.data[k] == table.data[k];
      return table.data[k];
    });
    fn(Table<T>{cells.data(), n, d, d, 1, complete}, begin, std::size_t{1});
    put([](std::int64_t) { return T{0}; });
  };
  parallel_for_with<BigVector<T>>(threads, (table.n_rows + at_once - 1) / at_once, interrupt, make_dense);
}
template <class T, class Fn>
void for_dense_rows(const Table<T>& table, std::size_t, std::size_t threads, Interrupt&, Fn&& fn) {
  fn(table, std::size_t{0}, threads);
}

// The leaf of each row that a matrix was made from, in a forest of one tree.
inline void find_leaves_of(const Forest& one, const BinnedMatrix& matrix, std::size_t threads, std::int64_t* out,
                           Interrupt& interrupt) {
  const RawTable& raw = matrix.raw;
  const auto find = [&](const auto& table) {
    for_dense_rows(table, 1, threads, interrupt, [&](const auto& rows, std::size_t begin, std::size_t useful) {
      find_leaves(one, rows, useful, out + begin, interrupt);
    });
  };
  const auto call = [&](const auto* data) {
    if (raw.filled) return find(SparseTable{data, matrix.n_rows, matrix.n_columns(), raw.filled, raw.filled_begin});
    find(Table{data, matrix.n_rows, matrix.n_columns(), raw.row_stride, raw.column_stride});
  };
  raw.doubles ? call(static_cast<const double*>(raw.data)) : call(static_cast<const float*>(raw.data));
}

}  // namespace weald
