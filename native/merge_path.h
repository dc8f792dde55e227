// Where merges may be cut: counts of the elements of each run that come before a place in the
// merged order. Equal pairs are in the order of their runs, and within a run of their positions.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "native/merge.h"

namespace lanesort {

inline Run Part(const Run& run, uint64_t begin, uint64_t end) {
  const ptrdiff_t at = static_cast<ptrdiff_t>(begin);
  const uint8_t* payload = run.payload == nullptr ? nullptr : run.payload + at * run.payload_step;
  return {run.values + at * run.value_step, run.value_step, payload, run.payload_step, run.first + begin,
          end - begin};
}

// Calls kernel with the type of keys.
template <class Kernel>
auto ForKeys(const KeyOrder& order, Kernel kernel) {
  switch (order.bits) {
    case 8: return kernel.template operator()<uint8_t>();
    case 16: return kernel.template operator()<uint16_t>();
    case 32: return kernel.template operator()<uint32_t>();
    default: return kernel.template operator()<uint64_t>();
  }
}

// Calls kernel with the type of keys of words.
template <class Kernel>
auto ForWordKeys(const KeyOrder& order, Kernel kernel) {
  return order.bits == 16 ? kernel.template operator()<uint16_t>() : kernel.template operator()<uint32_t>();
}

// What decides the place of a pair among the runs.
struct Head {
  uint64_t key;
  uint64_t tie;
  bool operator<(const Head& other) const { return key < other.key || (key == other.key && tie < other.tie); }
};

template <typename T>
inline T LoadItem(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
inline void StoreItem(uint8_t* to, T item) {
  std::memcpy(to, &item, sizeof(T));
}

inline uint64_t LoadIndex(const uint8_t* from, size_t bytes) {
  return bytes == 4 ? LoadItem<uint32_t>(from) : LoadItem<uint64_t>(from);
}

// The index that travels with element i: payload or position.
inline uint64_t IndexAt(const Run& run, uint64_t i, size_t bytes) {
  if (run.payload == nullptr) return run.first + i;
  return LoadIndex(run.payload + static_cast<ptrdiff_t>(i) * run.payload_step, bytes);
}

// The payload of a run, every item or-ed to the others: below a power of two if all are.
inline uint64_t AllBits(const Run& run, size_t bytes) {
  uint64_t any = 0;
  for (uint64_t i = 0; i < run.length; ++i) {
    any |= LoadIndex(run.payload + static_cast<ptrdiff_t>(i) * run.payload_step, bytes);
  }
  return any;
}

template <typename T>
class Heads {
 public:
  explicit Heads(const MergeRule& rule)
      : map_(rule.order),
        tie_(rule.tie),
        index_bytes_(rule.index_bytes),
        flip_(rule.tie == Tie::kHigh ? ~uint64_t{0} : 0) {}

  Head At(const Run& run, uint64_t i) const {
    const ptrdiff_t at = static_cast<ptrdiff_t>(i);
    const uint64_t key = map_.Key(LoadItem<T>(run.values + at * run.value_step));
    if (tie_ == Tie::kRun) return {key, 0};
    return {key, IndexAt(run, i, index_bytes_) ^ flip_};
  }

  // How many elements in [low, high) of `run` are less than `bound`, or also equal to it; plus low.
  uint64_t CountBefore(const Run& run, uint64_t low, uint64_t high, const Head& bound, bool or_equal) const {
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      const Head head = At(run, middle);
      if (or_equal ? !(bound < head) : head < bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const KeyMap<T>& map() const { return map_; }

 private:
  KeyMap<T> map_;
  Tie tie_;
  size_t index_bytes_;
  uint64_t flip_;
};

using Counts = std::vector<uint64_t>;

// Whether the run does not ascend where it is cut.
template <typename T>
bool FallsAt(const Heads<T>& heads, const Run& run, uint64_t cut) {
  return cut != 0 && cut < run.length && heads.At(run, cut) < heads.At(run, cut - 1);
}

inline uint64_t Sum(const Counts& counts) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += count;
  return sum;
}

// Counts of what comes up to and with element `at` of run `chosen`; searches between low and high.
template <typename T>
Counts CountsThrough(const Heads<T>& heads, const std::vector<Run>& runs, const Counts& low, const Counts& high,
                     size_t chosen, uint64_t at) {
  const Head bound = heads.At(runs[chosen], at);
  Counts counts(runs.size());
  for (size_t r = 0; r < runs.size(); ++r) {
    counts[r] = r == chosen ? at + 1 : heads.CountBefore(runs[r], low[r], high[r], bound, r < chosen);
  }
  return counts;
}

// Counts of the first `rank` elements of the merge of all runs.
template <typename T>
Counts CutAtRank(const Heads<T>& heads, const std::vector<Run>& runs, uint64_t rank) {
  Counts low(runs.size(), 0);
  Counts high(runs.size());
  for (size_t r = 0; r < runs.size(); ++r) high[r] = std::min(runs[r].length, rank);
  while (Sum(low) < rank) {
    size_t widest = 0;
    for (size_t r = 1; r < runs.size(); ++r) {
      if (high[r] - low[r] > high[widest] - low[widest]) widest = r;
    }
    const uint64_t at = low[widest] + (high[widest] - low[widest]) / 2;
    if (high[widest] == low[widest]) break;
    Counts through = CountsThrough(heads, runs, low, high, widest, at);
    if (Sum(through) <= rank) {
      low = std::move(through);
    } else {
      high = std::move(through);
      high[widest] = at;
    }
  }
  return low;
}

// Counts up to where the first run is exhausted; all zero if a run is empty.
template <typename T>
Counts CutWhereExhausted(const Heads<T>& heads, const std::vector<Run>& runs) {
  const Counts none(runs.size(), 0);
  Counts all(runs.size());
  size_t first = 0;
  for (size_t r = 0; r < runs.size(); ++r) {
    all[r] = runs[r].length;
    if (runs[r].length == 0) return none;
    if (heads.At(runs[r], all[r] - 1) < heads.At(runs[first], all[first] - 1)) first = r;
  }
  return CountsThrough(heads, runs, none, all, first, all[first] - 1);
}

}  // namespace lanesort
