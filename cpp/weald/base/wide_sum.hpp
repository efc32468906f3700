// Whole numbers of 128 bits: products of a weight and a target in units, and sums of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "weald/base/types.hpp"

namespace weald {

#if defined(__SIZEOF_INT128__) && !defined(WEALD_PORTABLE)
__extension__ using WideSum = __int128;
#else
// Where the compiler has none: two words, which go on counting beyond their ends as those of the compiler do.
class WideSum {
 public:
  WideSum() = default;
  WideSum(Lane x) : low_(static_cast<std::uint64_t>(x)), high_(x < 0 ? ~std::uint64_t{0} : 0) {}

  friend WideSum operator+(WideSum a, WideSum b) {
    const std::uint64_t low = a.low_ + b.low_;
    return {low, a.high_ + b.high_ + (low < a.low_ ? 1U : 0U)};
  }
  friend WideSum operator-(WideSum a, WideSum b) {
    return {a.low_ - b.low_, a.high_ - b.high_ - (a.low_ < b.low_ ? 1U : 0U)};
  }
  friend WideSum operator*(WideSum a, WideSum b) {
    // The low words digit by digit, each of 32 bits; of the others only what is left of 128 bits.
    constexpr std::uint64_t kDigit = 0xFFFFFFFF;
    const std::uint64_t a0 = a.low_ & kDigit, a1 = a.low_ >> 32, b0 = b.low_ & kDigit, b1 = b.low_ >> 32;
    const std::uint64_t first = a0 * b0, second = a1 * b0 + (first >> 32), third = a0 * b1 + (second & kDigit);
    const std::uint64_t high = a1 * b1 + (second >> 32) + (third >> 32);
    return {third << 32 | (first & kDigit), high + a.low_ * b.high_ + a.high_ * b.low_};
  }
  WideSum& operator+=(WideSum other) { return *this = *this + other; }
  friend bool operator==(WideSum, WideSum) = default;
  friend bool operator<(WideSum a, WideSum b) {
    const auto x = static_cast<std::int64_t>(a.high_), y = static_cast<std::int64_t>(b.high_);
    return x < y || (x == y && a.low_ < b.low_);
  }

  // The nearest double, of two the even one.
  explicit operator double() const {
    if (static_cast<std::int64_t>(high_) < 0) return -static_cast<double>(WideSum(0) - *this);
    if (high_ == 0) return static_cast<double>(low_);
    const int shift = std::countl_zero(high_);
    const std::uint64_t top = shift == 0 ? high_ : high_ << shift | low_ >> (64 - shift);
    const bool more = low_ << shift != 0;  // below these 64 bits: it decides where they are halfway
    return std::ldexp(static_cast<double>(top | (more ? 1U : 0U)), 64 - shift);
  }

 private:
  WideSum(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}
  std::uint64_t low_ = 0, high_ = 0;
};
#endif

}  // namespace weald
