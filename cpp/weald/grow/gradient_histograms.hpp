// Histograms of gradient pairs, by several threads at once.
#pragma once

#include <algorithm>

#include "weald/grow/node.hpp"

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

class GradientHistograms {
 public:
  // Adds up the words of n rows of the block, those listed or all, in so many parts: of the columns if there are many,
  // else of the rows.
  Histogram count(const Block& block, const Row* rows, std::size_t n, std::size_t parts, Interrupt& interrupt) {
    const ByteRows bytes = block.byte_rows();
    const std::size_t d = bytes.places.size(), cells = d * kByteSlots;
    const bool by_columns = d >= kColumnsApart * parts;
    Histogram out = unset_histogram(cells);
    if (spare_.size() < parts) spare_.resize(parts);
    for (std::size_t part = 1; part < parts && !by_columns; ++part) spare_[part].resize(cells);
    parallel_for(parts, parts, interrupt, [&](std::size_t part) {
      const auto cut = [&](std::size_t all, std::size_t at) { return all * at / parts; };
      const std::size_t from = by_columns ? cut(d, part) : 0, to = by_columns ? cut(d, part + 1) : d;
      const std::size_t first = by_columns ? 0 : cut(n, part), last = by_columns ? n : cut(n, part + 1);
      // A part of the rows adds into cells of its own: whole numbers, so that the order is nothing.
      Lane* const into = part > 0 && !by_columns ? spare_[part].data() : out.get();
      for_column_cells(block, 1, true, [&](std::size_t begin, std::size_t end) {
        if (begin >= from * kByteSlots && begin < to * kByteSlots) std::fill(into + begin, into + end, 0);
      });
      const ByteRows own = bytes.columns(from, to);
      const std::size_t stretch =
          std::max<std::size_t>(kCodesBetweenPolls / std::max<std::size_t>(to - from, 1), kLeastStretch);
      for (std::size_t begin = first, end; begin < last; begin = end) {
        interrupt.poll();
        end = std::min(begin + stretch, last);
        add_all_columns(own, rows, begin, end, block.words.get(0, block.n_rows), into + from * kByteSlots);
      }
    });
    for (std::size_t part = 1; part < parts && !by_columns; ++part) {
      for_column_cells(block, 1, true, [&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c) out[c] += spare_[part][c];
      });
    }
    return out;
  }

  // The same for all rows of a sparse table, list by list: cells of a column come one after another.
  static Histogram count_lists(const Block& block, const SparseCells& cells, Lane total, std::size_t threads,
                               Interrupt& interrupt) {
    Histogram out = unset_histogram(cells.slot_begin.back());
    const std::size_t d = block.columns.size(), parts = (d + kListsAtOnce - 1) / kListsAtOnce;
    parallel_for(threads, parts, interrupt, [&](std::size_t part) {
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
  static void add_rows(const Block& block, const SparseCells& cells, const Row* rows, std::size_t n, Lane sign,
                       Histogram& into) {
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

 private:
  std::vector<std::vector<Lane>> spare_;
};

}  // namespace weald
