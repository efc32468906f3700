#include "weald/grow/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weald {

double threshold_of(const Block& block, const Split& split, const RawTable& raw, const Row* rows, std::size_t n) {
  const Column& column = block.columns[split.column];
  if (split.categorical) return kNaN;
  if (split.first_right == column.n_codes) return kInf;
  if (!std::isnan(split.random_threshold)) return split.random_threshold;
  if (column.ends) return midpoint(column.ends.high(split.last_left), column.ends.low(split.first_right));
  double below = kNaN, above = kNaN;  // the values of one row on each side of the cut
  visit_width(column, [&](auto codes) {
    for (std::size_t i = 0; i < n && (std::isnan(below) || std::isnan(above)); ++i) {
      const Code code = codes[rows[i] * column.stride];
      if (code != split.last_left && code != split.first_right) continue;
      const Row row = block.original(rows[i]);
      (code == split.last_left ? below : above) = raw.at(row, split.column);
    }
  });
  return midpoint(below, above);
}

namespace {

// Moves the rows for which goes_left(code) to the front of their range, and the others into `away`.
template <class T, class GoesLeft>
std::size_t divide(View<T> codes, std::size_t stride, Row* rows, std::size_t n, Row* away, GoesLeft&& goes_left) {
  std::size_t left = 0, right = 0, i = 0;
  const auto place = [&] {
    const Row row = rows[i];
    const bool is_left = goes_left(static_cast<Code>(codes[row * stride]));
    rows[left] = row;  // left <= i: never overwrites a row not yet read
    away[right] = row;
    left += is_left;
    right += !is_left;
  };
  for (; i + kFarRows < n; ++i) {
    prefetch(codes.address(rows[i + kFarRows] * stride));
    place();
  }
  for (; i < n; ++i) place();
  return left;
}

// Calls fn(codes, stride, goes_left) with the codes of the split's column, or with those of its bundle: then
// the bytes are those that histograms are counted from.
template <class Fn>
void with_sides(const Block& block, const Split& split, std::size_t n_rows, Fn&& fn) {
  BigVector<std::uint8_t> expanded;
  const Column column = block.lists
                            ? block.lists->expand(block.columns[split.column], split.column, block.n_rows, expanded)
                            : block.columns[split.column];
  const Code missing = column.n_codes;
  // A table of all codes would take longer than the rows.
  if (split.categorical && column.width > 1 && missing / 64 > n_rows) {
    std::vector<Code> left = split.left_codes;
    std::sort(left.begin(), left.end());
    return visit_width(column, [&](auto codes) {
      fn(codes, column.stride, [&](Code code) {
        return code == missing ? split.missing_left : std::binary_search(left.begin(), left.end(), code);
      });
    });
  }
  std::vector<std::uint8_t> side;  // of every code
  if (split.categorical) {
    side.resize(missing + 1, 0);
    for (const Code code : split.left_codes) side[code] = 1;
    side[missing] = split.missing_left;
  }
  const auto goes_left = [&](Code code) {
    return split.categorical ? side[code] != 0 : code == missing ? split.missing_left : code <= split.last_left;
  };
  if (block.bundles) {
    const Bundles::Member& member = block.bundles->members[split.column];
    std::array<std::uint8_t, kByteSlots> of_byte{};
    for (Code byte = 0; byte < block.bundles->slots[member.bundle]; ++byte) {
      of_byte[byte] = goes_left(member.code_of(byte));
    }
    return fn(view(block.bundles->bytes).from(member.bundle), block.bundles->size(),
              [&](Code code) { return of_byte[code] != 0; });
  }
  const auto call = [&](auto codes, std::size_t stride) {
    if (split.categorical) {
      fn(codes, stride, [&](Code code) { return side[code] != 0; });
    } else if (split.missing_left) {
      fn(codes, stride, [&](Code code) { return code <= split.last_left || code == missing; });
    } else {
      fn(codes, stride, [&](Code code) { return code <= split.last_left; });
    }
  };
  column.alone ? call(View(column.alone, block.n_rows), 1)
               : visit_width(column, [&](auto codes) { call(codes, column.stride); });
}

}  // namespace

std::size_t partition_rows(const Block& block, const Split& split, Row* rows, std::size_t n, BigVector<Row>& scratch,
                           std::size_t threads, Interrupt& interrupt) {
  if (scratch.size() < n) scratch.resize(n);
  // Each part of the rows is divided on its own: [l r l r] -> l l | r r, part after part.
  const std::size_t parts = std::min(threads, n / kRowsApart + 1);
  std::vector<std::size_t> left(parts);
  const auto begin = [&](std::size_t part) { return n * part / parts; };
  with_sides(block, split, n, [&](auto codes, std::size_t stride, auto&& goes_left) {
    parallel_for(threads, parts, interrupt, [&](std::size_t part) {
      const std::size_t from = begin(part);
      left[part] = divide(codes, stride, rows + from, begin(part + 1) - from, &scratch[from], goes_left);
    });
  });
  std::size_t n_left = left[0];
  for (std::size_t part = 1; part < parts; n_left += left[part++]) {
    std::copy_n(rows + begin(part), left[part], rows + n_left);  // moves to the front: may overlap
  }
  std::vector<std::size_t> right(parts);  // where each part's go
  for (std::size_t part = 0, at = n_left; part < parts; ++part) {
    right[part] = at;
    at += begin(part + 1) - begin(part) - left[part];
  }
  parallel_for(threads, parts, interrupt, [&](std::size_t part) {
    const std::size_t from = begin(part);
    std::copy_n(&scratch[from], begin(part + 1) - from - left[part], rows + right[part]);
  });
  return n_left;
}

}  // namespace weald
