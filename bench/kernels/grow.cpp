// Times the stages of growing one full tree on 100,000 x 28 noisy two-class rows, on one thread.
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"
#include "weald/grow/grow_tree.hpp"
#include "weald/tree/summarise.hpp"

using namespace weald;

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000, d = 28;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const int only = argc > 3 ? std::atoi(argv[3]) : -1;  // one line of the table
  const NoisyData data(n, d);
  Interrupt interrupt;
  for (const std::size_t max_bins : {0, 255}) {
    for (const int kind : {0, 1, 2}) {  // all columns; five per node; five with random cuts
      if (only >= 0 && only != (max_bins ? 3 : 0) + kind) continue;
      Rules rules;
      if (kind > 0) rules.max_features = 5;
      rules.random_split = kind == 2;
      Binned matrix;
      Shape shape;
      const double bin = best_of(rounds, [&] {
        const Coding coding = max_bins ? Coding::Bins : kind == 2 ? Coding::Keys : Coding::Ranks;
        const std::vector<std::uint32_t> numeric(d, 0);
        matrix = bin_table(data.table, {coding, max_bins, numeric, nullptr}, 1, interrupt);
      });
      const double grow = best_of(rounds, [&] {
        Statistics stats = make_statistics(data.target, Criterion::Gini, 1, interrupt);
        shape = grow_tree(matrix, stats, rules, 1, interrupt);
      });
      const double summary = best_of(rounds, [&] { summarise(shape, data.target, Criterion::Gini, interrupt); });
      std::size_t visits = 0;
      for (std::size_t m = 0; m < shape.size(); ++m) visits += shape.nodes[m].size();
      const std::size_t columns = kind == 0 ? d : 5;
      const char* names[] = {"all columns", "5 columns", "5 random cuts"};
      std::printf(
          "%-9s %-13s bin %6.1f ms  grow %7.1f ms  summarise %4.1f ms  nodes %6zu  %.2f ns per row, column and level\n",
          max_bins ? "255 bins" : "exact", names[kind], bin, grow, summary, shape.size(),
          grow * 1e6 / static_cast<double>(visits * columns));
    }
  }
}
