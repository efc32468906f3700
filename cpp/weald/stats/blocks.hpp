// The rows of a node, and how they are kept close together.
//
// A block is a set of rows with their codes and statistics. The first block is the whole matrix;
// when a node has become much smaller than its block, its rows are gathered into a block of their
// own. There the codes that no longer occur are squeezed out, so that the number of codes stays
// near the number of rows and a histogram of *ranks* stays as cheap as a histogram of bins. This is
// what makes the exact tree cost O(d n log n) with no sorting after the first: squeezing keeps the
// order.
//
//   codes of a column in the parent   3 9 9 4 7 3      n_codes 10, six rows
//   squeezed                          0 3 3 1 2 0      n_codes 4
#pragma once

#include <memory>
#include <span>

#include "weald/bins/bins.hpp"
#include "weald/bins/bundles.hpp"
#include "weald/bins/sparse_cells.hpp"
#include "weald/stats/all_columns.hpp"
#include "weald/stats/statistics.hpp"

namespace weald {

struct Block {
  std::size_t n_rows = 0;
  std::span<const Column> columns;
  View<const Lane> words;                // stored_per_row() each, as in Statistics
  View<const std::uint8_t> class_bytes;  // or these
  View<const std::uint32_t> hot;
  View<const Row> origin;                   // row of the matrix; null: the same
  std::size_t most_codes = 0;               // largest number of slots of any column
  bool bytes = true;                        // is every code a byte? Categories beside keys are not, however few
  bool gathered = false;                    // columns contiguous?
  const std::uint8_t* row_bytes = nullptr;  // row-major bytes, as in BinnedMatrix
  std::size_t row_stride = 0;
  std::vector<std::uint32_t> places;       // of the columns within a row of bytes
  std::shared_ptr<const Bundles> bundles;  // the same rows in fewer bytes
  std::shared_ptr<const CellLists> lists;  // a sparse table: the filled cells of the rows; the columns have no data

  // What a gathered block owns.
  std::vector<Column> column_storage;
  BigVector<std::uint8_t> code_storage;
  std::vector<std::vector<Code>> decode_storage;
  std::vector<std::vector<double>> low_storage, high_storage;
  BigVector<Lane> word_storage;
  BigVector<std::uint32_t> hot_storage;
  BigVector<Row> origin_storage;

  Row original(Row row) const { return origin ? origin[row] : row; }
  // What histograms are counted from: rows of bundles, or of columns.
  ByteRows byte_rows() const {
    if (bundles) return {bundles->bytes.data(), bundles->size(), bundles->places, true};
    bool side_by_side = places.size() == row_stride;
    for (std::size_t j = 0; side_by_side && j < places.size(); ++j) side_by_side = places[j] == j;
    return {row_bytes, row_stride, places, side_by_side};
  }
};

// What some rows of a block add, as it is kept, and (OneHot) the channels to add to, one row after another.
void copy_statistics(const Block& block, const Row* rows, std::size_t n, const Statistics& stats,
                     BigVector<Lane>& words, BigVector<std::uint32_t>& hot);

// The whole matrix as a block.
std::shared_ptr<const Block> whole_block(const Binned& matrix, const Statistics& stats);

// The given rows of a block as a block of their own.
std::shared_ptr<const Block> gather_block(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats,
                                          Interrupt& interrupt);

// Is a node of n rows small enough, compared with its block, to be worth a block of its own?
bool worth_gathering(const Block& block, std::size_t n, std::size_t columns_per_node);

// The same for row-major bytes as they are: only to bring the rows of a subtree into the first cache.
std::shared_ptr<const Block> gather_rows(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats);
bool worth_gathering_rows(const Block& block, std::size_t n);

// The same for a sparse table: only the filled cells of the rows, of columns that have at least so many. `counts` is
// scratch, one for each column, all zero between calls.
std::shared_ptr<const Block> gather_cells(const Block& parent, const SparseCells& cells, const Row* rows, std::size_t n,
                                          std::size_t least, const Statistics& stats,
                                          std::vector<std::uint32_t>& counts);
bool worth_gathering_cells(const Block& block, std::size_t n);

// Weight of some rows of a block, in units of H.
double weight_of_rows(const Block& block, const Statistics& stats, const Row* rows, std::size_t n);

}  // namespace weald
