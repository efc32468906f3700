// What the nodes of a grown tree say about their rows: counts, impurity, value.
#pragma once

#include "weald/stats/statistics.hpp"
#include "weald/tree/shape.hpp"

namespace weald {

struct Summary {
  BigVector<std::int64_t> n_rows;
  BigVector<double> weight, impurity;
  BigVector<double> value;  // nodes x outputs x max_classes: class shares, or the number
  std::size_t n_outputs = 1, max_classes = 1;
};

// Do inner nodes need the shares of classes, which take most of the memory?
enum class Inner { Valued, Bare };

// Computed from the targets themselves, in double precision, bottom-up in a fixed order: leaves from
// their rows, inner nodes from their children.
Summary summarise(const Shape& shape, const Target& target, Criterion criterion, Interrupt& interrupt,
                  Inner inner = Inner::Valued);

// What is known of the leaves alone, leaf after leaf.
struct LeafSums {
  std::vector<std::int64_t> n_rows;
  std::vector<double> weight, impurity;  // impurity: for regression
  std::vector<double> value;             // leaves x outputs x max_classes
};

// The same from the leaves. The inner nodes of absolute-error trees get NaN: medians do not follow
// from medians.
Summary summarise_leaves(const Shape& shape, const LeafSums& leaves, std::size_t n_outputs,
                         const std::vector<std::uint32_t>& n_classes, Criterion criterion, Interrupt& interrupt);

}  // namespace weald
