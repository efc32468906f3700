// What a cut in a column of many categories has to gain.
//
// Categories in the order of their means offer cuts that are fitted to the noise in each of these means: c categories
// that mean nothing gain about (c - 1) q (2 / pi), where q is what a free mean gains on noise. As an information criterion
// does (Mallows 1973, Akaike 1974), each category beyond the second is charged 2 q:
//
//   Gini, squared error           q = Q, the impurity of the node per unit of weight
//   entropy                       q = Q, but at least 1 / (2 ln 2) bits: half the expectation of chi-squared
//   Poisson                       q = variance / (2 mean), half the dispersion
//   misclassification, absolute   q = Q, more than noise gains
//
// for a row's weight. q is of the node, so the price has the unit of the gain.
#pragma once

#include <cmath>

#include "weald/search/column_search.hpp"

namespace weald {

// `total` are the sums of the node's rows.
inline CategoryPrice category_price(const SearchRequest& request, const NodeRows& node, const Lane* total) {
  const Channels& stats = *request.stats;
  const bool packed = stats.layout == Layout::Packed;
  const double H = static_cast<double>(packed ? *total & 0xFFFFFFFF : total[1]);
  const double outputs = static_cast<double>(stats.n_outputs);
  CategoryPrice out;
  out.own = node_score(request, node, total);
  double q = 0;  // in units of the score, for a unit of H
  switch (stats.criterion) {
    case Criterion::Gini: {
      const double G = static_cast<double>(packed ? *total >> 32 : total[2]);
      out.most = (stats.channels == 1 ? G : outputs * H) - out.own;  // what rows by themselves score, less S(node)
      q = out.most / H;
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
      q = std::max(out.most / H, outputs / (2 * std::log(2.0)));
      break;
    case Criterion::Squared:
    case Criterion::Poisson: {
      const bool poisson = stats.criterion == Criterion::Poisson;
      for (std::size_t o = 0; o < stats.channels; ++o) {
        const double G = static_cast<double>(total[2 + o]);
        double squares = 0;
        for (std::size_t i = 0; i < node.n; ++i) {
          const Lane* word = node.words.get(i * stats.lanes, stats.lanes);
          const double g = static_cast<double>(word[2 + o]);
          squares += word[1] > 0 ? g * g / static_cast<double>(word[1]) : 0;
        }
        const double deviation = std::max(squares - G * G / H, 0.0);  // sum of h (y - mean)^2
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
