// The floors: how fast this core reads memory, copies it, and compare-exchanges vectors.
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

namespace hn = hwy::HWY_NAMESPACE;

typedef uint64_t Words __attribute__((vector_size(64)));

extern "C" {

uint64_t floor_read(const uint64_t* data, size_t words) {
  Words sum[4] = {};
  for (size_t i = 0; i + 32 <= words; i += 32)
    for (size_t v = 0; v < 4; ++v) sum[v] ^= *reinterpret_cast<const Words*>(data + i + 8 * v);
  const Words all = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
  return all[0] ^ all[1] ^ all[2] ^ all[3] ^ all[4] ^ all[5] ^ all[6] ^ all[7];
}

size_t floor_lanes() { return HWY_LANES(double); }

// `rounds` rounds of 8 compare-exchanges, four at a time independent, on vectors of packed doubles.
double floor_exchange(size_t rounds) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  V v[8];
  for (size_t i = 0; i < 8; ++i) v[i] = hn::Iota(d, static_cast<double>(i * 37 % 23));
  const auto exchange = [](V& a, V& b) {
    const V low = hn::Min(a, b);
    b = hn::Max(a, b);
    a = low;
  };
  for (size_t r = 0; r < rounds; ++r) {
    exchange(v[0], v[1]), exchange(v[2], v[3]), exchange(v[4], v[5]), exchange(v[6], v[7]);
    exchange(v[1], v[4]), exchange(v[3], v[6]), exchange(v[5], v[0]), exchange(v[7], v[2]);
  }
  V sum = v[0];
  for (size_t i = 1; i < 8; ++i) sum = hn::Add(sum, v[i]);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // extern "C"
