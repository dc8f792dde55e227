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
      for (; i + P::kBlock <= count; i += P::kBlock) {
        packing_.PackBlock(i, lanes_.Key(LoadLanes(D(), x + i * sizeof(Key))), to + i);
      }
    }
    for (; i < count; ++i) {
      Element::Put(packing_.Pack(map_.Key(LoadBits<Key>(x + i * sizeof(Key))), i), to + i);
    }
  }

  // Bits and positions of elements; x is the row, for values that their keys do not tell.
  void Unpack(Pointer from, size_t count, const uint8_t* x, uint8_t* values, uint8_t* positions) const {
    size_t i = 0;
    if constexpr (P::kVectors) {
      for (; i + P::kBlock <= count; i += P::kBlock) {
        const auto key = packing_.UnpackBlock(from + i, positions + i * sizeof(Position));
        StoreLanes(D(), lanes_.Bits(key), values + i * sizeof(Key));
        if (HWY_UNLIKELY(lanes_.AnyFetched(key))) Fetch(from + i, P::kBlock, x, values + i * sizeof(Key));
      }
    }
    for (; i < count; ++i) {
      const Position position = packing_.PositionOf(Element::Get(from + i));
      StoreBits(position, positions + i * sizeof(Position));
      StoreBits(LoadBits<Key>(x + position * sizeof(Key)), values + i * sizeof(Key));
    }
  }

 private:
  using D = hn::ScalableTag<Key>;

  HWY_NOINLINE void Fetch(Pointer from, size_t count, const uint8_t* x, uint8_t* values) const {
    for (size_t i = 0; i < count; ++i) {
      const Position position = packing_.PositionOf(Element::Get(from + i));
      StoreBits(LoadBits<Key>(x + position * sizeof(Key)), values + i * sizeof(Key));
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

  RowWriter(const SortJob& job, const RowCodec<P>& codec, size_t row)
      : job_(job),
        codec_(codec),
        x_(job.input + static_cast<ptrdiff_t>(row) * job.input_row),
        values_(job.values == nullptr ? nullptr : job.values + static_cast<ptrdiff_t>(row) * job.values_row),
        indices_(job.indices == nullptr ? nullptr : job.indices + static_cast<ptrdiff_t>(row) * job.indices_row),
        payload_(job.payload == nullptr ? nullptr : job.payload + static_cast<ptrdiff_t>(row) * job.payload_row),
        plain_values_(values_ != nullptr && job.value_stride == sizeof(Key)),
        plain_indices_(indices_ != nullptr && job.index_stride == sizeof(Position) &&
                       job.index_bytes == sizeof(Position) && payload_ == nullptr && job.offset == 0) {}

  const uint8_t* x() const { return x_; }

  // The `count` elements that come at place `at` of the sorted row.
  void operator()(Pointer sorted, size_t count, size_t at) const {
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

 private:
  static constexpr size_t kChunk = 512;

  void Spread(const Key* values, const Position* positions, size_t count, size_t at) const {
    if (job_.pairs && sizeof(Key) != 1) return SpreadPairs(values, positions, count, at);
    if (values_ != nullptr && !plain_values_) SpreadValues(values, count, values_ + at * job_.value_stride);
    if (indices_ != nullptr && !plain_indices_) SpreadIndices(positions, count, at);
  }

  void SpreadIndices(const Position* positions, size_t count, size_t at) const {
    uint8_t* to = indices_ + at * job_.index_stride;
    switch (job_.index_bytes) {
      case 2: return WriteIndices<uint16_t>(positions, count, job_.offset, payload_, job_.index_stride, to);
      case 4: return WriteIndices<uint32_t>(positions, count, job_.offset, payload_, job_.index_stride, to);
      default: return WriteIndices<uint64_t>(positions, count, job_.offset, payload_, job_.index_stride, to);
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
    if (!written) WriteIndices<uint32_t>(positions, count, job_.offset, payload_, 4, to_indices);
    uint8_t* to = values_ + at * 8;
    for (size_t i = 0; i < count; ++i) {
      StoreBits(static_cast<uint64_t>(indices[i]) << 32 | static_cast<uint64_t>(values[i]), to + i * 8);
    }
  }

  const SortJob& job_;
  const RowCodec<P>& codec_;
  const uint8_t* x_;
  uint8_t* values_;
  uint8_t* indices_;
  const uint8_t* payload_;
  bool plain_values_;
  bool plain_indices_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_ROW_WRITER_H
