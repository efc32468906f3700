// Exponential and logarithm as plain arithmetic, for loops that the compiler turns into vector
// instructions. Accurate to about one unit in the last place, and the same bits on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace weald {

// exp(x) for |x| <= 700; beyond, what it is there.
inline double exp_of(double x) {
  x = x > 700 ? 700 : x;
  x = x < -700 ? -700 : x;
  // x = n ln 2 + r, |r| <= ln 2 / 2; the magic number leaves n in the last bits of the sum.
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
  double p = 1.6059043836821613e-10;  // 1/13!, then the Taylor series upwards
  p = p * r + 2.08767569878681e-09;
  p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.48015873015873e-05;
  p = p * r + 0.0001984126984126984;
  p = p * r + 0.001388888888888889;
  p = p * r + 0.008333333333333333;
  p = p * r + 0.041666666666666664;
  p = p * r + 0.16666666666666666;
  p = p * r + 0.5;
  p = p * r * r + r + 1;
  const auto bits = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted)) << 52;
  return p * std::bit_cast<double>(bits + (std::uint64_t{1023} << 52));
}

// ln(x) for normal positive x.
inline double log_of(double x) {
  // x = 2^e m with m near 1: subtracting sqrt(1/2)'s bits makes the exponent round the right way.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t moved = bits - 0x3FE6A09E667F3BCDULL;
  const std::uint64_t exponent = moved >> 52 << 52;   // of two's complement: e << 52
  const double m = std::bit_cast<double>(bits - exponent);
  // e as a double, by its bits: 1.5 * 2^52 + e.
  const std::uint64_t e_bits = (exponent >> 52 & 0xFFF);
  const double e = std::bit_cast<double>((e_bits ^ 0x800) + std::bit_cast<std::uint64_t>(0x1.8p52)) - (0x1.8p52 + 2048.0);
  const double f = (m - 1) / (m + 1), f2 = f * f;  // ln m = 2 atanh f
  double p = 1.0 / 23;
  p = p * f2 + 1.0 / 21;
  p = p * f2 + 1.0 / 19;
  p = p * f2 + 1.0 / 17;
  p = p * f2 + 1.0 / 15;
  p = p * f2 + 1.0 / 13;
  p = p * f2 + 1.0 / 11;
  p = p * f2 + 1.0 / 9;
  p = p * f2 + 1.0 / 7;
  p = p * f2 + 1.0 / 5;
  p = p * f2 + 1.0 / 3;
  return e * 0x1.62e42fefa39efp-1 + (2 * f + 2 * f * f2 * p);
}

}  // namespace weald
