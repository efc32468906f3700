// Puts categories in an order along which a single cut is a good (often the best) two-group split.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "weald/base/wide_numbers.hpp"
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

// The mean vectors of some categories, less that of all, row by row and turned.
class MeanVectors {
 public:
  MeanVectors(std::size_t n, std::size_t channels)
      : n_(whole_doubles(n)), width_(whole_doubles(channels)), rows_(n_ * width_), turned_(n_ * width_), weights_(n_) {}
  std::size_t width() const { return width_; }
  void put(std::size_t c, std::size_t k, double x) { rows_[c * width_ + k] = turned_[k * n_ + c] = x; }
  double& weight(std::size_t c) { return weights_[c]; }
  double along(std::size_t c, const double* v) const {
    return std::inner_product(v, v + width_, &rows_[c * width_], 0.0);
  }
  void multiply(const double* v, double* out) const;  // sum_c h_c s_c (s_c . v)

 private:
  std::size_t n_, width_;  // categories and channels, in whole vectors: those beyond add nothing
  std::vector<double> rows_, turned_, weights_;
};

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
  // Classes that are not here would add nothing.
  std::vector<std::size_t> here;
  std::vector<double> mean;
  double weight = 0;
  for (std::size_t c = 0; c < n; ++c) weight += h(c);
  if (!(weight > 0)) return keys;
  for (std::size_t k = 0; k < channels; ++k) {
    double sum = 0;
    bool any = false;
    for (std::size_t c = 0; c < n; ++c) sum += g(c, k), any |= g(c, k) != 0;
    if (any) here.push_back(k), mean.push_back(sum / weight);
  }
  MeanVectors means(n, here.size());
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = 0; k < here.size(); ++k) means.put(c, k, (h(c) > 0 ? g(c, here[k]) / h(c) : 0.0) - mean[k]);
    means.weight(c) = h(c);
  }
  // Power iteration on the weighted covariance, never formed: v <- sum_c h_c s_c (s_c . v).
  std::vector<double> v(means.width(), 0.0), next(means.width()), before(means.width());
  for (std::size_t k = 0; k < here.size(); ++k) v[k] = 1.0 / static_cast<double>(here[k] + 1);
  for (int left = 50; left > 0; --left) {
    means.multiply(v.data(), next.data());
    const double norm = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (!(norm > 0)) break;
    for (double& one : next) one /= norm;
    // Soon it moves no more, or to and fro by a rounding: then what is left says where it ends.
    if (next == before) left = left % 2 == 1 ? 1 : 2;
    if (next == v) left = 1;
    before = std::exchange(v, next);
  }
  for (std::size_t c = 0; c < n; ++c) keys[c] = means.along(c, v.data());
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
