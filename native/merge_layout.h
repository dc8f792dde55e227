// How values, ties and indices of a merge lie in memory, and how vectors of them are loaded.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_LAYOUT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_LAYOUT_H_
#undef LANESORT_MERGE_LAYOUT_H_
#else
#define LANESORT_MERGE_LAYOUT_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "native/merge_path.h"
#include "native/merge_payload.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DPacked = hn::CappedTag<uint64_t, 8>;
using VPacked = hn::Vec<DPacked>;
constexpr size_t kPackedLanes = hn::MaxLanes(DPacked());
template <typename T>
using Narrow = hn::Rebind<T, DPacked>;  // as many lanes of T as a vector has packed pairs

template <typename T>
HWY_INLINE VPacked Widen(hn::Vec<Narrow<T>> items) {
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(DPacked(), items);
  } else {
    return hn::PromoteTo(DPacked(), hn::PromoteTo(Narrow<uint32_t>(), items));
  }
}

// Which distances of items are loaded and stored as vectors; ties may also be counted.
enum class Layout : uint8_t { kAdjacent, kPairs, kStrided, kCounted };

inline Layout LayoutOf(ptrdiff_t step, size_t bytes) {
  if (step == static_cast<ptrdiff_t>(bytes)) return Layout::kAdjacent;
  return step == 8 && bytes < 8 ? Layout::kPairs : Layout::kStrided;
}

// Loads items that are adjacent, or 8 bytes apart: then 8 bytes are read at each.
template <typename T, Layout kLayout>
HWY_INLINE hn::Vec<Narrow<T>> LoadItems(const uint8_t* from) {
  if constexpr (kLayout == Layout::kAdjacent) {
    return hn::LoadU(Narrow<T>(), reinterpret_cast<const T*>(from));
  } else {
    return hn::TruncateTo(Narrow<T>(), hn::LoadU(DPacked(), reinterpret_cast<const uint64_t*>(from)));
  }
}

// Where the low half of a packed pair comes from.
struct TieSource {
  const uint8_t* items;  // null: count, count + 1, …
  ptrdiff_t step;
  size_t bytes;  // 4 or 8; 8-byte items are below 2^32
  uint32_t count;
  uint32_t flip;  // toggled, so that higher items come first

  uint32_t At(size_t i) const {
    const uint64_t tie = items == nullptr
                             ? count + i
                             : LoadIndex(items + static_cast<ptrdiff_t>(i) * step, bytes);
    return static_cast<uint32_t>(tie) ^ flip;
  }
};

template <Layout kLayout>
HWY_INLINE VPacked LoadTies(const TieSource& ties, size_t i) {
  const DPacked d;
  if constexpr (kLayout == Layout::kCounted) return hn::Add(hn::Iota(d, 0), hn::Set(d, ties.count + i));
  const uint8_t* from = ties.items + static_cast<ptrdiff_t>(i) * ties.step;
  if constexpr (kLayout == Layout::kAdjacent) {
    return hn::PromoteTo(d, hn::LoadU(Narrow<uint32_t>(), reinterpret_cast<const uint32_t*>(from)));
  } else {
    return hn::And(hn::LoadU(d, reinterpret_cast<const uint64_t*>(from)), hn::Set(d, 0xFFFFFFFF));
  }
}

// What becomes of the low half of a packed pair.
struct IndexTarget {
  const PlaceTable* table;  // null: it is the index; else its place
  size_t bytes;  // of an index
  uint32_t flip;
  bool words;  // the items of the table are words that hold the values too
};

// Calls kernel with the two distances if they are 4 or 8, which makes loops over them shorter, else with 0.
template <class Kernel>
void ForSteps(ptrdiff_t from, ptrdiff_t to, Kernel kernel) {
  if (from == 4 && to == 4) return kernel.template operator()<4, 4>();
  if (from == 4 && to == 8) return kernel.template operator()<4, 8>();
  if (from == 8 && to == 4) return kernel.template operator()<8, 4>();
  if (from == 8 && to == 8) return kernel.template operator()<8, 8>();
  return kernel.template operator()<0, 0>();
}

// Writes the indices of n packed pairs that a table holds. One by one: gathers are no faster on many CPUs.
template <class P, typename Index>
void LookUp(const PlaceTable& table, const int64_t* packed, size_t n, const PairsOut& out) {
  constexpr uint64_t kTies = (uint64_t{1} << P::kShift) - 1;
  // Copies, because the compiler must take the bytes that are stored for any object's.
  const uintptr_t* const bases = table.bases();
  const unsigned shift = table.shift();
  const ptrdiff_t table_step = table.step();
  const ptrdiff_t index_step = out.index_step;
  uint8_t* next = out.indices;
  ForSteps(table_step, index_step, [=]<ptrdiff_t kFrom, ptrdiff_t kTo>() mutable {
    const uintptr_t from = static_cast<uintptr_t>(kFrom == 0 ? table_step : kFrom);
    const ptrdiff_t to = kTo == 0 ? index_step : kTo;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; ++i, next += to) {
      uint64_t place = static_cast<uint64_t>(packed[i]) & kTies;
      if (P::kSentinel & kTies) place = packed[i] == P::kSentinel ? 0 : place;
      StoreItem(next, LoadItem<Index>(reinterpret_cast<const uint8_t*>(bases[place >> shift] + place * from)));
    }
  });
}

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
