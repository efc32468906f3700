// The search for the best split of a node.
#pragma once

#include <cmath>
#include <span>

#include "weald/base/random.hpp"
#include "weald/base/threads.hpp"
#include "weald/bins/sparse_cells.hpp"
#include "weald/search/scan.hpp"
#include "weald/stats/histogram.hpp"

namespace weald {

// Which of two columns that split equally well is taken: the lower, or (if there is a key) a random
// one. Deep nodes are full of ties; in a forest they must not all favour the first columns.
struct TieBreak {
  std::uint64_t key = 0;
  std::uint64_t rank(std::uint32_t column) const { return key == 0 ? column : mix(key ^ column); }
  bool prefers(std::uint32_t a, std::uint32_t b) const { return rank(a) < rank(b); }
};

// A split of one column, in the codes of the block it was found in.
struct Split {
  double score = -kInf;  // S(left) + S(right)
  std::uint32_t column = 0;
  bool missing_left = false;
  bool categorical = false;
  bool had_missing = false;                // were there missing values to place?
  Code last_left = 0, first_right = 0;     // numeric: codes up to last_left go left
  double random_threshold = kNaN;          // numeric: where the random rule cut
  std::vector<Code> left_codes;            // categorical: the codes that go left
  Lane left_sum = 0;                       // Packed: what the left side adds up to
  double left_value = 0, right_value = 0;  // G / H of the sides, for bounds of monotone columns

  bool found() const { return score > -kInf; }

  // Whatever the order of the search, a tie goes to the same column.
  bool loses_to(double other_score, std::uint32_t other_column, TieBreak ties) const {
    return other_score > score || (other_score == score && found() && ties.prefers(other_column, column));
  }
};

// The first and last code present, and whether values are missing. Nothing present: first > last.
struct Extremes {
  Code first, last;
  bool has_missing;
};

// Reusable memory of one searching thread. `cells` are all zero between columns.
struct SplitScratch {
  BigVector<Lane> cells;
  BigVector<Lane> sorted;  // cells that are not zero between columns: of a list, of all codes, of two sides
  BigVector<std::uint32_t> head, next;  // chains of rows; heads are all zero between columns
  BigVector<Code> codes;                // only ever grows, so that no column pays for clearing it
  BigVector<std::uint32_t> group_rows;  // where rows are counted: of each code, of a sparse column of each group
  BigVector<std::uint8_t> expanded;     // ... or a code for each row
  std::size_t list = 0;                 // of the sparse column at hand
  std::span<Code> order;                // codes present in the node, in scanning order
  std::size_t unpolled = 0;             // rows looked at since the last question
};

// What cuts in columns of many categories have to gain, in units of the score (category_price.hpp).
struct CategoryPrice {
  double each = 0;     // for every category beyond the second
  double own = -kInf;  // S(node)
  double most = kInf;  // no cut gains more

  double of(std::size_t categories) const { return categories > 2 ? each * static_cast<double>(categories - 2) : 0; }
};

struct SearchRequest {
  const Channels* stats = nullptr;
  const Channels* category_stats = nullptr;  // for categorical columns; null: the same
  const RawTable* raw = nullptr;
  View<const Row> origin;                 // of the block's rows; null: the same
  Limits limits;                          // without the column's own direction
  const std::int8_t* monotone = nullptr;  // per column
  bool random = false;                    // one random cut per column instead of the best
  // A sparse table: the filled cells of the block, and of each of its rows what it adds (Packed) or else its place in
  // the node, from 1; 0: it is not in the node.
  const CellLists* lists = nullptr;
  View<const Lane> known_of_row;
  std::size_t block_rows = 0;
  bool counts = false;  // sides must have min_rows, which the sums do not count: scratch.group_rows does
  Lane min_rows = 1;
  const CategoryPrice* price = nullptr;  // null: cuts of categories are free
  TieBreak ties;
  std::uint64_t node_key = 0;  // of the node's random cuts
  Interrupt* interrupt = nullptr;

  bool plain() const { return limits.plain() && monotone == nullptr; }
};

// Looks for the best (or tries a random) split of column j over the node's rows and puts it into
// `best` if it is better. `ready`, if given, holds the column's histogram. Returns whether the column
// varies here at all; one of many categories whose cuts do not pay counts as constant.
bool search_column(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
                   const Lane* total, const Lane* ready, SplitScratch& scratch, Split& best);

// S(node): what the gain of its split is measured against.
double node_score(const SearchRequest& request, const NodeRows& node, const Lane* total);

}  // namespace weald
