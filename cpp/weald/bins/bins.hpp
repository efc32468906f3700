// Turns raw values into codes: ranks of the distinct values (exact mode) or quantile bins.
#pragma once

#include "weald/base/threads.hpp"
#include "weald/bins/binned_matrix.hpp"

namespace weald {

// A dense table as the caller has it; strides in elements. NaN is missing. A categorical column
// holds category numbers 0..n_categories-1.
template <class T>
struct Table {
  const T* data;
  std::size_t n_rows, n_columns;
  std::size_t row_stride, column_stride;
  bool complete = false;  // known to have no missing values

  T at(std::size_t row, std::size_t column) const { return data[row * row_stride + column * column_stride]; }
};

// A sparse table in rows: the columns of a row's filled cells, ascending, and their values. The others are 0.
template <class T>
struct SparseTable {
  const T* data;
  std::size_t n_rows, n_columns;
  const std::int32_t* columns;
  const std::int64_t* begin;  // of each row, and the end
};
template <class AnyTable>
constexpr bool kSparse = requires(AnyTable table) { table.begin; };

// How values become codes. Ranks: one code per distinct value, found by sorting. Bins: quantiles.
// Keys: the value's own bits, which is all that random cuts need; doubles are rounded down to floats.
enum class Coding { Ranks, Bins, Keys };

struct BinRequest {
  Coding coding = Coding::Ranks;
  std::size_t max_bins = 0;               // for Bins: 2..255
  std::vector<std::uint32_t> categories;  // per column: number of categories, 0 for numeric
  const double* weights = nullptr;        // quantiles are weighted; rows of weight 0 do not count
  bool bundled = false;                   // Bins: look for columns that can share a byte
};

// A binned matrix together with the codes its categories were given.
struct Binned : BinnedMatrix {
  std::vector<std::vector<Code>> category_code;  // per categorical column: category -> code; none of a sparse table
  std::vector<std::vector<Code>> own_category;   // if categories share the last code: the others' categories
};

// The same codes under another name, for columns of one's own. The matrix outlives it.
Binned view_of(const Binned& matrix);

template <class T>
Binned bin_table(const Table<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt);

// The same codes as if it were dense, for columns of numbers (sparse_cells.cpp).
template <class T>
Binned bin_table(const SparseTable<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt);

}  // namespace weald
