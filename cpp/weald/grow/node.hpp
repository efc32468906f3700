// A node while the tree grows.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include "weald/grow/grow_tree.hpp"
#include "weald/search/column_search.hpp"
#include "weald/stats/blocks.hpp"
#include "weald/stats/histogram.hpp"
#include "weald/tree/shape.hpp"

namespace weald {

// Where a node measures real targets from, and in what. They depend on the targets on the path to the
// node and on nothing else, least of all on whether a histogram happens to be kept.
struct Units {
  double centre = 0, g_unit = 1;
  double reach = kInf;  // no target of the node that chose them lies further from the centre

  // Targets between low and high deserve finer ones if they have come so much closer together.
  bool serve(double low, double high) const { return (high / 2 - low / 2) * 16 > reach; }

  // Those of a child, from its parent's, for n rows with the targets of_row(i) and the weight h(). Are they new?
  template <class OfRow, class Weight>
  bool refine(Channels& channels, std::size_t n, const OfRow& of_row, const Weight& h) {
    double low = kInf, high = -kInf;
    for (std::size_t i = 0; i < n; ++i) {
      const double* target = of_row(i);
      for (std::size_t o = 0; o < channels.n_outputs; ++o) {
        low = std::min(low, target[o]);
        high = std::max(high, target[o]);
      }
      if (serve(low, high)) return false;  // after a few rows, as a rule
    }
    *this = choose(channels, n, h(), low, high);
    return true;
  }

  // Units for n rows of weight h; the channels are measured in them.
  static Units choose(Channels& channels, std::size_t n, double h, double low, double high) {
    choose_units(channels, n, h, low, high);
    return {channels.g_centre, channels.g_unit, high / 2 - low / 2};
  }
};

// What real targets, monotone columns and limits on interactions need to know of a node.
struct Frame {
  Bounds bounds;  // of its value, in the caller's units
  Units units;
  std::vector<std::uint32_t> used;  // columns on the path to it, if their meeting is limited
};

// What the search has found for a node.
struct Decision {
  Split split;
  double gain = 0;  // in the caller's weight x impurity
};

// What is grown below a node. A node gets its number when it is finished: depth-first, that is in pre-order.
struct Subtree {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  BigVector<GrownNode> nodes;
  BigVector<Bounds> bounds;      // per node, if some column is monotone
  std::vector<Code> left_codes;  // codes of the matrix that go left, set after set: how many, and these

  // The next node. `parent`: the one whose right child it is, if it is one; no branch, since that cannot be foretold.
  GrownNode& add(std::uint32_t parent, Row begin, Row end, Lane sum) {
    const auto number = static_cast<std::uint32_t>(nodes.size());
    GrownNode& node = nodes.emplace_back();
    nodes[std::min(parent, number)].right = static_cast<std::int32_t>(number);
    node.right = -1, node.begin = begin, node.end = end, node.sum = sum;
    return node;
  }
  std::uint32_t last() const { return static_cast<std::uint32_t>(nodes.size() - 1); }

  // Of columns of many codes none are kept: the rows tell.
  void add_set(GrownNode& node, std::span<const Code> codes) {
    node.set = static_cast<std::int32_t>(left_codes.size());
    left_codes.push_back(static_cast<Code>(codes.size()));
    left_codes.insert(left_codes.end(), codes.begin(), codes.end());
  }
};

// Kept small: half the time of a fully grown tree goes into nodes of a handful of rows.
struct OpenNode {
  std::uint32_t id = 0;                     // in the order of opening
  std::uint32_t parent = Subtree::kNobody;  // a right child's: its number in the subtree
  Row begin = 0, end = 0;                   // rows[begin, end)
  std::uint32_t depth = 0;
  std::uint64_t key = 0;  // of its random numbers: a hash of the path from the root
  Lane sum = kUnknown;    // Packed: what its rows add up to, if the split above has told
  std::shared_ptr<const Block> block;
  Histogram histogram;                 // if it pays to keep it for the children
  std::unique_ptr<Decision> decision;  // best-first: known before its turn comes
  std::unique_ptr<Frame> frame;        // if targets are real, columns monotone or interactions limited

  static constexpr Lane kUnknown = GrownNode::kUnknown;
  std::size_t size() const { return end - begin; }
};

// What a split makes of a node.
struct Expansion {
  std::array<OpenNode, 2> children;  // without a place in the tree yet
  double threshold = kNaN;
  bool missing_left = false;
  std::vector<Code> left_codes;  // categorical: codes of the matrix that go left, if the column has few
};

// The open nodes. The whole difference between the three orders of growth is which one is next.
class OpenNodes {
 public:
  explicit OpenNodes(Frontier order) : order_(order) {}
  bool empty() const { return nodes_.empty(); }

  // Best-first: the gain of a node that comes into its own if so many of those that are open are split; infinite if none
  // is. Whatever gains less will stay a leaf, since others turn up at best, and each takes a split.
  double gain_of(std::size_t splits) const {
    if (splits == 0 || splits > nodes_.size()) return splits == 0 ? kInf : 0;
    std::vector<double> gains;
    gains.reserve(nodes_.size());
    for (const OpenNode& node : nodes_) gains.push_back(node.decision->gain);
    std::nth_element(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(splits - 1), gains.end(),
                     std::greater<>());
    return gains[splits - 1];
  }

  void push(OpenNode node) {
    nodes_.push_back(std::move(node));
    if (order_ == Frontier::BestFirst) std::push_heap(nodes_.begin(), nodes_.end(), worse);
  }

  OpenNode pop() {
    if (order_ == Frontier::BestFirst) std::pop_heap(nodes_.begin(), nodes_.end(), worse);
    const bool by_level = order_ == Frontier::ByLevel;
    OpenNode node = std::move(by_level ? nodes_.front() : nodes_.back());
    by_level ? nodes_.pop_front() : nodes_.pop_back();
    return node;
  }

 private:
  // Equal gains: the node that was opened first.
  static bool worse(const OpenNode& a, const OpenNode& b) {
    const double gain_a = a.decision->gain, gain_b = b.decision->gain;
    return gain_a < gain_b || (gain_a == gain_b && a.id > b.id);
  }
  Frontier order_;
  std::deque<OpenNode> nodes_;
};

}  // namespace weald
