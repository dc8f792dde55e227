// The memory that one thread sorts in.
#pragma once

#include <cstddef>

#include "native/scratch.h"

namespace lanesort {

struct Workspace {
  // Positions have buffers of their own where elements do not hold them.
  Scratch matrix, matrix_positions, sorted, sorted_positions;
  Scratch data, data_positions, spare, spare_positions;

  // Keeps what the next small call will want, gives back the rest.
  void Trim() {
    for (Scratch* scratch : {&data, &data_positions, &spare, &spare_positions}) {
      scratch->ReleaseAbove(size_t{4} << 20);
    }
  }
};

inline Workspace& ThreadWorkspace() {
  static thread_local Workspace space;
  return space;
}

}  // namespace lanesort
