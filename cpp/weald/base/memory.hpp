// Memory for large arrays: straight from the system and straight back to it.
//
// A general allocator keeps freed memory for later, in pieces that may not fit what comes next; a
// fit that gathers and drops blocks of many sizes would leave the process half again as large as it
// needs to be. Elements are left uninitialised unless a value is given: most arrays here are
// written in full right after they are made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "weald/base/checks.hpp"
#include "weald/base/sizes.hpp"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>

#include "weald/base/paths.hpp"
#define WEALD_HAS_MMAP 1
#endif

namespace weald {

#ifdef WEALD_HAS_MMAP
// Large arrays that are freed on a thread while it uses one of these are kept for the next of their
// size. For many trees one after another: a fresh page costs as much as what a tree writes into it.
class PageCache {
 public:
  explicit PageCache(std::size_t most = kCachedBytes) : most_(most) {
    kept_.reserve(kCachedArrays);  // giving back must not allocate
  }
  ~PageCache() {
    for (const Piece& piece : kept_) munmap(piece.memory, piece.bytes);
  }
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // The calling thread uses the cache as long as this lives.
  class Use {
   public:
    explicit Use(PageCache& cache) : before_(std::exchange(current(), &cache)) {}
    ~Use() { current() = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    PageCache* before_;
  };

  static void* take(std::size_t bytes) {
    if (PageCache* cache = current()) {
      for (Piece& piece : cache->kept_) {
        if (piece.bytes != bytes) continue;
        void* memory = piece.memory;
        piece = cache->kept_.back();
        cache->kept_.pop_back();
        cache->bytes_ -= bytes;
        return memory;
      }
    }
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
    // Rows are read here and there: with small pages most of the time would go into finding them.
    if (uses(Path::HugePages) && bytes >= kHugePages) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
  }

  static void give(void* memory, std::size_t bytes) noexcept {
    PageCache* cache = current();
    if (cache == nullptr || !uses(Path::PageCache) || cache->kept_.size() >= kCachedArrays ||
        cache->bytes_ + bytes > cache->most_) {
      munmap(memory, bytes);
      return;
    }
    cache->kept_.push_back({memory, bytes});
    cache->bytes_ += bytes;
  }

  // Sizes come in steps of an eighth, so that arrays of nearly the same size find each other.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
  }

 private:
  struct Piece {
    void* memory;
    std::size_t bytes;
  };

  static PageCache*& current() {
    static thread_local PageCache* cache = nullptr;
    return cache;
  }
  std::size_t most_, bytes_ = 0;
  std::vector<Piece> kept_;
};
#else
struct PageCache {
  explicit PageCache(std::size_t = 0) {}
  PageCache(const PageCache&) = delete;  // as above: whoever has one is not copied
  PageCache& operator=(const PageCache&) = delete;
  struct Use {
    explicit Use(PageCache&) {}
  };
};
#endif

template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    T* memory = nullptr;
#ifdef WEALD_HAS_MMAP
    if (n * sizeof(T) >= kFromPages) {
      memory = static_cast<T*>(PageCache::take(PageCache::rounded(n * sizeof(T))));
      if (memory == nullptr) throw std::bad_alloc();
    }
#endif
    if (memory == nullptr) memory = static_cast<T*>(::operator new(n * sizeof(T)));
    spoil(memory, n);  // it may have been somebody else's
    return memory;
  }

  void deallocate(T* p, std::size_t n) noexcept {
#ifdef WEALD_HAS_MMAP
    if (n * sizeof(T) >= kFromPages) {
      PageCache::give(p, PageCache::rounded(n * sizeof(T)));
      return;
    }
#endif
    ::operator delete(p);
  }

  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

// The library marks the spare room of a vector for the address sanitizer only if it has the usual allocator.
template <class T>
#ifdef _GLIBCXX_SANITIZE_VECTOR
using BigVector = std::vector<T>;
#else
using BigVector = std::vector<T, PageAllocator<T>>;
#endif

// Some of an array are about to be written: its pages are asked for together, which takes half the time of one by one.
template <class T>
void populate([[maybe_unused]] BigVector<T>& list, [[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t n) {
#if defined(WEALD_HAS_MMAP) && defined(MADV_POPULATE_WRITE)
  constexpr std::size_t kPage = 4096;
  if (list.capacity() * sizeof(T) < kFromPages) return;
  const std::size_t begin = first * sizeof(T) / kPage * kPage, end = std::min(list.size(), first + n) * sizeof(T);
  madvise(reinterpret_cast<char*>(list.data()) + begin, end - begin, MADV_POPULATE_WRITE);
#endif
}

}  // namespace weald
