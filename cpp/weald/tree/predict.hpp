// Sends rows of raw values down the trees of a forest, and adds up what their leaves say.
#pragma once

#include "weald/base/threads.hpp"
#include "weald/bins/bins.hpp"
#include "weald/tree/compact.hpp"

namespace weald {

// A single tree is a forest of one.
struct Forest {
  Criterion criterion = Criterion::Gini;
  Outputs outputs;
  std::vector<std::uint32_t> n_categories;  // per column, 0 for numeric
  std::vector<CompactTree> trees;

  std::size_t n_columns() const { return n_categories.size(); }
};

// The number of the leaf in which each row ends, for each tree: out[row * trees + tree].
template <class T>
void find_leaves(const Forest& forest, const Table<T>& table, std::size_t threads, std::int64_t* out,
                 Interrupt& interrupt);
// The same for a sparse table, if that pays (turned_rows.hpp); else nothing is told.
template <class T>
bool find_sparse_leaves(const Forest& forest, const SparseTable<T>& table, std::size_t threads, std::int64_t* out,
                        Interrupt& interrupt);

// What is added up, and for whom.
struct Adding {
  std::size_t first = 0, last = 0;  // trees
  const double* weights = nullptr;  // per tree of the forest; null: 1
  bool vote = false;                // a tree adds its weight to its largest class
  bool apart = false;               // a plane of sums per tree instead of one for all
  // Rows that a tree must not answer for: bit i of the words of tree t - first. Null: none. Those that
  // it answers for are counted.
  const std::uint64_t* barred = nullptr;
  std::size_t barred_words = 0;      // per tree
  std::int64_t* answered = nullptr;  // per row
};

// A tree to be asked, how much it counts, and where its sums begin among those of a row.
struct Asked {
  const CompactTree* tree;
  double weight;
  std::size_t place;
};

// Trees of the same kind, in the order in which they are added up.
struct Question {
  const Forest& like;  // which outputs and columns they all have
  std::vector<Asked> trees;
  std::size_t stride;  // sums of a row
};

// Adds the trees' values to sums (n_rows x forests x width, or trees x n_rows x forests x width), tree after tree, so
// that the result does not depend on threads or on how rows are cut into blocks. Several forests are those of the
// scores of boosting, of the same kind and size: each has sums of its own.
template <class T>
void add_values(std::span<const Forest* const> forests, const Table<T>& table, const Adding& adding,
                std::size_t threads, double* sums, Interrupt& interrupt);
// The same for a sparse table, if that pays (turned_rows.hpp); else nothing is added.
template <class T>
bool add_sparse_values(std::span<const Forest* const> forests, const SparseTable<T>& table, const Adding& adding,
                       std::size_t threads, double* sums, Interrupt& interrupt);

}  // namespace weald
