// Boosting rounds: grow, look at the leaves, reweight.
#include "weald/rounds.hpp"

#include "door.hpp"

namespace {

// Keeps what the rounds point into.
struct PyRounds {
  nb::object matrix, target;
  Rounds rounds;
  bool grown = false, usable = true;
};

PyRounds* make(nb::object matrix, nb::object target, const std::string& criterion_name, const Rules& rules,
               const In<double>& weights, std::size_t threads) {
  const auto& binned = nb::cast<const Binned&>(matrix);
  const Target& given = nb::cast<const PyTarget&>(target).target;
  const Criterion criterion = criterion_of(criterion_name);
  check_growth(binned, given, criterion, rules);
  require(given.weights == nullptr && given.n_outputs == 1, "a single target, without weights");
  return new PyRounds{std::move(matrix), std::move(target), Rounds(binned, given, criterion, rules, span_of(weights), threads)};
}

const Rounds& grown(const PyRounds& r) {
  require(r.grown, "no tree was grown yet");
  return r.rounds;
}

template <class T>
Out<T> copy_of(std::span<const T> data) { return give(std::vector<T>(data.begin(), data.end())); }

}  // namespace

void bind_rounds(nb::module_& m) {
  nb::class_<PyRounds>(m, "Rounds", "Trees grown one after another under changing weights.")
      .def("grow", [](PyRounds& r, std::uint64_t seed, std::size_t number, bool resample) {
        require(r.usable, "the weights were left half changed");
        r.grown = false;  // until it is done: a growth that is interrupted leaves no tree
        without_lock([&](Interrupt& interrupt) {
          r.rounds.grow(member_key(seed, number), resample, interrupt);
          return 0;
        });
        r.grown = true;
      }, "seed"_a, "number"_a, "resample"_a, "Grow the tree of a round under the weights as they are.")
      .def_prop_ro("leaf_of", [](const PyRounds& r) { return copy_of(grown(r).leaf_of()); }, nb::rv_policy::move)
      .def_prop_ro("leaf_values", [](const PyRounds& r) {
        const Outputs& outputs = r.rounds.outputs();
        return give(without_lock([&](Interrupt& interrupt) { return grown(r).leaf_values(interrupt); }),
                    {r.rounds.n_leaves(), outputs.width()});
      }, nb::rv_policy::move, "What each leaf predicts, from left to right.")
      .def_prop_ro("class_weights", [](const PyRounds& r) {
        const auto& classes = r.rounds.outputs().n_classes;
        require(!classes.empty(), "there are no classes");
        return give(std::vector<double>(grown(r).class_weights()), {r.rounds.n_leaves(), classes[0]});
      }, nb::rv_policy::move, "Weight of each class in each leaf.")
      .def("reweight", [](PyRounds& r, const InRows<double>& factors) {
        require(r.rounds.outputs().classifies(), "there are no classes");
        grown(r);
        r.usable = false;  // until it is done
        const double sum = without_lock([&](Interrupt& interrupt) {
          return r.rounds.reweight({factors.data(), factors.size()}, interrupt);
        });
        r.usable = true;
        return sum;
      }, "factors"_a, "Multiply the rows' weights by a factor per leaf and class; their sum, by which they are divided.")
      .def_prop_ro("weights", [](const PyRounds& r) { return give(r.rounds.weights()); }, nb::rv_policy::move)
      .def("set_factors", [](PyRounds& r, const In<double>& factors) {
        r.rounds.set_factors(span_of(factors));
        r.usable = true;
      },
           "factors"_a, "Let row i weigh so much, times its count if the weights were whole.")
      .def("tree", [](const PyRounds& r) { return grown(r).tree(); }, "The tree grown last, as a forest of one.");
  m.def("make_rounds", &make, "matrix"_a, "target"_a, "criterion"_a, "rules"_a, "weights"_a, "threads"_a,
        nb::rv_policy::take_ownership, "Begin to boost.");
}
