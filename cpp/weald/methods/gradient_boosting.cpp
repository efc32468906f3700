#include "weald/methods/gradient_boosting.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "weald/base/paths.hpp"
#include "weald/bins/sparse_cells.hpp"
#include "weald/stats/quadratic.hpp"

namespace weald {

namespace {

constexpr double kRowNs = 2.5;   // rough cost of one row in one column, to decide about threads
constexpr double kNodeNs = 150;  // and of one node, however few its rows
constexpr double kLossNs = 4;

}  // namespace

GradientBoosting::GradientBoosting(const Binned& matrix, const Rules& rules, std::size_t n_scores,
                                   std::span<const double> weights, std::size_t threads)
    : scores(n_scores * matrix.n_rows, 0.0),
      gradients(n_scores * matrix.n_rows, 0.0),
      hessians(n_scores * matrix.n_rows, 1.0),
      matrix_(view_of(matrix)),
      rules_(rules),
      n_scores_(n_scores),
      threads_(threads),
      weights_(weights.begin(), weights.end()),
      grown_(n_scores),
      n_categories_(categories_of(matrix)) {
  total_weight_ = static_cast<double>(n_rows());
  if (weights.empty()) return;
  if (weights.size() != n_rows()) throw std::invalid_argument("one weight per row");
  for (const double w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) throw std::invalid_argument("weights must be finite and >= 0");
    whole_weights_ = whole_weights_ && w == std::floor(w);
  }
  total_weight_ = std::accumulate(weights.begin(), weights.end(), 0.0);
  whole_weights_ = whole_weights_ && total_weight_ < 0x1p28;
}

double GradientBoosting::sum_losses(const LossSpec& loss, std::span<const double> targets, bool derive,
                                    Interrupt& interrupt) {
  const std::size_t n = n_rows(), chunks = (n + kLossRows - 1) / kLossRows;
  if (targets.size() != n) throw std::invalid_argument("one target per row");
  if (loss.kind == LossKind::Softmax) {
    for (const double y : targets) {
      if (!(y >= 0 && y < static_cast<double>(n_scores_))) throw std::invalid_argument("a class code is out of range");
    }
  } else if (n_scores_ != 1) {
    throw std::invalid_argument("this loss has one score");
  }
  LossArrays arrays{n,
                    n_scores_,
                    targets.data(),
                    scores.data(),
                    derive ? gradients.data() : nullptr,
                    derive ? hessians.data() : nullptr,
                    weights_.empty() ? nullptr : weights_.data()};
  std::vector<double> sums(chunks);
  const std::size_t useful = useful_threads(threads_, kLossNs * static_cast<double>(n * n_scores_));
  parallel_chunks(useful, chunks, interrupt, [&](std::size_t chunk) {
    sums[chunk] = weald::differentiate(loss, arrays, chunk * kLossRows, std::min(n, (chunk + 1) * kLossRows));
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / total_weight_;
}

Derivatives GradientBoosting::derivatives_of(std::size_t k) const {
  const std::size_t n = n_rows();
  return {n, gradients.data() + k * n, hessians.data() + k * n, round_weights_, round_whole_, round_total_};
}

void GradientBoosting::count_rows(const RoundPlan& plan) {
  round_weights_ = weights_.empty() ? nullptr : weights_.data();
  round_whole_ = whole_weights_, round_total_ = total_weight_;
  if (plan.multipliers.empty()) return;
  if (plan.multipliers.size() != n_rows()) throw std::invalid_argument("one multiplier per row");
  counted_.resize(n_rows());
  round_total_ = 0;
  for (std::size_t i = 0; i < n_rows(); ++i) {
    const double times = plan.multipliers[i];
    if (!(times >= 0) || !std::isfinite(times)) throw std::invalid_argument("multipliers must be finite and >= 0");
    counted_[i] = weights_.empty() ? times : weights_[i] * times;
    round_total_ += counted_[i];
    round_whole_ = round_whole_ && times == std::floor(times);
  }
  round_whole_ = round_whole_ && round_total_ < 0x1p28;
  round_weights_ = counted_.data();
}

void GradientBoosting::grow(const RoundPlan& plan, Interrupt& interrupt) {
  count_rows(plan);
  copies_.lend(matrix_, threads_, interrupt);
  vector_ = plan.vector && n_scores_ > 1;
  if (vector_) return grow_vector(plan, interrupt);
  const std::size_t n_leaves = std::min(n_rows() / std::max<std::size_t>(rules_.min_samples_leaf, 1),
                                        rules_.max_leaves == 0 ? n_rows() : rules_.max_leaves);
  const double work = (kRowNs * static_cast<double>(n_rows()) + kNodeNs * static_cast<double>(2 * n_leaves)) *
                      static_cast<double>(matrix_.n_columns() * n_scores_);
  const std::size_t useful = useful_threads(threads_, work);
  while (pages_.size() < useful) pages_.emplace_back(kCachedHistograms);
  if (n_scores_ == 1 || useful == 1) {
    const PageCache::Use use(pages_[0]);
    memory_.resize(1);
    for (std::size_t k = 0; k < n_scores_; ++k) grow_one(plan, k, useful, memory_[0], interrupt);
    return note_divided();
  }
  // A tree per thread.
  memory_.resize(n_scores_);
  std::atomic<std::size_t> next{0};
  parallel_for(useful, useful, interrupt, [&](std::size_t part) {
    const PageCache::Use use(pages_[part]);
    for (std::size_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < n_scores_;) {
      grow_one(plan, k, 1, memory_[k], interrupt);
    }
  });
  note_divided();
}

void GradientBoosting::note_divided() {
  for (const Grown& tree : grown_) copies_.note(tree.shape, matrix_.n_columns());
}

void GradientBoosting::grow_one(const RoundPlan& plan, std::size_t k, std::size_t threads, RowStatistics& memory,
                                Interrupt& interrupt) {
  Grown& tree = grown_[k];
  memory.rows = forget(tree);
  const Derivatives given = derivatives_of(k);
  tree.units = {choose_fine_units(given, threads, interrupt)};
  const bool bins = matrix_.row_bytes != nullptr || (matrix_.sparse && matrix_.sparse->bins);
  Statistics stats = make_gradient_statistics(given, tree.units[0], plan.newton, plan.lambda, rules_.min_samples_leaf,
                                              !bins, std::exchange(memory, {}), threads, interrupt);
  Rules rules = rules_;
  rules.seed = combine(combine(plan.key, kTreeKey), k);
  Shape shape = grow_in_columns(matrix_, stats, rules, plan.columns, threads, interrupt);
  finish(tree, std::move(shape), threads, interrupt);
  measure_nodes(tree, k, plan, stats.g_unit, stats.h_unit, interrupt);
  memory = std::move(stats);
}

// No tree is there until the next one is finished, however that ends. What remains is the memory of its rows.
BigVector<Row> GradientBoosting::forget(Grown& tree) {
  tree.leaves.clear(), tree.leaf_of.clear(), tree.values.clear(), tree.leaf_byte.clear();
  return std::exchange(tree.shape, {}).rows;
}

// One tree for all scores: least squares on all negative gradients at once.
void GradientBoosting::grow_vector(const RoundPlan& plan, Interrupt& interrupt) {
  Grown& tree = grown_[0];
  forget(tree);
  tree.units.clear();
  const std::size_t n = n_rows();
  BigVector<double> negative(n * n_scores_);
  for (std::size_t k = 0; k < n_scores_; ++k) {
    tree.units.push_back(choose_fine_units(derivatives_of(k), threads_, interrupt));
    for (std::size_t i = 0; i < n; ++i) negative[i * n_scores_ + k] = -gradients[k * n + i];
  }
  Target target;
  target.n_rows = n, target.n_outputs = n_scores_, target.values = negative.data(), target.weights = round_weights_;
  Statistics stats = make_statistics(target, Criterion::Squared, rules_.min_samples_leaf, interrupt);
  stats.lambda = plan.lambda / stats.h_unit;
  Rules rules = rules_;
  rules.seed = combine(plan.key, kTreeKey);
  Shape shape = grow_in_columns(matrix_, stats, rules, plan.columns, threads_, interrupt);
  finish(tree, std::move(shape), threads_, interrupt);
  measure_nodes(tree, 0, plan, 1, 1, interrupt);
}

void GradientBoosting::finish(Grown& tree, Shape shape, std::size_t threads, Interrupt& interrupt) {
  tree.shape = std::move(shape);
  const Shape& s = tree.shape;
  for (std::size_t m = 0; m < s.size(); ++m) {
    if (s.nodes[m].leaf()) tree.leaves.push_back({s.nodes[m].begin, s.nodes[m].end});
  }
  tree.values.assign(tree.leaves.size() * (vector_ ? n_scores_ : 1), 0.0);
  const std::size_t n = n_rows();
  const bool bytes = uses(Path::LeafBytes) && s.rows.size() == n && tree.leaves.size() <= 256;
  tree.leaf_byte.resize(bytes ? n : 0);
  if (!bytes) return;
  // The rows of a leaf are in ascending order: each thread writes a range of them, of all leaves.
  const std::size_t parts = useful_threads(threads, static_cast<double>(n));
  parallel_for(parts, parts, interrupt, [&](std::size_t part) {
    const auto from = static_cast<Row>(n * part / parts), to = static_cast<Row>(n * (part + 1) / parts);
    for (std::size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      const Row* end = s.rows.data() + tree.leaves[leaf].end;
      const Row* row = std::lower_bound(s.rows.data() + tree.leaves[leaf].begin, end, from);
      for (; row != end && *row < to; ++row) tree.leaf_byte[*row] = static_cast<std::uint8_t>(leaf);
    }
  });
}

// What each split gains, and the H of each node: from the sums of the pairs or, where there are none,
// from those of the leaves, upwards. A vector tree gains for all scores together.
void GradientBoosting::measure_nodes(Grown& tree, std::size_t k, const RoundPlan& plan, double g_unit, double h_unit,
                                     Interrupt& interrupt) {
  const Shape& s = tree.shape;
  const std::size_t n = s.size();
  std::vector<double> scored(n, 0.0), G(n), H(n);
  const auto add_scores = [&] {
    for (std::size_t m = 0; m < n; ++m) scored[m] += H[m] > 0 ? wide_quadratic(G[m], H[m] + plan.lambda) : 0.0;
  };
  if (s.has_sums) {
    for (std::size_t m = 0; m < n; ++m) {
      G[m] = static_cast<double>(s.nodes[m].sum >> 32) * g_unit,
      H[m] = static_cast<double>(s.nodes[m].sum & 0xFFFFFFFF) * h_unit;
    }
    add_scores();
  } else {
    for (std::size_t score = vector_ ? 0 : k; score < (vector_ ? n_scores_ : k + 1); ++score) {
      const std::vector<GradientSums> sums = leaf_sums(score, interrupt);
      for (std::size_t m = n, leaf = sums.size(); m-- > 0;) {  // children come after their parents
        if (s.nodes[m].leaf()) {
          const GradientSums& own = sums[--leaf];
          G[m] = own.g, H[m] = plan.newton && !vector_ ? own.h : own.w;
        } else {
          const auto right = static_cast<std::size_t>(s.nodes[m].right);
          G[m] = G[m + 1] + G[right], H[m] = H[m + 1] + H[right];
        }
      }
      add_scores();
    }
  }
  tree.gains.assign(n, 0.0);
  for (std::size_t m = 0; m < n; ++m) {
    if (!s.nodes[m].leaf())
      tree.gains[m] = scored[m + 1] + scored[static_cast<std::size_t>(s.nodes[m].right)] - scored[m];
  }
  tree.sums_h = std::move(H);
}

const BigVector<std::uint32_t>& GradientBoosting::leaf_of(std::size_t k, Interrupt& interrupt) {
  Grown& tree = tree_of(k);
  if (!tree.leaf_of.empty()) return tree.leaf_of;
  BigVector<std::uint32_t> found(n_rows());
  if (tree.shape.rows.size() < n_rows()) {  // rows that took no part have not been down the tree yet
    const Forest one{Criterion::Squared, {}, n_categories_, {pack_tree(tree, interrupt)}};
    number_leaves(one, matrix_, threads_, found.data(), interrupt);
  } else {
    number_leaves(tree.shape, found.data());
  }
  tree.leaf_of = std::move(found);
  return tree.leaf_of;
}

std::vector<GradientSums> GradientBoosting::leaf_sums(std::size_t k, Interrupt& interrupt) const {
  const Grown& tree = tree_of(k);
  const Derivatives given = derivatives_of(k);
  if (!tree.leaf_byte.empty()) {
    std::vector<std::size_t> sizes;
    sizes.reserve(tree.leaves.size());
    for (const auto [begin, end] : tree.leaves) sizes.push_back(end - begin);
    return sum_gradients_by(given, tree.units[vector_ ? k : 0], tree.leaf_byte.data(), sizes, threads_, interrupt);
  }
  std::vector<GradientSums> out(tree.leaves.size());
  const std::size_t useful = useful_threads(threads_, 3.0 * static_cast<double>(tree.shape.rows.size()));
  parallel_for(useful, out.size(), interrupt, [&](std::size_t leaf) {
    const auto [begin, end] = tree.leaves[leaf];
    out[leaf] = sum_gradients(given, tree.units[vector_ ? k : 0], &tree.shape.rows[begin], end - begin);
  });
  return out;
}

std::vector<double> GradientBoosting::leaf_quantiles(std::size_t k, std::span<const double> targets, double q,
                                                     Interrupt& interrupt) const {
  if (targets.size() != n_rows()) throw std::invalid_argument("one target per row");
  const Grown& tree = tree_of(k);
  const double* F = scores.data() + k * n_rows();
  std::vector<double> out(tree.leaves.size());
  const std::size_t useful = useful_threads(threads_, 60.0 * static_cast<double>(tree.shape.rows.size()));
  parallel_for(useful, out.size(), interrupt, [&](std::size_t leaf) {
    const auto [begin, end] = tree.leaves[leaf];
    std::vector<std::pair<double, double>> residuals;  // and weights
    double total = 0;
    for (Row i = begin; i < end; ++i) {
      const Row row = tree.shape.rows[i];
      residuals.emplace_back(targets[row] - F[row], round_weights_ ? round_weights_[row] : 1.0);
    }
    arrange_patiently(residuals.size(), interrupt,
                      [&](auto&& less) { std::sort(residuals.begin(), residuals.end(), less); });
    for (const auto& [residual, weight] : residuals) total += weight;
    // As weald.losses.search.weighted_quantile: halfway where two neighbours are as good.
    const double slack = 1e-12 * total, wanted = q * total;
    double below = 0;
    std::size_t first = 0;
    for (; first + 1 < residuals.size(); ++first) {
      below += residuals[first].second;
      if (below >= wanted - slack) break;
    }
    const bool tie = first + 1 < residuals.size() && below <= wanted + slack;
    const double low = residuals[first].first, high = residuals[first + (tie ? 1 : 0)].first;
    out[leaf] = low + (high - low) / 2;
  });
  return out;
}

std::vector<Bounds> GradientBoosting::bounds(std::size_t k) const {
  const Shape& shape = tree_of(k).shape;
  std::vector<Bounds> out;
  for (std::size_t m = 0; m < shape.bounds.size(); ++m) {
    if (shape.nodes[m].leaf()) out.push_back(shape.bounds[m]);
  }
  return out;
}

void GradientBoosting::add(std::size_t k, std::span<const double> values, Interrupt& interrupt) {
  Grown& tree = tree_of(k);
  if (values.size() != tree.leaves.size()) throw std::invalid_argument("one value per leaf");
  const std::size_t width = vector_ ? n_scores_ : 1;
  for (std::size_t leaf = 0; leaf < values.size(); ++leaf) tree.values[leaf * width + (vector_ ? k : 0)] = values[leaf];
  double* F = scores.data() + k * n_rows();
  const auto add_by = [&](const auto& leaf) {
    const std::size_t chunks = (n_rows() + kLossRows - 1) / kLossRows;
    parallel_chunks(useful_threads(threads_, static_cast<double>(n_rows())), chunks, interrupt, [&](std::size_t chunk) {
      const std::size_t end = std::min(n_rows(), (chunk + 1) * kLossRows);
      for (std::size_t i = chunk * kLossRows; i < end; ++i) F[i] += values[leaf[i]];
    });
  };
  tree.leaf_byte.empty() ? add_by(leaf_of(k, interrupt)) : add_by(tree.leaf_byte);
}

CompactTree GradientBoosting::pack_tree(const Grown& tree, Interrupt& interrupt) const {
  const Shape& s = tree.shape;
  Outputs outputs;
  outputs.n_outputs = vector_ ? n_scores_ : 1;
  Summary nodes;
  nodes.n_outputs = outputs.n_outputs;
  nodes.impurity.assign(s.size(), 0.0);
  nodes.value.assign(s.size() * outputs.n_outputs, 0.0);
  Shape copy;
  copy.nodes = s.nodes, copy.sets = s.sets;
  for (std::size_t m = 0, leaf = 0; m < s.size(); ++m) {
    nodes.weight.push_back(tree.sums_h[m] > 0 ? tree.sums_h[m] : static_cast<double>(s.nodes[m].size()));
    if (!s.nodes[m].leaf()) continue;
    std::copy_n(&tree.values[leaf * outputs.n_outputs], outputs.n_outputs, &nodes.value[m * outputs.n_outputs]);
    ++leaf;
  }
  CompactTree packed = pack(std::move(copy), nodes, outputs, n_categories_, false, interrupt);
  for (std::size_t m = 0; m < s.size(); ++m) {
    if (!s.nodes[m].leaf()) packed.importance[static_cast<std::size_t>(s.nodes[m].feature)] += tree.gains[m];
  }
  return packed;
}

std::vector<Forest> GradientBoosting::trees(Interrupt& interrupt) const {
  std::vector<Forest> out;
  for (std::size_t k = 0; k < (vector_ ? 1 : n_scores_); ++k) {
    Outputs outputs;
    outputs.n_outputs = vector_ ? n_scores_ : 1;
    out.push_back({Criterion::Squared, outputs, n_categories_, {pack_tree(grown_[k], interrupt)}});
  }
  return out;
}

}  // namespace weald
