// What a long call and its caller tell one another.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanesort {

struct Control {
  std::atomic<bool> cancelled{false};
  std::atomic<uint64_t> done{0};   // elements finished
  std::atomic<uint64_t> total{0};  // elements of the call
};

// What a kernel sees of its call. Kernels ask Stopped() at least every few milliseconds and
// return early, leaving outputs half written, when it says so.
class Progress {
 public:
  explicit Progress(Control* control) : control_(control) {}
  bool Stopped() const {
    return interrupted_.load(std::memory_order_relaxed) ||
           (control_ != nullptr && control_->cancelled.load(std::memory_order_relaxed));
  }
  void Advance(uint64_t elements) const {
    if (control_ != nullptr) control_->done.fetch_add(elements, std::memory_order_relaxed);
  }
  void Interrupt() { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  Control* control_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace lanesort
