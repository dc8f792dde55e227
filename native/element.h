// What the sorting networks and the partition sort: four kinds of elements, one vector type each.
// Included once per SIMD target.
#if defined(LANESORT_ELEMENT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_ELEMENT_H
#undef LANESORT_ELEMENT_H
#else
#define LANESORT_ELEMENT_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "native/compress_table.h"
#include "native/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// v with lanes l and l ^ kFlip exchanged. Shuffles within 128 bits are the cheapest on most CPUs, a
// table lookup the dearest.
template <size_t kFlip, class D, class V = hn::Vec<D>>
HWY_INLINE V XorLanes(D d, V v) {
  constexpr size_t kLanes = HWY_LANES(hn::TFromD<D>);
  if constexpr (kFlip == 1) {
    return hn::Reverse2(d, v);
  } else if constexpr (kFlip == 3) {
    return hn::Reverse4(d, v);
  } else if constexpr (kFlip == kLanes - 1) {
    return hn::Reverse(d, v);
  } else if constexpr (2 * kFlip == kLanes) {
    return hn::ConcatLowerUpper(d, v, v);
  } else {
    using Index = hwy::MakeUnsigned<hn::TFromD<D>>;
    const hn::Rebind<Index, D> di;
    const auto lanes = hn::Xor(hn::Iota(di, 0), hn::Set(di, static_cast<Index>(kFlip)));
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, lanes));
  }
}

// Lanes whose number has kBit set from `upper`, the others from `lower`.
template <size_t kBit, class D, class V = hn::Vec<D>>
HWY_INLINE V SelectLanes(D d, V upper, V lower) {
  if constexpr (kBit == 1) {
    return hn::OddEven(upper, lower);
  } else if constexpr (2 * kBit == HWY_LANES(hn::TFromD<D>)) {
    return hn::ConcatUpperLower(d, upper, lower);
  } else {
    using Index = hwy::MakeUnsigned<hn::TFromD<D>>;
    const hn::Rebind<Index, D> di;
    const auto bit = hn::And(hn::Iota(di, 0), hn::Set(di, static_cast<Index>(kBit)));
    return hn::IfThenElse(hn::RebindMask(d, hn::Ne(bit, hn::Zero(di))), upper, lower);
  }
}

// One step of a transposition: lanes of b with kBit clear change places with those of a with it set.
template <size_t kBit, class D, class V = hn::Vec<D>>
HWY_INLINE void ExchangeLanes(D d, V& a, V& b) {
  if constexpr (kBit == 1 && sizeof(hn::TFromD<D>) == 8) {
    const V low = hn::InterleaveLower(d, a, b);
    b = hn::InterleaveUpper(d, a, b);
    a = low;
  } else if constexpr (2 * kBit == HWY_LANES(hn::TFromD<D>)) {
    const V low = hn::ConcatLowerLower(d, b, a);
    b = hn::ConcatUpperUpper(d, b, a);
    a = low;
  } else {
    const V low = SelectLanes<kBit>(d, XorLanes<kBit>(d, b), a);
    b = SelectLanes<kBit>(d, b, XorLanes<kBit>(d, a));
    a = low;
  }
}

// The lanes of the mask first, in their order; what follows them means nothing. Highway's own
// Compress is slow below AVX-512 in version 1.0.3: its tables are copied with each use.
template <class D, class V = hn::Vec<D>, class M = hn::Mask<D>>
HWY_INLINE V CompressLanes(D d, V v, M mask) {
#if HWY_TARGET <= HWY_AVX3
  // The instruction itself: Highway 1.0.3 goes through a table for 64-bit lanes.
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Repartition<int32_t, D> d32;
    return hn::BitCast(d, decltype(hn::Zero(d32)){_mm512_maskz_compress_epi32(mask.raw, hn::BitCast(d32, v).raw)});
  } else {
    const hn::Repartition<int64_t, D> d64;
    return hn::BitCast(d, decltype(hn::Zero(d64)){_mm512_maskz_compress_epi64(mask.raw, hn::BitCast(d64, v).raw)});
  }
#else
  using Table = lanesort::CompressTable<HWY_LANES(hn::TFromD<D>), HWY_LANES(uint32_t)>;
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  const hn::ScalableTag<uint32_t> d32;
  const auto order = hn::SetTableIndices(d32, Table::kOrders[bits[0]].data());
  return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d32, v), order));
#endif
}

// Elements that are one lane wide. Derived supplies Sort(low, high).
template <typename LaneType, typename VectorLane>
struct OneLane {
  using Lane = LaneType;
  using Pointer = Lane*;
  using D = hn::ScalableTag<VectorLane>;
  using V = hn::Vec<D>;
  using Scalar = Lane;
  static constexpr size_t kLanes = HWY_LANES(Lane);

  static HWY_INLINE V Load(const Lane* from) { return hn::BitCast(D(), hn::LoadU(hn::ScalableTag<Lane>(), from)); }
  static HWY_INLINE void Store(V v, Lane* to) {
    hn::StoreU(hn::BitCast(hn::ScalableTag<Lane>(), v), hn::ScalableTag<Lane>(), to);
  }
  template <size_t kFlip>
  static HWY_INLINE V Xor(V v) {
    return XorLanes<kFlip>(D(), v);
  }
  template <size_t kBit>
  static HWY_INLINE V Select(V upper, V lower) {
    return SelectLanes<kBit>(D(), upper, lower);
  }
  template <size_t kBit>
  static HWY_INLINE void Exchange(V& a, V& b) {
    ExchangeLanes<kBit>(D(), a, b);
  }
  static HWY_INLINE V Broadcast(Scalar element) { return hn::BitCast(D(), hn::Set(hn::ScalableTag<Lane>(), element)); }
  static HWY_INLINE auto Less(V a, V b) { return hn::Lt(a, b); }
  static HWY_INLINE bool Less(Scalar a, Scalar b) { return a < b; }
  // The lanes of the mask first, in their order; what follows them means nothing.
  template <class M>
  static HWY_INLINE V Compress(V v, M mask) {
    return CompressLanes(D(), v, mask);
  }
  static HWY_INLINE Scalar Get(const Lane* from) { return *from; }
  static HWY_INLINE void Put(Scalar element, Lane* to) { *to = element; }
  static Pointer Take(Scratch& scratch, Scratch&, size_t count) { return scratch.Get<Lane>(count); }
};

// A key of up to 32 bits and a position below 2^30 as (key << 30 | position) + 2^52. Read as a
// double that is positive, normal and finite, so that the minimum of doubles, one instruction
// everywhere, is the exact minimum of the integers, whatever the thread does with denormals.
struct PackedDouble : OneLane<uint64_t, double> {
  static constexpr uint64_t kBase = uint64_t{1} << 52;
  static constexpr uint64_t kPad = uint64_t{0x7FE0} << 48;  // above every element
  static constexpr uint64_t kPositions = (uint64_t{1} << 30) - 1;
  static HWY_INLINE void Sort(V& low, V& high) {
    const V smaller = hn::Min(low, high);
    high = hn::Max(low, high);
    low = smaller;
  }
};

// A 32-bit key alone, or a shorter one with a short position below it.
struct Word : OneLane<uint32_t, uint32_t> {
  static constexpr uint32_t kPad = 0xFFFFFFFFu;
  static HWY_INLINE void Sort(V& low, V& high) {
    const V smaller = hn::Min(low, high);
    high = hn::Max(low, high);
    low = smaller;
  }
};

// A 64-bit key alone, with its top bit toggled: signed comparison is the one that AVX2 has.
struct LongWord : OneLane<int64_t, int64_t> {
  static constexpr int64_t kPad = std::numeric_limits<int64_t>::max();
  static HWY_INLINE void Sort(V& low, V& high) {
    const auto swap = hn::Lt(high, low);
    const V smaller = hn::IfThenElse(swap, high, low);
    high = hn::IfThenElse(swap, low, high);
    low = smaller;
  }
};

// A 64-bit key, its top bit toggled, and a position (or its complement, toggled likewise) in
// vectors of their own.
struct KeyAndPosition {
  using D = hn::ScalableTag<int64_t>;
  using Lane = int64_t;
  static constexpr size_t kLanes = HWY_LANES(int64_t);
  struct V {
    hn::Vec<D> key, position;
#if HWY_ARCH_ARM
    // Written out because GCC does not compile implicit ones for the target of the namespace.
    HWY_INLINE V() {}
    HWY_INLINE V(hn::Vec<D> a_key, hn::Vec<D> a_position) : key(a_key), position(a_position) {}
#endif
  };
  struct Scalar {
    int64_t key, position;
  };
  struct Pointer {
    int64_t* key;
    int64_t* position;
    Pointer operator+(size_t count) const { return {key + count, position + count}; }
  };
  static constexpr Scalar kPad{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()};

  static HWY_INLINE V Load(Pointer from) { return {hn::LoadU(D(), from.key), hn::LoadU(D(), from.position)}; }
  static HWY_INLINE void Store(V v, Pointer to) {
    hn::StoreU(v.key, D(), to.key);
    hn::StoreU(v.position, D(), to.position);
  }
  template <size_t kFlip>
  static HWY_INLINE V Xor(V v) {
    return {XorLanes<kFlip>(D(), v.key), XorLanes<kFlip>(D(), v.position)};
  }
  template <size_t kBit>
  static HWY_INLINE V Select(V upper, V lower) {
    return {SelectLanes<kBit>(D(), upper.key, lower.key), SelectLanes<kBit>(D(), upper.position, lower.position)};
  }
  static HWY_INLINE auto Less(V a, V b) {
    return hn::Or(hn::Lt(a.key, b.key), hn::And(hn::Eq(a.key, b.key), hn::Lt(a.position, b.position)));
  }
  static HWY_INLINE void Sort(V& low, V& high) {
    const auto swap = Less(high, low);
    const V smaller = {hn::IfThenElse(swap, high.key, low.key), hn::IfThenElse(swap, high.position, low.position)};
    high = {hn::IfThenElse(swap, low.key, high.key), hn::IfThenElse(swap, low.position, high.position)};
    low = smaller;
  }
  template <size_t kBit>
  static HWY_INLINE void Exchange(V& a, V& b) {
    ExchangeLanes<kBit>(D(), a.key, b.key);
    ExchangeLanes<kBit>(D(), a.position, b.position);
  }
  static HWY_INLINE V Broadcast(Scalar element) {
    return {hn::Set(D(), element.key), hn::Set(D(), element.position)};
  }
  template <class M>
  static HWY_INLINE V Compress(V v, M mask) {
    return {CompressLanes(D(), v.key, mask), CompressLanes(D(), v.position, mask)};
  }
  static HWY_INLINE bool Less(Scalar a, Scalar b) {
    return a.key < b.key || (a.key == b.key && a.position < b.position);
  }
  static HWY_INLINE Scalar Get(Pointer from) { return {*from.key, *from.position}; }
  static HWY_INLINE void Put(Scalar element, Pointer to) {
    *to.key = element.key;
    *to.position = element.position;
  }
  static Pointer Take(Scratch& keys, Scratch& positions, size_t count) {
    return {keys.Get<int64_t>(count), positions.Get<int64_t>(count)};
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_ELEMENT_H
