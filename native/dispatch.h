// Which SIMD targets exist, and which of them the kernels may use.
#pragma once

#include <string>
#include <vector>

namespace lanesort {

// Names of the targets that are compiled in, run on this CPU and are allowed; best first.
std::vector<std::string> Targets();

// Restricts the kernels to `names`; an empty list allows all again. Throws std::invalid_argument
// for a name that is not compiled in or does not run here. Not to be called while kernels run.
void SetTargets(const std::vector<std::string>& names);

}  // namespace lanesort
