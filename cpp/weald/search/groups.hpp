// Brings the rows of a node into groups by code, ready for a walk over the cuts.
#pragma once

#include <algorithm>
#include <utility>

#include "weald/search/column_search.hpp"

namespace weald {

// Where a node has far fewer rows than a column has codes, those that occur are found by sorting; otherwise by a walk
// through all slots.
inline bool is_sparse(const Column& column, const NodeRows& node) { return column.slots() > 16 * node.n; }

template <class T>
View<T> at_least(BigVector<T>& buffer, std::size_t n) {
  if (buffer.size() < n) buffer.resize(n, T{0});
  return {buffer.data(), n};
}

// Lists the codes that occur into scratch.order, ascending: all for which occurs(code). The missing code is not
// listed; returns whether it occurs.
template <class Occurs>
bool list_codes(const Column& column, const NodeRows& node, bool sparse, Occurs&& occurs, SplitScratch& scratch) {
  const std::size_t slots = column.slots();
  Code* const order = at_least(scratch.codes, std::max(slots + 1, node.n)).get(0, std::max(slots + 1, node.n));
  std::size_t found = 0;
  if (sparse) {
    visit_width(column, [&](auto codes) {
      for (std::size_t i = 0; i < node.n; ++i) order[i] = codes[node.rows[i] * column.stride];
    });
    std::sort(order, order + node.n);
    found = static_cast<std::size_t>(std::unique(order, order + node.n) - order);
  } else {
    for (std::size_t code = 0; code < slots; ++code) {
      order[found] = static_cast<Code>(code);
      found += occurs(code);
    }
  }
  const bool missing = found > 0 && order[found - 1] == column.n_codes;
  scratch.order = {order, found - missing};
  return missing;
}

// Groups as sums: cells[code] holds what the rows with that code add. `cells` may come in as a ready
// histogram. Returns whether there are missing values.
inline bool collect_cells(const Column& column, const NodeRows& node, const Channels& stats, const Lane*& cells,
                          SplitScratch& scratch) {
  const std::size_t lanes = stats.lanes;
  const bool sparse = cells == nullptr && is_sparse(column, node);
  if (cells == nullptr) {
    const auto mine = at_least(scratch.cells, column.slots() * lanes);
    const bool h_last = sums_h_at_the_end(stats, node.n, column.slots());
    add_rows(column, node, stats, mine, OwnSlot{}, h_last);
    if (h_last) sum_h(stats, column.slots(), mine);
    cells = mine.get(0, column.slots() * lanes);
  }
  // The first lane is the count, or G << 32 | H: never zero where there is a row.
  return list_codes(column, node, sparse, [=](std::size_t code) { return cells[code * lanes] != 0; }, scratch);
}

// Groups as chains of rows: head[code] is the last row with that code, next[] leads to the others.
inline bool collect_chains(const Column& column, const NodeRows& node, SplitScratch& scratch) {
  const auto head = at_least(scratch.head, column.slots());
  const auto next = at_least(scratch.next, node.n);
  visit_width(column, [&, head, next](auto codes) {
    for (std::uint32_t i = 0; i < node.n; ++i)
      next[i] = std::exchange(head[codes[node.rows[i] * column.stride]], i + 1);
  });
  return list_codes(column, node, is_sparse(column, node), [=](std::size_t code) { return head[code] != 0; }, scratch);
}

// Two groups, left and right of a cut at last_left, in cells 0 and 1; the missing in cell 2. Where a
// cell fits registers the sums stay there: adding into memory waits for the add before.
inline void sum_sides(const Column& column, const NodeRows& node, const Channels& stats, const Lane* total,
                      Code last_left, bool has_missing, View<Lane> cells) {
  const Code missing = column.n_codes;
  const std::size_t lanes = stats.lanes;
  const auto in_registers = [&]<std::size_t kLanes>(std::integral_constant<std::size_t, kLanes>) {
    const auto sum_if = [&](auto&& chosen, Lane* sums) {
      visit_width(column, [&](auto codes) {
        for (std::size_t i = 0; i < node.n; ++i) {
          const Code code = codes[node.rows[i] * column.stride];
          const Lane mask = -static_cast<Lane>(chosen(code));  // all ones, or zero
          for (std::size_t k = 0; k < kLanes; ++k) sums[k] += node.words[i * kLanes + k] & mask;
        }
      });
    };
    Lane left[kLanes] = {}, absent[kLanes] = {};
    sum_if([=](Code code) { return code <= last_left; }, left);
    if (has_missing) sum_if([=](Code code) { return code == missing; }, absent);
    for (std::size_t k = 0; k < kLanes; ++k) {
      cells[k] = left[k];
      cells[kLanes + k] = total[k] - left[k] - absent[k];
      cells[2 * kLanes + k] = absent[k];
    }
  };
  if (stats.layout == Layout::Packed) {
    in_registers(std::integral_constant<std::size_t, 1>{});
  } else if (stats.layout == Layout::Dense && lanes == 3) {
    in_registers(std::integral_constant<std::size_t, 3>{});
  } else {
    std::fill_n(cells.get(0, 3 * lanes), 3 * lanes, 0);
    add_rows(column, node, stats, cells,
             [=](Code code) { return static_cast<Code>((code > last_left) + (code == missing)); });
  }
}

inline Extremes find_extremes(const Column& column, const NodeRows& node) {
  const Code missing = column.n_codes;
  Extremes out{missing, 0, false};
  visit_width(column, [&](auto codes) {
    Code first = missing, last = 0;
    bool has_missing = false;
    const auto look = [&](std::size_t i) {
      const Code code = codes[node.rows[i] * column.stride];
      has_missing |= code == missing;
      first = std::min(first, code);
      last = std::max(last, code == missing ? Code{0} : code);
    };
    std::size_t i = 0;
    for (; i + kPrefetchRows < node.n; ++i) {
      prefetch(codes.address(node.rows[i + kPrefetchRows] * column.stride));
      look(i);
    }
    for (; i < node.n; ++i) look(i);
    out = {first, last, has_missing};
  });
  return out;
}

}  // namespace weald
