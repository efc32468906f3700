// The fast ways of the core. Each can be left out, one at a time, to see what it is worth (make bench-paths,
// bench/PATHS.md). Only a build with WEALD_SWITCHES asks; in all others every way is in use, and the compiler knows.
#pragma once

namespace weald {

enum class Path {
  None,
  // growth of a tree
  SmallSubtrees,      // grow/small_subtrees.hpp: the second grower
  SmallHistograms,    // search/small_histograms.hpp
  NumberHistograms,   // search/number_histograms.hpp
  RandomCuts,         // search/random_cuts.hpp
  ClassChains,        // search/class_chains.hpp
  DrawnTogether,      // grow/drawn_columns.hpp: columns that a node has drawn, counted in one pass
  SumsInVectors,      // search/small_histograms.cpp: sums up to every code, four at a time
  AllCodes,           // search/column_search.cpp: the walk over a dense histogram, without a list of codes
  ScanInVectors,      // search/scan.hpp: cuts of two classes compared in multiplied-out form
  GradientsInFloats,  // search/scan_gradients.hpp: cuts of gradients sifted in floats
  PackedWords,        // stats/statistics.hpp: G and H of two classes in one word
  ClassBytes,         // stats/statistics.hpp: weight and class of a row in a byte
  WeightLast,         // stats/histogram.hpp: H of many classes is summed up once for every cell
  EntropyTable,       // stats/statistics.hpp: x log2 x from a table
  Subtraction,        // grow/expand.hpp: the larger child's histogram is what is left
  SqueezedBlocks,     // stats/blocks.hpp: codes that no longer occur are left out
  GatheredRows,       // stats/blocks.hpp: rows of bytes brought into the caches
  GatheredCells,      // stats/blocks.hpp: filled cells of a sparse table brought together
  BinGuide,           // bins/binned_matrix.hpp: where a value's bin is, nearly
  // boosting
  Bundles,        // bins/bundles.hpp
  ColumnCopies,   // methods/column_copies.hpp
  LeafBytes,      // methods/gradient_boosting.hpp: leaves of all rows as bytes
  ColumnsShared,  // grow/expand.hpp: threads work on small nodes together, each on columns of its own
  // prediction
  LeafMasks,        // tree/leaf_masks.hpp
  CrowdsDivided,    // tree/walks.hpp: rows are divided near the root before they walk
  InStep,           // tree/tops.hpp, steps.hpp: many rows go down a deep tree in step
  ManyTreesAtOnce,  // tree/predict.cpp: few rows walk down several trees
  // memory
  PageCache,  // base/memory.hpp
  HugePages,  // base/memory.hpp
  Prefetch,   // base/types.hpp
};

#ifdef WEALD_SWITCHES
inline Path left_out = Path::None;  // set while nothing else runs
inline bool uses(Path path) { return path != left_out; }
#else
constexpr bool uses(Path) { return true; }
#endif

}  // namespace weald
