"""`evaluate` (docs/hardware/runtime.md#how-xtc-measures and docs/hardware/runtime.md#evaluate): T31, T32, T34, I16."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from bench import runtime
from tensim.kernel_api import *  # noqa: F403
from tensim.kernel_api import kernel, riscv_wait
from tensim.runtime import (
    Binary,
    DType,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    TensorDesc,
    TensorInfo,
    Variant,
    evaluate,
    to_layout,
)
from tensim.runtime.errors import UnknownCounter
from tensim.sim.errors import UsageError

DESC = TensorDesc((32, 32), DType.F32)
DRAM, TILES = Layout(MemSpace.DRAM), Layout(MemSpace.DRAM, "tile")
X = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
US = 1e-6


@kernel
def busy(cycles):
    riscv_wait(cycles)


@kernel
def read_row(bank, address, reads):
    """Read one DRAM page again and again: the first read opens its row."""
    source = get_noc_addr_from_bank_id(bank, address, dram=True)  # noqa: F405
    for _ in range(reads):
        noc_async_read(source, get_write_ptr(0), 128)  # noqa: F405
        noc_async_read_barrier()  # noqa: F405


def one_kernel(function, arguments):
    def build(device, inputs, outputs):
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.Float32}).set_page_size(0, 2048)
        tt.create_circular_buffer(program, core, config)
        handle = tt.create_kernel(program, function, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, handle, core, arguments(inputs))
        return program

    return build


def binary(variant, layout=DRAM, const=False):
    return Binary(
        [ProgramInfo("p", (TensorInfo("x", DESC, layout, const=const),), (TensorInfo("y", DESC, layout),), (variant,))]
    )


def doubling(ns=1000.0, seen=None):
    """A program known by its time and its numpy function."""

    def double(x):
        if seen is not None:
            seen.append(1)
        return 2 * x

    return Variant("host", function=double, cost_ns=ns)


@pytest.fixture
def functional():
    with System(SystemConfig(ideal=True)) as system:
        yield system.open("sim://wormhole_b0?timing=functional")


# --- T31: repeat, number, min_repeat_ms, warm-up, validation


@pytest.mark.parametrize(
    "repeat, number, warmup, calls", [(1, 1, None, 1 + 1), (3, 4, None, 1 + 12), (2, 0, None, 2), (2, 3, 5, 5 + 6)]
)
def test_number_of_calls(functional, repeat, number, warmup, calls):  # T31
    seen = []
    bound = binary(doubling(seen=seen)).bind(functional)
    result = evaluate((bound, "p"), [X], repeat=repeat, number=number, warmup=warmup)
    assert len(seen) == calls
    assert result.attempts == [max(number, 1)] * repeat
    assert result.seconds == pytest.approx([1 * US] * repeat)
    assert result.code == 0 and result.error == "" and result.validation is None


def test_attempts_double_until_the_simulated_time_is_reached(functional):  # T31
    seen = []
    bound = binary(doubling(ns=1000, seen=seen)).bind(functional)
    result = evaluate((bound, 0), [X], repeat=2, number=3, min_repeat_ms=0.020)
    assert result.attempts == [24, 24]  # 3, 6 and 12 calls take less than 20 us
    assert len(seen) == 1 + 2 * (3 + 6 + 12 + 24)
    assert result.seconds == pytest.approx([1 * US] * 2)


def test_calls_without_simulated_time_cannot_fill_any():  # T31
    with System(), pytest.raises(UsageError, match="min_repeat_ms"):
        evaluate(lambda: None, min_repeat_ms=1)


@pytest.mark.parametrize("validate", [lambda x: x + x, 2 * X])
def test_a_right_result_is_timed(functional, validate):  # T31
    result = evaluate((binary(doubling()).bind(functional), 0), [X], validate=validate)
    assert result.code == 0 and result.validation.ok and result.validation.elements == X.size
    assert len(result.seconds) == 1


@pytest.mark.parametrize("validate", [lambda x: x, X, np.zeros((3, 3), np.float32)])
def test_a_wrong_result_is_not_timed(functional, validate):  # T31
    seen = []
    bound = binary(doubling(seen=seen)).bind(functional)
    result = evaluate((bound, 0), [X], number=9, repeat=2, validate=validate, counters=["sim.dram.row_hit"])
    assert len(seen) == 1
    assert (result.code, result.seconds, result.cycles, result.attempts) == (1, [], [], [])
    assert result.counters == {"sim.dram.row_hit": []} and not result.validation.ok
    assert result.as_xtc() == ([], 1, result.error) and "differ" in result.error


def test_the_tolerance_is_that_of_allclose(functional):  # T31
    bound = binary(doubling()).bind(functional)
    near = (2 * X * (1 + 2e-5)).astype(np.float32)
    assert evaluate((bound, 0), [X], validate=near).code == 1
    assert evaluate((bound, 0), [X], validate=near, rtol=1e-4).code == 0


def test_the_warm_up_is_not_counted():  # T31
    with System() as system:
        device = system.open("sim://wormhole_b0")
        bound = reader(device)
        result = evaluate((bound, 0), [X], number=2, warmup=3, counters=["sim.dram.read_bytes", "sim.dram.row_miss"])
        assert result.counters["sim.dram.read_bytes"] == [READS * 128]
        assert result.counters["sim.dram.row_miss"] == [0]  # the warm-up opened the row


@settings(max_examples=8)
@given(number=st.integers(1, 4), reads=st.integers(1, 5))
def test_value_per_call_times_attempts_is_the_raw_total(number, reads):  # I16
    with System() as system:
        device = system.open("sim://wormhole_b0")
        before = device.chip.arrays["channels"]["read_bytes"].sum()
        result = evaluate((reader(device, reads), 0), [X], number=number, warmup=0, counters=["sim.dram.read_bytes"])
        total = device.chip.arrays["channels"]["read_bytes"].sum() - before
        assert result.counters["sim.dram.read_bytes"][0] * result.attempts[0] == total == number * reads * 128


# --- T32: determinism


READS = 20


def reader(device, reads=READS):
    variant = Variant("sim", one_kernel(read_row, lambda inputs: [0, inputs[0].address, reads]))
    return binary(variant).bind(device)


def test_cold_repeats_are_identical():  # T32
    with System() as system:
        bound = reader(system.open("sim://wormhole_b0"))
        counters = ["sim.dram.row_miss", "sim.tensix.cycles"]
        for clock in ("device", "host"):
            result = evaluate((bound, 0), [X], repeat=4, number=3, clock=clock, state="cold", counters=counters)
            for values in (result.seconds, result.cycles, *result.counters.values()):
                assert len(values) == 4 and len(set(values)) == 1
            assert result.counters["sim.dram.row_miss"] == [1 / 3] * 4


def test_the_first_warm_repeat_opens_the_dram_row():  # T32
    """Which takes no longer than a row that is open: it happens while the request passes the controller.  Refreshes, which meet one
    repeat more often than another, are too rare here to meet any.
    """
    with System(SystemConfig(overrides={"dram.t_refi_ns": 1e9})) as system:
        bound = reader(system.open("sim://wormhole_b0"))
        result = evaluate((bound, 0), [X], repeat=3, warmup=0, counters=["sim.dram.row_miss"])
        assert len(set(result.cycles)) == 1
        assert result.counters["sim.dram.row_miss"] == [1, 0, 0]


# --- T34: the tuple of XTC


def test_shapes_of_the_results(functional):  # T34
    bound = binary(doubling()).bind(functional)
    times = evaluate((bound, 0), [X], repeat=3).as_xtc()
    assert times == (pytest.approx([1 * US] * 3), 0, "")
    names = ["host.enqueue_ns", "host.prep_ns"]
    result = evaluate((bound, 0), [X], repeat=3, counters=names)
    values, code, message = result.as_xtc()
    assert values == [result.counters[name][n] for n in range(3) for name in names] and (code, message) == (0, "")
    assert len(result.seconds) == 3  # beside the counters


# --- clocks, phases, concurrency


def test_clocks(functional):
    bound = binary(doubling(ns=5000)).bind(functional)
    assert evaluate((bound, 0), [X], clock="device").seconds == pytest.approx([5 * US])
    assert evaluate((bound, 0), [X], clock="host").seconds == pytest.approx(
        [5 * US]
    )  # no overhead: the system is ideal
    assert 0 < evaluate((bound, 0), [X], clock="wall").seconds[0] < 60
    with System() as system:
        device = system.open("sim://wormhole_b0?timing=functional")
        bound = binary(doubling(ns=5000)).bind(device)
        assert evaluate((bound, 0), [X], clock="host").seconds[0] > evaluate((bound, 0), [X]).seconds[0] >= 5 * US


def test_included_phases_are_what_a_call_does():
    with System() as system:
        device = system.open("sim://wormhole_b0?timing=functional")
        bound = binary(doubling(), TILES).bind(device)

        def phases(*include):
            result = evaluate((bound, 0), [X], include=include, number=2)
            return {phase for phase, values in result.breakdown.items() if values[0] > 0}

        assert phases("run") == {"run"}
        assert phases("upload", "run") == {"upload", "run"}
        assert phases("prep", "upload", "run") == {"prep", "upload", "run"}
        assert phases("prep") == {"prep"}
        assert phases("run", "download") == {"run", "download", "prep"}  # the host untilizes


def test_resident_and_const_inputs_are_uploaded_before(functional):
    x = to_layout(Tensor.from_numpy(X), DRAM, functional)
    bound = binary(doubling()).bind(functional)
    assert evaluate((bound, 0), [x], include=("upload", "run")).breakdown["upload"] == [0]
    assert x.is_allocated
    const = binary(doubling(), const=True).bind(functional)
    assert evaluate((const, 0), [X], include=("upload", "run"), warmup=0).breakdown["upload"] == [0]


def test_concurrent_calls_overlap_uploads_with_programs(functional):
    bound = binary(doubling(ns=1000)).bind(functional)
    serial = evaluate((bound, 0), [X], include=("upload", "run"), number=8, clock="host")
    together = evaluate((bound, 0), [X], include=("upload", "run"), number=8, clock="host", concurrency=2)
    assert together.seconds[0] < serial.seconds[0]


def test_a_function_is_evaluated(functional):
    bound, x = binary(doubling(ns=700)).bind(functional), to_layout(Tensor.from_numpy(X), DRAM, functional)
    result = evaluate(lambda: bound.submit(0, [x]), number=4, validate=lambda: 2 * X)
    assert result.seconds == pytest.approx([0.7 * US]) and result.validation.ok


@pytest.mark.parametrize("const", [False, True])
def test_nothing_is_left_allocated(functional, const):
    before, bound = functional.memory_view(), binary(doubling(), const=const).bind(functional)
    living = set(functional.system.tensors)
    evaluate((bound, 0), [X], include=("prep", "upload", "run", "download"), number=3, concurrency=2)
    assert functional.memory_view() == before and set(functional.system.tensors) == living


def test_scope_names_the_spans(functional):
    evaluate((binary(doubling()).bind(functional), 0), [X], scope="bench")
    assert {span.scope for span in functional.system.timeline()} == {"bench"}


# --- bad arguments, before anything runs


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"counters": ["sim.dram.rowhit"]}, UnknownCounter),
        ({"repeat": 0}, UsageError),
        ({"number": -1}, UsageError),
        ({"min_repeat_ms": -1}, UsageError),
        ({"concurrency": 0}, UsageError),
        ({"warmup": -1}, UsageError),
        ({"clock": "sundial"}, UsageError),
        ({"state": "tepid"}, UsageError),
        ({"include": ("run", "lunch")}, UsageError),
    ],
)
def test_bad_arguments_run_nothing(functional, arguments, error):
    seen = []
    before = functional.memory_view()
    with pytest.raises(error) as info:
        evaluate((binary(doubling(seen=seen)).bind(functional), 0), [X], **arguments)
    assert seen == [] and functional.memory_view() == before
    if error is UnknownCounter:
        assert "sim.dram.row_hit" in info.value.hint


def test_a_submit_costs_the_device_nothing():
    plain = runtime.matmul_cycles_plain(256)
    assert runtime.matmul_cycles_submitted(256) == plain > 0
