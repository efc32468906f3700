// Sums per code over the rows of a node.
#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <span>

#include "weald/base/paths.hpp"
#include "weald/bins/binned_matrix.hpp"
#include "weald/stats/all_columns.hpp"
#include "weald/stats/statistics.hpp"

namespace weald {

// The cells of every column of a block, one after another. Whoever has it is its one owner. Large ones come from the
// pages that the trees of a model hand on: fresh pages for every node took a third of the time of wide tables.
struct FreeCells {
  std::size_t n = 0;
  void operator()(Lane* cells) const { PageAllocator<Lane>().deallocate(cells, n); }
};
using Histogram = std::unique_ptr<Lane[], FreeCells>;
inline Histogram unset_histogram(std::size_t cells) {
  return Histogram(PageAllocator<Lane>().allocate(cells), FreeCells{cells});
}
inline Histogram empty_histogram(std::size_t cells) {
  Histogram out = unset_histogram(cells);
  std::fill_n(out.get(), cells, 0);
  return out;
}

// The rows of a node with what they add, copied next to each other once per node so that every
// column reads them in order.
struct NodeRows {
  View<const Row> rows;  // row numbers within the block, ascending
  std::size_t n = 0;
  View<const Lane> words;         // n x words_per_row
  View<const std::uint32_t> hot;  // n x outputs, for OneHot

  bool loaded() const { return static_cast<bool>(words); }
  NodeRows slice(std::size_t begin, std::size_t end, const Channels& stats) const {
    NodeRows out{rows.from(begin), end - begin, words.from(begin * stats.words_per_row()), {}};
    if (hot) out.hot = hot.from(begin * stats.n_outputs);
    return out;
  }
};

// A histogram by code: every code is its own slot.
struct OwnSlot {
  Code operator()(Code code) const { return code; }
};

// Of one output of many classes H is the sum of all G. Where rows are far more than cells, this is made once for
// every cell and not for every row, which saves a third of the adds.
inline bool sums_h_at_the_end(const Channels& stats, std::size_t n_rows, std::size_t slots) {
  return uses(Path::WeightLast) && stats.layout == Layout::OneHot && stats.n_outputs == 1 &&
         n_rows > slots * stats.lanes;
}
inline void sum_h(const Channels& stats, std::size_t slots, View<Lane> cells) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    Lane* cell = cells.get(slot * stats.lanes, stats.lanes);
    cell[1] = std::accumulate(cell + 2, cell + stats.lanes, Lane{0});
  }
}

// Calls fn(lanes, add), where add(i, cell) adds row i of the node to a cell of so many lanes; few are known to the
// compiler. without_h: sum_h will be called in the end.
template <class Fn>
void with_adding(const NodeRows& node, const Channels& stats, bool without_h, Fn&& fn) {
  // Copies: the stores into cells might alias the fields as far as the compiler knows.
  const auto dense = [&, words = node.words](auto lanes) {
    fn(lanes, [=](std::size_t i, Lane* cell) {
      for (std::size_t k = 0; k < lanes; ++k) cell[k] += words[i * lanes + k];
    });
  };
  if (stats.layout == Layout::Packed) return dense(std::integral_constant<std::size_t, 1>{});
  if (stats.layout == Layout::Dense) {
    return stats.lanes == 3 ? dense(std::integral_constant<std::size_t, 3>{}) : dense(stats.lanes);
  }
  if (without_h) {
    return fn(stats.lanes, [words = node.words, hot = node.hot](std::size_t i, Lane* cell) {
      cell[0] += 1, cell[2 + hot[i]] += words[i];
    });
  }
  fn(stats.lanes, [words = node.words, hot = node.hot, outputs = stats.n_outputs](std::size_t i, Lane* cell) {
    const Lane h = words[i];
    cell[0] += 1, cell[1] += h;
    for (std::size_t o = 0; o < outputs; ++o) cell[2 + hot[i * outputs + o]] += h;
  });
}

// cells[slot_of(code)] += what each row adds.
template <class SlotOf>
void add_rows(const Column& column, const NodeRows& node, const Channels& stats, View<Lane> cells, SlotOf slot_of,
              bool without_h = false) {
  visit_width(column, [&](auto codes) {
    with_adding(node, stats, without_h, [&](auto lanes, auto add) {
      const auto rows = node.rows;
      const auto into = cells;
      const std::size_t n = node.n, stride = column.stride;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t slot = slot_of(static_cast<Code>(codes[rows[i] * stride]));
        add(i, into.get(slot * lanes, lanes));
      }
    });
  });
}

// Cells are summed up four at a time.
inline std::size_t whole_vectors(std::size_t slots) { return (slots + 3) / 4 * 4; }

// How many columns of bytes are counted at once, if none has more slots.
inline std::size_t columns_together(std::size_t slots) {
  return std::min(kTogetherSlots / whole_vectors(std::min(slots, kByteSlots)), kTogether);
}

// How far apart the cells of some columns are put: those of few columns so far that any code has room, since the compiler
// then knows where they are.
inline constexpr std::size_t kFewColumns = std::min<std::size_t>(8, kTogether);
inline std::size_t slots_apart(std::size_t columns, std::size_t slots) {
  return columns <= kFewColumns ? kByteSlots : whole_vectors(slots);
}

// Calls fn(data, apart) with the bytes of some columns, and with what `slots_apart` says. Loops over few are unrolled.
template <class Fn>
void with_bytes(std::span<const Column* const> columns, std::size_t apart, Fn&& fn) {
  const auto call = [&]<std::size_t kRoom>(std::integral_constant<std::size_t, kRoom>, auto distance) {
    std::array<View<const std::uint8_t>, kRoom> data;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      data[c] = {static_cast<const std::uint8_t*>(columns[c]->data), columns[c]->extent};
    }
    fn(data, distance);
  };
  using Few = std::integral_constant<std::size_t, kFewColumns>;
  if (columns.size() > kFewColumns) return call(std::integral_constant<std::size_t, kTogether>{}, apart);
  apart == kByteSlots ? call(Few{}, std::integral_constant<std::size_t, kByteSlots>{}) : call(Few{}, apart);
}

// Several columns of bytes at once, so that a row's codes are fetched together and the adds of one column fill the waits of
// another: for each row, add(what it adds, its cell) in each column, where the cells of the c-th, of so many lanes, begin
// at c * apart. row_of(i): what row i of the node adds.
template <class Cell, class Lanes, class RowOf, class Add>
void add_rows_together(std::span<const Column* const> columns, const NodeRows& node, std::size_t apart,
                       View<Cell> cells, Lanes lanes, const RowOf& row_of, const Add& add) {
  const std::size_t k = columns.size(), stride = columns[0]->stride, n = node.n;  // the stride of all of them
  const auto rows = node.rows;
  with_bytes(columns, apart, [&](const auto& data, auto distance) {
    for (std::size_t i = 0; i < n; ++i) {
      prefetch(data[0].address(rows[std::min(i + kPrefetchRows, n - 1)] * stride));
      const auto added = row_of(i);
      const std::size_t row = rows[i] * stride;
      for (std::size_t c = 0; c < data.size() && c < k; ++c) {
        add(added, cells.get(c * distance + data[c][row] * lanes, lanes));
      }
    }
  });
}

// The sums of all rows of a node.
inline void add_total(const NodeRows& node, const Channels& stats, View<Lane> total) {
  static const std::uint8_t zero = 0;
  Column alike;  // a column in which every row has code 0
  alike.data = &zero, alike.extent = 1;
  alike.stride = 0;
  add_rows(alike, node, stats, total, OwnSlot{});
}

}  // namespace weald
