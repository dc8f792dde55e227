// Gathers the candidates of one piece of a row, in scanning order, in bounded space.
#if defined(LANESORT_COLLECTOR_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_COLLECTOR_H_
#undef LANESORT_COLLECTOR_H_
#else
#define LANESORT_COLLECTOR_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "native/candidates.h"
#include "native/group_minima.h"
#include "native/positions.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Entries that a collector needs room for, to find the k best among n.
inline size_t EntryCapacity(size_t n, size_t k) {
  return std::min(n, 2 * std::min(n, k) + 1024) + 64;
}

// The scan must run so that, of equal keys, the one that wins the tie comes first. Then a key equal
// to the bound is worthless once k candidates are there, whatever their keys: the bound moves below
// it. This is what keeps rows of few distinct values cheap.
template <typename T, class Entries>
class Collector {
 public:
  using Entry = typename Entries::Entry;
  using Position = typename Entries::Position;

  Collector(const T* x, const RowKeys<T>& map, bool tie_high, size_t k, size_t capacity, Entry* entries)
      : x_(x), map_(map), tie_high_(tie_high), k_(k), limit_(capacity - 64), entries_(entries) {}

  // Candidates have keys up to this; none are left when Done.
  T Bound() const { return bound_; }
  bool Done() const { return done_; }
  void SetBound(T bound) { bound_ = bound; }

  // Takes the elements base + i for the set bits i.
  HWY_INLINE void Take(uint64_t bits, size_t base) {
    found_ += AppendPositions(bits, static_cast<Position>(base), reinterpret_cast<uint8_t*>(positions_ + found_));
    if (HWY_UNLIKELY(!enough_ && count_ + found_ >= k_)) {
      enough_ = true;
      MoveBoundBelow(bound_);
    }
    if (HWY_UNLIKELY(found_ > kFound)) Absorb();
  }

  // Returns the number of entries; the k best are among them.
  size_t Finish() {
    Absorb();
    return count_;
  }

 private:
  static constexpr size_t kFound = 256;

  void MoveBoundBelow(T key) {
    done_ = key == 0;
    bound_ = static_cast<T>(key - (done_ ? 0 : 1));
  }

  void Absorb() {
    const hn::ScalableTag<T> d;
    size_t taken = 0;
    while (taken < found_) {
      if (count_ == limit_) Shrink();
      const size_t batch = std::min(found_ - taken, limit_ - count_);
      for (size_t i = 0; i < batch; ++i) {
        std::memcpy(keys_ + i, x_ + positions_[taken + i], sizeof(T));
      }
      std::fill(keys_ + batch, keys_ + PaddedCount<T>(batch), T{0});
      for (size_t i = 0; i < batch; i += hn::Lanes(d)) hn::Store(map_.Key(hn::Load(d, keys_ + i)), d, keys_ + i);
      for (size_t i = 0; i < batch; ++i) {
        entries_[count_ + i] = Entries::Make(keys_[i], positions_[taken + i], tie_high_);
      }
      count_ += batch;
      taken += batch;
    }
    found_ = 0;
  }

  void Shrink() {
    count_ = Entries::Keep(entries_, count_, k_, k_ / 8 + 16);
    T worst = 0;
    for (size_t i = 0; i < count_; ++i) worst = std::max(worst, Entries::Key(entries_[i]));
    if (worst <= bound_) MoveBoundBelow(worst);
  }

  const T* x_;
  const RowKeys<T>& map_;
  bool tie_high_;
  bool enough_ = false;
  bool done_ = false;
  T bound_ = std::numeric_limits<T>::max();
  size_t k_;
  size_t limit_;
  size_t count_ = 0;
  size_t found_ = 0;
  Entry* entries_;
  Position positions_[kFound + 64 + kPositionSlack];
  HWY_ALIGN T keys_[kFound + 64 + 64];
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
