// A grown tree before it is packed.
#pragma once

#include <vector>

#include "weald/base/memory.hpp"
#include "weald/base/types.hpp"

namespace weald {

struct Bounds {
  double lower = -kInf, upper = kInf;
};

// A node of it: a test, or a leaf. Kept small: a full tree has one or two for every row.
struct GrownNode {
  static constexpr Lane kUnknown = -1;
  static constexpr std::int32_t kLeaf = -2, kElsewhere = -3;

  double threshold = -2;         // NaN: categorical
  Lane sum = kUnknown;           // if statistics are words: G << 32 | H of its rows
  Row begin = 0, end = 0;        // its rows are rows[begin, end)
  std::int32_t right = -1;       // -1: leaf
  std::int32_t feature = kLeaf;  // kElsewhere, in growth: the root of a subtree that is grown apart, in `set`
  std::int32_t set = -1;         // categorical: where its set begins
  bool missing_left = false;

  bool leaf() const { return right < 0; }
  Row size() const { return end - begin; }
};

// In pre-order: the left child of node i is i + 1. What the nodes predict is computed afterwards from their rows.
struct Shape {
  BigVector<GrownNode> nodes;
  std::vector<std::uint32_t> sets;  // one after another: see tree/category_sets.hpp
  BigVector<Bounds> bounds;         // of the nodes' values; empty: none is bounded
  BigVector<Row> rows;              // rows of the matrix, leaf after leaf
  bool has_sums = false;            // are those of all nodes known?

  std::size_t size() const { return nodes.size(); }
};

}  // namespace weald
