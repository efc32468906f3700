#include "weald/methods/forest.hpp"

#include <algorithm>

#include "weald/bins/sparse_cells.hpp"
#include "weald/tree/prune.hpp"
#include "weald/tree/sparse_rows.hpp"

namespace weald {

namespace {

// The matrix with some of its columns only; codes and column numbers stay where they are.
Binned view_columns(const Binned& matrix, const std::vector<std::uint32_t>& columns) {
  Binned out;
  out.n_rows = matrix.n_rows, out.raw = matrix.raw, out.raw.columns = columns.data();
  out.row_bytes = matrix.row_bytes, out.row_stride = matrix.row_stride;
  if (matrix.sparse) out.sparse = take_columns(*matrix.sparse, matrix.n_rows, columns);
  for (const std::uint32_t j : columns) {
    out.columns.push_back(matrix.columns[j]);
    if (matrix.category_code.empty()) continue;
    out.category_code.push_back(matrix.category_code[j]);
    out.own_category.push_back(matrix.own_category[j]);
  }
  return out;
}

// Class weights n / (K n_k), counted in the drawn rows: every class weighs the same.
std::vector<double> balanced_weights(const Target& target, const Row* rows, std::size_t n, Interrupt& interrupt) {
  std::vector<double> out(target.n_rows, 0.0);
  for_all(0, n, interrupt, [&](std::size_t i) { out[rows[i]] = target.weights ? target.weights[rows[i]] : 1.0; });
  for (std::size_t o = 0; o < target.n_outputs; ++o) {
    std::vector<double> count(target.n_classes[o], 0.0);
    double total = 0;
    const auto class_of = [&](Row row) { return static_cast<std::size_t>(target.classes[row * target.n_outputs + o]); };
    for_all(0, n, interrupt, [&](std::size_t i) {
      const double times = target.counts ? target.counts[rows[i]] : 1.0;
      count[class_of(rows[i])] += times;
      total += times;
    });
    const auto present = std::count_if(count.begin(), count.end(), [](double c) { return c > 0; });
    for_all(0, n, interrupt,
            [&](std::size_t i) { out[rows[i]] *= total / (static_cast<double>(present) * count[class_of(rows[i])]); });
  }
  return out;
}

}  // namespace

Shape grow_in_columns(const Binned& matrix, Statistics& stats, const Rules& rules,
                      const std::vector<std::uint32_t>& columns, std::size_t threads, Interrupt& interrupt) {
  if (columns.empty()) return grow_tree(matrix, stats, rules, threads, interrupt);
  Rules here = rules;
  if (!rules.monotone.empty()) {
    here.monotone.clear();
    for (const std::uint32_t j : columns) here.monotone.push_back(rules.monotone[j]);
  }
  for (auto& set : here.interactions) {  // numbers within the view; a column may have been drawn twice
    std::vector<std::uint32_t> inside;
    for (std::uint32_t k = 0; k < columns.size(); ++k) {
      if (std::find(set.begin(), set.end(), columns[k]) != set.end()) inside.push_back(k);
    }
    set = inside;
  }
  Shape shape = grow_tree(view_columns(matrix, columns), stats, here, threads, interrupt);
  for (GrownNode& node : shape.nodes) {
    if (!node.leaf()) node.feature = static_cast<std::int32_t>(columns[static_cast<std::size_t>(node.feature)]);
  }
  return shape;
}

Outputs outputs_of(const Target& target) {
  Outputs out;
  out.n_outputs = target.n_outputs;
  out.n_classes = target.n_classes;
  if (target.classes) out.max_classes = *std::max_element(target.n_classes.begin(), target.n_classes.end());
  return out;
}

std::vector<std::uint32_t> categories_of(const Binned& matrix) {
  std::vector<std::uint32_t> out;
  out.reserve(matrix.n_columns());
  for (std::size_t j = 0; j < matrix.n_columns(); ++j) {
    out.push_back(matrix.columns[j].categorical ? static_cast<std::uint32_t>(matrix.category_code[j].size()) : 0U);
  }
  return out;
}

std::size_t number_leaves(const Shape& shape, std::uint32_t* leaf_of) {
  std::uint32_t leaf = 0;
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (!shape.nodes[m].leaf()) continue;
    for (Row i = shape.nodes[m].begin; i < shape.nodes[m].end; ++i) leaf_of[shape.rows[i]] = leaf;
    ++leaf;
  }
  return leaf;
}

void number_leaves(const Forest& one, const Binned& matrix, std::size_t threads, std::uint32_t* leaf_of,
                   Interrupt& interrupt) {
  const auto& nodes = one.trees[0].nodes;
  std::vector<std::uint32_t> number(nodes.size(), 0);
  for (std::uint32_t m = 0, leaf = 0; m < nodes.size(); ++m) {
    if (nodes[m].leaf()) number[m] = leaf++;
  }
  std::vector<std::int64_t> node(matrix.n_rows);
  find_leaves_of(one, matrix, threads, node.data(), interrupt);
  for (std::size_t i = 0; i < node.size(); ++i) leaf_of[i] = number[static_cast<std::size_t>(node[i])];
}

std::vector<CompactTree> grow_forest(const Binned& matrix, const Target& target, const ForestPlan& plan,
                                     std::size_t first, std::size_t last, std::size_t threads, Interrupt& interrupt) {
  const RowSampler sampler(plan.draw, matrix.n_rows, interrupt);
  const Outputs outputs = outputs_of(target);
  const std::vector<std::uint32_t> n_categories = categories_of(matrix);
  const auto grow = [&](std::size_t number, std::size_t inside) {
    const std::uint64_t key = member_key(plan.seed, number);
    Target drawn = target;
    std::vector<std::uint32_t> counts;
    if (plan.draw.kind != Drawing::All) {
      counts.resize(matrix.n_rows);
      sampler.draw(key, counts.data(), interrupt);
      drawn.counts = counts.data();
    }
    Rules rules = plan.rules;
    rules.seed = combine(key, kTreeKey);
    std::vector<double> weights;
    if (plan.balance) {
      const auto rows = make_statistics(drawn, plan.criterion, rules.min_samples_leaf, interrupt).rows;
      weights = balanced_weights(drawn, rows.data(), rows.size(), interrupt);
      drawn.weights = weights.data();
    }
    Statistics stats = make_statistics(drawn, plan.criterion, rules.min_samples_leaf, interrupt);
    if (stats.rows.empty()) throw std::invalid_argument("no row has a positive weight");
    Shape shape =
        grow_in_columns(matrix, stats, rules, draw_columns(plan.draw, matrix.n_columns(), key), inside, interrupt);
    // What inner nodes have to say follows from the leaves, should anybody ask: to the last bit, if leaves are known so
    // well.
    const bool prunes = rules.prune_alpha > 0, one_row_each = (shape.size() + 1) / 2 == shape.rows.size();
    const bool known = target.classes || (plan.criterion == Criterion::Squared && one_row_each);
    const bool follows = known && !prunes && shape.bounds.empty() && (stats.whole_weights || !outputs.is_inline());
    const NodeValues whose = follows ? NodeValues::OfLeaves : NodeValues::OfAll;
    Summary nodes = summarise(shape, drawn, plan.criterion, interrupt, whose);
    if (prunes) prune(shape, nodes, rules.prune_alpha, interrupt);
    return pack(std::move(shape), nodes, outputs, n_categories, plan.keep_rows, interrupt);
  };
  std::vector<CompactTree> trees(last - first);
  // A tree per thread; when there are fewer trees than threads, all threads on each tree.
  if (trees.size() < threads) {
    for (std::size_t k = 0; k < trees.size(); ++k) trees[k] = grow(first + k, threads);
  } else {
    parallel_for_with<PageCache>(threads, trees.size(), interrupt, [&](std::size_t k, PageCache& pages) {
      const PageCache::Use use(pages);
      trees[k] = grow(first + k, 1);
    });
  }
  return trees;
}

BigVector<std::uint64_t> drawn_rows(const Draw& draw, std::size_t n_rows, std::uint64_t seed, std::size_t first,
                                    std::size_t last, std::size_t threads, Interrupt& interrupt) {
  const RowSampler sampler(draw, n_rows, interrupt);
  const std::size_t words = (n_rows + 63) / 64;
  BigVector<std::uint64_t> out((last - first) * words, 0);
  parallel_for(threads, last - first, interrupt, [&](std::size_t k) {
    std::vector<std::uint32_t> counts(n_rows);
    sampler.draw(member_key(seed, first + k), counts.data(), interrupt);
    for_all(0, n_rows, interrupt,
            [&](std::size_t i) { out[k * words + i / 64] |= static_cast<std::uint64_t>(counts[i] > 0) << (i % 64); });
  });
  return out;
}

}  // namespace weald
