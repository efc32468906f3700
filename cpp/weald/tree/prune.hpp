// Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weald/base/threads.hpp"
#include "weald/tree/shape.hpp"
#include "weald/tree/summarise.hpp"

namespace weald {

// The order in which weakest links are cut. After step k the tree has risk[k].
struct PruningPath {
  std::vector<std::int64_t> node;  // becomes a leaf
  std::vector<double> alpha;       // (R(t) - R(T_t)) / (leaves of T_t - 1) when it was cut
  std::vector<double> risk;        // sum of the leaves' risks afterwards
  double full_risk = 0;            // before the first cut
};

// `right` describes the tree in pre-order; `risk` is each node's share of weight times impurity.
PruningPath pruning_path(std::span<const std::int64_t> right, std::span<const double> risk, Interrupt& interrupt);

// Cuts the tree back to the smallest that minimises impurity + alpha * leaves; whether there was anything to cut.
bool prune(Shape& shape, Summary& nodes, double alpha, Interrupt& interrupt);

}  // namespace weald
