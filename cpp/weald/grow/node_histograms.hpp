// The histograms of nodes: counted, subtracted, and read column by column.
#pragma once

#include <algorithm>

#include "weald/grow/node.hpp"
#include "weald/grow/plan.hpp"

namespace weald {

// Calls fn(begin, end) with the place of each column's cells in a histogram of the block. Bytes counted
// together have room for any code, and are those of bundles where there are such.
template <class Fn>
void for_column_cells(const Block& block, std::size_t lanes, bool bytes, Fn&& fn) {
  if (bytes && block.bundles) {
    for (std::size_t b = 0; b < block.bundles->size(); ++b)
      fn(b * kByteSlots, b * kByteSlots + block.bundles->slots[b]);
    return;
  }
  std::size_t begin = 0;
  for (const Column& column : block.columns) {
    const std::size_t cells = column.slots() * lanes;
    fn(begin, begin + cells);
    begin += bytes ? kByteSlots : cells;
  }
}

class NodeHistograms {
 public:
  NodeHistograms(const Plan& plan, std::size_t threads) : plan_(plan), threads_(threads) {}

  // From now on only these columns are counted, subtracted and read, in histograms that others have made room for.
  void take(Part part) { part_ = part; }
  Part part() const { return part_; }
  bool takes(const Block& block, std::size_t j) const {
    if (part_.whole()) return true;
    const std::size_t at = block.bundles ? block.bundles->members[j].bundle : j, n = places_of(block);
    return at >= part_.begin(n) && at < part_.end(n);
  }
  // What is counted at once from rows of bytes: bundles, or columns.
  static std::size_t places_of(const Block& block) {
    return block.bundles ? block.bundles->size() : block.columns.size();
  }

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
    if (!by_cells(*node.block)) {
      Histogram out = room_for(*node.block);
      count_bytes(node, rows, out.get());
      return out;
    }
    if (n == node.block->n_rows) return count_lists(*node.block, node.sum);
    Histogram out = empty_histogram(plan_.matrix.sparse->slot_begin.back());
    add_cells(*node.block, rows, n, 1, out);
    return out;
  }

  // Takes a part of the rows out of a histogram: its own histogram or, of a sparse table, row by row.
  void subtract(const OpenNode& part, const Row* rows, Histogram& from) const {
    if (by_cells(*part.block)) return add_cells(*part.block, rows, part.size(), -1, from);
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
      for_column_cells(*node.block, plan_.stats.lanes, by_rows(*node.block),
                       [&](std::size_t begin, std::size_t) { ready[j++] = &node.histogram[begin]; });
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

  static Histogram room_for(const Block& block) { return unset_histogram(places_of(block) * kByteSlots); }

  // Adds up the gradient pairs of the node's rows. Threads share the columns if there are many, else the rows.
  void count_bytes(const OpenNode& node, const Row* listed, Lane* out) {
    const Block& block = *node.block;
    const std::size_t n = node.size();
    const Row* const rows = n == block.n_rows ? nullptr : listed;
    const std::size_t counted = block.bundles ? block.bundles->size() : plan_.columns_per_node;
    const std::size_t parts = useful_threads(threads_, kUpdateNs * static_cast<double>(n * counted));
    const ByteRows bytes = block.byte_rows();
    const std::size_t d = bytes.places.size(), cells = d * kByteSlots;
    const bool by_columns = !part_.whole() || d >= kColumnsApart * parts;
    if (spare_.size() < parts) spare_.resize(parts);
    for (std::size_t part = 1; part < parts && !by_columns; ++part) spare_[part].resize(cells);
    parallel_for(parts, parts, plan_.interrupt, [&](std::size_t part) {
      const Part own_part = part_.whole() ? Part{part, parts} : part_;
      const std::size_t from = by_columns ? own_part.begin(d) : 0, to = by_columns ? own_part.end(d) : d;
      const std::size_t first = by_columns ? 0 : own_part.begin(n), last = by_columns ? n : own_part.end(n);
      // A part of the rows adds into cells of its own: whole numbers, so that the order is nothing.
      Lane* const into = part > 0 && !by_columns ? spare_[part].data() : out;
      for_column_cells(block, 1, true, [&](std::size_t begin, std::size_t end) {
        if (begin >= from * kByteSlots && begin < to * kByteSlots) std::fill(into + begin, into + end, 0);
      });
      const ByteRows own = bytes.columns(from, to);
      const std::size_t stretch =
          std::max<std::size_t>(kCodesBetweenPolls / std::max<std::size_t>(to - from, 1), kLeastStretch);
      for (std::size_t begin = first, end; begin < last; begin = end) {
        plan_.interrupt.poll();
        end = std::min(begin + stretch, last);
        add_all_columns(own, rows, begin, end, block.words.get(0, block.n_rows), into + from * kByteSlots);
      }
    });
    for (std::size_t part = 1; part < parts && !by_columns; ++part) {
      for_column_cells(block, 1, true, [&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c) out[c] += spare_[part][c];
      });
    }
  }

 private:
  // The same for all rows of a sparse table, list by list: cells of a column come one after another.
  Histogram count_lists(const Block& block, Lane total) const {
    const SparseCells& cells = *plan_.matrix.sparse;
    const std::size_t threads = useful_threads(threads_, kUpdateNs * static_cast<double>(cells.lists.n_cells()));
    Histogram out = unset_histogram(cells.slot_begin.back());
    const std::size_t d = block.columns.size(), parts = (d + kListsAtOnce - 1) / kListsAtOnce;
    parallel_for(threads, parts, plan_.interrupt, [&](std::size_t part) {
      for (std::size_t j = part * kListsAtOnce; j < std::min(d, (part + 1) * kListsAtOnce); ++j) {
        Lane* const into = &out[cells.slot_begin[j]];
        std::fill(into, &out[cells.slot_begin[j + 1]], 0);
        block.lists->visit(j, [&](const auto* of, const auto* codes, std::size_t n) {
          Lane sum = 0;
          for (std::size_t k = 0; k < n; ++k) {
            const Lane word = block.words[of[k]];
            into[codes[k]] += word, sum += word;
          }
          if (block.columns[j].slots() > 0) into[block.columns[j].usual] += total - sum;
        });
      }
    });
    return out;
  }

  // Adds some rows of a sparse table to a histogram (`sign` 1), or takes them away (-1): all of them to the usual code
  // of every column, and then from there to their own what the filled cells say. It costs these and the columns.
  void add_cells(const Block& block, const Row* rows, std::size_t n, Lane sign, Histogram& into) const {
    const SparseCells& cells = *plan_.matrix.sparse;
    Lane total = 0;
    for (std::size_t i = 0; i < n; ++i) total += sign * block.words[rows[i]];
    std::vector<std::uint32_t> usual(block.columns.size());
    for (std::size_t j = 0; j < usual.size(); ++j) {
      usual[j] = cells.slot_begin[j] + block.columns[j].usual;
      into[usual[j]] += total;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Lane word = sign * block.words[rows[i]];
      for (auto k = cells.row_begin[rows[i]]; k < cells.row_begin[rows[i] + 1]; ++k) {
        const auto j = static_cast<std::size_t>(cells.row_columns[k]);
        into[usual[j]] -= word;
        into[cells.slot_begin[j] + cells.row_codes[static_cast<std::size_t>(k)]] += word;
      }
    }
  }

  // Calls fn(begin, end) with the place of each column's cells in a histogram of the block.
  template <class Fn>
  void for_cells(const Block& block, Fn&& fn) const {
    if (part_.whole()) return for_column_cells(block, plan_.stats.lanes, by_rows(block), fn);
    const std::size_t d = places_of(block), from = part_.begin(d) * kByteSlots, to = part_.end(d) * kByteSlots;
    for_column_cells(block, 1, true, [&](std::size_t begin, std::size_t end) {
      if (begin >= from && begin < to) fn(begin, end);
    });
  }

  void unpack_bundles(const OpenNode& node, const Bundles& bundles, std::vector<const Lane*>& ready) {
    const auto& columns = node.block->columns;
    unpacked_.resize(columns.size() * kByteSlots);
    for (std::size_t b = part_.begin(bundles.size()); b < part_.end(bundles.size()); ++b) {
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
  Part part_;
  std::vector<std::vector<Lane>> spare_;  // cells of threads
  std::vector<Lane> unpacked_;
};

}  // namespace weald
