// What the rows of a small subtree add, for each kind of target. A row is known by its place in the subtree. What each has to
// offer:
//
//   fits(plan)                can it be used?
//   OfNode, root, measure     what is known of a node without its rows: of the root of the subtree; of a new child
//   load(block, rows)         of a subtree
//   look(places, node)        makes a node the one at hand; pure, own_score, total: of it
//   sum_left(cuts)            what lies left and right of every cut of sorted columns (search/sorted_cuts.hpp)
//   h(place), cell(place)     of a row: its weight; all its lanes
//
// The arithmetic is that of the walks in search/: the same bits.
#pragma once

#include "weald/grow/node.hpp"
#include "weald/grow/plan.hpp"
#include "weald/search/number_histograms.hpp"
#include "weald/search/sorted_cuts.hpp"
#include "weald/stats/fill_lanes.hpp"

namespace weald {

using Place = std::uint8_t;

// Real targets, and two classes under weights that are not light.
class NumberSums {
 public:
  struct OfNode {
    Units units;
  };
  explicit NumberSums(const Plan& plan) : stats_(plan.stats), channels_(plan.stats), outputs_(plan.stats.channels) {}
  static bool fits(const Plan& plan) { return NumberHistograms::fit(plan.stats); }

  OfNode root(const OpenNode& node) const { return {node.frame ? node.frame->units : Units{}}; }

  void load(const Block& block, std::span<const Row> rows, const OfNode& node) {
    use(node.units);
    const FillLanes fill(channels_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (stats_.real()) {
        target_[i] = stats_.target_of(block.original(rows[i]));
        fill(target_[i], block.words[rows[i]], lanes_[i]);
      } else {
        std::copy_n(block.words.get(rows[i] * std::size_t{3}, 3), 3, lanes_[i]);
      }
    }
  }

  // As Expander::measure: the units of the parent, until the targets have come much closer together.
  void measure(std::span<const Place> places, OfNode& node) {
    if (!stats_.real() || places.size() < 2) return;
    double low = kInf, high = -kInf;
    for (const Place i : places) {
      for (std::size_t o = 0; o < outputs_; ++o) {
        low = std::min(low, target_[i][o]), high = std::max(high, target_[i][o]);
      }
      if (node.units.serve(low, high)) return;  // after a few rows, as a rule
    }
    Lane total_h = 0;
    for (const Place i : places) total_h += h(i);
    node.units = Units::choose(channels_, places.size(), static_cast<double>(total_h), low, high);
    const FillLanes fill(channels_);
    for (const Place i : places) fill(target_[i], h(i), lanes_[i]);
  }

  void look(std::span<const Place> places, const OfNode& node) {
    use(node.units);
    std::fill_n(total_, 2 + outputs_, 0);
    for (const Place i : places) {
      for (std::size_t l = 0; l < 2 + outputs_; ++l) total_[l] += lanes_[i][l];
    }
    pure_ = stats_.real() ? std::all_of(places.begin() + 1, places.end(),
                                        [&, first = target_[places[0]]](Place i) {
                                          return std::equal(first, first + outputs_, target_[i]);
                                        })
                          : total_[2] == 0 || total_[2] == total_[1];
  }
  bool pure() const { return pure_; }
  double own_score() const {
    double squares = 0;
    for (std::size_t o = 0; o < outputs_; ++o) {
      const auto g = static_cast<double>(total_[2 + o]);
      squares += g * g;
    }
    return squares / static_cast<double>(total_[1]);
  }
  const Lane* total() const { return total_; }
  const Channels& channels() const { return channels_; }
  Lane h(Place i) const { return lanes_[i][1]; }
  const Lane* cell(Place i) const { return lanes_[i]; }

  void sum_left(SortedCuts& cuts) {
    const std::size_t columns = cuts.columns();
    double left_h[SortedCuts::kColumns] = {};
    std::fill_n(cuts.left(), cuts.cuts(), 0.0), std::fill_n(cuts.right(), cuts.cuts(), 0.0);
    for (std::size_t o = 0; o < outputs_; ++o) {
      Lane left[SortedCuts::kColumns] = {};
      for (std::size_t p = 0; p + 1 < cuts.rows(); ++p) {
        for (std::size_t c = 0; c < columns; ++c) {
          const Lane* lanes = lanes_[cuts.place(p, c)];
          if (o == 0) cuts.put_h(p, c, left_h[c] += static_cast<double>(lanes[1]));
          left_[cuts.cut(p, c)] = left[c] += lanes[2 + o];
        }
      }
      add_squares(left_, cuts.cuts(), total_[2 + o], cuts.left(), cuts.right());
    }
    cuts.score(static_cast<double>(total_[1]));
  }

 private:
  static constexpr std::size_t kRows = SortedCuts::kRows, kMostOutputs = NumberHistograms::kMostOutputs;
  void use(const Units& units) {
    if (stats_.real()) channels_.g_centre = units.centre, channels_.g_unit = units.g_unit;
  }

  const Statistics& stats_;
  Channels channels_;  // with the units of the node at hand
  std::size_t outputs_;
  const double* target_[kRows] = {};
  Lane lanes_[kRows][2 + kMostOutputs] = {};  // count, H, G of all outputs
  Lane total_[2 + kMostOutputs] = {};
  bool pure_ = false;
  Lane left_[kRows * SortedCuts::kColumns] = {};
};

// Classes under light weights.
//
//   sum_k (T_k - L_k)^2 = sum T_k^2 - 2 sum T_k L_k + sum L_k^2         L_k: weight on the left of class k, T_k: of all
class ClassSums {
 public:
  struct OfNode {};
  explicit ClassSums(const Plan& plan)
      : channels_(plan.stats), number_(plan.stats.channels), total_(plan.stats.lanes), cell_(plan.stats.lanes) {}
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    return stats.layout == Layout::OneHot && stats.n_outputs == 1 && stats.criterion == Criterion::Gini &&
           stats.whole_weights && stats.most_h <= 127;
  }
  OfNode root(const OpenNode&) const { return {}; }
  void measure(std::span<const Place>, OfNode&) const {}

  // Those of the classes that are here get numbers of their own.
  void load(const Block& block, std::span<const Row> rows, const OfNode&) {
    n_classes_ = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t k = block.hot[rows[i]];
      if (number_[k] == 0) class_[n_classes_++] = k, number_[k] = static_cast<std::uint32_t>(n_classes_);
      of_row_[i] = number_[k] - 1, h_[i] = block.words[rows[i]];
    }
    for (std::size_t k = 0; k < n_classes_; ++k) number_[class_[k]] = 0;
  }

  void look(std::span<const Place> places, const OfNode&) {
    std::fill_n(weight_, n_classes_, 0);
    for (const Place i : places) weight_[of_row_[i]] += h_[i];
    total_h_ = squares_ = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) total_h_ += weight_[k], squares_ += weight_[k] * weight_[k];
    n_ = places.size();
  }
  bool pure() const { return squares_ == total_h_ * total_h_; }
  double own_score() const { return static_cast<double>(squares_) / static_cast<double>(total_h_); }
  const Lane* total() {
    std::fill(total_.begin(), total_.end(), 0);
    total_[0] = static_cast<Lane>(n_), total_[1] = total_h_;
    for (std::size_t k = 0; k < n_classes_; ++k) total_[2 + class_[k]] = weight_[k];
    return total_.data();
  }
  const Channels& channels() const { return channels_; }
  Lane h(Place i) const { return h_[i]; }
  const Lane* cell(Place i) {
    std::fill(cell_.begin(), cell_.end(), 0);
    cell_[0] = 1, cell_[1] = cell_[2 + class_[of_row_[i]]] = h_[i];
    return cell_.data();
  }

  void sum_left(SortedCuts& cuts) {
    struct Left {
      Lane h, squares, products;
    } left[SortedCuts::kColumns] = {};
    std::fill_n(left_[0], n_classes_ * SortedCuts::kColumns, 0);
    for (std::size_t p = 0; p + 1 < cuts.rows(); ++p) {
      for (std::size_t c = 0; c < cuts.columns(); ++c) {
        const std::size_t i = cuts.place(p, c), k = of_row_[i];
        const Lane h = h_[i];
        Lane& own = left_[k][c];
        left[c].h += h, left[c].squares += h * (2 * own + h), left[c].products += h * weight_[k];
        own += h;
        const std::size_t at = cuts.cut(p, c);
        cuts.put_h(p, c, static_cast<double>(left[c].h));
        cuts.left()[at] = static_cast<double>(left[c].squares);
        cuts.right()[at] = static_cast<double>(squares_ - 2 * left[c].products + left[c].squares);
      }
    }
    cuts.score(static_cast<double>(total_h_));
  }

 private:
  static constexpr std::size_t kRows = SortedCuts::kRows;
  const Channels& channels_;
  std::vector<std::uint32_t> number_;  // of each class here, from 1; 0: none yet
  std::uint32_t class_[kRows] = {}, of_row_[kRows] = {};  // of each number; the number of each row's
  std::size_t n_classes_ = 0, n_ = 0;
  Lane h_[kRows] = {}, weight_[kRows] = {};               // of rows; of classes in the node
  Lane total_h_ = 0, squares_ = 0;
  Lane left_[kRows][SortedCuts::kColumns] = {};  // of each class, in each column
  std::vector<Lane> total_, cell_;
};

}  // namespace weald
