// Tensix instruction words in C++: what stands for the assembler's directive, and the instructions whose operands are constant
// only once functions are inlined.
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
