#include "weald/tree/summarise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "weald/base/exact_sums.hpp"
#include "weald/stats/criterion.hpp"

namespace weald {

namespace {

constexpr std::size_t kRowsAhead = 16;  // their targets lie far apart

// Weights of a tree's rows, each as a factor and how often it counts: whole weights count, so that a row of
// weight k adds to every sum exactly what k rows add.
struct RowWeights {
  const Target& target;
  bool whole = true;
  // Brings factors to at most 2^400: no product of two sums overflows, and the lightest row weighs something.
  double scale = 1;

  RowWeights(const Shape& shape, const Target& t, Interrupt& interrupt) : target(t) {
    if (!target.weights && !target.counts) return;  // every row weighs 1
    double most = 0, total = 0;
    for_all(0, shape.rows.size(), interrupt, [&](std::size_t i) {
      const double w = target.weight(shape.rows[i]);
      most = std::max(most, w), total += w;
      whole = whole && target.whole(shape.rows[i]);
    });
    whole = whole && total < 0x1p31;
    if (!whole) scale = 0x1p400 * units_per(most, 0);
  }
  double factor(Row row) const { return whole ? 1.0 : target.factor(row) * scale; }
  double of(Row row) const { return factor(row) * static_cast<double>(times(row)); }
  Lane times(Row row) const {
    return whole ? static_cast<Lane>(target.weight(row)) : target.counts ? target.counts[row] : 1;
  }
};

// Keeps a value within what monotone columns above the node allow.
double within_bounds(const Shape& shape, std::size_t m, double value) {
  return shape.bounds.empty() ? value : std::clamp(value, shape.bounds[m].lower, shape.bounds[m].upper);
}

double impurity_of_shares(const double* p, std::size_t k, Criterion criterion) {
  return with_criterion(criterion, [&](auto kind) { return kind.impurity(p, k); });
}

// Calls fn(m, entry) for all nodes m that have one, the last first: children come after their parents.
template <class Fn>
void for_entries(const Shape& shape, const Summary& out, Patience& patience, Fn&& fn) {
  std::size_t entry = out.weight.size();
  std::size_t some[64];  // listed before, without a branch: which nodes are leaves cannot be foretold
  for (std::size_t m = shape.size(), n = 0; m > 0; n = 0) {
    for (const std::size_t first = m - std::min(m, std::size(some)); m > first;) {
      some[n] = --m;
      n += !out.of_leaves() || shape.nodes[m].leaf();
    }
    patience.spend(16 * n);
    for (std::size_t k = 0; k < n; ++k) fn(some[k], --entry);
  }
}

// Two classes whose weights in every node are known: G << 32 | H.
void summarise_words(const Shape& shape, Criterion criterion, Summary& out, Patience& patience) {
  const std::size_t width = out.width();
  for_entries(shape, out, patience, [&](std::size_t m, std::size_t at) {
    const auto weight = static_cast<double>(shape.nodes[m].sum & 0xFFFFFFFF);
    const auto second = static_cast<double>(shape.nodes[m].sum >> 32);
    const double shares[2] = {(weight - second) / weight, second / weight};
    out.weight[at] = weight;
    out.impurity[at] = impurity_of_shares(shares, 2, criterion);
    const double bounded = within_bounds(shape, m, shares[1]);
    out.value[at * width] = bounded == shares[1] ? shares[0] : 1 - bounded;
    if (width == 2) out.value[at * width + 1] = bounded;
  });
}

// sum_leaf(m, add) adds up a leaf by add(output, class, weight), and returns its weight.
//
// Children come after their parents, a left one at once: going backwards the sums of both are on top of a stack, which stays
// near, however large the tree is. A bit for every class that is there: most nodes have one or two of many.
template <class SumLeaf>
void summarise_classes(const Shape& shape, Criterion criterion, Summary& out, Patience& patience, SumLeaf&& sum_leaf) {
  const std::size_t classes = out.max_classes, width = out.width(), words = (classes + 63) / 64;
  const bool tells = !out.value.empty();
  std::vector<double> sums, shares(classes);  // sums: 0 above the top of the stack
  std::vector<std::uint64_t> present;
  std::vector<std::uint32_t> channels(classes);
  const auto for_present = [&](const std::uint64_t* bits, std::size_t o, auto&& fn) {
    for_bits(bits + o * words, words, [&](std::size_t k) { fn(o * classes + k); });
  };
  std::size_t top = 0;  // nodes on the stack
  for_entries(shape, out, patience, [&](std::size_t m, std::size_t at) {
    const bool leaf = shape.nodes[m].leaf();
    if (leaf) {
      if (sums.size() < ++top * width) sums.resize(2 * top * width), present.resize(2 * top * out.n_outputs * words);
    } else {
      --top;
    }
    double* const own = &sums[(top - 1) * width];
    std::uint64_t* const bits = &present[(top - 1) * out.n_outputs * words];
    if (leaf) {
      out.weight[at] = sum_leaf(m, [&](std::size_t o, std::size_t k, double w) {
        own[o * classes + k] += w;
        bits[o * words + k / 64] |= std::uint64_t{1} << k % 64;
      });
    } else {
      out.weight[m] = out.weight[m + 1] + out.weight[static_cast<std::size_t>(shape.nodes[m].right)];
      std::uint64_t* const left = bits + out.n_outputs * words;
      for (std::size_t o = 0; o < out.n_outputs; ++o)
        for_present(left, o, [&](std::size_t c) { own[c] += std::exchange(own[width + c], 0.0); });
      for (std::size_t w = 0; w < out.n_outputs * words; ++w) bits[w] |= std::exchange(left[w], 0);
    }
    if (out.of_leaves() && !tells && out.n_outputs * words == 1 && std::has_single_bit(*bits)) {  // as most leaves are
      const int only = std::countr_zero(std::exchange(*bits, 0));
      own[only] = 0, out.impurity[at] = 0, --top;
      out.classes[at] = static_cast<std::uint32_t>(only);
      return;
    }
    double* const value = tells ? &out.value[at * width] : nullptr;
    if (tells) std::fill_n(value, width, 0.0);
    double impurity = 0;
    for (std::size_t o = 0; o < out.n_outputs; ++o) {
      std::size_t n = 0;
      for_present(bits, o, [&](std::size_t c) {
        shares[n] = own[c] / out.weight[at];
        channels[n++] = static_cast<std::uint32_t>(c);
        if (out.of_leaves()) own[c] = 0;
      });
      impurity += impurity_of_shares(shares.data(), n, criterion);
      if (tells) {
        for (std::size_t k = 0; k < n; ++k) value[channels[k]] = shares[k];
      } else {
        for (std::size_t k = 0; k < n; ++k) out.shares.push_back({channels[k], shares[k]});
      }
    }
    out.impurity[at] = impurity / static_cast<double>(out.n_outputs);
    if (!tells) {
      out.classes[at] = Summary::kMixed + static_cast<std::uint32_t>(out.ends.size());
      out.ends.push_back(out.shares.size());
    }
    if (out.of_leaves()) std::fill_n(bits, out.n_outputs * words, 0), --top;  // nobody adds it up
    if (tells && classes == 2 && within_bounds(shape, m, value[1]) != value[1]) {
      value[1] = within_bounds(shape, m, value[1]);
      value[0] = 1 - value[1];
    }
  });
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
    double low = kInf, high = -kInf, most = 0;
    Lane count = 0;
    for_all(shape.nodes[m].begin, shape.nodes[m].end, patience, [&](std::size_t i) {
      const Row row = shape.rows[i];
      low = std::min(low, y_of(row)), high = std::max(high, y_of(row));
      most = std::max(most, weights.factor(row)), count += weights.times(row);
    });
    // fn(y, factor) of every row, each of at most this size
    const auto sum = [&](double size, double divisor, auto&& fn) {
      ExactSum out(size);
      for_all(shape.nodes[m].begin, shape.nodes[m].end, patience, [&](std::size_t i) {
        const Row row = shape.rows[i];
        out.add(fn(y_of(row), weights.factor(row)), weights.times(row));
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

  // Of a and b together; b has this part of their weight.
  static Moments merge(const Moments& a, const Moments& b, double part) {
    Moments out;
    out.weight = a.weight + b.weight;
    const double gap = b.mean - a.mean;
    out.mean = a.mean + gap * part;
    out.deviation = a.deviation + b.deviation + gap * gap * (a.weight * part);
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

// of_leaf(m, moments, weight) finds the moments of a leaf, its weight multiplied by `scale` and targets by `y_scale`. Of a leaf
// of one row, as most are, it tells the weight instead, and where the target is. On a stack as well.
template <class OfLeaf>
void summarise_means(const Shape& shape, Criterion criterion, double scale, double y_scale, Summary& out,
                     Patience& patience, OfLeaf&& of_leaf) {
  const std::size_t outputs = out.n_outputs;
  std::vector<Moments> stack(outputs);
  std::size_t top = 0;
  const double y_unit = 1 / y_scale, n_outputs = static_cast<double>(outputs);  // y_unit: a power of two
  for_entries(shape, out, patience, [&](std::size_t m, std::size_t at) {
    const bool leaf = shape.nodes[m].leaf();
    if (leaf && stack.size() < (top + 1) * outputs) stack.resize(2 * stack.size());
    Moments* own = &stack[leaf ? top++ * outputs : (--top - 1) * outputs];
    if (out.of_leaves()) --top;  // nobody adds it up
    double weight = 1, impurity = 0;
    const double* const y = leaf ? of_leaf(m, own, weight) : nullptr;
    double* const value = &out.value[at * outputs];
    if (y && out.of_leaves()) {
      out.weight[at] = weight, out.impurity[at] = 0;
      std::copy_n(y, outputs, value);
      return;
    }
    patience.spend(8 * outputs);
    const Moments* left = own + outputs;
    const double part = leaf ? 0 : own->weight / (left->weight + own->weight);
    for (std::size_t o = 0; o < outputs; ++o) {
      if (y) own[o] = Moments{{weight, y[o] * y_scale, 0, 0}};
      if (!leaf) own[o] = Moments::merge(left[o], own[o], part);
      if (!y) impurity += own[o].impurity(criterion) / n_outputs * y_unit * y_unit;
      value[o] = within_bounds(shape, m, own[o].mean * y_unit);
    }
    out.weight[at] = own->weight / scale;
    out.impurity[at] = impurity;
  });
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
    out.impurity[m] = 0;
    for (std::size_t o = 0; o < out.n_outputs; ++o) {
      rows.clear();
      double most = 0, below = 0;
      for_all(shape.nodes[m].begin, shape.nodes[m].end, patience, [&](std::size_t i) {
        const Row row = shape.rows[i];
        rows.push_back({target.values[row * out.n_outputs + o], weights.of(row), row});
        most = std::max(most, weights.factor(row));
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

Summary empty_summary(std::size_t n_nodes, std::size_t n_outputs, const std::vector<std::uint32_t>& n_classes,
                      NodeValues whose = NodeValues::OfAll) {
  Summary out;
  out.whose = whose;
  out.n_outputs = n_outputs;
  out.max_classes = n_classes.empty() ? 1 : *std::max_element(n_classes.begin(), n_classes.end());
  const std::size_t n = out.of_leaves() ? (n_nodes + 1) / 2 : n_nodes;
  out.n_rows.resize(out.of_leaves() ? 0 : n), out.weight.resize(n), out.impurity.resize(n);
  if (!out.of_leaves() || out.max_classes <= 2) {
    out.value.resize(n * out.width());
  } else {
    out.classes.resize(n);
  }
  return out;
}

}  // namespace

Summary summarise(const Shape& shape, const Target& target, Criterion criterion, Interrupt& interrupt,
                  NodeValues whose) {
  Patience patience(interrupt);
  Summary out = empty_summary(shape.size(), target.n_outputs, target.n_classes, whose);
  for (std::size_t m = 0; m < out.n_rows.size(); ++m) {
    out.n_rows[m] = static_cast<std::int64_t>(shape.nodes[m].size());
  }
  if (shape.has_sums) {
    summarise_words(shape, criterion, out, patience);
  } else if (target.classes) {
    summarise_classes(shape, criterion, out, patience, [&](std::size_t m, auto&& add) {
      double weight = 0;
      if (shape.nodes[m].begin >= kRowsAhead)
        prefetch(target.classes + std::size_t{shape.rows[shape.nodes[m].begin - kRowsAhead]} * out.n_outputs);
      for_all(shape.nodes[m].begin, shape.nodes[m].end, patience, [&](std::size_t i) {
        const Row row = shape.rows[i];
        const double w = target.weight(row);
        weight += w;
        for (std::size_t o = 0; o < out.n_outputs; ++o)
          add(o, static_cast<std::size_t>(target.classes[row * out.n_outputs + o]), w);
      });
      return weight;
    });
  } else if (is_from_rows(criterion)) {
    summarise_medians(shape, target, out, interrupt);
  } else {
    const RowWeights weights(shape, target, interrupt);
    const std::size_t outputs = out.n_outputs;
    const bool all = shape.rows.size() == target.n_rows;  // then in their own order
    double most = 0;
    const bool simple = weights.whole && !needs_logarithms(criterion);
    const bool as_given = simple && out.of_leaves() && out.weight.size() == shape.rows.size();  // leaves of a row each
    for (std::size_t i = 0; i < shape.rows.size() && !as_given; ++i) {
      patience.spend(outputs);
      const double* y = target.values + std::size_t{all ? static_cast<Row>(i) : shape.rows[i]} * outputs;
      for (std::size_t o = 0; o < outputs; ++o) most = std::max(most, std::abs(y[o]));
    }
    // Squares may overflow; y log y does not, and would lose digits in other units.
    const double y_scale = needs_logarithms(criterion) ? 1 : units_per(most, 0);
    summarise_means(shape, criterion, weights.scale, y_scale, out, patience,
                    [&](std::size_t m, Moments* own, double& weight) -> const double* {
                      const Row* const rows = &shape.rows[shape.nodes[m].begin];
                      if (shape.nodes[m].begin >= kRowsAhead)
                        prefetch(target.values + std::size_t{*(rows - kRowsAhead)} * outputs);
                      weight = static_cast<double>(weights.times(*rows));
                      if (simple && shape.nodes[m].size() == 1) return target.values + std::size_t{*rows} * outputs;
                      for (std::size_t o = 0; o < outputs; ++o)
                        own[o] = Moments::of(shape, m, weights, o, y_scale, criterion, patience);
                      return nullptr;
                    });
  }
  return out;
}

Summary summarise_leaves(const Shape& shape, const LeafSums& leaves, std::size_t n_outputs,
                         const std::vector<std::uint32_t>& n_classes, Criterion criterion, Interrupt& interrupt) {
  Patience patience(interrupt);
  Summary out = empty_summary(shape.size(), n_outputs, n_classes);
  std::size_t leaf = leaves.weight.size();
  const std::size_t width = out.width();
  for (std::size_t m = shape.size(); m-- > 0;) {
    out.n_rows[m] = shape.nodes[m].leaf()
                        ? leaves.n_rows[--leaf]
                        : out.n_rows[m + 1] + out.n_rows[static_cast<std::size_t>(shape.nodes[m].right)];
  }
  leaf = leaves.weight.size();
  if (!n_classes.empty()) {
    summarise_classes(shape, criterion, out, patience, [&](std::size_t, auto&& add) {
      const double weight = leaves.weight[--leaf];
      for (std::size_t k = 0; k < width; ++k) {
        // The whole weight that the share came from, if there is one.
        const double share = leaves.value[leaf * width + k], whole = std::round(share * weight);
        add(k / out.max_classes, k % out.max_classes,
            std::abs(whole / weight - share) < 1e-15 ? whole : share * weight);
      }
      return weight;
    });
    return out;
  }
  const bool medians = is_from_rows(criterion);
  summarise_means(shape, criterion, 1, 1, out, patience, [&](std::size_t, Moments* own, double&) -> const double* {
    --leaf;
    for (std::size_t o = 0; o < width; ++o) {
      own[o] =
          Moments::with_impurity(leaves.weight[leaf], leaves.value[leaf * width + o], leaves.impurity[leaf], criterion);
    }
    return nullptr;
  });
  leaf = 0;
  for (std::size_t m = 0; m < shape.size() && medians; ++m) {
    const bool is_leaf = shape.nodes[m].leaf();
    out.impurity[m] = is_leaf ? leaves.impurity[leaf++] : kNaN;
    if (!is_leaf) std::fill_n(&out.value[m * width], width, kNaN);
  }
  return out;
}

}  // namespace weald
