// Sorts any number of elements: partitions around pivots until a part fits into the network.
//
// A part lies in one of two buffers. Partitioning keeps its low elements in place and moves the
// high ones to free space of the other, so that nothing is copied back; the parts are done from
// the lowest up, and each is handed out as soon as it is sorted.
// Included once per SIMD target.
#if defined(LANESORT_FLAT_SORT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_FLAT_SORT_H
#undef LANESORT_FLAT_SORT_H
#else
#define LANESORT_FLAT_SORT_H
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "native/control.h"
#include "native/element.h"
#include "native/sort_network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template <class E>
void CopyElements(typename E::Pointer from, size_t count, typename E::Pointer to) {
  size_t i = 0;
  for (; i + E::kLanes <= count; i += E::kLanes) E::Store(E::Load(from + i), to + i);
  for (; i < count; ++i) E::Put(E::Get(from + i), to + i);
}

// Moves elements that are not low to `high`, the others together at the front of data; returns how
// many these are. Low is: below pivot, or not above it when or_equal. Both keep their order.
template <class E, bool kOrEqual>
HWY_NOINLINE size_t Partition(typename E::Pointer data, size_t count, typename E::Pointer high,
                              typename E::Scalar pivot) {
  constexpr size_t N = E::kLanes;
  const typename E::D d;
  const auto pivots = E::Broadcast(pivot);
  size_t lows = 0;
  size_t i = 0;
  // Stores of whole vectors never pass what was read: lows and i - lows are at most i.
  for (; i + N <= count; i += N) {
    const auto v = E::Load(data + i);
    auto is_low = E::Less(v, pivots);
    if constexpr (kOrEqual) is_low = hn::Not(E::Less(pivots, v));
    E::Store(E::Compress(v, is_low), data + lows);
    E::Store(E::Compress(v, hn::Not(is_low)), high + (i - lows));
    lows += hn::CountTrue(d, is_low);
  }
  for (; i < count; ++i) {
    const auto element = E::Get(data + i);
    const bool is_low = kOrEqual ? !E::Less(pivot, element) : E::Less(element, pivot);
    E::Put(element, is_low ? data + lows : high + (i - lows));
    lows += is_low ? 1 : 0;
  }
  return lows;
}

__extension__ typedef unsigned __int128 Wide;

// The median of a sample; its places depend on the count alone.
template <class E>
typename E::Scalar Pivot(typename E::Pointer data, size_t count, const Bench<E>& bench) {
  const size_t sample = count < (size_t{1} << 17) ? 64 : 256;
  uint64_t state = count;
  for (size_t i = 0; i < sample; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto place = static_cast<size_t>((static_cast<Wide>(state) * count) >> 64);
    E::Put(E::Get(data + place), bench.matrix + i);
  }
  SortNetwork<E>(bench.matrix, sample, bench.sorted);
  return E::Get(bench.sorted + sample / 2);
}

template <class E>
void SiftDown(typename E::Pointer heap, size_t root, size_t count) {
  const auto element = E::Get(heap + root);
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && E::Less(E::Get(heap + child), E::Get(heap + (child + 1)))) ++child;
    if (!E::Less(element, E::Get(heap + child))) break;
    E::Put(E::Get(heap + child), heap + root);
  }
  E::Put(element, heap + root);
}

// What is left for inputs made to spoil the pivots.
template <class E>
HWY_NOINLINE void HeapSort(typename E::Pointer data, size_t count) {
  for (size_t root = count / 2; root-- > 0;) SiftDown<E>(data, root, count);
  for (size_t last = count; last-- > 1;) {
    const auto largest = E::Get(data);
    E::Put(E::Get(data + last), data);
    E::Put(largest, data + last);
    SiftDown<E>(data, 0, last);
  }
}

// A part of the elements: `count` of them at data, as much free space at spare; `at` is the
// position of its first element in the sorted sequence.
template <class E>
struct Part {
  typename E::Pointer data;
  typename E::Pointer spare;
  size_t count;
  size_t at;
  size_t depth;
};

template <class E>
Part<E> WholePart(typename E::Pointer data, typename E::Pointer spare, size_t count) {
  return {data, spare, count, 0, 2 * static_cast<size_t>(std::bit_width(count))};
}

// Splits a part into a lower and a higher one. Where the lower holds nothing but equal elements, it
// is marked as sorted by depth = kSorted.
constexpr size_t kSorted = ~size_t{0};

template <class E>
std::pair<Part<E>, Part<E>> Split(const Part<E>& part, const Bench<E>& bench) {
  const auto pivot = Pivot<E>(part.data, part.count, bench);
  size_t lows = Partition<E, false>(part.data, part.count, part.spare, pivot);
  size_t depth = part.depth - 1;
  typename E::Pointer high = part.spare;
  typename E::Pointer low = part.data;
  size_t low_depth = depth;
  if (lows == 0) {  // nothing is below the pivot, and all has moved
    lows = Partition<E, true>(part.spare, part.count, part.data, pivot);
    std::swap(low, high);
    low_depth = kSorted;
  }
  const size_t highs = part.count - lows;
  return {Part<E>{low, high + highs, lows, part.at, low_depth},
          Part<E>{high, low + lows, highs, part.at + lows, depth}};
}

// Sorts a part that needs no further split, and calls emit(sorted, count, at).
template <class E, class Emit>
void SortLeaf(const Part<E>& part, const Bench<E>& bench, const Emit& emit) {
  if (part.depth == kSorted) return emit(part.data, part.count, part.at);
  if (part.count <= kNetworkCount<E>) {
    CopyElements<E>(part.data, part.count, bench.matrix);
    SortNetwork<E>(bench.matrix, part.count, bench.sorted);
    return emit(bench.sorted, part.count, part.at);
  }
  HeapSort<E>(part.data, part.count);
  emit(part.data, part.count, part.at);
}

template <class E>
bool IsLeaf(const Part<E>& part) {
  return part.count <= kNetworkCount<E> || part.depth == 0 || part.depth == kSorted;
}

template <class E, class Emit>
void SortPart(const Part<E>& part, const Bench<E>& bench, const Progress& progress, const Emit& emit) {
  if (progress.Stopped()) return;
  if (IsLeaf(part)) {
    SortLeaf<E>(part, bench, emit);
    return progress.Advance(part.count);
  }
  const auto [low, high] = Split<E>(part, bench);
  SortPart<E>(low, bench, progress, emit);
  SortPart<E>(high, bench, progress, emit);
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_FLAT_SORT_H
