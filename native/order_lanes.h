// The map of order.h on vectors. Included once per SIMD target.
#if defined(LANESORT_ORDER_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_ORDER_LANES_H
#undef LANESORT_ORDER_LANES_H
#else
#define LANESORT_ORDER_LANES_H
#endif

#include <hwy/highway.h>

#include "native/order.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Same members as KeyMap, one value per lane of D (unsigned lanes).
template <class D>
class KeyLanes {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  explicit KeyLanes(const KeyMap<T>& map)
      : is_float_(map.is_float),
        fetch_(map.fetch),
        mirror_(hn::Set(D(), map.mirror)),
        flip_(hn::Set(D(), map.flip)),
        less_(hn::Set(D(), map.less)),
        infinity_(hn::Set(D(), map.infinity)),
        zero_(hn::Set(D(), map.zero)),
        by_sign_(hn::Set(D(), map.by_sign)),
        nan_key_(hn::Set(D(), map.nan_key)),
        zero_key_(hn::Set(D(), map.zero_key)) {}

  HWY_INLINE V Key(V bits) const {
    if (!is_float_) return hn::Xor(hn::Sub(hn::Xor(bits, flip_), less_), mirror_);
    const Signed ds;
    const V sign = hn::Set(D(), KeyMap<T>::kSign);
    const V negative = hn::BitCast(D(), hn::BroadcastSignBit(hn::BitCast(ds, bits)));
    // Magnitudes are not negative, so that the signed comparison, cheaper on most CPUs, holds.
    const auto nan = hn::RebindMask(D(), hn::Gt(hn::BitCast(ds, hn::AndNot(sign, bits)), hn::BitCast(ds, infinity_)));
    const V moved = hn::And(zero_, hn::VecFromMask(D(), hn::Eq(bits, sign)));
    const V key = hn::Xor(hn::Add(hn::Xor(bits, hn::Or(negative, sign)), moved), mirror_);
    return hn::IfThenElse(nan, hn::Xor(hn::And(negative, by_sign_), nan_key_), key);
  }

  HWY_INLINE V Bits(V key) const {
    const V ascending = hn::Xor(key, mirror_);
    if (!is_float_) return hn::Xor(hn::Add(ascending, less_), flip_);
    const V sign = hn::Set(D(), KeyMap<T>::kSign);
    const V positive = hn::BitCast(D(), hn::BroadcastSignBit(hn::BitCast(Signed(), ascending)));
    return hn::Xor(ascending, hn::Or(hn::Not(positive), sign));
  }

  // Lanes of ones where the key is Fetched; only if Fetches().
  HWY_INLINE V Fetched(V key) const {
    const auto nan = hn::Or(hn::Eq(key, nan_key_), hn::Eq(key, hn::Xor(nan_key_, by_sign_)));
    return hn::VecFromMask(D(), hn::Or(hn::Eq(key, zero_key_), nan));
  }
  HWY_INLINE bool Fetches() const { return fetch_; }

  // Whether any of the keys is Fetched.
  HWY_INLINE bool AnyFetched(V key) const { return fetch_ && Any(Fetched(key)); }
  static HWY_INLINE bool Any(V lanes) { return !hn::AllTrue(D(), hn::Eq(lanes, hn::Zero(D()))); }

 private:
  using Signed = hn::RebindToSigned<D>;

  bool is_float_, fetch_;
  V mirror_, flip_, less_, infinity_, zero_, by_sign_, nan_key_, zero_key_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_ORDER_LANES_H
