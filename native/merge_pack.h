// Packs pairs into integers that sort as the pairs do, and unpacks them again.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_PACK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_PACK_H_
#undef LANESORT_MERGE_PACK_H_
#else
#define LANESORT_MERGE_PACK_H_
#endif

#include <hwy/highway.h>

#include "native/merge_network.h"
#include "native/merge_path.h"
#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DPacked = hn::CappedTag<uint64_t, 8>;
using VPacked = hn::Vec<DPacked>;
constexpr size_t kPackedLanes = hn::MaxLanes(DPacked());
template <typename T>
using Narrow = hn::Rebind<T, DPacked>;  // as many lanes of T as a vector has packed pairs

// 32-bit items fill whole vectors; other widths, and one lane, go through half vectors.
template <typename T>
constexpr bool kFillsVectors = sizeof(T) == 4 && HWY_TARGET != HWY_SCALAR;
using D32 = hn::Repartition<uint32_t, DPacked>;
using V32 = hn::Vec<D32>;

template <typename T>
HWY_INLINE VPacked Widen(hn::Vec<Narrow<T>> items) {
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(DPacked(), items);
  } else {
    return hn::PromoteTo(DPacked(), hn::PromoteTo(Narrow<uint32_t>(), items));
  }
}

// Which distances of items are loaded and stored as vectors.
enum class Layout : uint8_t { kAdjacent, kPairs, kStrided };

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
  if (ties.items == nullptr) return hn::Add(hn::Iota(d, 0), hn::Set(d, ties.count + i));
  const uint8_t* from = ties.items + static_cast<ptrdiff_t>(i) * ties.step;
  if constexpr (kLayout == Layout::kAdjacent) {
    return hn::PromoteTo(d, hn::LoadU(Narrow<uint32_t>(), reinterpret_cast<const uint32_t*>(from)));
  } else {
    return hn::And(hn::LoadU(d, reinterpret_cast<const uint64_t*>(from)), hn::Set(d, 0xFFFFFFFF));
  }
}

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

template <typename T, class P>
class Packer {
 public:
  explicit Packer(const KeyMap<T>& map) : map_(map) {}

  // Packs n pairs; value i lies i * step bytes behind `values`.
  void Pack(const uint8_t* values, ptrdiff_t step, const TieSource& ties, size_t n, int64_t* out) const {
    const bool ties_adjacent = ties.items != nullptr && ties.step == 4;
    const bool vectors = ties.items == nullptr || ties.step == 4 || ties.step == 8;
    size_t i = 0;
    const Layout layout = LayoutOf(step, sizeof(T));
    if (vectors && layout == Layout::kAdjacent) {
      i = ties_adjacent ? PackVectors<Layout::kAdjacent, Layout::kAdjacent>(values, ties, n, out)
                        : PackVectors<Layout::kAdjacent, Layout::kPairs>(values, ties, n, out);
    } else if (vectors && layout == Layout::kPairs) {
      i = ties_adjacent ? PackVectors<Layout::kPairs, Layout::kAdjacent>(values, ties, n, out)
                        : PackVectors<Layout::kPairs, Layout::kPairs>(values, ties, n, out);
    }
    for (; i < n; ++i) {
      const uint64_t key = map_.Key(LoadItem<T>(values + static_cast<ptrdiff_t>(i) * step));
      out[i] = static_cast<int64_t>((key << P::kShift | ties.At(i)) + P::kBase);
    }
  }

  // Returns how many pairs are packed: all that fill vectors, but not the last of items that are 8
  // bytes apart, because what follows it may be no memory of ours.
  template <Layout kValues, Layout kTies>
  size_t PackVectors(const uint8_t* values, const TieSource& ties, size_t n, int64_t* out) const {
    constexpr size_t kSpare = kValues == Layout::kAdjacent && kTies == Layout::kAdjacent ? 0 : 1;
    constexpr size_t kStep = kValues == Layout::kAdjacent ? sizeof(T) : 8;
    const DPacked d;
    const VPacked flip = hn::Set(d, ties.flip);
    const VPacked base = hn::Set(d, P::kBase);
    uint64_t* const to = reinterpret_cast<uint64_t*>(out);
    size_t i = 0;
    if constexpr (kFillsVectors<T>) {
      const KeyLanes<D32> lanes(map_);
      for (; i + 2 * kPackedLanes + kSpare <= n; i += 2 * kPackedLanes) {
        const V32 keys = lanes.Key(WholeKeys<P>::template Load<kValues>(values + i * kStep));
        const Halves halves = WholeKeys<P>::template Shifted<kValues>(keys);
        const VPacked first = hn::Xor(LoadTies<kTies>(ties, i), flip);
        const VPacked second = hn::Xor(LoadTies<kTies>(ties, i + kPackedLanes), flip);
        hn::StoreU(hn::Add(hn::Or(halves.first, first), base), d, to + i);
        hn::StoreU(hn::Add(hn::Or(halves.second, second), base), d, to + i + kPackedLanes);
      }
    }
    const KeyLanes<Narrow<T>> lanes(map_);
    for (; i + kPackedLanes + kSpare <= n; i += kPackedLanes) {
      const VPacked keys = Widen<T>(lanes.Key(LoadItems<T, kValues>(values + i * kStep)));
      const VPacked packed = hn::Or(hn::ShiftLeft<P::kShift>(keys), hn::Xor(LoadTies<kTies>(ties, i), flip));
      hn::StoreU(hn::Add(packed, base), d, to + i);
    }
    return i;
  }

 private:
  KeyMap<T> map_;
};

// What becomes of the low half of a packed pair.
struct IndexTarget {
  const uint8_t* table;  // null: it is the index; else items of `bytes`, among which it is the place
  size_t bytes;
  uint32_t flip;
};

template <typename T, class P>
class Unpacker {
 public:
  Unpacker(const KeyMap<T>& map, const IndexTarget& target) : map_(map), target_(target) {}

  // Unpacks n pairs. Returns whether a value among them has to be fetched from the input.
  bool Unpack(const int64_t* packed, size_t n, const PairsOut& out) {
    fetched_ = false;
    const bool pairs = out.value_step == 8 && out.index_step == 8 && target_.bytes == 4 && sizeof(T) != 1 &&
                       out.indices == out.values + 4;
    const bool adjacent = out.value_step == sizeof(T) && out.index_step == static_cast<ptrdiff_t>(target_.bytes);
    size_t i = 0;
    if (pairs) i = UnpackVectors<true>(packed, n, out);
    if (adjacent) i = UnpackVectors<false>(packed, n, out);
    for (; i < n; ++i) UnpackOne(packed[i], out.From(i));
    return fetched_;
  }

 private:
  static constexpr uint64_t kTies = (uint64_t{1} << P::kShift) - 1;

  void UnpackOne(int64_t pair, const PairsOut& out) {
    const uint64_t bits = static_cast<uint64_t>(pair) - P::kBase;
    const T key = static_cast<T>(bits >> P::kShift);
    const T value = map_.Bits(key);
    fetched_ |= map_.Fetched(key);
    uint64_t index = (bits & kTies) ^ target_.flip;
    if (target_.table != nullptr) index = LoadIndex(target_.table + index * target_.bytes, target_.bytes);
    std::memcpy(out.values, &value, sizeof(T));
    std::memcpy(out.indices, &index, target_.bytes);
  }

  HWY_INLINE VPacked Indices(VPacked low) const {
    const DPacked d;
    if (target_.table == nullptr) return low;
    if (target_.bytes == 8) {
      return hn::GatherIndex(d, reinterpret_cast<const uint64_t*>(target_.table), hn::BitCast(hn::RebindToSigned<DPacked>(), low));
    }
    const Narrow<uint32_t> d32;
    const auto places = hn::BitCast(Narrow<int32_t>(), hn::TruncateTo(d32, low));
    return hn::PromoteTo(d, hn::GatherIndex(d32, reinterpret_cast<const uint32_t*>(target_.table), places));
  }

  template <bool kPairs>
  size_t UnpackVectors(const int64_t* packed, size_t n, const PairsOut& out) {
    const DPacked d;
    const Narrow<T> dn;
    const VPacked flip = hn::Set(d, target_.flip);
    const VPacked low_half = hn::Set(d, kTies);
    size_t i = 0;
    if constexpr (kFillsVectors<T>) {
      if (target_.bytes == 4) i = UnpackWhole<kPairs>(packed, n, out);
    }
    const KeyLanes<Narrow<T>> lanes(map_);
    for (; i + kPackedLanes <= n; i += kPackedLanes) {
      const VPacked pair = hn::LoadU(d, reinterpret_cast<const uint64_t*>(packed + i));
      const VPacked bits = hn::Sub(pair, hn::Set(d, P::kBase));
      const auto keys = hn::TruncateTo(dn, hn::ShiftRight<P::kShift>(bits));
      fetched_ |= lanes.AnyFetched(keys);
      const auto values = lanes.Bits(keys);
      StoreVectors<kPairs>(values, Indices(hn::Xor(hn::And(bits, low_half), flip)), out.From(i));
    }
    return i;
  }

  // 32-bit values and indices, two vectors of pairs at a time.
  template <bool kPairs>
  size_t UnpackWhole(const int64_t* packed, size_t n, const PairsOut& out) {
    constexpr size_t kStep = kPairs ? 8 : 4;
    const DPacked d;
    const KeyLanes<D32> lanes(map_);
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
      StoreWhole<kPairs>(lanes.Bits(keys), first, second, out.From(i));
      if (target_.table == nullptr) continue;
      // One by one: gathers are no faster on many CPUs.
      for (size_t j = 0; j < 2 * kPackedLanes; ++j) {
        std::memcpy(out.indices + (i + j) * kStep, target_.table + (static_cast<uint64_t>(packed[i + j]) & kTies) * 4, 4);
      }
    }
    fetched_ |= lanes.Fetches() && lanes.Any(fetched);
    return i;
  }

  template <bool kPairs>
  HWY_INLINE void StoreWhole(V32 values, VPacked first, VPacked second, const PairsOut& out) const {
    const DPacked d;
    const V32 ties = hn::Set(D32(), static_cast<uint32_t>(kTies));
    const V32 flip = hn::Set(D32(), target_.flip);
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

  template <bool kPairs>
  HWY_INLINE void StoreVectors(hn::Vec<Narrow<T>> values, VPacked indices, const PairsOut& out) const {
    const DPacked d;
    if constexpr (kPairs) {
      VPacked pairs = hn::Or(hn::ShiftLeft<32>(indices), Widen<T>(values));
      if constexpr (sizeof(T) == 2) {  // the gap between value and index is not ours
        const VPacked before = hn::LoadU(d, reinterpret_cast<const uint64_t*>(out.values));
        pairs = hn::Or(pairs, hn::And(before, hn::Set(d, 0xFFFF0000)));
      }
      hn::StoreU(pairs, d, reinterpret_cast<uint64_t*>(out.values));
    } else {
      hn::StoreU(values, Narrow<T>(), reinterpret_cast<T*>(out.values));
      if (target_.bytes == 8) {
        hn::StoreU(indices, d, reinterpret_cast<uint64_t*>(out.indices));
      } else {
        hn::StoreU(hn::TruncateTo(Narrow<uint32_t>(), indices), Narrow<uint32_t>(),
                   reinterpret_cast<uint32_t*>(out.indices));
      }
    }
  }

  KeyMap<T> map_;
  IndexTarget target_;
  bool fetched_ = false;
};

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
