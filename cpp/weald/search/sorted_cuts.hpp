// The best cuts of up to sixteen columns of bytes at once, in a node of few rows. A key is a code and the place of the row
// that has it; the keys of a row lie side by side, so that one instruction compares two rows in all columns, and a
// network of such comparisons sorts them. Then the rows move from right to left, in several columns at a time.
//
//   keys      row 0: | code of column 0, place | code of column 1, place | ..        sorted downwards
//             row 1: | ..
#pragma once

#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"

namespace weald {

class SortedCuts {
 public:
  static constexpr std::size_t kColumns = 16, kRows = kFewRows, kMostOutputs = 8;
  using Key = std::int16_t;
  static_assert(kRows <= 256);  // a place is a byte

  void put(std::size_t p, std::size_t c, Code code, std::size_t place) {
    keys_[p * kColumns + c] = static_cast<Key>((code << 8 | place) ^ 0x8000);  // in the order of signed numbers
  }
  Code code(std::size_t p, std::size_t c) const {
    return static_cast<std::uint16_t>(keys_[p * kColumns + c] ^ 0x8000) >> 8;
  }

  // So many rows and columns.
  void sort(std::size_t rows, std::size_t columns);

  // Looks for the first of the best cuts in each column, which score sum G_l^2 / H_l + sum G_r^2 / H_r.
  //
  // Numbers: of every place, H; G of each output is kRows apart. `total`: of the node, H and G of each output.
  void search_numbers(const double* h, const Lane* g, std::size_t outputs, const Lane* total);
  // Classes: of every place, H, its class, and H times the weight of its class in the node. Of the node: H, sum G^2.
  struct Classes {
    const double *h, *products;
    const std::uint8_t* class_of;
    std::size_t n;
    double total_h, squares;
  };
  void search_classes(const Classes& classes);

  double most(std::size_t c) const { return most_[c]; }                            // -inf: there is no cut
  std::size_t at(std::size_t c) const { return static_cast<std::size_t>(at_[c]); }  // the row before it

 private:
  std::size_t rows_ = 0, columns_ = 0;
  alignas(32) Key keys_[kRows * kColumns] = {};
  alignas(32) Key within_[kRows * kColumns] = {};  // has the next row the same code? all ones, or zero
  double most_[kColumns] = {}, at_[kColumns] = {};
};

}  // namespace weald
