// The payload of several runs, found by the places of their pairs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "native/merge.h"
#include "native/scratch.h"

namespace lanesort {

// A place is a number that grows from run to run and within each, small enough for the low half of a packed pair.
class PlaceTable {
 public:
  // Takes the payload of `runs`, of `bytes` an item: where it lies, unless the runs differ in their steps or are
  // so many that places get large; then copies it to `space`.
  void Assign(std::span<const Run> runs, size_t bytes, Scratch& space) {
    uint64_t longest = 1;
    bool alike = true;
    for (const Run& run : runs) {
      longest = std::max(longest, run.length);
      alike &= run.payload_step == runs[0].payload_step;
    }
    shift_ = static_cast<unsigned>(std::bit_width(longest - 1));
    bases_.clear();
    copied_ = !alike || (uint64_t{runs.size()} << shift_) > kMostPlaces;
    if (copied_) return Copy(runs, bytes, space);
    step_ = runs[0].payload_step;
    for (const Run& run : runs) {
      const uint64_t first = uint64_t{bases_.size()} << shift_;
      bases_.push_back(reinterpret_cast<uintptr_t>(run.payload) - first * static_cast<uintptr_t>(step_));
    }
    // Place 0 has an item if any has: what pads runs is looked up there when runs that are not sorted mix it in.
    const auto filled = std::find_if(runs.begin(), runs.end(), [](const Run& run) { return run.length != 0; });
    if (filled != runs.end()) bases_[0] = reinterpret_cast<uintptr_t>(filled->payload);
  }

  // Place of the first pair of run number `run`, which `before` pairs of other runs come before.
  uint32_t First(size_t run, uint64_t before) const {
    return static_cast<uint32_t>(copied_ ? before : uint64_t{run} << shift_);
  }

  // The item of place p lies at bases()[p >> shift()] + p * step().
  const uintptr_t* bases() const { return bases_.data(); }
  unsigned shift() const { return shift_; }
  ptrdiff_t step() const { return step_; }

 private:
  static constexpr uint64_t kMostPlaces = uint64_t{1} << 30;

  void Copy(std::span<const Run> runs, size_t bytes, Scratch& space) {
    uint64_t pairs = 0;
    for (const Run& run : runs) pairs += run.length;
    uint8_t* next = space.Get<uint8_t>(CheckedBytes(pairs, bytes));
    bases_.push_back(reinterpret_cast<uintptr_t>(next));
    shift_ = 32;
    step_ = static_cast<ptrdiff_t>(bytes);
    for (const Run& run : runs) {
      for (uint64_t i = 0; i < run.length; ++i, next += bytes) {
        std::memcpy(next, run.payload + static_cast<ptrdiff_t>(i) * run.payload_step, bytes);
      }
    }
  }

  std::vector<uintptr_t> bases_;
  unsigned shift_ = 0;
  ptrdiff_t step_ = 0;
  bool copied_ = false;
};

}  // namespace lanesort
