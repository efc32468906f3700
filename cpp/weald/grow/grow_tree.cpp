#include "weald/grow/grow_tree.hpp"

#include <algorithm>
#include <numeric>

#include "weald/grow/subtree.hpp"
#include "weald/tree/category_sets.hpp"

namespace weald {

namespace {

// One subtree of a top, all in pre-order, and of what was grown apart.
Subtree join(std::vector<Subtree>& subtrees, Interrupt& interrupt) {
  if (subtrees.size() == 1) return std::move(subtrees[0]);
  std::size_t n = 0;
  for (const Subtree& subtree : subtrees) n += subtree.nodes.size();
  Subtree out;
  out.nodes.reserve(n);
  Patience patience(interrupt);
  const auto append = [&](const Subtree& from, std::size_t first, std::size_t end, std::size_t node, std::size_t set) {
    const auto add = [&](auto& to, const auto& list) {
      to.insert(to.end(), &list[first], &list[first] + (end - first));
    };
    add(out.nodes, from.nodes);
    if (!from.bounds.empty()) add(out.bounds, from.bounds);
    for (std::size_t m = out.nodes.size() - (end - first); m < out.nodes.size(); ++m) {
      GrownNode& one = out.nodes[m];
      one.right += one.leaf() ? 0 : static_cast<std::int32_t>(node);
      one.set += one.set < 0 ? 0 : static_cast<std::int32_t>(set);
    }
    patience.spend(8 * (end - first));
  };
  const Subtree& top = subtrees[0];
  out.left_codes = top.left_codes;
  std::vector<std::int32_t> number;  // of the top's nodes
  for (std::size_t m = 0; m < top.nodes.size(); ++m) {
    const std::size_t here = out.nodes.size();
    number.push_back(static_cast<std::int32_t>(here));
    if (top.nodes[m].feature != GrownNode::kElsewhere) {
      append(top, m, m + 1, 0, 0);
      continue;
    }
    const Subtree below = std::move(subtrees[static_cast<std::size_t>(top.nodes[m].set)]);
    append(below, 0, below.nodes.size(), here, out.left_codes.size());
    out.left_codes.insert(out.left_codes.end(), below.left_codes.begin(), below.left_codes.end());
  }
  for (std::size_t m = 0; m < top.nodes.size(); ++m) {
    const std::int32_t right = top.nodes[m].right;
    if (right >= 0) out.nodes[static_cast<std::size_t>(number[m])].right = number[static_cast<std::size_t>(right)];
  }
  return out;
}

// Writes the sets of categories, node after node.
void write_sets(const Binned& matrix, std::span<const Code> left_codes, Shape& shape, Interrupt& interrupt) {
  SetWriter sets(matrix);
  // How a node is reached; those of right children wait.
  struct Way {
    std::uint32_t depth;
    SetWriter::Arrival arrival;
  } way{0, {}};
  std::vector<Way> waiting;
  Patience patience(interrupt);
  for (std::size_t m = 0; m < shape.size(); ++m) {
    patience.spend(8);
    GrownNode& node = shape.nodes[m];
    if (node.leaf()) {
      if (!waiting.empty()) way = waiting.back(), waiting.pop_back();
      continue;
    }
    if (sets.follows()) sets.enter(way.depth, way.arrival);
    SetWriter::Arrival left, right;
    if (node.set >= 0) {
      const auto j = static_cast<std::size_t>(node.feature);
      const Column& column = matrix.columns[j];
      const Code* const codes_left = &left_codes[static_cast<std::size_t>(node.set)];
      const auto kept = [&](auto&& fn) { std::for_each(codes_left + 1, codes_left + 1 + *codes_left, fn); };
      const auto of_rows = [&](auto&& fn) {  // every code that goes left has a row there
        const GrownNode& child = shape.nodes[m + 1];
        patience.spend(child.size());
        visit_width(column, [&](auto codes) {
          for (std::size_t i = child.begin; i < child.end; ++i) {
            const Code code = codes[shape.rows[i] * column.stride];
            if (code != column.n_codes) fn(code);
          }
        });
      };
      node.set = static_cast<std::int32_t>(shape.sets.size());
      has_few_codes(column) ? sets.write(j, kept, shape.sets, left, right)
                            : sets.write(j, of_rows, shape.sets, left, right);
    }
    waiting.push_back({way.depth + 1, right});
    way = {way.depth + 1, left};
  }
}

// Have columns no more than two values, so that the best cut is the only one? Those of a sample of columns are quicker to
// find as random cuts are. These know of no penalty.
bool has_only_cuts(const Plan& plan) {
  const auto& columns = plan.matrix.columns;
  const bool squares = plan.stats.criterion == Criterion::Gini || plan.stats.criterion == Criterion::Squared;
  return uses(Path::OnlyCuts) && kHasCutSums && !plan.stats.gradients && plan.stats.lambda == 0 && squares &&
         !plan.all_columns() && plan.matrix.row_bytes && plan.rules.interactions.empty() &&
         std::all_of(columns.begin(), columns.end(), [](const Column& column) {
           return column.ends && column.guide && column.n_codes <= 2 && !column.categorical && !column.has_missing;
         });
}

}  // namespace

Shape grow_tree(const Binned& matrix, Statistics& stats, const Rules& rules, std::size_t threads,
                Interrupt& interrupt) {
  const std::size_t d = matrix.n_columns();
  // Parts of a node that no core is there for would only be more work; a tiny build makes them, to be tested.
  if (!kTiny) threads = std::min(threads, interrupt.cores());
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
  const bool divide = threads > 1 && rules.max_leaves == 0 && root.size() >= kFewestDeferred;
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
  Subtree all = join(subtrees, interrupt);
  shape.nodes = std::move(all.nodes), shape.bounds = std::move(all.bounds);
  shape.has_sums = stats.layout == Layout::Packed && (stats.whole_weights || stats.gradients) && shape.size() > 1;
  if (!all.left_codes.empty()) write_sets(matrix, all.left_codes, shape, interrupt);
  return shape;
}

}  // namespace weald
