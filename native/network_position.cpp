// The networks of KeyAndPosition, in a file of their own because compiling them takes long.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/network_position.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "native/network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template void SortNetwork<KeyAndPosition>(KeyAndPosition::Pointer matrix, size_t count, KeyAndPosition::Pointer sorted);
template void SortBatch<KeyAndPosition>(KeyAndPosition::Pointer lines, size_t pitch, size_t count, KeyAndPosition::Pointer matrix);

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
