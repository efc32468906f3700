// Sums of real numbers that are the same for any order of the rows, and for k rows and one that counts k times:
// numbers are cut to whole units first, finely enough for the sum to be as good as one in doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "weald/base/threads.hpp"
#include "weald/base/types.hpp"

namespace weald {

// The largest power of two, as an exponent, by which a total may be multiplied and stay below 2^bits. Powers of two
// scale floats without rounding.
inline int exponent_for(double total, int bits) {
  if (!(total > 0)) return 0;
  int exponent;
  std::frexp(total, &exponent);  // total < 2^exponent
  return bits - exponent;
}
inline double units_per(double total, int bits) {
  return std::ldexp(1.0, std::clamp(exponent_for(total, bits), -1000, 1000));
}

class ExactSum {
 public:
  // Of up to 2^32 numbers, each of at most this size.
  explicit ExactSum(double most) : exponent_(exponent_for(most, kBits)) {
    // In two factors: a number near the ends of the range needs more than one power of two may hold.
    const int first = std::clamp(exponent_, -1000, 1000);
    first_ = std::ldexp(1.0, first), second_ = std::ldexp(1.0, exponent_ - first);
  }

  void add(double x, Lane times = 1) {
    const Lane units = std::llrint(x * first_ * second_);
    high_ += (units >> kLowBits) * times;
    low_ += (units & ((Lane{1} << kLowBits) - 1)) * times;
  }

  // Divided by a number: the quotient may be of ordinary size where neither of the two is.
  double value(double divisor = 1) const {
    int exponent;
    const double digits = std::frexp(divisor, &exponent);
    const double units = std::ldexp(static_cast<double>(high_), kLowBits) + static_cast<double>(low_);
    return std::ldexp(units / digits, -exponent_ - exponent);
  }

 private:
  static constexpr int kBits = 60, kLowBits = 30;
  int exponent_;  // units of 2^-exponent
  double first_ = 1, second_ = 1;
  Lane high_ = 0, low_ = 0;  // units = high 2^30 + low: neither sum can overflow
};

// Numbers of rows, each times its factor (null: 1) and as often as it counts (null: once).
struct Weighted {
  std::span<const double> x;
  const double* factors = nullptr;
  const std::uint32_t* counts = nullptr;

  double factor(std::size_t i) const { return factors ? factors[i] : 1.0; }
  Lane count(std::size_t i) const { return counts ? counts[i] : 1; }
};

// Sum of fn(i) over the rows that count, divided by a number. What is not finite gives what is not finite.
template <class Fn>
double exact_sum(const Weighted& rows, double divisor, Interrupt& interrupt, Fn&& fn) {
  double most = 0, plain = 0;
  for_all(0, rows.x.size(), interrupt, [&](std::size_t i) {
    if (rows.count(i) == 0) return;
    const double x = fn(i);
    most = std::max(most, std::abs(x)), plain += x - x;
  });
  if (!(std::isfinite(most) && plain == 0)) return kNaN;
  ExactSum sum(most);
  for_all(0, rows.x.size(), interrupt, [&](std::size_t i) {
    if (rows.count(i) != 0) sum.add(fn(i), rows.count(i));
  });
  return sum.value(divisor);
}

inline double exact_sum(const Weighted& rows, Interrupt& interrupt) {
  return exact_sum(rows, 1, interrupt, [&](std::size_t i) { return rows.x[i] * rows.factor(i); });
}

// The mean, within the range of the numbers: that of equal numbers is exact.
inline double exact_mean(const Weighted& rows, Interrupt& interrupt) {
  double low = kInf, high = -kInf;
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    if (rows.count(i) != 0 && rows.factor(i) > 0) low = std::min(low, rows.x[i]), high = std::max(high, rows.x[i]);
  }
  if (low == high && std::isfinite(exact_sum(rows, interrupt))) return low;
  const double weight = exact_sum(rows, 1, interrupt, [&](std::size_t i) { return rows.factor(i); });
  const double half_low = low / 2;  // the range itself may be too wide for a number
  const double shift =
      exact_sum(rows, weight, interrupt, [&](std::size_t i) { return rows.factor(i) * (rows.x[i] / 2 - half_low); });
  return std::min(2 * (half_low + shift), high);
}

}  // namespace weald
