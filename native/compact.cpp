#include "native/compact.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/compact.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "native/compact_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template <class T>
size_t MarkWidth(const void* x, size_t n, const NonzeroRule& rule, uint64_t* marks) {
  return rule.limited ? MarkTyped<T, true>(x, n, rule, marks) : MarkTyped<T, false>(x, n, rule, marks);
}

size_t MarkAny(const void* x, size_t n, const NonzeroRule& rule, uint64_t* marks) {
  switch (rule.bits) {
    case 8: return MarkWidth<uint8_t>(x, n, rule, marks);
    case 16: return MarkWidth<uint16_t>(x, n, rule, marks);
    case 32: return MarkWidth<uint32_t>(x, n, rule, marks);
    default: return MarkWidth<uint64_t>(x, n, rule, marks);
  }
}

void WritePositionsAny(const uint64_t* marks, uint64_t first, const PositionSink& sink) {
  if (sink.bits == 32) return WritePositionsTyped<uint32_t>(marks, first, sink);
  WritePositionsTyped<uint64_t>(marks, first, sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanesort {

HWY_EXPORT(MarkAny);
HWY_EXPORT(WritePositionsAny);

NonzeroRule MakeNonzeroRule(const KeyOrder& order, Nonzero meaning) {
  NonzeroRule rule;
  rule.bits = order.bits;
  rule.mask = rule.limit = ~uint64_t{0} >> (64 - order.bits);
  if (meaning == Nonzero::kBits) return rule;
  const uint64_t magnitude = rule.mask >> 1;
  if (order.kind == Kind::kFloat) {
    rule.mask = magnitude;
    rule.limited = meaning == Nonzero::kOrdered;
    if (rule.limited) rule.limit = order.infinity;
  }
  // NaT has the sign bit and no other.
  if (order.kind == Kind::kTime && meaning == Nonzero::kOrdered) rule.mask = magnitude;
  return rule;
}

size_t MarkNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t* marks) {
  return HWY_DYNAMIC_DISPATCH(MarkAny)(x, n, rule, marks);
}

void WritePositions(const uint64_t* marks, uint64_t first, const PositionSink& sink) {
  HWY_DYNAMIC_DISPATCH(WritePositionsAny)(marks, first, sink);
}

size_t CompactNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t first, const PositionSink& sink) {
  constexpr size_t kBlock = size_t{1} << 14;
  uint64_t marks[kBlock / 64];
  size_t total = 0;
  for (size_t i = 0; i < n; i += kBlock) {
    const auto* block = static_cast<const unsigned char*>(x) + i * (rule.bits / 8);
    const size_t count = MarkNonzero(block, std::min(kBlock, n - i), rule, marks);
    WritePositions(marks, first + i, sink.Part(total, count));
    total += count;
  }
  return total;
}

}  // namespace lanesort
#endif
