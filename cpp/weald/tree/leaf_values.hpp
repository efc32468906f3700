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
  if constexpr (std::endian::native == std::endian::little) {
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

  // Adds leaf after leaf to the sums of rows that lie far apart.
  void add_all(const std::uint32_t* leaf, std::span<const Row> rows, double* sums, std::size_t stride) const {
    const std::size_t width = outputs_.width();
    if (outputs_.is_inline()) {
      const auto add_number = [&]<bool kTwo>(std::bool_constant<kTwo>, const Node* nodes, double weight, bool vote) {
        for (std::size_t k = 0; k < rows.size(); ++k) {
          const double number = nodes[leaf[k]].number, value = vote ? static_cast<double>(number > 0.5) : number;
          double* const own = sums + rows[k] * stride;
          if (kTwo) own[0] += weight * (1 - value);
          own[kTwo] += weight * value;
        }
      };
      if (width == 2) return add_number(std::true_type{}, tree_.nodes.data(), weight_, vote_);
      return add_number(std::false_type{}, tree_.nodes.data(), weight_, vote_);
    }
    if (!begin_.empty()) {
      return add_rows(
          leaf, rows, sums, stride,
          [parts = parts_.data(), begin = begin_.data()](std::size_t row, double* own) {
            for (std::uint32_t at = begin[row]; at < begin[row + 1]; ++at) own[parts[at].place] += parts[at].part;
          },
          [&](std::size_t row, const double* own) { prefetch(own + parts_[begin_[row]].place); });
    }
    tree_.table.visit([&](const auto* cells) {
      add_rows(
          leaf, rows, sums, stride,
          [&](std::size_t row, double* own) {
            for_parts(cells + row * (1 + width) + 1, [&](std::size_t k, double part) { own[k] += part; });
          },
          [&](std::size_t row, const double* own) {
            prefetch(cells + row * (1 + width)), prefetch(cells + row * (1 + width) + width);
            for (std::size_t place = 0; place < width; place += 8) prefetch(own + place);
          });
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
    if constexpr (std::is_integral_v<C>) {
      for_filled(row, outputs_.width(), [&](std::size_t k) { fn(k, weight_ * (static_cast<double>(row[k]) / total)); });
    } else {  // without a branch; -0 changes no sum
      for (std::size_t k = 0; k < outputs_.width(); ++k) fn(k, row[k] != 0 ? weight_ * (row[k] / total) : -0.0);
    }
  }

  // Leaves, what a table says of them, and sums are all out of reach of the first cache, so they are brought near.
  template <class Add, class Near>
  void add_rows(const std::uint32_t* leaf, std::span<const Row> rows, double* sums, std::size_t stride, Add&& add,
                Near&& near) const {
    const Node* const nodes = tree_.nodes.data();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (k + 2 * kLeavesAhead < rows.size()) {
        prefetch(&nodes[leaf[k + 2 * kLeavesAhead]]);
        near(nodes[leaf[k + kLeavesAhead]].next, sums + rows[k + kLeavesAhead] * stride);
      }
      add(nodes[leaf[k]].next, sums + rows[k] * stride);
    }
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
