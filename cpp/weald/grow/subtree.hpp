// The growth loop below one node: pop, decide, expand, record, push.
#pragma once

#include <numeric>

#include "weald/grow/expand.hpp"
#include "weald/grow/small_subtrees.hpp"

namespace weald {

// Grows the subtree below one node.
class SubtreeGrower {
 public:
  SubtreeGrower(const Plan& plan, View<Row> rows, std::size_t threads)
      : plan_(plan),
        rows_(rows),
        threads_(threads),
        expander_(plan, rows, threads),
        small_subtrees_(plan),
        patience_(plan.interrupt) {}

  // Nodes of fewer than `defer_below` rows are left to `defer`, which takes the node and says which
  // subtree it becomes.
  template <class Defer>
  Subtree grow(OpenNode root, std::size_t defer_below, Defer&& defer) {
    OpenNodes open(plan_.rules.frontier);
    tree_.nodes.reserve(most_nodes(root));  // no page of it is there before it is written to
    root.id = 0, root.parent = Subtree::kNobody;
    expander_.begin(root);
    offer(std::move(root), open);
    std::size_t leaves = 1;
    while (!open.empty()) {
      OpenNode node = open.pop();
      if (!node.decision && !expander_.could_split(node)) {
        close(node);
        continue;
      }
      if (node.size() < defer_below) {
        GrownNode& elsewhere = place(node);
        elsewhere.feature = GrownNode::kElsewhere;
        elsewhere.set = defer(std::move(node));
        continue;
      }
      patience_.spend(16 * (node.size() + 16));  // about what a row costs in all columns
      if (node.size() <= kFewRows && !node.block->bytes) expander_.gather_if_small(node);  // codes become bytes
      const bool divides = threads_ > 1 && node.size() > std::max(defer_below, 4 * kFewestDeferred);
      if (!divides && small_subtrees_.grow(node, rows_, tree_)) continue;
      const std::optional<Decision> decision = splits_left(leaves) > 0 ? decision_of(node) : std::nullopt;
      if (!decision) {
        close(node);
        continue;
      }
      ++leaves;
      Histogram histogram = std::move(node.histogram);
      Expansion made =
          expander_.expand(node, std::move(histogram), decision->split, least_gain(open, splits_left(leaves)));
      record(node, decision->split, made);
      made.children[1].parent = tree_.last();
      for (const std::uint32_t side : {1U, 0U}) {  // a stack: push the left child last, to have it next
        made.children[side].id = static_cast<std::uint32_t>(2 * leaves) + side;
        offer(std::move(made.children[side]), open);
      }
    }
    if (plan_.rules.frontier != Frontier::DepthFirst) sort_nodes();
    return std::exchange(tree_, {});
  }

  // Chooses the units in which a node of real targets is summed.
  void measure(OpenNode& node) { expander_.measure(node); }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() { expander_.release_scratch(); }

 private:
  // How many leaves may still be split.
  std::size_t splits_left(std::size_t leaves) const {
    const std::size_t most = plan_.rules.max_leaves;
    return most == 0 ? std::numeric_limits<std::size_t>::max() : most - std::min(leaves, most);
  }

  // What a node must gain to be split at all while so many splits are left; infinite: none will be.
  double least_gain(const OpenNodes& open, std::size_t left) const {
    return plan_.rules.frontier == Frontier::BestFirst ? open.gain_of(left) : left > 0 ? 0 : kInf;
  }

  // What becomes of a node whose turn has come.
  std::optional<Decision> decision_of(OpenNode& node) {
    return node.decision ? std::optional<Decision>(std::move(*node.decision)) : expander_.decide(node);
  }

  void offer(OpenNode node, OpenNodes& open) {
    const bool hopeless = plan_.rules.frontier == Frontier::BestFirst && !node.decision;
    hopeless ? close(node) : open.push(std::move(node));
  }

  // The node becomes a leaf: its rows get back their numbers in the matrix.
  void close(const OpenNode& node) {
    place(node);
    if (const View<const Row> origin = node.block->origin) {
      for (std::size_t i = node.begin; i < node.end; ++i) rows_[i] = origin[rows_[i]];
    }
  }

  // No subtree has more: every leaf has a row, and every other node two children.
  std::size_t most_nodes(const OpenNode& root) const {
    const std::size_t leaves =
        plan_.rules.max_leaves != 0 ? std::min(plan_.rules.max_leaves, root.size()) : root.size();
    const std::size_t levels = plan_.rules.max_depth - std::min<std::size_t>(plan_.rules.max_depth, root.depth);
    return 2 * (levels < 32 ? std::min(leaves, std::size_t{1} << levels) : leaves);
  }

  GrownNode& place(const OpenNode& node) {
    if (!plan_.rules.monotone.empty()) tree_.bounds.push_back(node.frame->bounds);
    return tree_.add(node.parent, node.begin, node.end, node.sum);
  }

  void record(const OpenNode& node, const Split& split, const Expansion& made) {
    GrownNode& done = place(node);
    done.feature = static_cast<std::int32_t>(split.column);
    done.threshold = made.threshold;
    done.missing_left = made.missing_left;
    if (split.categorical) tree_.add_set(done, made.left_codes);
  }

  // From the order of growth to pre-order: by the first row, and of nodes that begin with it the larger first.
  void sort_nodes() {
    const std::size_t n = tree_.nodes.size();
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      patience_.spend(1);
      const GrownNode &first = tree_.nodes[a], &second = tree_.nodes[b];
      return first.begin != second.begin ? first.begin < second.begin : first.end > second.end;
    });
    std::vector<std::int32_t> number(n);
    for (std::size_t k = 0; k < n; ++k) number[order[k]] = static_cast<std::int32_t>(k);
    const auto sort = [&](auto& list) {
      auto sorted = list;
      for (std::size_t k = 0; k < list.size(); ++k) sorted[k] = list[order[k]];
      list = std::move(sorted);
    };
    sort(tree_.nodes), sort(tree_.bounds);
    for (GrownNode& node : tree_.nodes) {
      if (!node.leaf()) node.right = number[static_cast<std::size_t>(node.right)];
    }
  }

  const Plan& plan_;
  View<Row> rows_;
  std::size_t threads_;
  Expander expander_;
  SmallSubtrees small_subtrees_;
  Subtree tree_;
  Patience patience_;
};

}  // namespace weald
