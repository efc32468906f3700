// Puts categories in an order along which a single cut is a good (often the best) two-group split.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "weald/search/column_search.hpp"

namespace weald {

inline Lane h_of_cell(const Channels& stats, const Lane* cell) {
  return stats.layout == Layout::Packed ? *cell & 0xFFFFFFFF : cell[1];
}

// A category of few rows says little, so it must not choose its side: all such go together, and with the missing
// values (null: there are none). Gives those that are left; `others` is what the rare and the missing add up to.
inline std::span<Code> set_rare_apart(const Channels& stats, const Lane* cells, const Lane* missing,
                                      std::span<Code> order, std::vector<Code>& rare, std::vector<Lane>& others) {
  const std::size_t lanes = stats.lanes;
  others.assign(lanes, 0);
  const auto join = [&](const Lane* cell) {
    for (std::size_t k = 0; k < lanes; ++k) others[k] += cell[k];
  };
  if (missing) join(missing);
  std::size_t kept = 0;
  for (const Code code : order) {
    const Lane* cell = cells + code * lanes;
    if (static_cast<double>(h_of_cell(stats, cell)) >= stats.least_category) {
      order[kept++] = code;
    } else {
      rare.push_back(code);
      join(cell);
    }
  }
  return order.first(kept);
}

// Keys of categories along the first principal component of their mean vectors (Coppersmith, Hong & Hosking 1999).
// each(add) calls add(category, channel, amount) with parts of their sums of channels, which may be rows or cells: where
// these are whole numbers, so is all that is added up, and their order does not matter. `h`: of every category. `v` has
// room for every channel, `along` for every category; the start is channel `first` alone.
//
// Power iteration on the weighted covariance, never formed: a_c <- s_c . v, then v <- sum_c h_c a_c s_c. The order has
// to be a good one, not that of the very component: trees are as good after a few steps as after many.
template <class Number, class Each>
void find_principal_keys(const Each& each, std::span<const Number> h, std::size_t first, std::span<Number> v,
                         std::span<Number> along, std::span<double> keys) {
  constexpr int kSteps = 2;
  constexpr double kScale = 0x1.0p15;
  const auto total_h = static_cast<double>(std::accumulate(h.begin(), h.end(), Number{0}));
  std::fill(v.begin(), v.end(), Number{0});
  v[first] = Number{1};
  for (int step = 1;; ++step) {
    std::fill(along.begin(), along.end(), Number{0});
    each([&](std::size_t c, std::size_t k, Lane g) { along[c] += static_cast<Number>(g) * v[k]; });
    const double mean = static_cast<double>(std::accumulate(along.begin(), along.end(), Number{0})) / total_h;
    double most = 0;
    for (std::size_t c = 0; c < keys.size(); ++c) {
      keys[c] = h[c] > 0 ? static_cast<double>(along[c]) / static_cast<double>(h[c]) - mean : 0;
      most = std::max(most, std::abs(keys[c]));
    }
    if (step == kSteps || !(most > 0)) return;
    for (std::size_t c = 0; c < keys.size(); ++c) along[c] = static_cast<Number>(keys[c] * (kScale / most));
    std::fill(v.begin(), v.end(), Number{0});
    each([&](std::size_t c, std::size_t k, Lane g) { v[k] += along[c] * static_cast<Number>(g); });
    most = 0;
    for (const Number x : v) most = std::max(most, std::abs(static_cast<double>(x)));
    if (!(most > 0)) return;
    for (Number& x : v) x = static_cast<Number>(static_cast<double>(x) * (kScale / most));
  }
}

// What the categories of a column are ordered by, and the memory that finding it takes.
class CategoryKeys {
 public:
  // Of some codes, whose rows add up to these cells. One channel: ordering by the mean G/H makes the best contiguous
  // cut the best of all 2^(c-1)-1 partitions (Fisher 1958; Breiman et al. 1984, theorem 4.5).
  std::span<const double> of(const Channels& stats, const Lane* cells, std::span<const Code> codes) {
    const auto cell = [&](std::size_t c) { return cells + codes[c] * stats.lanes; };
    keys_.resize(codes.size());
    if (stats.channels > 1) {
      const auto each = [&](auto&& add) {
        for (std::size_t c = 0; c < codes.size(); ++c) {
          for (std::size_t k = 0; k < stats.channels; ++k) add(c, k, cell(c)[2 + k]);
        }
      };
      return of_many(stats, codes.size(), each, [&](std::size_t c) { return cell(c)[1]; });
    }
    const bool packed = stats.layout == Layout::Packed;
    for (std::size_t c = 0; c < codes.size(); ++c) {
      const auto h = static_cast<double>(h_of_cell(stats, cell(c)));
      keys_[c] = h > 0 ? static_cast<double>(packed ? *cell(c) >> 32 : cell(c)[2]) / (h + stats.order_lambda) : 0.0;
    }
    return keys_;
  }

  // Of n categories and many channels: see find_principal_keys.
  template <class Each, class WeightOf>
  std::span<const double> of_many(const Channels& stats, std::size_t n, const Each& each, const WeightOf& weight_of) {
    keys_.resize(n);
    double total = 0;
    for (std::size_t c = 0; c < n; ++c) total += static_cast<double>(weight_of(c));
    const bool whole = stats.layout == Layout::OneHot && stats.whole_weights && total < 0x1.0p31;
    whole ? find(stats, each, weight_of, whole_) : find(stats, each, weight_of, real_);
    return keys_;
  }

 private:
  template <class Number>
  struct Memory {
    std::vector<Number> h, v, along;
  };
  template <class Number, class Each, class WeightOf>
  void find(const Channels& stats, const Each& each, const WeightOf& weight_of, Memory<Number>& memory) {
    const std::size_t n = keys_.size();
    memory.h.resize(n), memory.along.resize(n), memory.v.assign(stats.channels, Number{0});
    Number total_h = 0;
    for (std::size_t c = 0; c < n; ++c) total_h += memory.h[c] = static_cast<Number>(weight_of(c));
    // The start is the largest class; of numbers, those whose means are furthest apart.
    each([&](std::size_t, std::size_t k, Lane g) { memory.v[k] += static_cast<Number>(g); });
    if constexpr (std::is_same_v<Number, double>) {
      if (stats.layout == Layout::Dense) {
        std::vector<double> apart(stats.channels);
        each([&](std::size_t c, std::size_t k, Lane g) {
          apart[k] += std::abs(static_cast<double>(g) - memory.v[k] / total_h * memory.h[c]);
        });
        memory.v = apart;
      }
    }
    const auto first = std::max_element(memory.v.begin(), memory.v.end()) - memory.v.begin();
    find_principal_keys<Number>(each, memory.h, static_cast<std::size_t>(first), memory.v, memory.along, keys_);
  }

  std::vector<double> keys_;
  Memory<Lane> whole_;
  Memory<double> real_;
};

// Sorts codes, which are in order, by their keys; equal keys keep the order.
inline void sort_by_keys(std::span<Code> codes, std::span<const double> keys) {
  std::vector<std::pair<double, Code>> both(codes.size());
  for (std::size_t p = 0; p < codes.size(); ++p) both[p] = {keys[p], codes[p]};
  std::sort(both.begin(), both.end());
  for (std::size_t p = 0; p < codes.size(); ++p) codes[p] = both[p].second;
}

}  // namespace weald
