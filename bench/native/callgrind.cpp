// Lets a Python process say when callgrind counts. Outside valgrind these requests do nothing.
#include <valgrind/callgrind.h>

extern "C" {

void counting_begins() { CALLGRIND_START_INSTRUMENTATION; }

void counting_ends(const char* name) {
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name);
}

}  // extern "C"
