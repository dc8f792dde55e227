// For each mask of lanes: where the lanes of a compressed vector come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanesort {

// kLanes lanes, each made of kWords / kLanes words; up to 8 lanes. The lanes of the mask come first,
// zeros behind. With 8 lanes of one word these are the set bits of each byte.
// Own table: Highway 1.0.3's Compress copies its tables to the stack on every call when GCC 12
// compiles it for targets below AVX-512.
template <size_t kLanes, size_t kWords, typename Word = int32_t>
struct CompressTable {
  static constexpr size_t kMasks = kLanes <= 8 ? size_t{1} << kLanes : 1;
  using Order = std::array<Word, kWords>;

  static constexpr auto Make() {
    constexpr size_t kPerLane = kWords / kLanes;
    std::array<Order, kMasks> orders{};
    for (size_t mask = 0; mask < kMasks; ++mask) {
      size_t at = 0;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        for (size_t word = 0; word < kPerLane; ++word) {
          orders[mask][at++] = static_cast<Word>(lane * kPerLane + word);
        }
      }
    }
    return orders;
  }
  alignas(64) static constexpr std::array<Order, kMasks> kOrders = Make();
};

}  // namespace lanesort
