// What the rows of a tile add, for each kind of target. All are planes of bytes, since the bytes of sixteen rows are
// summed up in two instructions:
//
//   two classes     h, g                      weight, and weight if of the second class
//   many classes    one plane a class         weight if of that class
//   numbers         h, g_0 .. g_7             the eight bytes of a fixed-point sum: their sums, each moved to its place,
//                                             add up to the sum, modulo 2^64 and so exactly; of several outputs the sums
//                                             are those of the rows, one by one
//
// The score of a cut is found from the sums of the plane on its left, by the arithmetic of the walks in search/: the
// same bits.
#pragma once

#include <cstring>

#include "weald/grow/node.hpp"
#include "weald/grow/plan.hpp"
#include "weald/grow/tile.hpp"
#include "weald/stats/quadratic.hpp"

namespace weald {

// Both sides of a cut.
struct Sides {
  double score;  // S(left) + S(right)
  Lane left_h;
  Lane left_sum;  // Packed
};

// What a statistic has to offer:
//
//   fits(plan), known(node)      can it be used at all, and for the subtree below a node?
//   random_in_large_tiles()      are random cuts of more than sixteen rows cheaper than elsewhere?
//   OfNode, root, measure        what is known of a node without its rows; of the root of a subtree; of both children
//   sure_to_be_pure, done_sum    from that: is it a leaf; its sum, for the finished tree
//   Rows, load                   what the rows of a tile add
//   look(tile, node)             makes a node the one at hand
//   pure, own_score, total_h     of the node at hand; channels(): in the units of
//   split(tile, left)            both sides of a cut, by the set of rows on the left

class TwoClasses {
 public:
  struct OfNode {
    Lane sum;
  };
  template <std::size_t kRows>
  struct Rows {
    alignas(16) std::uint8_t h[kRows], g[kRows];
  };
  explicit TwoClasses(const Plan& plan) : channels_(plan.stats) {}
  static bool fits(const Plan& plan) { return plan.stats.light_two_classes; }
  static bool random_in_large_tiles() { return true; }
  static bool known(const OpenNode& node) { return node.sum != OpenNode::kUnknown; }

  OfNode root(const OpenNode& node) const { return {node.sum}; }
  template <class Tile, class Node>
  void measure(Tile&, Node& left, Node& right, Lane left_sum) const {
    const Lane sum = left.own.sum;
    left.own.sum = left_sum, right.own.sum = sum - left_sum;
  }

  template <class Tile>
  void load(Tile& tile, const Block& block, const OfNode&) const {
    for (std::size_t i = 0; i < Tile::kRows; ++i) {
      const Row from = tile.row[i];
      const Lane word = i >= tile.n         ? 0
                        : block.class_bytes ? unpack_class_byte(block.class_bytes[from])
                                            : block.words[from];
      tile.statistic.h[i] = static_cast<std::uint8_t>(word),
      tile.statistic.g[i] = static_cast<std::uint8_t>(word >> 32);
    }
  }

  template <class Tile>
  void look(const Tile&, const typename Tile::Node& node) {
    sum_ = node.own.sum;
  }
  static bool sure_to_be_pure(const OfNode& node) { return pure_word(node.sum); }
  static bool pure() { return false; }
  double own_score() const { return quadratic(static_cast<double>(sum_ >> 32), static_cast<double>(sum_ & kLow)); }
  Lane total_h() const { return sum_ & kLow; }
  Lane done_sum(const OfNode& node) const { return node.sum; }
  const Channels& channels() const { return channels_; }

  template <class Tile>
  Sides split(const Tile& tile, const Bytes* left) const {
    ByteSums sums;
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      sums.add(Bytes::load(tile.statistic.h + c * kRowsAtOnce) & left[c],
               Bytes::load(tile.statistic.g + c * kRowsAtOnce) & left[c]);
    }
    const Lane sum = sums.packed();
    return {side(sum) + side(sum_ - sum), sum & kLow, sum};
  }

 private:
  static constexpr Lane kLow = 0xFFFFFFFF;
  static double side(Lane sum) { return quadratic(static_cast<double>(sum >> 32), static_cast<double>(sum & kLow)); }

  const Channels& channels_;
  Lane sum_ = 0;
};

// Classes under light weights. A tile has a plane for each of its classes, a node looks at those of its own.
class ManyClasses {
 public:
  struct OfNode {};
  static constexpr std::size_t kMostInLargeTiles = 32;  // beyond, sums by code cost less
  template <std::size_t kRows>
  struct Rows {
    std::vector<std::uint8_t> planes;  // kRows a class
    std::size_t n_planes = 0;
  };
  explicit ManyClasses(const Plan& plan)
      : channels_(plan.stats), large_tiles_(plan.stats.channels <= kMostInLargeTiles), plane_of_(plan.stats.channels) {}
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    return stats.layout == Layout::OneHot && stats.n_outputs == 1 && stats.criterion == Criterion::Gini &&
           stats.whole_weights && stats.most_h <= 127;
  }
  bool random_in_large_tiles() const { return large_tiles_; }
  static bool known(const OpenNode&) { return true; }

  OfNode root(const OpenNode&) const { return {}; }
  template <class Tile, class Node>
  void measure(Tile&, Node&, Node&, Lane) const {}

  template <class Tile>
  void load(Tile& tile, const Block& block, const OfNode&) {
    auto& [planes, n_planes] = tile.statistic;
    n_planes = 0;
    if (planes.empty()) planes.resize(std::min(plane_of_.size(), Tile::kRows) * Tile::kRows);
    for (std::size_t i = 0; i < tile.n; ++i) {
      const std::uint32_t k = block.hot[tile.row[i]];
      std::size_t plane = plane_of_[k];
      if (plane == 0) {
        seen_.push_back(k);
        plane = plane_of_[k] = static_cast<std::uint32_t>(++n_planes);
        std::memset(&planes[(plane - 1) * Tile::kRows], 0, Tile::kRows);
      }
      planes[(plane - 1) * Tile::kRows + i] = static_cast<std::uint8_t>(block.words[tile.row[i]]);
    }
    for (const std::uint32_t k : seen_) plane_of_[k] = 0;
    seen_.clear();
  }

  template <class Tile>
  void look(const Tile& tile, const typename Tile::Node& node) {
    here_.clear();
    h_ = squares_ = 0;
    for (std::size_t p = 0; p < tile.statistic.n_planes; ++p) {
      const std::uint8_t* plane = &tile.statistic.planes[p * Tile::kRows];
      const Lane sum = sum_of<Tile::kChunks>(plane, node.in);
      if (sum == 0) continue;
      here_.push_back({plane, sum});
      h_ += sum, squares_ += sum * sum;
    }
  }
  static bool sure_to_be_pure(const OfNode&) { return false; }
  bool pure() const { return here_.size() < 2; }

  double own_score() const { return static_cast<double>(squares_) / static_cast<double>(h_); }
  Lane total_h() const { return h_; }
  static Lane done_sum(const OfNode&) { return OpenNode::kUnknown; }
  const Channels& channels() const { return channels_; }

  template <class Tile>
  Sides split(const Tile&, const Bytes* left) const {
    Lane h = 0, squares = 0, products = 0;
    for (const Class& one : here_) {
      const Lane sum = sum_of<Tile::kChunks>(one.plane, left);
      h += sum, squares += sum * sum, products += sum * one.total;
    }
    const Lane right = squares_ - 2 * products + squares;
    const auto side = [](Lane sum, Lane weight) { return static_cast<double>(sum) / static_cast<double>(weight); };
    return {side(squares, h) + side(right, h_ - h), h, 0};
  }

 private:
  struct Class {
    const std::uint8_t* plane;
    Lane total;  // in the node
  };
  template <std::size_t kChunks>
  static Lane sum_of(const std::uint8_t* plane, const Bytes* in) {
    ByteSum sum;
    for (std::size_t c = 0; c < kChunks; ++c) sum.add(Bytes::load(plane + c * kRowsAtOnce) & in[c]);
    return sum.total();
  }

  const Channels& channels_;
  bool large_tiles_;
  std::vector<std::uint32_t> plane_of_;  // of each class: one more than the number of its plane; 0: none yet
  std::vector<std::uint32_t> seen_;
  std::vector<Class> here_;
  Lane h_ = 0, squares_ = 0;
};

}  // namespace weald
