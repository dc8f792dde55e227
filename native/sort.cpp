#include "native/sort.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/sort.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "native/plain_sort.h"
#include "native/shared_row.h"
#include "native/workspace.h"
#if HWY_TARGET != HWY_SCALAR
#include "native/row_sort.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void SortRange(const SortJob& job, size_t begin, size_t end, const Progress& progress) {
  PlainSortRange(job, begin, end, progress);
}

SharedRow* ShareRow(const SortJob&) { return nullptr; }

#else

// Calls visit(rows) with the way to sort rows of up to `count` elements.
template <class Visit>
void WithRows(const SortJob& job, const Visit& visit) {
  const size_t count = job.columns;
  const bool alone = job.indices == nullptr && job.values != nullptr && job.value_stride * 8 == job.order.bits;
  const bool packs = count <= PackedDouble::kPositions;
  switch (job.order.bits) {
    case 8:
      if (count <= Pack8::kPositions) return visit(PairRows<Pack8>(job));
      return packs ? visit(PairRows<PackShort<uint8_t>>(job)) : visit(PairRows<PackLong<uint8_t>>(job));
    case 16:
      if (count <= 0x10000) return visit(PairRows<Pack16>(job));
      return packs ? visit(PairRows<PackShort<uint16_t>>(job)) : visit(PairRows<PackLong<uint16_t>>(job));
    case 32:
      if (alone) return visit(ValueRows<Alone32>(job));
      return packs ? visit(PairRows<Pack32>(job)) : visit(PairRows<PackLong<uint32_t>>(job));
    default:
      if (alone) return visit(ValueRows<Alone64>(job));
      return visit(PairRows<Pack64>(job));
  }
}

struct SortRowsOf {
  const SortJob& job;
  size_t begin, end;
  const Progress& progress;

  template <class Rows>
  void operator()(const Rows& rows) const {
    const WorkspaceLease lease;
    Workspace& space = *lease;
    size_t row = begin;
    constexpr size_t kBatch = Rows::E::kLanes;
    if (job.columns <= kBatchCount) {
      // A batch costs what its lanes cost, used or not: the last rows are worth one when they are many.
      for (; end - row >= kBatch / 2 && end != row && !progress.Stopped(); row += std::min(kBatch, end - row)) {
        rows.SortBatch(row, std::min(kBatch, end - row), job.columns, space);
        progress.Advance(job.columns * std::min(kBatch, end - row));
      }
    }
    for (; row < end && !progress.Stopped(); ++row) {
      rows.Sort(row, job.LengthOf(row), space, progress);
    }
  }
};

void SortRange(const SortJob& job, size_t begin, size_t end, const Progress& progress) {
  WithRows(job, SortRowsOf{job, begin, end, progress});
}

// Threads take parts from a heap of them until all is sorted.
template <class Rows>
class SharedRowOf : public SharedRow {
 public:
  explicit SharedRowOf(const SortJob& job) : count_(job.LengthOf(0)), rows_(job) {}

  void Work(const Progress& progress) override {
    const WorkspaceLease lease;
    const Bench<E> bench = TakeBench<E>(*lease);
    if (pool_.IsFirst()) pool_.Add(rows_.Begin(0, count_, *lease_));
    Part<E> part{};
    while (pool_.Take(part, progress)) {
      if (IsLeaf(part) || part.count <= kSmallPart) {
        Finish(part, bench, progress);
      } else {
        const auto [low, high] = Split<E>(part, bench);
        pool_.Add(low);
        pool_.Add(high);
      }
      if (pool_.Done()) rows_.End(0, count_);
    }
  }

 private:
  using E = typename Rows::E;
  static constexpr size_t kSmallPart = size_t{1} << 18;

  void Finish(const Part<E>& part, const Bench<E>& bench, const Progress& progress) {
    if (progress.Stopped()) return;
    if (IsLeaf(part)) {
      rows_.Finish(0, count_, part, bench);
      return progress.Advance(part.count);
    }
    const auto [low, high] = Split<E>(part, bench);
    Finish(low, bench, progress);
    Finish(high, bench, progress);
  }

  const size_t count_;
  const Rows rows_;
  PartPool<Part<E>> pool_;
  const WorkspaceLease lease_;
};

struct ShareRowOf {
  const SortJob& job;
  SharedRow*& made;

  template <class Rows>
  void operator()(const Rows&) const {
    made = new SharedRowOf<Rows>(job);
  }
};

SharedRow* ShareRow(const SortJob& job) {
  SharedRow* made = nullptr;
  WithRows(job, ShareRowOf{job, made});
  return made;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanesort {

HWY_EXPORT(SortRange);
HWY_EXPORT(ShareRow);

void SortRows(const SortJob& job, size_t begin, size_t end, const Progress& progress) {
  HWY_DYNAMIC_DISPATCH(SortRange)(job, begin, end, progress);
}

std::unique_ptr<SharedRow> MakeSharedRow(const SortJob& job) {
  return std::unique_ptr<SharedRow>(HWY_DYNAMIC_DISPATCH(ShareRow)(job));
}

}  // namespace lanesort
#endif  // HWY_ONCE
