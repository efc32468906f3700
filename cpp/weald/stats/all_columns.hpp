// The histograms of all columns in one pass over rows of bytes, one word a row: what most of the time
// of boosting goes into.
//
// A row's codes lie side by side, so that one cache line serves all columns. The columns are taken in
// groups whose histograms stay in the first cache together, over a few hundred rows at a time, which
// stay there as well while group after group reads them.
#pragma once

#include <array>
#include <span>

#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"

namespace weald {

struct ByteRows {
  const std::uint8_t* bytes = nullptr;  // of the first row
  std::size_t stride = 0;
  std::span<const std::uint32_t> places;  // of the columns within a row
  bool side_by_side = false;              // one after another: all columns of the row, or some of them

  // Columns first .. last - 1 alone.
  ByteRows columns(std::size_t first, std::size_t last) const {
    return {side_by_side ? bytes + first : bytes, stride, places.subspan(first, last - first), side_by_side};
  }
};

namespace all_columns {

// Columns first .. first + kColumns - 1 over rows[begin, end); kListed: of a list of rows, else all.
template <std::size_t kColumns, bool kListed, bool kSideBySide>
void add_group(const ByteRows& in, std::size_t first, const Row* rows, std::size_t begin, std::size_t end,
               std::size_t n, const Lane* words, Lane* cells) {
  std::array<std::uint32_t, kColumns> place;
  for (std::size_t c = 0; c < kColumns; ++c) place[c] = in.places[first + c];
  const std::uint8_t* const base = in.bytes + (kSideBySide ? first : 0);
  const std::size_t stride = in.stride;
  const bool fetch = kListed && first == 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (fetch && i + kPrefetchRows < n) {
      const std::uint8_t* ahead = in.bytes + rows[i + kPrefetchRows] * stride;
      prefetch(ahead);
      prefetch(ahead + stride - 1);  // a row may lie across two lines
      prefetch(words + rows[i + kPrefetchRows]);
    }
    const std::size_t row = kListed ? rows[i] : i;
    const std::uint8_t* codes = base + row * stride;
    const Lane word = words[row];
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kColumns; ++c) cells[c * kByteSlots + codes[kSideBySide ? c : place[c]]] += word;
  }
}

template <bool kListed, bool kSideBySide>
void add_all(const ByteRows& in, const Row* rows, std::size_t from, std::size_t n, const Lane* words, Lane* cells) {
  const std::size_t d = in.places.size(), groups = (d + kColumnsAtOnce - 1) / kColumnsAtOnce;
  for (std::size_t begin = from; begin < n; begin += kRowsOfStretch) {
    const std::size_t end = std::min(begin + kRowsOfStretch, n);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = d * g / groups, size = d * (g + 1) / groups - first;
      with_constant<1, kColumnsAtOnce>(size, [&](auto columns) {
        add_group<columns, kListed, kSideBySide>(in, first, rows, begin, end, n, words, cells + first * kByteSlots);
      });
    }
  }
}

}  // namespace all_columns

// cells[c * kByteSlots + code] += words[row] for rows[from] .. rows[to - 1], or, without a list, for the
// rows numbered from .. to - 1.
inline void add_all_columns(const ByteRows& in, const Row* rows, std::size_t from, std::size_t to, const Lane* words,
                            Lane* cells) {
  if (rows) {
    in.side_by_side ? all_columns::add_all<true, true>(in, rows, from, to, words, cells)
                    : all_columns::add_all<true, false>(in, rows, from, to, words, cells);
  } else {
    in.side_by_side ? all_columns::add_all<false, true>(in, rows, from, to, words, cells)
                    : all_columns::add_all<false, false>(in, rows, from, to, words, cells);
  }
}

}  // namespace weald
