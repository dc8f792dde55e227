// How bits and positions become elements, and elements bits and positions again.
// Included once per SIMD target.
#if defined(LANESORT_PACKING_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_PACKING_H
#undef LANESORT_PACKING_H
#else
#define LANESORT_PACKING_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/element.h"
#include "native/order_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE T LoadBits(const uint8_t* from) {
  T bits;
  std::memcpy(&bits, from, sizeof(T));
  return bits;
}
template <typename T>
HWY_INLINE void StoreBits(T bits, uint8_t* to) {
  std::memcpy(to, &bits, sizeof(T));
}
// Vectors at addresses that need not even be those of a T.
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const uint8_t* from) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), from));
}
template <class D>
HWY_INLINE void StoreLanes(D d, hn::Vec<D> v, uint8_t* to) {
  const hn::Repartition<uint8_t, D> d8;
  (void)d;
  hn::StoreU(hn::BitCast(d8, v), d8, to);
}

// What is added to positions for each block of so many; toggled ones, all ones less the position,
// count down.
template <typename T>
T StepOf(size_t count, bool down) {
  return static_cast<T>(down ? ~count + 1 : count);
}

// What each packing has besides its scalar maps: blocks of kBlock elements with vectors.
// PackBlock makes elements of keys and of positions as it wants them, which are FirstPositions and
// grow by PositionStep a block; UnpackBlock gives keys and stores positions. For pairs, SpreadBlock gives the keys and 32-bit positions of kPairBlock
// elements in lanes of its own choice, and StorePairs writes values and indices that lie so as items
// of 8 bytes, value first, in order.

// 32-bit keys with positions.
struct Pack32 {
  using Key = uint32_t;
  using Element = PackedDouble;
  using Position = uint32_t;
  using D = hn::ScalableTag<uint32_t>;
  static constexpr bool kVectors = true;
  static constexpr size_t kBlock = HWY_LANES(uint32_t);
  static constexpr size_t kPairBlock = kBlock;

  explicit Pack32(bool tie_high) : toggle_(tie_high ? PackedDouble::kPositions : 0) {}
  uint64_t Pack(uint32_t key, uint64_t position) const {
    return (static_cast<uint64_t>(key) << 30 | (position ^ toggle_)) + PackedDouble::kBase;
  }
  uint32_t KeyOf(uint64_t element) const { return static_cast<uint32_t>((element - PackedDouble::kBase) >> 30); }
  uint32_t PositionOf(uint64_t element) const {
    return static_cast<uint32_t>((element & PackedDouble::kPositions) ^ toggle_);
  }
  // Shifted to where the key ends; the toggled ones count down.
  HWY_INLINE hn::Vec<D> FirstPositions() const { return hn::ShiftLeft<2>(hn::Xor(hn::Iota(D(), 0), Toggle())); }
  HWY_INLINE hn::Vec<D> PositionStep() const { return hn::Set(D(), StepOf<uint32_t>(4 * kBlock, toggle_ != 0)); }
  HWY_INLINE void PackBlock(hn::Vec<D> position, hn::Vec<D> key, uint64_t* to) const {
    const D d;
    const hn::Repartition<uint64_t, D> d64;
    const auto base = hn::Set(d64, PackedDouble::kBase);
    // Which elements share a vector does not matter: they are about to be sorted.
    const auto low = hn::BitCast(d64, hn::InterleaveLower(d, position, key));
    const auto high = hn::BitCast(d64, hn::InterleaveUpper(d, position, key));
    hn::StoreU(hn::Add(hn::ShiftRight<2>(low), base), d64, to);
    hn::StoreU(hn::Add(hn::ShiftRight<2>(high), base), d64, to + kBlock / 2);
  }
  HWY_INLINE hn::Vec<D> UnpackBlock(const uint64_t* from, uint8_t* positions) const {
    const D d;
    const hn::Repartition<uint64_t, D> d64;
    const auto base = hn::Set(d64, PackedDouble::kBase);
    const auto low = hn::LoadU(d64, from);
    const auto high = hn::LoadU(d64, from + kBlock / 2);
    const auto position = hn::ConcatEven(d, hn::BitCast(d, high), hn::BitCast(d, low));
    const auto mask = hn::Set(d, static_cast<uint32_t>(PackedDouble::kPositions));
    StoreLanes(d, hn::Xor(hn::And(position, mask), Toggle()), positions);
    return hn::ConcatEven(d, hn::BitCast(d, hn::ShiftRight<30>(hn::Sub(high, base))),
                          hn::BitCast(d, hn::ShiftRight<30>(hn::Sub(low, base))));
  }

  // Even lanes have the first half of the block, odd lanes the second: no lane has to move.
  HWY_INLINE void SpreadBlock(const uint64_t* from, hn::Vec<D>& key, hn::Vec<D>& position) const {
    const D d;
    const hn::Repartition<uint64_t, D> d64;
    const auto base = hn::Set(d64, PackedDouble::kBase);
    const auto low = hn::Sub(hn::LoadU(d64, from), base);
    const auto high = hn::Sub(hn::LoadU(d64, from + kPairBlock / 2), base);
    const auto both = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(high)), hn::BitCast(d, low));
    const auto mask = hn::Set(d, static_cast<uint32_t>(PackedDouble::kPositions));
    position = hn::Xor(hn::And(both, mask), Toggle());
    key = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<2>(high)), hn::BitCast(d, hn::ShiftRight<30>(low)));
  }
  static HWY_INLINE void StorePairs(hn::Vec<D> values, hn::Vec<D> indices, uint8_t* to) {
    const D d;
    const hn::Repartition<uint64_t, D> d64;
    const auto second_values = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, values)));
    const auto first_indices = hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(d64, indices)));
    StoreLanes(d, hn::OddEven(first_indices, values), to);
    StoreLanes(d, hn::OddEven(indices, second_values), to + kPairBlock / 2 * 8);
  }

 private:
  HWY_INLINE hn::Vec<D> Toggle() const { return hn::Set(D(), static_cast<uint32_t>(toggle_)); }
  uint64_t toggle_;
};

// Shorter keys with positions below 2^30, of rows too long for a Word.
template <typename T>
struct PackShort : Pack32 {
  using Key = T;
  static constexpr bool kVectors = false;
  using Pack32::Pack32;
  T KeyOf(uint64_t element) const { return static_cast<T>(Pack32::KeyOf(element)); }
};

// 16-bit keys with positions below 2^16.
struct Pack16 {
  using Key = uint16_t;
  using Element = Word;
  using Position = uint16_t;
  using D = hn::ScalableTag<uint16_t>;
  using D32 = hn::ScalableTag<uint32_t>;
  static constexpr bool kVectors = true;
  static constexpr size_t kBlock = HWY_LANES(uint16_t);
  static constexpr size_t kPairBlock = HWY_LANES(uint32_t);

  explicit Pack16(bool tie_high) : toggle_(tie_high ? 0xFFFF : 0) {}
  uint32_t Pack(uint16_t key, uint64_t position) const {
    return static_cast<uint32_t>(key) << 16 | (static_cast<uint32_t>(position) ^ toggle_);
  }
  uint16_t KeyOf(uint32_t element) const { return static_cast<uint16_t>(element >> 16); }
  uint16_t PositionOf(uint32_t element) const { return static_cast<uint16_t>((element & 0xFFFF) ^ toggle_); }
  HWY_INLINE hn::Vec<D> FirstPositions() const { return hn::Xor(hn::Iota(D(), 0), Toggle()); }
  HWY_INLINE hn::Vec<D> PositionStep() const { return hn::Set(D(), StepOf<uint16_t>(kBlock, toggle_ != 0)); }
  HWY_INLINE void PackBlock(hn::Vec<D> position, hn::Vec<D> key, uint32_t* to) const {
    const D d;
    const hn::Repartition<uint32_t, D> d32;
    hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d, position, key)), d32, to);
    hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d, position, key)), d32, to + kBlock / 2);
  }
  HWY_INLINE hn::Vec<D> UnpackBlock(const uint32_t* from, uint8_t* positions) const {
    const D d;
    const hn::Half<D> half;
    const hn::Repartition<int32_t, D> d32;  // DemoteTo saturates, which no 16-bit number needs
    const auto mask = hn::Set(d32, 0xFFFF);
    const auto low = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from));
    const auto high = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from) + kBlock / 2);
    const hn::Repartition<uint32_t, D> du;
    const auto position = hn::Combine(d, hn::DemoteTo(half, hn::And(high, mask)), hn::DemoteTo(half, hn::And(low, mask)));
    StoreLanes(d, hn::Xor(position, Toggle()), positions);
    const auto low_key = hn::BitCast(d32, hn::ShiftRight<16>(hn::BitCast(du, low)));
    const auto high_key = hn::BitCast(d32, hn::ShiftRight<16>(hn::BitCast(du, high)));
    return hn::Combine(d, hn::DemoteTo(half, high_key), hn::DemoteTo(half, low_key));
  }

  // Every key stands in both halves of its 32 bits.
  HWY_INLINE void SpreadBlock(const uint32_t* from, hn::Vec<D>& key, hn::Vec<D32>& position) const {
    const D32 d32;
    const auto low_half = hn::Set(d32, 0xFFFF);
    const auto elements = hn::LoadU(d32, from);
    position = hn::And(hn::Xor(elements, hn::BitCast(d32, Toggle())), low_half);
    key = hn::BitCast(D(), hn::Or(hn::ShiftRight<16>(elements), hn::AndNot(low_half, elements)));
  }
  static HWY_INLINE void StorePairs(hn::Vec<D> values, hn::Vec<D32> indices, uint8_t* to) {
    const D32 d32;
    const auto widened = hn::And(hn::BitCast(d32, values), hn::Set(d32, 0xFFFF));
    hn::StoreInterleaved2(widened, indices, d32, reinterpret_cast<uint32_t*>(to));
  }

 private:
  HWY_INLINE hn::Vec<D> Toggle() const { return hn::Set(D(), static_cast<uint16_t>(toggle_)); }
  uint32_t toggle_;
};

// 8-bit keys with positions below 2^24.
struct Pack8 {
  using Key = uint8_t;
  using Element = Word;
  using Position = uint32_t;
  static constexpr bool kVectors = false;
  static constexpr uint32_t kPositions = (uint32_t{1} << 24) - 1;

  explicit Pack8(bool tie_high) : toggle_(tie_high ? kPositions : 0) {}
  uint32_t Pack(uint8_t key, uint64_t position) const {
    return static_cast<uint32_t>(key) << 24 | (static_cast<uint32_t>(position) ^ toggle_);
  }
  uint8_t KeyOf(uint32_t element) const { return static_cast<uint8_t>(element >> 24); }
  uint32_t PositionOf(uint32_t element) const { return (element & kPositions) ^ toggle_; }

 private:
  uint32_t toggle_;
};

// 64-bit keys with positions.
struct Pack64 {
  using Key = uint64_t;
  using Element = KeyAndPosition;
  using Position = uint64_t;
  using D = hn::ScalableTag<uint64_t>;
  static constexpr bool kVectors = true;
  static constexpr size_t kBlock = HWY_LANES(uint64_t);
  static constexpr uint64_t kSign = uint64_t{1} << 63;

  explicit Pack64(bool tie_high) : toggle_(tie_high ? ~uint64_t{0} : 0) {}
  KeyAndPosition::Scalar Pack(uint64_t key, uint64_t position) const {
    return {static_cast<int64_t>(key ^ kSign), static_cast<int64_t>(position ^ toggle_)};
  }
  uint64_t KeyOf(KeyAndPosition::Scalar element) const { return static_cast<uint64_t>(element.key) ^ kSign; }
  uint64_t PositionOf(KeyAndPosition::Scalar element) const {
    return static_cast<uint64_t>(element.position) ^ toggle_;
  }
  HWY_INLINE hn::Vec<D> FirstPositions() const { return hn::Xor(hn::Iota(D(), 0), hn::Set(D(), toggle_)); }
  HWY_INLINE hn::Vec<D> PositionStep() const { return hn::Set(D(), StepOf<uint64_t>(kBlock, toggle_ != 0)); }
  HWY_INLINE void PackBlock(hn::Vec<D> position, hn::Vec<D> key, KeyAndPosition::Pointer to) const {
    const D d;
    const hn::RebindToSigned<D> ds;
    hn::StoreU(hn::BitCast(ds, hn::Xor(key, hn::Set(d, kSign))), ds, to.key);
    hn::StoreU(hn::BitCast(ds, position), ds, to.position);
  }
  HWY_INLINE hn::Vec<D> UnpackBlock(KeyAndPosition::Pointer from, uint8_t* positions) const {
    const D d;
    const hn::RebindToSigned<D> ds;
    StoreLanes(d, hn::Xor(hn::BitCast(d, hn::LoadU(ds, from.position)), hn::Set(d, toggle_)), positions);
    return hn::Xor(hn::BitCast(d, hn::LoadU(ds, from.key)), hn::Set(d, kSign));
  }

 private:
  uint64_t toggle_;
};

// Any keys of rows with 2^30 positions and more.
template <typename T>
struct PackLong : Pack64 {
  using Key = T;
  static constexpr bool kVectors = false;
  using Pack64::Pack64;
  T KeyOf(KeyAndPosition::Scalar element) const { return static_cast<T>(Pack64::KeyOf(element)); }
};

// Keys alone, for values whose positions nobody wants.
struct Alone32 {
  using Key = uint32_t;
  using Element = Word;
  using D = hn::ScalableTag<uint32_t>;
  static constexpr size_t kBlock = HWY_LANES(uint32_t);
  static uint32_t Pack(uint32_t key) { return key; }
  static uint32_t KeyOf(uint32_t element) { return element; }
  static HWY_INLINE hn::Vec<D> PackLanes(hn::Vec<D> key) { return key; }
};

struct Alone64 {
  using Key = uint64_t;
  using Element = LongWord;
  using D = hn::ScalableTag<uint64_t>;
  static constexpr size_t kBlock = HWY_LANES(uint64_t);
  static int64_t Pack(uint64_t key) { return static_cast<int64_t>(key ^ Pack64::kSign); }
  static uint64_t KeyOf(int64_t element) { return static_cast<uint64_t>(element) ^ Pack64::kSign; }
  static HWY_INLINE hn::Vec<D> PackLanes(hn::Vec<D> key) { return hn::Xor(key, hn::Set(D(), Pack64::kSign)); }
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_PACKING_H
