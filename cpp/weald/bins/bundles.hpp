// Several columns in one byte, so that one update of a histogram serves them all.
//
// Taking turns (Ke et al. 2017, exclusive features): of columns that hold their usual value in most rows (one-hot
// columns, flags, counts that are mostly 0), no two of which ever differ from it in the same row, one byte tells all.
//
//   colour = red   0 1 0 0        bundle   0 1 2 0        0: all as usual
//   colour = blue  0 0 1 0                                1, 2, ..: which column differs, and how
//
// Histograms are then counted for bundles instead of columns. What a column's usual value adds up to is
// what the others leave of the node: nothing is lost or rounded.
//
// Digits: columns of few codes are the digits of a number, eight of two codes or two of sixteen. The cells of a column
// are sums of those of the bundle over all other digits.
//
//   a (2 codes)    0 1 0 1        bundle   0 1 4 5        a + 2 b
//   b (3 codes)    0 0 2 2
#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "weald/base/threads.hpp"
#include "weald/bins/binned_matrix.hpp"

namespace weald {

struct Bundles {
  enum class Sharing : std::uint8_t { Alone, Turns, Digits };
  // Of a column: where it is, and what its code adds to that of its bundle.
  struct Member {
    Sharing sharing = Sharing::Alone;
    std::uint32_t bundle = 0;
    Code slots = 0;
    Code usual = 0, start = 0;  // Turns: the code that adds nothing, and what the first other one adds
    Code step = 1;              // Digits: what code 1 adds

    Code added(Code code) const {
      if (sharing != Sharing::Turns) return code * step;
      return code == usual ? 0 : start + code - (code > usual);
    }
    // The column's code, from that of its bundle.
    Code code_of(Code byte) const {
      if (sharing == Sharing::Digits) return byte / step % slots;
      if (sharing == Sharing::Alone) return byte;
      const Code other = byte - start;  // below start it wraps around
      return byte < start || other + 1 >= slots ? usual : other + (other >= usual);
    }
  };
  std::vector<Member> members;                      // per column
  std::vector<std::vector<std::uint32_t>> columns;  // per bundle; digits by their steps, the lowest first
  std::vector<std::uint32_t> slots;                 // per bundle
  std::vector<std::uint32_t> places;                // 0, 1, 2 .. of the bundles within a row
  BigVector<std::uint8_t> bytes;                    // row after row

  std::size_t size() const { return slots.size(); }

  // The cells of a bundle's columns, from its own in a node that adds up to `total`; room(j) is where those of column j go.
  template <class Room>
  void unpack(std::size_t bundle, const Lane* bundle_cells, Lane total, Room&& room) const {
    const std::vector<std::uint32_t>& own = columns[bundle];
    if (members[own[0]].sharing == Sharing::Digits) return sum_digits(bundle, bundle_cells, room);
    for (const std::uint32_t j : own) {
      const Member& member = members[j];
      Lane* const cells = room(j);
      Lane others = 0;
      for (Code code = 0; code < member.slots; ++code) {
        if (code == member.usual) continue;
        cells[code] = bundle_cells[member.added(code)];
        others += cells[code];
      }
      cells[member.usual] = total - others;
    }
  }

 private:
  // The highest digit first: its cells are sums of neighbours. Then the cells are added up over it, which leaves a bundle
  // of one digit less.
  template <class Room>
  void sum_digits(std::size_t bundle, const Lane* bundle_cells, Room&& room) const {
    std::array<Lane, kByteSlots> left;
    std::copy_n(bundle_cells, slots[bundle], left.begin());
    for (std::size_t k = columns[bundle].size(); k-- > 0;) {
      const Member& member = members[columns[bundle][k]];
      Lane* const cells = room(columns[bundle][k]);
      for (Code code = 0; code < member.slots; ++code) {
        const Lane* const part = left.data() + code * member.step;
        cells[code] = std::accumulate(part, part + member.step, Lane{0});
      }
      for (Code code = 1; code < member.slots && k > 0; ++code) {
        for (Code i = 0; i < member.step; ++i) left[i] += left[code * member.step + i];
      }
    }
  }
};

// Bundles the columns, which are bytes; null if that would not save a quarter of them.
std::shared_ptr<const Bundles> make_bundles(std::span<const Column> columns, std::size_t n_rows, std::size_t threads,
                                            Interrupt& interrupt);

}  // namespace weald
