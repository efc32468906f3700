#include "weald/search/random_cuts.hpp"

#include <algorithm>
#include <cstring>

#include "weald/base/paths.hpp"
#include "weald/base/wide_vectors.hpp"

namespace weald {

namespace {

constexpr std::size_t kWidth = 32;  // columns to a vector
constexpr std::size_t kMostClasses = 32;

std::size_t vectors_of(std::size_t stride) { return (stride + kWidth - 1) / kWidth; }

// The bytes of kWidth columns: where those of the first row are, and which rows to look at.
struct Strip {
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

#ifdef WEALD_HAS_VECTORS
constexpr bool kHasVectors = true;
typedef std::uint8_t ByteVector __attribute__((vector_size(kWidth)));
#define WEALD_LOAD(name, from) \
  ByteVector name;             \
  std::memcpy(&(name), (from), kWidth)

WEALD_WIDE void find_strip_extremes(const Strip& strip, const ExtremeBytes& out) {
  WEALD_LOAD(missing, out.missing);
  WEALD_LOAD(low, strip.row(0));
  ByteVector seen = static_cast<ByteVector>(low == missing);
  ByteVector high = low & ~seen;
  for (std::size_t i = 1; i < strip.n; ++i) {
    WEALD_LOAD(codes, strip.row(i));
    const ByteVector absent = static_cast<ByteVector>(codes == missing), present = codes & ~absent;
    low = codes < low ? codes : low;
    high = present > high ? present : high;
    seen |= absent;
  }
  std::memcpy(out.low, &low, kWidth);
  std::memcpy(out.high, &high, kWidth);
  std::memcpy(out.seen, &seen, kWidth);
}

// counted[class][column] += rows not above the cut. Odd and even rows are counted in two sets, `apart`
// bytes from each other: a count in memory has to wait for the one before.
WEALD_WIDE void count_strip(const Strip& strip, const std::uint8_t* cuts, const std::uint8_t* classes,
                            std::uint8_t* counted, std::size_t apart) {
  WEALD_LOAD(cut, cuts);
  for (std::size_t i = 0; i < strip.n; ++i) {
    WEALD_LOAD(codes, strip.row(i));
    std::uint8_t* own = counted + classes[i] * kWidth + (i & 1) * apart;
    WEALD_LOAD(sums, own);
    sums -= static_cast<ByteVector>(codes <= cut);  // "true" is 255, that is -1
    std::memcpy(own, &sums, kWidth);
  }
}

// sums[column] += value of the rows not above the cut; counts[column] += those rows, of which there are at most 255.
WEALD_WIDE void sum_strip(const Strip& strip, const std::uint8_t* cuts, const Lane* values, std::size_t apart,
                          Lane* sums, std::uint8_t* counts) {
  typedef Lane Lanes __attribute__((vector_size(32)));
  typedef std::int8_t FewBytes __attribute__((vector_size(4)));
  constexpr std::size_t kParts = kWidth / 4;
  WEALD_LOAD(cut, cuts);
  ByteVector count = {};
  Lanes sum[kParts] = {};
  for (std::size_t i = 0; i < strip.n; ++i) {
    WEALD_LOAD(codes, strip.row(i));
    const ByteVector left = static_cast<ByteVector>(codes <= cut);
    count -= left;  // "true" is 255, that is -1
    const Lane value = values[i * apart];
    const Lanes all = {value, value, value, value};
    FewBytes part[kParts];
    std::memcpy(part, &left, kWidth);
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kParts; ++p) sum[p] += __builtin_convertvector(part[p], Lanes) & all;
  }
  for (std::size_t p = 0; p < kParts; ++p) {
    for (std::size_t c = 0; c < 4; ++c) sums[p * 4 + c] += sum[p][c];
  }
  std::memcpy(counts, &count, kWidth);
}
#undef WEALD_LOAD
#else
constexpr bool kHasVectors = false;  // the general search takes over
void find_strip_extremes(const Strip&, const ExtremeBytes&) {}
void count_strip(const Strip&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*, std::size_t) {}
void sum_strip(const Strip&, const std::uint8_t*, const Lane*, std::size_t, Lane*, std::uint8_t*) {}
#endif

}  // namespace

bool RandomCuts::fit(const Block& block, const Statistics& stats, std::size_t columns_per_node) {
  const bool classes = stats.unit_weights && is_classification(stats.criterion) && stats.n_outputs == 1 &&
                       stats.channels <= kMostClasses;
  const bool numbers = stats.layout == Layout::Dense && !is_from_rows(stats.criterion) && !stats.gradients;
  // All columns are looked at, so that those drawn must be some of every vector.
  return uses(Path::RandomCuts) && kHasVectors && block.row_bytes != nullptr && (classes || numbers) &&
         vectors_of(block.row_stride) <= kVectorsPerColumn * columns_per_node;
}

void RandomCuts::find_extremes(const Block& block, const Row* rows, std::size_t n) {
  base_ = block.row_bytes;
  if (stride_ != block.row_stride) {  // the first node: all blocks of a tree have the same columns
    stride_ = block.row_stride;
    const std::size_t padded = vectors_of(stride_) * kWidth;
    for (auto* bytes : {&low_, &high_, &missing_, &missing_seen_, &cut_}) bytes->assign(padded, 0);
    for (const Column& column : block.columns) {
      missing_[place_of(column)] = static_cast<std::uint8_t>(column.n_codes);
    }
  }
  for (std::size_t at = 0; at < stride_; at += kWidth) {
    find_strip_extremes({base_ + at, stride_, rows, n}, {&missing_[at], &low_[at], &high_[at], &missing_seen_[at]});
  }
}

void RandomCuts::add_cut(const SearchRequest& request, const Column& column, std::uint32_t j, const Extremes& ends) {
  const DrawnCut cut{place_of(column), j, draw_bin_cut(request.node_key, column, j, ends)};
  cut_[cut.place] = static_cast<std::uint8_t>(cut.at.last_left);
  cuts_.push_back(cut);
}

template <class Fn>
void RandomCuts::for_strips(Fn&& fn) {
  for (std::size_t at = 0; at < stride_; at += kWidth) {
    const auto inside = [&](const DrawnCut& cut) { return cut.place - at < kWidth; };
    if (std::any_of(cuts_.begin(), cuts_.end(), inside)) fn(at, inside);
  }
}

void RandomCuts::count_classes(const Channels& stats, const Block& block, const NodeRows& rows) {
  const bool packed = stats.layout == Layout::Packed;
  const std::size_t n_classes = packed ? 2 : stats.channels, apart = n_classes * kWidth;
  std::uint8_t classes[kCutsFlush];
  for (std::size_t begin = 0; begin < rows.n; begin += kCutsFlush) {
    const std::size_t size = std::min(kCutsFlush, rows.n - begin);
    const auto classify = [&](auto&& class_of) {
      for (std::size_t i = 0; i < size; ++i) classes[i] = static_cast<std::uint8_t>(class_of(rows.rows[begin + i]));
    };
    if (block.hot) {
      classify([hot = block.hot](Row row) { return hot[row]; });
    } else if (block.class_bytes) {
      classify([bytes = block.class_bytes](Row row) { return bytes[row] & 1; });
    } else {
      classify([words = block.words](Row row) { return words[row] >> 32; });
    }
    for_strips([&](std::size_t at, auto&& inside) {
      counted_.assign(2 * apart, 0);
      count_strip({base_ + at, stride_, rows.rows.get(begin, size), size}, &cut_[at], classes, counted_.data(), apart);
      for (std::size_t k = 0; k < cuts_.size(); ++k) {
        if (!inside(cuts_[k])) continue;
        Lane* cell = &left_[k * stats.lanes];
        for (std::size_t c = 0; c < n_classes; ++c) {
          const std::uint8_t* byte = &counted_[c * kWidth + cuts_[k].place - at];
          const Lane count = Lane{byte[0]} + byte[apart];
          if (packed) {
            cell[0] += c == 0 ? count : count << 32 | count;
          } else {
            cell[0] += count, cell[1] += count, cell[2 + c] += count;
          }
        }
      }
    });
  }
}

void RandomCuts::sum_numbers(const Channels& stats, const NodeRows& rows) {
  constexpr std::size_t kFlush = kCutsFlush / 2;
  const std::size_t lanes = stats.lanes;
  const bool h_counts = stats.unit_weights && stats.whole_weights;
  for (std::size_t begin = 0; begin < rows.n; begin += kFlush) {
    const std::size_t size = std::min(kFlush, rows.n - begin);
    for_strips([&](std::size_t at, auto&& inside) {
      const Strip strip{base_ + at, stride_, rows.rows.get(begin, size), size};
      std::uint8_t counts[kWidth];
      for (std::size_t lane = h_counts ? 2 : 1; lane < lanes; ++lane) {
        Lane sums[kWidth] = {};
        sum_strip(strip, &cut_[at], rows.words.get(begin * lanes + lane, 1), lanes, sums, counts);
        for (std::size_t k = 0; k < cuts_.size(); ++k) {
          if (inside(cuts_[k])) left_[k * lanes + lane] += sums[cuts_[k].place - at];
        }
      }
      for (std::size_t k = 0; k < cuts_.size(); ++k) {
        if (!inside(cuts_[k])) continue;
        const Lane count = counts[cuts_[k].place - at];
        left_[k * lanes] += count;
        if (h_counts) left_[k * lanes + 1] += count;
      }
    });
  }
}

void RandomCuts::try_cuts(const SearchRequest& request, const Block& block, const NodeRows& rows, const Lane* total,
                          Split& best) {
  const Channels& stats = *request.stats;
  left_.assign(cuts_.size() * stats.lanes, 0);
  stats.layout == Layout::Dense ? sum_numbers(stats, rows) : count_classes(stats, block, rows);
  with_sums(stats, [&](auto sums) {
    Limits limits = request.limits;
    for (std::size_t k = 0; k < cuts_.size(); ++k) {
      const std::uint32_t column = cuts_[k].column;
      if (request.monotone) limits.monotone = request.monotone[column];
      limits.floor = best.score;
      const Cut cut = scan_cuts(
          sums, total, static_cast<const Lane*>(nullptr), [](bool) { return Range{1, 1}; },
          [&](std::size_t) { return &left_[k * stats.lanes]; }, limits);
      if (!best.loses_to(cut.score, column, request.ties)) continue;
      const CutPoint& at = cuts_[k].at;
      best = {};  // nothing of what another column had found
      best.score = cut.score, best.column = column, best.left_sum = cut.left_sum;
      best.last_left = at.last_left, best.first_right = at.first_right, best.random_threshold = at.threshold;
      if (limits.monotone != 0) best.left_value = sums.left_value(), best.right_value = sums.right_value();
    }
  });
  cuts_.clear();
}

}  // namespace weald
