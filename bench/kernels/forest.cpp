// Times growing and asking a forest on 100,000 x 28 noisy two-class rows, on one thread.
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"
#include "weald/methods/forest.hpp"

using namespace weald;

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000, d = 28;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const int only = argc > 3 ? std::atoi(argv[3]) : -1;  // one line of the table
  const std::size_t n_trees = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 10;
  const NoisyData data(n, d);
  Interrupt interrupt;
  const std::vector<std::uint32_t> numeric(d, 0);
  const Binned matrix = bin_table(data.table, {Coding::Bins, 255, numeric, nullptr}, 1, interrupt);
  const char* names[] = {"random forest", "extra-trees", "bagging"};
  for (int kind = 0; kind < 3; ++kind) {
    if (only >= 0 && only != kind) continue;
    ForestPlan plan;
    plan.seed = 7;
    plan.rules.max_features = kind == 2 ? 0 : 5;
    plan.rules.random_split = kind == 1;
    plan.draw.kind = kind == 1 ? Drawing::All : Drawing::Bootstrap;
    plan.draw.size = n;
    Forest forest;
    forest.n_categories = numeric;
    forest.outputs = outputs_of(data.target);
    const double grow =
        best_of(rounds, [&] { forest.trees = grow_forest(matrix, data.target, plan, 0, n_trees, 1, interrupt); });
    std::size_t nodes = 0;
    for (const CompactTree& tree : forest.trees) nodes += tree.nodes.size();
    const std::size_t n_rows = std::min<std::size_t>(n, 20'000);
    const Table<float> rows{data.table.data, n_rows, d, d, 1};
    std::vector<double> sums(n_rows * 2);
    Adding adding;
    adding.last = n_trees;
    const Forest* const all[] = {&forest};
    const double ask = best_of(rounds, [&] { add_values(std::span(all), rows, adding, 1, sums.data(), interrupt); });
    std::printf("%-13s grow %6.1f ms a tree, %6zu nodes a tree, %4.0f ns a node; ask %5.1f ns a row and tree\n",
                names[kind], grow / static_cast<double>(n_trees), nodes / n_trees,
                grow * 1e6 / static_cast<double>(nodes), ask * 1e6 / static_cast<double>(n_rows * n_trees));
  }
}
