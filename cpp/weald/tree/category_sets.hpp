// Which categories a test sends left, as 32-bit words.
//
// A column of few categories has a bit for each. With many, a full tree would take bits in the square of their
// number, so a set is one word that tells how it is written, and then whatever is shortest:
//
//   2 n       c_1 < .. < c_n   these go left, all others right
//   2 n + 1   c_1 < .. < c_n   these go right, all others left
//   ~0        bits             category c goes left if bit c is set
//
// "All others" may leave out categories that tests above have sent elsewhere: nobody asks for them here. So of the
// categories that arrive at a node only the fewer side is written, and a tree of n categories takes n log n words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weald/bins/bins.hpp"

namespace weald {

inline constexpr std::uint32_t kFewCategories = 256, kSetOfBits = ~std::uint32_t{0};

inline bool bit_of(const std::uint32_t* bits, std::uint32_t c) { return (bits[c / 32] >> (c % 32) & 1) != 0; }

// A search without a branch for what it finds: that cannot be foretold.
inline bool in_wide_set(const std::uint32_t* set, std::uint32_t category) {
  if (*set == kSetOfBits) return bit_of(set + 1, category);
  const std::uint32_t* at = set + 1;
  std::uint32_t n = *set / 2;
  for (std::uint32_t half; n > 1; n -= half) {
    half = n / 2;
    at += at[half] <= category ? half : 0;
  }
  return (n == 1 && *at == category) != ((*set & 1) != 0);
}

// Does a category go left? It is below n_categories.
inline bool goes_left(const std::uint32_t* set, std::uint32_t n_categories, std::uint32_t category) {
  return n_categories <= kFewCategories ? bit_of(set, category) : in_wide_set(set, category);
}

// How many words the set at the beginning of `words` has; 0 if it is not a set, or is cut off.
std::size_t length_of_set(std::span<const std::uint32_t> words, std::uint32_t n_categories);

// Writes the sets of a tree, whose nodes come in pre-order. It follows which categories can arrive at a node.
class SetWriter {
 public:
  explicit SetWriter(const Binned& matrix) : matrix_(matrix) {
    for (const auto& codes : matrix.category_code) {
      if (codes.size() > kFewCategories) arriving_.resize(matrix.n_columns());
    }
  }

  // What arrives on one side of a test; none: what has arrived at the test.
  struct Arrival {
    std::int32_t column = -1;
    std::uint32_t begin = 0, end = 0;  // in the column's list of codes
  };

  // The next node, so deep, is reached by `arrival`.
  void enter(std::uint32_t depth, const Arrival& arrival);
  bool follows() const { return !arriving_.empty(); }  // are there columns of many categories at all?

  // Appends the set of a test of this node; each(fn) calls fn(code) with the codes that go left, perhaps again and
  // again. Left and right are what arrives on its sides.
  template <class Each>
  void write(std::size_t column, Each&& each, std::vector<std::uint32_t>& out, Arrival& left, Arrival& right) {
    if (matrix_.category_code[column].size() <= kFewCategories) return write_bits(column, each, out);
    List& list = list_of(column);
    std::uint32_t middle = list.now.begin;
    each([&](Code code) {
      if (list.place[code] >= middle) list.move(code, middle++);
    });
    left = {static_cast<std::int32_t>(column), list.now.begin, middle};
    right = {static_cast<std::int32_t>(column), middle, list.now.end};
    write_wide(column, list, middle, out);
  }

 private:
  // The codes of a column, so that those that arrive at a node are neighbours.
  struct List {
    std::vector<Code> codes;
    std::vector<std::uint32_t> place;  // of a code in `codes`
    Arrival now;

    void move(Code code, std::uint32_t to) {
      const Code other = codes[to];
      std::swap(codes[to], codes[place[code]]);
      std::swap(place[code], place[other]);
    }
  };

  template <class Each>
  void write_bits(std::size_t column, Each&& each, std::vector<std::uint32_t>& out) {
    const auto& code_of = matrix_.category_code[column];
    const std::size_t begin = out.size();
    out.resize(begin + (code_of.size() + 31) / 32, 0);
    if (matrix_.own_category[column].empty()) {  // every category is its own code
      each([&](Code code) { out[begin + code / 32] |= std::uint32_t{1} << (code % 32); });
      return;
    }
    goes_left_.assign(matrix_.columns[column].slots() + 1, 0);
    each([&](Code code) { goes_left_[code] = 1; });
    for (std::size_t c = 0; c < code_of.size(); ++c) {
      if (goes_left_[code_of[c]]) out[begin + c / 32] |= std::uint32_t{1} << (c % 32);
    }
  }

  List& list_of(std::size_t column);
  void write_wide(std::size_t column, const List& list, std::uint32_t middle, std::vector<std::uint32_t>& out);

  const Binned& matrix_;
  std::vector<List> arriving_;  // per column; made when it is first asked for
  struct Change {
    std::uint32_t depth;
    Arrival before;
  };
  std::vector<Change> changes_;  // on the way to the node
  std::vector<std::uint8_t> goes_left_;
};

}  // namespace weald
