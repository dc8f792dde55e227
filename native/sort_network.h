// Sorts up to a few thousand elements; network.h says how.
// Included once per SIMD target.
#if defined(LANESORT_SORT_NETWORK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_SORT_NETWORK_H
#undef LANESORT_SORT_NETWORK_H
#else
#define LANESORT_SORT_NETWORK_H
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "native/comparators.h"
#include "native/element.h"
#include "native/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

// Thresholds that bench/tune.py measures can be replaced when compiling.
#ifndef LANESORT_NETWORK_ROWS
#define LANESORT_NETWORK_ROWS 512
#endif

// A matrix of at most 32 KiB: with its transposition it stays in the nearest caches.
template <class E>
constexpr size_t kNetworkCount = LANESORT_NETWORK_ROWS * E::kLanes * sizeof(typename E::Lane) / sizeof(typename E::Scalar);

// Room for the padding of the largest matrix, and a vector behind it.
template <class E>
constexpr size_t kBenchCount = kNetworkCount<E> + 2 * E::kLanes;

// Buffers of kBenchCount<E> elements in which a network sorts.
template <class E>
struct Bench {
  typename E::Pointer matrix;
  typename E::Pointer sorted;
};

template <class E>
Bench<E> TakeBench(Workspace& space) {
  return {E::Take(space.matrix, space.matrix_positions, kBenchCount<E>),
          E::Take(space.sorted, space.sorted_positions, kBenchCount<E>)};
}

// Sorts count <= kNetworkCount<E> elements of `matrix` into `sorted`. What follows the elements is
// overwritten in both. Compiled in network_*.cpp, once for each kind of element.
template <class E>
void SortNetwork(typename E::Pointer matrix, size_t count, typename E::Pointer sorted);

// Elements up to which sequences are better sorted in batches.
constexpr size_t kBatchCount = 64;

// Distance of the lines of a batch: room for `count` elements and their padding.
template <class E>
constexpr size_t BatchPitch(size_t count) {
  const MatrixShape shape = ShapeOf(count);
  return ((shape.base << shape.stages) + E::kLanes - 1) / E::kLanes * E::kLanes;
}

// Sorts E::kLanes lines at once, each of BatchPitch<E>(count) elements of which all behind `count`
// are E::kPad; count <= kBatchCount. `matrix` has room for as many elements as the lines.
template <class E>
void SortBatch(typename E::Pointer lines, size_t pitch, size_t count, typename E::Pointer matrix);

// Merges `runs` sorted runs, each of as many elements as `run` has rows, in every of E::kLanes lines;
// runs is a power of two, the pitch of lines a multiple of E::kLanes. `matrix` as above.
template <class E>
void MergeBatch(typename E::Pointer lines, size_t pitch, MatrixShape run, size_t runs, typename E::Pointer matrix);

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_SORT_NETWORK_H
