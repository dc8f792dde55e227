// Merges groups of short runs, one group in each lane of a vector, by the networks that sort columns.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_BATCH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_BATCH_H_
#undef LANESORT_MERGE_BATCH_H_
#else
#define LANESORT_MERGE_BATCH_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "native/merge_groups.h"
#include "native/merge_pack.h"
#include "native/workspace.h"
#if HWY_TARGET != HWY_SCALAR
#include "native/sort_network.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {

// Thresholds that bench/tune.py measures can be replaced when compiling.
#ifndef LANESORT_BATCH_MERGE_ROWS
#define LANESORT_BATCH_MERGE_ROWS 512
#endif

#if HWY_TARGET == HWY_SCALAR

inline bool BatchesPay(const MergeWordsJob&) { return false; }
template <typename T>
bool MergeGroupBatches(const MergeWordsJob&, size_t, size_t, const Progress&) {
  return true;
}

#else

// A group as a column: its runs, each padded to what networks merge, and as many more of padding alone
// as make their number a power of two.
struct BatchShape {
  MatrixShape run;
  size_t runs;

  BatchShape(size_t ways, size_t length) : run(ShapeOf(std::max<size_t>(length, 2))), runs(std::bit_ceil(ways)) {}
  size_t RunRows() const { return run.base << run.stages; }
  size_t Rows() const { return RunRows() * runs; }
};

// Whether groups are short enough that data-independent networks beat merges block by block.
inline bool BatchesPay(const MergeWordsJob& job) {
  // What a Bench has room for.
  constexpr size_t kRows = std::min<size_t>(LANESORT_BATCH_MERGE_ROWS, LANESORT_NETWORK_ROWS);
  const size_t longest = LongestRun(job);
  return job.runs.size() >= 2 && longest <= kRows && BatchShape(job.runs.size(), longest).Rows() <= kRows;
}

template <typename T>
class BatchMerger {
 public:
  using E = PackedDouble;

  explicit BatchMerger(const MergeWordsJob& job)
      : job_(job),
        ways_(job.runs.size()),
        pairs_(job.PairsOfGroup()),
        packer_(job.Rule()),
        shape_(ways_, LongestRun(job)),
        pitch_((shape_.Rows() + E::kLanes - 1) / E::kLanes * E::kLanes),
        bench_(TakeBench<E>(*lease_)) {}

  // Merges the groups begin … end - 1, at most one for each lane; says whether their runs are sorted.
  bool Merge(size_t begin, size_t end) {
    runs_.clear();
    for (size_t group = begin; group < end; ++group) AppendRuns(job_, group, runs_);
    table_.Assign(runs_, kWordBytes, (*lease_).data_positions);
    bool sorted = true;
    for (size_t lane = 0; lane < end - begin; ++lane) sorted &= Pack(lane);
    std::fill(Line(end - begin), Line(E::kLanes), E::kPad);
    MergeBatch<E>(bench_.sorted, pitch_, shape_.run, shape_.runs, bench_.matrix);
    for (size_t lane = 0; lane < end - begin; ++lane) {
      const int64_t* const packed = reinterpret_cast<const int64_t*>(Line(lane));
      LookUp<AsDouble, uint64_t>(table_, packed, pairs_, GroupOut(job_, begin + lane));
    }
    return sorted;
  }

 private:
  uint64_t* Line(size_t lane) const { return bench_.sorted + lane * pitch_; }

  // The low half of a packed pair is its place, by which its word is found.
  bool Pack(size_t lane) const {
    bool sorted = true;
    uint64_t* end = Line(lane);
    for (size_t r = lane * ways_; r < (lane + 1) * ways_; ++r) {
      const Run& run = runs_[r];
      const TieSource ties{nullptr, 0, 4, table_.First(r, lane * pairs_ + run.first), 0};
      int64_t* const packed = reinterpret_cast<int64_t*>(end);
      packer_.Pack(run, ties, packed);
      sorted &= Ascend(packed, run.length);
      std::fill(end + run.length, end + shape_.RunRows(), E::kPad);
      end += shape_.RunRows();
    }
    std::fill(end, Line(lane) + pitch_, E::kPad);
    return sorted;
  }

  const MergeWordsJob& job_;
  const size_t ways_, pairs_;
  const Packer<T, AsDouble> packer_;
  const BatchShape shape_;
  const size_t pitch_;
  const WorkspaceLease lease_;
  const Bench<E> bench_;
  std::vector<Run> runs_;
  PlaceTable table_;
};

template <typename T>
bool MergeGroupBatches(const MergeWordsJob& job, size_t begin, size_t end, const Progress& progress) {
  constexpr size_t kGroups = BatchMerger<T>::E::kLanes;
  BatchMerger<T> merger(job);
  bool sorted = true;
  for (; begin < end && !progress.Stopped(); begin += kGroups) {
    const size_t stop = std::min(end, begin + kGroups);
    sorted &= merger.Merge(begin, stop);
    progress.Advance(job.PairsOfGroup() * (stop - begin));
  }
  return sorted;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
