// What the rows of a tile add where targets are numbers (see tile_statistics.hpp).
#pragma once

#include "weald/grow/tile_statistics.hpp"
#include "weald/search/number_histograms.hpp"
#include "weald/stats/fill_lanes.hpp"

namespace weald {

// Real targets, and two classes under weights that are not light.
class Numbers {
 public:
  struct OfNode {
    Units units;
  };
  static constexpr std::size_t kPlanes = sizeof(Lane), kMostOutputs = NumberHistograms::kMostOutputs;
  template <std::size_t kRows>
  struct Rows {
    std::vector<double> y;  // outputs a row
    std::vector<const double*> target;
    std::vector<Lane> h, g;            // g: outputs a row
    std::vector<std::uint8_t> planes;  // of one output: those of h, then of g, kRows each
  };
  explicit Numbers(const Plan& plan)
      : stats_(plan.stats),
        channels_(plan.stats),
        h_planes_((std::bit_width(std::uint64_t(plan.stats.most_h)) + 7) / 8) {}
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    return stats.layout == Layout::Dense && !stats.gradients && stats.least_h > 0 && stats.channels <= kMostOutputs &&
           (stats.criterion == Criterion::Squared || stats.criterion == Criterion::Gini);
  }
  static bool random_in_large_tiles() { return true; }
  static bool known(const OpenNode&) { return true; }

  OfNode root(const OpenNode& node) const { return {node.frame ? node.frame->units : Units{}}; }

  template <class Tile>
  void load(Tile& tile, const Block& block, const OfNode& node) {
    auto& rows = tile.statistic;
    const std::size_t outputs = channels_.channels;
    if (outputs == 1) rows.planes.assign((h_planes_ + kPlanes) * Tile::kRows, 0);
    rows.y.resize(outputs * Tile::kRows), rows.target.resize(Tile::kRows), rows.h.resize(Tile::kRows),
        rows.g.resize(outputs * Tile::kRows);
    use(node.units);
    const FillLanes lanes_of(channels_);
    for (std::size_t i = 0; i < tile.n; ++i) {
      if (stats_.real()) {
        rows.target[i] = stats_.target_of(block.original(tile.row[i]));
        rows.h[i] = block.words[tile.row[i]];
        std::copy_n(rows.target[i], outputs, &rows.y[i * outputs]);
        fill(tile, i, lanes_of);
      } else {
        put(tile, i, block.words.get(tile.row[i] * std::size_t{3}, 3));
      }
    }
  }

  // As Expander::measure: the units of the parent, until the targets have come much closer together.
  template <class Tile, class Node>
  void measure(Tile& tile, Node& left, Node& right, Lane) {
    if (!stats_.real()) return;
    for (Node* node : {&left, &right}) {
      Units& units = node->own.units;
      double low, high;
      if (node->n < 2 || serve(units, tile, *node, low, high)) continue;
      Lane h = 0;
      for_rows_in(*node, [&](std::size_t i) { h += tile.statistic.h[i]; });
      units = Units::choose(channels_, node->n, static_cast<double>(h), low, high);
      const FillLanes lanes_of(channels_);
      for_rows_in(*node, [&](std::size_t i) { fill(tile, i, lanes_of); });
    }
  }

  template <class Tile>
  void look(const Tile& tile, const typename Tile::Node& node) {
    use(node.own.units);
    const std::size_t outputs = channels_.channels;
    h_ = 0;
    std::fill_n(g_, outputs, 0);
    for_rows_in(node, [&](std::size_t i) {
      h_ += tile.statistic.h[i];
      for (std::size_t o = 0; o < outputs; ++o) g_[o] += tile.statistic.g[i * outputs + o];
    });
    pure_ = stats_.real() ? all_the_same(tile, node) : g_[0] == 0 || g_[0] == h_;
  }
  static bool sure_to_be_pure(const OfNode&) { return false; }
  bool pure() const { return pure_; }
  double own_score() const {
    double squares = 0;
    for (std::size_t o = 0; o < channels_.channels; ++o) squares += square(g_[o]);
    return side(squares, h_);
  }
  Lane total_h() const { return h_; }
  static Lane done_sum(const OfNode&) { return OpenNode::kUnknown; }
  const Channels& channels() const { return channels_; }

  template <class Tile>
  Sides split(const Tile& tile, const Bytes* left) const {
    const std::size_t outputs = channels_.channels;
    Lane h = 0, g[kMostOutputs] = {};
    if (outputs == 1) {
      h = h_of(tile, left), g[0] = lane_of(tile, h_planes_, kPlanes, left);
    } else {  // rows cost less than so many planes
      for_rows_of<Tile::kChunks>(left, [&](std::size_t i) {
        h += tile.statistic.h[i];
        for (std::size_t o = 0; o < outputs; ++o) g[o] += tile.statistic.g[i * outputs + o];
      });
    }
    double left_squares = 0, right_squares = 0;
    for (std::size_t o = 0; o < outputs; ++o) {
      left_squares += square(g[o]), right_squares += square(g_[o] - g[o]);
    }
    return {side(left_squares, h) + side(right_squares, h_ - h), h, 0};
  }

 private:
  // Do the units serve a node? If not, between what its targets are.
  template <class Tile, class Node>
  bool serve(const Units& units, const Tile& tile, const Node& node, double& low, double& high) const {
    const std::size_t outputs = channels_.channels;
    low = kInf, high = -kInf;
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      for (std::uint32_t bits = node.in[c].bits(); bits != 0; bits &= bits - 1) {
        const double* y =
            &tile.statistic.y[(c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits))) * outputs];
        for (std::size_t o = 0; o < outputs; ++o) low = std::min(low, y[o]), high = std::max(high, y[o]);
        if (units.serve(low, high)) return true;  // after a few rows, as a rule
      }
    }
    return false;
  }
  static double square(Lane g) { return static_cast<double>(g) * static_cast<double>(g); }
  static double side(double squares, Lane h) { return h > 0 ? squares / static_cast<double>(h) : 0.0; }

  template <class Tile>
  static Lane lane_of(const Tile& tile, std::size_t first, std::size_t planes, const Bytes* in) {
    ByteSum sum;
    for (std::size_t p = first + planes; p-- > first;) {
      sum.move_up();
      const std::uint8_t* plane = &tile.statistic.planes[p * Tile::kRows];
      for (std::size_t c = 0; c < Tile::kChunks; ++c) sum.add(Bytes::load(plane + c * kRowsAtOnce) & in[c]);
    }
    return sum.total();
  }
  template <class Tile>
  Lane h_of(const Tile& tile, const Bytes* in) const {
    return h_planes_ == 1 ? lane_of(tile, 0, 1, in) : lane_of(tile, 0, h_planes_, in);
  }

  template <class Tile>
  bool all_the_same(const Tile& tile, const typename Tile::Node& node) const {
    const std::size_t outputs = channels_.channels;
    const double* first = nullptr;
    for (std::size_t c = 0; c < Tile::kChunks; ++c) {
      for (std::uint32_t bits = node.in[c].bits(); bits != 0; bits &= bits - 1) {
        const std::size_t i = c * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(bits));
        const double* y = &tile.statistic.y[i * outputs];
        if (first && !std::equal(y, y + outputs, first)) return false;
        if (!first) first = y;
      }
    }
    return true;
  }

  void use(const Units& units) {
    if (stats_.real()) channels_.g_centre = units.centre, channels_.g_unit = units.g_unit;
  }
  // What a row adds, in the units at hand.
  template <class Tile>
  void fill(Tile& tile, std::size_t i, const FillLanes& lanes_of) const {
    Lane lanes[2 + kMostOutputs];
    lanes_of(tile.statistic.target[i], tile.statistic.h[i], lanes);
    put(tile, i, lanes);
  }
  template <class Tile>
  void put(Tile& tile, std::size_t i, const Lane* lanes) const {
    tile.statistic.h[i] = lanes[1];
    std::copy_n(lanes + 2, channels_.channels, &tile.statistic.g[i * channels_.channels]);
    if (channels_.channels > 1) return;
    std::uint8_t* plane = &tile.statistic.planes[i];
    const auto put_bytes = [&](Lane lane, std::size_t n) {
      for (std::size_t p = 0; p < n; ++p, plane += Tile::kRows) *plane = static_cast<std::uint8_t>(lane >> (8 * p));
    };
    put_bytes(lanes[1], h_planes_), put_bytes(lanes[2], kPlanes);
  }

  const Statistics& stats_;
  Channels channels_;  // with the units of the node at hand
  std::size_t h_planes_;
  Lane h_ = 0, g_[kMostOutputs] = {};
  bool pure_ = false;
};

}  // namespace weald
