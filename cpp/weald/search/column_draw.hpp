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

  // For another node. What was swapped is swapped back: to number all columns again would cost more than a node of few
  // rows in a wide table.
  void begin() {
    while (n_ > 0) {
      --n_;
      std::swap(order_[n_], order_[swapped_[n_]]);
    }
  }

  std::uint32_t next(std::uint64_t node_key) {
    const std::size_t k = n_++;
    const std::size_t with = k + to_below(derive(node_key, kDrawKey + k), static_cast<std::uint32_t>(size() - k));
    std::swap(order_[k], order_[with]);
    swapped_[k] = static_cast<std::uint32_t>(with);
    return order_[k];
  }

  std::span<const std::uint32_t> drawn() const { return {order_.data(), n_}; }

 private:
  std::vector<std::uint32_t> order_, swapped_;  // swapped_[k]: with what the k-th was
  std::size_t n_ = 0;                           // drawn
};

}  // namespace weald
