// What the nodes of a grown tree say about their rows: counts, impurity, value.
#pragma once

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

  // Instead of values: the class of each leaf, if it has a single one of many, as most have; else kMixed + k, where it is the
  // k-th whose classes are listed.
  static constexpr std::uint32_t kMixed = std::uint32_t{1} << 31;
  struct Share {
    std::uint32_t channel;
    double value;
  };
  BigVector<std::uint32_t> classes;
  std::vector<Share> shares;
  std::vector<std::size_t> ends;  // of a leaf among them

  // Calls fn(channel, value) with what is not zero of an entry.
  template <class Fn>
  void for_values(std::size_t entry, Fn&& fn) const {
    if (!classes.empty()) {
      if (classes[entry] < kMixed) return fn(classes[entry], 1.0);
      const std::size_t k = classes[entry] - kMixed;
      for (std::size_t at = k == 0 ? 0 : ends[k - 1]; at < ends[k]; ++at) fn(shares[at].channel, shares[at].value);
      return;
    }
    const double* own = &value[entry * width()];
    for (std::size_t k = 0; k < width(); ++k) {
      if (own[k] != 0) fn(static_cast<std::uint32_t>(k), own[k]);
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
