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

#include "native/position_table.h"

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

// Writes base + i for each set bit i < 8 of `byte`, and rubbish behind, 8 entries in all.
template <class I>
HWY_INLINE void StorePositionsOfByte(uint64_t byte, I base, I* out) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<I>(base + kPositionTable.rows[byte][i]);
  }
#else
  const hn::CappedTag<I, 8> d;
  const hn::Rebind<uint32_t, decltype(d)> d32;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto first = hn::Set(d, base);
  const uint8_t* row = kPositionTable.rows[byte];
  for (size_t i = 0; i < 8; i += hn::Lanes(d)) {
    const auto wide = hn::PromoteTo(d32, hn::LoadU(d8, row + i));
    if constexpr (sizeof(I) == 8) {
      hn::StoreU(hn::Add(first, hn::PromoteTo(d, wide)), d, out + i);
    } else {
      hn::StoreU(hn::Add(first, wide), d, out + i);
    }
  }
#endif
}

// Appends base + i for each set bit i of `bits`; returns how many. Up to kPositionSlack entries
// behind the last one are overwritten.
template <class I>
HWY_INLINE size_t AppendPositions(uint64_t bits, I base, I* out) {
  size_t count = 0;
  if constexpr (kNativeCompress) {
    const hn::ScalableTag<I> d;
    constexpr size_t kLanes = hn::MaxLanes(decltype(d)());
    constexpr uint64_t kGroup = (uint64_t{1} << kLanes) - 1;
    auto lanes = hn::Iota(d, base);
    const auto step = hn::Set(d, static_cast<I>(kLanes));
    HWY_UNROLL(8)
    for (size_t i = 0; i < 64; i += kLanes) {
      const uint64_t group = (bits >> i) & kGroup;
      uint8_t bytes[8];
      std::memcpy(bytes, &group, 8);
      hn::StoreU(hn::Compress(lanes, hn::LoadMaskBits(d, bytes)), d, out + count);
      count += static_cast<size_t>(std::popcount(group));
      lanes = hn::Add(lanes, step);
    }
  } else {
    HWY_UNROLL(8)
    for (size_t i = 0; i < 64; i += 8) {
      const uint64_t byte = (bits >> i) & 0xFF;
      StorePositionsOfByte(byte, static_cast<I>(base + static_cast<I>(i)), out + count);
      count += static_cast<size_t>(std::popcount(byte));
    }
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
