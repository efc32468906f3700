// A tile: the rows of a small node, turned into columns, sixteen rows to a chunk. A node inside it is a set of its rows: a
// byte for each.
#pragma once

#include <bit>
#include <span>

#include "weald/base/memory.hpp"
#include "weald/base/sixteen_bytes.hpp"
#include "weald/search/column_search.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

inline constexpr std::size_t kRowsAtOnce = Bytes::kSize;

// A set of rows of a tile, and what the loop of growth knows of it; OfNode: what a statistic wants to know.
template <std::size_t kChunks, class OfNode>
struct TileNode {
  std::uint64_t key;
  std::uint32_t id, depth;
  std::size_t n;
  OfNode own;
  Bytes in[kChunks];  // yes for rows that are in the node
};

template <std::size_t kChunks_, class Statistic>
struct Tile {
  static constexpr std::size_t kChunks = kChunks_, kRows = kChunks * kRowsAtOnce;
  using Node = TileNode<kChunks, typename Statistic::OfNode>;

  Row row[kRows];  // of the block
  std::size_t n = 0;
  typename Statistic::template Rows<kRows> statistic;
  BigVector<std::uint8_t> codes;  // kRows per column

  void load_rows(const Row* rows, std::size_t size) {
    n = size;
    for (std::size_t i = 0; i < kRows; ++i) row[i] = rows[i < n ? i : 0];  // fills up with rows that weigh nothing
  }

  // All columns.
  void load_codes(const Block& block, std::size_t strips) {
    for (std::size_t c = 0; c * kRowsAtOnce < n; ++c) {
      const std::uint8_t* from[kRowsAtOnce];
      for (std::size_t i = 0; i < kRowsAtOnce; ++i)
        from[i] = block.row_bytes + row[c * kRowsAtOnce + i] * block.row_stride;
      for (std::size_t strip = 0; strip < strips; ++strip) {
        transpose(from, strip * kRowsAtOnce, &codes[strip * kRowsAtOnce * kRows + c * kRowsAtOnce], kRows);
      }
    }
  }

  // One column, as the number `slot`, for the rows of a node.
  void load_column(const std::uint8_t* first_row, std::size_t stride, std::size_t slot, const Node& node) {
    std::uint8_t* out = &codes[slot * kRows];
    for_rows_in(node, [&](std::size_t i) { out[i] = first_row[row[i] * stride]; });
  }

  // The node's rows, in order.
  template <class Number>
  void list(const Node& node, Row* out, Number&& number) const {
    for_rows_in(node, [&](std::size_t i) { *out++ = number(row[i]); });
  }
};

// Calls fn with the place in the tile of each row of a set, or of a node.
template <std::size_t kChunks, class Fn>
void for_rows_of(const Bytes* in, Fn&& fn) {
  for (std::size_t c = 0; c < kChunks; ++c) {
    for (std::uint32_t bits = in[c].bits(); bits != 0; bits &= bits - 1) {
      fn(c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

template <std::size_t kChunks, class OfNode, class Fn>
void for_rows_in(const TileNode<kChunks, OfNode>& node, Fn&& fn) {
  for_rows_of<kChunks>(node.in, fn);
}

// The smallest and the largest code in a node.
template <std::size_t kChunks, class OfNode>
Extremes extremes_of(const std::uint8_t* codes, const TileNode<kChunks, OfNode>& node) {
  Bytes below = Bytes::none(), high = below;  // below: 255 - the smallest
  for (std::size_t c = 0; c < kChunks; ++c) {
    const Bytes code = Bytes::load(codes + c * kRowsAtOnce), in = node.in[c];
    below = below.larger(~code & in);
    high = high.larger(code & in);
  }
  const TwoLargest largest = largest_of(below, high);
  return {255 - largest.a, largest.b, false};
}

// The same where codes may say "missing", which is above all others.
template <std::size_t kChunks, class OfNode>
Extremes present_extremes_of(const std::uint8_t* codes, Code missing, const TileNode<kChunks, OfNode>& node) {
  Bytes below = Bytes::none(), high = below, seen = below;
  for (std::size_t c = 0; c < kChunks; ++c) {
    const Bytes code = Bytes::load(codes + c * kRowsAtOnce), in = node.in[c], absent = code.is(missing) & in;
    below = below.larger(~code & in);
    high = high.larger((code & in).without(absent));
    seen = seen | absent;
  }
  const TwoLargest largest = largest_of(below, high);
  return {255 - largest.a, largest.b, seen.bits() != 0};
}

// Calls fn with the test that tells, of sixteen codes, those that go left.
template <class Fn>
void with_test(bool categorical, Code last_left, std::span<const Code> left_codes, Fn&& fn) {
  if (!categorical) return fn([last_left](Bytes code) { return code.is_up_to(last_left); });
  fn([left_codes](Bytes code) {
    Bytes any = Bytes::none();
    for (const Code one : left_codes) any = any | code.is(one);
    return any;
  });
}

}  // namespace weald
