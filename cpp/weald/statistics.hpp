// What a row adds to a node: integer channels made from targets and weights.
//
// Every sum in the engine is a sum of 64-bit integers. Integer addition is associative, so a model
// does not depend on the order of rows, the number of threads or the way rows are cut into shards,
// and a row of weight k adds exactly what k copies of it add.
#pragma once

#include <vector>

#include "types.hpp"

namespace weald {

enum class Criterion { Squared, Gini, Entropy, Misclassification, Poisson, Absolute };

inline bool is_classification(Criterion c) {
  return c == Criterion::Gini || c == Criterion::Entropy || c == Criterion::Misclassification;
}

// The targets as the caller has them: class numbers or real values, row-major (n, outputs).
struct Target {
  std::size_t n_rows = 0;
  std::size_t n_outputs = 1;
  const std::int32_t* classes = nullptr;
  std::vector<std::uint32_t> n_classes;  // per output, for classification
  const double* values = nullptr;
  const double* weights = nullptr;       // null: every row weighs 1
};

// How the lanes of one cell (a node's or a bin's sums) are laid out:
//
//   Packed   one lane:  G << 32 | H     two classes, small whole weights: one add per row
//   Dense    count, H, G_1 .. G_k       real targets and weighted two-class tasks
//   OneHot   count, H, G_1 .. G_k       classes: a row adds to `count`, `H` and one G per output
enum class Layout { Packed, Dense, OneHot };

struct Statistics {
  Layout layout = Layout::Dense;
  Criterion criterion = Criterion::Squared;
  std::size_t lanes = 0;
  std::size_t channels = 0;         // number of G sums
  std::size_t n_outputs = 1;
  std::vector<std::uint32_t> offset;  // OneHot: first channel of each output, and the end
  double h_unit = 1;                // one unit of H in the caller's weight
  double g_unit = 1;                // one unit of G, in weight x target
  double g_centre = 0;              // real targets are measured from here
  bool whole_weights = false;
  double total_weight = 0;

  // Per row: Packed -> the word; Dense -> `lanes` numbers; OneHot -> the weight.
  std::vector<Lane> words;
  std::vector<std::uint32_t> hot;   // OneHot: per row and output, the channel to add to
  const double* targets = nullptr;  // real targets as given (n x outputs), to see pure nodes
  std::vector<Row> rows;            // the rows that take part: those with positive weight

  std::size_t words_per_row() const { return layout == Layout::Dense ? lanes : 1; }
};

// min_samples_leaf tells whether row counts are needed beside weights.
Statistics make_statistics(const Target& target, Criterion criterion,
                           std::size_t min_samples_leaf);

}  // namespace weald
