// The module: binning, targets, rules, one tree, pruning. Every size is checked here.
#include "door.hpp"

#include "weald/base/exact_sums.hpp"
#include "weald/bins/cuts.hpp"
#include "weald/bins/sparse_cells.hpp"
#include "weald/grow/grow_tree.hpp"
#include "weald/tree/compact.hpp"
#include "weald/tree/prune.hpp"
#include "weald/tree/summarise.hpp"

void check_growth(const Binned& matrix, const Target& target, Criterion criterion, const Rules& rules) {
  require(target.n_rows == matrix.n_rows, "as many targets as rows");
  require(is_classification(criterion) == (target.classes != nullptr), "the criterion does not fit the targets");
  bool keyed = false;
  for (const Column& column : matrix.columns) keyed |= column.keyed;
  require(!keyed || (rules.random_split && !is_from_rows(criterion)), "keys are for random cuts only");
  require(rules.monotone.empty() || rules.monotone.size() == matrix.n_columns(), "one monotone direction per column");
}

NamedArrays arrays_of(Shape shape, Summary nodes) {
  NamedArrays out;
  const auto give_each = [&]<class T>(T, auto member) {
    BigVector<T> each(shape.size());
    for (std::size_t m = 0; m < each.size(); ++m) each[m] = static_cast<T>(shape.nodes[m].*member);
    return give(std::move(each));
  };
  out["children_right"] = give_each(std::int64_t{}, &GrownNode::right);
  out["feature"] = give_each(std::int64_t{}, &GrownNode::feature);
  out["threshold"] = give_each(double{}, &GrownNode::threshold);
  out["missing_go_to_left"] = give_each(std::uint8_t{}, &GrownNode::missing_left);
  out["set_begin"] = give_each(std::int64_t{}, &GrownNode::set);
  out["sets"] = give(std::move(shape.sets));
  out["impurity"] = give(std::move(nodes.impurity));
  out["n_node_samples"] = give(std::move(nodes.n_rows));
  out["weighted_n_node_samples"] = give(std::move(nodes.weight));
  out["value"] = give(std::move(nodes.value), {shape.size(), nodes.n_outputs, nodes.max_classes});
  return out;
}

namespace {

constexpr const char* kFrontiers[] = {"depth_first", "best_first", "by_level"};

template <class Array>
Binned bin(const Array& X, const std::vector<std::uint32_t>& categories, std::size_t max_bins, bool keys,
           const std::optional<In<double>>& weights, std::size_t threads, bool bundled) {
  require(categories.size() == X.shape(1), "one number of categories per column");
  require(max_bins == 0 || (max_bins >= 2 && max_bins <= 255), "max_bins must be 0 or 2..255");
  require(!weights || weights->shape(0) == X.shape(0), "one weight per row");
  require(!keys || max_bins == 0, "keys are exact: they have no bins");
  if constexpr (requires { X.begin; }) {
    const bool any = std::any_of(categories.begin(), categories.end(), [](auto n) { return n > 0; });
    require(!any, "the columns of a sparse table are numbers");
  }
  const Coding coding = keys ? Coding::Keys : max_bins > 0 ? Coding::Bins : Coding::Ranks;
  const BinRequest request{coding, max_bins, categories, weights ? weights->data() : nullptr, bundled};
  return without_lock([&](Interrupt& interrupt) { return bin_table(table_of(X), request, threads, interrupt); });
}

template <class Array>
void bind_bin(nb::module_& m) {
  m.def("bin_table", &bin<Array>, "X"_a, "categories"_a, "max_bins"_a, "keys"_a, "weights"_a.none(), "threads"_a,
        "bundled"_a = false, nb::keep_alive<0, 1>(),
        "Turn raw values into codes: ranks (max_bins=0), quantile bins, or keys for random cuts.");
}

template <class T>
SparseRows<T> sparse_rows(const In<T>& data, const In<std::int32_t>& columns, const In<std::int64_t>& begin,
                          std::size_t n_columns) {
  require(begin.shape(0) > 0 && begin.data()[0] == 0, "rows begin with the first cell");
  const SparseRows<T> out{{data.data(), begin.shape(0) - 1, n_columns, columns.data(), begin.data()}};
  for (std::size_t i = 0; i < out.n_rows; ++i) {
    const std::int64_t first = out.begin[i], last = out.begin[i + 1];
    require(first <= last && static_cast<std::size_t>(last) <= std::min(data.shape(0), columns.shape(0)),
            "rows follow each other");
    for (std::int64_t k = first; k < last; ++k) {
      require(out.columns[k] >= 0 && static_cast<std::size_t>(out.columns[k]) < n_columns &&
                  (k == first || out.columns[k - 1] < out.columns[k]),
              "the columns of a row must be there, and ascend");
    }
  }
  return out;
}

template <class T>
void bind_sparse_rows(nb::module_& m, const char* name, const char* make) {
  nb::class_<SparseRows<T>>(m, name, "A sparse table, row by row.");  // NOLINT(bugprone-unused-raii)
  m.def(make, &sparse_rows<T>, "data"_a, "columns"_a, "begin"_a, "n_columns"_a, nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), "Look at the rows of a sparse table.");
  bind_bin<SparseRows<T>>(m);
}

// What labels and reals have in common: values with a weight for every row.
template <class T>
PyTarget target_of(const InRows<T>& values, const std::optional<In<double>>& weights) {
  PyTarget out{{}, nb::cast(values), weights ? nb::cast(*weights) : nb::object()};
  Target& t = out.target;
  t.n_rows = values.shape(0), t.n_outputs = values.shape(1);
  require(t.n_outputs > 0, "at least one output");
  require(!weights || weights->shape(0) == t.n_rows, "one weight per row");
  if (weights) t.weights = weights->data();
  return out;
}

PyTarget labels(const InRows<std::int32_t>& codes, std::vector<std::uint32_t> n_classes,
                const std::optional<In<double>>& weights) {
  PyTarget out = target_of(codes, weights);
  Target& t = out.target;
  require(n_classes.size() == t.n_outputs, "one number of classes per output");
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const std::int32_t c = codes.data()[k];
    require(c >= 0 && static_cast<std::uint32_t>(c) < n_classes[k % t.n_outputs], "a label is out of range");
  }
  t.classes = codes.data(), t.n_classes = std::move(n_classes);
  return out;
}

PyTarget reals(const InRows<double>& values, const std::optional<In<double>>& weights) {
  PyTarget out = target_of(values, weights);
  out.target.values = values.data();
  return out;
}

template <double (*Sum)(const Weighted&, Interrupt&)>
double exactly(const In<double>& x, const std::optional<In<double>>& factors,
               const std::optional<In<std::uint32_t>>& counts) {
  require(!factors || factors->shape(0) == x.shape(0), "one factor per number");
  require(!counts || counts->shape(0) == x.shape(0), "one count per number");
  const Weighted rows{span_of(x), factors ? factors->data() : nullptr, counts ? counts->data() : nullptr};
  return without_lock([&](Interrupt& interrupt) { return Sum(rows, interrupt); });
}

NamedArrays grow(const Binned& matrix, const PyTarget& growth, const PyTarget& summary,
                 const std::string& criterion_name, const Rules& rules, std::size_t threads) {
  const Criterion criterion = criterion_of(criterion_name);
  check_growth(matrix, growth.target, criterion, rules);
  check_growth(matrix, summary.target, criterion, rules);
  Shape shape;
  Summary nodes;
  without_lock([&](Interrupt& interrupt) {
    Statistics stats = make_statistics(growth.target, criterion, rules.min_samples_leaf, interrupt);
    require(!stats.rows.empty(), "no row has a positive weight");
    shape = grow_tree(matrix, stats, rules, threads, interrupt);
    if (&growth != &summary) shape.has_sums = false;  // they were summed under other weights
    nodes = summarise(shape, summary.target, criterion, interrupt);
  });
  return arrays_of(std::move(shape), std::move(nodes));
}

using Function = nb::typed<nb::callable, nb::any()>;

// What Python's functions say, called by the engine's threads: these are awake, and threads of Python's would have to share
// the cores with them. Nobody asks for Ctrl-C in between: a handler of signals may fork, with the lock that the others wait
// for. It comes to the functions themselves.
std::vector<nb::object> call_all(const std::vector<Function>& functions, std::size_t threads) {
  std::vector<nb::object> said(functions.size());
  Interrupt interrupt;
  const WithoutLock unlocked;
  parallel_for(threads, said.size(), interrupt, [&](std::size_t k) {
    wait_if_shutting_down();
    const nb::gil_scoped_acquire lock;
    said[k] = functions[k]();
  });
  return said;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled engine of weald.";
  nb::set_leak_warnings(false);  // a thread that still fits at exit is no leak of ours
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    shutdown_thread = std::this_thread::get_id();
    shutting_down.store(true, std::memory_order_release);
  }));
  m.def("hardware_threads", &hardware_threads, "Number of cores this process may run on.");
  m.def("call_all", &call_all, "functions"_a, "threads"_a, "What functions say, called in several threads.");

  nb::class_<Binned>(m, "Binned", "A table as codes.")
      .def_prop_ro("n_rows", [](const Binned& b) { return b.n_rows; })
      .def_prop_ro("n_codes",
                   [](const Binned& b) {
                     std::vector<std::uint32_t> out;
                     out.reserve(b.n_columns());
                     for (const Column& column : b.columns) out.push_back(column.n_codes);
                     return out;
                   })
      .def_prop_ro("nbytes", [](const Binned& b) {
        std::size_t bytes = 0;
        for (const auto& buffer : b.storage) bytes += buffer.size();
        if (b.sparse) bytes += b.sparse->lists.n_cells() * sizeof(Row) + 2 * b.sparse->row_codes.size();
        return bytes;
      });
  bind_bin<In2<double>>(m), bind_bin<In2<float>>(m);
  bind_sparse_rows<double>(m, "SparseDoubles", "sparse_doubles");
  bind_sparse_rows<float>(m, "SparseFloats", "sparse_floats");

  nb::class_<PyTarget>(m, "Target", "Labels or real targets with weights.");  // NOLINT(bugprone-unused-raii)
  m.def("labels", &labels, "codes"_a, "n_classes"_a, "weights"_a.none(), "Class numbers (n, outputs).");
  m.def("reals", &reals, "values"_a, "weights"_a.none(), "Real targets (n, outputs).");

  nb::class_<Rules> rules(m, "Rules", "When and how nodes are split.");
  rules.def(nb::init<>())
      .def_rw("max_depth", &Rules::max_depth)
      .def_rw("min_samples_split", &Rules::min_samples_split)
      .def_rw("min_samples_leaf", &Rules::min_samples_leaf)
      .def_rw("min_weight_leaf", &Rules::min_weight_leaf)
      .def_rw("min_decrease", &Rules::min_decrease)
      .def_rw("max_leaves", &Rules::max_leaves)
      .def_rw("max_features", &Rules::max_features)
      .def_rw("random_split", &Rules::random_split)
      .def_rw("random_ties", &Rules::random_ties)
      .def_rw("monotone", &Rules::monotone)
      .def_rw("interactions", &Rules::interactions)
      .def_rw("category_smoothing", &Rules::category_smoothing)
      .def_rw("row_weight", &Rules::row_weight)
      .def_rw("prune_alpha", &Rules::prune_alpha)
      .def_rw("seed", &Rules::seed);
  bind_choice(rules, "frontier", &Rules::frontier, kFrontiers);
  bind_forest(m);
  bind_adaboost(m);
  bind_gradient_boosting(m);
  m.def("grow", &grow, "matrix"_a, "growth"_a, "summary"_a, "criterion"_a, "rules"_a, "threads"_a,
        "Grow one tree from `growth`; what its nodes predict comes from `summary`.");

  m.def("exact_sum", &exactly<exact_sum>, "x"_a, "factors"_a.none(), "counts"_a.none(),
        "Sum of numbers times factors, each as often as it counts: the same bits for any order and for repeated rows.");
  m.def("exact_mean", &exactly<exact_mean>, "x"_a, "factors"_a.none(), "counts"_a.none(),
        "Mean of numbers in the same way.");
  m.def(
      "order_of",
      [](const In<double>& values) {
        require(values.shape(0) < std::numeric_limits<Row>::max(), "more numbers than 32-bit row numbers can hold");
        BigVector<Ranked<double>> items, spare;
        without_lock([&](Interrupt& interrupt) {
          Patience patience(interrupt);
          items.resize(values.shape(0));
          for_all(0, items.size(), patience,
                  [&](std::size_t i) { items[i] = {key_of(values.data()[i]), static_cast<Row>(i)}; });
          sort_by_key(items, spare, patience);
        });
        BigVector<std::int64_t> order(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) order[i] = items[i].row;
        return give(std::move(order));
      },
      "values"_a, "The places of numbers in ascending order, equal ones as they came.");

  m.def(
      "node_depths",
      [](const In<std::int64_t>& right) {
        return give_as<std::int64_t>(
            without_lock([&](Interrupt& interrupt) { return check_preorder(span_of(right), interrupt); }));
      },
      "children_right"_a, "Number of tests above each node of a tree in pre-order.");

  m.def(
      "pruning_path",
      [](const In<std::int64_t>& right, const In<double>& risk) {
        PruningPath path =
            without_lock([&](Interrupt& interrupt) { return pruning_path(span_of(right), span_of(risk), interrupt); });
        NamedArrays out;
        out["node"] = give(std::move(path.node));
        out["alpha"] = give(std::move(path.alpha));
        out["risk"] = give(std::move(path.risk));
        out["full_risk"] = path.full_risk;
        return out;
      },
      "children_right"_a, "risk"_a, "The weakest-link sequence of a tree.");
}
