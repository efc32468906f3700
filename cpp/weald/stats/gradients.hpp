// The gradients of a loss as what rows add to a node.
//
// Gradients are real numbers, but every sum of the engine is one of whole numbers. They are cut twice,
// each time so that the sum over all rows just fits:
//
//   fine   2^50 in all, a double a row     leaf values
//   pair   2^30 in all, G << 32 | H a row  the search for splits: one add serves both sums
//
// Sums of whole numbers do not depend on their order, in doubles below 2^53 as little as in integers. A
// whole weight multiplies the cut number, so that weight k is exactly k rows.
#pragma once

#include "weald/base/threads.hpp"
#include "weald/stats/statistics.hpp"

namespace weald {

// The derivatives of each row's loss with respect to one score of a model.
struct Derivatives {
  std::size_t n_rows = 0;
  const double* gradient = nullptr;
  const double* hessian = nullptr;  // null: 1
  const double* weight = nullptr;   // null: 1; rows of weight 0 take no part
  bool whole_weights = true;
  double total_weight = 0;
};

// One unit of each fine sum, as its inverse: powers of two.
struct FineUnits {
  double per_g = 1, per_h = 1, per_w = 1;
  double sum_g = 0, sum_h = 0;  // of |g| and h over all rows, in these units
};

FineUnits choose_fine_units(const Derivatives& given, std::size_t threads, Interrupt& interrupt);

// Sums of w g, w h and w over rows, in the caller's units.
struct GradientSums {
  double g = 0, h = 0, w = 0;
};
GradientSums sum_gradients(const Derivatives& given, const FineUnits& units, const Row* rows, std::size_t n);

// The same over all rows, for each group of so many.
std::vector<GradientSums> sum_gradients_by(const Derivatives& given, const FineUnits& units, const std::uint8_t* group,
                                           const std::vector<std::size_t>& sizes, std::size_t threads,
                                           Interrupt& interrupt);

// Pairs for growing a tree. `newton`: H is the sum of hessians, else of weights. If a leaf must have
// several rows and H does not count them, `with_counts` puts counts beside the pairs; else the search has
// to count (NodeSearch::decide).
Statistics make_gradient_statistics(const Derivatives& given, const FineUnits& units, bool newton, double lambda,
                                    std::size_t min_samples_leaf, bool with_counts, RowStatistics memory,
                                    std::size_t threads, Interrupt& interrupt);

}  // namespace weald
