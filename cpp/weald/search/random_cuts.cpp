#include "weald/search/random_cuts.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "weald/base/paths.hpp"
#include "weald/search/category_order.hpp"
#include "weald/search/cut_sums.hpp"

namespace weald {

namespace {

constexpr std::size_t kMostClasses = 32;

// Rows by themselves, in their order.
const Slot* all_slots() {
  static const auto slots = [] {
    std::array<Slot, kCutRows> out;
    std::iota(out.begin(), out.end(), Slot{0});
    return out;
  }();
  return slots.data();
}

}  // namespace

bool RandomCuts::fit(const Block& block, const Statistics& stats) {
  const bool classes = is_classification(stats.criterion) && stats.n_outputs == 1 && stats.channels <= kMostClasses;
  const bool numbers = stats.layout == Layout::Dense && !is_from_rows(stats.criterion);
  return uses(Path::RandomCuts) && kHasCutSums && block.row_bytes != nullptr && !stats.gradients &&
         (classes || numbers);
}

void RandomCuts::look(const Block& block, const Row* rows, std::size_t n, std::span<const std::uint32_t> drawn) {
  n_drawn_ = drawn.size(), n_rows_ = n, tops_ = {};
  std::uint32_t places[kColumns] = {};
  CutBytes near, missing;
  ends_.any_gaps = false;
  for (std::size_t k = 0; k < n_drawn_; ++k) {
    const Column& column = block.columns[drawn[k]];
    drawn_[k] = {&column, drawn[k]};
    places[k] = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(column.data) - block.row_bytes);
    near.set(k, places[k] % kNearBytes);
    missing.set(k, missing_[k] = static_cast<std::uint8_t>(column.n_codes));
    ends_.any_gaps |= column.has_missing;
  }
  if (codes_.size() < n * kColumns) codes_.resize(n * kColumns);
  const TableRows source{block.row_bytes, block.row_stride, rows, n};
  block.row_stride <= kNearBytes ? look_at_near_columns(source, near, missing, codes_.data(), ends_)
                                 : look_at_columns(source, places, n_drawn_, missing, codes_.data(), ends_);
}

bool RandomCuts::add_cut(const SearchRequest& request, std::size_t k) {
  const auto [column, j] = drawn_[k];
  const Extremes ends{ends_.low[k], ends_.high[k], ends_.seen[k] != 0};
  if (ends_.varies[k] == 0) return false;
  CutPoint at{ends.last, column->n_codes, kNaN};  // one value: present | missing
  if (ends.first < ends.last) {
    at = column->categorical ? cut_categories(request.node_key, k)
         : request.random    ? draw_bin_cut(request.node_key, *column, j, ends)
                             : CutPoint{ends.first, ends.last, kNaN};
  }
  cuts_.push_back({k, ends, at});
  tops_.set(k, at.last_left);
  return true;
}

// A side for every category, which then stands for the code.
CutPoint RandomCuts::cut_categories(std::uint64_t node_key, std::size_t k) {
  const CategoryNumbers number(node_key, drawn_[k].j);
  auto& side = sides_[k];
  side.fill(kNowhere);
  for (std::size_t i = 0; i < n_rows_; ++i) side[codes_[i * kColumns + k]] = kAbsent;
  std::uint32_t least = ~std::uint32_t{0}, most = 0;
  const auto each = [&](auto&& fn) {
    for (Code code = ends_.low[k]; code <= ends_.high[k]; ++code) {
      if (side[code] != kNowhere && code != missing_[k]) fn(side[code], number(code));
    }
  };
  each([&](std::uint8_t, std::uint32_t own) { least = std::min(least, own), most = std::max(most, own); });
  const std::uint32_t threshold = number.draw_threshold(least, most);
  each([&](std::uint8_t& own_side, std::uint32_t own) { own_side = own <= threshold ? kLeft : kRight; });
  for (std::size_t i = 0; i < n_rows_; ++i) {
    std::uint8_t& code = codes_[i * kColumns + k];
    code = side[code];
  }
  missing_[k] = kAbsent;
  return {kLeft, kRight, kNaN};
}

// As ColumnSearch::choose_left does: categories that are not here go right, so the other side is listed if need be.
void RandomCuts::list_left(const DrawnCut& cut, const Channels& stats, const Lane* total, Split& split) const {
  const auto& [k, ends, at] = cut;
  const bool several = ends.first < ends.last;
  const Lane left_h = h_of_cell(stats, &left_[k * stats.lanes]);
  const bool flip = ends.has_missing ? split.missing_left || !several : left_h > h_of_cell(stats, total) - left_h;
  split.categorical = true;
  for (Code code = ends.first; code <= ends.last && (several || !flip); ++code) {
    if (several ? sides_[k][code] == (flip ? kRight : kLeft) : true) split.left_codes.push_back(code);
  }
  if (!flip) return;
  split.missing_left = !split.missing_left, split.left_sum = *total - split.left_sum;
  std::swap(split.left_value, split.right_value);
}

// Adds up what some rows at a time add to cells; values_of(first row, rows): what.
template <class T, class ValuesOf>
void RandomCuts::sum_cells(CutBytes tops, std::size_t cells, ValuesOf&& values_of) {
  cells_.assign(cells * kColumns, 0);
  std::vector<T> part(cells * kColumns);
  for (std::size_t begin = 0; begin < n_rows_; begin += kCutsAdded) {
    const CutRows some{nullptr, all_slots(), std::min(kCutsAdded, n_rows_ - begin)};
    sum_left(some, &codes_[begin * kColumns], tops, n_drawn_, values_of(begin, some.n), part.data());
    for (std::size_t at = 0; at < cells_.size(); ++at) cells_[at] += part[at];
  }
}

void RandomCuts::count_two_classes(CutBytes tops, const Block& block, const NodeRows& rows, Lane* sums) {
  std::uint8_t second[kCutsAdded];  // 255: it is of the second class
  sum_cells<std::int16_t>(tops, 2, [&](std::size_t begin, std::size_t n) {
    const auto classify = [&](auto&& class_of) {
      for (std::size_t i = 0; i < n; ++i) second[i] = static_cast<std::uint8_t>(-class_of(rows.rows[begin + i]));
    };
    block.class_bytes ? classify([bytes = block.class_bytes](Row row) { return bytes[row] & 1; })
                      : classify([words = block.words](Row row) { return words[row] >> 32; });
    return CutValues<std::int16_t>{.cells = 2, .second = second};
  });
  for (const DrawnCut& cut : cuts_) sums[cut.k] = cells_[kColumns + cut.k] << 32 | cells_[cut.k];
}

// T: of the weights.
template <class T, class WeightsOf>
void RandomCuts::sum_classes(CutBytes tops, const Channels& stats, const Block& block, const NodeRows& rows, Lane* sums,
                             WeightsOf&& weights_of) {
  std::uint16_t kind[kCutsAdded], cell_of[kMostClasses];
  std::iota(cell_of, cell_of + stats.channels, std::uint16_t{0});
  sum_cells<T>(tops, stats.channels, [&](std::size_t begin, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) kind[i] = static_cast<std::uint16_t>(block.hot[rows.rows[begin + i]]);
    return CutValues<T>{.values = weights_of(begin, n), .cells = stats.channels, .kind = kind, .cell_of = cell_of};
  });
  for (const DrawnCut& cut : cuts_) {
    Lane* cell = sums + cut.k * stats.lanes;
    for (std::size_t c = 0; c < stats.channels; ++c) cell[1] += cell[2 + c] = cells_[c * kColumns + cut.k];
    cell[0] = cell[1];
  }
}

void RandomCuts::sum_up_to(CutBytes tops, const Channels& stats, const Block& block, const NodeRows& rows, Lane* sums) {
  const std::size_t lanes = stats.lanes;
  if (stats.layout == Layout::Packed && stats.unit_weights) return count_two_classes(tops, block, rows, sums);
  if (stats.layout == Layout::OneHot && stats.unit_weights) {
    std::int16_t ones[kCutsAdded];
    std::fill_n(ones, kCutsAdded, std::int16_t{1});
    return sum_classes<std::int16_t>(tops, stats, block, rows, sums, [&](std::size_t, std::size_t) { return ones; });
  }
  if (stats.layout == Layout::OneHot) {
    sum_classes<Lane>(tops, stats, block, rows, sums,
                      [&](std::size_t begin, std::size_t n) { return rows.words.get(begin, n); });
    const Lane one = 1;
    sum_cells<Lane>(tops, 1, [&](std::size_t, std::size_t) {
      return CutValues<Lane>{.values = &one, .cells = 1, .row_stride = 0};
    });
    for (const DrawnCut& cut : cuts_) sums[cut.k * lanes] = cells_[cut.k];
    return;
  }
  sum_cells<Lane>(tops, lanes, [&](std::size_t begin, std::size_t n) {
    return CutValues<Lane>{
        .values = rows.words.get(begin * lanes, n * lanes), .cells = lanes, .cell_stride = 1, .row_stride = lanes};
  });
  for (const DrawnCut& cut : cuts_) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[cut.k * lanes + lane] = cells_[lane * kColumns + cut.k];
  }
}

void RandomCuts::try_cuts(const SearchRequest& request, const Block& block, const NodeRows& rows, const Lane* total,
                          Split& best) {
  if (cuts_.empty()) return;
  const Channels& stats = *request.stats;
  left_.assign(kColumns * stats.lanes, 0);
  sum_up_to(tops_, stats, block, rows, left_.data());
  if (std::any_of(cuts_.begin(), cuts_.end(), [](const DrawnCut& cut) { return cut.ends.has_missing; })) {
    CutBytes tops;  // of all that is present
    for (const DrawnCut& cut : cuts_) {
      if (cut.ends.has_missing) tops.set(cut.k, missing_[cut.k] - 1U);
    }
    absent_.assign(kColumns * stats.lanes, 0);
    sum_up_to(tops, stats, block, rows, absent_.data());
    for (std::size_t at = 0; at < absent_.size(); ++at) absent_[at] = total[at % stats.lanes] - absent_[at];
  }
  with_sums(stats, [&](auto sums) {
    Limits limits = request.limits;
    for (const DrawnCut& drawn : cuts_) {
      const auto& [k, ends, at] = drawn;
      const bool has_missing = ends.has_missing;
      const std::uint32_t column = drawn_[k].j;
      if (request.monotone) limits.monotone = request.monotone[column];
      limits.floor = best.score;
      const Lane *left = &left_[k * stats.lanes], *missing = has_missing ? &absent_[k * stats.lanes] : nullptr;
      const Cut cut =
          scan_cuts(sums, total, missing, [](bool) { return Range{1, 1}; }, [&](std::size_t) { return left; }, limits);
      if (!best.loses_to(cut.score, column, request.ties)) continue;
      best = {};  // nothing of what another column had found
      best.score = cut.score, best.column = column, best.left_sum = cut.left_sum;
      best.last_left = at.last_left, best.first_right = at.first_right, best.random_threshold = at.threshold;
      best.had_missing = has_missing, best.missing_left = cut.missing_left;
      if (limits.monotone != 0) {
        sums.start(total);
        sums.move(left);
        if (cut.missing_left) sums.move(missing);
        best.left_value = sums.left_value(), best.right_value = sums.right_value();
      }
      if (drawn_[k].column->categorical) list_left(drawn, stats, total, best);
    }
  });
  cuts_.clear();
}

}  // namespace weald
