// What forests say of the rows of a table: leaves, values, and values of rows that were not drawn.
#include <algorithm>

#include "door.hpp"
#include "weald/methods/forest.hpp"
#include "weald/tree/sparse_rows.hpp"

namespace {

template <class Array>
void check_columns(const Forest& forest, const Array& X) {
  require(X.shape(1) == forest.n_columns(), "the table has another number of columns than the model");
}

// Runs fn(interrupt, threads): as it is if there is little to do, else without the lock.
template <class Fn>
void run(std::size_t n_walks, std::size_t threads, Fn&& fn) {
  if (n_walks <= 2048) {  // too short to be worth giving up the lock, or stopping
    Interrupt never;
    fn(never, std::size_t{1});
  } else {
    without_lock([&](Interrupt& interrupt) { fn(interrupt, threads); });
  }
}

template <class Array>
Out<std::int64_t> leaves(const Forest& forest, const Array& X, std::size_t threads) {
  check_columns(forest, X);
  const std::size_t n = X.shape(0), n_trees = forest.trees.size();
  BigVector<std::int64_t> out(n * n_trees);
  run(n * n_trees, threads, [&](Interrupt& interrupt, std::size_t useful) {
    const auto table = table_of(X);
    if constexpr (kSparse<decltype(table)>) {
      if (find_sparse_leaves(forest, table, useful, out.data(), interrupt)) return;
    }
    for_dense_rows(table, 1, useful, interrupt, [&](const auto& rows, std::size_t from, std::size_t inside) {
      find_leaves(forest, rows, inside, out.data() + from * n_trees, interrupt);
    });
  });
  return give(std::move(out), {n, n_trees});
}

// Adds up the values of all rows of a table, of a sparse one from its filled cells or some rows at a time. The sums of
// several forests lie side by side.
template <class AnyTable>
void add_all_values(std::span<const Forest* const> forests, const AnyTable& table, const Adding& adding,
                    std::size_t threads, double* sums, Interrupt& interrupt) {
  if constexpr (kSparse<AnyTable>) {
    if (add_sparse_values(forests, table, adding, threads, sums, interrupt)) return;
  }
  const std::size_t width = forests.size() * forests[0]->outputs.width(),
                    planes = adding.apart ? adding.last - adding.first : 1;
  const std::size_t step = adding.barred ? 64 : 1;  // rows whose bits fill a word
  const auto add = [&](const auto& rows, std::size_t from, std::size_t inside) {
    Adding some = adding;
    if (adding.barred) some.barred += from / 64;
    if (adding.answered) some.answered += from;
    const std::size_t size = rows.n_rows * width, apart = table.n_rows * width;
    if (planes == 1 || rows.n_rows == table.n_rows) {
      return add_values(forests, rows, some, inside, sums + from * width, interrupt);
    }
    std::vector<double> planar(planes * size, 0.0);  // of these rows only
    add_values(forests, rows, some, inside, planar.data(), interrupt);
    for (std::size_t t = 0; t < planes; ++t) std::copy_n(&planar[t * size], size, sums + t * apart + from * width);
  };
  for_dense_rows(table, step, threads, interrupt, add);
}

template <class Array>
Out<double> values(const std::vector<const Forest*>& forests, const Array& X, std::size_t threads, std::size_t first,
                   std::size_t last, const std::optional<In<double>>& weights, bool vote, bool apart,
                   const std::optional<InRows<double>>& start) {
  require(!forests.empty() && !std::count(forests.begin(), forests.end(), nullptr), "at least one forest");
  const Forest& forest = *forests[0];
  check_columns(forest, X);
  for (const Forest* other : forests) {
    require(same_kind(forest, *other), "the forests are not of the same kind");
    require(first <= last && last <= other->trees.size(), "there are not so many trees");
    require(!weights || weights->shape(0) == other->trees.size(), "one weight per tree");
  }
  Adding adding;
  adding.first = first, adding.last = last, adding.vote = vote, adding.apart = apart;
  adding.weights = weights ? weights->data() : nullptr;
  const std::size_t n = X.shape(0), planes = apart ? last - first : 1;
  const std::size_t n_outputs = forests.size() * forest.outputs.n_outputs;
  const bool fits =
      !start || (!apart && start->shape(0) == n && start->shape(1) == n_outputs * forest.outputs.max_classes);
  require(fits, "a start for every sum");
  BigVector<double> sums(planes * n * n_outputs * forest.outputs.max_classes);
  run(n * (last - first) * forests.size(), threads, [&](Interrupt& interrupt, std::size_t useful) {
    for_stretches(0, sums.size(), interrupt, [&](std::size_t begin, std::size_t end) {
      if (start) {
        std::copy(start->data() + begin, start->data() + end, sums.data() + begin);
      } else {
        std::fill(sums.data() + begin, sums.data() + end, 0.0);
      }
    });
    add_all_values(std::span<const Forest* const>(forests), table_of(X), adding, useful, sums.data(), interrupt);
  });
  std::vector<std::size_t> shape{planes, n, n_outputs, forest.outputs.max_classes};
  if (!apart) shape.erase(shape.begin());
  return give(std::move(sums), shape);
}

using Sums = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Votes = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
void add_out_of_bag(const Forest& forest, const Array& X, const Draw& draw, std::uint64_t seed, std::size_t first,
                    std::size_t last, const Sums& sums, const Votes& votes, std::size_t threads, bool vote) {
  check_columns(forest, X);
  const std::size_t n = X.shape(0);
  require(first <= last && last <= forest.trees.size(), "there are not so many trees");
  require(sums.shape(0) == n && sums.shape(1) == forest.outputs.n_outputs &&
              sums.shape(2) == forest.outputs.max_classes && votes.shape(0) == n,
          "the sums have the wrong shape");
  without_lock([&](Interrupt& interrupt) {
    const auto drawn = drawn_rows(draw, n, seed, first, last, threads, interrupt);
    Adding adding;
    adding.first = first, adding.last = last, adding.vote = vote;
    adding.barred = drawn.data(), adding.barred_words = (n + 63) / 64;
    adding.answered = votes.data();
    const Forest* only = &forest;
    add_all_values({&only, 1}, table_of(X), adding, threads, sums.data(), interrupt);
  });
}

template <class Array>
void bind_use(nb::module_& m, nb::class_<Forest>& forest) {
  m.def("forest_values", &values<Array>, "forests"_a, "X"_a, "threads"_a, "first"_a, "last"_a, "weights"_a.none(),
        "vote"_a, "apart"_a, "start"_a.none(),
        "Sum of the trees' values, or the values tree by tree, of forests side by side.");
  forest.def("apply", &leaves<Array>, "X"_a, "threads"_a, "Number of the leaf of each row in each tree.")
      .def("add_out_of_bag", &add_out_of_bag<Array>, "X"_a, "draw"_a, "seed"_a, "first"_a, "last"_a, "sums"_a,
           "votes"_a, "threads"_a, "vote"_a, "Add the values of rows a tree did not draw.");
}

}  // namespace

void bind_asking(nb::module_& m, nb::class_<Forest>& forest) {
  bind_use<In2<double>>(m, forest), bind_use<In2<float>>(m, forest);
  bind_use<SparseRows<double>>(m, forest), bind_use<SparseRows<float>>(m, forest);
}
