// The only place that names nanobind: arrays in, arrays out, every size checked here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "weald/grow.hpp"
#include "weald/predict.hpp"
#include "weald/prune.hpp"
#include "weald/summarise.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace weald;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Hands a vector to NumPy without copying it.
template <class T>
Out<T> give(std::vector<T>&& data, std::vector<std::size_t> shape = {}) {
  auto* kept = new std::vector<T>(std::move(data));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {kept->size()};
  return Out<T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class To, class From>
Out<To> give_as(const std::vector<From>& data) {
  return give(std::vector<To>(data.begin(), data.end()));
}

using NamedArrays = nb::typed<nb::dict, nb::str, nb::any>;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class T>
Table<T> table_of(const In2<T>& X) {
  require(X.stride(0) >= 0 && X.stride(1) >= 0, "the table must not have negative strides");
  return {X.data(), X.shape(0), X.shape(1), static_cast<std::size_t>(X.stride(0)),
          static_cast<std::size_t>(X.stride(1))};
}

// Once the interpreter is shutting down, a thread that asks for its lock is killed in a way that C++
// cannot unwind, and the process aborts. Threads other than the one that shuts down (only daemon
// threads are left then) therefore wait for the end instead of asking.
std::atomic<bool> shutting_down{false};
std::thread::id shutdown_thread;

bool must_not_lock() {
  return shutting_down.load(std::memory_order_acquire) &&
         std::this_thread::get_id() != shutdown_thread;
}

class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    while (must_not_lock()) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// Runs fn without the interpreter's lock; Ctrl-C is looked for a few times a second.
template <class Fn>
auto without_lock(Fn&& fn) {
  Interrupt interrupt([] {
    if (must_not_lock()) return false;
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
  });
  try {
    const WithoutLock unlocked;
    return fn(interrupt);
  } catch (const Interrupted&) {
    throw nb::python_error();  // the signal's own exception is already set
  }
}

Criterion criterion_of(const std::string& name) {
  if (name == "gini") return Criterion::Gini;
  if (name == "entropy") return Criterion::Entropy;
  if (name == "misclassification") return Criterion::Misclassification;
  if (name == "squared_error") return Criterion::Squared;
  if (name == "absolute_error") return Criterion::Absolute;
  if (name == "poisson") return Criterion::Poisson;
  throw std::invalid_argument("unknown criterion: " + name);
}

Frontier frontier_of(const std::string& name) {
  if (name == "depth_first") return Frontier::DepthFirst;
  if (name == "best_first") return Frontier::BestFirst;
  if (name == "by_level") return Frontier::ByLevel;
  throw std::invalid_argument("unknown order of growth: " + name);
}

template <class T>
Binned bin(const In2<T>& X, const std::vector<std::uint32_t>& categories, std::size_t max_bins,
           bool keys, const std::optional<In<double>>& weights, std::size_t threads) {
  require(categories.size() == X.shape(1), "one number of categories per column");
  require(max_bins == 0 || (max_bins >= 2 && max_bins <= 255), "max_bins must be 0 or 2..255");
  require(!weights || weights->shape(0) == X.shape(0), "one weight per row");
  require(!keys || max_bins == 0, "keys are exact: they have no bins");
  const Coding coding = keys ? Coding::Keys : max_bins > 0 ? Coding::Bins : Coding::Ranks;
  const BinRequest request{coding, max_bins, categories, weights ? weights->data() : nullptr};
  return without_lock([&](Interrupt& interrupt) {
    return bin_table(table_of(X), request, threads, interrupt);
  });
}

// The targets, kept alive with the arrays they point into.
struct PyTarget {
  Target target;
  nb::object values, weights;
};

PyTarget target_of(const InRows<std::int32_t>* classes, const InRows<double>* values,
                   std::vector<std::uint32_t> n_classes, const std::optional<In<double>>& weights) {
  PyTarget out;
  Target& t = out.target;
  if (classes) {
    t.n_rows = classes->shape(0), t.n_outputs = classes->shape(1), t.classes = classes->data();
    require(n_classes.size() == t.n_outputs, "one number of classes per output");
    for (std::size_t i = 0; i < t.n_rows; ++i) {
      for (std::size_t o = 0; o < t.n_outputs; ++o) {
        const std::int32_t c = t.classes[i * t.n_outputs + o];
        require(c >= 0 && static_cast<std::uint32_t>(c) < n_classes[o], "a label is out of range");
      }
    }
    t.n_classes = std::move(n_classes);
  } else {
    t.n_rows = values->shape(0), t.n_outputs = values->shape(1), t.values = values->data();
  }
  require(t.n_outputs > 0, "at least one output");
  if (weights) {
    require(weights->shape(0) == t.n_rows, "one weight per row");
    t.weights = weights->data();
  }
  return out;
}

NamedArrays grow(const Binned& matrix, const PyTarget& growth, const PyTarget& summary,
              const std::string& criterion_name, const Rules& rules, std::size_t threads) {
  const Criterion criterion = criterion_of(criterion_name);
  require(growth.target.n_rows == matrix.n_rows && summary.target.n_rows == matrix.n_rows,
          "as many targets as rows");
  require(is_classification(criterion) == (growth.target.classes != nullptr) &&
              (growth.target.classes != nullptr) == (summary.target.classes != nullptr),
          "the criterion does not fit the targets");
  bool keyed = false;
  for (const Column& column : matrix.columns) keyed |= column.keyed;
  require(!keyed || (rules.random_split && criterion != Criterion::Absolute),
          "keys are for random cuts only");
  require(rules.monotone.empty() || rules.monotone.size() == matrix.n_columns(),
          "one monotone direction per column");
  Shape shape;
  Summary nodes;
  without_lock([&](Interrupt& interrupt) {
    Statistics stats = make_statistics(growth.target, criterion, rules.min_samples_leaf);
    require(!stats.rows.empty(), "no row has a positive weight");
    shape = grow_tree(matrix, stats, rules, threads, interrupt);
    nodes = summarise(shape, summary.target, criterion);
    return 0;
  });
  NamedArrays out;
  out["children_right"] = give_as<std::int64_t>(shape.right);
  out["feature"] = give_as<std::int64_t>(shape.feature);
  out["threshold"] = give(std::move(shape.threshold));
  out["missing_go_to_left"] = give(std::move(shape.missing_left));
  out["set_begin"] = give_as<std::int64_t>(shape.set_begin);
  out["sets"] = give(std::move(shape.sets));
  out["impurity"] = give(std::move(nodes.impurity));
  out["n_node_samples"] = give(std::move(nodes.n_rows));
  out["weighted_n_node_samples"] = give(std::move(nodes.weight));
  out["value"] = give(std::move(nodes.value), {shape.size(), nodes.n_outputs, nodes.max_classes});
  return out;
}

template <class T>
std::span<const T> span_of(const In<T>& a) { return {a.data(), a.shape(0)}; }

template <class T>
Out<std::int64_t> leaves(const Router& router, const In2<T>& X, std::size_t threads) {
  require(X.shape(1) == router.n_columns(), "the table has another number of columns than the tree");
  std::vector<std::int64_t> out(X.shape(0));
  const Table<T> table = table_of(X);
  if (table.n_rows <= 64) {  // too short to be worth giving up the lock, or stopping
    Interrupt never;
    router.leaves(table, 1, out.data(), never);
  } else {
    without_lock([&](Interrupt& interrupt) {
      router.leaves(table, threads, out.data(), interrupt);
      return 0;
    });
  }
  return give(std::move(out));
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled engine of weald.";
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    shutdown_thread = std::this_thread::get_id();
    shutting_down.store(true, std::memory_order_release);
  }));
  m.def("hardware_threads", &hardware_threads, "Number of cores this process may run on.");

  nb::class_<Binned>(m, "Binned", "A table as codes.")
      .def_prop_ro("n_rows", [](const Binned& b) { return b.n_rows; })
      .def_prop_ro("n_codes", [](const Binned& b) {
        std::vector<std::uint32_t> out;
        for (const Column& column : b.columns) out.push_back(column.n_codes);
        return out;
      })
      .def_prop_ro("nbytes", [](const Binned& b) {
        std::size_t bytes = 0;
        for (const auto& buffer : b.storage) bytes += buffer.size();
        return bytes;
      });
  m.def("bin_table", &bin<double>, "X"_a, "categories"_a, "max_bins"_a, "keys"_a, "weights"_a.none(), "threads"_a,
        nb::keep_alive<0, 1>(), "Turn raw values into codes: ranks (max_bins=0), quantile bins, or keys for random cuts.");
  m.def("bin_table", &bin<float>, "X"_a, "categories"_a, "max_bins"_a, "keys"_a, "weights"_a.none(),
        "threads"_a, nb::keep_alive<0, 1>());

  nb::class_<PyTarget>(m, "Target", "Labels or real targets with weights.");
  m.def("labels", [](const InRows<std::int32_t>& codes, std::vector<std::uint32_t> n_classes,
                     const std::optional<In<double>>& weights) {
    PyTarget out = target_of(&codes, nullptr, std::move(n_classes), weights);
    out.values = nb::cast(codes);
    if (weights) out.weights = nb::cast(*weights);
    return out;
  }, "codes"_a, "n_classes"_a, "weights"_a.none(), "Class numbers (n, outputs).");
  m.def("reals", [](const InRows<double>& values, const std::optional<In<double>>& weights) {
    PyTarget out = target_of(nullptr, &values, {}, weights);
    out.values = nb::cast(values);
    if (weights) out.weights = nb::cast(*weights);
    return out;
  }, "values"_a, "weights"_a.none(), "Real targets (n, outputs).");

  nb::class_<Rules>(m, "Rules", "When and how nodes are split.")
      .def(nb::init<>())
      .def_rw("max_depth", &Rules::max_depth)
      .def_rw("min_samples_split", &Rules::min_samples_split)
      .def_rw("min_samples_leaf", &Rules::min_samples_leaf)
      .def_rw("min_weight_leaf", &Rules::min_weight_leaf)
      .def_rw("min_decrease", &Rules::min_decrease)
      .def_rw("max_leaves", &Rules::max_leaves)
      .def_rw("max_features", &Rules::max_features)
      .def_rw("random_split", &Rules::random_split)
      .def_rw("monotone", &Rules::monotone)
      .def_rw("seed", &Rules::seed)
      .def_prop_rw("frontier",
                   [](const Rules& r) {
                     return r.frontier == Frontier::BestFirst    ? "best_first"
                            : r.frontier == Frontier::ByLevel ? "by_level"
                                                              : "depth_first";
                   },
                   [](Rules& r, const std::string& name) { r.frontier = frontier_of(name); });
  m.def("grow", &grow, "matrix"_a, "growth"_a, "summary"_a, "criterion"_a, "rules"_a, "threads"_a,
        "Grow one tree from `growth`; what its nodes predict comes from `summary`.");

  nb::class_<Router>(m, "Router", "Sends rows of raw values to the leaves of a tree.")
      .def("__init__", [](Router* self, const In<std::int64_t>& right, const In<std::int64_t>& feature,
                          const In<double>& threshold, const In<std::uint8_t>& missing_left,
                          const In<std::int64_t>& set_begin, const In<std::uint32_t>& sets,
                          const std::vector<std::uint32_t>& n_categories) {
        new (self) Router(TreeArrays{span_of(right), span_of(feature), span_of(threshold),
                                     span_of(missing_left), span_of(set_begin), span_of(sets),
                                     {n_categories.data(), n_categories.size()}});
      }, "children_right"_a, "feature"_a, "threshold"_a, "missing_go_to_left"_a, "set_begin"_a,
         "sets"_a, "n_categories"_a)
      .def("leaves", &leaves<double>, "X"_a, "threads"_a, "Number of the leaf each row ends in.")
      .def("leaves", &leaves<float>, "X"_a, "threads"_a);

  m.def("node_depths", [](const In<std::int64_t>& right) {
    return give_as<std::int64_t>(check_preorder(span_of(right)));
  }, "children_right"_a, "Number of tests above each node of a tree in pre-order.");

  m.def("pruning_path", [](const In<std::int64_t>& right, const In<double>& risk) {
    PruningPath path = pruning_path(span_of(right), span_of(risk));
    NamedArrays out;
    out["node"] = give(std::move(path.node));
    out["alpha"] = give(std::move(path.alpha));
    out["risk"] = give(std::move(path.risk));
    out["full_risk"] = path.full_risk;
    return out;
  }, "children_right"_a, "risk"_a, "The weakest-link sequence of a tree.");
}
