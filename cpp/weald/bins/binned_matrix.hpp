// Columns of codes, and the binned matrix they make up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "weald/base/memory.hpp"
#include "weald/base/sizes.hpp"
#include "weald/base/types.hpp"

namespace weald {

// The smallest and the largest value of each bin of a column, in floats if these are enough: of wide tables half of the
// memory, and more of it is cached.
struct BinEnds {
  const void* lows = nullptr;
  const void* highs = nullptr;
  bool floats = false;

  explicit operator bool() const { return lows != nullptr; }
  double low(Code bin) const { return at(lows, bin); }
  double high(Code bin) const { return at(highs, bin); }
  double at(const void* values, Code bin) const {
    return floats ? double{static_cast<const float*>(values)[bin]} : static_cast<const double*>(values)[bin];
  }
};

// What a column's BinEnds point to. Most bins of a sparse column hold a single value: then one array serves both ends.
class KeptEnds {
 public:
  template <class T>
  BinEnds keep(const std::vector<T>& low, const std::vector<T>& high) {
    const auto narrow = [](T value) { return static_cast<T>(static_cast<float>(value)) == value; };
    const bool floats = std::all_of(low.begin(), low.end(), narrow) && std::all_of(high.begin(), high.end(), narrow);
    return high.empty() ? BinEnds{} : floats ? copy<float>(low, high) : copy<double>(low, high);
  }

 private:
  template <class To, class T>
  BinEnds copy(const std::vector<T>& low, const std::vector<T>& high) {
    const bool both = low != high;
    memory_ = std::make_unique_for_overwrite<std::byte[]>((both ? 2 : 1) * high.size() * sizeof(To));
    To* const highs = reinterpret_cast<To*>(memory_.get());
    To* const lows = both ? highs + high.size() : highs;
    const auto cast = [](T value) { return static_cast<To>(value); };
    std::transform(high.begin(), high.end(), highs, cast);
    if (both) std::transform(low.begin(), low.end(), lows, cast);
    return {lows, highs, sizeof(To) == sizeof(float)};
  }

  std::unique_ptr<std::byte[]> memory_;
};

// Steps of equal width over the range of a column, to find the quantile bin of a value without a search
// through all of them.
class BinGuide {
 public:
  BinGuide(const BinEnds& ends, std::size_t n_bins) : ends_(ends), n_bins_(static_cast<Code>(n_bins)) {
    if (n_bins < 2) return;
    start_ = high(0);
    const double scale = static_cast<double>(kGuideSteps) / (high(n_bins_ - 1) - start_);
    if (!(scale > 0) || scale > 1e300) return;  // too narrow or too wide: all in one step
    steps_per_unit_ = scale;
    Code bin = 0;
    for (std::size_t k = 0; k < kGuideSteps; ++k) {
      while (bin + 1 < n_bins_ && step_of(high(bin)) < k) ++bin;
      from_[k] = static_cast<std::uint8_t>(bin);
    }
  }

  double low(Code bin) const { return ends_.low(bin); }
  double high(Code bin) const { return ends_.high(bin); }

  // How many bins lie wholly at or below the value.
  Code count_up_to(double value) const {
    const Code from = from_[step_of(value)];
    return ends_.floats ? count_up_to<float>(value, from) : count_up_to<double>(value, from);
  }

 private:
  // A few are looked at together: a loop that ends now here, now there costs more.
  template <class T>
  Code count_up_to(double value, Code bin) const {
    const T* const highs = static_cast<const T*>(ends_.highs);
    for (; bin + kGuideLook <= n_bins_; bin += kGuideLook) {
      Code n = 0;
      for (std::size_t k = 0; k < kGuideLook; ++k) n += double{highs[bin + k]} <= value;
      if (n < kGuideLook) return bin + n;
    }
    while (bin < n_bins_ && double{highs[bin]} <= value) ++bin;
    return bin;
  }

  std::size_t step_of(double value) const {
    const double step = (value - start_) * steps_per_unit_;
    return step >= static_cast<double>(kGuideSteps - 1) ? kGuideSteps - 1
           : step > 0                                   ? static_cast<std::size_t>(step)
                                                        : 0;
  }

  BinEnds ends_;
  Code n_bins_;
  double start_ = 0, steps_per_unit_ = 0;
  std::uint8_t from_[kGuideSteps] = {};  // the bins before this one lie below the step
};

// Columns of more categories than these are held back (../search/README.md): their cuts have a price, and categories of
// a single row share a code. It decides what is grown, so it is the same in every build.
inline constexpr std::size_t kFreeCategories = 8;

// One column of codes. Present values have codes 0..n_codes-1 in ascending order of value (numeric)
// or of label (categorical); the code n_codes, if it occurs, means "missing".
//
//   row-major bytes      data = base + j, stride = d     (histogram mode: one cache line serves a row)
//   column-major, 1/2/4  data = column,   stride = 1     (exact mode and gathered blocks)
//   row-major keys       data = base + j, stride = d     (random cuts: codes are the values' own bits)
//   lists of filled cells, no data                       (sparse tables: bins/sparse_cells.hpp)
struct Column {
  const void* data = nullptr;
  std::size_t extent = 0;  // codes from there to the last of the last row
  std::size_t stride = 1;  // in codes, not bytes
  Code n_codes = 0;
  std::uint8_t width = 1;  // bytes per code: 1, 2 or 4
  bool categorical = false;
  bool many = false;  // the whole column has more than kFreeCategories of them
  bool has_missing = false;
  Code usual = 0;        // of cells that are not listed, in a sparse table
  bool keyed = false;    // codes are order-preserving bits of float values, not ranks
  bool floored = false;  // ... of doubles, rounded down
  // What the codes mean. Bins: the smallest and largest value seen in each; a threshold between bins
  // a < b is the midpoint of high(a) and low(b). Ranks have no such tables, which would be as large
  // as the input: their values are looked up there. Categorical: the code in the whole matrix; null
  // means the same.
  BinEnds ends;
  const Code* decode = nullptr;
  const BinGuide* guide = nullptr;      // bins: where a value's bin is, nearly
  const std::uint8_t* alone = nullptr;  // bytes of this column only, if there is such a copy

  std::size_t slots() const { return std::size_t{n_codes} + (has_missing ? 1 : 0); }
  bool constant() const { return slots() < 2; }
  Code original(Code code) const { return decode ? decode[code] : code; }
};

// The codes that go left at a test of categories are kept only where they are few. To keep more at every node
// would take memory in the square of their number; they can be read from the rows once the tree is there.
inline bool has_few_codes(const Column& column) { return column.slots() <= kFewKeptCodes; }

// Calls fn with a typed pointer to codes, or numbers of rows, of the given width.
template <class Bytes, class Fn>
decltype(auto) with_codes(std::uint8_t width, Bytes* codes, Fn&& fn) {
  constexpr bool constant = std::is_const_v<Bytes>;
  using Short = std::conditional_t<constant, const std::uint16_t, std::uint16_t>;
  using Long = std::conditional_t<constant, const std::uint32_t, std::uint32_t>;
  if (width == 1) return fn(codes);
  if (width == 2) return fn(reinterpret_cast<Short*>(codes));
  return fn(reinterpret_cast<Long*>(codes));
}

// Calls fn with a typed view of the column, so that kernels are written once for all widths.
template <class Fn>
decltype(auto) visit_width(const Column& column, Fn&& fn) {
  return with_codes(column.width, static_cast<const std::uint8_t*>(column.data),
                    [&](const auto* codes) -> decltype(auto) { return fn(View(codes, column.extent)); });
}

inline std::uint8_t width_for(std::size_t slots) { return slots <= kByteCodes ? 1 : slots <= kShortCodes ? 2 : 4; }

// The raw values, as the caller has them; they outlive the codes made from them.
struct RawTable {
  const void* data = nullptr;
  bool doubles = false;
  std::size_t row_stride = 0, column_stride = 0;
  const std::uint32_t* columns = nullptr;  // a view of some columns: their numbers here; null: the same
  // A sparse table: the columns of the filled cells, row after row, and where each row begins. Not for at().
  const std::int32_t* filled = nullptr;
  const std::int64_t* filled_begin = nullptr;

  double at(Row row, std::size_t column) const {
    const std::size_t here = columns ? columns[column] : column;
    const std::size_t place = row * row_stride + here * column_stride;
    return doubles ? static_cast<const double*>(data)[place] : double{static_cast<const float*>(data)[place]};
  }
};

// Row-major bytes are read thirty-two at a time, beyond the end of the last row.
inline constexpr std::size_t kRowSlack = 32;

struct Bundles;      // bins/bundles.hpp
struct SparseCells;  // bins/sparse_cells.hpp

// The binned matrix: codes of every column, and what the codes mean.
struct BinnedMatrix {
  BinnedMatrix() = default;
  BinnedMatrix(BinnedMatrix&&) = default;  // not copied: the columns point into it
  BinnedMatrix& operator=(BinnedMatrix&&) = default;

  std::size_t n_rows = 0;
  std::vector<Column> columns;
  RawTable raw;
  std::vector<KeptEnds> ends;  // what those of the columns point to
  std::vector<BinGuide> guides;
  std::vector<BigVector<std::uint8_t>> storage;  // one buffer per column, or one for all, or both
  const std::uint8_t* row_bytes = nullptr;       // if codes are row-major bytes: those of the first row
  std::size_t row_stride = 0;
  std::shared_ptr<const Bundles> bundles;     // of the columns, if that saves some
  std::shared_ptr<const SparseCells> sparse;  // the codes of a sparse table; null: the columns have theirs

  std::size_t n_columns() const { return columns.size(); }
};

// The threshold that separates a from b, a < b: the midpoint, or a itself if that rounds up to b.
inline double midpoint(double a, double b) {
  const double middle = a / 2 + b / 2;
  return middle < b && middle >= a ? middle : a;
}

}  // namespace weald
