// Merges of pairs that do not fit into 64 bits: 64-bit keys, or ties by 64-bit indices.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "native/merge_path.h"

namespace lanesort {

struct WidePair {
  uint64_t key;
  uint64_t index;  // toggled by the rule's tie where that is by index
};

template <bool kByIndex>
inline bool Before(const WidePair& first, const WidePair& second) {
  if constexpr (!kByIndex) return first.key < second.key;
  return (first.key < second.key) | ((first.key == second.key) & (first.index < second.index));
}

// A merge of two sequences; takes from `a` on a tie.
struct WideChain {
  const WidePair* a;
  const WidePair* a_end;
  const WidePair* b;
  const WidePair* b_end;
  WidePair* out;

  size_t SafeSteps() const { return static_cast<size_t>(std::min(a_end - a, b_end - b)); }

  template <bool kByIndex>
  void Step() {
    // Which one it is can't be predicted: the empty assembly keeps the compiler from branching.
    ptrdiff_t from_b = -static_cast<ptrdiff_t>(Before<kByIndex>(*b, *a));
    __asm__("" : "+r"(from_b));
    *out++ = *(a + ((b - a) & from_b));
    a += 1 + from_b;
    b -= from_b;
  }

  template <bool kByIndex>
  void Finish() {
    for (size_t steps = SafeSteps(); steps != 0; steps = SafeSteps()) {
      for (; steps != 0; --steps) Step<kByIndex>();
    }
    out = std::copy(a, a_end, out);
    out = std::copy(b, b_end, out);
  }
};

// How many of the first `rank` elements of the merge come from `a`.
template <bool kByIndex>
inline size_t WideCut(const WidePair* a, size_t a_length, const WidePair* b, size_t b_length, size_t rank) {
  size_t low = rank > b_length ? rank - b_length : 0;
  size_t high = std::min(rank, a_length);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (Before<kByIndex>(b[rank - middle - 1], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Merges in two halves at once, because each step of a merge waits for the one before it.
template <bool kByIndex>
inline void MergeWide(const WidePair* a, size_t a_length, const WidePair* b, size_t b_length, WidePair* out) {
  const size_t half = (a_length + b_length) / 2;
  const size_t from_a = WideCut<kByIndex>(a, a_length, b, b_length, half);
  const size_t from_b = half - from_a;
  WideChain lower{a, a + from_a, b, b + from_b, out};
  WideChain upper{a + from_a, a + a_length, b + from_b, b + b_length, out + half};
  for (;;) {
    const size_t steps = std::min(lower.SafeSteps(), upper.SafeSteps());
    if (steps == 0) break;
    for (size_t i = 0; i < steps; ++i) {
      lower.Step<kByIndex>();
      upper.Step<kByIndex>();
    }
  }
  lower.Finish<kByIndex>();
  upper.Finish<kByIndex>();
}

// Merges neighbouring pieces, of the lengths given and laid end to end in `from`, until one is
// left of each `ways`; returns the buffer that holds it.
template <bool kByIndex>
inline WidePair* MergeWideTree(std::vector<size_t> lengths, size_t ways, WidePair* from, WidePair* to) {
  for (; ways > 1; ways = (ways + 1) / 2) {
    std::vector<size_t> merged;
    size_t at = 0;
    for (size_t i = 0; i < lengths.size();) {
      const bool pair = (i % ways) + 1 < ways;
      const size_t second = pair ? lengths[i + 1] : 0;
      MergeWide<kByIndex>(from + at, lengths[i], from + at + lengths[i], second, to + at);
      merged.push_back(lengths[i] + second);
      at += merged.back();
      i += pair ? 2 : 1;
    }
    lengths.swap(merged);
    std::swap(from, to);
  }
  return from;
}

}  // namespace lanesort
