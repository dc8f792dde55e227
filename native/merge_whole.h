// Packs and unpacks pairs of 32-bit values and indices in whole vectors; other widths go through half
// vectors in merge_pack.h. Included once for each SIMD target.
#if defined(LANESORT_MERGE_WHOLE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_WHOLE_H_
#undef LANESORT_MERGE_WHOLE_H_
#else
#define LANESORT_MERGE_WHOLE_H_
#endif

#include <hwy/highway.h>

#include "native/merge_layout.h"
#include "native/merge_network.h"
#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class P, Layout kValues, Layout kTies>
size_t PackWhole(const KeyMap<uint32_t>&, const uint8_t*, const TieSource&, size_t, uint64_t*) {
  return 0;
}
template <class P, bool kPairs>
size_t UnpackWhole(const KeyMap<uint32_t>&, uint32_t, const int64_t*, size_t, PairsOut, bool&) {
  return 0;
}

#else

using D32 = hn::Repartition<uint32_t, DPacked>;
using V32 = hn::Vec<D32>;

// Two vectors of packed pairs, or of what becomes one: the first half of a block and the second.
struct Halves {
  VPacked first, second;
#if HWY_ARCH_ARM
  // Written out because GCC does not compile implicit ones for the target of the namespace.
  HWY_INLINE Halves(VPacked a, VPacked b) : first(a), second(b) {}
#endif
};

// Keys of 32 bits in whole vectors. Where values come as pairs, even lanes have the first half of a
// block and odd lanes the second, so that no lane moves.
template <class P>
struct WholeKeys {
  template <Layout kLayout>
  static HWY_INLINE V32 Load(const uint8_t* from) {
    if constexpr (kLayout == Layout::kAdjacent) {
      return hn::LoadU(D32(), reinterpret_cast<const uint32_t*>(from));
    } else {
      const uint64_t* const pairs = reinterpret_cast<const uint64_t*>(from);
      const VPacked second = hn::LoadU(DPacked(), pairs + kPackedLanes);
      return hn::OddEven(hn::BitCast(D32(), hn::ShiftLeft<32>(second)),
                         hn::BitCast(D32(), hn::LoadU(DPacked(), pairs)));
    }
  }
  template <Layout kLayout>
  static HWY_INLINE Halves Shifted(V32 keys) {
    const DPacked d;
    if constexpr (kLayout == Layout::kAdjacent) {
      const hn::Half<D32> half;
      return {hn::ShiftLeft<P::kShift>(hn::PromoteTo(d, hn::LowerHalf(half, keys))),
              hn::ShiftLeft<P::kShift>(hn::PromoteTo(d, hn::UpperHalf(half, keys)))};
    } else {
      const VPacked both = hn::BitCast(d, keys);
      return {hn::ShiftRight<32 - P::kShift>(hn::ShiftLeft<32>(both)),
              hn::ShiftLeft<P::kShift>(hn::ShiftRight<32>(both))};
    }
  }
};

// The ties of one block after the other, P::kBase added.
template <class P, Layout kLayout>
struct TieLanes {
  explicit TieLanes(const TieSource& source)
      : ties(source), flip(hn::Set(DPacked(), source.flip)), base(hn::Set(DPacked(), P::kBase)) {}
  HWY_INLINE Halves At(size_t i) const {
    return {hn::Add(hn::Xor(LoadTies<kLayout>(ties, i), flip), base),
            hn::Add(hn::Xor(LoadTies<kLayout>(ties, i + kPackedLanes), flip), base)};
  }

  const TieSource& ties;
  VPacked flip, base;
};

// Counted ones grow from block to block; flipped, which is their complement, they fall.
template <class P>
struct TieLanes<P, Layout::kCounted> {
  explicit TieLanes(const TieSource& source)
      : step(hn::Set(DPacked(), source.flip == 0 ? kBlock : ~kBlock + 1)),
        half(hn::Set(DPacked(), source.flip == 0 ? kBlock / 2 : ~(kBlock / 2) + 1)),
        next(hn::Add(hn::Xor(LoadTies<Layout::kCounted>(source, 0), hn::Set(DPacked(), source.flip)),
                     hn::Set(DPacked(), P::kBase))) {}
  HWY_INLINE Halves At(size_t) {
    const VPacked first = next;
    next = hn::Add(next, step);
    return {first, hn::Add(first, half)};
  }

  static constexpr uint64_t kBlock = 2 * kPackedLanes;
  VPacked step, half, next;
};

// Packs n pairs but for a rest; returns how many.
template <class P, Layout kValues, Layout kTies>
size_t PackWhole(const KeyMap<uint32_t>& map, const uint8_t* values, const TieSource& ties, size_t n, uint64_t* to) {
  constexpr size_t kStep = kValues == Layout::kAdjacent ? 4 : 8;
  const DPacked d;
  const KeyLanes<D32> lanes(map);
  TieLanes<P, kTies> tie_lanes(ties);
  size_t i = 0;
  for (; i + 2 * kPackedLanes <= n; i += 2 * kPackedLanes) {
    const V32 keys = lanes.Key(WholeKeys<P>::template Load<kValues>(values + i * kStep));
    const Halves shifted = WholeKeys<P>::template Shifted<kValues>(keys);
    const Halves low = tie_lanes.At(i);
    hn::StoreU(hn::Add(shifted.first, low.first), d, to + i);
    hn::StoreU(hn::Add(shifted.second, low.second), d, to + i + kPackedLanes);
  }
  return i;
}

template <class P, bool kPairs>
HWY_INLINE void StoreWhole(V32 values, VPacked first, VPacked second, uint32_t flipped, const PairsOut& out) {
  const DPacked d;
  const V32 ties = hn::Set(D32(), static_cast<uint32_t>((uint64_t{1} << P::kShift) - 1));
  const V32 flip = hn::Set(D32(), flipped);
  if constexpr (kPairs) {
    const V32 indices = hn::Xor(hn::And(hn::OddEven(hn::BitCast(D32(), hn::ShiftLeft<32>(second)),
                                                    hn::BitCast(D32(), first)), ties), flip);
    const V32 second_values = hn::BitCast(D32(), hn::ShiftRight<32>(hn::BitCast(d, values)));
    const V32 first_indices = hn::BitCast(D32(), hn::ShiftLeft<32>(hn::BitCast(d, indices)));
    uint32_t* const to = reinterpret_cast<uint32_t*>(out.values);
    hn::StoreU(hn::OddEven(first_indices, values), D32(), to);
    hn::StoreU(hn::OddEven(indices, second_values), D32(), to + 2 * kPackedLanes);
  } else {
    hn::StoreU(values, D32(), reinterpret_cast<uint32_t*>(out.values));
    const V32 both = hn::ConcatEven(D32(), hn::BitCast(D32(), second), hn::BitCast(D32(), first));
    hn::StoreU(hn::Xor(hn::And(both, ties), flip), D32(), reinterpret_cast<uint32_t*>(out.indices));
  }
}

// Unpacks n pairs but for a rest; returns how many, and whether a value has to be fetched.
template <class P, bool kPairs>
size_t UnpackWhole(const KeyMap<uint32_t>& map, uint32_t flip, const int64_t* packed, size_t n, PairsOut out,
                   bool& any_fetched) {
  const DPacked d;
  const KeyLanes<D32> lanes(map);
  const VPacked base = hn::Set(d, P::kBase);
  V32 fetched = hn::Zero(D32());
  size_t i = 0;
  for (; i + 2 * kPackedLanes <= n; i += 2 * kPackedLanes) {
    const uint64_t* const from = reinterpret_cast<const uint64_t*>(packed + i);
    const VPacked first = hn::Sub(hn::LoadU(d, from), base);
    const VPacked second = hn::Sub(hn::LoadU(d, from + kPackedLanes), base);
    const V32 keys = kPairs ? hn::OddEven(hn::BitCast(D32(), hn::ShiftLeft<32 - P::kShift>(second)),
                                          hn::BitCast(D32(), hn::ShiftRight<P::kShift>(first)))
                            : hn::ConcatEven(D32(), hn::BitCast(D32(), hn::ShiftRight<P::kShift>(second)),
                                             hn::BitCast(D32(), hn::ShiftRight<P::kShift>(first)));
    fetched = hn::Or(fetched, lanes.Fetched(keys));
    StoreWhole<P, kPairs>(lanes.Bits(keys), first, second, flip, out.From(i));
  }
  any_fetched |= lanes.Fetches() && lanes.Any(fetched);
  return i;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
