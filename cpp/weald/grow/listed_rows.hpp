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
        : rows_(rows.rows), n_(rows.n) {
      if (stats.layout == Layout::Packed) {
        words_ = &memory.words_;
        if (words_->size() < block.n_rows) words_->resize(block.n_rows, 0);
        for (std::size_t i = 0; i < n_; ++i) (*words_)[rows_[i]] = rows.words[i];
        request.word_of_row = view(std::as_const(*words_));
      } else {
        places_ = &memory.places_;
        if (places_->size() < block.n_rows) places_->resize(block.n_rows, 0);
        for (std::size_t i = 0; i < n_; ++i) (*places_)[rows_[i]] = static_cast<std::uint32_t>(i + 1);
        request.place_of_row = view(std::as_const(*places_));
      }
    }
    ~Use() {
      for (std::size_t i = 0; i < n_ && words_; ++i) (*words_)[rows_[i]] = 0;
      for (std::size_t i = 0; i < n_ && places_; ++i) (*places_)[rows_[i]] = 0;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    View<const Row> rows_;
    std::size_t n_;
    BigVector<Lane>* words_ = nullptr;
    BigVector<std::uint32_t>* places_ = nullptr;
  };

 private:
  BigVector<Lane> words_;  // all zero between nodes, as the next
  BigVector<std::uint32_t> places_;
};

}  // namespace weald
