#include "weald/tree/category_sets.hpp"

#include <algorithm>
#include <numeric>

namespace weald {

std::size_t length_of_set(std::span<const std::uint32_t> words, std::uint32_t n_categories) {
  const std::size_t bits = (std::size_t{n_categories} + 31) / 32;
  if (n_categories <= kFewCategories) return words.size() < bits ? 0 : bits;
  if (words.empty()) return 0;
  const std::size_t n = words[0] == kSetOfBits ? bits : words[0] / 2;
  if (words.size() <= n) return 0;
  if (words[0] == kSetOfBits) return 1 + n;
  const auto listed = words.subspan(1, n);
  const bool ascending = std::adjacent_find(listed.begin(), listed.end(), std::greater_equal<>()) == listed.end();
  return ascending && (n == 0 || listed.back() < n_categories) ? 1 + n : 0;
}

void SetWriter::enter(std::uint32_t depth, const Arrival& arrival) {
  while (!changes_.empty() && changes_.back().depth >= depth) {
    const Arrival& before = changes_.back().before;
    arriving_[static_cast<std::size_t>(before.column)].now = before;
    changes_.pop_back();
  }
  if (arrival.column < 0) return;
  Arrival& now = arriving_[static_cast<std::size_t>(arrival.column)].now;
  changes_.push_back({depth, now});
  now = arrival;
}

SetWriter::List& SetWriter::list_of(std::size_t column) {
  List& list = arriving_[column];
  if (list.codes.empty()) {
    list.codes.resize(matrix_.columns[column].n_codes);
    list.place.resize(list.codes.size());
    std::iota(list.codes.begin(), list.codes.end(), Code{0});
    std::iota(list.place.begin(), list.place.end(), std::uint32_t{0});
    list.now = {static_cast<std::int32_t>(column), 0, static_cast<std::uint32_t>(list.codes.size())};
  }
  return list;
}

void SetWriter::write_wide(std::size_t column, const List& list, std::uint32_t middle,
                           std::vector<std::uint32_t>& out) {
  const std::size_t n_categories = matrix_.category_code[column].size();
  // Where categories are more than codes the last code stands for many of them: its side is not written out.
  const bool shared = n_categories > list.codes.size();
  const std::uint32_t last = shared ? list.place[list.codes.size() - 1] : list.now.end;
  const std::size_t n_left = middle - list.now.begin, n_right = list.now.end - middle;
  const bool last_left = shared && last >= list.now.begin && last < middle;
  const bool last_right = shared && last >= middle && last < list.now.end;
  const bool list_left = !last_left && (n_left <= n_right || last_right);
  const auto from = list.codes.begin() + static_cast<std::ptrdiff_t>(list_left ? list.now.begin : middle);
  const std::size_t n = list_left ? n_left : n_right;
  const auto category = [&](Code code) { return shared ? matrix_.own_category[column][code] : code; };
  const std::size_t begin = out.size(), words = (n_categories + 31) / 32;
  if (n <= words) {
    out.push_back(static_cast<std::uint32_t>(2 * n + !list_left));
    std::transform(from, from + static_cast<std::ptrdiff_t>(n), std::back_inserter(out), category);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin) + 1, out.end());
    return;
  }
  out.resize(begin + 1 + words, list_left ? 0 : ~std::uint32_t{0});
  out[begin] = kSetOfBits;
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t c = category(from[static_cast<std::ptrdiff_t>(k)]);
    out[begin + 1 + c / 32] ^= std::uint32_t{1} << (c % 32);
  }
}

}  // namespace weald
