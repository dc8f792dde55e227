// The memory that one thread sorts in.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "native/scratch.h"

namespace lanesort {

struct Workspace {
  // Positions have buffers of their own where elements do not hold them.
  Scratch matrix, matrix_positions, sorted, sorted_positions;
  Scratch data, data_positions, spare, spare_positions;

  // Keeps what the next call may want, gives back what only a huge one did.
  void Trim() {
    for (Scratch* scratch : {&data, &data_positions, &spare, &spare_positions}) {
      scratch->ReleaseAbove(size_t{32} << 20);
    }
  }
};

// A workspace for the time of a call on one thread. Threads end with their call, so that what is
// kept for the next one, to save its page faults, waits here and not with the thread.
class WorkspaceLease {
 public:
  WorkspaceLease() {
    const std::unique_lock<std::mutex> lock(Idle().mutex, std::try_to_lock);
    if (lock.owns_lock() && !Idle().spaces.empty()) {
      space_ = std::move(Idle().spaces.back());
      Idle().spaces.pop_back();
    } else {
      space_ = std::make_unique<Workspace>();
    }
  }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  ~WorkspaceLease() {
    space_->Trim();
    // Only tried: a lock that another thread held during a fork stays held in the child.
    const std::unique_lock<std::mutex> lock(Idle().mutex, std::try_to_lock);
    if (lock.owns_lock() && Idle().spaces.size() < kIdleSpaces) Idle().spaces.push_back(std::move(space_));
  }
  Workspace& operator*() const { return *space_; }

 private:
  static constexpr size_t kIdleSpaces = 4;
  struct IdleSpaces {
    std::mutex mutex;
    std::vector<std::unique_ptr<Workspace>> spaces = Reserved();
  };

  static std::vector<std::unique_ptr<Workspace>> Reserved() {
    std::vector<std::unique_ptr<Workspace>> spaces;
    spaces.reserve(kIdleSpaces);
    return spaces;
  }
  // Never destroyed: threads may still sort while the process ends.
  static IdleSpaces& Idle() {
    static IdleSpaces* const idle = new IdleSpaces();
    return *idle;
  }

  std::unique_ptr<Workspace> space_;
};

}  // namespace lanesort
