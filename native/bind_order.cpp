// KeyOrder and Control.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

#include "native/buffer.h"
#include "native/control.h"
#include "native/order.h"
#include "native/parallel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using lanesort::Kind;
using lanesort::Nan;

Kind ParseKind(const std::string& name) {
  if (name == "unsigned") return Kind::kUnsigned;
  if (name == "signed") return Kind::kSigned;
  if (name == "float") return Kind::kFloat;
  if (name == "time") return Kind::kTime;
  throw nb::value_error(("kind is '" + name + "'; accepted are unsigned, signed, float, time").c_str());
}

Nan ParseNan(const std::string& name) {
  if (name == "last") return Nan::kLast;
  if (name == "largest") return Nan::kLargest;
  if (name == "sign-magnitude") return Nan::kSignMagnitude;
  if (name == "total") return Nan::kTotal;
  throw nb::value_error(
      ("nan is '" + name + "'; accepted are last, largest, sign-magnitude, total").c_str());
}

lanesort::KeyOrder MakeOrder(uint32_t bits, const std::string& kind, uint64_t infinity, const std::string& nan,
                             bool descending, bool zero_equal, bool tie_high) {
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    throw nb::value_error(("bits is " + std::to_string(bits) + "; accepted are 8, 16, 32, 64").c_str());
  }
  return {bits, ParseKind(kind), infinity, ParseNan(nan), descending, zero_equal, tie_high};
}

template <typename T>
nb::object Map(nb::handle bits, nb::handle out, const lanesort::KeyOrder& order) {
  const lanesort::Buffer from(bits, "bits", 1, false);
  const lanesort::Buffer to(out, "out", 1, true);
  for (const lanesort::Buffer* buffer : {&from, &to}) {
    buffer->RequireItem(sizeof(T));
    buffer->RequireStride(0, sizeof(T));
  }
  to.RequireShape(0, from.shape(0));
  const lanesort::KeyMap<T> map(order);
  for (size_t i = 0; i < from.shape(0); ++i) {
    T value;
    std::memcpy(&value, static_cast<const char*>(from.data()) + i * sizeof(T), sizeof(T));
    value = map.Key(value);
    std::memcpy(static_cast<char*>(to.data()) + i * sizeof(T), &value, sizeof(T));
  }
  return nb::borrow(out);
}

nb::object Keys(nb::handle bits, const lanesort::KeyOrder& order, nb::handle out) {
  switch (order.bits) {
    case 8: return Map<uint8_t>(bits, out, order);
    case 16: return Map<uint16_t>(bits, out, order);
    case 32: return Map<uint32_t>(bits, out, order);
    default: return Map<uint64_t>(bits, out, order);
  }
}

}  // namespace

void bind_order(nb::module_& module) {
  nb::class_<lanesort::KeyOrder>(module, "KeyOrder", "How bits compare: a map to unsigned keys, and the tie rule.")
      .def("__init__",
           [](lanesort::KeyOrder* self, uint32_t bits, const std::string& kind, uint64_t infinity,
              const std::string& nan, bool descending, bool zero_equal, bool tie_high) {
             new (self) lanesort::KeyOrder(MakeOrder(bits, kind, infinity, nan, descending, zero_equal, tie_high));
           },
           "bits"_a, "kind"_a, "infinity"_a, "nan"_a, "descending"_a, "zero_equal"_a, "tie_high"_a)
      .def_ro("bits", &lanesort::KeyOrder::bits)
      .def_ro("descending", &lanesort::KeyOrder::descending)
      .def_ro("tie_high", &lanesort::KeyOrder::tie_high);

  nb::class_<lanesort::Control>(module, "Control", "Cancels a running call from another thread, and shows how far it is.")
      .def(nb::init<>())
      .def("cancel", [](lanesort::Control& self) { self.cancelled.store(true); },
           "End the call soon; it raises Cancelled and leaves its outputs half written.")
      .def_prop_ro("cancelled", [](const lanesort::Control& self) { return self.cancelled.load(); })
      .def_prop_ro("done", [](const lanesort::Control& self) { return self.done.load(); }, "Elements finished.")
      .def_prop_ro("total", [](const lanesort::Control& self) { return self.total.load(); }, "Elements of the call.");

  nb::exception<lanesort::Cancelled>(module, "Cancelled", PyExc_RuntimeError);
  module.def("keys", &Keys, "bits"_a, "order"_a, "out"_a,
             "Write the keys of one-dimensional bits to out, and return it.");
}
