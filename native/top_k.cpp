#include "native/top_k.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/top_k.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "native/top_k_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

// Rows that need wide entries: 64-bit keys, or positions of more than 32 bits.
inline bool IsWide(const TopKJob& job) {
  return job.order.bits == 64 || static_cast<uint64_t>(job.length) > (uint64_t{1} << 32);
}

template <typename T, class Visit>
void WithEntries(const TopKJob& job, const Visit& visit) {
  if constexpr (sizeof(T) < 8) {
    if (!IsWide(job)) {
      RowTopK<T, PackedEntries<T>> kernel(job);
      return visit(kernel);
    }
  }
  RowTopK<T, WideEntries<T>> kernel(job);
  visit(kernel);
}

// Calls visit with the kernel that fits the job.
template <class Visit>
void WithKernel(const TopKJob& job, const Visit& visit) {
  switch (job.order.bits) {
    case 8: return WithEntries<uint8_t>(job, visit);
    case 16: return WithEntries<uint16_t>(job, visit);
    case 32: return WithEntries<uint32_t>(job, visit);
    default: return WithEntries<uint64_t>(job, visit);
  }
}

void RowsAny(const TopKJob& job, size_t first, size_t last, const Progress& progress) {
  WithKernel(job, [&](auto& kernel) { kernel.Rows(first, last, progress); });
}

size_t FindAny(const TopKJob& job, size_t row, size_t begin, size_t end, void* candidates) {
  size_t count = 0;
  WithKernel(job, [&](auto& kernel) { count = kernel.Find(row, begin, end, candidates); });
  return count;
}

void WriteAny(const TopKJob& job, size_t row, void* candidates, size_t count) {
  WithKernel(job, [&](auto& kernel) {
    using Entry = typename std::remove_reference_t<decltype(kernel)>::Entry;
    kernel.Write(row, static_cast<Entry*>(candidates), count);
  });
}

size_t BytesAny(const TopKJob& job) { return IsWide(job) ? 16 : 8; }
size_t CapacityAny(const TopKJob& job, size_t elements) { return EntryCapacity(elements, job.k); }

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lanesort {

HWY_EXPORT(RowsAny);
HWY_EXPORT(FindAny);
HWY_EXPORT(WriteAny);

void TopKRows(const TopKJob& job, size_t first, size_t last, const Progress& progress) {
  HWY_DYNAMIC_DISPATCH(RowsAny)(job, first, last, progress);
}

size_t CandidateBytes(const TopKJob& job) { return HWY_STATIC_DISPATCH(BytesAny)(job); }

size_t CandidateCapacity(const TopKJob& job, size_t elements) {
  return HWY_STATIC_DISPATCH(CapacityAny)(job, elements);
}

size_t FindCandidates(const TopKJob& job, size_t row, size_t begin, size_t end, void* candidates) {
  return HWY_DYNAMIC_DISPATCH(FindAny)(job, row, begin, end, candidates);
}

void WriteTopK(const TopKJob& job, size_t row, void* candidates, size_t count) {
  HWY_DYNAMIC_DISPATCH(WriteAny)(job, row, candidates, count);
}

}  // namespace lanesort
#endif
