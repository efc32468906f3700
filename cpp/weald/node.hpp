// A node while the tree grows.
#pragma once

#include <algorithm>
#include <deque>

#include "grow.hpp"

namespace weald {

using Histogram = std::vector<Lane>;  // the cells of every column of a block, one after another

struct OpenNode {
  std::uint32_t id = 0;                // place in its subtree's list of finished nodes
  std::size_t begin = 0, end = 0;      // rows[begin, end)
  std::size_t depth = 0;
  std::uint64_t key = 0;               // of its random numbers: a hash of the path from the root
  double lower = -kInf, upper = kInf;  // bounds in units of G / H
  std::shared_ptr<const Block> block;
  std::unique_ptr<Histogram> histogram;  // if it pays to keep it for the children
  std::vector<Lane> total;
  Split split;
  double gain = 0;

  std::size_t size() const { return end - begin; }
};

// What remains of a node once it is decided.
struct DoneNode {
  std::int32_t left = -1, right = -1;  // in the same subtree
  std::int32_t subtree = -1;           // or: the node is the root of this other subtree
  std::int32_t feature = -2;
  double threshold = -2;
  bool missing_left = false;
  std::vector<Code> left_codes;        // categorical: codes of the matrix that go left
  double lower = -kInf, upper = kInf;
  std::size_t begin = 0, end = 0;
};

// The open nodes. The whole difference between the three orders of growth is which one is next.
class OpenNodes {
 public:
  explicit OpenNodes(Frontier order) : order_(order) {}
  bool empty() const { return nodes_.empty(); }

  void push(OpenNode&& node) {
    nodes_.push_back(std::move(node));
    if (order_ == Frontier::BestFirst) std::push_heap(nodes_.begin(), nodes_.end(), worse);
  }

  OpenNode pop() {
    if (order_ == Frontier::BestFirst) {
      std::pop_heap(nodes_.begin(), nodes_.end(), worse);
    } else if (order_ == Frontier::ByLevel) {
      OpenNode node = std::move(nodes_.front());
      nodes_.pop_front();
      return node;
    }
    OpenNode node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  // Equal gains: the node that was opened first.
  static bool worse(const OpenNode& a, const OpenNode& b) {
    return a.gain < b.gain || (a.gain == b.gain && a.id > b.id);
  }
  Frontier order_;
  std::deque<OpenNode> nodes_;
};

}  // namespace weald
