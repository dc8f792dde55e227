// Merges neighbouring pieces of packed pairs level by level until one is left of each group.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_TREE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_TREE_H_
#undef LANESORT_MERGE_TREE_H_
#else
#define LANESORT_MERGE_TREE_H_
#endif

#include <cstring>
#include <utility>
#include <vector>

#include "native/merge_network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {

// Sorted packed pairs at slot `at` of a buffer, followed by sentinels: Slots(length) in all.
struct Piece {
  size_t at;
  size_t length;
};

inline size_t Blocks(size_t length) { return (length + kBlock - 1) / kBlock; }
inline size_t Slots(size_t length) { return Blocks(length) * kBlock + kBlock; }

template <class P>
void EndWithSentinels(int64_t* piece, size_t length) {
  for (size_t i = length; i < Slots(length); ++i) piece[i] = P::kSentinel;
}

// P is how pairs are packed.
template <class P>
class Tree {
 public:
  // Merges each `ways` consecutive pieces of `from`; both buffers have room for all pieces and, of
  // each group, for one sentinel block more than its merged piece needs. Returns the buffer that
  // holds the result, one piece a group.
  int64_t* Merge(std::vector<Piece>& pieces, size_t ways, int64_t* from, int64_t* to) {
    while (ways > 1) {
      MergeLevel(pieces, ways, from, to);
      ways = (ways + 1) / 2;
      std::swap(from, to);
    }
    return from;
  }

 private:
  static constexpr size_t kChains = kBlockLanes == 8 ? 3 : 2;
  static constexpr size_t kLeastBlocks = 32;  // shorter parts do not pay for the search of the cut

  void MergeLevel(std::vector<Piece>& pieces, size_t ways, const int64_t* from, int64_t* to) {
    merged_.clear();
    tasks_.clear();
    size_t all_blocks = 0;
    for (const Piece& piece : pieces) all_blocks += Blocks(piece.length);
    const size_t part_blocks = std::max(kLeastBlocks, all_blocks / kChains + 1);
    size_t at = 0;
    for (size_t i = 0; i < pieces.size();) {
      const bool pair = (i % ways) + 1 < ways;
      const Piece result{at, pieces[i].length + (pair ? pieces[i + 1].length : 0)};
      if (pair) {
        AddTasks(from + pieces[i].at, pieces[i].length, from + pieces[i + 1].at, pieces[i + 1].length, to + at,
                 part_blocks);
      } else {
        std::memcpy(to + at, from + pieces[i].at, result.length * sizeof(int64_t));
      }
      merged_.push_back(result);
      at += Slots(result.length);
      i += pair ? 2 : 1;
    }
    RunTasks();
    for (const Piece& piece : merged_) EndWithSentinels<P>(to + piece.at, piece.length);
    pieces.swap(merged_);
  }

  // How many of the first `rank` elements of the merge come from `a`.
  static size_t Cut(const int64_t* a, size_t a_length, const int64_t* b, size_t b_length, size_t rank) {
    size_t low = rank > b_length ? rank - b_length : 0;
    size_t high = std::min(rank, a_length);
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (b[rank - middle - 1] < a[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  void AddTasks(const int64_t* a, size_t a_length, const int64_t* b, size_t b_length, int64_t* out,
                size_t part_blocks) {
    const size_t blocks = Blocks(a_length + b_length);
    for (size_t begin = 0; begin < blocks; begin += part_blocks) {
      const size_t rank = begin * kBlock;
      const size_t from_a = begin == 0 ? 0 : Cut(a, a_length, b, b_length, rank);
      Chain& chain = tasks_.emplace_back();
      chain.a = a + from_a;
      chain.a_end = a + a_length;
      chain.b = b + (rank - from_a);
      chain.b_end = b + b_length;
      chain.out = out + rank;
      chain.blocks = std::min(part_blocks, blocks - begin);
    }
  }

  Chain* NextTask() {
    if (next_ == tasks_.size()) return nullptr;
    Chain* const chain = &tasks_[next_++];
    Start(*chain);
    return chain;
  }

  void RunTasks() {
    next_ = 0;
    Chain* running[kChains];
    for (size_t c = 0; c < kChains; ++c) running[c] = NextTask();
    while (running[kChains - 1] != nullptr) {
      size_t steps = running[0]->blocks;
      for (size_t c = 1; c < kChains; ++c) steps = std::min(steps, running[c]->blocks);
      RunChains<P, kChains>(running, steps);
      size_t kept = 0;
      for (size_t c = 0; c < kChains; ++c) {
        if (running[c]->blocks != 0) running[kept++] = running[c];
      }
      while (kept < kChains) running[kept++] = NextTask();
    }
    for (size_t c = 0; c < kChains && running[c] != nullptr; ++c) RunChains<P, 1>(&running[c], running[c]->blocks);
  }

  std::vector<Piece> merged_;
  std::vector<Chain> tasks_;
  size_t next_ = 0;
};

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
