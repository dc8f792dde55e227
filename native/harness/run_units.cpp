// RunUnits without Python: plain threads, so that a sanitizer sees the kernels and nothing else.
#include "native/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace lanesort {

void RunUnits(size_t units, uint64_t elements, size_t threads, Control* control, const UnitRange& body) {
  if (control != nullptr) control->total.store(elements);
  const Progress progress(control);
  std::atomic<size_t> next{0};
  std::vector<std::thread> crew;
  for (size_t i = 0; i < std::clamp<size_t>(threads, 1, std::max<size_t>(1, units)); ++i) {
    crew.emplace_back([&] {
      for (size_t unit = next.fetch_add(1); unit < units && !progress.Stopped(); unit = next.fetch_add(1)) {
        body(unit, unit + 1, progress);
      }
    });
  }
  for (std::thread& member : crew) member.join();
}

}  // namespace lanesort
