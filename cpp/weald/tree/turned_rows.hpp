// Rows of a sparse table down deep trees, by the tests that they answer otherwise than a row of zeros.
//
// In such trees a row passes hundreds of tests, and fills the columns of two or three of them. So every row is first
// where a row of zeros would end, and the tests are put, from the root on, to the rows that fill their column alone.
// A row that answers otherwise goes to where zeros would end from there:
//
//   a <= 1 ?   all end in A              rows that fill a, and are on their way to A: those above 1 go to B
//   b <= 3 ?      A    B                 rows that fill b, and are on their way to A: ...
//
// On their way to the same leaf, above it, are the rows that have arrived at the test: they have passed those before.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "weald/base/threads.hpp"
#include "weald/bins/bins.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

// The filled cells of rows begin .. end - 1 in the columns that are tested, column by column.
template <class T>
class TurnedRows {
 public:
  TurnedRows(const SparseTable<T>& table, std::size_t begin, std::size_t end, const std::vector<std::uint8_t>& tested)
      : n_rows_(end - begin), first_(table.n_columns + 2, 0) {
    const auto from = static_cast<std::size_t>(table.begin[begin]), to = static_cast<std::size_t>(table.begin[end]);
    const auto column = [&](std::size_t k) { return static_cast<std::size_t>(table.columns[k]); };
    for (std::size_t k = from; k < to; ++k) first_[column(k) + 2] += tested[column(k)];
    for (std::size_t j = 2; j < first_.size(); ++j) first_[j] += first_[j - 1];
    const std::size_t n = first_.back();
    rows_.resize(n + 1), values_.resize(n + 1);  // the last for all cells that nobody asks for
    for (std::size_t row = begin, k = from; row < end; ++row) {
      for (; k < static_cast<std::size_t>(table.begin[row + 1]); ++k) {
        std::size_t& next = first_[column(k) + 1];
        const std::size_t place = tested[column(k)] ? next : n;
        next += tested[column(k)];
        rows_[place] = static_cast<Row>(row - begin), values_[place] = table.data[k];
      }
    }
  }

  // Where each row ends.
  void find_leaves(const CompactTree& tree, std::vector<std::uint32_t>& leaf) {
    const auto& nodes = tree.nodes;
    const auto step = [&](std::size_t m, bool yes) { return yes ? m + 1 : m + nodes[m].next; };
    ends_.resize(nodes.size());  // of zeros, from each node
    for (std::size_t m = nodes.size(); m-- > 0;) {
      ends_[m] = nodes[m].leaf() ? static_cast<std::uint32_t>(m) : ends_[step(m, 0 <= nodes[m].number)];
    }
    leaf.assign(n_rows_, ends_[0]);
    for (std::size_t m = 0; m < nodes.size(); ++m) {
      const Node node = nodes[m];
      if (node.leaf()) continue;
      const bool usual = 0 <= node.number, missing = (node.head & Node::kMissingLeft) != 0;
      const std::uint32_t here = ends_[m], there = ends_[step(m, !usual)];
      const std::size_t column = node.head >> Node::kShift;
      for (std::size_t k = first_[column]; k < first_[column + 1]; ++k) {
        std::uint32_t& at = leaf[rows_[k]];
        if (at != here) continue;  // most are elsewhere
        const auto value = static_cast<double>(values_[k]);
        const bool yes = (value <= node.number) | (missing & (value != value));
        at = yes != usual ? there : here;
      }
    }
  }

 private:
  std::size_t n_rows_;
  std::vector<std::size_t> first_;  // of each column
  std::vector<Row> rows_;
  std::vector<T> values_;
  std::vector<std::uint32_t> ends_;
};

// Are there fewer cells to look at than steps to walk? A test of a column that is often filled is put to many rows that
// never come to it.
template <class T>
bool turning_pays(const Question& question, const SparseTable<T>& table) {
  std::size_t looks = 0, steps = 0;
  for (const Asked& asked : question.trees) {
    looks += asked.tree->nodes.size();
    steps += asked.tree->depth * table.n_rows;
  }
  if (looks > steps) return false;  // few rows: to look at the trees would take longer
  std::vector<std::size_t> filled(table.n_columns, 0);
  for (std::int64_t k = 0; k < table.begin[table.n_rows]; ++k) ++filled[static_cast<std::size_t>(table.columns[k])];
  for (const Asked& asked : question.trees) {
    for (const Node& node : asked.tree->nodes) looks += node.leaf() ? 0 : filled[node.head >> Node::kShift];
  }
  return looks <= steps;
}

// Calls sink(tree, rows, leaves) with where the rows of each block end, as predict.cpp does for dense tables.
template <class T, class RowsOf, class Sink>
void for_leaves(const Question& question, const SparseTable<T>& table, std::size_t threads, Interrupt& interrupt,
                RowsOf&& rows_of, Sink&& sink) {
  std::vector<std::uint8_t> tested(table.n_columns, 0);
  for (const Asked& asked : question.trees) {
    for (const Node& node : asked.tree->nodes) {
      if (!node.leaf()) tested[node.head >> Node::kShift] = 1;
    }
  }
  const auto work =
      static_cast<double>(table.begin[table.n_rows]) + 2 * static_cast<double>(table.n_rows * question.trees.size());
  const std::size_t useful = useful_threads(threads, work);
  const std::size_t blocks = std::min(std::max(useful, table.n_rows / kWalkTile + 1), table.n_rows);
  parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
    const std::size_t begin = table.n_rows * block / blocks, end = table.n_rows * (block + 1) / blocks;
    TurnedRows<T> turned(table, begin, end, tested);
    std::vector<Row> rows(end - begin);
    std::iota(rows.begin(), rows.end(), static_cast<Row>(begin));
    std::vector<std::uint32_t> all, chosen;
    for (std::size_t t = 0; t < question.trees.size(); ++t) {
      interrupt.poll();
      turned.find_leaves(*question.trees[t].tree, all);
      if (!rows_of(t, begin, end, rows)) {
        sink(t, rows, all.data());
        continue;
      }
      chosen.clear();
      for (const Row row : rows) chosen.push_back(all[row - begin]);
      sink(t, rows, chosen.data());
    }
  });
}

}  // namespace weald
