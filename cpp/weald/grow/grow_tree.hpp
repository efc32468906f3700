// Grows one tree.
#pragma once

#include "weald/bins/bins.hpp"
#include "weald/stats/statistics.hpp"
#include "weald/tree/shape.hpp"

namespace weald {

enum class Frontier { DepthFirst, BestFirst, ByLevel };  // which open node is split next

struct Rules {
  std::size_t max_depth = std::numeric_limits<std::size_t>::max();
  std::size_t min_samples_split = 2;
  std::size_t min_samples_leaf = 1;
  double min_weight_leaf = 0;    // in the caller's weight
  double min_decrease = 0;       // of weight x impurity, in the caller's weight
  std::size_t max_leaves = 0;    // 0: no limit
  std::size_t max_features = 0;  // columns tried per node; 0: all
  bool random_split = false;
  bool random_ties = false;  // between columns; else the lower wins
  Frontier frontier = Frontier::DepthFirst;
  std::vector<std::int8_t> monotone;  // per column, or empty
  // Gradients: added to lambda where categories are put in order and divided, so that a split of categories
  // has to gain more than one of numbers. Categories with less H than so many rows have on average do not
  // choose their side: they go where the missing values go.
  double category_smoothing = 0;
  double row_weight = 0;  // what a row weighs on average, for the price of categories; 0: as the weights tell
  // Columns that may meet on a path from the root to a leaf: those of one of these sets. Empty: any.
  std::vector<std::vector<std::uint32_t>> interactions;
  double prune_alpha = 0;  // price of a leaf in cost-complexity pruning
  std::uint64_t seed = 0;
};

// Uses up stats.rows.
Shape grow_tree(const Binned& matrix, Statistics& stats, const Rules& rules, std::size_t threads, Interrupt& interrupt);

}  // namespace weald
