// By which of the paths the groups of a column are brought together.
#pragma once

#include "weald/search/class_chains.hpp"
#include "weald/search/groups.hpp"

namespace weald {

// How the groups of a column are held during its search.
enum class Groups { Cells, AllCodes, Chains, TwoSides, Listed, ListedChains };

inline Groups groups_for(const SearchRequest& request, const Column& column, std::uint32_t j, const NodeRows& node,
                         const Lane* total, const Lane* ready) {
  // A cell costs two adds and two squares for each class.
  const bool many_groups = column.slots() * std::max<std::size_t>(4, request.stats->channels * 2 / 3) > node.n;
  const bool chains = ready == nullptr && many_groups && chainable(*request.stats, total);
  if (column.categorical) return chains && !request.random ? Groups::Chains : Groups::Cells;
  if (is_from_rows(request.stats->criterion)) return Groups::Cells;
  if (request.lists) return chainable(*request.stats, total) ? Groups::ListedChains : Groups::Listed;
  if (request.random) return Groups::TwoSides;
  const Channels& stats = *request.stats;
  const bool dense = ready != nullptr || !is_sparse(column, node);
  if (stats.gradients && stats.layout == Layout::Packed && dense) {
    return request.monotone && request.monotone[j] != 0 ? Groups::Cells : Groups::AllCodes;
  }
  if (uses(Path::AllCodes) && uses(Path::ScanInVectors) && stats.layout == Layout::Packed &&
      stats.criterion == Criterion::Gini && request.plain() && dense) {
    return Groups::AllCodes;
  }
  return chains ? Groups::Chains : Groups::Cells;
}

}  // namespace weald
