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

// The rows of a value table as they are met: equal ones are kept once.
template <class T>
class TableBuilder {
 public:
  TableBuilder(std::size_t width, std::size_t most_rows)
      : width_(width), places_(std::bit_ceil(2 * most_rows + 1), kFree) {}

  std::uint32_t add(const std::vector<T>& row) {
    const auto* own = row.data();
    std::uint64_t hash = 0;  // of words that need not wait for each other
    for (std::size_t byte = 0; byte < width_ * sizeof(T); byte += sizeof(hash)) {
      std::uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const char*>(own) + byte, std::min(sizeof(word), width_ * sizeof(T) - byte));
      hash += (word ^ word >> 32) * (byte * 2 + 0x9E3779B97F4A7C15);
    }
    hash = mix(hash);
    for (std::size_t place = hash;; ++place) {
      std::uint32_t& found = places_[place & (places_.size() - 1)];
      if (found == kFree) {
        cells_.insert(cells_.end(), row.begin(), row.end());
        return found = n_rows_++;
      }
      if (std::equal(own, own + width_, &cells_[found * width_])) return found;
    }
  }

  BigVector<std::uint8_t> bytes() const {
    BigVector<std::uint8_t> out(cells_.size() * sizeof(T));
    if (!cells_.empty()) std::memcpy(out.data(), cells_.data(), out.size());
    return out;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  std::size_t width_;
  std::uint32_t n_rows_ = 0;
  BigVector<T> cells_;
  BigVector<std::uint32_t> places_;  // by hash, or after it: the number of a row
};

// Calls fn(m, leaf) with every leaf and its number; ends early if it returns false.
template <class Fn>
bool for_leaves(const Shape& shape, Fn&& fn) {
  for (std::size_t m = 0, leaf = 0; m < shape.size(); ++m) {
    if (shape.right[m] < 0 && !fn(m, leaf++)) return false;
  }
  return true;
}

// Whole class weights, from which the shares come back bit by bit? The largest weight of a leaf.
double whole_weights(const Shape& shape, const Summary& nodes, const Outputs& outputs, Patience& patience) {
  if (!outputs.classifies()) return kInf;
  double most = 0;
  const bool all = for_leaves(shape, [&](std::size_t m, std::size_t leaf) {
    patience.spend(8 + 2 * outputs.width());
    const double weight = nodes.weight[m];
    bool whole = weight == std::floor(weight);
    nodes.for_values(m, leaf, [&](std::size_t, double v) { whole &= std::round(v * weight) / weight == v; });
    most = std::max(most, weight);
    return whole;
  });
  return all ? most : kInf;
}

// The row of a leaf: W and the class weights if those are whole, else 1 and the values.
void fill_table(CompactTree& tree, const Shape& shape, const Summary& nodes, const Outputs& outputs,
                Patience& patience) {
  const double most = whole_weights(shape, nodes, outputs, patience);
  const std::size_t width = 1 + outputs.width();
  const auto fill = [&]<class T>(T, Cell cell) {
    const bool whole = cell != Cell::Real;
    TableBuilder<T> builder(width, shape.size() / 2 + 1);
    std::vector<T> row(width, 0);
    for_leaves(shape, [&](std::size_t m, std::size_t leaf) {
      patience.spend(64 + 8 * width);
      const double weight = nodes.weight[m];
      row[0] = static_cast<T>(whole ? weight : 1);
      nodes.for_values(m, leaf, [&](std::size_t k, double value) {
        row[1 + k] = static_cast<T>(whole ? std::round(value * weight) : value);
      });
      tree.nodes[m].number = weight;
      tree.nodes[m].next = builder.add(row);
      nodes.for_values(m, leaf, [&](std::size_t k, double) { row[1 + k] = 0; });
      return true;
    });
    tree.table = {cell, builder.bytes()};
  };
  if (most < 0x1p8) return fill(std::uint8_t{}, Cell::Byte);
  if (most < 0x1p16) return fill(std::uint16_t{}, Cell::Short);
  if (most < 0x1p32) return fill(std::uint32_t{}, Cell::Word);
  fill(double{}, Cell::Real);
}

std::vector<double> importance_of(const Shape& shape, const Summary& nodes, std::size_t n_columns) {
  std::vector<double> out(n_columns, 0.0);
  const auto mass = [&](std::size_t m) { return nodes.weight[m] * nodes.impurity[m]; };
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (shape.right[m] < 0) continue;
    const double gain = mass(m) - mass(m + 1) - mass(static_cast<std::size_t>(shape.right[m]));
    out[static_cast<std::size_t>(shape.feature[m])] += gain / nodes.weight[0];
  }
  return out;
}

// Of a tree that is known to be one; children come after their parents.
std::uint32_t depth_of(std::span<const std::int32_t> right) {
  std::vector<std::uint32_t> height(right.size(), 0);
  for (std::size_t m = right.size(); m-- > 0;) {
    if (right[m] >= 0) height[m] = 1 + std::max(height[m + 1], height[static_cast<std::size_t>(right[m])]);
  }
  return height[0];
}

bool beyond_floats(const Shape& shape, const Summary& nodes) {
  const auto beyond = [](double x) {
    return x > 0 && (x < std::numeric_limits<float>::min() || x > std::numeric_limits<float>::max());
  };
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (shape.right[m] < 0 && (beyond(nodes.weight[m]) || beyond(nodes.impurity[m]))) return true;
  }
  return false;
}

}  // namespace

CompactTree pack(Shape shape, const Summary& nodes, const Outputs& outputs, std::span<const std::uint32_t> n_categories,
                 bool keep_rows, Interrupt& interrupt) {
  CompactTree tree;
  Patience patience(interrupt);
  tree.nodes.resize(shape.size());
  tree.importance = importance_of(shape, nodes, n_categories.size());
  tree.depth = depth_of(shape.right);
  tree.wide = beyond_floats(shape, nodes);
  for (std::size_t m = 0; m < shape.size(); ++m) {
    patience.spend(8);
    Node& node = tree.nodes[m];
    if (shape.right[m] < 0) {
      const auto rows = static_cast<std::uint32_t>(std::min<std::int64_t>(nodes.n_rows[m], Node::kMost));
      node.head = rows << Node::kShift | Node::kLeaf;
      if (outputs.is_inline()) node.number = nodes.value[(m + 1) * outputs.width() - 1];  // the only one, or class 1's
      node.next = shortened(nodes.weight[m], tree.wide);
      continue;
    }
    node.head = static_cast<std::uint32_t>(shape.feature[m]) << Node::kShift;
    if (shape.missing_left[m]) node.head |= Node::kMissingLeft;
    node.next = static_cast<std::uint32_t>(shape.right[m]) - static_cast<std::uint32_t>(m);
    node.number = shape.threshold[m];
    if (shape.set_begin[m] >= 0) {
      node.head |= Node::kCategorical;
      node.number = categorical_number(static_cast<std::uint32_t>(shape.set_begin[m]),
                                       n_categories[static_cast<std::size_t>(shape.feature[m])]);
    }
  }
  if (!outputs.is_inline()) fill_table(tree, shape, nodes, outputs, patience);
  if (!outputs.classifies()) {
    for (std::size_t m = 0; m < shape.size(); ++m) {
      if (shape.right[m] < 0) tree.leaf_impurity.push_back(shortened(nodes.impurity[m], tree.wide));
    }
    const auto zero = [](std::uint32_t impurity) { return impurity == 0; };
    if (std::all_of(tree.leaf_impurity.begin(), tree.leaf_impurity.end(), zero)) tree.leaf_impurity = {};
  }
  tree.leaf_impurity.shrink_to_fit();
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
    shape.right.push_back(leaf ? -1 : static_cast<std::int32_t>(m + node.next));
    shape.feature.push_back(leaf ? -2 : static_cast<std::int32_t>(node.head >> Node::kShift));
    shape.threshold.push_back(leaf ? -2 : categorical ? kNaN : node.number);
    shape.missing_left.push_back(!leaf && (node.head & Node::kMissingLeft) != 0);
    const std::uint64_t set = categorical ? std::bit_cast<std::uint64_t>(node.number) : 0;
    shape.set_begin.push_back(categorical ? static_cast<std::int32_t>(set >> 32) : -1);
    if (!leaf) continue;
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

namespace {

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

}  // namespace

std::vector<std::uint32_t> check_preorder(std::span<const std::int64_t> right, Interrupt& interrupt) {
  std::vector<std::uint32_t> depths(right.size());
  Patience patience(interrupt);
  walk_preorder(
      right.size(), patience, [&](std::size_t i) { return right[i]; },
      [&](std::size_t i, std::uint32_t depth) { depths[i] = depth; });
  return depths;
}

namespace {

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
