// The payload of several runs, found by its place in the order of the runs.
#pragma once

#include <cstring>
#include <span>

#include "native/merge.h"
#include "native/scratch.h"

namespace lanesort {

// Items `step` bytes apart; null where there are none.
struct PayloadTable {
  const uint8_t* items = nullptr;
  ptrdiff_t step = 0;
};

// Whether each run's payload goes on where the one before it ends.
inline bool PayloadIsOneRow(std::span<const Run> runs) {
  for (size_t r = 1; r < runs.size(); ++r) {
    const Run& before = runs[r - 1];
    const uint8_t* const end = before.payload + static_cast<ptrdiff_t>(before.length) * before.payload_step;
    if (runs[r].payload != end || runs[r].payload_step != before.payload_step) return false;
  }
  return true;
}

inline void CopyPayload(const Run& run, size_t bytes, uint8_t* table) {
  if (run.payload_step == static_cast<ptrdiff_t>(bytes)) {
    std::memcpy(table, run.payload, run.length * bytes);
    return;
  }
  for (uint64_t i = 0; i < run.length; ++i) {
    const uint8_t* const item = run.payload + static_cast<ptrdiff_t>(i) * run.payload_step;
    if (bytes == 4) {
      std::memcpy(table + i * 4, item, 4);
    } else {
      std::memcpy(table + i * 8, item, 8);
    }
  }
}

// The payload of all `pairs` pairs of `runs`, of `bytes` an item: where it lies, else in a copy.
inline PayloadTable PayloadByPlace(std::span<const Run> runs, size_t pairs, size_t bytes, Scratch& space) {
  if (PayloadIsOneRow(runs)) return {runs[0].payload, runs[0].payload_step};
  uint8_t* const copy = space.Get<uint8_t>(CheckedBytes(pairs, bytes));
  uint8_t* next = copy;
  for (const Run& run : runs) {
    CopyPayload(run, bytes, next);
    next += run.length * bytes;
  }
  return {copy, static_cast<ptrdiff_t>(bytes)};
}

}  // namespace lanesort
