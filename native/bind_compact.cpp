// compact and Nonzeros: the calls, and how they are split over threads.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <memory>
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
// Below this threads costs more than it gains.
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

// One read, each piece behind the one before it.
size_t CompactInTurn(const Elements& x, uint64_t offset, const PositionSink& sink, lanesort::Control* control) {
  size_t total = 0;
  lanesort::RunUnits(1, x.count, 1, control, [&](size_t, size_t, const Progress& progress) {
    for (size_t i = 0; i < x.Pieces() && !progress.Stopped(); ++i) {
      const PositionSink rest = sink.Part(total, sink.capacity);
      total += lanesort::CompactNonzero(x.At(i), x.Length(i), x.rule, offset + x.Begin(i), rest);
      progress.Advance(x.Length(i));
    }
  });
  return total;
}

// A multiple of 64, so that pieces share no word of marks.
size_t PieceElements(size_t count, size_t threads) {
  return std::clamp(count / (std::max<size_t>(threads, 1) * 4) / 64 * 64, kThreadElements / 4, kPieceElements);
}

// Which elements count, a bit for each: the elements are read once, then memory for their positions
// can be taken, and threads know where each piece begins to write.
class Nonzeros {
 public:
  Nonzeros(nb::handle x, const char* rule, const lanesort::KeyOrder& order, size_t threads,
           lanesort::Control* control) {
    const Buffer x_buffer(x, "x", 1, false);
    const Elements elements(x_buffer, lanesort::MakeNonzeroRule(order, ParseRule(rule)),
                            PieceElements(x_buffer.shape(0), threads));
    length_ = elements.count;
    piece_ = elements.piece;
    marks_ = std::make_unique_for_overwrite<uint64_t[]>(length_ / 64 + 1);
    starts_.resize(elements.Pieces() + 1);
    lanesort::RunUnits(elements.Pieces(), length_, threads, control,
                       [&](size_t begin, size_t end, const Progress& progress) {
                         for (size_t i = begin; i < end && !progress.Stopped(); ++i) {
                           starts_[i] = lanesort::MarkNonzero(elements.At(i), elements.Length(i), elements.rule,
                                                              MarksOf(i));
                           progress.Advance(elements.Length(i));
                         }
                       });
    std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), size_t{0});
  }

  size_t Count() const { return starts_.back(); }

  void Positions(nb::handle indices_out, uint64_t offset, size_t threads, lanesort::Control* control) const {
    const Buffer indices(indices_out, "indices_out", 1, true);
    const PositionSink sink = TakeSink(indices);
    lanesort::RunUnits(starts_.size() - 1, length_, threads, control,
                       [&](size_t begin, size_t end, const Progress& progress) {
                         for (size_t i = begin; i < end && !progress.Stopped(); ++i) {
                           lanesort::WritePositions(MarksOf(i), offset + i * piece_,
                                                    sink.Part(starts_[i], starts_[i + 1] - starts_[i]));
                           progress.Advance(std::min(piece_, length_ - i * piece_));
                         }
                       });
  }

 private:
  uint64_t* MarksOf(size_t piece) const { return marks_.get() + piece * (piece_ / 64); }

  size_t length_ = 0;
  size_t piece_ = 0;  // elements; a multiple of 64
  std::unique_ptr<uint64_t[]> marks_;
  std::vector<size_t> starts_;  // of each piece the position of its first nonzero; the count
};

size_t Compact(nb::handle x, const char* rule, const lanesort::KeyOrder& order, nb::handle indices_out,
               uint64_t offset, size_t threads, lanesort::Control* control) {
  const Buffer x_buffer(x, "x", 1, false);
  const Buffer indices(indices_out, "indices_out", 1, true);
  if (threads > 1 && x_buffer.shape(0) >= kThreadElements) {
    const Nonzeros nonzeros(x, rule, order, threads, control);
    nonzeros.Positions(indices_out, offset, threads, control);
    return nonzeros.Count();
  }
  const Elements elements(x_buffer, lanesort::MakeNonzeroRule(order, ParseRule(rule)), kPieceElements);
  return CompactInTurn(elements, offset, TakeSink(indices), control);
}

}  // namespace

void bind_compact(nb::module_& module) {
  module.def("compact", &Compact, "x"_a, "rule"_a, "order"_a, "indices_out"_a, "offset"_a = 0, "threads"_a = 1,
             "control"_a.none() = nb::none(),
             "Write position + offset of each element of x (n,) that is not zero, as far as indices_out goes;\n"
             "return how many there are. rule: 'value' (NaN counts, -0.0 does not), 'ordered' (nor does NaN)\n"
             "or 'bits' (any bit). Behind the last position nothing is written.");
  nb::class_<Nonzeros>(module, "Nonzeros",
                       "Which elements of x (n,) are not zero; rule as for compact. Only the constructor reads x.")
      .def(nb::init<nb::handle, const char*, const lanesort::KeyOrder&, size_t, lanesort::Control*>(), "x"_a,
           "rule"_a, "order"_a, "threads"_a = 1, "control"_a.none() = nb::none())
      .def_prop_ro("count", &Nonzeros::Count, "How many there are.")
      .def("positions", &Nonzeros::Positions, "indices_out"_a, "offset"_a = 0, "threads"_a = 1,
           "control"_a.none() = nb::none(), "Write the first len(indices_out) positions + offset.");
}
