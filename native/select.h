// The k best of one piece of a row, as candidates: minima of lane groups in one read, a threshold
// from them, and a second look at only those blocks that hold something at or below it.
#if defined(LANESORT_SELECT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_SELECT_H_
#undef LANESORT_SELECT_H_
#else
#define LANESORT_SELECT_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "native/collector.h"
#include "native/group_minima.h"
#include "native/mask_bits.h"
#include "native/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What a thread keeps from row to row.
struct SelectScratch {
  Scratch keys, minima, coarse;
};

// Up to here the keys of the first read are kept for the second: they stay in the L1 cache.
inline constexpr size_t kKeepKeysBytes = 16 << 10;

// How many candidates too many to accept rather than to go on bisecting.
inline size_t Slack(size_t k) { return k / 8 + 8; }

// Blocks as deep as leaves at least 8 k of them: then most hold none of the k best and are skipped.
inline BlockShape ShapeFor(size_t n, size_t k) {
  BlockShape shape;
  while (shape.chunks < 16 && n / (128 * shape.chunks) >= 8 * k) shape.chunks *= 2;
  shape.blocks = (n + 64 * shape.chunks - 1) / (64 * shape.chunks);
  return shape;
}

template <typename T, class Entries>
class Selection {
 public:
  using Entry = typename Entries::Entry;

  // Elements [begin, end) of the row x.
  Selection(const T* x, size_t begin, size_t end, const RowKeys<T>& map, bool tie_high, SelectScratch& scratch)
      : x_(x), begin_(begin), n_(end - begin), map_(map), tie_high_(tie_high), scratch_(scratch) {}

  // Writes candidates, the k best among them, to entries with room for EntryCapacity(n, k). Returns
  // how many. 0 < k <= n.
  size_t Find(size_t k, Entry* entries) {
    Collector<T, Entries> collector(x_, map_, tie_high_, k, EntryCapacity(n_, k), entries);
    const size_t chunks = (n_ + 63) / 64;
    if (2 * k >= n_) {
      InOrder(chunks, [&](size_t chunk) { return Take(collector, Real(chunk, ~uint64_t{0}), chunk); });
    } else if (3 * k > chunks * kLanes) {
      DirectThreshold(k, chunks, collector);
    } else {
      GroupThreshold(k, collector);
    }
    return collector.Finish();
  }

 private:
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());

  // Calls visit(i) for i < count, in the order in which ties are won, until it returns false.
  template <class Visit>
  HWY_INLINE bool InOrder(size_t count, const Visit& visit) const {
    for (size_t i = 0; i < count; ++i) {
      if (!visit(tie_high_ ? count - 1 - i : i)) return false;
    }
    return true;
  }

  // Bits of a chunk without those of places behind the last element.
  HWY_INLINE uint64_t Real(size_t chunk, uint64_t bits) const {
    const size_t left = n_ - 64 * chunk;
    return left >= 64 ? bits : bits & ((uint64_t{1} << left) - 1);
  }

  // False when no further candidate can matter.
  template <class C>
  HWY_INLINE bool Take(C& collector, uint64_t bits, size_t chunk) const {
    if (bits != 0) collector.Take(bits, begin_ + 64 * chunk);
    return !collector.Done();
  }

  // Bits of 64 keys that do not exceed the bound.
  static HWY_INLINE uint64_t KeptBits(const T* keys, T bound) {
    const hn::ScalableTag<T> d;
    const auto limit = hn::Set(d, bound);
    return ~Bits64(d, keys, [&](hn::Vec<decltype(d)> key) HWY_ATTR { return hn::Lt(limit, key); });
  }

  // The same from the elements of a chunk.
  HWY_INLINE uint64_t MappedBits(size_t chunk, T bound) const {
    const hn::ScalableTag<T> d;
    const T* from = x_ + begin_ + 64 * chunk;
    if (64 * chunk + 64 > n_) {
      HWY_ALIGN T tail[64];
      TailKeys(from, n_ - 64 * chunk, map_, tail);
      return KeptBits(tail, bound);
    }
    const auto limit = hn::Set(d, bound);
    return ~Bits64(d, from, [&](hn::Vec<decltype(d)> bits) HWY_ATTR { return hn::Lt(limit, map_.Key(bits)); });
  }

  // k is too large for groups: the threshold comes from all keys.
  template <class C>
  void DirectThreshold(size_t k, size_t chunks, C& collector) {
    T* keys = scratch_.keys.template Get<T>(64 * chunks);
    StoreKeys(x_ + begin_, n_, map_, keys);
    collector.SetBound(Threshold(keys, n_, k, Slack(k)));
    InOrder(chunks, [&](size_t chunk) HWY_ATTR {
      return Take(collector, Real(chunk, KeptBits(keys + 64 * chunk, collector.Bound())), chunk);
    });
  }

  template <class C>
  void GroupThreshold(size_t k, C& collector) {
    const BlockShape shape = ShapeFor(n_, k);
    T* minima = scratch_.minima.template Get<T>(shape.blocks * kLanes);
    if (n_ * sizeof(T) <= kKeepKeysBytes) {
      T* keys = scratch_.keys.template Get<T>(n_ + 64);
      GroupMinima<true>(x_ + begin_, n_, map_, shape, minima, keys);
      SetGroupBound(k, shape, minima, collector);
      TakeBlocks(shape, minima, collector, [&](size_t chunk, T bound) HWY_ATTR { return KeptBits(keys + 64 * chunk, bound); });
    } else {
      GroupMinima<false>(x_ + begin_, n_, map_, shape, minima, static_cast<T*>(nullptr));
      SetGroupBound(k, shape, minima, collector);
      TakeBlocks(shape, minima, collector, [&](size_t chunk, T bound) HWY_ATTR { return MappedBits(chunk, bound); });
    }
  }

  // k groups hold at least one element each at or below the bound, so k elements do.
  template <class C>
  void SetGroupBound(size_t k, const BlockShape& shape, const T* minima, C& collector) {
    const size_t groups = shape.blocks * kLanes;
    const size_t merged = groups >= 32 * k ? 4 : groups >= 16 * k ? 2 : 1;
    if (merged == 1) {
      collector.SetBound(Threshold(minima, groups, k, Slack(k)));
      return;
    }
    T* coarse = scratch_.coarse.template Get<T>((shape.blocks / merged + 1) * kLanes);
    collector.SetBound(Threshold(coarse, CoarsenMinima(minima, shape.blocks, merged, coarse), k, Slack(k)));
  }

  template <class C, class ChunkBits>
  void TakeBlocks(const BlockShape& shape, const T* minima, C& collector, const ChunkBits& chunk_bits) const {
    const hn::ScalableTag<T> d;
    const size_t chunks = (n_ + 63) / 64;
    InOrder(shape.blocks, [&](size_t block) HWY_ATTR {
      const auto limit = hn::Set(d, collector.Bound());
      if (hn::AllTrue(d, hn::Lt(limit, hn::Load(d, minima + block * kLanes)))) return true;
      const size_t first = block * shape.chunks;
      return InOrder(std::min(shape.chunks, chunks - first), [&](size_t i) HWY_ATTR {
        const size_t chunk = first + i;
        return Take(collector, Real(chunk, chunk_bits(chunk, collector.Bound())), chunk);
      });
    });
  }

  const T* x_;
  size_t begin_;
  size_t n_;
  const RowKeys<T>& map_;
  bool tie_high_;
  SelectScratch& scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
