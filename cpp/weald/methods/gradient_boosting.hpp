// Gradient boosting: scores of every row, and trees that bring them closer to their targets.
//
// A round is differentiate, grow, (by the caller, who knows the step) the values of the leaves, add.
#pragma once

#include <deque>
#include <vector>

#include "weald/grow/node.hpp"
#include "weald/methods/column_copies.hpp"
#include "weald/methods/forest.hpp"
#include "weald/methods/losses.hpp"
#include "weald/stats/gradients.hpp"

namespace weald {

// How the trees of a round are grown.
struct RoundPlan {
  std::uint64_t key = 0;  // all random numbers follow from it
  bool newton = true;     // H: sums of hessians, else of weights
  double lambda = 0;
  std::span<const double> multipliers;  // how often each row counts; empty: once
  std::vector<std::uint32_t> columns;   // that may be tested; empty: all
  bool vector = false;                  // one tree for all scores instead of one for each
};

class GradientBoosting {
 public:
  // The matrix outlives this. Weights: one per row, or none.
  GradientBoosting(const Binned& matrix, const Rules& rules, std::size_t n_scores, std::span<const double> weights,
                   std::size_t threads);
  GradientBoosting(const GradientBoosting&) = delete;
  GradientBoosting& operator=(const GradientBoosting&) = delete;

  std::size_t n_rows() const { return matrix_.n_rows; }
  std::size_t n_scores() const { return n_scores_; }
  // n_scores x n_rows each: the caller may read and write them.
  BigVector<double> scores, gradients, hessians;

  // Fills gradients and hessians at the scores as they are; the weighted mean of the losses.
  double differentiate(const LossSpec& loss, std::span<const double> targets, Interrupt& interrupt) {
    return sum_losses(loss, targets, true, interrupt);
  }
  double mean_loss(const LossSpec& loss, std::span<const double> targets, Interrupt& interrupt) {
    return sum_losses(loss, targets, false, interrupt);
  }

  void grow(const RoundPlan& plan, Interrupt& interrupt);

  // Of the trees grown last; k: a score. A vector tree serves all of them.
  std::size_t n_leaves(std::size_t k) const { return tree_of(k).leaves.size(); }
  const BigVector<std::uint32_t>& leaf_of(std::size_t k, Interrupt& interrupt);  // of every row
  std::vector<GradientSums> leaf_sums(std::size_t k, Interrupt& interrupt) const;
  std::vector<double> leaf_quantiles(std::size_t k, std::span<const double> targets, double q,
                                     Interrupt& interrupt) const;
  std::vector<Bounds> bounds(std::size_t k) const;  // empty: none

  // Gives the leaves their values, and adds them to the scores.
  void add(std::size_t k, std::span<const double> values, Interrupt& interrupt);
  std::vector<Forest> trees(Interrupt& interrupt) const;  // each of one tree, with the values that were added

 private:
  struct Leaf {
    Row begin, end;
  };  // of the tree's rows
  struct Grown {
    Shape shape;
    std::vector<Leaf> leaves;
    BigVector<std::uint32_t> leaf_of;   // empty: not asked for yet
    BigVector<std::uint8_t> leaf_byte;  // the same, if all rows took part and there are few leaves
    std::vector<double> values;         // leaves x scores
    std::vector<double> gains, sums_h;  // of the nodes: what their splits gain, and their H
    std::vector<FineUnits> units;       // one per score of the tree
  };

  Grown& tree_of(std::size_t k) { return grown_[vector_ ? 0 : k]; }
  const Grown& tree_of(std::size_t k) const { return grown_[vector_ ? 0 : k]; }
  Derivatives derivatives_of(std::size_t k) const;
  void count_rows(const RoundPlan& plan);
  void grow_one(const RoundPlan& plan, std::size_t k, std::size_t threads, RowStatistics& memory, Interrupt& interrupt);
  void note_divided();
  void grow_vector(const RoundPlan& plan, Interrupt& interrupt);
  static BigVector<Row> forget(Grown& tree);
  void finish(Grown& tree, Shape shape, std::size_t threads, Interrupt& interrupt);
  void measure_nodes(Grown& tree, std::size_t k, const RoundPlan& plan, double g_unit, double h_unit,
                     Interrupt& interrupt);
  CompactTree pack_tree(const Grown& tree, Interrupt& interrupt) const;
  double sum_losses(const LossSpec& loss, std::span<const double> targets, bool derive, Interrupt& interrupt);

  Binned matrix_;  // a view of the caller's
  ColumnCopies copies_;
  Rules rules_;
  std::size_t n_scores_, threads_;
  std::vector<double> weights_;  // empty: 1
  bool whole_weights_ = true;
  double total_weight_ = 0;
  // The weights of a round: those of the rows times how often they count.
  BigVector<double> counted_;
  const double* round_weights_ = nullptr;
  bool round_whole_ = true;
  double round_total_ = 0;
  bool vector_ = false;
  std::vector<Grown> grown_;
  std::vector<RowStatistics> memory_;  // of the trees before, for the next
  std::vector<std::uint32_t> n_categories_;
  std::deque<PageCache> pages_;  // of each thread
};

}  // namespace weald
