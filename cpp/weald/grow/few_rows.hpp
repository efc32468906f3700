// Whole subtrees of few rows.
//
// Most nodes of a full tree have a handful of rows. What the loop of growth does for any node (blocks, queues, scratch
// memory) costs there several times what the search itself does. So once a node is small, its whole subtree is
// finished in place: a node is a range of places, and the codes of sixteen columns that it draws are sorted at once
// (search/sorted_cuts.hpp). What the rows add is a parameter (row_sums.hpp). The same keys and the same arithmetic
// as everywhere: the tree is the one that grows without.
#pragma once

#include <numeric>
#include <span>

#include "weald/grow/node_search.hpp"
#include "weald/grow/row_sums.hpp"
#include "weald/search/category_order.hpp"
#include "weald/search/category_price.hpp"
#include "weald/search/column_draw.hpp"

namespace weald {

template <class Sums>
class FewRows {
 public:
  explicit FewRows(const Plan& plan) : plan_(plan), sums_(plan), draw_(plan.matrix.n_columns()) {
    const std::size_t wanted = plan.columns_per_node, parts = (wanted + kColumns - 1) / kColumns;
    at_once_ = (wanted + parts - 1) / parts;
    categories_ = std::any_of(plan.matrix.columns.begin(), plan.matrix.columns.end(),
                              [](const Column& column) { return column.categorical; });
  }

  static bool fits(const Plan& plan) {
    const Rules& rules = plan.rules;
    return uses(Path::SmallSubtrees) && !plan.one_cut && !plan.matrix.sparse && plan.limits.plain() &&
           rules.monotone.empty() && rules.interactions.empty() && rules.max_leaves == 0 &&
           rules.frontier == Frontier::DepthFirst && Sums::fits(plan);
  }

  // Grows the subtree below the node into `tree` and puts its rows into the order of the leaves; false
  // if it has to be done in the general way.
  bool grow(const OpenNode& root, View<Row> rows, Subtree& tree) {
    if (root.size() > Sums::kMostRows || !root.block->bytes) return false;
    block_ = root.block.get(), tree_ = &tree;
    stride_ = block_->row_bytes ? block_->row_stride : 1;
    Row* const out = rows.get(root.begin, root.size());
    std::copy_n(out, root.size(), row_);
    if (categories_ && any_missing(root.size())) return false;
    std::iota(places_, places_ + root.size(), Place{0});
    Node node{root.key, root.parent, root.depth, 0, static_cast<std::uint32_t>(root.size()), sums_.root(root)};
    sums_.load(*block_, {row_, root.size()}, node.own);
    for (open_.clear();;) {
      const Row begin = root.begin + node.begin;
      GrownNode& done = tree.add(node.parent, begin, begin + node.n, GrownNode::kUnknown);
      if constexpr (requires { node.own.sum; }) done.sum = node.own.sum;
      if (could_split(node) && find_split(node)) {
        open_.push_back(divide(done, node));
        continue;
      }
      for (std::size_t p = node.begin; p < node.begin + node.n; ++p) out[p] = block_->original(row_[places_[p]]);
      if (open_.empty()) return true;
      node = open_.back();
      open_.pop_back();
    }
  }

 private:
  static constexpr std::size_t kColumns = SortedCuts::kColumns, kRows = SortedCuts::kRows;

  struct Node {
    std::uint64_t key;
    std::uint32_t parent, depth, begin, n;
    typename Sums::OfNode own;
  };
  std::span<Place> places_of(const Node& node) { return {places_ + node.begin, node.n}; }

  // Categories without missing values only.
  bool any_missing(std::size_t n) const {
    return std::any_of(block_->columns.begin(), block_->columns.end(), [&](const Column& column) {
      return column.categorical && column.has_missing && !column.constant() &&
             std::any_of(row_, row_ + n, [&](Row row) {
               return static_cast<const std::uint8_t*>(column.data)[row * column.stride] == column.n_codes;
             });
    });
  }

  bool could_split(const Node& node) const {
    return node.depth < plan_.rules.max_depth && node.n >= std::max<std::size_t>(plan_.rules.min_samples_split, 2);
  }

  // --- search ---

  // A column to be sorted. Where values are missing it is sorted twice, since they are above all codes or below.
  struct Candidate {
    std::uint32_t column;
    const std::uint8_t* codes;  // of the first row of the block; else, by place
    bool by_place = false;
    bool missing_left = false, had_missing = false;
    double price = 0;
  };

  bool find_split(const Node& node) {
    const auto places = places_of(node);
    sums_.look(places, node.own);
    if (sums_.pure()) return false;
    if (plan_.rules.random_ties) ties_.key = derive(node.key, kTieKey) | 1;
    best_.score = -kInf, varies_ = false, price_.reset();
    const std::size_t d = draw_.size(), wanted = plan_.columns_per_node;
    draw_.begin();
    if (wanted < d) draw_.next(node.key, wanted);
    const auto next = [&](std::size_t k) {
      return wanted == d ? static_cast<std::uint32_t>(k) : k < wanted ? draw_.drawn()[k] : draw_.next(node.key);
    };
    if (node.n == 2) return find_split_of_two(places, wanted, next);
    std::size_t k = 0;
    for (; k < wanted; ++k) add(next(k), places);
    try_candidates(places);
    for (; k < d && !varies_; ++k) {
      const std::uint32_t j = next(k);
      if (!differ(j, places)) continue;
      add(j, places);
      try_candidates(places);
    }
    return best_.found() && splits();
  }
  bool splits() const {
    return pays(plan_, sums_.channels(), best_.score, gain_of(sums_.channels(), best_.score, sums_.own_score()));
  }

  // All cuts divide two rows alike, so that the tie decides. A third of all splits are of such.
  template <class Next>
  bool find_split_of_two(std::span<const Place> places, std::size_t wanted, Next&& next) {
    bool any = false;
    best_.score = sums_.score_of(places[0]) + sums_.score_of(places[1]);
    const bool gains = best_.score > sums_.own_score();  // rounded; two categories are free, but must gain something
    for (std::size_t k = 0; k < draw_.size() && (k < wanted || !any); ++k) {
      const std::uint32_t j = next(k);
      if (!differ(j, places) || (block_->columns[j].many && !gains)) continue;
      if (!any || ties_.prefers(j, best_.column)) best_.column = j;
      any = true;
    }
    if (!any) return false;
    const Column& column = block_->columns[best_.column];
    best_.categorical = column.categorical;
    best_.had_missing = best_.missing_left = false;
    if (column.categorical) {
      number_categories(column, places, best_ranks_);
      rank_categories(places, best_ranks_, 2);
      best_.last_left = 0;
      return splits();
    }
    const Code a = code(column, places[0]), b = code(column, places[1]);
    best_.last_left = std::min(a, b), best_.first_right = std::max(a, b);
    best_.had_missing = column.has_missing && best_.first_right == column.n_codes;
    return splits();
  }

  std::uint8_t code(const Column& column, Place i) const {
    return static_cast<const std::uint8_t*>(column.data)[row_[i] * column.stride];
  }
  bool differ(std::uint32_t j, std::span<const Place> places) const {
    const Column& column = block_->columns[j];
    return !column.constant() && std::any_of(places.begin() + 1, places.end(),
                                             [&](Place i) { return code(column, i) != code(column, places[0]); });
  }

  void add(std::uint32_t j, std::span<const Place> places) {
    const Column& column = block_->columns[j];
    if (column.constant()) return;
    if (n_candidates_ + has_missing_ + 2 > kColumns) try_candidates(places);
    if (column.categorical) {
      add_categories(j, column, places);
    } else if (column.stride == stride_) {
      add_candidate(j, static_cast<const std::uint8_t*>(column.data), column.slots());
    } else {
      std::uint8_t* codes = by_place_[n_candidates_];
      for (const Place i : places) codes[i] = code(column, i);
      add_candidate(j, codes, column.slots()).by_place = true;
    }
    if (n_candidates_ + has_missing_ >= at_once_) try_candidates(places);
  }
  Candidate& add_candidate(std::uint32_t j, const std::uint8_t* codes, std::size_t slots) {
    most_slots_ = std::max(most_slots_, slots);
    has_missing_ += block_->columns[j].has_missing && !block_->columns[j].categorical;
    return candidates_[n_candidates_++] = {j, codes};
  }

  // Categories are sorted by their rank in the order of the column.
  void add_categories(std::uint32_t j, const Column& column, std::span<const Place> places) {
    std::uint8_t* const ranks = by_place_[n_candidates_];
    const std::size_t n = number_categories(column, places, ranks);
    double price = 0;
    if (column.many) {
      if (!price_) {
        price_ = category_price(sums_.channels(), sums_.own_score(), sums_.total(),
                                [&](std::size_t o) { return sums_.squares(places, o); });
      }
      price = price_->of(n);
      if (!(price < price_->most)) return;
    }
    if (n < 2) return;
    rank_categories(places, ranks, n);
    Candidate& candidate = add_candidate(j, ranks, n);
    candidate.by_place = true, candidate.price = price;
  }

  // Numbers the categories that are here, in the order of their codes; how many they are.
  std::size_t number_categories(const Column& column, std::span<const Place> places, std::uint8_t* numbers) {
    std::uint64_t marks[kByteSlots / 64] = {};  // codes that occur
    for (const Place i : places) {
      numbers[i] = code(column, i);
      marks[numbers[i] / 64] |= std::uint64_t{1} << (numbers[i] % 64);
    }
    std::uint8_t number[kByteSlots], n = 0;
    for_bits(marks, std::size(marks), [&](std::size_t code) { number[code] = n++; });
    for (const Place i : places) numbers[i] = number[numbers[i]];
    return n;
  }

  // From their numbers to their ranks.
  void rank_categories(std::span<const Place> places, std::uint8_t* numbers, std::size_t n) {
    std::uint8_t rank[kRows];
    find_ranks(sums_.category_keys(places, numbers, n), rank);
    for (const Place i : places) numbers[i] = rank[numbers[i]];
  }

  void try_candidates(std::span<const Place> places) {
    if (n_candidates_ == 0) return;
    load_codes(places);
    const std::size_t n = std::exchange(n_candidates_, 0);
    cuts_.begin(places, n, std::exchange(most_slots_, 0));
    for (std::size_t c = 0; c < n; ++c) cuts_.set_missing(c, candidates_[c].had_missing);
    sums_.search(cuts_);
    for (std::size_t c = 0; c < n; ++c) {
      const Candidate& one = candidates_[c];
      const Column& column = block_->columns[one.column];
      const bool priced = column.many && column.categorical;
      const double score = priced ? cuts_.most(c) - one.price : cuts_.most(c);
      if (cuts_.most(c) == -kInf || (priced && !(score > price_->own))) continue;
      varies_ = true;
      if (!best_.loses_to(score, one.column, ties_)) continue;
      best_.score = score, best_.column = one.column;
      best_.last_left = cuts_.last_left(c) - one.missing_left,
      best_.first_right = cuts_.first_right(c) - one.missing_left;
      best_.had_missing = one.had_missing, best_.missing_left = one.missing_left;
      best_.categorical = column.categorical;
      if (column.categorical) std::copy_n(by_place_[c], kRows, best_ranks_);
    }
  }

  void load_codes(std::span<const Place> places) {
    const std::uint8_t* codes[kColumns];
    for (std::size_t c = 0; c < n_candidates_; ++c) codes[c] = candidates_[c].codes;
    for (std::size_t p = 0; p < places.size(); ++p) {
      const std::size_t row = row_[places[p]] * stride_;
      for (std::size_t c = 0; c < n_candidates_; ++c) {
        if (!candidates_[c].by_place) cuts_.code(p, c) = codes[c][row];
      }
    }
    for (std::size_t c = 0, n = n_candidates_; c < n; ++c) {
      const Column& column = block_->columns[candidates_[c].column];
      for (std::size_t p = 0; p < places.size() && candidates_[c].by_place; ++p) {
        cuts_.code(p, c) = codes[c][places[p]];
      }
      if (column.has_missing && !column.categorical) add_missing(c, column.n_codes, places.size());
    }
    has_missing_ = 0;
  }

  void add_missing(std::size_t c, Code missing, std::size_t n) {
    bool any = false;
    for (std::size_t p = 0; p < n; ++p) any |= cuts_.code(p, c) == missing;
    if (!any) return;
    candidates_[c].had_missing = true;
    const std::size_t twin = n_candidates_++;
    candidates_[twin] = candidates_[c], candidates_[twin].missing_left = true;
    for (std::size_t p = 0; p < n; ++p) {
      const std::uint8_t own = cuts_.code(p, c);
      cuts_.code(p, twin) = own == missing ? std::uint8_t{0} : static_cast<std::uint8_t>(own + 1);
    }
  }

  // --- growth ---

  // The node becomes its left child; returns the right one.
  Node divide(GrownNode& done, Node& node) {
    const auto places = places_of(node);
    const Column& column = block_->columns[best_.column];
    const Code missing = column.n_codes;
    std::uint32_t n_left = 0;
    Lane left_h = 0, right_h = 0;
    const auto split = [&](auto&& goes_left) {
      Place away[kRows];
      std::uint32_t n_right = 0;
      for (const Place i : places) {
        const bool left = goes_left(code(column, i));
        places[n_left] = away[n_right] = i;  // never a place not yet read
        n_left += left, n_right += !left;
        (left ? left_h : right_h) += sums_.h(i);
      }
      std::copy_n(away, n_right, places.begin() + n_left);
    };
    if (best_.categorical) {
      bool side[kByteSlots] = {};
      for (const Code one : choose_left(column, places)) side[one] = true;
      split([&](Code own) { return side[own]; });
    } else if (best_.missing_left) {
      split([&, last = best_.last_left](Code own) { return own <= last || own == missing; });
    } else {
      split([last = best_.last_left](Code own) { return own <= last; });
    }
    Row rows[kRows];
    const bool by_rows = !best_.categorical && !column.ends;  // ranks: the rows know the values
    for (std::size_t p = 0; p < places.size() && by_rows; ++p) rows[p] = row_[places[p]];
    done.threshold = threshold_of(*block_, best_, plan_.matrix.raw, rows, by_rows ? places.size() : 0);
    if (best_.categorical) {
      for (Code& one : best_.left_codes) one = column.original(one);
      if (!has_few_codes(plan_.matrix.columns[best_.column])) best_.left_codes.clear();
      tree_->add_set(done, best_.left_codes);
    }
    done.feature = static_cast<std::int32_t>(best_.column);
    done.missing_left = best_.had_missing ? best_.missing_left : left_h > right_h;
    Node right = node;
    right.n = node.n - n_left, node.n = n_left, right.begin = node.begin + n_left;
    right.parent = tree_->last(), node.parent = Subtree::kNobody;
    right.depth = ++node.depth;
    right.key = derive(node.key, kChildKey + 1), node.key = derive(node.key, kChildKey);
    sums_.measure(places_of(node), node.own), sums_.measure(places_of(right), right.own);
    return right;
  }

  // The codes of the lighter side are listed (ColumnSearch::choose_left).
  std::span<const Code> choose_left(const Column& column, std::span<const Place> places) {
    const std::size_t n_left = best_.last_left + std::size_t{1};
    std::size_t n = 0;
    for (const Place i : places) {
      order_[best_ranks_[i]] = code(column, i);
      n = std::max<std::size_t>(n, best_ranks_[i] + 1U);
    }
    bool first[kByteSlots] = {};
    for (std::size_t r = 0; r < n_left; ++r) first[order_[r]] = true;
    Lane lead = 0;
    for (const Place i : places) lead += first[code(column, i)] ? sums_.h(i) : -sums_.h(i);
    const auto order = std::span(order_, n), chosen = lead > 0 ? order.subspan(n_left) : order.first(n_left);
    best_.left_codes.assign(chosen.begin(), chosen.end());
    return best_.left_codes;
  }

  const Plan& plan_;
  Sums sums_;
  TieBreak ties_;
  bool categories_ = false;  // are there any?
  std::size_t at_once_ = 0;  // columns
  // The subtree at hand.
  const Block* block_ = nullptr;
  std::size_t stride_ = 1;  // of most of its columns
  Subtree* tree_ = nullptr;
  Row row_[kRows] = {};       // of the block
  Place places_[kRows] = {};  // nodes are ranges of them
  std::vector<Node> open_;
  // The node at hand.
  ColumnDraw draw_;
  Candidate candidates_[kColumns] = {};
  std::size_t n_candidates_ = 0, has_missing_ = 0;  // has: how many may need another
  std::size_t most_slots_ = 0;                      // of the candidates
  std::uint8_t by_place_[kColumns][kRows] = {};     // ranks of categories, or codes
  std::uint8_t best_ranks_[kRows] = {};             // of the best column's
  bool varies_ = false;
  Split best_;
  std::optional<CategoryPrice> price_;
  Code order_[kByteSlots] = {};  // categories of a column
  SortedCuts cuts_;
};

}  // namespace weald
