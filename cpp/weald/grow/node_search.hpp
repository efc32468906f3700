// The search for the split of one node: over all columns, or over some drawn at random.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "weald/base/paths.hpp"
#include "weald/grow/drawn_columns.hpp"
#include "weald/grow/listed_rows.hpp"
#include "weald/grow/node.hpp"
#include "weald/grow/node_histograms.hpp"
#include "weald/grow/plan.hpp"
#include "weald/search/category_price.hpp"
#include "weald/search/column_draw.hpp"
#include "weald/search/random_cuts.hpp"
#include "weald/search/scan_gradients.hpp"
#include "weald/stats/fill_lanes.hpp"

namespace weald {

// What a split gains over the node as it is, in the caller's weight x impurity.
inline double gain_of(const Channels& channels, double split_score, double own_score) {
  const double unit = score_unit(channels);
  return split_score * unit - own_score * unit;
}

// Is that enough, given how far it may be from its true value?
inline bool pays(const Plan& plan, const Channels& channels, double split_score, double gain) {
  const double doubt = 1e-12 * std::abs(split_score * score_unit(channels));
  return channels.gradients ? gain > std::max(plan.rules.min_decrease, doubt) : gain >= plan.rules.min_decrease - doubt;
}

// Searches nodes one after another on the calling thread (large ones share their columns out), with
// the memory that takes.
class NodeSearch {
 public:
  NodeSearch(const Plan& plan, std::size_t threads)
      : plan_(plan),
        threads_(threads),
        channels_(plan.stats),
        total_(plan.stats.lanes),
        scratch_(threads),
        histograms_(plan, threads),
        draw_(plan.matrix.n_columns()) {
    request_.stats = &channels_;
    if (plan.stats.gradients && plan.rules.category_smoothing > 0) {
      category_channels_ = plan.stats;
      category_channels_.order_lambda = plan.rules.category_smoothing / plan.stats.h_unit;
      category_channels_.lambda += category_channels_.order_lambda;
      // Just so much is enough, however it was rounded.
      category_channels_.least_category = plan.rules.category_smoothing * plan.stats.mean_h * (1 - 1e-6);
      request_.category_stats = &category_channels_;
    }
    request_.limits = plan.limits, request_.min_rows = static_cast<Lane>(plan.rules.min_samples_leaf);
    request_.raw = &plan.matrix.raw;
    request_.random = plan.rules.random_split;
    request_.interrupt = &plan.interrupt;
    if (!plan.rules.monotone.empty()) request_.monotone = plan.rules.monotone.data();
    // Gradients have their own smoothing, and random cuts choose nothing.
    const auto& columns = plan.matrix.columns;
    priced_ = !plan.stats.gradients && !plan.rules.random_split &&
              std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.many; });
  }
  NodeSearch(const NodeSearch&) = delete;  // the request points into it
  NodeSearch& operator=(const NodeSearch&) = delete;

  // Measures real targets in the units of this node.
  void use_units_of(const OpenNode& node) {
    if (!plan_.stats.real()) return;
    channels_.g_centre = node.frame->units.centre;
    channels_.g_unit = node.frame->units.g_unit;
  }

  // Chooses units for the real targets of a node.
  template <class OfRow, class Weight>
  void refine(const OpenNode& node, const OfRow& of_row, const Weight& h) {
    node.frame->units.refine(channels_, node.size(), of_row, h);
  }

  // Puts what the node's rows add next to each other.
  NodeRows load(const OpenNode& node, View<const Row> rows) {
    const Statistics& stats = plan_.stats;
    const Block& block = *node.block;
    const std::size_t n = node.size(), per_row = stats.words_per_row();
    // A whole block has its words in order already, unless they have to be made from targets.
    if (n == block.n_rows && !block.class_bytes && !block.hot && !stats.real()) return {rows, n, block.words, {}};
    if (stats.real()) {
      if (words_.size() < n * per_row) words_.resize(n * per_row);
      use_units_of(node);
      const FillLanes fill(channels_);
      for (std::size_t i = 0; i < n; ++i) {
        if (i + kTargetsAhead < n) prefetch(stats.target_of(block.original(rows[i + kTargetsAhead])));
        fill(stats.target_of(block.original(rows[i])), block.words[rows[i]], &words_[i * per_row]);
      }
    } else {
      copy_statistics(block, rows.get(0, n), n, stats, words_, hot_);
    }
    NodeRows out{rows, n, {words_.data(), n * per_row}, {}};
    if (block.hot) out.hot = {hot_.data(), n * stats.n_outputs};
    return out;
  }

  // The sums over the node; valid until the next node's.
  const Lane* total_of(const OpenNode& node, const NodeRows& rows) {
    if (node.sum != OpenNode::kUnknown) {
      total_[0] = node.sum;
    } else {
      std::fill(total_.begin(), total_.end(), 0);
      add_total(rows, plan_.stats, view(total_));
    }
    return total_.data();
  }

  NodeHistograms& histograms() { return histograms_; }
  const NodeHistograms& histograms() const { return histograms_; }

  // The best split of a node and its gain. The node's sums are in `total`. Splits that gain less than `least_gain` may
  // be passed over.
  Decision decide(const OpenNode& node, NodeRows rows, const Lane* total, double least_gain) {
    if (priced_) {
      price_ = category_price(channels_, node_score(request_, rows, total), total, [&](std::size_t o) {
        const std::size_t lanes = channels_.lanes;
        double squares = 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
          const Lane* word = rows.words.get(i * lanes, lanes);
          const double g = static_cast<double>(word[2 + o]);
          squares += word[1] > 0 ? g * g / static_cast<double>(word[1]) : 0;
        }
        return squares;
      });
      request_.price = &price_;
    }
    const SearchRequest& request = request_for(node);
    std::optional<ListedRows::Use> known;
    if (request.lists) known.emplace(listed_rows_, plan_.stats, *node.block, rows, request_);
    const auto try_by = [&](const SearchRequest& how, const NodeRows& given, std::size_t j, const Lane* ready,
                            Split& best, SplitScratch& scratch) {
      const Column& column = node.block->columns[j];
      if (how.counts && !how.lists) count_rows(column, given, scratch);
      return search_column(how, column, static_cast<std::uint32_t>(j), given, total, ready, scratch, best);
    };
    const auto try_column = [&](std::size_t j, const Lane* ready, Split& best, SplitScratch& scratch) {
      if (!allowed(node, static_cast<std::uint32_t>(j))) return false;
      if (!rows.loaded() && !ready) rows = load(node, rows.rows);
      return try_by(request, rows, j, ready, best, scratch);
    };
    // Where sums do not count rows, a column whose best cut may leave a side with too few of them is searched again, among
    // the cuts that do not. One of a sparse table with a histogram is then searched by its list. Lists count rows in
    // passing, and in small nodes most cuts would leave too few: there rows are counted at once.
    const bool doubtful = !plan_.stats.counted && plan_.rules.min_samples_leaf > 1;
    const bool small = !node.block->lists && rows.n < kDoubtful * plan_.rules.min_samples_leaf;
    request_.counts = doubtful && (request.lists || small);
    SearchRequest counting;
    NodeRows listed_rows;
    std::once_flag once;
    const auto try_counting = [&](std::size_t j, const Lane* ready, Split& best, SplitScratch& scratch) {
      Split found;
      const auto is_better = [&] { return found.found() && found.column == j; };
      found.score = best.score, found.column = best.column;
      const bool varies = try_column(j, ready, found, scratch);
      if (is_better() && !surely_enough(node, found)) {
        std::call_once(once, [&] {
          counting = request, counting.counts = true, counting.lists = node.block->lists.get();
          listed_rows = rows;
          if (!counting.lists) return;
          listed_rows = load(node, rows.rows);
          known.emplace(listed_rows_, plan_.stats, *node.block, listed_rows, counting);
        });
        found.score = best.score, found.column = best.column;
        scratch.list = j;
        try_by(counting, listed_rows, j, counting.lists ? nullptr : ready, found, scratch);
      }
      if (is_better()) best = std::move(found);
      return varies;
    };
    const auto search = [&](auto&& try_one) {
      if (plan_.all_columns() && !by_random_cuts(node)) {
        return search_all(request, node, rows, total, least_gain, try_one);
      }
      return search_some(node, rows, total, [&](std::size_t j, const Lane* ready, Split& best) {
        return try_one(j, ready, best, scratch_[0]);
      });
    };
    Decision out;
    varied_ = true;
    out.split = doubtful && !request.counts ? search(try_counting) : search(try_column);
    if (out.split.found()) out.gain = gain_of(channels_, out.split.score, node_score(request, rows, total));
    return out;
  }

  // From now on only these columns are searched.
  void take(Part part) { histograms_.take(part); }
  // Did any column vary in the last node?
  bool varied() const { return varied_; }
  // The better of two decisions on a node.
  static bool is_better(const Decision& one, const Decision& other, const OpenNode& node, const Rules& rules) {
    return other.split.loses_to(one.split.score, one.split.column, ties_of(node, rules));
  }

  // Are there enough rows on both sides? Where the sums of H leave no doubt they need not be counted.
  bool surely_enough(const OpenNode& node, const Split& split) const {
    const Lane left_h = split.left_sum & 0xFFFFFFFF, right_h = (node.sum & 0xFFFFFFFF) - left_h;
    return std::min(left_h, right_h) >= static_cast<Lane>(plan_.rules.min_samples_leaf) * plan_.stats.most_h;
  }

  // Counts the rows of a column by code, for a search that looks at cuts with enough of them only.
  static void count_rows(const Column& column, const NodeRows& rows, SplitScratch& scratch) {
    scratch.group_rows.assign(std::max<std::size_t>(column.slots(), column.n_codes + 1), 0);
    visit_width(column, [&, counts = view(scratch.group_rows)](auto codes) {
      for (std::size_t i = 0; i < rows.n; ++i) ++counts[codes[rows.rows[i] * column.stride]];
    });
  }

  // Random cuts of several columns at a time. Where sums do not count rows, cuts with enough of them are looked for.
  bool by_random_cuts(const OpenNode& node) const {
    return plan_.one_cut && (plan_.stats.counted || plan_.rules.min_samples_leaf <= 1) &&
           RandomCuts::fit(*node.block, plan_.stats);
  }

  // Does the search read the rows' codes and classes where they are, so that nothing has to be loaded?
  bool reads_in_place(const OpenNode& node) const { return plan_.stats.unit_weights && by_random_cuts(node); }

  // Does the split of a node pay?
  bool pays(const Decision& found) const { return weald::pays(plan_, channels_, found.split.score, found.gain); }

  // One unit of a node's value: G / H, or for the absolute criterion a target itself.
  double value_unit() const {
    const bool median = is_from_rows(channels_.criterion);
    return median ? channels_.g_unit : channels_.g_unit / channels_.h_unit;
  }
  double value_centre() const { return channels_.g_centre; }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() {
    scratch_ = std::vector<SplitScratch>(threads_);
    words_ = {};
    hot_ = {};
  }

 private:
  // May the column be tested below the columns on the path to the node?
  bool allowed(const OpenNode& node, std::uint32_t j) const {
    const auto& sets = plan_.rules.interactions;
    if (sets.empty()) return true;
    return std::any_of(sets.begin(), sets.end(), [&](const auto& set) {
      const auto has = [&](std::uint32_t k) { return std::find(set.begin(), set.end(), k) != set.end(); };
      return has(j) && std::all_of(node.frame->used.begin(), node.frame->used.end(), has);
    });
  }

  const SearchRequest& request_for(const OpenNode& node) {
    if (!plan_.rules.monotone.empty()) {
      const Bounds& bounds = node.frame->bounds;
      request_.limits.lower = (bounds.lower - channels_.g_centre) / value_unit();
      request_.limits.upper = (bounds.upper - channels_.g_centre) / value_unit();
    }
    request_.origin = node.block->origin;
    request_.lists = node.histogram ? nullptr : node.block->lists.get(), request_.block_rows = node.block->n_rows;
    request_.node_key = node.key;
    request_.ties = ties_of(node, plan_.rules);
    return request_;
  }
  static TieBreak ties_of(const OpenNode& node, const Rules& rules) {
    TieBreak out;
    if (rules.random_ties) out.key = derive(node.key, kTieKey) | 1;
    return out;
  }

  // The best of n columns or lists, of which threads take so many at a time: try_one(k, part, best) looks at one.
  template <class Try>
  Split search_shared(const SearchRequest& request, std::size_t n, std::size_t parts, std::size_t at_once,
                      Try&& try_one) {
    std::vector<Split> best(parts);
    std::atomic<std::size_t> next{0};
    parallel_for(threads_, parts, plan_.interrupt, [&](std::size_t part) {
      for (std::size_t begin; (begin = next.fetch_add(at_once, std::memory_order_relaxed)) < n;) {
        for (std::size_t k = begin; k < std::min(begin + at_once, n); ++k) try_one(k, part, best[part]);
      }
    });
    return best_of(std::move(best), request.ties);
  }

  static Split best_of(std::vector<Split> found, TieBreak ties) {
    for (std::size_t part = 1; part < found.size(); ++part) {
      if (found[0].loses_to(found[part].score, found[part].column, ties)) found[0] = std::move(found[part]);
    }
    return std::move(found[0]);
  }

  template <class Try>
  Split search_all(const SearchRequest& request, const OpenNode& node, const NodeRows& rows, const Lane* total,
                   double least_gain, Try&& try_column) {
    // Columns of a sparse table without filled cells here are constant.
    if (const CellLists* lists = request.lists) {
      const std::size_t parts = useful_threads(threads_, kUpdateNs * static_cast<double>(lists->n_cells()));
      return search_shared(request, lists->size(), parts, kListsAtOnce,
                           [&](std::size_t k, std::size_t part, Split& best) {
                             scratch_[part].list = k;
                             try_column(lists->column(k), nullptr, best, scratch_[part]);
                           });
    }
    const std::vector<const Lane*> ready = histograms_.columns_of(node);
    const double cells = node.histogram ? static_cast<double>(histograms_.cells_of(*node.block)) : 0;
    const std::size_t parts = node.histogram ? useful_threads(threads_, kCutNs * cells) : histograms_.useful(rows.n);
    std::vector<GradientSieve> sieves;  // of each part
    double least_score = -kInf;
    if (node.histogram && plan_.stats.gradients && plan_.stats.layout == Layout::Packed && can_sift(channels_.lambda)) {
      const double own = node_score(request, rows, total), unit = score_unit(channels_);
      least_score = (std::max(least_gain, 0.0) / unit + own) * (1 - 1e-11);
      const double least = std::max(static_cast<double>(request.limits.min_count), request.limits.min_weight);
      sieves.assign(parts, GradientSieve({*total, 0, channels_.lambda, least}));
    }
    const auto may_hold = [&](std::size_t j, std::size_t part, double best) {
      const Column& column = node.block->columns[j];
      if (sieves.empty() || column.categorical || (request.monotone && request.monotone[j] != 0)) return true;
      const Lane* missing = column.has_missing ? ready[j] + column.n_codes : nullptr;
      return sieves[part].passes(ready[j], column.n_codes, missing, std::max(best, least_score));
    };
    return search_shared(request, ready.size(), parts, node.histogram ? kListsAtOnce : 1,
                         [&](std::size_t j, std::size_t part, Split& best) {
                           if (!histograms_.takes(*node.block, j) || !may_hold(j, part, best.score)) return;
                           try_column(j, ready[j], best, scratch_[part]);
                         });
  }

  // A random subset of the columns; more are drawn while all those seen were constant.
  template <class Try>
  Split search_some(const OpenNode& node, const NodeRows& rows, const Lane* total, Try&& try_column) {
    const std::size_t d = node.block->columns.size();
    const std::size_t wanted = plan_.columns_per_node;
    draw_.begin();
    draw_.next(node.key, wanted);
    Split best;
    bool& varies = varied_ = false;
    const std::size_t most = histograms_.part().whole() ? d : wanted;  // more are drawn if none varies for anybody
    const CellLists* lists = node.histogram ? nullptr : request_.lists;
    if (node.histogram || lists) {
      const auto ready = lists ? std::vector<const Lane*>() : histograms_.columns_of(node);
      for (std::size_t k = 0; k < most && (k < wanted || !varies); ++k) {
        const std::uint32_t j = k < wanted ? draw_.drawn()[k] : draw_.next(node.key);
        if (!histograms_.takes(*node.block, j)) continue;
        if (lists) scratch_[0].list = lists->list_of(j);
        if (lists && scratch_[0].list == CellLists::kNone) continue;  // constant
        varies |= try_column(j, lists ? nullptr : ready[j], best);
      }
      return best;
    }
    const bool random = by_random_cuts(node), all_allowed = plan_.rules.interactions.empty();
    const bool small = !random && all_allowed && uses_small_histograms(node),
               numbers = !random && all_allowed && uses_number_histograms();
    const bool together = !random && !small && !numbers && !plan_.rules.random_split && pays_together(node, rows);
    const std::size_t at_once = random ? RandomCuts::kColumns : columns_together(node.block->most_codes);
    const std::size_t end = histograms_.part().end(wanted);
    for (std::size_t k = histograms_.part().begin(wanted); k < end; k += at_once) {
      const std::span<const std::uint32_t> drawn = draw_.drawn().subspan(k, std::min(at_once, end - k));
      if (random) varies |= try_random_cuts(node, rows, total, drawn, best);
      if (small) varies |= columns_.search(small_, request_, node, rows, total, drawn, try_column, best);
      if (numbers) varies |= columns_.search(numbers_, request_, node, rows, total, drawn, try_column, best);
      if (together) columns_.count(node, rows, plan_.stats, drawn);
      for (std::size_t c = 0; c < drawn.size() && !random && !small && !numbers; ++c) {
        varies |= try_column(drawn[c], together ? columns_.ready(c) : nullptr, best);
      }
    }
    for (std::size_t k = wanted; k < most && !varies; ++k) varies = try_column(draw_.next(node.key), nullptr, best);
    return best;
  }

  // The random rule where rows are bytes side by side: two passes over the rows serve several columns,
  // one for their extremes and one for what lies left of the cuts drawn between them.
  bool try_random_cuts(const OpenNode& node, const NodeRows& rows, const Lane* total,
                       std::span<const std::uint32_t> drawn, Split& best) {
    bool varies = false;
    random_cuts_.look(*node.block, rows.rows.get(0, rows.n), rows.n, drawn);
    for (std::size_t k = 0; k < drawn.size(); ++k) varies |= random_cuts_.add_cut(request_, k);
    random_cuts_.try_cuts(request_, *node.block, rows, total, best);
    return varies;
  }

  // Nodes of up to a few thousand rows, of two classes.
  bool uses_small_histograms(const OpenNode& node) const {
    return uses(Path::SmallHistograms) && plan_.stats.light_two_classes && request_.plain() && !request_.random &&
           node.sum != OpenNode::kUnknown && (node.sum & 0xFFFFFFFF) <= kMostSmallWeight;
  }

  bool uses_number_histograms() const {
    return uses(Path::NumberHistograms) && NumberHistograms::fit(plan_.stats) && request_.plain() && !request_.random;
  }

  // Counting several columns of bytes in one pass over the rows pays unless there are few of these, or cells of many
  // classes would not stay in the first cache.
  bool pays_together(const OpenNode& node, const NodeRows& rows) const {
    const std::size_t lanes = std::min(node.block->most_codes, kByteSlots) * plan_.stats.lanes;
    return uses(Path::DrawnTogether) && rows.n > kTogetherAbove && !is_from_rows(plan_.stats.criterion) &&
           lanes <= (plan_.stats.layout == Layout::OneHot ? kFewLanes : 32 * kByteSlots);
  }

  const Plan& plan_;
  std::size_t threads_;
  bool varied_ = true;
  Channels channels_;  // with the units of the node at hand
  Channels category_channels_;
  SearchRequest request_;
  bool priced_ = false;  // are there columns of many categories?
  CategoryPrice price_;  // of the node at hand
  std::vector<Lane> total_;
  std::vector<SplitScratch> scratch_;
  NodeHistograms histograms_;
  ColumnDraw draw_;
  ListedRows listed_rows_;
  DrawnColumns columns_;
  SmallHistograms small_;
  NumberHistograms numbers_;
  RandomCuts random_cuts_;
  BigVector<Lane> words_;
  BigVector<std::uint32_t> hot_;
};

}  // namespace weald
