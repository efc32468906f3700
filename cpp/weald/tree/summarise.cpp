#include "weald/tree/summarise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "weald/base/exact_sums.hpp"
#include "weald/stats/criterion.hpp"

namespace weald {

namespace {

// The power of two that brings numbers of at most this size to at most 1.
double scale_for(double most) {
  int exponent = 0;
  if (most > 0) std::frexp(most, &exponent);
  return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
}

// Weights of a tree's rows, each as a factor and how often it counts: whole weights count, so that a row of
// weight k adds to every sum exactly what k rows add.
struct RowWeights {
  const Target& target;
  bool whole = true;
  // Brings factors to at most 2^400: no product of two sums overflows, and the lightest row weighs something.
  double scale = 1;

  RowWeights(const Shape& shape, const Target& t, Interrupt& interrupt) : target(t) {
    double most = 0, total = 0;
    for_stretches(0, shape.rows.size(), interrupt, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double w = target.weight(shape.rows[i]);
        most = std::max(most, w), total += w;
        whole = whole && target.whole(shape.rows[i]);
      }
    });
    whole = whole && total < 0x1p31;
    if (!whole) scale = 0x1p400 * scale_for(most);
  }
  double factor(Row row) const { return whole ? 1.0 : target.factor(row) * scale; }
  double of(Row row) const { return factor(row) * static_cast<double>(times(row)); }
  Lane times(Row row) const {
    return whole ? static_cast<Lane>(target.weight(row)) : target.counts ? target.counts[row] : 1;
  }
};

// Keeps a value within what monotone columns above the node allow.
double within_bounds(const Shape& shape, std::size_t m, double value) {
  return shape.lower.empty() ? value : std::clamp(value, shape.lower[m], shape.upper[m]);
}

double impurity_of_shares(const double* p, std::size_t k, Criterion criterion) {
  return with_criterion(criterion, [&](auto kind) { return kind.impurity(p, k); });
}

// sum_leaf(m, sums, weight) adds up a leaf's class weights.
template <class SumLeaf>
void summarise_classes(const Shape& shape, const std::vector<std::uint32_t>& n_classes, Criterion criterion,
                       Summary& out, Patience& patience, SumLeaf&& sum_leaf) {
  const std::size_t width = out.n_outputs * out.max_classes;
  std::fill(out.value.begin(), out.value.end(), 0.0);
  for (std::size_t m = shape.size(); m-- > 0;) {
    patience.spend(8 + width);
    double* value = &out.value[m * width];
    if (shape.right[m] < 0) {
      sum_leaf(m, value, out.weight[m]);
    } else {
      const std::size_t children[] = {m + 1, static_cast<std::size_t>(shape.right[m])};
      for (const std::size_t child : children) {
        out.weight[m] += out.weight[child];
        for (std::size_t c = 0; c < width; ++c) value[c] += out.value[child * width + c];
      }
    }
  }
  const bool bounded = !shape.lower.empty() && n_classes[0] == 2;
  for (std::size_t m = 0; m < shape.size(); ++m) {  // sums become shares once all are summed
    patience.spend(8 + 4 * width);
    double* value = &out.value[m * width];
    for (std::size_t c = 0; c < width; ++c) value[c] /= out.weight[m];
    for (std::size_t o = 0; o < out.n_outputs; ++o) {
      out.impurity[m] += impurity_of_shares(value + o * out.max_classes, n_classes[o], criterion);
    }
    out.impurity[m] /= static_cast<double>(out.n_outputs);
    if (bounded && within_bounds(shape, m, value[1]) != value[1]) {
      value[1] = within_bounds(shape, m, value[1]);
      value[0] = 1 - value[1];
    }
  }
}

// The same for many classes, of which leaves keep those that they have. Children come after their parents, a left one at
// once: going backwards the sums of both are on top of a stack, which stays near, however large the tree is.
template <class SumLeaf>
void summarise_in_short(const Shape& shape, Criterion criterion, Summary& out, Patience& patience, SumLeaf&& sum_leaf) {
  const std::size_t width = out.n_outputs * out.max_classes;
  std::vector<double> stack, shares(width);
  std::vector<std::uint32_t> channels(width);
  for (std::size_t m = shape.size(); m-- > 0;) {
    patience.spend(8 + 4 * width);
    const bool leaf = shape.right[m] < 0;
    if (leaf) {
      stack.resize(stack.size() + width, 0.0);
      sum_leaf(m, &stack[stack.size() - width], out.weight[m]);
    } else {
      out.weight[m] = out.weight[m + 1] + out.weight[static_cast<std::size_t>(shape.right[m])];
      double *left = &stack[stack.size() - width], *right = left - width;
      for (std::size_t c = 0; c < width; ++c) right[c] += left[c];
      stack.resize(stack.size() - width);
    }
    const double* sums = &stack[stack.size() - width];
    for (std::size_t o = 0; o < out.n_outputs; ++o) {
      std::size_t n = 0;  // classes that are here; no branch, since those cannot be foretold
      for (std::size_t c = o * out.max_classes; c < (o + 1) * out.max_classes; ++c) {
        shares[n] = sums[c], channels[n] = static_cast<std::uint32_t>(c);
        n += std::bit_cast<std::uint64_t>(sums[c]) != 0;
      }
      for (std::size_t k = 0; k < n; ++k) shares[k] /= out.weight[m];
      out.impurity[m] += impurity_of_shares(shares.data(), n, criterion);
      for (std::size_t k = 0; k < n && leaf; ++k) out.shares.push_back({channels[k], shares[k]});
    }
    out.impurity[m] /= static_cast<double>(out.n_outputs);
    if (leaf) out.ends.push_back(out.shares.size());
  }
}

double xlogx(double x) { return x > 0 ? x * std::log(x) : 0.0; }

// Weighted mean and sum of squared deviations of one output, mergeable without cancellation
// (Chan, Golub & LeVeque 1983).
struct Moments : NodeMoments {
  // Of the rows of a leaf; targets times `y_scale` are at most 1, so that no square of them overflows.
  static Moments of(const Shape& shape, std::size_t m, const RowWeights& weights, std::size_t o, double y_scale,
                    Criterion criterion, Patience& patience) {
    const Target& target = weights.target;
    const auto y_of = [&](Row row) { return target.values[row * target.n_outputs + o] * y_scale; };
    if (shape.end[m] - shape.begin[m] == 1 && weights.whole && !needs_logarithms(criterion)) {  // as most leaves have
      const Row row = shape.rows[shape.begin[m]];
      return {{static_cast<double>(weights.times(row)), y_of(row), 0, 0}};
    }
    double low = kInf, high = -kInf, most = 0;
    Lane count = 0;
    for_stretches(shape.begin[m], shape.end[m], patience, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Row row = shape.rows[i];
        low = std::min(low, y_of(row)), high = std::max(high, y_of(row));
        most = std::max(most, weights.factor(row)), count += weights.times(row);
      }
    });
    // fn(y, factor) of every row, each of at most this size
    const auto sum = [&](double size, double divisor, auto&& fn) {
      ExactSum out(size);
      for_stretches(shape.begin[m], shape.end[m], patience, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Row row = shape.rows[i];
          out.add(fn(y_of(row), weights.factor(row)), weights.times(row));
        }
      });
      return out.value(divisor);
    };
    Moments out;
    out.weight = weights.whole ? static_cast<double>(count) : sum(most, 1, [](double, double w) { return w; });
    out.mean = low;
    if (high > low) {
      const double spread = high - low;
      out.mean += std::min(sum(most * spread, out.weight, [&](double y, double w) { return w * (y - low); }), spread);
      out.deviation =
          sum(most * spread * spread, 1, [&](double y, double w) { return w * (y - out.mean) * (y - out.mean); });
    }
    if (needs_logarithms(criterion) && high > 0) {  // y |log y| is at most 1/e between 0 and 1
      const double size = std::max({std::abs(xlogx(low)), std::abs(xlogx(high)), low < 1 ? std::exp(-1.0) : 0.0});
      out.ylogy = sum(most * size, 1, [](double y, double w) { return w * xlogx(y); });
    }
    return out;
  }

  static Moments merge(const Moments& a, const Moments& b) {
    Moments out;
    out.weight = a.weight + b.weight;
    const double gap = b.mean - a.mean;
    out.mean = a.mean + gap * (b.weight / out.weight);
    out.deviation = a.deviation + b.deviation + gap * gap * (a.weight * (b.weight / out.weight));
    out.ylogy = a.ylogy + b.ylogy;
    return out;
  }

  // The inverse of impurity(), for a leaf that is known by its mean and impurity.
  static Moments with_impurity(double weight, double mean, double impurity, Criterion criterion) {
    const double ylogy = mean > 0 ? (impurity + mean * std::log(mean)) * weight : 0;
    return {{weight, mean, impurity * weight, needs_logarithms(criterion) ? ylogy : 0}};
  }

  double impurity(Criterion criterion) const {
    return with_criterion(criterion, [&](auto kind) { return kind.impurity(*this); });
  }
};

// of_leaf(m, o) gives the moments of a leaf, its weight multiplied by `scale` and targets by `y_scale`. On a stack as well.
template <class OfLeaf>
void summarise_means(const Shape& shape, Criterion criterion, double scale, double y_scale, Summary& out,
                     Patience& patience, OfLeaf&& of_leaf) {
  std::vector<Moments> stack;
  const std::size_t outputs = out.n_outputs;
  const double y_unit = 1 / y_scale, n_outputs = static_cast<double>(outputs);  // y_unit: a power of two
  for (std::size_t m = shape.size(); m-- > 0;) {
    patience.spend(8 * outputs);
    if (shape.right[m] < 0) {
      for (std::size_t o = 0; o < outputs; ++o) stack.push_back(of_leaf(m, o));
    } else {
      const Moments* left = &stack[stack.size() - outputs];
      Moments* right = &stack[stack.size() - 2 * outputs];
      for (std::size_t o = 0; o < outputs; ++o) right[o] = Moments::merge(left[o], right[o]);
      stack.resize(stack.size() - outputs);
    }
    for (std::size_t o = 0; o < outputs; ++o) {
      const Moments& here = stack[stack.size() - outputs + o];
      out.weight[m] = here.weight / scale;
      out.impurity[m] += here.impurity(criterion) / n_outputs * y_unit * y_unit;
      out.value[m * outputs + o] = within_bounds(shape, m, here.mean * y_unit);
    }
  }
}

void summarise_medians(const Shape& shape, const Target& target, Summary& out, Interrupt& interrupt) {
  struct Place {
    double y, weight;
    Row row;
    bool operator<(const Place& other) const { return y < other.y; }
  };
  const RowWeights weights(shape, target, interrupt);
  std::vector<Place> rows;
  Patience patience(interrupt);
  for (std::size_t m = 0; m < shape.size(); ++m) {
    for (std::size_t o = 0; o < out.n_outputs; ++o) {
      rows.clear();
      double most = 0, below = 0;
      for_stretches(shape.begin[m], shape.end[m], patience, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Row row = shape.rows[i];
          rows.push_back({target.values[row * out.n_outputs + o], weights.of(row), row});
          most = std::max(most, weights.factor(row));
        }
      });
      ExactSum sum(most);
      for (const Place& p : rows) sum.add(weights.factor(p.row), weights.times(p.row));
      const double total = sum.value(), half = total / 2, slack = 1e-12 * total;  // sums of weights are rounded
      arrange_patiently(rows.size(), interrupt, [&](auto&& less) { std::sort(rows.begin(), rows.end(), less); });
      patience.spend(8 * rows.size());
      std::size_t k = 0;
      while (k + 1 < rows.size() && below + rows[k].weight < half - slack) below += rows[k++].weight;
      double median = rows[k].y;
      if (k + 1 < rows.size() && below + rows[k].weight <= half + slack) {  // any point between does
        median = median / 2 + rows[k + 1].y / 2;
      }
      // In halves: a distance may be too large for a number.
      const double reach = std::max(rows.back().y / 2 - median / 2, median / 2 - rows.front().y / 2);
      ExactSum error(most * reach);
      for (const Place& p : rows) {
        error.add(weights.factor(p.row) * std::abs(p.y / 2 - median / 2), weights.times(p.row));
      }
      out.weight[m] = total / weights.scale;
      out.impurity[m] += 2 * error.value(total) / static_cast<double>(out.n_outputs);
      out.value[m * out.n_outputs + o] = within_bounds(shape, m, median);
    }
  }
}

}  // namespace

namespace {

Summary empty_summary(std::size_t n_nodes, std::size_t n_outputs, const std::vector<std::uint32_t>& n_classes,
                      Shares whose = Shares::OfAll) {
  Summary out;
  out.n_outputs = n_outputs;
  out.max_classes = n_classes.empty() ? 1 : *std::max_element(n_classes.begin(), n_classes.end());
  out.n_rows.assign(n_nodes, 0);
  out.weight.assign(n_nodes, 0.0);
  out.impurity.assign(n_nodes, 0.0);
  const bool in_short = whose == Shares::OfLeaves && out.max_classes > 2;
  if (!in_short) out.value.resize(n_nodes * out.n_outputs * out.max_classes);
  return out;
}

}  // namespace

Summary summarise(const Shape& shape, const Target& target, Criterion criterion, Interrupt& interrupt, Shares whose) {
  Patience patience(interrupt);
  Summary out = empty_summary(shape.size(), target.n_outputs, target.n_classes, whose);
  for (std::size_t m = 0; m < shape.size(); ++m) {
    out.n_rows[m] = static_cast<std::int64_t>(shape.end[m] - shape.begin[m]);
  }
  if (!shape.sums.empty()) {
    summarise_classes(shape, target.n_classes, criterion, out, patience,
                      [&](std::size_t m, double* value, double& weight) {
                        weight = static_cast<double>(shape.sums[m] & 0xFFFFFFFF);
                        const auto second = static_cast<double>(shape.sums[m] >> 32);
                        if (out.max_classes == 2) value[1] = second;
                        value[0] = weight - second;
                      });
  } else if (target.classes) {
    const auto sum_leaf = [&](std::size_t m, double* value, double& weight) {
      for_stretches(shape.begin[m], shape.end[m], patience, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Row row = shape.rows[i];
          const double w = target.weight(row);
          weight += w;
          for (std::size_t o = 0; o < out.n_outputs; ++o) {
            const auto k = static_cast<std::size_t>(target.classes[row * out.n_outputs + o]);
            value[o * out.max_classes + k] += w;
          }
        }
      });
    };
    out.value.empty() ? summarise_in_short(shape, criterion, out, patience, sum_leaf)
                      : summarise_classes(shape, target.n_classes, criterion, out, patience, sum_leaf);
  } else if (is_from_rows(criterion)) {
    summarise_medians(shape, target, out, interrupt);
  } else {
    const RowWeights weights(shape, target, interrupt);
    double most = 0;
    for (const Row row : shape.rows) {
      patience.spend(out.n_outputs);
      for (std::size_t o = 0; o < out.n_outputs; ++o)
        most = std::max(most, std::abs(target.values[row * out.n_outputs + o]));
    }
    // Squares may overflow; y log y does not, and would lose digits in other units.
    const double y_scale = needs_logarithms(criterion) ? 1 : scale_for(most);
    summarise_means(shape, criterion, weights.scale, y_scale, out, patience, [&](std::size_t m, std::size_t o) {
      return Moments::of(shape, m, weights, o, y_scale, criterion, patience);
    });
  }
  return out;
}

Summary summarise_leaves(const Shape& shape, const LeafSums& leaves, std::size_t n_outputs,
                         const std::vector<std::uint32_t>& n_classes, Criterion criterion, Interrupt& interrupt) {
  Patience patience(interrupt);
  Summary out = empty_summary(shape.size(), n_outputs, n_classes);
  std::vector<std::size_t> leaf_of(shape.size());
  for (std::size_t m = 0, leaf = 0; m < shape.size(); ++m) {
    if (shape.right[m] < 0) leaf_of[m] = leaf++;
  }
  for (std::size_t m = shape.size(); m-- > 0;) {
    out.n_rows[m] = shape.right[m] < 0 ? leaves.n_rows[leaf_of[m]]
                                       : out.n_rows[m + 1] + out.n_rows[static_cast<std::size_t>(shape.right[m])];
  }
  const std::size_t width = out.n_outputs * out.max_classes;
  if (!n_classes.empty()) {
    const auto sum_leaf = [&](std::size_t m, double* value, double& weight) {
      weight = leaves.weight[leaf_of[m]];
      for (std::size_t k = 0; k < width; ++k) {
        // The whole weight that the share came from, if there is one.
        const double share = leaves.value[leaf_of[m] * width + k], whole = std::round(share * weight);
        value[k] = std::abs(whole / weight - share) < 1e-15 ? whole : share * weight;
      }
    };
    summarise_classes(shape, n_classes, criterion, out, patience, sum_leaf);
    return out;
  }
  const bool medians = is_from_rows(criterion);
  summarise_means(shape, criterion, 1, 1, out, patience, [&](std::size_t m, std::size_t o) {
    const std::size_t leaf = leaf_of[m];
    return Moments::with_impurity(leaves.weight[leaf], leaves.value[leaf * width + o], leaves.impurity[leaf],
                                  criterion);
  });
  for (std::size_t m = 0; m < shape.size() && medians; ++m) {
    const bool leaf = shape.right[m] < 0;
    out.impurity[m] = leaf ? leaves.impurity[leaf_of[m]] : kNaN;
    if (!leaf) std::fill_n(&out.value[m * width], width, kNaN);
  }
  return out;
}

}  // namespace weald
