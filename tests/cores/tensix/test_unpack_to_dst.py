"""Tiles that are unpacked into Dst itself: the unpack thread cannot run ahead of the math thread."""

import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.kernels.compiler import kernel_from_source

FEED = kernel_from_source(
    """
@kernel
def feed(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)
"""
)
TAKE = kernel_from_source(
    """
@kernel
def take(count):
    for _ in range(count):
        cb_wait_front(16, 1)
        cb_pop_front(16, 1)
"""
)
EXPONENTIAL = kernel_from_source(
    """
@kernel
def exponential(count):
    init_sfpu(0, 16)
    for _ in range(count):
        cb_reserve_back(16, 1)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        exp_tile_init()
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        cb_pop_front(0, 1)
        tile_regs_release()
        cb_push_back(16, 1)
"""
)


def period(data_format, to_dst, fp32_dest=True):
    """Cycles per tile of a stream through the vector unit."""
    core, ends = tt.CoreCoord(0, 0), []
    for count in (4, 12):
        with tt.create_device(0, arch="wormhole_b0", numerics="off") as device:
            program = tt.create_program()
            for cb in (0, 16):
                config = tt.CircularBufferConfig(4 * 4096, {cb: data_format}).set_page_size(cb, 4096)
                tt.create_circular_buffer(program, core, config)
            modes = [tt.UnpackToDestMode.UnpackToDestFp32 if to_dst else tt.UnpackToDestMode.Default]
            engine = tt.ComputeConfig(fp32_dest_acc_en=fp32_dest, unpack_to_dest_mode=modes)
            for source, config in (
                (FEED, tt.ReaderDataMovementConfig()), (EXPONENTIAL, engine), (TAKE, tt.WriterDataMovementConfig()),
            ):  # fmt: skip
                tt.set_runtime_args(program, tt.create_kernel(program, source, core, config), core, [count])
            tt.enqueue_program(device.command_queue(), program, blocking=True)
            ends.append(program_cycles(device.chip))
    return (ends[1] - ends[0]) / 8


def test_the_unpacker_waits_for_the_vector_unit():
    arch = load_arch("wormhole_b0")
    ahead, serial = (period(tt.DataFormat.Float32, to_dst) for to_dst in (False, True))
    copy = arch["tensix.math.copy_instructions"] + arch["tensix.math.copy_overhead"]
    unpack = 4096 / arch["tensix.unpack.bytes_per_cycle"]
    hand_over = 2 * arch["tensix.sync_lag"] + arch["tensix.issue.unpack"]
    assert serial - ahead == pytest.approx(unpack + hand_over - copy, abs=4)


def test_integers_of_32_bits_take_as_long():
    assert period(tt.DataFormat.UInt32, True) == period(tt.DataFormat.Float32, True)


@pytest.mark.parametrize("data_format, fp32_dest", [("Float16_b", True), ("Float32", False)])
def test_narrow_tiles_and_a_narrow_dst_go_by_the_source_registers(data_format, fp32_dest):
    found = [period(tt.DataFormat[data_format], to_dst, fp32_dest) for to_dst in (False, True)]
    assert found[0] == found[1]
