// The cuts of one column of bytes once all of them have been scored, from the lowest code to the highest.
#pragma once

#include <bit>
#include <utility>

#include "weald/search/column_search.hpp"
#include "weald/stats/all_columns.hpp"

namespace weald {

// The codes that occur among few rows.
class MarkedBytes {
 public:
  void mark(Code code) { words_[code / 64] |= std::uint64_t{1} << (code % 64); }
  bool any() const { return (words_[0] | words_[1] | words_[2] | words_[3]) != 0; }
  void forget() { *this = {}; }

  // Calls fn with each of them, ascending, and forgets them.
  template <class Fn>
  void take(Fn&& fn) {
    for (std::size_t word = 0; word < kByteSlots / 64; ++word) {
      for (std::uint64_t bits = std::exchange(words_[word], 0); bits != 0; bits &= bits - 1) {
        fn(static_cast<Code>(word * 64) + static_cast<Code>(std::countr_zero(bits)));
      }
    }
  }

 private:
  static_assert(kByteSlots == 256);
  std::uint64_t words_[kByteSlots / 64] = {};
};

struct ScoredCuts {
  std::uint8_t codes[kByteSlots];  // that occur, the missing one not among them
  double score[kByteSlots];        // of the cut after each of them
  std::size_t n = 0;               // codes
  bool has_missing = false;

  // With missing values on the right, all that is present may be on the left.
  std::size_t cuts(bool missing_left) const { return has_missing && !missing_left ? n : n - (n > 0); }

  // Puts the first of the best cuts into `best` if that is better; `most`: their score. Where it is, or n.
  std::size_t offer(const SearchRequest& request, const Column& column, std::uint32_t j, double most, bool missing_left,
                    Split& best) const {
    if (cuts(missing_left) == 0 || !best.loses_to(most, j, request.ties)) return n;
    std::size_t at = 0;
    while (score[at] != most) ++at;
    best = {};
    best.score = most, best.column = j;
    best.had_missing = has_missing, best.missing_left = missing_left;
    best.last_left = codes[at], best.first_right = at + 1 < n ? codes[at + 1] : column.n_codes;
    return at;
  }
};

}  // namespace weald
