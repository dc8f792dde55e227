// Runs the units of a call (rows, parts of one row) on threads, interruptible from Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "native/control.h"

namespace lanesort {

// Does unit numbers [begin, end); `progress` says when to give up.
using UnitRange = std::function<void(size_t begin, size_t end, const Progress& progress)>;

// Calls `body` until units 0 … units-1 are done. To be called with the GIL held, which is released
// meanwhile. Small jobs (`elements` is the measure) run inline. Larger ones run on up to `threads`
// new threads, while the caller waits and looks for signals: a KeyboardInterrupt stops the call.
// Threads end with the call, so that a fork between calls is safe.
// Throws what `body` throws; nanobind::python_error after a signal; Cancelled when
// control->cancelled was set.
void RunUnits(size_t units, uint64_t elements, size_t threads, Control* control, const UnitRange& body);

// Thrown when a call ends because Control.cancel() was called.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("the call was cancelled") {}
};

}  // namespace lanesort
