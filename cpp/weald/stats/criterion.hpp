// The criteria, each a scalar score of a node's sums. A split's gain is
//
//   S(left) + S(right) - S(parent)
//
// and a node's impurity is (Q - S) / H with a constant Q, so the best split maximises
// S(left) + S(right). Formulas: Breiman, Friedman, Olshen & Stone (1984), chapters 4, 8 and 9.
#pragma once

#include <algorithm>
#include <cmath>

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

// --- one channel: G of weight H (real targets; for two classes, G is the weight of the second) ---

// Gini and squared error: G^2 / H. For two classes sum_k G_k^2 / H = H - 2G + 2 G^2/H, whose first
// terms cancel in a gain, so one channel gives half the two-channel gain. With lambda, the score of
// second-order boosting (Chen & Guestrin 2016, eq. 6).
struct Quadratic {
  static double score(const Channels& c, double g, double h) { return h > 0 ? g * g / (h + c.lambda) : 0.0; }
};

struct Entropy {  // in bits
  static double score(const Channels& c, double g, double h) {
    return xlog2x(c, g) + xlog2x(c, h - g) - xlog2x(c, h);
  }
};

struct Misclassification {
  static double score(const Channels&, double g, double h) { return std::max(g, h - g); }
};

// Half Poisson deviance. A side whose sum is zero would predict zero: no such split.
struct Poisson {
  static double score(const Channels&, double g, double h) { return g > 0 && h > 0 ? g * std::log(g / h) : -kInf; }
};

// --- many channels: G_1..G_k, grouped into outputs by `offset` ---

struct QuadraticMany {
  static double score(const double* g, double h, const Channels& stats) {
    double sum = 0;
    for (std::size_t k = 0; k < stats.channels; ++k) sum += g[k] * g[k];
    return h > 0 ? sum / (h + stats.lambda) : 0.0;
  }
};

struct EntropyMany {
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

struct MisclassificationMany {
  static double score(const double* g, double, const Channels& stats) {
    double sum = 0;
    for (std::size_t o = 0; o < stats.n_outputs; ++o) {
      sum += *std::max_element(g + stats.offset[o], g + stats.offset[o + 1]);
    }
    return sum;
  }
};

struct PoissonMany {
  static double score(const double* g, double h, const Channels& stats) {
    double sum = 0;
    for (std::size_t k = 0; k < stats.channels; ++k) sum += Poisson::score(stats, g[k], h);
    return sum;
  }
};

// Factor from the engine's score (integer units) to the caller's: weight x impurity, averaged over
// outputs.
inline double score_unit(const Channels& stats) {
  double unit = stats.h_unit;
  if (stats.criterion == Criterion::Gini && stats.channels == 1) unit *= 2;
  if (stats.criterion == Criterion::Squared) unit = stats.g_unit * (stats.g_unit / stats.h_unit);
  if (stats.criterion == Criterion::Poisson) unit = 1;
  if (stats.criterion == Criterion::Absolute) unit = stats.h_unit * stats.g_unit;
  return unit / static_cast<double>(stats.n_outputs);
}

}  // namespace weald
