// Highway's vqsort on key and position packed into one integer.
#include <hwy/contrib/sort/vqsort.h>

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void vqsort_pairs(const uint32_t* in, size_t rows, size_t width, uint32_t* values,
                             uint32_t* indices) {
  static const hwy::Sorter sorter;
  std::vector<uint64_t> packed(width);
  for (size_t r = 0; r < rows; ++r, in += width, values += width, indices += width) {
    for (size_t i = 0; i < width; ++i) {
      const uint32_t bits = in[i];
      const uint32_t key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
      packed[i] = static_cast<uint64_t>(key) << 32 | i;
    }
    sorter(packed.data(), width, hwy::SortAscending());
    for (size_t i = 0; i < width; ++i) {
      const uint32_t key = static_cast<uint32_t>(packed[i] >> 32);
      values[i] = key & 0x80000000u ? key ^ 0x80000000u : ~key;
      indices[i] = static_cast<uint32_t>(packed[i]);
    }
  }
}
