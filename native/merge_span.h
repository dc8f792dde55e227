// One part of a merge on one thread: rounds that fit into the cache, each cut where a run's chunk
// ends, packed, merged as a tree and unpacked.
#pragma once

#include <cstdint>
#include <vector>

#include "native/merge_path.h"
#include "native/merge_wide.h"
#include "native/workspace.h"

namespace lanesort {

#ifndef LANESORT_ROUND_PAIRS  // bench/tune.py measures it
#define LANESORT_ROUND_PAIRS 8192
#endif
constexpr size_t kRoundPairs = LANESORT_ROUND_PAIRS;
constexpr size_t kLeastChunk = 128;

template <typename T>
WidePair* WidenRun(const MergeRule& rule, const KeyMap<T>& map, const Run& run, WidePair* out) {
  const uint64_t flip = rule.tie == Tie::kHigh ? ~uint64_t{0} : 0;
  for (uint64_t i = 0; i < run.length; ++i) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(i);
    const T bits = LoadItem<T>(run.values + at * run.value_step);
    *out++ = {map.Key(bits), IndexAt(run, i, rule.index_bytes) ^ flip};
  }
  return out;
}

template <typename T>
void StoreWide(const MergeRule& rule, const KeyMap<T>& map, const WidePair* pairs, size_t n, const PairsOut& out) {
  const uint64_t flip = rule.tie == Tie::kHigh ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < n; ++i) {
    const PairsOut to = out.From(i);
    const T value = map.Bits(static_cast<T>(pairs[i].key));
    const uint64_t index = pairs[i].index ^ flip;
    std::memcpy(to.values, &value, sizeof(T));
    std::memcpy(to.indices, &index, rule.index_bytes);
  }
}

// Cuts the next round off the fronts of all runs: the first chunk of one run and all that comes
// before its end. Every round but the last takes at least kLeastChunk pairs. Sees whether runs ascend at cuts.
template <typename T>
class Rounds {
 public:
  Rounds(const Heads<T>& heads, std::vector<Run> runs) : heads_(heads), runs_(std::move(runs)) {}

  // The runs' parts of the next round, empty ones left out; none when all is done.
  const std::vector<Run>& Next() {
    parts_.clear();
    std::erase_if(runs_, [](const Run& run) { return run.length == 0; });
    if (runs_.empty()) return parts_;
    const uint64_t chunk = std::max<uint64_t>(kLeastChunk, kRoundPairs / runs_.size());
    size_t chosen = runs_.size();
    Head bound{};
    for (size_t r = 0; r < runs_.size(); ++r) {
      if (runs_[r].length <= chunk) continue;
      const Head head = heads_.At(runs_[r], chunk - 1);
      if (chosen == runs_.size() || head < bound) {
        chosen = r;
        bound = head;
      }
    }
    for (size_t r = 0; r < runs_.size(); ++r) {
      uint64_t count = std::min(chunk, runs_[r].length);
      if (chosen != runs_.size() && r != chosen) {
        count = heads_.CountBefore(runs_[r], 0, count, bound, r < chosen);
      }
      if (count == 0) continue;
      unsorted_ |= FallsAt(heads_, runs_[r], count);
      parts_.push_back(Part(runs_[r], 0, count));
      runs_[r] = Part(runs_[r], count, runs_[r].length);
    }
    return parts_;
  }

  bool unsorted() const { return unsorted_; }

 private:
  Heads<T> heads_;
  bool unsorted_ = false;
  std::vector<Run> runs_;
  std::vector<Run> parts_;
};

// Merges all of `runs` by comparing pairs that fill two words. Does not look whether they are sorted.
template <typename T>
Met MergeWideSpan(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out,
                   const Progress& progress) {
  const WorkspaceLease space;
  const Heads<T> heads(rule);
  Rounds<T> rounds(heads, runs);
  uint64_t done = 0;
  for (const std::vector<Run>* parts = &rounds.Next(); !parts->empty(); parts = &rounds.Next()) {
    if (progress.Stopped()) break;
    std::vector<size_t> lengths;
    for (const Run& part : *parts) lengths.push_back(part.length);
    const size_t pairs = Sum(lengths);
    WidePair* const from = (*space).data.Get<WidePair>(pairs);
    WidePair* const to = (*space).spare.Get<WidePair>(pairs);
    WidePair* next = from;
    for (const Run& part : *parts) next = WidenRun(rule, heads.map(), part, next);
    const size_t ways = lengths.size();
    const WidePair* const merged = rule.tie == Tie::kRun
                                       ? MergeWideTree<false>(std::move(lengths), ways, from, to)
                                       : MergeWideTree<true>(std::move(lengths), ways, from, to);
    StoreWide(rule, heads.map(), merged, pairs, out.From(done));
    done += pairs;
    progress.Advance(pairs);
  }
  return {heads.map().fetch, false};
}

}  // namespace lanesort
