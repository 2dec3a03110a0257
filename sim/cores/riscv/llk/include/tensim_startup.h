// Behind every compute kernel that is built against the vendor's LLK: its firmware's variables, and the start of the program.
// What the words at the beginning of local memory mean: tensim.sim.cores.riscv.llk.build.
#pragma once

#include "internal/firmware_common.h"
#include "stream_io_map.h"
#include "tensim_launch.h"
#if !defined(UCK_CHLKC_MATH)
#include "internal/circular_buffer_init.h"
#include "internal/circular_buffer_interface.h"
#endif

extern "C" void (*const tensim_constructors[])();
extern "C" void (*const tensim_constructors_end[])();

uint32_t unp_cfg_context = 0, pack_sync_tile_dst_ptr = 0, math_sync_tile_dst_index = 0, gl_alu_format_spec_reg = 0, op_info_offset = 0;
uint32_t tt_l1_ptr *rta_l1_base, *crta_l1_base;
uint8_t my_logical_x_, my_logical_y_, my_relative_x_, my_relative_y_;
#if !defined(UCK_CHLKC_MATH)
uint32_t tt_l1_ptr* cb_l1_base;
CBInterface cb_interface[NUM_CIRCULAR_BUFFERS];
#endif

namespace ckernel {
#if defined(__PTR_CONST)
#define TENSIM_FIXED const
#else
#define TENSIM_FIXED
#endif
volatile tt_reg_ptr uint32_t* TENSIM_FIXED reg_base = reinterpret_cast<volatile uint32_t*>(0xFFB10000u);
volatile tt_reg_ptr uint32_t* TENSIM_FIXED pc_buf_base = reinterpret_cast<volatile uint32_t*>(PC_BUF_BASE);
volatile tt_reg_ptr uint32_t* TENSIM_FIXED regfile = reinterpret_cast<volatile uint32_t*>(REGFILE_BASE);
#if defined(__INSTRN_BUFFER_TOS)
volatile tt_reg_ptr uint32_t* const instrn_buffer = reinterpret_cast<volatile uint32_t*>(INSTRN_BUF_BASE);
#endif
volatile tt_reg_ptr uint32_t* TENSIM_FIXED mailbox_base[4] = {
    reinterpret_cast<volatile uint32_t*>(TENSIX_MAILBOX0_BASE), reinterpret_cast<volatile uint32_t*>(TENSIX_MAILBOX1_BASE),
    reinterpret_cast<volatile uint32_t*>(TENSIX_MAILBOX2_BASE), reinterpret_cast<volatile uint32_t*>(TENSIX_MAILBOX3_BASE)};
#undef TENSIM_FIXED
uint32_t cfg_state_id = 0, dest_offset_id = 0, op_info_offset = 0;
}  // namespace ckernel

// What the firmware does before it calls a kernel, then the kernel, then the end of the program.
extern "C" __attribute__((noinline, used)) void tensim_main() {
    const TensimLaunch& launch = tensim_launch;
    rta_l1_base = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.arguments);
    crta_l1_base = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.common_arguments);
    my_logical_x_ = launch.logical_x, my_logical_y_ = launch.logical_y;
    my_relative_x_ = launch.relative_x, my_relative_y_ = launch.relative_y;
    for (int i = 0; i < 64; i++) ckernel::regfile[i] = 0;
    ckernel::reset_cfg_state_id();
#if defined(UCK_CHLKC_MATH)
    // Lanes are enabled by their flags, all of them set; LReg 11 holds -1.
    tensim::issue(0x8Au << 24 | 3u << 12 | 10u);
    tensim::issue(0x91u << 24 | 11u << 4 | 1u);
#else
#if defined(UCK_CHLKC_UNPACK)
    constexpr bool reads = true;
#else
    constexpr bool reads = false;
#endif
    uint32_t tt_l1_ptr* buffers = reinterpret_cast<uint32_t tt_l1_ptr*>(launch.buffers);
    cb_l1_base = buffers;
    setup_local_cb_read_write_interfaces<reads, !reads, !reads>(buffers, 0, launch.buffers_low);
#if TENSIM_UPPER_BUFFERS
    setup_local_cb_read_write_interfaces<reads, !reads, !reads, false>(buffers, 32, launch.buffers_high);
#endif
#endif
    for (auto constructor = tensim_constructors; constructor != tensim_constructors_end; constructor++) (*constructor)();
    run_kernel();
    ckernel::tensix_sync();
}

// The stack's end comes from the link script; the loader has written the data and zeroed the rest.
__asm__(
    ".section .text.tensim_start,\"ax\",@progbits\n"
    ".globl tensim_start\n"
    "tensim_start:\n"
    "  lui sp, %hi(tensim_stack)\n"
    "  addi sp, sp, %lo(tensim_stack)\n"
    "  call tensim_main\n"
    "  ebreak\n"
    ".text\n");
