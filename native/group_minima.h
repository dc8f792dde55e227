// One read of a row: keys, and the smallest key of each lane group.
//
// A block is a multiple of 64 elements. Lane j of its vectors, taken together, is one group, so a
// block of 64 m elements on L lanes leaves L minima, and costs one Min per vector.
#if defined(LANESORT_GROUP_MINIMA_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_GROUP_MINIMA_H_
#undef LANESORT_GROUP_MINIMA_H_
#else
#define LANESORT_GROUP_MINIMA_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Passed by value to the loops below: then its constants stay in registers, whatever is stored.
template <typename T>
using RowKeys = KeyLanes<hn::ScalableTag<T>>;

// Keys of the last, incomplete 64 elements; the places behind them hold the largest key.
template <typename T>
HWY_INLINE void TailKeys(const T* x, size_t count, const RowKeys<T>& map, T* keys) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T bits[64] = {};
  std::memcpy(bits, x, count * sizeof(T));
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) hn::Store(map.Key(hn::Load(d, bits + i)), d, keys + i);
  std::fill(keys + count, keys + 64, std::numeric_limits<T>::max());
}

// All keys of a row, up to the end of the last 64 elements.
template <typename T>
void StoreKeys(const T* x, size_t n, const RowKeys<T> map, T* keys) {
  const hn::ScalableTag<T> d;
  const size_t full = n / 64 * 64;
  for (size_t i = 0; i < full; i += hn::Lanes(d)) hn::Store(map.Key(hn::LoadU(d, x + i)), d, keys + i);
  if (full != n) TailKeys(x + full, n - full, map, keys + full);
}

// Lane minima over 64 elements as `load(i)` gives them.
template <class D, class Load>
HWY_INLINE hn::Vec<D> LaneMinima64(D d, const Load& load) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  if constexpr (kLanes >= 64) {
    return load(0);
  } else {
    auto even = load(0);
    auto odd = load(kLanes);
    HWY_UNROLL(4)
    for (size_t i = 2 * kLanes; i < 64; i += 2 * kLanes) {
      even = hn::Min(even, load(i));
      odd = hn::Min(odd, load(i + kLanes));
    }
    (void)d;
    return hn::Min(even, odd);
  }
}

// How a row is cut into blocks.
struct BlockShape {
  size_t chunks = 1;  // of 64 elements, in a block
  size_t blocks = 0;  // the last may be incomplete
};

// Writes shape.blocks vectors of lane minima; with kStore also the keys, up to the end of the last
// 64 elements. x may be misaligned for T; the outputs are aligned.
template <bool kStore, typename T>
void GroupMinima(const T* x, size_t n, const RowKeys<T> map, const BlockShape& shape, T* minima, T* keys) {
  const hn::ScalableTag<T> d;
  const size_t full = n / 64;
  size_t chunk = 0;
  for (size_t block = 0; block < shape.blocks; ++block) {
    auto lowest = hn::Set(d, std::numeric_limits<T>::max());
    const size_t end = std::min(full, chunk + shape.chunks);
    for (; chunk < end; ++chunk) {
      lowest = hn::Min(lowest, LaneMinima64(d, [&](size_t i) HWY_ATTR {
                         const auto key = map.Key(hn::LoadU(d, x + 64 * chunk + i));
                         if constexpr (kStore) hn::Store(key, d, keys + 64 * chunk + i);
                         return key;
                       }));
    }
    if (block + 1 == shape.blocks && n % 64 != 0) {
      HWY_ALIGN T tail[64];
      TailKeys(x + 64 * full, n % 64, map, tail);
      lowest = hn::Min(lowest, LaneMinima64(d, [&](size_t i) HWY_ATTR { return hn::Load(d, tail + i); }));
      if constexpr (kStore) std::memcpy(keys + 64 * full, tail, sizeof(tail));
    }
    hn::Store(lowest, d, minima + block * hn::Lanes(d));
  }
}

// Minima over `merged` consecutive blocks each: fewer, deeper groups. Returns their number.
template <class T>
size_t CoarsenMinima(const T* minima, size_t blocks, size_t merged, T* coarse) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t groups = 0;
  for (size_t block = 0; block < blocks; block += merged, groups += lanes) {
    auto lowest = hn::Load(d, minima + block * lanes);
    for (size_t other = block + 1; other < std::min(blocks, block + merged); ++other) {
      lowest = hn::Min(lowest, hn::Load(d, minima + other * lanes));
    }
    hn::Store(lowest, d, coarse + groups);
  }
  return groups;
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
