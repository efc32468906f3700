#include "weald/bins/bundles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "weald/base/paths.hpp"

namespace weald {

namespace {

constexpr std::size_t kSlots = 256;  // codes of a bundle
constexpr double kUsual = 0.8;       // share of rows that makes a value usual

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
  std::array<std::uint32_t, kSlots> counts{};
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

}  // namespace

void Bundles::unpack(std::size_t column, std::size_t n_slots, const Lane* bundle_cells, Lane total, Lane* cells) const {
  const Member& member = members[column];
  Lane others = 0;
  for (Code code = 0; code < n_slots; ++code) {
    if (code == member.usual) continue;
    cells[code] = bundle_cells[member.code_in_bundle(code)];
    others += cells[code];
  }
  cells[member.usual] = total - others;
}

std::shared_ptr<const Bundles> make_bundles(std::span<const Column> columns, std::size_t n_rows, std::size_t threads,
                                            Interrupt& interrupt) {
  if (!uses(Path::Bundles)) return nullptr;
  std::vector<Sparse> sparse = find_sparse(columns, n_rows, threads, interrupt);
  // The fullest first: those that are hardest to place.
  std::stable_sort(sparse.begin(), sparse.end(),
                   [](const Sparse& a, const Sparse& b) { return a.n_others > b.n_others; });
  struct Open {
    std::vector<std::uint32_t> members;
    std::vector<std::uint64_t> others;
    std::size_t slots = 1;
  };
  std::vector<Open> open;
  for (std::uint32_t k = 0; k < sparse.size(); ++k) {
    interrupt.poll();
    const Sparse& s = sparse[k];
    const std::size_t more = columns[s.column].slots() - 1;
    const auto exclusive = [&](const std::vector<std::uint64_t>& others) {
      return std::equal(others.begin(), others.end(), s.others.begin(), [](auto a, auto b) { return (a & b) == 0; });
    };
    const auto fits = [&](const Open& bundle) { return bundle.slots + more <= kSlots && exclusive(bundle.others); };
    const auto end = open.begin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kMostBundles));
    auto into = std::find_if(open.begin(), end, fits);
    if (into == end) {
      if (1 + more > kSlots) continue;
      into = open.insert(open.end(), Open{{}, std::vector<std::uint64_t>(s.others.size(), 0), 1});
    }
    into->members.push_back(k);
    into->slots += more;
    for (std::size_t w = 0; w < s.others.size(); ++w) into->others[w] |= s.others[w];
  }
  std::erase_if(open, [](const Open& bundle) { return bundle.members.size() < 2; });
  std::size_t saved = 0;
  for (const Open& bundle : open) saved += bundle.members.size() - 1;
  if (saved * 4 < columns.size()) return nullptr;

  auto out = std::make_shared<Bundles>();
  out->members.resize(columns.size());
  for (const Open& bundle : open) {
    Code start = 1;
    for (const std::uint32_t k : bundle.members) {
      const std::uint32_t j = sparse[k].column;
      out->members[j] = {static_cast<std::uint32_t>(out->slots.size()), false, sparse[k].usual, start};
      start += static_cast<Code>(columns[j].slots() - 1);
    }
    out->slots.push_back(start);
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (!out->members[j].alone) continue;
    out->members[j].bundle = static_cast<std::uint32_t>(out->slots.size());
    out->slots.push_back(static_cast<std::uint32_t>(columns[j].slots()));
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
        const Code code = member.code_in_bundle(bytes_of(columns[j])[i * columns[j].stride]);
        to[i * stride] = static_cast<std::uint8_t>(to[i * stride] + code);  // at most one is not 0
      }
    }
  });
  return out;
}

}  // namespace weald
