// What the rows of a small subtree add, for each kind of target. A row is known by its place in the subtree. What each has to
// offer:
//
//   fits(plan), kMostRows     can it be used, and for how many rows?
//   OfNode, root, measure     what is known of a node without its rows: of the root of the subtree; of a new child
//   load(block, rows)         of a subtree
//   look(places, node)        makes a node the one at hand; pure, own_score, total: of it
//   search(cuts)              the best cuts of sorted columns (search/sorted_cuts.hpp)
//   score_of(place)           of a row by itself
//   h(place)                  of a row: its weight
//   squares(places, o)        sum of h y^2 of an output, for the price of categories; of classes, none
//   category_keys(..)         what n categories are ordered by; category[place] is the number of a row's
//
// The arithmetic is that of the walks in search/: the same bits.
#pragma once

#include <array>

#include "weald/grow/node.hpp"
#include "weald/grow/plan.hpp"
#include "weald/search/category_order.hpp"
#include "weald/search/number_histograms.hpp"
#include "weald/search/sorted_cuts.hpp"
#include "weald/stats/fill_lanes.hpp"

namespace weald {

using Place = std::uint8_t;

// 0, 1, ..
inline constexpr auto kNumbers = [] {
  std::array<Code, kFewRows> numbers{};
  std::iota(numbers.begin(), numbers.end(), Code{0});
  return numbers;
}();

// Real targets, and two classes under weights that are not light.
class NumberSums {
 public:
  struct OfNode {
    Units units;
  };
  static constexpr std::size_t kMostRows =
      std::min<std::size_t>(SortedCuts::kRows, 96);  // beyond, histograms cost less
  explicit NumberSums(const Plan& plan) : stats_(plan.stats), channels_(plan.stats), outputs_(plan.stats.channels) {}
  static bool fits(const Plan& plan) { return NumberHistograms::fit(plan.stats); }

  OfNode root(const OpenNode& node) const { return {node.frame ? node.frame->units : Units{}}; }

  void load(const Block& block, std::span<const Row> rows, const OfNode& node) {
    use(node.units);
    const FillLanes lanes_of(channels_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (stats_.real()) {
        target_[i] = stats_.target_of(block.original(rows[i]));
        fill(i, lanes_of, block.words[rows[i]]);
      } else {
        put(i, block.words.get(rows[i] * std::size_t{3}, 3));
      }
    }
  }

  // As Expander::measure: the units of the parent, until the targets have come much closer together.
  void measure(std::span<const Place> places, OfNode& node) {
    if (!stats_.real() || places.size() < 2) return;
    const auto total_h = [&] {
      Lane sum = 0;
      for (const Place i : places) sum += h(i);
      return static_cast<double>(sum);
    };
    const auto target = [&](std::size_t p) { return target_[places[p]]; };
    if (!node.units.refine(channels_, places.size(), target, total_h)) return;
    const FillLanes lanes_of(channels_);
    for (const Place i : places) fill(i, lanes_of, h(i));
  }

  void look(std::span<const Place> places, const OfNode& node) {
    use(node.units);
    std::fill_n(total_, 2 + outputs_, 0);
    total_[0] = static_cast<Lane>(places.size());
    for (const Place i : places) {
      total_[1] += h(i);
      for (std::size_t o = 0; o < outputs_; ++o) total_[2 + o] += g_[o][i];
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
    for (std::size_t o = 0; o < outputs_; ++o) squares += square(total_[2 + o]);
    return squares / static_cast<double>(total_[1]);
  }
  const Lane* total() const { return total_; }
  const Channels& channels() const { return channels_; }
  Lane h(Place i) const { return static_cast<Lane>(h_[i]); }
  double squares(std::span<const Place> places, std::size_t o) const {
    double sum = 0;
    for (const Place i : places) sum += square(g_[o][i]) / h_[i];
    return sum;
  }

  double score_of(Place i) const {
    double squares = 0;
    for (std::size_t o = 0; o < outputs_; ++o) squares += square(g_[o][i]);
    return squares / h_[i];
  }
  std::span<const double> category_keys(std::span<const Place> places, const std::uint8_t* category, std::size_t n) {
    const std::size_t lanes = 2 + outputs_;
    std::fill_n(cells_, n * lanes, 0);
    for (const Place i : places) {
      Lane* const cell = cells_ + category[i] * lanes;
      cell[1] += h(i);
      for (std::size_t o = 0; o < outputs_; ++o) cell[2 + o] += g_[o][i];
    }
    return keys_.of(channels_, cells_, {kNumbers.data(), n});
  }
  void search(SortedCuts& cuts) const { cuts.search_numbers(h_, g_[0], outputs_, total_ + 1); }

 private:
  static constexpr std::size_t kRows = SortedCuts::kRows, kMostOutputs = SortedCuts::kMostOutputs;
  static_assert(kMostOutputs == NumberHistograms::kMostOutputs);
  static double square(Lane g) { return static_cast<double>(g) * static_cast<double>(g); }
  void put(std::size_t i, const Lane* lanes) {
    h_[i] = static_cast<double>(lanes[1]);
    for (std::size_t o = 0; o < outputs_; ++o) g_[o][i] = lanes[2 + o];
  }
  void fill(std::size_t i, const FillLanes& lanes_of, Lane h) {
    Lane lanes[2 + kMostOutputs];
    lanes_of(target_[i], h, lanes);
    put(i, lanes);
  }
  void use(const Units& units) {
    if (stats_.real()) channels_.g_centre = units.centre, channels_.g_unit = units.g_unit;
  }

  const Statistics& stats_;
  Channels channels_;  // with the units of the node at hand
  std::size_t outputs_;
  const double* target_[kRows] = {};
  double h_[kRows] = {};  // exact: sums of H are below 2^53
  Lane g_[kMostOutputs][kRows] = {};
  Lane total_[2 + kMostOutputs] = {};            // count, H, G of all outputs
  Lane cells_[kRows * (2 + kMostOutputs)] = {};  // of categories
  CategoryKeys keys_;
  bool pure_ = false;
};

// Classes under light weights.
class ClassSums {
 public:
  struct OfNode {};
  static constexpr std::size_t kMostRows = SortedCuts::kRows;
  explicit ClassSums(const Plan& plan)
      : channels_(plan.stats), number_(plan.stats.channels), total_(plan.stats.lanes) {}
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
      of_row_[i] = static_cast<std::uint8_t>(number_[k] - 1), h_[i] = static_cast<double>(block.words[rows[i]]);
    }
    for (std::size_t k = 0; k < n_classes_; ++k) number_[class_[k]] = 0;
  }

  void look(std::span<const Place> places, const OfNode&) {
    std::fill_n(weight_, n_classes_, 0);
    for (const Place i : places) weight_[of_row_[i]] += h(i);
    total_h_ = squares_ = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) total_h_ += weight_[k], squares_ += weight_[k] * weight_[k];
    for (const Place i : places) products_[i] = h_[i] * static_cast<double>(weight_[of_row_[i]]);
    std::copy_n(weight_, n_classes_, weights_);
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
  Lane h(Place i) const { return static_cast<Lane>(h_[i]); }
  static double squares(std::span<const Place>, std::size_t) { return 0; }

  double score_of(Place i) const { return h_[i]; }  // h^2 / h
  // By rows, which are fewer than cells.
  std::span<const double> category_keys(std::span<const Place> places, const std::uint8_t* category, std::size_t n) {
    std::fill_n(category_h_, n, 0);
    for (const Place i : places) category_h_[category[i]] += h(i);
    const auto each = [&](auto&& add) {
      for (const Place i : places) add(category[i], of_row_[i], h(i));
    };
    // Of the largest classes the first, in the order of the table.
    std::size_t first = 0;
    for (std::size_t k = 1; k < n_classes_; ++k) {
      const Lane lead = weight_[k] - weight_[first];
      if (lead > 0 || (lead == 0 && class_[k] < class_[first])) first = k;
    }
    find_principal_keys<Lane>(each, {category_h_, n}, first, {direction_, n_classes_}, {along_, n}, {keys_, n});
    return {keys_, n};
  }
  void search(SortedCuts& cuts) const {
    cuts.search_classes(
        {h_, products_, of_row_, weights_, n_classes_, static_cast<double>(total_h_), static_cast<double>(squares_)});
  }

 private:
  static constexpr std::size_t kRows = SortedCuts::kRows;
  const Channels& channels_;
  std::vector<std::uint32_t> number_;  // of each class here, from 1; 0: none yet
  std::uint32_t class_[kRows] = {};    // of each number
  std::uint8_t of_row_[kRows] = {};    // the number of each row's
  std::size_t n_classes_ = 0, n_ = 0;
  double h_[kRows] = {}, products_[kRows] = {};  // of rows: weight; that times the weight of its class
  Lane weight_[kRows] = {};                      // of classes, in the node
  double weights_[kRows] = {};                   // the same
  Lane total_h_ = 0, squares_ = 0;
  std::vector<Lane> total_;
  Lane category_h_[kRows] = {}, along_[kRows] = {}, direction_[kRows] = {};  // of the order of categories
  double keys_[kRows] = {};
};

// Two classes under light weights: a word a row, G << 32 | H.
class TwoClassSums {
 public:
  struct OfNode {
    Lane sum;
  };
  static constexpr std::size_t kMostRows = std::min<std::size_t>(SortedCuts::kRows, 32);
  explicit TwoClassSums(const Plan& plan) : channels_(plan.stats) {}
  static bool fits(const Plan& plan) { return plan.stats.light_two_classes; }
  OfNode root(const OpenNode& node) const { return {node.sum}; }
  void load(const Block& block, std::span<const Row> rows, OfNode& node) {
    node.sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      words_[i] = block.class_bytes ? unpack_class_byte(block.class_bytes[rows[i]]) : block.words[rows[i]];
      node.sum += words_[i];
    }
  }
  void measure(std::span<const Place> places, OfNode& node) const {
    node.sum = 0;
    for (const Place i : places) node.sum += words_[i];
  }

  void look(std::span<const Place>, const OfNode& node) { sum_ = node.sum; }
  bool pure() const { return pure_word(sum_); }
  double own_score() const { return score(sum_); }
  const Lane* total() const { return &sum_; }
  const Channels& channels() const { return channels_; }
  Lane h(Place i) const { return words_[i] & 0xFFFFFFFF; }
  static double squares(std::span<const Place>, std::size_t) { return 0; }
  double score_of(Place i) const { return score(words_[i]); }
  std::span<const double> category_keys(std::span<const Place> places, const std::uint8_t* category, std::size_t n) {
    std::fill_n(cells_, n, 0);
    for (const Place i : places) cells_[category[i]] += words_[i];
    return keys_.of(channels_, cells_, {kNumbers.data(), n});
  }
  void search(SortedCuts& cuts) const { cuts.search_two_classes(words_, sum_); }

 private:
  static double score(Lane sum) {
    return quadratic(static_cast<double>(sum >> 32), static_cast<double>(sum & 0xFFFFFFFF));
  }
  const Channels& channels_;
  Lane words_[SortedCuts::kRows] = {}, cells_[SortedCuts::kRows] = {};  // of rows, of categories
  Lane sum_ = 0;
  CategoryKeys keys_;
};

}  // namespace weald
