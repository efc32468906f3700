// AdaBoost: tree after tree on the same rows, under weights that each tree changes.
//
// A round is grow, then (by the caller, who knows the method) what each leaf says and how much the tree
// counts, then reweight. What depends on a row only through its leaf and class is computed once for
// each of them, so that the rows themselves cost one multiplication.
#pragma once

#include "weald/methods/forest.hpp"

namespace weald {

class AdaBoost {
 public:
  // `target` without weights or counts; it and the matrix outlive this. What the rules say of weights is
  // in shares of their sum.
  AdaBoost(const Binned& matrix, const Target& target, Criterion criterion, const Rules& rules,
           std::span<const double> weights, std::size_t threads);

  // Grows a tree under the weights as they are or, to resample, on as many rows as there are (one of whole
  // weight k is k of them) drawn by their weights. All random numbers follow from the key.
  void grow(std::uint64_t key, bool resample, Interrupt& interrupt);

  // Of the tree grown last: the leaf of each row, leaves counted from left to right ...
  std::span<const std::uint32_t> leaf_of() const { return leaf_of_; }
  std::size_t n_leaves() const { return n_leaves_; }
  // ... what each leaf predicts, n_leaves x width, and the share of each class of rows in it of all weight.
  std::vector<double> leaf_values(Interrupt& interrupt) const;
  const std::vector<double>& class_weights() const { return class_weights_; }

  // Row i weighs factor[leaf, class] times as much; then all are divided by their sum, which is returned.
  double reweight(std::span<const double> factors, Interrupt& interrupt);
  // Or row i weighs so much in all, times its count if the weights were whole.
  void set_factors(std::span<const double> factors);
  std::vector<double> weights() const;  // 1 in total

  // The tree grown last, as a forest of one.
  Forest tree() const { return {criterion_, outputs_, n_categories_, {tree_}}; }
  const Outputs& outputs() const { return outputs_; }

 private:
  std::size_t n_classes() const { return target_.n_classes[0]; }
  Lane count(std::size_t i) const { return counts_.empty() ? 1 : counts_[i]; }
  std::size_t chunk_begin(std::size_t chunk) const { return target_.n_rows * chunk / chunks_; }
  void set_weights(std::span<const double> weights);
  void cut_factors();
  void place_rows(const Shape& shape);
  void weigh_classes(Interrupt& interrupt);
  void weigh_light_cells(const std::vector<Lane>& units, Lane light);
  Summary summarise_tree(const Shape& shape, const Target& target, Interrupt& interrupt) const;

  const Binned& matrix_;
  Target target_;
  Criterion criterion_;
  Rules rules_;
  std::size_t threads_, chunks_;
  // A row's weight is count x factor / total. Whole weights are counts, so that boosting changes k rows
  // and a row of weight k in the same way; others are factors.
  std::vector<std::uint32_t> counts_;  // empty: 1
  std::vector<double> factors_;
  // The same in whole units: what is summed, so that the order of rows does not matter, nor whether k of them
  // come one by one.
  std::vector<Lane> units_;
  double per_unit_ = 1, total_ = 1;
  std::size_t n_present_ = 0;  // rows of positive weight, one of whole weight k as k
  std::vector<double> class_weights_;
  PageCache pages_;
  RowStatistics memory_;  // of the tree before, for the next
  std::vector<std::uint32_t> leaf_of_;
  std::size_t n_leaves_ = 0;
  Outputs outputs_;
  std::vector<std::uint32_t> n_categories_;
  CompactTree tree_;
};

}  // namespace weald
