// What the nodes of a grown tree say about their rows: counts, impurity, value.
#pragma once

#include <span>

#include "weald/stats/statistics.hpp"
#include "weald/tree/shape.hpp"

namespace weald {

// Is it about all nodes, or about leaves alone? Shares of many classes are then told in short.
enum class NodeValues { OfAll, OfLeaves };

struct Summary {
  NodeValues whose = NodeValues::OfAll;  // of the entries below, node after node or leaf after leaf
  BigVector<std::int64_t> n_rows;        // of all nodes, or empty: leaves alone have theirs in the shape
  BigVector<double> weight, impurity;
  BigVector<double> value;  // entries x outputs x max_classes: class shares, or the number
  std::size_t n_outputs = 1, max_classes = 1;

  std::size_t width() const { return n_outputs * max_classes; }
  bool of_leaves() const { return whose == NodeValues::OfLeaves; }
  // The entry of node m, the leaf of this number.
  std::size_t entry(std::size_t m, std::size_t leaf) const { return of_leaves() ? leaf : m; }

  // Instead of values: the classes of each leaf, leaf after leaf from the last. Most leaves have one of many.
  struct Share {
    std::uint32_t channel;
    double value;
  };
  BigVector<Share> shares;
  BigVector<std::size_t> ends;  // of a leaf among them
  std::span<const Share> shares_of(std::size_t entry) const {
    const std::size_t own = ends.size() - 1 - entry, begin = own == 0 ? 0 : ends[own - 1];
    return std::span(shares).subspan(begin, ends[own] - begin);
  }

  // Calls fn(channel, value) with what is not zero of an entry.
  template <class Fn>
  void for_values(std::size_t entry, Fn&& fn) const {
    if (!ends.empty()) {
      for (const Share& share : shares_of(entry)) fn(share.channel, share.value);
      return;
    }
    const double* own = &value[entry * width()];
    for (std::size_t k = 0; k < width(); ++k) {
      if (own[k] != 0) fn(k, own[k]);
    }
  }
};

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
