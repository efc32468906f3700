#include "weald/stats/gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "weald/base/exact_sums.hpp"
#include "weald/base/wide_numbers.hpp"

namespace weald {

namespace {

constexpr int kFineBits = 50, kWordBits = 30;
constexpr double kRowNs = 1.5;  // rough cost of looking at a row, to decide about threads

// The nearest whole number of |x| < 2^51, in a form that vector registers know.
inline double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

struct Most {
  double g = 0, h = 0;
};

// Calls fn.operator()<kHessian, kWeight>() for the derivatives at hand: without hessians or weights a loop is short, and
// the compiler makes one of each kind.
template <class Fn>
WEALD_INLINE void with_kinds(const Derivatives& given, Fn&& fn) {
  if (given.hessian)
    given.weight ? fn.template operator()<true, true>() : fn.template operator()<true, false>();
  else
    given.weight ? fn.template operator()<false, true>() : fn.template operator()<false, false>();
}

// Cuts the numbers of a row to whole units: a whole weight multiplies the cut number, any other the number itself. One
// of no weight takes no part, whatever its gradient: where there may be such, their numbers are 0.
template <bool kWeight>
struct Cut {
  double weight, before, after;
  WEALD_INLINE Cut(const Derivatives& given, std::size_t row)
      : weight(kWeight ? given.weight[row] : 1.0),
        before(given.whole_weights ? 1.0 : weight),
        after(given.whole_weights ? weight : 1.0) {}
  bool absent() const { return kWeight && weight == 0; }
  double operator()(double x, double per) const { return nearest(x * before * per) * after; }
  double or_none(double x, double per) const { return (*this)(absent() ? 0.0 : x, per); }
};

// The largest |g| and h of some rows; infinite if one of them is not finite.
WEALD_WIDEST Most find_most(const Derivatives& given, std::size_t begin, std::size_t end) {
  double most_g[8] = {}, most_h[8] = {};
  with_kinds(given, [&]<bool kHessian, bool kWeight>() WEALD_INLINE_LAMBDA {
    in_lanes<8>(begin, end, [&](std::size_t i, std::size_t lane) WEALD_INLINE_LAMBDA {
      const bool present = !kWeight || given.weight[i] > 0;
      const double signed_g = present ? given.gradient[i] : 0.0, g = signed_g < 0 ? -signed_g : signed_g;
      most_g[lane] = most_g[lane] < g || g != g ? g : most_g[lane];
      if (!kHessian) return;
      const double h = present ? given.hessian[i] : 0.0;
      most_h[lane] = most_h[lane] < h || h != h ? h : most_h[lane];
    });
  });
  Most out;
  for (std::size_t k = 0; k < 8; ++k) {
    if (!std::isfinite(most_g[k]) || !std::isfinite(most_h[k])) return {kInf, kInf};
    out = {std::max(out.g, most_g[k]), std::max(out.h, most_h[k])};
  }
  return out;
}

// Sums of |g| and h in whole units, whose order is nothing.
WEALD_WIDEST GradientSums sum_sizes(const Derivatives& given, const FineUnits& units, std::size_t begin,
                                    std::size_t end) {
  double g[8] = {}, h[8] = {};
  const double per_g = units.per_g, per_h = units.per_h;
  with_kinds(given, [&]<bool kHessian, bool kWeight>() WEALD_INLINE_LAMBDA {
    in_lanes<8>(begin, end, [&](std::size_t i, std::size_t lane) WEALD_INLINE_LAMBDA {
      const Cut<kWeight> cut(given, i);
      const double a = cut.or_none(given.gradient[i], per_g), b = kHessian ? cut.or_none(given.hessian[i], per_h) : 0.0;
      g[lane] += a < 0 ? -a : a;
      if (kHessian) h[lane] += b < 0 ? 0.0 : b;
    });
  });
  GradientSums out;
  for (std::size_t k = 0; k < 8; ++k) out.g += g[k], out.h += h[k];
  return out;
}

std::size_t most_chunks(std::size_t n) { return n / kLossRows + 1; }

// Runs fn(begin, end) over chunks of the rows.
template <class Fn>
void for_chunks(std::size_t n, std::size_t threads, Interrupt& interrupt, Fn&& fn) {
  const std::size_t useful = useful_threads(threads, kRowNs * static_cast<double>(n));
  const std::size_t chunks = std::min(most_chunks(n), useful == 1 ? 1 : kFewChunks * useful);
  parallel_chunks(useful, chunks, interrupt,
                  [&](std::size_t chunk) { fn(chunk, n * chunk / chunks, n * (chunk + 1) / chunks); });
}

// Adds the derivatives of a row to sums in whole units: g, h, w.
template <bool kHessian, bool kWeight>
inline void add_row(const Derivatives& given, const FineUnits& units, std::size_t row, double* sums) {
  const Cut<kWeight> cut(given, row);
  sums[0] += cut(given.gradient[row], units.per_g);
  if (kHessian) sums[1] += cut(given.hessian[row], units.per_h);
  if (kWeight) sums[2] += cut(1.0, units.per_w);
}

GradientSums in_own_units(const Derivatives& given, const FineUnits& units, const double* sums, std::size_t n) {
  const double w = given.weight ? sums[2] / units.per_w : static_cast<double>(n);
  return {sums[0] / units.per_g, given.hessian ? sums[1] / units.per_h : w, w};
}

struct WordScale {
  double g = 1, h = 1;  // units per gradient, per hessian (or weight)
  bool counts = false;  // H is the weight itself, in ones
};

WEALD_WIDEST void fill_words(const Derivatives& given, const WordScale& scale, std::size_t begin, std::size_t end,
                             Lane* words) {
  with_kinds(given, [&]<bool kHessian, bool kWeight>() WEALD_INLINE_LAMBDA {
    for (std::size_t i = begin; i < end; ++i) {
      const Cut<kWeight> cut(given, i);
      const double g = cut.or_none(-given.gradient[i], scale.g);
      const double bend = kHessian ? given.hessian[i] : 1.0;
      const double h = scale.counts ? cut.weight : std::max(1.0, cut.or_none(bend, scale.h));
      // Whole numbers below 2^31, so the conversion to 32 bits is exact and quick.
      words[i] = Lane{static_cast<std::int32_t>(g)} << 32 | Lane{static_cast<std::int32_t>(h)};
      if (cut.absent()) words[i] = 0;
    }
  });
}

}  // namespace

FineUnits choose_fine_units(const Derivatives& given, std::size_t threads, Interrupt& interrupt) {
  const std::size_t n = given.n_rows;
  std::vector<Most> mosts(most_chunks(n));
  for_chunks(n, threads, interrupt, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    mosts[chunk] = find_most(given, begin, end);
  });
  Most most;
  for (const Most& m : mosts) most = {std::max(most.g, m.g), std::max(most.h, m.h)};
  if (!std::isfinite(most.g) || !std::isfinite(most.h))
    throw std::invalid_argument("a gradient or hessian is not finite");
  FineUnits out;
  out.per_g = units_per(most.g * given.total_weight, kFineBits);
  out.per_h = units_per(most.h * given.total_weight, kFineBits);
  out.per_w = given.whole_weights ? 1 : units_per(given.total_weight, kFineBits);
  std::vector<GradientSums> sums(most_chunks(n));
  for_chunks(n, threads, interrupt, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    sums[chunk] = sum_sizes(given, out, begin, end);
  });
  for (const GradientSums& s : sums) out.sum_g += s.g, out.sum_h += s.h;
  return out;
}

GradientSums sum_gradients(const Derivatives& given, const FineUnits& units, const Row* rows, std::size_t n) {
  double sums[3] = {};
  with_kinds(given, [&]<bool kHessian, bool kWeight>() {
    for (std::size_t i = 0; i < n; ++i) add_row<kHessian, kWeight>(given, units, rows[i], sums);
  });
  return in_own_units(given, units, sums, n);
}

std::vector<GradientSums> sum_gradients_by(const Derivatives& given, const FineUnits& units, const std::uint8_t* group,
                                           const std::vector<std::size_t>& sizes, std::size_t threads,
                                           Interrupt& interrupt) {
  // Rows next to each other often have the same group: several sets of sums, so that no addition waits for
  // the one before.
  constexpr std::size_t kSets = 4, kWidth = 4;
  using Sums = std::array<double, kWidth>;
  const std::size_t n = given.n_rows, n_groups = sizes.size();
  std::vector<std::vector<Sums>> of_chunk(most_chunks(n));
  for_chunks(n, threads, interrupt, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    std::vector<Sums> sets(kSets * n_groups, Sums{});
    with_kinds(given, [&]<bool kHessian, bool kWeight>() {
      in_lanes<kSets>(begin, end, [&](std::size_t i, std::size_t set) {
        add_row<kHessian, kWeight>(given, units, i, sets[set * n_groups + group[i]].data());
      });
    });
    for (std::size_t c = n_groups; c < sets.size(); ++c) {
      for (std::size_t k = 0; k < kWidth; ++k) sets[c % n_groups][k] += sets[c][k];
    }
    sets.resize(n_groups);
    of_chunk[chunk] = std::move(sets);
  });
  std::vector<GradientSums> out(n_groups);
  for (std::size_t leaf = 0; leaf < n_groups; ++leaf) {
    Sums sum{};
    for (const auto& sums : of_chunk) {
      for (std::size_t k = 0; k < kWidth && !sums.empty(); ++k) sum[k] += sums[leaf][k];
    }
    out[leaf] = in_own_units(given, units, sum.data(), sizes[leaf]);
  }
  return out;
}

Statistics make_gradient_statistics(const Derivatives& given, const FineUnits& units, bool newton, double lambda,
                                    std::size_t min_samples_leaf, bool with_counts, RowStatistics memory,
                                    std::size_t threads, Interrupt& interrupt) {
  const std::size_t n = given.n_rows;
  Statistics out(std::move(memory));
  out.criterion = Criterion::Squared;
  out.channels = 1, out.gradients = true, out.unit_weights = false, out.whole_weights = false;
  Derivatives used = given;
  if (!newton) used.hessian = nullptr;
  const bool room = static_cast<double>(n) < 0x1p28 && (!given.whole_weights || given.total_weight < 0x1p29);
  if (!room) throw std::invalid_argument("too many rows, or too large whole weights, for pairs of 32 bits");
  WordScale scale;
  scale.counts = !used.hessian && given.whole_weights;
  scale.g = std::min(units.per_g, units.per_g * units_per(units.sum_g, kWordBits));
  const double sum_h = used.hessian ? units.sum_h / units.per_h : given.total_weight;
  scale.h = scale.counts ? 1 : units_per(sum_h, kWordBits);
  if (used.hessian) scale.h = std::min(scale.h, units.per_h);
  out.g_unit = 1 / scale.g, out.h_unit = 1 / scale.h;
  out.lambda = lambda * scale.h;
  out.total_weight = sum_h;

  out.rows.resize(n);
  std::iota(out.rows.begin(), out.rows.end(), Row{0});
  if (given.weight) std::erase_if(out.rows, [&](Row row) { return !(given.weight[row] > 0); });
  if (out.rows.empty()) throw std::invalid_argument("no row has a positive weight");
  out.layout = Layout::Packed, out.lanes = 1;
  out.words.resize(n);
  std::vector<Lane> sums(most_chunks(n), 0), most(most_chunks(n), 0), least(most_chunks(n), out.least_h);
  for_chunks(n, threads, interrupt, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    Lane* words = out.words.data();
    fill_words(used, scale, begin, end, words);
    sums[chunk] = std::accumulate(words + begin, words + end, Lane{0});
    for (std::size_t i = min_samples_leaf <= 1 ? end : begin; i < end; ++i) {
      const Lane h = words[i] & 0xFFFFFFFF;
      most[chunk] = std::max(most[chunk], h);
      if (h > 0) least[chunk] = std::min(least[chunk], h);  // others take no part
    }
  });
  out.sum = std::accumulate(sums.begin(), sums.end(), Lane{0});
  out.mean_h = static_cast<double>(out.sum & 0xFFFFFFFF) / given.total_weight;
  out.most_h = *std::max_element(most.begin(), most.end());
  out.least_h = *std::min_element(least.begin(), least.end());
  // Where all have the same H, as for squared errors, H says how many they are.
  out.counted = min_samples_leaf <= 1 || out.least_h == out.most_h;
  if (out.counted && min_samples_leaf > 1) out.counted_as = out.most_h;
  if (out.counted || !with_counts) return out;

  // Counts besides: three lanes a row.
  out.counted = true;
  BigVector<Lane> dense(n * 3);
  for (std::size_t i = 0; i < n; ++i) {
    dense[3 * i] = out.words[i] != 0;
    dense[3 * i + 1] = out.words[i] & 0xFFFFFFFF;
    dense[3 * i + 2] = out.words[i] >> 32;
  }
  out.words = std::move(dense);
  out.layout = Layout::Dense, out.lanes = 3;
  out.sum = -1;
  return out;
}

}  // namespace weald
