// The floors: how fast this core reads memory, copies it, and compare-exchanges vectors.
#include <algorithm>
#include <cstddef>
#include <cstdint>

typedef double Vector __attribute__((vector_size(64)));
typedef uint64_t Words __attribute__((vector_size(64)));

extern "C" {

uint64_t floor_read(const uint64_t* data, size_t words) {
  Words sum[4] = {};
  for (size_t i = 0; i + 32 <= words; i += 32)
    for (size_t v = 0; v < 4; ++v) sum[v] ^= *reinterpret_cast<const Words*>(data + i + 8 * v);
  const Words all = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
  return all[0] ^ all[1] ^ all[2] ^ all[3] ^ all[4] ^ all[5] ^ all[6] ^ all[7];
}

// `rounds` rounds of 8 independent compare-exchanges on vectors of 8 packed doubles.
double floor_exchange(size_t rounds) {
  Vector v[16];
  for (size_t i = 0; i < 16; ++i)
    for (size_t lane = 0; lane < 8; ++lane) v[i][lane] = static_cast<double>((i * 37 + lane * 11) % 97);
  for (size_t r = 0; r < rounds; ++r) {
    const size_t step = (r & 1) ? 8 : 1;
    for (size_t i = 0; i < 8; ++i) {
      Vector& a = v[step == 8 ? i : 2 * i];
      Vector& b = v[step == 8 ? i + 8 : 2 * i + 1];
      const Vector low = a < b ? a : b;
      b = a < b ? b : a;
      a = low;
    }
  }
  double sum = 0;
  for (const Vector& x : v) sum += x[0];
  return sum;
}

}  // extern "C"
