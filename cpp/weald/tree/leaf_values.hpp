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
  // What it adds to about so many rows.
  LeafAdder(const Outputs& outputs, const CompactTree& tree, double weight, bool vote, std::size_t n_rows = 0)
      : outputs_(outputs), tree_(tree), weight_(weight), vote_(vote && outputs.classifies()) {
    const std::size_t cells = tree.table.bytes.size() / tree.table.cell_bytes(), n = cells / (1 + outputs.width());
    if (outputs.is_inline() || n > n_rows / 4) return;
    begin_.reserve(n + 1);
    tree.table.visit([&](const auto* first) {
      for (const auto* row = first + 1; row < first + cells; row += 1 + outputs.width()) {
        begin_.push_back(static_cast<std::uint32_t>(parts_.size()));
        for_parts(row, [&](std::size_t k, double part) { parts_.push_back({part, k}); });
      }
    });
    begin_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.push_back({0, 0});  // for a row without any to look at
  }

  // Adds leaf after leaf to the sums of rows that lie far apart. Leaves, what a table says of them, and sums are all
  // out of reach of the first cache, so they are brought near.
  void add_all(const std::uint32_t* leaf, std::span<const Row> rows, double* sums, std::size_t stride) const {
    const std::size_t n = rows.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (!outputs_.is_inline() && k + 2 * kLeavesAhead < n) {
        prefetch(&tree_.nodes[leaf[k + 2 * kLeavesAhead]]);
        const std::size_t next = tree_.nodes[leaf[k + kLeavesAhead]].next;
        const double* ahead = sums + rows[k + kLeavesAhead] * stride;
        if (!begin_.empty()) {
          prefetch(ahead + parts_[begin_[next]].place);
        } else {
          const std::size_t bytes = (1 + outputs_.width()) * tree_.table.cell_bytes();
          const std::uint8_t* const row = tree_.table.bytes.data() + next * bytes;
          prefetch(row), prefetch(row + bytes - 1);
          for (std::size_t place = 0; place < outputs_.width(); place += 8) prefetch(ahead + place);
        }
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
    if (!begin_.empty()) {
      for (std::uint32_t at = begin_[node.next]; at < begin_[node.next + 1]; ++at)
        sums[parts_[at].place] += parts_[at].part;
      return;
    }
    tree_.table.visit([&](const auto* cells) {
      for_parts(cells + node.next * (1 + width) + 1, [&](std::size_t k, double part) { sums[k] += part; });
    });
  }

 private:
  // Calls fn(k, part) with all that a row of the table adds.
  template <class C, class Fn>
  void for_parts(const C* row, Fn&& fn) const {
    if (vote_) {
      for (std::size_t o = 0; o < outputs_.n_outputs; ++o) {
        const C* first = row + o * outputs_.max_classes;
        fn(static_cast<std::size_t>(std::max_element(first, first + outputs_.max_classes) - row), weight_);
      }
      return;
    }
    const double total = static_cast<double>(row[-1]);
    for_filled(row, outputs_.width(), [&](std::size_t k) { fn(k, weight_ * (static_cast<double>(row[k]) / total)); });
  }

  struct Part {
    double part;
    std::size_t place;
  };

  const Outputs& outputs_;
  const CompactTree& tree_;
  double weight_;
  bool vote_;
  // What the rows of a short table add, worked out once: most leaves of deep trees are alike, and know one class.
  std::vector<Part> parts_;
  std::vector<std::uint32_t> begin_;  // of each row's
};

}  // namespace weald
