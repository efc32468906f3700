// A fitted tree as it is kept and used: 16 bytes a node, leaf values in the smallest type that holds
// them. Everything about inner nodes that prediction does not need follows from the leaves.
#pragma once

#include <bit>
#include <span>
#include <string>
#include <vector>

#include "weald/base/memory.hpp"
#include "weald/tree/category_sets.hpp"
#include "weald/tree/summarise.hpp"

namespace weald {

// A test or a leaf; four share a cache line. Pre-order: "yes" leads to the next node.
//
//                number               head >> 3        next
//   numeric      threshold            column           how far on "no" leads
//   categorical  set's place << 32    column           how far on "no" leads
//                | its categories
//   leaf, inline its value            rows in it       weight, shortened
//   leaf, table  weight               rows in it       row of the table
struct Node {
  double number;
  std::uint32_t head;  // << 3 | leaf << 2 | categorical << 1 | missing goes left
  std::uint32_t next;

  static constexpr std::uint32_t kMissingLeft = 1, kCategorical = 2, kLeaf = 4;
  static constexpr int kShift = 3;
  static constexpr std::uint32_t kMost = (std::uint32_t{1} << 29) - 1;
  bool leaf() const { return (head & kLeaf) != 0; }
};
static_assert(sizeof(Node) == 16);

// The number of a categorical test.
inline double categorical_number(std::uint32_t set_begin, std::uint32_t n_categories) {
  return std::bit_cast<double>(std::uint64_t{set_begin} << 32 | n_categories);
}

// What all trees of a forest have in common.
struct Outputs {
  std::size_t n_outputs = 1;
  std::vector<std::uint32_t> n_classes;  // per output; empty for regression
  std::size_t max_classes = 1;

  bool classifies() const { return !n_classes.empty(); }
  std::size_t width() const { return n_outputs * max_classes; }  // numbers in a prediction
  // One number says all: two classes, or one target. It is kept in the leaf itself.
  bool is_inline() const { return n_outputs == 1 && max_classes <= (classifies() ? 2U : 1U); }
};

enum class Cell : std::uint8_t { Byte, Short, Word, Real };  // type of a table's entries

// Distinct leaf values, if one number does not hold them. A row is W, v_1 .. v_width and stands for
// v / W: whole class weights stay whole, so that a byte or two hold each of them.
struct ValueTable {
  Cell cell = Cell::Real;
  BigVector<std::uint8_t> bytes;

  template <class Fn>
  decltype(auto) visit(Fn&& fn) const {
    switch (cell) {
      case Cell::Byte:
        return fn(bytes.data());
      case Cell::Short:
        return fn(reinterpret_cast<const std::uint16_t*>(bytes.data()));
      case Cell::Word:
        return fn(reinterpret_cast<const std::uint32_t*>(bytes.data()));
      default:
        return fn(reinterpret_cast<const double*>(bytes.data()));
    }
  }
  std::size_t cell_bytes() const { return cell == Cell::Real ? 8 : std::size_t{1} << static_cast<int>(cell); }
};

// A number of a leaf that no prediction reads, in four bytes: a float, or if floats do not reach that far the
// upper half of a double.
inline std::uint32_t shortened(double x, bool wide) {
  if (!wide) return std::bit_cast<std::uint32_t>(static_cast<float>(x));
  return static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(x) + 0x80000000) >> 32);
}
inline double lengthened(std::uint32_t bits, bool wide) {
  return wide ? std::bit_cast<double>(std::uint64_t{bits} << 32) : double{std::bit_cast<float>(bits)};
}

struct CompactTree {
  BigVector<Node> nodes;
  std::vector<std::uint32_t> sets;  // one after another: see tree/category_sets.hpp
  ValueTable table;
  bool wide = false;                         // a weight or impurity of a leaf is beyond the range of floats
  std::vector<std::uint32_t> leaf_impurity;  // shortened, leaf after leaf; empty: follows from the values
  std::vector<double> importance;            // per column, if it does not follow from the leaves
  BigVector<Row> rows;                       // training rows, leaf after leaf, if they are kept
  std::uint32_t depth = 0;
};

// n_categories: per column, 0 for numeric.
CompactTree pack(Shape shape, const Summary& nodes, const Outputs& outputs, std::span<const std::uint32_t> n_categories,
                 bool keep_rows, Interrupt& interrupt);

// The tree in full again: its shape (without rows) and what its nodes say. Inner nodes of an
// absolute-error tree have no value, as medians do not follow from the leaves.
struct Unpacked {
  Shape shape;
  Summary nodes;
};
Unpacked unpack(const CompactTree& tree, const Outputs& outputs, Criterion criterion, Interrupt& interrupt);

// Per column: sum over nodes of (W_node / W) gain.
std::vector<double> importance_of(const CompactTree& tree, const Outputs& outputs, std::size_t columns,
                                  Criterion criterion, Interrupt& interrupt);

// Checks that `right` (-1: leaf) describes one tree in pre-order; the depth of every node. Throws
// std::invalid_argument.
std::vector<std::uint32_t> check_preorder(std::span<const std::int64_t> right, Interrupt& interrupt);

// Throws std::invalid_argument unless this is a tree whose every index is in range. Sets the depth.
void check_tree(CompactTree& tree, const Outputs& outputs, std::span<const std::uint32_t> n_categories,
                Interrupt& interrupt);

}  // namespace weald
