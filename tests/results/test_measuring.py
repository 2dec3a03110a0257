"""`with tt.measure(device) as m:` gives what ran in the block, and only that; the simulation does not notice."""

import pytest

import tensim as tt
import tensim.ttnn.devices as ttnn_devices
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.runtime.system import System
from tensim.sim.chip import statistics
from tensim.sim.errors import UsageError

ADD, COPY = find_program("eltwise_add"), find_program("dram_loopback")
SMALL = Options(shape="64x64")
COUNTING = """
from tensim.kernel_api import *

@kernel
def counts():
    for i in range(1000):
        noc_async_read_barrier()
"""


@pytest.fixture
def device():
    with tt.create_device(0) as device:
        yield device


def counts(summary):
    """The figures of a summary that add up over two intervals."""
    return {
        "cycles": summary["cycles"],
        "operations": summary["operations"],
        "flops": summary["flops"],
        "read_bytes": summary["dram"]["read_bytes"],
        "row_hits": summary["dram"]["row_hits"],
        "noc": sum(summary["noc"]["bytes"].values()),
        "stalls": sum(link["stall_cycles"] for link in summary["noc"]["links"]),
        "kernel operations": sum(part["operations"] for part in summary["breakdown"].values()),
    }


def test_a_block_has_what_ran_in_it_and_no_more(device):
    with tt.measure(device) as first:
        ADD.run_on(device, SMALL)
    with tt.measure(device) as second:
        COPY.run_on(device, SMALL)
    whole, parts = counts(statistics.collect(device.chip)), [counts(m.result.summary) for m in (first, second)]
    assert {name: parts[0][name] + parts[1][name] for name in whole} == whole
    assert parts[0]["flops"] > 0 and parts[1]["flops"] == 0
    assert {line["kernel"] for line in second.result.lines} == {k["name"] for k in second.result.identity["kernels"]}
    assert {kernel["name"] for kernel in second.result.identity["kernels"]}.isdisjoint(
        kernel["name"] for kernel in first.result.identity["kernels"]
    )


def test_the_first_block_of_a_device_is_the_run_of_the_program(device):
    with tt.measure(device) as m:
        ADD.run_on(device, SMALL)
    alone = tt.run("eltwise_add", shape="64x64")
    own = {"name", "description", "verified", "loops", "host_seconds"}
    assert {k: v for k, v in m.result.summary.items() if k not in own} == {
        k: v for k, v in alone.summary.items() if k not in own
    }


def test_the_longest_program_of_a_thread_is_that_of_the_block(device):
    ADD.run_on(device, Options(shape="128x128"))
    whole = statistics.breakdown(device.chip)["BRISC"]["longest_cycles"]
    with tt.measure(device) as m:
        ADD.run_on(device, SMALL)
    assert 0 < m.result["breakdown"]["BRISC"]["longest_cycles"] < whole
    assert statistics.breakdown(device.chip)["BRISC"]["longest_cycles"] == whole


def test_blocks_may_stand_in_one_another(device):
    with tt.measure(device) as outer:
        ADD.run_on(device, SMALL)
        with tt.measure(device) as inner:
            COPY.run_on(device, SMALL)
    assert outer.result.cycles > inner.result.cycles > 0
    assert outer.result["flops"] > 0 and inner.result["flops"] == 0


def test_work_that_is_still_queued_at_the_end_belongs_to_the_block(device):
    program = tt.create_program()
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    tt.create_kernel_from_string(program, COUNTING, tt.CoreCoord(0, 0), config)
    with tt.measure(device) as m:
        tt.enqueue_program(device.command_queue(), program)
    assert m.result.cycles > 1000 and [kernel["name"] for kernel in m.result.identity["kernels"]] == ["counts"]


def test_an_empty_block_has_an_empty_result(device):
    ADD.run_on(device, SMALL)
    with tt.measure(device) as m:
        pass
    assert m.result.cycles == 0 and m.result.kernel_operations == 0 and m.result.links == []
    assert m.result["breakdown"] == {} and m.result.identity["kernels"] == []


def test_there_is_no_result_before_the_end_or_after_an_error(device):
    with tt.measure(device) as m, pytest.raises(UsageError, match="the block has not ended"):
        m.result  # noqa: B018
    broken = tt.measure(device)
    with pytest.raises(ZeroDivisionError), broken:
        1 / 0  # noqa: B018
    with pytest.raises(UsageError, match="ended in an error"):
        broken.result  # noqa: B018
    assert device.system.executor.observers == []


def test_a_closed_device_cannot_be_measured(device):
    tt.close_device(device)
    with pytest.raises(UsageError, match="device 0 is closed"), tt.measure(device):
        pass


def test_devices_of_the_runtime_and_of_ttnn_can_be_measured():
    with System("n150") as system, tt.measure(system.open("sim://wormhole_b0")) as m:
        pass
    assert m.result.cycles == 0 and m.result.arch == "wormhole_b0"
    device = ttnn_devices.open_device(device_id=0)
    with tt.measure(device) as m:
        launch(device.host, ZONES, 1)
    ttnn_devices.close_device(device)
    assert m.result.cycles > 0


def test_what_is_no_device_cannot_be_measured():
    with pytest.raises(UsageError, match="'chip' cannot be measured"):
        tt.measure("chip")


# --- profiler zones

ZONES = """
from tensim.kernel_api import *

@kernel
def steps(n):
    for i in range(n):
        with DeviceZoneScopedN("STEP"):
            noc_async_read_barrier()
            DeviceZoneScopedN("INNER")
            noc_async_write_barrier()
"""


def launch(device, text, n):
    program, cores = tt.create_program(), tt.CoreRange((0, 0), (1, 0))
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    kernel = tt.create_kernel_from_string(program, text, cores, config)
    tt.set_runtime_args(program, kernel, cores, [n])
    tt.enqueue_program(device.command_queue(), program, blocking=True)


def test_zones_are_those_of_the_block(device):
    with tt.measure(device, zones=True) as first:
        launch(device, ZONES, 5)
    with tt.measure(device, zones=True) as second:
        launch(device, ZONES.replace("STEP", "OTHER"), 3)
    inner, step = first.result.zones
    assert (step["zone"], step["kernel"], step["thread"], step["count"]) == ("STEP", "steps", "BRISC", 10)
    assert step["cycles"] == 10 * step["longest_cycles"] == 10 * step["shortest_cycles"] > inner["cycles"] > 0
    assert [(zone["zone"], zone["count"]) for zone in second.result.zones] == [("INNER", 6), ("OTHER", 6)]


def test_zones_are_left_out_unless_asked_for(device):
    with tt.measure(device) as m:
        launch(device, ZONES, 1)
    assert "zones" not in m.result.summary and m.result.zones == [] and m.result.image_sha256 is None


def test_a_run_can_have_zones_and_a_measurement_hashes(device):
    with tt.measure(device, image_hash=True) as m:
        launch(device, ZONES, 1)
    assert m.result.image_sha256 == device.chip.memory.image_sha256()
    assert tt.run("eltwise_add", shape="32x32", zones=True).zones == []  # its kernels have none
