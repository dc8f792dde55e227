// top_k: the call, and how it is split over threads.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "native/buffer.h"
#include "native/parallel.h"
#include "native/scratch.h"
#include "native/top_k.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::Progress;
using lanesort::TopKJob;

// A row is cut for threads from here on; and always into pieces of at most kMaxPiece, so that a
// call can be interrupted (some 10 ms each).
constexpr size_t kMinPiece = size_t{1} << 16;
constexpr size_t kMaxPiece = size_t{1} << 25;

void TakeInput(TopKJob& job, const Buffer& x, size_t k) {
  x.RequireItem(job.order.bits / 8);
  x.RequireStride(1, x.item_bytes());
  job.x = static_cast<const unsigned char*>(x.data());
  job.x_stride = x.stride_bytes(0);
  job.rows = x.shape(0);
  job.length = x.shape(1);
  if (k > job.length) {
    throw nb::value_error(("k is " + std::to_string(k) + ", but a row has only " + std::to_string(job.length) +
                           " elements").c_str());
  }
  job.k = k;
}

void RequireOutput(const TopKJob& job, const Buffer& out) {
  out.RequireShape(0, job.rows);
  out.RequireShape(1, job.k);
  out.RequireStride(1, out.item_bytes());
}

void TakeOutputs(TopKJob& job, const Buffer& values, const Buffer& indices) {
  if (!values.empty()) {
    values.RequireItem(job.order.bits / 8);
    RequireOutput(job, values);
    job.values = static_cast<unsigned char*>(values.data());
    job.values_stride = values.stride_bytes(0);
  }
  if (!indices.empty()) {
    const size_t bytes = indices.item_bytes();
    if (bytes != 2 && bytes != 4 && bytes != 8) {
      indices.Refuse("has items of " + std::to_string(bytes) + " bytes; accepted are 2, 4, 8");
    }
    RequireOutput(job, indices);
    job.index_bits = static_cast<unsigned>(8 * bytes);
    job.indices = static_cast<unsigned char*>(indices.data());
    job.indices_stride = indices.stride_bytes(0);
  }
}

std::vector<int64_t> TakeLengths(const TopKJob& job, const Buffer& lengths) {
  lengths.RequireItem(8);
  lengths.RequireShape(0, job.rows);
  std::vector<int64_t> copy(job.rows);
  for (size_t row = 0; row < job.rows; ++row) {
    const char* from = static_cast<const char*>(lengths.data()) + static_cast<ptrdiff_t>(row) * lengths.stride_bytes(0);
    std::memcpy(&copy[row], from, sizeof(int64_t));
    if (copy[row] < 0 || static_cast<uint64_t>(copy[row]) > job.length) {
      throw nb::value_error(("lengths[" + std::to_string(row) + "] is " + std::to_string(copy[row]) +
                             "; it must lie in 0 … " + std::to_string(job.length)).c_str());
    }
  }
  return copy;
}

bool ParseSortBy(const char* name) {
  if (std::strcmp(name, "value") == 0) return false;
  if (std::strcmp(name, "index") == 0) return true;
  throw nb::value_error(("sort_by is '" + std::string(name) + "'; accepted are value, index").c_str());
}

// Into how many pieces to cut each row; 1 where rows suffice for the threads, or where the pieces
// would be no longer than a few k.
size_t PiecesOfRow(const TopKJob& job, size_t threads) {
  size_t pieces = job.length / kMaxPiece + 1;
  if (job.rows < threads) pieces = std::max(pieces, std::min(2 * threads, job.length / kMinPiece));
  return pieces > 1 && job.length / pieces >= 8 * job.k ? pieces : 1;
}

// Candidates of all pieces of one row at once, then its outputs.
class RowInPieces {
 public:
  RowInPieces(const TopKJob& job, size_t pieces)
      : job_(job), pieces_(pieces), bytes_(lanesort::CandidateBytes(job)), counts_(pieces) {
    const size_t longest = (job.length + pieces - 1) / pieces;
    capacity_ = (lanesort::CandidateCapacity(job, longest) + 7) / 8 * 8;  // keeps each piece's share aligned
    candidates_ = scratch_.Get<unsigned char>(lanesort::CheckedBytes(capacity_ * pieces, bytes_));
  }

  void Run(size_t row, size_t threads, lanesort::Control* control) {
    const size_t n = job_.RowLength(row);
    lanesort::RunUnits(pieces_, n, threads, control, [&](size_t begin, size_t end, const Progress& progress) {
      for (size_t i = begin; i < end && !progress.Stopped(); ++i) {
        const size_t from = n / pieces_ * i, to = i + 1 == pieces_ ? n : n / pieces_ * (i + 1);
        counts_[i] = from == to ? 0 : lanesort::FindCandidates(job_, row, from, to, Share(i));
        progress.Advance(to - from);
      }
    });
    size_t total = counts_[0];
    for (size_t i = 1; i < pieces_; total += counts_[i++]) {
      std::memmove(candidates_ + total * bytes_, Share(i), counts_[i] * bytes_);
    }
    if (total != 0) lanesort::WriteTopK(job_, row, candidates_, total);
  }

 private:
  unsigned char* Share(size_t piece) const { return candidates_ + piece * capacity_ * bytes_; }

  const TopKJob& job_;
  size_t pieces_;
  size_t bytes_;
  size_t capacity_ = 0;
  std::vector<size_t> counts_;
  lanesort::Scratch scratch_;
  unsigned char* candidates_ = nullptr;
};

void RunJob(const TopKJob& job, size_t threads, lanesort::Control* control) {
  const uint64_t elements = lanesort::CheckedElements(job.rows, job.length);
  const size_t pieces = job.k == 0 ? 1 : PiecesOfRow(job, threads);
  if (pieces == 1) {
    lanesort::RunUnits(job.rows, elements, threads, control,
                       [&job](size_t begin, size_t end, const Progress& progress) {
                         lanesort::TopKRows(job, begin, end, progress);
                       });
    return;
  }
  RowInPieces cut(job, pieces);
  for (size_t row = 0; row < job.rows; ++row) cut.Run(row, threads, control);
}

void TopK(nb::handle x, const lanesort::KeyOrder& order, size_t k, nb::handle values, nb::handle indices,
          uint64_t offset, nb::handle lengths, const char* sort_by, size_t threads, lanesort::Control* control) {
  TopKJob job;
  job.order = order;
  job.offset = offset;
  job.by_index = ParseSortBy(sort_by);
  const Buffer x_buffer(x, "x", 2, false);
  TakeInput(job, x_buffer, k);
  const Buffer values_buffer(values, "values", 2, true);
  const Buffer indices_buffer(indices, "indices", 2, true);
  TakeOutputs(job, values_buffer, indices_buffer);
  std::vector<int64_t> row_lengths;
  if (!lengths.is_none()) {
    row_lengths = TakeLengths(job, Buffer(lengths, "lengths", 1, false));
    job.lengths = row_lengths.data();
  }
  RunJob(job, threads, control);
}

}  // namespace

void bind_top_k(nb::module_& module) {
  module.def("top_k", &TopK, "x"_a, "order"_a, "k"_a, "values"_a.none(), "indices"_a.none(), "offset"_a = 0,
             "lengths"_a.none() = nb::none(), "sort_by"_a = "value", "threads"_a = 1, "control"_a.none() = nb::none(),
             "Write the first k of each row of x (rows, n) in the order, and their positions + offset, where\n"
             "wanted. sort_by: 'value', or 'index' for the same ones by ascending position. Of a row whose\n"
             "length is below k only as many are written.");
}
