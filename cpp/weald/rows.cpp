#include "rows.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace weald {

namespace {

// Renumbers the codes that occur, in order. `seen` and `renumber` are scratch; `keep` is told every
// code that stays.
template <class From, class Keep>
Code squeeze(View<const From> codes, std::size_t stride, const Row* rows, std::size_t n,
             std::size_t slots, std::vector<std::uint64_t>& seen, BigVector<Code>& renumber,
             Keep&& keep) {
  seen.assign(slots / 64 + 1, 0);
  if (renumber.size() < slots) renumber.resize(slots);
  for (std::size_t i = 0; i < n; ++i) {
    const Code code = codes[rows[i] * stride];
    seen[code / 64] |= std::uint64_t{1} << (code % 64);
  }
  Code next = 0;
  for (std::size_t word = 0; word < seen.size(); ++word) {
    for (std::uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
      const Code code = static_cast<Code>(word * 64) + static_cast<Code>(std::countr_zero(bits));
      renumber[code] = next++;
      keep(code);
    }
  }
  return next;
}

// Runs fn with a pointer of the given width into a buffer of bytes.
template <class Fn>
void with_width(std::uint8_t width, std::uint8_t* bytes, Fn&& fn) {
  if (width == 1) return fn(bytes);
  if (width == 2) return fn(reinterpret_cast<std::uint16_t*>(bytes));
  fn(reinterpret_cast<std::uint32_t*>(bytes));
}

// What the rows add, and where they come from.
void gather_statistics(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats,
                       Block& block) {
  const std::size_t per_row = stats.stored_per_row();
  block.word_storage.resize(n * per_row);
  block.origin_storage.resize(n);
  for (std::size_t i = 0; i < n; ++i) block.origin_storage[i] = parent.original(rows[i]);
  if (parent.pairs) {
    for (std::size_t i = 0; i < n; ++i) block.word_storage[i] = unpack_pair(parent.pairs[rows[i]]);
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(parent.words.get(rows[i] * per_row, per_row), per_row, &block.word_storage[i * per_row]);
    }
  }
  if (parent.hot) {
    block.hot_storage.resize(n * stats.n_outputs);
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(parent.hot.get(rows[i] * stats.n_outputs, stats.n_outputs), stats.n_outputs,
                  &block.hot_storage[i * stats.n_outputs]);
    }
    block.hot = view(std::as_const(block.hot_storage));
  }
  block.words = view(std::as_const(block.word_storage));
  block.origin = view(std::as_const(block.origin_storage));
}

}  // namespace

std::shared_ptr<const Block> whole_block(const Binned& matrix, const Statistics& stats) {
  auto block = std::make_shared<Block>();
  block->n_rows = matrix.n_rows;
  block->columns = matrix.columns;
  block->words = view(stats.words);
  if (!stats.pairs.empty()) block->pairs = view(stats.pairs);
  if (!stats.hot.empty()) block->hot = view(stats.hot);
  block->row_bytes = matrix.row_bytes, block->row_stride = matrix.row_stride, block->bundles = matrix.bundles;
  for (const Column& column : matrix.columns) {
    block->most_codes = std::max<std::size_t>(block->most_codes, column.slots());
    if (!matrix.row_bytes) continue;
    block->places.push_back(static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(column.data) - matrix.row_bytes));
  }
  return block;
}

std::shared_ptr<const Block> gather_block(const Block& parent, const Row* rows, std::size_t n,
                                          const Statistics& stats) {
  auto block = std::make_shared<Block>();
  const std::size_t d = parent.columns.size();
  block->n_rows = n;
  block->gathered = true;
  block->columns.resize(d);
  block->decode_storage.resize(d);
  block->low_storage.resize(d);
  block->high_storage.resize(d);
  block->code_storage.resize(n * d * width_for(n + 1) + 4 * d);  // with room for alignment
  std::uint8_t* free = block->code_storage.data();
  std::vector<std::uint64_t> seen;
  BigVector<Code> renumber;
  for (std::size_t j = 0; j < d; ++j) {
    const Column& from = parent.columns[j];
    Column& to = block->columns[j];
    to.categorical = from.categorical;
    if (from.constant()) {
      to.n_codes = from.n_codes;
      to.has_missing = from.has_missing;
      continue;  // constant above, constant here: never looked at again
    }
    auto& decode = block->decode_storage[j];
    auto& low = block->low_storage[j];
    auto& high = block->high_storage[j];
    visit_width(from, [&](auto codes) {
      const Code missing = from.n_codes;
      const Code slots = squeeze(codes, from.stride, rows, n, from.slots(), seen, renumber,
                                 [&](Code code) {
        if (code == missing) {
          to.has_missing = true;
        } else if (from.categorical) {
          decode.push_back(from.original(code));
        } else if (from.low) {
          low.push_back(from.low[code]);
          high.push_back(from.high[code]);
        }
      });
      to.n_codes = slots - (to.has_missing ? 1 : 0);
      to.width = width_for(slots);
      to.data = free, to.extent = n;
      with_width(to.width, free, [&](auto* out) {
        using Out = std::remove_pointer_t<decltype(out)>;
        for (std::size_t i = 0; i < n; ++i) {
          out[i] = static_cast<Out>(renumber[codes[rows[i] * from.stride]]);
        }
      });
    });
    to.decode = decode.data();
    if (from.low) to.low = low.data(), to.high = high.data();
    // The next column starts on a boundary that suits any width.
    free += (n * to.width + 3) / 4 * 4;
    block->most_codes = std::max<std::size_t>(block->most_codes, to.slots());
  }
  gather_statistics(parent, rows, n, stats, *block);
  return block;
}

std::shared_ptr<const Block> gather_rows(const Block& parent, const Row* rows, std::size_t n,
                                         const Statistics& stats) {
  auto block = std::make_shared<Block>();
  block->n_rows = n;
  block->gathered = true;
  block->most_codes = parent.most_codes;
  block->row_stride = parent.row_stride, block->places = parent.places;
  block->code_storage.resize(n * parent.row_stride + kRowSlack);
  std::uint8_t* base = block->code_storage.data();
  block->row_bytes = base;
  // In pieces of a fixed size, the last of which may reach into the next row: that comes after it, and
  // there is room behind the last.
  constexpr std::size_t kPiece = 16;
  static_assert(kPiece <= kRowSlack);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* from = parent.row_bytes + rows[i] * parent.row_stride;
    std::uint8_t* to = base + i * parent.row_stride;
    for (std::size_t at = 0; at < parent.row_stride; at += kPiece) std::memcpy(to + at, from + at, kPiece);
  }
  block->columns = parent.columns;
  for (Column& column : block->columns) {
    column.alone = nullptr;
    const std::size_t place = static_cast<std::size_t>(static_cast<const std::uint8_t*>(column.data) - parent.row_bytes);
    column.data = base + place, column.extent = n * parent.row_stride - place;
  }
  gather_statistics(parent, rows, n, stats, *block);
  return block;
}

bool worth_gathering_rows(const Block& block, std::size_t n) {
  // Once on the way into the second cache, once on the way into the first.
  const std::size_t bytes = n * block.row_stride, parent = block.n_rows * block.row_stride;
  return block.row_bytes != nullptr && n >= kFewestRowsGathered &&
         ((bytes <= kFirstCache && parent > 2 * kFirstCache) ||
          (bytes <= kSecondCache && parent > 4 * kSecondCache));
}

bool worth_gathering(const Block& block, std::size_t n, std::size_t columns_per_node) {
  if (n * 4 > block.n_rows || n < kFewestGathered) return false;
  if (block.most_codes > kByteCodes) return true;  // ranks: more codes than rows soon, squeeze them
  // Bins: only to bring the rows together, when they are too few to keep histograms of.
  return !block.gathered && n < 2 * block.most_codes && columns_per_node * 4 >= block.columns.size();
}

double threshold_of(const Block& block, const Split& split, const RawTable& raw, const Row* rows,
                    std::size_t n) {
  const Column& column = block.columns[split.column];
  if (split.categorical) return kNaN;
  if (split.first_right == column.n_codes) return kInf;
  if (!std::isnan(split.random_threshold)) return split.random_threshold;
  if (column.low) return midpoint(column.high[split.last_left], column.low[split.first_right]);
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

double weight_of_rows(const Block& block, const Statistics& stats, const Row* rows, std::size_t n) {
  if (stats.unit_weights) return static_cast<double>(n);
  const std::size_t per_row = stats.stored_per_row();
  Lane sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Lane* word = block.words.get(rows[i] * per_row, per_row);
    sum += stats.layout == Layout::Packed ? *word & 0xFFFFFFFF : per_row == 1 ? *word : word[1];
  }
  return static_cast<double>(sum);
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
void with_sides(const Block& block, const Split& split, Fn&& fn) {
  const Column& column = block.columns[split.column];
  const Code missing = column.n_codes;
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
    if (!member.alone) of_byte.fill(goes_left(member.usual));
    for (Code code = 0; code <= missing && code < column.slots(); ++code) of_byte[member.code_in_bundle(code)] = goes_left(code);
    return fn(view(block.bundles->bytes).from(member.bundle), block.bundles->size(), [&](Code code) { return of_byte[code] != 0; });
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
  column.alone ? call(View(column.alone, block.n_rows), 1) : visit_width(column, [&](auto codes) { call(codes, column.stride); });
}

}  // namespace

std::size_t count_left(const Block& block, const Split& split, const Row* rows, std::size_t n) {
  std::size_t left = 0;
  with_sides(block, split, [&](auto codes, std::size_t stride, auto&& goes_left) {
    for (std::size_t i = 0; i < n; ++i) left += goes_left(static_cast<Code>(codes[rows[i] * stride]));
  });
  return left;
}

std::size_t partition_rows(const Block& block, const Split& split, Row* rows, std::size_t n,
                           BigVector<Row>& scratch, std::size_t threads, Interrupt& interrupt) {
  if (scratch.size() < n) scratch.resize(n);
  // Each part of the rows is divided on its own: [l r l r] -> l l | r r, part after part.
  const std::size_t parts = std::min(threads, n / kRowsApart + 1);
  std::vector<std::size_t> left(parts);
  const auto begin = [&](std::size_t part) { return n * part / parts; };
  with_sides(block, split, [&](auto codes, std::size_t stride, auto&& goes_left) {
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
