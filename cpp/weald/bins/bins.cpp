#include "weald/bins/bins.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "weald/bins/bundles.hpp"
#include "weald/bins/cuts.hpp"

namespace weald {

namespace {

// The codes of one column, stored in the narrowest sufficient width.
template <class Get>
void store_column(Binned& out, std::size_t j, Get&& code_of_row) {
  Column& column = out.columns[j];
  column.width =
      width_for(std::size_t{column.n_codes} + 1);  // the code of what is missing is nobody else's, even if none is
  column.stride = 1;
  auto& buffer = out.storage[j];
  buffer.resize(out.n_rows * column.width);
  column.data = buffer.data(), column.extent = out.n_rows;
  with_codes(column.width, buffer.data(), [&](auto* codes) {
    code_of_row([codes](std::size_t row, Code code) {
      codes[row] = static_cast<std::remove_pointer_t<decltype(codes)>>(code);
    });
  });
}

// Exact mode: sort the column once; the code of a value is its rank among the distinct values.
template <class T>
void rank_column(const Table<T>& table, std::size_t j, Binned& out, Scratch<T>& scratch, Interrupt& interrupt) {
  Patience patience(interrupt);
  auto& items = scratch.ranked;
  items.clear();
  items.reserve(table.n_rows);
  for_all(0, table.n_rows, patience, [&](std::size_t i) {
    const T value = table.at(i, j);
    if (!std::isnan(value)) items.push_back({key_of(value), static_cast<Row>(i)});
  });
  sort_by_key(items, scratch.ranked_spare, patience);
  Column& column = out.columns[j];
  for_all(0, items.size(), patience,
          [&](std::size_t k) { column.n_codes += k == 0 || items[k].key != items[k - 1].key; });
  column.has_missing = items.size() < table.n_rows;
  store_column(out, j, [&](auto&& put) {
    if (column.has_missing) {
      for (std::size_t i = 0; i < table.n_rows; ++i) put(i, column.n_codes);
    }
    Code code = 0;
    for_all(0, items.size(), patience, [&](std::size_t k) {
      code += k > 0 && items[k].key != items[k - 1].key;
      put(items[k].row, code);
    });
  });
}

// The cuts of a column, from all its rows or a sample of them.
template <class T>
Cuts<T> find_cuts(const Table<T>& table, std::size_t j, const BinRequest& request, const BigVector<Lane>& weights,
                  Scratch<T>& scratch, Interrupt& interrupt) {
  Patience patience(interrupt);
  const Sample sample(table.n_rows);
  // Calls fn with the values that count, until it says no.
  const auto for_values = [&](auto&& fn) {
    for (std::size_t k = 0; k < sample.size; ++k) {
      const std::size_t row = sample.row(k);
      const T value = table.at(row, j);
      if (!std::isnan(value) && (weights.empty() || weights[row] > 0) && !fn(value, row)) return false;
    }
    return true;
  };
  const auto gather = [&](auto& items, auto make) {
    items.clear();
    items.reserve(sample.size);
    for_values([&](T value, std::size_t row) { return items.push_back(make(value, row)), true; });
  };
  FewKeys<KeyOf<T>> few(request.max_bins);
  if (for_values([&](T value, std::size_t) { return few.add(key_of(value)); })) {  // a bin each, whatever they weigh
    few.list(scratch.bare);
    return quantile_cuts<T>(scratch.bare, [](const Bare<T>&) { return Lane{1}; }, request.max_bins);
  }
  if (!weights.empty()) {
    gather(scratch.ranked, [](T value, std::size_t row) { return Ranked<T>{key_of(value), static_cast<Row>(row)}; });
    sort_by_key(scratch.ranked, scratch.ranked_spare, patience);
    return quantile_cuts<T>(scratch.ranked, [&](const Ranked<T>& item) { return weights[item.row]; }, request.max_bins);
  }
  gather(scratch.bare, [](T value, std::size_t) { return Bare<T>{key_of(value)}; });
  sort_by_key(scratch.bare, scratch.bare_spare, patience);
  return quantile_cuts<T>(scratch.bare, [](const Bare<T>&) { return Lane{1}; }, request.max_bins);
}

// What one row weighs: whole weights count rows, others are 1 on average.
double weight_of_a_row(const BinRequest& request, std::size_t n_rows) {
  if (request.weights == nullptr) return 1;
  double total = 0, present = 0;
  bool whole = true;
  for (const double w : std::span(request.weights, n_rows)) {
    total += w, present += w > 0, whole &= w == std::floor(w);
  }
  return whole || present == 0 ? 1 : total / present;
}

// Categories keep their own codes, in the order of their labels, but for two kinds that share the last code: in a
// column of many, those of a single row; and if there are too many for the bins, the lightest (README). Throws if a
// value is no category.
template <class T>
void code_categories(const Table<T>& table, std::size_t j, std::size_t n_categories, const BinRequest& request,
                     double row_weight, Interrupt& interrupt, Binned& out) {
  std::vector<double> weight(n_categories, 0.0);
  for_all(0, table.n_rows, interrupt, [&](std::size_t i) {
    const T value = table.at(i, j);
    if (std::isnan(value)) return;
    if (!(value >= 0 && value < static_cast<T>(n_categories)) || value != std::floor(value)) {
      throw std::invalid_argument("a categorical column holds a value that is not a category");
    }
    weight[static_cast<std::size_t>(value)] += request.weights ? request.weights[i] : 1.0;
  });
  std::vector<Code>& codes = out.category_code[j];
  Column& column = out.columns[j];
  codes.resize(n_categories);
  std::iota(codes.begin(), codes.end(), Code{0});
  column.n_codes = static_cast<Code>(n_categories);
  column.many = n_categories > kFreeCategories;
  const std::size_t most = request.coding == Coding::Bins ? request.max_bins : n_categories;
  if (!column.many && n_categories <= most) return;
  std::vector<Code> order = codes;
  const auto singles = std::stable_partition(order.begin(), order.end(), [&](Code c) {
    return !column.many || weight[c] > 1.5 * row_weight;  // weights, rounded or not, lie near one row or near two
  });
  std::size_t kept = static_cast<std::size_t>(singles - order.begin());
  if (kept + (kept < n_categories) > most) {
    std::stable_sort(order.begin(), order.end(), [&](Code a, Code b) { return weight[a] > weight[b]; });
    kept = most - 1;
  }
  if (kept + 1 >= n_categories) return;  // at most one that has nobody to share with
  for (std::size_t k = 0; k < order.size(); ++k) codes[order[k]] = static_cast<Code>(std::min(k, kept));
  out.own_category[j].assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
  column.n_codes = static_cast<Code>(kept + 1);
}

template <class T>
void bin_exact(const Table<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt,
               Binned& out) {
  out.storage.resize(table.n_columns);
  parallel_for_with<Scratch<T>>(threads, table.n_columns, interrupt, [&](std::size_t j, Scratch<T>& scratch) {
    if (request.categories[j] == 0) return rank_column(table, j, out, scratch, interrupt);
    Column& column = out.columns[j];
    column.has_missing = true;  // the slot costs nothing, and saves a pass
    store_column(out, j, [&](auto&& put) {
      for_all(0, table.n_rows, interrupt, [&](std::size_t i) {
        const T value = table.at(i, j);
        put(i, std::isnan(value) ? column.n_codes : out.category_code[j][static_cast<std::size_t>(value)]);
      });
    });
  });
}

// Some columns of a table, one after another.
template <class T>
Table<T> turned(const Table<T>& table, std::size_t first, std::size_t last, Scratch<T>& scratch) {
  const std::size_t n = table.n_rows, columns = last - first;
  scratch.columns.resize(n * columns);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < columns; ++c) scratch.columns[c * n + i] = table.at(i, first + c);
  }
  return {scratch.columns.data(), n, columns, 1, n};
}

template <class T>
void bin_histogram(const Table<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt,
                   Binned& out) {
  const std::size_t d = table.n_columns;
  BigVector<BinFinder<T>> finders(d, BinFinder<T>({}));
  const BigVector<Lane> weights = whole_weights(request.weights, table.n_rows);
  // Rows are read by a cache line's worth of columns at a time, unless copies of so many would be large.
  const bool by_rows = table.column_stride < table.row_stride && table.n_rows <= kMostRowsTurned;
  const std::size_t together = by_rows ? 64 / sizeof(T) : 1;
  parallel_for_with<Scratch<T>>(
      threads, (d + together - 1) / together, interrupt, [&](std::size_t group, Scratch<T>& scratch) {
        const std::size_t begin = group * together, end = std::min(begin + together, d);
        const Table<T> some = by_rows ? turned(table, begin, end, scratch) : table;
        for (std::size_t j = begin; j < end; ++j) {
          Column& column = out.columns[j];
          if (request.categories[j] == 0) {
            Cuts<T> cuts = find_cuts(some, by_rows ? j - begin : j, request, weights, scratch, interrupt);
            if (table.n_rows > kSampleAbove) widen_to_cuts(cuts);
            column.n_codes = static_cast<Code>(cuts.top.size());
            column.ends = out.ends[j].keep(cuts.low, cuts.high);
            finders[j] = BinFinder<T>(cuts.top);
          }
          column.has_missing = column.categorical;
          column.width = 1;
          column.stride = d;
        }
      });

  out.storage.resize(1);
  out.storage[0].resize(table.n_rows * d + kRowSlack);
  std::uint8_t* base = out.storage[0].data();
  out.row_bytes = base, out.row_stride = d;
  std::vector<std::atomic<bool>> gaps(d);
  // Rows that stay in the second cache while column after column reads them.
  const std::size_t rows =
      std::clamp(kSecondCache / (d * sizeof(T)), std::min<std::size_t>(32, kRowsBinned), kRowsBinned);
  parallel_for(threads, (table.n_rows + rows - 1) / rows, interrupt, [&](std::size_t chunk) {
    const std::size_t begin = chunk * rows, n = std::min(rows, table.n_rows - begin);
    std::array<T, kRowsBinned> values{};
    std::array<std::uint8_t, kRowsBinned> codes{};
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t i = 0; i < n; ++i) values[i] = table.at(begin + i, j);
      const auto missing = static_cast<std::uint8_t>(out.columns[j].n_codes);
      if (out.columns[j].categorical) {
        for (std::size_t i = 0; i < n; ++i) {
          const auto category = std::isnan(values[i]) ? std::size_t{0} : static_cast<std::size_t>(values[i]);
          codes[i] = static_cast<std::uint8_t>(out.category_code[j][category]);
        }
      } else {
        constexpr std::size_t kLanes = BinFinder<T>::kLanes;
        finders[j].find(values.data(), (n + kLanes - 1) / kLanes * kLanes, codes.data());
      }
      bool any = false;
      for (std::size_t i = 0; i < n; ++i) {
        any |= std::isnan(values[i]);
        codes[i] = std::isnan(values[i]) ? missing : codes[i];
      }
      if (any) gaps[j].store(true, std::memory_order_relaxed);
      for (std::size_t i = 0; i < n; ++i) base[(begin + i) * d + j] = codes[i];
    }
  });
  out.guides.reserve(d);
  for (std::size_t j = 0; j < d; ++j) {
    out.columns[j].data = base + j, out.columns[j].extent = table.n_rows * d - j;
    out.columns[j].has_missing |= gaps[j];
    const BinEnds& ends = out.columns[j].ends;
    out.columns[j].guide = &out.guides.emplace_back(ends, ends ? out.columns[j].n_codes : 0);
  }
  if (request.bundled) out.bundles = make_bundles(out.columns, out.n_rows, threads, interrupt);
}

template <class T>
void bin_keys(const Table<T>& table, std::size_t threads, Interrupt& interrupt, Binned& out) {
  const std::size_t d = table.n_columns;
  out.storage.resize(1);
  out.storage[0].resize(table.n_rows * d * sizeof(std::uint32_t));
  auto* base = reinterpret_cast<std::uint32_t*>(out.storage[0].data());
  for (std::size_t j = 0; j < d; ++j) {
    Column& column = out.columns[j];
    column.keyed = !column.categorical;
    column.floored = sizeof(T) > sizeof(float);
    // Above every key of a finite float, so that it can stand for "missing".
    if (!column.categorical) column.n_codes = ~Code{0};
    column.has_missing = true;
    column.width = 4;
    column.stride = d;
    column.data = base + j, column.extent = table.n_rows * d - j;
  }
  parallel_for(threads, (table.n_rows + kRowsCopied - 1) / kRowsCopied, interrupt, [&](std::size_t chunk) {
    const std::size_t end = std::min((chunk + 1) * kRowsCopied, table.n_rows);
    for (std::size_t i = chunk * kRowsCopied; i < end; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        const T value = table.at(i, j);
        base[i * d + j] = std::isnan(value)            ? out.columns[j].n_codes
                          : out.columns[j].categorical ? out.category_code[j][static_cast<std::size_t>(value)]
                                                       : key_of(largest_not_above<float>(value));
      }
    }
  });
}

}  // namespace

Binned view_of(const Binned& matrix) {
  Binned out;
  out.n_rows = matrix.n_rows, out.columns = matrix.columns, out.raw = matrix.raw;
  out.row_bytes = matrix.row_bytes, out.row_stride = matrix.row_stride, out.bundles = matrix.bundles;
  out.sparse = matrix.sparse;
  out.category_code = matrix.category_code, out.own_category = matrix.own_category;
  return out;
}

template <class T>
Binned bin_table(const Table<T>& table, const BinRequest& request, std::size_t threads, Interrupt& interrupt) {
  if (table.n_rows >= std::numeric_limits<Row>::max()) {
    throw std::invalid_argument("more rows than 32-bit row numbers can hold");
  }
  Binned out;
  out.n_rows = table.n_rows;
  out.raw = {table.data, sizeof(T) == sizeof(double), table.row_stride, table.column_stride};
  out.columns.resize(table.n_columns);
  out.ends.resize(table.n_columns);
  out.category_code.resize(table.n_columns);
  out.own_category.resize(table.n_columns);
  const bool any = std::any_of(request.categories.begin(), request.categories.end(), [](auto n) { return n > 0; });
  const double row_weight = any ? weight_of_a_row(request, table.n_rows) : 1;
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    interrupt.poll();
    out.columns[j].categorical = request.categories[j] > 0;
    if (out.columns[j].categorical) {
      code_categories(table, j, request.categories[j], request, row_weight, interrupt, out);
    }
  }
  switch (request.coding) {
    case Coding::Ranks:
      bin_exact(table, request, threads, interrupt, out);
      break;
    case Coding::Bins:
      bin_histogram(table, request, threads, interrupt, out);
      break;
    case Coding::Keys:
      bin_keys(table, threads, interrupt, out);
      break;
  }
  return out;
}

template Binned bin_table(const Table<float>&, const BinRequest&, std::size_t, Interrupt&);
template Binned bin_table(const Table<double>&, const BinRequest&, std::size_t, Interrupt&);

}  // namespace weald
