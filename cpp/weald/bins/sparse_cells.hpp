// The codes of a sparse table: only of the cells that are filled.
//
//   column 0   row 7: code 0, row 2: code 2, row 5: code 2     in the order of codes
//   row 2      column 0: code 2, column 9: code 1              in the order of columns
//
// A cell that is not listed has its column's usual code, that of 0. A listed one may have it too.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "weald/base/memory.hpp"
#include "weald/bins/binned_matrix.hpp"

namespace weald {

// The filled cells of some rows, column by column.
struct CellLists {
  static constexpr std::size_t kNone = ~std::size_t{0};

  // The columns that have lists, ascending; a bit for each of all columns; and how many lists come before each word of
  // bits. No bits: list k is that of column k.
  std::vector<std::uint32_t> columns;
  std::vector<std::uint64_t> present;
  std::vector<std::uint32_t> ranks;
  BigVector<std::uint32_t> begin;  // of each list, and the end of the last
  BigVector<std::uint8_t> rows;    // and some behind the last, which are looked at ahead of time
  BigVector<std::uint8_t> codes;
  std::uint8_t width = 1, row_width = 4;  // bytes per code and row

  CellLists() = default;
  CellLists(std::size_t n_rows, std::uint8_t code_width) : width(code_width), row_width(width_for(n_rows)) {}
  std::size_t size() const { return begin.size() - 1; }
  std::size_t n_cells() const { return begin.back(); }
  void resize(std::size_t cells) {
    rows.resize((cells + kPrefetchRows) * row_width);
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(cells * row_width), rows.end(), std::uint8_t{0});
    codes.resize(cells * width);
  }
  std::uint32_t column(std::size_t k) const { return present.empty() ? static_cast<std::uint32_t>(k) : columns[k]; }
  std::size_t size_of(std::size_t k) const { return begin[k + 1] - begin[k]; }
  // The list of a column; kNone: all its cells are as usual.
  std::size_t list_of(std::uint32_t j) const {
    if (present.empty()) return j;
    const std::uint64_t word = present[j / 64], bit = std::uint64_t{1} << (j % 64);
    return word & bit ? ranks[j / 64] + static_cast<std::size_t>(std::popcount(word & (bit - 1))) : kNone;
  }
  // Calls fn(rows, codes, n) for the k-th list.
  template <class Fn>
  decltype(auto) visit(std::size_t k, Fn&& fn) const {
    return with_codes(width, codes.data(), [&](const auto* typed) {
      return with_codes(row_width, rows.data(),
                        [&](const auto* of) { return fn(of + begin[k], typed + begin[k], size_of(k)); });
    });
  }
  void mark(std::uint32_t j) { present[j / 64] |= std::uint64_t{1} << (j % 64); }
  void take_marked();  // lists are those of the columns that are marked

  // A column with a code for each of n rows, in `memory`.
  Column expand(const Column& column, std::uint32_t j, std::size_t n, BigVector<std::uint8_t>& memory) const;
};

struct SparseCells {
  CellLists lists;  // of all columns
  // The same row by row. Where the columns are those of the caller's table they are not kept again.
  const std::int64_t* row_begin = nullptr;
  const std::int32_t* row_columns = nullptr;
  BigVector<std::uint8_t> row_codes;
  bool bins = false;                      // codes are quantile bins, as rows of bytes are in a dense table
  std::vector<std::uint32_t> slot_begin;  // bins: of each column's cells in a histogram of all, and the end of the last
  BigVector<std::int64_t> own_begin;
  BigVector<std::int32_t> own_columns;
};

// Some of the columns, which may come more than once.
std::shared_ptr<const SparseCells> take_columns(const SparseCells& cells, std::size_t n_rows,
                                                std::span<const std::uint32_t> columns);

}  // namespace weald
