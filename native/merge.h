// Merges sorted runs of pairs (value, index).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/control.h"
#include "native/order.h"

namespace lanesort {

enum class Tie : uint8_t { kRun, kLow, kHigh };  // earlier run first; lower, higher index first

// A sorted run. Pointers need no alignment; items lie `step` bytes apart.
struct Run {
  const uint8_t* values;
  ptrdiff_t value_step;
  const uint8_t* payload;  // null: the position first + i in its place
  ptrdiff_t payload_step;
  uint64_t first;
  uint64_t length;
};

// Where merged pairs go.
struct PairsOut {
  uint8_t* values;
  ptrdiff_t value_step;
  uint8_t* indices;
  ptrdiff_t index_step;

  PairsOut From(uint64_t pair) const {
    const ptrdiff_t at = static_cast<ptrdiff_t>(pair);
    return {values + at * value_step, value_step, indices + at * index_step, index_step};
  }
};

// What was met in a merge.
struct Met {
  bool shared = false;  // values of shared keys, which have to be fetched
  bool unsorted = false;
};

constexpr size_t kWordBytes = 8;

// Words of 8 bytes, as many in each row.
struct WordRows {
  const uint8_t* words;
  ptrdiff_t row_step;
  size_t length;
};

// What all runs of a merge share.
struct MergeRule {
  KeyOrder order;
  Tie tie;
  size_t index_bytes;  // 4 or 8, of payload and indices
  bool words = false;  // payload items are words that begin with the values, and go out in place of both
};

// Lengths of the parts of `runs` that a merge consumes which emits at most `limit` pairs and, under
// `first_exhausted`, stops as soon as a run has given its last pair.
std::vector<uint64_t> ConsumedLengths(const MergeRule& rule, const std::vector<Run>& runs, bool first_exhausted,
                                      uint64_t limit);

// Merges all of `runs` into `out`, in up to `threads` parts; says whether they are sorted, true if not to `look`.
// Where they are not, pairs may be out of order, missing, or there twice. The GIL must be held.
bool Merge(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, bool look, size_t threads,
           Control* control);

// Groups of sorted runs in rows of words of 8 bytes, which hold a value first and are merged as wholes, group by
// group; of equal values the one from the earlier run comes first.
struct MergeWordsJob {
  KeyOrder order;  // of values of up to 32 bits
  size_t groups;
  std::vector<WordRows> runs;  // in row g the run of group g
  uint8_t* out;
  ptrdiff_t out_row_step;

  MergeRule Rule() const { return {order, Tie::kRun, kWordBytes, true}; }
  size_t PairsOfGroup() const {
    size_t pairs = 0;
    for (const WordRows& run : runs) pairs += run.length;
    return pairs;
  }
};

// Merges every group; says whether all runs are sorted. The GIL must be held.
bool MergeWords(const MergeWordsJob& job, size_t threads, Control* control);

// Equally long runs, a row each.
struct RunRows {
  const uint8_t* values;
  ptrdiff_t row_step, value_step;
  size_t rows, length;
};

struct Inspected {
  uint64_t unsorted;  // place, counted over all rows, of the first value that belongs before the one before it
                      // in its row; rows * length if there is none
  bool nan;           // whether there is a NaN
};

Inspected InspectRuns(const KeyOrder& order, const RunRows& runs);

// A place in a MergeWordsJob.
struct PlaceInRuns {
  uint64_t group, run, position;
  auto operator<=>(const PlaceInRuns&) const = default;
};

struct InspectedWords {
  std::optional<PlaceInRuns> unsorted;  // the first value that belongs before the one before it in its run
  bool nan;
};

InspectedWords InspectWords(const MergeWordsJob& job);
// The same of runs that are sorted, where it is enough to look at their ends.
InspectedWords InspectSortedWords(const MergeWordsJob& job);

// Position of the first pair that has to stand before its predecessor; run.length if none has.
uint64_t FirstUnsorted(const MergeRule& rule, const Run& run);

}  // namespace lanesort
