// AdaBoost: grow, look at the leaves, reweight.
#include "weald/methods/adaboost.hpp"

#include "door.hpp"

namespace {

// Keeps what AdaBoost points into.
struct PyAdaBoost {
  nb::object matrix, target;
  AdaBoost adaboost;
  bool grown = false, usable = true;
};

PyAdaBoost* make(nb::object matrix, nb::object target, const std::string& criterion_name, const Rules& rules,
                 const In<double>& weights, std::size_t threads) {
  const auto& binned = nb::cast<const Binned&>(matrix);
  const Target& given = nb::cast<const PyTarget&>(target).target;
  const Criterion criterion = criterion_of(criterion_name);
  check_growth(binned, given, criterion, rules);
  require(given.weights == nullptr && given.n_outputs == 1, "a single target, without weights");
  return new PyAdaBoost{std::move(matrix), std::move(target),
                        AdaBoost(binned, given, criterion, rules, span_of(weights), threads)};
}

const AdaBoost& grown(const PyAdaBoost& r) {
  require(r.grown, "no tree was grown yet");
  return r.adaboost;
}

}  // namespace

void bind_adaboost(nb::module_& m) {
  nb::class_<PyAdaBoost>(m, "Rounds", "Trees grown one after another under changing weights.")
      .def(
          "grow",
          [](PyAdaBoost& r, std::uint64_t seed, std::size_t number, bool resample) {
            require(r.usable, "the weights were left half changed");
            r.grown = false;  // until it is done: a growth that is interrupted leaves no tree
            without_lock([&](Interrupt& interrupt) { r.adaboost.grow(member_key(seed, number), resample, interrupt); });
            r.grown = true;
          },
          "seed"_a, "number"_a, "resample"_a, "Grow the tree of a round under the weights as they are.")
      .def_prop_ro(
          "leaf_of", [](const PyAdaBoost& r) { return give_as<std::uint32_t>(grown(r).leaf_of()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "leaf_values",
          [](const PyAdaBoost& r) {
            const Outputs& outputs = r.adaboost.outputs();
            return give(without_lock([&](Interrupt& interrupt) { return grown(r).leaf_values(interrupt); }),
                        {r.adaboost.n_leaves(), outputs.width()});
          },
          nb::rv_policy::move, "What each leaf predicts, from left to right.")
      .def_prop_ro(
          "class_weights",
          [](const PyAdaBoost& r) {
            const auto& classes = r.adaboost.outputs().n_classes;
            require(!classes.empty(), "there are no classes");
            return give(std::vector<double>(grown(r).class_weights()), {r.adaboost.n_leaves(), classes[0]});
          },
          nb::rv_policy::move, "Weight of each class in each leaf.")
      .def(
          "reweight",
          [](PyAdaBoost& r, const InRows<double>& factors) {
            require(r.adaboost.outputs().classifies(), "there are no classes");
            grown(r);
            r.usable = false;  // until it is done
            const double sum = without_lock(
                [&](Interrupt& interrupt) { return r.adaboost.reweight({factors.data(), factors.size()}, interrupt); });
            r.usable = true;
            return sum;
          },
          "factors"_a,
          "Multiply the rows' weights by a factor per leaf and class; their sum, by which they are divided.")
      .def_prop_ro(
          "weights", [](const PyAdaBoost& r) { return give(r.adaboost.weights()); }, nb::rv_policy::move)
      .def(
          "set_factors",
          [](PyAdaBoost& r, const In<double>& factors) {
            r.adaboost.set_factors(span_of(factors));
            r.usable = true;
          },
          "factors"_a, "Let row i weigh so much, times its count if the weights were whole.")
      .def("tree", [](const PyAdaBoost& r) { return grown(r).tree(); }, "The tree grown last, as a forest of one.");
  m.def("make_rounds", &make, "matrix"_a, "target"_a, "criterion"_a, "rules"_a, "weights"_a, "threads"_a,
        nb::rv_policy::take_ownership, "Begin to boost.");
}
