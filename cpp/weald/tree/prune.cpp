#include "weald/tree/prune.hpp"

#include <algorithm>
#include <stdexcept>

#include "weald/tree/compact.hpp"

namespace weald {

namespace {

// The risk of a subtree at price alpha a leaf, f(alpha) = min(R + alpha, f_left(alpha) + f_right(alpha)), is a chain of
// straight lines. It bends where a link is cut: there it gains `rise` of risk and loses `drop` leaves.
struct Bend {
  double alpha = 0, rise = 0;
  std::uint32_t drop = 0;
  std::int32_t child = -1, next = -1;  // in the heap
};

// Heaps of the bends of subtrees, the largest alpha first. Two become one in one step (pairing heaps, Fredman et al.
// 1986), so a tree of n nodes takes n log n however deep it is.
class Bends {
 public:
  explicit Bends(std::size_t n) : bends_(n) {}
  Bend& operator[](std::int32_t i) { return bends_[static_cast<std::size_t>(i)]; }

  std::int32_t meld(std::int32_t a, std::int32_t b) {
    if (a < 0 || b < 0) return std::max(a, b);
    if ((*this)[a].alpha < (*this)[b].alpha) std::swap(a, b);
    (*this)[b].next = (*this)[a].child;
    (*this)[a].child = b;
    return a;
  }

  // Without its first: what lay below it is melded in pairs, and the pairs from the last to the first.
  std::int32_t pop(std::int32_t first) {
    std::int32_t pairs = -1, at = (*this)[first].child;
    while (at >= 0) {
      const std::int32_t other = (*this)[at].next, rest = other < 0 ? -1 : (*this)[other].next;
      (*this)[at].next = -1;
      if (other >= 0) (*this)[other].next = -1;
      const std::int32_t pair = meld(at, other);
      (*this)[pair].next = pairs;
      pairs = pair;
      at = rest;
    }
    std::int32_t heap = -1;
    while (pairs >= 0) {
      const std::int32_t rest = (*this)[pairs].next;
      (*this)[pairs].next = -1;
      heap = meld(heap, pairs);
      pairs = rest;
    }
    return heap;
  }

 private:
  std::vector<Bend> bends_;
};

}  // namespace

PruningPath pruning_path(std::span<const std::int64_t> right, std::span<const double> risk, Interrupt& interrupt) {
  check_preorder(right, interrupt);
  if (risk.size() != right.size()) throw std::invalid_argument("one risk per node, please");
  const std::size_t n = right.size();
  Bends bends(n);
  std::vector<std::int32_t> heap(n, -1);  // of the bends below each node
  std::vector<bool> cut(n, false);        // by itself, not along with a node above
  PruningPath path;
  Patience patience(interrupt);
  for (std::size_t t = n; t-- > 0;) {  // children come after their parents
    patience.spend(32);
    if (right[t] < 0) {
      path.full_risk += risk[t];
      continue;
    }
    const std::size_t left = t + 1, other = static_cast<std::size_t>(right[t]);
    // From the right: both children are leaves. A bend that is not below the alpha of this node is cut along with
    // it; so is one at the same alpha, as the node comes first in the tree.
    std::int32_t first = bends.meld(heap[left], heap[other]);
    double below = risk[left] + risk[other];
    std::uint32_t drop = 1;
    const auto alpha = [&] { return (risk[t] - below) / static_cast<double>(drop); };
    while (first >= 0 && alpha() <= bends[first].alpha) {
      patience.spend(64);
      below -= bends[first].rise, drop += bends[first].drop;
      cut[static_cast<std::size_t>(first)] = false;
      first = bends.pop(first);
    }
    const auto here = static_cast<std::int32_t>(t);
    bends[here] = {alpha(), risk[t] - below, drop, -1, -1};
    heap[t] = bends.meld(first, here);
    cut[t] = true;
  }
  for (std::size_t t = 0; t < n; ++t) {
    if (cut[t]) path.node.push_back(static_cast<std::int64_t>(t));
  }
  const auto alpha_of = [&](std::int64_t t) { return bends[static_cast<std::int32_t>(t)].alpha; };
  std::stable_sort(path.node.begin(), path.node.end(), [&](std::int64_t a, std::int64_t b) {
    patience.spend(1);
    return alpha_of(a) < alpha_of(b);
  });
  double total = path.full_risk;
  for (const std::int64_t t : path.node) {
    total += bends[static_cast<std::int32_t>(t)].rise;
    path.alpha.push_back(alpha_of(t));
    path.risk.push_back(t == 0 ? risk[0] : total);
  }
  return path;
}

bool prune(Shape& shape, Summary& nodes, double alpha, Interrupt& interrupt) {
  const std::size_t n = shape.size();
  std::vector<std::int64_t> right;
  for (const GrownNode& node : shape.nodes) right.push_back(node.right);
  std::vector<double> risk(n);
  for (std::size_t m = 0; m < n; ++m) risk[m] = nodes.weight[m] * nodes.impurity[m] / nodes.weight[0];
  const PruningPath path = pruning_path(right, risk, interrupt);
  std::vector<bool> cut(n, false);
  for (std::size_t k = 0; k < path.node.size() && path.alpha[k] <= alpha; ++k) {
    cut[static_cast<std::size_t>(path.node[k])] = true;
  }
  if (std::find(cut.begin(), cut.end(), true) == cut.end()) return false;
  // Pre-order: what lies below a cut node follows it, up to the first node outside its rows.
  const std::size_t width = nodes.n_outputs * nodes.max_classes;
  std::vector<std::size_t> kept;
  std::vector<std::int32_t> number(n, -1);
  Patience patience(interrupt);
  for (std::size_t m = 0; m < n;) {
    patience.spend(8 + width);
    number[m] = static_cast<std::int32_t>(kept.size());
    kept.push_back(m);
    const bool leaf = cut[m];
    const Row end = shape.nodes[m].end;
    for (++m; leaf && m < n && shape.nodes[m].begin < end;) ++m;
  }
  const auto keep = [&](std::size_t each, auto&... arrays) {
    for (std::size_t k = 0; k < kept.size(); ++k)
      (std::copy_n(arrays.begin() + kept[k] * each, each, arrays.begin() + k * each), ...);
    (arrays.resize(kept.size() * each), ...);
  };
  keep(1, shape.nodes, nodes.n_rows, nodes.weight, nodes.impurity);
  keep(width, nodes.value);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    GrownNode& node = shape.nodes[k];
    if (cut[kept[k]]) {
      node = {.sum = node.sum, .begin = node.begin, .end = node.end};
    } else if (!node.leaf()) {
      node.right = number[static_cast<std::size_t>(node.right)];
    }
  }
  return true;
}

}  // namespace weald
