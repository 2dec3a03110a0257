// In front of every compute kernel that is built against the vendor's LLK: what stands for the assembler's directive, the
// instructions whose operands are constant only once functions are inlined, and what the firmware would define.
#pragma once

// A Tensix word in the text of a RISC-V program is rotated left by two bits; no RISC-V instruction ends with what it then ends with.
__asm__(".macro .ttinsn word\n .4byte ((((\\word) << 2) & 0xffffffff) | (((\\word) >> 30) & 3))\n.endm\n");

// Constants of another C library that kernels have names for of their own
#undef M_E
#undef M_LOG2E
#undef M_LOG10E
#undef M_LN2
#undef M_LN10
#undef M_PI
#undef M_PI_2
#undef M_PI_4
#undef M_1_PI
#undef M_2_PI
#undef M_2_SQRTPI
#undef M_SQRT2
#undef M_SQRT1_2

#include "tensim_vector.h"

#include "ckernel_ops.h"
#undef TTI_INSN
#define TTI_INSN(word) ::tensim::issue(static_cast<unsigned>(word))
#ifdef INSTRUCTION_WORD
#undef INSTRUCTION_WORD
#define INSTRUCTION_WORD(word) ::tensim::issue(static_cast<unsigned>(word))
#endif

// A function template whose parameters all have defaults, passed by its bare name: clang takes it for a function only where a
// function of one type is wanted.
#if defined(UCK_CHLKC_MATH)
#include "ckernel.h"
#include "ckernel_include.h"
#include "chlkc_descriptors.h"
#include "llk_math_eltwise_binary_sfpu_params.h"
using TensimBinaryFunction = void(unsigned, unsigned, unsigned);
#if TENSIM_LLK_TYPED
inline void _llk_math_eltwise_binary_sfpu_params_(TensimBinaryFunction* function, std::uint32_t first, std::uint32_t second,
                                                  std::uint32_t result, decltype(ckernel::VectorMode::RC) mode) {
    _llk_math_eltwise_binary_sfpu_params_([=](auto... operands) { function(operands...); }, first, second, result, mode);
}
#else
template <bool is_approximate>
inline void _llk_math_eltwise_binary_sfpu_params_(TensimBinaryFunction* function, unsigned first, unsigned second, unsigned result,
                                                  int mode) {
    _llk_math_eltwise_binary_sfpu_params_<is_approximate>([=](auto... operands) { function(operands...); }, first, second, result, mode);
}
#endif
#endif
