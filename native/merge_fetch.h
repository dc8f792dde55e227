// Puts the values right whose key several values share, such as zeros and NaNs.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "native/merge_path.h"

namespace lanesort {

// The parts of `runs` whose key is `key`, in the order of the runs, and where their merge begins.
template <typename T>
struct SharedKey {
  std::vector<Run> runs;
  uint64_t begin = 0;
  bool alike = true;  // all have the bits `bits`
  T bits = 0;

  SharedKey(const Heads<T>& heads, std::span<const Run> all, T key) {
    for (const Run& run : all) {
      const auto before = [&](uint64_t low, uint64_t bound) {
        return CountKeys(heads, run, low, bound);
      };
      const uint64_t low = before(0, key);
      const uint64_t high = key == KeyMap<T>::kAll ? run.length : before(low, uint64_t{key} + 1);
      begin += low;
      if (low == high) continue;
      runs.push_back(Part(run, low, high));
      Compare(runs.back());
    }
  }

 private:
  // How many keys of the run are below `bound`.
  static uint64_t CountKeys(const Heads<T>& heads, const Run& run, uint64_t low, uint64_t bound) {
    uint64_t high = run.length;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      const T bits = LoadItem<T>(run.values + static_cast<ptrdiff_t>(middle) * run.value_step);
      if (heads.map().Key(bits) < bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  void Compare(const Run& part) {
    if (runs.size() == 1) bits = LoadItem<T>(part.values);
    bool same = true;
    for (uint64_t i = 0; i < part.length; ++i) {
      same &= LoadItem<T>(part.values + static_cast<ptrdiff_t>(i) * part.value_step) == bits;
    }
    alike &= same;
  }
};

// The values of `runs`, all of one key, in merged order.
template <typename T>
std::vector<T> MergedValues(const MergeRule& rule, std::span<const Run> runs) {
  struct Item {
    uint64_t tie;
    T bits;
  };
  const uint64_t flip = rule.tie == Tie::kHigh ? ~uint64_t{0} : 0;
  std::vector<Item> items;
  std::vector<size_t> ends;
  for (const Run& run : runs) {
    for (uint64_t i = 0; i < run.length; ++i) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(i);
      const uint64_t tie = rule.tie == Tie::kRun ? 0 : IndexAt(run, i, rule.index_bytes) ^ flip;
      items.push_back({tie, LoadItem<T>(run.values + at * run.value_step)});
    }
    ends.push_back(items.size());
  }
  if (rule.tie != Tie::kRun) {
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.tie < b.tie; });
  }
  std::vector<T> values;
  values.reserve(items.size());
  for (const Item& item : items) values.push_back(item.bits);
  return values;
}

// Writes the values of the shared keys among the merged `runs`.
template <typename T>
void FetchShared(const MergeRule& rule, std::span<const Run> runs, const PairsOut& out) {
  const Heads<T> heads(rule);
  const KeyMap<T>& map = heads.map();
  std::vector<T> keys{map.zero_key, map.nan_key, static_cast<T>(map.nan_key ^ map.by_sign)};
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const T key : keys) {
    const SharedKey<T> shared(heads, runs, key);
    if (shared.runs.empty()) continue;
    uint8_t* to = out.From(shared.begin).values;
    const auto write = [&](T bits) {
      std::memcpy(to, &bits, sizeof(T));
      to += out.value_step;
    };
    if (!shared.alike) {
      for (const T bits : MergedValues<T>(rule, shared.runs)) write(bits);
    } else if (shared.bits != map.Bits(key)) {
      for (const Run& run : shared.runs) {
        for (uint64_t i = 0; i < run.length; ++i) write(shared.bits);
      }
    }
  }
}

}  // namespace lanesort
