// Merges of pairs that fit into 64 bits. Included once for each SIMD target.
#if defined(LANESORT_MERGE_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_SIMD_H_
#undef LANESORT_MERGE_SIMD_H_
#else
#define LANESORT_MERGE_SIMD_H_
#endif

#include "native/merge_fetch.h"
#include "native/merge_batch.h"
#include "native/merge_groups.h"
#include "native/merge_pack.h"
#include "native/merge_span.h"
#include "native/merge_tree.h"
#include "native/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {

// Merges rounds of whole runs, packed as P. The low half of a packed pair is the position or the payload where
// that decides ties, else the place in the round, by which the payload is gathered afterwards.
template <typename T, class P>
class PackedMerger {
 public:
  // `look`: whether to see if the runs are sorted.
  PackedMerger(const MergeRule& rule, bool payload, bool look)
      : rule_(rule),
        look_(look),
        packer_(rule),
        by_place_(payload && rule.tie == Tie::kRun),
        flip_(rule.tie == Tie::kHigh ? kAllTies : 0) {}

  // Merges each `ways` consecutive runs; the results lie one after the other. Returns them packed.
  const int64_t* MergeRuns(const std::vector<Run>& runs, size_t ways) {
    size_t slots = 0;
    for (const Run& run : runs) slots += Slots(run.length);
    Workspace& space = *lease_;
    int64_t* const from = space.data.Get<int64_t>(slots);
    int64_t* const to = space.spare.Get<int64_t>(slots);
    if (by_place_) table_.Assign(runs, rule_.index_bytes, space.data_positions);
    pieces_.clear();
    size_t at = 0;
    size_t before = 0;
    for (const Run& run : runs) {
      packer_.Pack(run, Ties(run, pieces_.size(), before), from + at);
      if (look_) sorted_ &= Ascend(from + at, run.length);
      EndWithSentinels<P>(from + at, run.length);
      pieces_.push_back({at, run.length});
      at += Slots(run.length);
      before += run.length;
    }
    return tree_.Merge(pieces_, ways, from, to);
  }

  const std::vector<Piece>& merged() const { return pieces_; }
  bool sorted() const { return sorted_; }

  // Unpacks a merged piece; returns whether values of shared keys have to be fetched.
  bool Unpack(const int64_t* packed, size_t n, const PairsOut& out) const {
    const IndexTarget target{by_place_ ? &table_ : nullptr, rule_.index_bytes, flip_, rule_.words};
    return Unpacker<T, P>(KeyMap<T>(rule_.order), target).Unpack(packed, n, out);
  }

 private:
  static constexpr uint32_t kAllTies = static_cast<uint32_t>((uint64_t{1} << P::kShift) - 1);

  // Of run `number`, which `before` pairs come before.
  TieSource Ties(const Run& run, size_t number, size_t before) const {
    if (by_place_) return {nullptr, 0, 4, table_.First(number, before), 0};
    if (run.payload == nullptr) return {nullptr, 0, 4, static_cast<uint32_t>(run.first), flip_};
    return {run.payload, run.payload_step, rule_.index_bytes, 0, flip_};
  }

  const MergeRule& rule_;
  const bool look_;
  bool sorted_ = true;
  Packer<T, P> packer_;
  bool by_place_;
  uint32_t flip_;
  const WorkspaceLease lease_;
  Tree<P> tree_;
  std::vector<Piece> pieces_;
  PlaceTable table_;
};

template <typename T, class P>
Met MergeSpanAs(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, bool look,
                const Progress& progress) {
  PackedMerger<T, P> merger(rule, !runs.empty() && runs[0].payload != nullptr, look);
  Rounds<T> rounds(Heads<T>(rule), runs);
  Met met;
  uint64_t done = 0;
  for (const std::vector<Run>* parts = &rounds.Next(); !parts->empty(); parts = &rounds.Next()) {
    if (progress.Stopped()) break;
    const int64_t* const merged = merger.MergeRuns(*parts, parts->size());
    const size_t pairs = merger.merged()[0].length;
    met.shared |= merger.Unpack(merged, pairs, out.From(done));
    done += pairs;
    progress.Advance(pairs);
  }
  met.unsorted = look && (rounds.unsorted() || !merger.sorted());
  return met;
}

// Whether what decides ties is below 2^30.
inline bool TiesAreShort(const MergeRule& rule, const std::vector<Run>& runs) {
  constexpr uint64_t kShort = uint64_t{1} << AsDouble::kShift;
  uint64_t pairs = 0;
  for (const Run& run : runs) {
    pairs += run.length;
    if (run.payload == nullptr && run.first + run.length > kShort) return false;
    if (run.payload != nullptr && rule.tie != Tie::kRun && AllBits(run, rule.index_bytes) >= kShort) return false;
  }
  return pairs <= kShort;
}

template <typename T>
Met MergePackedSpan(const MergeRule& rule, const std::vector<Run>& runs, const PairsOut& out, bool look,
                    const Progress& progress) {
  if constexpr (kDoublesAreCheaper) {
    if (TiesAreShort(rule, runs)) return MergeSpanAs<T, AsDouble>(rule, runs, out, look, progress);
  }
  return MergeSpanAs<T, AsInteger>(rule, runs, out, look, progress);
}

// Merges groups of few pairs, as many at a time as fit into the cache; says whether all runs are sorted.
template <typename T>
bool MergePackedGroups(const MergeWordsJob& job, size_t begin, size_t end, const Progress& progress) {
  if (BatchesPay(job)) return MergeGroupBatches<T>(job, begin, end, progress);
  const MergeRule rule = job.Rule();
  PackedMerger<T, std::conditional_t<kDoublesAreCheaper, AsDouble, AsInteger>> merger(rule, true, true);
  const size_t pairs = job.PairsOfGroup();
  const size_t batch = std::max<size_t>(1, kRoundPairs / pairs);
  std::vector<Run> runs;
  for (; begin < end && !progress.Stopped(); begin += batch) {
    const size_t stop = std::min(end, begin + batch);
    runs.clear();
    for (size_t group = begin; group < stop; ++group) AppendRuns(job, group, runs);
    const int64_t* const merged = merger.MergeRuns(runs, job.runs.size());
    for (size_t group = begin; group < stop; ++group) {
      merger.Unpack(merged + merger.merged()[group - begin].at, pairs, GroupOut(job, group));
    }
    progress.Advance(pairs * (stop - begin));
  }
  return merger.sorted();
}

// Position of the first pair that has to stand before its predecessor, ties by index; run.length if none has.
template <typename T>
uint64_t FirstUnsortedPacked(const MergeRule& rule, const Run& run) {
  constexpr size_t kChunk = 1024;
  alignas(64) int64_t packed[kChunk];
  const hn::CappedTag<int64_t, 8> d;
  const size_t lanes = hn::Lanes(d);
  const Packer<T, AsInteger> packer(rule);
  const uint32_t flip = rule.tie == Tie::kHigh ? ~uint32_t{0} : 0;
  for (uint64_t begin = 0; begin + 1 < run.length; begin += kChunk - 1) {
    const Run part = Part(run, begin, std::min<uint64_t>(run.length, begin + kChunk));
    const TieSource ties{part.payload, part.payload_step, rule.index_bytes, 0, flip};
    packer.Pack(part, ties, packed);
    size_t i = 1;
    for (; i + lanes <= part.length; i += lanes) {
      if (!hn::AllFalse(d, hn::Lt(hn::LoadU(d, packed + i), hn::LoadU(d, packed + i - 1)))) break;
    }
    for (; i < part.length; ++i) {
      if (packed[i] < packed[i - 1]) return begin + i;
    }
  }
  return run.length;
}

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
