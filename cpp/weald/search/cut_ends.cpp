// The codes of some columns side by side, and their extremes.
#include <algorithm>

#include "weald/search/cut_vectors.hpp"
#include "weald/search/draw_cut.hpp"

namespace weald {

#ifdef WEALD_HAS_VECTORS
namespace {

template <bool kGaps, class CodesOf>
WEALD_INLINE void find_ends(std::size_t n, Bytes16 missing, CutEnds& ends, CodesOf&& codes_of) {
  Bytes16 low = ~Bytes16{}, high = {}, seen = {};
  for (std::size_t i = 0; i < n; ++i) {
    const Bytes16 codes = codes_of(i);
    low = codes < low ? codes : low;
    if constexpr (kGaps) {
      const Bytes16 absent = static_cast<Bytes16>(codes == missing), present = codes & ~absent;
      high = present > high ? present : high;
      seen |= absent;
    } else {
      high = codes > high ? codes : high;
    }
  }
  const auto several = static_cast<Bytes16>(low < high);
  store(ends.low, low), store(ends.high, high), store(ends.seen, seen), store(ends.several, several);
  store(ends.varies, kGaps ? several | (seen & static_cast<Bytes16>(low != missing)) : several);
}

template <class CodesOf>
WEALD_INLINE void find_all_ends(std::size_t n, CutBytes missing, CutEnds& ends, CodesOf&& codes_of) {
  ends.any_gaps ? find_ends<true>(n, vector_of(missing), ends, codes_of)
                : find_ends<false>(n, Bytes16{}, ends, codes_of);
}

WEALD_WIDE void find_gathered_ends(std::size_t n, CutBytes missing, const std::uint8_t* codes, CutEnds& ends) {
  find_all_ends(n, missing, ends,
                [&](std::size_t i) __attribute__((always_inline)) { return load<Bytes16>(codes + i * kCutColumns); });
}

template <class Rows>
void look_far(const Rows& rows, const std::uint32_t* places, std::size_t m, CutBytes missing, std::uint8_t* codes,
              CutEnds& ends) {
  for (std::size_t i = 0; i < rows.n; ++i) {
    const std::uint8_t* row = rows.row(i);
    for (std::size_t k = 0; k < m; ++k) codes[i * kCutColumns + k] = row[places[k]];
  }
  find_gathered_ends(rows.n, missing, codes, ends);
}

template <class Rows>
WEALD_INLINE void look_near(const Rows& rows, CutBytes places, CutBytes missing, std::uint8_t* codes, CutEnds& ends) {
#ifndef __clang__
  const Bytes16 order = vector_of(places);
  find_all_ends(rows.n, missing, ends, [&](std::size_t i) __attribute__((always_inline)) {
    const std::uint8_t* row = rows.row(i);
    const Bytes16 own = __builtin_shuffle(load<Bytes16>(row), load<Bytes16>(row + kCutColumns), order);
    store(codes + i * kCutColumns, own);
    return own;
  });
#else
  std::uint32_t far[kCutColumns];
  for (std::size_t k = 0; k < kCutColumns; ++k) far[k] = vector_of(places)[k];
  look_far(rows, far, kCutColumns, missing, codes, ends);
#endif
}

}  // namespace

void look_at_columns(const CutRows& rows, const std::uint32_t* places, std::size_t m, CutBytes missing,
                     std::uint8_t* codes, CutEnds& ends) {
  look_far(rows, places, m, missing, codes, ends);
}
void look_at_columns(const TableRows& rows, const std::uint32_t* places, std::size_t m, CutBytes missing,
                     std::uint8_t* codes, CutEnds& ends) {
  look_far(rows, places, m, missing, codes, ends);
}
WEALD_WIDE void look_at_near_columns(const CutRows& rows, CutBytes places, CutBytes missing, std::uint8_t* codes,
                                     CutEnds& ends) {
  look_near(rows, places, missing, codes, ends);
}
WEALD_WIDE void look_at_near_columns(const TableRows& rows, CutBytes places, CutBytes missing, std::uint8_t* codes,
                                     CutEnds& ends) {
  look_near(rows, places, missing, codes, ends);
}

// Whole vectors: the first code again behind the last one.
WEALD_WIDE void put_category_sides(Code* codes, std::size_t n, const CategoryNumbers& number, Code missing,
                                   std::uint8_t* sides) {
  typedef std::uint32_t Codes __attribute__((vector_size(4 * kCodesAtOnce)));
  std::fill_n(codes + n, kCodesAtOnce, codes[0]);
  Codes low = ~Codes{}, high = {};
  std::uint32_t each[kCutRows + kCodesAtOnce];
  for (std::size_t i = 0; i < n; i += kCodesAtOnce) {
    const auto own = load<Codes>(codes + i), numbers = number(own), absent = static_cast<Codes>(own == missing);
    const Codes from = numbers | absent, to = numbers & ~absent;
    low = from < low ? from : low, high = to > high ? to : high;
    store(each + i, numbers);
  }
  typedef std::uint32_t Half __attribute__((vector_size(2 * kCodesAtOnce)));
  const auto ends_of = [](Codes both, auto&& better) __attribute__((always_inline)) {
    Half one = load<Half>(&both), two = load<Half>(reinterpret_cast<const char*>(&both) + sizeof(Half));
    one = better(one, two);
    two = __builtin_shuffle(one, Half{2, 3, 0, 1}), one = better(one, two);
    two = __builtin_shuffle(one, Half{1, 0, 3, 2}), one = better(one, two);
    return one[0];
  };
  const std::uint32_t least = ends_of(low, [](Half a, Half b) __attribute__((always_inline)) { return a < b ? a : b; }),
                      most = ends_of(high, [](Half a, Half b) __attribute__((always_inline)) { return a > b ? a : b; });
  const std::uint32_t threshold = number.draw_threshold(least, most);
  for (std::size_t i = 0; i < n; i += kCodesAtOnce) {
    const auto absent = static_cast<Codes>(load<Codes>(codes + i) == missing);
    store(each + i, (static_cast<Codes>(load<Codes>(each + i) > threshold) & ~absent & kRight) | (absent & kAbsent));
  }
  for (std::size_t i = 0; i < n; ++i) sides[i * kCutColumns] = static_cast<std::uint8_t>(each[i]);
}

#else
void look_at_columns(const CutRows&, const std::uint32_t*, std::size_t, CutBytes, std::uint8_t*, CutEnds&) {}
void look_at_columns(const TableRows&, const std::uint32_t*, std::size_t, CutBytes, std::uint8_t*, CutEnds&) {}
void look_at_near_columns(const CutRows&, CutBytes, CutBytes, std::uint8_t*, CutEnds&) {}
void look_at_near_columns(const TableRows&, CutBytes, CutBytes, std::uint8_t*, CutEnds&) {}
void put_category_sides(Code*, std::size_t, const CategoryNumbers&, Code, std::uint8_t*) {}
#endif

// Loops that the compiler turns into vectors.
WEALD_WIDE CodeEnds find_code_ends(const Code* codes, std::size_t n, Code missing) {
  Code first = ~Code{0}, last = 0, absent = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Code code = codes[i], is_absent = code == missing;
    first = std::min(first, is_absent ? ~Code{0} : code);
    last = std::max(last, is_absent ? 0 : code);
    absent |= is_absent;
  }
  return {first, last, absent != 0};
}

WEALD_WIDE void put_sides(const Code* codes, std::size_t n, Code last_left, Code missing, std::uint8_t* sides) {
  std::uint8_t side[kCutRows];
  for (std::size_t i = 0; i < n; ++i) {
    side[i] = codes[i] == missing ? kAbsent : codes[i] <= last_left ? kLeft : kRight;
  }
  for (std::size_t i = 0; i < n; ++i) sides[i * kCutColumns] = side[i];
}

}  // namespace weald
