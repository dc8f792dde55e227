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

bool MergeSpan(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, const Progress& progress) {
  return ForPackedKeys(rule.order, [&]<typename T>() {
    return MergePackedSpan<T>(rule, runs, out, progress);
  });
}

void MergeGroups(const MergeBlocksJob& job, size_t begin, size_t end, const Progress& progress) {
  ForPackedKeys(job.rule.order, [&]<typename T>() {
    MergePackedGroups<T>(job, begin, end, progress);
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

bool MergePart(const MergeRule& rule, bool packs, const std::vector<Run>& runs, const PairsOut& out,
               const Progress& progress) {
  if (packs) return HWY_DYNAMIC_DISPATCH(MergeSpan)(rule, runs, out, progress);
  return ForKeys(rule.order, [&]<typename T>() { return MergeWideSpan<T>(rule, runs, out, progress); });
}

// Cuts the merge into `parts` of equally many pairs: counts at each cut, from none to all.
std::vector<Counts> EvenCuts(const MergeRule& rule, const std::vector<Run>& runs, uint64_t pairs, size_t parts) {
  std::vector<Counts> cuts(parts + 1, Counts(runs.size(), 0));
  ForKeys(rule.order, [&]<typename T>() {
    const Heads<T> heads(rule);
    for (size_t part = 1; part < parts; ++part) cuts[part] = CutAtRank(heads, runs, pairs / parts * part);
  });
  for (size_t r = 0; r < runs.size(); ++r) cuts[parts][r] = runs[r].length;
  return cuts;
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

void Merge(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, size_t threads,
           Control* control) {
  uint64_t pairs = 0;
  for (const Run& run : runs) pairs += run.length;
  if (pairs == 0) return;
  const bool packs = Packs(rule, runs);
  const size_t parts = threads < 2 ? 1 : std::clamp<size_t>(pairs / kPartPairs, 1, threads * 4);
  const std::vector<Counts> cuts = EvenCuts(rule, runs, pairs, parts);
  std::atomic<bool> fetched{false};
  RunUnits(parts, pairs, threads, control, [&](size_t begin, size_t end, const Progress& progress) {
    const std::vector<Run> mine = Between(runs, cuts[begin], cuts[end]);
    if (MergePart(rule, packs, mine, out.From(Sum(cuts[begin])), progress)) fetched.store(true);
  });
  if (!fetched.load()) return;
  RunUnits(1, pairs, 1, nullptr, [&](size_t, size_t, const Progress&) {
    ForKeys(rule.order, [&]<typename T>() { FetchShared<T>(rule, runs, out); });
  });
}

void MergeBlocks(const MergeBlocksJob& job, size_t threads, Control* control) {
  const size_t pairs = job.ways * job.length;
  if (job.groups == 0 || pairs == 0) return;
  const bool small = job.rule.order.bits != 64 && pairs <= kRoundPairs;
  RunUnits(job.groups, job.groups * pairs, threads, control,
           [&](size_t begin, size_t end, const Progress& progress) {
             if (small) return HWY_DYNAMIC_DISPATCH(MergeGroups)(job, begin, end, progress);
             for (size_t group = begin; group < end && !progress.Stopped(); ++group) {
               const std::vector<Run> runs = GroupRuns(job, group);
               const PairsOut out = GroupOut(job, group);
               if (!MergePart(job.rule, job.rule.order.bits != 64, runs, out, progress)) continue;
               ForKeys(job.rule.order, [&]<typename T>() { FetchShared<T>(job.rule, runs, out); });
             }
           });
}

Inspected InspectRuns(const KeyOrder& order, const RunRows& runs) {
  if (runs.rows == 0 || runs.length == 0) return {0, false};
  return HWY_DYNAMIC_DISPATCH(InspectRunsOf)(order, runs);
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
