// What the kernel benchmarks share: a clock and the data.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "weald/base/random.hpp"
#include "weald/bins/bins.hpp"
#include "weald/stats/statistics.hpp"

namespace weald {

// Processor time of this thread, in milliseconds: steadier than the clock on a busy machine.
inline double now_ms() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

inline double best_of(int rounds, const std::function<void()>& fn) {
  double best = kInf;
  for (int r = 0; r < rounds; ++r) {
    const double start = now_ms();
    fn();
    best = std::min(best, now_ms() - start);
  }
  return best;
}

inline double normal(Stream& stream) {
  return std::sqrt(-2 * std::log(1 - stream.uniform())) * std::cos(6.283185307179586 * stream.uniform());
}

// Two noisy classes; ten of the columns matter.
struct NoisyData {
  std::vector<float> X;
  std::vector<std::int32_t> y;
  Table<float> table;
  Target target;

  NoisyData(std::size_t n, std::size_t d) : X(n * d), y(n), table{X.data(), n, d, d, 1} {
    Stream stream(1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < d; ++j) X[i * d + j] = static_cast<float>(normal(stream));
      const float* x = &X[i * d];
      double f = x[0] * x[1] + 0.5 * x[2] - 0.7 * std::abs(x[3]) + normal(stream);
      for (std::size_t j = 4; j < 10; ++j) f += 0.3 * x[j];
      y[i] = f > 0;
    }
    target.n_rows = n, target.classes = y.data(), target.n_classes = {2};
  }
};

}  // namespace weald
