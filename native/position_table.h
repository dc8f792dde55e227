// For each byte the positions of its set bits, ascending, then zeros.
#pragma once

#include <cstdint>

namespace lanesort {

struct PositionTable {
  uint8_t rows[256][8] = {};

  constexpr PositionTable() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      unsigned filled = 0;
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1U) != 0) rows[byte][filled++] = static_cast<uint8_t>(bit);
      }
    }
  }
};

// Own table: Highway 1.0.3's Compress copies its tables to the stack on every call when GCC 12
// compiles it for targets below AVX-512.
alignas(64) inline constexpr PositionTable kPositionTable;

}  // namespace lanesort
