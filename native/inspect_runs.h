// Looks at runs before they are merged: are they sorted, is there a NaN?
// Included once for each SIMD target.
#if defined(LANESORT_INSPECT_RUNS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_INSPECT_RUNS_H_
#undef LANESORT_INSPECT_RUNS_H_
#else
#define LANESORT_INSPECT_RUNS_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "native/merge.h"
#include "native/merge_layout.h"
#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
class RunInspector {
 public:
  explicit RunInspector(const KeyOrder& order)
      : order_(order), map_(order), lanes_(map_) {}

  Inspected Inspect(const RunRows& runs) {
    Inspected seen{runs.rows * runs.length, false};
    for (size_t row = 0; row < runs.rows; ++row) {
      const uint8_t* const values = runs.values + static_cast<ptrdiff_t>(row) * runs.row_step;
      const size_t at = FirstUnsorted(values, runs.value_step, runs.length);
      if (at < runs.length) seen.unsorted = std::min<uint64_t>(seen.unsorted, row * runs.length + at);
      const bool sorted = at == runs.length;
      seen.nan |= (sorted ? EndsInNan : AnyNan)(order_, values, runs.value_step, runs.length);
    }
    return seen;
  }

 private:
  using D = hn::ScalableTag<T>;
  using Signed = std::make_signed_t<T>;
  using DSigned = hn::ScalableTag<Signed>;
  static constexpr size_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kChunk = 1024;

  // Place in the row of the first value that belongs before its predecessor, or `length`.
  size_t FirstUnsorted(const uint8_t* values, ptrdiff_t step, size_t length) {
    for (size_t begin = 0; begin + 1 < length; begin += kChunk - 1) {
      const size_t n = std::min(kChunk, length - begin);
      MakeKeys(values + static_cast<ptrdiff_t>(begin) * step, step, n);
      if (!KeysAscend(n)) return begin + static_cast<size_t>(std::is_sorted_until(keys_, keys_ + n) - keys_);
    }
    return length;
  }

  static bool AnyNan(const KeyOrder& order, const uint8_t* values, ptrdiff_t step, size_t length) {
    bool any = false;
    for (size_t i = 0; i < length; ++i) {
      any |= KeyMap<T>::IsNan(order, LoadItem<T>(values + static_cast<ptrdiff_t>(i) * step));
    }
    return any;
  }

  // Keys of NaNs lie at either end, so that sorted values have one first or last if they have any.
  static bool EndsInNan(const KeyOrder& order, const uint8_t* values, ptrdiff_t step, size_t length) {
    return AnyNan(order, values, step * static_cast<ptrdiff_t>(length - 1), std::min<size_t>(length, 2));
  }

  // Makes the keys of n values.
  void MakeKeys(const uint8_t* values, ptrdiff_t step, size_t n) {
    size_t i = 0;
    if (step == sizeof(T)) {
      i = MakeVectors<Layout::kAdjacent>(values, n);
    } else if constexpr (sizeof(T) == 4 && HWY_TARGET != HWY_SCALAR) {
      // Vectors read 8 bytes of an item, which may be more than the last one has.
      if (step == 8 && n > 0) i = MakeVectors<Layout::kPairs>(values, n - 1);
    }
    for (; i < n; ++i) {
      const T bits = LoadItem<T>(values + static_cast<ptrdiff_t>(i) * step);
      keys_[i] = static_cast<Signed>(map_.Key(bits) ^ KeyMap<T>::kSign);
    }
  }

  // Makes the keys of n values but for fewer than fill a vector; returns of how many.
  template <Layout kLayout>
  size_t MakeVectors(const uint8_t* values, size_t n) {
    if (n < kLanes) return 0;
    for (size_t i = 0; i + kLanes <= n; i += kLanes) MakeVector<kLayout>(values, i);
    if (n % kLanes != 0) MakeVector<kLayout>(values, n - kLanes);
    return n;
  }

  template <Layout kLayout>
  HWY_INLINE void MakeVector(const uint8_t* values, size_t i) {
    const auto key = hn::Xor(lanes_.Key(Load<kLayout>(values, i)), hn::Set(D(), KeyMap<T>::kSign));
    hn::StoreU(hn::BitCast(DSigned(), key), DSigned(), keys_ + i);
  }

  template <Layout kLayout>
  static HWY_INLINE hn::Vec<D> Load(const uint8_t* values, size_t i) {
    if constexpr (kLayout == Layout::kAdjacent) {
      return hn::LoadU(D(), reinterpret_cast<const T*>(values + i * sizeof(T)));
    }
#if HWY_TARGET != HWY_SCALAR
    const auto low = hn::LoadU(D(), reinterpret_cast<const T*>(values + i * 8));
    const auto high = hn::LoadU(D(), reinterpret_cast<const T*>(values + (i + kLanes / 2) * 8));
    return hn::ConcatEven(D(), high, low);
#endif
  }

  bool KeysAscend(size_t n) const {
    if (n <= kLanes) return std::is_sorted(keys_, keys_ + n);
    auto wrong = Descending(n - kLanes);
    for (size_t i = 1; i + kLanes <= n; i += kLanes) wrong = hn::Or(wrong, Descending(i));
    return hn::AllTrue(DSigned(), hn::Eq(wrong, hn::Zero(DSigned())));
  }
  // Lanes of ones where key i + lane is below the one before it.
  HWY_INLINE hn::Vec<DSigned> Descending(size_t i) const {
    const DSigned d;
    return hn::VecFromMask(d, hn::Lt(hn::LoadU(d, keys_ + i), hn::LoadU(d, keys_ + i - 1)));
  }

  const KeyOrder order_;
  const KeyMap<T> map_;
  const KeyLanes<D> lanes_;
  alignas(64) Signed keys_[kChunk];  // that sort as signed integers
};

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
