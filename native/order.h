// The order as a map from bits to unsigned keys; the same definition as lanesort.order.
#pragma once

#include <cstdint>
#include <limits>

namespace lanesort {

enum class Kind : uint8_t { kUnsigned, kSigned, kFloat, kTime };
enum class Nan : uint8_t { kLast, kLargest, kSignMagnitude, kTotal };

struct KeyOrder {
  uint32_t bits;      // width of values and keys: 8, 16, 32 or 64
  Kind kind;          // what the bits mean
  uint64_t infinity;  // for floats the largest magnitude that is not a NaN
  Nan nan;
  bool descending;
  bool zero_equal;  // -0.0 equals +0.0 (never so under kTotal)
  bool tie_high;    // of equal values the higher position first; not part of the key
};

// Constants of the map for one width. All arithmetic is on integers: float compares would treat
// denormals as zero in a thread that flushes them.
template <typename T>
struct KeyMap {
  static constexpr T kSign = static_cast<T>(T{1} << (std::numeric_limits<T>::digits - 1));
  static constexpr T kAll = static_cast<T>(~T{0});

  bool is_float;
  T mirror;     // all ones when descending
  T flip;       // integers: bits to toggle before `less` is subtracted
  T less;       // integers: 1 where NaT, the smallest, is moved to the end
  T infinity;   // floats: magnitudes above are NaN; the largest one where NaN are kept apart
  T zero;       // floats: 1 where -0.0 is moved up to +0.0
  T by_sign;    // floats: all ones where the NaN key depends on the sign
  T nan_key;    // floats: key of a (positive) NaN
  T zero_key;   // floats: key that both zeros share; `nan_key` where they do not
  bool fetch;   // some keys stand for several values, see Fetched

  explicit KeyMap(const KeyOrder& order)
      : is_float(order.kind == Kind::kFloat),
        mirror(order.descending ? kAll : T{0}),
        flip(order.kind == Kind::kUnsigned ? T{0} : kSign),
        less(order.kind == Kind::kTime ? T{1} : T{0}),
        infinity(order.nan == Nan::kTotal ? static_cast<T>(~kSign) : static_cast<T>(order.infinity)),
        zero(order.zero_equal && order.nan != Nan::kTotal ? T{1} : T{0}),
        by_sign(order.nan == Nan::kSignMagnitude ? kAll : T{0}),
        nan_key(order.nan == Nan::kLast ? kAll : static_cast<T>(~mirror)),
        zero_key(zero != 0 ? static_cast<T>(kSign ^ mirror) : nan_key),
        fetch(is_float && order.nan != Nan::kTotal) {
    // NaT stays last although the others turn round: their mirror image moves down by one.
    if (order.kind == Kind::kTime && order.descending && order.nan == Nan::kLast) less = 0;
  }

  static bool IsNan(const KeyOrder& order, T bits) {
    return order.kind == Kind::kFloat && static_cast<T>(bits & ~kSign) > static_cast<T>(order.infinity);
  }

  T Key(T bits) const {
    if (!is_float) return static_cast<T>(static_cast<T>((bits ^ flip) - less) ^ mirror);
    const T negative = (bits & kSign) != 0 ? kAll : T{0};
    if (static_cast<T>(bits & ~kSign) > infinity) return static_cast<T>((negative & by_sign) ^ nan_key);
    const T ascending = static_cast<T>(bits ^ (negative | kSign));
    return static_cast<T>(static_cast<T>(ascending + (bits == kSign ? zero : T{0})) ^ mirror);
  }

  // The value of a key, unless Fetched(key): then +0.0 or some bits that mean nothing.
  T Bits(T key) const {
    const T ascending = static_cast<T>(key ^ mirror);
    if (!is_float) return static_cast<T>(static_cast<T>(ascending + less) ^ flip);
    return static_cast<T>(ascending ^ ((ascending & kSign) != 0 ? kSign : kAll));
  }

  // Whether several values share this key, so that a value has to be fetched from the input.
  bool Fetched(T key) const {
    return fetch && (key == zero_key || key == nan_key || key == static_cast<T>(nan_key ^ by_sign));
  }
};

}  // namespace lanesort
