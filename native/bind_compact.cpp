// compact and count_nonzero: the calls, and how they are split over threads.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "native/buffer.h"
#include "native/compact.h"
#include "native/parallel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Buffer;
using lanesort::NonzeroRule;
using lanesort::PositionSink;
using lanesort::Progress;

// Between two looks at whether to stop: about a millisecond.
constexpr size_t kPieceElements = size_t{1} << 20;
// Below this a second pass for threads costs more than it gains.
constexpr size_t kThreadElements = size_t{1} << 18;

lanesort::Nonzero ParseRule(const char* name) {
  if (std::strcmp(name, "value") == 0) return lanesort::Nonzero::kValue;
  if (std::strcmp(name, "ordered") == 0) return lanesort::Nonzero::kOrdered;
  if (std::strcmp(name, "bits") == 0) return lanesort::Nonzero::kBits;
  throw nb::value_error(("rule is '" + std::string(name) + "'; accepted are value, ordered, bits").c_str());
}

// The elements of a call, in pieces that threads or looks at the control stand between.
struct Elements {
  const unsigned char* data = nullptr;
  size_t count = 0;
  size_t piece = 0;
  NonzeroRule rule;

  Elements(const Buffer& x, const NonzeroRule& rule_of_x, size_t piece_elements)
      : data(static_cast<const unsigned char*>(x.data())), count(x.shape(0)), piece(piece_elements), rule(rule_of_x) {
    x.RequireItem(rule.bits / 8);
    x.RequireStride(0, x.item_bytes());
  }

  size_t Pieces() const { return count / piece + (count % piece != 0); }
  size_t Begin(size_t number) const { return number * piece; }
  size_t Length(size_t number) const { return std::min(piece, count - Begin(number)); }
  const unsigned char* At(size_t number) const { return data + Begin(number) * (rule.bits / 8); }
};

PositionSink TakeSink(const Buffer& indices) {
  if (indices.item_bytes() != 4 && indices.item_bytes() != 8) {
    indices.Refuse("has items of " + std::to_string(indices.item_bytes()) + " bytes; accepted are 4, 8");
  }
  indices.RequireStride(0, indices.item_bytes());
  return {indices.data(), static_cast<uint32_t>(8 * indices.item_bytes()), indices.shape(0)};
}

// The part of `sink` behind its first `used` positions.
PositionSink Behind(const PositionSink& sink, size_t used) {
  used = std::min(used, sink.capacity);
  return {static_cast<unsigned char*>(sink.data) + used * (sink.bits / 8), sink.bits, sink.capacity - used};
}

std::vector<size_t> CountPieces(const Elements& x, size_t threads, lanesort::Control* control) {
  std::vector<size_t> counts(x.Pieces());
  lanesort::RunUnits(counts.size(), x.count, threads, control,
                     [&](size_t begin, size_t end, const Progress& progress) {
                       for (size_t i = begin; i < end && !progress.Stopped(); ++i) {
                         counts[i] = lanesort::CountNonzero(x.At(i), x.Length(i), x.rule);
                       }
                     });
  return counts;
}

// One read, each piece behind the one before it.
size_t CompactInTurn(const Elements& x, uint64_t offset, const PositionSink& sink, lanesort::Control* control) {
  size_t total = 0;
  lanesort::RunUnits(1, x.count, 1, control, [&](size_t, size_t, const Progress& progress) {
    for (size_t i = 0; i < x.Pieces() && !progress.Stopped(); ++i) {
      total += lanesort::CompactNonzero(x.At(i), x.Length(i), x.rule, offset + x.Begin(i), Behind(sink, total));
      progress.Advance(x.Length(i));
    }
  });
  return total;
}

// Threads have to know where each piece begins to write, hence a counting pass.
size_t CompactOnThreads(const Elements& x, uint64_t offset, const PositionSink& sink, size_t threads,
                        lanesort::Control* control) {
  std::vector<size_t> starts = CountPieces(x, threads, control);
  const size_t total = std::accumulate(starts.begin(), starts.end(), size_t{0});
  std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), size_t{0});
  lanesort::RunUnits(starts.size(), x.count, threads, control,
                     [&](size_t begin, size_t end, const Progress& progress) {
                       for (size_t i = begin; i < end && !progress.Stopped(); ++i) {
                         lanesort::CompactNonzero(x.At(i), x.Length(i), x.rule, offset + x.Begin(i),
                                                  Behind(sink, starts[i]));
                         progress.Advance(x.Length(i));
                       }
                     });
  return total;
}

size_t PieceElements(size_t count, size_t threads) {
  return std::clamp(count / (std::max<size_t>(threads, 1) * 4), kThreadElements / 4, kPieceElements);
}

size_t Compact(nb::handle x, const char* rule, const lanesort::KeyOrder& order, nb::handle indices_out,
               uint64_t offset, size_t threads, lanesort::Control* control) {
  const Buffer x_buffer(x, "x", 1, false);
  const Buffer indices(indices_out, "indices_out", 1, true);
  const bool split = threads > 1 && x_buffer.shape(0) >= kThreadElements;
  const Elements elements(x_buffer, lanesort::MakeNonzeroRule(order, ParseRule(rule)),
                          split ? PieceElements(x_buffer.shape(0), threads) : kPieceElements);
  const PositionSink sink = TakeSink(indices);
  return split ? CompactOnThreads(elements, offset, sink, threads, control)
               : CompactInTurn(elements, offset, sink, control);
}

size_t CountNonzero(nb::handle x, const char* rule, const lanesort::KeyOrder& order, size_t threads) {
  const Buffer x_buffer(x, "x", 1, false);
  const Elements elements(x_buffer, lanesort::MakeNonzeroRule(order, ParseRule(rule)),
                          PieceElements(x_buffer.shape(0), threads));
  const std::vector<size_t> counts = CountPieces(elements, threads, nullptr);
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

}  // namespace

void bind_compact(nb::module_& module) {
  module.def("compact", &Compact, "x"_a, "rule"_a, "order"_a, "indices_out"_a, "offset"_a = 0, "threads"_a = 1,
             "control"_a.none() = nb::none(),
             "Write position + offset of each element of x (n,) that is not zero, as far as indices_out goes;\n"
             "return how many there are. rule: 'value' (NaN counts, -0.0 does not), 'ordered' (nor does NaN)\n"
             "or 'bits' (any bit). Behind the last position nothing is written.");
  module.def("count_nonzero", &CountNonzero, "x"_a, "rule"_a, "order"_a, "threads"_a = 1,
             "Count the elements of x (n,) that are not zero; rule as for compact.");
}
