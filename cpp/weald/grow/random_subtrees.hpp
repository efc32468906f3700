// Whole subtrees of few rows, grown by random cuts.
//
// Nearly all nodes of such a tree have a handful of rows. What the loop of growth does for any node (blocks, queues,
// scratch memory) costs there several times what the search itself does. So the rows of a subtree get numbers of
// two bytes, a node is a range of these, and all of its cuts are drawn, summed up and scored together (cut_sums.hpp):
//
//   slots = [2 5 0 | 7 1 | 3 6 4]      a split divides its range in place: the slots end in the order of the leaves
//
// What the rows add is a parameter (random_values.hpp). The same keys and the same arithmetic as everywhere: the tree is
// the one that grows without.
#pragma once

#include "weald/base/paths.hpp"
#include "weald/grow/random_search.hpp"

namespace weald {

template <class Values>
class RandomGrower {
 public:
  explicit RandomGrower(const Plan& plan)
      : plan_(plan), values_(plan), search_(plan, values_), patience_(plan.interrupt) {}

  static bool fits(const Plan& plan) {
    const Rules& rules = plan.rules;
    const auto& columns = plan.matrix.columns;
    const auto drawn = [](const Column& column) { return column.categorical || column.keyed || column.guide; };
    return uses(Path::SmallSubtrees) && kHasCutSums && plan.one_cut && !plan.matrix.sparse && plan.limits.plain() &&
           rules.monotone.empty() && rules.interactions.empty() && rules.max_leaves == 0 &&
           rules.frontier == Frontier::DepthFirst && Values::fits(plan) &&
           std::all_of(columns.begin(), columns.end(), drawn);
  }

  // Grows the subtree below the node into `tree` and puts its rows into the order of the leaves; false if it has to be
  // done in the general way.
  bool grow(const OpenNode& open, View<Row> rows, Subtree& tree) {
    if (open.size() > kRandomRows || !values_.known(open)) return false;
    const Block& block = *open.block;
    Row* const list = rows.get(open.begin, open.size());
    search_.load(block, list, open.size());
    const Units units = open.frame ? open.frame->units : Units{};
    RandomNode node{open.key, open.parent, open.depth, 0, open.size(), open.sum, units};
    values_.load(block, list, node);
    for (std::size_t waiting = 0;;) {
      const Row begin = open.begin + static_cast<Row>(node.begin);
      patience_.spend(node.n * plan_.columns_per_node);
      GrownNode& done = tree.add(node.parent, begin, begin + static_cast<Row>(node.n), node.sum);
      if (could_split(node) && search_.find_split(node, values_.channels(node))) {
        search_.describe(node, done, tree);
        if (waiting == waiting_.size()) waiting_.resize(2 * waiting);
        waiting_[waiting++] = divide(node, tree.last());
        continue;
      }
      if (waiting == 0) break;
      node = waiting_[--waiting];
    }
    for (std::size_t i = 0; i < open.size(); ++i) list[i] = block.original(search_.row(search_.slots()[i]));
    return true;
  }

 private:
  bool could_split(const RandomNode& node) {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.n >= std::max<std::size_t>(rules.min_samples_split, 2) &&
           !values_.pure(node, search_.slots() + node.begin);
  }

  // The node, which has this number, becomes its left child; returns the right one.
  RandomNode divide(RandomNode& node, std::uint32_t number) {
    Slot* const slots = search_.slots() + node.begin;
    Slot away[kCutRows];
    std::size_t left = 0, right = 0;
    const auto sides = search_.sides();
    for (std::size_t i = 0; i < node.n; ++i) {
      const Slot slot = slots[i];
      slots[left] = slot, away[right] = slot;  // left <= i: never overwrites one not yet read
      const bool goes_left = sides.left(i);
      left += goes_left, right += !goes_left;
    }
    std::copy_n(away, right, slots + left);
    RandomNode other = node;
    other.begin += left, other.n = right, node.n = left;
    other.parent = number, node.parent = Subtree::kNobody;
    other.depth = ++node.depth;
    other.key = derive(node.key, kChildKey + 1), node.key = derive(node.key, kChildKey);
    values_.share(node, other, search_.left_sum());
    values_.measure(node, slots), values_.measure(other, slots + left);
    return other;
  }

  const Plan& plan_;
  Values values_;
  RandomSearch<Values> search_;
  Patience patience_;
  std::vector<RandomNode> waiting_ = std::vector<RandomNode>(64);  // right children
};

}  // namespace weald
