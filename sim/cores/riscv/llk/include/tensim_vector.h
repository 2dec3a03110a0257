// Vector instructions as the pass over LLVM IR sees them (tensim.sim.cores.riscv.vector): a value is an opaque token,
// every instruction an external call.  A token never exists at run time: the pass gives it one of the eight vector
// registers and turns each call into an instruction word.
#pragma once
#include <cstdint>

// An address space of their own tells tokens from all other values of a program.
struct tensim_lanes;
using tensim_token = __attribute__((address_space(77))) tensim_lanes*;

extern "C" {
// A value that nothing has assigned; a 32-bit number in all lanes; SFPLOADI of a 16-bit number (mode: how it is read)
tensim_token __tensim_sfp_undefined();
tensim_token __tensim_sfp_number(uint32_t bits);
tensim_token __tensim_sfp_immediate(uint32_t mode, uint32_t bits);
// A register that is read only (8 to 15); one of LReg 0 to 7 by its number: read, written, said to be in use by raw words
tensim_token __tensim_sfp_constant(uint32_t number);
tensim_token __tensim_sfp_read(uint32_t number);
void __tensim_sfp_write(uint32_t number, tensim_token value);
void __tensim_sfp_use(uint32_t number);
// A programmable constant (11 to 14) becomes a value (SFPCONFIG)
void __tensim_sfp_configure(uint32_t number, tensim_token value);
tensim_token __tensim_sfp_load(uint32_t format, uint32_t address_mode, uint32_t address);
void __tensim_sfp_store(tensim_token value, uint32_t format, uint32_t address_mode, uint32_t address);
// Instructions by opcode.  one: VD = f(VC, immediate); two: VD = f(VD, VC); three: VD = f(VA, VB, VC)
tensim_token __tensim_sfp_one(uint32_t opcode, uint32_t mode, uint32_t immediate, tensim_token c);
tensim_token __tensim_sfp_two(uint32_t opcode, uint32_t mode, tensim_token d, tensim_token c);
tensim_token __tensim_sfp_three(uint32_t opcode, uint32_t mode, tensim_token a, tensim_token b, tensim_token c);
// Instructions that write several registers: a handle, and its values
tensim_token __tensim_sfp_swap(uint32_t mode, tensim_token d, tensim_token c);
tensim_token __tensim_sfp_transpose(tensim_token l0, tensim_token l1, tensim_token l2, tensim_token l3);
tensim_token __tensim_sfp_part(tensim_token handle, uint32_t index);
// Tables in LReg 0 to 2, and 4 to 6 if there are six
tensim_token __tensim_sfp_lut(uint32_t mode, tensim_token x, tensim_token l0, tensim_token l1, tensim_token l2);
tensim_token __tensim_sfp_lut6(uint32_t mode, tensim_token x, tensim_token l0, tensim_token l1, tensim_token l2,
                               tensim_token l4, tensim_token l5, tensim_token l6);
// Arithmetic for which the pass chooses the instruction
tensim_token __tensim_sfp_add(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_subtract(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_multiply(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_negate(tensim_token a);
tensim_token __tensim_sfp_integer_add(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_integer_subtract(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_shift(tensim_token value, tensim_token amount, uint32_t arithmetic);
// In the lanes that are enabled the new value, in the others the old one
tensim_token __tensim_sfp_assign(tensim_token old_value, tensim_token new_value);
// Conditions: a test (mode of SFPSETCC), a comparison of d with c (SFPLE or SFPGT by opcode), and what is made of these; what they do
// to the lanes that are enabled
tensim_token __tensim_sfp_test(uint32_t mode, tensim_token value);
tensim_token __tensim_sfp_order(uint32_t opcode, tensim_token d, tensim_token c);
tensim_token __tensim_sfp_and(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_or(tensim_token a, tensim_token b);
tensim_token __tensim_sfp_not(tensim_token a);
tensim_token __tensim_sfp_boolean(tensim_token condition);  // 1 where it holds, else 0
void __tensim_sfp_push();
void __tensim_sfp_pop();
void __tensim_sfp_complement();
void __tensim_sfp_narrow(tensim_token condition);
}

// A word whose value is known when the program is built stands in its text; any other goes to the instruction buffer.
namespace tensim {
__attribute__((always_inline)) inline void issue(uint32_t word) {
    if (__builtin_constant_p(word)) {
        __asm__ __volatile__(".ttinsn %0" ::"i"(word));
    } else {
        *reinterpret_cast<volatile uint32_t*>(0xFFE40000u) = word;
    }
}
}  // namespace tensim
