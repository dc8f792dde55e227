// Rows sorted without SIMD, for the baseline of CPUs where Highway has no vectors.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "native/sort.h"

namespace lanesort {

inline void PlainStoreIndex(const SortJob& job, size_t row, size_t at, uint64_t position) {
  uint64_t index = position + job.offset;
  if (job.payload != nullptr) {
    const uint8_t* payload = job.PayloadOf(row);
    std::memcpy(&index, payload + position * job.index_bytes, job.index_bytes);
  }
  // The low bytes: every CPU that this runs on is little-endian.
  std::memcpy(job.indices + static_cast<ptrdiff_t>(row) * job.indices_row + at * job.index_stride, &index,
              job.index_bytes);
}

template <typename T>
void PlainSortRow(const SortJob& job, size_t row) {
  const KeyMap<T> map(job.order);
  const uint8_t* in = job.input + static_cast<ptrdiff_t>(row) * job.input_row;
  const uint64_t toggle = job.order.tie_high ? ~uint64_t{0} : 0;
  std::vector<std::pair<T, uint64_t>> pairs(job.LengthOf(row));
  for (size_t i = 0; i < pairs.size(); ++i) {
    T bits;
    std::memcpy(&bits, in + i * sizeof(T), sizeof(T));
    pairs[i] = {map.Key(bits), i ^ toggle};
    if (job.nan != nullptr && KeyMap<T>::IsNan(job.order, bits)) job.nan->store(true, std::memory_order_relaxed);
  }
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const uint64_t position = pairs[i].second ^ toggle;
    if (job.values != nullptr) {
      uint8_t* out = job.values + static_cast<ptrdiff_t>(row) * job.values_row + i * job.value_stride;
      if (job.pairs) std::memset(out, 0, 4);
      std::memcpy(out, in + position * sizeof(T), sizeof(T));
    }
    if (job.indices != nullptr) PlainStoreIndex(job, row, i, position);
  }
}

inline void PlainSortRange(const SortJob& job, size_t begin, size_t end, const Progress& progress) {
  for (size_t row = begin; row < end && !progress.Stopped(); ++row) {
    switch (job.order.bits) {
      case 8: PlainSortRow<uint8_t>(job, row); break;
      case 16: PlainSortRow<uint16_t>(job, row); break;
      case 32: PlainSortRow<uint32_t>(job, row); break;
      default: PlainSortRow<uint64_t>(job, row); break;
    }
    progress.Advance(job.LengthOf(row));
  }
}

}  // namespace lanesort
