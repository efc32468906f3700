#include "weald/search/random_cuts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "weald/base/paths.hpp"
#include "weald/base/wide_vectors.hpp"
#include "weald/search/category_order.hpp"
#include "weald/search/cut_sums.hpp"

namespace weald {

namespace {

constexpr std::size_t kWidth = RandomCuts::kColumns;
constexpr std::size_t kNear = 2 * kWidth;  // bytes of a row from which any can be put side by side at once
constexpr std::size_t kMostClasses = 32;

// Some rows, their codes side by side.
struct Strip {
  const std::uint8_t* codes;
  std::size_t n;

  const std::uint8_t* row(std::size_t i) const { return codes + i * kWidth; }
};

// Where the bytes of rows are.
struct Source {
  const std::uint8_t* first;
  std::size_t stride;
  const Row* rows;
  std::size_t n;

  const std::uint8_t* row(std::size_t i) const { return first + rows[i] * stride; }
};

struct ExtremeBytes {
  const std::uint8_t* missing;      // the code for "missing" of each column
  std::uint8_t *low, *high, *seen;  // seen: are values missing?
};

void gather(const Source& source, const std::uint32_t* places, std::size_t n_places, std::uint8_t* out) {
  for (std::size_t i = 0; i < source.n; ++i, out += kWidth) {
    const std::uint8_t* row = source.row(i);
    for (std::size_t k = 0; k < n_places; ++k) out[k] = row[places[k]];
  }
}

#ifdef WEALD_HAS_VECTORS
constexpr bool kHasVectors = true;
typedef std::uint8_t ByteVector __attribute__((vector_size(kWidth)));
#define WEALD_LOAD(name, from) \
  ByteVector name;             \
  std::memcpy(&(name), (from), kWidth)

// codes_of(i): those of a row.
template <class CodesOf>
WEALD_INLINE void find_extremes(std::size_t n, const ExtremeBytes& out, CodesOf&& codes_of) {
  WEALD_LOAD(missing, out.missing);
  WEALD_LOAD(low, out.low);
  WEALD_LOAD(high, out.high);
  WEALD_LOAD(seen, out.seen);
  for (std::size_t i = 0; i < n; ++i) {
    const ByteVector codes = codes_of(i);
    const ByteVector absent = static_cast<ByteVector>(codes == missing), present = codes & ~absent;
    low = codes < low ? codes : low;
    high = present > high ? present : high;
    seen |= absent;
  }
  std::memcpy(out.low, &low, kWidth);
  std::memcpy(out.high, &high, kWidth);
  std::memcpy(out.seen, &seen, kWidth);
}

WEALD_WIDE void look_at(const Strip& strip, const ExtremeBytes& out) {
  find_extremes(strip.n, out, [&](std::size_t i) __attribute__((always_inline)) {
    WEALD_LOAD(codes, strip.row(i));
    return codes;
  });
}

#ifndef __clang__
constexpr bool kHasShuffle = true;
// The same after `gather`, where all places are among the first kNear bytes.
WEALD_WIDE void gather_near(const Source& source, const std::uint8_t* places, std::uint8_t* into,
                            const ExtremeBytes& out) {
  WEALD_LOAD(order, places);
  find_extremes(source.n, out, [&](std::size_t i) __attribute__((always_inline)) {
    WEALD_LOAD(first, source.row(i));
    WEALD_LOAD(second, source.row(i) + kWidth);
    const ByteVector codes = __builtin_shuffle(first, second, order);
    std::memcpy(into + i * kWidth, &codes, kWidth);
    return codes;
  });
}
#else
constexpr bool kHasShuffle = false;
void gather_near(const Source&, const std::uint8_t*, std::uint8_t*, const ExtremeBytes&) {}
#endif

// counted[class][column] += rows not above the top. Odd and even rows are counted in two sets, `apart`
// bytes from each other: a count in memory has to wait for the one before.
WEALD_WIDE void count_strip(const Strip& strip, const std::uint8_t* tops, const std::uint8_t* classes,
                            std::uint8_t* counted, std::size_t apart) {
  WEALD_LOAD(top, tops);
  for (std::size_t i = 0; i < strip.n; ++i) {
    WEALD_LOAD(codes, strip.row(i));
    std::uint8_t* own = counted + classes[i] * kWidth + (i & 1) * apart;
    WEALD_LOAD(sums, own);
    sums -= static_cast<ByteVector>(codes <= top);  // "true" is 255, that is -1
    std::memcpy(own, &sums, kWidth);
  }
}

#undef WEALD_LOAD
#else
constexpr bool kHasVectors = false, kHasShuffle = false;  // the general search takes over
void gather_near(const Source&, const std::uint8_t*, std::uint8_t*, const ExtremeBytes&) {}
void look_at(const Strip&, const ExtremeBytes&) {}
void count_strip(const Strip&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*, std::size_t) {}
#endif

}  // namespace

bool RandomCuts::fit(const Block& block, const Statistics& stats) {
  const bool classes = is_classification(stats.criterion) && stats.n_outputs == 1 && stats.channels <= kMostClasses;
  const bool numbers = stats.layout == Layout::Dense && !is_from_rows(stats.criterion);
  return uses(Path::RandomCuts) && kHasVectors && block.row_bytes != nullptr && !stats.gradients &&
         (classes || numbers);
}

void RandomCuts::look(const Block& block, const Row* rows, std::size_t n, std::span<const std::uint32_t> drawn) {
  n_drawn_ = drawn.size(), n_rows_ = n;
  std::uint32_t places[kColumns];
  std::uint8_t near[kColumns] = {};
  for (std::size_t k = 0; k < n_drawn_; ++k) {
    const Column& column = block.columns[drawn[k]];
    drawn_[k] = {&column, drawn[k]};
    places[k] = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(column.data) - block.row_bytes);
    near[k] = static_cast<std::uint8_t>(places[k]);
    missing_[k] = static_cast<std::uint8_t>(column.n_codes);
  }
  std::fill_n(low_, kColumns, std::uint8_t{255});
  std::fill_n(high_, kColumns, std::uint8_t{0}), std::fill_n(seen_, kColumns, std::uint8_t{0});
  if (codes_.size() < n * kColumns) codes_.resize(n * kColumns);
  for (std::size_t begin = 0; begin < n; begin += kCutsFlush) {
    const Source source{block.row_bytes, block.row_stride, rows + begin, std::min(kCutsFlush, n - begin)};
    std::uint8_t* out = &codes_[begin * kColumns];
    const ExtremeBytes extremes{missing_, low_, high_, seen_};
    if (kHasShuffle && block.row_stride <= kNear) {
      gather_near(source, near, out, extremes);
    } else {
      gather(source, places, n_drawn_, out);
      look_at({out, source.n}, extremes);
    }
  }
}

bool RandomCuts::add_cut(const SearchRequest& request, std::size_t k) {
  const auto [column, j] = drawn_[k];
  const Extremes ends{low_[k], high_[k], seen_[k] != 0};
  const bool several = ends.first < ends.last;
  if (column->constant() || !(several || (ends.has_missing && ends.first != column->n_codes))) return false;
  CutPoint at{ends.last, column->n_codes, kNaN};  // one value: present | missing
  if (several) {
    at = column->categorical ? cut_categories(request.node_key, k) : draw_bin_cut(request.node_key, *column, j, ends);
  }
  cuts_.push_back({k, ends, at});
  cut_[k] = static_cast<std::uint8_t>(at.last_left);
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
    for (Code code = low_[k]; code <= high_[k]; ++code) {
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

// Two classes; of the second, the byte of a row is 255.
void RandomCuts::count_two(const std::uint8_t* codes, std::size_t n, const std::uint8_t* tops,
                           const std::uint8_t* second, Lane* sums) {
  std::uint8_t all[kColumns], seconds[kColumns];
  CutBytes bytes;
  for (std::size_t k = 0; k < kColumns; ++k) bytes.set(k, tops[k]);
  for (std::size_t begin = 0; begin < n; begin += kCutsFlush / 2) {
    const std::size_t size = std::min(kCutsFlush / 2, n - begin);
    count_left(codes + begin * kColumns, size, bytes, second + begin, all, seconds);
    for (const DrawnCut& cut : cuts_) sums[cut.k] += Lane{seconds[cut.k]} << 32 | Lane{all[cut.k]};
  }
}

void RandomCuts::count_classes(const std::uint8_t* tops, const Channels& stats, const Block& block,
                               const NodeRows& rows, Lane* sums) {
  const bool packed = stats.layout == Layout::Packed;
  const std::size_t n_classes = stats.channels, apart = n_classes * kColumns;
  std::uint8_t classes[kCutsFlush];
  for (std::size_t begin = 0; begin < rows.n; begin += kCutsFlush) {
    const std::size_t size = std::min(kCutsFlush, rows.n - begin);
    const auto classify = [&](auto&& class_of) {
      for (std::size_t i = 0; i < size; ++i) classes[i] = static_cast<std::uint8_t>(class_of(rows.rows[begin + i]));
    };
    if (block.hot) {
      classify([hot = block.hot](Row row) { return hot[row]; });
    } else if (block.class_bytes) {
      classify([bytes = block.class_bytes](Row row) { return -(bytes[row] & 1); });
    } else {
      classify([words = block.words](Row row) { return -(words[row] >> 32); });
    }
    if (packed) {
      count_two(&codes_[begin * kColumns], size, tops, classes, sums);
      continue;
    }
    counted_.assign(2 * apart, 0);
    count_strip({&codes_[begin * kColumns], size}, tops, classes, counted_.data(), apart);
    for (const DrawnCut& cut : cuts_) {
      Lane* cell = sums + cut.k * stats.lanes;
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::uint8_t* byte = &counted_[c * kColumns + cut.k];
        const Lane count = Lane{byte[0]} + byte[apart];
        cell[0] += count, cell[1] += count, cell[2 + c] += count;
      }
    }
  }
}

// Adds up what some rows at a time add to cells; values_of(first row, rows): what.
template <class ValuesOf>
void RandomCuts::sum_cells(const std::uint8_t* tops, const NodeRows& rows, std::size_t cells, ValuesOf&& values_of) {
  static const auto all_slots = [] {
    std::array<Slot, kCutRows> slots;
    std::iota(slots.begin(), slots.end(), Slot{0});
    return slots;
  }();
  CutBytes bytes;
  for (std::size_t k = 0; k < kColumns; ++k) bytes.set(k, tops[k]);
  cells_.assign(cells * kColumns, 0);
  part_.resize(cells * kColumns);
  for (std::size_t begin = 0; begin < rows.n; begin += kCutsAdded) {
    const CutRows some{nullptr, all_slots.data(), std::min(kCutsAdded, rows.n - begin)};
    sum_left(some, &codes_[begin * kColumns], bytes, n_drawn_, values_of(begin, some.n), part_.data());
    for (std::size_t at = 0; at < cells_.size(); ++at) cells_[at] += part_[at];
  }
}

void RandomCuts::sum_classes(const std::uint8_t* tops, const Channels& stats, const NodeRows& rows, Lane* sums) {
  std::uint16_t kind[kCutsAdded];
  std::vector<std::uint16_t> cell_of(stats.channels);
  std::iota(cell_of.begin(), cell_of.end(), std::uint16_t{0});
  sum_cells(tops, rows, stats.channels, [&](std::size_t begin, std::size_t n) {
    const std::uint32_t* hot = rows.hot.get(begin, n);
    for (std::size_t i = 0; i < n; ++i) kind[i] = static_cast<std::uint16_t>(hot[i]);
    return CutValues<Lane>{
        .values = rows.words.get(begin, n), .cells = stats.channels, .kind = kind, .cell_of = cell_of.data()};
  });
  for (const DrawnCut& cut : cuts_) {
    Lane* cell = sums + cut.k * stats.lanes;
    for (std::size_t c = 0; c < stats.channels; ++c) {
      cell[2 + c] = cells_[c * kColumns + cut.k];
      cell[1] += cell[2 + c];
    }
  }
  const Lane one = 1;
  sum_cells(tops, rows, 1,
            [&](std::size_t, std::size_t) { return CutValues<Lane>{.values = &one, .cells = 1, .row_stride = 0}; });
  for (const DrawnCut& cut : cuts_) sums[cut.k * stats.lanes] = cells_[cut.k];
}

void RandomCuts::sum_lanes(const std::uint8_t* tops, const Channels& stats, const NodeRows& rows, Lane* sums) {
  const std::size_t lanes = stats.lanes;
  sum_cells(tops, rows, lanes, [&](std::size_t begin, std::size_t n) {
    return CutValues<Lane>{
        .values = rows.words.get(begin * lanes, n * lanes), .cells = lanes, .cell_stride = 1, .row_stride = lanes};
  });
  for (const DrawnCut& cut : cuts_) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[cut.k * lanes + lane] = cells_[lane * kColumns + cut.k];
  }
}

void RandomCuts::sum_up_to(const std::uint8_t* tops, const Channels& stats, const Block& block, const NodeRows& rows,
                           Lane* sums) {
  if (stats.layout != Layout::Dense && stats.unit_weights) {
    count_classes(tops, stats, block, rows, sums);
  } else if (stats.layout == Layout::OneHot) {
    sum_classes(tops, stats, rows, sums);
  } else {
    sum_lanes(tops, stats, rows, sums);
  }
}

void RandomCuts::try_cuts(const SearchRequest& request, const Block& block, const NodeRows& rows, const Lane* total,
                          Split& best) {
  if (cuts_.empty()) return;
  const Channels& stats = *request.stats;
  left_.assign(kColumns * stats.lanes, 0);
  sum_up_to(cut_, stats, block, rows, left_.data());
  if (std::any_of(cuts_.begin(), cuts_.end(), [](const DrawnCut& cut) { return cut.ends.has_missing; })) {
    std::uint8_t tops[kColumns];  // of all that is present
    for (std::size_t k = 0; k < kColumns; ++k) tops[k] = static_cast<std::uint8_t>(missing_[k] - 1);
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
