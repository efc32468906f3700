// Columns drawn at random for a node, one after another and none twice.
#pragma once

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "weald/base/random.hpp"

namespace weald {

class ColumnDraw {
 public:
  explicit ColumnDraw(std::size_t columns) : order_(columns), swapped_(columns) {
    std::iota(order_.begin(), order_.end(), 0U);
  }
  std::size_t size() const { return order_.size(); }

  // For another node. Only what was swapped is put back: to number all columns again would cost more than a node of few
  // rows in a wide table.
  void begin() {
    for (std::size_t k = 0; k < n_; ++k) order_[k] = static_cast<std::uint32_t>(k), order_[swapped_[k]] = swapped_[k];
    n_ = 0;
  }

  std::uint32_t next(std::uint64_t node_key) {
    next(node_key, 1);
    return order_[n_ - 1];
  }

  // So many more: all are drawn before any is swapped, which need not wait for each other.
  std::span<const std::uint32_t> next(std::uint64_t node_key, std::size_t n) {
    const std::size_t begin = n_, d = size();
    n_ += n;
    for (std::size_t k = begin; k < n_; ++k) {
      const std::uint64_t bits = derive(node_key, kDrawKey + k);
      swapped_[k] = static_cast<std::uint32_t>(k) + to_below(bits, static_cast<std::uint32_t>(d - k));
    }
    for (std::size_t k = begin; k < n_; ++k) std::swap(order_[k], order_[swapped_[k]]);
    return {order_.data() + begin, n};
  }

  std::span<const std::uint32_t> drawn() const { return {order_.data(), n_}; }

 private:
  std::vector<std::uint32_t> order_, swapped_;  // swapped_[k]: with what the k-th was
  std::size_t n_ = 0;                           // drawn
};

}  // namespace weald
