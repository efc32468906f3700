// What a cut in a column of many categories has to gain.
//
// Categories in the order of their means offer cuts that are fitted to the noise in each of these means: c categories
// that mean nothing gain about (c - 1) q (2 / pi), where q is what a free mean gains on noise. As an information criterion
// does (Mallows 1973, Akaike 1974), each category beyond the second is charged 2 q:
//
//   Gini, squared error           q = Q, the impurity of the node per unit of weight; of many classes, less (below)
//   entropy                       q = Q, but at least 1 / (2 ln 2) bits: half the expectation of chi-squared; at most 1
//   Poisson                       q = variance / (2 mean), half the dispersion
//   misclassification, absolute   q = Q, more than noise gains
//
// for a row's weight. q is of the node, so the price has the unit of the gain.
#pragma once

#include <cmath>

#include "weald/search/column_search.hpp"

namespace weald {

// Noise of many classes goes into all directions, and an order is along one of them. So it is what a mean gains in the
// direction where that is most: the largest eigenvalue of C = diag(p) - p p', or nearly: tr C^2 / tr C.
inline double noise_of_classes(const Channels& stats, const Lane* total) {
  const auto H = static_cast<double>(total[1]);
  double noise = 0;
  for (std::size_t o = 0; o < stats.n_outputs; ++o) {
    double squares = 0, cubes = 0;
    for (std::size_t k = stats.offset[o]; k < stats.offset[o + 1]; ++k) {
      const double p = static_cast<double>(total[2 + k]) / H;
      squares += p * p, cubes += p * p * p;
    }
    if (squares < 1) noise += (squares - 2 * cubes + squares * squares) / (1 - squares);
  }
  return noise;
}

// `own` is S(node), and `total` are the sums of its rows. squares(o): of numbers, the sum of h y^2 of an output.
template <class Squares>
CategoryPrice category_price(const Channels& stats, double own, const Lane* total, Squares&& squares) {
  const bool packed = stats.layout == Layout::Packed;
  const double H = static_cast<double>(packed ? *total & 0xFFFFFFFF : total[1]);
  const double outputs = static_cast<double>(stats.n_outputs);
  CategoryPrice out;
  out.own = own;
  double q = 0;  // in units of the score, for a unit of H
  switch (stats.criterion) {
    case Criterion::Gini: {
      const double G = static_cast<double>(packed ? *total >> 32 : total[2]);
      out.most = (stats.channels == 1 ? G : outputs * H) - out.own;  // what rows by themselves score, less S(node)
      q = stats.channels == 1 ? out.most / H : noise_of_classes(stats, total);
      break;
    }
    case Criterion::Misclassification:
      out.most = outputs * H - out.own;
      q = out.most / H;
      break;
    case Criterion::Absolute:
      out.most = -out.own;
      q = out.most / H;
      break;
    case Criterion::Entropy:
      out.most = -out.own;
      q = std::max(std::min(out.most / H, outputs), outputs / (2 * std::log(2.0)));
      break;
    case Criterion::Squared:
    case Criterion::Poisson: {
      const bool poisson = stats.criterion == Criterion::Poisson;
      for (std::size_t o = 0; o < stats.channels; ++o) {
        const double G = static_cast<double>(total[2 + o]);
        const double deviation = std::max(squares(o) - G * G / H, 0.0);  // sum of h (y - mean)^2
        // deviation / G is variance / mean; the score of Poisson is in the caller's units.
        q += poisson ? (G > 0 ? deviation / G * stats.g_unit / 2 : 0) : deviation / H;
      }
      // Poisson: y log(y / m) <= y (y - m) / m, so no cut gains more than the dispersion.
      out.most = poisson ? 2 * q * H : q * H;
      break;
    }
  }
  out.each = 2 * q * stats.row_h;
  return out;
}

}  // namespace weald
