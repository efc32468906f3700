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

// cells[slot_of(code)] += what each row adds; without_h: sum_h will be called in the end.
template <class SlotOf>
void add_rows(const Column& column, const NodeRows& node, const Channels& stats, View<Lane> cells, SlotOf slot_of,
              bool without_h = false) {
  // Copies in locals: the stores into cells might alias the fields as far as the compiler knows.
  const auto rows = node.rows;
  const auto words = node.words;
  const auto hot = node.hot;
  const std::size_t n = node.n, stride = column.stride, lanes = stats.lanes;
  const std::size_t outputs = stats.n_outputs;
  visit_width(column, [=, &stats](auto codes) {
    const auto each = [=](auto&& add) {
      for (std::size_t i = 0; i < n; ++i) {
        add(i, static_cast<std::size_t>(slot_of(static_cast<Code>(codes[rows[i] * stride]))));
      }
    };
    if (stats.layout == Layout::Packed) {
      each([=](std::size_t i, std::size_t slot) { cells[slot] += words[i]; });
    } else if (stats.layout == Layout::Dense && lanes == 3) {
      each([=](std::size_t i, std::size_t slot) {
        for (std::size_t k = 0; k < 3; ++k) cells[slot * 3 + k] += words[i * 3 + k];
      });
    } else if (stats.layout == Layout::Dense) {
      each([=](std::size_t i, std::size_t slot) {
        for (std::size_t k = 0; k < lanes; ++k) cells[slot * lanes + k] += words[i * lanes + k];
      });
    } else if (without_h) {
      each([=](std::size_t i, std::size_t slot) {
        Lane* cell = cells.get(slot * lanes, lanes);
        cell[0] += 1, cell[2 + hot[i]] += words[i];
      });
    } else {
      each([=](std::size_t i, std::size_t slot) {
        Lane* cell = cells.get(slot * lanes, lanes);
        const Lane h = words[i];
        cell[0] += 1, cell[1] += h;
        for (std::size_t o = 0; o < outputs; ++o) cell[2 + hot[i * outputs + o]] += h;
      });
    }
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

// Several columns of bytes at once, so that a row's codes are fetched together and the adds of one
// column fill the waits of another: cells[c * apart + code * lanes ..] += what each row adds.
inline void add_rows_together(std::span<const Column* const> columns, const NodeRows& node, const Channels& stats,
                              std::size_t apart, View<Lane> cells) {
  const std::size_t k = columns.size(), lanes = stats.lanes, outputs = stats.n_outputs;
  const std::size_t stride = columns[0]->stride;  // of all of them
  const auto rows = node.rows;
  const auto words = node.words;
  const auto each = [&](auto&& add) {
    with_bytes(columns, apart, [&](const auto& data, auto distance) {
      const auto add_row = [&](std::size_t i) {
        const std::size_t row = rows[i] * stride;
        for (std::size_t c = 0; c < data.size() && c < k; ++c) {
          add(i, cells.get(c * distance + data[c][row] * lanes, lanes));
        }
      };
      std::size_t i = 0;
      for (; i + kPrefetchRows < node.n; ++i) {
        prefetch(data[0].address(rows[i + kPrefetchRows] * stride));
        add_row(i);
      }
      for (; i < node.n; ++i) add_row(i);
    });
  };
  if (stats.layout == Layout::Packed) {
    each([=](std::size_t i, Lane* cell) { *cell += words[i]; });
  } else if (stats.layout == Layout::Dense) {
    each([=](std::size_t i, Lane* cell) {
      for (std::size_t l = 0; l < lanes; ++l) cell[l] += words[i * lanes + l];
    });
  } else if (sums_h_at_the_end(stats, node.n, apart / lanes)) {
    each([=, hot = node.hot](std::size_t i, Lane* cell) { cell[0] += 1, cell[2 + hot[i]] += words[i]; });
    sum_h(stats, k * apart / lanes, cells);
  } else {
    each([=, hot = node.hot](std::size_t i, Lane* cell) {
      const Lane h = words[i];
      cell[0] += 1, cell[1] += h;
      for (std::size_t o = 0; o < outputs; ++o) cell[2 + hot[i * outputs + o]] += h;
    });
  }
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
