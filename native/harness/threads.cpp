// Runs every kernel on several threads, to be built with ThreadSanitizer: threads that share an
// input, threads that share one row, calls that are cancelled. Results are compared with those of
// one thread. Prints the seed; exit code 1 if a result differs.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "native/compact.h"
#include "native/dispatch.h"
#include "native/gather.h"
#include "native/merge.h"
#include "native/parallel.h"
#include "native/sort.h"
#include "native/top_k.h"

namespace {

using lanesort::KeyOrder;
using lanesort::Progress;

constexpr size_t kThreads = 4;
constexpr uint64_t kInfinity32 = 0x7F800000;
constexpr KeyOrder kDescending{32, lanesort::Kind::kFloat, kInfinity32, lanesort::Nan::kLast, true, true, false};
constexpr KeyOrder kAscending64{64, lanesort::Kind::kSigned, 0, lanesort::Nan::kLast, false, true, false};

std::atomic<int> failures{0};

void Expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "differs from one thread: %s\n", what);
}

template <typename Body>
void OnThreads(const Body& body) {
  std::vector<std::thread> crew;
  for (size_t i = 0; i < kThreads; ++i) crew.emplace_back([&body, i] { body(i); });
  for (std::thread& member : crew) member.join();
}

template <typename T>
uint8_t* Bytes(std::vector<T>& items) {
  return reinterpret_cast<uint8_t*>(items.data());
}

template <typename T>
const uint8_t* Bytes(const std::vector<T>& items) {
  return reinterpret_cast<const uint8_t*>(items.data());
}

// Random bits with many equal values among them, NaNs and zeros of both signs.
template <typename T>
std::vector<T> Values(std::mt19937_64& random, size_t count) {
  std::vector<T> values(count);
  for (T& value : values) {
    const uint64_t bits = random();
    value = static_cast<T>(bits % 3 == 0 ? bits >> 60 : bits % 3 == 1 ? bits : uint64_t{1} << (8 * sizeof(T) - 1));
  }
  return values;
}

template <typename T>
struct Sorted {
  std::vector<T> values;
  std::vector<uint32_t> indices;
  explicit Sorted(size_t count) : values(count), indices(count) {}
  bool operator==(const Sorted&) const = default;
};

template <typename T>
lanesort::SortJob JobOf(const KeyOrder& order, const std::vector<T>& input, size_t rows, Sorted<T>& out) {
  lanesort::SortJob job{};
  job.order = order;
  job.rows = rows;
  job.columns = input.size() / rows;
  job.input = Bytes(input);
  job.input_row = job.values_row = static_cast<ptrdiff_t>(job.columns * sizeof(T));
  job.values = Bytes(out.values);
  job.value_stride = sizeof(T);
  job.indices = Bytes(out.indices);
  job.indices_row = static_cast<ptrdiff_t>(job.columns * 4);
  job.index_stride = job.index_bytes = 4;
  return job;
}

template <typename T>
Sorted<T> SortAlone(const KeyOrder& order, const std::vector<T>& input, size_t rows) {
  Sorted<T> out(input.size());
  lanesort::SortRows(JobOf(order, input, rows, out), 0, rows, Progress(nullptr));
  return out;
}

// Each thread sorts the same rows into outputs of its own, then all share one set of outputs.
template <typename T>
void SortRowsOfAll(const KeyOrder& order, const std::vector<T>& input, size_t rows) {
  const Sorted<T> expected = SortAlone(order, input, rows);
  OnThreads([&](size_t) { Expect(SortAlone(order, input, rows) == expected, "rows, each thread its own"); });
  Sorted<T> shared(input.size());
  const lanesort::SortJob job = JobOf(order, input, rows, shared);
  OnThreads([&](size_t i) {
    lanesort::SortRows(job, rows * i / kThreads, rows * (i + 1) / kThreads, Progress(nullptr));
  });
  Expect(shared == expected, "rows split over threads");
}

void SortOneRow(const std::vector<uint32_t>& input) {
  const Sorted<uint32_t> expected = SortAlone(kDescending, input, 1);
  Sorted<uint32_t> shared(input.size());
  const lanesort::SortJob job = JobOf(kDescending, input, 1, shared);
  const auto row = lanesort::MakeSharedRow(job);
  if (row == nullptr) return;
  OnThreads([&](size_t) { row->Work(Progress(nullptr)); });
  Expect(shared == expected, "one row shared by threads");
}

lanesort::TopKJob TopKOf(const std::vector<uint32_t>& input, size_t rows, size_t k, Sorted<uint32_t>& out) {
  lanesort::TopKJob job;
  job.order = kDescending;
  job.x = Bytes(input);
  job.rows = rows;
  job.length = input.size() / rows;
  job.x_stride = static_cast<ptrdiff_t>(4 * job.length);
  job.k = k;
  job.values = Bytes(out.values);
  job.indices = Bytes(out.indices);
  job.values_stride = job.indices_stride = static_cast<ptrdiff_t>(4 * k);
  return job;
}

void TopK(const std::vector<uint32_t>& input, size_t rows, size_t k) {
  Sorted<uint32_t> expected(rows * k), shared(rows * k);
  lanesort::TopKRows(TopKOf(input, rows, k, expected), 0, rows, Progress(nullptr));
  const lanesort::TopKJob job = TopKOf(input, rows, k, shared);
  OnThreads([&](size_t i) {
    lanesort::TopKRows(job, rows * i / kThreads, rows * (i + 1) / kThreads, Progress(nullptr));
  });
  Expect(shared == expected, "top-k of rows split over threads");
}

void TopKInPieces(const std::vector<uint32_t>& input, size_t k) {
  Sorted<uint32_t> expected(k), shared(k);
  lanesort::TopKRows(TopKOf(input, 1, k, expected), 0, 1, Progress(nullptr));
  const lanesort::TopKJob job = TopKOf(input, 1, k, shared);
  const size_t bytes = lanesort::CandidateBytes(job);
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<std::vector<Line>> found(kThreads);
  std::vector<size_t> counts(kThreads);
  OnThreads([&](size_t i) {
    const size_t begin = input.size() * i / kThreads;
    const size_t end = input.size() * (i + 1) / kThreads;
    found[i].resize(lanesort::CandidateCapacity(job, end - begin) * bytes / 64 + 2);
    counts[i] = lanesort::FindCandidates(job, 0, begin, end, found[i].data());
  });
  size_t total = 0;
  for (const size_t count : counts) total += count;
  std::vector<Line> all(total * bytes / 64 + 3);
  size_t at = 0;
  for (size_t i = 0; i < kThreads; ++i) {
    std::memcpy(all.data()->bytes + at, found[i].data(), counts[i] * bytes);
    at += counts[i] * bytes;
  }
  lanesort::WriteTopK(job, 0, all.data(), total);
  Expect(shared == expected, "top-k of one row in pieces");
}

// Merges sorted runs on one thread and on several.
void Merge(const std::vector<uint32_t>& input, size_t ways) {
  const Sorted<uint32_t> runs = SortAlone(kDescending, input, ways);
  const size_t length = input.size() / ways;
  std::vector<lanesort::Run> list;
  for (size_t way = 0; way < ways; ++way) {
    list.push_back({Bytes(runs.values) + 4 * way * length, 4, nullptr, 0, way * length, length});
  }
  const lanesort::MergeRule rule{kDescending, lanesort::Tie::kRun, 4};
  Sorted<uint32_t> expected(input.size()), shared(input.size());
  lanesort::Merge(rule, list, {Bytes(expected.values), 4, Bytes(expected.indices), 4}, true, 1, nullptr);
  lanesort::Merge(rule, list, {Bytes(shared.values), 4, Bytes(shared.indices), 4}, true, kThreads, nullptr);
  Expect(shared == expected, "merge in parts");
}

void Compact(const std::vector<uint32_t>& input) {
  const lanesort::NonzeroRule rule = lanesort::MakeNonzeroRule(kDescending, lanesort::Nonzero::kValue);
  std::vector<uint32_t> expected(input.size());
  const size_t total = lanesort::CompactNonzero(input.data(), input.size(), rule, 0, {expected.data(), 32, input.size()});
  OnThreads([&](size_t) {
    std::vector<uint32_t> found(input.size());
    const size_t count =
        lanesort::CompactNonzero(input.data(), input.size(), rule, 0, {found.data(), 32, found.size()});
    Expect(count == total && found == expected, "compaction of a shared input");
  });
}

void Gather(const std::vector<uint32_t>& input, size_t rows) {
  const Sorted<uint32_t> order = SortAlone(kDescending, input, rows);
  const size_t columns = input.size() / rows;
  const ptrdiff_t row = static_cast<ptrdiff_t>(4 * columns);
  std::vector<uint32_t> moved(input.size());
  const lanesort::GatherJob job{rows, columns, 4, Bytes(input), row, 4, Bytes(order.indices), row, 4, Bytes(moved), row};
  OnThreads([&](size_t i) {
    lanesort::GatherRows(job, rows * i / kThreads, rows * (i + 1) / kThreads, Progress(nullptr));
  });
  Expect(moved == order.values, "gather of rows split over threads");
}

// A call that another thread cancels ends; what it wrote is not looked at.
void Cancel(const std::vector<uint32_t>& input) {
  lanesort::Control control;
  Sorted<uint32_t> out(input.size());
  const lanesort::SortJob job = JobOf(kDescending, input, 1, out);
  const auto row = lanesort::MakeSharedRow(job);
  if (row == nullptr) return;
  OnThreads([&](size_t i) {
    if (i == 0) {
      control.cancelled.store(true);
    } else {
      row->Work(Progress(&control));
    }
  });
}

void RunAll(uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<uint32_t> rows = Values<uint32_t>(random, 64 * 1000);
  const std::vector<uint64_t> wide = Values<uint64_t>(random, 16 * 500);
  const std::vector<uint32_t> flat = Values<uint32_t>(random, 300000);
  SortRowsOfAll(kDescending, rows, 64);
  SortRowsOfAll(kAscending64, wide, 16);
  SortOneRow(flat);
  TopK(rows, 64, 20);
  TopKInPieces(flat, 100);
  Merge(flat, 4);
  Compact(flat);
  Gather(rows, 64);
  Cancel(flat);
}

}  // namespace

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 20261130;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (const std::string& target : lanesort::Targets()) {
    lanesort::SetTargets({target});
    RunAll(seed);
    std::printf("%s: every kernel on %zu threads\n", target.c_str(), kThreads);
    lanesort::SetTargets({});
  }
  std::printf("%d results differ\n", failures.load());
  return failures == 0 ? 0 : 1;
}
