// What the rows of a small subtree add, for each kind of target; by slot, as cut_sums.hpp wants it:
//
//   two classes     H, G                      of 16 bits, since weights are light
//   many classes    H, and which class        the same; or of 64 bits under weights of any kind
//   numbers         H, G of each output       fixed-point numbers in the units of the node
#pragma once

#include "weald/grow/node.hpp"
#include "weald/grow/plan.hpp"
#include "weald/search/cut_sums.hpp"
#include "weald/stats/fill_lanes.hpp"

namespace weald {

// A range of slots, and what is known of it.
struct RandomNode {
  std::uint64_t key;
  std::uint32_t parent, depth;  // parent: as in OpenNode
  std::size_t begin, n;
  Lane sum;     // as in OpenNode
  Units units;  // of real targets
};

// What each has to offer:
//
//   fits(plan), known(node)      can it be used at all, and for the subtree below a node?
//   load(block, rows, node)      makes the rows those of a subtree
//   of_rows()                    what they add
//   pure(node, slots)            is the node a leaf?
//   channels(node)               in the units of the node
//   share(left, right, sum)      tells the children of a split what it knows, with the sum on the left
//   measure(node, slots)         chooses the units of a child
//   packed(sums, k)              G << 32 | H left of a cut, if the tree is to know; packed(slot): of one row

class LightTwoClasses {
 public:
  using T = std::int16_t;
  explicit LightTwoClasses(const Plan& plan) : channels_(plan.stats) {}
  static bool fits(const Plan& plan) { return plan.stats.light_two_classes; }
  static bool known(const OpenNode& node) {
    return node.sum != OpenNode::kUnknown && (node.sum & 0xFFFFFFFF) <= std::numeric_limits<T>::max();
  }

  void load(const Block& block, const Row* rows, const RandomNode& node) {
    for (std::size_t i = 0; i < node.n; ++i) {
      const Lane word = block.class_bytes ? unpack_class_byte(block.class_bytes[rows[i]]) : block.words[rows[i]];
      values_[i] = static_cast<T>(word), values_[kCutRows + i] = static_cast<T>(word >> 32);
      second_[i] = word >> 32 != 0 ? 255 : 0;
    }
  }
  CutValues<T> of_rows() const {
    return {.values = values_, .cells = 2, .second = channels_.unit_weights ? second_ : nullptr};
  }
  static bool pure(const RandomNode& node, const Slot*) { return pure_word(node.sum); }
  const Channels& channels(const RandomNode&) const { return channels_; }
  static void share(RandomNode& left, RandomNode& right, Lane sum) { right.sum = left.sum - sum, left.sum = sum; }
  static void measure(RandomNode&, const Slot*) {}
  static Lane packed(const T* sums, std::size_t k) { return Lane{sums[kCutColumns + k]} << 32 | Lane{sums[k]}; }
  Lane packed(Slot slot) const { return Lane{values_[kCutRows + slot]} << 32 | Lane{values_[slot]}; }

 private:
  const Channels& channels_;
  T values_[2 * kCutRows];
  std::uint8_t second_[kCutRows];  // is it of the second class?
};

template <class T_>
class RandomClasses {
  static constexpr std::size_t kFewestLight = 1024;  // rows whose weights must fit, whatever they are

 public:
  using T = T_;
  explicit RandomClasses(const Plan& plan)
      : channels_(plan.stats), most_h_(plan.stats.most_h), place_(plan.stats.channels, 0) {}
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    const bool light = stats.whole_weights && stats.most_h * Lane{kFewestLight} <= std::numeric_limits<T>::max();
    return stats.layout == Layout::OneHot && stats.n_outputs == 1 && stats.criterion == Criterion::Gini &&
           stats.least_h > 0 && (sizeof(T) == sizeof(Lane) || light);
  }
  bool known(const OpenNode& node) const {
    return sizeof(T) == sizeof(Lane) || most_h_ * static_cast<Lane>(node.size()) <= std::numeric_limits<T>::max();
  }

  // Classes are numbered in their order, so that sums of squares are rounded as everywhere.
  void load(const Block& block, const Row* rows, const RandomNode& node) {
    classes_.clear();
    for (std::size_t i = 0; i < node.n; ++i) {
      const std::uint32_t one = block.hot[rows[i]];
      if (place_[one] == 0) classes_.push_back(one), place_[one] = 1;
      values_[i] = static_cast<T>(block.words[rows[i]]);
    }
    std::sort(classes_.begin(), classes_.end());
    for (std::size_t c = 0; c < classes_.size(); ++c) place_[classes_[c]] = static_cast<std::uint16_t>(c);
    for (std::size_t i = 0; i < node.n; ++i) kind_[i] = place_[block.hot[rows[i]]];
    for (const std::uint32_t one : classes_) place_[one] = 0;
  }
  CutValues<T> of_rows() const { return {.values = values_, .cells = cells_, .kind = kind_, .cell_of = cell_of_}; }

  // Only classes of the node have cells.
  bool pure(const RandomNode& node, const Slot* slots) {
    cells_ = 0;
    for (std::size_t first = 0; first < classes_.size(); first += 64) {  // a word in a register: as a rule it is all
      std::uint64_t here = 0;
      for (std::size_t i = 0; i < node.n; ++i) {
        const std::size_t kind = kind_[slots[i]] - first;
        here |= std::uint64_t{kind < 64} << (kind % 64);
      }
      for (; here != 0; here &= here - 1) {
        cell_of_[first + static_cast<std::size_t>(std::countr_zero(here))] = static_cast<std::uint16_t>(cells_++);
      }
    }
    return cells_ == 1;
  }
  const Channels& channels(const RandomNode&) const { return channels_; }
  static void share(RandomNode&, RandomNode&, Lane) {}
  static void measure(RandomNode&, const Slot*) {}
  static Lane packed(const T*, std::size_t) { return 0; }
  static Lane packed(Slot) { return 0; }

 private:
  const Channels& channels_;
  Lane most_h_;
  std::vector<std::uint16_t> place_;    // of each class, or whether it was seen
  std::vector<std::uint32_t> classes_;  // of the subtree
  std::uint16_t kind_[kCutRows];
  T values_[kCutRows];
  std::uint16_t cell_of_[kCutRows];  // of the node at hand
  std::size_t cells_ = 0;
};

// Real targets, and two classes under weights that are not light.
class RandomNumbers {
 public:
  using T = Lane;
  static constexpr std::size_t kMostOutputs = 32;
  explicit RandomNumbers(const Plan& plan)
      : stats_(plan.stats), channels_(plan.stats), outputs_(plan.stats.channels), values_((1 + outputs_) * kCutRows) {
    if (stats_.real()) target_.resize(kCutRows), y_.resize(outputs_ * kCutRows);
    fewest_scored_ = plan.takes_any() ? 3 : 2;
  }
  static bool fits(const Plan& plan) {
    const Statistics& stats = plan.stats;
    return stats.layout == Layout::Dense && !stats.gradients && stats.least_h > 0 && stats.channels <= kMostOutputs &&
           (stats.criterion == Criterion::Squared || stats.criterion == Criterion::Gini);
  }
  static bool known(const OpenNode&) { return true; }

  void load(const Block& block, const Row* rows, const RandomNode& node) {
    const FillLanes lanes_of(channels(node));
    for (std::size_t i = 0; i < node.n; ++i) {
      if (stats_.real()) {
        target_[i] = stats_.target_of(block.original(rows[i]));
        std::copy_n(target_[i], outputs_, &y_[i * outputs_]);
        values_[i] = block.words[rows[i]];
        fill(i, lanes_of);
      } else {
        put(i, block.words.get(rows[i] * std::size_t{3}, 3));
      }
    }
  }
  CutValues<T> of_rows() const { return {.values = values_.data(), .cells = 1 + outputs_}; }

  bool pure(const RandomNode& node, const Slot* slots) const {
    const double* first = stats_.real() ? &y_[slots[0] * outputs_] : nullptr;
    for (std::size_t i = 1; i < node.n; ++i) {
      const std::size_t slot = slots[i];
      if (!first) {
        if ((values_[kCutRows + slot] == 0) != (values_[kCutRows + slots[0]] == 0)) return false;
      } else {
        for (std::size_t o = 0; o < outputs_; ++o) {
          if (y_[slot * outputs_ + o] != first[o]) return false;
        }
      }
    }
    return true;
  }
  const Channels& channels(const RandomNode& node) {
    if (stats_.real()) channels_.g_centre = node.units.centre, channels_.g_unit = node.units.g_unit;
    return channels_;
  }
  static void share(RandomNode&, RandomNode&, Lane) {}

  // As Expander::measure: the units of the parent, until the targets have come much closer together.
  void measure(RandomNode& node, const Slot* slots) {
    if (!stats_.real() || node.n < fewest_scored_) return;
    double low = kInf, high = -kInf;
    for (std::size_t i = 0; i < node.n; ++i) {
      const double* y = &y_[slots[i] * outputs_];
      for (std::size_t o = 0; o < outputs_; ++o) low = std::min(low, y[o]), high = std::max(high, y[o]);
      if (node.units.serve(low, high)) return;  // after a few rows, as a rule
    }
    Lane h = 0;
    for (std::size_t i = 0; i < node.n; ++i) h += values_[slots[i]];
    node.units = Units::choose(channels_, node.n, static_cast<double>(h), low, high);
    const FillLanes lanes_of(channels_);
    for (std::size_t i = 0; i < node.n; ++i) fill(slots[i], lanes_of);
  }
  static Lane packed(const T*, std::size_t) { return 0; }
  static Lane packed(Slot) { return 0; }

 private:
  void fill(std::size_t slot, const FillLanes& lanes_of) {
    Lane lanes[2 + kMostOutputs];
    lanes_of(target_[slot], values_[slot], lanes);
    put(slot, lanes);
  }
  void put(std::size_t slot, const Lane* lanes) {
    for (std::size_t c = 0; c <= outputs_; ++c) values_[c * kCutRows + slot] = lanes[1 + c];
  }

  const Statistics& stats_;
  Channels channels_;                    // with the units of the node at hand
  std::size_t outputs_, fewest_scored_;  // rows of a node
  std::vector<T> values_;
  std::vector<const double*> target_;
  std::vector<double> y_;  // outputs a slot
};

}  // namespace weald
