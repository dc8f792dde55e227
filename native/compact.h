// Nonzero: which elements are not zero, as ascending positions and a count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "native/order.h"

namespace lanesort {

// An element with bits b counts when ((b & mask) - 1) < limit, unsigned in the element's width:
// every rule that is offered comes down to a mask and a limit, and no float compare is involved
// (under flush-to-zero one would take denormals for zero).
struct NonzeroRule {
  uint32_t bits = 32;          // element width: 8, 16, 32, 64
  uint64_t mask = 0;           // all ones: any bit counts; without the sign bit: -0.0 does not
  uint64_t limit = 0;          // all ones: no upper limit; infinity: NaN does not count
  bool limited = false;        // whether `limit` can fail at all
};

enum class Nonzero : uint8_t {
  kValue,    // as NumPy has it: NaN and NaT count, -0.0 does not
  kOrdered,  // an ordered compare with zero: NaN and NaT do not count either
  kBits,     // any bit
};
NonzeroRule MakeNonzeroRule(const KeyOrder& order, Nonzero meaning);

// Where positions go: `capacity` entries of `bits` (32 or 64) at `data`, any alignment.
struct PositionSink {
  void* data = nullptr;
  uint32_t bits = 32;
  size_t capacity = 0;

  // `count` entries from entry `begin` on, as far as there are so many.
  PositionSink Part(size_t begin, size_t count) const {
    begin = std::min(begin, capacity);
    return {static_cast<unsigned char*>(data) + begin * (bits / 8), bits, std::min(count, capacity - begin)};
  }
};

// Sets bit i % 64 of marks[i / 64] for each element i that counts, and clears the others of
// ceil(n / 64) words. Returns how many count.
size_t MarkNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t* marks);

// Fills the sink with first + i, wrapping, for the first marks i; there are at least so many.
// Nothing else is written.
void WritePositions(const uint64_t* marks, uint64_t first, const PositionSink& sink);

// Both in one, for as many positions as the sink takes. Returns how many elements count in all.
size_t CompactNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t first, const PositionSink& sink);

}  // namespace lanesort
