// The growth loop below one node: pop, decide, expand, record, push.
#pragma once

#include <mutex>

#include "weald/base/paths.hpp"
#include "weald/grow/expand.hpp"
#include "weald/grow/small_subtrees.hpp"

namespace weald {

// Grows the subtree below one node.
class SubtreeGrower {
 public:
  SubtreeGrower(const Plan& plan, View<Row> rows, std::size_t threads)
      : plan_(plan),
        rows_(rows),
        threads_(threads),
        expander_(plan, rows, threads),
        small_subtrees_(plan),
        patience_(plan.interrupt) {}

  // Nodes of fewer than `defer_below` rows are left to `defer`, which takes the node and says which
  // subtree it becomes.
  template <class Defer>
  Subtree grow(OpenNode root, std::size_t defer_below, Defer&& defer) {
    OpenNodes open(plan_.rules.frontier);
    tree_.nodes.reserve(most_nodes(root));  // no page of it is there before it is written to
    add_nodes(1);
    root.id = 0;
    if (!root.histogram && expander_.worth_histogram(root)) root.histogram = expander_.count_histogram(root);
    // Best-first has to know a node's gain to queue it; the others look when its turn comes, so that
    // waiting nodes hold no blocks of their own.
    const bool decides_first = plan_.rules.frontier == Frontier::BestFirst;
    if (decides_first) expander_.decide_first(root, 0);
    offer(std::move(root), open);
    std::size_t leaves = 1;
    while (!open.empty()) {
      if (decides_first && splits_left(leaves) > 0 && worth_apart(open.first())) grow_apart(open, leaves);
      if (open.empty()) break;
      OpenNode node = open.pop();
      patience_.spend(16 * (node.size() + 16));  // about what a row costs in all columns
      if (node.size() <= kFewRows && !node.block->bytes) expander_.gather_if_small(node);  // codes become bytes
      if (small_subtrees_.grow(node, rows_, tree_)) continue;
      const std::optional<Decision> decision = splits_left(leaves) > 0 ? decision_of(node) : std::nullopt;
      if (!decision) {
        close(node);
        continue;
      }
      ++leaves;
      Histogram histogram = std::move(node.histogram);
      Expansion made =
          expander_.expand(node, std::move(histogram), decision->split, least_gain(open, splits_left(leaves)));
      record(node, decision->split, made);
      for (std::size_t side : {1, 0}) {  // a stack: push the left child last, to have it next
        OpenNode& child = made.children[side];
        if (child.size() < defer_below && expander_.could_split(child)) {
          const std::uint32_t id = child.id;
          tree_.nodes[id].subtree = defer(std::move(child));
        } else {
          offer(std::move(child), open);
        }
      }
    }
    return std::exchange(tree_, {});
  }

  // Chooses the units in which a node of real targets is summed.
  void measure(OpenNode& node) { expander_.measure(node); }

  // Gives back the memory for searching large nodes while others are at work.
  void release_scratch() { expander_.release_scratch(); }

 private:
  // How many leaves may still be split.
  std::size_t splits_left(std::size_t leaves) const {
    const std::size_t most = plan_.rules.max_leaves;
    return most == 0 ? std::numeric_limits<std::size_t>::max() : most - std::min(leaves, most);
  }

  // What a node must gain to be split at all while so many splits are left; infinite: none will be.
  double least_gain(const OpenNodes& open, std::size_t left) const {
    return plan_.rules.frontier == Frontier::BestFirst ? open.gain_of(left) : left > 0 ? 0 : kInf;
  }

  // What becomes of a node whose turn has come.
  std::optional<Decision> decision_of(OpenNode& node) {
    return node.decision ? std::optional<Decision>(std::move(*node.decision)) : expander_.decide(node);
  }

  void offer(OpenNode node, OpenNodes& open) {
    const bool best_first = plan_.rules.frontier == Frontier::BestFirst;
    const bool may_split = best_first ? node.decision != nullptr : expander_.could_split(node);
    may_split ? open.push(std::move(node)) : close(node);
  }

  // Is the node better left to one thread while the others are at work on others? Its rows must stay what they
  // are until a leaf is closed, since it may be split in vain.
  bool worth_apart(const OpenNode& node) const {
    return uses(Path::NodesApart) && threads_ > 1 && plan_.rules.max_leaves != 0 &&
           expander_.search().histograms().by_rows(*node.block) &&
           kUpdateNs * static_cast<double>(node.size() * plan_.columns_per_node) < kWorthAllThreadsNs;
  }

  // Splits nodes with a thread each, until the next one is worth all of them. A thread takes the first in the
  // queue that nobody has taken, though something better may still turn up. What becomes of it is decided when
  // its turn comes: then its children join the tree and the queue, or are forgotten.
  void grow_apart(OpenNodes& open, std::size_t& leaves) {
    while (apart_.size() < threads_) apart_.push_back(std::make_unique<Expander>(plan_, rows_, 1));
    SpinLock mutex;  // of all but the expansions
    std::atomic<std::size_t> changes{0};
    parallel_for(threads_, threads_, plan_.interrupt, [&](std::size_t part) {
      std::unique_lock lock(mutex);
      while (true) {
        for (; !open.empty() && splits_left(leaves) > 0 && is_done(open.first()); ++changes) {
          const OpenNode node = open.pop();
          ++leaves;
          Expansion& made = *node.ahead->made;
          record(node, node.decision->split, made);
          for (OpenNode& child : made.children) offer(std::move(child), open);
        }
        if (open.empty() || splits_left(leaves) == 0) return;
        if (!open.first().ahead && !worth_apart(open.first())) return;
        const std::size_t seen = changes;
        if (Task task = take_next(open, splits_left(leaves)); task.out) {
          lock.unlock();
          Expansion made = apart_[part]->expand(task.node, std::move(task.histogram), *task.split, task.least_gain);
          lock.lock();
          task.out->made = std::move(made);
          ++changes;
        } else {
          lock.unlock();
          wait_until([&] { return changes != seen; }, plan_.interrupt);
          lock.lock();
        }
      }
    });
  }

  static bool is_done(const OpenNode& node) { return node.ahead && node.ahead->made; }

  // A node that is split ahead of its turn. Its place in the queue stays where it is.
  struct Task {
    OpenNode node;
    Histogram histogram;
    const Split* split = nullptr;
    double least_gain = 0;  // of the splits of its children
    Ahead* out = nullptr;   // null: nothing to do at the moment
  };

  // The number k in the queue is split unless `left` - k better ones turn up: no more than a part of these are
  // taken ahead.
  Task take_next(OpenNodes& open, std::size_t left) {
    const std::vector<OpenNode*> nodes = open.next(std::min(left, std::max(threads_, left / 4)));
    Task out;
    for (std::size_t k = 0; k < nodes.size() && !out.out; ++k) {
      OpenNode& node = *nodes[k];
      if (node.ahead || !worth_apart(node)) continue;
      node.ahead = std::make_unique<Ahead>();
      out.split = &node.decision->split, out.least_gain = k + 1 < left ? least_gain(open, left) : kInf,
      out.out = node.ahead.get();
      out.node.begin = node.begin, out.node.end = node.end, out.node.depth = node.depth, out.node.key = node.key;
      out.node.sum = node.sum, out.node.block = node.block, out.histogram = std::move(node.histogram);
      if (node.frame) out.node.frame = std::make_unique<Frame>(*node.frame);
    }
    return out;
  }

  // The node becomes a leaf: its rows get back their numbers in the matrix.
  void close(const OpenNode& node) {
    record_place(node);
    if (node.ahead && node.ahead->made) {  // in vain: the rows are put back into their order
      Row* const rows = rows_.get(node.begin, node.size());
      std::inplace_merge(rows, rows + node.ahead->made->children[0].size(), rows + node.size());
    }
    if (const View<const Row> origin = node.block->origin) {
      for (std::size_t i = node.begin; i < node.end; ++i) rows_[i] = origin[rows_[i]];
    }
  }

  // No subtree has more: every leaf has a row, and every other node two children.
  std::size_t most_nodes(const OpenNode& root) const {
    const std::size_t leaves =
        plan_.rules.max_leaves != 0 ? std::min(plan_.rules.max_leaves, root.size()) : root.size();
    const std::size_t levels = plan_.rules.max_depth - std::min<std::size_t>(plan_.rules.max_depth, root.depth);
    return 2 * (levels < 32 ? std::min(leaves, std::size_t{1} << levels) : leaves);
  }

  // Makes room for n more nodes; the number of the first.
  std::uint32_t add_nodes(std::size_t n) {
    const std::size_t first = tree_.nodes.size();
    tree_.nodes.resize(first + n);
    if (!plan_.rules.monotone.empty()) tree_.bounds.resize(first + n);
    return static_cast<std::uint32_t>(first);
  }

  DoneNode& record_place(const OpenNode& node) {
    DoneNode& done = tree_.nodes[node.id];
    done.begin = node.begin, done.end = node.end, done.sum = node.sum;
    if (!tree_.bounds.empty()) tree_.bounds[node.id] = node.frame->bounds;
    return done;
  }

  // Gives a node that has been split, and its children, their places in the tree.
  void record(const OpenNode& node, const Split& split, Expansion& made) {
    const std::uint32_t first_child = add_nodes(2);
    made.children[0].id = first_child, made.children[1].id = first_child + 1;
    DoneNode& done = record_place(node);
    done.left = static_cast<std::int32_t>(first_child);
    done.feature = static_cast<std::int32_t>(split.column);
    done.threshold = made.threshold;
    done.missing_left = made.missing_left;
    if (!split.categorical) return;
    tree_.add_set(done, made.left_codes);
  }

  const Plan& plan_;
  View<Row> rows_;
  std::size_t threads_;
  Expander expander_;                             // for nodes in their turn, with all threads
  std::vector<std::unique_ptr<Expander>> apart_;  // one for each thread, for nodes ahead of it
  SmallSubtrees small_subtrees_;
  Subtree tree_;
  Patience patience_;
};

}  // namespace weald
