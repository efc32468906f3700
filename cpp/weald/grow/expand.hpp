// What happens to a node by itself: its split is found, its rows are divided, its histogram is shared among
// its children. Several of these can be at work at once: on nodes that have no rows in common, or, each on columns of
// its own, on the same node.
#pragma once

#include <array>
#include <utility>

#include "weald/base/paths.hpp"
#include "weald/grow/node_search.hpp"
#include "weald/grow/partition.hpp"

namespace weald {

class Expander {
 public:
  Expander(const Plan& plan, View<Row> rows, std::size_t threads)
      : plan_(plan), rows_(rows), threads_(threads), search_(plan, threads) {}

  // What a node without a parent needs: a histogram, and where that decides who is next, its split. (Best-first has to
  // know a node's gain to queue it; the others look when its turn comes, so that waiting nodes hold no blocks.)
  void begin(OpenNode& root) {
    const bool counts = !root.histogram && worth_histogram(root);
    if (const std::size_t parts = useful_parts(root); counts && parts > 1) {
      root.histogram = NodeHistograms::room_for(*root.block);
      return decide_together({{&root}, nullptr}, {&root, 1}, 0, parts);
    }
    if (counts) root.histogram = count_histogram(root);
    if (plan_.rules.frontier == Frontier::BestFirst) decide_first(root, 0);
  }

  // Splits the node. If more splits are to follow, its children get their part of its histogram and, where
  // that decides who is next, their own splits, unless these gain less than `least_gain`. Infinite: none follows.
  Expansion expand(const OpenNode& node, Histogram histogram, const Split& split, double least_gain) {
    Expansion out = divide(node, split);
    if (least_gain == kInf || (!could_split(out.children[0]) && !could_split(out.children[1]))) return out;
    if (const std::size_t parts = useful_parts(out.children[smaller_of(out.children)]); parts > 1) {
      decide_together(make_room(std::move(histogram), out.children), out.children, least_gain, parts);
      return out;
    }
    share_histogram(node, std::move(histogram), out.children);
    if (plan_.rules.frontier != Frontier::BestFirst) return out;
    for (OpenNode& child : out.children) decide_first(child, least_gain);
    return out;
  }

  // Finds the node's split; nothing if it is better left a leaf, as a rule also if it gains less than `least_gain`.
  std::optional<Decision> decide(OpenNode& node, double least_gain = 0) {
    gather_if_small(node);
    const bool known =
        node.sum != OpenNode::kUnknown && (search_.reads_in_place(node) || (plan_.stats.gradients && node.histogram));
    const NodeRows rows = known ? NodeRows{rows_of(node), node.size(), {}, {}} : search_.load(node, rows_of(node));
    const Lane* total = search_.total_of(node, rows);
    if (plan_.stats.layout == Layout::Packed && node.sum == OpenNode::kUnknown) node.sum = *total;
    if (pure(node, total)) return std::nullopt;
    std::optional<Decision> found = search_.decide(node, rows, total, least_gain);
    if (!found->split.found() || !search_.pays(*found)) found.reset();
    return found;
  }

  // Chooses the units in which a node of real targets is summed: its parent's, until its targets have
  // come so close together that they deserve finer ones.
  void measure(OpenNode& node) {
    const Statistics& stats = plan_.stats;
    if (!stats.real()) return;
    search_.refine(
        node, [&](std::size_t i) { return target_of(*node.block, rows_[node.begin + i]); },
        [&] { return weight_of_rows(*node.block, stats, list_of(node), node.size()); });
  }

  bool could_split(const OpenNode& node) const {
    const Rules& rules = plan_.rules;
    return node.depth < rules.max_depth && node.size() >= rules.min_samples_split &&
           node.size() >= 2 * rules.min_samples_leaf &&
           (node.sum == OpenNode::kUnknown || plan_.stats.gradients || !pure_word(node.sum));
  }

  bool worth_histogram(const OpenNode& node) const {
    const NodeHistograms& histograms = search_.histograms();
    const Block& block = *node.block;
    if (!could_split(node) || plan_.rules.random_split || is_from_rows(plan_.stats.criterion)) return false;
    if (histograms.by_cells(block)) {  // has it half as many filled cells as the histogram has?
      const SparseCells& cells = *plan_.matrix.sparse;
      return plan_.all_columns() && 2 * cells.lists.n_cells() * node.size() >= block.n_rows * cells.slot_begin.back();
    }
    if (block.lists) return false;
    // Where a node tries few columns it is quicker to count those alone.
    if (histograms.by_rows(block)) {
      return 3 * plan_.columns_per_node >= plan_.matrix.n_columns() && node.size() >= kFewestCounted;
    }
    return plan_.all_columns() && node.size() * block.columns.size() >= 2 * histogram_slots(block) * plan_.stats.lanes;
  }

  // Is a node's histogram kept for its children until its turn comes? Most of a tree's nodes have few rows and never
  // get their turn. To count both children of so few costs little more than to subtract, and wide tables have large
  // histograms.
  bool worth_keeping(const OpenNode& node) const {
    return node.size() >= kRowsKept || !search_.histograms().by_rows(*node.block) ||
           search_.histograms().cells_of(*node.block) * sizeof(Lane) < kFromPages;
  }

  Histogram count_histogram(const OpenNode& node) {
    NodeHistograms& histograms = search_.histograms();
    return histograms.by_rows(*node.block) || histograms.by_cells(*node.block)
               ? histograms.count_all_columns(node, list_of(node))
               : histograms.count_columns(node, search_.load(node, rows_of(node)));
  }

  // Gives a node that is much smaller than its block one of its own.
  void gather_if_small(OpenNode& node) {
    Row* const rows = list_of(node);
    if (search_.histograms().by_rows(*node.block)) return;
    if (node.block->lists) {
      if (node.histogram || !worth_gathering_cells(*node.block, node.size())) return;
      if (counts_.empty()) counts_.resize(plan_.matrix.n_columns(), 0);
      // Rows that are not listed are all on the same side: a column that lists too few for the other has no cuts.
      const bool enough = plan_.stats.gradients && plan_.all_columns();
      const std::size_t least = enough ? std::max<std::size_t>(plan_.rules.min_samples_leaf, 1) : 1;
      node.block = gather_cells(*node.block, *plan_.matrix.sparse, rows, node.size(), least, plan_.stats, counts_);
      std::iota(rows, rows + node.size(), Row{0});
      return;
    }
    // A single cut a column needs no histogram, so the number of codes does not matter to it.
    if (!plan_.one_cut && worth_gathering(*node.block, node.size(), plan_.columns_per_node)) {
      node.block = gather_block(*node.block, rows, node.size(), plan_.stats, plan_.interrupt);
    } else if ((plan_.one_cut || !plan_.all_columns()) && worth_gathering_rows(*node.block, node.size())) {
      node.block = gather_rows(*node.block, rows, node.size(), plan_.stats);
    } else {
      return;
    }
    node.histogram.reset();
    std::iota(rows, rows + node.size(), Row{0});
  }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() {
    search_.release_scratch();
    partition_scratch_ = {};
  }

 private:
  View<const Row> rows_of(const OpenNode& node) const { return {list_of(node), node.size()}; }
  Row* list_of(const OpenNode& node) const { return rows_.get(node.begin, node.size()); }

  // Divides the node's rows and opens its children; the places of these in the tree come later.
  Expansion divide(const OpenNode& node, const Split& split) {
    Expansion out;
    const Column& column = node.block->columns[split.column];
    out.threshold = threshold_of(*node.block, split, plan_.matrix.raw, list_of(node), node.size());
    if (has_few_codes(plan_.matrix.columns[split.column])) {
      for (const Code code : split.left_codes) out.left_codes.push_back(column.original(code));
    }
    const auto n_left = static_cast<Row>(
        partition_rows(*node.block, split, list_of(node), node.size(), partition_scratch_, threads_, plan_.interrupt));
    const bool packed = plan_.stats.layout == Layout::Packed;
    for (std::size_t side = 0; side < 2; ++side) {
      OpenNode& child = out.children[side];
      child.begin = side == 0 ? node.begin : node.begin + n_left;
      child.end = side == 0 ? node.begin + n_left : node.end;
      child.depth = node.depth + 1;
      child.key = derive(node.key, kChildKey + side);
      if (node.frame) child.frame = std::make_unique<Frame>(*node.frame);
      child.sum = !packed ? OpenNode::kUnknown : side == 0 ? split.left_sum : node.sum - split.left_sum;
      if (!plan_.rules.interactions.empty()) child.frame->used.push_back(split.column);
      child.block = node.block;
    }
    out.missing_left = split.had_missing ? split.missing_left : most_go_left(node, out.children);
    if (!plan_.rules.monotone.empty()) bound(node, split, out.children);
    for (OpenNode& child : out.children) measure(child);
    return out;
  }

  // Finds the node's split before its turn, if it has one that gains so much.
  void decide_first(OpenNode& node, double least_gain) {
    keep(node, could_split(node) ? decide(node, least_gain) : std::nullopt);
  }
  void keep(OpenNode& node, std::optional<Decision> found) {
    if (found) node.decision = std::make_unique<Decision>(*std::move(found));
    if (!node.decision || !worth_keeping(node)) node.histogram.reset();
  }

  using Children = std::array<OpenNode, 2>;
  static std::size_t smaller_of(const Children& children) { return children[0].size() <= children[1].size() ? 0 : 1; }

  // What is to be counted from rows of bytes: both children or, if there is a histogram of their parent, one of them,
  // and the other is the rest.
  struct Shares {
    std::array<OpenNode*, 2> counted{};
    OpenNode* rest = nullptr;
  };
  Shares make_room(Histogram histogram, Children& children) const {
    Shares out;
    const std::size_t smaller = smaller_of(children);
    OpenNode& larger = children[1 - smaller];
    if (histogram && !worth_histogram(larger)) return out;
    const bool subtracts = uses(Path::Subtraction) && histogram;
    for (OpenNode* child : {&children[smaller], &larger}) {
      if (subtracts ? child == &larger : !(histogram || worth_histogram(*child))) continue;
      out.counted[child == &larger] = child;
      child->histogram = NodeHistograms::room_for(*child->block);
    }
    if (subtracts) larger.histogram = std::move(histogram), out.rest = &larger;
    return out;
  }
  void fill(const Shares& shares) {
    for (OpenNode* child : shares.counted) {
      if (child) search_.histograms().count_bytes(*child, list_of(*child), child->histogram.get());
    }
    if (shares.rest) {
      search_.histograms().subtract(*shares.counted[0], list_of(*shares.counted[0]), shares.rest->histogram);
    }
  }

  // How many threads work on a node and its sibling together, each on its own columns, if this is the one whose rows are
  // counted. (Of large nodes they share the rows.)
  std::size_t useful_parts(const OpenNode& node) const {
    const Block& block = *node.block;
    if (threads_ == 1 || !uses(Path::ColumnsShared) || plan_.rules.frontier != Frontier::BestFirst ||
        !search_.histograms().by_rows(block)) {
      return 1;
    }
    const double counting = kUpdateNs * static_cast<double>(node.size() * plan_.columns_per_node);
    if (counting >= kWorthAllThreadsNs) return 1;
    const double searching = 2 * kCutNs * static_cast<double>(search_.histograms().cells_of(block));
    const std::size_t useful = useful_threads(threads_, counting + searching);
    return std::min({useful, NodeHistograms::places_of(block), plan_.columns_per_node});
  }

  // Fills the histograms of one or two nodes and finds their splits.
  void decide_together(const Shares& shares, std::span<OpenNode> nodes, double least_gain, std::size_t parts) {
    while (sharers_.size() < parts) sharers_.push_back(std::make_unique<Expander>(plan_, rows_, 1));
    struct Found {
      std::optional<Decision> decision;
      bool varied = false;
    };
    std::vector<std::array<Found, 2>> found(parts);
    parallel_for(parts, parts, plan_.interrupt, [&](std::size_t part) {
      Expander& own = *sharers_[part];
      own.search_.take({part, parts});
      own.fill(shares);
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (!could_split(nodes[k])) continue;
        found[part][k].decision = own.decide(nodes[k], least_gain);
        found[part][k].varied = own.search_.varied();
      }
    });
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      Found& best = found[0][k];
      for (std::size_t part = 1; part < parts; ++part) {
        Found& other = found[part][k];
        best.varied |= other.varied;
        if (!other.decision) continue;
        if (!best.decision || NodeSearch::is_better(*other.decision, *best.decision, nodes[k], plan_.rules)) {
          best.decision = std::move(other.decision);
        }
      }
      // Of columns that are drawn, more are tried only if none of those varies in which part ever.
      const bool done = best.varied || !could_split(nodes[k]);
      done ? keep(nodes[k], std::move(best.decision)) : decide_first(nodes[k], least_gain);
    }
  }

  // Gives the children their histograms where it pays: one is counted, the other is what is left.
  void share_histogram(const OpenNode& parent, Histogram histogram, Children& children) {
    if (search_.histograms().by_rows(*children[0].block)) return fill(make_room(std::move(histogram), children));
    if (!histogram) return;  // it was not kept, or the children are not worth one either
    OpenNode& smaller = children[smaller_of(children)];
    OpenNode& larger = children[1 - smaller_of(children)];
    if (!worth_histogram(larger)) return;
    // Sums can only be subtracted in the same units.
    const auto same_units = [&](const OpenNode& child) {
      return !parent.frame || (child.frame->units.g_unit == parent.frame->units.g_unit &&
                               child.frame->units.centre == parent.frame->units.centre);
    };
    if (!same_units(larger)) return;
    const bool keep = same_units(smaller);
    const Units own = parent.frame ? std::exchange(smaller.frame->units, parent.frame->units) : Units{};
    const bool by_cells = search_.histograms().by_cells(*smaller.block);  // need no histogram to be subtracted
    if (!by_cells || worth_histogram(smaller)) smaller.histogram = count_histogram(smaller);
    if (uses(Path::Subtraction)) {
      search_.histograms().subtract(smaller, list_of(smaller), histogram);
      larger.histogram = std::move(histogram);
    } else {
      larger.histogram = count_histogram(larger);
    }
    if (parent.frame) smaller.frame->units = own;
    if (!keep) smaller.histogram.reset();
  }

  // A monotone column bounds the values on both sides by the middle between them.
  void bound(const OpenNode& node, const Split& split, std::array<OpenNode, 2>& children) {
    const int direction = plan_.rules.monotone[split.column];
    if (direction == 0) return;
    search_.use_units_of(node);
    const double middle = (split.left_value + split.right_value) / 2 * search_.value_unit() + search_.value_centre();
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
      return weight_of_rows(*node.block, plan_.stats, list_of(child), child.size());
    };
    return weight(children[0]) > weight(children[1]);
  }

  bool pure(const OpenNode& node, const Lane* total) const {
    const Statistics& stats = plan_.stats;
    if (stats.gradients) return false;
    if (stats.layout == Layout::Packed) return pure_word(*total);
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

  const double* target_of(const Block& block, Row row) const { return plan_.stats.target_of(block.original(row)); }

  const Plan& plan_;
  View<Row> rows_;
  std::size_t threads_;
  NodeSearch search_;
  std::vector<std::unique_ptr<Expander>> sharers_;  // a thread each
  BigVector<Row> partition_scratch_;
  std::vector<std::uint32_t> counts_;  // of a sparse table's columns; all zero between nodes
};

}  // namespace weald
