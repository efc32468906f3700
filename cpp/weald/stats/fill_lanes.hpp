// What rows of real targets add to a node, in its units.
#pragma once

#include <cmath>

#include "weald/stats/criterion.hpp"

namespace weald {

// Turns real target rows into lanes: count, H, G_1..G_k.
class FillLanes {
 public:
  explicit FillLanes(const Channels& channels)
      : channels_(channels),
        centre_(channels.g_centre),
        per_unit_(1 / channels.g_unit),  // a power of two: multiplying by it is exact
        way_(is_from_rows(channels.criterion) ? Way::Targets
             : channels.whole_weights         ? Way::Whole
                                              : Way::Real) {}

  void operator()(const double* target, Lane h, Lane* lanes) const {
    lanes[0] = 1, lanes[1] = h;
    // A whole weight or a count multiplies the units, so that weight k is exactly k rows. The absolute
    // criterion has no use for sums of targets: its lanes hold the targets themselves.
    if (way_ == Way::Real) {
      const std::size_t outputs = channels_.n_outputs;
      const Lane times =
          channels_.counts ? channels_.counts[static_cast<std::size_t>(target - channels_.targets) / outputs] : 1;
      const double once = static_cast<double>(times == 1 ? h : h / times) * channels_.h_unit;
      for (std::size_t o = 0; o < outputs; ++o) lanes[2 + o] = rounded(units(target[o]) * once) * times;
    } else {
      const Lane times = way_ == Way::Whole ? h : 1;
      for (std::size_t o = 0; o < channels_.n_outputs; ++o) lanes[2 + o] = rounded(units(target[o])) * times;
    }
  }

 private:
  enum class Way { Targets, Whole, Real };
  double units(double target) const { return (target - centre_) * per_unit_; }
  static Lane rounded(double x) { return std::llrint(x); }

  const Channels& channels_;
  double centre_, per_unit_;
  Way way_;
};

}  // namespace weald
