// Packs pairs into integers that sort as the pairs do, and unpacks them again.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_PACK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_PACK_H_
#undef LANESORT_MERGE_PACK_H_
#else
#define LANESORT_MERGE_PACK_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "native/merge_layout.h"
#include "native/merge_network.h"
#include "native/merge_whole.h"
#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether no packed pair is below the one before it.
inline bool Ascend(const int64_t* packed, size_t n) {
  const D64 d;
  if (n <= kBlockLanes) return std::is_sorted(packed, packed + n);
  const auto falls = [&](size_t i) { return hn::Lt(hn::LoadU(d, packed + i), hn::LoadU(d, packed + i - 1)); };
  auto wrong = hn::VecFromMask(d, falls(n - kBlockLanes));
  for (size_t i = 1; i + kBlockLanes <= n; i += kBlockLanes) wrong = hn::Or(wrong, hn::VecFromMask(d, falls(i)));
  return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
}

template <typename T, class P>
class Packer {
 public:
  explicit Packer(const MergeRule& rule) : map_(rule.order), payload_bytes_(rule.index_bytes) {}

  // Packs the pairs of a run.
  void Pack(const Run& run, const TieSource& ties, int64_t* out) const {
    const uint8_t* const values = run.values;
    const ptrdiff_t step = run.value_step;
    const size_t n = run.length;
    const size_t end = Readable(run, ties);
    const Layout layout = LayoutOf(run.value_step, sizeof(T));
    const Layout tie_layout = ties.items == nullptr ? Layout::kCounted : LayoutOf(ties.step, 4);
    size_t i = 0;
    if (layout == Layout::kAdjacent) i = PackTies<Layout::kAdjacent>(tie_layout, values, ties, end, out);
    if (layout == Layout::kPairs) i = PackTies<Layout::kPairs>(tie_layout, values, ties, end, out);
    for (; i < n; ++i) {
      const uint64_t key = map_.Key(LoadItem<T>(values + static_cast<ptrdiff_t>(i) * step));
      out[i] = static_cast<int64_t>((key << P::kShift | ties.At(i)) + P::kBase);
    }
  }

 private:
  // Of how many pairs whole vectors may be read, which take 8 bytes of items that are 8 bytes apart: what
  // follows the last one is ours only if it is its index, or the rest of a word.
  size_t Readable(const Run& run, const TieSource& ties) const {
    const bool adjacent = run.value_step == sizeof(T) && (ties.items == nullptr || ties.step == 4);
    const bool pairs = run.value_step == 8 && run.payload_step == 8 && run.payload != nullptr &&
                       run.payload + payload_bytes_ == run.values + 8;
    return adjacent || (pairs && ties.items == nullptr) ? run.length : run.length - std::min<size_t>(run.length, 1);
  }

  template <Layout kValues>
  size_t PackTies(Layout layout, const uint8_t* values, const TieSource& ties, size_t n, int64_t* out) const {
    switch (layout) {
      case Layout::kAdjacent: return PackVectors<kValues, Layout::kAdjacent>(values, ties, n, out);
      case Layout::kPairs: return PackVectors<kValues, Layout::kPairs>(values, ties, n, out);
      case Layout::kCounted: return PackVectors<kValues, Layout::kCounted>(values, ties, n, out);
      default: return 0;
    }
  }

  // Returns how many pairs are packed: all that fill vectors.
  template <Layout kValues, Layout kTies>
  size_t PackVectors(const uint8_t* values, const TieSource& ties, size_t n, int64_t* out) const {
    constexpr size_t kStep = kValues == Layout::kAdjacent ? sizeof(T) : 8;
    const DPacked d;
    const VPacked flip = hn::Set(d, ties.flip);
    const VPacked base = hn::Set(d, P::kBase);
    uint64_t* const to = reinterpret_cast<uint64_t*>(out);
    size_t i = 0;
    if constexpr (sizeof(T) == 4) i = PackWhole<P, kValues, kTies>(map_, values, ties, n, to);
    const KeyLanes<Narrow<T>> lanes(map_);
    for (; i + kPackedLanes <= n; i += kPackedLanes) {
      const VPacked keys = Widen<T>(lanes.Key(LoadItems<T, kValues>(values + i * kStep)));
      const VPacked packed = hn::Or(hn::ShiftLeft<P::kShift>(keys), hn::Xor(LoadTies<kTies>(ties, i), flip));
      hn::StoreU(hn::Add(packed, base), d, to + i);
    }
    return i;
  }

  KeyMap<T> map_;
  size_t payload_bytes_;
};

template <typename T, class P>
class Unpacker {
 public:
  Unpacker(const KeyMap<T>& map, const IndexTarget& target) : map_(map), target_(target) {}

  // Unpacks n pairs. Returns whether a value among them has to be fetched from the input.
  bool Unpack(const int64_t* packed, size_t n, const PairsOut& out) {
    constexpr size_t kPart = 512;  // stays in the nearest cache until its indices are looked up
    fetched_ = false;
    for (size_t i = 0; i < n; i += kPart) UnpackPart(packed + i, std::min(kPart, n - i), out.From(i));
    return fetched_;
  }

 private:
  static constexpr uint64_t kTies = (uint64_t{1} << P::kShift) - 1;

  void UnpackPart(const int64_t* packed, size_t n, const PairsOut& out) {
    if (target_.words) return LookUp<P, uint64_t>(*target_.table, packed, n, out);
    const bool pairs = out.value_step == 8 && out.index_step == 8 && target_.bytes == 4 && sizeof(T) != 1 &&
                       out.indices == out.values + 4;
    const bool adjacent = out.value_step == sizeof(T) && out.index_step == static_cast<ptrdiff_t>(target_.bytes);
    size_t i = 0;
    if (pairs) i = UnpackVectors<true>(packed, n, out);
    if (adjacent) i = UnpackVectors<false>(packed, n, out);
    for (; i < n; ++i) UnpackOne(packed[i], out.From(i));
    if (target_.table != nullptr) {
      target_.bytes == 4 ? LookUp<P, uint32_t>(*target_.table, packed, n, out)
                         : LookUp<P, uint64_t>(*target_.table, packed, n, out);
    }
  }

  void UnpackOne(int64_t pair, const PairsOut& out) {
    const uint64_t bits = static_cast<uint64_t>(pair) - P::kBase;
    const T key = static_cast<T>(bits >> P::kShift);
    const T value = map_.Bits(key);
    fetched_ |= map_.Fetched(key);
    const uint64_t index = (bits & kTies) ^ target_.flip;
    std::memcpy(out.values, &value, sizeof(T));
    std::memcpy(out.indices, &index, target_.bytes);
  }

  template <bool kPairs>
  size_t UnpackVectors(const int64_t* packed, size_t n, PairsOut out) {
    const DPacked d;
    const Narrow<T> dn;
    const VPacked flip = hn::Set(d, target_.flip);
    const VPacked low_half = hn::Set(d, kTies);
    size_t i = 0;
    if constexpr (sizeof(T) == 4) {
      if (target_.bytes == 4) i = UnpackWhole<P, kPairs>(map_, target_.flip, packed, n, out, fetched_);
    }
    const KeyLanes<Narrow<T>> lanes(map_);
    for (; i + kPackedLanes <= n; i += kPackedLanes) {
      const VPacked pair = hn::LoadU(d, reinterpret_cast<const uint64_t*>(packed + i));
      const VPacked bits = hn::Sub(pair, hn::Set(d, P::kBase));
      const auto keys = hn::TruncateTo(dn, hn::ShiftRight<P::kShift>(bits));
      fetched_ |= lanes.AnyFetched(keys);
      const auto values = lanes.Bits(keys);
      StoreVectors<kPairs>(values, hn::Xor(hn::And(bits, low_half), flip), out.From(i));
    }
    return i;
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
