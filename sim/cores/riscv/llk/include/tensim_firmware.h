// What tt-metal's firmware of a compute processor does around a kernel, for a kernel that is an ELF file of its own
// (tensim.sim.cores.riscv.llk.kernel_files): its variables lie where that kernel has been linked to find them.
#pragma once

#include "ckernel.h"
#include "hostdev/dev_msgs.h"
#include "internal/firmware_common.h"
#include "stream_io_map.h"
#include "tensim_launch.h"
#if defined(TENSIM_HAS_cb_interface)
#include "internal/circular_buffer_init.h"
#include "internal/circular_buffer_interface.h"
#endif

extern "C" void tensim_kernel();
extern uint32_t tt_l1_ptr *rta_l1_base, *crta_l1_base;
extern uint8_t my_logical_x_, my_logical_y_, my_relative_x_, my_relative_y_;

namespace ckernel {
volatile tt_reg_ptr uint32_t* const tensim_registers = reinterpret_cast<volatile uint32_t*>(REGFILE_BASE);
}

extern "C" __attribute__((noinline, used)) void tensim_main() {
    // The firmware's variables begin where the launch words lie.
    const TensimLaunch launch = tensim_launch;
    volatile uint32_t* first = reinterpret_cast<volatile uint32_t*>(&tensim_launch);
    for (unsigned i = 0; i < sizeof(TensimLaunch) / 4; i++) first[i] = 0;
#if defined(TENSIM_HAS_rta_l1_base)
    rta_l1_base = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.arguments);
#endif
#if defined(TENSIM_HAS_crta_l1_base)
    crta_l1_base = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.common_arguments);
#endif
#if defined(TENSIM_HAS_my_logical_x_)
    my_logical_x_ = launch.logical_x;
#endif
#if defined(TENSIM_HAS_my_logical_y_)
    my_logical_y_ = launch.logical_y;
#endif
#if defined(TENSIM_HAS_my_relative_x_)
    my_relative_x_ = launch.relative_x;
#endif
#if defined(TENSIM_HAS_my_relative_y_)
    my_relative_y_ = launch.relative_y;
#endif
    for (int i = 0; i < 64; i++) ckernel::tensim_registers[i] = 0;
    volatile uint32_t* words = reinterpret_cast<volatile uint32_t*>(0xFFE40000u);
#if defined(UCK_CHLKC_MATH)
    // Lanes are enabled by their flags, all of them set; LReg 11 holds -1.
    words[0] = 0x8Au << 24 | 3u << 12 | 10u;
    words[0] = 0x91u << 24 | 11u << 4 | 1u;
#endif
#if defined(TENSIM_HAS_cb_interface)
    constexpr bool reads = COMPILE_FOR_TRISC == 0;
    uint32_t tt_l1_ptr* buffers = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.buffers);
    setup_local_cb_read_write_interfaces<reads, !reads, !reads>(buffers, 0, launch.buffers_low);
#if TENSIM_UPPER_BUFFERS
    setup_local_cb_read_write_interfaces<reads, !reads, !reads, false>(buffers, 32, launch.buffers_high);
#endif
#endif
    volatile mailboxes_t* mailboxes = reinterpret_cast<volatile mailboxes_t*>(MEM_MAILBOX_BASE);
    mailboxes->go_message_index = 0;
    mailboxes->go_messages[0].signal = RUN_MSG_GO;
    tensim_kernel();
    // The end of what this thread has pushed (TTSync)
    *reinterpret_cast<volatile uint32_t*>(PC_BUF_BASE + 4) = 0;
    (void)*reinterpret_cast<volatile uint32_t*>(PC_BUF_BASE + 4);
}

__asm__(
    ".section .text.tensim_start,\"ax\",@progbits\n"
    ".globl tensim_start\n"
    ".option push\n"
    ".option norelax\n"
    "tensim_start:\n"
    "  lui gp, %hi(tensim_global_pointer)\n"
    "  addi gp, gp, %lo(tensim_global_pointer)\n"
    "  lui sp, %hi(tensim_stack)\n"
    "  addi sp, sp, %lo(tensim_stack)\n"
    "  call tensim_main\n"
    "  ebreak\n"
    ".option pop\n"
    ".text\n");
