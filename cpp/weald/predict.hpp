// Sends rows of raw values down a tree.
#pragma once

#include <span>

#include "bins.hpp"
#include "threads.hpp"

namespace weald {

// A test, in 16 bytes, so that four share a cache line. Pre-order: "yes" leads to the next node.
//
//   numeric      x <= threshold             number = threshold
//   categorical  x in set                   number = bit pattern of the set's first word and size
//   leaf         never yes                  number = NaN, next = itself
struct PackedNode {
  double number;
  std::uint32_t feature_and_flags;     // feature << 2 | categorical << 1 | missing goes left
  std::uint32_t next;                  // where "no" leads
};
static_assert(sizeof(PackedNode) == 16);

// Checks that `right` (-1: leaf) describes one tree in pre-order; the depth of every node. Throws
// std::invalid_argument.
std::vector<std::uint32_t> check_preorder(std::span<const std::int64_t> right);

// The arrays of a tree as they come from outside; nothing in them is trusted.
struct TreeArrays {
  std::span<const std::int64_t> right;        // -1: leaf
  std::span<const std::int64_t> feature;
  std::span<const double> threshold;
  std::span<const std::uint8_t> missing_left;
  std::span<const std::int64_t> set_begin;    // -1: not categorical
  std::span<const std::uint32_t> sets;
  std::span<const std::uint32_t> n_categories;  // per column
};

class Router {
 public:
  // Throws std::invalid_argument unless the arrays are a tree in pre-order over the columns.
  explicit Router(const TreeArrays& arrays);

  // The leaf of each row. Serial when the work is small.
  template <class T>
  void leaves(const Table<T>& table, std::size_t threads, std::int64_t* out,
              Interrupt& interrupt) const;

  std::size_t n_columns() const { return n_columns_; }

 private:
  template <bool Categorical, class T>
  void route(const Table<T>& table, std::size_t begin, std::size_t end, std::int64_t* out) const;
  template <bool Categorical, class T>
  std::uint32_t step(std::uint32_t node, const T* row, std::size_t stride) const;

  std::vector<PackedNode> nodes_;
  std::vector<std::uint32_t> sets_;
  std::size_t n_columns_ = 0, depth_ = 0;
  bool categorical_ = false;
};

}  // namespace weald
