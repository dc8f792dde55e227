// Moves items to where a sort put them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/control.h"

namespace lanesort {

// Steps are in bytes; pointers need no alignment.
struct GatherJob {
  size_t rows, columns;
  size_t item_bytes;
  const uint8_t* source;
  ptrdiff_t source_row, source_step;
  const uint8_t* positions;  // items of position_bytes, all below the columns of source
  ptrdiff_t positions_row;
  size_t position_bytes;  // 2, 4 or 8
  uint8_t* out;           // items lie one after the other in a row
  ptrdiff_t out_row;
};

// out[row, i] = source[row, positions[row, i]] for rows [begin, end).
void GatherRows(const GatherJob& job, size_t begin, size_t end, const Progress& progress);

}  // namespace lanesort
