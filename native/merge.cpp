#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/merge.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "native/inspect_runs.h"
#include "native/merge.h"
#include "native/merge_fetch.h"
#include "native/merge_groups.h"
#include "native/merge_simd.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {

// Calls kernel with the type of keys of up to 32 bits.
template <class Kernel>
auto ForPackedKeys(const KeyOrder& order, Kernel kernel) {
  switch (order.bits) {
    case 8: return kernel.template operator()<uint8_t>();
    case 16: return kernel.template operator()<uint16_t>();
    default: return kernel.template operator()<uint32_t>();
  }
}

Met MergeSpan(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, bool look,
              const Progress& progress) {
  return ForPackedKeys(rule.order, [&]<typename T>() {
    return MergePackedSpan<T>(rule, runs, out, look, progress);
  });
}

bool MergeGroups(const MergeWordsJob& job, size_t begin, size_t end, const Progress& progress) {
  return ForWordKeys(job.order, [&]<typename T>() {
    return MergePackedGroups<T>(job, begin, end, progress);
  });
}

Inspected InspectRunsOf(const KeyOrder& order, const RunRows& runs) {
  return ForKeys(order, [&]<typename T>() { return RunInspector<T>(order).Inspect(runs); });
}

uint64_t FirstUnsortedSpan(const MergeRule& rule, const Run& run) {
  return ForPackedKeys(rule.order, [&]<typename T>() { return FirstUnsortedPacked<T>(rule, run); });
}

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>

#include "native/parallel.h"

namespace lanesort {
HWY_EXPORT(MergeSpan);
HWY_EXPORT(MergeGroups);
HWY_EXPORT(InspectRunsOf);
HWY_EXPORT(FirstUnsortedSpan);

namespace {

constexpr uint64_t kPackedIndices = uint64_t{1} << 32;
constexpr uint64_t kPartPairs = uint64_t{1} << 15;  // fewer are not worth the search of a cut

bool PayloadPacks(const MergeRule& rule, const Run& run) {
  return rule.index_bytes == 4 || rule.tie == Tie::kRun || AllBits(run, rule.index_bytes) < kPackedIndices;
}

// Whether key and what decides ties fit into 64 bits.
bool Packs(const MergeRule& rule, const std::vector<Run>& runs) {
  if (rule.order.bits == 64) return false;
  for (const Run& run : runs) {
    if (run.payload == nullptr ? run.first + run.length > kPackedIndices : !PayloadPacks(rule, run)) return false;
  }
  return true;
}

Met MergePart(const MergeRule& rule, bool packs, const std::vector<Run>& runs, const PairsOut& out, bool look,
              const Progress& progress) {
  if (packs) return HWY_DYNAMIC_DISPATCH(MergeSpan)(rule, runs, out, look, progress);
  Met met = ForKeys(rule.order, [&]<typename T>() { return MergeWideSpan<T>(rule, runs, out, progress); });
  for (const Run& run : runs) met.unsorted |= look && FirstUnsorted(rule, run) != run.length;
  return met;
}

bool MergeLargeGroups(const MergeWordsJob& job, size_t begin, size_t end, const Progress& progress) {
  bool sorted = true;
  for (size_t group = begin; group < end && !progress.Stopped(); ++group) {
    const MergeRule rule = job.Rule();
    const PairsOut out = GroupOut(job, group);
    sorted &= !HWY_DYNAMIC_DISPATCH(MergeSpan)(rule, GroupRuns(job, group), out, true, progress).unsorted;
  }
  return sorted;
}

// Cuts the merge into `parts` of equally many pairs: counts at each cut, from none to all.
std::vector<Counts> EvenCuts(const MergeRule& rule, const std::vector<Run>& runs, uint64_t pairs, size_t parts) {
  std::vector<Counts> cuts(parts + 1, Counts(runs.size(), 0));
  ForKeys(rule.order, [&]<typename T>() {
    const Heads<T> heads(rule);
    for (size_t part = 1; part < parts; ++part) cuts[part] = CutAtRank(heads, runs, pairs / parts * part);
  });
  for (size_t r = 0; r < runs.size(); ++r) {
    // Cuts of a run that is not sorted may go back.
    for (size_t part = 1; part < parts; ++part) cuts[part][r] = std::max(cuts[part][r], cuts[part - 1][r]);
    cuts[parts][r] = runs[r].length;
  }
  return cuts;
}

bool AnyFalls(const MergeRule& rule, const std::vector<Run>& runs, const std::vector<Counts>& cuts) {
  return ForKeys(rule.order, [&]<typename T>() {
    const Heads<T> heads(rule);
    bool falls = false;
    for (const Counts& cut : cuts) {
      for (size_t r = 0; r < runs.size(); ++r) falls |= FallsAt(heads, runs[r], cut[r]);
    }
    return falls;
  });
}

std::vector<Run> Between(const std::vector<Run>& runs, const Counts& begin, const Counts& end) {
  std::vector<Run> parts;
  parts.reserve(runs.size());
  for (size_t r = 0; r < runs.size(); ++r) parts.push_back(Part(runs[r], begin[r], end[r]));
  return parts;
}

}  // namespace

std::vector<uint64_t> ConsumedLengths(const MergeRule& rule, const std::vector<Run>& runs, bool first_exhausted,
                                      uint64_t limit) {
  return ForKeys(rule.order, [&]<typename T>() {
    const Heads<T> heads(rule);
    Counts counts(runs.size());
    for (size_t r = 0; r < runs.size(); ++r) counts[r] = runs[r].length;
    if (first_exhausted) counts = CutWhereExhausted(heads, runs);
    if (Sum(counts) <= limit) return counts;
    return CutAtRank(heads, Between(runs, Counts(runs.size(), 0), counts), limit);
  });
}

bool Merge(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, bool look, size_t threads,
           Control* control) {
  uint64_t pairs = 0;
  for (const Run& run : runs) pairs += run.length;
  if (pairs == 0) return true;
  const bool packs = Packs(rule, runs);
  const size_t parts = threads < 2 ? 1 : std::clamp<size_t>(pairs / kPartPairs, 1, threads * 4);
  const std::vector<Counts> cuts = EvenCuts(rule, runs, pairs, parts);
  std::atomic<bool> shared{false};
  std::atomic<bool> unsorted{look && AnyFalls(rule, runs, cuts)};
  RunUnits(parts, pairs, threads, control, [&](size_t begin, size_t end, const Progress& progress) {
    const std::vector<Run> mine = Between(runs, cuts[begin], cuts[end]);
    const Met met = MergePart(rule, packs, mine, out.From(Sum(cuts[begin])), look, progress);
    if (met.shared) shared.store(true);
    if (met.unsorted) unsorted.store(true);
  });
  if (shared.load()) {
    RunUnits(1, pairs, 1, nullptr, [&](size_t, size_t, const Progress&) {
      ForKeys(rule.order, [&]<typename T>() { FetchShared<T>(rule, runs, out); });
    });
  }
  return !unsorted.load();
}

bool MergeWords(const MergeWordsJob& job, size_t threads, Control* control) {
  const size_t pairs = job.PairsOfGroup();
  if (job.groups == 0 || pairs == 0) return true;
  const bool small = pairs <= kRoundPairs;
  std::atomic<bool> sorted{true};
  RunUnits(job.groups, job.groups * pairs, threads, control,
           [&](size_t begin, size_t end, const Progress& progress) {
             if (small ? HWY_DYNAMIC_DISPATCH(MergeGroups)(job, begin, end, progress)
                       : MergeLargeGroups(job, begin, end, progress)) {
               return;
             }
             sorted.store(false);
           });
  return sorted.load();
}

Inspected InspectRuns(const KeyOrder& order, const RunRows& runs) {
  if (runs.rows == 0 || runs.length == 0) return {0, false};
  return HWY_DYNAMIC_DISPATCH(InspectRunsOf)(order, runs);
}

InspectedWords InspectWords(const MergeWordsJob& job) {
  InspectedWords all{std::nullopt, false};
  for (size_t r = 0; r < job.runs.size(); ++r) {
    const WordRows& run = job.runs[r];
    const RunRows rows{run.words, run.row_step, kWordBytes, job.groups, run.length};
    const Inspected seen = InspectRuns(job.order, rows);
    all.nan |= seen.nan;
    if (seen.unsorted == rows.rows * rows.length) continue;
    const PlaceInRuns place{seen.unsorted / run.length, r, seen.unsorted % run.length};
    if (!all.unsorted || place < *all.unsorted) all.unsorted = place;
  }
  return all;
}

InspectedWords InspectSortedWords(const MergeWordsJob& job) {
  return ForWordKeys(job.order, [&]<typename T>() {
    InspectedWords all{std::nullopt, false};
    const auto look = [&](const uint8_t* word) { all.nan |= KeyMap<T>::IsNan(job.order, LoadItem<T>(word)); };
    for (const WordRows& run : job.runs) {
      for (size_t group = 0; run.length != 0 && group < job.groups; ++group) {
        const uint8_t* const words = run.words + static_cast<ptrdiff_t>(group) * run.row_step;
        look(words);
        look(words + (run.length - 1) * kWordBytes);
      }
    }
    return all;
  });
}

uint64_t FirstUnsorted(const MergeRule& rule, const Run& run) {
  if (rule.tie == Tie::kRun) {
    return InspectRuns(rule.order, {run.values, 0, run.value_step, 1, run.length}).unsorted;
  }
  if (rule.order.bits != 64 && rule.index_bytes == 4) {
    return HWY_DYNAMIC_DISPATCH(FirstUnsortedSpan)(rule, run);
  }
  return ForKeys(rule.order, [&]<typename T>() {
    const Heads<T> heads(rule);
    for (uint64_t i = 1; i < run.length; ++i) {
      if (heads.At(run, i) < heads.At(run, i - 1)) return i;
    }
    return run.length;
  });
}

}  // namespace lanesort
#endif
