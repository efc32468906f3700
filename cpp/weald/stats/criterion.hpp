// The criteria: for each a struct that says all there is to say of it, named as its row in the table of criteria
// (stats/statistics.hpp). A split's gain is
//
//   S(left) + S(right) - S(parent)
//
// and a node's impurity is (Q - S) / H with a constant Q, so the best split maximises S(left) + S(right).
// Formulas: Breiman, Friedman, Olshen & Stone (1984), chapters 4, 8 and 9.
//
//   kClasses     targets are classes
//   kFromRows    S is no function of sums: it is found from the rows in the order of a column
//   kLogarithms  the impurity needs the sum of w y log y
//   Score        of one channel, and of many
//   unit         factor from the engine's score (integer units) to the caller's weight x impurity, all outputs together
//   impurity     of a node: from the shares of its classes, or from its moments
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "weald/stats/quadratic.hpp"
#include "weald/stats/statistics.hpp"

namespace weald {

inline double xlog2x(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// The same for a whole weight in a node, as a fixed-point number: from the table if there is one.
inline Lane fixed_xlog2x(const Channels& channels, double x) {
  if (channels.xlog2x) return channels.xlog2x[static_cast<std::size_t>(x)];
  return std::llrint(xlog2x(x) / channels.xlog2x_unit);
}
inline double xlog2x(const Channels& channels, double x) {
  return channels.xlog2x_unit > 0 ? static_cast<double>(fixed_xlog2x(channels, x)) * channels.xlog2x_unit : xlog2x(x);
}

// What a node of real targets is known by: its mean, sum w (y - mean)^2 and sum w y log y.
struct NodeMoments {
  double weight = 0, mean = 0, deviation = 0, ylogy = 0;
};

// --- scores of one channel: G of weight H (real targets; for two classes, G is the weight of the second) ---
// --- and of many channels: G_1..G_k, grouped into outputs by `offset` ---

// kTrueUnits: S needs G and H in the caller's units, and G from 0; else any units do.
struct Quadratic {
  static constexpr bool kTrueUnits = false;
  static double score(const Channels& c, double g, double h) { return h > 0 ? quadratic(g, h + c.lambda) : 0.0; }
  static double score(const double* g, double h, const Channels& stats) {
    double sum = 0;
    for (std::size_t k = 0; k < stats.channels; ++k) sum += g[k] * g[k];
    return h > 0 ? sum / (h + stats.lambda) : 0.0;
  }
};

struct Bits {  // of entropy
  static constexpr bool kTrueUnits = false;
  static double score(const Channels& c, double g, double h) { return xlog2x(c, g) + xlog2x(c, h - g) - xlog2x(c, h); }
  static double score(const double* g, double h, const Channels& stats) {
    if (stats.xlog2x_unit > 0) {  // as chains sum it up, to the last bit
      Lane units = -static_cast<Lane>(stats.n_outputs) * fixed_xlog2x(stats, h);
      for (std::size_t k = 0; k < stats.channels; ++k) units += fixed_xlog2x(stats, g[k]);
      return static_cast<double>(units) * stats.xlog2x_unit;
    }
    double sum = -static_cast<double>(stats.n_outputs) * xlog2x(stats, h);
    for (std::size_t k = 0; k < stats.channels; ++k) sum += xlog2x(stats, g[k]);
    return sum;
  }
};

struct Majority {
  static constexpr bool kTrueUnits = false;
  static double score(const Channels&, double g, double h) { return std::max(g, h - g); }
  static double score(const double* g, double, const Channels& stats) {
    double sum = 0;
    for (std::size_t o = 0; o < stats.n_outputs; ++o) {
      sum += *std::max_element(g + stats.offset[o], g + stats.offset[o + 1]);
    }
    return sum;
  }
};

// A side whose sum is zero would predict zero: no such split.
struct HalfDeviance {
  static constexpr bool kTrueUnits = true;
  static double score(const Channels&, double g, double h) { return g > 0 && h > 0 ? g * std::log(g / h) : -kInf; }
  static double score(const double* g, double h, const Channels& stats) {
    double sum = 0;
    for (std::size_t k = 0; k < stats.channels; ++k) sum += score(stats, g[k], h);
    return sum;
  }
};

struct NoScore {
  static constexpr bool kTrueUnits = false;
};

// --- the criteria ---

template <class S>
struct OfClasses {
  using Score = S;
  static constexpr bool kClasses = true, kFromRows = false, kLogarithms = false;
  static double unit(const Channels& stats) { return stats.h_unit; }
  static double impurity(const NodeMoments&) { return kNaN; }
};

template <class S>
struct OfNumbers {
  using Score = S;
  static constexpr bool kClasses = false, kFromRows = false, kLogarithms = false;
  static double impurity(const double*, std::size_t) { return kNaN; }
};

struct Gini : OfClasses<Quadratic> {
  using OfClasses::impurity;
  static double unit(const Channels& stats) { return stats.channels == 1 ? stats.h_unit * 2 : stats.h_unit; }
  static double impurity(const double* p, std::size_t k) {
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) sum += p[c] * p[c];
    return std::max(1 - sum, 0.0);
  }
};

struct Entropy : OfClasses<Bits> {  // in bits
  using OfClasses::impurity;
  static double impurity(const double* p, std::size_t k) {
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) sum -= xlog2x(p[c]);
    return std::max(sum, 0.0);
  }
};

struct Misclassification : OfClasses<Majority> {
  using OfClasses::impurity;
  static double impurity(const double* p, std::size_t k) { return 1 - *std::max_element(p, p + k); }
};

struct Squared : OfNumbers<Quadratic> {
  using OfNumbers::impurity;
  static double unit(const Channels& stats) { return stats.g_unit * (stats.g_unit / stats.h_unit); }
  static double impurity(const NodeMoments& m) { return m.deviation / m.weight; }
};

// Half Poisson deviance: the mean of y log(y / mean) - (y - mean), whose last two terms cancel in the sum.
struct Poisson : OfNumbers<HalfDeviance> {
  static constexpr bool kLogarithms = true;
  using OfNumbers::impurity;
  static double unit(const Channels&) { return 1; }
  static double impurity(const NodeMoments& m) {
    return m.mean > 0 ? std::max(m.ylogy / m.weight - m.mean * std::log(m.mean), 0.0) : 0.0;
  }
};

struct Absolute : OfNumbers<NoScore> {  // search/scan_medians.hpp
  static constexpr bool kFromRows = true;
  using OfNumbers::impurity;
  static double unit(const Channels& stats) { return stats.h_unit * stats.g_unit; }
  static double impurity(const NodeMoments&) { return kNaN; }  // medians do not follow from moments
};

// --- from the row of the table to the struct ---

// Calls fn with the struct of a criterion. Every row has its case, or this does not compile.
template <class Fn>
constexpr decltype(auto) with_criterion(Criterion criterion, Fn&& fn) {
  switch (criterion) {
#define WEALD_CASE(kind, name) \
  case Criterion::kind:        \
    return std::forward<Fn>(fn)(kind{});  // NOLINT(bugprone-macro-parentheses)
    WEALD_CRITERIA(WEALD_CASE)
#undef WEALD_CASE
  }
  throw std::logic_error("no such criterion");
}

constexpr bool is_classification(Criterion criterion) {
  return with_criterion(criterion, [](auto kind) { return decltype(kind)::kClasses; });
}
constexpr bool is_from_rows(Criterion criterion) {
  return with_criterion(criterion, [](auto kind) { return decltype(kind)::kFromRows; });
}
constexpr bool needs_logarithms(Criterion criterion) {
  return with_criterion(criterion, [](auto kind) { return decltype(kind)::kLogarithms; });
}
constexpr bool needs_true_units(Criterion criterion) {
  return with_criterion(criterion, [](auto kind) { return decltype(kind)::Score::kTrueUnits; });
}

// Factor from the engine's score to the caller's, averaged over outputs.
inline double score_unit(const Channels& stats) {
  return with_criterion(stats.criterion, [&](auto kind) { return kind.unit(stats); }) /
         static_cast<double>(stats.n_outputs);
}

}  // namespace weald
