// The runs and the output of one group of a MergeWordsJob.
#pragma once

#include <algorithm>
#include <vector>

#include "native/merge.h"

namespace lanesort {

inline void AppendRuns(const MergeWordsJob& job, size_t group, std::vector<Run>& runs) {
  constexpr ptrdiff_t kStep = kWordBytes;
  uint64_t first = 0;
  runs.reserve(runs.size() + job.runs.size());
  for (const WordRows& run : job.runs) {
    const uint8_t* const words = run.words + static_cast<ptrdiff_t>(group) * run.row_step;
    runs.push_back({words, kStep, words, kStep, first, run.length});
    first += run.length;
  }
}

inline std::vector<Run> GroupRuns(const MergeWordsJob& job, size_t group) {
  std::vector<Run> runs;
  AppendRuns(job, group, runs);
  return runs;
}

inline PairsOut GroupOut(const MergeWordsJob& job, size_t group) {
  uint8_t* const out = job.out + static_cast<ptrdiff_t>(group) * job.out_row_step;
  return {out, kWordBytes, out, kWordBytes};
}

// Whether a and b, of `groups` rows each, may share bytes. Tells by their first and last ones, so that windows
// side by side in the same rows count as well.
inline bool RowsOverlap(size_t groups, const WordRows& a, const WordRows& b) {
  struct Extent {
    uintptr_t begin, end;
  };
  const auto extent = [groups](const WordRows& rows) -> Extent {
    const uintptr_t first = reinterpret_cast<uintptr_t>(rows.words);
    const uintptr_t last = first + (groups - 1) * static_cast<uintptr_t>(rows.row_step);
    return {std::min(first, last), std::max(first, last) + rows.length * kWordBytes};
  };
  if (groups == 0 || a.length == 0 || b.length == 0) return false;
  const Extent one = extent(a);
  const Extent other = extent(b);
  return one.begin < other.end && other.begin < one.end;
}

// Length of the longest run.
inline size_t LongestRun(const MergeWordsJob& job) {
  size_t longest = 0;
  for (const WordRows& run : job.runs) longest = std::max(longest, run.length);
  return longest;
}

}  // namespace lanesort
