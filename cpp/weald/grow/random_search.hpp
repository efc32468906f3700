// The search for the split of a node by random cuts, among the rows of a small subtree (random_subtrees.hpp). The same draws and the
// same arithmetic as in node_search.hpp.
#pragma once

#include <bit>

#include "weald/grow/node_search.hpp"
#include "weald/grow/random_values.hpp"
#include "weald/search/column_draw.hpp"
#include "weald/search/draw_cut.hpp"

namespace weald {

template <class Values>
class RandomSearch {
 public:
  RandomSearch(const Plan& plan, const Values& values) : plan_(plan), values_(values), draw_(plan.matrix.n_columns()) {
    for (const Column& column : plan.matrix.columns) {
      Place one;
      one.coded = !plan.matrix.row_bytes || column.width > 1, one.categorical = column.categorical;
      if (!one.coded) {
        const auto* data = static_cast<const std::uint8_t*>(column.data);
        one.byte = static_cast<std::uint32_t>(data - plan.matrix.row_bytes);
        one.guide = column.guide;
      }
      one.missing = static_cast<std::uint8_t>(column.n_codes);
      any_coded_ |= one.coded, any_categories_ |= one.categorical;
      ends_.any_gaps |= column.has_missing && !one.coded;
      places_.push_back(one);
    }
    near_ = plan.matrix.row_bytes && plan.matrix.row_stride <= kNearBytes;
  }

  // Makes the rows those of a subtree, in slots of the same order.
  void load(const Block& block, const Row* rows, std::size_t n) {
    block_ = &block;
    for (std::size_t i = 0; i < n; ++i) {
      slots_[i] = static_cast<Slot>(i), row_[i] = rows[i];
      bytes_[i] = block.row_bytes + rows[i] * block.row_stride;
    }
  }
  Slot* slots() { return slots_; }
  Row row(Slot slot) const { return row_[slot]; }

  // As NodeSearch draws columns: more while all those seen were constant.
  bool find_split(const RandomNode& node, const Channels& channels) {
    const std::size_t d = draw_.size(), wanted = plan_.columns_per_node;
    const std::size_t groups = (wanted + kMostAtOnce - 1) / kMostAtOnce;
    if (plan_.rules.random_ties) ties_.key = derive(node.key, kTieKey) | 1;
    best_.score = -kInf;
    draw_.begin();
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t from = wanted * group / groups, to = wanted * (group + 1) / groups;
      if (best_.score > -kInf) put_sides_apart(node.n, false);  // the codes of other columns take the place of these
      try_columns(node, draw_.next(node.key, to - from), false);
    }
    for (std::size_t k = wanted; k < d && best_.score == -kInf; k += kMostAtOnce) {
      try_columns(node, draw_.next(node.key, std::min(kMostAtOnce, d - k)), true);
    }
    if (best_.score == -kInf) return false;
    if (plan_.takes_any()) return true;
    return pays(plan_, channels, best_.score, gain_of(channels, best_.score, own_score_));
  }

  // Of the split that was found: which rows of the node go left, and what these add up to.
  struct Sides {
    const std::uint8_t* codes;
    std::size_t stride;
    std::uint8_t top;
    bool left(std::size_t i) const { return codes[i * stride] <= top; }
  };
  Sides sides() const { return sides_; }
  Lane left_sum() const { return best_.left_sum; }

  // Writes it down.
  void describe(const RandomNode& node, GrownNode& done, Subtree& tree) {
    const Column& column = block_->columns[best_.column];
    done.feature = static_cast<std::int32_t>(best_.column);
    if (column.categorical) {
      list_categories(node, column, done, tree);
    } else if (!best_.several()) {
      done.threshold = kInf;  // present | missing
    } else if (column.keyed) {
      done.threshold = best_.threshold;
    } else {
      const double high = column.guide->low(best_.last_left + 1);  // as bin_cut
      done.threshold = high > best_.threshold ? best_.threshold : midpoint(column.guide->high(best_.last_left), high);
    }
    done.missing_left = best_.ends.has_missing ? best_.missing_left : 2 * best_.left_h > own_h_;
  }

 private:
  using T = typename Values::T;

  // Where the codes of a column are.
  struct Place {
    const BinGuide* guide = nullptr;
    std::uint32_t byte = 0;  // of a row
    std::uint8_t missing = 0;
    bool coded = false;  // or it is looked at by itself
    bool categorical = false;
  };
  struct Best {
    double score;
    std::uint32_t column;
    Extremes ends;
    Code last_left;
    double threshold;
    bool missing_left;
    Lane left_h, left_sum;
    bool several() const { return ends.first < ends.last; }
  };

  // Tries some columns, or the first of them that varies.
  void try_columns(const RandomNode& node, std::span<const std::uint32_t> columns, bool first_only) {
    const CutRows rows{bytes_, slots_ + node.begin, node.n};
    const std::size_t m = columns.size();
    look(rows, columns);
    std::uint32_t varying = find_varying(node, columns);
    if (varying == 0) return;
    if (first_only) varying &= -varying;
    if (node.n == 2) varying = 1U << first_ranked(columns, varying);  // all divide them alike: the tie decides
    draw_cuts(node.key, node.n, columns, varying);
    if (node.n == 2 && plan_.takes_any()) return take_of_two(rows, columns, varying);
    tops_.set(m, 255);  // the whole node
    const CutValues<T> values = values_.of_rows();
    if (left_.size() < values.cells * kCutColumns) left_.resize(values.cells * kCutColumns);
    sum_left(rows, codes_, tops_, m + 1, values, left_.data());
    score_cuts(left_.data(), m + 1, m, values, scores_);
    own_score_ = scores_[m], own_h_ = h_of(m);
    choose(rows, columns, varying, false);
    if (!ends_.any_gaps && !any_coded_) return;
    const std::uint32_t missing = varying & bits_of(ends_.seen) & bits_of(ends_.several);
    if (missing != 0) try_missing_left(rows, columns, missing);
  }

  // The cut between two rows, which need not be scored: the tie decides.
  void take_of_two(const CutRows& rows, std::span<const std::uint32_t> columns, std::uint32_t which) {
    const auto k = static_cast<std::size_t>(std::countr_zero(which));
    if (best_.score > -kInf && !ties_.prefers(columns[k], best_.column)) return;
    const T* h = values_.of_rows().values;
    const std::size_t left = codes_[k] <= top_[k] ? 0 : 1;
    own_h_ = Lane{h[rows.slots[0]]} + h[rows.slots[1]];
    best_ = {0,     columns[k],          ends_of(columns[k], k),          last_left_[k], thresholds_[k],
             false, h[rows.slots[left]], values_.packed(rows.slots[left])};
    sides_ = {codes_ + k, kCutColumns, top_[k]};
  }

  // Calls fn with the number of each bit.
  template <class Fn>
  static void for_bits(std::uint32_t bits, Fn&& fn) {
    for (; bits != 0; bits &= bits - 1) fn(static_cast<std::size_t>(std::countr_zero(bits)));
  }

  // Puts the codes of columns that are bytes in a row side by side.
  void look(const CutRows& rows, std::span<const std::uint32_t> columns) {
    CutBytes near, missing;
    coded_ = categories_ = 0;
    for (std::size_t k = 0; k < columns.size() && (any_coded_ || any_categories_ || ends_.any_gaps); ++k) {
      const Place& place = places_[columns[k]];
      missing.set(k, missing_[k] = place.missing);
      coded_ |= static_cast<std::uint32_t>(place.coded) << k;
      categories_ |= static_cast<std::uint32_t>(place.categorical) << k;
    }
    if (near_) {
      for (std::size_t k = 0; k < columns.size(); ++k) near.set(k, places_[columns[k]].byte);
      return look_at_near_columns(rows, near, missing, codes_, ends_);
    }
    if (!block_->row_bytes) return;
    std::uint32_t places[kCutColumns] = {};
    for (std::size_t k = 0; k < columns.size(); ++k) {
      places[k] = places_[columns[k]].byte;
      prefetch(places_[columns[k]].guide);  // of a wide table it is far away
    }
    look_at_columns(rows, places, columns.size(), missing, codes_, ends_);
  }

  // The columns that vary here, as bits.
  std::uint32_t find_varying(const RandomNode& node, std::span<const std::uint32_t> columns) {
    for_bits(coded_, [&](std::size_t k) { look_at_codes(node, columns[k], k); });
    return bits_of(ends_.varies) & ((1U << columns.size()) - 1);
  }

  // The one that wins ties.
  std::size_t first_ranked(std::span<const std::uint32_t> columns, std::uint32_t which) const {
    auto first = static_cast<std::size_t>(std::countr_zero(which));
    if ((which & (which - 1)) == 0) return first;
    std::uint64_t least = ties_.rank(columns[first]);
    for_bits(which & (which - 1), [&](std::size_t k) {
      const std::uint64_t rank = ties_.rank(columns[k]);
      first = rank < least ? k : first;
      least = std::min(least, rank);
    });
    return first;
  }

  void draw_cuts(std::uint64_t key, std::size_t n, std::span<const std::uint32_t> columns, std::uint32_t varying) {
    const std::uint32_t several = varying & bits_of(ends_.several), numbers = several & ~(coded_ | categories_);
    tops_ = {};
    if (!plan_.rules.random_split) {  // the only ones, in the middle
      return for_bits(numbers, [&](std::size_t k) { thresholds_[k] = kInf, put_top(k, last_left_[k] = ends_.low[k]); });
    }
    for_bits(numbers, [&](std::size_t k) {
      const BinGuide& guide = *places_[columns[k]].guide;
      const Code low = ends_.low[k], high = ends_.high[k];
      thresholds_[k] = draw_threshold(key, columns[k], guide.high(low), guide.low(high));
      put_top(k, last_left_[k] = std::clamp<Code>(guide.count_up_to(thresholds_[k]), low + 1U, high) - 1);
    });
    if (numbers == varying) return;
    for_bits(varying & coded_, [&](std::size_t k) { put_top(k, kLeft); });
    for_bits(categories_ & several & ~coded_, [&](std::size_t k) {
      for (std::size_t i = 0; i < n; ++i) all_codes_[i] = codes_[i * kCutColumns + k];
      cut_categories_of(key, columns[k], k, n, places_[columns[k]].missing);
      put_top(k, kLeft);
    });
    for_bits(varying & ~(several | coded_), [&](std::size_t k) { put_top(k, last_left_[k] = ends_.high[k]); });
  }

  void put_top(std::size_t k, Code top) { tops_.set(k, top), top_[k] = static_cast<std::uint8_t>(top); }

  // The side stands for the code.
  void cut_categories_of(std::uint64_t key, std::uint32_t j, std::size_t k, std::size_t n, Code missing) {
    put_category_sides(all_codes_, n, CategoryNumbers(key, j), missing, codes_ + k);
    missing_[k] = kAbsent;
  }

  Extremes ends_of(std::uint32_t column, std::size_t k) const {
    return places_[column].coded ? cut_ends_[k] : Extremes{ends_.low[k], ends_.high[k], ends_.seen[k] != 0};
  }

  // Columns of more than a byte: the cut is drawn at once, and the side stands for the code.
  void look_at_codes(const RandomNode& node, std::uint32_t j, std::size_t k) {
    const Column& column = block_->columns[j];
    load_codes(node, column);
    const auto [first, last, has_missing] = find_code_ends(all_codes_, node.n, column.n_codes);
    const Extremes ends{first, last, has_missing};
    const bool any = ends.first <= ends.last, several = ends.first < ends.last;
    cut_ends_[k] = ends;
    ends_.seen[k] = ends.has_missing ? 255 : 0, ends_.several[k] = any && several ? 255 : 0;
    ends_.varies[k] = any && (several || ends.has_missing) ? 255 : 0;
    missing_[k] = kAbsent;
    if (ends_.varies[k] == 0) return;
    if (column.categorical && several) return cut_categories_of(node.key, j, k, node.n, column.n_codes);
    last_left_[k] = ends.last;
    if (several) {
      const CutPoint at = draw_key_cut(node.key, column, j, ends);
      last_left_[k] = at.last_left, thresholds_[k] = at.threshold;
    }
    put_sides(all_codes_, node.n, last_left_[k], column.n_codes, codes_ + k);
  }

  void load_codes(const RandomNode& node, const Column& column) {
    const Slot* slots = slots_ + node.begin;
    visit_width(column, [&](auto codes) {
      for (std::size_t i = 0; i < node.n; ++i) all_codes_[i] = codes[row_[slots[i]] * column.stride];
    });
  }

  // Missing values went right; here, left.
  void try_missing_left(const CutRows& rows, std::span<const std::uint32_t> columns, std::uint32_t missing) {
    const CutValues<T> values = values_.of_rows();
    const std::size_t m = columns.size();
    CutBytes present;
    for_bits(missing, [&](std::size_t k) { present.set(k, missing_[k] - 1U); });
    present_.resize(left_.size());
    sum_left(rows, codes_, present, m, values, present_.data());
    for (std::size_t c = 0; c < values.cells; ++c) {
      T* cell = &left_[c * kCutColumns];
      for (std::size_t k = 0; k < m; ++k) {
        cell[k] = static_cast<T>(cell[k] + cell[m] - present_[c * kCutColumns + k]);
      }
    }
    score_cuts(left_.data(), m, m, values, scores_);
    choose(rows, columns, missing, true);
  }

  // Takes the best of some cuts, if it is better than what was found before; in the same column, better by itself.
  void choose(const CutRows& rows, std::span<const std::uint32_t> columns, std::uint32_t which, bool missing_left) {
    double most = -kInf;
    for_bits(which, [&](std::size_t k) { most = std::max(most, scores_[k]); });
    if (most < best_.score) return;
    std::uint32_t equal = 0;
    for_bits(which, [&](std::size_t k) { equal |= static_cast<std::uint32_t>(scores_[k] == most) << k; });
    const std::size_t chosen = first_ranked(columns, equal);
    if (most == best_.score && !(columns[chosen] != best_.column && ties_.prefers(columns[chosen], best_.column)))
      return;
    best_ = {
        most,         columns[chosen], ends_of(columns[chosen], chosen),    last_left_[chosen], thresholds_[chosen],
        missing_left, h_of(chosen),    values_.packed(left_.data(), chosen)};
    sides_ = {codes_ + chosen, kCutColumns, top_[chosen]};
    if (!missing_left) return;
    for (std::size_t i = 0; i < rows.n; ++i) {
      const bool left = sides_.left(i) || codes_[i * kCutColumns + chosen] == missing_[chosen];
      side_[i] = left ? kLeft : kRight;
    }
    sides_ = {side_, 1, kLeft};
  }

  // Keeps the sides, or the other ones, where no codes are.
  void put_sides_apart(std::size_t n, bool flip) {
    for (std::size_t i = 0; i < n; ++i) side_[i] = sides_.left(i) != flip ? kLeft : kRight;
    sides_ = {side_, 1, kLeft};
  }

  Lane h_of(std::size_t k) const {
    const CutValues<T> values = values_.of_rows();
    Lane h = 0;
    for (std::size_t c = 0; c < (values.kind ? values.cells : 1); ++c) h += left_[c * kCutColumns + k];
    return h;
  }

  // As ColumnSearch::choose_left does: categories that are not here go right, so the other side is listed if need be.
  void list_categories(const RandomNode& node, const Column& column, GrownNode& done, Subtree& tree) {
    done.threshold = kNaN;
    const bool flip =
        best_.ends.has_missing ? best_.missing_left || !best_.several() : best_.left_h > own_h_ - best_.left_h;
    if (flip) {
      put_sides_apart(node.n, true);
      best_.missing_left = !best_.missing_left;
      best_.left_h = own_h_ - best_.left_h, best_.left_sum = node.sum - best_.left_sum;
    }
    std::size_t n = 0;
    if (has_few_codes(plan_.matrix.columns[best_.column])) {
      load_codes(node, column);
      std::uint64_t here[kFewKeptCodes / 64 + 1] = {};
      for (std::size_t i = 0; i < node.n; ++i) {
        here[all_codes_[i] / 64] |= std::uint64_t{sides_.left(i)} << (all_codes_[i] % 64);
      }
      here[column.n_codes / 64] &= ~(std::uint64_t{1} << (column.n_codes % 64));  // the missing
      for (std::size_t word = 0; word * 64 < column.slots(); ++word) {
        for (std::uint64_t bits = here[word]; bits != 0; bits &= bits - 1) {
          const std::size_t code = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          all_codes_[n++] = column.original(static_cast<Code>(code));
        }
      }
    }
    tree.add_set(done, {all_codes_, n});
  }

  static constexpr std::size_t kMostAtOnce = kCutColumns - 1;  // columns; one more is the whole node

  const Plan& plan_;
  const Values& values_;
  ColumnDraw draw_;
  TieBreak ties_;
  std::vector<Place> places_;  // of the columns
  bool any_coded_ = false, any_categories_ = false;
  bool near_ = false;  // are all columns among the first bytes of a row?

  // The subtree at hand.
  const Block* block_ = nullptr;
  Row row_[kCutRows];  // of the block
  const std::uint8_t* bytes_[kCutRows];
  Slot slots_[kCutRows];  // nodes are ranges of them

  // The node at hand.
  alignas(16) std::uint8_t codes_[kCutRows * kCutColumns];
  CutBytes tops_;
  std::uint8_t top_[kCutColumns];
  CutEnds ends_{};
  std::uint8_t missing_[kCutColumns];         // the code of what is missing
  std::uint32_t coded_ = 0, categories_ = 0;  // which of the columns, as bits
  Extremes cut_ends_[kCutColumns];            // of more than a byte
  Code last_left_[kCutColumns];
  double thresholds_[kCutColumns];
  std::vector<T> left_, present_;  // sums, cells x kCutColumns
  double scores_[kCutColumns];
  double own_score_ = 0;
  Lane own_h_ = 0;
  Best best_;
  Sides sides_{};  // of the best
  std::uint8_t side_[kCutRows];
  Code all_codes_[kCutRows + kCodesAtOnce];  // of the column at hand
};

}  // namespace weald
