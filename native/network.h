// Sorts up to a few thousand elements with data-independent sorting networks.
//
// The elements lie as a matrix of m rows, one vector each. Every column (lane) is sorted by
// itself, with no work across lanes; then columns are merged, two by two, until they are one.
// Only those last merges cross lanes. Merging is bitonic, with the first step mirrored so that
// every compare-exchange leaves the smaller element in front; halving a bitonic sequence works
// for every even length, so that m may be 10, 12, 14 or 16 times a power of two.
// Included once per SIMD target.
#if defined(LANESORT_NETWORK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_NETWORK_H
#undef LANESORT_NETWORK_H
#else
#define LANESORT_NETWORK_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <utility>

#include "native/comparators.h"
#include "native/element.h"
#include "native/sort_network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

// Rows that fit into the registers together with what moves between them.
constexpr size_t kRegisterRows = 16;
// Stages of a merge that one sweep over memory does: 2^kSweepStages rows are in registers.
constexpr size_t kSweepStages = HWY_TARGET <= HWY_AVX3 ? 4 : 3;

// --- networks on an array of registers ------------------------------------------------------

template <class E, class Network, size_t... kStep>
HWY_INLINE void Apply([[maybe_unused]] typename E::V* HWY_RESTRICT rows, std::index_sequence<kStep...>) {
  (E::Sort(rows[Network::kSteps[kStep].low], rows[Network::kSteps[kStep].high]), ...);
}
template <class E, class Network>
HWY_INLINE void Apply(typename E::V* HWY_RESTRICT rows) {
  Apply<E, Network>(rows, std::make_index_sequence<Network::kSteps.size()>());
}

// One row within which lanes l and l ^ kFlip are sorted; bit kBit tells which is the higher.
template <class E, size_t kFlip, size_t kBit>
HWY_INLINE typename E::V SortWithin(typename E::V v) {
  typename E::V smaller = v;
  typename E::V larger = E::template Xor<kFlip>(v);
  E::Sort(smaller, larger);
  return E::template Select<kBit>(larger, smaller);
}

// The lane steps of a merge after the mirrored one: distances kDistance, kDistance / 2 … 1.
template <class E, size_t kDistance>
HWY_INLINE typename E::V SortLanes(typename E::V v) {
  if constexpr (kDistance == 0) {
    return v;
  } else {
    return SortLanes<E, kDistance / 2>(SortWithin<E, kDistance, kDistance>(v));
  }
}

// Starts the merge of sorted groups of kWidth columns, for row a and its mirror image b.
template <class E, size_t kWidth>
HWY_INLINE void MirrorLanes(typename E::V& a, typename E::V& b) {
  typename E::V smaller = a;
  typename E::V larger = E::template Xor<2 * kWidth - 1>(b);
  E::Sort(smaller, larger);
  a = SortLanes<E, kWidth / 2>(E::template Select<kWidth>(larger, smaller));
  b = SortLanes<E, kWidth / 2>(E::template Xor<2 * kWidth - 1>(E::template Select<kWidth>(smaller, larger)));
}

template <class E, size_t kRows, size_t kWidth>
HWY_INLINE void MergeColumns(typename E::V* HWY_RESTRICT rows) {
  if constexpr (kWidth < E::kLanes) {
    for (size_t i = 0; i < kRows / 2; ++i) MirrorLanes<E, kWidth>(rows[i], rows[kRows - 1 - i]);
    if constexpr (kRows % 2 == 1) {
      rows[kRows / 2] = SortLanes<E, kWidth / 2>(SortWithin<E, 2 * kWidth - 1, kWidth>(rows[kRows / 2]));
    }
    Apply<E, BitonicNetwork<kRows>>(rows);
    MergeColumns<E, kRows, 2 * kWidth>(rows);
  }
}

// --- the transposition back to one sequence -------------------------------------------------

template <class E, size_t kBit>
HWY_INLINE void Transpose(typename E::V* HWY_RESTRICT rows) {
  if constexpr (kBit < E::kLanes) {
    for (size_t i = 0; i < E::kLanes; ++i) {
      if ((i & kBit) == 0) E::template Exchange<kBit>(rows[i], rows[i + kBit]);
    }
    Transpose<E, 2 * kBit>(rows);
  }
}

// Writes column after column: element r of column l to out[l * m + r]. With fewer rows than lanes
// each store runs over its column's end; the next column's overwrites that, and out has slack for
// the last one.
template <class E>
HWY_INLINE void StoreBlock(typename E::V* HWY_RESTRICT rows, size_t m, typename E::Pointer out) {
  Transpose<E, 1>(rows);
  for (size_t lane = 0; lane < E::kLanes; ++lane) E::Store(rows[lane], out + lane * m);
}

template <class E>
void StoreColumns(typename E::Pointer matrix, size_t m, typename E::Pointer out) {
  constexpr size_t N = E::kLanes;
  for (size_t row = 0; row < m; row += N) {
    // The last block overlaps the one before it.
    const size_t first = row + N <= m ? row : m - N;
    typename E::V rows[N];
    for (size_t i = 0; i < N; ++i) rows[i] = E::Load(matrix + (first + i) * N);
    StoreBlock<E>(rows, m, out + first);
  }
}

// --- few rows: all in registers -------------------------------------------------------------

template <class E, size_t kRows>
HWY_NOINLINE void SortInRegisters(typename E::Pointer matrix, typename E::Pointer out) {
  constexpr size_t N = E::kLanes;
  typename E::V rows[kRows < N ? N : kRows];
  for (size_t i = 0; i < kRows; ++i) rows[i] = E::Load(matrix + i * N);
  Apply<E, SortingNetwork<kRows>>(rows);
  MergeColumns<E, kRows, 1>(rows);
  if constexpr (kRows < N) {
    for (size_t i = kRows; i < N; ++i) rows[i] = rows[0];
    StoreBlock<E>(rows, kRows, out);
  } else {
    for (size_t i = 0; i < kRows; ++i) E::Store(rows[i], matrix + i * N);
    StoreColumns<E>(matrix, kRows, out);
  }
}

// --- many rows: sweeps over memory ----------------------------------------------------------

// kStages halving steps of blocks of `length` rows.
template <class E, size_t kStages>
void Halve(typename E::Pointer matrix, size_t m, size_t length) {
  constexpr size_t kWays = size_t{1} << kStages;
  constexpr size_t N = E::kLanes;
  const size_t step = length / kWays;
  for (size_t block = 0; block < m; block += length) {
    for (size_t i = 0; i < step; ++i) {
      typename E::V rows[kWays];
      for (size_t j = 0; j < kWays; ++j) rows[j] = E::Load(matrix + (block + i + j * step) * N);
      Apply<E, BitonicNetwork<kWays>>(rows);
      for (size_t j = 0; j < kWays; ++j) E::Store(rows[j], matrix + (block + i + j * step) * N);
    }
  }
}

// The mirrored step and kStages - 1 halving steps that merge sorted halves of blocks.
template <class E, size_t kStages>
void Mirror(typename E::Pointer matrix, size_t m, size_t length) {
  constexpr size_t kWays = size_t{1} << (kStages - 1);
  constexpr size_t N = E::kLanes;
  const size_t step = length / 2 / kWays;
  for (size_t block = 0; block < m; block += length) {
    for (size_t i = 0; i < step; ++i) {
      typename E::V front[kWays];
      typename E::V back[kWays];  // from the end
      const size_t last = block + length - 1 - i;
      for (size_t j = 0; j < kWays; ++j) {
        front[j] = E::Load(matrix + (block + i + j * step) * N);
        back[kWays - 1 - j] = E::Load(matrix + (last - j * step) * N);
      }
      for (size_t j = 0; j < kWays; ++j) E::Sort(front[j], back[kWays - 1 - j]);
      Apply<E, BitonicNetwork<kWays>>(front);
      Apply<E, BitonicNetwork<kWays>>(back);
      for (size_t j = 0; j < kWays; ++j) {
        E::Store(front[j], matrix + (block + i + j * step) * N);
        E::Store(back[kWays - 1 - j], matrix + (last - j * step) * N);
      }
    }
  }
}

template <class E, class Network, size_t kRows>
void SortBlocks(typename E::Pointer matrix, size_t m) {
  constexpr size_t N = E::kLanes;
  for (size_t block = 0; block < m; block += kRows) {
    typename E::V rows[kRows];
    for (size_t i = 0; i < kRows; ++i) rows[i] = E::Load(matrix + (block + i) * N);
    Apply<E, Network>(rows);
    for (size_t i = 0; i < kRows; ++i) E::Store(rows[i], matrix + (block + i) * N);
  }
}

// Sorts each bitonic block of `length` = kRows << stages rows.
template <class E, size_t kRows>
void FinishMerge(typename E::Pointer matrix, size_t m, size_t length, size_t stages) {
  while (stages > 0) {
    const size_t now = stages < kSweepStages ? stages : kSweepStages;
    switch (now) {
      case 1: Halve<E, 1>(matrix, m, length); break;
      case 2: Halve<E, 2>(matrix, m, length); break;
      case 3: Halve<E, 3>(matrix, m, length); break;
      default: Halve<E, kSweepStages>(matrix, m, length); break;
    }
    stages -= now;
    length >>= now;
  }
  SortBlocks<E, BitonicNetwork<kRows>, kRows>(matrix, m);
}

// Merges sorted runs of kRows << run_stages rows in every column, until there is one of m rows.
template <class E, size_t kRows>
void MergeRuns(typename E::Pointer matrix, size_t m, size_t run_stages) {
  size_t stages = run_stages + 1;
  for (size_t length = kRows << stages; length <= m; length *= 2, ++stages) {
    const size_t now = stages < kSweepStages ? stages : kSweepStages;
    switch (now) {
      case 1: Mirror<E, 1>(matrix, m, length); break;
      case 2: Mirror<E, 2>(matrix, m, length); break;
      case 3: Mirror<E, 3>(matrix, m, length); break;
      default: Mirror<E, kSweepStages>(matrix, m, length); break;
    }
    FinishMerge<E, kRows>(matrix, m, length >> now, stages - now);
  }
}

template <class E, size_t kRows>
void SortColumns(typename E::Pointer matrix, size_t m) {
  SortBlocks<E, SortingNetwork<kRows>, kRows>(matrix, m);
  MergeRuns<E, kRows>(matrix, m, 0);
}

template <class E, size_t kRows, size_t kWidth>
void MergeColumnsInMemory(typename E::Pointer matrix, size_t m, size_t stages) {
  if constexpr (kWidth < E::kLanes) {
    constexpr size_t N = E::kLanes;
    for (size_t i = 0; i < m / 2; ++i) {
      auto a = E::Load(matrix + i * N);
      auto b = E::Load(matrix + (m - 1 - i) * N);
      MirrorLanes<E, kWidth>(a, b);
      E::Store(a, matrix + i * N);
      E::Store(b, matrix + (m - 1 - i) * N);
    }
    FinishMerge<E, kRows>(matrix, m, m, stages);
    MergeColumnsInMemory<E, kRows, 2 * kWidth>(matrix, m, stages);
  }
}

template <class E, size_t kRows>
HWY_NOINLINE void SortInMemory(typename E::Pointer matrix, size_t m, size_t stages, typename E::Pointer out) {
  SortColumns<E, kRows>(matrix, m);
  MergeColumnsInMemory<E, kRows, 1>(matrix, m, stages);
  StoreColumns<E>(matrix, m, out);
}

// --- several short sequences at once: one in each lane --------------------------------------

// Block by block from lines of `pitch` elements, one for each lane, to rows of a matrix, or back.
template <class E, bool kBack>
void TurnLines(typename E::Pointer lines, size_t pitch, typename E::Pointer matrix) {
  constexpr size_t N = E::kLanes;
  for (size_t first = 0; first < pitch; first += N) {
    typename E::V rows[N];
    for (size_t i = 0; i < N; ++i) rows[i] = E::Load(kBack ? matrix + (first + i) * N : lines + (i * pitch + first));
    Transpose<E, 1>(rows);
    for (size_t i = 0; i < N; ++i) E::Store(rows[i], kBack ? lines + (i * pitch + first) : matrix + (first + i) * N);
  }
}

// Calls kernel with the number of rows of a base of ShapeOf.
template <class Kernel>
HWY_INLINE void ForBase(size_t base, Kernel kernel) {
  switch (base) {
    case 1: return kernel.template operator()<1>();
    case 2: return kernel.template operator()<2>();
    case 3: return kernel.template operator()<3>();
    case 4: return kernel.template operator()<4>();
    case 5: return kernel.template operator()<5>();
    case 6: return kernel.template operator()<6>();
    case 7: return kernel.template operator()<7>();
    case 8: return kernel.template operator()<8>();
    case 10: return kernel.template operator()<10>();
    case 12: return kernel.template operator()<12>();
    case 14: return kernel.template operator()<14>();
    default: return kernel.template operator()<16>();
  }
}

template <class E>
void SortBatch(typename E::Pointer lines, size_t pitch, size_t count, typename E::Pointer matrix) {
  TurnLines<E, false>(lines, pitch, matrix);
  const MatrixShape shape = ShapeOf(count);
  ForBase(shape.base, [&]<size_t kRows>() { SortColumns<E, kRows>(matrix, shape.base << shape.stages); });
  TurnLines<E, true>(lines, pitch, matrix);
}

template <class E>
void MergeBatch(typename E::Pointer lines, size_t pitch, MatrixShape run, size_t runs, typename E::Pointer matrix) {
  TurnLines<E, false>(lines, pitch, matrix);
  ForBase(run.base, [&]<size_t kRows>() { MergeRuns<E, kRows>(matrix, (kRows << run.stages) * runs, run.stages); });
  TurnLines<E, true>(lines, pitch, matrix);
}

// --- the entry ------------------------------------------------------------------------------

template <class E>
void SortNetwork(typename E::Pointer matrix, size_t count, typename E::Pointer out) {
  constexpr size_t N = E::kLanes;
  const MatrixShape shape = ShapeOf((count + N - 1) / N);
  const size_t m = shape.base << shape.stages;
  for (size_t i = count; i < m * N; ++i) E::Put(E::kPad, matrix + i);
  if (shape.stages == 0) {
    return ForBase(shape.base, [&]<size_t kRows>() { SortInRegisters<E, kRows>(matrix, out); });
  }
  switch (shape.base) {
    case 10: return SortInMemory<E, 10>(matrix, m, shape.stages, out);
    case 12: return SortInMemory<E, 12>(matrix, m, shape.stages, out);
    case 14: return SortInMemory<E, 14>(matrix, m, shape.stages, out);
    default: return SortInMemory<E, 16>(matrix, m, shape.stages, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_NETWORK_H
