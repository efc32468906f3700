// Trees of few leaves, asked without walking (Lucchese et al. 2015, QuickScorer).
//
// A tree's leaves are bits, numbered from left to right. A test that says "no" rules out the leaves
// below its "yes" branch; of those that no test rules out, the first is where the row ends. The order
// of the tests is nothing, so that every test of a tree is asked of many rows at once, in vector
// registers, without a branch and without waiting for the answer to the test above:
//
//   x <= 3 ?    no: 1100                     both "no":  1100 & 1011 = 1000  -> leaf 3
//     x <= 1 ?  y <= 5 ?   no: 1110, 1011    "yes", "no", "yes":   1110      -> leaf 1
//
#pragma once

#include "weald/tree/predict.hpp"

namespace weald {

// Can these trees be asked in this way, and does it pay?
bool masks_fit(const Question& question, const Adding& adding, std::size_t n_rows);

// As add_values: the same sums, added in the same order.
template <class T>
void add_by_masks(const Question& question, const Table<T>& table, bool vote, std::size_t threads, double* sums,
                  Interrupt& interrupt);

}  // namespace weald
