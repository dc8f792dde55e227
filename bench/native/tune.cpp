// Times the algorithms on both sides of a threshold; bench/tune.py compiles it anew for each value.
// The best SIMD target of this CPU alone is compiled in.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "native/merge_groups.h"
#include "native/merge_fetch.h"
#include "native/merge_simd.h"
#include "native/network.h"
#include "native/row_sort.h"

namespace {

using namespace lanesort;
using namespace lanesort::HWY_NAMESPACE;

constexpr size_t kElements = size_t{1} << 18;

KeyOrder FloatOrder() {
  return {32, Kind::kFloat, 0x7F800000, Nan::kLast, false, true, false};
}

// Nanoseconds an element: the best of what fits into a fifth of a second.
template <class Call>
double Best(const Call& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (const auto end = Clock::now() + std::chrono::milliseconds(200); Clock::now() < end;) {
    const auto start = Clock::now();
    call();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best * 1e9 / kElements;
}

std::vector<float> RandomValues() {
  std::vector<float> values(kElements);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (float& value : values) value = normal(generator);
  return values;
}

SortJob JobOf(const std::vector<float>& x, size_t columns, std::vector<uint32_t>& values, std::vector<uint32_t>& indices) {
  SortJob job{};
  job.order = FloatOrder();
  job.rows = kElements / columns;
  job.columns = columns;
  job.input = reinterpret_cast<const uint8_t*>(x.data());
  job.input_row = job.values_row = job.indices_row = static_cast<ptrdiff_t>(columns * 4);
  job.values = reinterpret_cast<uint8_t*>(values.data());
  job.indices = reinterpret_cast<uint8_t*>(indices.data());
  job.value_stride = job.index_stride = job.index_bytes = 4;
  return job;
}

// Rows of `columns` elements, several at a time or one by one.
double SortRowsBy(bool batches, size_t columns) {
  const std::vector<float> x = RandomValues();
  std::vector<uint32_t> values(kElements), indices(kElements);
  const SortJob job = JobOf(x, columns, values, indices);
  const PairRows<Pack32> rows(job);
  const WorkspaceLease lease;
  const Progress progress(nullptr);
  constexpr size_t kBatch = PackedDouble::kLanes;
  return Best([&] {
    if (batches) {
      for (size_t row = 0; row + kBatch <= job.rows; row += kBatch) rows.SortBatch(row, kBatch, columns, *lease);
    } else {
      for (size_t row = 0; row < job.rows; ++row) rows.Sort(row, columns, *lease, progress);
    }
  });
}

double MergeRunsOf(size_t ways) {
  std::vector<float> x = RandomValues();
  std::vector<uint32_t> values(kElements), indices(kElements);
  const MergeRule rule{FloatOrder(), Tie::kRun, 4};
  const size_t length = kElements / ways;
  std::vector<Run> runs;
  for (size_t r = 0; r < ways; ++r) {
    std::sort(x.data() + r * length, x.data() + (r + 1) * length);
    runs.push_back({reinterpret_cast<const uint8_t*>(x.data() + r * length), 4, nullptr, 0, r * length, length});
  }
  const PairsOut out{reinterpret_cast<uint8_t*>(values.data()), 4, reinterpret_cast<uint8_t*>(indices.data()), 4};
  const Progress progress(nullptr);
  return Best([&] { MergePackedSpan<uint32_t>(rule, runs, out, false, progress); });
}

// Groups of four runs of words, `pairs` pairs in a group.
double MergeGroupsOf(size_t pairs) {
  std::vector<float> x = RandomValues();
  std::vector<uint64_t> words(kElements), merged(kElements);
  const size_t length = pairs / 4;
  for (size_t begin = 0; begin < kElements; begin += length) std::sort(x.data() + begin, x.data() + begin + length);
  for (size_t i = 0; i < kElements; ++i) words[i] = std::bit_cast<uint32_t>(x[i]);
  const ptrdiff_t group = static_cast<ptrdiff_t>(pairs * kWordBytes);
  MergeWordsJob job{FloatOrder(), kElements / pairs, {}, reinterpret_cast<uint8_t*>(merged.data()), group};
  for (size_t way = 0; way < 4; ++way) {
    job.runs.push_back({reinterpret_cast<const uint8_t*>(words.data() + way * length), group, length});
  }
  const Progress progress(nullptr);
  return Best([&] { MergePackedGroups<uint32_t>(job, 0, job.groups, progress); });
}

double Measure(const char* what, size_t size) {
  if (std::strcmp(what, "merge") == 0) return MergeRunsOf(size);
  if (std::strcmp(what, "groups") == 0) return MergeGroupsOf(size);
  return SortRowsBy(std::strcmp(what, "batch") == 0, size);
}

}  // namespace

// tune batch COLUMNS | single COLUMNS | merge WAYS | groups PAIRS: prints nanoseconds an element.
int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::printf("%.4f\n", Measure(arguments[1], static_cast<size_t>(std::atoi(arguments[2]))));
  return 0;
}
