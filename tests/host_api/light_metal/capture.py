"""Programs to be captured, and captures that are replayed, for the tests of Light Metal."""

# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.kernel_api import *
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles

WORDS = np.arange(16, dtype=np.uint32)


def dram(device, size, page):
    return tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=size, page_size=page))


def l1(device, size, page):
    config = tt.InterleavedBufferConfig(device=device, size=size, page_size=page, buffer_type=tt.BufferType.L1)
    return tt.create_buffer(config)


def final_state(device):
    """What must be the same after a replay: cycles, clock, memory."""
    return program_cycles(device.chip), device.chip.cycle, device.chip.memory.image_sha256()


def check_replay(device, binary):
    """The binary replays to the state of the device that it was captured on; returns the replay."""
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        assert final_state(replay.devices[0]) == final_state(device)
    finally:
        replay.close()
    assert all(item["passed"] for item in replay.compares)
    return replay


@kernel
def copy_through_l1(l1_address, source, source_bank, target, target_bank, size):
    noc_async_read(get_noc_addr_from_bank_id(source_bank, source, dram=True), l1_address, size)
    noc_async_read_barrier()
    noc_async_write(l1_address, get_noc_addr_from_bank_id(target_bank, target, dram=True), size)
    noc_async_write_barrier()


def copy_program(device, source, target, scratch, per_core=False):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    handle = tt.create_kernel(program, copy_through_l1, core, tt.WriterDataMovementConfig())
    args = [scratch, source, 0, target, 0, 64]
    if per_core:
        tt.set_runtime_args(program, handle, [core], [args])
    else:
        tt.set_runtime_args(program, handle, core, args)
    return program


@kernel
def exponential():
    blocks, tiles = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    init_sfpu(0, 16)
    for _ in range(blocks * tiles):
        cb_wait_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        exp_tile_init()
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_pop_front(0, 1)
        cb_push_back(16, 1)
