// Sorts rows: values with their positions, either alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "native/control.h"
#include "native/order.h"
#include "native/shared_row.h"

namespace lanesort {

// All strides are in bytes; pointers need no alignment.
struct SortJob {
  KeyOrder order;
  size_t rows;
  size_t columns;
  const uint8_t* input;  // items lie one after the other in a row
  ptrdiff_t input_row;
  uint8_t* values;  // null: not wanted
  ptrdiff_t values_row;
  size_t value_stride;
  uint8_t* indices;  // null: not wanted
  ptrdiff_t indices_row;
  size_t index_stride;
  size_t index_bytes;  // 2, 4 or 8
  uint64_t offset;     // added to each position; wraps
  const uint8_t* payload;  // null, or what to write instead of positions; items of index_bytes
  ptrdiff_t payload_row;
  size_t payload_rows;  // row r has payload row r modulo this
  const uint8_t* lengths;  // null, or int64 in [0, columns]: only so many items of a row take part
  ptrdiff_t lengths_step;
  bool pairs;  // values and indices are interleaved: 32-bit value slots, each with its index behind
  std::atomic<bool>* nan;  // null, or becomes true if there is a NaN; then indices are wanted

  const uint8_t* PayloadOf(size_t row) const {
    const bool power_of_two = (payload_rows & (payload_rows - 1)) == 0;  // which takes no division
    const size_t turn = power_of_two ? row & (payload_rows - 1) : row % payload_rows;
    return payload + static_cast<ptrdiff_t>(turn) * payload_row;
  }

  size_t LengthOf(size_t row) const {
    if (lengths == nullptr) return columns;
    int64_t length = 0;
    std::memcpy(&length, lengths + static_cast<ptrdiff_t>(row) * lengths_step, sizeof(length));
    return static_cast<size_t>(length);
  }
};

// Sorts rows [begin, end) of the job.
void SortRows(const SortJob& job, size_t begin, size_t end, const Progress& progress);

// The first row of the job, for several threads; null where the target can't share rows.
std::unique_ptr<SharedRow> MakeSharedRow(const SortJob& job);

}  // namespace lanesort
