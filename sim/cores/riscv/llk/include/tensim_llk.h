// In front of every compute kernel that is built against the vendor's LLK: what stands for the assembler's directive, the
// instructions whose operands are constant only once functions are inlined, and what the firmware would define.
#pragma once

// A Tensix word in the text of a RISC-V program is rotated left by two bits; no RISC-V instruction ends with what it then ends with.
__asm__(".macro .ttinsn word\n .4byte ((((\\word) << 2) & 0xffffffff) | (((\\word) >> 30) & 3))\n.endm\n");

#include "tensim_vector.h"

#include "ckernel_ops.h"
#undef TTI_INSN
#define TTI_INSN(word) ({ __asm__ __volatile__(".ttinsn %0" ::"i"(static_cast<unsigned>(word))); })
