// Histograms that are no longer needed, for the next nodes and trees: fresh memory costs more than what is
// counted into it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "weald/base/checks.hpp"
#include "weald/base/paths.hpp"
#include "weald/base/sizes.hpp"
#include "weald/base/threads.hpp"
#include "weald/base/types.hpp"

namespace weald {

using Histogram = std::vector<Lane>;  // the cells of every column of a block, one after another

// A histogram goes back when its owner lets go of it, and only then: there is no call to make, so none can
// be forgotten, made twice or made while somebody still looks.
class HistogramPool {
 public:
  struct GiveBack {
    HistogramPool* pool = nullptr;
    void operator()(Histogram* histogram) const noexcept { pool->keep(std::unique_ptr<Histogram>(histogram)); }
  };
  using Handle = std::unique_ptr<Histogram, GiveBack>;

  HistogramPool() = default;
  ~HistogramPool() { WEALD_CHECK(lent_ == 0); }
  HistogramPool(const HistogramPool&) = delete;
  HistogramPool& operator=(const HistogramPool&) = delete;

  // Of any size, with anything in it.
  Handle take() {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Histogram> out;
    if (free_.empty()) {
      if (free_.capacity() < kPooledHistograms) free_.reserve(kPooledHistograms);  // giving back must not allocate
      out = std::make_unique<Histogram>();
    } else {
      out = std::move(free_.back());
      free_.pop_back();
    }
    ++lent_;
    return {out.release(), GiveBack{this}};
  }

 private:
  void keep(std::unique_ptr<Histogram> histogram) noexcept {
    spoil(histogram->data(), histogram->size());
    const std::lock_guard lock(mutex_);
    --lent_;
    if (uses(Path::HistogramPool) && free_.size() < kPooledHistograms) free_.push_back(std::move(histogram));
  }

  SpinLock mutex_;
  std::size_t lent_ = 0;
  std::vector<std::unique_ptr<Histogram>> free_;
};

using PooledHistogram = HistogramPool::Handle;

}  // namespace weald
