// A tile: the rows of a small node, turned into columns, sixteen rows to a chunk. A node inside it is a set of its rows: a
// byte for each.
#pragma once

#include <bit>
#include <span>

#include "weald/base/memory.hpp"
#include "weald/search/sixteen_rows.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

// What the loop of growth knows of a node.
struct SmallNode {
  std::uint64_t key;
  Lane sum;
  std::uint32_t id, depth;
};
template <std::size_t kChunks>
struct TileNode : SmallNode {
  std::size_t n;
  Bytes in[kChunks];  // yes for rows that are in the node
};

template <std::size_t kChunks_>
struct Tile {
  static constexpr std::size_t kChunks = kChunks_, kRows = kChunks * kRowsAtOnce;
  using Node = TileNode<kChunks>;

  alignas(16) std::uint8_t h[kRows], g[kRows];
  Row row[kRows];                 // of the block
  BigVector<std::uint8_t> codes;  // kRows per column

  void load(const Block& block, const Row* rows, std::size_t n) {
    for (std::size_t i = 0; i < kRows; ++i) {
      const bool here = i < n;
      const Row from = rows[here ? i : 0];  // fills up with rows that weigh nothing
      const Lane word = !here ? 0 : block.class_bytes ? unpack_class_byte(block.class_bytes[from]) : block.words[from];
      row[i] = from;
      h[i] = static_cast<std::uint8_t>(word), g[i] = static_cast<std::uint8_t>(word >> 32);
    }
    const std::size_t strips = codes.size() / (kRowsAtOnce * kRows);  // of sixteen columns
    for (std::size_t c = 0; c < kChunks; ++c) {
      const std::uint8_t* from[kRowsAtOnce];
      for (std::size_t i = 0; i < kRowsAtOnce; ++i)
        from[i] = block.row_bytes + row[c * kRowsAtOnce + i] * block.row_stride;
      for (std::size_t strip = 0; strip < strips; ++strip) {
        transpose(from, strip * kRowsAtOnce, &codes[strip * kRowsAtOnce * kRows + c * kRowsAtOnce], kRows);
      }
    }
  }

  // The node's rows, in order.
  template <class Number>
  void list(const Node& node, Row* out, Number&& number) const {
    for (std::size_t c = 0; c < kChunks; ++c) {
      for (std::uint32_t bits = node.in[c].bits(); bits != 0; bits &= bits - 1) {
        *out++ = number(row[c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits))]);
      }
    }
  }
};

// The smallest and the largest code in a node.
template <std::size_t kChunks>
Extremes extremes_of(const std::uint8_t* codes, const TileNode<kChunks>& node) {
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
template <std::size_t kChunks>
Extremes present_extremes_of(const std::uint8_t* codes, Code missing, const TileNode<kChunks>& node) {
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
