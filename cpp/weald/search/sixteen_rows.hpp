// The best cut of a column among at most sixteen rows of two classes, by comparing each row with all
// others at once: no sorting, no sums to clear, and no branch that depends on the data.
//
//   left of the cut after row i:  H_i = sum over j of h_j [code_j <= code_i],  G_i likewise
#pragma once

#include <array>
#include <bit>

#include "weald/base/sixteen_bytes.hpp"
#include "weald/search/column_search.hpp"
#include "weald/stats/quadratic.hpp"

namespace weald {

inline constexpr std::size_t kRowsAtOnce = Bytes::kSize;

// Weights and classes of up to sixteen rows as bytes; rows that are not there weigh nothing.
struct SixteenRows {
  alignas(16) std::uint8_t h[kRowsAtOnce] = {};
  alignas(16) std::uint8_t g[kRowsAtOnce] = {};
};

// `members`: bit i says that row i is in the node; others weigh nothing.
inline void search_sixteen_rows(const SearchRequest& request, const SixteenRows& rows, const std::uint8_t* code,
                                std::uint32_t members, std::uint32_t j, Lane total, Split& best) {
  const Bytes all = Bytes::load(code), h = Bytes::load(rows.h), g = Bytes::load(rows.g);
  std::array<std::int32_t, kRowsAtOnce> left_h, left_g;
  std::array<std::uint8_t, kRowsAtOnce> at_code;
  std::size_t n = 0;
  for (std::uint32_t bits = members; bits != 0; bits &= bits - 1) {
    const std::uint8_t own = code[std::countr_zero(bits)];
    const Bytes left = all.is_up_to(own);
    ByteSums sums;
    sums.add(h & left, g & left);
    const Lane sum = sums.packed();
    at_code[n] = own;
    left_h[n] = static_cast<std::int32_t>(sum);
    left_g[n++] = static_cast<std::int32_t>(sum >> 32);
  }
  // As in scan_plain: D^2 / (H_l H_r), compared by cross-multiplication. Ties: the lowest cut.
  const auto H = static_cast<std::int32_t>(total & 0xFFFFFFFF), G = static_cast<std::int32_t>(total >> 32);
  double top = -1, room = 1;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t D = gain_root(left_g[i], left_h[i], G, H);
    const double D2 = static_cast<double>(D) * D, r = gain_room(left_h[i], H);
    const double mine = D2 * room, theirs = top * r;
    const bool better = r > 0 && (mine > theirs || (mine == theirs && at_code[i] < at_code[at]));
    top = better ? D2 : top;
    room = better ? r : room;
    at = better ? i : at;
  }
  const double hl = left_h[at], gl = left_g[at];
  const double score = quadratic(gl, hl, G - gl, H - hl);
  if (!best.loses_to(score, j, request.ties)) return;
  best = {};
  best.score = score;
  best.column = j;
  best.last_left = at_code[at];
  best.left_sum = Lane{left_g[at]} << 32 | Lane{left_h[at]};
  Code right = 256;
  for (std::size_t i = 0; i < n; ++i) {
    if (at_code[i] > best.last_left) right = std::min(right, Code{at_code[i]});
  }
  best.first_right = right;
}

}  // namespace weald
