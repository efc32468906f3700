#include "predict.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace weald {

namespace {

constexpr std::uint32_t kMissingLeft = 1, kCategorical = 2;

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("not a valid tree: ") + what);
}

}  // namespace

std::vector<std::uint32_t> check_preorder(std::span<const std::int64_t> right) {
  const std::size_t n = right.size();
  require(n > 0 && n < (std::size_t{1} << 31), "it has no nodes, or too many");
  std::vector<std::uint32_t> depths(n);
  // In pre-order the nodes of a subtree are neighbours: walk them, keeping the open "no" branches.
  std::vector<std::pair<std::size_t, std::uint32_t>> open;  // node to come, its depth
  std::uint32_t depth = 0;
  for (std::size_t i = 0; i < n; ++i) {
    depths[i] = depth;
    require(right[i] >= -1, "a child is out of range");
    if (right[i] >= 0) {
      require(right[i] > static_cast<std::int64_t>(i) + 1 && right[i] < static_cast<std::int64_t>(n),
              "a child is out of range");
      open.emplace_back(static_cast<std::size_t>(right[i]), ++depth);
    } else if (i + 1 < n) {
      require(!open.empty() && open.back().first == i + 1, "its nodes are not in pre-order");
      depth = open.back().second;
      open.pop_back();
    }
  }
  require(open.empty(), "a branch is missing");
  return depths;
}

Router::Router(const TreeArrays& arrays) : n_columns_(arrays.n_categories.size()) {
  const std::size_t n = arrays.right.size();
  const auto depths = check_preorder(arrays.right);
  depth_ = *std::max_element(depths.begin(), depths.end());
  require(arrays.feature.size() == n && arrays.threshold.size() == n &&
              arrays.missing_left.size() == n && arrays.set_begin.size() == n,
          "its arrays differ in length");
  require(n_columns_ > 0 && n_columns_ < (std::size_t{1} << 30), "its number of columns");
  nodes_.resize(n);
  sets_.assign(arrays.sets.begin(), arrays.sets.end());
  for (std::size_t i = 0; i < n; ++i) {
    PackedNode& node = nodes_[i];
    if (arrays.right[i] < 0) {
      node = {kNaN, 0, static_cast<std::uint32_t>(i)};
      continue;
    }
    const std::int64_t feature = arrays.feature[i];
    require(feature >= 0 && static_cast<std::size_t>(feature) < n_columns_, "a column is out of range");
    node.next = static_cast<std::uint32_t>(arrays.right[i]);
    node.feature_and_flags = static_cast<std::uint32_t>(feature) << 2;
    if (arrays.missing_left[i]) node.feature_and_flags |= kMissingLeft;
    if (arrays.set_begin[i] >= 0) {
      const std::size_t begin = static_cast<std::size_t>(arrays.set_begin[i]);
      const std::size_t categories = arrays.n_categories[static_cast<std::size_t>(feature)];
      require(categories > 0, "a categorical test on a numeric column");
      require(begin < (std::size_t{1} << 32) && begin + (categories + 31) / 32 <= sets_.size(),
              "a set of categories is out of range");
      node.feature_and_flags |= kCategorical;
      node.number = std::bit_cast<double>(static_cast<std::uint64_t>(begin) << 32 | categories);
      categorical_ = true;
    } else {
      require(!std::isnan(arrays.threshold[i]), "a threshold is missing");
      node.number = arrays.threshold[i];
    }
  }
}

template <bool Categorical, class T>
std::uint32_t Router::step(std::uint32_t at, const T* row, std::size_t stride) const {
  const PackedNode& node = nodes_[at];
  const auto value = static_cast<double>(row[(node.feature_and_flags >> 2) * stride]);
  bool yes = value <= node.number;
  if constexpr (Categorical) {
    if (node.feature_and_flags & kCategorical) {
      const auto set = std::bit_cast<std::uint64_t>(node.number);
      const auto categories = static_cast<std::uint32_t>(set);
      yes = false;
      if (value >= 0 && value < categories) {
        const auto c = static_cast<std::uint32_t>(value);
        yes = (sets_[(set >> 32) + c / 32] >> (c % 32) & 1) != 0;
      }
    }
  }
  // Arithmetic instead of a choice: half of all tests would mislead a branch predictor.
  const std::uint32_t missing = static_cast<std::uint32_t>(value != value) & node.feature_and_flags;
  const std::uint32_t no = 1 ^ (static_cast<std::uint32_t>(yes) | (missing & kMissingLeft));
  return at + 1 + ((node.next - at - 1) & (0U - no));
}

template <bool Categorical, class T>
void Router::route(const Table<T>& table, std::size_t begin, std::size_t end, std::int64_t* out) const {
  // Several rows in flight hide the latency of the loads; a row that has arrived makes room.
  constexpr std::size_t kLanes = 8;
  const std::size_t stride = table.column_stride;
  std::size_t row[kLanes];
  std::uint32_t at[kLanes];
  const T* values[kLanes];
  std::size_t lanes = 0, next = begin;
  const auto enter = [&](std::size_t lane) {
    row[lane] = next;
    values[lane] = table.data + next * table.row_stride;
    at[lane] = 0;
    ++next;
  };
  while (lanes < kLanes && next < end) enter(lanes++);
  while (lanes > 0) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t to = step<Categorical>(at[lane], values[lane], stride);
      if (to != at[lane]) {
        at[lane] = to;
        continue;
      }
      out[row[lane]] = to;
      if (next < end) {
        enter(lane);
      } else {
        --lanes;
        row[lane] = row[lanes], at[lane] = at[lanes], values[lane] = values[lanes];
        --lane;  // wraps at zero, and the loop's ++ brings it back
      }
    }
  }
}

template <class T>
void Router::leaves(const Table<T>& table, std::size_t threads, std::int64_t* out,
                    Interrupt& interrupt) const {
  constexpr std::size_t kChunk = 4096;
  const double work_ns = static_cast<double>(table.n_rows) * static_cast<double>(depth_ + 1) * 3;
  const std::size_t useful = useful_threads(threads, work_ns);
  const std::size_t chunks = std::max(useful, (table.n_rows + kChunk - 1) / kChunk);
  parallel_for(useful, chunks, interrupt, [&](std::size_t chunk) {
    const std::size_t begin = table.n_rows * chunk / chunks, end = table.n_rows * (chunk + 1) / chunks;
    categorical_ ? route<true>(table, begin, end, out) : route<false>(table, begin, end, out);
  });
}

template void Router::leaves(const Table<float>&, std::size_t, std::int64_t*, Interrupt&) const;
template void Router::leaves(const Table<double>&, std::size_t, std::int64_t*, Interrupt&) const;

}  // namespace weald
