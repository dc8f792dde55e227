// Nonzero for one width and one rule: 64 elements -> 64 bits -> positions, staged in L1.
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

// Calls visit(bits, i) for each 64 elements from element i on. Elements behind the end are zero.
template <class T, class Test, class Visit>
HWY_INLINE void ForEach64(const T* x, size_t n, const Test& test, const Visit& visit) {
  const typename Test::D d;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) visit(Bits64(d, x + i, test), i);
  if (i == n) return;
  HWY_ALIGN T tail[64] = {};
  std::memcpy(tail, x + i, (n - i) * sizeof(T));
  visit(Bits64(d, tail, test), i);
}

template <class T, bool kLimited>
size_t CountTyped(const void* x, size_t n, const NonzeroRule& rule) {
  size_t count = 0;
  ForEach64(static_cast<const T*>(x), n, NonzeroTest<T, kLimited>(rule),
            [&](uint64_t bits, size_t) { count += static_cast<size_t>(std::popcount(bits)); });
  return count;
}

// Positions gather here by full-vector stores and leave in exact lengths, so that the caller's
// array is never written past the last position, not even for a moment.
template <class I>
class StagedPositions {
 public:
  explicit StagedPositions(const PositionSink& sink)
      : next_(static_cast<unsigned char*>(sink.data)), left_(sink.capacity) {}

  HWY_INLINE void Append(uint64_t bits, I base) {
    filled_ += AppendPositions(bits, base, stage_ + filled_);
    if (HWY_UNLIKELY(filled_ >= kFlush)) Flush();
  }

  void Flush() {
    const size_t count = std::min(filled_, left_);
    if (count != 0) std::memcpy(next_, stage_, count * sizeof(I));
    next_ += count * sizeof(I);
    left_ -= count;
    filled_ = 0;
  }

  bool Full() const { return left_ == 0; }

 private:
  static constexpr size_t kFlush = 2048 / sizeof(I);

  unsigned char* next_;
  size_t left_;
  size_t filled_ = 0;
  alignas(64) I stage_[kFlush + 64 + kPositionSlack];
};

template <class T, class I, bool kLimited>
size_t CompactTyped(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                         const PositionSink& sink) {
  StagedPositions<I> positions(sink);
  size_t count = 0;
  ForEach64(static_cast<const T*>(x), n, NonzeroTest<T, kLimited>(rule),
            [&](uint64_t bits, size_t i) {
              if (bits == 0) return;
              count += static_cast<size_t>(std::popcount(bits));
              positions.Append(bits, static_cast<I>(first + i));
            });
  positions.Flush();
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
