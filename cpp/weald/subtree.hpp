// The growth loop below one node: pop, decide, apply, share, push.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "node.hpp"

namespace weald {

// Everything that all threads of one growth share and none of them changes.
struct Plan {
  const Binned& matrix;
  const Statistics& stats;
  const Rules& rules;
  std::size_t threads;
  Interrupt& interrupt;
  std::size_t columns_per_node;
  Limits limits;

  bool all_columns() const { return columns_per_node == matrix.n_columns(); }
};

inline constexpr double kUpdateNs = 2.5;  // rough cost of one row in one column, to decide about threads

// A histogram is kept for the children (who then need only one pass, over the smaller of them)
// where a node has more rows than the histogram has cells.
inline std::size_t histogram_slots(const Block& block) {
  std::size_t slots = 0;
  for (const Column& column : block.columns) slots += column.slots();
  return slots;
}

// Grows the subtree below one node on the calling thread (large nodes share their columns out).
class SubtreeGrower {
 public:
  SubtreeGrower(const Plan& plan, Row* rows, std::size_t threads)
      : plan_(plan), rows_(rows), threads_(threads), channels_(plan.stats), scratch_(threads) {}

  // Nodes of fewer than `defer_below` rows are left to `defer`, which takes the node and says which
  // subtree it becomes.
  template <class Defer>
  Subtree grow(OpenNode&& root, std::size_t defer_below, Defer&& defer) {
    OpenNodes open(plan_.rules.frontier);
    add_nodes(1);
    root.id = 0;
    if (!root.histogram && worth_histogram(root)) root.histogram = count_histogram(root, load(root));
    // Best-first has to know a node's gain to queue it; the others look when its turn comes, so that
    // waiting nodes hold no blocks of their own.
    const bool decide_first = plan_.rules.frontier == Frontier::BestFirst;
    if (!decide_first || decide(root)) open.push(std::move(root));
    std::size_t leaves = 1;
    while (!open.empty()) {
      plan_.interrupt.poll();
      OpenNode node = open.pop();
      if (plan_.rules.max_leaves != 0 && leaves >= plan_.rules.max_leaves) {
        close(node);
        continue;
      }
      if (!decide_first && !decide(node)) continue;
      ++leaves;
      auto children = apply(node);
      share_histogram(node, children[0], children[1]);
      for (std::size_t side : {1, 0}) {  // a stack: push the left child last, to have it next
        OpenNode& child = children[side];
        if (child.size() < defer_below && could_split(child)) {
          DoneNode& stub = tree_.nodes[child.id];
          stub.subtree = defer(std::move(child));
        } else if (!decide_first || decide(child)) {
          open.push(std::move(child));
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
    const double reach = high / 2 - low / 2;
    if (reach * 16 > node.units.reach) return;
    const double h = weight_of_rows(*node.block, stats, rows_ + node.begin, node.size());
    choose_units(channels_, node.size(), h, low, high);
    node.units = {channels_.g_centre, channels_.g_unit, reach};
  }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() {
    scratch_ = std::vector<SplitScratch>(threads_);
    words_ = {};
    hot_ = {};
    partition_scratch_ = {};
  }

 private:
  // --- the verbs of growth ---

  // Finds the node's split; false if the node is a leaf.
  bool decide(OpenNode& node) {
    if (!could_split(node)) return close(node);
    gather_if_small(node);
    const NodeRows rows = load(node);
    node.total = total_of(rows);
    if (pure(node)) return close(node);
    const SearchRequest request = request_for(node);
    node.split = search(request, node, rows);
    if (!node.split.found()) return close(node);
    const double score = node.split.score * score_unit(channels_);
    node.gain = score - node_score(request, rows, node.total.data()) * score_unit(channels_);
    return node.gain >= plan_.rules.min_decrease - 1e-12 * std::abs(score) || close(node);
  }

  // Carries out the node's split and opens its children.
  std::array<OpenNode, 2> apply(OpenNode& node) {
    const Split& split = node.split;
    const Column& column = node.block->columns[split.column];
    const double threshold =
        threshold_of(*node.block, split, plan_.matrix.raw, rows_ + node.begin, node.size());
    const std::size_t n_left =
        partition_rows(*node.block, split, rows_ + node.begin, node.size(), partition_scratch_);

    const std::uint32_t first_child = add_nodes(2);
    DoneNode& done = record_place(node);
    done.left = static_cast<std::int32_t>(first_child);
    done.feature = static_cast<std::int32_t>(split.column);
    done.threshold = threshold;
    done.missing_left = split.had_missing ? split.missing_left : most_go_left(node, n_left);
    if (split.categorical) {
      done.set = static_cast<std::int32_t>(tree_.left_codes.size());
      auto& codes = tree_.left_codes.emplace_back();
      for (const Code code : split.left_codes) codes.push_back(column.original(code));
    }

    std::array<OpenNode, 2> children;
    use_units_of(node);
    const double middle =
        (split.left_value + split.right_value) / 2 * value_unit() + channels_.g_centre;
    for (std::size_t side = 0; side < 2; ++side) {
      OpenNode& child = children[side];
      child.id = first_child + static_cast<std::uint32_t>(side);
      child.begin = side == 0 ? node.begin : node.begin + n_left;
      child.end = side == 0 ? node.begin + n_left : node.end;
      child.depth = node.depth + 1;
      child.key = combine(node.key, kChildKey + side);
      child.block = node.block;
      child.bounds = node.bounds;
      child.units = node.units;
      measure(child);
      const int direction = plan_.rules.monotone.empty() ? 0 : plan_.rules.monotone[split.column];
      if (direction != 0) ((direction > 0) == (side == 0) ? child.bounds.upper : child.bounds.lower) = middle;
    }
    return children;
  }

  // Gives the children their histograms where it pays: one is counted, the other is what is left.
  void share_histogram(OpenNode& parent, OpenNode& left, OpenNode& right) {
    if (!parent.histogram) return;
    OpenNode& smaller = left.size() <= right.size() ? left : right;
    OpenNode& larger = left.size() <= right.size() ? right : left;
    if (!worth_histogram(larger)) return;
    // Sums can only be subtracted in the same units.
    if (larger.units.g_unit != parent.units.g_unit || larger.units.centre != parent.units.centre) return;
    const Units own = std::exchange(smaller.units, parent.units);
    smaller.histogram = count_histogram(smaller, load(smaller));
    Histogram& rest = *parent.histogram;
    const Histogram& counted = *smaller.histogram;
    for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= counted[k];
    larger.histogram = std::move(parent.histogram);
    smaller.units = own;
    if (own.g_unit != parent.units.g_unit || own.centre != parent.units.centre) {
      smaller.histogram.reset();
    }
  }

  // The node becomes a leaf: its rows get back their numbers in the matrix.
  bool close(OpenNode& node) {
    record_place(node);
    if (const Row* origin = node.block->origin) {
      for (std::size_t i = node.begin; i < node.end; ++i) rows_[i] = origin[rows_[i]];
    }
    return false;
  }

  // --- details ---

  // Makes room for n more nodes; the number of the first.
  std::uint32_t add_nodes(std::size_t n) {
    const std::size_t first = tree_.nodes.size();
    tree_.nodes.resize(first + n);
    if (!plan_.rules.monotone.empty()) tree_.bounds.resize(first + n);
    return static_cast<std::uint32_t>(first);
  }

  DoneNode& record_place(const OpenNode& node) {
    DoneNode& done = tree_.nodes[node.id];
    done.begin = static_cast<Row>(node.begin), done.end = static_cast<Row>(node.end);
    if (!tree_.bounds.empty()) tree_.bounds[node.id] = node.bounds;
    return done;
  }

  bool could_split(const OpenNode& node) const {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.size() >= rules.min_samples_split &&
           node.size() >= 2 * rules.min_samples_leaf;
  }

  bool pure(const OpenNode& node) const {
    const Statistics& stats = plan_.stats;
    const Lane* total = node.total.data();
    if (stats.layout == Layout::Packed) {
      return *total >> 32 == 0 || *total >> 32 == (*total & 0xFFFFFFFF);
    }
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

  // Where no missing value was seen, later ones go the way of most of the weight.
  bool most_go_left(const OpenNode& node, std::size_t n_left) const {
    const Row* rows = rows_ + node.begin;
    return weight_of_rows(*node.block, plan_.stats, rows, n_left) >
           weight_of_rows(*node.block, plan_.stats, rows + n_left, node.size() - n_left);
  }

  const double* target_of(const Block& block, Row row) const {
    return plan_.stats.targets + (block.origin ? block.origin[row] : row) * plan_.stats.n_outputs;
  }

  void use_units_of(const OpenNode& node) {
    if (!plan_.stats.real()) return;
    channels_.g_centre = node.units.centre;
    channels_.g_unit = node.units.g_unit;
  }

  void gather_if_small(OpenNode& node) {
    // Random cuts need no histograms, so the number of codes does not matter to them.
    if (plan_.rules.random_split) return;
    if (!worth_gathering(*node.block, node.size(), plan_.columns_per_node)) return;
    node.block = gather_block(*node.block, rows_ + node.begin, node.size(), plan_.stats);
    node.histogram.reset();
    std::iota(rows_ + node.begin, rows_ + node.end, Row{0});
  }

  // Puts what the node's rows add next to each other.
  NodeRows load(const OpenNode& node) {
    const Statistics& stats = plan_.stats;
    const Block& block = *node.block;
    const std::size_t n = node.size(), per_row = stats.words_per_row();
    const Row* rows = rows_ + node.begin;
    // A whole block has its words in order already, unless they have to be made from targets.
    if (n == block.n_rows && !block.hot && !stats.real()) return {rows, n, block.words, nullptr};
    if (words_.size() < n * per_row) words_.resize(n * per_row);
    if (stats.real()) {
      use_units_of(node);
      for (std::size_t i = 0; i < n; ++i) {
        fill_lanes(channels_, target_of(block, rows[i]), block.words[rows[i]], &words_[i * per_row]);
      }
    } else if (per_row == 1) {
      for (std::size_t i = 0; i < n; ++i) words_[i] = block.words[rows[i]];
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(block.words + rows[i] * per_row, per_row, &words_[i * per_row]);
      }
    }
    if (block.hot) {
      const std::size_t outputs = stats.n_outputs;
      if (hot_.size() < n * outputs) hot_.resize(n * outputs);
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(block.hot + rows[i] * outputs, outputs, &hot_[i * outputs]);
      }
    }
    return {rows, n, words_.data(), block.hot ? hot_.data() : nullptr};
  }

  std::vector<Lane> total_of(const NodeRows& rows) const {
    std::vector<Lane> total(plan_.stats.lanes, 0);
    add_total(rows, plan_.stats, total.data());
    return total;
  }

  bool worth_histogram(const OpenNode& node) const {
    return could_split(node) && plan_.all_columns() && !plan_.rules.random_split &&
           plan_.stats.criterion != Criterion::Absolute &&
           node.size() * node.block->columns.size() >= 2 * histogram_slots(*node.block);
  }

  std::size_t useful(std::size_t n_rows) const {
    return useful_threads(threads_, kUpdateNs * static_cast<double>(n_rows * plan_.columns_per_node));
  }

  std::unique_ptr<Histogram> count_histogram(const OpenNode& node, const NodeRows& rows) {
    const auto& columns = node.block->columns;
    const std::size_t lanes = plan_.stats.lanes;
    auto out = std::make_unique<Histogram>(histogram_slots(*node.block) * lanes, 0);
    std::vector<std::size_t> offset(columns.size() + 1, 0);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      offset[j + 1] = offset[j] + columns[j].slots() * lanes;
    }
    // Chunks of rows keep the row-major codes in the first cache while all columns read them.
    constexpr std::size_t kChunk = 1024;
    const std::size_t parts = useful(rows.n);
    parallel_for(threads_, parts, plan_.interrupt, [&](std::size_t part) {
      const std::size_t from = columns.size() * part / parts, to = columns.size() * (part + 1) / parts;
      for (std::size_t begin = 0; begin < rows.n; begin += kChunk) {
        const NodeRows chunk = rows.slice(begin, std::min(begin + kChunk, rows.n), plan_.stats);
        for (std::size_t j = from; j < to; ++j) {
          if (columns[j].constant()) continue;
          add_rows(columns[j], chunk, plan_.stats, out->data() + offset[j], OwnSlot{});
        }
      }
    });
    return out;
  }

  // One unit of a node's value: G / H, or for the absolute criterion a target itself.
  double value_unit() const {
    const bool median = channels_.criterion == Criterion::Absolute;
    return median ? channels_.g_unit : channels_.g_unit / channels_.h_unit;
  }

  SearchRequest request_for(const OpenNode& node) const {
    SearchRequest request;
    request.stats = &channels_;
    request.limits = plan_.limits;
    request.limits.lower = (node.bounds.lower - channels_.g_centre) / value_unit();
    request.limits.upper = (node.bounds.upper - channels_.g_centre) / value_unit();
    request.raw = &plan_.matrix.raw;
    request.origin = node.block->origin;
    request.monotone = plan_.rules.monotone.empty() ? nullptr : plan_.rules.monotone.data();
    request.random = plan_.rules.random_split;
    request.node_key = node.key;
    request.interrupt = &plan_.interrupt;
    return request;
  }

  Split search(const SearchRequest& request, const OpenNode& node, const NodeRows& rows) {
    const auto try_column = [&](std::size_t j, const Lane* ready, Split& best, SplitScratch& scratch) {
      return search_column(request, node.block->columns[j], static_cast<std::uint32_t>(j), rows,
                           node.total.data(), ready, scratch, best);
    };
    return plan_.all_columns() ? search_all(node, rows, try_column) : search_some(node, try_column);
  }

  template <class Try>
  Split search_all(const OpenNode& node, const NodeRows& rows, Try&& try_column) {
    const std::size_t d = node.block->columns.size();
    std::vector<const Lane*> ready(d, nullptr);
    if (node.histogram) {
      const Lane* cells = node.histogram->data();
      for (std::size_t j = 0; j < d; ++j) {
        ready[j] = cells;
        cells += node.block->columns[j].slots() * plan_.stats.lanes;
      }
    }
    const std::size_t parts = node.histogram ? 1 : std::min(useful(rows.n), threads_);
    std::vector<Split> best(parts);
    std::atomic<std::size_t> next{0};
    parallel_for(threads_, parts, plan_.interrupt, [&](std::size_t part) {
      for (std::size_t j; (j = next.fetch_add(1, std::memory_order_relaxed)) < d;) {
        try_column(j, ready[j], best[part], scratch_[part]);
      }
    });
    for (std::size_t part = 1; part < parts; ++part) {
      if (best[0].loses_to(best[part].score, best[part].column)) best[0] = std::move(best[part]);
    }
    return std::move(best[0]);
  }

  // A random subset of the columns; more are drawn while all those seen were constant.
  template <class Try>
  Split search_some(const OpenNode& node, Try&& try_column) {
    const std::size_t d = node.block->columns.size();
    std::vector<std::uint32_t> columns(d);
    std::iota(columns.begin(), columns.end(), 0U);
    Stream stream(combine(node.key, kDrawKey));
    Split best;
    bool varies = false;
    for (std::size_t k = 0; k < d && (k < plan_.columns_per_node || !varies); ++k) {
      std::swap(columns[k], columns[k + stream.below(static_cast<std::uint32_t>(d - k))]);
      varies |= try_column(columns[k], nullptr, best, scratch_[0]);
    }
    return best;
  }

  const Plan& plan_;
  Row* rows_;
  std::size_t threads_;
  Channels channels_;                  // with the units of the node at hand
  std::vector<SplitScratch> scratch_;
  Subtree tree_;
  BigVector<Row> partition_scratch_;
  BigVector<Lane> words_;
  BigVector<std::uint32_t> hot_;
};

}  // namespace weald
