// The groups of a sparse column, from its list of filled cells.
//
// The list is in the order of codes, so that groups come one after another and nothing has to be sorted or cleared.
// Rows that are not listed have the usual code, and what the others leave of the node: whole numbers, so nothing is
// lost or rounded.
#pragma once

#include <utility>

#include "weald/search/class_chains.hpp"
#include "weald/search/groups.hpp"

namespace weald {

struct ListedGroups {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t n = 0;         // the missing included, which come last
  std::size_t rest = kNone;  // the group of the rows that are not listed; it may turn out to have none
  bool missing = false;
};

// Walks the list of a column: open(group) begins a group, add(it, group) puts what is known of a row of the node into it;
// 0: it is not in the node. The codes of the groups are in scratch.codes, and how many rows each has in
// scratch.group_rows.
template <class Open, class Add>
ListedGroups walk_list(const SearchRequest& request, const Column& column, const NodeRows& node, SplitScratch& scratch,
                       Open&& open, Add&& add) {
  return request.lists->visit(scratch.list, [&](const auto* of, const auto* codes, std::size_t n_cells) {
    Code* const order = at_least(scratch.codes, n_cells + 1).get(0, n_cells + 1);
    std::uint32_t* const counts = at_least(scratch.group_rows, n_cells + 1).get(0, n_cells + 1);
    const Code usual = column.usual;
    const auto known = request.known_of_row;
    ListedGroups out;
    std::size_t listed = 0;
    const auto begin = [&](Code code) {
      order[out.n] = code, counts[out.n] = 0;
      open(out.n++);
    };
    for (std::size_t k = 0; k < n_cells; ++k) {
      prefetch(known.address(of[k + kPrefetchRows]));  // of the next list, at the end of this one
      const Lane it = known[of[k]];
      const Code code = codes[k];
      if (it == 0 || code == usual) continue;
      if (out.n == 0 || order[out.n - 1] != code) {
        if (out.rest == out.kNone && code > usual) out.rest = out.n, begin(usual);
        begin(code);
      }
      ++counts[out.n - 1], ++listed;
      add(it, out.n - 1);
    }
    if (out.rest == out.kNone && listed < node.n) out.rest = out.n, begin(usual);
    if (out.rest != out.kNone) counts[out.rest] = static_cast<std::uint32_t>(node.n - listed);
    out.missing = order[out.n - 1] == column.n_codes;
    return out;
  });
}

// Leaves the rest out if it has no rows, with what `each` has of it, and lists the codes of the others.
template <class Each>
bool finish_groups(ListedGroups groups, SplitScratch& scratch, Each* each, std::size_t width) {
  if (groups.rest != groups.kNone && scratch.group_rows[groups.rest] == 0) {
    const auto drop = [&](auto* first, std::size_t size) {
      std::copy(first + (groups.rest + 1) * size, first + groups.n * size, first + groups.rest * size);
    };
    drop(scratch.codes.data(), 1), drop(scratch.group_rows.data(), 1), drop(each, width);
    --groups.n;
  }
  scratch.order = {scratch.codes.data(), groups.n - groups.missing};
  return groups.missing;
}

// Cell p holds what the p-th group adds, the missing last. Returns whether values are missing.
inline bool collect_listed(const SearchRequest& request, const Column& column, const NodeRows& node,
                           const Channels& stats, const Lane* total, const Lane*& cells, SplitScratch& scratch) {
  const std::size_t lanes = stats.lanes, most = request.lists->size_of(scratch.list) + 1;
  Lane* const sums = at_least(scratch.sorted, most * lanes).get(0, most * lanes);
  ListedGroups groups;
  if (stats.layout == Layout::Packed) {
    groups = walk_list(
        request, column, node, scratch, [=](std::size_t group) { sums[group] = 0; },
        [=](Lane word, std::size_t group) { sums[group] += word; });
  } else {
    with_adding(node, stats, false, [&](auto width, const auto& add) {
      groups = walk_list(
          request, column, node, scratch, [=](std::size_t group) { std::fill_n(sums + group * width, width, 0); },
          [=](Lane place, std::size_t group) { add(static_cast<std::size_t>(place - 1), sums + group * width); });
    });
  }
  if (groups.rest != groups.kNone) {
    Lane* const rest = sums + groups.rest * lanes;
    std::copy_n(total, lanes, rest);
    for (std::size_t g = 0; g < groups.n; ++g) {
      for (std::size_t l = 0; l < lanes && g != groups.rest; ++l) rest[l] -= sums[g * lanes + l];
    }
  }
  cells = sums;
  return finish_groups(groups, scratch, sums, lanes);
}

// The same as chains of rows: scratch.head[p] is the p-th group's, and the rest has its sums in scratch.sorted.
inline bool collect_listed_chains(const SearchRequest& request, const Column& column, const NodeRows& node,
                                  const Channels& stats, const Lane* total, SplitScratch& scratch) {
  const std::size_t lanes = stats.lanes, outputs = stats.n_outputs, most = request.lists->size_of(scratch.list) + 1;
  Lane* const rest = at_least(scratch.sorted, lanes).get(0, lanes);
  std::copy_n(total, lanes, rest);
  const auto head = at_least(scratch.head, most), next = at_least(scratch.next, node.n);
  const auto words = node.words;
  const ListedGroups groups = walk_list(
      request, column, node, scratch, [=](std::size_t group) { head[group] = 0; },
      [=, hot = node.hot](Lane place, std::size_t group) {
        const auto i = static_cast<std::size_t>(place - 1);
        next[i] = std::exchange(head[group], static_cast<std::uint32_t>(i + 1));
        rest[0] -= 1, rest[1] -= words[i];
        for (std::size_t o = 0; o < outputs; ++o) rest[2 + hot[i * outputs + o]] -= words[i];
      });
  if (groups.rest != groups.kNone) head[groups.rest] = Chains::kRestChain;
  return finish_groups(groups, scratch, scratch.head.data(), 1);
}

}  // namespace weald
