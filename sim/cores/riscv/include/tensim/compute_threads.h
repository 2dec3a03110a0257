// What every compute call is made of: its threads, its configuration costs, tt-metal's enumerations.
#pragma once
#include "tensim/circular_buffer.h"

namespace tensim {
TENSIM_INLINE void configure(uint32_t register_code) { post_config(register_code, 0); }
TENSIM_INLINE void configure_math(uint32_t register_code) {
    if constexpr (on_math) configure(register_code);
}
TENSIM_INLINE void configure_pack(uint32_t register_code) {
    if constexpr (on_pack) configure(register_code);
}
TENSIM_INLINE void configure_unpack_math(uint32_t register_code) {
    if constexpr (on_unpack || on_math) configure(register_code);
}
TENSIM_INLINE void configure_all(uint32_t register_code) {
    if constexpr (on_unpack || on_math || on_pack) configure(register_code);
}
static bool accumulate = false;  // what *_tiles_init said about accumulation in Dst
}  // namespace tensim

#ifdef TENSIM_UNPACK
#define UNPACK(x) x
#else
#define UNPACK(x)
#endif
#ifdef TENSIM_MATH
#define MATH(x) x
#else
#define MATH(x)
#endif
#ifdef TENSIM_PACK
#define PACK(x) x
#else
#define PACK(x)
#endif

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
enum class DataCopyType : uint8_t { A2D = 0, B2D = 1 };
enum class VectorMode : int { None = 0, R = 1, C = 2, RC = 4, RC_custom = 6, Invalid = 255 };
enum class InstrModLoadStore { DEFAULT = 0, FP16A = 1, FP16B = 2, FP32 = 3, INT32 = 4, INT8 = 5, LO16 = 6, HI16 = 7 };
enum class RoundingMode { None, Trunc, Floor };
enum class UnaryComparison { EQ, NE, LT, LE, GT, GE };
}  // namespace ckernel
using namespace ckernel;
constexpr auto BCAST_NONE = BroadcastType::NONE;

constexpr bool APPROX = TENSIM_APPROX;
constexpr bool DST_ACCUM_MODE = TENSIM_DST_ACCUM;
constexpr MathFidelity MATH_FIDELITY = MathFidelity(TENSIM_MATH_FIDELITY);
#define DST_SYNC_MODE DstSync(TENSIM_DST_SYNC)
