// Two-way merges by bitonic networks, blocks of eight 64-bit integers at a time.
// Included once for each SIMD target.
#if defined(LANESORT_MERGE_NETWORK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LANESORT_MERGE_NETWORK_H_
#undef LANESORT_MERGE_NETWORK_H_
#else
#define LANESORT_MERGE_NETWORK_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lanesort::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = 8;
using D64 = hn::CappedTag<int64_t, kBlock>;
using V64 = hn::Vec<D64>;
constexpr size_t kBlockLanes = hn::MaxLanes(D64());
constexpr size_t kVectors = kBlock / kBlockLanes;

struct Block {
  V64 v[kVectors];
#if HWY_ARCH_ARM
  // Written out because GCC does not compile an implicit one for the target of the namespace.
  HWY_INLINE Block() {}
#endif
};

HWY_INLINE Block LoadBlock(const int64_t* from) {
  const D64 d;
  Block block;
  for (size_t i = 0; i < kVectors; ++i) block.v[i] = hn::LoadU(d, from + i * kBlockLanes);
  return block;
}

HWY_INLINE void StoreBlock(const Block& block, int64_t* to) {
  const D64 d;
  for (size_t i = 0; i < kVectors; ++i) hn::StoreU(block.v[i], d, to + i * kBlockLanes);
}

// A packed pair is (key << kShift | tie) + kBase, as a signed integer. kSentinel is above all.
struct AsInteger {
  static constexpr int kShift = 32;
  static constexpr uint64_t kBase = uint64_t{1} << 63;
  static constexpr int64_t kSentinel = std::numeric_limits<int64_t>::max();

  // Compare-exchange: afterwards each lane of `first` is at most the one of `second`.
  static HWY_INLINE void Exchange(V64& first, V64& second) {
    const V64 least = hn::Min(first, second);
    second = hn::Max(first, second);
    first = least;
  }
};

// For ties below 2^30: as a double it is positive, normal and finite, and compares as the integer
// does, by one instruction on CPUs that have none for the minimum of 64-bit integers.
struct AsDouble {
  static constexpr int kShift = 30;
  static constexpr uint64_t kBase = uint64_t{1} << 52;
  static constexpr int64_t kSentinel = int64_t{0x7FE0} << 48;

  static HWY_INLINE void Exchange(V64& first, V64& second) {
    const hn::Rebind<double, D64> d;
    const auto a = hn::BitCast(d, first);
    const auto b = hn::BitCast(d, second);
    first = hn::BitCast(D64(), hn::Min(a, b));
    second = hn::BitCast(D64(), hn::Max(a, b));
  }
};

constexpr bool kDoublesAreCheaper = HWY_TARGET != HWY_SCALAR && HWY_TARGET > HWY_AVX3;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86

alignas(64) constexpr int64_t kLowOrder[8] = {0, 8, 1, 9, 4, 12, 5, 13};
alignas(64) constexpr int64_t kHighReversed[8] = {15, 7, 14, 6, 11, 3, 10, 2};

HWY_INLINE Block Reversed(const Block& block) { return {{hn::Reverse(D64(), block.v[0])}}; }

// `low` is a sorted block, `high` a sorted one from its largest element to its smallest.
// Afterwards `low` has the eight smallest elements, sorted, `high` the others, as before.
// An element's place has four bits, first the choice of the register, then the lane: before each
// exchange the permutations bring the next lower bit of the place to the front. Highway (1.0.3)
// has no permutation of two registers, hence the intrinsics.
template <class P>
HWY_INLINE void MergeBlocksOf8(Block& low, Block& high) {
  const D64 d;
  V64 p = low.v[0];
  V64 q = high.v[0];
  P::Exchange(p, q);
  V64 s = hn::ConcatLowerLower(d, q, p);
  V64 t = hn::ConcatUpperUpper(d, q, p);
  P::Exchange(s, t);
  p = V64{_mm512_shuffle_i64x2(s.raw, t.raw, 0x88)};
  q = V64{_mm512_shuffle_i64x2(s.raw, t.raw, 0xDD)};
  P::Exchange(p, q);
  s = hn::InterleaveLower(d, p, q);
  t = hn::InterleaveUpper(d, p, q);
  P::Exchange(s, t);
  low.v[0] = V64{_mm512_permutex2var_epi64(s.raw, hn::Load(d, kLowOrder).raw, t.raw)};
  high.v[0] = V64{_mm512_permutex2var_epi64(s.raw, hn::Load(d, kHighReversed).raw, t.raw)};
}

#else

HWY_INLINE Block Reversed(const Block& block) {
  Block result;
  for (size_t i = 0; i < kVectors; ++i) {
    result.v[i] = kBlockLanes == 1 ? block.v[kVectors - 1 - i] : hn::Reverse(D64(), block.v[kVectors - 1 - i]);
  }
  return result;
}

template <class P, bool kAscending>
HWY_INLINE void Exchange(V64& first, V64& second) {
  kAscending ? P::Exchange(first, second) : P::Exchange(second, first);
}

// Exchanges within vectors, of two at a time, after those between vectors.
template <class P, bool kAscending>
HWY_INLINE void ExchangeLanes(V64& first, V64& second) {
#if HWY_TARGET == HWY_SCALAR
  (void)first;
  (void)second;
#else
  const D64 d;
  if constexpr (kBlockLanes == 4) {
    V64 lower = hn::ConcatLowerLower(d, second, first);
    V64 upper = hn::ConcatUpperUpper(d, second, first);
    Exchange<P, kAscending>(lower, upper);
    first = lower;
    second = upper;
  }
  V64 even = hn::InterleaveLower(d, first, second);
  V64 odd = hn::InterleaveUpper(d, first, second);
  Exchange<P, kAscending>(even, odd);
  first = hn::InterleaveLower(d, even, odd);
  second = hn::InterleaveUpper(d, even, odd);
  if constexpr (kBlockLanes == 4) {
    const V64 lower = first;
    first = hn::ConcatLowerLower(d, second, lower);
    second = hn::ConcatUpperUpper(d, second, lower);
  }
#endif
}

template <class P, bool kAscending>
HWY_INLINE void SortBitonic(Block& block) {
  for (size_t distance = kVectors / 2; distance != 0; distance /= 2) {
    for (size_t i = 0; i < kVectors; ++i) {
      if ((i & distance) == 0) Exchange<P, kAscending>(block.v[i], block.v[i + distance]);
    }
  }
  for (size_t i = 0; i + 1 < kVectors; i += 2) ExchangeLanes<P, kAscending>(block.v[i], block.v[i + 1]);
}

// As above.
template <class P>
HWY_INLINE void MergeBlocksOf8(Block& low, Block& high) {
  for (size_t i = 0; i < kVectors; ++i) P::Exchange(low.v[i], high.v[i]);
  SortBitonic<P, true>(low);
  SortBitonic<P, false>(high);
}

#endif

// A merge of two sorted sequences, or a part of one, in progress. Each sequence is followed by
// kBlock sentinels from its end on; between sequence and sentinels nothing is assumed of where
// blocks begin. Exactly `blocks` more blocks are written.
struct Chain {
  const int64_t* a;
  const int64_t* a_end;
  const int64_t* b;
  const int64_t* b_end;
  int64_t* out;
  size_t blocks;
  alignas(64) int64_t held[kBlock];  // the larger half of the last exchange, reversed
};

// Returns the block that has the least next element, and moves on behind it. Which one it is can't
// be predicted: the empty assembly keeps the compiler from making a branch of it.
HWY_INLINE const int64_t* NextBlock(const int64_t*& a, const int64_t* a_end, const int64_t*& b,
                                    const int64_t* b_end) {
  ptrdiff_t from_b = -static_cast<ptrdiff_t>(*b < *a);
  __asm__("" : "+r"(from_b));
  const int64_t* const next = a + ((b - a) & from_b);
  a += std::min<ptrdiff_t>(kBlock, a_end - a) & ~from_b;
  b += std::min<ptrdiff_t>(kBlock, b_end - b) & from_b;
  return next;
}

HWY_INLINE void Start(Chain& chain) {
  const Block first = LoadBlock(NextBlock(chain.a, chain.a_end, chain.b, chain.b_end));
  StoreBlock(Reversed(first), chain.held);
}

// Writes `steps` blocks of each of kChains chains. Several chains at once, because each step waits
// for the one before it.
template <class P, size_t kChains>
HWY_NOINLINE void RunChains(Chain* const* chains, size_t steps) {
  Block high[kChains];
  const int64_t *a[kChains], *b[kChains], *a_end[kChains], *b_end[kChains];
  int64_t* out[kChains];
  for (size_t c = 0; c < kChains; ++c) {
    high[c] = LoadBlock(chains[c]->held);
    a[c] = chains[c]->a;
    b[c] = chains[c]->b;
    a_end[c] = chains[c]->a_end;
    b_end[c] = chains[c]->b_end;
    out[c] = chains[c]->out;
  }
  for (size_t step = 0; step < steps; ++step) {
    for (size_t c = 0; c < kChains; ++c) {
      Block low = LoadBlock(NextBlock(a[c], a_end[c], b[c], b_end[c]));
      MergeBlocksOf8<P>(low, high[c]);
      StoreBlock(low, out[c]);
      out[c] += kBlock;
    }
  }
  for (size_t c = 0; c < kChains; ++c) {
    StoreBlock(high[c], chains[c]->held);
    chains[c]->a = a[c];
    chains[c]->b = b[c];
    chains[c]->out = out[c];
    chains[c]->blocks -= steps;
  }
}

}  // namespace lanesort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
