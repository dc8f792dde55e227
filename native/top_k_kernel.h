// Top-k for one width and kind of key: candidates, their sort, and the outputs of a row.
#if defined(LANESORT_TOP_K_KERNEL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_TOP_K_KERNEL_H_
#undef LANESORT_TOP_K_KERNEL_H_
#else
#define LANESORT_TOP_K_KERNEL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/select.h"
#include "native/top_k.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template <typename T, class Entries>
class RowTopK {
 public:
  using Entry = typename Entries::Entry;

  explicit RowTopK(const TopKJob& job) : job_(job), map_(KeyMap<T>(job.order)) {}

  void Rows(size_t first, size_t last, const Progress& progress) {
    Scratch entries;
    SelectScratch scratch;
    for (size_t row = first; row < last && !progress.Stopped(); ++row) {
      const size_t n = job_.RowLength(row);
      const size_t k = std::min(n, job_.k);
      if (k != 0) {
        Entry* found = entries.Get<Entry>(EntryCapacity(n, k));
        Write(row, found, Select(row, 0, n, scratch, found));
      }
      progress.Advance(n);
    }
  }

  size_t Find(size_t row, size_t begin, size_t end, void* candidates) {
    SelectScratch scratch;
    return Select(row, begin, end, scratch, static_cast<Entry*>(candidates));
  }

  // Sorts the candidates in place and writes the best of them.
  void Write(size_t row, Entry* entries, size_t count) {
    const size_t k = std::min(job_.RowLength(row), job_.k);
    count = Entries::Keep(entries, count, k, job_.by_index ? 0 : k / 4 + 16);
    if (job_.by_index) {
      Entries::SortByPosition(entries, count, job_.order.tie_high, room_);
    } else {
      Entries::Sort(entries, count, room_);
    }
    const auto at = static_cast<ptrdiff_t>(row);
    if (job_.values != nullptr) WriteValues(Row(row), entries, k, job_.values + at * job_.values_stride);
    unsigned char* indices = job_.indices + at * job_.indices_stride;
    if (job_.indices == nullptr) return;
    switch (job_.index_bits) {
      case 16: return WriteIndices<uint16_t>(entries, k, indices);
      case 32: return WriteIndices<uint32_t>(entries, k, indices);
      default: return WriteIndices<uint64_t>(entries, k, indices);
    }
  }

 private:
  const T* Row(size_t row) const {
    return reinterpret_cast<const T*>(job_.x + static_cast<ptrdiff_t>(row) * job_.x_stride);
  }

  size_t Select(size_t row, size_t begin, size_t end, SelectScratch& scratch, Entry* found) {
    Selection<T, Entries> selection(Row(row), begin, end, map_, job_.order.tie_high, scratch);
    return selection.Find(std::min(end - begin, job_.k), found);
  }

  // A value is fetched from the input, which keeps its bits whatever its key has lost.
  void WriteValues(const T* x, const Entry* entries, size_t k, unsigned char* out) const {
    for (size_t i = 0; i < k; ++i) {
      std::memcpy(out + i * sizeof(T), x + Entries::PositionOf(entries[i], job_.order.tie_high), sizeof(T));
    }
  }

  template <typename I>
  void WriteIndices(const Entry* entries, size_t k, unsigned char* out) const {
    for (size_t i = 0; i < k; ++i) {
      const auto index = static_cast<I>(Entries::PositionOf(entries[i], job_.order.tie_high) + job_.offset);
      std::memcpy(out + i * sizeof(I), &index, sizeof(I));
    }
  }

  const TopKJob& job_;
  RowKeys<T> map_;
  Scratch room_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
