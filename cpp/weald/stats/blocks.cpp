#include "weald/stats/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "weald/base/paths.hpp"

namespace weald {

namespace {

// Renumbers the codes that occur, in order. `seen` and `renumber` are scratch; `keep` is told every
// code that stays.
template <class From, class Keep>
Code squeeze(View<const From> codes, std::size_t stride, const Row* rows, std::size_t n, std::size_t slots,
             std::vector<std::uint64_t>& seen, BigVector<Code>& renumber, Keep&& keep) {
  seen.assign(slots / 64 + 1, 0);
  if (renumber.size() < slots) renumber.resize(slots);
  for (std::size_t i = 0; i < n; ++i) {
    const Code code = codes[rows[i] * stride];
    seen[code / 64] |= std::uint64_t{1} << (code % 64);
  }
  Code next = 0;
  for_bits(seen.data(), seen.size(), [&](std::size_t code) {
    renumber[code] = next++;
    keep(static_cast<Code>(code));
  });
  return next;
}

// A block of some rows, with what they add and where they come from: all but their codes.
std::shared_ptr<Block> gather_statistics(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats) {
  auto out = std::make_shared<Block>();
  Block& block = *out;
  block.n_rows = n;
  block.gathered = true;
  block.origin_storage.resize(n);
  for (std::size_t i = 0; i < n; ++i) block.origin_storage[i] = parent.original(rows[i]);
  copy_statistics(parent, rows, n, stats, block.word_storage, block.hot_storage);
  if (parent.hot) block.hot = view(std::as_const(block.hot_storage));
  block.words = view(std::as_const(block.word_storage));
  block.origin = view(std::as_const(block.origin_storage));
  return out;
}

// Those of the parent's cells that are in the rows, list by list: their order stays.
void filter_lists(const Block& parent, const SparseCells& cells, const Row* rows, std::size_t n, std::size_t least,
                  CellLists& out) {
  const CellLists& from = *parent.lists;
  std::vector<std::uint32_t> place(parent.n_rows, 0);  // of a row, from 1; 0: it is not here
  std::size_t most = 1;                                // what follows the last cell that is kept is written to as well
  for (std::size_t i = 0; i < n; ++i) {
    place[rows[i]] = static_cast<std::uint32_t>(i + 1);
    const Row row = parent.original(rows[i]);
    most += static_cast<std::size_t>(cells.row_begin[row + 1] - cells.row_begin[row]);
  }
  out.resize(most);
  out.begin.assign(1, 0);
  const auto filter = [&]<class T>(T* codes, auto* to, const auto* of) {
    const T* const code = reinterpret_cast<const T*>(from.codes.data());
    const auto place_of =
        view(std::as_const(place));  // a copy: bytes that are written could be a part of anything else
    std::uint32_t next = 0;
    for (std::size_t list = 0; list < from.size(); ++list) {
      for (std::uint32_t k = from.begin[list], end = from.begin[list + 1]; k < end; ++k) {
        const std::uint32_t at = place_of[of[k]];
        to[next] = static_cast<std::remove_pointer_t<decltype(to)>>(at - 1);
        codes[next] = code[k];
        next += at != 0;
      }
      if (next - out.begin.back() < least) {
        next = out.begin.back();
        continue;
      }
      out.mark(from.column(list));
      out.begin.push_back(next);
    }
  };
  with_codes(out.width, out.codes.data(), [&](auto* codes) {
    with_codes(out.row_width, out.rows.data(), [&](auto* to) {
      with_codes(from.row_width, from.rows.data(), [&](const auto* of) { filter(codes, to, of); });
    });
  });
  out.take_marked();
  out.resize(out.n_cells());
}

// The cells of the rows, from those of the matrix row by row: counted, put into lists and sorted by code.
void sort_into_lists(const Block& parent, const SparseCells& cells, const Row* rows, std::size_t n, std::size_t least,
                     CellLists& out, std::vector<std::uint32_t>& counts) {
  constexpr std::uint32_t kLeftOut = ~0U;
  const auto each = [&](auto&& fn) {
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = parent.original(rows[i]);
      for (auto k = static_cast<std::size_t>(cells.row_begin[row]);
           k < static_cast<std::size_t>(cells.row_begin[row + 1]); ++k) {
        fn(i, static_cast<std::size_t>(cells.row_columns[k]), k);
      }
    }
  };
  std::vector<std::uint32_t> few;  // columns that are left out
  each([&](std::size_t, std::size_t column, std::size_t) {
    if (counts[column]++ == 0) few.push_back(static_cast<std::uint32_t>(column));
    if (counts[column] == least) out.mark(static_cast<std::uint32_t>(column));
  });
  std::erase_if(few, [&](std::uint32_t column) { return counts[column] >= least; });
  for (const std::uint32_t column : few) counts[column] = kLeftOut;
  out.take_marked();
  out.begin.resize(out.columns.size() + 1);
  out.begin[0] = 0;
  for (std::size_t list = 0; list < out.columns.size(); ++list) {
    const std::uint32_t size = std::exchange(counts[out.columns[list]], out.begin[list]);
    out.begin[list + 1] = out.begin[list] + size;
  }
  const std::size_t n_cells = out.begin.back();
  std::vector<std::uint64_t> found(n_cells);  // code, row
  with_codes(out.width, cells.row_codes.data(), [&](const auto* codes) {
    each([&](std::size_t i, std::size_t column, std::size_t k) {
      if (counts[column] != kLeftOut) found[counts[column]++] = std::uint64_t{codes[k]} << 32 | i;
    });
  });
  for (const auto* columns : {&out.columns, &few}) {
    for (const std::uint32_t column : *columns) counts[column] = 0;
  }
  out.resize(n_cells);
  with_codes(out.width, out.codes.data(), [&](auto* codes) {
    using T = std::remove_pointer_t<decltype(codes)>;
    for (std::size_t list = 0; list < out.columns.size(); ++list) {
      const auto begin = found.begin() + out.begin[list], end = found.begin() + out.begin[list + 1];
      if (end - begin > 1) std::sort(begin, end);
      with_codes(out.row_width, out.rows.data(), [&](auto* to) {
        for (std::uint32_t k = out.begin[list]; k < out.begin[list + 1]; ++k) {
          to[k] = static_cast<std::remove_pointer_t<decltype(to)>>(found[k]);
          codes[k] = static_cast<T>(found[k] >> 32);
        }
      });
    }
  });
}

}  // namespace

void copy_statistics(const Block& block, const Row* rows, std::size_t n, const Statistics& stats,
                     BigVector<Lane>& words, BigVector<std::uint32_t>& hot) {
  const auto copy = [&]<class T>(View<const T> from, std::size_t each, BigVector<T>& out) {
    if (out.size() < n * each) out.resize(n * each);
    for (std::size_t i = 0; i < n && each == 1; ++i) out[i] = from[rows[i]];  // a call for each would cost more
    for (std::size_t i = 0; i < n && each > 1; ++i) std::copy_n(from.get(rows[i] * each, each), each, &out[i * each]);
  };
  if (block.class_bytes) {
    if (words.size() < n) words.resize(n);
    for (std::size_t i = 0; i < n; ++i) words[i] = unpack_class_byte(block.class_bytes[rows[i]]);
  } else {
    copy(block.words, stats.stored_per_row(), words);
  }
  if (block.hot) copy(block.hot, stats.n_outputs, hot);
}

std::shared_ptr<const Block> whole_block(const Binned& matrix, const Statistics& stats) {
  auto block = std::make_shared<Block>();
  block->n_rows = matrix.n_rows;
  block->columns = matrix.columns;
  block->words = view(stats.words);
  if (!stats.class_bytes.empty()) block->class_bytes = view(stats.class_bytes);
  if (!stats.hot.empty()) block->hot = view(stats.hot);
  block->row_bytes = matrix.row_bytes, block->row_stride = matrix.row_stride, block->bundles = matrix.bundles;
  if (matrix.sparse) block->lists = {matrix.sparse, &matrix.sparse->lists};
  for (const Column& column : matrix.columns) {
    block->most_codes = std::max<std::size_t>(block->most_codes, column.slots());
    block->bytes &= column.width == 1;
    if (!matrix.row_bytes) continue;
    block->places.push_back(
        static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(column.data) - matrix.row_bytes));
  }
  return block;
}

std::shared_ptr<const Block> gather_block(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats,
                                          Interrupt& interrupt) {
  auto block = gather_statistics(parent, rows, n, stats);
  const std::size_t d = parent.columns.size();
  block->column_storage.resize(d);
  block->decode_storage.resize(d);
  block->low_storage.resize(d);
  block->high_storage.resize(d);
  block->code_storage.resize(n * d * width_for(n + 1) + 4 * d);  // with room for alignment
  std::uint8_t* free = block->code_storage.data();
  std::vector<std::uint64_t> seen;
  BigVector<Code> renumber;
  Patience patience(interrupt);
  for (std::size_t j = 0; j < d; ++j) {
    patience.spend(4 * n);
    const Column& from = parent.columns[j];
    Column& to = block->column_storage[j];
    to.categorical = from.categorical, to.many = from.many;
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
      const Code slots = squeeze(codes, from.stride, rows, n, from.slots(), seen, renumber, [&](Code code) {
        if (code == missing) {
          to.has_missing = true;
        } else if (from.categorical) {
          decode.push_back(from.original(code));
        } else if (from.ends) {
          low.push_back(from.ends.low(code));
          high.push_back(from.ends.high(code));
        }
      });
      to.n_codes = slots - (to.has_missing ? 1 : 0);
      to.width = width_for(slots);
      to.data = free, to.extent = n;
      with_codes(to.width, free, [&](auto* out) {
        using Out = std::remove_pointer_t<decltype(out)>;
        for (std::size_t i = 0; i < n; ++i) {
          out[i] = static_cast<Out>(renumber[codes[rows[i] * from.stride]]);
        }
      });
    });
    to.decode = decode.data();
    if (from.ends) to.ends = {low.data(), high.data()};
    // The next column starts on a boundary that suits any width.
    free += (n * to.width + 3) / 4 * 4;
    block->most_codes = std::max<std::size_t>(block->most_codes, to.slots());
    block->bytes &= to.width == 1;
  }
  block->columns = block->column_storage;
  return block;
}

std::shared_ptr<const Block> gather_rows(const Block& parent, const Row* rows, std::size_t n, const Statistics& stats) {
  auto block = gather_statistics(parent, rows, n, stats);
  block->most_codes = parent.most_codes;
  block->row_stride = parent.row_stride, block->places = parent.places;
  block->code_storage.resize(n * parent.row_stride + kRowSlack);
  std::uint8_t* base = block->code_storage.data();
  block->row_bytes = base;
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(base + i * parent.row_stride, parent.row_bytes + rows[i] * parent.row_stride, parent.row_stride);
  }
  block->column_storage.assign(parent.columns.begin(), parent.columns.end());
  block->columns = block->column_storage;
  for (Column& column : block->column_storage) {
    column.alone = nullptr;
    const std::size_t place =
        static_cast<std::size_t>(static_cast<const std::uint8_t*>(column.data) - parent.row_bytes);
    column.data = base + place, column.extent = n * parent.row_stride - place;
  }
  return block;
}

bool worth_gathering_rows(const Block& block, std::size_t n) {
  // Once on the way into the second cache, once on the way into the first.
  const std::size_t bytes = n * block.row_stride, parent = block.n_rows * block.row_stride;
  return uses(Path::GatheredRows) && block.row_bytes != nullptr && n >= kFewestRowsGathered &&
         ((bytes <= kFirstCache && parent > 2 * kFirstCache) || (bytes <= kSecondCache && parent > 4 * kSecondCache));
}

bool worth_gathering(const Block& block, std::size_t n, std::size_t columns_per_node) {
  if (!uses(Path::SqueezedBlocks) || n * 4 > block.n_rows || n < kFewestGathered) return false;
  if (block.most_codes > kByteCodes) return true;  // ranks: more codes than rows soon, squeeze them
  // Bins: only to bring the rows together, when they are too few to keep histograms of.
  return !block.gathered && n < 2 * block.most_codes && columns_per_node * 4 >= block.columns.size();
}

std::shared_ptr<const Block> gather_cells(const Block& parent, const SparseCells& cells, const Row* rows, std::size_t n,
                                          std::size_t least, const Statistics& stats,
                                          std::vector<std::uint32_t>& counts) {
  auto block = gather_statistics(parent, rows, n, stats);
  block->columns = parent.columns;
  auto lists = std::make_shared<CellLists>(n, parent.lists->width);
  lists->present.resize((parent.columns.size() + 63) / 64, 0);
  if (n * kFewOfBlock >= parent.n_rows) {
    filter_lists(parent, cells, rows, n, least, *lists);
  } else {
    sort_into_lists(parent, cells, rows, n, least, *lists, counts);
  }
  block->lists = std::move(lists);
  return block;
}

bool worth_gathering_cells(const Block& block, std::size_t n) {
  return uses(Path::GatheredCells) && n >= kFewestRowsGathered && n * 2 <= block.n_rows;
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

}  // namespace weald
