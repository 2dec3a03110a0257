"""Block products that run ahead of the event heap (`sim/cores/tensix/run_ahead.py`) against event by event.

A timeline log is in order of time, and data is read at its time, so a chip that records a log or works on data takes an event
for every step.  The same program must then take the same cycles and count the same work.
"""

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import ProgramError

IN0, IN1, LOW, OUT = 0, 1, 2, 16  # LOW: tiles of half the rows, read without being fed
CORES, ROUNDS = 3, 2
FORMATS = [DataFormat.Bfp4_b, DataFormat.Bfp8_b, DataFormat.Float16_b, DataFormat.Float32]
CAPACITY = {False: 8, True: 4}  # tiles of a Dst section of 16 or 32 bits, half sync
FEED = kernel_from_source(
    """
@kernel
def feed(rounds, n0, n1):
    for i in range(rounds):
        cb_reserve_back(0, n0)
        cb_push_back(0, n0)
        cb_reserve_back(1, n1)
        cb_push_back(1, n1)
"""
)
MULTIPLY = kernel_from_source(
    """
@kernel
def multiply(rounds, missing):
    rt, ct, kt = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    low, sums = get_compile_time_arg_val(3), get_compile_time_arg_val(4)
    mm_block_init(0, 1, 16, 0, ct, rt, kt)
    if sums:
        pack_reconfig_l1_acc(1)
    for i in range(rounds):
        cb_wait_front(0, rt * kt)
        cb_wait_front(1, kt * ct)
        tile_regs_acquire()
        for k in range(kt):
            matmul_block(0, 1, k + missing, k * ct, 0, 0, ct, rt, kt)
            if low:
                matmul_block(2, 1, k, k * ct, 0, 0, ct, rt, kt)
        tile_regs_commit()
        cb_pop_front(0, rt * kt)
        cb_pop_front(1, kt * ct)
        cb_reserve_back(16, rt * ct)
        tile_regs_wait()
        pack_tile_block(0, 16, rt * ct)
        tile_regs_release()
        cb_push_back(16, rt * ct)
"""
)
DRAIN = kernel_from_source(
    """
@kernel
def drain(rounds, tiles):
    for i in range(rounds):
        cb_wait_front(16, tiles)
        cb_pop_front(16, tiles)
"""
)


def counted(chip):
    """Cycles; busy and issue time, operations and stalls by reason of every thread; the matrix unit's work."""
    work = {name: chip.work[name].tolist() for name in chip.work.dtype.names}
    return work | {
        "now": chip.cycle,
        "cores": chip.core_cycles.tolist(),
        "flops": chip.flops,
        "fpu_busy": chip.fpu_busy,
        "oddities": chip.oddities.rows(),
    }


def run(
    arch,
    shape,
    log,
    fidelity="HiFi2",
    wide=False,
    formats=(DataFormat.Float16_b,) * 2,
    missing=0,
    low=0,
    sums=0,
    numerics="off",
    check=False,
):
    """What is counted for blocks of `shape` = (rt, ct, kt) tiles, ROUNDS + n of them on the n-th core, all spans in a `log` or not.

    The last core's in0 tiles lie `missing` tiles too far back.  `low`: 1 multiplies each in1 tile by tiles of LOW as well;
    `sums`: 1 adds the output to what lies in L1.
    """
    rt, ct, kt = shape
    program, cores = tt.create_program(), tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(CORES - 1, 0))
    sizes = {IN0: (formats[0], rt * kt), IN1: (formats[1], kt * ct), OUT: (DataFormat.Float16_b, rt * ct)}
    for cb, (data_format, tiles) in sizes.items():
        page = tile_size(data_format)
        config = tt.CircularBufferConfig(2 * tiles * page, {cb: data_format}).set_page_size(cb, page)
        tt.create_circular_buffer(program, cores, config)
    half = tile_size(DataFormat.Float16_b) // 2
    config = tt.CircularBufferConfig(rt * kt * half, {LOW: DataFormat.Float16_b}).set_page_size(LOW, half)
    tt.create_circular_buffer(program, cores, config.set_tile_dims(LOW, tt.Tile((16, 32))))
    compute = tt.ComputeConfig(
        math_fidelity=tt.MathFidelity[fidelity], fp32_dest_acc_en=wide, compile_args=[rt, ct, kt, low, sums]
    )
    feed = tt.create_kernel(program, FEED, cores, tt.ReaderDataMovementConfig())
    multiply = tt.create_kernel(program, MULTIPLY, cores, compute)
    drain = tt.create_kernel(program, DRAIN, cores, tt.WriterDataMovementConfig())
    for n in range(CORES):
        core, rounds = tt.CoreCoord(n, 0), ROUNDS + n
        tt.set_runtime_args(program, feed, core, [rounds, rt * kt, kt * ct])
        tt.set_runtime_args(program, multiply, core, [rounds, missing if n == CORES - 1 else 0])
        tt.set_runtime_args(program, drain, core, [rounds, rt * ct])
    with tt.create_device(0, arch=load_arch(arch), numerics=numerics, max_cycles=1_000_000, check=check) as device:
        if log:
            device.chip.recordings.enable_log()
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        assert not log or len(device.chip.recordings.log()) > 0
        return counted(device.chip)


def fault(arch, shape, log, **settings):
    """Text, kind and place of the fault of a program that `run` cannot end."""
    with pytest.raises(ProgramError) as raised:
        run(arch, shape, log, **settings)
    return str(raised.value), raised.value.kind, raised.value.where


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi4"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 8, 1), (8, 1, 1), (2, 4, 3), (4, 2, 3), (1, 1, 4), (2, 1, 90)])
def test_same_cycles_and_counters_as_event_by_event(arch, fidelity, shape):
    ahead = run(arch, shape, False, fidelity)
    assert ahead == run(arch, shape, True, fidelity)
    assert ahead["flops"] == 2 * 32**3 * math.prod(shape) * sum(ROUNDS + n for n in range(CORES))


@pytest.mark.parametrize(
    ("shape", "data_format", "fidelity", "cycles"),
    [
        ((4, 2), DataFormat.Bfp8_b, "LoFi", 163),
        ((4, 2), DataFormat.Float16_b, "HiFi2", 323),
        ((1, 6), DataFormat.Float16_b, "LoFi", 238),
    ],
)
def test_a_step_of_a_block_product_takes_what_silicon_takes(shape, data_format, fidelity, cycles):
    """Within 5 %, what the blocks cost beside their steps left out (gemm.csv, rows of 16384^3; height-sharded products): the
    operand that is kept is read while a bank for the one that streams is waited for.
    """
    short, long = (
        run("wormhole_b0", (*shape, k), False, fidelity, formats=(data_format,) * 2)["cores"][CORES - 1]
        for k in (4, 28)
    )
    assert (long - short) / 24 / (ROUNDS + CORES - 1) == pytest.approx(cycles, rel=0.05)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("shape", [(2, 4, 3), (4, 2, 3), (1, 1, 100)])
def test_same_when_operands_of_two_tile_heights_take_turns(arch, shape):
    """A product costs by the height of the tile that was unpacked last, which may be one of the next block already."""
    ahead = run(arch, shape, False, low=1)
    assert ahead == run(arch, shape, True, low=1)
    assert ahead["fpu_busy"] < 2 * run(arch, shape, False)["fpu_busy"]


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi4"])
@pytest.mark.parametrize("shape", [(1, 6, 3), (4, 2, 3), (1, 1, 4), (2, 1, 90)])
def test_same_when_the_packer_adds_to_sums_in_l1(arch, fidelity, shape):
    """Both share L1's width: sums slow the unpackers, and unpackers at work slow the packer."""
    ahead = run(arch, shape, False, fidelity, sums=1)
    assert ahead == run(arch, shape, True, fidelity, sums=1)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("shape", [(2, 4, 3), (1, 1, 4)])
def test_same_with_data(arch, shape):
    assert run(arch, shape, False) == run(arch, shape, False, numerics="fast")


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 4, 3), (1, 1, 4), (2, 1, 90)])
def test_same_with_checks_and_event_by_event(arch, shape):
    """With checks each operation begins with an event of its own; what lies behind that runs ahead."""
    ahead = run(arch, shape, False, check=True)
    assert ahead == run(arch, shape, False) == run(arch, shape, True, check=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    arch=st.sampled_from(["wormhole_b0", "blackhole"]),
    rt=st.integers(1, 8),
    ct=st.integers(1, 8),
    kt=st.integers(1, 5),
    fidelity=st.sampled_from(["LoFi", "HiFi2", "HiFi3", "HiFi4"]),
    wide=st.booleans(),
    formats=st.tuples(*[st.sampled_from(FORMATS)] * 2),
)
def test_same_for_any_block_that_fits_into_dst(arch, rt, ct, kt, fidelity, wide, formats):
    assume(rt * ct <= CAPACITY[wide])
    settings = {"fidelity": fidelity, "wide": wide, "formats": formats}
    assert run(arch, (rt, ct, kt), False, **settings) == run(arch, (rt, ct, kt), True, **settings)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize(("shape", "missing"), [((2, 4, 2), 5), ((4, 2, 2), 13), ((1, 8, 3), 4)])
def test_a_tile_outside_its_buffer_is_as_odd(arch, shape, missing):
    """The block of one core of three is under way when it comes to a tile behind the end of in0: the chip reads what lies there."""
    ahead = run(arch, shape, False, missing=missing)
    assert ahead == run(arch, shape, True, missing=missing)
    (odd,) = ahead["oddities"]
    assert (odd["kind"], odd["core"], odd["thread"], odd["cores"]) == (
        "tile_outside_cb",
        f"({CORES - 1},0)",
        "TRISC0",
        1,
    )


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("shape", [(2, 5, 1), (5, 2, 1), (1, 9, 2)])
def test_a_block_larger_than_dst_is_the_same_fault(arch, shape):
    """Math stops in the middle of the block, at the first product that finds no room."""
    ahead = fault(arch, shape, False)
    assert ahead == fault(arch, shape, True)
    assert ahead[1] == "dst_index"
