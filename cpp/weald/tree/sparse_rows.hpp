// Rows of a sparse table on their way down trees: made dense, a few at a time, in the columns that the trees test.
#pragma once

#include <algorithm>
#include <vector>

#include "weald/base/threads.hpp"
#include "weald/bins/bins.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

// Some trees of a forest with their columns numbered anew: only those that they test are there.
struct NarrowForest {
  Forest forest;
  std::vector<std::uint32_t> place;  // of each column, from 1; 0: no tree tests it

  NarrowForest(const Forest& all, std::size_t first, std::size_t last) : place(all.n_columns(), 0) {
    forest.criterion = all.criterion, forest.outputs = all.outputs;
    forest.trees.resize(all.trees.size());
    std::uint32_t n_columns = 0;
    for (std::size_t t = first; t < last; ++t) {
      CompactTree& tree = forest.trees[t];
      tree.nodes = all.trees[t].nodes, tree.table = all.trees[t].table;
      tree.wide = all.trees[t].wide, tree.depth = all.trees[t].depth;
      for (Node& node : tree.nodes) {
        if (node.leaf()) continue;
        std::uint32_t& here = place[node.head >> Node::kShift];
        if (here == 0) here = ++n_columns;
        node.head = (here - 1) << Node::kShift | (node.head & ((1U << Node::kShift) - 1));
      }
    }
    forest.n_categories.assign(std::max(n_columns, 1U), 0);
  }
};

// Calls fn(forest, rows, number, threads) with some rows of the table after another: the first of them has that number,
// a multiple of `step`. What a row costs is its filled cells, which are put in and taken out again, and its way down
// trees first .. last - 1. A thread has few rows at a time, so that they stay in its cache.
template <class T, class Fn>
void for_dense_rows(const Forest& forest, std::size_t first, std::size_t last, const SparseTable<T>& table,
                    std::size_t step, std::size_t threads, Interrupt& interrupt, Fn&& fn) {
  if (table.n_rows == 0) return;
  std::size_t nodes = 0;
  for (std::size_t t = first; t < last; ++t) nodes += forest.trees[t].nodes.size();
  const bool few = table.n_rows * table.n_columns < nodes;  // rows: to number the columns anew would take longer
  const NarrowForest narrow(forest, first, few ? first : last);
  const Forest& used = few ? forest : narrow.forest;
  const std::size_t d = used.n_columns(), steps = std::max<std::size_t>(kDenseBytes / (step * d * sizeof(T)), 1);
  const std::size_t at_once = std::min(steps * step, table.n_rows);
  const auto make_dense = [&](std::size_t chunk, BigVector<T>& cells) {
    if (cells.empty()) cells.resize(at_once * d, T{0});
    const std::size_t begin = chunk * at_once, n = std::min(at_once, table.n_rows - begin);
    const auto put = [&](auto&& value) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::int64_t k = table.begin[begin + i]; k < table.begin[begin + i + 1]; ++k) {
          const auto column = static_cast<std::size_t>(table.columns[k]);
          const std::size_t place = few ? column + 1 : narrow.place[column];
          if (place > 0) cells[i * d + place - 1] = value(k);
        }
      }
    };
    put([&](std::int64_t k) { return table.data[k]; });
    fn(used, Table<T>{cells.data(), n, d, d, 1}, begin, std::size_t{1});
    put([](std::int64_t) { return T{0}; });
  };
  parallel_for_with<BigVector<T>>(threads, (table.n_rows + at_once - 1) / at_once, interrupt, make_dense);
}
template <class T, class Fn>
void for_dense_rows(const Forest& forest, std::size_t, std::size_t, const Table<T>& table, std::size_t,
                    std::size_t threads, Interrupt&, Fn&& fn) {
  fn(forest, table, std::size_t{0}, threads);
}

// The leaf of each row that a matrix was made from, in a forest of one tree.
inline void find_leaves_of(const Forest& one, const BinnedMatrix& matrix, std::size_t threads, std::int64_t* out,
                           Interrupt& interrupt) {
  const RawTable& raw = matrix.raw;
  const auto find = [&](const auto& table) {
    for_dense_rows(one, 0, 1, table, 1, threads, interrupt,
                   [&](const Forest& tree, const auto& rows, std::size_t begin, std::size_t useful) {
                     find_leaves(tree, rows, 0, 1, useful, out + begin, interrupt);
                   });
  };
  const auto call = [&](const auto* data) {
    if (raw.filled) return find(SparseTable{data, matrix.n_rows, matrix.n_columns(), raw.filled, raw.filled_begin});
    find(Table{data, matrix.n_rows, matrix.n_columns(), raw.row_stride, raw.column_stride});
  };
  raw.doubles ? call(static_cast<const double*>(raw.data)) : call(static_cast<const float*>(raw.data));
}

}  // namespace weald
