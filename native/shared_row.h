// One long row that several threads sort together.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "native/control.h"

namespace lanesort {

// Each of the threads calls Work once.
class SharedRow {
 public:
  virtual ~SharedRow() = default;
  virtual void Work(const Progress& progress) = 0;
};

// The parts that still wait. A thread that took one adds what it splits off, then says Done.
template <class Part>
class PartPool {
 public:
  // True for the first thread that asks; it has to Add the first part.
  bool IsFirst() { return !begun_.exchange(true); }

  void Add(const Part& part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    parts_.push_back(part);
    ++open_;
    began_ = true;
    changed_.notify_one();
  }

  // Waits for a part; false when there will be none, or the call is to stop.
  bool Take(Part& part, const Progress& progress) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (parts_.empty()) {
      if (progress.Stopped() || (began_ && open_ == 0)) return false;
      changed_.wait_for(lock, kLook);
    }
    if (progress.Stopped()) return false;
    part = parts_.back();
    parts_.pop_back();
    return true;
  }

  // To be called once for each part taken, after its own parts were added. True for the last.
  bool Done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--open_ != 0) return false;
    changed_.notify_all();
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds kLook{20};

  std::atomic<bool> begun_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Part> parts_;
  size_t open_ = 0;
  bool began_ = false;
};

}  // namespace lanesort
