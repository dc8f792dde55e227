// sort_pairs: checks the arrays of a call and makes a SortJob of them.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstring>
#include <string>

#include "native/buffer.h"
#include "native/parallel.h"
#include "native/sort.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::SortJob;

void TakeInput(SortJob& job, const Buffer& x) {
  x.RequireItem(job.order.bits / 8);
  x.RequireStride(1, x.item_bytes());
  job.rows = x.shape(0);
  job.columns = x.shape(1);
  job.input = static_cast<const uint8_t*>(x.data());
  job.input_row = x.stride_bytes(0);
}

void RequireSameShape(const Buffer& array, const SortJob& job) {
  array.RequireShape(0, job.rows);
  array.RequireShape(1, job.columns);
}

// Values may stand 8 bytes apart where the index follows 4 bytes behind: a list of pairs.
size_t TakeStride(const Buffer& array, const SortJob& job) {
  const bool pairs = job.order.bits <= 32 && array.stride_bytes(1) == 8;
  if (!pairs) array.RequireStride(1, array.item_bytes());
  return pairs ? 8 : array.item_bytes();
}

void TakeValues(SortJob& job, const Buffer& values) {
  if (values.empty()) return;
  // Of pairs, 16-bit values may be given the whole 32 bits of their slot.
  const bool slots = job.order.bits == 16 && values.item_bytes() == 4 && values.stride_bytes(1) == 8;
  if (!slots) values.RequireItem(job.order.bits / 8);
  RequireSameShape(values, job);
  job.values = static_cast<uint8_t*>(values.data());
  job.values_row = values.stride_bytes(0);
  job.value_stride = TakeStride(values, job);
}

void TakeIndices(SortJob& job, const Buffer& indices) {
  if (indices.empty()) return;
  job.index_bytes = indices.item_bytes();
  if (job.index_bytes != 2 && job.index_bytes != 4 && job.index_bytes != 8) {
    indices.Refuse("has items of " + std::to_string(job.index_bytes) + " bytes; accepted are 2, 4, 8");
  }
  RequireSameShape(indices, job);
  job.indices = static_cast<uint8_t*>(indices.data());
  job.indices_row = indices.stride_bytes(0);
  job.index_stride = TakeStride(indices, job);
  job.pairs = job.values != nullptr && job.value_stride == 8 && job.index_stride == 8 && job.index_bytes == 4 &&
              job.indices == job.values + 4 && job.indices_row == job.values_row;
}

void TakePayload(SortJob& job, const Buffer& payload) {
  if (payload.empty()) return;
  if (job.indices == nullptr) payload.Refuse("is given but indices is None");
  payload.RequireItem(job.index_bytes);
  payload.RequireShape(1, job.columns);
  payload.RequireStride(1, job.index_bytes);
  job.payload_rows = payload.shape(0);
  if (job.rows != 0 && (job.payload_rows == 0 || job.rows % job.payload_rows != 0)) {
    payload.Refuse("has " + std::to_string(job.payload_rows) + " rows, x has " + std::to_string(job.rows) +
                   ", which is no multiple of it");
  }
  job.payload = static_cast<const uint8_t*>(payload.data());
  job.payload_row = payload.stride_bytes(0);
}

// Returns how many elements take part.
uint64_t TakeLengths(SortJob& job, const Buffer& lengths) {
  if (lengths.empty()) return lanesort::CheckedElements(job.rows, job.columns);
  lengths.RequireItem(8);
  lengths.RequireShape(0, job.rows);
  job.lengths = static_cast<const uint8_t*>(lengths.data());
  job.lengths_step = lengths.stride_bytes(0);
  uint64_t elements = 0;
  for (size_t row = 0; row < job.rows; ++row) {
    int64_t length = 0;
    std::memcpy(&length, job.lengths + static_cast<ptrdiff_t>(row) * job.lengths_step, 8);
    if (length < 0 || static_cast<uint64_t>(length) > job.columns) {
      lengths.Refuse("[" + std::to_string(row) + "] is " + std::to_string(length) + "; it must lie in 0 … " +
                     std::to_string(job.columns));
    }
    elements += static_cast<uint64_t>(length);
  }
  return elements;
}

// Below this a row is not worth more than one thread.
constexpr uint64_t kSharedElements = uint64_t{1} << 18;

void Run(const SortJob& job, uint64_t elements, size_t threads, lanesort::Control* control) {
  if (job.rows == 1 && threads > 1 && elements >= kSharedElements) {
    if (const auto shared = lanesort::MakeSharedRow(job)) {
      const lanesort::UnitRange work = [&shared](size_t, size_t, const lanesort::Progress& progress) {
        shared->Work(progress);
      };
      return lanesort::RunUnits(threads, elements, threads, control, work);
    }
  }
  lanesort::RunUnits(job.rows, elements, threads, control,
                     [&job](size_t begin, size_t end, const lanesort::Progress& progress) {
                       lanesort::SortRows(job, begin, end, progress);
                     });
}

bool SortPairs(nb::handle x, const lanesort::KeyOrder& order, nb::handle values, nb::handle indices,
               uint64_t offset, nb::handle payload, nb::handle lengths, bool look_for_nan, size_t threads,
               lanesort::Control* control) {
  std::atomic<bool> nan{false};
  SortJob job{};
  job.order = order;
  job.offset = offset;
  const Buffer x_buffer(x, "x", 2, false);
  TakeInput(job, x_buffer);
  const Buffer values_buffer(values, "values", 2, true);
  TakeValues(job, values_buffer);
  const Buffer indices_buffer(indices, "indices", 2, true);
  TakeIndices(job, indices_buffer);
  if (!values_buffer.empty() && !job.pairs) values_buffer.RequireItem(order.bits / 8);
  const Buffer payload_buffer(payload, "payload", 2, false);
  TakePayload(job, payload_buffer);
  const Buffer lengths_buffer(lengths, "lengths", 1, false);
  const uint64_t elements = TakeLengths(job, lengths_buffer);
  if (look_for_nan && job.indices == nullptr) throw nb::value_error("look_for_nan is given but indices is None");
  if (look_for_nan) job.nan = &nan;
  Run(job, elements, threads, control);
  return nan.load();
}

}  // namespace

void bind_sort(nb::module_& module) {
  module.def("sort_pairs", &SortPairs, "x"_a, "order"_a, "values"_a.none(), "indices"_a.none(), "offset"_a = 0,
             "payload"_a.none() = nb::none(), "lengths"_a.none() = nb::none(),
             "look_for_nan"_a = false, "threads"_a = 1, "control"_a.none() = nb::none(),
             "Sort each row of x (rows, n); write the sorted values and their positions + offset, or\n"
             "their payload, where wanted. Rows of payload may be fewer: they serve by turns. Values and 32-bit\n"
             "indices may be interleaved as pairs of 8 bytes. Return whether there is a NaN, False if not to look\n"
             "for it.");
}
