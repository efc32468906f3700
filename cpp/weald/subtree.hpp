// The growth loop below one node: pop, decide, apply, share, push.
#pragma once

#include <array>
#include <utility>

#include "tiny.hpp"

namespace weald {

// From so many rows on, gradient pairs are counted into histograms; fewer are looked at column by column.
inline constexpr std::size_t kFewForHistogram = 80;

// Grows the subtree below one node on the calling thread.
class SubtreeGrower {
 public:
  SubtreeGrower(const Plan& plan, Row* rows, std::size_t threads, HistogramPool* pool = nullptr)
      : plan_(plan), rows_(rows), threads_(threads), search_(plan, threads), tiny_(plan, search_),
        pool_(pool ? *pool : own_pool_) {}

  // Nodes of fewer than `defer_below` rows are left to `defer`, which takes the node and says which
  // subtree it becomes.
  template <class Defer>
  Subtree grow(OpenNode&& root, std::size_t defer_below, Defer&& defer) {
    OpenNodes open(plan_.rules.frontier);
    tree_.nodes.reserve(most_nodes(root));  // no page of it is there before it is written to
    add_nodes(1);
    root.id = 0;
    if (!root.histogram && worth_histogram(root)) root.histogram = count_histogram(root);
    // Best-first has to know a node's gain to queue it; the others look when its turn comes, so that
    // waiting nodes hold no blocks of their own.
    const bool decide_first = plan_.rules.frontier == Frontier::BestFirst;
    const auto offer = [&](OpenNode&& node) {
      if (!could_split(node)) return close(node);
      if (decide_first) {
        node.decision = std::make_unique<Decision>();
        if (!decide(node, *node.decision)) return close(node);
      }
      open.push(std::move(node));
    };
    offer(std::move(root));
    std::size_t leaves = 1;
    while (!open.empty()) {
      OpenNode node = open.pop();
      poll(node.size());
      if (tiny_.grow(node, rows_, tree_)) continue;
      if (plan_.rules.max_leaves != 0 && leaves >= plan_.rules.max_leaves) {
        close(node);
        continue;
      }
      if (node.decision) {
        decision_ = std::move(*node.decision);
      } else if (!decide(node, decision_)) {
        close(node);
        continue;
      }
      ++leaves;
      auto children = apply(node, decision_.split);
      share_histogram(node, children[0], children[1]);
      pool_.give(std::move(node.histogram));
      for (std::size_t side : {1, 0}) {  // a stack: push the left child last, to have it next
        OpenNode& child = children[side];
        if (child.size() < defer_below && could_split(child)) {
          const std::uint32_t id = child.id;
          tree_.nodes[id].subtree = defer(std::move(child));
        } else {
          offer(std::move(child));
        }
      }
    }
    return std::move(tree_);
  }

  // Chooses the units in which a node of real targets is summed: its parent's, until its targets have
  // come so close together that they deserve finer ones.
  void measure(OpenNode& node) {
    const Statistics& stats = plan_.stats;
    if (!stats.real()) return;
    double low = kInf, high = -kInf;
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const double* target = target_of(*node.block, rows_[i]);
      for (std::size_t o = 0; o < stats.n_outputs; ++o) {
        low = std::min(low, target[o]);
        high = std::max(high, target[o]);
      }
    }
    Units& units = node.frame->units;
    if ((high / 2 - low / 2) * 16 > units.reach) return;
    const double h = weight_of_rows(*node.block, stats, rows_ + node.begin, node.size());
    units = search_.choose(node.size(), h, low, high);
  }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() {
    search_.release_scratch();
    partition_scratch_ = {};
  }

 private:
  // --- the verbs of growth ---

  // Finds the node's split; false if it is better left a leaf.
  bool decide(OpenNode& node, Decision& decision) {
    gather_if_small(node);
    const bool known = node.sum != OpenNode::kUnknown && (search_.by_sides(node) || (plan_.stats.gradients && node.histogram));
    const NodeRows rows = known ? NodeRows{rows_ + node.begin, node.size(), nullptr, nullptr}
                                : search_.load(node, rows_ + node.begin);
    const Lane* total = search_.total_of(node, rows);
    if (plan_.stats.layout == Layout::Packed) node.sum = *total;
    if (pure(node, total)) return false;
    decision = search_.decide(node, rows, total);
    return decision.split.found() && search_.pays(decision.split.score, decision.gain);
  }

  // Carries out a split of the node and opens its children.
  std::array<OpenNode, 2> apply(OpenNode& node, const Split& split) {
    const Column& column = node.block->columns[split.column];
    const double threshold =
        threshold_of(*node.block, split, plan_.matrix.raw, rows_ + node.begin, node.size());
    const auto n_left = static_cast<Row>(
        partition_rows(*node.block, split, rows_ + node.begin, node.size(), partition_scratch_, threads_, plan_.interrupt));
    const bool packed = plan_.stats.layout == Layout::Packed;

    std::array<OpenNode, 2> children;
    const std::uint32_t first_child = add_nodes(2);
    for (std::size_t side = 0; side < 2; ++side) {
      OpenNode& child = children[side];
      child.id = first_child + static_cast<std::uint32_t>(side);
      child.begin = side == 0 ? node.begin : node.begin + n_left;
      child.end = side == 0 ? node.begin + n_left : node.end;
      child.depth = node.depth + 1;
      child.key = derive(node.key, kChildKey + side);
      if (node.frame) child.frame = std::make_unique<Frame>(*node.frame);
      if (packed) child.sum = side == 0 ? split.left_sum : node.sum - split.left_sum;
      if (!plan_.rules.interactions.empty()) child.frame->used.push_back(split.column);
    }
    record(node, split, threshold, children);
    if (split.categorical) record_categories(node, split, column);
    if (!plan_.rules.monotone.empty()) bound(node, split, children);
    children[0].block = node.block;
    children[1].block = std::move(node.block);
    for (OpenNode& child : children) measure(child);
    return children;
  }

  // Gives the children their histograms where it pays: one is counted, the other is what is left.
  void share_histogram(OpenNode& parent, OpenNode& left, OpenNode& right) {
    if (!parent.histogram) return;
    OpenNode& smaller = left.size() <= right.size() ? left : right;
    OpenNode& larger = left.size() <= right.size() ? right : left;
    if (!worth_histogram(larger)) return;
    // Sums can only be subtracted in the same units.
    const auto same_units = [&](const OpenNode& child) {
      return !parent.frame || (child.frame->units.g_unit == parent.frame->units.g_unit &&
                               child.frame->units.centre == parent.frame->units.centre);
    };
    if (!same_units(larger)) return;
    const bool keep = same_units(smaller);
    const Units own = parent.frame ? std::exchange(smaller.frame->units, parent.frame->units) : Units{};
    smaller.histogram = count_histogram(smaller);
    Histogram& rest = *parent.histogram;
    const Histogram& counted = *smaller.histogram;
    search_.subtract(*larger.block, counted, rest);
    larger.histogram = std::move(parent.histogram);
    if (parent.frame) smaller.frame->units = own;
    if (!keep) smaller.histogram.reset();
  }

  // The node becomes a leaf: its rows get back their numbers in the matrix.
  void close(OpenNode& node) {
    record_place(node);
    pool_.give(std::move(node.histogram));
    if (const Row* origin = node.block->origin) {
      for (std::size_t i = node.begin; i < node.end; ++i) rows_[i] = origin[rows_[i]];
    }
  }

  // --- details ---

  // Asking costs as much as a small node: only after some work.
  void poll(std::size_t n_rows) {
    if ((unpolled_ += n_rows + 16) < 16384) return;
    unpolled_ = 0;
    plan_.interrupt.poll();
  }

  // No subtree has more: every leaf has a row, and every other node two children.
  std::size_t most_nodes(const OpenNode& root) const {
    const std::size_t leaves = plan_.rules.max_leaves != 0 ? std::min(plan_.rules.max_leaves, root.size()) : root.size();
    const std::size_t levels = plan_.rules.max_depth - std::min<std::size_t>(plan_.rules.max_depth, root.depth);
    return 2 * (levels < 32 ? std::min(leaves, std::size_t{1} << levels) : leaves);
  }

  // Makes room for n more nodes; the number of the first.
  std::uint32_t add_nodes(std::size_t n) {
    const std::size_t first = tree_.nodes.size();
    tree_.nodes.resize(first + n);
    if (!plan_.rules.monotone.empty()) tree_.bounds.resize(first + n);
    return static_cast<std::uint32_t>(first);
  }

  DoneNode& record_place(const OpenNode& node) {
    DoneNode& done = tree_.nodes[node.id];
    done.begin = node.begin, done.end = node.end, done.sum = node.sum;
    if (!tree_.bounds.empty()) tree_.bounds[node.id] = node.frame->bounds;
    return done;
  }

  void record(const OpenNode& node, const Split& split, double threshold,
              const std::array<OpenNode, 2>& children) {
    DoneNode& done = record_place(node);
    done.left = static_cast<std::int32_t>(children[0].id);
    done.feature = static_cast<std::int32_t>(split.column);
    done.threshold = threshold;
    done.missing_left = split.had_missing ? split.missing_left : most_go_left(node, children);
  }

  void record_categories(const OpenNode& node, const Split& split, const Column& column) {
    tree_.nodes[node.id].set = static_cast<std::int32_t>(tree_.left_codes.size());
    auto& codes = tree_.left_codes.emplace_back();
    for (const Code code : split.left_codes) codes.push_back(column.original(code));
  }

  // A monotone column bounds the values on both sides by the middle between them.
  void bound(const OpenNode& node, const Split& split, std::array<OpenNode, 2>& children) {
    const int direction = plan_.rules.monotone[split.column];
    if (direction == 0) return;
    search_.use_units_of(node);
    const double middle =
        (split.left_value + split.right_value) / 2 * search_.value_unit() + search_.value_centre();
    for (std::size_t side = 0; side < 2; ++side) {
      Bounds& bounds = children[side].frame->bounds;
      ((direction > 0) == (side == 0) ? bounds.upper : bounds.lower) = middle;
    }
  }

  // Where no missing value was seen, later ones go the way of most of the weight.
  bool most_go_left(const OpenNode& node, const std::array<OpenNode, 2>& children) const {
    if (children[0].sum != OpenNode::kUnknown) {
      return (children[0].sum & 0xFFFFFFFF) > (children[1].sum & 0xFFFFFFFF);
    }
    const auto weight = [&](const OpenNode& child) {
      return weight_of_rows(*node.block, plan_.stats, rows_ + child.begin, child.size());
    };
    return weight(children[0]) > weight(children[1]);
  }

  bool could_split(const OpenNode& node) const {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.size() >= rules.min_samples_split &&
           node.size() >= 2 * rules.min_samples_leaf &&
           (node.sum == OpenNode::kUnknown || plan_.stats.gradients || !pure_pair(node.sum));
  }

  bool pure(const OpenNode& node, const Lane* total) const {
    const Statistics& stats = plan_.stats;
    if (stats.gradients) return false;
    if (stats.layout == Layout::Packed) return pure_pair(*total);
    if (stats.layout == Layout::OneHot) {
      for (std::size_t o = 0; o < stats.n_outputs; ++o) {
        const Lane* first = total + 2 + stats.offset[o];
        if (*std::max_element(first, total + 2 + stats.offset[o + 1]) != total[1]) return false;
      }
      return true;
    }
    if (is_classification(stats.criterion)) return total[2] == 0 || total[2] == total[1];
    const double* first = target_of(*node.block, rows_[node.begin]);
    for (std::size_t i = node.begin + 1; i < node.end; ++i) {
      const double* target = target_of(*node.block, rows_[i]);
      if (!std::equal(target, target + stats.n_outputs, first)) return false;
    }
    return true;
  }

  const double* target_of(const Block& block, Row row) const {
    return plan_.stats.target_of(block.original(row));
  }

  void gather_if_small(OpenNode& node) {
    const Row* rows = rows_ + node.begin;
    if (search_.by_rows(*node.block)) return;
    // Random cuts need no histograms, so the number of codes does not matter to them.
    if (!plan_.rules.random_split && worth_gathering(*node.block, node.size(), plan_.columns_per_node)) {
      node.block = gather_block(*node.block, rows, node.size(), plan_.stats);
    } else if ((plan_.rules.random_split || !plan_.all_columns()) &&
               worth_gathering_rows(*node.block, node.size())) {
      node.block = gather_rows(*node.block, rows, node.size(), plan_.stats);
    } else {
      return;
    }
    node.histogram.reset();
    std::iota(rows_ + node.begin, rows_ + node.end, Row{0});
  }

  bool worth_histogram(const OpenNode& node) const {
    // Where a node tries few columns it is quicker to count those alone.
    const bool most = search_.by_rows(*node.block) ? 3 * plan_.columns_per_node >= plan_.matrix.n_columns()
                                                   : plan_.all_columns();
    return could_split(node) && most && !plan_.rules.random_split &&
           plan_.stats.criterion != Criterion::Absolute &&
           (search_.by_rows(*node.block) ? node.size() >= kFewForHistogram || !plan_.stats.counted : node.size() * node.block->columns.size() >= 2 * histogram_slots(*node.block));
  }

  std::unique_ptr<Histogram> count_histogram(const OpenNode& node) {
    const Row* rows = rows_ + node.begin;
    if (search_.by_rows(*node.block)) return search_.count_pairs(node, rows, pool_.take());
    return search_.count_histogram(node, search_.load(node, rows));
  }

  const Plan& plan_;
  Row* rows_;
  std::size_t threads_;
  NodeSearch search_;
  TinyGrower tiny_;
  HistogramPool own_pool_;
  HistogramPool& pool_;
  Decision decision_;
  Subtree tree_;
  BigVector<Row> partition_scratch_;
  std::size_t unpolled_ = 0;
};

}  // namespace weald
