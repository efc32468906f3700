#include "weald/tree/compact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <cstring>
#include <stdexcept>

#include "weald/base/random.hpp"

namespace weald {

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("not a valid tree: ") + what);
}

constexpr std::size_t kPackedAtOnce = 4096, kLeavesAtOnce = 16, kLightPure = 16;
constexpr std::uint32_t kFree = ~std::uint32_t{0};  // there is no row yet

// The rows of a value table as they are met: equal ones are kept once.
template <class T>
class TableBuilder {
 public:
  // As many rows as that are expected; there may be more.
  TableBuilder(std::size_t width, std::size_t rows) : width_(width), places_(std::bit_ceil(2 * rows + 1), kFree) {
    bytes_.reserve(rows * width * sizeof(T));
  }

  // Tells leaves the numbers of their rows. Several at a time, since places lie far apart.
  void add(const T* rows, std::span<Node* const> leaves) {
    std::uint64_t hashes[kLeavesAtOnce];
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      hashes[k] = hash_of(rows + k * width_);
      prefetch(&places_[hashes[k] & (places_.size() - 1)]);
    }
    for (std::size_t k = 0; k < leaves.size(); ++k) leaves[k]->next = add(rows + k * width_, hashes[k]);
  }

  BigVector<std::uint8_t> bytes() {
    if (bytes_.size() < bytes_.capacity() / 8 * 7) bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  const T* row_at(std::size_t r) const { return reinterpret_cast<const T*>(bytes_.data()) + r * width_; }

  std::uint32_t add(const T* row, std::uint64_t hash) {
    std::uint32_t& found = place_of(row, hash);
    if (found != kFree) return found;
    const std::uint32_t number = found = n_rows_++;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
    bytes_.insert(bytes_.end(), bytes, bytes + width_ * sizeof(T));
    if (2 * n_rows_ > places_.size()) {
      places_.assign(4 * places_.size(), kFree);
      for (std::uint32_t r = 0; r < n_rows_; ++r) place_of(row_at(r), hash_of(row_at(r))) = r;
    }
    return number;
  }

  std::uint64_t hash_of(const T* row) const {
    std::uint64_t hash = 0;  // of words that need not wait for each other
    for (std::size_t byte = 0; byte < width_ * sizeof(T); byte += sizeof(hash)) {
      std::uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const char*>(row) + byte, std::min(sizeof(word), width_ * sizeof(T) - byte));
      hash += (word ^ word >> 32) * (byte * 2 + 0x9E3779B97F4A7C15);
    }
    return mix(hash);
  }

  // Where the number of such a row stands, or is to stand.
  std::uint32_t& place_of(const T* row, std::uint64_t hash) {
    for (std::size_t place = hash;; ++place) {
      std::uint32_t& found = places_[place & (places_.size() - 1)];
      if (found == kFree || std::equal(row, row + width_, row_at(found))) return found;
    }
  }

  std::size_t width_;
  std::uint32_t n_rows_ = 0;
  BigVector<std::uint8_t> bytes_;
  BigVector<std::uint32_t> places_;  // by hash, or after it: the number of a row
};

// The row of a leaf: W and the class weights if those are whole, so that the shares come back bit by bit; else 1 and the
// values. `most`: the largest weight of a leaf.
constexpr std::size_t kFewRows = 512;  // of whole weights: most leaves are like others

void fill_table(CompactTree& tree, std::span<const std::uint32_t> which, const Summary& nodes, const Outputs& outputs,
                double most, Patience& patience) {
  const std::size_t width = 1 + outputs.width();
  const auto fill = [&]<class T>(T, Cell cell) {
    const bool whole = cell != Cell::Real;
    TableBuilder<T> builder(width, whole ? kFewRows : tree.nodes.size() / 2 + 1);
    std::vector<T> rows(kLeavesAtOnce * width, 0);
    std::vector<Node*> leaves;
    std::vector<std::uint32_t> pure(outputs.width() * kLightPure, kFree);  // by class and weight: most leaves are so
    const auto add_leaves = [&] {
      builder.add(rows.data(), leaves);
      std::fill(rows.begin(), rows.end(), T{0});
      leaves.clear();
    };
    for (std::size_t leaf = 0; leaf < which.size(); ++leaf) {
      Node& node = tree.nodes[which[leaf]];
      patience.spend(64 + 8 * width);
      const double weight = node.number;
      bool good = !whole || weight == std::floor(weight);
      const std::uint32_t only = nodes.classes.empty() ? Summary::kMixed : nodes.classes[leaf];
      const bool is_pure = good && only < Summary::kMixed && (!whole || weight < kLightPure);
      std::uint32_t* const known =
          is_pure ? &pure[only * kLightPure + (whole ? static_cast<std::size_t>(weight) : 0)] : nullptr;
      if (known && *known != kFree) {
        node.next = *known;
        continue;
      }
      T* const row = &rows[leaves.size() * width];
      row[0] = static_cast<T>(whole ? weight : 1);
      nodes.for_values(nodes.entry(which[leaf], leaf), [&](std::size_t k, double value) {
        const double number = whole ? std::round(value * weight) : value;
        good &= !whole || number / weight == value;
        row[1 + k] = static_cast<T>(number);
      });
      if (!good) return false;
      leaves.push_back(&node);
      if (known || leaves.size() == kLeavesAtOnce) add_leaves();
      if (known) *known = node.next;
    }
    add_leaves();
    tree.table = {cell, builder.bytes()};
    return true;
  };
  const bool done = outputs.classifies() && (most < 0x1p8    ? fill(std::uint8_t{}, Cell::Byte)
                                             : most < 0x1p16 ? fill(std::uint16_t{}, Cell::Short)
                                                             : most < 0x1p32 && fill(std::uint32_t{}, Cell::Word));
  if (!done) fill(double{}, Cell::Real);
}

bool beyond_floats(double x) {
  return x > 0 && (x < std::numeric_limits<float>::min() || x > std::numeric_limits<float>::max());
}

// Per column: sum over nodes of (W_node / W) gain.
std::vector<double> importance_of(const Shape& shape, const Summary& nodes, std::size_t columns) {
  std::vector<double> out(columns, 0.0);
  const auto mass = [&](std::size_t m) { return nodes.weight[m] * nodes.impurity[m]; };
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (shape.nodes[m].leaf()) continue;
    const double gain = mass(m) - mass(m + 1) - mass(static_cast<std::size_t>(shape.nodes[m].right));
    out[static_cast<std::size_t>(shape.nodes[m].feature)] += gain / nodes.weight[0];
  }
  return out;
}

// Walks nodes in pre-order, where those of a subtree are neighbours, and checks that they are a tree. right_of(i) gives
// the "no" child of node i, or -1 for a leaf; visit(i, depth) is told of every node.
template <class RightOf, class Visit>
void walk_preorder(std::size_t n, Patience& patience, RightOf&& right_of, Visit&& visit) {
  require(n > 0 && n < (std::size_t{1} << 31), "it has no nodes, or too many");
  std::vector<std::pair<std::size_t, std::uint32_t>> open;  // "no" branches to come: node, its depth
  std::uint32_t depth = 0;
  for (std::size_t i = 0; i < n; ++i) {
    patience.spend(4);
    visit(i, depth);
    const std::int64_t right = right_of(i);
    require(right >= -1, "a child is out of range");
    if (right >= 0) {
      require(right > static_cast<std::int64_t>(i) + 1 && right < static_cast<std::int64_t>(n),
              "a child is out of range");
      open.emplace_back(static_cast<std::size_t>(right), ++depth);
    } else if (i + 1 < n) {
      require(!open.empty() && open.back().first == i + 1, "its nodes are not in pre-order");
      depth = open.back().second;
      open.pop_back();
    }
  }
  require(open.empty(), "a branch is missing");
}

// Every row stands for numbers: v / W, of classes none below 0.
void check_table(const ValueTable& table, const Outputs& outputs, Patience& patience) {
  const std::size_t width = 1 + outputs.width(), cells = table.bytes.size() / table.cell_bytes();
  require(table.bytes.size() % (width * table.cell_bytes()) == 0, "its table of values is cut off");
  table.visit([&](const auto* values) {
    for (std::size_t k = 0; k < cells; ++k) {
      patience.spend(1);
      const auto value = static_cast<double>(values[k]);
      require(std::isfinite(value), "a leaf does not say a finite number");
      require(k % width == 0 ? value > 0 : value >= 0 || !outputs.classifies(), "a leaf says a share below 0");
    }
  });
}

}  // namespace

CompactTree pack(Shape shape, const Summary& nodes, const Outputs& outputs, std::span<const std::uint32_t> n_categories,
                 bool keep_rows, Interrupt& interrupt) {
  CompactTree tree;
  Patience patience(interrupt);
  const std::size_t n = shape.size(), n_leaves = (n + 1) / 2;
  tree.nodes.resize(n);
  if (!nodes.of_leaves()) tree.importance = importance_of(shape, nodes, n_categories.size());
  // All are packed as tests and leaves once more as such: which is which cannot be foretold, so nothing branches on it.
  std::vector<std::uint32_t> leaves(n_leaves + 1), open(64);  // open: depths of right children to come, below the top
  std::size_t top = 1, seen = 0, done = 0;
  std::uint32_t depth = 0, deepest = 0;
  double most = 0;
  bool pure = true, wide = false;
  const bool is_inline = outputs.is_inline();
  const std::size_t width = outputs.width();
  const double* const number = is_inline ? &nodes.value[width - 1] : nullptr;  // the only one, or class 1's
  for (std::size_t m = 0; m < n;) {
    populate(tree.nodes, m, kPackedAtOnce);
    for (const std::size_t end = std::min(n, m + kPackedAtOnce); m < end; ++m) {
      const GrownNode& from = shape.nodes[m];
      const auto is_leaf = static_cast<std::uint32_t>(from.right) >> 31;
      const auto column = static_cast<std::uint32_t>(from.feature);
      tree.nodes[m] = {from.threshold, column << Node::kShift | (from.missing_left ? Node::kMissingLeft : 0),
                       static_cast<std::uint32_t>(from.right) - static_cast<std::uint32_t>(m)};
      if (from.set >= 0) {
        tree.nodes[m].head |= Node::kCategorical;
        tree.nodes[m].number = categorical_number(static_cast<std::uint32_t>(from.set), n_categories[column]);
      }
      leaves[seen] = static_cast<std::uint32_t>(m), seen += is_leaf;
      if (top == open.size()) open.resize(2 * open.size());
      deepest = std::max(deepest, depth), open[top] = depth;
      depth = open[top - is_leaf] + 1, top = top + 1 - 2 * is_leaf;
    }
    patience.spend(8 * kPackedAtOnce);
    for (; done < seen; ++done) {
      const std::size_t at = nodes.entry(leaves[done], done);
      const double weight = nodes.weight[at], impurity = nodes.impurity[at];
      const std::uint32_t rows = std::min<std::uint32_t>(shape.nodes[leaves[done]].size(), Node::kMost);
      tree.nodes[leaves[done]] = {is_inline ? number[at * width] : weight, rows << Node::kShift | Node::kLeaf,
                                  shortened(weight, false)};
      wide |= beyond_floats(weight) || beyond_floats(impurity);
      pure &= impurity == 0;
      most = std::max(most, weight);
    }
  }
  leaves.pop_back();
  tree.depth = deepest, tree.wide = wide;
  const bool tells_impurity = !outputs.classifies() && !pure;
  for (std::size_t leaf = 0; leaf < n_leaves && (wide || tells_impurity); ++leaf) {
    const std::size_t at = nodes.entry(leaves[leaf], leaf);
    tree.nodes[leaves[leaf]].next = shortened(nodes.weight[at], wide);
    if (tells_impurity) tree.leaf_impurity.push_back(shortened(nodes.impurity[at], wide));
  }
  const auto zero = [](std::uint32_t impurity) { return impurity == 0; };
  if (std::all_of(tree.leaf_impurity.begin(), tree.leaf_impurity.end(), zero)) tree.leaf_impurity = {};
  if (!outputs.is_inline()) fill_table(tree, leaves, nodes, outputs, most, patience);
  tree.sets = std::move(shape.sets);
  tree.sets.shrink_to_fit();
  if (keep_rows) tree.rows = std::move(shape.rows);
  return tree;
}

Unpacked unpack(const CompactTree& tree, const Outputs& outputs, Criterion criterion, Interrupt& interrupt) {
  Unpacked out;
  Patience patience(interrupt);
  Shape& shape = out.shape;
  LeafSums leaves;
  const std::size_t width = outputs.width();
  for (std::size_t m = 0; m < tree.nodes.size(); ++m) {
    patience.spend(8 + width);
    const Node& node = tree.nodes[m];
    const bool leaf = node.leaf(), categorical = (node.head & Node::kCategorical) != 0;
    GrownNode& grown = shape.nodes.emplace_back();
    if (!leaf) {
      grown.right = static_cast<std::int32_t>(m + node.next);
      grown.feature = static_cast<std::int32_t>(node.head >> Node::kShift);
      grown.threshold = categorical ? kNaN : node.number;
      grown.missing_left = (node.head & Node::kMissingLeft) != 0;
      if (categorical) grown.set = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(node.number) >> 32);
      continue;
    }
    leaves.n_rows.push_back(node.head >> Node::kShift);
    leaves.weight.push_back(outputs.is_inline() ? lengthened(node.next, tree.wide) : node.number);
    leaves.value.resize(leaves.value.size() + width);
    double* value = &leaves.value[leaves.value.size() - width];
    if (outputs.is_inline()) {
      value[width - 1] = node.number;
      if (width == 2) value[0] = 1 - node.number;
    } else {
      tree.table.visit([&](const auto* cells) {
        const auto* row = cells + node.next * (1 + width);
        for (std::size_t k = 0; k < width; ++k) {
          value[k] = static_cast<double>(row[1 + k]) / static_cast<double>(row[0]);
        }
      });
    }
    leaves.impurity.push_back(
        tree.leaf_impurity.empty() ? 0.0 : lengthened(tree.leaf_impurity[leaves.impurity.size()], tree.wide));
  }
  shape.sets = tree.sets;
  out.nodes = summarise_leaves(shape, leaves, outputs.n_outputs, outputs.n_classes, criterion, interrupt);
  return out;
}

std::vector<double> importance_of(const CompactTree& tree, const Outputs& outputs, std::size_t columns,
                                  Criterion criterion, Interrupt& interrupt) {
  if (!tree.importance.empty()) return tree.importance;
  const Unpacked all = unpack(tree, outputs, criterion, interrupt);
  return importance_of(all.shape, all.nodes, columns);
}

std::vector<std::uint32_t> check_preorder(std::span<const std::int64_t> right, Interrupt& interrupt) {
  std::vector<std::uint32_t> depths(right.size());
  Patience patience(interrupt);
  walk_preorder(
      right.size(), patience, [&](std::size_t i) { return right[i]; },
      [&](std::size_t i, std::uint32_t depth) { depths[i] = depth; });
  return depths;
}

void check_tree(CompactTree& tree, const Outputs& outputs, std::span<const std::uint32_t> n_categories,
                Interrupt& interrupt) {
  std::size_t n_leaves = 0, sets_end = 0;
  const std::size_t row_bytes = (1 + outputs.width()) * tree.table.cell_bytes();
  Patience patience(interrupt);
  check_table(tree.table, outputs, patience);
  const auto check_node = [&](std::size_t i) -> std::int64_t {  // its "no" child, or -1
    const Node& node = tree.nodes[i];
    if (node.leaf()) {
      ++n_leaves;
      require(outputs.is_inline() || (std::size_t{node.next} + 1) * row_bytes <= tree.table.bytes.size(),
              "a leaf's value is out of range");
      require(std::isfinite(node.number), "a leaf does not say a finite number");
      require(!outputs.classifies() || node.number >= 0, "a leaf says a share below 0");
      require(!outputs.classifies() || !outputs.is_inline() || node.number <= 1, "a leaf says a share above 1");
      return -1;
    }
    const std::size_t column = node.head >> Node::kShift;
    require(column < n_categories.size(), "a column is out of range");
    if (node.head & Node::kCategorical) {
      const auto set = std::bit_cast<std::uint64_t>(node.number);
      const std::size_t begin = set >> 32, categories = set & 0xFFFFFFFF;
      require(n_categories[column] > 0, "a categorical test on a numeric column");
      require(categories == n_categories[column], "a set does not fit its column");
      // In the order of the nodes: so none is looked at twice.
      require(begin >= sets_end && begin < tree.sets.size(), "a set of categories is out of range");
      const std::size_t length = length_of_set(std::span(tree.sets).subspan(begin), n_categories[column]);
      require(length > 0, "a set of categories is damaged");
      sets_end = begin + length;
    } else {
      require(node.number > -kInf, "a threshold is missing");  // NaN as well
    }
    return static_cast<std::int64_t>(i + node.next);
  };
  std::uint32_t deepest = 0;
  walk_preorder(tree.nodes.size(), patience, check_node,
                [&](std::size_t, std::uint32_t depth) { deepest = std::max(deepest, depth); });
  tree.depth = deepest;
  require(tree.leaf_impurity.empty() || tree.leaf_impurity.size() == n_leaves, "one impurity per leaf");
  require(tree.importance.empty() || tree.importance.size() == n_categories.size(), "one importance per column");
  for (const double gain : tree.importance) require(!std::isnan(gain), "an importance is missing");
}

}  // namespace weald
