#include "split.hpp"

#include <bit>
#include <numeric>

#include "absolute.hpp"
#include "category_order.hpp"
#include "sorting.hpp"

namespace weald {

namespace {

// A column whose node has far fewer rows than codes is walked through a bit map of the codes that
// occur, otherwise through all its cells.
constexpr std::size_t kSparse = 2;

constexpr float kInfFloat = std::numeric_limits<float>::infinity();

// Sums the node's rows per code into scratch.cells and lists the codes present, ascending. The
// missing code, if it occurs, is not listed; returns whether it does.
bool collect(const Column& column, const NodeRows& node, const Channels& stats,
             const Lane*& cells, SplitScratch& scratch) {
  const std::size_t slots = column.slots(), lanes = stats.lanes;
  if (scratch.codes.size() < slots + 1) scratch.codes.resize(slots + 1);
  Code* order = scratch.codes.data();
  std::size_t found = 0;
  if (cells == nullptr && slots > kSparse * node.n) {
    if (scratch.cells.size() < slots * lanes) scratch.cells.resize(slots * lanes, 0);
    if (scratch.touched.size() < slots / 64 + 1) scratch.touched.resize(slots / 64 + 1, 0);
    std::uint64_t* touched = scratch.touched.data();
    add_rows(column, node, stats, scratch.cells.data(),
             [touched](Code code) {
               touched[code / 64] |= std::uint64_t{1} << (code % 64);
               return code;
             });
    for (std::size_t word = 0; word <= slots / 64; ++word) {
      for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
        order[found++] = static_cast<Code>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      }
      touched[word] = 0;
    }
    cells = scratch.cells.data();
  } else {
    if (cells == nullptr) {
      if (scratch.cells.size() < slots * lanes) scratch.cells.resize(slots * lanes, 0);
      add_rows(column, node, stats, scratch.cells.data(), [](Code code) { return code; });
      cells = scratch.cells.data();
    }
    for (std::size_t code = 0; code < slots; ++code) {  // first lane: the count, or G << 32 | H
      order[found] = static_cast<Code>(code);
      found += cells[code * lanes] != 0;
    }
  }
  const bool missing = found > 0 && order[found - 1] == column.n_codes;
  scratch.order = {order, found - missing};
  return missing;
}

// Returns the cells to zero after a search.
void clear(const Channels& stats, Code missing_slot, bool missing, SplitScratch& scratch) {
  const std::size_t lanes = stats.lanes;
  Lane* cells = scratch.cells.data();
  if (lanes == 1) {
    for (const Code code : scratch.order) cells[code] = 0;
  } else {
    for (const Code code : scratch.order) std::fill_n(cells + code * lanes, lanes, 0);
  }
  if (missing) std::fill_n(cells + missing_slot * lanes, lanes, 0);
}

// The random rule for a numeric column: a threshold drawn uniformly between the extremes present,
// `first` and `last`. Sets the codes on both sides of it.
void draw_cut(const SearchRequest& request, const Column& column, std::uint32_t j,
              const NodeRows& node, Code first, Code last, Split& split) {
  const auto draw = [&](double from, double to) {
    const double u = Stream(combine(request.node_key, j)).uniform();
    const double threshold = from * (1 - u) + to * u;
    return threshold >= from && threshold < to ? threshold : from;
  };
  if (column.keyed) {
    const double threshold = draw(value_of<float>(first), value_of<float>(last));
    const auto top = largest_not_above<float>(threshold);
    split.last_left = key_of(top);
    split.first_right = split.last_left + 1;
    // A double was rounded down to get its key: it is left of the cut if it is below the next float.
    split.random_threshold =
        column.floored ? std::nextafter(double{std::nextafter(top, kInfFloat)}, -kInf) : threshold;
  } else if (column.low) {
    const double threshold = draw(column.high[first], column.low[last]);
    // Bins that lie below the threshold go left; if it falls into a bin it moves to the lower edge.
    const double* cut = std::upper_bound(column.high + first, column.high + last, threshold);
    split.first_right = static_cast<Code>(cut - column.high);
    split.last_left = split.first_right - 1;
    if (column.low[split.first_right] > threshold) split.random_threshold = threshold;
  } else {
    const auto each = [&](auto&& fn) {
      visit_width(column, [&](const auto* codes) {
        for (std::size_t i = 0; i < node.n; ++i) {
          const Code code = codes[node.rows[i] * column.stride];
          const Row row = request.origin ? request.origin[node.rows[i]] : node.rows[i];
          if (code != column.n_codes) fn(code, request.raw->at(row, j));
        }
      });
    };
    double from = kInf, to = -kInf;
    each([&](Code, double value) { from = std::min(from, value), to = std::max(to, value); });
    split.random_threshold = draw(from, to);
    split.last_left = first, split.first_right = last;
    each([&](Code code, double value) {
      if (value <= split.random_threshold) split.last_left = std::max(split.last_left, code);
      else split.first_right = std::min(split.first_right, code);
    });
  }
}

// A random cut needs no histogram: one pass finds the extremes, one sums the two sides. Leaves the
// groups in scratch (slots 0 and 1; 2 is for the missing). False if the column is constant here.
bool collect_sides(const SearchRequest& request, const Column& column, std::uint32_t j,
                   const NodeRows& node, SplitScratch& scratch, Split& split, bool& has_missing) {
  const Code missing = column.n_codes;
  const std::size_t lanes = request.stats->lanes;
  if (scratch.cells.size() < 3 * lanes) scratch.cells.resize(3 * lanes, 0);
  if (scratch.codes.size() < 3) scratch.codes.resize(3);
  scratch.order = {};
  Code first = missing, last = 0;
  visit_width(column, [&](const auto* codes) {
    const auto look = [&](std::size_t i) {
      const Code code = codes[node.rows[i] * column.stride];
      has_missing |= code == missing;
      first = std::min(first, code);
      last = std::max(last, code == missing ? Code{0} : code);
    };
    std::size_t i = 0;
    for (; i + kPrefetchRows < node.n; ++i) {
      prefetch(codes + node.rows[i + kPrefetchRows] * column.stride);
      look(i);
    }
    for (; i < node.n; ++i) look(i);
  });
  if (first == missing || (first == last && !has_missing)) return false;
  split.last_left = last;
  split.first_right = missing;  // one value: present | missing
  if (first < last) draw_cut(request, column, j, node, first, last, split);
  const Code last_left = split.last_left;
  add_rows(column, node, *request.stats, scratch.cells.data(), [=](Code code) {
    return static_cast<Code>((code > last_left) + (code == missing));
  });
  scratch.codes[0] = 0, scratch.codes[1] = 1;
  scratch.order = {scratch.codes.data(), first < last ? std::size_t{2} : std::size_t{1}};
  return true;
}

// The random rule for categories: a random order of those present, cut anywhere.
std::size_t shuffle_and_cut(std::span<Code> order, Stream stream) {
  for (std::size_t p = order.size(); p > 1; --p) {
    std::swap(order[p - 1], order[stream.below(static_cast<std::uint32_t>(p))]);
  }
  return 1 + stream.below(static_cast<std::uint32_t>(order.size() - 1));
}

// The node's rows in the order of a column: group after group as in scratch.order.
struct RowsByGroup {
  std::vector<std::uint32_t> rows, missing;  // positions within the node
  std::vector<std::size_t> ends;             // where each group ends in `rows`
};

RowsByGroup rows_by_group(const Column& column, const NodeRows& node, std::span<const Code> order) {
  RowsByGroup out;
  std::vector<std::uint32_t> group_of(column.slots() + 1);
  for (std::size_t p = 0; p < order.size(); ++p) group_of[order[p]] = static_cast<std::uint32_t>(p);
  std::vector<std::size_t> next(order.size() + 1, 0);
  visit_width(column, [&](const auto* codes) {  // counting sort
    const auto each = [&](auto&& fn) {
      for (std::size_t i = 0; i < node.n; ++i) {
        const Code code = codes[node.rows[i] * column.stride];
        fn(static_cast<std::uint32_t>(i), code == column.n_codes, group_of[code]);
      }
    };
    each([&](std::uint32_t, bool missing, std::uint32_t group) { next[group + 1] += !missing; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    out.ends.assign(next.begin() + 1, next.end());
    out.rows.resize(next.back());
    each([&](std::uint32_t i, bool missing, std::uint32_t group) {
      if (missing) {
        out.missing.push_back(i);
      } else {
        out.rows[next[group]++] = i;
      }
    });
  });
  return out;
}

// Sort keys of categories under the absolute criterion: the median of the first output.
std::vector<double> median_keys(const NodeRows& node, const Channels& stats,
                                const RowsByGroup& groups) {
  std::vector<double> keys;
  std::size_t begin = 0;
  for (const std::size_t end : groups.ends) {
    std::vector<std::pair<Lane, Lane>> targets;  // value, weight
    Lane total = 0, below = 0;
    for (; begin < end; ++begin) {
      const Lane* word = node.words + groups.rows[begin] * stats.lanes;
      targets.emplace_back(word[2], word[1]);
      total += word[1];
    }
    std::sort(targets.begin(), targets.end());
    std::size_t k = 0;
    for (; 2 * (below + targets[k].second) < total; ++k) below += targets[k].second;
    keys.push_back(static_cast<double>(targets[k].first));
  }
  return keys;
}

// The walk for the absolute criterion: errors of all prefixes and all suffixes, then the best pair.
Cut scan_absolute(const SearchRequest& request, const NodeRows& node, const RowsByGroup& groups,
                  std::size_t first, std::size_t last, const Limits& limits, Split& split) {
  const Channels& stats = *request.stats;
  const bool medians = limits.monotone != 0;
  Cut best;
  const RankedTargets targets(node, stats);
  const auto h = [&](std::uint32_t i) {
    return static_cast<double>(node.words[i * stats.lanes + 1]);
  };
  double total_h = 0;
  for (std::uint32_t i = 0; i < node.n; ++i) total_h += h(i);
  for (int missing_left = 0; missing_left <= (groups.missing.empty() ? 0 : 1); ++missing_left) {
    // missing_left ? [missing | groups] : [groups | missing]
    std::vector<std::uint32_t> sequence = groups.rows;
    sequence.insert(missing_left ? sequence.begin() : sequence.end(), groups.missing.begin(),
                    groups.missing.end());
    std::vector<std::size_t> ends = groups.ends, lengths;
    if (missing_left) for (auto& end : ends) end += groups.missing.size();
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) lengths.push_back(node.n - *end);
    const PrefixErrors left = prefix_errors(node, stats, targets, sequence, ends, medians, *request.interrupt);
    const std::vector<std::uint32_t> backwards(sequence.rbegin(), sequence.rend());
    const PrefixErrors right = prefix_errors(node, stats, targets, backwards, lengths, medians, *request.interrupt);

    double left_h = 0;
    std::size_t walked = 0;
    for (std::size_t p = 0; p < last; ++p) {
      for (; walked < ends[p]; ++walked) left_h += h(sequence[walked]);
      const auto count = static_cast<Lane>(ends[p]);
      if (p + 1 < first || count < limits.min_count) continue;
      if (static_cast<Lane>(node.n) - count < limits.min_count) break;
      if (left_h < limits.min_weight || total_h - left_h < limits.min_weight) continue;
      const std::size_t mirror = ends.size() - 1 - p;
      if (limits.monotone != 0 && !limits.allows(left.median[p], right.median[mirror])) continue;
      const double score = -(left.error[p] + right.error[mirror]);
      if (score > best.score) {
        best = {score, p + 1, missing_left == 1};
        if (medians) split.left_value = left.median[p], split.right_value = right.median[mirror];
      }
    }
  }
  return best;
}

// The best allowed cut of a column whose groups are in scratch.order.
Cut scan_column(const SearchRequest& request, const Column& column, std::uint32_t j,
                const NodeRows& node, const Lane* total, const Lane* cells, const Lane* missing,
                std::span<const Code> order, std::size_t first, std::size_t last, double floor,
                Split& split) {
  const Channels& stats = *request.stats;
  Limits limits = request.limits;
  limits.floor = floor;
  if (request.monotone) limits.monotone = request.monotone[j];
  if (stats.criterion == Criterion::Absolute) {
    return scan_absolute(request, node, rows_by_group(column, node, order), first, last, limits, split);
  }
  if (stats.layout == Layout::Packed && stats.criterion == Criterion::Gini && limits.plain() &&
      !missing && first == 1) {
    return scan_plain(total, last, [&](std::size_t p) { return cells + order[p]; }, limits.floor);
  }
  const auto cell = [&](std::size_t p) { return cells + order[p] * stats.lanes; };
  return with_sums(stats, [&](auto sums) {
    const Cut cut = scan_cuts(sums, total, missing, first, last, cell, limits);
    if (limits.monotone != 0 && cut.score > -kInf) {  // replay the walk for the values of the two sides
      sums.start(total);
      if (missing && cut.missing_left) sums.move(missing);
      for (std::size_t p = 0; p < cut.groups_left; ++p) sums.move(cell(p));
      split.left_value = sums.left_value(), split.right_value = sums.right_value();
    }
    return cut;
  });
}

}  // namespace

bool search_column(const SearchRequest& request, const Column& column, std::uint32_t j,
                   const NodeRows& node, const Lane* total, const Lane* ready,
                   SplitScratch& scratch, Split& best) {
  if (column.constant()) return false;
  request.interrupt->poll();
  const Channels& stats = *request.stats;
  Split split;
  split.column = j;
  split.categorical = column.categorical;
  const Lane* cells = ready;
  bool has_missing = false;
  const bool sides_only =
      request.random && !column.categorical && stats.criterion != Criterion::Absolute;
  bool varies;
  if (sides_only) {
    varies = collect_sides(request, column, j, node, scratch, split, has_missing);
    cells = scratch.cells.data();
    ready = nullptr;
  } else {
    has_missing = collect(column, node, stats, cells, scratch);
    varies = !scratch.order.empty() && scratch.order.size() + has_missing >= 2;
  }
  const std::span<Code> order = scratch.order;
  if (varies) {
    const Code missing_slot = sides_only ? 2 : column.n_codes;
    std::size_t first = 1, last = has_missing ? order.size() : order.size() - 1;
    if (request.random && order.size() >= 2) {
      first = 1;
      if (column.categorical) {
        first = shuffle_and_cut(order, Stream(combine(request.node_key, j)));
      } else if (!sides_only) {
        draw_cut(request, column, j, node, order.front(), order.back(), split);
        first = static_cast<std::size_t>(std::upper_bound(order.begin(), order.end(), split.last_left) - order.begin());
      }
      last = first;
    } else if (column.categorical) {
      sort_by_keys(order, stats.criterion == Criterion::Absolute
                              ? median_keys(node, stats, rows_by_group(column, node, order))
                              : category_keys(stats, cells, order));
    }
    const Lane* missing = has_missing ? cells + missing_slot * stats.lanes : nullptr;
    const Cut cut = scan_column(request, column, j, node, total, cells, missing, order, first, last,
                                best.score, split);
    if (best.loses_to(cut.score, j)) {
      split.score = cut.score;
      split.had_missing = has_missing;
      split.missing_left = cut.missing_left;
      if (column.categorical) {
        split.left_codes.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(cut.groups_left));
      } else if (!sides_only) {
        split.last_left = order[cut.groups_left - 1];
        split.first_right = cut.groups_left < order.size() ? order[cut.groups_left] : column.n_codes;
      }
      best = std::move(split);
    }
  }
  if (ready == nullptr) clear(stats, sides_only ? 2 : column.n_codes, has_missing, scratch);
  return varies;
}

double node_score(const SearchRequest& request, const NodeRows& node, const Lane* total) {
  const Channels& stats = *request.stats;
  if (stats.criterion == Criterion::Absolute) {
    const RankedTargets targets(node, stats);
    std::vector<std::uint32_t> all(node.n);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    return -prefix_errors(node, stats, targets, all, {node.n}, false, *request.interrupt).error[0];
  }
  return with_sums(stats, [&](auto sums) {
    return std::remove_reference_t<decltype(sums)>::whole_score(total, stats);
  });
}

}  // namespace weald
