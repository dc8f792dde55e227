// Bit mask -> ascending positions, by unconditional full stores.
#if defined(LANESORT_POSITIONS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_POSITIONS_H_
#undef LANESORT_POSITIONS_H_
#else
#define LANESORT_POSITIONS_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/compress_table.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr bool kNativeCompress = true;
#else
inline constexpr bool kNativeCompress = false;
#endif

// Entries behind the end that AppendPositions may overwrite.
inline constexpr size_t kPositionSlack = 16;

using SetBits = lanesort::CompressTable<8, 8, uint8_t>;

// A store to entries that need not be aligned.
template <class D>
HWY_INLINE void StoreEntries(D, hn::Vec<D> v, uint8_t* to) {
  const hn::Repartition<uint8_t, D> d8;
  hn::StoreU(hn::BitCast(d8, v), d8, to);
}

// Writes base + i for each set bit i < 8 of `byte`, and rubbish behind, 8 entries in all.
template <class I>
HWY_INLINE void StorePositionsOfByte(uint64_t byte, I base, uint8_t* out) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 8; ++i) {
    const I position = static_cast<I>(base + SetBits::kOrders[byte][i]);
    std::memcpy(out + i * sizeof(I), &position, sizeof(I));
  }
#else
  const hn::CappedTag<I, 8> d;
  const hn::Rebind<uint32_t, decltype(d)> d32;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto first = hn::Set(d, base);
  const uint8_t* row = SetBits::kOrders[byte].data();
  for (size_t i = 0; i < 8; i += hn::Lanes(d)) {
    const auto wide = hn::PromoteTo(d32, hn::LoadU(d8, row + i));
    if constexpr (sizeof(I) == 8) {
      StoreEntries(d, hn::Add(first, hn::PromoteTo(d, wide)), out + i * sizeof(I));
    } else {
      StoreEntries(d, hn::Add(first, wide), out + i * sizeof(I));
    }
  }
#endif
}

// Up to so many set bits of 64 are taken one by one.
inline constexpr int kFewPositions = 4;

template <class I>
HWY_INLINE void StoreFewPositions(uint64_t bits, I base, uint8_t* out) {
  HWY_UNROLL(4)
  for (int i = 0; i < kFewPositions; ++i, bits &= bits - 1) {
    const I position = static_cast<I>(base + static_cast<I>(std::countr_zero(bits)));
    std::memcpy(out + static_cast<size_t>(i) * sizeof(I), &position, sizeof(I));
  }
}

// Appends base + i for each set bit i of `bits`; returns how many. Up to kPositionSlack entries
// behind the last one are overwritten.
template <class I>
HWY_INLINE size_t AppendPositions(uint64_t bits, I base, uint8_t* out) {
  const int total = std::popcount(bits);
  if (total <= kFewPositions) {
    StoreFewPositions(bits, base, out);
    return static_cast<size_t>(total);
  }
  if constexpr (kNativeCompress) {
    const hn::ScalableTag<I> d;
    constexpr size_t kLanes = hn::MaxLanes(decltype(d)());
    constexpr uint64_t kGroup = (uint64_t{1} << kLanes) - 1;
    const auto first = hn::Add(hn::Iota(d, 0), hn::Set(d, base));
    HWY_UNROLL(8)
    for (size_t i = 0; i < 64; i += kLanes) {
      const uint64_t group = (bits >> i) & kGroup;
      uint8_t bytes[8];
      std::memcpy(bytes, &group, 8);
      const auto lanes = hn::Add(first, hn::Set(d, static_cast<I>(i)));
      StoreEntries(d, hn::Compress(lanes, hn::LoadMaskBits(d, bytes)), out);
      out += static_cast<size_t>(std::popcount(group)) * sizeof(I);
    }
  } else {
    HWY_UNROLL(8)
    for (size_t i = 0; i < 64; i += 8) {
      const uint64_t byte = (bits >> i) & 0xFF;
      StorePositionsOfByte(byte, static_cast<I>(base + static_cast<I>(i)), out);
      out += static_cast<size_t>(std::popcount(byte)) * sizeof(I);
    }
  }
  return static_cast<size_t>(total);
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
