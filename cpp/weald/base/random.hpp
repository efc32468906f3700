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

// The numbers derived from a node's key. Columns (random cuts) are numbered below 2^32, so none of
// these can be another.
inline constexpr std::uint64_t kChildKey = std::uint64_t{1} << 40;  // + side
inline constexpr std::uint64_t kDrawKey = std::uint64_t{1} << 41;   // + which of the columns drawn
inline constexpr std::uint64_t kTieKey = std::uint64_t{1} << 46;    // choosing between equal columns
// What a seed and a member's key are combined with.
inline constexpr std::uint64_t kMemberKey = std::uint64_t{1} << 42;
inline constexpr std::uint64_t kRowsKey = std::uint64_t{1} << 43;
inline constexpr std::uint64_t kColumnsKey = std::uint64_t{1} << 44;
inline constexpr std::uint64_t kTreeKey = std::uint64_t{1} << 45;

// One of many numbers under a key that is a hash already: a single round of mixing, since nodes of a
// few rows are searched in less time than a dozen of them take.
inline std::uint64_t derive(std::uint64_t key, std::uint64_t number) {
  return mix(key ^ (number * 0xD1342543DE82EF95ULL));
}
inline double to_uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }  // [0, 1)
inline std::uint32_t to_below(std::uint64_t bits, std::uint32_t n) {  // bias below 2^-32
  return static_cast<std::uint32_t>(((bits >> 32) * n) >> 32);
}

// A stream of draws under one key.
class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(mix(key)) {}

  std::uint64_t bits() { return derive(key_, counter_++); }
  double uniform() { return to_uniform(bits()); }
  std::uint32_t below(std::uint32_t n) { return to_below(bits(), n); }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace weald
