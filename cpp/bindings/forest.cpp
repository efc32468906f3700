// Forests: drawing, growing, and their state as plain arrays.
#include "weald/methods/forest.hpp"

#include <algorithm>
#include <cstring>

#include "door.hpp"

bool same_kind(const Forest& a, const Forest& b) {
  return a.criterion == b.criterion && a.n_categories == b.n_categories && a.outputs.n_outputs == b.outputs.n_outputs &&
         a.outputs.n_classes == b.outputs.n_classes;
}

namespace {

constexpr const char* kDrawings[] = {"all", "bootstrap", "pasting"};

std::vector<std::uint32_t> codes_of(const In<std::int32_t>& codes, std::size_t most) {
  std::vector<std::uint32_t> out(codes.data(), codes.data() + codes.shape(0));
  for (const std::uint32_t code : out) require(code < most, "a code is out of range");
  return out;
}

Forest grow(const Binned& matrix, const PyTarget& target, const std::string& criterion, const Rules& rules,
            const Draw& draw, bool balance, std::uint64_t seed, std::size_t first, std::size_t last,
            std::size_t threads, bool keep_rows) {
  const ForestPlan plan{criterion_of(criterion), rules, draw, balance, seed, keep_rows};
  check_growth(matrix, target.target, plan.criterion, rules);
  require(first < last, "a forest needs at least one tree");
  require(draw.columns <= matrix.n_columns() || draw.columns_replace, "more columns to draw than there are");
  require(!balance || target.target.classes != nullptr, "only classes can be balanced");
  Forest out;
  out.criterion = plan.criterion;
  out.outputs = outputs_of(target.target);
  out.n_categories = categories_of(matrix);
  without_lock([&](Interrupt& interrupt) {
    out.trees = grow_forest(matrix, target.target, plan, first, last, threads, interrupt);
  });
  return out;
}

// --- state: everything of one kind in one array, tree after tree, and how much belongs to each ---

constexpr unsigned kWide = 0x80;  // beside a tree's type of cells: its short numbers are halves of doubles

// Calls fn(name, type, field) with every array of a tree, what its numbers are outside, and where it is.
template <class Fn>
void for_fields(Fn&& fn) {
  fn("nodes", std::uint64_t{}, [](auto& t) -> auto& { return t.nodes; });
  fn("sets", std::uint32_t{}, [](auto& t) -> auto& { return t.sets; });
  fn("table", std::uint8_t{}, [](auto& t) -> auto& { return t.table.bytes; });
  fn("leaf_impurity", float{}, [](auto& t) -> auto& { return t.leaf_impurity; });
  fn("importance", double{}, [](auto& t) -> auto& { return t.importance; });
  fn("rows", std::uint32_t{}, [](auto& t) -> auto& { return t.rows; });
}

template <class T, class Field>
void join(const Forest& forest, NamedArrays& out, const char* name, Field&& field) {
  BigVector<T> all;  // of its whole size at once: growing step by step, large forests took ten times as long
  std::size_t total = 0;
  for (const CompactTree& tree : forest.trees) total += field(tree).size() * sizeof(*field(tree).data()) / sizeof(T);
  all.reserve(total);
  std::vector<std::int64_t> sizes;
  for (const CompactTree& tree : forest.trees) {
    const auto& part = field(tree);
    const auto* bytes = reinterpret_cast<const T*>(part.data());
    const std::size_t n = part.size() * sizeof(*part.data()) / sizeof(T);
    all.insert(all.end(), bytes, bytes + n);
    sizes.push_back(static_cast<std::int64_t>(n));
  }
  out[name] = give(std::move(all));
  out[(std::string(name) + "_size").c_str()] = give(std::move(sizes));
}

template <class T, class Field>
void part(Forest& forest, const nb::dict& state, const char* name, Field&& field) {
  const auto all = nb::cast<In<T>>(state[name]);
  const auto sizes = nb::cast<In<std::int64_t>>(state[(std::string(name) + "_size").c_str()]);
  require(sizes.shape(0) == forest.trees.size(), "not a valid forest: its arrays differ in length");
  std::size_t at = 0;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    auto& into = field(forest.trees[t]);
    using Element = std::remove_reference_t<decltype(*into.data())>;
    const auto size = static_cast<std::size_t>(sizes.data()[t]);
    require(sizes.data()[t] >= 0 && size <= all.shape(0) - at && size * sizeof(T) % sizeof(Element) == 0,
            "not a valid forest: an array is too short");
    into.resize(size * sizeof(T) / sizeof(Element));
    if (size > 0) std::memcpy(static_cast<void*>(into.data()), all.data() + at, size * sizeof(T));
    at += size;
  }
  require(at == all.shape(0), "not a valid forest: an array is too long");
}

NamedArrays state_of(const Forest& forest) {
  NamedArrays out;
  out["criterion"] = name_of(forest.criterion);
  out["n_trees"] = forest.trees.size();
  out["n_outputs"] = forest.outputs.n_outputs;
  out["n_classes"] = forest.outputs.n_classes;
  out["n_categories"] = forest.n_categories;
  for_fields([&]<class T>(const char* name, T, auto field) { join<T>(forest, out, name, field); });
  std::vector<std::uint8_t> cells;
  cells.reserve(forest.trees.size());
  for (const CompactTree& tree : forest.trees) {
    cells.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(tree.table.cell) | (tree.wide ? kWide : 0U)));
  }
  out["cells"] = give(std::move(cells));
  return out;
}

constexpr std::size_t kManyNodes = std::size_t{1} << 16;  // fewer are checked before another thread has woken up

Forest forest_of(const NamedArrays& state, std::size_t threads) {
  Forest out;
  out.criterion = criterion_of(nb::cast<std::string>(state["criterion"]));
  out.outputs.n_outputs = nb::cast<std::size_t>(state["n_outputs"]);
  out.outputs.n_classes = nb::cast<std::vector<std::uint32_t>>(state["n_classes"]);
  out.n_categories = nb::cast<std::vector<std::uint32_t>>(state["n_categories"]);
  const auto cells = nb::cast<In<std::uint8_t>>(state["cells"]);
  const auto n_trees = nb::cast<std::size_t>(state["n_trees"]);
  const auto& n_classes = out.outputs.n_classes;
  require(out.outputs.n_outputs > 0 && out.outputs.n_outputs < (1U << 20) && n_trees > 0 && cells.shape(0) == n_trees &&
              !out.n_categories.empty() && out.n_categories.size() <= Node::kMost &&
              (n_classes.empty() || n_classes.size() == out.outputs.n_outputs),
          "not a valid forest: its sizes do not fit");
  require(n_classes.empty() == !is_classification(out.criterion), "not a valid forest: its criterion");
  for (const std::uint32_t k : n_classes) {
    require(k > 0 && k < (1U << 24), "not a valid forest: a number of classes");
    out.outputs.max_classes = std::max<std::size_t>(out.outputs.max_classes, k);
  }
  out.trees.resize(n_trees);
  for_fields([&]<class T>(const char* name, T, auto field) { part<T>(out, state, name, field); });
  for (std::size_t t = 0; t < n_trees; ++t) {
    const unsigned cell = cells.data()[t] & ~kWide;
    require(cell <= static_cast<unsigned>(Cell::Real), "not a valid forest: a type of values");
    out.trees[t].table.cell = static_cast<Cell>(cell);
    out.trees[t].wide = (cells.data()[t] & kWide) != 0;
  }
  std::size_t nodes = 0;
  for (const CompactTree& tree : out.trees) nodes += tree.nodes.size();
  without_lock([&](Interrupt& interrupt) {
    const std::size_t useful = nodes < kManyNodes ? 1 : threads;
    parallel_for(useful, n_trees, interrupt,
                 [&](std::size_t t) { check_tree(out.trees[t], out.outputs, out.n_categories, interrupt); });
  });
  return out;
}

// A tree given by scikit-learn's arrays, as a forest of one that only finds leaves.
Forest router_of(const In<std::int64_t>& right, const In<std::int64_t>& feature, const In<double>& threshold,
                 const In<std::uint8_t>& missing_left, const In<std::int64_t>& set_begin, const In<std::uint32_t>& sets,
                 const std::vector<std::uint32_t>& n_categories) {
  const std::size_t n = right.shape(0);
  const auto valid = [](bool good, const char* what) {
    require(good, (std::string("not a valid tree: ") + what).c_str());
  };
  without_lock([&](Interrupt& interrupt) { return check_preorder(span_of(right), interrupt); });
  valid(feature.shape(0) == n && threshold.shape(0) == n && missing_left.shape(0) == n && set_begin.shape(0) == n,
        "its arrays differ in length");
  valid(!n_categories.empty() && n_categories.size() <= Node::kMost, "its number of columns");
  Forest out;
  out.criterion = Criterion::Squared;
  out.n_categories = n_categories;
  CompactTree& tree = out.trees.emplace_back();
  tree.sets.assign(sets.data(), sets.data() + sets.shape(0));
  tree.nodes.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Node& node = tree.nodes[i];
    node = {0, Node::kLeaf, 0};
    if (right.data()[i] < 0) continue;
    const std::int64_t column = feature.data()[i], begin = set_begin.data()[i];
    valid(column >= 0 && static_cast<std::size_t>(column) < n_categories.size(), "a column is out of range");
    valid(begin < (std::int64_t{1} << 32), "a set of categories is out of range");
    node = {threshold.data()[i], static_cast<std::uint32_t>(column) << Node::kShift,
            static_cast<std::uint32_t>(right.data()[i] - static_cast<std::int64_t>(i))};
    if (missing_left.data()[i]) node.head |= Node::kMissingLeft;
    if (begin >= 0) {
      node.head |= Node::kCategorical;
      node.number =
          categorical_number(static_cast<std::uint32_t>(begin), n_categories[static_cast<std::size_t>(column)]);
    }
  }
  without_lock([&](Interrupt& interrupt) { check_tree(tree, out.outputs, out.n_categories, interrupt); });
  return out;
}

Forest prefix(const Forest& forest, std::size_t n_trees) {
  require(n_trees > 0 && n_trees <= forest.trees.size(), "there are not so many trees");
  Forest out{forest.criterion, forest.outputs, forest.n_categories, {}};
  out.trees.assign(forest.trees.begin(), forest.trees.begin() + static_cast<std::ptrdiff_t>(n_trees));
  return out;
}

void extend(Forest& forest, const Forest& other) {
  require(same_kind(forest, other), "the trees do not fit the forest");
  forest.trees.insert(forest.trees.end(), other.trees.begin(), other.trees.end());
}

std::size_t bytes_of(const Forest& forest) {
  std::size_t bytes = sizeof(Forest) + forest.trees.size() * sizeof(CompactTree);
  for_fields([&](const char*, auto, auto field) {
    for (const CompactTree& tree : forest.trees) bytes += field(tree).capacity() * sizeof(*field(tree).data());
  });
  return bytes;
}

const CompactTree& tree_at(const Forest& forest, std::size_t t) {
  require(t < forest.trees.size(), "there are not so many trees");
  return forest.trees[t];
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Draw> drawing(m, "Draw", "Which rows and columns each member of an ensemble sees.");
  bind_choice(drawing, "kind", &Draw::kind, kDrawings);
  drawing.def(nb::init<>())
      .def_rw("size", &Draw::size)
      .def_rw("columns", &Draw::columns)
      .def_rw("columns_replace", &Draw::columns_replace)
      .def(
          "set_weights", [](Draw& d, const In<double>& w) { d.weights.assign(w.data(), w.data() + w.shape(0)); },
          "weights"_a, "Draw rows with these chances.")
      .def(
          "set_units",
          [](Draw& d, const In<std::int32_t>& codes, std::size_t n) { d.unit_of = codes_of(codes, n), d.n_units = n; },
          "codes"_a, "n_units"_a, "Draw groups of rows as a whole.")
      .def(
          "set_strata",
          [](Draw& d, const In<std::int32_t>& codes, std::size_t n) {
            d.stratum_of = codes_of(codes, n), d.n_strata = n;
          },
          "codes"_a, "n_strata"_a, "Draw from every stratum on its own.");
  m.def(
      "draw_rows",
      [](const Draw& draw, std::size_t n, std::uint64_t seed, std::size_t tree) {
        std::vector<std::uint32_t> counts(n);
        without_lock([&](Interrupt& interrupt) {
          RowSampler(draw, n, interrupt).draw(member_key(seed, tree), counts.data(), interrupt);
        });
        return give(std::move(counts));
      },
      "draw"_a, "n"_a, "seed"_a, "tree"_a, "How often each row is drawn for a member.");
  m.def(
      "draw_columns",
      [](const Draw& draw, std::size_t d, std::uint64_t seed, std::size_t tree) {
        auto columns = draw_columns(draw, d, member_key(seed, tree));
        if (columns.empty()) {
          for (std::size_t j = 0; j < d; ++j) columns.push_back(static_cast<std::uint32_t>(j));
        }
        return give_as<std::int64_t>(columns);
      },
      "draw"_a, "d"_a, "seed"_a, "tree"_a, "The columns of a member, ascending.");
  m.def(
      "member_seed",
      [](std::uint64_t seed, std::size_t tree) { return combine(member_key(seed, tree), kTreeKey) >> 33; }, "seed"_a,
      "tree"_a, "A seed of 31 bits for a member.");
  m.def("grow_forest", &grow, "matrix"_a, "target"_a, "criterion"_a, "rules"_a, "draw"_a, "balance"_a, "seed"_a,
        "first"_a, "last"_a, "threads"_a, "keep_rows"_a, "Grow the trees first..last-1 of the forest with this seed.");

  nb::class_<Forest> forest(m, "Forest", "The trees of a forest, 16 bytes a node.");
  forest
      .def_static("from_state", &forest_of, "state"_a, "threads"_a = 1, "Check the arrays of `state()` and take them.")
      .def_static("from_arrays", &router_of, "children_right"_a, "feature"_a, "threshold"_a, "missing_go_to_left"_a,
                  "set_begin"_a, "sets"_a, "n_categories"_a, "One tree, to find leaves in.")
      .def("state", &state_of, "The forest as plain arrays.")
      .def_prop_ro("n_trees", [](const Forest& f) { return f.trees.size(); })
      .def_prop_ro("n_features", [](const Forest& f) { return f.n_columns(); })
      .def_prop_ro("n_outputs", [](const Forest& f) { return f.outputs.n_outputs; })
      .def_prop_ro("max_n_classes", [](const Forest& f) { return f.outputs.max_classes; })
      .def_prop_ro("n_classes",
                   [](const Forest& f) {
                     return f.outputs.classifies() ? f.outputs.n_classes
                                                   : std::vector<std::uint32_t>(f.outputs.n_outputs, 1);
                   })
      .def_prop_ro("n_categories", [](const Forest& f) { return f.n_categories; })
      .def_prop_ro(
          "node_counts",
          [](const Forest& f) {
            std::vector<std::int64_t> out;
            out.reserve(f.trees.size());
            for (const CompactTree& tree : f.trees) out.push_back(static_cast<std::int64_t>(tree.nodes.size()));
            return give(std::move(out));
          },
          nb::rv_policy::move)
      .def_prop_ro("nbytes", &bytes_of)
      .def(
          "importances",
          [](const Forest& f, std::size_t first, std::size_t last, std::size_t threads) {
            require(first <= last && last <= f.trees.size(), "there are not so many trees");
            std::vector<double> out((last - first) * f.n_columns());
            without_lock([&](Interrupt& interrupt) {
              parallel_for(threads, last - first, interrupt, [&](std::size_t k) {
                const auto own = importance_of(f.trees[first + k], f.outputs, f.n_columns(), f.criterion, interrupt);
                std::copy(own.begin(), own.end(), out.begin() + static_cast<std::ptrdiff_t>(k * f.n_columns()));
              });
            });
            return give(std::move(out), {last - first, f.n_columns()});
          },
          "first"_a, "last"_a, "threads"_a, "Impurity decrease of some trees in each column.")
      .def("extend", &extend, "other"_a, "Append the trees of another batch.")
      .def("prefix", &prefix, "n_trees"_a, "A copy of the first trees.");
  bind_asking(m, forest);
  forest
      .def(
          "tree",
          [](const Forest& f, std::size_t t) {
            Unpacked tree = without_lock(
                [&](Interrupt& interrupt) { return unpack(tree_at(f, t), f.outputs, f.criterion, interrupt); });
            return arrays_of(std::move(tree.shape), std::move(tree.nodes));
          },
          "t"_a, "The arrays of one tree.")
      .def(
          "leaf_rows",
          [](const Forest& f,
             std::size_t t) -> nb::typed<nb::tuple, Out<std::uint32_t>, Out<std::int64_t>, Out<std::int64_t>> {
            const CompactTree& tree = tree_at(f, t);
            require(!tree.rows.empty(), "the forest was grown without keep_rows");
            std::vector<std::int64_t> begin{0}, node;
            for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
              if (!tree.nodes[i].leaf()) continue;
              begin.push_back(begin.back() + (tree.nodes[i].head >> Node::kShift));
              node.push_back(static_cast<std::int64_t>(i));
            }
            require(static_cast<std::size_t>(begin.back()) == tree.rows.size(), "not a valid forest: its rows");
            return nb::make_tuple(give(std::vector<std::uint32_t>(tree.rows.begin(), tree.rows.end())),
                                  give(std::move(begin)), give(std::move(node)));
          },
          "t"_a, "Training rows, leaf after leaf; where each leaf's begin; the leaves.");
}
