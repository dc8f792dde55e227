// NumPy arrays as the kernels see them: bits, shape and strides, by the buffer protocol.
// That is several times cheaper than DLPack, and takes read-only and misaligned arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace lanesort {

inline uint64_t CheckedElements(size_t rows, size_t columns) {
  uint64_t elements = 0;
  if (__builtin_mul_overflow(rows, columns, &elements)) throw nanobind::value_error("more elements than 2**64");
  return elements;
}

class Buffer {
 public:
  // Takes `array` (None: empty() is true). Throws ValueError, naming `name`, unless it has
  // `dimensions` axes, or is one row where rows are wanted; the error of the buffer protocol when
  // it is not writable but has to be.
  Buffer(nanobind::handle array, const char* name, int dimensions, bool writable) : name_(name) {
    if (array.is_none()) return;
    const int flags = PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array.ptr(), &view_, flags) != 0) throw nanobind::python_error();
    taken_ = true;
    row_ = dimensions == 2 && view_.ndim == 1;
    if (view_.ndim != dimensions && !row_) {
      const int found = view_.ndim;
      PyBuffer_Release(&view_);
      throw nanobind::value_error((name_ + " has " + std::to_string(found) + " axes; it must have " +
                                   std::to_string(dimensions)).c_str());
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (taken_) PyBuffer_Release(&view_);
  }

  bool empty() const { return !taken_; }
  size_t shape(int axis) const {
    if (row_) return axis == 0 ? 1 : static_cast<size_t>(view_.shape[0]);
    return static_cast<size_t>(view_.shape[axis]);
  }
  ptrdiff_t stride_bytes(int axis) const {
    if (row_) return axis == 0 ? 0 : view_.strides[0];
    return view_.strides[axis];
  }
  size_t item_bytes() const { return static_cast<size_t>(view_.itemsize); }
  void* data() const { return view_.buf; }

  [[noreturn]] void Refuse(const std::string& reason) const {
    throw nanobind::value_error((name_ + " " + reason).c_str());
  }
  void RequireItem(size_t bytes) const {
    if (item_bytes() != bytes) {
      Refuse("has items of " + std::to_string(item_bytes()) + " bytes; they must have " + std::to_string(bytes));
    }
  }
  void RequireShape(int axis, size_t length) const {
    if (shape(axis) != length) {
      Refuse("has length " + std::to_string(shape(axis)) + " along axis " + std::to_string(axis) +
             "; it must have " + std::to_string(length));
    }
  }
  // One item after the other along `axis`, `bytes` apart. Nothing to check below two items.
  void RequireStride(int axis, size_t bytes) const {
    if (shape(axis) > 1 && stride_bytes(axis) != static_cast<ptrdiff_t>(bytes)) {
      Refuse("has items " + std::to_string(stride_bytes(axis)) + " bytes apart along axis " +
             std::to_string(axis) + "; they must be " + std::to_string(bytes));
    }
  }

 private:
  std::string name_;
  Py_buffer view_{};
  bool taken_ = false;
  bool row_ = false;
};

}  // namespace lanesort
