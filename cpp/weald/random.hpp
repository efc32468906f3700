// Counter-based random numbers: a pure function of (seed, path to the node, column, draw), so the
// schedule of threads can never change a model.
#pragma once

#include <cstdint>

namespace weald {

// Finaliser of splitmix64 (Steele, Lea & Flood 2014): a bijection with full avalanche.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

inline std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ b); }

// What a node's key is combined with. Columns are numbered below 2^32, so none of these streams can
// be another.
inline constexpr std::uint64_t kChildKey = std::uint64_t{1} << 40;  // + side
inline constexpr std::uint64_t kDrawKey = std::uint64_t{1} << 41;   // drawing columns

// A stream of draws under one key.
class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(mix(key)) {}

  std::uint64_t bits() { return mix(key_ ^ (counter_++ * 0xD1342543DE82EF95ULL)); }

  // Uniform in [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  // Uniform in 0..n-1, without modulo bias beyond 2^-32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32);
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace weald
