#include "prune.hpp"

#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

#include "compact.hpp"

namespace weald {

namespace {

// An inner node: the leaf it may become, and what there is below it now.
struct Link {
  double risk = 0, below = 0;  // of the node as a leaf; of the leaves under it
  double offered = kInf;       // the alpha that waits in the queue for this node
  std::uint32_t leaves = 0;
  std::int32_t parent = -1;

  double alpha() const { return (risk - below) / static_cast<double>(leaves - 1); }
};

// The inner nodes by themselves and close together: every cut changes all those above it.
struct Links {
  std::vector<Link> links;
  std::vector<std::uint32_t> node;  // number of each in the tree
  std::vector<std::uint32_t> end;   // the first link after those below it
  double full_risk = 0;
};

Links make_links(std::span<const std::int64_t> right, std::span<const double> risk, Interrupt& interrupt) {
  const std::size_t n = right.size();
  Links out;
  out.links.resize(n / 2), out.node.resize(n / 2), out.end.resize(n / 2);
  std::vector<double> below(n, 0.0);
  std::vector<std::uint32_t> leaves(n, 0);
  std::vector<std::int32_t> number(n, -1);
  Patience patience(interrupt);
  for (std::size_t i = n, k = n / 2; i-- > 0;) {
    patience.spend(4);
    if (right[i] < 0) {
      below[i] = risk[i], leaves[i] = 1;
      continue;
    }
    number[i] = static_cast<std::int32_t>(--k);
    const std::size_t children[] = {i + 1, static_cast<std::size_t>(right[i])};
    for (const std::size_t child : children) {
      below[i] += below[child], leaves[i] += leaves[child];
      if (number[child] >= 0) out.links[static_cast<std::size_t>(number[child])].parent = number[i];
    }
    Link& link = out.links[k];
    link.risk = risk[i], link.below = below[i], link.leaves = leaves[i];
    out.node[k] = static_cast<std::uint32_t>(i);
    out.end[k] = static_cast<std::uint32_t>(k) + leaves[i] - 1;  // as many inner nodes as leaves, but one
  }
  out.full_risk = below[0];
  return out;
}

}  // namespace

PruningPath pruning_path(std::span<const std::int64_t> right, std::span<const double> risk, Interrupt& interrupt) {
  check_preorder(right, interrupt);
  if (risk.size() != right.size()) throw std::invalid_argument("one risk per node, please");
  auto [links, node, end, full_risk] = make_links(right, risk, interrupt);
  // A cut makes the links above it stronger: what is left below them is worth more a leaf. So an old offer may
  // wait until it comes up, and only then the link's present alpha is offered in its place; except where rounding
  // has made a link weaker. In a deep tree, offering all of them anew at every cut would take most of the time.
  using Offer = std::pair<double, std::size_t>;  // alpha, link: of equally weak ones the first in the tree goes first
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> weakest;
  const auto offer = [&](std::size_t k, double alpha) {
    links[k].offered = alpha;
    weakest.emplace(alpha, k);
  };
  Patience patience(interrupt);
  for (std::size_t k = 0; k < links.size(); ++k) {
    patience.spend(8);
    offer(k, links[k].alpha());
  }
  PruningPath path;
  path.full_risk = full_risk;
  std::vector<bool> gone(links.size(), false);
  while (!weakest.empty()) {
    patience.spend(64);
    const auto [offered, k] = weakest.top();
    weakest.pop();
    const Link link = links[k];
    if (gone[k] || offered != link.offered) continue;
    const double alpha = link.alpha();
    if (alpha > offered) {
      offer(k, alpha);
      continue;
    }
    const double rise = link.risk - link.below;
    for (std::size_t i = k; i < end[k];) {
      patience.spend(1);
      if (gone[i]) {
        i = end[i];
      } else {
        gone[i++] = true;
      }
    }
    for (std::int32_t up = link.parent; up >= 0;) {
      const auto i = static_cast<std::size_t>(up);
      Link& above = links[i];
      above.below += rise, above.leaves -= link.leaves - 1;
      if (const double now = above.alpha(); now < above.offered) offer(i, now);
      up = above.parent;
      patience.spend(1);
    }
    path.node.push_back(static_cast<std::int64_t>(node[k]));
    path.alpha.push_back(alpha);
    path.risk.push_back(k == 0 ? link.risk : links[0].below);
  }
  return path;
}

}  // namespace weald
