// Grows one tree.
#pragma once

#include "bins.hpp"
#include "rows.hpp"

namespace weald {

enum class Frontier { DepthFirst, BestFirst, ByLevel };  // which open node is split next

struct Rules {
  std::size_t max_depth = std::numeric_limits<std::size_t>::max();
  std::size_t min_samples_split = 2;
  std::size_t min_samples_leaf = 1;
  double min_weight_leaf = 0;          // in the caller's weight
  double min_decrease = 0;             // of weight x impurity, in the caller's weight
  std::size_t max_leaves = 0;          // 0: no limit
  std::size_t max_features = 0;        // columns tried per node; 0: all
  bool random_split = false;
  bool random_ties = false;            // between columns; else the lower wins
  Frontier frontier = Frontier::DepthFirst;
  std::vector<std::int8_t> monotone;   // per column, or empty
  // Gradients: added to lambda where categories are put in order and divided, so that a split of categories
  // has to gain more than one of numbers. Categories with less H than so many rows have on average do not
  // choose their side: they go where the missing values go.
  double category_smoothing = 0;
  // Columns that may meet on a path from the root to a leaf: those of one of these sets. Empty: any.
  std::vector<std::vector<std::uint32_t>> interactions;
  double prune_alpha = 0;              // price of a leaf in cost-complexity pruning, for forests
  std::uint64_t seed = 0;
};

// The shape of a grown tree, in pre-order: the left child of node i is i + 1. What the nodes
// predict is computed afterwards from their rows.
struct Shape {
  BigVector<std::int32_t> right;             // -1: leaf
  BigVector<std::int32_t> feature;           // -2: leaf
  BigVector<double> threshold;               // NaN: categorical
  BigVector<std::uint8_t> missing_left;  
  BigVector<std::int32_t> set_begin;         // into `sets`; -1: numeric or leaf
  std::vector<std::uint32_t> sets;           // bit c of a node's words: category c goes left
  BigVector<double> lower, upper;            // bounds of the node's value; empty: none is bounded
  BigVector<Row> begin, end;                 // the node's rows are rows[begin, end)
  BigVector<Row> rows;                       // rows of the matrix, leaf after leaf
  BigVector<Lane> sums;                      // if statistics are pairs: G << 32 | H of every node

  std::size_t size() const { return right.size(); }
};

class HistogramPool;

// Uses up stats.rows. `pool`: memory that the trees of a boosting pass on; null: none.
Shape grow_tree(const Binned& matrix, Statistics& stats, const Rules& rules,
                std::size_t threads, Interrupt& interrupt, HistogramPool* pool = nullptr);

}  // namespace weald
