// For each mask of lanes: where the lanes of a compressed vector come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanesort {

// kLanes lanes, each made of kWords / kLanes words of 32 bits. Vectors of up to 8 lanes.
template <size_t kLanes, size_t kWords>
struct CompressTable {
  static constexpr size_t kMasks = kLanes <= 8 ? size_t{1} << kLanes : 1;
  using Order = std::array<int32_t, kWords>;

  static constexpr auto Make() {
    constexpr size_t kPerLane = kWords / kLanes;
    std::array<Order, kMasks> orders{};
    for (size_t mask = 0; mask < kMasks; ++mask) {
      size_t at = 0;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        for (size_t word = 0; word < kPerLane; ++word) {
          orders[mask][at++] = static_cast<int32_t>(lane * kPerLane + word);
        }
      }
    }
    return orders;
  }
  static constexpr std::array<Order, kMasks> kOrders = Make();
};

}  // namespace lanesort
