// The networks of Word, in a file of their own because compiling them takes long.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/network_word.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "native/network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template void SortNetwork<Word>(Word::Pointer matrix, size_t count, Word::Pointer sorted);
template void SortBatch<Word>(Word::Pointer lines, size_t pitch, size_t count, Word::Pointer matrix);

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
