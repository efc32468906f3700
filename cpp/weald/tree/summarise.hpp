// What the nodes of a grown tree say about their rows: counts, impurity, value.
#pragma once

#include "weald/stats/statistics.hpp"
#include "weald/tree/shape.hpp"

namespace weald {

struct Summary {
  BigVector<std::int64_t> n_rows;
  BigVector<double> weight, impurity;
  BigVector<double> value;  // nodes (or leaves) x outputs x max_classes: class shares, or the number
  std::size_t n_outputs = 1, max_classes = 1;

  std::size_t width() const { return n_outputs * max_classes; }
  // What node m, the leaf of this number, says.
  const double* values_of(std::size_t m, std::size_t leaf) const {
    return &value[(value.size() < weight.size() * width() ? leaf : m) * width()];
  }

  // Instead of values: the classes of each leaf, leaf after leaf from the last. Most leaves have one of many.
  struct Share {
    std::uint32_t channel;
    double value;
  };
  BigVector<Share> shares;
  BigVector<std::size_t> ends;  // of a leaf among them

  // Calls fn(channel, value) with what is not zero of node m, the leaf of this number.
  template <class Fn>
  void for_values(std::size_t m, std::size_t leaf, Fn&& fn) const {
    if (!ends.empty()) {
      const std::size_t own = ends.size() - 1 - leaf;
      for (std::size_t at = own == 0 ? 0 : ends[own - 1]; at < ends[own]; ++at)
        fn(shares[at].channel, shares[at].value);
      return;
    }
    const double* own = values_of(m, leaf);
    for (std::size_t k = 0; k < width(); ++k) {
      if (own[k] != 0) fn(k, own[k]);
    }
  }
};

// Are all nodes to have their values, or leaves alone? Shares of many classes are then told in short.
enum class NodeValues { OfAll, OfLeaves };

// Computed from the targets themselves, in double precision, bottom-up in a fixed order: leaves from
// their rows, inner nodes from their children.
Summary summarise(const Shape& shape, const Target& target, Criterion criterion, Interrupt& interrupt,
                  NodeValues whose = NodeValues::OfAll);

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
