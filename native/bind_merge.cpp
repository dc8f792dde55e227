// merge, merge_blocks, first_unsorted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "native/buffer.h"
#include "native/merge.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::Control;
using lanesort::KeyOrder;
using lanesort::MergeBlocksJob;
using lanesort::MergeRule;
using lanesort::PairsOut;
using lanesort::Run;
using lanesort::Tie;

Tie ParseTie(const std::string& name) {
  if (name == "run") return Tie::kRun;
  if (name == "low") return Tie::kLow;
  if (name == "high") return Tie::kHigh;
  throw nb::value_error(("tie is '" + name + "'; accepted are run, low, high").c_str());
}

void RequireIndexItem(const Buffer& indices) {
  if (indices.item_bytes() != 4 && indices.item_bytes() != 8) {
    indices.Refuse("has items of " + std::to_string(indices.item_bytes()) + " bytes; they must have 4 or 8");
  }
}

const uint8_t* Bytes(const Buffer& buffer) { return static_cast<const uint8_t*>(buffer.data()); }

using Arrays = nb::typed<nb::sequence, nb::object>;

// The buffers of the runs of one call.
class Runs {
 public:
  Runs(const Arrays& values, const std::optional<Arrays>& payloads, const MergeRule& rule) {
    const size_t count = nb::len(values);
    if (payloads && nb::len(*payloads) != count) {
      throw nb::value_error(("payloads has " + std::to_string(nb::len(*payloads)) + " arrays; values has " +
                             std::to_string(count)).c_str());
    }
    runs_.reserve(count);
    for (size_t r = 0; r < count; ++r) {
      nb::object payload = nb::none();
      if (payloads) payload = (*payloads)[r];
      if (payloads && payload.is_none()) {
        throw nb::value_error(("payloads[" + std::to_string(r) + "] is None; give an array for each run, or none at all")
                                  .c_str());
      }
      Add(nb::object(values[r]), payload, rule);
    }
  }

  const std::vector<Run>& runs() const { return runs_; }
  uint64_t pairs() const { return pairs_; }

 private:
  void Add(nb::handle values, nb::handle payload, const MergeRule& rule) {
    const Buffer& v = buffers_.emplace_back(values, "values", 1, false);
    v.RequireItem(rule.order.bits / 8);
    Run run{Bytes(v), v.stride_bytes(0), nullptr, 0, pairs_, v.shape(0)};
    if (!payload.is_none()) {
      const Buffer& p = buffers_.emplace_back(payload, "payloads", 1, false);
      p.RequireItem(rule.index_bytes);
      p.RequireShape(0, run.length);
      run.payload = Bytes(p);
      run.payload_step = p.stride_bytes(0);
    }
    pairs_ += run.length;
    runs_.push_back(run);
  }

  std::deque<Buffer> buffers_;
  std::vector<Run> runs_;
  uint64_t pairs_ = 0;
};

std::vector<uint64_t> Merge(const Arrays& values, const std::optional<Arrays>& payloads, const KeyOrder& order,
                            const std::string& tie, nb::handle values_out, nb::handle indices_out,
                            bool first_exhausted, size_t threads, Control* control) {
  const Buffer v(values_out, "values_out", 1, true);
  const Buffer i(indices_out, "indices_out", 1, true);
  v.RequireItem(order.bits / 8);
  RequireIndexItem(i);
  i.RequireShape(0, v.shape(0));
  const MergeRule rule{order, ParseTie(tie), i.item_bytes()};
  const Runs runs(values, payloads, rule);
  const std::vector<uint64_t> consumed = ConsumedLengths(rule, runs.runs(), first_exhausted, v.shape(0));
  std::vector<Run> parts = runs.runs();
  for (size_t r = 0; r < parts.size(); ++r) parts[r].length = consumed[r];
  const PairsOut out{static_cast<uint8_t*>(v.data()), v.stride_bytes(0), static_cast<uint8_t*>(i.data()),
                     i.stride_bytes(0)};
  Merge(rule, parts, out, threads, control);
  return consumed;
}

void RequireGroups(const Buffer& buffer, size_t groups, size_t ways, size_t length) {
  buffer.RequireShape(0, groups);
  buffer.RequireShape(1, ways);
  buffer.RequireShape(2, length);
}

void MergeBlocks(nb::handle values, nb::handle payload, const KeyOrder& order, nb::handle values_out,
                 nb::handle payload_out, size_t threads, Control* control) {
  const Buffer v(values, "values", 3, false);
  const Buffer p(payload, "payload", 3, false);
  const Buffer v_out(values_out, "values_out", 2, true);
  const Buffer p_out(payload_out, "payload_out", 2, true);
  const MergeBlocksJob job{{order, Tie::kRun, p.item_bytes()},
                           v.shape(0),
                           v.shape(1),
                           v.shape(2),
                           Bytes(v),
                           v.stride_bytes(0),
                           v.stride_bytes(1),
                           v.stride_bytes(2),
                           Bytes(p),
                           p.stride_bytes(0),
                           p.stride_bytes(1),
                           p.stride_bytes(2),
                           {static_cast<uint8_t*>(v_out.data()), v_out.stride_bytes(1),
                            static_cast<uint8_t*>(p_out.data()), p_out.stride_bytes(1)},
                           v_out.stride_bytes(0),
                           p_out.stride_bytes(0)};
  RequireIndexItem(p);
  RequireGroups(p, job.groups, job.ways, job.length);
  v.RequireItem(order.bits / 8);
  v_out.RequireItem(order.bits / 8);
  p_out.RequireItem(p.item_bytes());
  for (const Buffer* out : {&v_out, &p_out}) {
    out->RequireShape(0, job.groups);
    out->RequireShape(1, lanesort::CheckedElements(job.ways, job.length));
  }
  MergeBlocks(job, threads, control);
}

int64_t FirstUnsorted(nb::handle values, nb::handle payload, const KeyOrder& order, const std::string& tie) {
  MergeRule rule{order, ParseTie(tie), 4};
  const Buffer v(values, "values", 1, false);
  v.RequireItem(order.bits / 8);
  Run run{Bytes(v), v.stride_bytes(0), nullptr, 0, 0, v.shape(0)};
  const Buffer p(payload, "payload", 1, false);
  if (!p.empty()) {
    RequireIndexItem(p);
    p.RequireShape(0, run.length);
    rule.index_bytes = p.item_bytes();
    run.payload = Bytes(p);
    run.payload_step = p.stride_bytes(0);
  }
  uint64_t found = 0;
  {
    const nb::gil_scoped_release release;
    found = FirstUnsorted(rule, run);
  }
  return found == run.length ? -1 : static_cast<int64_t>(found);
}

std::pair<int64_t, bool> InspectRuns(nb::handle values, const KeyOrder& order) {
  const Buffer v(values, "values", 2, false);
  v.RequireItem(order.bits / 8);
  const lanesort::RunRows runs{Bytes(v), v.stride_bytes(0), v.stride_bytes(1), v.shape(0), v.shape(1)};
  lanesort::Inspected seen{};
  {
    const nb::gil_scoped_release release;
    seen = lanesort::InspectRuns(order, runs);
  }
  return {seen.unsorted == runs.rows * runs.length ? -1 : static_cast<int64_t>(seen.unsorted), seen.nan};
}

}  // namespace

void bind_merge(nb::module_& module) {
  module.def("merge", &Merge, "values"_a, "payloads"_a, "order"_a, "tie"_a, "values_out"_a, "indices_out"_a,
             "first_exhausted"_a = false, "threads"_a = 1, "control"_a.none() = nb::none(),
             "Merge sorted runs, as many pairs as the outputs hold; return how many came from each run.\n"
             "Payloads, 32 or 64 bits wide, travel along; None stands for positions in the concatenation.");
  module.def("merge_blocks", &MergeBlocks, "values"_a, "payload"_a, "order"_a, "values_out"_a, "payload_out"_a,
             "threads"_a = 1, "control"_a.none() = nb::none(),
             "Merge groups of equally long sorted runs (groups, ways, length) to (groups, ways * length);\n"
             "of equal values the one from the earlier run comes first.");
  module.def("inspect_runs", &InspectRuns, "values"_a, "order"_a,
             "Return where in the rows of values, counted over all of them, the first stands that belongs\n"
             "before its predecessor, or -1, and whether there is a NaN.");
  module.def("first_unsorted", &FirstUnsorted, "values"_a, "payload"_a.none(), "order"_a, "tie"_a,
             "Return the position of the first pair that has to stand before its predecessor, or -1.");
}
