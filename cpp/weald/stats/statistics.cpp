#include "weald/stats/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "weald/base/exact_sums.hpp"
#include "weald/base/paths.hpp"
#include "weald/stats/criterion.hpp"

namespace weald {

namespace {

struct Weights {
  bool unit = true;   // all 1
  bool whole = true;  // all whole numbers, each time a row counts
  double total = 0, most = 0;
  double draws = 0;  // rows, each as often as it counts
};

// Units follow from it, which must not depend on the order of the rows.
double exact_total(const Target& target, const BigVector<Row>& rows) {
  double most = 0;
  for (const Row row : rows) most = std::max(most, target.weights[row]);
  ExactSum sum(most);
  for (const Row row : rows) sum.add(target.weights[row], target.counts ? target.counts[row] : 1);
  return sum.value();
}

Weights inspect_weights(const Target& target, BigVector<Row>& rows, Interrupt& interrupt) {
  Weights out;
  rows.resize(target.n_rows);
  std::size_t n = 0;
  bool valid = true;
  for_stretches(0, target.n_rows, interrupt, [&](std::size_t begin, std::size_t end) {
    Weights here = out;  // and no branch on what is drawn, which cannot be foretold
    for (std::size_t i = begin; i < end; ++i) {
      const double times = target.counts ? target.counts[i] : 1, w = target.factor(static_cast<Row>(i)) * times;
      const bool present = w > 0;
      valid &= (w >= 0) & (w <= std::numeric_limits<double>::max());
      rows[n] = static_cast<Row>(i);
      n += present;
      here.total += w;
      here.most = std::max(here.most, w);
      here.draws += present * times;
      here.unit &= (w == 1) | !present;
      here.whole &= target.whole(static_cast<Row>(i));
    }
    out = here;
  });
  rows.resize(n);
  if (!valid) throw std::invalid_argument("weights must be finite and >= 0");
  if (!std::isfinite(out.total)) throw std::invalid_argument("the sum of the weights overflows");
  if (!out.whole) out.total = target.total_weight > 0 ? target.total_weight : exact_total(target, rows);
  return out;
}

void tabulate_xlog2x(Statistics& out) {
  const auto most = static_cast<std::size_t>(out.total_weight);
  out.xlog2x_table.resize(most + 1);
  for (std::size_t x = 0; x <= most; ++x) out.xlog2x_table[x] = fixed_xlog2x(out, static_cast<double>(x));
  out.xlog2x = out.xlog2x_table.data();
}

}  // namespace

const char* name_of(Criterion criterion) {
  switch (criterion) {
#define WEALD_NAME(kind, name) \
  case Criterion::kind:        \
    return name;
    WEALD_CRITERIA(WEALD_NAME)
#undef WEALD_NAME
  }
  throw std::logic_error("no such criterion");
}

Criterion criterion_of(std::string_view name) {
#define WEALD_KIND(kind, own_name) \
  if (name == (own_name)) return Criterion::kind;
  WEALD_CRITERIA(WEALD_KIND)
#undef WEALD_KIND
  throw std::invalid_argument("unknown criterion: " + std::string(name));
}

Statistics make_statistics(const Target& target, Criterion criterion, std::size_t min_samples_leaf,
                           Interrupt& interrupt, Precision precision, RowStatistics memory) {
  Statistics out(std::move(memory));
  out.criterion = criterion;
  out.n_outputs = target.n_outputs;
  const Weights weights = inspect_weights(target, out.rows, interrupt);
  out.total_weight = weights.total;

  const bool binary = is_classification(criterion) && target.n_outputs == 1 && target.n_classes[0] <= 2;
  const bool counts_needed = min_samples_leaf > 1 && !weights.unit;
  const bool word = precision == Precision::Word && binary && !counts_needed;
  // Whole weights keep their unit; others are cut to 2^-k so that their sum converts to double without
  // rounding, and fits where it has to. Every row counts, however light.
  const bool whole = weights.whole && weights.total < 0x1.0p31;
  const int h_exponent = whole ? 0 : exponent_for(weights.total, word ? 30 : 52);
  out.h_unit = std::ldexp(1.0, -h_exponent);
  out.unit_weights = weights.unit;
  out.whole_weights = whole;
  out.row_h = weights.whole || weights.draws == 0 ? 1 / out.h_unit : weights.total / weights.draws / out.h_unit;
  const double per_unit = std::ldexp(1.0, h_exponent);  // a power of two: multiplying by it is exact
  const Lane least = word ? 1 : 0;
  const auto for_rows = [&](auto&& fill) {
    for_stretches(0, out.rows.size(), interrupt, [&](std::size_t begin, std::size_t end) {
      const Row* rows = out.rows.data();
      for (std::size_t i = begin; i < end; ++i) fill(rows[i]);
    });
  };
  // What a row weighs is cut first and then counted, so that k draws of it weigh exactly k times as much.
  const auto h_of = [&](Row row) {
    const Lane once = std::max(least, static_cast<Lane>(std::llrint(target.factor(row) * per_unit)));
    const Lane h = target.counts ? once * static_cast<Lane>(target.counts[row]) : once;
    out.most_h = std::max(out.most_h, h), out.least_h = std::min(out.least_h, h);
    return h;
  };

  if (criterion == Criterion::Entropy && whole && weights.total <= 0x1.0p20) {
    const double largest = std::max(2.0, out.total_weight * std::log2(out.total_weight + 1));
    out.xlog2x_unit = std::ldexp(1.0, -exponent_for(largest * static_cast<double>(4 * out.n_outputs), 61));
    // The numbers are the same with and without a table, or a row of weight k would not be k rows.
    if (uses(Path::EntropyTable) && weights.total <= 4 * static_cast<double>(out.rows.size())) tabulate_xlog2x(out);
  }
  if (is_classification(criterion)) {
    out.g_unit = out.h_unit;
    if (binary) {
      out.channels = 1;
      out.layout = uses(Path::PackedWords) && (whole || word) && !counts_needed ? Layout::Packed : Layout::Dense;
      out.lanes = out.layout == Layout::Packed ? 1 : 3;
      const bool light = out.layout == Layout::Packed && whole && weights.most <= 127;
      out.light_two_classes = light && criterion == Criterion::Gini;
      if (light && uses(Path::ClassBytes)) {
        out.class_bytes.resize(target.n_rows, 0);
        for_rows([&](Row row) {
          out.class_bytes[row] =
              static_cast<std::uint8_t>(static_cast<int>(target.weight(row)) << 1 | (target.classes[row] == 1));
        });
        return out;
      }
      out.words.resize(target.n_rows * out.lanes, 0);
      for_rows([&](Row row) {
        const Lane h = h_of(row);
        const bool second = target.classes[row] == 1;
        if (out.layout == Layout::Packed) {
          out.words[row] = packed_word(h, second);
        } else {
          Lane* lanes = &out.words[std::size_t{row} * 3];
          lanes[0] = 1, lanes[1] = h, lanes[2] = second ? h : 0;
        }
      });
      return out;
    }
    out.layout = Layout::OneHot;
    out.offset.assign(1, 0);
    for (const std::uint32_t k : target.n_classes) out.offset.push_back(out.offset.back() + k);
    out.channels = out.offset.back();
    out.lanes = 2 + out.channels;
    out.words.resize(target.n_rows, 0);
    out.hot.resize(target.n_rows * target.n_outputs, 0);
    for_rows([&](Row row) {
      out.words[row] = h_of(row);
      for (std::size_t o = 0; o < target.n_outputs; ++o) {
        const std::size_t at = row * target.n_outputs + o;
        out.hot[at] = out.offset[o] + static_cast<std::uint32_t>(target.classes[at]);
      }
    });
    return out;
  }

  out.layout = Layout::Dense;
  out.targets = target.values;
  out.counts = whole ? nullptr : target.counts;
  out.channels = target.n_outputs;
  out.lanes = 2 + out.channels;
  out.words.resize(target.n_rows, 0);
  for_rows([&](Row row) { out.words[row] = h_of(row); });
  return out;
}

void choose_units(Channels& channels, std::size_t n, double total_h, double low, double high) {
  // Some need the sums themselves; for the rest the midrange, which repeating rows does not move.
  channels.g_centre = needs_true_units(channels.criterion) ? 0 : low / 2 + high / 2;
  const double reach = std::max(std::abs(high - channels.g_centre), std::abs(low - channels.g_centre));
  // Under weights that are not whole the absolute criterion has wide sums of its own: only the lanes, in
  // which every row counts once, must not overflow. Up to a million rows their number does not matter.
  const bool sums = !is_from_rows(channels.criterion) || channels.whole_weights;
  const int weight_bits =
      sums ? exponent_for(total_h * channels.h_unit, 60) : std::min(exponent_for(static_cast<double>(n), 60), 40);
  const int exponent = std::clamp(weight_bits + exponent_for(reach, 0), -1000, 1000);
  channels.g_unit = std::ldexp(1.0, -exponent);
}

}  // namespace weald
