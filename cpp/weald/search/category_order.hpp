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

// By how much the first of the categories outweigh the others.
inline Lane lead_of(const Channels& stats, const Lane* cells, std::span<const Code> order, std::size_t first) {
  Lane lead = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    const Lane h = h_of_cell(stats, cells + order[p] * stats.lanes);
    lead += p < first ? h : -h;
  }
  return lead;
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

// One channel: ordering by the mean G/H makes the best contiguous cut the best of all 2^(c-1)-1
// partitions (Fisher 1958; Breiman et al. 1984, theorem 4.5). Many channels: ordering along the
// first principal component of the categories' mean vectors (Coppersmith, Hong & Hosking 1999).
inline std::vector<double> category_keys(const Channels& stats, const Lane* cells, std::span<const Code> codes) {
  const std::size_t n = codes.size(), channels = stats.channels;
  const auto h = [&](std::size_t c) { return static_cast<double>(h_of_cell(stats, cells + codes[c] * stats.lanes)); };
  const auto g = [&](std::size_t c, std::size_t k) {
    const Lane* cell = cells + codes[c] * stats.lanes;
    return static_cast<double>(stats.layout == Layout::Packed ? *cell >> 32 : cell[2 + k]);
  };
  std::vector<double> keys(n);
  if (channels == 1) {
    for (std::size_t c = 0; c < n; ++c) keys[c] = h(c) > 0 ? g(c, 0) / (h(c) + stats.order_lambda) : 0.0;
    return keys;
  }
  std::vector<double> mean(channels, 0.0), share(n * channels);
  double weight = 0;
  for (std::size_t c = 0; c < n; ++c) {
    weight += h(c);
    for (std::size_t k = 0; k < channels; ++k) {
      mean[k] += g(c, k);
      share[c * channels + k] = h(c) > 0 ? g(c, k) / h(c) : 0.0;
    }
  }
  if (!(weight > 0)) return keys;
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = 0; k < channels; ++k) share[c * channels + k] -= mean[k] / weight;
  }
  // Power iteration on the weighted covariance, never formed: v <- sum_c h_c s_c (s_c . v).
  std::vector<double> turned(channels * n), weights(n), along(n);  // all categories at once: no sum waits for another
  for (std::size_t c = 0; c < n; ++c) {
    weights[c] = h(c);
    for (std::size_t k = 0; k < channels; ++k) turned[k * n + c] = share[c * channels + k];
  }
  std::vector<double> v(channels), next(channels), before(channels);
  for (std::size_t k = 0; k < channels; ++k) v[k] = 1.0 / static_cast<double>(k + 1);
  for (int left = 50; left > 0; --left) {
    std::fill(along.begin(), along.end(), 0.0);
    for (std::size_t k = 0; k < channels; ++k) {
      for (std::size_t c = 0; c < n; ++c) along[c] += turned[k * n + c] * v[k];
    }
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t c = 0; c < n; ++c) {
      const double* s = &share[c * channels];
      const double times = weights[c] * along[c];
      for (std::size_t k = 0; k < channels; ++k) next[k] += times * s[k];
    }
    const double norm = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (!(norm > 0)) break;
    for (std::size_t k = 0; k < channels; ++k) next[k] /= norm;
    // Soon it moves no more, or to and fro by a rounding: then what is left says where it ends.
    if (next == before && left % 2 == 1) left = 1;
    if (next == before && left % 2 == 0) left = 2;
    if (next == v) left = 1;
    before = std::exchange(v, next);
  }
  for (std::size_t c = 0; c < n; ++c) {
    keys[c] = std::inner_product(v.begin(), v.end(), &share[c * channels], 0.0);
  }
  return keys;
}

// Sorts codes by their keys; equal keys keep the order of the codes.
inline void sort_by_keys(std::span<Code> codes, const std::vector<double>& keys) {
  std::vector<std::size_t> index(codes.size());
  std::iota(index.begin(), index.end(), std::size_t{0});
  std::stable_sort(index.begin(), index.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<Code> sorted(codes.size());
  for (std::size_t p = 0; p < index.size(); ++p) sorted[p] = codes[index[p]];
  std::copy(sorted.begin(), sorted.end(), codes.begin());
}

}  // namespace weald
