#include "prune.hpp"

#include <functional>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "compact.hpp"

namespace weald {

PruningPath pruning_path(std::span<const std::int64_t> right, std::span<const double> risk) {
  const std::size_t n = right.size();
  check_preorder(right);
  if (risk.size() != n) throw std::invalid_argument("one risk per node, please");
  std::vector<std::int64_t> parent(n, -1);
  std::vector<double> below(n);            // risk of the leaves under a node
  std::vector<std::int64_t> leaves(n);
  std::vector<std::uint32_t> version(n, 0);  // an entry of the queue is stale if its version is old
  for (std::size_t i = n; i-- > 0;) {
    if (right[i] < 0) {
      below[i] = risk[i], leaves[i] = 1;
      continue;
    }
    const std::size_t children[] = {i + 1, static_cast<std::size_t>(right[i])};
    for (const std::size_t child : children) {
      below[i] += below[child], leaves[i] += leaves[child];
      parent[child] = static_cast<std::int64_t>(i);
    }
  }
  using Entry = std::tuple<double, std::size_t, std::uint32_t>;  // alpha, node, version
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> weakest;
  const auto offer = [&](std::size_t i) {
    weakest.emplace((risk[i] - below[i]) / static_cast<double>(leaves[i] - 1), i, version[i]);
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (leaves[i] > 1) offer(i);
  }
  PruningPath path;
  path.full_risk = below[0];
  std::vector<bool> gone(n, false);
  while (!weakest.empty()) {
    const auto [alpha, node, seen] = weakest.top();
    weakest.pop();
    if (gone[node] || seen != version[node]) continue;
    const double rise = risk[node] - below[node];
    const std::int64_t lost = leaves[node] - 1;
    std::vector<std::size_t> subtree{node};
    while (!subtree.empty()) {
      const std::size_t i = subtree.back();
      subtree.pop_back();
      if (gone[i]) continue;
      gone[i] = true;
      if (right[i] >= 0) {
        subtree.push_back(i + 1);
        subtree.push_back(static_cast<std::size_t>(right[i]));
      }
    }
    for (std::int64_t up = parent[node]; up >= 0; up = parent[static_cast<std::size_t>(up)]) {
      const auto i = static_cast<std::size_t>(up);
      below[i] += rise, leaves[i] -= lost;
      ++version[i];
      if (leaves[i] > 1) offer(i);
    }
    path.node.push_back(static_cast<std::int64_t>(node));
    path.alpha.push_back(alpha);
    below[node] = risk[node];
    path.risk.push_back(below[0]);
  }
  return path;
}

}  // namespace weald
