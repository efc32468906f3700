// One cut in each of some columns, for up to 4,096 rows: what lies left of every cut, and how good it is.
//
// The codes of the drawn columns lie side by side, sixteen to a row, so that a row is compared with all cuts at once,
// and what it adds is added to all sums at once:
//
//   codes   row 0: [c0 c1 .. c15]     tops [t0 .. t15]     cells   H    [left of t0 .. t15]
//           row 1: [c0 c1 .. c15]                                  G_0  [left of t0 .. t15]
//
// A node of few rows costs a few instructions a row, whatever the number of columns. A column whose top is 255 has
// all rows on its left: the sums of the whole node.
#pragma once

#include "weald/base/types.hpp"
#include "weald/base/wide_vectors.hpp"

namespace weald {

class CategoryNumbers;  // draw_cut.hpp

inline constexpr std::size_t kCutColumns = 16, kCutRows = 4096;

#ifdef WEALD_HAS_VECTORS
inline constexpr bool kHasCutSums = true;
#else
inline constexpr bool kHasCutSums = false;  // the general search takes over
#endif

using Slot = std::uint16_t;  // of a row among kCutRows

// Some of the rows.
struct CutRows {
  const std::uint8_t* const* bytes;  // of every slot, where the codes of its row begin
  const Slot* slots;
  std::size_t n;

  const std::uint8_t* row(std::size_t i) const { return bytes[slots[i]]; }
};
// ... or of a whole table.
struct TableRows {
  const std::uint8_t* first;
  std::size_t stride;
  const Row* rows;
  std::size_t n;

  const std::uint8_t* row(std::size_t i) const { return first + rows[i] * stride; }
};

// A byte for each of sixteen columns. In registers: what was written byte by byte would have to wait in memory until it
// can be read as one.
struct CutBytes {
  std::uint64_t low = 0, high = 0;

  void set(std::size_t k, std::uint64_t byte) {
    const std::uint64_t there = byte << (8 * (k % 8));
    low |= k < 8 ? there : 0, high |= k < 8 ? 0 : there;
  }
};

// Of sixteen columns, yes is 255 and no is 0.
struct CutEnds {
  alignas(16) std::uint8_t low[kCutColumns];
  std::uint8_t high[kCutColumns];     // codes here
  std::uint8_t seen[kCutColumns];     // are values missing?
  std::uint8_t several[kCutColumns];  // is there more than one, beside missing ones?
  std::uint8_t varies[kCutColumns];   // ... or one, and missing ones?
  bool any_gaps;                      // may values be missing in any column of the table?
};

// A bit for each yes.
inline std::uint32_t bits_of(const std::uint8_t* yes) {
#ifdef WEALD_HAS_SSE2
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(yes))));
#else
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < kCutColumns; ++k) out |= static_cast<std::uint32_t>(yes[k] >> 7) << k;
  return out;
#endif
}

// Puts the codes of m columns side by side and finds their extremes. Beyond the last column there may be anything.
// `missing`: the code of what is missing.
void look_at_columns(const CutRows& rows, const std::uint32_t* places, std::size_t m, CutBytes missing,
                     std::uint8_t* codes, CutEnds& ends);
void look_at_columns(const TableRows& rows, const std::uint32_t* places, std::size_t m, CutBytes missing,
                     std::uint8_t* codes, CutEnds& ends);
// The same for columns that are among the first kNearBytes of a row.
inline constexpr std::size_t kNearBytes = 2 * kCutColumns;
void look_at_near_columns(const CutRows& rows, CutBytes places, CutBytes missing, std::uint8_t* codes, CutEnds& ends);
void look_at_near_columns(const TableRows& rows, CutBytes places, CutBytes missing, std::uint8_t* codes, CutEnds& ends);

// What a row adds, by slot, and the sums: cells x kCutColumns. T is 16 bits wide where weights are light.
//   dense      values[c * cell_stride + slot * row_stride] to cell c: in a small subtree H first, then the G of outputs
//   classes    values[slot] to cell cell_of[kind[slot]]: H is the sum of all cells
// Two classes whose rows weigh 1 are counted: `second`, by slot, is 255 for rows of the second class, else 0.
template <class T>
struct CutValues {
  const T* values = nullptr;
  std::size_t cells = 0, cell_stride = kCutRows, row_stride = 1;
  const std::uint16_t *kind = nullptr, *cell_of = nullptr;  // null: dense
  const std::uint8_t* second = nullptr;
};

// Sums up what has codes up to `tops` in the first m columns.
template <class T>
void sum_left(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, std::size_t m, const CutValues<T>& values,
              T* sums);

// S(left) + S(right) of the first m columns, with S = sum G^2 / H; `total`: the column that has all rows on its left,
// and S(node) for a score.
template <class T>
void score_cuts(const T* sums, std::size_t m, std::size_t total, const CutValues<T>& values, double* scores);

// Columns of any codes, by themselves: the first and last code, and whether one is `missing`.
struct CodeEnds {
  Code first, last;
  bool has_missing;
};
CodeEnds find_code_ends(const Code* codes, std::size_t n, Code missing);
// Codes become sides, kCutColumns apart: kAbsent if they are `missing`, else kLeft or kRight.
inline constexpr std::uint8_t kLeft = 0, kRight = 1, kAbsent = 2;
// Those up to the last go left,
void put_sides(const Code* codes, std::size_t n, Code last_left, Code missing, std::uint8_t* sides);
// or the categories that are drawn. At least two are here; behind the codes there is room for kCodesAtOnce.
inline constexpr std::size_t kCodesAtOnce = 8;
void put_category_sides(Code* codes, std::size_t n, const CategoryNumbers& number, Code missing, std::uint8_t* sides);

}  // namespace weald
