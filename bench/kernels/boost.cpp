// Times the stages of boosting 100 trees of 31 leaves on n x 28 noisy two-class rows, and the histogram
// kernel beside a bare loop that does the same adds.
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "kernels.hpp"
#include "weald/methods/gradient_boosting.hpp"

using namespace weald;

namespace {

// What the kernel has to do and nothing else: a row's word is added to a cell of every column. All
// columns of a row at once, as is quickest for a loop written down plainly.
void bare_loop(const std::uint8_t* bytes, const std::vector<Row>& rows, const Lane* words, Lane* cells) {
  constexpr std::size_t d = 28;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    prefetch(bytes + rows[std::min(i + kPrefetchRows, rows.size() - 1)] * d);
    const std::uint8_t* codes = bytes + rows[i] * d;
    const Lane word = words[rows[i]];
    for (std::size_t c = 0; c < d; ++c) cells[c * kByteSlots + codes[c]] += word;
  }
}

void compare_kernels(const Binned& matrix, int rounds) {
  const std::size_t n = matrix.n_rows, d = matrix.n_columns();
  std::vector<Lane> words(n), cells(d * kByteSlots);
  for (std::size_t i = 0; i < n; ++i) words[i] = Lane(i % 1000) << 32 | Lane(i % 77 + 1);
  std::vector<std::uint32_t> places(d);
  std::iota(places.begin(), places.end(), 0U);
  const ByteRows in{matrix.row_bytes, matrix.row_stride, places, true};
  for (const std::size_t one_in : {1, 4, 30}) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < n; ++i) {
      if (combine(7, i) % one_in == 0) rows.push_back(static_cast<Row>(i));
    }
    const double updates = static_cast<double>(rows.size() * d) / 1e6;
    double bare = 1e9, ours = 1e9;
    for (int round = 0; round < rounds; ++round) {  // in turn, so that noise hits both
      bare = std::min(bare, best_of(1, [&] { bare_loop(matrix.row_bytes, rows, words.data(), cells.data()); }));
      ours = std::min(
          ours, best_of(1, [&] { add_all_columns(in, rows.data(), 0, rows.size(), words.data(), cells.data()); }));
    }
    std::printf("histogram, one row in %2zu: bare loop %.3f ns, kernel %.3f ns per row and column, ratio %.2f\n",
                one_in, bare / updates, ours / updates, ours / bare);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000, d = 28;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const std::size_t threads = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
  const int n_trees = argc > 4 ? std::atoi(argv[4]) : 100;
  const std::size_t fewest = argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 20;
  const NoisyData data(n, d);
  std::vector<double> targets(n);
  for (std::size_t i = 0; i < n; ++i) targets[i] = data.target.classes[i];
  Interrupt interrupt;
  Rules rules;
  rules.max_leaves = 31, rules.frontier = Frontier::BestFirst, rules.min_weight_leaf = 1e-3;
  rules.min_samples_leaf = fewest;
  const std::vector<std::uint32_t> numeric(d, 0);
  Binned matrix;
  const double bin = best_of(
      rounds, [&] { matrix = bin_table(data.table, {Coding::Bins, 255, numeric, nullptr, true}, threads, interrupt); });
  double derive = 0, grow = 0, sums = 0, add = 0, best = 1e9;
  std::vector<double> values;
  for (int round = 0; round < rounds; ++round) {
    double stage[4] = {};
    GradientBoosting boosting(matrix, rules, 1, {}, threads);
    for (int t = 0; t < n_trees; ++t) {
      RoundPlan plan;
      plan.key = static_cast<std::uint64_t>(t), plan.lambda = 1;
      stage[0] += best_of(1, [&] { boosting.differentiate({LossKind::Logistic}, targets, interrupt); });
      stage[1] += best_of(1, [&] { boosting.grow(plan, interrupt); });
      stage[2] += best_of(1, [&] {
        values.clear();
        for (const GradientSums& leaf : boosting.leaf_sums(0, interrupt))
          values.push_back(-0.1 * leaf.g / (leaf.h + 1));
      });
      stage[3] += best_of(1, [&] { boosting.add(0, values, interrupt); });
    }
    const double total = stage[0] + stage[1] + stage[2] + stage[3];
    if (total < best) best = total, derive = stage[0], grow = stage[1], sums = stage[2], add = stage[3];
  }
  std::printf(
      "%zu rows, %zu threads: bin %.1f ms, %d trees %.1f ms: derivatives %.1f, growth %.1f, leaf sums %.1f, scores "
      "%.1f\n",
      n, threads, bin, n_trees, best, derive, grow, sums, add);
  compare_kernels(matrix, rounds * 3);
}
