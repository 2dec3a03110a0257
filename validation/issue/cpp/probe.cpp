// A loop of one kind of instruction on some compute threads of a core.
//
// Defines: THREADS has bit t for TRISC t, the others end at once; PROBE names one of the stretches of instructions below, of
// which COUNT follow each other in the loop (0: an empty loop).  Runtime arguments: rounds, and 4 KiB of L1 per thread.

#include <cstdint>

#include "compute_kernel_api/common.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

// Operands: l1 and stack point to words that hold their own addresses, one and three are these numbers, x may be changed.
// `place` is the number of the stretch.
#define rv_addi_indep "addi t0, %[one], 1"
#define rv_addi_dep "addi %[x], %[x], 1"
#define rv_mul_indep "mul t0, %[one], %[three]"
#define rv_mul_dep "mul %[x], %[x], %[three]"
#define rv_div "divu t0, %[all_bits], %[three]"
#define rv_load_chase "lw %[l1], 0(%[l1])"
#define rv_load_indep ".irp to, t0, t1, t2, t3\n lw \\to, 16 * place(%[l1])\n .endr"
#define rv_store_spread "sw %[one], 16 * place(%[l1])"
#define rv_store_coalesce "sw %[one], 0(%[l1])"
#define rv_load_stack "lw %[stack], 0(%[stack])"
#define rv_store_stack "sw %[one], 4 * place(%[stack])"
#define c_ctrl_xor "xori %[x], %[x], 1"
#define c_nt "beqz %[one], 1f\n 1:"
#define c_t "bnez %[one], 1f\n 1:"
#define c_jal "j 1f\n 1:"
#define c_xor_nt "xori %[x], %[x], 1\n beqz %[one], 1f\n 1:"
#define c_xor_t "xori %[x], %[x], 1\n bnez %[one], 1f\n 1:"
#define c_xor_alt "xori %[x], %[x], 1\n beqz %[x], 1f\n 1:"

constexpr uint32_t words = 64;

namespace NAMESPACE {
void MAIN {
    if ((THREADS >> COMPILE_FOR_TRISC & 1) == 0) {
        return;
    }
    const uint32_t rounds = get_arg_val<uint32_t>(0);
    uint32_t l1 = get_arg_val<uint32_t>(1) + 4096 * COMPILE_FOR_TRISC;
    volatile uint32_t local[words];
    uint32_t stack = reinterpret_cast<uint32_t>(local);
    uint32_t x = 1;
    *reinterpret_cast<volatile uint32_t*>(l1) = l1;
    local[0] = stack;
    for (uint32_t i = 0; i < rounds; i++) {
        asm volatile(".set place, 0\n .rept " TEXT(COUNT) "\n" PROBE "\n .set place, place + 1\n .endr"
                     : [l1] "+r"(l1), [stack] "+r"(stack), [x] "+r"(x)
                     : [one] "r"(1), [three] "r"(3), [all_bits] "r"(-1)
                     : "t0", "t1", "t2", "t3", "memory");
    }
}
}
