// Every size at which the core changes its way: from a list to a histogram, from one block of rows to the next,
// from one thread to several. A build with WEALD_TINY has all of them tiny, so that small random tables cross
// every border; what is grown must be the same. Sizes that follow from the width of a register or of a byte, and
// those of a format that is pickled (tree/category_sets.hpp), stay beside the code that needs them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weald {

#ifdef WEALD_TINY
inline constexpr bool kTiny = true;
#else
inline constexpr bool kTiny = false;
#endif

template <class T>
constexpr T sized(T usual, T tiny) {
  return kTiny ? tiny : usual;
}

// A sanitizer can only see that memory is used after its time if it is really given back.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kKeepsMemory = false;
#else
inline constexpr bool kKeepsMemory = true;
#endif

// --- memory ---
inline constexpr std::size_t kCachedArrays = kKeepsMemory ? sized(64, 2) : 0;
inline constexpr std::size_t kCachedBytes = sized(std::size_t{32} << 20, std::size_t{64} << 10);
inline constexpr std::size_t kCachedHistograms = sized(std::size_t{128} << 20, std::size_t{64} << 10);  // bytes
inline constexpr std::size_t kFromPages =
    sized(256 * 1024, 4096);  // bytes; below, asking the system costs more than it saves
inline constexpr std::size_t kHugePages = std::size_t{4} << 20;  // bytes

// --- threads ---
inline constexpr double kWorthThreadNs = sized(5'000.0, 1.0);      // calling a thread that is awake costs about one
inline constexpr double kWorthAllThreadsNs = sized(1e6, 2e3);      // of work from which threads share a node's rows
inline constexpr std::size_t kFewestDeferred = sized(256, 4);      // rows of a subtree left to one thread
inline constexpr std::size_t kRowsApart = sized(4096, 4);          // divided by a thread that is awake anyway
inline constexpr std::size_t kRowsBetweenPolls = sized(4096, 64);  // of columns searched
inline constexpr std::size_t kWorkBetweenPolls =
    sized(std::size_t{1} << 18, std::size_t{64});  // a millisecond or a few
inline constexpr std::size_t kCodesBetweenPolls =
    sized(std::size_t{1} << 25, std::size_t{64});              // counted into histograms
inline constexpr std::size_t kLeastStretch = sized(4096, 16);  // rows of them

// --- codes ---
inline constexpr std::size_t kByteCodes = sized(256, 16);     // up to so many codes are kept in a byte
inline constexpr std::size_t kShortCodes = sized(65536, 64);  // ... in two; the same for numbers of rows
inline constexpr std::size_t kFewKeptCodes = sized(256, 8);   // of a column: those that go left are kept with a node
// 200,000 values place 255 cuts to within a quarter of a per mille. Never tiny: a sample may miss a rare value, so that
// another tree is grown.
inline constexpr std::size_t kSampleAbove = 400'000;  // rows: quantiles come from a sample of them
inline constexpr std::size_t kSampleSize = 200'000;
inline constexpr std::size_t kFewKeys = sized(64, 4);               // values of a column that are not sorted by row
inline constexpr std::size_t kRowsBinned = sized(256, 16);          // values and codes that stay in the first cache
inline constexpr std::size_t kMostRowsTurned = sized(150'000, 60);  // of columns copied before they are sorted
inline constexpr std::size_t kRowsCopied = sized(4096, 64);         // rows of codes at a time; a multiple of 64
inline constexpr std::size_t kCellsTurned =
    sized(std::size_t{1} << 18, std::size_t{64});  // of a sparse table, at a time, or an eighth of them
inline constexpr std::size_t kTargetsAhead = 12;   // fetched before they are needed: rows of a node lie far apart
inline constexpr std::size_t kGuideSteps = sized(512, 4);
inline constexpr std::size_t kGuideLook = sized(4, 2);
inline constexpr std::size_t kLookedForUsual = sized(20'000, 50);  // rows that tell whether a column has a usual value
inline constexpr std::size_t kRowsPerDigit = sized(64, 2);  // rows of a table for each code of a bundle of digits
inline constexpr std::size_t kMostBundles = sized(64, 2);   // that a column is compared with
inline constexpr std::size_t kBeyondCaches = sized(std::size_t{8} << 20, std::size_t{64});  // bytes of a table

// --- blocks of rows ---
inline constexpr std::size_t kFirstCache = sized(20 * 1024, 128);  // bytes of a subtree's rows
inline constexpr std::size_t kSecondCache = sized(240 * 1024, 512);
inline constexpr std::size_t kFewestGathered = sized(8, 3);  // rows worth a block of their own
inline constexpr std::size_t kFewestRowsGathered = sized(16, 3);
// Where a node has fewer than one in so many rows of its block, filled cells are sorted anew, not looked up in the lists.
inline constexpr std::size_t kFewOfBlock = sized(8, 2);
inline constexpr std::size_t kPrefetchRows = sized(16, 2);
inline constexpr std::size_t kFarRows = sized(64, 3);  // little is done with a row: look far ahead

// --- histograms and the search of a node ---
inline constexpr std::size_t kTogether = sized(32, 3);               // columns counted in one pass over the rows, with
inline constexpr std::size_t kTogetherSlots = sized(2048, 3 * 256);  // so many cells, which stay in the first cache
inline constexpr std::size_t kFewLanes = sized(512, 40);     // of the cells of a column of many classes, counted so
inline constexpr std::size_t kTogetherAbove = sized(48, 4);  // rows for which that pays
inline constexpr std::size_t kColumnsAtOnce = sized(16, 3);  // whose cells stay in the first cache
inline constexpr std::size_t kColumnsApart = sized(64, 2);   // for each thread: they share the columns, not the rows
inline constexpr std::size_t kRowsOfStretch = sized(512, 7);
inline constexpr std::size_t kListsAtOnce = sized(16, 2);  // columns of a sparse table that a thread takes
inline constexpr std::size_t kHistogramRows = sized(1024, 8);
inline constexpr std::size_t kFewestCounted = sized(64, 5);  // rows from which gradients are counted into histograms
inline constexpr std::size_t kRowsKept = sized(512, 20);     // of a node that keeps a large histogram for its children
inline constexpr std::size_t kDoubtful = sized(6, 1);        // times min_samples_leaf: count the rows at once
inline constexpr std::int64_t kMostSmallWeight = sized(4096, 40);  // weight up to which floats hold G H exactly
inline constexpr std::size_t kCutsAtOnce = sized(64, 8);
inline constexpr std::size_t kCutsAdded = sized(1024, 6);    // rows whose sums are added up at a time; at most kCutRows
inline constexpr std::size_t kFewCompared = sized(4, 2);     // codes of columns: so few are compared with, not sorted
inline constexpr std::size_t kFewRows = sized(192, 5);       // of subtrees that are finished at once; at most 256
inline constexpr std::size_t kRandomRows = sized(4096, 12);  // of a subtree grown by random cuts; at most kCutRows

// --- sums over rows ---
inline constexpr std::size_t kLossRows = sized(2048, 64);  // summed at a time, for any number of threads
inline constexpr std::size_t kFewChunks = sized(16, 2);    // of them, for each thread
inline constexpr std::size_t kLossTile = sized(256, 8);
inline constexpr std::size_t kSoftmaxTile = sized(128, 8);
inline constexpr std::size_t kRoundRows = sized(8192, 16);   // AdaBoost: rows of a chunk
inline constexpr std::size_t kWordRows = sized(16384, 200);  // ... from which a word a row is fine enough

// --- prediction ---
// Large, since a tree comes from far memory for every block of rows, while the rows themselves pass by in order.
inline constexpr std::size_t kWalkTile = sized(16384, 64);  // rows x trees walked before values are added up
inline constexpr std::size_t kFarDown =
    sized(1024, 8);  // depth from which tiles are smaller: Ctrl-C waits for their end
inline constexpr std::size_t kDenseBytes = sized(320 * 1024, 512);  // of sparse rows made dense
inline constexpr std::size_t kFewWalks = sized(256, 8);             // rows too few to keep all lanes busy with one tree
inline constexpr std::size_t kLeavesAhead = sized(32, 1);           // brought near before they are added
inline constexpr std::size_t kTreesAhead = sized(8, 2);             // whose roots are brought near
inline constexpr std::size_t kCrowd = sized(64, 4);                 // rows that are divided before they walk
inline constexpr std::size_t kFewestInStep = sized(2048, 20);       // rows that go down in step
inline constexpr std::size_t kFewestSteps = sized(64, 5);           // nodes of a tree: fewer are walked as fast
inline constexpr std::size_t kStepsPerRow = sized(10, 1000);        // nodes of a tree that are laid out for it
inline constexpr std::size_t kTopBytes = sized(std::size_t{8} << 20, std::size_t{1} << 14);  // of a block's columns
inline constexpr std::size_t kTopTrees = sized(8, 2);       // whose first tests are asked of rows while they are near
inline constexpr std::size_t kFewestMasked = sized(64, 3);  // rows for leaf masks
inline constexpr std::size_t kMostMaskedNumbers = sized(64, 3);  // of a leaf
inline constexpr std::size_t kMaskedRows = sized(2048, 40);
inline constexpr std::size_t kMostTabled =
    sized(std::size_t{1} << 24, std::size_t{2000});  // categories, those of all trees

}  // namespace weald
