// Comparison results of 64 elements as one word, bit i for element i: the form in which
// compaction and top-k hand selections on, whatever the lane count of the target.
#if defined(LANESORT_MASK_BITS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MASK_BITS_H_
#undef LANESORT_MASK_BITS_H_
#else
#define LANESORT_MASK_BITS_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The fewest bytes that hold one bit per lane. A local of exactly this type keeps the mask in
// a register; a wider one would be stored in parts and stall when read back.
template <size_t kLanes>
using LaneWord = std::conditional_t<
    (kLanes <= 8), uint8_t,
    std::conditional_t<(kLanes <= 16), uint16_t,
                       std::conditional_t<(kLanes <= 32), uint32_t, uint64_t>>>;

template <class D, class M>
HWY_INLINE uint64_t LaneBits(D d, M mask) {
  LaneWord<hn::MaxLanes(D())> word = 0;
  uint8_t bytes[sizeof(word)];
  hn::StoreMaskBits(d, mask, bytes);
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Bits of `test(vector)` over x[0 … 63]; `x` may be misaligned for T.
template <class D, class Test>
HWY_INLINE uint64_t Bits64(D d, const hn::TFromD<D>* x, const Test& test) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  static_assert(kLanes <= 64 && 64 % kLanes == 0);
  uint64_t bits = 0;
  HWY_UNROLL(8)
  for (size_t i = 0; i < 64; i += kLanes) {
    bits |= LaneBits(d, test(hn::LoadU(d, x + i))) << i;
  }
  return bits;
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
