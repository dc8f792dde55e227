// Sorting networks as lists of compare-exchanges, made by the compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanesort {

struct Comparator {
  uint8_t low, high;  // rows; the smaller element goes to the first
};

// Batcher's merge exchange (Knuth, TAOCP 5.2.2, algorithm M): any number of rows. Calls
// add(low, high) for each step in order.
template <class Add>
constexpr void MergeExchange(size_t first, size_t rows, Add& add) {
  if (rows < 2) return;
  size_t top = 1;
  while (2 * top < rows) top *= 2;
  for (size_t p = top; p > 0; p /= 2) {
    size_t q = top;
    size_t r = 0;
    for (size_t d = p;;) {
      for (size_t i = 0; i + d < rows; ++i) {
        if ((i & p) == r) add(first + i, first + i + d);
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
}

// Sorts a bitonic sequence: halves while the length is even, then sorts what is left in full.
template <class Add>
constexpr void SortBitonic(size_t rows, Add& add) {
  size_t length = rows;
  for (; length % 2 == 0 && length > 0; length /= 2) {
    for (size_t block = 0; block < rows; block += length) {
      for (size_t i = 0; i < length / 2; ++i) add(block + i, block + i + length / 2);
    }
  }
  for (size_t block = 0; length > 1 && block < rows; block += length) MergeExchange(block, length, add);
}

struct CountSteps {
  size_t count = 0;
  constexpr void operator()(size_t, size_t) { ++count; }
};

template <size_t kCount>
struct RecordSteps {
  std::array<Comparator, kCount> steps{};
  size_t count = 0;
  constexpr void operator()(size_t low, size_t high) {
    steps[count++] = {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
  }
};

template <size_t kRows>
struct SortingNetwork {
  static constexpr size_t Count() {
    CountSteps steps;
    MergeExchange(0, kRows, steps);
    return steps.count;
  }
  static constexpr auto Steps() {
    RecordSteps<Count()> steps;
    MergeExchange(0, kRows, steps);
    return steps.steps;
  }
  static constexpr auto kSteps = Steps();
};

template <size_t kRows>
struct BitonicNetwork {
  static constexpr size_t Count() {
    CountSteps steps;
    SortBitonic(kRows, steps);
    return steps.count;
  }
  static constexpr auto Steps() {
    RecordSteps<Count()> steps;
    SortBitonic(kRows, steps);
    return steps.steps;
  }
  static constexpr auto kSteps = Steps();
};

// A matrix has base << stages rows.
struct MatrixShape {
  size_t base;
  size_t stages;
};

// The smallest supported matrix of at least `rows` rows: at most a quarter is padding, and
// none at all up to 8 rows.
constexpr MatrixShape ShapeOf(size_t rows) {
  if (rows <= 8) return {rows < 1 ? 1 : rows, 0};
  MatrixShape shape{10, 0};
  while ((size_t{16} << shape.stages) < rows) ++shape.stages;
  while ((shape.base << shape.stages) < rows) shape.base += 2;
  return shape;
}

}  // namespace lanesort
