// The best cuts of up to sixteen columns of bytes at once, in a node of few rows. A key is a code and the place of the row
// that has it; the keys of a row lie side by side, so that one instruction compares two rows in all columns, and a
// network of such comparisons sorts them. Then the rows move from right to left, in several columns at a time.
//
//   keys      row 0: | code of column 0, place | code of column 1, place | ..        sorted downwards
//             row 1: | ..
#pragma once

#include <span>

#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"

namespace weald {

class SortedCuts {
 public:
  static constexpr std::size_t kColumns = 16, kRows = kFewRows, kMostOutputs = 8;
  using Key = std::int16_t;
  static_assert(kRows <= 256);  // a place is a byte

  // The code of row p in column c, before they are sorted.
  std::uint8_t& code(std::size_t p, std::size_t c) { return codes_[p * kColumns + c]; }

  // The rows are at these places of the tables below. Where there are no more than a few codes, it is cheaper to
  // compare all rows with each of them than to sort.
  void begin(std::span<const std::uint8_t> places, std::size_t columns, std::size_t codes);

  // Are values missing in column c?
  void set_missing(std::size_t c, bool missing) { missing_[c] = missing ? Key{-1} : Key{0}; }

  // Looks for the first of the best cuts in each column, which score sum G_l^2 / H_l + sum G_r^2 / H_r.
  //
  // Numbers: of every place, H; G of each output is kRows apart. `total`: of the node, H and G of each output.
  void search_numbers(const double* h, const Lane* g, std::size_t outputs, const Lane* total);
  // Classes: of every place, H, its class, and H times the weight of its class in the node. Of the node: H, sum G^2.
  struct Classes {
    const double *h, *products;
    const std::uint8_t* class_of;
    const double* weight;  // of each class, in the node
    std::size_t n;
    double total_h, squares;
  };
  void search_classes(const Classes& classes);
  // Two classes: of every place, and of the node, G << 32 | H. Cuts of a column are compared as in scan_plain.
  void search_two_classes(const Lane* words, Lane total);

  double most(std::size_t c) const { return most_[c]; }  // -inf: there is no cut
  Code last_left(std::size_t c) const { return sorted_ ? code_of(at(c), c) : static_cast<Code>(at(c)); }
  Code first_right(std::size_t c) const;

 private:
  std::size_t at(std::size_t c) const { return static_cast<std::size_t>(at_[c]); }
  Code code_of(std::size_t p, std::size_t c) const {
    return static_cast<std::uint16_t>(keys_[p * kColumns + c] ^ 0x8000) >> 8;
  }

  std::span<const std::uint8_t> places_;
  std::size_t columns_ = 0, few_codes_ = 0;
  bool sorted_ = false;
  alignas(32) std::uint8_t codes_[kRows * kColumns] = {};
  alignas(32) Key keys_[kRows * kColumns] = {};
  alignas(32) Key within_[kRows * kColumns] = {};   // has the next row the same code? all ones, or zero
  Key missing_[kColumns] = {};                      // all ones, or zero
  double most_[kColumns] = {}, at_[kColumns] = {};  // at: the row before the cut, or the code
};

// The rank of each of at most 256 numbers; of equal ones, the first is first.
void find_ranks(std::span<const double> numbers, std::uint8_t* ranks);

}  // namespace weald
