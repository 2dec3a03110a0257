"""Counters by name.

Source: docs/hardware/runtime.md#names-of-hardware-counters-in-xtc and docs/hardware/runtime.md#evaluate: T33 and I16.
"""

import itertools

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.kernel_api import kernel
from tensim.runtime import Counters, System, SystemConfig, Tensor, counter_names, to_layout, wait
from tensim.runtime.counters import REDUCTIONS, UNITS, parse_counter
from tensim.runtime.errors import UnknownCounter
from tensim.runtime.layouts import Layout, MemSpace
from tensim.sim.errors import UsageError

CORES, WRITES, SIZE = 4, 5, 1024  # cores in a row write into the L1 of core (0, 1)
EVERY = [name for name in counter_names() if name.startswith("sim.")]


@kernel
def write_out(address, target_address, x, y, writes):
    target = get_noc_addr(x, y, target_address)  # noqa: F405
    for _ in range(writes):
        noc_async_write(address, target, SIZE)  # noqa: F405
        noc_async_write_barrier()  # noqa: F405


def run_writers(device, writes=WRITES):
    """Every core (c, 0) writes `writes` + c times 1 KiB to core (0, 1), over NoC 0."""
    program = tt.create_program()
    cores = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(CORES - 1, 0))
    writer = tt.create_kernel(
        program, write_out, cores, tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.NOC_0)
    )
    target = device.metal.worker_core_from_logical_core(tt.CoreCoord(0, 1))
    base = device.arch.l1_user_base
    for c in range(CORES):
        tt.set_runtime_args(
            program, writer, tt.CoreCoord(c, 0), [base, base + c * SIZE, target.x, target.y, writes + c]
        )
    tt.enqueue_program(device.metal.command_queue(0), program)
    tt.finish(device.metal.command_queue(0))


@pytest.fixture(scope="module")
def measured():
    """(device, counters of everything, started before the writers ran)."""
    with System("wormhole_b0,wormhole_b0") as system:
        devices = [system.open(f"sim://wormhole_b0[{n}]") for n in range(2)]
        counters = Counters(EVERY, system)
        for number, device in enumerate(devices):
            run_writers(device, WRITES + number)
        x = to_layout(Tensor.from_numpy(np.zeros((64, 64), np.float32)), Layout(MemSpace.DRAM), devices[0])
        wait(x)
        wait(x.to_host())
        yield devices, counters


def traffic(device, writes):
    """Bytes of every core's packets: 1 KiB in flits behind a header flit each, and headers of the acknowledgements."""
    flit = int(device.chip.machine["flit_bytes"])
    return [(writes + c) * (SIZE + flit) for c in range(CORES)], sum(writes + c for c in range(CORES)) * flit


def test_noc_bytes_are_the_traffic_of_the_program(measured):  # T33
    devices, counters = measured
    raw = counters.raw()
    sent = [traffic(device, WRITES + number)[0] for number, device in enumerate(devices)]
    for device, expected in zip(devices, sent, strict=True):
        width = device.arch.noc_size[0]
        tiles = [y * width + x for x, y in device.arch.worker_coords[:CORES]]
        assert raw["sim.noc0.bytes"][device.number][tiles].tolist() == expected
    acknowledgements = [traffic(device, WRITES + number)[1] for number, device in enumerate(devices)]
    total = counters.read()["sim.noc0.bytes"] + counters.read()["sim.noc1.bytes"]
    assert total == sum(map(sum, sent)) + sum(acknowledgements)


@pytest.mark.parametrize("name", EVERY)
def test_a_reduced_value_is_the_reduction_of_the_raw_ones(measured, name):  # I16
    devices, counters = measured
    raw = counters.raw()[name]
    for over_chips, over_cores in itertools.product(REDUCTIONS, repeat=2):
        value = reading(counters, f"{name}.chip.{over_chips}.core.{over_cores}")
        per_chip = [REDUCTIONS[over_cores](raw[device.number]) for device in devices]
        assert value == REDUCTIONS[over_chips](per_chip)
    assert reading(counters, name) == sum(values.sum() for values in raw.values())
    assert reading(counters, f"{name}.chip.1.core.0") == raw[1][0]


def reading(counters, name):
    """The value of one more counter over the same stretch as `counters`."""
    counter = parse_counter(name)
    return counter.reduce(counters.raw()[f"sim.{counter.unit}.{counter.event}"], counters.system)


def test_coordinates_select_a_place(measured):
    devices, counters = measured
    raw, device = counters.raw(), devices[0]
    assert reading(counters, "sim.riscv.instructions.chip.0.core.2-0") == raw["sim.riscv.instructions"][0][2] > 0
    x, y = device.arch.worker_coords[1]
    assert reading(counters, f"sim.noc0.bytes.chip.0.core.{x}-{y}") == traffic(device, WRITES)[0][1]


def test_what_the_other_units_count(measured):
    devices, counters = measured
    value = counters.read()
    assert value["sim.pcie.h2d_bytes"] == value["sim.pcie.d2h_bytes"] == 64 * 64 * 4
    assert value["sim.eth.bytes"] == 0
    assert (
        reading(counters, "sim.tensix.cycles.chip.0.core.3") > reading(counters, "sim.tensix.cycles.chip.0.core.0") > 0
    )
    assert value["sim.riscv.stall"] > 0 and value["sim.dram.read_bytes"] == 0
    for device in devices:
        lived = device.system.host_ns - device.opened_ns
        parts = [counters.raw()[f"sim.queue.{part}"][device.number] for part in ("busy", "wait", "idle")]
        assert parts[0][0] >= 0 and sum(parts)[0] <= lived


def test_host_counters_cover_what_the_host_does():
    with System() as system:
        device = system.open("sim://wormhole_b0")
        counters = Counters([f"host.{part}_ns" for part in ("prep", "enqueue", "sync")], system)
        begun = system.host_ns
        system.timeline_host.compute(1234)
        x = to_layout(Tensor.from_numpy(np.zeros((64, 64), np.float32)), Layout(MemSpace.DRAM), device)
        wait(x)
        value = counters.read()
        assert value["host.prep_ns"] == 1234
        assert sum(value.values()) == pytest.approx(system.host_ns - begun)


@pytest.mark.parametrize(
    "name, match",
    [
        ("sim.dram.row_hits", "sim.dram.row_hit"),
        ("sim.noc.bytes", "sim.noc0.bytes"),
        ("dram.row_hit", "sim.dram.row_hit"),
        ("sim.dram.row_hit.core.summ", "sim.dram.row_hit.core.sum"),
        ("sim.dram.row_hit.core.0.chip.0", "sim.dram.row_hit.chip.0.core.sum"),
        ("sim.dram.row_hit.core", "sim.dram.row_hit.core.sum"),
        ("host.prep", "host.prep_ns"),
    ],
)
def test_unknown_names_suggest(name, match):  # T33
    with pytest.raises(UnknownCounter) as info:
        parse_counter(name)
    assert match in info.value.hint


def test_places_that_are_not_there(measured):  # T33
    _, counters = measured
    for name in (
        "sim.dram.row_hit.chip.7",
        "sim.dram.row_hit.core.99",
        "sim.tensix.cycles.core.30-0",
        "sim.dram.row_hit.core.0-0",
    ):
        with pytest.raises(UnknownCounter):
            Counters([name], counters.system)


def test_max_counters_is_enforced():  # T33
    with System(SystemConfig(max_counters=2)) as system:
        system.open("sim://wormhole_b0")
        Counters(["sim.dram.row_hit", "sim.dram.row_miss", "host.prep_ns"], system)
        with pytest.raises(UsageError, match="3 hardware counters"):
            Counters(["sim.dram.row_hit", "sim.dram.row_miss", "sim.noc0.bytes"], system)


def test_every_unit_has_its_events():
    assert {unit: set(events) for unit, events in UNITS.items()} == {
        "tensix": {"cycles", "unpack_busy", "math_busy", "pack_busy", "cb_wait", "cb_reserve"},
        "riscv": {"instructions", "stall"},
        "noc0": {"bytes", "flits", "stall"},
        "noc1": {"bytes", "flits", "stall"},
        "dram": {"read_bytes", "write_bytes", "row_hit", "row_miss"},
        "eth": {"bytes"},
        "pcie": {"h2d_bytes", "d2h_bytes"},
        "queue": {"busy", "idle", "wait"},
    }
