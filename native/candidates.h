// Candidates of a selection: (key, position) entries that are totally ordered, so that neither
// the order in which they were found nor the cuts between threads can show in the result.
#if defined(LANESORT_CANDIDATES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_CANDIDATES_H_
#undef LANESORT_CANDIDATES_H_
#else
#define LANESORT_CANDIDATES_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/scratch.h"
#include "native/sort.h"
#include "native/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sorts up to kRankLimit words by counting, for each, those below it: no branch to mispredict.
inline constexpr size_t kRankLimit = 64;

inline void SortByRank(uint64_t* words, size_t n) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN uint64_t copy[kRankLimit];
  std::memcpy(copy, words, n * sizeof(uint64_t));
  PadWithLargest(copy, n);
  const size_t padded = PaddedCount<uint64_t>(n);
  for (size_t i = 0; i < n; ++i) {
    const auto own = hn::Set(d, copy[i]);
    size_t rank = 0;
    for (size_t j = 0; j < padded; j += lanes) rank += hn::CountTrue(d, hn::Lt(hn::Load(d, copy + j), own));
    words[rank] = copy[i];
  }
}

// Sorts words in place; `room` may be used for more than a few, and keeps its memory.
inline void SortWords(uint64_t* words, size_t n, Scratch& room) {
  if (n <= kRankLimit) return SortByRank(words, n);
  auto* copy = room.Get<uint64_t>(n);
  std::memcpy(copy, words, n * sizeof(uint64_t));
  SortJob job{};
  job.order = {64, Kind::kUnsigned, 0, Nan::kLast, false, false, false};
  job.rows = 1;
  job.columns = n;
  job.input = reinterpret_cast<const uint8_t*>(copy);
  job.values = reinterpret_cast<uint8_t*>(words);
  job.value_stride = sizeof(uint64_t);
  SortRows(job, 0, 1, Progress(nullptr));
}

// Key and position in one word, for keys of up to 32 bits in rows of less than 2^32 elements.
// Positions are complemented where the higher one wins, which makes the tie rule part of the word.
template <class T>
struct PackedEntries {
  using Entry = uint64_t;
  using Position = uint32_t;

  static HWY_INLINE Entry Make(T key, Position position, bool tie_high) {
    return uint64_t{key} << 32 | (tie_high ? ~position : position);
  }
  static HWY_INLINE T Key(Entry entry) { return static_cast<T>(entry >> 32); }
  static HWY_INLINE Position PositionOf(Entry entry, bool tie_high) {
    const auto low = static_cast<uint32_t>(entry);
    return tie_high ? ~low : low;
  }

  // Keeps the k best of `count` and at most `slack` more. Returns how many are left.
  static size_t Keep(Entry* entries, size_t count, size_t k, size_t slack) {
    if (count <= k + slack) return count;
    PadWithLargest(entries, count);
    const Entry bound = Threshold(entries, count, k, slack);
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const Entry entry = entries[i];
      entries[kept] = entry;
      kept += entry <= bound ? 1 : 0;
    }
    return kept;
  }

  static void Sort(Entry* entries, size_t count, Scratch& room) { SortWords(entries, count, room); }

  static void SortByPosition(Entry* entries, size_t count, bool tie_high, Scratch& room) {
    // With the halves exchanged the position decides; as positions differ, the key never does.
    for (size_t i = 0; i < count; ++i) entries[i] = std::rotl(tie_high ? entries[i] ^ kLow : entries[i], 32);
    SortWords(entries, count, room);
    for (size_t i = 0; i < count; ++i) entries[i] = std::rotl(entries[i], 32) ^ (tie_high ? kLow : 0);
  }

 private:
  static constexpr uint64_t kLow = 0xFFFFFFFF;
};

// Key and position side by side, for 64-bit keys and for longer rows.
template <class T>
struct WideEntries {
  struct Entry {
    uint64_t key;
    uint64_t position;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key < b.key : a.position < b.position;
    }
  };
  using Position = uint64_t;

  static HWY_INLINE Entry Make(T key, Position position, bool tie_high) {
    return {key, tie_high ? ~position : position};
  }
  static HWY_INLINE T Key(const Entry& entry) { return static_cast<T>(entry.key); }
  static HWY_INLINE Position PositionOf(const Entry& entry, bool tie_high) {
    return tie_high ? ~entry.position : entry.position;
  }
  static size_t Keep(Entry* entries, size_t count, size_t k, size_t slack) {
    if (count <= k + slack) return count;
    std::nth_element(entries, entries + k, entries + count);
    return k;
  }

  static void Sort(Entry* entries, size_t count, Scratch&) { std::sort(entries, entries + count); }

  static void SortByPosition(Entry* entries, size_t count, bool tie_high, Scratch&) {
    std::sort(entries, entries + count, [tie_high](const Entry& a, const Entry& b) {
      return tie_high ? b.position < a.position : a.position < b.position;
    });
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif
