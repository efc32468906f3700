// The rows of a node of a sparse table, looked up by number: what the lists of its columns are held against.
#pragma once

#include "weald/search/column_search.hpp"
#include "weald/stats/blocks.hpp"

namespace weald {

class ListedRows {
 public:
  // Tells a search which rows of the block are the node's, as long as this lives.
  class Use {
   public:
    Use(ListedRows& memory, const Channels& stats, const Block& block, const NodeRows& rows, SearchRequest& request)
        : rows_(rows.rows), n_(rows.n), known_(memory.known_) {
      if (known_.size() < block.n_rows) known_.resize(block.n_rows, 0);
      const bool packed = stats.layout == Layout::Packed;
      for (std::size_t i = 0; i < n_; ++i) known_[rows_[i]] = packed ? rows.words[i] : static_cast<Lane>(i + 1);
      request.known_of_row = view(std::as_const(known_));
    }
    ~Use() {
      for (std::size_t i = 0; i < n_; ++i) known_[rows_[i]] = 0;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    View<const Row> rows_;
    std::size_t n_;
    BigVector<Lane>& known_;
  };

 private:
  BigVector<Lane> known_;  // all zero between nodes
};

}  // namespace weald
