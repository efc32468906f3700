#include "weald/bins/bundles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "weald/base/paths.hpp"

namespace weald {

namespace {

constexpr double kUsual = 0.8;  // share of rows that makes a value usual

const std::uint8_t* bytes_of(const Column& column) { return static_cast<const std::uint8_t*>(column.data); }

// The rows in which a column differs from its usual value.
struct Sparse {
  std::uint32_t column = 0;
  Code usual = 0;
  std::size_t n_others = 0;
  std::vector<std::uint64_t> others;
};

// The most frequent code of some rows, if it is frequent enough.
bool has_usual(const Column& column, std::size_t n_rows, Code& usual) {
  std::array<std::uint32_t, kByteSlots> counts{};
  const std::size_t step = std::max<std::size_t>(1, n_rows / kLookedForUsual);
  std::size_t looked = 0;
  for (std::size_t i = 0; i < n_rows; i += step, ++looked) ++counts[bytes_of(column)[i * column.stride]];
  const auto most = std::max_element(counts.begin(), counts.end());
  usual = static_cast<Code>(most - counts.begin());
  return *most >= kUsual * static_cast<double>(looked);
}

std::vector<Sparse> find_sparse(std::span<const Column> columns, std::size_t n_rows, std::size_t threads,
                                Interrupt& interrupt) {
  std::vector<Sparse> out;
  for (std::uint32_t j = 0; j < columns.size(); ++j) {
    Code usual;
    if (has_usual(columns[j], n_rows, usual))
      out.push_back({j, usual, 0, std::vector<std::uint64_t>((n_rows + 63) / 64, 0)});
  }
  parallel_for(threads, (n_rows + kRowsCopied - 1) / kRowsCopied, interrupt, [&](std::size_t chunk) {
    const std::size_t begin = chunk * kRowsCopied, end = std::min(n_rows, begin + kRowsCopied);
    for (Sparse& s : out) {
      const Column& column = columns[s.column];
      const std::uint8_t* codes = bytes_of(column);
      for (std::size_t i = begin; i < end; ++i) {
        s.others[i / 64] |= static_cast<std::uint64_t>(codes[i * column.stride] != s.usual) << (i % 64);
      }
    }
  });
  for (Sparse& s : out) {
    for (const std::uint64_t word : s.others) s.n_others += static_cast<std::size_t>(std::popcount(word));
  }
  return out;
}

// A bundle in the making.
struct Open {
  Bundles::Sharing sharing;
  std::vector<std::uint32_t> columns;
  std::size_t slots = 1;
};

// Columns that take turns.
std::vector<Open> find_turns(std::span<const Column> columns, std::vector<Sparse>& sparse, Interrupt& interrupt) {
  // The fullest first: those that are hardest to place.
  std::stable_sort(sparse.begin(), sparse.end(),
                   [](const Sparse& a, const Sparse& b) { return a.n_others > b.n_others; });
  std::vector<Open> open;
  std::vector<std::vector<std::uint64_t>> others;  // the rows in which a column of the bundle differs
  for (const Sparse& s : sparse) {
    interrupt.poll();
    const std::size_t more = columns[s.column].slots() - 1;
    const auto fits = [&](std::size_t b) {
      return open[b].slots + more <= kByteSlots && std::equal(others[b].begin(), others[b].end(), s.others.begin(),
                                                              [](auto a, auto c) { return (a & c) == 0; });
    };
    const std::size_t end = std::min(open.size(), kMostBundles);
    std::size_t into = 0;
    while (into < end && !fits(into)) ++into;
    if (into == end) {
      if (1 + more > kByteSlots) continue;
      into = open.size();
      open.push_back({Bundles::Sharing::Turns, {}});
      others.emplace_back(s.others.size(), 0);
    }
    open[into].columns.push_back(s.column);
    open[into].slots += more;
    for (std::size_t w = 0; w < s.others.size(); ++w) others[into][w] |= s.others[w];
  }
  std::erase_if(open, [](const Open& bundle) { return bundle.columns.size() < 2; });
  return open;
}

// Is each of n columns in one of the bundles?
std::vector<bool> bundled(const std::vector<Open>& open, std::size_t n) {
  std::vector<bool> out(n, false);
  for (const Open& bundle : open) {
    for (const std::uint32_t j : bundle.columns) out[j] = true;
  }
  return out;
}

// The other columns of few codes as digits. The cells of a bundle are cleared, subtracted and added up in every node, so
// that small tables have smaller bundles.
void add_digits(std::span<const Column> columns, std::size_t n_rows, std::vector<Open>& open) {
  const std::size_t most = std::min(kByteSlots, n_rows / kRowsPerDigit);
  const std::vector<bool> taken = bundled(open, columns.size());
  std::vector<std::uint32_t> few;
  for (std::uint32_t j = 0; j < columns.size(); ++j) {
    if (!taken[j] && !columns[j].constant() && columns[j].slots() * 2 <= most) few.push_back(j);
  }
  // The largest first, each into the first bundle with room for it.
  std::stable_sort(few.begin(), few.end(), [&](auto a, auto b) { return columns[a].slots() > columns[b].slots(); });
  std::vector<Open> digits;
  for (const std::uint32_t j : few) {
    const std::size_t slots = columns[j].slots();
    auto into =
        std::find_if(digits.begin(), digits.end(), [&](const Open& each) { return each.slots * slots <= most; });
    if (into == digits.end()) into = digits.insert(into, Open{Bundles::Sharing::Digits, {}});
    into->columns.push_back(j);
    into->slots *= slots;
  }
  std::copy_if(digits.begin(), digits.end(), std::back_inserter(open),
               [](const Open& each) { return each.columns.size() > 1; });
}

}  // namespace

std::shared_ptr<const Bundles> make_bundles(std::span<const Column> columns, std::size_t n_rows, std::size_t threads,
                                            Interrupt& interrupt) {
  if (!uses(Path::Bundles)) return nullptr;
  std::vector<Sparse> sparse = find_sparse(columns, n_rows, threads, interrupt);
  std::vector<Open> open = find_turns(columns, sparse, interrupt);
  add_digits(columns, n_rows, open);
  std::size_t saved = 0;
  for (const Open& bundle : open) saved += bundle.columns.size() - 1;
  if (saved * 4 < columns.size()) return nullptr;

  const std::vector<bool> together = bundled(open, columns.size());
  for (std::uint32_t j = 0; j < columns.size(); ++j) {
    if (!together[j]) open.push_back({Bundles::Sharing::Alone, {j}, columns[j].slots()});
  }
  auto out = std::make_shared<Bundles>();
  out->members.resize(columns.size());
  for (Open& bundle : open) {
    Code start = 1, step = 1;
    for (const std::uint32_t j : bundle.columns) {
      Bundles::Member& member = out->members[j];
      member.sharing = bundle.sharing, member.bundle = static_cast<std::uint32_t>(out->slots.size());
      member.slots = static_cast<Code>(columns[j].slots());
      if (bundle.sharing == Bundles::Sharing::Turns) {
        member.usual =
            std::find_if(sparse.begin(), sparse.end(), [&](const Sparse& s) { return s.column == j; })->usual;
        member.start = start, start += member.slots - 1;
      } else {
        member.step = step, step *= member.slots;
      }
    }
    out->slots.push_back(static_cast<std::uint32_t>(bundle.slots));
    out->columns.push_back(std::move(bundle.columns));
  }
  const std::size_t stride = out->size();
  out->places.resize(stride);
  std::iota(out->places.begin(), out->places.end(), 0U);
  out->bytes.resize(n_rows * stride, 0);
  parallel_for(threads, (n_rows + kRowsCopied - 1) / kRowsCopied, interrupt, [&](std::size_t chunk) {
    const std::size_t begin = chunk * kRowsCopied, end = std::min(n_rows, begin + kRowsCopied);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const Bundles::Member& member = out->members[j];
      std::uint8_t* to = out->bytes.data() + member.bundle;
      for (std::size_t i = begin; i < end; ++i) {
        const Code code = member.added(bytes_of(columns[j])[i * columns[j].stride]);
        to[i * stride] = static_cast<std::uint8_t>(to[i * stride] + code);
      }
    }
  });
  return out;
}

}  // namespace weald
