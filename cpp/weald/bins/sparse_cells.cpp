#include "weald/bins/sparse_cells.hpp"

#include <cmath>
#include <stdexcept>

#include "weald/bins/cuts.hpp"

namespace weald {

namespace {

constexpr Row kRest = ~Row{0};  // stands for all rows that are not listed

// The listed values of one column, in ascending order, with one more for all rows that are not listed, and the rows
// whose value is missing.
template <class T>
struct ColumnCells {
  BigVector<Ranked<T>> present, spare, counted;
  BigVector<Code> codes;
  std::vector<Row> missing;
  std::vector<double> values;
};

// What all columns need to know about the rows.
struct RowCounts {
  std::size_t n_rows;
  BigVector<std::uint8_t> sampled;  // empty: all
  BigVector<Lane> weights;          // empty: 1
  std::size_t counted = 0;          // rows that decide about quantiles
  Lane weight = 0;                  // ... and what they weigh

  RowCounts(std::size_t n, const double* given) : n_rows(n), weights(whole_weights(given, n)) {
    const Sample sample(n);
    if (sample.size < n) sampled.resize(n, 0);
    for (std::size_t k = 0; k < sample.size; ++k) {
      const std::size_t row = sample.row(k);
      if (!sampled.empty()) sampled[row] = 1;
      if (of(row) > 0) ++counted, weight += of(row);
    }
  }
  Lane of(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
  bool counts(std::size_t row) const { return (sampled.empty() || sampled[row]) && of(row) > 0; }
};

// Fills a part of the lists: some columns at a time, so that the values turned around take little memory.
template <class T>
class ListMaker {
 public:
  ListMaker(const SparseTable<T>& table, const BinRequest& request, Binned& out, SparseCells& cells)
      : table_(table),
        request_(request),
        rows_(table.n_rows, request.coding == Coding::Bins ? request.weights : nullptr),
        out_(out),
        cells_(cells) {}

  void fill(std::size_t first, std::size_t last, std::size_t threads, Interrupt& interrupt) {
    const auto& begin = cells_.lists.begin;
    const std::uint32_t from = begin[first];
    values_.resize(begin[last] - from);
    std::vector<std::uint32_t> next(begin.begin() + static_cast<std::ptrdiff_t>(first),
                                    begin.begin() + static_cast<std::ptrdiff_t>(last));
    for_stretches(0, table_.n_rows, interrupt, [&](std::size_t row, std::size_t end) {
      for (; row < end; ++row) {
        const auto* columns = table_.columns + table_.begin[row];
        const auto* past = table_.columns + table_.begin[row + 1];
        const T* values = table_.data + table_.begin[row];
        for (const auto* at = std::lower_bound(columns, past, static_cast<std::int32_t>(first));
             at != past && static_cast<std::size_t>(*at) < last; ++at) {
          const std::uint32_t place = next[static_cast<std::size_t>(*at) - first]++;
          with_codes(cells_.lists.row_width, cells_.lists.rows.data(),
                     [&](auto* rows) { rows[place] = static_cast<std::remove_pointer_t<decltype(rows)>>(row); });
          values_[place - from] = values[at - columns];
        }
      }
    });
    parallel_for_with<ColumnCells<T>>(threads, last - first, interrupt, [&](std::size_t k, ColumnCells<T>& scratch) {
      Patience patience(interrupt);
      code_column(first + k, values_.data() + (begin[first + k] - from), scratch, patience);
    });
  }

 private:
  void code_column(std::size_t j, const T* values, ColumnCells<T>& scratch, Patience& patience) {
    const std::uint32_t begin = cells_.lists.begin[j], n = cells_.lists.begin[j + 1] - begin;
    auto& present = scratch.present;
    present.clear(), scratch.missing.clear();
    with_codes(cells_.lists.row_width, cells_.lists.rows.data(), [&](const auto* rows) {
      for (std::size_t k = 0; k < n; ++k) {
        if (std::isnan(values[k])) {
          scratch.missing.push_back(rows[begin + k]);
        } else {
          present.push_back({key_of(values[k]), rows[begin + k]});
        }
      }
    });
    sort_by_key(present, scratch.spare, patience);
    scratch.codes.resize(n);
    Code* const codes = scratch.codes.data();
    Column& column = out_.columns[j];
    switch (request_.coding) {
      case Coding::Ranks:
        rank(column, j, n, scratch, codes);
        break;
      case Coding::Bins:
        bin(column, j, n, scratch, codes);
        break;
      case Coding::Keys:
        column.keyed = column.has_missing = true;
        column.floored = sizeof(T) > sizeof(float);
        column.n_codes = ~Code{0};
        column.usual = key_of(0.0F);
        for (std::size_t k = 0; k < present.size(); ++k) {
          codes[k] = key_of(largest_not_above<float>(value_of<T>(present[k].key)));
        }
        break;
    }
    std::fill(codes + present.size(), codes + n, column.n_codes);
    with_codes(cells_.lists.row_width, cells_.lists.rows.data(), [&](auto* rows) {
      using R = std::remove_pointer_t<decltype(rows)>;
      for (std::size_t k = 0; k < n; ++k) {
        rows[begin + k] = static_cast<R>(k < present.size() ? present[k].row : scratch.missing[k - present.size()]);
      }
    });
    with_codes(cells_.lists.width, cells_.lists.codes.data(), [&](auto* to) { std::copy_n(codes, n, to + begin); });
  }

  void rank(Column& column, std::size_t j, std::size_t n, ColumnCells<T>& scratch, Code* codes) {
    auto& present = scratch.present;
    auto& values = scratch.values;
    values.clear();
    const auto zero = key_of(T{0});
    bool to_come = n < rows_.n_rows;  // are there rows that are not listed, above those seen so far?
    const auto add_rest = [&] {
      to_come = false;
      if (values.empty() || values.back() != 0) values.push_back(0);
      column.usual = static_cast<Code>(values.size() - 1);
    };
    for (std::size_t k = 0; k < present.size(); ++k) {
      if (to_come && present[k].key > zero) add_rest();
      const double value = value_of<T>(present[k].key);
      if (values.empty() || values.back() != value) values.push_back(value);
      codes[k] = static_cast<Code>(values.size() - 1);
    }
    if (to_come) add_rest();
    column.n_codes = static_cast<Code>(values.size());
    column.has_missing = !scratch.missing.empty();
    column.ends = out_.ends[j].keep(values, values);
  }

  void bin(Column& column, std::size_t j, std::size_t n, ColumnCells<T>& scratch, Code* codes) {
    auto& present = scratch.present;
    auto& counted = scratch.counted;
    counted.clear();
    std::size_t listed = 0;
    Lane listed_weight = 0;
    for (const Row row : scratch.missing) {
      if (rows_.counts(row)) ++listed, listed_weight += rows_.of(row);
    }
    for (const Ranked<T>& item : present) {
      if (!rows_.counts(item.row)) continue;
      ++listed, listed_weight += rows_.of(item.row);
      counted.push_back(item);
    }
    const auto zero = key_of(T{0});
    if (listed < rows_.counted) {
      const auto at = std::upper_bound(counted.begin(), counted.end(), zero,
                                       [](auto key, const Ranked<T>& item) { return key < item.key; });
      counted.insert(at, {zero, kRest});
    }
    const Lane rest = rows_.weight - listed_weight;
    Cuts<T> cuts = quantile_cuts<T>(
        counted, [&](const Ranked<T>& item) { return item.row == kRest ? rest : rows_.of(item.row); },
        request_.max_bins);
    if (!rows_.sampled.empty()) widen_to_cuts(cuts);
    column.n_codes = static_cast<Code>(cuts.top.size());
    column.has_missing = true;
    Code code = 0;
    const auto code_of = [&](T value) {  // in ascending order
      while (code < column.n_codes && cuts.top[code] < value) ++code;
      return code;
    };
    for (std::size_t k = 0; k < present.size(); ++k) codes[k] = code_of(value_of<T>(present[k].key));
    code = 0;
    if (n < rows_.n_rows) column.usual = code_of(T{0});
    column.ends = out_.ends[j].keep(cuts.low, cuts.high);
  }

  const SparseTable<T>& table_;
  const BinRequest& request_;
  RowCounts rows_;
  Binned& out_;
  SparseCells& cells_;
  BigVector<T> values_;
};

// The codes row by row, from those column by column.
void turn_around(SparseCells& cells, std::size_t n_rows, Interrupt* interrupt) {
  const CellLists& lists = cells.lists;
  std::vector<std::int64_t> next(cells.row_begin, cells.row_begin + n_rows);
  cells.row_codes.resize(lists.codes.size());
  std::int32_t* const columns = cells.own_columns.empty() ? nullptr : cells.own_columns.data();
  for (std::size_t j = 0; j < lists.size(); ++j) {
    if (interrupt) interrupt->poll();
    lists.visit(j, [&](const auto* of, const auto* codes, std::size_t n) {
      auto* const to = reinterpret_cast<std::remove_cvref_t<decltype(*codes)>*>(cells.row_codes.data());
      for (std::size_t k = 0; k < n; ++k) {
        const auto place = static_cast<std::size_t>(next[of[k]]++);
        to[place] = codes[k];
        if (columns) columns[place] = static_cast<std::int32_t>(j);
      }
    });
  }
}

}  // namespace

void CellLists::take_marked() {
  ranks.resize(present.size());
  std::uint32_t n = 0;
  for (std::size_t word = 0; word < present.size(); ++word) {
    ranks[word] = n;
    n += static_cast<std::uint32_t>(std::popcount(present[word]));
  }
  columns.clear();
  columns.reserve(n);
  for_bits(present.data(), present.size(), [&](std::size_t j) { columns.push_back(static_cast<std::uint32_t>(j)); });
}

Column CellLists::expand(const Column& column, std::uint32_t j, std::size_t n, BigVector<std::uint8_t>& memory) const {
  if (memory.size() < n * width) memory.resize(n * width);
  Column out = column;
  out.data = memory.data(), out.extent = n, out.stride = 1, out.width = width;
  const std::size_t list = list_of(j);
  with_codes(width, memory.data(), [&](auto* to) {
    using T = std::remove_pointer_t<decltype(to)>;
    std::fill_n(to, n, static_cast<T>(column.usual));
    if (list == kNone) return;
    visit(list, [&](const auto* of, const auto* from, std::size_t cells) {
      for (std::size_t k = 0; k < cells; ++k) to[of[k]] = static_cast<T>(from[k]);
    });
  });
  return out;
}

std::shared_ptr<const SparseCells> take_columns(const SparseCells& cells, std::size_t n_rows,
                                                std::span<const std::uint32_t> columns) {
  auto out = std::make_shared<SparseCells>();
  const CellLists& from = cells.lists;
  CellLists& to = out->lists;
  to.width = from.width, to.row_width = from.row_width, out->bins = cells.bins;
  if (cells.bins) out->slot_begin.assign(1, 0);
  to.begin.assign(1, 0);
  out->own_begin.resize(n_rows + 1, 0);
  for (const std::uint32_t j : columns) {
    const auto begin = static_cast<std::ptrdiff_t>(from.begin[j]), end = static_cast<std::ptrdiff_t>(from.begin[j + 1]);
    const auto append = [&](auto& all, const auto& some, std::ptrdiff_t width) {
      all.insert(all.end(), some.begin() + begin * width, some.begin() + end * width);
    };
    append(to.rows, from.rows, from.row_width), append(to.codes, from.codes, from.width);
    to.begin.push_back(to.begin.back() + static_cast<std::uint32_t>(end - begin));
    if (cells.bins) out->slot_begin.push_back(out->slot_begin.back() + cells.slot_begin[j + 1] - cells.slot_begin[j]);
  }
  const std::size_t n_cells = to.n_cells();
  with_codes(to.row_width, to.rows.data(), [&](const auto* rows) {
    for (std::size_t k = 0; k < n_cells; ++k) ++out->own_begin[std::size_t{rows[k]} + 1];
  });
  to.resize(n_cells);
  for (std::size_t i = 0; i < n_rows; ++i) out->own_begin[i + 1] += out->own_begin[i];
  out->own_columns.resize(n_cells);
  out->row_begin = out->own_begin.data(), out->row_columns = out->own_columns.data();
  turn_around(*out, n_rows, nullptr);
  return out;
}

template <class T>
Binned bin_table(const SparseTable<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt) {
  const std::size_t d = table.n_columns;
  const auto n_cells = static_cast<std::size_t>(table.begin[table.n_rows]);
  if (table.n_rows >= std::numeric_limits<Row>::max() || n_cells > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("more rows or filled cells than 32-bit numbers can hold");
  }
  Binned out;
  out.n_rows = table.n_rows;
  out.raw.data = table.data, out.raw.doubles = sizeof(T) == sizeof(double);
  out.raw.filled = table.columns, out.raw.filled_begin = table.begin;
  out.columns.resize(d);
  out.ends.resize(d);
  auto cells = std::make_shared<SparseCells>();
  CellLists& lists = cells->lists = CellLists(table.n_rows, 1);
  cells->row_begin = table.begin, cells->row_columns = table.columns;
  cells->bins = request.coding == Coding::Bins;
  lists.begin.assign(d + 1, 0);
  for (std::size_t k = 0; k < n_cells; ++k) ++lists.begin[static_cast<std::size_t>(table.columns[k]) + 1];
  std::size_t most = 0;  // codes of a column, at most
  for (std::size_t j = 0; j < d; ++j) {
    most = std::max<std::size_t>(most, lists.begin[j + 1] + 2);
    lists.begin[j + 1] += lists.begin[j];
  }
  lists.width = request.coding == Coding::Bins ? 1 : request.coding == Coding::Keys ? 4 : width_for(most);
  lists.resize(n_cells);
  ListMaker<T> maker(table, request, out, *cells);
  const std::size_t turned = std::max(kCellsTurned, kTiny ? 0 : n_cells / 8);  // every part reads all rows
  for (std::size_t first = 0, last; first < d; first = last) {
    last = first + 1;
    while (last < d && lists.begin[last + 1] - lists.begin[first] <= turned) ++last;
    maker.fill(first, last, threads, interrupt);
  }
  if (cells->bins) cells->slot_begin.assign(1, 0);
  for (Column& column : out.columns) {
    column.width = lists.width;
    if (cells->bins) cells->slot_begin.push_back(cells->slot_begin.back() + static_cast<std::uint32_t>(column.slots()));
  }
  turn_around(*cells, table.n_rows, &interrupt);
  out.sparse = std::move(cells);
  return out;
}

template Binned bin_table(const SparseTable<float>&, const BinRequest&, std::size_t, Interrupt&);
template Binned bin_table(const SparseTable<double>&, const BinRequest&, std::size_t, Interrupt&);

}  // namespace weald
