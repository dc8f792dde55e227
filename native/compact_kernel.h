// Nonzero for one width and one rule: elements -> mark bits, 64 to a word; marks -> positions.
#if defined(LANESORT_COMPACT_KERNEL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_COMPACT_KERNEL_H_
#undef LANESORT_COMPACT_KERNEL_H_
#else
#define LANESORT_COMPACT_KERNEL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/compact.h"
#include "native/mask_bits.h"
#include "native/positions.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, bool kLimited>
class NonzeroTest {
 public:
  explicit NonzeroTest(const NonzeroRule& rule)
      : mask_(hn::Set(D(), static_cast<T>(rule.mask))), limit_(hn::Set(D(), static_cast<T>(rule.limit))) {}

  using D = hn::ScalableTag<T>;

  HWY_INLINE auto operator()(hn::Vec<D> v) const {
    const auto magnitude = hn::And(v, mask_);
    if constexpr (kLimited) {
      return hn::Lt(hn::Sub(magnitude, hn::Set(D(), T{1})), limit_);
    } else {
      return hn::Ne(magnitude, hn::Zero(D()));
    }
  }

 private:
  hn::Vec<D> mask_;
  hn::Vec<D> limit_;
};

template <class T, bool kLimited>
size_t MarkTyped(const void* from, size_t n, const NonzeroRule& rule, uint64_t* marks) {
  const NonzeroTest<T, kLimited> test(rule);
  const typename NonzeroTest<T, kLimited>::D d;
  const T* x = static_cast<const T*>(from);
  size_t count = 0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const uint64_t bits = Bits64(d, x + i, test);
    *marks++ = bits;
    count += static_cast<size_t>(std::popcount(bits));
  }
  if (i == n) return count;
  HWY_ALIGN T tail[64] = {};
  std::memcpy(tail, x + i, (n - i) * sizeof(T));
  *marks = Bits64(d, tail, test);
  return count + static_cast<size_t>(std::popcount(*marks));
}

// Positions are stored by full vectors, so that the last ones of `out` go through a stage: the
// caller's array is never written past its end, not even for a moment.
template <class I>
void WritePositionsTyped(const uint64_t* marks, uint64_t first, const PositionSink& sink) {
  constexpr size_t kRoom = 64 + kPositionSlack;
  uint8_t* out = static_cast<uint8_t*>(sink.data);
  size_t left = sink.capacity;
  I base = static_cast<I>(first);
  for (; left >= kRoom; base = static_cast<I>(base + 64)) {
    const size_t count = AppendPositions(*marks++, base, out);
    out += count * sizeof(I);
    left -= count;
  }
  uint8_t stage[(2 * kRoom) * sizeof(I)];
  size_t staged = 0;
  for (; staged < left; base = static_cast<I>(base + 64)) {
    staged += AppendPositions(*marks++, base, stage + staged * sizeof(I));
  }
  if (left != 0) std::memcpy(out, stage, left * sizeof(I));
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
