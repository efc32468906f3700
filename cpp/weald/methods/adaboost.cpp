#include "weald/methods/adaboost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "weald/base/exact_sums.hpp"
#include "weald/tree/prune.hpp"

namespace weald {

namespace {

constexpr double kMostCounts = 0x1p28;  // the sum of whole weights that are counted: a word has room for more
constexpr int kUnitBits = 61;           // of the sum of all weights
constexpr double kRowNs = 2.5;          // rough cost of one row in one column, to decide about threads

}  // namespace

AdaBoost::AdaBoost(const Binned& matrix, const Target& target, Criterion criterion, const Rules& rules,
                   std::span<const double> weights, std::size_t threads)
    : matrix_(matrix),
      target_(target),
      criterion_(criterion),
      rules_(rules),
      threads_(useful_threads(threads, kRowNs * static_cast<double>(matrix.n_rows * matrix.n_columns()))),
      // The rows are summed chunk by chunk, and the chunks in order: the same for any number of threads.
      chunks_(std::clamp<std::size_t>(target.n_rows / kRoundRows, 1, 64)),
      leaf_of_(target.n_rows, 0),
      outputs_(outputs_of(target)),
      n_categories_(categories_of(matrix)) {
  set_weights(weights);
}

void AdaBoost::set_weights(std::span<const double> weights) {
  if (weights.size() != target_.n_rows) throw std::invalid_argument("one weight per row");
  double most = 0, total = 0;
  bool whole = true;
  for (const double w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) throw std::invalid_argument("weights must be finite and >= 0");
    most = std::max(most, w);
    total += w;
    whole = whole && w == std::floor(w);
  }
  if (most == 0) throw std::invalid_argument("no row has a positive weight");
  factors_.assign(weights.begin(), weights.end());
  if (whole && total < kMostCounts) {
    counts_.assign(weights.begin(), weights.end());
    std::fill(factors_.begin(), factors_.end(), 1.0);
  } else {
    for (double& w : factors_) w /= most;  // no sum of large weights can overflow
  }
  for (std::size_t i = 0; i < factors_.size(); ++i) n_present_ += counts_.empty() ? factors_[i] > 0 : counts_[i];
  cut_factors();
}

void AdaBoost::set_factors(std::span<const double> factors) {
  if (factors.size() != target_.n_rows) throw std::invalid_argument("one factor per row");
  for (const double f : factors) {
    if (!(f >= 0) || !std::isfinite(f)) throw std::invalid_argument("factors must be finite and >= 0");
  }
  factors_.assign(factors.begin(), factors.end());
  cut_factors();
}

void AdaBoost::cut_factors() {
  double most = 0;
  for (const double f : factors_) most = std::max(most, f);
  if (most == 0) throw std::invalid_argument("no row has a positive weight");
  ExactSum sum(most);
  for (std::size_t i = 0; i < factors_.size(); ++i) sum.add(factors_[i], count(i));
  per_unit_ = units_per(sum.value(), kUnitBits);
  units_.resize(factors_.size());
  Lane total = 0;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    units_[i] = std::llrint(factors_[i] * per_unit_) * count(i);
    total += units_[i];
  }
  total_ = static_cast<double>(total) / per_unit_;
}

std::vector<double> AdaBoost::weights() const {
  std::vector<double> out(factors_.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = factors_[i] * static_cast<double>(count(i)) / total_;
  return out;
}

void AdaBoost::grow(std::uint64_t key, bool resample, Interrupt& interrupt) {
  const PageCache::Use use(pages_);
  Target target = target_;
  std::vector<std::uint32_t> counts;
  if (resample) {
    Draw draw;
    draw.kind = Drawing::Bootstrap;
    draw.weights = weights();
    draw.size = n_present_;
    counts.resize(target.n_rows);
    RowSampler(draw, target.n_rows, interrupt).draw(key, counts.data(), interrupt);
    target.counts = counts.data();
  } else {
    target.weights = factors_.data();
    target.counts = counts_.empty() ? nullptr : counts_.data();
    target.total_weight = total_;
  }
  Rules rules = rules_;
  rules.seed = combine(key, kTreeKey);
  const double total = resample ? static_cast<double>(n_present_) : total_;
  rules.min_weight_leaf *= total, rules.min_decrease *= total;
  const Precision precision = target.n_rows >= kWordRows ? Precision::Word : Precision::Fine;
  Statistics statistics =
      make_statistics(target, criterion_, rules.min_samples_leaf, interrupt, precision, std::exchange(memory_, {}));
  Shape shape = grow_tree(matrix_, statistics, rules, threads_, interrupt);

  place_rows(shape);
  if (!resample) weigh_classes(interrupt);
  Summary nodes = summarise_tree(shape, target, interrupt);
  if (rules.prune_alpha > 0 && prune(shape, nodes, rules.prune_alpha, interrupt)) {
    place_rows(shape);
    if (!resample) weigh_classes(interrupt);
  }
  statistics.rows = std::exchange(shape.rows, {});
  memory_ = std::move(statistics);
  tree_ = pack(std::move(shape), nodes, outputs_, n_categories_, false, interrupt);
  if (!resample) return;
  number_leaves(tree(), matrix_, threads_, leaf_of_.data(),
                interrupt);  // rows that were not drawn have not been there yet
  weigh_classes(interrupt);
}

void AdaBoost::place_rows(const Shape& shape) {
  if (shape.rows.size() < target_.n_rows) std::fill(leaf_of_.begin(), leaf_of_.end(), 0U);  // rows without weight
  n_leaves_ = number_leaves(shape, leaf_of_.data());
}

// Classes under weights: from the weight of each class in each leaf, which is soon known.
Summary AdaBoost::summarise_tree(const Shape& shape, const Target& target, Interrupt& interrupt) const {
  if (!target.classes || !target.weights) return summarise(shape, target, criterion_, interrupt);
  const std::size_t k = n_classes();
  LeafSums leaves;
  leaves.value = class_weights_;
  for (std::size_t m = 0, leaf = 0; m < shape.size(); ++m) {
    if (!shape.nodes[m].leaf()) continue;
    double* value = &leaves.value[leaf++ * k];
    leaves.n_rows.push_back(static_cast<std::int64_t>(shape.nodes[m].size()));
    leaves.weight.push_back(std::accumulate(value, value + k, 0.0));
    for (std::size_t c = 0; c < k; ++c) value[c] /= leaves.weight.back();
  }
  return summarise_leaves(shape, leaves, 1, target.n_classes, criterion_, interrupt);
}

std::vector<double> AdaBoost::leaf_values(Interrupt& interrupt) const {
  const Unpacked all = unpack(tree_, outputs_, criterion_, interrupt);
  const std::size_t width = outputs_.width();
  std::vector<double> out;
  for (std::size_t m = 0; m < all.shape.size(); ++m) {
    if (!all.shape.nodes[m].leaf()) continue;
    out.insert(out.end(), &all.nodes.value[m * width], &all.nodes.value[m * width] + width);
  }
  return out;
}

void AdaBoost::weigh_classes(Interrupt& interrupt) {
  if (!target_.classes) return;
  const std::size_t k = n_classes(), size = n_leaves_ * k;
  std::vector<Lane> parts(chunks_ * size, 0), units(size, 0);
  parallel_for(threads_, chunks_, interrupt, [&](std::size_t chunk) {
    Lane* sums = &parts[chunk * size];
    for (std::size_t i = chunk_begin(chunk); i < chunk_begin(chunk + 1); ++i) {
      sums[leaf_of_[i] * k + static_cast<std::size_t>(target_.classes[i])] += units_[i];
    }
  });
  for (std::size_t c = 0; c < parts.size(); ++c) units[c % size] += parts[c];
  class_weights_.assign(size, 0.0);
  for (std::size_t c = 0; c < size; ++c) class_weights_[c] = static_cast<double>(units[c]) / per_unit_ / total_;
  // Units are a share of all weight: too coarse for rows of a class that have next to none in a leaf.
  constexpr Lane kLight = Lane{1} << 40;
  if (std::any_of(units.begin(), units.end(), [](Lane sum) { return sum < kLight; })) weigh_light_cells(units, kLight);
}

// Sums some classes of some leaves once more, in units of their own. The rows of most of these are simply not there.
void AdaBoost::weigh_light_cells(const std::vector<Lane>& units, Lane light) {
  const std::size_t k = n_classes();
  const auto for_rows = [&](auto&& visit) {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const std::size_t cell = leaf_of_[i] * k + static_cast<std::size_t>(target_.classes[i]);
      if (units[cell] < light && count(i) > 0) visit(i, cell);
    }
  };
  std::vector<double> most(units.size(), 0.0);
  for_rows([&](std::size_t i, std::size_t cell) { most[cell] = std::max(most[cell], factors_[i]); });
  if (std::all_of(most.begin(), most.end(), [](double each) { return each == 0; })) return;
  std::vector<ExactSum> sums(most.begin(), most.end());
  for_rows([&](std::size_t i, std::size_t cell) { sums[cell].add(factors_[i], count(i)); });
  for (std::size_t cell = 0; cell < sums.size(); ++cell) {
    if (most[cell] > 0) class_weights_[cell] = sums[cell].value() / total_;
  }
}

double AdaBoost::reweight(std::span<const double> factors, Interrupt& interrupt) {
  const std::size_t k = n_classes();
  if (factors.size() != n_leaves_ * k) throw std::invalid_argument("one factor per leaf and class");
  // Divided by the mean before, so that factors stay of the size of 1 whatever their number.
  std::vector<double> scaled(factors.begin(), factors.end());
  const double level = std::exp2(-std::round(std::log2(total_ / static_cast<double>(n_present_))));
  double expected = 0;
  for (std::size_t c = 0; c < scaled.size(); ++c) {
    scaled[c] *= level;
    expected += scaled[c] * class_weights_[c] * total_;
  }
  if (!(expected > 0) || !std::isfinite(expected)) throw std::invalid_argument("the weights vanish or overflow");
  per_unit_ = units_per(expected, kUnitBits);
  std::vector<Lane> parts(chunks_, 0);
  parallel_for(threads_, chunks_, interrupt, [&](std::size_t chunk) {
    Lane sum = 0;
    for (std::size_t i = chunk_begin(chunk); i < chunk_begin(chunk + 1); ++i) {
      factors_[i] *= scaled[leaf_of_[i] * k + static_cast<std::size_t>(target_.classes[i])];
      units_[i] = std::llrint(factors_[i] * per_unit_) * count(i);
      sum += units_[i];
    }
    parts[chunk] = sum;
  });
  const double sum = static_cast<double>(std::accumulate(parts.begin(), parts.end(), Lane{0})) / per_unit_;
  const double ratio = sum / (total_ * level);
  total_ = sum;
  return ratio;
}

}  // namespace weald
