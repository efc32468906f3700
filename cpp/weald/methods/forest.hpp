// Grows the trees of a forest: each from its own draw of rows and columns.
#pragma once

#include "weald/grow/grow_tree.hpp"
#include "weald/methods/sampling.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

Outputs outputs_of(const Target& target);
std::vector<std::uint32_t> categories_of(const Binned& matrix);  // per column, 0 for numeric

// Grows a tree on some columns of the matrix; none given: on all.
Shape grow_in_columns(const Binned& matrix, Statistics& stats, const Rules& rules,
                      const std::vector<std::uint32_t>& columns, std::size_t threads, Interrupt& interrupt);

// Which leaf each row is in, leaves counted from left to right: of the rows that a tree was grown on (the number of leaves
// is returned), and of all rows of the matrix, which walk down a forest of one tree.
std::size_t number_leaves(const Shape& shape, std::uint32_t* leaf_of);
void number_leaves(const Forest& one, const Binned& matrix, std::size_t threads, std::uint32_t* leaf_of,
                   Interrupt& interrupt);

struct ForestPlan {
  Criterion criterion = Criterion::Gini;
  Rules rules;
  Draw draw;
  bool balance = false;  // weigh classes by their inverse frequency in each draw
  std::uint64_t seed = 0;
  bool keep_rows = false;
};

// Trees first..last-1 of the forest with this seed. A tree depends on the seed and its number, and on
// no other tree.
std::vector<CompactTree> grow_forest(const Binned& matrix, const Target& target, const ForestPlan& plan,
                                     std::size_t first, std::size_t last, std::size_t threads, Interrupt& interrupt);

// Bit i of the words of tree t - first: was row i drawn for tree t?
BigVector<std::uint64_t> drawn_rows(const Draw& draw, std::size_t n_rows, std::uint64_t seed, std::size_t first,
                                    std::size_t last, std::size_t threads, Interrupt& interrupt);

}  // namespace weald
