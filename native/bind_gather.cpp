// gather.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>

#include "native/buffer.h"
#include "native/gather.h"
#include "native/parallel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::GatherJob;

void Gather(nb::handle source, nb::handle positions, nb::handle out, size_t threads, lanesort::Control* control) {
  const Buffer s(source, "source", 2, false);
  const Buffer p(positions, "positions", 2, false);
  const Buffer o(out, "out", 2, true);
  const size_t width = p.item_bytes();
  if (width != 2 && width != 4 && width != 8) {
    p.Refuse("has items of " + std::to_string(width) + " bytes; they must have 2, 4 or 8");
  }
  const GatherJob job{p.shape(0), p.shape(1), s.item_bytes(),
                      static_cast<const uint8_t*>(s.data()), s.stride_bytes(0), s.stride_bytes(1),
                      static_cast<const uint8_t*>(p.data()), p.stride_bytes(0), width,
                      static_cast<uint8_t*>(o.data()), o.stride_bytes(0)};
  s.RequireShape(0, job.rows);
  o.RequireShape(0, job.rows);
  o.RequireShape(1, job.columns);
  o.RequireItem(job.item_bytes);
  p.RequireStride(1, width);
  o.RequireStride(1, job.item_bytes);
  lanesort::RunUnits(job.rows, lanesort::CheckedElements(job.rows, job.columns), threads, control,
                     [&job](size_t begin, size_t end, const lanesort::Progress& progress) {
                       lanesort::GatherRows(job, begin, end, progress);
                     });
}

}  // namespace

void bind_gather(nb::module_& module) {
  module.def("gather", &Gather, "source"_a, "positions"_a, "out"_a, "threads"_a = 1, "control"_a.none() = nb::none(),
             "Write source[row, positions[row, i]] to out[row, i], for items of any size. Positions are\n"
             "trusted: they come from a sort of rows as long as those of source.");
}
