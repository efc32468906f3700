// Columns that hardly ever say anything, several in one byte (Ke et al. 2017, exclusive features).
//
// Of columns that hold their usual value in most rows (one-hot columns, flags, counts that are mostly 0),
// no two of which ever differ from it in the same row, one byte tells all:
//
//   colour = red   0 1 0 0        bundle   0 1 2 0        0: all as usual
//   colour = blue  0 0 1 0                                1, 2, ..: which column differs, and how
//
// Histograms are then counted for bundles instead of columns. What a column's usual value adds up to is
// what the others leave of the node: nothing is lost or rounded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "weald/base/threads.hpp"
#include "weald/bins/binned_matrix.hpp"

namespace weald {

struct Bundles {
  // Of a column: its bundle; alone in it, its codes are the bundle's. Else the usual code, and the bundle's
  // code of the first that is not.
  struct Member {
    std::uint32_t bundle = 0;
    bool alone = true;
    Code usual = 0, start = 0;
    Code code_in_bundle(Code code) const { return alone ? code : code == usual ? 0 : start + code - (code > usual); }
  };
  std::vector<Member> members;        // per column
  std::vector<std::uint32_t> slots;   // per bundle
  std::vector<std::uint32_t> places;  // 0, 1, 2 .. of the bundles within a row
  BigVector<std::uint8_t> bytes;      // row after row

  std::size_t size() const { return slots.size(); }

  // The cells of a column, from those of its bundle in a node that adds up to `total`.
  void unpack(std::size_t column, std::size_t n_slots, const Lane* bundle_cells, Lane total, Lane* cells) const;
};

// Bundles the columns, which are bytes; null if that would not save a quarter of them.
std::shared_ptr<const Bundles> make_bundles(std::span<const Column> columns, std::size_t n_rows, std::size_t threads,
                                            Interrupt& interrupt);

}  // namespace weald
