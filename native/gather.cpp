#include "native/gather.h"

#include <algorithm>
#include <cstring>

namespace lanesort {
namespace {

constexpr size_t kStretch = size_t{1} << 16;  // items between two looks at the progress

template <typename P>
P LoadPosition(const uint8_t* from, size_t i) {
  P position;
  std::memcpy(&position, from + i * sizeof(P), sizeof(P));
  return position;
}

// With kBytes known the compiler makes one load and one store of each copy.
template <size_t kBytes, typename P>
void GatherStretch(const uint8_t* source, ptrdiff_t step, const uint8_t* positions, size_t n, size_t bytes,
                   uint8_t* out) {
  const size_t size = kBytes == 0 ? bytes : kBytes;
  for (size_t i = 0; i < n; ++i) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(LoadPosition<P>(positions, i)) * step;
    std::memcpy(out + i * size, source + at, size);
  }
}

template <typename P>
auto StretchOf(size_t item_bytes) {
  switch (item_bytes) {
    case 1: return &GatherStretch<1, P>;
    case 2: return &GatherStretch<2, P>;
    case 4: return &GatherStretch<4, P>;
    case 8: return &GatherStretch<8, P>;
    case 16: return &GatherStretch<16, P>;
    default: return &GatherStretch<0, P>;
  }
}

template <typename P>
void GatherWith(const GatherJob& job, size_t begin, size_t end, const Progress& progress) {
  const auto gather = StretchOf<P>(job.item_bytes);
  for (size_t row = begin; row < end; ++row) {
    const ptrdiff_t r = static_cast<ptrdiff_t>(row);
    const uint8_t* const positions = job.positions + r * job.positions_row;
    uint8_t* const out = job.out + r * job.out_row;
    for (size_t i = 0; i < job.columns; i += kStretch) {
      if (progress.Stopped()) return;
      const size_t n = std::min(kStretch, job.columns - i);
      gather(job.source + r * job.source_row, job.source_step, positions + i * sizeof(P), n, job.item_bytes,
             out + i * job.item_bytes);
      progress.Advance(n);
    }
  }
}

}  // namespace

void GatherRows(const GatherJob& job, size_t begin, size_t end, const Progress& progress) {
  switch (job.position_bytes) {
    case 2: return GatherWith<uint16_t>(job, begin, end, progress);
    case 4: return GatherWith<uint32_t>(job, begin, end, progress);
    default: return GatherWith<uint64_t>(job, begin, end, progress);
  }
}

}  // namespace lanesort
