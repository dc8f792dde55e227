// The few functions of libhwy that run-time dispatch needs, for this library alone.
#include "native/dispatch.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace {

std::atomic<int64_t> allowed{0};

#if HWY_ARCH_X86
int64_t Detect() {
  __builtin_cpu_init();
  const bool ssse3 = __builtin_cpu_supports("ssse3");
  const bool sse4 = ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                    __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd");
  return HWY_STATIC_TARGET | (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx3 ? HWY_AVX3 : 0);
}
#else
// Elsewhere the baseline is the only target that is compiled.
int64_t Detect() { return HWY_STATIC_TARGET; }
#endif

int64_t Runnable() {
  static const int64_t runnable = Detect() & (HWY_TARGETS);
  return runnable;
}

}  // namespace

namespace hwy {

int64_t SupportedTargets() {
  const int64_t mask = allowed.load(std::memory_order_relaxed);
  return mask == 0 ? Runnable() : mask;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

HWY_NORETURN void HWY_FORMAT(3, 4) Abort(const char* file, int line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "lanesort: %s:%d: ", file, line);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::abort();
}

}  // namespace hwy

namespace lanesort {
namespace {

std::vector<std::string> Names(int64_t targets) {
  std::vector<std::string> names;
  for (; targets != 0; targets &= targets - 1) names.emplace_back(hwy::TargetName(targets & -targets));
  return names;
}

int64_t TargetOf(const std::string& name) {
  for (int64_t rest = Runnable(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    if (name == hwy::TargetName(target)) return target;
  }
  std::string message = "target " + name + " is not compiled in or does not run here; accepted are";
  for (const std::string& known : Names(Runnable())) message += " " + known;
  throw std::invalid_argument(message);
}

}  // namespace

std::vector<std::string> Targets() { return Names(hwy::SupportedTargets()); }

void SetTargets(const std::vector<std::string>& names) {
  int64_t mask = 0;
  for (const std::string& name : names) mask |= TargetOf(name);
  allowed.store(mask);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace lanesort
