// What a C++ programmer writes first: std::stable_sort per block, and a merge that compares heads.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

struct Pair {
  uint32_t value;
  uint32_t index;
};

float AsFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

float AsFloat(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return static_cast<float>(half);
}

template <class Bits>
void SortBlocks(const Bits* in, size_t blocks, Pair* out) {
  struct Keyed {
    float key;
    Pair pair;
  };
  for (size_t b = 0; b < blocks; ++b) {
    Keyed block[32];
    for (uint32_t i = 0; i < 32; ++i) block[i] = {AsFloat(in[32 * b + i]), {in[32 * b + i], i}};
    std::stable_sort(block, block + 32, [](const Keyed& x, const Keyed& y) { return x.key > y.key; });
    for (size_t i = 0; i < 32; ++i) out[32 * b + i] = block[i].pair;
  }
}

void MergeGroup(const Pair* in, size_t ways, size_t length, Pair* out) {
  size_t at[16] = {};
  for (size_t o = 0; o < ways * length; ++o) {
    size_t best = ways;
    for (size_t w = 0; w < ways; ++w) {
      if (at[w] == length) continue;
      if (best == ways ||
          AsFloat(in[w * length + at[w]].value) > AsFloat(in[best * length + at[best]].value))
        best = w;
    }
    out[o] = in[best * length + at[best]++];
  }
}

}  // namespace

extern "C" {

void plain_tsort32_f32(const uint32_t* in, size_t blocks, void* out) {
  SortBlocks(in, blocks, static_cast<Pair*>(out));
}

void plain_tsort32_f16(const uint16_t* in, size_t blocks, void* out) {
  SortBlocks(in, blocks, static_cast<Pair*>(out));
}

void plain_merge(const void* in, size_t groups, size_t ways, size_t length, void* out) {
  const Pair* from = static_cast<const Pair*>(in);
  for (size_t g = 0; g < groups; ++g)
    MergeGroup(from + g * ways * length, ways, length, static_cast<Pair*>(out) + g * ways * length);
}

}  // extern "C"
