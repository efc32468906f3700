// Gradient boosting: derivatives, trees, steps.
#include "weald/methods/gradient_boosting.hpp"

#include "door.hpp"

namespace {

// Keeps what the boosting points into.
struct PyGradientBoosting {
  nb::object matrix;
  GradientBoosting boosting;
  bool grown = false;
};

PyGradientBoosting* make(nb::object matrix, const Rules& rules, std::size_t n_scores,
                         const std::optional<In<double>>& weights, std::size_t threads) {
  const auto& binned = nb::cast<const Binned&>(matrix);
  require(n_scores > 0 && binned.n_rows > 0, "at least one row and one score");
  require(rules.monotone.empty() || rules.monotone.size() == binned.n_columns(), "one monotone direction per column");
  require(!rules.random_split, "boosting looks for the best cuts");
  for (const Column& column : binned.columns) require(!column.keyed, "keys are for random cuts only");
  for (const auto& set : rules.interactions) {
    for (const std::uint32_t j : set)
      require(j < binned.n_columns(), "an interaction names a column that is not there");
  }
  const std::span<const double> given = weights ? span_of(*weights) : std::span<const double>{};
  require(!weights || given.size() == binned.n_rows, "one weight per row");
  return new PyGradientBoosting{std::move(matrix), GradientBoosting(binned, rules, n_scores, given, threads)};
}

// A view of arrays that live as long as the boosting.
using ScoreArray = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
template <BigVector<double> GradientBoosting::* Data>
ScoreArray view_of(nb::handle_t<PyGradientBoosting> self) {
  auto& b = nb::cast<PyGradientBoosting&>(self).boosting;
  return ScoreArray((b.*Data).data(), {b.n_scores(), b.n_rows()}, self);
}

template <double (GradientBoosting::*Method)(const LossSpec&, std::span<const double>, Interrupt&)>
double loss_by(PyGradientBoosting& b, const std::string& loss, const In<double>& targets, double parameter) {
  const LossSpec spec = loss_of(loss, parameter);
  return without_lock([&](Interrupt& i) { return (b.boosting.*Method)(spec, span_of(targets), i); });
}

GradientBoosting& grown(PyGradientBoosting& b, std::size_t k = 0) {
  require(b.grown, "no tree was grown yet");
  require(k < b.boosting.n_scores(), "there are not so many scores");
  return b.boosting;
}

void grow(PyGradientBoosting& b, std::uint64_t seed, std::size_t number, int order, double l2,
          const std::optional<In<double>>& multipliers, const std::optional<In<std::uint32_t>>& columns, bool vector) {
  require(order == 1 || order == 2, "order must be 1 or 2");
  require(l2 >= 0, "l2 must be >= 0");
  RoundPlan plan;
  plan.key = member_key(seed, number), plan.newton = order == 2, plan.lambda = l2, plan.vector = vector;
  if (multipliers) plan.multipliers = span_of(*multipliers);
  if (columns) plan.columns.assign(columns->data(), columns->data() + columns->shape(0));
  const std::size_t d = nb::cast<const Binned&>(b.matrix).n_columns();
  for (const std::uint32_t j : plan.columns) require(j < d, "a column is out of range");
  b.grown = false;  // until it is done: a growth that is interrupted leaves no trees
  without_lock([&](Interrupt& interrupt) { b.boosting.grow(plan, interrupt); });
  b.grown = true;
}

}  // namespace

void bind_gradient_boosting(nb::module_& m) {
  nb::class_<PyGradientBoosting>(m, "Boosting", "Scores of rows, and trees that follow the gradients of a loss.")
      .def_prop_ro("scores", &view_of<&GradientBoosting::scores>)
      .def_prop_ro("gradients", &view_of<&GradientBoosting::gradients>)
      .def_prop_ro("hessians", &view_of<&GradientBoosting::hessians>)
      .def("differentiate", &loss_by<&GradientBoosting::differentiate>, "loss"_a, "targets"_a, "parameter"_a = 0.0,
           "Fill gradients and hessians; the mean loss at the scores as they are.")
      .def("mean_loss", &loss_by<&GradientBoosting::mean_loss>, "loss"_a, "targets"_a, "parameter"_a = 0.0,
           "Weighted mean of the losses.")
      .def("grow", &grow, "seed"_a, "number"_a, "order"_a, "l2"_a, "multipliers"_a.none() = nb::none(),
           "columns"_a.none() = nb::none(), "vector"_a = false,
           "Grow the trees of a round from the gradients as they are.")
      .def(
          "n_leaves", [](PyGradientBoosting& b, std::size_t k) { return grown(b, k).n_leaves(k); }, "k"_a)
      .def(
          "leaf_of",
          [](PyGradientBoosting& b, std::size_t k) {
            return give_as<std::uint32_t>(without_lock([&](Interrupt& i) { return grown(b, k).leaf_of(k, i); }));
          },
          "k"_a, nb::rv_policy::move, "Leaf of every row, leaves counted from left to right.")
      .def(
          "leaf_sums",
          [](PyGradientBoosting& b, std::size_t k) {
            const auto sums = without_lock([&](Interrupt& i) { return grown(b, k).leaf_sums(k, i); });
            std::vector<double> out;
            for (const GradientSums& s : sums) out.insert(out.end(), {s.g, s.h, s.w});
            return give(std::move(out), {sums.size(), 3});
          },
          "k"_a, nb::rv_policy::move, "Sums of w g, w h and w in each leaf.")
      .def(
          "leaf_quantiles",
          [](PyGradientBoosting& b, std::size_t k, const In<double>& targets, double q) {
            return give(
                without_lock([&](Interrupt& i) { return grown(b, k).leaf_quantiles(k, span_of(targets), q, i); }));
          },
          "k"_a, "targets"_a, "q"_a, nb::rv_policy::move, "Weighted quantile of target - score in each leaf.")
      .def(
          "bounds",
          [](PyGradientBoosting& b, std::size_t k) -> std::optional<Out<double>> {
            const auto bounds = grown(b, k).bounds(k);
            if (bounds.empty()) return std::nullopt;
            std::vector<double> out;
            for (const Bounds& leaf : bounds) out.insert(out.end(), {leaf.lower, leaf.upper});
            return give(std::move(out), {bounds.size(), 2});
          },
          "k"_a, nb::rv_policy::move, "Between what the values of the leaves must lie, if columns are monotone.")
      .def(
          "add",
          [](PyGradientBoosting& b, std::size_t k, const In<double>& values) {
            without_lock([&](Interrupt& i) { grown(b, k).add(k, span_of(values), i); });
          },
          "k"_a, "values"_a, "Give the leaves their values and add them to the scores.")
      .def(
          "trees", [](PyGradientBoosting& b) { return without_lock([&](Interrupt& i) { return grown(b).trees(i); }); },
          "The trees grown last, each as a forest of one.");
  m.def("make_boosting", &make, "matrix"_a, "rules"_a, "n_scores"_a, "weights"_a.none(), "threads"_a,
        nb::rv_policy::take_ownership, "Begin to boost, with scores of 0.");
}
