// Sixteen bytes at a time: in a register where the processor is known to have such, else in a loop. Both do
// the same to whole numbers, so that what is written with these has the same bits on every machine.
#pragma once

#include <cstdint>
#include <cstring>

#include "weald/base/types.hpp"
#include "weald/base/wide_vectors.hpp"

#ifdef WEALD_HAS_SSE2
#include <emmintrin.h>
#endif

namespace weald {

// Yes is 255 and no is 0, byte by byte. Not set to anything unless it is said to what.
struct Bytes {
  static constexpr std::size_t kSize = 16;
  static Bytes none() { return all(0); }

#ifdef WEALD_HAS_SSE2
  __m128i v;

  static Bytes load(const std::uint8_t* from) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))}; }
  static Bytes all(Code value) { return {_mm_set1_epi8(static_cast<char>(value))}; }
  static Bytes first(std::size_t n) {  // yes for so many
    const __m128i number = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return {_mm_cmplt_epi8(number, _mm_set1_epi8(static_cast<char>(n)))};
  }
  void store(std::uint8_t* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v); }

  friend Bytes operator&(Bytes a, Bytes b) { return {_mm_and_si128(a.v, b.v)}; }
  friend Bytes operator|(Bytes a, Bytes b) { return {_mm_or_si128(a.v, b.v)}; }
  Bytes operator~() const { return {_mm_xor_si128(v, _mm_set1_epi8(-1))}; }
  Bytes without(Bytes other) const { return {_mm_andnot_si128(other.v, v)}; }
  Bytes is(Code value) const { return {_mm_cmpeq_epi8(v, all(value).v)}; }
  Bytes is_up_to(Code value) const { return {_mm_cmpeq_epi8(_mm_min_epu8(v, all(value).v), v)}; }
  Bytes larger(Bytes other) const { return {_mm_max_epu8(v, other.v)}; }

  // Of yes and no: a bit for each.
  std::uint32_t bits() const { return static_cast<std::uint32_t>(_mm_movemask_epi8(v)); }
#else
  std::uint8_t v[kSize];

  template <class Fn>
  static Bytes make(Fn&& fn) {
    Bytes out;
    for (std::size_t i = 0; i < kSize; ++i) out.v[i] = static_cast<std::uint8_t>(fn(i));
    return out;
  }
  static unsigned yes(bool condition) { return condition ? 255U : 0U; }

  static Bytes load(const std::uint8_t* from) {
    Bytes out;
    std::memcpy(out.v, from, kSize);
    return out;
  }
  static Bytes all(Code value) {
    return make([=](std::size_t) { return value; });
  }
  static Bytes first(std::size_t n) {
    return make([=](std::size_t i) { return yes(i < n); });
  }
  void store(std::uint8_t* to) const { std::memcpy(to, v, kSize); }

  friend Bytes operator&(Bytes a, Bytes b) {
    return make([&](std::size_t i) { return a.v[i] & b.v[i]; });
  }
  friend Bytes operator|(Bytes a, Bytes b) {
    return make([&](std::size_t i) { return a.v[i] | b.v[i]; });
  }
  Bytes operator~() const {
    return make([&](std::size_t i) { return 255U - v[i]; });
  }
  Bytes without(Bytes other) const { return *this & ~other; }
  Bytes is(Code value) const {
    return make([&](std::size_t i) { return yes(v[i] == static_cast<std::uint8_t>(value)); });
  }
  Bytes is_up_to(Code value) const {
    return make([&](std::size_t i) { return yes(v[i] <= static_cast<std::uint8_t>(value)); });
  }
  Bytes larger(Bytes other) const {
    return make([&](std::size_t i) { return v[i] > other.v[i] ? v[i] : other.v[i]; });
  }

  std::uint32_t bits() const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < kSize; ++i) out |= static_cast<std::uint32_t>(v[i] >> 7) << i;
    return out;
  }
#endif
};

// Sums of bytes, h and g side by side.
class ByteSums {
 public:
#ifdef WEALD_HAS_SSE2
  void add(Bytes h, Bytes g) {
    const __m128i zero = _mm_setzero_si128();
    h_ = _mm_add_epi64(h_, _mm_sad_epu8(h.v, zero)), g_ = _mm_add_epi64(g_, _mm_sad_epu8(g.v, zero));
  }
  Lane packed() const {  // G << 32 | H
    const __m128i both = _mm_or_si128(h_, _mm_slli_epi64(g_, 32));
    return static_cast<Lane>(_mm_cvtsi128_si64(_mm_add_epi64(both, _mm_unpackhi_epi64(both, both))));
  }

 private:
  __m128i h_ = _mm_setzero_si128(), g_ = _mm_setzero_si128();
#else
  void add(Bytes h, Bytes g) {
    for (std::size_t i = 0; i < Bytes::kSize; ++i) h_ += h.v[i], g_ += g.v[i];
  }
  Lane packed() const { return g_ << 32 | h_; }

 private:
  Lane h_ = 0, g_ = 0;
#endif
};

// Sums of bytes.
class ByteSum {
 public:
#ifdef WEALD_HAS_SSE2
  void add(Bytes bytes) { sum_ = _mm_add_epi64(sum_, _mm_sad_epu8(bytes.v, _mm_setzero_si128())); }
  void move_up() { sum_ = _mm_slli_epi64(sum_, 8); }  // what was summed is worth 256 times as much
  Lane total() const {
    return static_cast<Lane>(_mm_cvtsi128_si64(_mm_add_epi64(sum_, _mm_unpackhi_epi64(sum_, sum_))));
  }

 private:
  __m128i sum_ = _mm_setzero_si128();
#else
  void add(Bytes bytes) {
    for (std::size_t i = 0; i < Bytes::kSize; ++i) sum_ += bytes.v[i];
  }
  void move_up() { sum_ <<= 8; }
  Lane total() const { return static_cast<Lane>(sum_); }

 private:
  std::uint64_t sum_ = 0;
#endif
};

struct TwoLargest {
  Code a, b;
};

// The largest byte of each.
inline TwoLargest largest_of(Bytes a, Bytes b) {
#ifdef WEALD_HAS_SSE2
  __m128i both = _mm_max_epu8(_mm_unpacklo_epi64(a.v, b.v), _mm_unpackhi_epi64(a.v, b.v));
  both = _mm_max_epu8(both, _mm_srli_epi64(both, 32));
  both = _mm_max_epu8(both, _mm_srli_epi64(both, 16));
  both = _mm_max_epu8(both, _mm_srli_epi64(both, 8));
  return {static_cast<Code>(_mm_cvtsi128_si32(both) & 255), static_cast<Code>(_mm_extract_epi16(both, 4) & 255)};
#else
  TwoLargest out{0, 0};
  for (std::size_t i = 0; i < Bytes::kSize; ++i) {
    out.a = a.v[i] > out.a ? a.v[i] : out.a, out.b = b.v[i] > out.b ? b.v[i] : out.b;
  }
  return out;
#endif
}

// Sixteen bytes each of sixteen rows, from byte `at` on, become sixteen rows each of sixteen columns, which
// lie `apart` bytes from each other.
inline void transpose(const std::uint8_t* const* rows, std::size_t at, std::uint8_t* out, std::size_t apart) {
#ifdef WEALD_HAS_SSE2
  __m128i a[Bytes::kSize], b[Bytes::kSize];
  for (std::size_t i = 0; i < Bytes::kSize; ++i) a[i] = Bytes::load(rows[i] + at).v;
  const auto weave = [](const __m128i* from, __m128i* to) {
    for (std::size_t i = 0; i < Bytes::kSize / 2; ++i) {
      to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + Bytes::kSize / 2]);
      to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + Bytes::kSize / 2]);
    }
  };
  weave(a, b), weave(b, a), weave(a, b), weave(b, a);
  for (std::size_t i = 0; i < Bytes::kSize; ++i) Bytes{a[i]}.store(out + i * apart);
#else
  for (std::size_t i = 0; i < Bytes::kSize; ++i) {
    for (std::size_t column = 0; column < Bytes::kSize; ++column) out[column * apart + i] = rows[i][at + column];
  }
#endif
}

}  // namespace weald
