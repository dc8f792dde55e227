// Where a sorted row goes: values and positions in every layout that a SortJob may ask for.
// Included once per SIMD target.
#if defined(LANESORT_ROW_WRITER_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_ROW_WRITER_H
#undef LANESORT_ROW_WRITER_H
#else
#define LANESORT_ROW_WRITER_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/packing.h"
#include "native/sort.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

// Keys and positions of one kind of packing, to and from elements.
template <class P>
class RowCodec {
 public:
  using Key = typename P::Key;
  using Element = typename P::Element;
  using Pointer = typename Element::Pointer;
  using Position = typename P::Position;

  explicit RowCodec(const KeyOrder& order) : map_(order), lanes_(map_), packing_(order.tie_high) {}

  // Elements of x[0, count).
  void Pack(const uint8_t* x, size_t count, Pointer to) const {
    size_t i = 0;
    if constexpr (P::kVectors) {
      const KeyLanes<D> lanes = lanes_;  // a copy, which the stores can't change
      auto positions = packing_.FirstPositions();
      const auto step = packing_.PositionStep();
      for (; i + P::kBlock <= count; i += P::kBlock) {
        packing_.PackBlock(positions, lanes.Key(LoadLanes(D(), x + i * sizeof(Key))), to + i);
        positions = hn::Add(positions, step);
      }
    }
    if (i < count) PackSome(x, i, count, to);
  }

  // Bits of an element of the row x.
  Key BitsOf(Pointer from, const uint8_t* x) const {
    return LoadBits<Key>(x + packing_.PositionOf(Element::Get(from)) * sizeof(Key));
  }

  // Bits and positions of elements; x is the row, for values that their keys do not tell.
  void Unpack(Pointer from, size_t count, const uint8_t* x, uint8_t* values, uint8_t* positions) const {
    size_t i = 0;
    if constexpr (P::kVectors) {
      for (; i + kGroup * P::kBlock <= count; i += kGroup * P::kBlock) {
        UnpackGroup<kGroup>(from + i, x, values + i * sizeof(Key), positions + i * sizeof(Position));
      }
      for (; i + P::kBlock <= count; i += P::kBlock) {
        UnpackGroup<1>(from + i, x, values + i * sizeof(Key), positions + i * sizeof(Position));
      }
    }
    if (i < count) UnpackSome(from, i, count, x, values, positions);
  }

  // The same as items of 8 bytes: the value, widened by zeros to 32 bits, and position + offset.
  void UnpackPairs(Pointer from, size_t count, const uint8_t* x, uint32_t offset, uint8_t* to) const {
    size_t i = 0;
    if constexpr (P::kVectors && sizeof(Key) <= 4) {
      for (; i + kGroup * P::kPairBlock <= count; i += kGroup * P::kPairBlock) {
        UnpackPairGroup<kGroup>(from + i, x, offset, to + i * 8);
      }
      for (; i + P::kPairBlock <= count; i += P::kPairBlock) UnpackPairGroup<1>(from + i, x, offset, to + i * 8);
    }
    if (i < count) UnpackSomePairs(from, i, count, x, offset, to);
  }

 private:
  using D = hn::ScalableTag<Key>;
  static constexpr size_t kGroup = 4;  // blocks between two looks at whether a value is to be fetched

  // What is left over from whole blocks, apart from them: inlined, it costs a row of few elements more
  // than its blocks do.
  HWY_NOINLINE void PackSome(const uint8_t* x, size_t begin, size_t end, Pointer to) const {
    for (size_t i = begin; i < end; ++i) {
      Element::Put(packing_.Pack(map_.Key(LoadBits<Key>(x + i * sizeof(Key))), i), to + i);
    }
  }
  HWY_NOINLINE void UnpackSome(Pointer from, size_t begin, size_t end, const uint8_t* x, uint8_t* values,
                               uint8_t* positions) const {
    for (size_t i = begin; i < end; ++i) {
      const Position position = packing_.PositionOf(Element::Get(from + i));
      StoreBits(position, positions + i * sizeof(Position));
      StoreBits(LoadBits<Key>(x + position * sizeof(Key)), values + i * sizeof(Key));
    }
  }
  HWY_NOINLINE void UnpackSomePairs(Pointer from, size_t begin, size_t end, const uint8_t* x, uint32_t offset,
                                    uint8_t* to) const {
    for (size_t i = begin; i < end; ++i) {
      const Position position = packing_.PositionOf(Element::Get(from + i));
      const uint64_t value = LoadBits<Key>(x + position * sizeof(Key));
      StoreBits(uint64_t{static_cast<uint32_t>(position) + offset} << 32 | value, to + i * 8);
    }
  }

  template <size_t kBlocks>
  HWY_INLINE void UnpackGroup(Pointer from, const uint8_t* x, uint8_t* values, uint8_t* positions) const {
    const KeyLanes<D> lanes = lanes_;  // copies, which the stores can't change
    const P packing = packing_;
    auto fetched = hn::Zero(D());
    for (size_t i = 0; i < kBlocks * P::kBlock; i += P::kBlock) {
      const auto key = packing.UnpackBlock(from + i, positions + i * sizeof(Position));
      StoreLanes(D(), lanes.Bits(key), values + i * sizeof(Key));
      fetched = hn::Or(fetched, lanes.Fetched(key));
    }
    FetchAny(fetched, from, kBlocks * P::kBlock, x, values, sizeof(Key));
  }

  template <size_t kBlocks>
  HWY_INLINE void UnpackPairGroup(Pointer from, const uint8_t* x, uint32_t offset, uint8_t* to) const {
    const KeyLanes<D> lanes = lanes_;
    const P packing = packing_;
    const hn::ScalableTag<uint32_t> d32;
    auto fetched = hn::Zero(D());
    for (size_t i = 0; i < kBlocks * P::kPairBlock; i += P::kPairBlock) {
      hn::Vec<D> key;
      hn::Vec<decltype(d32)> position;
      packing.SpreadBlock(from + i, key, position);
      packing.StorePairs(lanes.Bits(key), hn::Add(position, hn::Set(d32, offset)), to + i * 8);
      fetched = hn::Or(fetched, lanes.Fetched(key));
    }
    FetchAny(fetched, from, kBlocks * P::kPairBlock, x, to, 8);
  }

  HWY_INLINE void FetchAny(hn::Vec<D> fetched, Pointer from, size_t count, const uint8_t* x, uint8_t* values,
                           size_t stride) const {
    if (HWY_UNLIKELY(lanes_.Fetches() && lanes_.Any(fetched))) Fetch(from, count, x, values, stride);
  }

  HWY_NOINLINE void Fetch(Pointer from, size_t count, const uint8_t* x, uint8_t* values, size_t stride) const {
    for (size_t i = 0; i < count; ++i) {
      const Position position = packing_.PositionOf(Element::Get(from + i));
      StoreBits(LoadBits<Key>(x + position * sizeof(Key)), values + i * stride);
    }
  }

  KeyMap<Key> map_;
  KeyLanes<D> lanes_;
  P packing_;
};

// Rows of so many elements have their 32-bit payload in two registers, see LookUp.
inline constexpr size_t kLookUpColumns = 2 * 64 / sizeof(uint32_t);

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr bool kHasLookUp = true;

// Writes payload[positions[i]], for the kLookUpColumns positions of a row: what a gather from
// memory does, which is slow on many CPUs, by one shuffle for 16 of them.
template <typename Position>
void LookUp(const Position* positions, const uint8_t* payload, uint8_t* to) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<Position, decltype(d)> narrow;
  constexpr size_t N = HWY_LANES(uint32_t);
  const auto low = LoadLanes(d, payload);
  const auto high = LoadLanes(d, payload + 64);
  for (size_t i = 0; i < kLookUpColumns; i += N) {
    hn::Vec<decltype(d)> at;
    if constexpr (sizeof(Position) == sizeof(uint32_t)) {
      at = hn::LoadU(d, positions + i);
    } else {
      at = hn::PromoteTo(d, hn::LoadU(narrow, positions + i));
    }
    const hn::Vec<decltype(d)> found{_mm512_permutex2var_epi32(low.raw, at.raw, high.raw)};
    StoreLanes(d, found, to + i * sizeof(uint32_t));
  }
}
#else
inline constexpr bool kHasLookUp = false;
#endif

// Whether the `count` 32-bit items of the payload count up by one.
inline bool CountsUp(const uint8_t* payload, size_t count) {
  const hn::ScalableTag<uint32_t> d;
  constexpr size_t N = HWY_LANES(uint32_t);
  const uint32_t first = LoadBits<uint32_t>(payload);
  auto expected = hn::Add(hn::Iota(d, 0), hn::Set(d, first));
  auto differs = hn::Zero(d);
  size_t i = 0;
  for (; i + N <= count; i += N) {
    differs = hn::Or(differs, hn::Xor(LoadLanes(d, payload + i * sizeof(uint32_t)), expected));
    expected = hn::Add(expected, hn::Set(d, static_cast<uint32_t>(N)));
  }
  for (; i < count; ++i) {
    if (LoadBits<uint32_t>(payload + i * sizeof(uint32_t)) != first + static_cast<uint32_t>(i)) return false;
  }
  return hn::AllTrue(d, hn::Eq(differs, hn::Zero(d)));
}

inline constexpr size_t kCountedColumns = 512;

// Whether rows of the payload are short enough to see if they count up.
inline bool MayCountUp(const SortJob& job) {
  return job.pairs && job.payload != nullptr && job.columns != 0 && job.columns <= kCountedColumns;
}

// Whether all rows of the payload count up. Looks only where each of them serves often enough.
inline bool PayloadCountsUp(const SortJob& job) {
  constexpr size_t kTurns = 8;
  if (!MayCountUp(job) || job.payload_rows > job.rows / kTurns) return false;
  for (size_t row = 0; row < job.payload_rows; ++row) {
    if (!CountsUp(job.PayloadOf(row), job.columns)) return false;
  }
  return true;
}

// Writes index = position + offset, or the payload at the position, `stride` apart.
template <typename Index, typename Position>
void WriteIndices(const Position* positions, size_t count, uint64_t offset, const uint8_t* payload, size_t stride,
                  uint8_t* to) {
  if (payload != nullptr) {
    for (size_t i = 0; i < count; ++i) {
      StoreBits(LoadBits<Index>(payload + positions[i] * sizeof(Index)), to + i * stride);
    }
  } else if (stride == sizeof(Index)) {
    for (size_t i = 0; i < count; ++i) StoreBits(static_cast<Index>(positions[i] + offset), to + i * sizeof(Index));
  } else {
    for (size_t i = 0; i < count; ++i) StoreBits(static_cast<Index>(positions[i] + offset), to + i * stride);
  }
}

// Writes parts of one sorted row.
template <class P>
class RowWriter {
 public:
  using Key = typename P::Key;
  using Position = typename P::Position;
  using Pointer = typename P::Element::Pointer;

  // `counts_up`: what PayloadCountsUp says of the job.
  RowWriter(const SortJob& job, const RowCodec<P>& codec, bool counts_up)
      : job_(job),
        codec_(codec),
        counts_up_(counts_up),
        plain_values_(job.values != nullptr && job.value_stride == sizeof(Key)),
        plain_indices_(job.indices != nullptr && job.index_stride == sizeof(Position) &&
                       job.index_bytes == sizeof(Position) && job.payload == nullptr && job.offset == 0) {}

  RowWriter(const SortJob& job, const RowCodec<P>& codec, bool counts_up, size_t row)
      : RowWriter(job, codec, counts_up) {
    MoveTo(row);
  }

  void MoveTo(size_t row) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(row);
    x_ = job_.input + at * job_.input_row;
    values_ = job_.values == nullptr ? nullptr : job_.values + at * job_.values_row;
    indices_ = job_.indices == nullptr ? nullptr : job_.indices + at * job_.indices_row;
    if (job_.payload != nullptr) TakePayload(row);
  }

  // The `count` elements that come at place `at` of the sorted row.
  void operator()(Pointer sorted, size_t count, size_t at) const {
    if (job_.nan != nullptr && count != 0) LookForNan(sorted, count);
    Write(sorted, count, at);
  }

 private:
  static constexpr size_t kChunk = kCountedColumns;

  void Write(Pointer sorted, size_t count, size_t at) const {
    if (job_.pairs && sizeof(Key) != 1 && payload_ == nullptr) {
      return codec_.UnpackPairs(sorted, count, x_, static_cast<uint32_t>(offset_), values_ + at * 8);
    }
    if (plain_values_ && plain_indices_) {
      return codec_.Unpack(sorted, count, x_, values_ + at * sizeof(Key), indices_ + at * sizeof(Position));
    }
    Rearrange(sorted, count, at);
  }

  // Keys of NaNs lie at either end, so that a sorted row, cut anywhere, has one first or last of a part.
  void LookForNan(Pointer sorted, size_t count) const {
    const auto is_nan = [this, sorted](size_t i) {
      return KeyMap<Key>::IsNan(job_.order, codec_.BitsOf(sorted + i, x_));
    };
    if (is_nan(0) || is_nan(count - 1)) job_.nan->store(true, std::memory_order_relaxed);
  }

  // Writes outputs that do not lie as the codec gives them.
  HWY_NOINLINE void Rearrange(Pointer sorted, size_t count, size_t at) const {
    Key values[kChunk];
    Position positions[kChunk];
    for (size_t done = 0; done < count; done += kChunk) {
      const size_t now = std::min(kChunk, count - done);
      uint8_t* to_values = reinterpret_cast<uint8_t*>(values);
      uint8_t* to_positions = reinterpret_cast<uint8_t*>(positions);
      if (plain_values_) to_values = values_ + (at + done) * sizeof(Key);
      if (plain_indices_) to_positions = indices_ + (at + done) * sizeof(Position);
      codec_.Unpack(sorted + done, now, x_, to_values, to_positions);
      Spread(values, positions, now, at + done);
    }
  }

  // A payload that counts up is the position and an offset, which takes no lookup.
  void TakePayload(size_t row) {
    payload_ = job_.PayloadOf(row);
    offset_ = 0;
    if (!counts_up_ && !(MayCountUp(job_) && CountsUp(payload_, job_.columns))) return;
    offset_ = LoadBits<uint32_t>(payload_);
    payload_ = nullptr;
  }

  void Spread(const Key* values, const Position* positions, size_t count, size_t at) const {
    if (job_.pairs && sizeof(Key) != 1) return SpreadPairs(values, positions, count, at);
    if (values_ != nullptr && !plain_values_) SpreadValues(values, count, values_ + at * job_.value_stride);
    if (indices_ != nullptr && !plain_indices_) SpreadIndices(positions, count, at);
  }

  void SpreadIndices(const Position* positions, size_t count, size_t at) const {
    uint8_t* to = indices_ + at * job_.index_stride;
    switch (job_.index_bytes) {
      case 2: return WriteIndices<uint16_t>(positions, count, offset_, payload_, job_.index_stride, to);
      case 4: return WriteIndices<uint32_t>(positions, count, offset_, payload_, job_.index_stride, to);
      default: return WriteIndices<uint64_t>(positions, count, offset_, payload_, job_.index_stride, to);
    }
  }

  void SpreadValues(const Key* values, size_t count, uint8_t* to) const {
    for (size_t i = 0; i < count; ++i) StoreBits(values[i], to + i * job_.value_stride);
  }

  // A value, widened by zeros to 32 bits, and its index, as one item of 8 bytes.
  void SpreadPairs(const Key* values, const Position* positions, size_t count, size_t at) const {
    uint32_t indices[kChunk];
    uint8_t* to_indices = reinterpret_cast<uint8_t*>(indices);
    bool written = false;
    if constexpr (kHasLookUp && sizeof(Position) <= sizeof(uint32_t)) {
      written = payload_ != nullptr && job_.columns == kLookUpColumns && count == kLookUpColumns;
      if (written) LookUp(positions, payload_, to_indices);
    }
    if (!written) WriteIndices<uint32_t>(positions, count, offset_, payload_, 4, to_indices);
    uint8_t* to = values_ + at * 8;
    for (size_t i = 0; i < count; ++i) {
      StoreBits(static_cast<uint64_t>(indices[i]) << 32 | static_cast<uint64_t>(values[i]), to + i * 8);
    }
  }

  const SortJob& job_;
  const RowCodec<P>& codec_;
  const bool counts_up_;
  const bool plain_values_;
  const bool plain_indices_;
  const uint8_t* x_ = nullptr;
  uint8_t* values_ = nullptr;
  uint8_t* indices_ = nullptr;
  const uint8_t* payload_ = nullptr;
  uint64_t offset_ = job_.offset;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_ROW_WRITER_H
