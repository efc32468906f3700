// What the rows of a small tile add where classes have weights of any kind, for random cuts: few rows go left, so that
// they are added one by one.
#pragma once

#include "weald/grow/tile_statistics.hpp"

namespace weald {

class WeighedClasses {
 public:
  struct OfNode {};
  template <std::size_t kRows>
  struct Rows {
    Lane h[kRows];
    std::uint8_t place[kRows];  // of the row's class among those of the tile, in their order: so sums are rounded alike
    std::size_t n_classes;
  };
  explicit WeighedClasses(const Plan& plan) : channels_(plan.stats) {}
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    return stats.layout == Layout::OneHot && stats.n_outputs == 1 && stats.criterion == Criterion::Gini &&
           stats.least_h > 0 && plan.rules.random_split;
  }
  static bool random_in_large_tiles() { return false; }
  static bool known(const OpenNode&) { return true; }

  OfNode root(const OpenNode&) const { return {}; }
  template <class Tile, class Node>
  void measure(Tile&, Node&, Node&, Lane) const {}

  template <class Tile>
  void load(Tile& tile, const Block& block, const OfNode&) const {
    auto& [h, place, n_classes] = tile.statistic;
    std::uint32_t classes[Tile::kRows];
    for (std::size_t i = 0; i < tile.n; ++i) {
      classes[i] = block.hot[tile.row[i]];
      h[i] = block.words[tile.row[i]];
    }
    std::uint32_t order[Tile::kRows];
    std::copy_n(classes, tile.n, order);
    std::sort(order, order + tile.n);
    n_classes = static_cast<std::size_t>(std::unique(order, order + tile.n) - order);
    for (std::size_t i = 0; i < tile.n; ++i) {
      place[i] = static_cast<std::uint8_t>(std::lower_bound(order, order + n_classes, classes[i]) - order);
    }
  }

  template <class Tile>
  void look(const Tile& tile, const typename Tile::Node& node) {
    n_classes_ = tile.statistic.n_classes;
    h_ = add(tile, node.in, total_);
  }
  static bool sure_to_be_pure(const OfNode&) { return false; }
  bool pure() const { return std::find(total_, total_ + n_classes_, h_) != total_ + n_classes_; }
  double own_score() const {
    double squares = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) squares += square(total_[c]);
    return squares / static_cast<double>(h_);
  }
  Lane total_h() const { return h_; }
  static Lane done_sum(const OfNode&) { return OpenNode::kUnknown; }
  const Channels& channels() const { return channels_; }

  template <class Tile>
  Sides split(const Tile& tile, const Bytes* left) const {
    Lane sums[kMostRows];
    const Lane h = add(tile, left, sums);
    double left_squares = 0, right_squares = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      left_squares += square(sums[c]), right_squares += square(total_[c] - sums[c]);
    }
    return {left_squares / static_cast<double>(h) + right_squares / static_cast<double>(h_ - h), h, 0};
  }

 private:
  static constexpr std::size_t kMostRows = kLargeTile * kRowsAtOnce;
  static double square(Lane g) { return static_cast<double>(g) * static_cast<double>(g); }

  // The weight of some rows, by class and together.
  template <class Tile>
  Lane add(const Tile& tile, const Bytes* in, Lane* sums) const {
    Lane h = 0;
    std::fill_n(sums, n_classes_, 0);
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      for (std::uint32_t bits = in[c].bits(); bits != 0; bits &= bits - 1) {
        const std::size_t i = c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits));
        h += tile.statistic.h[i], sums[tile.statistic.place[i]] += tile.statistic.h[i];
      }
    }
    return h;
  }

  const Channels& channels_;
  std::size_t n_classes_ = 0;
  Lane h_ = 0, total_[kMostRows] = {};
};

}  // namespace weald
