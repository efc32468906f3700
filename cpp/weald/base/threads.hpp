// A small thread pool of our own: rebuilt after fork, never nested, the same result for any size.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <thread>

#include "weald/base/sizes.hpp"

namespace weald {

// Thrown out of the core when the user asked to stop (Ctrl-C).
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Thrown in the child of a fork by a handler of signals, if the handler returns to a call that has lost its
// threads.
struct Orphaned : std::runtime_error {
  Orphaned()
      : std::runtime_error("A call that was under way in several threads cannot go on in a forked child process.") {}
};

// Lets a long computation ask, a few times a second, whether it should stop. Only the thread that
// entered the core may run the caller's check (it may have to take the interpreter's lock);
// the others just look at the flags.
//
// The check may run handlers of signals, and these may fork. The child has only the thread that forked, and what
// the others were writing at that moment stays half written. So they are halted first, where they poll: there
// nothing is half written, and in the child the call can be given up in an orderly way (Orphaned).
class Interrupt {
 public:
  explicit Interrupt(std::function<bool()> should_stop = {});
  void poll();  // throws Interrupted once the caller's check, or another thread, said stop
  void stop() { flags_.fetch_or(kStopped, std::memory_order_relaxed); }
  bool stopped() const { return (flags_.load(std::memory_order_relaxed) & kStopped) != 0; }
  bool orphaned() const { return (flags_.load(std::memory_order_relaxed) & kOrphaned) != 0; }

  std::size_t cores();  // this process may run on, as they were at the first question

  std::atomic<std::size_t> jobs{0};     // that the owner shares with other threads at the moment
  std::atomic<std::size_t> helpers{0};  // other threads at work on them

  // Before and after a fork by this thread: for all the calls that it is in.
  static void halt_all();
  static void resume_all(bool in_child);

 private:
  static constexpr unsigned kStopped = 1, kHalted = 2, kOrphaned = 4;
  void ask();
  void heed();

  std::function<bool()> should_stop_;
  std::thread::id owner_;
  std::atomic<std::size_t> cores_{0};
  std::atomic<unsigned> flags_{0};
  std::atomic<std::size_t> waiting_{0};  // helpers that have halted
  Interrupt* outer_ = nullptr;           // while asking: the call whose check led to this one
  std::chrono::steady_clock::time_point next_check_;
};

// Asks after a stretch of work: asking takes longer than what most loops do for one row or one node.
class Patience {
 public:
  explicit Patience(Interrupt& interrupt) : interrupt_(interrupt) {}
  // Some work was done, about as much as that of so many rows of one column.
  void spend(std::size_t work) {
    if ((spent_ += work) < kWorkBetweenPolls) return;
    spent_ = 0;
    interrupt_.poll();
  }

 private:
  Interrupt& interrupt_;
  std::size_t spent_ = 0;
};

// Runs fn(begin, end) over stretches of begin..end-1, one after another, and asks in between.
template <class Fn>
void for_stretches(std::size_t begin, std::size_t end, Patience& patience, Fn&& fn) {
  for (std::size_t to; begin < end; begin = to) {
    to = end - begin < kWorkBetweenPolls ? end : begin + kWorkBetweenPolls;
    fn(begin, to);
    patience.spend(to - begin);
  }
}
template <class Fn>
void for_stretches(std::size_t begin, std::size_t end, Interrupt& interrupt, Fn&& fn) {
  Patience patience(interrupt);
  for_stretches(begin, end, patience, fn);
}

// Runs fn(i) for i in begin..end-1, and asks in between; `asked` is a Patience or an Interrupt.
template <class Asked, class Fn>
void for_all(std::size_t begin, std::size_t end, Asked& asked, Fn&& fn) {
  for_stretches(begin, end, asked, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) fn(i);
  });
}

// Runs arrange(less), a call of std::sort or the like on n items, and asks on the way if they are many.
template <class Arrange>
void arrange_patiently(std::size_t n, Interrupt& interrupt, Arrange&& arrange) {
  if (n < kWorkBetweenPolls) return arrange([](const auto& a, const auto& b) { return a < b; });
  Patience patience(interrupt);
  arrange([&patience](const auto& a, const auto& b) {
    patience.spend(1);
    return a < b;
  });
}

std::size_t hardware_threads();  // cores this process may run on

// Runs fn(i) for i in 0..n-1 on up to `threads` threads, the calling one among them, but never on more than there are
// cores: tasks that look for each other's work would keep each other from it. Tasks are handed out in ascending order.
// Serial when called from inside a task. The first exception is rethrown after every task has stopped.
void parallel_for(std::size_t threads, std::size_t n, Interrupt& interrupt, const std::function<void(std::size_t)>& fn);

// The same for chunks of rows. Few are handed out in stretches: as a rule each thread gets the same ones from call to call,
// and finds in its own caches what it wrote.
template <class Fn>
void parallel_chunks(std::size_t threads, std::size_t n, Interrupt& interrupt, Fn&& fn) {
  const std::size_t parts = n < kFewChunks * threads ? std::min(threads, n) : n;
  parallel_for(threads, parts, interrupt, [&](std::size_t part) {
    for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) fn(i);
  });
}

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

// How many threads are worth waking for work of about this many nanoseconds.
inline std::size_t useful_threads(std::size_t threads, double work_ns) {
  const auto useful = static_cast<std::size_t>(work_ns / kWorthThreadNs);
  return useful < 2 ? 1 : useful < threads ? useful : threads;
}

}  // namespace weald
