// Sorts one row: values with positions, or values alone.
// Included once per SIMD target.
#if defined(LANESORT_ROW_SORT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_ROW_SORT_H
#undef LANESORT_ROW_SORT_H
#else
#define LANESORT_ROW_SORT_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "native/flat_sort.h"
#include "native/packing.h"
#include "native/row_writer.h"
#include "native/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

// Rows whose values go out with positions.
template <class P>
class PairRows {
 public:
  using E = typename P::Element;
  explicit PairRows(const SortJob& job) : job_(job), codec_(job.order), counts_up_(PayloadCountsUp(job)) {}

  void Sort(size_t row, size_t count, Workspace& space, const Progress& progress) const {
    const RowWriter<P> writer(job_, codec_, counts_up_, row);
    const Bench<E> bench = TakeBench<E>(space);
    if (count <= kNetworkCount<E>) {
      codec_.Pack(Input(row), count, bench.matrix);
      SortNetwork<E>(bench.matrix, count, bench.sorted);
      writer(bench.sorted, count, 0);
      return progress.Advance(count);
    }
    SortPart<E>(Begin(row, count, space), bench, progress, writer);
  }

  // Sorts rows begin, begin + 1 … as one batch; `columns` is their greatest length.
  void SortBatch(size_t begin, size_t rows, size_t columns, Workspace& space) const {
    const Bench<E> bench = TakeBench<E>(space);
    const size_t pitch = BatchPitch<E>(columns);
    RowWriter<P> writer(job_, codec_, counts_up_);
    for (size_t i = 0; i < rows; ++i) {
      const size_t count = job_.LengthOf(begin + i);
      codec_.Pack(Input(begin + i), count, bench.sorted + i * pitch);
      for (size_t j = count; j < pitch; ++j) E::Put(E::kPad, bench.sorted + (i * pitch + j));
    }
    HWY_NAMESPACE::SortBatch<E>(bench.sorted, pitch, columns, bench.matrix);
    for (size_t i = 0; i < rows; ++i) {
      writer.MoveTo(begin + i);
      writer(bench.sorted + i * pitch, job_.LengthOf(begin + i), 0);
    }
  }

  // The steps of Sort one by one, for several threads that share a row.
  Part<E> Begin(size_t row, size_t count, Workspace& space) const {
    const auto data = E::Take(space.data, space.data_positions, count);
    const auto spare = E::Take(space.spare, space.spare_positions, count);
    codec_.Pack(Input(row), count, data);
    return WholePart<E>(data, spare, count);
  }
  void Finish(size_t row, size_t, const Part<E>& part, const Bench<E>& bench) const {
    SortLeaf<E>(part, bench, RowWriter<P>(job_, codec_, counts_up_, row));
  }
  void End(size_t, size_t) const {}

 private:
  const uint8_t* Input(size_t row) const { return job_.input + static_cast<ptrdiff_t>(row) * job_.input_row; }

  const SortJob& job_;
  const RowCodec<P> codec_;
  const bool counts_up_;
};

// Rows of values alone.
template <class A>
class ValueRows {
 public:
  using E = typename A::Element;
  using Key = typename A::Key;
  explicit ValueRows(const SortJob& job) : job_(job), map_(job.order), lanes_(map_) {}

  void Sort(size_t row, size_t count, Workspace& space, const Progress& progress) const {
    const Bench<E> bench = TakeBench<E>(space);
    if (count <= kNetworkCount<E>) {
      Pack(Input(row), count, bench.matrix);
      SortNetwork<E>(bench.matrix, count, bench.sorted);
      Unpack(bench.sorted, count, Output(row));
      progress.Advance(count);
    } else {
      uint8_t* out = Output(row);
      SortPart<E>(Begin(row, count, space), bench, progress,
                  [this, out](typename E::Pointer sorted, size_t some, size_t at) HWY_ATTR {
                    Unpack(sorted, some, out + at * sizeof(Key));
                  });
    }
    End(row, count);
  }

  void SortBatch(size_t begin, size_t rows, size_t columns, Workspace& space) const {
    const Bench<E> bench = TakeBench<E>(space);
    const size_t pitch = BatchPitch<E>(columns);
    for (size_t i = 0; i < rows; ++i) {
      const size_t count = job_.LengthOf(begin + i);
      Pack(Input(begin + i), count, bench.sorted + i * pitch);
      for (size_t j = count; j < pitch; ++j) E::Put(E::kPad, bench.sorted + (i * pitch + j));
    }
    HWY_NAMESPACE::SortBatch<E>(bench.sorted, pitch, columns, bench.matrix);
    for (size_t i = 0; i < rows; ++i) {
      Unpack(bench.sorted + i * pitch, job_.LengthOf(begin + i), Output(begin + i));
      End(begin + i, job_.LengthOf(begin + i));
    }
  }

  Part<E> Begin(size_t row, size_t count, Workspace& space) const {
    const auto data = E::Take(space.data, space.data_positions, count);
    const auto spare = E::Take(space.spare, space.spare_positions, count);
    Pack(Input(row), count, data);
    return WholePart<E>(data, spare, count);
  }
  void Finish(size_t row, size_t, const Part<E>& part, const Bench<E>& bench) const {
    uint8_t* out = Output(row);
    SortLeaf<E>(part, bench, [this, out](typename E::Pointer sorted, size_t some, size_t at) HWY_ATTR {
      Unpack(sorted, some, out + at * sizeof(Key));
    });
  }

  // Keys that stand for several values gave some value of theirs. Where there are any, the values
  // are written anew in the order of the input, which is what stable means.
  void End(size_t row, size_t count) const {
    if (!map_.fetch) return;
    const uint8_t* x = Input(row);
    uint8_t* out = Output(row);
    const SharedKeys shared = {map_.zero_key, map_.nan_key, static_cast<Key>(map_.nan_key ^ map_.by_sign)};
    // Of a long row three searches tell sooner than the whole input whether there are any.
    if (count > kNetworkCount<E> && !HasAny(out, count, shared)) return;
    std::array<size_t, 3> next{};
    bool found = false;
    for (size_t i = 0; i < count; i += A::kBlock) {
      // Backwards when the higher position comes first.
      const size_t block = job_.order.tie_high ? (count - 1) / A::kBlock * A::kBlock - i : i;
      const size_t width = block + A::kBlock <= count ? A::kBlock : count - block;
      if (width == A::kBlock && !lanes_.AnyFetched(lanes_.Key(LoadLanes(D(), x + block * sizeof(Key))))) continue;
      if (!found) {
        for (size_t k = 0; k < 3; ++k) next[k] = LowerBound(out, count, shared[k]);
        found = true;
      }
      Refill(x, block, width, out, shared, next);
    }
  }

 private:
  using D = hn::ScalableTag<Key>;
  using SharedKeys = std::array<Key, 3>;

  const uint8_t* Input(size_t row) const { return job_.input + static_cast<ptrdiff_t>(row) * job_.input_row; }
  uint8_t* Output(size_t row) const { return job_.values + static_cast<ptrdiff_t>(row) * job_.values_row; }

  void Pack(const uint8_t* x, size_t count, typename E::Pointer to) const {
    size_t i = 0;
    const D d;
    const hn::ScalableTag<typename E::Lane> lane;
    for (; i + A::kBlock <= count; i += A::kBlock) {
      const auto key = lanes_.Key(LoadLanes(d, x + i * sizeof(Key)));
      hn::StoreU(hn::BitCast(lane, A::PackLanes(key)), lane, to + i);
    }
    for (; i < count; ++i) to[i] = A::Pack(map_.Key(LoadBits<Key>(x + i * sizeof(Key))));
  }

  void Unpack(typename E::Pointer sorted, size_t count, uint8_t* out) const {
    size_t i = 0;
    const D d;
    const hn::ScalableTag<typename E::Lane> lane;
    for (; i + A::kBlock <= count; i += A::kBlock) {
      const auto key = A::PackLanes(hn::BitCast(d, hn::LoadU(lane, sorted + i)));  // its own inverse
      StoreLanes(d, lanes_.Bits(key), out + i * sizeof(Key));
    }
    for (; i < count; ++i) StoreBits(map_.Bits(A::KeyOf(sorted[i])), out + i * sizeof(Key));
  }

  // The first place of the sorted values whose key is not below `key`.
  size_t LowerBound(const uint8_t* out, size_t count, Key key) const {
    size_t first = 0;
    while (count > 0) {
      const size_t half = count / 2;
      if (map_.Key(LoadBits<Key>(out + (first + half) * sizeof(Key))) < key) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return first;
  }

  bool HasAny(const uint8_t* out, size_t count, const SharedKeys& shared) const {
    return std::any_of(shared.begin(), shared.end(), [&](Key key) {
      const size_t first = LowerBound(out, count, key);
      return first < count && map_.Key(LoadBits<Key>(out + first * sizeof(Key))) == key;
    });
  }

  HWY_NOINLINE void Refill(const uint8_t* x, size_t block, size_t width, uint8_t* out, const SharedKeys& shared,
                           std::array<size_t, 3>& next) const {
    for (size_t i = 0; i < width; ++i) {
      const size_t at = job_.order.tie_high ? block + width - 1 - i : block + i;
      const Key bits = LoadBits<Key>(x + at * sizeof(Key));
      const Key key = map_.Key(bits);
      for (size_t k = 0; k < 3; ++k) {
        if (key != shared[k]) continue;
        StoreBits(bits, out + next[k]++ * sizeof(Key));
        break;
      }
    }
  }

  const SortJob& job_;
  const KeyMap<Key> map_;
  const KeyLanes<D> lanes_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // LANESORT_ROW_SORT_H
