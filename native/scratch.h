// Scratch memory: sizes are checked, a thread keeps what it has, large blocks ask for huge pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

namespace lanesort {

constexpr size_t kHugePageBytes = size_t{2} << 20;

// a * b + c; throws std::bad_alloc when that does not fit.
inline size_t CheckedBytes(size_t a, size_t b, size_t c = 0) {
  size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &product)) {
    throw std::bad_alloc();
  }
  return product;
}

// A block that only grows. Its contents are undefined after each Get.
class Scratch {
 public:
  // At least count items of T, aligned to 64 bytes and followed by 64 more bytes.
  template <typename T>
  T* Get(size_t count) {
    const size_t bytes = CheckedBytes(count, sizeof(T), 64);
    if (bytes > bytes_) Grow(bytes);
    return static_cast<T*>(static_cast<void*>(block_.get()));
  }
  void Release() {
    block_.reset();
    bytes_ = 0;
  }
  // Gives back what a large job took, so that a small one later does not hold it.
  void ReleaseAbove(size_t bytes) {
    if (bytes_ > bytes) Release();
  }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };

  void Grow(size_t bytes) {
    const size_t alignment = bytes >= 2 * kHugePageBytes ? kHugePageBytes : 64;
    const size_t rounded = CheckedBytes(bytes / alignment + 1, alignment);
    Release();
    block_.reset(std::aligned_alloc(alignment, rounded));
    if (block_ == nullptr) throw std::bad_alloc();
    bytes_ = rounded;
#ifdef MADV_HUGEPAGE
    // Only a wish: without huge pages all still works.
    if (alignment == kHugePageBytes) (void)madvise(block_.get(), rounded, MADV_HUGEPAGE);
#endif
  }

  std::unique_ptr<void, Free> block_;
  size_t bytes_ = 0;
};

}  // namespace lanesort
