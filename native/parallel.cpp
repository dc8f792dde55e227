#include "native/parallel.h"

#include <nanobind/nanobind.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace lanesort {
namespace {

constexpr uint64_t kInlineElements = uint64_t{1} << 16;      // about a quarter of a millisecond
constexpr uint64_t kKeepGilElements = uint64_t{1} << 11;     // a few microseconds
constexpr std::chrono::milliseconds kSignalInterval{40};

constexpr size_t kThreadRoomBytes = size_t{256} << 10;

// Throws bad_alloc unless there is address space for what the C library allocates for each thread
// on its own: where it gets none it ends the process.
void RequireRoom(size_t threads) {
  void* const room = mmap(nullptr, threads * kThreadRoomBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, threads * kThreadRoomBytes);
}

// glibc returns the top of the heap to the system whenever a result is freed, until the process has
// freed a large block once; then it keeps up to 64 MiB for the next results. That block is never
// touched. Without it a call that makes two arrays can spend half its time on page faults.
void KeepFreedPages() {
#ifdef __GLIBC__
  constexpr size_t kLargest = (size_t{32} << 20) - (size_t{64} << 10);  // its M_MMAP_THRESHOLD's limit
  static const bool once = [] {
    void* volatile block = std::malloc(kLargest);  // volatile, or the pair is left out
    std::free(block);
    return true;
  }();
  (void)once;
#endif
}

// Units are handed out in grains, so that threads that run at different speeds end together.
class Crew {
 public:
  Crew(size_t units, size_t threads, const UnitRange& body, Progress& progress)
      : units_(units), grain_(std::max<size_t>(1, units / (threads * 16))), body_(body), progress_(progress) {}

  void Start(size_t threads) {
    try {
      for (size_t i = 0; i < threads; ++i) {
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          ++running_;
        }
        members_.emplace_back([this] { Work(); });
      }
    } catch (...) {  // no thread could be had: those that run do all the work
      const std::lock_guard<std::mutex> lock(mutex_);
      --running_;
      if (members_.empty()) throw;
    }
  }

  // Waits for at most the interval between two looks at the signals; true when all is done.
  bool WaitABit() {
    std::unique_lock<std::mutex> lock(mutex_);
    return ended_.wait_for(lock, kSignalInterval, [this] { return running_ == 0; });
  }

  void Join() {
    for (std::thread& member : members_) member.join();
    members_.clear();
  }

  std::exception_ptr error() const { return error_; }

 private:
  void Work() {
    // The thread's part of the C++ runtime is allocated on first use. Where that is the throw of a
    // bad_alloc there may be no memory for it, and the process would be aborted.
    (void)std::uncaught_exceptions();
    try {
      while (!progress_.Stopped()) {
        const size_t begin = next_.fetch_add(grain_);
        if (begin >= units_) break;
        body_(begin, std::min(units_, begin + grain_), progress_);
      }
    } catch (...) {
      progress_.Interrupt();
      const std::lock_guard<std::mutex> lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) ended_.notify_all();
  }

  const size_t units_;
  const size_t grain_;
  const UnitRange& body_;
  Progress& progress_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t running_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> members_;
};

void RunInline(size_t units, uint64_t elements, const UnitRange& body, const Progress& progress) {
  if (elements <= kKeepGilElements) {
    body(0, units, progress);
    return;
  }
  const nanobind::gil_scoped_release release;
  body(0, units, progress);
}

void RunOnThreads(size_t units, size_t threads, const UnitRange& body, Progress& progress) {
  RequireRoom(threads);
  Crew crew(units, threads, body, progress);
  bool signalled = false;
  {
    const nanobind::gil_scoped_release release;
    crew.Start(threads);
    while (!crew.WaitABit()) {
      if (signalled) continue;
      const nanobind::gil_scoped_acquire acquire;
      signalled = PyErr_CheckSignals() != 0;
      if (signalled) progress.Interrupt();
    }
    crew.Join();
  }
  if (signalled) throw nanobind::python_error();
  if (crew.error() != nullptr) std::rethrow_exception(crew.error());
}

}  // namespace

void RunUnits(size_t units, uint64_t elements, size_t threads, Control* control, const UnitRange& body) {
  if (control != nullptr) {
    control->done.store(0);
    control->total.store(elements);
  }
  Progress progress(control);
  if (progress.Stopped()) throw Cancelled();
  if (elements > kKeepGilElements) KeepFreedPages();
  if (elements <= kInlineElements) {
    RunInline(units, elements, body, progress);
  } else {
    RunOnThreads(units, std::clamp<size_t>(threads, 1, std::max<size_t>(1, units)), body, progress);
  }
  if (control != nullptr && control->cancelled.load()) throw Cancelled();
}

}  // namespace lanesort
