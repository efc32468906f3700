// A small thread pool of our own: rebuilt after fork, never nested, the same result for any size.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <thread>

#include "sizes.hpp"

namespace weald {

// Thrown out of the core when the user asked to stop (Ctrl-C).
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Lets a long computation ask, a few times a second, whether it should stop. Only the thread that
// entered the core may run the caller's check (it may have to take the interpreter's lock);
// the others just look at the flag.
class Interrupt {
 public:
  explicit Interrupt(std::function<bool()> should_stop = {});
  void poll();  // throws Interrupted once the caller's check, or another thread, said stop
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  std::function<bool()> should_stop_;
  std::thread::id owner_;
  std::atomic<bool> stopped_{false};
  std::chrono::steady_clock::time_point next_check_;
};

std::size_t hardware_threads();  // cores this process may run on

// Runs fn(i) for i in 0..n-1 on up to `threads` threads, the calling one among them. Tasks are
// handed out in ascending order. Serial when called from inside a task. The first exception is
// rethrown after every task has stopped.
void parallel_for(std::size_t threads, std::size_t n, Interrupt& interrupt,
                  const std::function<void(std::size_t)>& fn);

// The same with fn(i, scratch), where each thread has a Scratch of its own to reuse.
template <class Scratch, class Fn>
void parallel_for_with(std::size_t threads, std::size_t n, Interrupt& interrupt, Fn&& fn) {
  std::atomic<std::size_t> next{0};
  parallel_for(threads, threads < n ? threads : n, interrupt, [&](std::size_t) {
    Scratch scratch;
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
      interrupt.poll();
      fn(i, scratch);
    }
  });
}

// Looks for a moment whether something has happened: being woken takes longer than most of what a small tree
// has to wait for.
template <class Happened>
bool watch_for(Happened&& happened, int looks) {
  for (int look = 0; look < looks; ++look) {
    if (happened()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

// A mutex for moments: sleeping over it would take longer.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      while (!watch_for([this] { return !flag_.test(std::memory_order_relaxed); }, 1000)) std::this_thread::yield();
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

// Waits, wide awake, for something that another task of the same parallel_for is about to do.
template <class Happened>
void wait_until(Happened&& happened, Interrupt& interrupt) {
  while (!watch_for(happened, 1000)) {
    interrupt.poll();
    std::this_thread::yield();
  }
}

// How many threads are worth waking for work of about this many nanoseconds.
inline std::size_t useful_threads(std::size_t threads, double work_ns) {
  const auto useful = static_cast<std::size_t>(work_ns / kWorthThreadNs);
  return useful < 2 ? 1 : useful < threads ? useful : threads;
}

}  // namespace weald
