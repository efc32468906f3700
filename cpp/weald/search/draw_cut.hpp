// The random rule. A numeric column: a threshold drawn uniformly between the extremes present. Categories: the same between
// random numbers that they get here.
#pragma once

#include "weald/base/paths.hpp"
#include "weald/base/random.hpp"
#include "weald/base/sorting.hpp"
#include "weald/base/wide_vectors.hpp"
#include "weald/search/column_search.hpp"

namespace weald {

// Where a numeric column is cut at random.
struct CutPoint {
  Code last_left = 0, first_right = 0;
  double threshold = kNaN;  // NaN: the middle between the two
};

inline double draw_threshold(std::uint64_t node_key, std::uint32_t j, double from, double to) {
  const double u = to_uniform(derive(node_key, j));
  const double threshold = from * (1 - u) + to * u;
  return threshold >= from && threshold < to ? threshold : from;
}

// Bins that lie below the threshold go left: the last of first .. last-1 whose top is not above it, or
// the first.
inline Code last_bin_below(const Column& column, const Extremes& ends, double threshold) {
  if (uses(Path::BinGuide) && column.guide) {
    return std::clamp<Code>(column.guide->count_up_to(threshold), ends.first + 1, ends.last) - 1;
  }
  Code at = ends.first;
  for (Code n = ends.last - at; n > 1;) {
    const Code half = n / 2;
    at += column.ends.high(at + half) <= threshold ? half : 0;
    n -= half;
  }
  return at;
}

// If the threshold falls into a bin it moves to the lower edge.
inline CutPoint bin_cut(const Column& column, Code last_left, double threshold) {
  return {last_left, last_left + 1, column.ends.low(last_left + 1) > threshold ? threshold : kNaN};
}

inline double draw_bin_threshold(std::uint64_t node_key, const Column& column, std::uint32_t j, const Extremes& ends) {
  return draw_threshold(node_key, j, column.ends.high(ends.first), column.ends.low(ends.last));
}

inline CutPoint draw_bin_cut(std::uint64_t node_key, const Column& column, std::uint32_t j, const Extremes& ends) {
  const double threshold = draw_bin_threshold(node_key, column, j, ends);
  return bin_cut(column, last_bin_below(column, ends, threshold), threshold);
}

// Keys are the values' own bits.
inline CutPoint draw_key_cut(std::uint64_t node_key, const Column& column, std::uint32_t j, const Extremes& ends) {
  constexpr float kInfFloat = std::numeric_limits<float>::infinity();
  const double threshold = draw_threshold(node_key, j, value_of<float>(ends.first), value_of<float>(ends.last));
  const auto top = largest_not_above<float>(threshold);
  // A double was rounded down to get its key: it is left of the cut if it is below the next float.
  const double at = column.floored ? std::nextafter(double{std::nextafter(top, kInfFloat)}, -kInf) : threshold;
  return {key_of(top), key_of(top) + 1, at};
}

// Ranks know their values only through the rows.
inline CutPoint draw_rank_cut(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
                              const Extremes& ends) {
  const auto each = [&](auto&& fn) {
    visit_width(column, [&](auto codes) {
      for (std::size_t i = 0; i < node.n; ++i) {
        const Code code = codes[node.rows[i] * column.stride];
        const Row row = request.origin ? request.origin[node.rows[i]] : node.rows[i];
        if (code != column.n_codes) fn(code, request.raw->at(row, j));
      }
    });
  };
  double from = kInf, to = -kInf;
  each([&](Code, double value) { from = std::min(from, value), to = std::max(to, value); });
  CutPoint cut{ends.first, ends.last, draw_threshold(request.node_key, j, from, to)};
  each([&](Code code, double value) {
    if (value <= cut.threshold)
      cut.last_left = std::max(cut.last_left, code);
    else
      cut.first_right = std::min(cut.first_right, code);
  });
  return cut;
}

// The numbers of the categories in one column of a node: those up to the threshold go left. Given the extremes, the
// others and the threshold are independent and uniform in between, so that it has any number of categories below it with
// the same probability, and any of that number: as if a random order were cut anywhere.
class CategoryNumbers {
 public:
  CategoryNumbers(std::uint64_t node_key, std::uint32_t j) : key_(derive(node_key, j)) {}

  // A bijection, so that no two are the same. Of one category, or of several in a vector.
  template <class T>
  WEALD_INLINE T operator()(T category) const {
    T x = category + static_cast<std::uint32_t>(key_);
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x ^= static_cast<std::uint32_t>(key_ >> 32);
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    return x ^ (x >> 16);
  }
  // At least the smallest and below the largest, which differ.
  std::uint32_t draw_threshold(std::uint32_t least, std::uint32_t most) const {
    return least + to_below(mix(key_), most - least);
  }

 private:
  std::uint64_t key_;
};

// How many of at least two categories go left, which come first afterwards.
inline std::size_t cut_categories(std::uint64_t node_key, std::uint32_t j, std::span<Code> order) {
  const CategoryNumbers number(node_key, j);
  std::uint32_t least = ~std::uint32_t{0}, most = 0;
  for (const Code code : order) least = std::min(least, number(code)), most = std::max(most, number(code));
  const std::uint32_t threshold = number.draw_threshold(least, most);
  const auto middle =
      std::stable_partition(order.begin(), order.end(), [&](Code code) { return number(code) <= threshold; });
  return static_cast<std::size_t>(middle - order.begin());
}

inline void draw_cut(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
                     const Extremes& ends, Split& split) {
  const CutPoint cut = column.keyed  ? draw_key_cut(request.node_key, column, j, ends)
                       : column.ends ? draw_bin_cut(request.node_key, column, j, ends)
                                     : draw_rank_cut(request, column, j, node, ends);
  split.last_left = cut.last_left, split.first_right = cut.first_right;
  split.random_threshold = cut.threshold;
}

// How many of the codes that are here, in order, go left. Of a sparse column's list the cut is drawn in full later, if it is the best.
inline std::size_t draw_position(const SearchRequest& request, const Column& column, std::uint32_t j,
                                 const NodeRows& node, std::span<const Code> order, bool has_missing, bool listed,
                                 Split& split) {
  const Extremes ends{order.front(), order.back(), has_missing};
  const auto count = [&](auto&& goes_left) {
    return static_cast<std::size_t>(std::partition_point(order.begin(), order.end(), goes_left) - order.begin());
  };
  if (listed && !column.keyed) {
    const double threshold = draw_bin_threshold(request.node_key, column, j, ends);
    return std::clamp<std::size_t>(count([&](Code code) { return column.ends.high(code) <= threshold; }), 1,
                                   order.size() - 1);
  }
  draw_cut(request, column, j, node, ends, split);
  return count([&](Code code) { return code <= split.last_left; });
}

}  // namespace weald
