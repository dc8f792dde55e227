#include "native/sort.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace lanesort {
namespace {

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void StoreIndex(const SortJob& job, size_t row, size_t at, uint64_t position) {
  uint64_t index = position + job.offset;
  if (job.payload != nullptr) {
    const uint8_t* payload = job.payload + static_cast<ptrdiff_t>(row) * job.payload_row;
    std::memcpy(&index, payload + position * job.index_bytes, job.index_bytes);
  }
  uint8_t* out = job.indices + static_cast<ptrdiff_t>(row) * job.indices_row + at * job.index_stride;
  std::memcpy(out, &index, job.index_bytes);
}

template <typename T>
void SortRow(const SortJob& job, size_t row) {
  const KeyMap<T> map(job.order);
  const uint8_t* in = job.input + static_cast<ptrdiff_t>(row) * job.input_row;
  size_t n = job.columns;
  if (job.lengths != nullptr) {
    n = static_cast<size_t>(Load<int64_t>(job.lengths + static_cast<ptrdiff_t>(row) * job.lengths_step));
  }
  std::vector<std::pair<T, uint64_t>> pairs(n);
  const uint64_t high = job.order.tie_high ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < n; ++i) pairs[i] = {map.Key(Load<T>(in + i * sizeof(T))), i ^ high};
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < n; ++i) {
    const uint64_t position = pairs[i].second ^ high;
    if (job.values != nullptr) {
      uint8_t* out = job.values + static_cast<ptrdiff_t>(row) * job.values_row + i * job.value_stride;
      if (job.pairs && sizeof(T) == 2) std::memset(out + 2, 0, 2);
      std::memcpy(out, in + position * sizeof(T), sizeof(T));
    }
    if (job.indices != nullptr) StoreIndex(job, row, i, position);
  }
}

}  // namespace

void SortRows(const SortJob& job, size_t begin, size_t end, const Progress& progress) {
  for (size_t row = begin; row < end && !progress.Stopped(); ++row) {
    switch (job.order.bits) {
      case 8: SortRow<uint8_t>(job, row); break;
      case 16: SortRow<uint16_t>(job, row); break;
      case 32: SortRow<uint32_t>(job, row); break;
      default: SortRow<uint64_t>(job, row); break;
    }
    progress.Advance(job.columns);
  }
}

}  // namespace lanesort
