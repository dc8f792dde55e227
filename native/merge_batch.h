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
#include <span>
#include <vector>

#include "native/merge_fetch.h"
#include "native/merge_groups.h"
#include "native/merge_pack.h"
#include "native/merge_payload.h"
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

inline bool BatchesPay(size_t, size_t) { return false; }
template <typename T>
void MergeGroupBatches(const MergeBlocksJob&, size_t, size_t, const Progress&) {}

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
inline bool BatchesPay(size_t ways, size_t length) {
  constexpr size_t kRows = std::min<size_t>(LANESORT_BATCH_MERGE_ROWS, LANESORT_NETWORK_ROWS);  // what a Bench has room for
  return ways >= 2 && ways * length <= kRows && BatchShape(ways, length).Rows() <= kRows;
}

template <typename T>
class BatchMerger {
 public:
  using E = PackedDouble;

  explicit BatchMerger(const MergeBlocksJob& job)
      : job_(job),
        map_(job.rule.order),
        packer_(map_),
        shape_(job.ways, job.length),
        pitch_((shape_.Rows() + E::kLanes - 1) / E::kLanes * E::kLanes),
        bench_(TakeBench<E>(*lease_)) {}

  // Merges the groups begin … end - 1, at most one for each lane.
  void Merge(size_t begin, size_t end) {
    runs_.clear();
    for (size_t group = begin; group < end; ++group) AppendRuns(job_, group, runs_);
    for (size_t lane = 0; lane < end - begin; ++lane) Pack(Runs(lane), Line(lane));
    std::fill(Line(end - begin), Line(E::kLanes), E::kPad);
    MergeBatch<E>(bench_.sorted, pitch_, shape_.run, shape_.runs, bench_.matrix);
    for (size_t lane = 0; lane < end - begin; ++lane) Unpack(Line(lane), Runs(lane), GroupOut(job_, begin + lane));
  }

 private:
  uint64_t* Line(size_t lane) const { return bench_.sorted + lane * pitch_; }
  std::span<const Run> Runs(size_t lane) const { return std::span(runs_).subspan(lane * job_.ways, job_.ways); }

  // The low half of a packed pair is its place in the group, by which Unpack finds the payload.
  void Pack(std::span<const Run> runs, uint64_t* line) const {
    uint64_t* end = line;
    for (const Run& run : runs) {
      const TieSource ties{nullptr, 0, 4, static_cast<uint32_t>(run.first), 0};
      packer_.Pack(run, ties, reinterpret_cast<int64_t*>(end));
      std::fill(end + run.length, end + shape_.RunRows(), E::kPad);
      end += shape_.RunRows();
    }
    std::fill(end, line + pitch_, E::kPad);
  }

  void Unpack(const uint64_t* line, std::span<const Run> runs, const PairsOut& out) const {
    const size_t pairs = job_.ways * job_.length;
    const size_t bytes = job_.rule.index_bytes;
    const PayloadTable payload = PayloadByPlace(runs, pairs, bytes, (*lease_).data_positions);
    const IndexTarget target{payload.items, payload.step, bytes, 0};
    const int64_t* const packed = reinterpret_cast<const int64_t*>(line);
    if (Unpacker<T, AsDouble>(map_, target).Unpack(packed, pairs, out)) FetchShared<T>(job_.rule, runs, out);
  }

  const MergeBlocksJob& job_;
  const KeyMap<T> map_;
  const Packer<T, AsDouble> packer_;
  const BatchShape shape_;
  const size_t pitch_;
  const WorkspaceLease lease_;
  const Bench<E> bench_;
  std::vector<Run> runs_;
};

template <typename T>
void MergeGroupBatches(const MergeBlocksJob& job, size_t begin, size_t end, const Progress& progress) {
  constexpr size_t kGroups = BatchMerger<T>::E::kLanes;
  BatchMerger<T> merger(job);
  for (; begin < end && !progress.Stopped(); begin += kGroups) {
    const size_t stop = std::min(end, begin + kGroups);
    merger.Merge(begin, stop);
    progress.Advance(job.ways * job.length * (stop - begin));
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
