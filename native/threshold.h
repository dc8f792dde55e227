// A value that at least k elements do not exceed, and not many more, by bisection of the value
// range: each step counts with vectors. It moves no data, works for every width, and its cost
// depends on neither the order nor the repetition of the elements.
#if defined(LANESORT_THRESHOLD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_THRESHOLD_H_
#undef LANESORT_THRESHOLD_H_
#else
#define LANESORT_THRESHOLD_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct ValueRange {
  T smallest;
  T largest;
};

// Number of elements up to the end of the last vector that holds one of n elements.
template <class T>
HWY_INLINE size_t PaddedCount(size_t n) {
  constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  return (n + kLanes - 1) / kLanes * kLanes;
}

// Sets the lanes behind the n elements of `a` to the largest value: what Threshold expects.
template <class T>
HWY_INLINE void PadWithLargest(T* a, size_t n) {
  std::fill(a + n, a + PaddedCount<T>(n), std::numeric_limits<T>::max());
}

template <class T>
HWY_INLINE size_t CountNotAbove(const T* a, size_t padded, T bound) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, bound);
  size_t above0 = 0, above1 = 0;
  size_t i = 0;
  for (; i + 2 * lanes <= padded; i += 2 * lanes) {
    above0 += hn::CountTrue(d, hn::Lt(limit, hn::Load(d, a + i)));
    above1 += hn::CountTrue(d, hn::Lt(limit, hn::Load(d, a + i + lanes)));
  }
  if (i < padded) above0 += hn::CountTrue(d, hn::Lt(limit, hn::Load(d, a + i)));
  return padded - above0 - above1;
}

// Bounds of the elements; pads take part in neither. n is not 0. For 8 and 16 bits, where 1.0.3 has
// no reduction over lanes and few steps are at stake, simply all values.
template <class T>
HWY_INLINE ValueRange<T> RangeOf(const T* a, size_t n) {
  if constexpr (sizeof(T) < 4) {
    return {0, std::numeric_limits<T>::max()};
  } else {
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    auto low = hn::Set(d, a[0]);
    auto high = low;
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const auto v = hn::Load(d, a + i);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
    }
    T smallest = hn::GetLane(hn::MinOfLanes(d, low));
    T largest = hn::GetLane(hn::MaxOfLanes(d, high));
    for (; i < n; ++i) {
      smallest = std::min(smallest, a[i]);
      largest = std::max(largest, a[i]);
    }
    return {smallest, largest};
  }
}

// Returns a bound with at least k of the n elements at or below it; the smallest one when
// slack is 0, else any with at most k + slack, if repetition allows one. `a` is aligned, padded
// by PadWithLargest; 0 < k <= n.
template <class T>
T Threshold(const T* a, size_t n, size_t k, size_t slack) {
  const size_t padded = PaddedCount<T>(n);
  ValueRange<T> range = RangeOf(a, n);
  while (range.smallest < range.largest) {
    // Below `largest`, hence below the pads, which are never counted.
    const T middle = static_cast<T>(range.smallest + (range.largest - range.smallest) / 2);
    const size_t count = CountNotAbove(a, padded, middle);
    // Selections, not branches: which side it is cannot be predicted.
    const bool enough = count >= k;
    range.smallest = enough ? range.smallest : static_cast<T>(middle + 1);
    range.largest = enough ? middle : range.largest;
    if (enough && slack != 0 && count <= k + slack) break;
  }
  return range.largest;
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
