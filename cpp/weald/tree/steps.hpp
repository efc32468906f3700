// Walks of many rows down a deep tree in step, without a branch that depends on a row.
#pragma once

#include <algorithm>

#include "weald/base/sorting.hpp"
#include "weald/tree/compact.hpp"

namespace weald {

struct Group {  // rows begin..end-1 of a list have come to the same node
  std::uint32_t node;
  std::size_t begin, end;
};

// A node as walks in step want it. A leaf leads to itself, so that no step has to ask whether it has arrived.
template <class T>
struct Step {
  T threshold;
  std::uint32_t column;   // << 1 | missing goes right
  std::uint32_t next[2];  // on "yes" and on "no"
};

template <class T>
void lay_out(const CompactTree& tree, std::vector<Step<T>>& steps) {
  steps.resize(tree.nodes.size());
  for (std::uint32_t m = 0; m < steps.size(); ++m) {
    const Node& node = tree.nodes[m];
    const std::uint32_t inner = node.leaf() ? 0 : ~std::uint32_t{0};
    const std::uint32_t column = node.head >> Node::kShift << 1 | (~node.head & Node::kMissingLeft);
    steps[m] = {largest_not_above<T>(node.number), column & inner, {m + (1 & inner), m + (node.next & inner)}};
  }
}

// A batch of rows goes down in step, some steps at a time; those that have arrived make room. rows[k] ends in leaf[k].
template <bool kMissing, class T>
void walk_in_step(const Table<T>& table, const std::vector<Step<T>>& steps, const std::vector<Row>& rows,
                  const std::vector<Group>& groups, std::uint32_t* leaf) {
  constexpr std::size_t kBatch = 64, kSide = 8, kSteps = 4;
  std::uint32_t at[kBatch], number[kBatch];
  const T* values[kBatch];
  const Step<T>* nodes = steps.data();
  const Group* group = groups.data();
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatch) {
    std::size_t n = std::min(kBatch, rows.size() - begin);
    for (std::size_t k = 0; k < n; ++k) {
      while (begin + k == group->end) ++group;
      if (begin + k + kBatch < rows.size()) prefetch(table.data + rows[begin + k + kBatch] * table.row_stride);
      at[k] = group->node, number[k] = static_cast<std::uint32_t>(begin + k);
      values[k] = table.data + rows[begin + k] * table.row_stride;
    }
    while (n > 0) {
      std::size_t left = 0;
      for (std::size_t k = n; k % kSide != 0; ++k) at[k] = at[0], values[k] = values[0], number[k] = number[0];
      for (std::size_t from = 0; from < n; from += kSide) {
        std::uint32_t now[kSide];
        for (std::size_t l = 0; l < kSide; ++l) now[l] = at[from + l];
        for (std::size_t s = 0; s < kSteps; ++s) {
          for (std::size_t l = 0; l < kSide; ++l) {
            const Step<T>& node = nodes[now[l]];
            const std::size_t column = node.column >> 1;
            const T value = values[from + l][kMissing ? column * table.column_stride : column];
            std::uint32_t no = value > node.threshold;
            if (kMissing) no |= static_cast<std::uint32_t>(value != value) & node.column;
            now[l] = node.next[no & 1];
          }
        }
        for (std::size_t l = 0; l < std::min(kSide, n - from); ++l) {
          const std::uint32_t k = number[from + l];
          leaf[k] = now[l];
          at[left] = now[l], number[left] = k, values[left] = values[from + l];
          left += nodes[now[l]].next[0] != now[l];
        }
      }
      n = left;
    }
  }
}

}  // namespace weald
