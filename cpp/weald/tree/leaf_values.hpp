// What a leaf says, added to the sums of a row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"
#include "weald/tree/compact.hpp"

namespace weald {

// Calls fn(k) for the cells that are not 0, in ascending order. Leaves of many classes know a few of them: eight
// bytes are looked at in one go, without a branch for every class.
template <class C, class Fn>
void for_filled(const C* cells, std::size_t n, Fn&& fn) {
  std::size_t k = 0;
  if constexpr (std::is_integral_v<C> && std::endian::native == std::endian::little) {
    constexpr std::size_t kCells = 8 / sizeof(C), kBits = 8 * sizeof(C);
    for (; k + kCells <= n; k += kCells) {
      std::uint64_t word;
      std::memcpy(&word, cells + k, 8);
      while (word != 0) {
        const auto cell = static_cast<std::size_t>(std::countr_zero(word)) / kBits;
        fn(k + cell);
        word &= ~(((std::uint64_t{1} << kBits) - 1) << (cell * kBits));
      }
    }
  }
  for (; k < n; ++k) {
    if (cells[k] != 0) fn(k);
  }
}

class LeafAdder {
 public:
  LeafAdder(const Outputs& outputs, const CompactTree& tree, double weight, bool vote)
      : outputs_(outputs), tree_(tree), weight_(weight), vote_(vote && outputs.classifies()) {}

  // Adds leaf after leaf to the sums of rows that lie far apart. Leaves, what a table says of them, and sums are all
  // out of reach of the first cache, so they are brought near.
  void add_all(const std::uint32_t* leaf, std::span<const Row> rows, double* sums, std::size_t stride) const {
    const std::size_t n = rows.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (!outputs_.is_inline() && k + 2 * kLeavesAhead < n) {
        prefetch(&tree_.nodes[leaf[k + 2 * kLeavesAhead]]);
        const std::size_t next = tree_.nodes[leaf[k + kLeavesAhead]].next;
        prefetch(tree_.table.bytes.data() + next * (1 + outputs_.width()) * tree_.table.cell_bytes());
        const auto* ahead = reinterpret_cast<const char*>(sums + rows[k + kLeavesAhead] * stride);
        for (std::size_t byte = 0; byte < outputs_.width() * sizeof(double); byte += 64) prefetch(ahead + byte);
      }
      add(leaf[k], sums + rows[k] * stride);
    }
  }

  void add(std::uint32_t leaf, double* sums) const {
    const Node& node = tree_.nodes[leaf];
    const std::size_t width = outputs_.width();
    if (outputs_.is_inline()) {
      const double value = vote_ ? static_cast<double>(node.number > 0.5) : node.number;
      sums[width - 1] += weight_ * value;
      if (width == 2) sums[0] += weight_ * (1 - value);
      return;
    }
    tree_.table.visit([&](const auto* cells) {
      const auto* row = cells + node.next * (1 + width) + 1;
      if (vote_) {
        for (std::size_t o = 0; o < outputs_.n_outputs; ++o, row += outputs_.max_classes) {
          const auto* top = std::max_element(row, row + outputs_.max_classes);
          sums[o * outputs_.max_classes + static_cast<std::size_t>(top - row)] += weight_;
        }
        return;
      }
      const double total = static_cast<double>(row[-1]);
      for_filled(row, width, [&](std::size_t k) { sums[k] += weight_ * (static_cast<double>(row[k]) / total); });
    });
  }

 private:
  const Outputs& outputs_;
  const CompactTree& tree_;
  double weight_;
  bool vote_;
};

}  // namespace weald
