// Nonzero: which elements are not zero, as ascending positions and a count.
#pragma once

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
};

size_t CountNonzero(const void* x, size_t n, const NonzeroRule& rule);

// Writes first + i, wrapping, for the elements that count, as far as the capacity goes, and
// nothing else. Returns how many count in all.
size_t CompactNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                           const PositionSink& sink);

}  // namespace lanesort
