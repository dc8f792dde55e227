// The networks of PackedDouble, in a file of their own because compiling them takes long.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "native/network_packed.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "native/network.h"

HWY_BEFORE_NAMESPACE();
namespace lanesort {
namespace HWY_NAMESPACE {

template void SortNetwork<PackedDouble>(PackedDouble::Pointer matrix, size_t count, PackedDouble::Pointer sorted);
template void SortBatch<PackedDouble>(PackedDouble::Pointer lines, size_t pitch, size_t count, PackedDouble::Pointer matrix);
template void MergeBatch<PackedDouble>(PackedDouble::Pointer lines, size_t pitch, MatrixShape run, size_t runs,
                                       PackedDouble::Pointer matrix);

}  // namespace HWY_NAMESPACE
}  // namespace lanesort
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
