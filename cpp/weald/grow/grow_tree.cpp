#include "weald/grow/grow_tree.hpp"

#include <algorithm>
#include <numeric>

#include "weald/grow/subtree.hpp"
#include "weald/tree/category_sets.hpp"

namespace weald {

namespace {

// Joins the subtrees into one tree in pre-order.
class Flattener {
  static constexpr std::size_t kNodesAhead = 16;

 public:
  Flattener(const Binned& matrix, const std::vector<Subtree>& subtrees, bool keeps_sums, Interrupt& interrupt,
            Shape& out)
      : matrix_(matrix),
        subtrees_(subtrees),
        keeps_sums_(keeps_sums),
        interrupt_(interrupt),
        out_(out),
        sets_(matrix) {}

  void run() {
    std::size_t n = 0;
    for (const Subtree& subtree : subtrees_) n += subtree.nodes.size();
    n -= subtrees_.size() - 1;  // the root of each but the first is a node of another one as well
    const auto resize = [n](auto&... arrays) { (arrays.resize(n), ...); };
    if (keeps_sums_) resize(out_.sums);
    if (!subtrees_[0].bounds.empty()) resize(out_.lower, out_.upper);
    resize(out_.right, out_.feature, out_.threshold, out_.missing_left, out_.begin, out_.end, out_.set_begin);
    // Known to be nobody else's, or every byte that is written could be a part of what tells where to write.
    const struct {
      std::int32_t *right, *feature, *set_begin;
      double* threshold;
      std::uint8_t* missing_left;
      Row *begin, *end;
      Lane* sums;
    } to{
        out_.right.data(),        out_.feature.data(), out_.set_begin.data(), out_.threshold.data(),
        out_.missing_left.data(), out_.begin.data(),   out_.end.data(),       keeps_sums_ ? out_.sums.data() : nullptr};
    // An explicit stack: a tree may be as deep as it has rows. Whether a node is a leaf cannot be foretold, so there is no
    // branch for it: children that are none are put above the top of the stack.
    struct Pending {
      std::uint32_t subtree, node;
      std::uint32_t parent;  // a right child's; of others, the place of the node itself
      std::uint32_t depth;
      std::int32_t arrival;  // in `arrivals`; -1: all that have arrived above
    };
    std::vector<Pending> stack(64, {0, 0, 0, 0, -1});
    std::vector<SetWriter::Arrival> arrivals;
    Patience patience(interrupt_);
    const bool follows = sets_.follows(), bounded = !out_.lower.empty();
    std::size_t top = 1;
    for (std::uint32_t place = 0; top > 0; ++place) {
      if (place % kNodesAhead == 0) patience.spend(8 * kNodesAhead);
      if (top + 1 == stack.size()) stack.resize(2 * stack.size());
      Pending* const end = stack.data() + --top;
      Pending at = *end;
      const DoneNode* node = &subtrees_[at.subtree].nodes[at.node];
      if (node->subtree >= 0) {
        at.subtree = static_cast<std::uint32_t>(node->subtree), at.node = 0;
        node = &subtrees_[at.subtree].nodes[0];
      }
      prefetch(node + kNodesAhead);
      to.right[at.parent] = static_cast<std::int32_t>(place);
      to.right[place] = -1, to.feature[place] = node->feature, to.set_begin[place] = -1;
      to.threshold[place] = node->threshold, to.missing_left[place] = node->missing_left;
      to.begin[place] = node->begin, to.end[place] = node->end;
      if (to.sums) to.sums[place] = node->sum;
      if (bounded) {
        const Bounds& bounds = subtrees_[at.subtree].bounds[at.node];
        out_.lower[place] = bounds.lower, out_.upper[place] = bounds.upper;
      }
      std::int32_t goes_left = -1, goes_right = -1;
      if (follows && node->left >= 0)
        sets_.enter(at.depth, at.arrival < 0 ? SetWriter::Arrival{} : arrivals[static_cast<std::size_t>(at.arrival)]);
      if (node->set >= 0) {
        SetWriter::Arrival sides[2];
        put_set(place, subtrees_[at.subtree], *node, sides[0], sides[1], patience);
        if (follows) {
          goes_left = static_cast<std::int32_t>(arrivals.size()), goes_right = goes_left + 1;
          arrivals.insert(arrivals.end(), sides, sides + 2);
        }
      }
      const auto left = static_cast<std::uint32_t>(node->left);
      end[0] = {at.subtree, left + 1, place, at.depth + 1, goes_right};
      end[1] = {at.subtree, left, place + 1, at.depth + 1, goes_left};
      top += node->left < 0 ? 0 : 2;
    }
  }

 private:
  void put_set(std::size_t place, const Subtree& subtree, const DoneNode& node, SetWriter::Arrival& goes_left,
               SetWriter::Arrival& goes_right, Patience& patience) {
    const auto j = static_cast<std::size_t>(node.feature);
    const Column& column = matrix_.columns[j];
    out_.set_begin[place] = static_cast<std::int32_t>(out_.sets.size());
    const auto kept = [&](auto&& fn) {
      for (const Code code : subtree.set_of(node)) fn(code);
    };
    const auto of_rows = [&](auto&& fn) {  // every code that goes left has a row there
      const DoneNode* child = &subtree.nodes[static_cast<std::size_t>(node.left)];
      if (child->subtree >= 0) child = &subtrees_[static_cast<std::size_t>(child->subtree)].nodes[0];
      patience.spend(child->end - child->begin);
      visit_width(column, [&](auto codes) {
        for (std::size_t i = child->begin; i < child->end; ++i) {
          const Code code = codes[out_.rows[i] * column.stride];
          if (code != column.n_codes) fn(code);
        }
      });
    };
    has_few_codes(column) ? sets_.write(j, kept, out_.sets, goes_left, goes_right)
                          : sets_.write(j, of_rows, out_.sets, goes_left, goes_right);
  }

  const Binned& matrix_;
  const std::vector<Subtree>& subtrees_;
  bool keeps_sums_;
  Interrupt& interrupt_;
  Shape& out_;
  SetWriter sets_;
};

// Have columns no more than two values, so that the best cut is the only one? Those of a sample of columns are quicker to
// find as random cuts are.
bool has_only_cuts(const Plan& plan) {
  const auto& columns = plan.matrix.columns;
  const bool squares = plan.stats.criterion == Criterion::Gini || plan.stats.criterion == Criterion::Squared;
  return uses(Path::OnlyCuts) && kHasCutSums && !plan.stats.gradients && squares && !plan.all_columns() &&
         plan.matrix.row_bytes && std::all_of(columns.begin(), columns.end(), [](const Column& column) {
           return column.ends && column.guide && column.n_codes <= 2 && !column.categorical && !column.has_missing;
         });
}

}  // namespace

Shape grow_tree(const Binned& matrix, Statistics& stats, const Rules& rules, std::size_t threads,
                Interrupt& interrupt) {
  const std::size_t d = matrix.n_columns();
  Plan plan{matrix, stats, rules, threads, interrupt, rules.max_features == 0 ? d : std::min(rules.max_features, d),
            {}};
  plan.limits.min_count =
      stats.counted ? stats.counted_as * static_cast<Lane>(std::max<std::size_t>(1, rules.min_samples_leaf)) : 1;
  plan.limits.min_weight = rules.min_weight_leaf / stats.h_unit;
  if (!stats.counted) {  // less H than that is surely too few rows
    const double least = static_cast<double>(rules.min_samples_leaf) * static_cast<double>(stats.least_h);
    plan.limits.min_weight = std::max(plan.limits.min_weight, least);
  }
  plan.one_cut = rules.random_split || has_only_cuts(plan);
  if (rules.row_weight > 0) stats.row_h = rules.row_weight / stats.h_unit;

  Shape shape;
  shape.rows = std::exchange(stats.rows, {});
  OpenNode root;
  root.end = static_cast<Row>(shape.rows.size());
  root.key = mix(rules.seed);
  root.sum = stats.sum;
  root.block = whole_block(matrix, stats);
  if (stats.real() || !rules.monotone.empty() || !rules.interactions.empty()) root.frame = std::make_unique<Frame>();

  // Without a limit on leaves the subtrees are independent: the top is grown with all threads on each
  // node, the rest with a subtree per thread. The tree is the same either way. Subtrees are grown in
  // batches, so that the blocks gathered for them do not all live at once.
  const bool divide = threads > 1 && rules.max_leaves == 0;
  const std::size_t defer_below = divide ? std::max<std::size_t>(root.size() / (8 * threads), kFewestDeferred) : 0;
  const std::size_t batch_rows = root.size() / 4;
  std::vector<Subtree> subtrees(1);
  std::vector<OpenNode> batch;
  std::size_t rows_in_batch = 0;
  const auto grow_batch = [&] {
    const std::size_t first = subtrees.size();
    subtrees.resize(first + batch.size());
    std::vector<std::size_t> largest_first(batch.size());
    std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](std::size_t a, std::size_t b) { return batch[a].size() > batch[b].size(); });
    parallel_for(threads, batch.size(), interrupt, [&](std::size_t k) {
      const std::size_t t = largest_first[k];
      const auto never = [](const OpenNode&) { return std::int32_t{-1}; };
      subtrees[first + t] = SubtreeGrower(plan, view(shape.rows), 1).grow(std::move(batch[t]), 0, never);
    });
    batch.clear();
    rows_in_batch = 0;
  };
  SubtreeGrower top(plan, view(shape.rows), threads);
  top.measure(root);
  subtrees[0] = top.grow(std::move(root), defer_below, [&](OpenNode node) {
    if (rows_in_batch > batch_rows) {
      top.release_scratch();
      grow_batch();
    }
    rows_in_batch += node.size();
    batch.push_back(std::move(node));
    return static_cast<std::int32_t>(subtrees.size() + batch.size() - 1);
  });
  top.release_scratch();
  grow_batch();
  const bool keeps_sums =
      stats.layout == Layout::Packed && (stats.whole_weights || stats.gradients) && subtrees[0].nodes.size() > 1;
  Flattener(matrix, subtrees, keeps_sums, interrupt, shape).run();
  return shape;
}

}  // namespace weald
