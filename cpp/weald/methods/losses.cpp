#include "weald/methods/losses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "weald/base/sizes.hpp"
#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

// Exponential and logarithm as plain arithmetic, for loops that the compiler turns into vector
// instructions. Accurate to about one unit in the last place, and the same bits on every machine.

// exp(x) for |x| <= 700; beyond, what it is there.
inline double exp_of(double x) {
  x = x > 700 ? 700 : x;
  x = x < -700 ? -700 : x;
  // x = n ln 2 + r, |r| <= ln 2 / 2; the magic number leaves n in the last bits of the sum.
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
  double p = 1.6059043836821613e-10;  // 1/13!, then the Taylor series upwards
  for (const double c : {2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07, 2.7557319223985893e-06,
                         2.48015873015873e-05, 0.0001984126984126984, 0.001388888888888889, 0.008333333333333333,
                         0.041666666666666664, 0.16666666666666666, 0.5})
    p = p * r + c;
  p = p * r * r + r + 1;
  const auto bits = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted)) << 52;
  return p * std::bit_cast<double>(bits + (std::uint64_t{1023} << 52));
}

// ln(x) for normal positive x.
inline double log_of(double x) {
  // x = 2^e m with m near 1: subtracting sqrt(1/2)'s bits makes the exponent round the right way.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t moved = bits - 0x3FE6A09E667F3BCDULL;
  const std::uint64_t exponent = moved >> 52 << 52;  // of two's complement: e << 52
  const double m = std::bit_cast<double>(bits - exponent);
  // e as a double, by its bits: 1.5 * 2^52 + e.
  const std::uint64_t e_bits = (exponent >> 52 & 0xFFF);
  const double e =
      std::bit_cast<double>((e_bits ^ 0x800) + std::bit_cast<std::uint64_t>(0x1.8p52)) - (0x1.8p52 + 2048.0);
  const double f = (m - 1) / (m + 1), f2 = f * f;  // ln m = 2 atanh f
  double p = 1.0 / 23;
  for (const double c :
       {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3})
    p = p * f2 + c;
  return e * 0x1.62e42fefa39efp-1 + (2 * f + 2 * f * f2 * p);
}

constexpr double kFar = 300;  // exponents go no further (weald.losses.links)

// What one row says.
struct Row1 {
  double value, gradient, hessian;
  double factor = 1;  // the value has ln(factor) besides; logarithms of products are fewer
};

// By value, unlike std::min and std::max: a loop with these becomes vector instructions.
inline double at_least(double x, double low) { return x < low ? low : x; }
inline double at_most(double x, double high) { return x > high ? high : x; }
inline double size_of(double x) { return x < 0 ? -x : x; }

inline double bounded_exp(double x) { return exp_of(at_most(at_least(x, -kFar), kFar)); }
inline double exp_then_line(double x, double e) { return e * (1 + at_least(x - kFar, 0.0)); }

inline double sum_of(const double* values, std::size_t n) {
  double lanes[8] = {}, total = 0;
  in_lanes<8>(0, n, [&](std::size_t i, std::size_t lane) WEALD_INLINE_LAMBDA { lanes[lane] += values[i]; });
  for (const double lane : lanes) total += lane;
  return total;
}

inline double log_of_product(const double* factors, std::size_t n) {
  double lanes[8] = {1, 1, 1, 1, 1, 1, 1, 1}, total = 0;
  in_lanes<8>(0, n, [&](std::size_t i, std::size_t lane) WEALD_INLINE_LAMBDA { lanes[lane] *= factors[i]; });
  for (const double lane : lanes) total += log_of(lane);
  return total;
}

struct SquaredLoss {
  Row1 operator()(double y, double f) const {
    const double r = f - y;
    return {0.5 * r * r, r, 1};
  }
};

struct QuantileLoss {
  double q;
  Row1 operator()(double y, double f) const {
    const double r = f - y;
    const double above = r > 0 ? 1.0 : 0.0, below = r < 0 ? 1.0 : 0.0;
    return {(1 - q) * r * above - q * r * below, (1 - q) * above - q * below, 1};
  }
};

struct AbsoluteLoss {
  Row1 operator()(double y, double f) const {
    const double r = f - y;
    return {size_of(r), (r > 0 ? 1.0 : 0.0) - (r < 0 ? 1.0 : 0.0), 1};
  }
};

struct HuberLoss {
  double delta;
  Row1 operator()(double y, double f) const {
    const double r = f - y, distance = size_of(r), near = at_most(distance, delta);
    return {near * (distance - 0.5 * near), at_most(at_least(r, -delta), delta), distance <= delta ? 1.0 : 0.0};
  }
};

struct LogCoshLoss {
  Row1 operator()(double y, double f) const {
    const double r = f - y, distance = size_of(r), e = exp_of(-2 * distance), s = distance * distance;
    // Near 0, where differences of numbers near 1 would be all rounding, the first terms of the series.
    const bool near = distance < 0x1p-6;
    const double t = near ? distance * (1 - s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315)))) : (1 - e) / (1 + e);
    const double value = near ? s * (0.5 - s * (1.0 / 12 - s * (1.0 / 45 - s * (17.0 / 2520))))
                              : distance + log_of(1 + e) - 0.6931471805599453;
    return {value, r < 0 ? -t : t, 4 * e / ((1 + e) * (1 + e))};
  }
};

struct PoissonLoss {
  Row1 operator()(double y, double f) const {
    const double e = bounded_exp(f);
    return {exp_then_line(f, e) - y * f, e - y, e};
  }
};

struct GammaLoss {
  Row1 operator()(double y, double f) const {
    const double e = bounded_exp(-f);
    return {f + y * exp_then_line(-f, e), 1 - y * e, y * e};
  }
};

struct TweedieLoss {
  double p;
  Row1 operator()(double y, double f) const {
    const double xa = (2 - p) * f, xb = (1 - p) * f, a = bounded_exp(xa), b = bounded_exp(xb);
    return {exp_then_line(xa, a) / (2 - p) + y * exp_then_line(xb, b) / (p - 1), a - y * b,
            (2 - p) * a + (p - 1) * y * b};
  }
};

struct LogisticLoss {
  Row1 operator()(double y, double f) const {
    const double e = exp_of(-size_of(f)), share = 1 / (1 + e), rest = e * share;  // of the likelier class
    const double p = f >= 0 ? share : rest, z = y > 0 ? f : -f;
    return {at_least(-z, 0.0), p - y, share * rest, 1 + e};
  }
};

struct ExponentialLoss {
  Row1 operator()(double y, double f) const {
    const double sign = y > 0 ? 1.0 : -1.0, x = -sign * f, e = bounded_exp(x);
    return {exp_then_line(x, e), -sign * e, e};
  }
};

struct SmoothHingeLoss {
  double s;
  Row1 operator()(double y, double f) const {
    const double sign = y > 0 ? 1.0 : -1.0, z = sign * f, slope = at_most(at_least((1 - z) / s, 0.0), 1.0);
    return {slope * (1 - z - 0.5 * s * slope), -sign * slope, z < 1 && z > 1 - s ? 1 / s : 0.0};
  }
};

struct FocalLoss {
  double gamma;
  Row1 operator()(double y, double f) const {
    const double sign = y > 0 ? 1.0 : -1.0, z = sign * f, e = exp_of(-size_of(z));
    const double p = (z >= 0 ? 1.0 : e) / (1 + e), q = (z >= 0 ? e : 1.0) / (1 + e);
    const double log_p = -(at_least(-z, 0.0) + log_of(1 + e)), power = std::pow(q, gamma);
    return {-power * log_p, -sign * power * (q - gamma * p * log_p),
            p * power * (-gamma * log_p * (gamma * p - q) + (2 * gamma + 1) * q)};
  }
};

// One loss over rows, some hundred at a time: plain loops, which become vector instructions.
template <class Loss>
WEALD_INLINE double each_row(Loss loss, const LossArrays& a, std::size_t begin, std::size_t end) {
  double values[kLossTile], slopes[kLossTile], bends[kLossTile], factors[kLossTile], total = 0;
  constexpr bool kFactors = std::is_same_v<Loss, LogisticLoss>;  // between 1 and 2
  for (std::size_t from = begin; from < end; from += kLossTile) {
    const std::size_t m = std::min(kLossTile, end - from);
    const double *y = a.targets + from, *f = a.scores + from;
    for (std::size_t i = 0; i < m; ++i) {
      const Row1 row = loss(y[i], f[i]);
      values[i] = row.value, slopes[i] = row.gradient, bends[i] = row.hessian;
      if constexpr (kFactors) factors[i] = row.factor;
    }
    if (a.gradients) {
      std::copy_n(slopes, m, a.gradients + from);
      std::copy_n(bends, m, a.hessians + from);
    }
    if (a.weights) {
      for (std::size_t i = 0; i < m; ++i) {
        if constexpr (kFactors) values[i] += log_of(factors[i]);
        values[i] *= a.weights[from + i];
      }
    } else if constexpr (kFactors) {
      total += log_of_product(factors, m);
    }
    total += sum_of(values, m);
  }
  return total;
}

// ln sum_k exp(F_k) - F_y, class after class over a few rows at a time.
struct SoftmaxLoss {};
WEALD_INLINE double each_row(SoftmaxLoss, const LossArrays& a, std::size_t begin, std::size_t end) {
  const std::size_t n = a.n_rows, K = a.n_scores;
  std::vector<double> e(K * kSoftmaxTile);
  double top[kSoftmaxTile], own[kSoftmaxTile], sum[kSoftmaxTile], total = 0;
  for (std::size_t from = begin; from < end; from += kSoftmaxTile) {
    const std::size_t m = std::min(kSoftmaxTile, end - from);
    for (std::size_t i = 0; i < m; ++i) {
      top[i] = a.scores[from + i], sum[i] = 0;
      own[i] = a.scores[static_cast<std::size_t>(a.targets[from + i]) * n + from + i];
    }
    for (std::size_t k = 1; k < K; ++k) {
      const double* f = a.scores + k * n + from;
      for (std::size_t i = 0; i < m; ++i) top[i] = top[i] < f[i] ? f[i] : top[i];
    }
    for (std::size_t k = 0; k < K; ++k) {
      const double* f = a.scores + k * n + from;
      for (std::size_t i = 0; i < m; ++i) {
        e[k * kSoftmaxTile + i] = exp_of(f[i] - top[i]);
        sum[i] += e[k * kSoftmaxTile + i];
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      const double value = log_of(sum[i]) + top[i] - own[i];
      total += a.weights ? a.weights[from + i] * value : value;
      sum[i] = 1 / sum[i];
    }
    if (!a.gradients) continue;
    for (std::size_t k = 0; k < K; ++k) {
      double *g = a.gradients + k * n + from, *h = a.hessians + k * n + from;
      const double* y = a.targets + from;
      const auto code = static_cast<double>(k);
      for (std::size_t i = 0; i < m; ++i) {
        const double p = e[k * kSoftmaxTile + i] * sum[i];
        g[i] = p - (y[i] == code ? 1.0 : 0.0);
        h[i] = p * (1 - p);
      }
    }
  }
  return total;
}

}  // namespace

LossSpec loss_of(const std::string& name, double parameter) {
#define WEALD_NAMED(kind, own_name, formula) \
  if (name == (own_name)) return {LossKind::kind, parameter};
  WEALD_LOSSES(WEALD_NAMED)
#undef WEALD_NAMED
  throw std::invalid_argument("not a built-in loss: " + name);
}

WEALD_WIDEST double differentiate(const LossSpec& loss, const LossArrays& arrays, std::size_t begin, std::size_t end) {
  const double x = loss.parameter;
  switch (loss.kind) {
#define WEALD_CASE(kind, name, formula) \
  case LossKind::kind:                  \
    return each_row(formula, arrays, begin, end);
    WEALD_LOSSES(WEALD_CASE)
#undef WEALD_CASE
  }
  return 0;
}

}  // namespace weald
