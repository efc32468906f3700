// What the binding files share: arrays in, arrays out, and the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "weald/tree/predict.hpp"
#include "weald/base/threads.hpp"
#include "weald/bins/bins.hpp"
#include "weald/grow/grow_tree.hpp"
#include "weald/stats/criterion.hpp"
#include "weald/tree/summarise.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace weald;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Hands a vector to NumPy without copying it.
template <class T, class Allocator>
Out<T> give(std::vector<T, Allocator>&& data, std::vector<std::size_t> shape = {}) {
  using Vector = std::vector<T, Allocator>;
  auto* kept = new Vector(std::move(data));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  if (shape.empty()) shape = {kept->size()};
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  if (size != kept->size()) throw std::logic_error("an array of another size than it was said to have");
  return Out<T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class To, class Numbers>
Out<To> give_as(const Numbers& data) {
  return give(std::vector<To>(data.begin(), data.end()));
}

using NamedArrays = nb::typed<nb::dict, nb::str, nb::any>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class T>
Table<T> table_of(const In2<T>& X) {
  require(X.stride(0) >= 0 && X.stride(1) >= 0, "the table must not have negative strides");
  return {X.data(), X.shape(0), X.shape(1), static_cast<std::size_t>(X.stride(0)),
          static_cast<std::size_t>(X.stride(1))};
}

// A sparse table whose rows were looked at once. The arrays are the caller's and outlive it.
template <class T>
struct SparseRows : SparseTable<T> {
  std::size_t shape(int axis) const { return axis == 0 ? this->n_rows : this->n_columns; }
};
template <class T>
const SparseTable<T>& table_of(const SparseRows<T>& X) {
  return X;
}

// Once the interpreter is shutting down, a thread that asks for its lock is killed in a way that C++
// cannot unwind, and the process aborts. Threads other than the one that shuts down (only daemon
// threads are left then) therefore wait for the end instead of asking.
inline std::atomic<bool> shutting_down{false};
inline std::thread::id shutdown_thread;

inline bool must_not_lock() {
  return shutting_down.load(std::memory_order_acquire) && std::this_thread::get_id() != shutdown_thread;
}

inline void wait_if_shutting_down() {
  while (must_not_lock()) std::this_thread::sleep_for(std::chrono::hours(1));
}

class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    wait_if_shutting_down();
    PyEval_RestoreThread(state_);
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// Is this call to end? Then the exception is set. Signals reach the main thread alone, so there is a word for the
// others: `pause` raises it.
inline bool must_stop() {
  if (must_not_lock()) return false;
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) return true;
  try {
    nb::module_::import_("weald._engine._threads").attr("pause")();
  } catch (nb::python_error& error) {
    error.restore();
    return true;
  }
  return false;
}

// Runs fn without the interpreter's lock; Ctrl-C is looked for a few times a second.
template <class Fn>
auto without_lock(Fn&& fn) {
  Interrupt interrupt(must_stop);
  try {
    const WithoutLock unlocked;
    return fn(interrupt);
  } catch (const Interrupted&) {
    throw nb::python_error();  // the signal's own exception is already set
  }
}

// The targets, kept alive with the arrays they point into.
struct PyTarget {
  Target target;
  nb::object values, weights;
};

template <class T>
std::span<const T> span_of(const In<T>& a) {
  return {a.data(), a.shape(0)};
}

// A property that is one of some names, which are in the order of its values.
template <class Class, class Enum, std::size_t n>
void bind_choice(nb::class_<Class>& to, const char* property, Enum Class::* member, const char* const (&names)[n]) {
  to.def_prop_rw(
      property, [member, &names](const Class& c) { return names[static_cast<std::size_t>(c.*member)]; },
      [member, property, &names](Class& c, const std::string& name) {
        const auto* at = std::find(names, names + n, name);
        if (at == names + n) throw std::invalid_argument("unknown " + std::string(property) + ": " + name);
        c.*member = static_cast<Enum>(at - names);
      });
}

// Throws unless a tree can be grown from these.
void check_growth(const Binned& matrix, const Target& target, Criterion criterion, const Rules& rules);

// A tree as the arrays that scikit-learn's users know.
NamedArrays arrays_of(Shape shape, Summary nodes);

void bind_forest(nb::module_& m);                              // in forest.cpp
bool same_kind(const Forest& a, const Forest& b);              // in forest.cpp
void bind_asking(nb::module_& m, nb::class_<Forest>& forest);  // in asking.cpp
void bind_adaboost(nb::module_& m);                            // in adaboost.cpp
void bind_gradient_boosting(nb::module_& m);                   // in gradient_boosting.cpp
