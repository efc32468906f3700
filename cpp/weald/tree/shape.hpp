// A grown tree before it is packed.
#pragma once

#include <vector>

#include "weald/base/memory.hpp"
#include "weald/base/types.hpp"

namespace weald {

// The shape of a grown tree, in pre-order: the left child of node i is i + 1. What the nodes
// predict is computed afterwards from their rows.
struct Shape {
  BigVector<std::int32_t> right;    // -1: leaf
  BigVector<std::int32_t> feature;  // -2: leaf
  BigVector<double> threshold;      // NaN: categorical
  BigVector<std::uint8_t> missing_left;
  BigVector<std::int32_t> set_begin;  // into `sets`; -1: numeric or leaf
  std::vector<std::uint32_t> sets;    // one after another: see tree/category_sets.hpp
  BigVector<double> lower, upper;     // bounds of the node's value; empty: none is bounded
  BigVector<Row> begin, end;          // the node's rows are rows[begin, end)
  BigVector<Row> rows;                // rows of the matrix, leaf after leaf
  BigVector<Lane> sums;               // if statistics are words: G << 32 | H of every node

  std::size_t size() const { return right.size(); }
};

}  // namespace weald
