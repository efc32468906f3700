// The best cuts of up to sixteen columns of bytes at once, in a node of few rows. A key is a code and the row that has it;
// the keys of a row lie side by side, so that one instruction compares two rows in all columns, and a network of such
// comparisons sorts them. What lies left of every cut is then summed up row by row, and all cuts are scored in vectors.
//
//   keys      row 0: | code of column 0, place | code of column 1, place | ..        sorted downwards
//             row 1: | ..
#pragma once

#include <bit>

#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"

namespace weald {

class SortedCuts {
 public:
  static constexpr std::size_t kColumns = 16, kRows = kFewRows;
  using Key = std::int16_t;
  static_assert(kRows <= 256);  // a place is a byte

  void put(std::size_t p, std::size_t c, Code code, std::size_t place) {
    keys_[p * kColumns + c] = static_cast<Key>((code << 8 | place) ^ 0x8000);  // in the order of signed numbers
  }
  std::size_t place(std::size_t p, std::size_t c) const { return static_cast<std::uint8_t>(keys_[p * kColumns + c]); }
  Code code(std::size_t p, std::size_t c) const {
    return static_cast<std::uint16_t>(keys_[p * kColumns + c] ^ 0x8000) >> 8;
  }

  // Of so many rows and columns.
  void sort(std::size_t rows, std::size_t columns);
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }

  // The sums left of the cut after row p of column c: H, sum G^2, and sum G^2 on its right. Cuts within a code are none.
  std::size_t cut(std::size_t p, std::size_t c) const { return p * width_ + c; }
  std::size_t cuts() const { return (rows_ - 1) * width_; }
  void put_h(std::size_t p, std::size_t c, double h) {
    const auto mask = static_cast<std::uint64_t>(std::int64_t{within_[p * kColumns + c]});
    h_[cut(p, c)] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(h) | mask);  // all ones: not a number
  }
  double *left() { return left_; }
  double *right() { return right_; }

  // Scores the cuts, with a node's whole H: the first of the best in each column.
  void score(double total_h);
  double most(std::size_t c) const { return most_[c]; }  // -inf: there is no cut
  std::size_t at(std::size_t c) const { return static_cast<std::size_t>(at_[c]); }

 private:
  std::size_t rows_ = 0, columns_ = 0, width_ = 0;  // width: columns in whole vectors
  alignas(32) Key keys_[kRows * kColumns] = {};
  alignas(32) Key within_[kRows * kColumns] = {};  // has the next row the same code? all ones, or zero
  alignas(32) double h_[kRows * kColumns] = {};
  alignas(32) double left_[kRows * kColumns] = {};
  alignas(32) double right_[kRows * kColumns] = {};
  alignas(32) double most_[kColumns] = {};
  alignas(32) double at_[kColumns] = {};
};

// left[k] += g[k]^2 and right[k] += (total - g[k])^2.
void add_squares(const Lane* g, std::size_t n, Lane total, double* left, double* right);

}  // namespace weald
