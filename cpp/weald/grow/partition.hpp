// Divides the rows of a node by its split.
#pragma once

#include "weald/search/column_search.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

// The test of a split in the caller's values: `x <= threshold` goes left. NaN for categories, +inf
// for present | missing.
double threshold_of(const Block& block, const Split& split, const RawTable& raw, const Row* rows, std::size_t n);

// Moves the rows that go left to the front, keeping the order on both sides: [cef|abdghijkl].
// Returns how many go left.
std::size_t partition_rows(const Block& block, const Split& split, Row* rows, std::size_t n, BigVector<Row>& scratch,
                           std::size_t threads, Interrupt& interrupt);

}  // namespace weald
