#include "weald/search/cut_sums.hpp"

#include <algorithm>
#include <cstring>

#include "weald/base/wide_numbers.hpp"
#include "weald/search/cut_vectors.hpp"

#if defined(WEALD_HAS_SSE2) && defined(__linux__) && !defined(__clang__)
#include <immintrin.h>
#define WEALD_HAS_MASKS 1  // instructions that add where a bit says so, if the processor turns out to have them
#endif

namespace weald {

#ifdef WEALD_HAS_VECTORS
namespace {

// Some columns of a cell, and what they are scored in.
template <class T>
struct Wide;
template <>
struct Wide<std::int16_t> {
  typedef std::int16_t V __attribute__((vector_size(16)));
  typedef std::uint8_t Codes __attribute__((vector_size(8)));
  typedef std::int16_t Four __attribute__((vector_size(8)));
  typedef std::int32_t Sums __attribute__((vector_size(16)));
};
template <>
struct Wide<Lane> {
  typedef Lane V __attribute__((vector_size(32)));
  typedef std::uint8_t Codes __attribute__((vector_size(4)));
  typedef Lane Four __attribute__((vector_size(32)));
  typedef Lane Sums __attribute__((vector_size(32)));
};
template <class T>
constexpr std::size_t kWidth = sizeof(typename Wide<T>::V) / sizeof(T);

// The codes, or tops, of some columns in the width of their sums: that is where they are compared.
template <class T>
WEALD_INLINE typename Wide<T>::V widened(const std::uint8_t* bytes) {
  return __builtin_convertvector(load<typename Wide<T>::Codes>(bytes), typename Wide<T>::V);
}

// kCells cells of dense values, from one of them on.
template <class T, std::size_t kParts, std::size_t kCells>
WEALD_INLINE void sum_dense(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, const CutValues<T>& of,
                            std::size_t first, T* sums) {
  const T* const values = of.values + first * of.cell_stride;
  sums += first * kCutColumns;
  using V = typename Wide<T>::V;
  alignas(16) std::uint8_t top_bytes[kCutColumns];
  store(top_bytes, vector_of(tops));
  V top[kParts], sum[kCells][kParts];
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kParts; ++p) {
    top[p] = widened<T>(top_bytes + p * kWidth<T>);
#pragma GCC unroll 2
    for (std::size_t c = 0; c < kCells; ++c) sum[c][p] = V{};
  }
  for (std::size_t i = 0; i < rows.n; ++i) {
    const std::size_t slot = rows.slots[i];
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kParts; ++p) {
      const V right = widened<T>(codes + i * kCutColumns + p * kWidth<T>) > top[p];
#pragma GCC unroll 2
      for (std::size_t c = 0; c < kCells; ++c)
        sum[c][p] += ~right & (V{} + values[c * of.cell_stride + slot * of.row_stride]);
    }
  }
#pragma GCC unroll 2
  for (std::size_t c = 0; c < kCells; ++c) {
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kParts; ++p) store(sums + c * kCutColumns + p * kWidth<T>, sum[c][p]);
  }
}

template <class T, std::size_t kParts>
WEALD_INLINE void sum_classes(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, const CutValues<T>& values,
                              T* sums) {
  using V = typename Wide<T>::V;
  alignas(16) std::uint8_t top_bytes[kCutColumns];
  store(top_bytes, vector_of(tops));
  V top[kParts];
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kParts; ++p) top[p] = widened<T>(top_bytes + p * kWidth<T>);
  for (std::size_t c = 0; c < values.cells; ++c) {
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kParts; ++p) store(sums + c * kCutColumns + p * kWidth<T>, V{});
  }
  for (std::size_t i = 0; i < rows.n; ++i) {
    const std::size_t slot = rows.slots[i];
    const V value = V{} + values.values[slot];
    T* own = sums + values.cell_of[values.kind[slot]] * kCutColumns;
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kParts; ++p) {
      const V right = widened<T>(codes + i * kCutColumns + p * kWidth<T>) > top[p];
      store<V>(own + p * kWidth<T>, load<V>(own + p * kWidth<T>) + (~right & value));
    }
  }
}

template <class T, std::size_t kParts>
WEALD_INLINE void sum_parts(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, const CutValues<T>& values,
                            T* sums) {
  if (values.kind) return sum_classes<T, kParts>(rows, codes, tops, values, sums);
  std::size_t c = 0;
  for (; c + 2 <= values.cells; c += 2) {
    sum_dense<T, kParts, 2>(rows, codes, tops, values, c, sums);
  }
  if (c < values.cells) {
    sum_dense<T, kParts, 1>(rows, codes, tops, values, c, sums);
  }
}

typedef double Doubles __attribute__((vector_size(32)));

WEALD_INLINE Doubles to_doubles(Wide<std::int16_t>::Sums x) { return __builtin_convertvector(x, Doubles); }
WEALD_INLINE Doubles to_doubles(Wide<Lane>::Sums x) {  // as to_double
  typedef std::uint64_t Words __attribute__((vector_size(32)));
  const auto bits = reinterpret_cast<Words>(x);
  const auto low = reinterpret_cast<Doubles>((bits & 0xFFFFFFFF) | 0x4330000000000000);
  const auto high = reinterpret_cast<Doubles>((bits >> 32) ^ 0x4530000080000000);
  return (high - 0x1.00000801p84) + low;
}

// Four columns.
template <class T>
WEALD_INLINE void score_four(const T* sums, std::size_t total, const CutValues<T>& values, double* scores) {
  using Sums = typename Wide<T>::Sums;
  Sums left_h = {}, total_h = {};
  Doubles left_squares = {}, right_squares = {};
  const auto take = [&](const T* cell, bool h, bool g) __attribute__((always_inline)) {
    const auto left = __builtin_convertvector(load<typename Wide<T>::Four>(cell), Sums);
    const Sums all = Sums{} + cell[total];
    if (h) left_h += left, total_h += all;
    if (!g) return;
    const Doubles l = to_doubles(left), r = to_doubles(all - left);
    left_squares += l * l, right_squares += r * r;
  };
  if (values.kind) {
    for (std::size_t c = 0; c < values.cells; ++c) take(sums + c * kCutColumns, true, true);
  } else {
    take(sums, true, false);
    for (std::size_t c = 1; c < values.cells; ++c) take(sums + c * kCutColumns, false, true);
  }
  const Sums right_h = total_h - left_h;
  const Doubles left = left_squares / to_doubles(left_h), h = to_doubles(right_h), right = right_squares / h;
  store(scores, left + (h > 0 ? right : Doubles{}));
}

template <class T>
WEALD_INLINE void score_parts(const T* sums, std::size_t m, std::size_t total, const CutValues<T>& values,
                              double* scores) {
  for (std::size_t k = 0; k < m; k += 4) score_four(sums + k, total - k, values, scores + k);
}

// Two rows at a time.
typedef std::uint8_t Bytes32 __attribute__((vector_size(2 * kCutColumns)));
WEALD_INLINE Bytes32 twice(CutBytes bytes) {
  typedef std::uint64_t Four __attribute__((vector_size(32)));
  return reinterpret_cast<Bytes32>(Four{bytes.low, bytes.high, bytes.low, bytes.high});
}

// The byte of each row in all of its columns.
WEALD_INLINE Bytes32 weave(const std::uint8_t* two) {
#ifdef __clang__
  Bytes32 out;
  std::memset(&out, two[0], kCutColumns), std::memset(reinterpret_cast<char*>(&out) + kCutColumns, two[1], kCutColumns);
  return out;
#else
  typedef std::uint16_t Pairs __attribute__((vector_size(2 * kCutColumns)));
  std::uint16_t pair;
  std::memcpy(&pair, two, sizeof(pair));
  const Bytes32 order = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                         17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17};
  return __builtin_shuffle(reinterpret_cast<Bytes32>(Pairs{} + pair), order);
#endif
}

WEALD_WIDE void count_rows(const std::uint8_t* codes, std::size_t n, CutBytes tops, const std::uint8_t* second,
                           std::uint8_t* all, std::uint8_t* seconds) {
  const Bytes32 top = twice(tops);
  Bytes32 count = {}, count_second = {};
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const auto left = static_cast<Bytes32>(load<Bytes32>(codes + i * kCutColumns) <= top);
    count -= left;  // "true" is 255, that is -1
    count_second -= left & weave(second + i);
  }
  auto low = load<Bytes16>(&count), low_second = load<Bytes16>(&count_second);
  low += load<Bytes16>(reinterpret_cast<const char*>(&count) + kCutColumns);
  low_second += load<Bytes16>(reinterpret_cast<const char*>(&count_second) + kCutColumns);
  if (i < n) {
    const auto left = static_cast<Bytes16>(load<Bytes16>(codes + i * kCutColumns) <= vector_of(tops));
    low -= left, low_second -= left & second[i];
  }
  store(all, low), store(seconds, low_second);
}

WEALD_WIDE void sum_shorts(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, std::size_t m,
                           const CutValues<std::int16_t>& values, std::int16_t* sums) {
  m <= 8 ? sum_parts<std::int16_t, 1>(rows, codes, tops, values, sums)
         : sum_parts<std::int16_t, 2>(rows, codes, tops, values, sums);
}
WEALD_WIDE void sum_lanes(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, std::size_t m,
                          const CutValues<Lane>& values, Lane* sums) {
  if (m <= 4) return sum_parts<Lane, 1>(rows, codes, tops, values, sums);
  if (m <= 8) return sum_parts<Lane, 2>(rows, codes, tops, values, sums);
  if (m <= 12) return sum_parts<Lane, 3>(rows, codes, tops, values, sums);
  sum_parts<Lane, 4>(rows, codes, tops, values, sums);
}
#ifdef WEALD_HAS_MASKS
#define WEALD_MASKED __attribute__((target("avx512f,avx512bw,avx512vl")))

bool has_masks() {
  static const bool has =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has;
}

// kCells cells, from one of them on: a row costs an addition for every eight columns of each.
template <std::size_t kCells>
WEALD_MASKED void sum_dense_masked(const CutRows& rows, const std::uint8_t* codes, CutBytes tops,
                                   const CutValues<Lane>& of, std::size_t first, Lane* sums) {
  const Lane* const values = of.values + first * of.cell_stride;
  const __m128i top = _mm_set_epi64x(static_cast<Lane>(tops.high), static_cast<Lane>(tops.low));
  __m512i low[kCells], high[kCells];
  for (std::size_t c = 0; c < kCells; ++c) low[c] = high[c] = _mm512_setzero_si512();
  for (std::size_t i = 0; i < rows.n; ++i, codes += kCutColumns) {
    const __mmask16 left = _mm_cmple_epu8_mask(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)), top);
    const Lane* value = values + rows.slots[i] * of.row_stride;
#pragma GCC unroll 4
    for (std::size_t c = 0; c < kCells; ++c) {
      const __m512i all = _mm512_set1_epi64(value[c * of.cell_stride]);
      low[c] = _mm512_mask_add_epi64(low[c], static_cast<__mmask8>(left), low[c], all);
      high[c] = _mm512_mask_add_epi64(high[c], static_cast<__mmask8>(left >> 8), high[c], all);
    }
  }
  for (std::size_t c = 0; c < kCells; ++c) {
    _mm512_storeu_si512(sums + (first + c) * kCutColumns, low[c]);
    _mm512_storeu_si512(sums + (first + c) * kCutColumns + 8, high[c]);
  }
}

WEALD_MASKED inline void add_masked(Lane* own, __mmask16 left, Lane value) {
  const __m512i all = _mm512_set1_epi64(value), low = _mm512_loadu_si512(own), high = _mm512_loadu_si512(own + 8);
  _mm512_storeu_si512(own, _mm512_mask_add_epi64(low, static_cast<__mmask8>(left), low, all));
  _mm512_storeu_si512(own + 8, _mm512_mask_add_epi64(high, static_cast<__mmask8>(left >> 8), high, all));
}
WEALD_MASKED inline void add_masked(std::int16_t* own, __mmask16 left, std::int16_t value) {
  auto* const at = reinterpret_cast<__m256i*>(own);
  const __m256i sum = _mm256_loadu_si256(at);
  _mm256_storeu_si256(at, _mm256_mask_add_epi16(sum, left, sum, _mm256_set1_epi16(value)));
}

template <class T>
WEALD_MASKED void sum_classes_masked(const CutRows& rows, const std::uint8_t* codes, CutBytes tops,
                                     const CutValues<T>& of, T* sums) {
  const __m128i top = _mm_set_epi64x(static_cast<Lane>(tops.high), static_cast<Lane>(tops.low));
  std::fill_n(sums, of.cells * kCutColumns, T{0});
  for (std::size_t i = 0; i < rows.n; ++i, codes += kCutColumns) {
    const __mmask16 left = _mm_cmple_epu8_mask(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)), top);
    const std::size_t slot = rows.slots[i];
    add_masked(sums + of.cell_of[of.kind[slot]] * kCutColumns, left, of.values[slot]);
  }
}

void sum_lanes_masked(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, const CutValues<Lane>& of,
                      Lane* sums) {
  if (of.kind) return sum_classes_masked(rows, codes, tops, of, sums);
  std::size_t c = 0;
  for (; c + 4 <= of.cells; c += 4) sum_dense_masked<4>(rows, codes, tops, of, c, sums);
  if (c + 3 == of.cells) return sum_dense_masked<3>(rows, codes, tops, of, c, sums);
  if (c + 2 == of.cells) return sum_dense_masked<2>(rows, codes, tops, of, c, sums);
  if (c + 1 == of.cells) sum_dense_masked<1>(rows, codes, tops, of, c, sums);
}
#else
bool has_masks() { return false; }
void sum_lanes_masked(const CutRows&, const std::uint8_t*, CutBytes, const CutValues<Lane>&, Lane*) {}
template <class T>
void sum_classes_masked(const CutRows&, const std::uint8_t*, CutBytes, const CutValues<T>&, T*) {}
#endif

WEALD_WIDE void score_shorts(const std::int16_t* sums, std::size_t m, std::size_t total,
                             const CutValues<std::int16_t>& values, double* scores) {
  score_parts(sums, m, total, values, scores);
}
WEALD_WIDE void score_lanes(const Lane* sums, std::size_t m, std::size_t total, const CutValues<Lane>& values,
                            double* scores) {
  score_parts(sums, m, total, values, scores);
}

}  // namespace

template <>
void sum_left(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, std::size_t m,
              const CutValues<std::int16_t>& values, std::int16_t* sums) {
  if (values.kind && has_masks()) return sum_classes_masked(rows, codes, tops, values, sums);
  if (!values.second) return sum_shorts(rows, codes, tops, m, values, sums);
  constexpr std::size_t kMost = 255;
  std::fill_n(sums, 2 * kCutColumns, std::int16_t{0});
  for (std::size_t begin = 0; begin < rows.n; begin += kMost) {
    const std::size_t n = std::min(kMost, rows.n - begin);
    std::uint8_t second[kMost + 1], counts[2 * kCutColumns];
    for (std::size_t i = 0; i < n; ++i) second[i] = values.second[rows.slots[begin + i]];
    count_rows(codes + begin * kCutColumns, n, tops, second, counts, counts + kCutColumns);
    for (std::size_t k = 0; k < 2 * kCutColumns; ++k) sums[k] = static_cast<std::int16_t>(sums[k] + counts[k]);
  }
}
template <>
void sum_left(const CutRows& rows, const std::uint8_t* codes, CutBytes tops, std::size_t m,
              const CutValues<Lane>& values, Lane* sums) {
  if (has_masks()) return sum_lanes_masked(rows, codes, tops, values, sums);
  sum_lanes(rows, codes, tops, m, values, sums);
}
template <>
void score_cuts(const std::int16_t* sums, std::size_t m, std::size_t total, const CutValues<std::int16_t>& values,
                double* scores) {
  score_shorts(sums, m, total, values, scores);
}
template <>
void score_cuts(const Lane* sums, std::size_t m, std::size_t total, const CutValues<Lane>& values, double* scores) {
  score_lanes(sums, m, total, values, scores);
}
#else
template <>
void sum_left(const CutRows&, const std::uint8_t*, CutBytes, std::size_t, const CutValues<std::int16_t>&,
              std::int16_t*) {}
template <>
void sum_left(const CutRows&, const std::uint8_t*, CutBytes, std::size_t, const CutValues<Lane>&, Lane*) {}
template <>
void score_cuts(const std::int16_t*, std::size_t, std::size_t, const CutValues<std::int16_t>&, double*) {}
template <>
void score_cuts(const Lane*, std::size_t, std::size_t, const CutValues<Lane>&, double*) {}
#endif

}  // namespace weald
