// merge, merge_words, first_unsorted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "native/buffer.h"
#include "native/merge.h"
#include "native/merge_groups.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::Control;
using lanesort::KeyOrder;
using lanesort::kWordBytes;
using lanesort::MergeRule;
using lanesort::MergeWordsJob;
using lanesort::PairsOut;
using lanesort::Run;
using lanesort::Tie;
using lanesort::WordRows;

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

std::pair<std::vector<uint64_t>, bool> Merge(const Arrays& values, const std::optional<Arrays>& payloads,
                                             const KeyOrder& order, const std::string& tie, nb::handle values_out,
                                             nb::handle indices_out, bool first_exhausted, bool look, size_t threads,
                                             Control* control) {
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
  const bool sorted = Merge(rule, parts, out, look, threads, control);
  return {consumed, sorted};
}

// The runs of words of one call, and where they are merged to.
class Words {
 public:
  Words(const Arrays& runs, const KeyOrder& order, nb::handle out)
      : item_(order.bits / 8),
        out_(out, "out", 2, true),
        job_{order, out_.shape(0), {}, nullptr, out_.stride_bytes(0)} {
    if (order.bits != 16 && order.bits != 32) {
      throw nb::value_error("order is of values that do not have 16 or 32 bits");
    }
    out_pairs_ = PairsIn(out_);
    job_.out = static_cast<uint8_t*>(out_.data());
    const size_t count = nb::len(runs);
    if (count == 0) throw nb::value_error("runs is empty; a merge needs at least one");
    job_.runs.reserve(count);
    for (size_t r = 0; r < count; ++r) {
      const Buffer& run = buffers_.emplace_back(nb::object(runs[r]), "runs", 2, false);
      run.RequireShape(0, job_.groups);
      job_.runs.push_back({Bytes(run), run.stride_bytes(0), PairsIn(run)});
    }
  }

  const MergeWordsJob& job() const { return job_; }

  // Has the merge write somewhere else if `out` shares bytes with a run.
  void KeepApart() {
    const auto shares = [&](const WordRows& run) {
      return lanesort::RowsOverlap(job_.groups, {job_.out, job_.out_row_step, out_pairs_}, run);
    };
    if (std::none_of(job_.runs.begin(), job_.runs.end(), shares)) return;
    const size_t pairs = std::min(out_pairs_, job_.PairsOfGroup());
    apart_.resize(lanesort::CheckedElements(job_.groups, pairs));
    job_.out = reinterpret_cast<uint8_t*>(apart_.data());
    job_.out_row_step = static_cast<ptrdiff_t>(pairs * kWordBytes);
  }

  // Brings to `out` what `KeepApart` kept from it.
  void Deliver() const {
    if (apart_.empty()) return;
    const size_t bytes = job_.PairsOfGroup() * kWordBytes;
    uint8_t* const out = static_cast<uint8_t*>(out_.data());
    for (size_t group = 0; group < job_.groups; ++group) {
      const ptrdiff_t g = static_cast<ptrdiff_t>(group);
      std::memcpy(out + g * out_.stride_bytes(0), job_.out + g * job_.out_row_step, bytes);
    }
  }

  // How many pairs a row of `out` takes.
  size_t room() const { return out_pairs_; }

  void TurnRound() { std::reverse(job_.runs.begin(), job_.runs.end()); }

  // Cuts the runs of the only group as `ConsumedLengths` says, and then to what `out` has room for. Returns the
  // former.
  std::vector<uint64_t> Cut(bool first_exhausted, uint64_t limit) {
    if (job_.groups != 1) {
      throw nb::value_error("out is too small for the runs, or first_exhausted or a limit are given: this is for one "
                            "group");
    }
    std::vector<Run> runs = GroupRuns(job_, 0);
    std::vector<uint64_t> consumed = ConsumedLengths(job_.Rule(), runs, first_exhausted, limit);
    for (size_t r = 0; r < runs.size(); ++r) runs[r].length = consumed[r];
    const std::vector<uint64_t> written = ConsumedLengths(job_.Rule(), runs, false, out_pairs_);
    for (size_t r = 0; r < runs.size(); ++r) job_.runs[r].length = written[r];
    return consumed;
  }

 private:
  size_t PairsIn(const Buffer& rows) const {
    rows.RequireItem(item_);
    rows.RequireStride(1, item_);
    return rows.shape(1) * item_ / kWordBytes;
  }

  size_t item_;
  Buffer out_;
  std::deque<Buffer> buffers_;
  size_t out_pairs_ = 0;
  MergeWordsJob job_;
  std::vector<uint64_t> apart_;
};

using Place = std::tuple<uint64_t, uint64_t, uint64_t>;
using MergedWords = std::tuple<std::vector<uint64_t>, std::optional<Place>, bool>;

MergedWords MergeWords(const Arrays& runs, const KeyOrder& order, nb::handle out, bool later_first,
                       bool first_exhausted, std::optional<uint64_t> limit, size_t threads, Control* control) {
  Words words(runs, order, out);
  const MergeWordsJob whole = words.job();
  words.KeepApart();
  if (later_first) words.TurnRound();
  std::vector<uint64_t> consumed;
  for (const WordRows& run : words.job().runs) consumed.push_back(run.length);
  const bool cut = first_exhausted || limit || words.room() < whole.PairsOfGroup();
  if (cut) consumed = words.Cut(first_exhausted, limit.value_or(~uint64_t{0}));
  if (later_first) std::reverse(consumed.begin(), consumed.end());
  const bool sorted = MergeWords(words.job(), threads, control) && !cut;
  lanesort::InspectedWords seen{};
  {
    const nb::gil_scoped_release release;
    seen = sorted ? InspectSortedWords(whole) : InspectWords(whole);
  }
  words.Deliver();
  std::optional<Place> unsorted;
  if (seen.unsorted) unsorted.emplace(seen.unsorted->group, seen.unsorted->run, seen.unsorted->position);
  return {std::move(consumed), unsorted, seen.nan};
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

}  // namespace

void bind_merge(nb::module_& module) {
  module.def("merge", &Merge, "values"_a, "payloads"_a, "order"_a, "tie"_a, "values_out"_a, "indices_out"_a,
             "first_exhausted"_a = false, "look"_a = false, "threads"_a = 1, "control"_a.none() = nb::none(),
             "Merge sorted runs, as many pairs as the outputs hold. Payloads, 32 or 64 bits wide, travel along; None\n"
             "stands for positions in the concatenation. Return how many came from each run, and whether these are\n"
             "sorted, True if not to look: else the outputs hold no merge.");
  module.def("merge_words", &MergeWords, "runs"_a, "order"_a, "out"_a, "later_first"_a = false,
             "first_exhausted"_a = false, "limit"_a.none() = nb::none(), "threads"_a = 1, "control"_a.none() = nb::none(),
             "Merge groups of sorted runs of words of 8 bytes that begin with a value: arrays of values of 16 or 32\n"
             "bits, a group in each row, one array for each run, to the rows of out, which may overlap them.\n"
             "Return how many words came from each run, the group, run and position of the first value that belongs\n"
             "before its predecessor, or None, and whether there is a NaN. Of one group as many words are written as\n"
             "out has room for.");
  module.def("first_unsorted", &FirstUnsorted, "values"_a, "payload"_a.none(), "order"_a, "tie"_a,
             "Return the position of the first pair that has to stand before its predecessor, or -1.");
}
