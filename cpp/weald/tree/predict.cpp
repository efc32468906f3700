#include "weald/tree/leaf_masks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weald/base/paths.hpp"
#include "weald/tree/leaf_values.hpp"
#include "weald/tree/turned_rows.hpp"
#include "weald/tree/walks.hpp"

namespace weald {

namespace {

// Rough cost of walking one row down these trees.
double walk_ns(const std::vector<Asked>& trees) {
  double steps = 0;
  for (const Asked& asked : trees) steps += std::log2(static_cast<double>(asked.tree->nodes.size()) + 1);
  return steps * 4;
}

std::size_t tile_of(const std::vector<Asked>& trees) {
  std::size_t depth = kFarDown;
  for (const Asked& asked : trees) depth = std::max<std::size_t>(depth, asked.tree->depth);
  return std::max<std::size_t>(kWalkTile * kFarDown / depth, 1);
}

// Calls sink(tree, rows, leaves) with where the rows of each block end, tree after tree. rows_of(tree,
// begin, end, rows), if it says so, chooses the rows of a block for a tree; else they are all of them.
template <class T, class RowsOf, class Sink>
void for_leaves(const Question& question, const Table<T>& table, std::size_t threads, Interrupt& interrupt,
                RowsOf&& rows_of, Sink&& sink) {
  const std::size_t n_trees = question.trees.size();
  // A row alone is through the trees before their work is added up.
  const std::size_t useful =
      threads == 1 ? 1 : useful_threads(threads, walk_ns(question.trees) * static_cast<double>(table.n_rows));
  const std::size_t tile = tile_of(question.trees);
  const std::size_t blocks = std::max(useful, (table.n_rows + tile - 1) / tile);
  const Tops<T> tops(question, table.n_rows, (table.n_rows + blocks - 1) / blocks);
  parallel_for(useful, blocks, interrupt, [&](std::size_t block) {
    const std::size_t begin = table.n_rows * block / blocks, end = table.n_rows * (block + 1) / blocks;
    if (begin == end) return;
    BlockWalker<T> walker(question, tops, table, begin, end);
    std::vector<Row> rows(end - begin);
    std::iota(rows.begin(), rows.end(), static_cast<Row>(begin));
    const bool chosen = rows_of(0, begin, end, rows);
    const std::size_t at_once = chosen || !uses(Path::ManyTreesAtOnce) || rows.size() >= kFewWalks
                                    ? 1
                                    : std::min(std::max<std::size_t>(tile / rows.size(), 1), n_trees);
    std::vector<std::uint32_t> leaf(at_once * (end - begin));
    for (std::size_t t = 0; t < n_trees; t += at_once) {
      interrupt.poll();
      if (chosen && t > 0) rows_of(t, begin, end, rows);
      if (at_once == 1) {
        walker.walk_tree(t, rows, leaf.data());
        sink(t, rows, leaf.data());
        continue;
      }
      const std::size_t to = std::min(t + at_once, n_trees);
      walker.walk_trees(t, to, rows, leaf.data());
      for (std::size_t u = t; u < to; ++u) sink(u, rows, leaf.data() + (u - t) * rows.size());
    }
  });
}

Question question_of(std::span<const Forest* const> forests, std::size_t first, std::size_t last,
                     const double* weights) {
  const std::size_t width = forests[0]->outputs.width();
  Question out{*forests[0], {}, width * forests.size()};
  out.trees.reserve(forests.size() * (last - first));
  for (std::size_t k = 0; k < forests.size(); ++k) {
    for (std::size_t t = first; t < last; ++t) {
      out.trees.push_back({&forests[k]->trees[t], weights ? weights[t] : 1.0, k * width});
    }
  }
  return out;
}

}  // namespace

namespace {

template <class AnyTable>
void tell_leaves(const Question& question, const AnyTable& table, std::size_t threads, std::int64_t* out,
                 Interrupt& interrupt) {
  const std::size_t n_trees = question.trees.size();
  const auto all = [](std::size_t, std::size_t, std::size_t, std::vector<Row>&) { return false; };
  for_leaves(question, table, threads, interrupt, all,
             [&](std::size_t tree, const std::vector<Row>& rows, const std::uint32_t* leaf) {
               for (std::size_t k = 0; k < rows.size(); ++k) out[rows[k] * n_trees + tree] = leaf[k];
             });
}

template <class AnyTable>
void add_answers(const Question& question, const AnyTable& table, const Adding& adding, std::size_t threads,
                 double* sums, Interrupt& interrupt) {
  const auto allowed = [&](std::size_t tree, std::size_t begin, std::size_t end, std::vector<Row>& rows) {
    if (!adding.barred) return false;
    const std::uint64_t* barred = adding.barred + tree * adding.barred_words;
    rows.clear();
    for (std::size_t k = begin; k < end; ++k) {
      if ((barred[k / 64] >> (k % 64) & 1) == 0) rows.push_back(static_cast<Row>(k));
    }
    for (const Row row : rows) ++adding.answered[row];
    return true;
  };
  const std::size_t rounds = adding.last - adding.first, plane = adding.apart ? table.n_rows * question.stride : 0;
  for_leaves(question, table, threads, interrupt, allowed,
             [&](std::size_t tree, const std::vector<Row>& rows, const std::uint32_t* leaf) {
               const Asked& asked = question.trees[tree];
               const LeafAdder adder(question.like.outputs, *asked.tree, asked.weight, adding.vote, rows.size());
               double* into = sums + tree % rounds * plane + asked.place;
               adder.add_all(leaf, rows, into, question.stride);
             });
}

}  // namespace

template <class T>
void find_leaves(const Forest& forest, const Table<T>& table, std::size_t threads, std::int64_t* out,
                 Interrupt& interrupt) {
  const Forest* only = &forest;
  tell_leaves(question_of({&only, 1}, 0, forest.trees.size(), nullptr), table, threads, out, interrupt);
}

template <class T>
bool find_sparse_leaves(const Forest& forest, const SparseTable<T>& table, std::size_t threads, std::int64_t* out,
                        Interrupt& interrupt) {
  const Forest* only = &forest;
  const Question question = question_of({&only, 1}, 0, forest.trees.size(), nullptr);
  if (!turning_pays(question, table)) return false;
  tell_leaves(question, table, threads, out, interrupt);
  return true;
}

template <class T>
void add_values(std::span<const Forest* const> forests, const Table<T>& table, const Adding& adding,
                std::size_t threads, double* sums, Interrupt& interrupt) {
  const Question question = question_of(forests, adding.first, adding.last, adding.weights);
  if (masks_fit(question, adding, table.n_rows)) {
    return add_by_masks(question, table, adding.vote, threads, sums, interrupt);
  }
  add_answers(question, table, adding, threads, sums, interrupt);
}

template <class T>
bool add_sparse_values(std::span<const Forest* const> forests, const SparseTable<T>& table, const Adding& adding,
                       std::size_t threads, double* sums, Interrupt& interrupt) {
  const Question question = question_of(forests, adding.first, adding.last, adding.weights);
  if (!turning_pays(question, table)) return false;
  add_answers(question, table, adding, threads, sums, interrupt);
  return true;
}

template void find_leaves(const Forest&, const Table<float>&, std::size_t, std::int64_t*, Interrupt&);
template void find_leaves(const Forest&, const Table<double>&, std::size_t, std::int64_t*, Interrupt&);
template bool find_sparse_leaves(const Forest&, const SparseTable<float>&, std::size_t, std::int64_t*, Interrupt&);
template bool find_sparse_leaves(const Forest&, const SparseTable<double>&, std::size_t, std::int64_t*, Interrupt&);
template void add_values(std::span<const Forest* const>, const Table<float>&, const Adding&, std::size_t, double*,
                         Interrupt&);
template void add_values(std::span<const Forest* const>, const Table<double>&, const Adding&, std::size_t, double*,
                         Interrupt&);
template bool add_sparse_values(std::span<const Forest* const>, const SparseTable<float>&, const Adding&, std::size_t,
                                double*, Interrupt&);
template bool add_sparse_values(std::span<const Forest* const>, const SparseTable<double>&, const Adding&, std::size_t,
                                double*, Interrupt&);

}  // namespace weald
