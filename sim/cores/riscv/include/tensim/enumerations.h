// Enumerations of the compute API, which data-movement kernels name too.
#pragma once
#include "tensim/environment.h"

namespace ckernel {
enum class BroadcastType : uint8_t { NONE = 0, COL = 1, ROW = 2, SCALAR = 3 };
enum EltwiseBinaryType { ELWADD = 0, ELWSUB = 1, ELWMUL = 2, ELWDIV = 3, ELWLESS = 4 };
enum class EltwiseBinaryReuseDestType { NONE = 0, DEST_TO_SRCA = 1, DEST_TO_SRCB = 2 };
enum PoolType { SUM = 0, AVG = 1, MAX = 2, MIN = 3 };
enum ReduceDim { REDUCE_ROW = 0, REDUCE_COL = 1, REDUCE_SCALAR = 2 };
enum class ReluType : uint8_t { NO_RELU = 0, ZERO_RELU = 1, MIN_THRESHOLD_RELU = 2, MAX_THRESHOLD_RELU = 3 };
enum class SrcOrder { Normal, Reverse };
enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4, Invalid = 255 };
enum DstSync : uint8_t { SyncHalf = 0, SyncFull = 1 };
enum DataCopyType : uint8_t { A2D = 0, B2D = 1 };
enum class InputClamping : uint8_t { None = 0, ClampToNegative = 1 };
// An enumeration that converts to int, whose members do not enter the namespace.
namespace vector_mode {
enum VectorMode : int { None = 0, R = 1, C = 2, RC = 4, RC_custom = 6, Invalid = 255 };
}
using vector_mode::VectorMode;
enum class InstrModLoadStore { DEFAULT = 0, FP16A = 1, FP16B = 2, FP32 = 3, INT32 = 4, INT8 = 5, LO16 = 6, HI16 = 7 };
enum class RoundingMode { None, Trunc, Floor };
enum class UnaryComparison { EQ, NE, LT, LE, GT, GE };
enum class DestReuseType : uint8_t { NONE = 0, DEST_TO_SRCA = 1, DEST_TO_SRCB = 2 };
enum class DstTileShape : uint8_t { Tile32x32 = 0, Tile = 0, Tile32x16 = 1, Tile16x16 = 2 };
enum class p_dim_stride_target : uint8_t { IGNORE = 0, FACE_ROW_MAJOR = 1 };
enum class DataLayout : uint8_t { TILE = 0, ROW_MAJOR = 1 };
enum class PackMode : uint8_t { Default = 0, Untilize = 1, Tilize = 2 };
enum class TopkTieOrder : uint8_t { Unset = 0, Ascending = 1, Descending = 2 };
enum class DstRoundingMode : uint8_t { Default = 0, NearestEven = 1 };
enum class BinaryOp : uint8_t { ADD = 0, SUB = 1, MUL = 2, DIV = 3, RSUB = 4, POW = 5, XLOGY = 6, RSHFT = 7, LSHFT = 8, LOGICAL_RSHFT = 9 };
enum class RsqrtMode : uint8_t { Default = 0, Legacy = 1, Fast = 2 };
enum class ReciprocalDestAcc : uint8_t { FP16 = 0, FP32 = 1 };
enum class ReciprocalApproxMode : uint8_t { Approximate = 0, Precise = 1, Default = 2 };
enum class ThreadId : uint8_t { UnpackThreadId = 0, MathThreadId = 1, PackThreadId = 2, BriscThreadId = 3 };
enum class WelfordInitMode : uint8_t { ClearStats = 0, PreserveStats = 1 };
enum class TwoPassAccumulation : uint8_t { Sum = 0, ShiftedSum = 1 };
enum class TwoPassAnchor : uint8_t { Initialise = 0, Reuse = 1 };
// What the packer does with negative numbers: a ReluType, and its threshold from bit 16 on.
struct ReluConfig {
    uint32_t value;
    static constexpr ReluConfig none() { return {0}; }
    static constexpr ReluConfig zero() { return {1}; }
    static constexpr ReluConfig min_threshold(uint32_t threshold) { return {2 | threshold << 16}; }
    static constexpr ReluConfig max_threshold(uint32_t threshold) { return {3 | threshold << 16}; }
    static constexpr ReluConfig from_packed(uint32_t packed) { return {packed}; }
    constexpr operator uint32_t() const { return value; }
};
template <class T>
TENSIM_INLINE T load_blocking(const volatile T* pointer) {
    return *pointer;
}
// The order in which a sort leaves equal numbers.
constexpr TopkTieOrder topk_tie_order_from_global_direction(bool descending) {
    return descending ? TopkTieOrder::Descending : TopkTieOrder::Ascending;
}
constexpr bool UnpackToDestEn = true, UnpackToDestDis = false;
}  // namespace ckernel
using namespace ckernel;
