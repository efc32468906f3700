// Checks that a release build leaves out: WEALD_CHECKED turns them on, as sanitized builds do.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace weald {

#ifdef WEALD_CHECKED
inline constexpr bool kChecked = true;

[[noreturn]] inline void fail_check(const char* what, const char* file, int line) {
  std::fprintf(stderr, "weald: %s does not hold at %s:%d\n", what, file, line);
  std::abort();
}
#define WEALD_CHECK(what) ((what) ? void() : ::weald::fail_check(#what, __FILE__, __LINE__))
#else
inline constexpr bool kChecked = false;
#define WEALD_CHECK(what) void()
#endif

// Memory that changes hands is filled with rubbish, so that who relies on what was in it is found out.
template <class T>
void spoil([[maybe_unused]] T* memory, [[maybe_unused]] std::size_t n) {
  if constexpr (kChecked) {
    if (n > 0) std::memset(static_cast<void*>(memory), 0x5A, n * sizeof(T));
  }
}

// A pointer to the first of n values. Checked builds look at every index; else it is the pointer and nothing more.
template <class T>
class View {
 public:
  View() = default;
  View(std::nullptr_t) {}
#ifdef WEALD_CHECKED
  View(T* first, std::size_t n) : first_(first), n_(n) {}
#else
  View(T* first, std::size_t) : first_(first) {}
#endif

  T& operator[](std::size_t i) const {
    WEALD_CHECK(i < n_);
    return first_[i];
  }
  // Those from number `begin` on.
  View from(std::size_t begin) const {
#ifdef WEALD_CHECKED
    WEALD_CHECK(begin <= n_);
    return {first_ + begin, n_ - begin};
#else
    return {first_ + begin, 0};
#endif
  }
  // The address of one, which need not be there: for fetching ahead.
  T* address(std::size_t i) const { return first_ + i; }
  // n of them from number `begin` on, for somebody who does not look at indices.
  T* get(std::size_t begin, [[maybe_unused]] std::size_t n) const {
    WEALD_CHECK(begin <= n_ && n <= n_ - begin);
    return first_ + begin;
  }
  operator View<const T>() const
    requires(!std::is_const_v<T>)
  {
#ifdef WEALD_CHECKED
    return {first_, n_};
#else
    return {first_, 0};
#endif
  }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  T* first_ = nullptr;
#ifdef WEALD_CHECKED
  std::size_t n_ = 0;
#endif
};

template <class T, class A>
View<const T> view(const std::vector<T, A>& values) {
  return {values.data(), values.size()};
}
template <class T, class A>
View<T> view(std::vector<T, A>& values) {
  return {values.data(), values.size()};
}

}  // namespace weald
