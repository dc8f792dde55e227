// The extension module: targets here, each concept in its own binding file.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <hwy/highway.h>

#include <cstdlib>
#include <sstream>

#include "native/dispatch.h"

namespace nb = nanobind;
using namespace nb::literals;

#define LANESORT_BIND(concept_name) void bind_##concept_name(nb::module_& module);
#include "bindings.inc"
#undef LANESORT_BIND

namespace {

// LANESORT_TARGETS=AVX2,SSE4 restricts the kernels, as set_targets does.
void SetTargetsFromEnvironment() {
  const char* text = std::getenv("LANESORT_TARGETS");
  if (text == nullptr || *text == '\0') return;
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  lanesort::SetTargets(names);
}

std::string Build() {
#if defined(__clang__)
  const std::string compiler = "Clang " + std::to_string(__clang_major__);
#else
  const std::string compiler = "GCC " + std::to_string(__GNUC__);
#endif
  return compiler + ", Highway " + std::to_string(HWY_MAJOR) + "." + std::to_string(HWY_MINOR) + "." +
         std::to_string(HWY_PATCH);
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "The native core of lanesort: kernels on keys and positions.";
  try {
    SetTargetsFromEnvironment();
  } catch (const std::invalid_argument& error) {
    throw nb::import_error((std::string("LANESORT_TARGETS: ") + error.what()).c_str());
  }
  module.attr("build") = Build();  // the compiler and the Highway that made the kernels
  module.def("targets", &lanesort::Targets, "Names of the SIMD targets that the kernels may use, best first.");
  module.def("set_targets", &lanesort::SetTargets, "names"_a,
             "Restrict the kernels to these SIMD targets; an empty list allows all again.");
#define LANESORT_BIND(concept_name) bind_##concept_name(module);
#include "bindings.inc"
#undef LANESORT_BIND
}
