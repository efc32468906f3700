// What each fast way of the core gains on the fits it was made for: with and without it in turns, the best of several.
// Whole fits (or predictions), in processor time of one thread; with two threads, by the clock. Needs WEALD_SWITCHES.
//
//   paths [rounds] [path]           the table, or what it has of one way
//   paths time ROUNDS row of the table   the best time of one row, to compare builds
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels.hpp"
#include "weald/base/paths.hpp"
#include "weald/methods/adaboost.hpp"
#include "weald/methods/gradient_boosting.hpp"

using namespace weald;

namespace {

// --- data: columns of noise, of which ten matter, and what follows from them ---

struct Data {
  std::size_t n, d;
  std::vector<float> X;
  std::vector<double> y;
  std::vector<std::int32_t> classes;
  std::uint32_t n_classes = 0;

  // Classes of the same size; none: numbers.
  Data(std::size_t rows, std::size_t columns, std::uint32_t k)
      : n(rows), d(columns), X(rows * columns), y(rows), n_classes(k) {
    Stream stream(1);
    for (std::size_t i = 0; i < n; ++i) {
      float* x = &X[i * d];
      for (std::size_t j = 0; j < d; ++j) x[j] = static_cast<float>(normal(stream));
      y[i] = x[0] * x[1] + 0.5 * x[2] - 0.7 * std::abs(x[3]) + normal(stream);
      for (std::size_t j = 4; j < 10; ++j) y[i] += 0.3 * x[j];
    }
    classify();
  }

  // Groups of ten flags, of which one is set.
  static Data flags(std::size_t rows, std::size_t columns) {
    Data out(rows, 10, 2);
    std::vector<float> X(rows * columns, 0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; j += 10) {
        const double at = 5 + 2 * static_cast<double>(out.X[i * 10 + j / 10 % 10]);
        X[i * columns + j + static_cast<std::size_t>(std::clamp(at, 0.0, 9.0))] = 1;
      }
    }
    out.d = columns, out.X = std::move(X);
    return out;
  }

  Table<float> table() const { return {X.data(), n, d, d, 1}; }
  Target target() const {
    Target out;
    out.n_rows = n;
    if (n_classes > 0) {
      out.classes = classes.data(), out.n_classes = {n_classes};
    } else {
      out.values = y.data();
    }
    return out;
  }

 private:
  void classify() {
    if (n_classes == 0) return;
    std::vector<double> sorted = y;
    std::sort(sorted.begin(), sorted.end());
    classes.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto rank = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), y[i]) - sorted.begin());
      classes[i] = static_cast<std::int32_t>(rank * n_classes / n);
    }
  }
};

// --- what comes out, as a number ---

template <class Array>
std::uint64_t hash_of(std::uint64_t hash, const Array& array) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(array.data());
  for (std::size_t i = 0; i < array.size() * sizeof(*array.data()); ++i) hash = mix(hash ^ bytes[i]);
  return hash;
}

std::uint64_t hash_of(const std::vector<CompactTree>& trees) {
  std::uint64_t hash = 0;
  for (const CompactTree& tree : trees) hash = hash_of(hash, tree.nodes);
  return hash;
}

// --- the rows of the table: what is prepared once, and what is timed ---

using Run = std::function<std::uint64_t()>;

Binned binned(const Data& data, Coding coding, std::size_t threads = 1, bool bundled = false) {
  Interrupt interrupt;
  const std::vector<std::uint32_t> numeric(data.d, 0);
  const std::size_t bins = coding == Coding::Bins ? 255 : 0;
  return bin_table(data.table(), {coding, bins, numeric, nullptr, bundled}, threads, interrupt);
}

struct Kind {
  Criterion criterion = Criterion::Gini;
  Coding coding = Coding::Bins;
  std::size_t columns = 0;  // tried by a node; 0: all
  bool random = false;
};

Run one_tree(std::shared_ptr<Data> data, Kind kind) {
  return [=] {
    Interrupt interrupt;
    const Binned matrix = binned(*data, kind.coding);
    Rules rules;
    rules.max_features = kind.columns, rules.random_split = kind.random;
    Statistics stats = make_statistics(data->target(), kind.criterion, 1, interrupt);
    const Shape shape = grow_tree(matrix, stats, rules, 1, interrupt);
    summarise(shape, data->target(), kind.criterion, interrupt);
    std::vector<std::int32_t> features;
    std::vector<double> thresholds;
    for (const GrownNode& node : shape.nodes) features.push_back(node.feature), thresholds.push_back(node.threshold);
    return hash_of(hash_of(0, features), thresholds);
  };
}

ForestPlan forest_plan(const Data& data, Kind kind) {
  ForestPlan plan;
  plan.criterion = kind.criterion, plan.seed = 7;
  plan.rules.max_features = kind.columns, plan.rules.random_split = kind.random, plan.rules.random_ties = true;
  plan.draw.kind = kind.random ? Drawing::All : Drawing::Bootstrap, plan.draw.size = data.n;
  return plan;
}

// The table is binned once for all trees of a forest, of which there are more than here: not timed.
Run some_trees(std::shared_ptr<Data> data, Kind kind, std::size_t n_trees) {
  auto matrix = std::make_shared<Binned>(binned(*data, kind.coding));
  return [=] {
    Interrupt interrupt;
    const Target target = data->target();
    return hash_of(grow_forest(*matrix, target, forest_plan(*data, kind), 0, n_trees, 1, interrupt));
  };
}

// The same of a sparse table: only the cells that are not 0.
Run some_sparse_trees(std::shared_ptr<Data> data, Kind kind, std::size_t n_trees) {
  struct Cells {
    std::vector<float> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> begin{0};
    Binned matrix;
  };
  auto cells = std::make_shared<Cells>();
  for (std::size_t k = 0; k < data->n * data->d; ++k) {
    if (data->X[k] != 0) {
      cells->values.push_back(data->X[k]);
      cells->columns.push_back(static_cast<std::int32_t>(k % data->d));
    }
    if (k % data->d + 1 == data->d) cells->begin.push_back(static_cast<std::int64_t>(cells->values.size()));
  }
  Interrupt interrupt;
  const SparseTable<float> table{cells->values.data(), data->n, data->d, cells->columns.data(), cells->begin.data()};
  const std::vector<std::uint32_t> numeric(data->d, 0);
  cells->matrix = bin_table(table, {kind.coding, 255, numeric, nullptr, false}, 1, interrupt);
  return [=] {
    Interrupt none;
    return hash_of(grow_forest(cells->matrix, data->target(), forest_plan(*data, kind), 0, n_trees, 1, none));
  };
}

Rules boosting_rules() {
  Rules rules;
  rules.max_leaves = 31, rules.frontier = Frontier::BestFirst, rules.min_weight_leaf = 1e-3,
  rules.min_samples_leaf = 20;
  return rules;
}

std::vector<Forest> boost(const Data& data, std::size_t rounds, std::size_t threads) {
  Interrupt interrupt;
  const Binned matrix = binned(data, Coding::Bins, threads, true);
  const std::vector<double> targets(data.classes.begin(), data.classes.end());
  GradientBoosting boosting(matrix, boosting_rules(), 1, {}, threads);
  std::vector<Forest> out;
  for (std::size_t round = 0; round < rounds; ++round) {
    RoundPlan plan;
    plan.key = round, plan.lambda = 1;
    boosting.differentiate({LossKind::Logistic}, targets, interrupt);
    boosting.grow(plan, interrupt);
    std::vector<double> values;
    for (const GradientSums& leaf : boosting.leaf_sums(0, interrupt)) values.push_back(-0.1 * leaf.g / (leaf.h + 1));
    boosting.add(0, values, interrupt);
    out.push_back(boosting.trees(interrupt)[0]);
  }
  return out;
}

Run boosted(std::shared_ptr<Data> data, std::size_t rounds, std::size_t threads = 1) {
  return [=] {
    std::uint64_t hash = 0;
    for (const Forest& one : boost(*data, rounds, threads)) hash = mix(hash ^ hash_of(one.trees));
    return hash;
  };
}

Run stumps(std::shared_ptr<Data> data, std::size_t rounds) {
  auto matrix = std::make_shared<Binned>(binned(*data, Coding::Bins));
  return [=] {
    Interrupt interrupt;
    Rules rules;
    rules.max_depth = 1;
    AdaBoost adaboost(*matrix, data->target(), Criterion::Gini, rules, std::vector<double>(data->n, 1.0), 1);
    std::uint64_t hash = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      adaboost.grow(round, false, interrupt);
      const std::vector<double>& weights = adaboost.class_weights();
      std::vector<double> factors(weights.size());
      for (std::size_t c = 0; c < factors.size(); ++c) factors[c] = weights[c] > weights[c ^ 1] ? 0.8 : 1.25;
      adaboost.reweight(factors, interrupt);
      hash = mix(hash ^ hash_of(adaboost.tree().trees));
    }
    return hash;
  };
}

Run asked(std::shared_ptr<Data> data, Forest forest, std::size_t n_rows, std::size_t times) {
  forest.n_categories.assign(data->d, 0);
  return [=] {
    Interrupt interrupt;
    std::vector<double> sums(n_rows * forest.outputs.width(), 0.0);
    Adding adding;
    adding.last = forest.trees.size();
    const Table<float> rows{data->X.data(), n_rows, data->d, data->d, 1};
    const Forest* const all[] = {&forest};
    for (std::size_t t = 0; t < times; ++t) add_values(std::span(all), rows, adding, 1, sums.data(), interrupt);
    return hash_of(0, sums);
  };
}

Run ask_boosted(std::shared_ptr<Data> data) {
  Forest all;
  for (const Forest& one : boost(*data, 100, 2)) all.trees.push_back(one.trees[0]);
  return asked(data, std::move(all), data->n, 2);
}

Run ask_forest(std::shared_ptr<Data> data, std::size_t n_rows, std::size_t times) {
  Interrupt interrupt;
  Forest forest;
  const Kind kind{Criterion::Gini, Coding::Bins, 5, false};
  const Binned matrix = binned(*data, kind.coding);
  const Target target = data->target();
  forest.outputs = outputs_of(target);
  forest.trees = grow_forest(matrix, target, forest_plan(*data, kind), 0, 20, 2, interrupt);
  return asked(data, std::move(forest), n_rows, times);
}

struct RowOfTable {
  const char* name;
  std::function<Run()> prepare;
  bool by_clock = false;  // several threads
};

std::shared_ptr<Data> noise(std::size_t n, std::uint32_t k, std::size_t d = 28) {
  return std::make_shared<Data>(n, d, k);
}

// A few targets far from all others, which are cut off one by one: nodes of a handful of rows in blocks of many.
std::shared_ptr<Data> tails(std::size_t n) {
  auto data = noise(n, 0);
  for (double& y : data->y) y = std::sinh(3 * y);
  return data;
}

const RowOfTable kRows[] = {
    {"exact tree", [] { return one_tree(noise(100'000, 2), {Criterion::Gini, Coding::Ranks}); }},
    {"exact tree, ten classes", [] { return one_tree(noise(30'000, 10), {Criterion::Gini, Coding::Ranks}); }},
    {"exact tree, ten classes, entropy",
     [] { return one_tree(noise(30'000, 10), {Criterion::Entropy, Coding::Ranks}); }},
    {"exact tree, entropy", [] { return one_tree(noise(50'000, 2), {Criterion::Entropy, Coding::Ranks}); }},
    {"exact tree, numbers", [] { return one_tree(noise(50'000, 0), {Criterion::Squared, Coding::Ranks}); }},
    {"exact tree, heavy tails", [] { return one_tree(tails(50'000), {Criterion::Squared, Coding::Ranks}); }},
    {"tree in bins", [] { return one_tree(noise(100'000, 2), {}); }},
    {"tree in bins, numbers", [] { return one_tree(noise(100'000, 0), {Criterion::Squared}); }},
    {"exact forest", [] { return some_trees(noise(50'000, 2), {Criterion::Gini, Coding::Ranks, 5}, 4); }},
    {"exact extra-trees", [] { return some_trees(noise(100'000, 2), {Criterion::Gini, Coding::Keys, 5, true}, 4); }},
    {"forest", [] { return some_trees(noise(100'000, 2), {Criterion::Gini, Coding::Bins, 5}, 8); }},
    {"forest, million rows", [] { return some_trees(noise(1'000'000, 2), {Criterion::Gini, Coding::Bins, 5}, 1); }},
    {"forest, 100 columns", [] { return some_trees(noise(300'000, 2, 100), {Criterion::Gini, Coding::Bins, 10}, 1); }},
    {"extra-trees, 100 columns",
     [] { return some_trees(noise(300'000, 2, 100), {Criterion::Gini, Coding::Bins, 10, true}, 1); }},
    {"forest, ten classes", [] { return some_trees(noise(50'000, 10), {Criterion::Gini, Coding::Bins, 5}, 4); }},
    {"forest, numbers", [] { return some_trees(noise(50'000, 0), {Criterion::Squared, Coding::Bins, 9}, 4); }},
    {"forest, 100 flags",
     [] {
       return some_trees(std::make_shared<Data>(Data::flags(50'000, 100)), {Criterion::Gini, Coding::Bins, 10}, 8);
     }},
    {"forest, twenty classes", [] { return some_trees(noise(50'000, 20), {Criterion::Gini, Coding::Bins, 5}, 4); }},
    {"forest, 1,000 columns",
     [] { return some_trees(noise(10'000, 2, 1000), {Criterion::Gini, Coding::Bins, 31}, 8); }},
    {"extra-trees", [] { return some_trees(noise(100'000, 2), {Criterion::Gini, Coding::Bins, 5, true}, 8); }},
    {"extra-trees, numbers",
     [] { return some_trees(noise(50'000, 0), {Criterion::Squared, Coding::Bins, 28, true}, 4); }},
    {"extra-trees, twenty classes",
     [] { return some_trees(noise(50'000, 20), {Criterion::Gini, Coding::Bins, 5, true}, 4); }},
    {"extra-trees, 1,000 columns",
     [] { return some_trees(noise(10'000, 2, 1000), {Criterion::Gini, Coding::Bins, 31, true}, 8); }},
    {"extra-trees, ten classes",
     [] { return some_trees(noise(50'000, 10), {Criterion::Gini, Coding::Bins, 5, true}, 4); }},
    {"forest, sparse",
     [] {
       return some_sparse_trees(std::make_shared<Data>(Data::flags(20'000, 1'000)), {Criterion::Gini, Coding::Bins, 31},
                                2);
     }},
    {"bag of trees", [] { return some_trees(noise(50'000, 2), {}, 4); }},
    {"adaboost, stumps", [] { return stumps(noise(100'000, 2), 30); }},
    {"adaboost, stumps, ten classes", [] { return stumps(noise(50'000, 10), 20); }},
    {"tree in bins, ten classes", [] { return one_tree(noise(50'000, 10), {}); }},
    {"boosting", [] { return boosted(noise(100'000, 2), 40); }},
    {"boosting, 2,000 rows", [] { return boosted(noise(2'000, 2), 150); }},
    {"boosting, million rows", [] { return boosted(noise(1'000'000, 2), 25); }},
    {"boosting, 200 flags", [] { return boosted(std::make_shared<Data>(Data::flags(100'000, 200)), 15); }},
    {"boosting, two threads", [] { return boosted(noise(100'000, 2), 40, 2); }, true},
    {"boosted trees asked", [] { return ask_boosted(noise(50'000, 2)); }},
    {"forest asked", [] { return ask_forest(noise(100'000, 2), 50'000, 1); }},
    {"forest of a million rows asked", [] { return ask_forest(noise(1'000'000, 2), 100'000, 1); }},
    {"forest asked about 50 rows", [] { return ask_forest(noise(20'000, 2), 50, 200); }},
};

const RowOfTable& row_of(std::string_view name) {
  for (const RowOfTable& row : kRows) {
    if (name == row.name) return row;
  }
  std::fprintf(stderr, "no such row: %s\n", std::string(name).c_str());
  std::exit(1);
}

struct Timing {
  double ms = kInf;
  std::uint64_t hash = 0;
};

void time_once(const RowOfTable& row, const Run& run, Timing& best) {
  const auto clock_ms = [] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double start = row.by_clock ? clock_ms() : now_ms();
  best.hash = run();
  best.ms = std::min(best.ms, (row.by_clock ? clock_ms() : now_ms()) - start);
}

#ifdef WEALD_SWITCHES
struct Entry {
  const char* name;
  Path path;
  std::vector<const char*> rows;  // it was made for
};

const Entry kEntries[] = {
    {"SmallSubtrees",
     Path::SmallSubtrees,
     {"forest", "extra-trees", "bag of trees", "tree in bins", "forest, numbers", "extra-trees, numbers",
      "forest, twenty classes", "extra-trees, twenty classes", "extra-trees, 1,000 columns"}},
    {"SmallHistograms", Path::SmallHistograms, {"forest", "exact forest"}},
    {"SumsInVectors", Path::SumsInVectors, {"forest", "exact forest"}},
    {"NumberHistograms", Path::NumberHistograms, {"forest, numbers"}},
    {"RandomCuts", Path::RandomCuts, {"extra-trees", "extra-trees, ten classes", "extra-trees, numbers"}},
    {"OnlyCuts", Path::OnlyCuts, {"forest, 100 flags"}},
    {"ClassChains",
     Path::ClassChains,
     {"exact tree, ten classes", "exact tree, ten classes, entropy", "forest, ten classes"}},
    {"DrawnTogether", Path::DrawnTogether, {"forest, ten classes", "forest, numbers", "forest, million rows"}},
    {"AllCodes", Path::AllCodes, {"tree in bins", "exact tree", "bag of trees", "adaboost, stumps"}},
    {"ScanInVectors", Path::ScanInVectors, {"exact tree", "tree in bins", "exact forest"}},
    {"GradientsInFloats", Path::GradientsInFloats, {"boosting", "boosting, 2,000 rows"}},
    {"PackedWords", Path::PackedWords, {"exact tree", "forest", "adaboost, stumps"}},
    {"ClassBytes", Path::ClassBytes, {"forest", "forest, million rows", "extra-trees", "exact tree"}},
    {"WeightLast", Path::WeightLast, {"adaboost, stumps, ten classes", "tree in bins, ten classes"}},
    {"EntropyTable", Path::EntropyTable, {"exact tree, entropy", "exact tree, ten classes, entropy"}},
    {"Subtraction", Path::Subtraction, {"boosting", "tree in bins", "adaboost, stumps"}},
    {"SqueezedBlocks", Path::SqueezedBlocks, {"exact tree", "exact tree, numbers"}},
    {"GatheredRows",
     Path::GatheredRows,
     {"forest", "extra-trees", "forest, million rows", "forest, 100 columns", "extra-trees, 100 columns"}},
    {"GatheredCells", Path::GatheredCells, {"forest, sparse"}},
    {"BinGuide", Path::BinGuide, {"extra-trees", "extra-trees, ten classes", "extra-trees, 100 columns"}},
    {"Bundles", Path::Bundles, {"boosting, 200 flags"}},
    {"ColumnCopies", Path::ColumnCopies, {"boosting, million rows"}},
    {"LeafBytes", Path::LeafBytes, {"boosting", "boosting, million rows"}},
    {"ColumnsShared", Path::ColumnsShared, {"boosting, two threads"}},
    {"LeafMasks", Path::LeafMasks, {"boosted trees asked"}},
    {"CrowdsDivided", Path::CrowdsDivided, {"forest asked", "forest of a million rows asked"}},
    {"InStep", Path::InStep, {"forest asked"}},
    {"ManyTreesAtOnce", Path::ManyTreesAtOnce, {"forest asked about 50 rows"}},
    {"PageCache", Path::PageCache, {"extra-trees", "forest", "adaboost, stumps", "boosting"}},
    {"HugePages", Path::HugePages, {"boosting, million rows", "forest, million rows"}},
    {"Prefetch", Path::Prefetch, {"boosting, million rows", "forest, million rows", "forest"}},
};

constexpr double kMostMs = 10'000;  // of one row

void print_table(int rounds, std::string_view only) {
  for (const Entry& entry : kEntries) {
    if (!only.empty() && only != entry.name) continue;
    for (const char* name : entry.rows) {
      const RowOfTable& row = row_of(name);
      Timing with, without;
      const Run run = row.prepare();
      left_out = entry.path;
      const Run run_without = row.prepare();
      double spent = 0;  // long fits are less disturbed: fewer of them do
      for (int round = 0; round < rounds && (round < 5 || spent < kMostMs); ++round) {
        for (const bool used : {round % 2 == 0, round % 2 != 0}) {
          left_out = used ? Path::None : entry.path;
          time_once(row, used ? run : run_without, used ? with : without);
        }
        spent += with.ms + without.ms;
      }
      left_out = Path::None;
      std::printf("| %s | %s | %.0f ms | %.0f ms | %+.0f %% | %s |\n", entry.name, name, with.ms, without.ms,
                  100 * (without.ms / with.ms - 1), with.hash == without.hash ? "yes" : "no");
      std::fflush(stdout);
    }
  }
}
#else
void print_table(int, std::string_view) { std::puts("built without WEALD_SWITCHES"); }
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "time") == 0) {
    const RowOfTable& row = row_of(argv[3]);
    const Run run = row.prepare();
    Timing best;
    for (int round = 0; round < std::atoi(argv[2]); ++round) time_once(row, run, best);
    std::printf("%.3f %016llx\n", best.ms, static_cast<unsigned long long>(best.hash));
    return 0;
  }
  print_table(argc > 1 ? std::atoi(argv[1]) : 15, argc > 2 ? argv[2] : "");
}
