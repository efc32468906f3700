// Sixteen columns in a register (cut_sums.hpp).
#pragma once

#include <cstring>

#include "weald/search/cut_sums.hpp"

#ifdef WEALD_HAS_VECTORS
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wpsabi"  // all of these are inlined
#endif

namespace weald {

typedef std::uint8_t Bytes16 __attribute__((vector_size(kCutColumns)));

template <class V>
WEALD_INLINE V load(const void* from) {
  V out;
  std::memcpy(&out, from, sizeof(V));
  return out;
}
template <class V>
WEALD_INLINE void store(void* to, const V& v) {
  std::memcpy(to, &v, sizeof(V));
}

WEALD_INLINE Bytes16 vector_of(CutBytes bytes) {
  typedef std::uint64_t Two __attribute__((vector_size(16)));
  return reinterpret_cast<Bytes16>(Two{bytes.low, bytes.high});
}

}  // namespace weald
#endif
