// What a row adds to a node: integer channels made from targets and weights.
//
// Every sum in the engine is a sum of 64-bit integers. Integer addition is associative, so a model
// does not depend on the order of rows, the number of threads or the way rows are cut into shards,
// and a row of weight k adds exactly what k copies of it add.
#pragma once

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "weald/base/checks.hpp"
#include "weald/base/memory.hpp"
#include "weald/base/threads.hpp"
#include "weald/base/types.hpp"

namespace weald {

// The table of criteria: what each is called in here, where its struct is (stats/criterion.hpp), and outside.
#define WEALD_CRITERIA(ROW)                   \
  ROW(Squared, "squared_error")               \
  ROW(Gini, "gini")                           \
  ROW(Entropy, "entropy")                     \
  ROW(Misclassification, "misclassification") \
  ROW(Poisson, "poisson")                     \
  ROW(Absolute, "absolute_error")

#define WEALD_VALUE(kind, name) kind,
enum class Criterion { WEALD_CRITERIA(WEALD_VALUE) };
#undef WEALD_VALUE

const char* name_of(Criterion criterion);
Criterion criterion_of(std::string_view name);  // throws std::invalid_argument if there is none of this name

// The targets as the caller has them: class numbers or real values, row-major (n, outputs).
struct Target {
  std::size_t n_rows = 0;
  std::size_t n_outputs = 1;
  const std::int32_t* classes = nullptr;
  std::vector<std::uint32_t> n_classes;  // per output, for classification
  const double* values = nullptr;
  const double* weights = nullptr;        // null: every row weighs 1
  const std::uint32_t* counts = nullptr;  // how often each row was drawn; null: once
  double total_weight = 0;                // exactly, if it is known; 0: not

  double factor(Row row) const { return weights ? weights[row] : 1.0; }
  double weight(Row row) const { return counts ? factor(row) * counts[row] : factor(row); }
  // Is what a row weighs each time a whole number? Two halves are not: they must be what two rows of a half are.
  bool whole(Row row) const { return !weights || weights[row] == std::floor(weights[row]) || weight(row) == 0; }
};

// The word of a row of weight h.
inline Lane packed_word(Lane h, bool second_class) {
  return h | (h << 32 & -static_cast<Lane>(second_class));  // no branch: classes cannot be foretold
}
inline bool pure_word(Lane packed) { return packed >> 32 == 0 || packed >> 32 == (packed & 0xFFFFFFFF); }
inline Lane unpack_class_byte(std::uint8_t byte) { return packed_word(byte >> 1, (byte & 1) != 0); }

// How the lanes of one cell (a node's or a bin's sums) are laid out:
//
//   Packed   one lane:  G << 32 | H     two classes, small whole weights: one add per row
//                                       or gradient pairs, G of any sign (stats/gradients.hpp)
//   Dense    count, H, G_1 .. G_k       real targets and weighted two-class tasks
//   OneHot   count, H, G_1 .. G_k       classes: a row adds to `count`, `H` and one G per output
enum class Layout { Packed, Dense, OneHot };

// What the lanes of a cell mean.
struct Channels {
  Layout layout = Layout::Dense;
  Criterion criterion = Criterion::Squared;
  std::size_t lanes = 0;
  std::size_t channels = 0;  // number of G sums
  std::size_t n_outputs = 1;
  std::vector<std::uint32_t> offset;  // OneHot: first channel of each output, and the end
  double h_unit = 1;                  // one unit of H in the caller's weight
  bool unit_weights = true;           // every row weighs 1
  bool whole_weights = true;          // H counts in ones
  double row_h = 1;                   // H of one row: whole weights count rows, others are 1 on average
  bool gradients = false;             // G is a sum of negative gradients, of any sign: no node is pure
  bool counted = true;                // the number of rows is known: by a lane of its own, or as H
  Lane counted_as = 1;                // ... where every row adds so much
  Lane least_h =
      std::numeric_limits<Lane>::max();  // no row has less; a row so light that it has none still counts as one
  Lane most_h = 0;                       // no row has more, unless classes are bytes
  double lambda = 0;                     // added to H in scores and values, in units of H
  double order_lambda = 0;               // added to H where categories are put in order
  double least_category = 0;             // categories of less H do not choose their side, in units of H
  // Real targets: G counts in units of g_unit, from g_centre. Every node has its own, so that an
  // outlier elsewhere in the data costs it no precision.
  double g_unit = 1;  // in weight x target
  double g_centre = 0;
  const double* targets = nullptr;        // as given, n x outputs
  const std::uint32_t* counts = nullptr;  // how often each row counts, if not once and weights are not whole
  // Entropy of whole weights: x log2 x as fixed-point numbers, so that sums of them are exact. Unit 0: too
  // many, or not whole. For x = 0, 1, .. in a table, far quicker than logarithms. Null: few rows of much weight.
  double xlog2x_unit = 0;
  const Lane* xlog2x = nullptr;

  std::size_t words_per_row() const { return layout == Layout::Dense ? lanes : 1; }
};

// What statistics say of each row. The next tree's take the memory over, never what is in it.
struct RowStatistics {
  // Packed -> the word; weighted two classes -> count, H, G; OneHot and real targets -> H.
  BigVector<Lane> words;
  BigVector<std::uint8_t> class_bytes;  // Packed, weights up to 127: H << 1 | class instead of the word
  BigVector<std::uint32_t> hot;         // OneHot: per row and output, the channel to add to
  BigVector<Row> rows;                  // the rows that take part: those with positive weight

  void forget() {
    spoil(words.data(), words.size()), spoil(class_bytes.data(), class_bytes.size());
    spoil(hot.data(), hot.size()), spoil(rows.data(), rows.size());
    words.clear(), class_bytes.clear(), hot.clear(), rows.clear();
  }
};

struct Statistics : Channels, RowStatistics {
  Statistics() = default;
  explicit Statistics(RowStatistics memory) : RowStatistics(std::move(memory)) { forget(); }

  double total_weight = 0;
  Lane sum = -1;                   // Packed: of all rows, if it is known; -1: not
  double mean_h = 1;               // H of all rows by their weight
  bool light_two_classes = false;  // Packed, Gini, weights up to 127
  BigVector<Lane> xlog2x_table;

  bool real() const { return targets != nullptr; }
  const double* target_of(Row row) const { return targets + std::size_t{row} * n_outputs; }
  std::size_t stored_per_row() const { return real() ? 1 : words_per_row(); }
};

// How finely weights that are not whole are cut: so that their sum stays below 2^52, or (if that lets
// two classes fit into one word) below 2^31, which among many rows changes no sum that matters.
enum class Precision { Fine, Word };

// min_samples_leaf tells whether row counts are needed beside weights. `memory`: of earlier statistics,
// to be used again.
Statistics make_statistics(const Target& target, Criterion criterion, std::size_t min_samples_leaf,
                           Interrupt& interrupt, Precision precision = Precision::Fine, RowStatistics memory = {});

// Measures the real targets of a node of n rows and weight total_h, which lie between low and high:
// chooses centre and unit so that no sum can pass 2^61.
void choose_units(Channels& channels, std::size_t n, double total_h, double low, double high);

}  // namespace weald
