// The histograms of nodes: counted, subtracted, and read column by column.
#pragma once

#include "weald/grow/gradient_histograms.hpp"
#include "weald/grow/plan.hpp"

namespace weald {

class NodeHistograms {
 public:
  NodeHistograms(const Plan& plan, std::size_t threads) : plan_(plan), threads_(threads) {}

  // Are all columns of a node counted at once, straight from rows of bytes?
  bool by_rows(const Block& block) const {
    return plan_.stats.gradients && plan_.stats.layout == Layout::Packed && block.row_bytes != nullptr;
  }

  // The same for a sparse table, from the cells that are filled. In blocks of fewer rows cells are walked list by list.
  bool by_cells(const Block& block) const {
    return plan_.stats.gradients && plan_.stats.layout == Layout::Packed && block.lists && plan_.matrix.sparse->bins &&
           block.n_rows == plan_.matrix.n_rows;
  }

  Histogram count_all_columns(const OpenNode& node, const Row* rows) {
    const std::size_t n = node.size();
    if (by_cells(*node.block)) {
      const SparseCells& cells = *plan_.matrix.sparse;
      if (n == node.block->n_rows) {
        const double work = kUpdateNs * static_cast<double>(cells.lists.n_cells());
        return pairs_.count_lists(*node.block, cells, node.sum, useful_threads(threads_, work), plan_.interrupt);
      }
      Histogram out = empty_histogram(cells.slot_begin.back());
      pairs_.add_rows(*node.block, cells, rows, n, 1, out);
      return out;
    }
    const std::size_t counted = node.block->bundles ? node.block->bundles->size() : plan_.columns_per_node;
    const std::size_t parts = useful_threads(threads_, kUpdateNs * static_cast<double>(n * counted));
    return pairs_.count(*node.block, n == node.block->n_rows ? nullptr : rows, n, parts, plan_.interrupt);
  }

  // Takes a part of the rows out of a histogram: its own histogram or, of a sparse table, row by row.
  void subtract(const OpenNode& part, const Row* rows, Histogram& from) const {
    if (by_cells(*part.block)) {
      return pairs_.add_rows(*part.block, *plan_.matrix.sparse, rows, part.size(), -1, from);
    }
    for_cells(*part.block, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) from[k] -= part.histogram[k];
    });
  }

  // Column after column, for any other statistic.
  Histogram count_columns(const OpenNode& node, const NodeRows& rows) const {
    const auto& columns = node.block->columns;
    const std::size_t lanes = plan_.stats.lanes;
    Histogram out = empty_histogram(histogram_slots(*node.block) * lanes);
    std::vector<std::size_t> offset(columns.size() + 1, 0);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      offset[j + 1] = offset[j] + columns[j].slots() * lanes;
    }
    const auto h_last = [&](std::size_t j) { return sums_h_at_the_end(plan_.stats, rows.n, columns[j].slots()); };
    // Chunks of rows keep the row-major codes in the first cache while all columns read them.
    const std::size_t parts = useful(rows.n);
    parallel_for(threads_, parts, plan_.interrupt, [&](std::size_t part) {
      const std::size_t from = columns.size() * part / parts, to = columns.size() * (part + 1) / parts;
      Patience patience(plan_.interrupt);
      for (std::size_t begin = 0; begin < rows.n; begin += kHistogramRows) {
        patience.spend(kHistogramRows * (to - from));
        const NodeRows chunk = rows.slice(begin, std::min(begin + kHistogramRows, rows.n), plan_.stats);
        for (std::size_t j = from; j < to; ++j) {
          if (columns[j].constant()) continue;
          add_rows(columns[j], chunk, plan_.stats, {&out[offset[j]], offset[j + 1] - offset[j]}, OwnSlot{}, h_last(j));
        }
      }
      for (std::size_t j = from; j < to; ++j) {
        if (h_last(j)) sum_h(plan_.stats, columns[j].slots(), {&out[offset[j]], offset[j + 1] - offset[j]});
      }
    });
    return out;
  }

  // Where the node's histogram has the cells of each column; null if there is none.
  std::vector<const Lane*> columns_of(const OpenNode& node) {
    std::vector<const Lane*> ready(node.block->columns.size(), nullptr);
    if (!node.histogram) return ready;
    if (by_rows(*node.block) && node.block->bundles) {
      unpack_bundles(node, *node.block->bundles, ready);
    } else {
      std::size_t j = 0;
      for_cells(*node.block, [&](std::size_t begin, std::size_t) { ready[j++] = &node.histogram[begin]; });
    }
    return ready;
  }

  // How many cells such a histogram has.
  std::size_t cells_of(const Block& block) const {
    return block.lists ? plan_.matrix.sparse->slot_begin.back() : histogram_slots(block) * plan_.stats.lanes;
  }

  // How many threads are worth while for so many rows.
  std::size_t useful(std::size_t n_rows) const {
    return useful_threads(threads_, kUpdateNs * static_cast<double>(n_rows * plan_.columns_per_node));
  }

 private:
  // Calls fn(begin, end) with the place of each column's cells in a histogram of the block.
  template <class Fn>
  void for_cells(const Block& block, Fn&& fn) const {
    for_column_cells(block, plan_.stats.lanes, by_rows(block), fn);
  }

  void unpack_bundles(const OpenNode& node, const Bundles& bundles, std::vector<const Lane*>& ready) {
    const auto& columns = node.block->columns;
    unpacked_.resize(columns.size() * kByteSlots);
    for (std::size_t b = 0; b < bundles.size(); ++b) {
      const Lane* cells = &node.histogram[b * kByteSlots];
      if (const auto& own = bundles.columns[b]; own.size() == 1) {
        ready[own[0]] = cells;
      } else {
        bundles.unpack(b, cells, node.sum, [&](std::size_t j) {
          ready[j] = &unpacked_[j * kByteSlots];
          return &unpacked_[j * kByteSlots];
        });
      }
    }
  }

  const Plan& plan_;
  std::size_t threads_;
  GradientHistograms pairs_;
  std::vector<Lane> unpacked_;
};

}  // namespace weald
