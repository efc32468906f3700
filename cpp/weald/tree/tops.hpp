// The first tests of deep trees, asked as leaf masks are (leaf_masks.hpp).
//
// A walk waits for the answer to one test before it knows the next. Near the root all rows meet the same few tests: up
// to 31 of them lead to 32 nodes, the ends of the top, and are put to many rows at once. Rows walk on from there.
#pragma once

#include "weald/tree/mask_tests.hpp"
#include "weald/tree/predict.hpp"

namespace weald {

inline constexpr std::size_t kMostEnds = 32, kTopRows = 32;  // rows of a tile, at most

#ifdef WEALD_HAS_VECTORS

template <class T>
class Tops {
 public:
  // Of all trees, if it pays for so many rows in blocks of so many. Only where all columns are numbers.
  Tops(const Question& question, std::size_t n_rows, std::size_t block_rows);

 private:
  template <class>
  friend class TopRows;
  using Mask = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
  std::vector<std::uint32_t> add_top(const CompactTree& tree);

  MaskTests<T, Mask> masks_;
  std::vector<std::vector<std::uint32_t>> ends_;  // of each tree, from left to right; none at all: walk from the roots
};

// The rows of a block, side by side as the tests want them.
template <class T>
class TopRows {
 public:
  TopRows(const Tops<T>& tops, const Table<T>& table, std::size_t begin, std::size_t end);
  bool serve() const { return !tops_.ends_.empty(); }
  const std::vector<std::uint32_t>& ends(std::size_t tree) const { return tops_.ends_[tree]; }
  // top[(t - first) * stride + i]: which of the ends of tree t row begin + i comes to, for first <= t < last. May write up
  // to kTopRows - 1 entries more.
  void place(std::size_t first, std::size_t last, std::uint8_t* top, std::size_t stride) const;

 private:
  using Code = typename Tops<T>::Mask;
  const Tops<T>& tops_;
  std::size_t n_rows_;
  std::vector<T> values_;
  std::vector<Code> numbers_;
  T* tiles_ = nullptr;
  Code* codes_ = nullptr;  // of categories, if there are any
};

#else

template <class T>
struct Tops {
  Tops(const Question&, std::size_t, std::size_t) {}
};
template <class T>
struct TopRows {
  TopRows(const Tops<T>&, const Table<T>&, std::size_t, std::size_t) {}
  bool serve() const { return false; }
  const std::vector<std::uint32_t>& ends(std::size_t) const { return none; }
  void place(std::size_t, std::size_t, std::uint8_t*, std::size_t) const {}
  std::vector<std::uint32_t> none;
};

#endif

}  // namespace weald
