#include "weald/methods/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace weald {

RowSampler::RowSampler(const Draw& draw, std::size_t n_rows, Interrupt& interrupt) : draw_(draw), n_rows_(n_rows) {
  if (draw.kind == Drawing::All) return;
  const bool grouped = !draw.unit_of.empty();
  const auto check = [&](bool good, const char* what) {
    if (!good) throw std::invalid_argument(what);
  };
  check(draw.weights.empty() || draw.weights.size() == n_rows, "one weight per row to draw by");
  check(!grouped || (draw.unit_of.size() == n_rows && draw.weights.empty() && draw.stratum_of.empty()),
        "groups: one per row, drawn without weights or strata");
  check(draw.stratum_of.empty() || draw.stratum_of.size() == n_rows, "one stratum per row");
  Patience patience(interrupt);
  pools_.resize(draw.stratum_of.empty() ? 1 : draw.n_strata);
  if (draw.stratum_of.empty()) {
    pools_[0].n = grouped ? draw.n_units : n_rows;
  } else {
    for (std::size_t i = 0; i < n_rows; ++i) {
      patience.spend(1);
      pools_[draw.stratum_of[i]].units.push_back(static_cast<Row>(i));
    }
    for (Pool& pool : pools_) pool.n = pool.units.size();
  }
  for (Pool& pool : pools_) {
    if (draw.weights.empty()) continue;
    double sum = 0;
    for (std::size_t k = 0; k < pool.n; ++k) {
      patience.spend(1);
      const double w = draw.weights[pool.unit(k)];
      check(w >= 0 && std::isfinite(w), "weights to draw by must be finite and >= 0");
      pool.cumulative.push_back(sum += w);
    }
    check(sum > 0 || pool.n == 0, "no row to draw has a positive weight");
  }
}

void RowSampler::draw(std::uint64_t key, std::uint32_t* counts, Interrupt& interrupt) const {
  if (draw_.kind == Drawing::All) {
    std::fill_n(counts, n_rows_, 1U);
    return;
  }
  const bool grouped = !draw_.unit_of.empty();
  std::vector<std::uint32_t> of_units(grouped ? draw_.n_units : 0, 0);
  std::uint32_t* drawn = grouped ? of_units.data() : counts;
  if (!grouped) std::fill_n(counts, n_rows_, 0U);
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    if (pools_[p].n == 0) continue;
    const Stream stream(combine(combine(key, kRowsKey), p));
    draw_.kind == Drawing::Bootstrap ? with_replacement(pools_[p], stream, drawn, interrupt)
                                     : without_replacement(pools_[p], stream, drawn, interrupt);
  }
  if (grouped) {
    for_all(0, n_rows_, interrupt, [&](std::size_t i) { counts[i] = of_units[draw_.unit_of[i]]; });
  }
}

void RowSampler::with_replacement(const Pool& pool, Stream stream, std::uint32_t* counts, Interrupt& interrupt) const {
  const auto n = static_cast<std::uint32_t>(pool.n);
  const auto& sums = pool.cumulative;
  for_stretches(0, draw_.size, interrupt, [&](std::size_t begin, std::size_t end) {
    if (sums.empty()) {
      for (std::size_t k = begin; k < end; ++k) ++counts[pool.unit(stream.below(n))];
      return;
    }
    for (std::size_t k = begin; k < end; ++k) {
      // The first unit whose sum passes the point: never one of weight 0, whose sum passes nothing.
      const auto at = std::upper_bound(sums.begin(), sums.end(), stream.uniform() * sums.back());
      ++counts[pool.unit(static_cast<std::size_t>(std::min(at, sums.end() - 1) - sums.begin()))];
    }
  });
}

// Every unit gets an exponential clock that runs at its weight; the first to ring are drawn
// (Efraimidis & Spirakis 2006).
void RowSampler::without_replacement(const Pool& pool, Stream stream, std::uint32_t* counts,
                                     Interrupt& interrupt) const {
  std::vector<std::pair<double, Row>> clocks;
  clocks.reserve(pool.n);
  Patience patience(interrupt);
  for (std::size_t k = 0; k < pool.n; ++k) {
    patience.spend(4);
    const Row unit = pool.unit(k);
    const double w = draw_.weights.empty() ? 1.0 : draw_.weights[unit];
    const double time = -std::log(1 - stream.uniform());
    if (w > 0) clocks.emplace_back(time / w, unit);
  }
  const std::size_t size = std::min(draw_.size, clocks.size());
  arrange_patiently(clocks.size(), interrupt, [&](auto&& less) {
    std::nth_element(clocks.begin(), clocks.begin() + static_cast<std::ptrdiff_t>(size), clocks.end(), less);
  });
  for (std::size_t k = 0; k < size; ++k) counts[clocks[k].second] = 1;
}

std::vector<std::uint32_t> draw_columns(const Draw& draw, std::size_t n_columns, std::uint64_t key) {
  if (draw.columns == 0) return {};
  Stream stream(combine(key, kColumnsKey));
  std::vector<std::uint32_t> out(n_columns);
  const auto d = static_cast<std::uint32_t>(n_columns);
  if (draw.columns_replace) {
    out.resize(draw.columns);
    for (auto& column : out) column = stream.below(d);
  } else {
    std::iota(out.begin(), out.end(), 0U);
    const std::size_t size = std::min(draw.columns, n_columns);
    for (std::size_t k = 0; k < size; ++k) {
      std::swap(out[k], out[k + stream.below(d - static_cast<std::uint32_t>(k))]);
    }
    out.resize(size);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace weald
