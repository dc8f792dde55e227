#include "native/compact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/compact.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "native/compact_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template <class T>
size_t CountWidth(const void* x, size_t n, const NonzeroRule& rule) {
  return rule.limited ? CountTyped<T, true>(x, n, rule) : CountTyped<T, false>(x, n, rule);
}

template <class T, class I>
size_t CompactInto(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                        const PositionSink& sink) {
  return rule.limited ? CompactTyped<T, I, true>(x, n, rule, first, sink)
                      : CompactTyped<T, I, false>(x, n, rule, first, sink);
}

template <class T>
size_t CompactWidth(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                         const PositionSink& sink) {
  return sink.bits == 32 ? CompactInto<T, uint32_t>(x, n, rule, first, sink)
                         : CompactInto<T, uint64_t>(x, n, rule, first, sink);
}

size_t CountAny(const void* x, size_t n, const NonzeroRule& rule) {
  switch (rule.bits) {
    case 8: return CountWidth<uint8_t>(x, n, rule);
    case 16: return CountWidth<uint16_t>(x, n, rule);
    case 32: return CountWidth<uint32_t>(x, n, rule);
    default: return CountWidth<uint64_t>(x, n, rule);
  }
}

size_t CompactAny(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                       const PositionSink& sink) {
  switch (rule.bits) {
    case 8: return CompactWidth<uint8_t>(x, n, rule, first, sink);
    case 16: return CompactWidth<uint16_t>(x, n, rule, first, sink);
    case 32: return CompactWidth<uint32_t>(x, n, rule, first, sink);
    default: return CompactWidth<uint64_t>(x, n, rule, first, sink);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanesort {

HWY_EXPORT(CountAny);
HWY_EXPORT(CompactAny);

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

size_t CountNonzero(const void* x, size_t n, const NonzeroRule& rule) {
  return HWY_DYNAMIC_DISPATCH(CountAny)(x, n, rule);
}

size_t CompactNonzero(const void* x, size_t n, const NonzeroRule& rule, uint64_t first,
                           const PositionSink& sink) {
  return HWY_DYNAMIC_DISPATCH(CompactAny)(x, n, rule, first, sink);
}

}  // namespace lanesort
#endif
