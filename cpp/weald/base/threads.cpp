#include "weald/base/threads.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace weald {

namespace {

thread_local bool inside_task = false;
thread_local Interrupt* asking = nullptr;  // the innermost call of this thread whose check is running

constexpr int kLooks = 20000;  // before going to sleep: between two rounds of boosting the helpers stay awake

// One parallel_for: threads draw task numbers from a counter until none is left.
struct Job {
  Job(std::size_t tasks, Interrupt& when, const std::function<void(std::size_t)>& what)
      : n(tasks), interrupt(&when), fn(&what) {}

  std::size_t n;
  Interrupt* interrupt;
  const std::function<void(std::size_t)>* fn;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> helpers_wanted{0};  // changed under the pool's mutex, as long as some are
  std::atomic<std::size_t> helpers_inside{0};  // come in under that mutex, and leave without
  std::exception_ptr error;
  std::mutex error_mutex;

  void work() {
    inside_task = true;
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
      try {
        interrupt->poll();
        (*fn)(i);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        next.store(n, std::memory_order_relaxed);
        interrupt->stop();
      }
    }
    inside_task = false;
  }
};

class Pool {
 public:
  void run(Job& job, std::size_t helpers) {
    {
      const std::lock_guard lock(mutex_);
      try {
        while (workers_.size() < helpers) workers_.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        helpers = workers_.size();  // the system gives no more threads: go on with those there are
      }
      job.helpers_wanted = helpers;
      if (helpers > 0) jobs_.push_back(&job), ++job.interrupt->jobs;
      waiting_.store(jobs_.size(), std::memory_order_release);
    }
    wake_.notify_all();
    job.work();
    join(job);
    if (helpers > 0) --job.interrupt->jobs;
  }

  // Before and after a fork: nobody is in the middle of a change of the queue.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  // Waits for the helpers.
  void join(Job& job) {
    if (job.helpers_wanted > 0) {  // those that have not come yet are no longer
      const std::lock_guard lock(mutex_);
      std::erase(jobs_, &job);
      waiting_.store(jobs_.size(), std::memory_order_release);
    }
    if (watch_for([&] { return job.helpers_inside == 0; }, kLooks)) return;
    std::unique_lock lock(mutex_);
    ++asleep_;
    // A helper may still be inside a task; poll so that Ctrl-C reaches it.
    while (job.helpers_inside > 0 && !job.interrupt->orphaned()) {
      done_.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();
      try {
        job.interrupt->poll();
      } catch (...) {
        const std::lock_guard error_lock(job.error_mutex);
        if (!job.error) job.error = std::current_exception();
      }
      lock.lock();
    }
    --asleep_;
  }

  void serve() {
    std::unique_lock lock(mutex_, std::defer_lock);
    while (true) {
      watch_for([this] { return waiting_.load(std::memory_order_acquire) > 0; }, kLooks);
      lock.lock();
      wake_.wait(lock, [this] { return !jobs_.empty(); });
      Job* job = jobs_.front();
      ++job->helpers_inside, ++job->interrupt->helpers;
      if (--job->helpers_wanted == 0) jobs_.pop_front();
      waiting_.store(jobs_.size(), std::memory_order_release);
      lock.unlock();
      job->work();
      --job->interrupt->helpers;  // from here on a fork need not wait for this thread
      --job->helpers_inside;      // from here on the job may be gone
      if (asleep_ == 0) continue;
      lock.lock();  // who is about to sleep has seen that, or sleeps by now
      done_.notify_all();
      lock.unlock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<Job*> jobs_;
  std::atomic<std::size_t> waiting_{0};  // jobs_.size(), to be looked at without the mutex
  std::atomic<std::size_t> asleep_{0};   // who wait for their helpers on `done_`
  std::vector<std::thread> workers_;
};

// The pool lives until the process ends: joining threads during interpreter shutdown could hang.
// After fork the child has no worker threads, so it forgets the parent's pool and starts its own.
std::atomic<Pool*> shared_pool{nullptr};
std::mutex create_mutex;

void after_fork(bool in_child) {
  Interrupt::resume_all(in_child);
  if (Pool* existing = shared_pool.load()) existing->unlock();
  if (in_child) shared_pool.store(nullptr, std::memory_order_release);
  create_mutex.unlock();
}

Pool& pool() {
  if (Pool* existing = shared_pool.load(std::memory_order_acquire)) return *existing;
  const std::lock_guard lock(create_mutex);
  if (Pool* existing = shared_pool.load(std::memory_order_acquire)) return *existing;
#if defined(__unix__) || defined(__APPLE__)
  static const int registered = pthread_atfork(
      [] {
        create_mutex.lock();
        if (Pool* existing = shared_pool.load()) existing->lock();  // no helper joins a job from here on
        Interrupt::halt_all();
      },
      [] { after_fork(false); },
      [] {
        after_fork(true);
        inside_task = false;
      });
  (void)registered;
#endif
  auto* fresh = new Pool;
  shared_pool.store(fresh, std::memory_order_release);
  return *fresh;
}

constexpr auto kCheckEvery = std::chrono::milliseconds(50);

// How many cores' time a container may use, by the second version of control groups; 0: no limit.
std::size_t cores_of_quota() {
  double quota = 0, period = 0;  // "max 100000" where there is no limit
  std::ifstream("/sys/fs/cgroup/cpu.max") >> quota >> period;
  return quota > 0 && period > 0 ? static_cast<std::size_t>(std::ceil(quota / period)) : 0;
}

}  // namespace

Interrupt::Interrupt(std::function<bool()> should_stop)
    : should_stop_(std::move(should_stop)),
      owner_(std::this_thread::get_id()),
      next_check_(std::chrono::steady_clock::now() + kCheckEvery) {}

std::size_t Interrupt::cores() {
  if (cores_ == 0) cores_ = hardware_threads();
  return cores_;
}

void Interrupt::poll() {
  if (should_stop_ && !stopped() && std::this_thread::get_id() == owner_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_check_) {
      next_check_ = now + kCheckEvery;
      ask();
    }
  }
  if (flags_.load(std::memory_order_relaxed) != 0) heed();
}

void Interrupt::ask() {
  struct Asking {
    explicit Asking(Interrupt& call) : call_(call) { call.outer_ = std::exchange(asking, &call); }
    ~Asking() { asking = call_.outer_; }
    Interrupt& call_;
  } const here(*this);
  if (should_stop_()) stop();
}

void Interrupt::heed() {
  if (std::this_thread::get_id() != owner_) {
    ++waiting_;
    while (flags_ & kHalted) std::this_thread::sleep_for(std::chrono::microseconds(50));
    --waiting_;
  }
  if (stopped()) throw Interrupted();
  if (orphaned()) throw Orphaned();
}

void Interrupt::halt_all() {
  for (Interrupt* call = asking; call; call = call->outer_) call->flags_ |= kHalted;
  for (Interrupt* call = asking; call; call = call->outer_) {
    while (call->waiting_ < call->helpers) std::this_thread::yield();
  }
}

void Interrupt::resume_all(bool in_child) {
  for (Interrupt* call = asking; call; call = call->outer_) {
    call->flags_ &= ~kHalted;
    if (in_child && call->jobs > 0) call->flags_ |= kOrphaned;
    // All are on their way again, or the next fork would take one that is for one that waits.
    while (!in_child && call->waiting_ > 0) std::this_thread::yield();
  }
}

std::size_t hardware_threads() {
  static const std::size_t quota = cores_of_quota();
#if defined(__linux__)
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const std::size_t cores = known ? static_cast<std::size_t>(CPU_COUNT(&set)) : std::thread::hardware_concurrency();
#else
  const std::size_t cores = std::thread::hardware_concurrency();
#endif
  return std::max<std::size_t>(quota > 0 ? std::min(quota, cores) : cores, 1);
}

void parallel_for(std::size_t threads, std::size_t n, Interrupt& interrupt,
                  const std::function<void(std::size_t)>& fn) {
  std::size_t workers = std::min(threads, n);
  if (workers > 1 && !inside_task) workers = std::min(workers, interrupt.cores());
  if (workers <= 1 || inside_task) {
    for (std::size_t i = 0; i < n; ++i) {
      interrupt.poll();
      fn(i);
    }
    return;
  }
  Job job(n, interrupt, fn);
  pool().run(job, workers - 1);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace weald
