// Top-k: the first k of each row in the order of the keys, without sorting the row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/control.h"
#include "native/order.h"

namespace lanesort {

// Rows by strides in bytes, elements of a row side by side, any alignment. Either output may be
// absent (null).
struct TopKJob {
  KeyOrder order;
  const unsigned char* x = nullptr;
  ptrdiff_t x_stride = 0;
  size_t rows = 0;
  size_t length = 0;                 // elements of a row
  size_t k = 0;                      // at most length
  unsigned char* values = nullptr;        // width of the elements
  ptrdiff_t values_stride = 0;
  unsigned char* indices = nullptr;
  ptrdiff_t indices_stride = 0;
  unsigned index_bits = 32;               // 16, 32, 64
  uint64_t offset = 0;               // added to each position, wrapping
  const int64_t* lengths = nullptr;  // per row, 0 … length; null: all `length`
  bool by_index = false;                  // the chosen ones in ascending position, not by value

  size_t RowLength(size_t row) const {
    return lengths == nullptr ? length : static_cast<size_t>(lengths[row]);
  }
};

// Rows first … last - 1. Of a row shorter than k only as many outputs are written.
void TopKRows(const TopKJob& job, size_t first, size_t last, const Progress& progress);

// One long row in pieces, whose candidates may be found by different threads.
size_t CandidateBytes(const TopKJob& job);
// Most candidates that FindCandidates leaves for a piece of `elements`.
size_t CandidateCapacity(const TopKJob& job, size_t elements);
// Candidates among elements [begin, end) of a row; returns their number. `candidates` is aligned to
// 64 bytes and has room for CandidateCapacity(job, end - begin).
size_t FindCandidates(const TopKJob& job, size_t row, size_t begin, size_t end, void* candidates);
// The outputs of the row from all its candidates, side by side and with 64 bytes of room behind.
void WriteTopK(const TopKJob& job, size_t row, void* candidates, size_t count);

}  // namespace lanesort
