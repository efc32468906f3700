// Memory for large arrays: straight from the system and straight back to it.
//
// A general allocator keeps freed memory for later, in pieces that may not fit what comes next; a
// fit that gathers and drops blocks of many sizes would leave the process half again as large as it
// needs to be. Elements are left uninitialised unless a value is given: most arrays here are
// written in full right after they are made.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#define WEALD_HAS_MMAP 1
#endif

namespace weald {

template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}

  // Below this, asking the system costs more than it saves.
  static constexpr std::size_t kFromPages = 256 * 1024;

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
#ifdef WEALD_HAS_MMAP
    if (n * sizeof(T) >= kFromPages) {
      void* p = mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      return static_cast<T*>(p);
    }
#endif
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }

  void deallocate(T* p, std::size_t n) noexcept {
#ifdef WEALD_HAS_MMAP
    if (n * sizeof(T) >= kFromPages) {
      munmap(p, n * sizeof(T));
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

template <class T>
using BigVector = std::vector<T, PageAllocator<T>>;

}  // namespace weald
